//! The same as `real`, by loom.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) use loom::sync::atomic::AtomicPtr;
pub(crate) use loom::thread_local;

// Faults that a test can switch on in its own models, to show that the checker notices. They are
// the standard library's thread locals: all threads of a model share one of them.
std::thread_local! {
    /// Makes every [`Mutex::lock`] skip its lock.
    pub(crate) static LEFT_OUT: AtomicBool = const { AtomicBool::new(false) };
    /// Makes [`release`] keep the lock for ever.
    pub(crate) static LEAKED: AtomicBool = const { AtomicBool::new(false) };
}

fn switched_on(fault: &'static std::thread::LocalKey<AtomicBool>) -> bool {
    fault.with(|fault| fault.load(Ordering::Relaxed))
}

pub(crate) struct Mutex<T> {
    lock: loom::sync::Mutex<()>,
    data: loom::cell::UnsafeCell<T>,
}

// SAFETY: `data` is reached under `lock` alone, or loom reports the access.
unsafe impl<T: Send> Sync for Mutex<T> {}

/// The pointer is taken anew after a wait, during which others have the data; it is the first
/// field, since it has to go before the lock does.
pub(crate) struct Guard<'a, T> {
    data: Option<loom::cell::MutPtr<T>>,
    lock: Option<loom::sync::MutexGuard<'a, ()>>,
    mutex: &'a Mutex<T>,
}

impl<T> Mutex<T> {
    pub(crate) fn new(data: T) -> Self {
        Mutex {
            lock: loom::sync::Mutex::new(()),
            data: loom::cell::UnsafeCell::new(data),
        }
    }

    pub(crate) fn lock(&self) -> Guard<'_, T> {
        let lock = (!switched_on(&LEFT_OUT)).then(|| match self.lock.lock() {
            Ok(guard) => guard,
            Err(poisoned) => poisoned.into_inner(),
        });
        Guard {
            data: Some(self.data.get_mut()),
            lock,
            mutex: self,
        }
    }
}

impl<T> Mutex<T> {
    /// Time does not pass in a model: it waits.
    #[allow(dead_code)]
    pub(crate) fn try_lock_for(&self, _: std::time::Duration) -> Option<Guard<'_, T>> {
        Some(self.lock())
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Mutex::new(T::default())
    }
}

/// See `real::release`.
pub(crate) fn release<T>(mut guard: Guard<'_, T>) {
    if switched_on(&LEAKED) {
        guard.data = None;
        std::mem::forget(guard);
    }
}

impl<T> Guard<'_, T> {
    fn pointer(&self) -> *mut T {
        match &self.data {
            Some(data) => data.with(|data| data),
            None => unreachable!("only `wait` and `release` take the pointer"),
        }
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the lock is held, or loom has reported the second access.
        unsafe { &*self.pointer() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.pointer() }
    }
}

impl<T> std::fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Mutex")
    }
}

/// See `real::waking`.
pub(crate) mod waking {
    pub(crate) use super::{Condvar, Mutex};
}

pub(crate) struct Condvar(loom::sync::Condvar);

impl Condvar {
    pub(crate) fn new() -> Self {
        Condvar(loom::sync::Condvar::new())
    }

    pub(crate) fn wait_until<'a, T>(
        &self,
        mut guard: Guard<'a, T>,
        wanted: impl Fn(&T) -> bool,
    ) -> Guard<'a, T> {
        while !wanted(&guard) {
            self.wait(&mut guard);
        }
        guard
    }

    fn wait<T>(&self, guard: &mut Guard<'_, T>) {
        guard.data = None;
        if let Some(lock) = guard.lock.take() {
            guard.lock = Some(match self.0.wait(lock) {
                Ok(lock) => lock,
                Err(poisoned) => poisoned.into_inner(),
            });
        }
        guard.data = Some(guard.mutex.data.get_mut());
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// A value whose reads loom checks: one that is not after the write is reported.
pub(crate) struct Tracked<T>(loom::cell::UnsafeCell<T>);

impl<T> Tracked<T> {
    pub(crate) fn new(value: T) -> Self {
        Tracked(loom::cell::UnsafeCell::new(value))
    }

    pub(crate) fn get(&self) -> &T {
        // SAFETY: nothing writes after `new`, and loom reports a read that is not after it.
        self.0.with(|value| unsafe { &*value })
    }
}
