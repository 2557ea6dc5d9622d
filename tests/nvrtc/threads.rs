//! One program from many threads, and many programs at once.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use cuda_program::nvrtc::{CancelToken, Control, Program};
use cuda_program::{Arch, Cubin, Error, LtoIr, Ptx, Toolkit};
use rstest::rstest;

use crate::common::{toolkit, within};
use crate::{Options, STORE, program, sm_80};

/// A second program, as one that waits for a lock that was leaked would hang.
fn canary(version: &str) {
    let source = "extern \"C\" __global__ void canary(float *p) { *p = sinf(*p); }";
    let ptx: Ptx = program(version, source).compile(&sm_80()).unwrap();
    assert!(ptx.kernel("canary").is_some());
}

const TEMPLATE: &str = "template <int N> __global__ void k(int *p) { *p = N; }";
const INCLUDE: &str = "#include \"n.h\"\nextern \"C\" __global__ void k(int *p) { *p = N; }";

/// One of some compilations that have nothing in common.
fn mixed(toolkit: &Toolkit, which: usize, number: usize) {
    let new = |source: &str| Program::new(toolkit, "k.cu", source).unwrap();
    let stores = |ptx: &Ptx| assert!(ptx.as_str().contains(&format!(", {number};")), "{number}");
    match which % 6 {
        0 => {
            let program = new(TEMPLATE);
            let name = format!("k<{number}>");
            program.add_name_expression(&name).unwrap();
            let ptx: Ptx = program.compile(&sm_80()).unwrap();
            assert!(ptx.kernel_for(&name).is_some());
            stores(&ptx);
        }
        1 => {
            let program = new(INCLUDE);
            program
                .add_header("n.h", format!("#define N {number}\n"))
                .unwrap();
            stores(&program.compile(&sm_80()).unwrap());
        }
        2 => {
            let lines = "\n".repeat(number);
            let error = new(&format!("{lines}int x = y;"))
                .compile::<Ptx>(&sm_80())
                .unwrap_err();
            let line = u32::try_from(number).unwrap() + 1;
            assert!(error.diagnostics().iter().any(|d| d.line == Some(line)));
        }
        3 => {
            let source = format!("extern \"C\" __global__ void k{number}(int *p) {{ *p = 1; }}");
            let cubin: Cubin = new(&source).compile(&Options::new(Arch::SM_90)).unwrap();
            assert!(cubin.kernel(&format!("k{number}")).is_some());
        }
        4 => {
            let lto: LtoIr = new(STORE).compile(&sm_80()).unwrap();
            assert_eq!(lto.arch(), Some(Arch::SM_80));
        }
        _ => {
            let mut options = sm_80();
            options.extra.push("--no-such-flag".to_owned());
            assert_eq!(
                new(STORE).compile::<Ptx>(&options).unwrap_err().raw_code(),
                Some(5)
            );
        }
    }
}

#[rstest]
fn programs_of_all_kinds_on_16_threads_do_not_disturb_each_other(
    #[values("12.4", "13.5")] version: &str,
) {
    const ROUNDS: usize = 12;
    within(600, || {
        let toolkit = toolkit(version);
        let done = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for thread in 0..16 {
                let (toolkit, done) = (&toolkit, &done);
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        mixed(toolkit, thread + round, 100 + thread * ROUNDS + round);
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(done.into_inner(), 16 * ROUNDS);
        canary(version);
    });
}

#[rstest]
fn a_first_compilation_of_one_program_from_16_threads_gives_all_the_same(
    #[values("12.9", "13.5")] version: &str,
) {
    within(600, || {
        let expected: Ptx = program(version, STORE).compile(&sm_80()).unwrap();
        let shared = program(version, STORE);
        let barrier = Barrier::new(16);
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    barrier.wait();
                    for _ in 0..4 {
                        assert_eq!(shared.compile::<Ptx>(&sm_80()).unwrap(), expected);
                    }
                });
            }
        });
        canary(version);
    });
}

#[rstest]
fn threads_may_add_to_a_program_and_call_it_off_while_others_compile_it(
    #[values("12.9", "13.5")] version: &str,
) {
    within(600, || {
        let shared = program(version, TEMPLATE);
        let cancelled = CancelToken::new();
        cancelled.cancel();
        let control = Control::new().token(&cancelled);
        std::thread::scope(|scope| {
            for thread in 0..16 {
                let (shared, control) = (&shared, &control);
                scope.spawn(move || {
                    let name = format!("k<{thread}>");
                    shared.add_name_expression(&name).unwrap();
                    shared.add_header(format!("{thread}.h"), "").unwrap();
                    let ptx: Ptx = shared.compile(&sm_80()).unwrap();
                    assert!(ptx.kernel_for(&name).is_some());
                    let off = shared.compile_with::<Ptx>(&sm_80(), control);
                    assert!(matches!(off, Err(Error::Cancelled { .. })), "{off:?}");
                });
            }
        });
        let ptx: Ptx = shared.compile(&sm_80()).unwrap();
        assert_eq!(ptx.kernels().len(), 16);
        canary(version);
    });
}

#[test]
fn a_program_is_send_and_sync() {
    fn is<T: Send + Sync + 'static>() {}
    is::<Program>();
}
