//! What the standard library does not do to a process.

use std::os::fd::{AsRawFd, BorrowedFd};

/// Closes every descriptor but the standard ones and `kept`: for the start of a process, before
/// anything in it has opened one.
pub(crate) fn close_all_but_standard(kept: BorrowedFd<'_>) {
    let kept = u32::try_from(kept.as_raw_fd()).unwrap_or(u32::MAX);
    for (first, last) in [
        (3, kept.saturating_sub(1)),
        (kept.saturating_add(1), u32::MAX),
    ] {
        if first <= last {
            // SAFETY: what it closes was left open by who started this process; nothing here knows it.
            // An old kernel that has no such call leaves it all open, which harms nobody.
            unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        }
    }
}

/// Ends the process at once: other threads may be where no handler of theirs can run.
pub(crate) fn leave(code: i32) -> ! {
    // SAFETY: it returns to nobody.
    unsafe { libc::_exit(code) }
}
