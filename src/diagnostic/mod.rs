//! What a compiler said, one message at a time.
//!
//! The logs of libNVVM, NVRTC, nvJitLink, ptxas and the driver are read into [`Diagnostic`]s: how serious
//! a message is, where it points, what it says, and what was said beside it. A line of no known form
//! is kept as it is, so that nothing of a log is lost. Where the crate holds the input, or the log quotes
//! it, the line in question comes along as a [`Snippet`].

mod message;
pub(crate) mod ptxas;
pub(crate) mod snippet;

pub use message::{Diagnostic, Severity};
pub use snippet::Snippet;
