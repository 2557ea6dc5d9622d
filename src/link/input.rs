//! What goes into a link.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::artifact::{Cubin, LtoIr, Ptx};
use crate::error::{Error, InvalidInput, Result};
use crate::sys::bindings::nvjitlink::*;

/// What the bytes of an input are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InputKind {
    /// PTX, as text.
    Ptx,
    /// A cubin.
    Cubin,
    /// LTO IR.
    LtoIr,
    /// A fat binary, of code for several architectures.
    Fatbin,
    /// A host object file with device code in it.
    Object,
    /// A static library of host objects.
    Library,
}

impl InputKind {
    /// The kind by the first bytes; what begins as no other kind is PTX.
    pub(super) fn of(bytes: &[u8]) -> Self {
        /// `e_machine` of NVIDIA's GPUs, as it lies in the file.
        const CUDA: &[u8] = &[190, 0];
        match bytes {
            [0xed, 0x43, 0x4e, 0x7f, ..] => InputKind::LtoIr,
            [0x50, 0xed, 0x55, 0xba, ..] => InputKind::Fatbin,
            [0x7f, b'E', b'L', b'F', ..] if bytes.get(18..20) == Some(CUDA) => InputKind::Cubin,
            [0x7f, b'E', b'L', b'F', ..] => InputKind::Object,
            _ if bytes.starts_with(b"!<arch>\n") => InputKind::Library,
            _ => InputKind::Ptx,
        }
    }

    pub(super) fn raw(self) -> nvJitLinkInputType {
        match self {
            InputKind::Ptx => NVJITLINK_INPUT_PTX,
            InputKind::Cubin => NVJITLINK_INPUT_CUBIN,
            InputKind::LtoIr => NVJITLINK_INPUT_LTOIR,
            InputKind::Fatbin => NVJITLINK_INPUT_FATBIN,
            InputKind::Object => NVJITLINK_INPUT_OBJECT,
            InputKind::Library => NVJITLINK_INPUT_LIBRARY,
        }
    }
}

/// What [`Linker::add`](super::Linker::add) takes: [`Ptx`], [`Cubin`] and [`LtoIr`], by value or by
/// reference.
pub trait Linkable: sealed::Into {}

impl<T: sealed::Into> Linkable for T {}

/// What was added.
#[derive(Debug, Clone)]
pub enum Content {
    Ptx(Arc<Ptx>),
    Cubin(Arc<Cubin>),
    LtoIr(Arc<LtoIr>),
    Bytes(InputKind, Arc<[u8]>),
    File(PathBuf),
}

mod sealed {
    use super::*;

    pub trait Into {
        fn content(self) -> Content;
    }

    macro_rules! artifacts {
        ($($kind:ident)*) => {
            $(
                impl Into for $kind {
                    fn content(self) -> Content {
                        Content::$kind(Arc::new(self))
                    }
                }
                impl Into for &$kind {
                    fn content(self) -> Content {
                        Content::$kind(Arc::new(self.clone()))
                    }
                }
            )*
        };
    }
    artifacts!(Ptx Cubin LtoIr);
}

/// An input as it was added.
#[derive(Debug, Clone)]
pub(super) struct Input {
    pub(super) name: String,
    pub(super) content: Content,
}

/// An input that is ready for the library.
pub(super) struct Ready<'a> {
    pub(super) name: &'a str,
    pub(super) known: Known<'a>,
}

