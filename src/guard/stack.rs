//! A large stack for the length of a call.
//!
//! The recursive parsers inside the libraries overflow a spawned thread's 2 MiB at some 300 nested
//! calls, and the depth that fits grows with the stack. On Unix each thread keeps the large stack it
//! got first, because the pages of a new one cost more than everything else in the guard: a small
//! compilation touches a mebibyte. Pages that are never touched are never there.

use crate::error::{Error, Result};

/// How much stack a compiler gets.
#[cfg(target_pointer_width = "64")]
const SIZE: usize = 256 << 20;
#[cfg(not(target_pointer_width = "64"))]
const SIZE: usize = 64 << 20;

fn refused() -> Error {
    Error::OutOfMemory {
        what: format!("a stack of {} MiB for the compiler", SIZE >> 20),
        reason: "the system refused to map it; raise the address space limit (ulimit -v)"
            .to_owned(),
    }
}

#[cfg(unix)]
pub(super) use unix::on_large_stack;

#[cfg(unix)]
mod unix {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::ptr::NonNull;

    use super::{Result, SIZE, refused};

    thread_local! {
        /// This thread's large stack while no call is on it. Freed with the thread.
        static KEPT: Cell<Option<Stack>> = const { Cell::new(None) };
    }

    /// Runs `call` on this thread's large stack.
    ///
    /// # Errors
    ///
    /// When there is none yet and the system gives no memory; then `call` was not run.
    pub(in crate::guard) fn on_large_stack<R>(call: impl FnOnce() -> R) -> Result<R> {
        // A thread that is ending keeps nothing any more, and its last calls map one of their own.
        let kept = KEPT.try_with(Cell::take).ok().flatten();
        let stack = match kept {
            Some(stack) => stack,
            None => Stack::map().ok_or_else(refused)?,
        };
        // SAFETY: the stack is `SIZE` bytes, nobody else uses it, and nothing unwinds out of it.
        let result = unsafe {
            psm::on_stack(stack.usable(), SIZE, || {
                catch_unwind(AssertUnwindSafe(call))
            })
        };
        // Where the thread is ending this drops the stack.
        let _ = KEPT.try_with(|kept| kept.set(Some(stack)));
        result.map_err(|panic| resume_unwind(panic))
    }

    /// A mapping of a guard and, above it, `SIZE` bytes of stack.
    struct Stack {
        base: NonNull<libc::c_void>,
        guard: usize,
    }

    impl Stack {
        fn map() -> Option<Self> {
            // SAFETY: a new mapping at a place of the system's choice, and the low end of it made
            // untouchable, so that running over the end faults instead of writing elsewhere.
            unsafe {
                let page = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).ok()?;
                // Wide enough that no single frame of the library can step over it.
                let guard = page.max(1 << 20);
                let base = libc::mmap(
                    std::ptr::null_mut(),
                    guard + SIZE,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                    -1,
                    0,
                );
                if base == libc::MAP_FAILED {
                    return None;
                }
                let stack = Stack {
                    base: NonNull::new(base)?,
                    guard,
                };
                (libc::mprotect(base, guard, libc::PROT_NONE) == 0).then_some(stack)
            }
        }

        /// The lowest byte that may be used.
        fn usable(&self) -> *mut u8 {
            self.base.as_ptr().cast::<u8>().wrapping_add(self.guard)
        }
    }

    impl Drop for Stack {
        fn drop(&mut self) {
            // SAFETY: the mapping is this value's own, and no call is on it.
            unsafe { libc::munmap(self.base.as_ptr(), self.guard + SIZE) };
        }
    }
}

#[cfg(not(unix))]
pub(super) use elsewhere::on_large_stack;

#[cfg(not(unix))]
mod elsewhere {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    use super::{Result, SIZE, refused};

    /// Runs `call` on a large stack, where this thread's is not one.
    ///
    /// # Errors
    ///
    /// When the system gives no memory for it; then `call` was not run.
    pub(in crate::guard) fn on_large_stack<R>(call: impl FnOnce() -> R) -> Result<R> {
        let mut call = Some(call);
        let mut result = None;
        // `stacker` reports a stack that cannot be made by a panic, before it runs anything.
        let ran = catch_unwind(AssertUnwindSafe(|| {
            stacker::maybe_grow(SIZE, SIZE, || result = call.take().map(|call| call()));
        }));
        match (ran, result) {
            (Ok(()), Some(result)) => Ok(result),
            (Err(panic), _) if call.is_none() => resume_unwind(panic),
            _ => Err(refused()),
        }
    }
}
