//! Compile GPU programs at run time.

pub mod arch;
pub mod artifact;
pub mod diagnostic;
pub mod error;
#[cfg(feature = "gpu")]
pub mod gpu;
mod guard;
pub mod nvvm;
mod sync;
pub mod sys;
#[cfg(test)]
mod testing;
pub mod toolkit;

pub use arch::Arch;
pub use artifact::{Artifact, Cubin, LtoIr, Ptx};
pub use diagnostic::{Diagnostic, Severity};
pub use error::{Error, Result};
pub use toolkit::Toolkit;
