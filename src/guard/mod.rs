//! The one guard around every call into a compiler or linker.
//!
//! For the length of a call the calling thread has what NVIDIA's libraries silently rely on: a
//! numeric locale whose decimal point is a point, and a stack deep enough for deeply nested input.
//! Raw owners in [`crate::sys`] ask for a [`Guarded`], which only [`guarded`] makes, so that no call
//! can be written that leaves the guard out.

mod call;
#[cfg_attr(loom, allow(dead_code))]
mod locale;
mod one_thread;
#[cfg(not(loom))]
mod stack;

#[cfg(all(test, not(loom)))]
mod tests;

pub(crate) use call::{Guarded, guarded, guarded_or_plain};
pub(crate) use locale::process_writes_a_point;
pub(crate) use one_thread::OneThread;
