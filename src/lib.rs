//! Compile GPU programs at run time.

pub mod diagnostic;
pub mod error;
pub mod toolkit;

pub use diagnostic::{Diagnostic, Severity};
pub use error::{Error, Result};
pub use toolkit::Toolkit;
