//! What is shipped.

pub(crate) use std::sync::atomic::AtomicPtr;
pub(crate) use std::thread_local;

pub(crate) use parking_lot::{Mutex, MutexGuard};

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

/// A lock and a condition variable for which many threads wait at once.
///
/// parking_lot's condition variable hands its waiters over to the lock, and each wakes the next: 64
/// threads took 2 ms. The standard library's wakes all at once.
pub(crate) mod waking {
    use std::sync::PoisonError;

    pub(crate) use std::sync::MutexGuard;

    pub(crate) struct Mutex<T>(std::sync::Mutex<T>);

    pub(crate) struct Condvar(std::sync::Condvar);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Mutex(std::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            // What such a lock guards is set in one step, so a panic leaves nothing half done.
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    impl Condvar {
        pub(crate) fn new() -> Self {
            Condvar(std::sync::Condvar::new())
        }

        /// Sleeps until the value is as wanted.
        pub(crate) fn wait_until<'a, T>(
            &self,
            guard: MutexGuard<'a, T>,
            wanted: impl Fn(&T) -> bool,
        ) -> MutexGuard<'a, T> {
            self.0
                .wait_while(guard, |value| !wanted(value))
                .unwrap_or_else(PoisonError::into_inner)
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }
}
