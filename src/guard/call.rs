//! No forked child, a stack that suffices, then the locale, then the call.

use crate::error::{Error, Result};

/// Proof that the calling thread is inside [`guarded`].
pub(crate) struct Guarded(());

/// Refuses a child that was forked after the first call: of the threads that were inside a library then,
/// it has the locks and not the threads.
#[cfg(not(loom))]
fn check_process() -> Result<()> {
    use std::sync::atomic::{AtomicU32, Ordering};

    static FIRST: AtomicU32 = AtomicU32::new(0);

    let this = std::process::id();
    match FIRST.compare_exchange(0, this, Ordering::Relaxed, Ordering::Relaxed) {
        Err(parent) if parent != this => Err(Error::Forked { parent }),
        _ => Ok(()),
    }
}

/// Runs `call` with the numeric locale and the stack that the libraries need.
///
/// # Errors
///
/// [`Error::OutOfMemory`] when the system gives no memory for the stack, and [`Error::Forked`] in a
/// child that was forked after the first call; then `call` was not run.
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
    check_process()?;
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
/// can be had, the thread's own serves. A forked child frees nothing.
pub(crate) fn guarded_or_plain(mut call: impl FnMut(&Guarded)) {
    match guarded(&mut call) {
        Ok(()) | Err(Error::Forked { .. }) => {}
        Err(_) => call(&Guarded(())),
    }
}
