//! The C interfaces of NVIDIA's libraries: generated types, function tables, raw owners.
//!
//! Everything above this module is safe Rust over these tables. They are public for those who want
//! the plain calls (a benchmark, a call that the crate does not wrap); all others start at
//! [`Toolkit`](crate::toolkit::Toolkit).
//!
//! A table is a struct of function pointers, built from a closure that looks symbols up. A symbol
//! that older libraries lack is an `Option`.

pub mod bindings;
#[cfg(feature = "gpu")]
pub mod cuda;
mod nvjitlink;
mod nvrtc;
mod nvvm;
#[cfg(all(feature = "isolate", unix, not(loom)))]
pub(crate) mod process;
mod table;

pub use nvjitlink::NvJitLink;
pub(crate) use nvjitlink::{
    Fetch, LinkFailed, Linked, RawLinker, code_name as nvjitlink_code_name,
};
pub use nvrtc::Nvrtc;
pub(crate) use nvrtc::{NvrtcFailed, RawNvrtc};
pub use nvvm::Nvvm;
pub(crate) use nvvm::{Failed, RawProgram};
pub use table::{MissingSymbol, Table};
