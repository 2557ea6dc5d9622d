//! A stack that suffices, then the locale, then the call.

use crate::error::Result;

/// How much stack a compiler gets at least.
///
/// The recursive parsers inside the libraries overflow a spawned thread's 2 MiB at some 300 nested
/// calls and grow linearly with it. Pages are committed when touched, so a large stack costs address
/// space alone.
#[cfg(not(loom))]
const STACK: usize = 64 << 20;

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
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    let mut call = Some(call);
    let mut result = None;
    // `stacker` reports a failed mmap by a panic, before it runs anything.
    let ran = catch_unwind(AssertUnwindSafe(|| {
        stacker::maybe_grow(STACK, STACK, || {
            if let Some(call) = call.take() {
                let _locale = super::locale::NumericC::enter();
                result = Some(call(&Guarded(())));
            }
        });
    }));
    match (ran, result) {
        (Ok(()), Some(result)) => Ok(result),
        (Err(panic), _) if call.is_none() => resume_unwind(panic),
        _ => Err(crate::error::Error::OutOfMemory {
            what: format!("a stack of {} MiB for the compiler", STACK >> 20),
            reason: "the system refused to map it; raise the address space limit (ulimit -v) or \
                     call from a thread that has such a stack"
                .to_owned(),
        }),
    }
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
