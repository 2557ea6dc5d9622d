//! LTO IR, which nvJitLink links and optimises.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::bytes;
use super::common::common;
use crate::arch::{Arch, Suffix};
use crate::bytes::u16_at;
use crate::diagnostic::Diagnostic;
use crate::error::{InvalidInput, Result};

const MAGIC: [u8; 4] = [0xed, 0x43, 0x4e, 0x7f];
/// Where the header keeps the version of the LLVM that wrote it.
const LLVM_VERSION_AT: usize = 0x0a;
/// Where the header keeps the offset of its list of (tag, value) pairs, two bytes each.
const PAIRS_AT: usize = 0x0c;
/// The shortest header that can hold one pair.
const SHORTEST: usize = 0x1c;
const TAG_ARCH: u16 = 0x01;
const TAG_ARCH_SPECIFIC: u16 = 0x20;
const TAG_END: u16 = 0x63;

/// LTO IR: a module between the compiler and the linker, which finishes it with its neighbours.
///
/// Its format is NVIDIA's own and not documented. What is read here is what the headers of
/// CUDA 12.0 to 13.5 were seen to hold.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct LtoIr {
    #[serde(with = "bytes")]
    bytes: Vec<u8>,
    arch: Option<Arch>,
    kernels: Vec<String>,
    /// Whether there are no others.
    #[serde(default)]
    all_kernels: bool,
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
    arch: Option<Arch>,
    #[serde(default)]
    kernels: Vec<String>,
    #[serde(default)]
    all_kernels: bool,
    #[serde(default)]
    lowered: BTreeMap<String, String>,
    #[serde(default)]
    diagnostics: Vec<Diagnostic>,
}

impl TryFrom<Stored> for LtoIr {
    type Error = crate::error::Error;

    fn try_from(stored: Stored) -> Result<Self> {
        let mut lto = LtoIr::new("LTO IR", stored.bytes, stored.kernels, stored.arch)?;
        lto.all_kernels = stored.all_kernels;
        Ok(lto
            .with_lowered_names(stored.lowered)
            .with_diagnostics(stored.diagnostics))
    }
}

impl LtoIr {
    /// Takes LTO IR that nvcc, NVRTC or libNVVM made.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`](crate::Error::InvalidInput) when the bytes do not begin as LTO IR
    /// does.
    #[doc(alias = "nvrtcGetLTOIR")]
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Result<Self> {
        LtoIr::named("LTO IR", bytes.into())
    }

    fn named(input: &str, bytes: Vec<u8>) -> Result<Self> {
        LtoIr::new(input, bytes, Vec::new(), None)
    }

    /// LTO IR with what its maker knows about it, which no header says. There may be other kernels.
    pub(crate) fn new(
        input: &str,
        bytes: Vec<u8>,
        kernels: Vec<String>,
        arch: Option<Arch>,
    ) -> Result<Self> {
        let refused = |problem: String, hint: &str| InvalidInput {
            input: input.to_owned(),
            line: None,
            snippet: None,
            problem,
            hint: hint.to_owned(),
        };
        let hint = "give the bytes that `-dlto` of NVRTC or nvcc, or `-gen-lto` of libNVVM, made";
        if !bytes.starts_with(&MAGIC) {
            return Err(refused("no LTO IR begins like this".to_owned(), hint).into());
        }
        if bytes.len() < SHORTEST {
            let problem = format!("{} bytes are too few for LTO IR", bytes.len());
            return Err(refused(problem, hint).into());
        }
        let read = arch_of(&bytes);
        if let (Some(said), Some(read)) = (arch, read) {
            // The header has no place for `f`, so only numbers can be compared; and it keeps the number
            // that sm_110 had when it was sm_101.
            let renamed = said.number() == 110 && read.number() == 101;
            if said.number() != read.number() && !renamed {
                return Err(refused(
                    format!("it is said to be for `{said}`, and its header says `{read}`"),
                    "compile it again for the architecture that is meant",
                )
                .into());
            }
        }
        Ok(LtoIr {
            bytes,
            arch: arch.or(read),
            kernels,
            all_kernels: false,
            lowered: BTreeMap::new(),
            diagnostics: Vec::new(),
        })
    }

