//! Deeply nested sources, on the small stacks that threads have.

use cuda_program::{LtoIr, Ptx};
use rstest::rstest;

use crate::common::{NEWEST, within};
use crate::{program, sm_80};

#[cfg(target_os = "linux")]
use crate::own_process::again_in_a_process_of_its_own;

/// The stack of threads that Rust starts by itself.
const SMALL: usize = 2 << 20;

fn kernel(body: &str) -> String {
    format!("__device__ int f(int x);\nextern \"C\" __global__ void k(int *p) {{ {body} }}")
}

fn parentheses(depth: usize) -> String {
    let (open, close) = ("(".repeat(depth), ")".repeat(depth));
    kernel(&format!("*p = {open}1{close};"))
}

fn calls(depth: usize) -> String {
    let (open, close) = ("f(".repeat(depth), ")".repeat(depth));
    kernel(&format!("*p = {open}1{close};"))
}

fn else_ifs(depth: usize) -> String {
    let branches: Vec<String> = (0..depth)
        .map(|n| format!("if (*p == {n}) p[1] = {n};"))
        .collect();
    kernel(&branches.join(" else "))
}

fn blocks(depth: usize) -> String {
    kernel(&format!(
        "{}*p = 1;{}",
        "{ if (*p) ".repeat(depth),
        "}".repeat(depth)
    ))
}

#[rstest]
#[case::parentheses(parentheses(3000))]
#[case::calls(calls(1500))]
#[case::else_ifs(else_ifs(2500))]
#[case::blocks(blocks(1500))]
fn a_deeply_nested_source_compiles_on_a_small_thread(
    #[case] source: String,
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    within(300, || {
        let program = program(version, &source);
        let mut options = sm_80();
        // `f` is another's.
        options.code.relocatable = true;
        let made = std::thread::Builder::new()
            .stack_size(SMALL)
            .spawn(move || program.compile::<Ptx>(&options))
            .unwrap();
        let ptx = made.join().unwrap().unwrap_or_else(|e| panic!("{e}"));
        assert!(ptx.kernel("k").is_some());
    });
}

#[rstest]
fn a_nested_source_becomes_lto_ir_and_is_checked_on_a_small_thread(
    #[values("12.4", "13.5")] version: &str,
) {
    let program = program(version, &calls(1500));
    let made = std::thread::Builder::new()
        .stack_size(SMALL)
        .spawn(move || {
            program.check(&sm_80()).unwrap();
            program.compile::<LtoIr>(&sm_80()).unwrap();
        });
    made.unwrap().join().unwrap();
}

#[test]
fn deeper_parentheses_than_any_thread_has_room_for_compile_too() {
    program(NEWEST, &parentheses(5000))
        .compile::<Ptx>(&sm_80())
        .unwrap();
}

#[cfg(target_os = "linux")]
fn stack_limit() -> [u64; 2] {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a place for the limits.
    let got = unsafe { libc::getrlimit(libc::RLIMIT_STACK, &mut limit) };
    assert_eq!(got, 0);
    [limit.rlim_cur, limit.rlim_max]
}

#[cfg(target_os = "linux")]
#[rstest]
fn the_process_keeps_its_stack_limit_during_and_after_a_compilation(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    again_in_a_process_of_its_own(&[], || {
        let [now, most] = stack_limit();
        // Below what it may be, so that it could be raised.
        let limit = libc::rlimit {
            rlim_cur: now.min(8 << 20),
            rlim_max: most,
        };
        // SAFETY: the limits are valid, and this process is the test's own.
        let set = unsafe { libc::setrlimit(libc::RLIMIT_STACK, &limit) };
        assert_eq!(set, 0);
        let before = stack_limit();
        assert!(before[0] < before[1]);
        let done = AtomicBool::new(false);
        let looked = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::SeqCst) {
                    assert_eq!(stack_limit(), before);
                    looked.fetch_add(1, Ordering::SeqCst);
                }
            });
            let program = program(version, &else_ifs(300));
            let mut options = sm_80();
            options.code.relocatable = true;
            let made = program.compile::<Ptx>(&options);
            let checked = (version != "12.0").then(|| program.check(&options));
            done.store(true, Ordering::SeqCst);
            made.unwrap();
            checked.map(Result::unwrap);
        });
        assert!(looked.load(Ordering::SeqCst) > 100);
        assert_eq!(stack_limit(), before);
    });
}
