//! What an owner and its worker say to each other: MessagePack behind its length.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::compile::{Job, Output};
use crate::error::Result;
use crate::toolkit::Part;

/// Both sides must be of one version of this crate: what they say is no stable format.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A message may be so long, in bytes. What is longer is none.
const LONGEST: usize = 1 << 30;

/// The first message to a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Setup {
    /// How much memory it may map, in bytes.
    pub(super) memory: Option<u64>,
}

/// A worker's answer to it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Hello {
    /// The version of the crate in it.
    pub(super) version: String,
}

/// A job, as its owner sends it.
#[derive(Debug, Serialize)]
pub(super) struct Request<'a> {
    /// The files that its owner would use.
    pub(super) files: &'a BTreeMap<Part, PathBuf>,
    pub(super) job: &'a Job,
}

/// A job, as a worker gets it.
#[derive(Debug, Deserialize)]
pub(super) struct Received {
    pub(super) files: BTreeMap<Part, PathBuf>,
    pub(super) job: Job,
}

/// What came of it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Reply(pub(super) Result<Output>);

/// A message with its length before it.
pub(super) fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    let mut writer = rmp_serde::Serializer::new(&mut bytes).with_struct_map();
    message.serialize(&mut writer).map_err(io::Error::other)?;
    let length = bytes.len() - 4;
    if length > LONGEST {
        return Err(io::Error::other(format!(
            "a message of {length} bytes is too long for a worker"
        )));
    }
    let length = u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    for (place, byte) in bytes.iter_mut().zip(length) {
        *place = byte;
    }
    Ok(bytes)
}

/// What a message says.
pub(super) fn read<T: DeserializeOwned>(message: &[u8]) -> io::Result<T> {
    rmp_serde::from_slice(message).map_err(io::Error::other)
}

/// Writes a message.
pub(super) fn write(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    to.write_all(&frame(message)?)?;
    to.flush()
}

/// The next message; none at the end.
pub(super) fn next(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Ok(()) => {}
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(e) => return Err(e),
    }
    let length = checked(length)?;
    let mut message = Vec::new();
    let read = from.take(length as u64).read_to_end(&mut message)?;
    if read < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(message))
}

fn checked(length: [u8; 4]) -> io::Result<usize> {
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST {
        return Err(io::Error::other(format!("no message has {length} bytes")));
    }
    Ok(length)
}

/// Bytes that become a message as they come.
#[derive(Debug, Default)]
pub(super) struct Incoming(Vec<u8>);

impl Incoming {
    /// Takes what came, and gives the message where it is whole.
    pub(super) fn take(&mut self, bytes: &[u8]) -> io::Result<Option<Vec<u8>>> {
        self.0.extend_from_slice(bytes);
        let Some((length, rest)) = self.0.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let length = checked(*length)?;
        match rest.len().cmp(&length) {
            std::cmp::Ordering::Less => Ok(None),
            std::cmp::Ordering::Equal => Ok(Some(rest.to_vec())),
            std::cmp::Ordering::Greater => Err(io::Error::other("more than one message came")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_again_from_a_stream_and_from_its_pieces() {
        let hello = Hello {
            version: "1.2.3".to_owned(),
        };
        let framed = frame(&hello).unwrap();
        let whole = next(&mut framed.as_slice()).unwrap().unwrap();
        assert_eq!(read::<Hello>(&whole).unwrap().version, "1.2.3");
        let mut incoming = Incoming::default();
        let (last, others) = framed.split_last().unwrap();
        for byte in others {
            assert_eq!(incoming.take(&[*byte]).unwrap(), None);
        }
        assert_eq!(incoming.take(&[*last]).unwrap(), Some(whole));
    }

    #[test]
    fn a_message_that_is_cut_off_or_absurdly_long_is_an_error() {
        let framed = frame(&Setup { memory: Some(7) }).unwrap();
        let cut = framed.get(..framed.len() - 1).unwrap();
        assert!(next(&mut &*cut).is_err());
        assert!(next(&mut &[0xff; 8][..]).is_err());
        assert!(Incoming::default().take(&[0xff; 4]).is_err());
        assert_eq!(next(&mut &[][..]).unwrap(), None);
    }
}
