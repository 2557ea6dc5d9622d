//! Compile GPU programs at run time.

pub mod diagnostic;
pub mod error;
pub mod nvvm;

pub use diagnostic::{Diagnostic, Severity};
pub use error::{Error, Result};