    /// The LTO IR itself, which no NUL byte ends.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The architecture it was made for, where it is known.
    ///
    /// Its maker knows it whole. Read back from bytes alone, `sm_100f` becomes `sm_100`: the
    /// header holds the number and whether it is `a`, and nothing of `f`. `sm_110` becomes `sm_101`,
    /// the name that it had before CUDA 13.
    #[must_use]
    pub fn arch(&self) -> Option<Arch> {
        self.arch
    }

    /// The architecture as its header has it: without an `f`, and with 101 for 110.
    pub(crate) fn arch_in_header(&self) -> Option<Arch> {
        arch_of(&self.bytes)
    }

    /// The version of the LLVM in the compiler that wrote it, as in 7, 20 or 23.
    #[must_use]
    pub fn llvm_version(&self) -> Option<u32> {
        match self.bytes.get(LLVM_VERSION_AT) {
            None | Some(0) => None,
            Some(version) => Some(u32::from(*version)),
        }
    }

    /// Whether it holds the modern dialect of NVVM IR, newer than LLVM 7.
    ///
    /// nvJitLink needs `-nvvm-latest` to link such IR for an architecture below `sm_100`.
    #[must_use]
    pub fn is_modern(&self) -> bool {
        self.llvm_version().is_some_and(|version| version > 7)
    }

    /// The kernels that its maker said are in it; [`knows_kernels`](LtoIr::knows_kernels) tells whether
    /// those are all.
    ///
    /// The bytes cannot be asked, so a link is checked against this list: nvJitLink may drop a
    /// kernel of libNVVM's without a word.
    #[must_use]
    pub fn kernels(&self) -> &[String] {
        &self.kernels
    }

    /// Whether [`kernels`](LtoIr::kernels) are all there are: `nvvm::Program` knows. NVRTC does not,
    /// nor do bytes alone; [`with_kernels`](LtoIr::with_kernels) says it for them. A link is then
    /// checked for those that are known, and for being empty.
    #[must_use]
    pub fn knows_kernels(&self) -> bool {
        self.all_kernels
    }

    /// The same LTO IR, said to hold these kernels and no others.
    #[must_use]
    pub fn with_kernels(mut self, kernels: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.kernels = kernels.into_iter().map(Into::into).collect();
        self.all_kernels = true;
        self
    }

    /// The name of the kernel that a name expression stands for, which is all that LTO IR tells of one;
    /// as [`lowered_name`](Self::lowered_name).
    #[must_use]
    pub fn kernel_for(&self, expression: &str) -> Option<&str> {
        self.lowered_name(expression)
    }

    common!(
        "LTO IR",
        left_out: "The kernels, an `f` of the architecture, the lowered names and the diagnostics"
    );
}

impl AsRef<[u8]> for LtoIr {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl fmt::Debug for LtoIr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LtoIr")
            .field("bytes", &format_args!("[{} bytes]", self.bytes.len()))
            .field("arch", &self.arch)
            .field("llvm_version", &self.llvm_version())
            .field("kernels", &self.kernels)
            .field("diagnostics", &self.diagnostics)
            .finish()
    }
}

/// The architecture in the header, where it holds one that can be.
fn arch_of(bytes: &[u8]) -> Option<Arch> {
    let start = usize::from(u16_at(bytes, PAIRS_AT)?);
    let mut number = None;
    let mut suffix = Suffix::None;
    for pair in bytes.get(start..)?.chunks_exact(4) {
        match (u16_at(pair, 0)?, u16_at(pair, 2)?) {
            (TAG_ARCH, value) if value % 10 == 0 => number = Some(value / 10),
            (TAG_ARCH_SPECIFIC, 1) => suffix = Suffix::ArchSpecific,
            (TAG_END, _) => return Arch::from_parts(number?, suffix).ok(),
            _ => {}
        }
    }
    None
}
