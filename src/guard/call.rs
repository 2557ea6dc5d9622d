//! A stack that suffices, then the locale, then the call.

use crate::error::Result;

/// Proof that the calling thread is inside [`guarded`].
pub(crate) struct Guarded(());

/// Runs `call` with the numeric locale and the stack that the libraries need.
///
/// # Errors
///
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory) when the system gives no memory for the stack;
/// then `call` was not run.
#[cfg(not(loom))]
pub(crate) fn guarded<R>(call: impl FnOnce(&Guarded) -> R) -> Result<R> {
    use std::cell::Cell;

    thread_local! {
        /// Whether this thread is inside a guarded call, and so has all of it.
        static INSIDE: Cell<bool> = const { Cell::new(false) };
    }

    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            INSIDE.set(false);
        }
    }

    if INSIDE.get() {
        return Ok(call(&Guarded(())));
    }
    super::stack::on_large_stack(|| {
        INSIDE.set(true);
        let _leave = Leave;
        let _locale = super::locale::NumericC::enter();
        call(&Guarded(()))
    })
}

/// The model checker brings its own stacks, and calls no real library.
#[cfg(loom)]
pub(crate) fn guarded<R>(call: impl FnOnce(&Guarded) -> R) -> Result<R> {
    Ok(call(&Guarded(())))
}

/// As [`guarded`], for calls that must be made in any case, such as freeing a handle: where no stack
/// can be had, the thread's own serves.
pub(crate) fn guarded_or_plain(mut call: impl FnMut(&Guarded)) {
    if guarded(&mut call).is_err() {
        call(&Guarded(()));
    }
}
