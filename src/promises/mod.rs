//! What a library's success is held against.
//!
//! The libraries report success for results that lack a kernel, refer to what nothing defines, or are
//! for something else than was asked for. Whatever libNVVM, NVRTC or nvJitLink brings goes through a
//! [`Promised`] to become an artifact, and through nothing else.

mod externals;
mod promised;
pub(crate) mod remedy;
#[cfg(all(test, not(loom)))]
mod tests;

pub use externals::Externals;
pub(crate) use promised::{Empty, Promised};
