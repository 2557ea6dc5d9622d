//! Compile GPU programs at run time, on any machine: NVVM IR (text or LLVM bitcode) and CUDA C++ in; PTX,
//! LTO IR and cubins out; and load and launch them where there is a GPU.
//!
//! The compilers are NVIDIA's own libNVVM, NVRTC and nvJitLink, found and opened at run time. Building
//! this crate needs no CUDA, and compiling with it needs no GPU and no driver.
//!
//! ```
//! use cuda_program::{Arch, Ptx, Toolkit, nvvm};
//!
//! # fn main() -> cuda_program::Result<()> {
//! # let ir = include_str!("../fixtures/saxpy.ll");
//! # /*
//! let toolkit = Toolkit::discover()?;
//! # */
//! # let toolkit = Toolkit::at(concat!(env!("CARGO_MANIFEST_DIR"), "/target/toolkits/13.5"))?;
//! let program = nvvm::Program::new(&toolkit)?;
//! program.add_module("saxpy.ll", ir)?; // text or bitcode, told apart by content
//! let ptx = program.compile::<Ptx>(&nvvm::Options::new(Arch::SM_90))?;
//!
//! for kernel in ptx.kernels() {
//!     println!("{} takes {} parameters", kernel.name, kernel.parameters.len());
//! }
//! # assert_eq!(ptx.kernels().len(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Where things are
//!
//! - `cache` (feature): artifacts that were compiled before, in memory, on a disk, or in a remote store.
//! - [`toolkit`]: finding and opening NVIDIA's libraries; [`Toolkit::discover`] is the beginning.
//! - [`nvvm`]: programs over libNVVM, their options, and the reader that looks at a module before the
//!   library does.
//! - [`nvrtc`]: programs in CUDA C++ over NVRTC.
//! - `isolate` (feature): compiling in worker processes, which may die.
//! - [`link`]: [`Linker`], from any mix of inputs to one cubin, over nvJitLink.
//! - [`compile`]: compilations as plain values, and what runs them.
//! - [`artifact`]: [`Ptx`], [`LtoIr`] and [`Cubin`], values that know what is in them.
//! - [`arch`]: [`Arch`], the name of a GPU architecture.
//! - [`error`] and [`diagnostic`]: what went wrong, what to do about it, and what the compiler said.
//! - [`guide`]: [what is looked at before, around and after each call](guide::guards), and what is not.
//! - [`sys`]: the plain C interfaces, for those who want them.
//!
//! # What it promises
//!
//! - **No panic** on any input. What libNVVM is known to misread is refused before it sees it, as far
//!   as a look can tell. Some input still ends the process inside libNVVM: compile what strangers send
//!   in a process of its own.
//! - **Nothing is lost**: a failed call's error has the library's code, its whole log, the options and
//!   the library's file; warnings come with the artifact.
//! - **Success is checked**: the kernels that the modules define with external linkage are in the
//!   PTX, nothing is undefined that another link was not to bring ([`Externals`]), and architecture and
//!   version are those asked for, or it is an error. A kernel that cannot be there for its linkage is
//!   named in a warning.
//! - **Threads share nothing**: each program has a lock of its own.
//! - **The host's surroundings do no harm**: during a call the thread's decimal point is a point and its
//!   stack is large.

#![warn(missing_docs)]

pub mod arch;
pub mod artifact;
mod bytes;
#[cfg(all(feature = "cache", not(loom)))]
pub mod cache;
pub mod compile;
pub mod diagnostic;
pub mod error;
mod fresh;
#[cfg(feature = "gpu")]
pub mod gpu;
mod guard;
pub mod guide;
mod hints;
#[cfg(all(feature = "isolate", unix, not(loom)))]
pub mod isolate;
/// What a model checker looks at.
#[cfg(all(test, loom))]
mod isolate {
    mod pool;
}
pub mod link;
pub mod nvrtc;
pub mod nvvm;
mod options;
mod promises;
mod sync;
pub mod sys;
#[cfg(all(test, not(loom)))]
mod testing;
pub mod toolkit;

pub use arch::Arch;
pub use artifact::{Artifact, Cubin, LtoIr, Ptx};
pub use diagnostic::{Diagnostic, Severity, Snippet};
pub use error::{Error, Result};
pub use link::Linker;
pub use promises::Externals;
pub use toolkit::Toolkit;

/// The README's examples, compiled with the documentation's.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
