//! What the compilers make: [`Ptx`], [`LtoIr`] and [`Cubin`], values that know what is in them.
//!
//! An artifact is its bytes, what can be read in them, and what the compiler said while it made
//! them. It is a plain value: it can be cloned, compared, sent to another process through serde,
//! and kept in a file. PTX is parsed when it becomes a [`Ptx`], so a `Ptx` always has a version, a
//! target, and a list of kernels.
//!
//! ```
//! use cuda_program::Ptx;
//!
//! let ptx = Ptx::from_text(
//!     ".version 8.0
//!      .target sm_75
//!      .address_size 64
//!      .visible .entry fill(.param .u64 out, .param .f32 value) { ret; }",
//! )?;
//! let fill = ptx.kernel("fill").ok_or("no kernel of that name")?;
//! assert_eq!(fill.parameters.iter().map(|p| p.size).collect::<Vec<_>>(), [8, 4]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod bytes;
mod common;
mod cubin;
mod file;
mod kind;
mod ltoir;
mod ptx;
pub(crate) mod ptx_versions;
pub(crate) mod symbol;

pub use cubin::{Cubin, CubinFunction, CubinKernel, CubinLinkage, CubinParameter};
pub(crate) use file::write as write_file;
pub use kind::Artifact;
pub use ltoir::LtoIr;
pub use ptx::{ExternKind, ExternSymbol, IsaVersion, Linkage, Parameter, Ptx, PtxKernel};
