//! Compile GPU programs at run time.

pub mod diagnostic;
pub mod error;
mod guard;
mod sync;
pub mod sys;
#[cfg(test)]
mod testing;
pub mod toolkit;

pub use diagnostic::{Diagnostic, Severity};
pub use error::{Error, Result};
pub use toolkit::Toolkit;
