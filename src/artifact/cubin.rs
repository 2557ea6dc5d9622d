//! A cubin, which a GPU runs as it is.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::bytes;
use super::common::common;
use super::ptx::ExternSymbol;
use super::symbol::Symbol;
use crate::arch::Arch;
use crate::diagnostic::Diagnostic;
use crate::error::{InvalidInput, Result};

mod info;
mod model;
mod read;
mod refusal;

use model::Contents;
pub use model::{CubinFunction, CubinKernel, CubinLinkage, CubinParameter};

/// A cubin: machine code for one kind of GPU, an ELF file.
///
/// Its headers and its tables are read when it becomes a `Cubin`; the driver checks the code itself
/// when it loads it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Cubin {
    #[serde(with = "bytes")]
    bytes: Vec<u8>,
    #[serde(default)]
    lowered: BTreeMap<String, String>,
    diagnostics: Vec<Diagnostic>,
    #[serde(skip)]
    contents: Contents,
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
    /// [`Error::InvalidInput`](crate::Error::InvalidInput) when the bytes are no cubin, are cut
    /// off, or are of a format or for an architecture that is not known here.
    #[doc(alias = "nvJitLinkGetLinkedCubin")]
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Result<Self> {
        Cubin::named("cubin", bytes.into())
    }

    fn named(input: &str, bytes: Vec<u8>) -> Result<Self> {
        let read = match refusal::problem(&bytes) {
            Some(problem) => Err(problem),
            None => read::read(&bytes),
        };
        match read {
            Ok(contents) => Ok(Cubin {
                bytes,
                lowered: BTreeMap::new(),
                diagnostics: Vec::new(),
                contents,
            }),
            Err(problem) => Err(InvalidInput {
                input: input.to_owned(),
                line: None,
                snippet: None,
                problem,
                hint: "give the bytes that ptxas, nvcc -cubin, NVRTC or nvJitLink made; PTX and \
                       LTO IR have types of their own"
                    .to_owned(),
            }
            .into()),
        }
    }

    /// The architecture it was made for.
    ///
    /// The letter of `sm_100f`, and that of `sm_90a` from CUDA 13 on, stands in a note that ptxas
    /// leaves; a cubin without the note, as nvJitLink's `-r` makes it, is taken for one without the
    /// letter.
    #[must_use]
    pub fn arch(&self) -> Arch {
        self.contents.arch
    }

    /// The kernels it defines, in the order of its table of symbols.
    #[must_use]
    #[doc(alias = "cuLibraryEnumerateKernels")]
    pub fn kernels(&self) -> &[CubinKernel] {
        &self.contents.kernels
    }

    /// A kernel by name, as it stands in the code (mangled, where C++ mangles).
    #[must_use]
    pub fn kernel(&self, name: &str) -> Option<&CubinKernel> {
        self.kernels().iter().find(|kernel| kernel.name == name)
    }

    /// The device functions it defines that were not inlined, kernels left out.
    #[must_use]
    pub fn functions(&self) -> &[CubinFunction] {
        &self.contents.functions
    }

    /// What it defines and what it needs.
    pub(crate) fn symbols(&self) -> &[Symbol] {
        &self.contents.symbols
    }

    /// Whether it defines anything that others may see.
    pub(crate) fn defines(&self) -> bool {
        self.contents.defines
    }

    /// What it uses and a link has still to bring.
    ///
    /// What every driver or linker brings is left out, such as `vprintf` and `malloc`, and so is
    /// shared memory that the launch sizes.
    #[must_use]
    pub fn undefined(&self) -> &[ExternSymbol] {
        &self.contents.undefined
    }

    /// Whether it is still to be linked, as `-rdc=true` and `-r` make it.
    #[must_use]
    pub fn is_relocatable(&self) -> bool {
        self.contents.relocatable
    }

    /// The ELF file itself.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The kernel that a name expression stands for, as in `cubin.kernel_for("add<float>")`.
    #[must_use]
    pub fn kernel_for(&self, expression: &str) -> Option<&CubinKernel> {
        self.kernel(self.lowered_name(expression)?)
    }

    common!("cubin", left_out: "The lowered names and the diagnostics");
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
            .field("arch", &self.contents.arch)
            .field("kernels", &self.contents.kernels)
            .field("diagnostics", &self.diagnostics)
            .finish()
    }
}
