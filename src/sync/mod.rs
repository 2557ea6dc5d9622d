//! Locks and what else threads share, from one place, so that a model checker can swap them.
//!
//! Under `--cfg loom` they are loom's, and what they guard lies in cells whose every access loom
//! checks: the shipped source is what is checked, and a lock left out is found.

// First calls alone need more than the lock.
#![cfg_attr(not(feature = "gpu"), allow(dead_code, unused_imports))]

#[cfg(loom)]
pub(crate) mod model;
mod published;

pub(crate) use published::Published;

#[cfg(not(loom))]
mod real;

#[cfg(not(loom))]
pub(crate) use real::{AtomicPtr, Mutex, Tracked, release, thread_local, waking};

#[cfg(loom)]
pub(crate) use model::{AtomicPtr, Mutex, Tracked, release, thread_local, waking};
