//! The lock of the crate, from one place, so that a model checker can swap it.
//!
//! Under `--cfg loom` the lock is loom's, and what it guards lies in a cell whose every access loom
//! checks: the shipped source is what is checked, and a lock left out is found.

#[cfg(not(loom))]
pub(crate) use parking_lot::Mutex;

#[cfg(loom)]
pub(crate) use model::Mutex;

#[cfg(loom)]
pub(crate) mod model {
    use std::ops::{Deref, DerefMut};
    use std::sync::atomic::{AtomicBool, Ordering};

    thread_local! {
        /// Makes every [`Mutex::lock`] of this thread's model skip its lock, so that a test can show
        /// that the checker notices.
        pub(crate) static LEFT_OUT: AtomicBool = const { AtomicBool::new(false) };
    }

    pub(crate) struct Mutex<T> {
        lock: loom::sync::Mutex<()>,
        data: loom::cell::UnsafeCell<T>,
    }

    // SAFETY: `data` is reached under `lock` alone, or loom reports the access.
    unsafe impl<T: Send> Sync for Mutex<T> {}

    pub(crate) struct Guard<'a, T> {
        data: loom::cell::MutPtr<T>,
        _lock: Option<loom::sync::MutexGuard<'a, ()>>,
    }

    impl<T> Mutex<T> {
        pub(crate) fn new(data: T) -> Self {
            Mutex {
                lock: loom::sync::Mutex::new(()),
                data: loom::cell::UnsafeCell::new(data),
            }
        }

        pub(crate) fn lock(&self) -> Guard<'_, T> {
            let lock = (!LEFT_OUT.with(|out| out.load(Ordering::Relaxed))).then(|| {
                match self.lock.lock() {
                    Ok(guard) => guard,
                    Err(poisoned) => poisoned.into_inner(),
                }
            });
            Guard {
                data: self.data.get_mut(),
                _lock: lock,
            }
        }
    }

    impl<T> Deref for Guard<'_, T> {
        type Target = T;
        fn deref(&self) -> &T {
            // SAFETY: the lock is held, or loom has reported the second access.
            unsafe { &*self.data.with(|data| data.cast_const()) }
        }
    }

    impl<T> DerefMut for Guard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            // SAFETY: as above.
            unsafe { self.data.deref() }
        }
    }

    impl<T> std::fmt::Debug for Mutex<T> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("Mutex")
        }
    }
}
