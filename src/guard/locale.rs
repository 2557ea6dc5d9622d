//! The numeric locale of one thread, C for as long as a value lives.
//!
//! Where the host program set a locale with a decimal comma, NVRTC and nvJitLink read PTX decimal
//! literals up to the point and drop the fraction without a word.

/// The calling thread's `LC_NUMERIC` is C until this is dropped.
pub(super) struct NumericC {
    #[cfg(unix)]
    previous: unix::Previous,
    #[cfg(windows)]
    previous: windows::Previous,
}

impl NumericC {
    pub(super) fn enter() -> Self {
        NumericC {
            #[cfg(unix)]
            previous: unix::enter(),
            #[cfg(windows)]
            previous: windows::enter(),
        }
    }
}

impl Drop for NumericC {
    fn drop(&mut self) {
        #[cfg(unix)]
        unix::leave(&self.previous);
        #[cfg(windows)]
        windows::leave(&self.previous);
    }
}

/// Whether the process's decimal point is a point: threads that a library starts go by it, whatever
/// the calling thread's locale is.
pub(crate) fn process_writes_a_point() -> bool {
    #[cfg(unix)]
    return unix::process_writes_a_point();
    #[cfg(windows)]
    return windows::process_writes_a_point();
}

#[cfg(unix)]
mod unix {
    pub(super) fn process_writes_a_point() -> bool {
        // SAFETY: the thread's locale is put back at once, and the string is read before that.
        unsafe {
            // `LC_GLOBAL_LOCALE`, which libc lacks: all bits set on every system.
            let global = std::ptr::without_provenance_mut(usize::MAX);
            let before = libc::uselocale(global);
            let radix = libc::nl_langinfo(libc::RADIXCHAR);
            let point = radix.is_null() || std::ffi::CStr::from_ptr(radix) == c".";
            libc::uselocale(before);
            point
        }
    }

    pub(super) struct Previous {
        /// What the thread used before, and the copy of it with C numbers; none where the system
        /// gave no memory for the copy, and then nothing was changed.
        locales: Option<(libc::locale_t, libc::locale_t)>,
    }

    pub(super) fn enter() -> Previous {
        // SAFETY: a null argument only asks; the copy is of a valid locale; `newlocale` takes the
        // copy over, or leaves it alone and returns null.
        let locales = unsafe {
            let current = libc::uselocale(std::ptr::null_mut());
            let copy = libc::duplocale(current);
            let numeric = libc::newlocale(libc::LC_NUMERIC_MASK, c"C".as_ptr(), copy);
            if numeric.is_null() {
                if !copy.is_null() {
                    libc::freelocale(copy);
                }
                None
            } else {
                libc::uselocale(numeric);
                Some((current, numeric))
            }
        };
        Previous { locales }
    }

    pub(super) fn leave(previous: &Previous) {
        if let Some((before, ours)) = previous.locales {
            // SAFETY: `before` was this thread's locale, and nobody else has `ours`.
            unsafe {
                libc::uselocale(before);
                libc::freelocale(ours);
            }
        }
    }
}

#[cfg(windows)]
mod windows {
    use std::ffi::{CStr, CString, c_char, c_int};

    const ENABLE_PER_THREAD_LOCALE: c_int = 1;
    const LC_NUMERIC: c_int = 4;

    unsafe extern "C" {
        fn _configthreadlocale(per_thread: c_int) -> c_int;
        fn setlocale(category: c_int, locale: *const c_char) -> *mut c_char;
    }

    pub(super) fn process_writes_a_point() -> bool {
        // SAFETY: the call only asks; the string is read before the next call.
        unsafe {
            let current = setlocale(LC_NUMERIC, std::ptr::null());
            !current.is_null() && CStr::from_ptr(current) == c"C"
        }
    }

    pub(super) struct Previous {
        mode: c_int,
        numeric: Option<CString>,
    }

    pub(super) fn enter() -> Previous {
        // SAFETY: both calls are the C runtime's own; the string is copied before the next call.
        unsafe {
            let mode = _configthreadlocale(ENABLE_PER_THREAD_LOCALE);
            let current = setlocale(LC_NUMERIC, std::ptr::null());
            let numeric = (!current.is_null()).then(|| CStr::from_ptr(current).to_owned());
            setlocale(LC_NUMERIC, c"C".as_ptr());
            Previous { mode, numeric }
        }
    }

    pub(super) fn leave(previous: &Previous) {
        // SAFETY: as above; the string ends in a NUL.
        unsafe {
            if let Some(numeric) = &previous.numeric {
                setlocale(LC_NUMERIC, numeric.as_ptr());
            }
            if previous.mode != -1 {
                _configthreadlocale(previous.mode);
            }
        }
    }
}
