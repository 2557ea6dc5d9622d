//! Calling compilations off, before and in the middle.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cuda_program::nvrtc::{CancelToken, Control, Program};
use cuda_program::{Error, Ptx};
use rstest::rstest;

use crate::common::{NEWEST, within};
use crate::{STORE, program, sm_80};

/// A kernel that compiles for very long, since the time grows faster than the text.
pub(crate) fn endless() -> String {
    let mut source = String::from("extern \"C\" __global__ void k(int *p) {\n");
    for n in 0..40_000_u64 {
        let (a, b) = ((n * 7919) % 64, (n * 104_729) % 64);
        source.push_str(&format!(
            "if (p[{a}] > {n}) p[{b}] += p[{a}] * {n} + p[64];\n"
        ));
    }
    source + "}\n"
}

pub(crate) fn is_cancelled(result: Result<Ptx, Error>, why: &str) {
    match result {
        Err(Error::Cancelled { reason }) => assert!(reason.contains(why), "{reason}"),
        other => panic!("{other:?}"),
    }
}

/// A program that nothing is wrong with still compiles, and so does the one that was called off, as
/// far as it ever would.
fn canary(version: &str, program: &Program) {
    self::program(version, STORE)
        .compile::<Ptx>(&sm_80())
        .unwrap();
    program.add_name_expression("k").unwrap();
}

/// Waits until the compiler has asked whether to go on, so that it is in the middle.
pub(crate) fn counting() -> (Arc<AtomicUsize>, Control) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let control = Control::new().stop_when(move || {
        count.fetch_add(1, Ordering::SeqCst);
        false
    });
    (asked, control)
}

pub(crate) fn wait_for(asked: &AtomicUsize) {
    while asked.load(Ordering::SeqCst) == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[rstest]
fn a_token_ends_a_compilation_in_the_middle_while_others_wait_for_the_program(
    #[values("12.9", "13.0", "13.5")] version: &str,
) {
    within(300, || {
        let program = program(version, &endless());
        let token = CancelToken::new();
        let (asked, control) = counting();
        let control = control.token(&token);
        std::thread::scope(|scope| {
            let compiling = scope.spawn(|| program.compile_with::<Ptx>(&sm_80(), &control));
            wait_for(&asked);
            // It waits for the lock, and is called off by the same token once it has it.
            let waiting = scope.spawn(|| program.compile_with::<Ptx>(&sm_80(), &control));
            let adding = scope.spawn(|| program.add_name_expression("&k"));
            token.cancel();
            is_cancelled(compiling.join().unwrap(), "token");
            is_cancelled(waiting.join().unwrap(), "token");
            adding.join().unwrap().unwrap();
        });
        canary(version, &program);
    });
}

#[rstest]
fn a_deadline_ends_a_compilation_in_the_middle(#[values("12.9", "13.0", "13.5")] version: &str) {
    within(300, || {
        let program = program(version, &endless());
        let control = Control::new().deadline(Instant::now() + Duration::from_millis(300));
        is_cancelled(program.compile_with(&sm_80(), &control), "deadline");
        canary(version, &program);
    });
}

#[rstest]
fn a_panic_in_the_middle_comes_back_as_that_panic(#[values("12.9", "13.0", "13.5")] version: &str) {
    within(300, || {
        let program = program(version, &endless());
        let asked = AtomicUsize::new(0);
        let control = Control::new().stop_when(move || {
            assert!(asked.fetch_add(1, Ordering::SeqCst) < 2, "mine");
            false
        });
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            program.compile_with::<Ptx>(&sm_80(), &control)
        }));
        let message = panicked.unwrap_err();
        let message = message.downcast_ref::<&str>().copied().unwrap_or_default();
        assert!(message.contains("mine"), "{message}");
        canary(version, &program);
    });
}

#[test]
fn a_panic_in_a_compilation_that_would_soon_end_comes_back_too_and_the_program_compiles_again() {
    let program = program(NEWEST, STORE);
    let control = Control::new().stop_when(|| panic!("mine"));
    for _ in 0..3 {
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            program.compile_with::<Ptx>(&sm_80(), &control)
        }));
        assert_eq!(panicked.unwrap_err().downcast_ref::<&str>(), Some(&"mine"));
    }
    program.compile::<Ptx>(&sm_80()).unwrap();
}

#[test]
fn what_is_called_off_before_it_begins_ends_at_once() {
    let program = program(NEWEST, STORE);
    let token = CancelToken::new();
    token.cancel();
    let asked = Control::new().stop_when(|| true);
    for (control, why) in [
        (Control::new().token(&token), "token"),
        (Control::new().deadline(Instant::now()), "deadline"),
        (asked, "function"),
    ] {
        is_cancelled(program.compile_with(&sm_80(), &control), why);
    }
    let never = Control::new()
        .token(&CancelToken::new())
        .stop_when(|| false);
    program.compile_with::<Ptx>(&sm_80(), &never).unwrap();
}

#[rstest]
fn a_library_that_cannot_end_early_says_which_can(#[values("12.0", "12.4")] version: &str) {
    let program = program(version, STORE);
    let control = Control::new().token(&CancelToken::new());
    let error = program.compile_with::<Ptx>(&sm_80(), &control).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error:?}");
    assert!(error.to_string().contains("NVRTC 12.9"), "{error}");
    program.compile::<Ptx>(&sm_80()).unwrap();
}
