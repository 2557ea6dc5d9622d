//! Kernels that are compiled and loaded by their first call, from any thread, on any device.
//!
//! [`LazyKernel`] is for kernels of this crate. It is a [`Lazy`], the state machine, over a [`Load`],
//! which compiles and loads; with one of your own, `Lazy` works for anything and needs no GPU.
//!
//! # What the first call does
//!
//! The first [`Lazy::get`] for a device compiles, once for all devices of one architecture, and
//! loads, once for each device. No lock is held meanwhile. Threads that ask for the same device wait
//! asleep and get the same kernel. Two kernels share nothing, so neither waits for the other.
//!
//! - An **error** goes to every thread that waited for that attempt. It is not remembered: the next
//!   call tries again. What was compiled stays, so after a failed load only the load is tried again.
//! - A **panic** goes on in the thread whose call it was. The threads that waited get
//!   [`Error::FirstCallPanicked`](crate::Error::FirstCallPanicked), and the next call tries again.
//! - A **cycle** is an error, [`Error::FirstCallCycle`](crate::Error::FirstCallCycle), not a hang:
//!   a loader that asks for the kernel it makes, on whatever device, and loaders that need each
//!   other, on one thread or on several. Where threads close a cycle at the same time, more than one
//!   of them may get the error.
//!
//! One thing is out of sight: a loader that starts a thread of its own and waits for it, while that
//! thread asks for the kernel being made. It waits for ever.

mod attempt;
#[cfg(test)]
mod fake;
mod first_calls;
mod kernel;
mod load;
#[cfg(all(test, loom))]
mod model;
mod stats;
#[cfg(all(test, not(loom)))]
mod tests;
#[cfg(not(loom))]
mod warm_up;

pub use first_calls::Lazy;
pub use kernel::{Code, LazyKernel};
pub use load::Load;
pub use stats::Stats;
