//! What a cubin defines and needs.

use crate::arch::Arch;
use crate::artifact::ptx::ExternSymbol;
use crate::artifact::symbol::Symbol;

/// A kernel in a [`Cubin`](crate::Cubin), and what a launch of it takes from the GPU.
///
/// The numbers are those of `cuobjdump -res-usage`, but for shared memory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CubinKernel {
    /// Its name, as the driver is asked for it.
    pub name: String,
    /// Who may see it.
    pub linkage: CubinLinkage,
    /// Registers of each thread.
    pub registers: u32,
    /// Static shared memory of each block, in bytes, without what `sm_90` and later keep for
    /// themselves, which `cuobjdump` counts. nvJitLink's `-r` may leave a few bytes here for a kernel
    /// that has none.
    pub shared_bytes: u64,
    /// Local memory of each thread outside the stack, in bytes; recent compilers put all on the
    /// stack.
    pub local_bytes: u64,
    /// The stack of each thread, in bytes; 0 in a relocatable cubin, whose link works it out.
    pub stack_bytes: u32,
    /// Constant memory with its parameters, bank 0, in bytes.
    pub constant_bytes: u64,
    /// Its parameters, in order.
    pub parameters: Vec<CubinParameter>,
    /// The barriers that it uses.
    pub barriers: u32,
    /// The most threads of a block, where the source says so (`__launch_bounds__`, `.maxntid`).
    pub max_threads: Option<u64>,
}

/// A parameter of a [`CubinKernel`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CubinParameter {
    /// Its place among the parameters, in bytes from the first.
    pub offset: u32,
    /// Its size in bytes.
    pub size: u32,
}

/// A device function that a [`Cubin`](crate::Cubin) defines.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CubinFunction {
    /// Its name.
    pub name: String,
    /// Who may see it.
    pub linkage: CubinLinkage,
}

/// Who may see what a [`Cubin`](crate::Cubin) defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CubinLinkage {
    /// Every cubin that it is linked with.
    Global,
    /// Every cubin too, of which another may bring the definition; older compilers (12.x below
    /// `sm_100`) mark kernels so, and functions not.
    Weak,
    /// This cubin alone.
    Local,
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Contents {
    pub arch: Arch,
    pub relocatable: bool,
    pub kernels: Vec<CubinKernel>,
    pub functions: Vec<CubinFunction>,
    pub undefined: Vec<ExternSymbol>,
    /// What is called by name, definitions and needs alike.
    pub symbols: Vec<Symbol>,
    /// Whether anything is defined that others may see.
    pub defines: bool,
}
