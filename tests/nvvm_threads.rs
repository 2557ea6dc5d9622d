//! One program from many threads, and many programs at once, on the real library.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{NEWEST, calls, store, toolkit, within};
use cuda_program::nvvm::{Libdevice, Options, Program};
use cuda_program::{Arch, LtoIr, Ptx};
use rstest::rstest;

fn fresh(module: &str, arch: Arch) -> String {
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("k", module).unwrap();
    let ptx: Ptx = program.compile(&Options::new(arch)).unwrap();
    ptx.as_str().to_owned()
}

/// A second program, as one that waits for a lock that was leaked would hang.
fn canary() {
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program
        .add_module("canary", calls("canary", "__nv_cosf"))
        .unwrap();
    let ptx: Ptx = program.compile(&Options::new(Arch::SM_80)).unwrap();
    assert!(ptx.externs().is_empty());
}

#[test]
fn a_first_compilation_from_64_threads_gives_all_the_same() {
    const THREADS: usize = 64;
    const ROUNDS: usize = 200;
    const ARCHS: [Arch; 4] = [Arch::SM_75, Arch::SM_80, Arch::SM_90, Arch::SM_100];
    let module = calls("k", "__nv_fabsf");
    let expected = ARCHS.map(|arch| fresh(&module, arch));
    within(600, || {
        let toolkit = toolkit(NEWEST);
        // Every thread takes part in every round, and each round has a program of its own.
        let rounds: Vec<(Program, Barrier)> = (0..ROUNDS)
            .map(|_| {
                let program = Program::new(&toolkit).unwrap();
                program.add_module("k", &module).unwrap();
                (program, Barrier::new(THREADS))
            })
            .collect();
        let compiled = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (rounds, compiled, expected) = (&rounds, &compiled, &expected);
                scope.spawn(move || {
                    for (round, (program, barrier)) in rounds.iter().enumerate() {
                        barrier.wait();
                        // A few threads compile at full; the others hit the lock with what is quick.
                        if thread % 16 == round % 16 {
                            let at = thread / 16;
                            let options = Options::new(ARCHS[at]);
                            let ptx: Ptx = program.compile(&options).unwrap();
                            assert_eq!(ptx.as_str(), expected[at], "{thread} {round}");
                            compiled.fetch_add(1, Ordering::Relaxed);
                        } else {
                            assert_eq!(program.modules().len(), 1);
                            program
                                .compile::<Ptx>(&Options::new(Arch::SM_50))
                                .unwrap_err();
                        }
                    }
                });
            }
        });
        assert_eq!(compiled.into_inner(), ROUNDS * THREADS / 16);
        canary();
    });
}

#[test]
fn programs_on_many_threads_do_not_disturb_each_other() {
    let modules = [
        store("k", 1),
        calls("k", "__nv_sinf"),
        calls("k", "__nv_expf"),
        store("k", 2),
    ];
    let expected: Vec<String> = modules.iter().map(|m| fresh(m, Arch::SM_90)).collect();
    within(300, || {
        let toolkit = toolkit(NEWEST);
        std::thread::scope(|scope| {
            for thread in 0..16 {
                let (modules, expected, toolkit) = (&modules, &expected, &toolkit);
                scope.spawn(move || {
                    for round in 0..20 {
                        let at = (thread + round) % modules.len();
                        let program = Program::new(toolkit).unwrap();
                        program.add_module("k", &modules[at]).unwrap();
                        let ptx: Ptx = program.compile(&Options::new(Arch::SM_90)).unwrap();
                        assert_eq!(ptx.as_str(), expected[at]);
                        program
                            .add_module("worse", format!("{}garbage", store("worse", 1)))
                            .unwrap();
                        program
                            .compile::<Ptx>(&Options::new(Arch::SM_90))
                            .unwrap_err();
                    }
                });
            }
        });
        canary();
    });
}

#[rstest]
fn threads_may_change_the_list_while_others_compile(#[values(4, 16)] threads: usize) {
    within(300, || {
        let program = Program::new(&toolkit(NEWEST)).unwrap();
        program.add_module("k", calls("k", "__nv_sinf")).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let program = &program;
                scope.spawn(move || {
                    let name = format!("m{thread}");
                    for round in 0..10 {
                        program.add_module(&name, store(&name, round)).unwrap();
                        let ptx: Ptx = program.compile(&Options::new(Arch::SM_90)).unwrap();
                        assert!(ptx.kernel("k").is_some() && ptx.kernel(&name).is_some());
                        let ltoir: LtoIr = program.compile(&Options::new(Arch::SM_90)).unwrap();
                        assert!(ltoir.kernels().contains(&name));
                        program.set_libdevice(Libdevice::Always).unwrap();
                        program.remove_module(&name).unwrap();
                    }
                });
            }
        });
        assert_eq!(program.modules().len(), 1);
        let ptx: Ptx = program.compile(&Options::new(Arch::SM_90)).unwrap();
        assert_eq!(ptx.as_str(), fresh(&calls("k", "__nv_sinf"), Arch::SM_90));
        canary();
    });
}

#[test]
fn a_program_is_send_and_sync() {
    fn is<T: Send + Sync + 'static>() {}
    is::<Program>();
}
