use std::panic::{AssertUnwindSafe, catch_unwind};

use super::guarded;

/// Descends until this many bytes of stack lie between `top` and the deepest frame.
#[inline(never)]
fn descend(top: usize, bytes: usize) -> usize {
    let frame = std::hint::black_box([0_u8; 1024]);
    let here = std::ptr::from_ref(&frame) as usize;
    if top.abs_diff(here) >= bytes {
        return 1;
    }
    1 + std::hint::black_box(descend(top, bytes))
}

#[test]
fn a_call_from_a_small_thread_has_128_mib_of_stack() {
    let frames = std::thread::Builder::new()
        .stack_size(512 << 10)
        .spawn(|| {
            guarded(|_| {
                let top = 0_u8;
                descend(std::ptr::from_ref(&top) as usize, 128 << 20)
            })
        })
        .unwrap()
        .join()
        .unwrap()
        .unwrap();
    assert!(frames > 10_000);
}

#[test]
fn a_second_call_and_one_after_a_panic_have_the_same_stack() {
    let place = || {
        guarded(|_| {
            let here = 0_u8;
            std::ptr::from_ref(&here) as usize
        })
        .unwrap()
    };
    std::thread::spawn(move || {
        let first = place();
        catch_unwind(|| guarded(|_| std::panic::panic_any(()))).unwrap_err();
        assert!(place().abs_diff(first) < 64 << 10);
    })
    .join()
    .unwrap();
}

#[test]
fn a_call_from_a_thread_that_is_ending_is_made() {
    struct Late(std::sync::mpsc::Sender<u32>);
    impl Drop for Late {
        fn drop(&mut self) {
            self.0.send(guarded(|_| 7).unwrap()).unwrap();
        }
    }
    thread_local! {
        static LATE: std::cell::RefCell<Option<Late>> = const { std::cell::RefCell::new(None) };
    }
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        // Whichever of the two thread-locals goes first, both orders occur over the two threads.
        LATE.set(Some(Late(sender.clone())));
        guarded(|_| ()).unwrap();
        std::thread::spawn(move || {
            guarded(|_| ()).unwrap();
            LATE.set(Some(Late(sender)));
        })
        .join()
        .unwrap();
    })
    .join()
    .unwrap();
    assert_eq!(receiver.into_iter().collect::<Vec<_>>(), [7, 7]);
}

#[test]
fn a_call_within_a_call_returns_the_inner_value() {
    assert_eq!(guarded(|_| guarded(|_| 7)).unwrap().unwrap(), 7);
}

#[test]
fn a_panic_in_the_call_comes_back_as_that_panic() {
    let caught = catch_unwind(AssertUnwindSafe(|| {
        guarded(|_| std::panic::panic_any(41_u8))
    }));
    assert_eq!(*caught.unwrap_err().downcast::<u8>().unwrap(), 41);
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod linux {
    use super::guarded;
    use crate::testing::{CommaLocale, again_in_a_process_of_its_own};

    /// The radix character of the calling thread's locale.
    fn radix() -> String {
        // SAFETY: the string that is returned is copied at once.
        unsafe { std::ffi::CStr::from_ptr(libc::nl_langinfo(libc::RADIXCHAR)) }
            .to_string_lossy()
            .into_owned()
    }

    #[test]
    fn the_decimal_point_is_a_point_during_the_call_and_a_comma_again_after_it() {
        again_in_a_process_of_its_own(&[], || {
            let _locale = CommaLocale::for_the_process();
            assert_eq!(radix(), ",");
            assert_eq!(guarded(|_| radix()).unwrap(), ".");
            assert_eq!(radix(), ",");
        });
    }

    #[test]
    fn a_thread_locale_with_a_comma_comes_back_after_a_panic_too() {
        again_in_a_process_of_its_own(&[], || {
            let _locale = CommaLocale::for_this_thread();
            assert_eq!(radix(), ",");
            let caught = std::panic::catch_unwind(|| guarded(|_| std::panic::panic_any(radix())));
            assert_eq!(*caught.unwrap_err().downcast::<String>().unwrap(), ".");
            assert_eq!(radix(), ",");
        });
    }

    #[test]
    fn a_stack_that_cannot_be_mapped_is_an_error_and_the_call_is_not_made() {
        again_in_a_process_of_its_own(&[], || {
            std::thread::spawn(|| {
                let limit = libc::rlimit {
                    rlim_cur: 32 << 20,
                    rlim_max: 32 << 20,
                };
                // SAFETY: the limit is a valid struct, and this process is the test's own.
                assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
                let mut made = false;
                let error = guarded(|_| made = true).unwrap_err();
                assert!(matches!(error, crate::Error::OutOfMemory { .. }), "{error}");
                assert!(!made);
            })
            .join()
            .unwrap();
        });
    }
}
