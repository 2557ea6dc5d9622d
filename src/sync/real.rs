//! What is shipped.

pub(crate) use std::sync::atomic::AtomicPtr;
pub(crate) use std::thread_local;

pub(crate) use parking_lot::{Condvar, Mutex, MutexGuard};

/// Gives up a lock whose holder found nothing left to do; the model can be told to forget it.
pub(crate) fn release<T>(guard: MutexGuard<'_, T>) {
    drop(guard);
}

/// A value whose reads a model checks.
pub(crate) struct Tracked<T>(T);

impl<T> Tracked<T> {
    pub(crate) fn new(value: T) -> Self {
        Tracked(value)
    }

    pub(crate) fn get(&self) -> &T {
        &self.0
    }
}
