//! What a PTX module declares.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::arch::Arch;
use crate::artifact::symbol::Symbol;

/// A version of the PTX language, as in 9.5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct IsaVersion {
    /// The number before the dot.
    pub major: u16,
    /// The number after the dot.
    pub minor: u16,
}

impl fmt::Display for IsaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A kernel that PTX defines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PtxKernel {
    /// Its name, as the driver is asked for it.
    pub name: String,
    /// Who may see it.
    pub linkage: Linkage,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
}

/// Who may see a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Linkage {
    /// Nothing is said.
    Unmarked,
    /// `.visible`: other modules too.
    Visible,
    /// `.weak`: other modules too, of which another may bring the definition.
    Weak,
}

/// A parameter of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type, as in `.u64`; `.b8` for a value that is passed as an array of bytes.
    pub ty: String,
    /// Its size in bytes, all elements of an array together; 0 for `.texref`, `.samplerref` and
    /// `.surfref`, which are bound by name and not passed.
    pub size: usize,
    /// Its alignment in bytes, as declared or that of its type.
    ///
    /// Up to 16 it also gives the offset from the first parameter. Above, the offset depends on
    /// the GPU, because addresses are aligned and not offsets.
    pub align: usize,
}

/// A name that a module uses and does not define.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ExternSymbol {
    /// The name.
    pub name: String,
    /// What it names.
    pub kind: ExternKind,
}

/// What an [`ExternSymbol`] names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ExternKind {
    /// A function.
    Function,
    /// A variable.
    Variable,
    /// `.extern .shared name[]`: shared memory whose size the launch gives, and no other module.
    DynamicShared,
}

impl ExternSymbol {
    /// Whether every driver brings it, so that nothing has to be linked in.
    ///
    /// True for shared memory that the launch sizes, and for the functions `vprintf`, `malloc`,
    /// `free`, `__assertfail`, and those of launches from the device (`__cuda_syscall_…`).
    #[must_use]
    pub fn is_provided(&self) -> bool {
        match self.kind {
            ExternKind::DynamicShared => true,
            ExternKind::Function => brought_by_driver(&self.name),
            ExternKind::Variable => false,
        }
    }
}

/// Whether every driver brings the function of this name.
pub(crate) fn brought_by_driver(name: &str) -> bool {
    matches!(name, "vprintf" | "malloc" | "free" | "__assertfail")
        || name.starts_with("__cuda_syscall_")
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Module {
    pub isa_version: IsaVersion,
    pub target: Arch,
    pub target_options: Vec<String>,
    pub address_size: u32,
    pub kernels: Vec<PtxKernel>,
    pub functions: Vec<String>,
    /// What is called by name outside bodies, definitions and needs alike.
    pub symbols: Vec<Symbol>,
    pub externs: Vec<ExternSymbol>,
    pub producer: Option<String>,
}

/// Why a text is no PTX, and where.
#[derive(Debug)]
pub(super) struct Refusal {
    pub line: u32,
    pub problem: String,
    pub hint: String,
}
