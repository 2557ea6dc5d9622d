//! A cubin, which a GPU runs as it is.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{bytes, file};
use crate::diagnostic::Diagnostic;
use crate::error::{InvalidInput, Result};

/// The size of the header of a 64-bit ELF file.
const HEADER: usize = 64;
/// Where an ELF file says which machine it is for, two bytes.
const MACHINE_AT: usize = 18;
/// The machine of NVIDIA's GPUs.
const CUDA: u16 = 190;

/// A cubin: machine code for one kind of GPU, an ELF file.
///
/// That the bytes are an ELF file for NVIDIA's GPUs is checked; the driver checks the rest when it
/// loads it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Cubin {
    #[serde(with = "bytes")]
    bytes: Vec<u8>,
    #[serde(default)]
    lowered: BTreeMap<String, String>,
    diagnostics: Vec<Diagnostic>,
}

/// What serde reads, before it is checked.
#[derive(Deserialize)]
struct Stored {
    #[serde(with = "bytes")]
    bytes: Vec<u8>,
    #[serde(default)]
    lowered: BTreeMap<String, String>,
    #[serde(default)]
    diagnostics: Vec<Diagnostic>,
}

impl TryFrom<Stored> for Cubin {
    type Error = crate::error::Error;

    fn try_from(stored: Stored) -> Result<Self> {
        Ok(Cubin::from_bytes(stored.bytes)?
            .with_lowered_names(stored.lowered)
            .with_diagnostics(stored.diagnostics))
    }
}

impl Cubin {
    /// Takes a cubin that nvcc, ptxas, NVRTC or nvJitLink made.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`](crate::Error::InvalidInput) when the bytes are no ELF file for
    /// NVIDIA's GPUs.
    #[doc(alias = "nvJitLinkGetLinkedCubin")]
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Result<Self> {
        Cubin::new("cubin", bytes.into())
    }

    fn new(input: &str, bytes: Vec<u8>) -> Result<Self> {
        let problem = if !bytes.starts_with(b"\x7fELF") {
            Some("no cubin begins like this".to_owned())
        } else if bytes.len() < HEADER {
            Some(format!("{} bytes are too few for a cubin", bytes.len()))
        } else {
            let machine = bytes.get(MACHINE_AT..).and_then(<[u8]>::first_chunk);
            match machine.map(|two| u16::from_le_bytes(*two)) {
                Some(CUDA) => None,
                machine => Some(format!(
                    "it is an ELF file for machine {}, and a GPU's is {CUDA}",
                    machine.unwrap_or(0)
                )),
            }
        };
        match problem {
            None => Ok(Cubin {
                bytes,
                lowered: BTreeMap::new(),
                diagnostics: Vec::new(),
            }),
            Some(problem) => Err(InvalidInput {
                input: input.to_owned(),
                line: None,
                problem,
                hint: "give the bytes that ptxas, nvcc -cubin, NVRTC or nvJitLink made; PTX and \
                       LTO IR have types of their own"
                    .to_owned(),
            }
            .into()),
        }
    }

    /// The ELF file itself.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The name in the code of what a name expression stands for, as in `_Z3addIfEvPT_` for
    /// `add<float>`; none for an expression that the compilation was not asked for.
    #[must_use]
    #[doc(alias = "nvrtcGetLoweredName")]
    pub fn lowered_name(&self, expression: &str) -> Option<&str> {
        self.lowered.get(expression).map(String::as_str)
    }

    /// The name of the kernel that a name expression stands for; as
    /// [`lowered_name`](Self::lowered_name).
    #[must_use]
    pub fn kernel_for(&self, expression: &str) -> Option<&str> {
        self.lowered_name(expression)
    }

    /// Every name expression with the name it became.
    #[must_use]
    pub fn lowered_names(&self) -> &BTreeMap<String, String> {
        &self.lowered
    }

    /// The same cubin with the names that its name expressions became.
    #[must_use]
    pub fn with_lowered_names(mut self, lowered: BTreeMap<String, String>) -> Self {
        self.lowered = lowered;
        self
    }

    /// What the linker said while it made this.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The same cubin with what the linker said while it made it.
    #[must_use]
    pub fn with_diagnostics(mut self, diagnostics: Vec<Diagnostic>) -> Self {
        self.diagnostics = diagnostics;
        self
    }

    /// Writes the bytes to a file, whole or not at all; the diagnostics are not in it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io) when the folder or the file cannot be written.
    pub fn write_to(&self, path: impl AsRef<Path>) -> Result<()> {
        file::write(path.as_ref(), &self.bytes)
    }

    /// Reads a file that holds a cubin.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io) when it cannot be read, and
    /// [`Error::InvalidInput`](crate::Error::InvalidInput) when it holds no cubin.
    pub fn read_from(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Cubin::new(&path.display().to_string(), file::read(path)?)
    }
}

impl AsRef<[u8]> for Cubin {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl fmt::Debug for Cubin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cubin")
            .field("bytes", &format_args!("[{} bytes]", self.bytes.len()))
            .field("diagnostics", &self.diagnostics)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn header(machine: u16) -> Vec<u8> {
        let mut bytes = vec![0; HEADER];
        bytes[..4].copy_from_slice(b"\x7fELF");
        bytes[MACHINE_AT..MACHINE_AT + 2].copy_from_slice(&machine.to_le_bytes());
        bytes
    }

    #[rstest]
    #[case::empty(Vec::new(), "no cubin begins like this")]
    #[case::ptx(b".version 8.0".to_vec(), "no cubin begins like this")]
    #[case::cut(header(CUDA)[..40].to_vec(), "40 bytes are too few")]
    #[case::x86(header(62), "for machine 62")]
    fn what_is_no_cubin_is_refused(#[case] bytes: Vec<u8>, #[case] problem: &str) {
        let refused = Cubin::from_bytes(bytes).unwrap_err().to_string();
        assert!(refused.contains(problem), "{refused}");
    }

    #[test]
    fn serde_keeps_the_bytes_and_checks_them_again() {
        let cubin = Cubin::from_bytes(header(CUDA)).unwrap();
        let json = serde_json::to_string(&cubin).unwrap();
        assert_eq!(serde_json::from_str::<Cubin>(&json).unwrap(), cubin);
        let other = serde_json::json!({ "bytes": "AAAA" });
        assert!(serde_json::from_value::<Cubin>(other).is_err());
    }
}