/// What is known of an input.
pub(super) enum Known<'a> {
    Ptx(Cow<'a, Ptx>),
    Cubin(Cow<'a, Cubin>),
    LtoIr(Cow<'a, LtoIr>),
    Other(InputKind, Cow<'a, [u8]>),
}

impl Input {
    /// Reads what is to be read, and parses what can be.
    pub(super) fn ready(&self) -> Result<Ready<'_>> {
        let known = match &self.content {
            Content::Ptx(ptx) => Known::Ptx(Cow::Borrowed(ptx)),
            Content::Cubin(cubin) => Known::Cubin(Cow::Borrowed(cubin)),
            Content::LtoIr(lto) => Known::LtoIr(Cow::Borrowed(lto)),
            Content::Bytes(kind, bytes) => self.known(*kind, Cow::Borrowed(bytes))?,
            Content::File(path) => {
                let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, &e))?;
                self.known(InputKind::of(&bytes), Cow::Owned(bytes))?
            }
        };
        if self.name.contains('\0') {
            return Err(self.refused(
                None,
                "its name holds a NUL byte".to_owned(),
                "take the NUL byte out",
            ));
        }
        if let Known::Ptx(ptx) = &known {
            if let Some(at) = ptx.as_bytes().iter().position(|&byte| byte == 0) {
                let before = ptx.as_bytes().get(..at).unwrap_or_default();
                let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
                return Err(self.refused(
                    u32::try_from(line).ok(),
                    "there is a NUL byte in the PTX, and the library would read no further"
                        .to_owned(),
                    "take it out; one at the end does no harm",
                ));
            }
        }
        Ok(Ready {
            name: &self.name,
            known,
        })
    }

    fn known<'a>(&self, kind: InputKind, bytes: Cow<'a, [u8]>) -> Result<Known<'a>> {
        if bytes.is_empty() {
            return Err(self.refused(None, "it is empty".to_owned(), "leave it out"));
        }
        if let Some(what) = is_source(&bytes) {
            return Err(self.refused(
                None,
                format!("it is {what}, and a link takes what was compiled"),
                "compile it by `nvvm::Program` to PTX, LTO IR or a cubin, and add that",
            ));
        }
        let known = match kind {
            InputKind::Ptx => Ptx::from_bytes(bytes).map(|ptx| Known::Ptx(Cow::Owned(ptx))),
            InputKind::Cubin => Cubin::from_bytes(bytes).map(|c| Known::Cubin(Cow::Owned(c))),
            InputKind::LtoIr => LtoIr::from_bytes(bytes).map(|l| Known::LtoIr(Cow::Owned(l))),
            kind => {
                let is = InputKind::of(&bytes);
                if is != kind {
                    return Err(self.refused(
                        None,
                        format!("it is said to be of kind {kind:?}, and begins as {is:?} does"),
                        "say what it is, or give the file that was meant",
                    ));
                }
                Ok(Known::Other(kind, bytes))
            }
        };
        known.map_err(|e| match e {
            Error::InvalidInput(e) => InvalidInput {
                input: self.name.clone(),
                ..*e
            }
            .into(),
            e => e,
        })
    }

    fn refused(&self, line: Option<u32>, problem: String, hint: &str) -> Error {
        InvalidInput {
            input: self.name.replace('\0', "\\0"),
            line,
            snippet: None,
            problem,
            hint: hint.to_owned(),
        }
        .into()
    }
}

/// What NVVM IR is, which is no input of a link.
fn is_source(bytes: &[u8]) -> Option<&'static str> {
    const BITCODE: [&[u8]; 2] = [b"BC\xc0\xde", &[0xde, 0xc0, 0x17, 0x0b]];
    if BITCODE.iter().any(|magic| bytes.starts_with(magic)) {
        return Some("LLVM bitcode");
    }
    // PTX has a version before anything else; what IR begins with never stands in it.
    const STARTS: [&[u8]; 5] = [
        b"; ModuleID",
        b"source_filename",
        b"target datalayout",
        b"target triple",
        b"define ",
    ];
    let mut lines = bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| {
        !line.is_empty() && (!line.starts_with(b";") || line.starts_with(b"; ModuleID"))
    })?;
    STARTS
        .iter()
        .any(|start| first.starts_with(start))
        .then_some("NVVM IR as text")
}

impl Ready<'_> {
    pub(super) fn kind(&self) -> InputKind {
        match &self.known {
            Known::Ptx(_) => InputKind::Ptx,
            Known::Cubin(_) => InputKind::Cubin,
            Known::LtoIr(_) => InputKind::LtoIr,
            Known::Other(kind, _) => *kind,
        }
    }

    /// The text of PTX.
    pub(super) fn text(&self) -> Option<&[u8]> {
        match &self.known {
            Known::Ptx(ptx) => Some(ptx.as_bytes()),
            _ => None,
        }
    }

    /// The bytes for the library: PTX ends in one NUL there.
    pub(super) fn bytes(&self) -> Cow<'_, [u8]> {
        match &self.known {
            Known::Ptx(ptx) => {
                let mut bytes = ptx.as_bytes().to_vec();
                bytes.push(0);
                Cow::Owned(bytes)
            }
            Known::Cubin(cubin) => Cow::Borrowed(cubin.as_bytes()),
            Known::LtoIr(lto) => Cow::Borrowed(lto.as_bytes()),
            Known::Other(_, bytes) => Cow::Borrowed(bytes),
        }
    }
}
