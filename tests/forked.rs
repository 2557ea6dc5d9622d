//! Forked children, which have the libraries' locks and not the threads that hold them.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "common/mod.rs"]
mod common;
#[path = "common/inputs.rs"]
mod inputs;
#[path = "../src/testing/process.rs"]
mod process;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{NEWEST, store, toolkit};
use cuda_program::{Arch, Cubin, Error, Linker, Ptx, nvrtc, nvvm};
use process::again_in_a_process_of_its_own;

struct Everything {
    ir: nvvm::Program,
    cpp: nvrtc::Program,
    linker: Linker,
}

impl Everything {
    fn new() -> Self {
        let toolkit = toolkit(NEWEST);
        let ir = nvvm::Program::new(&toolkit).unwrap();
        ir.add_module("k.ll", store("k", 1)).unwrap();
        let source = r#"extern "C" __global__ void k(int *p) { *p = 1; }"#;
        Everything {
            ir,
            cpp: nvrtc::Program::new(&toolkit, "k.cu", source).unwrap(),
            linker: Linker::new(&toolkit, Arch::SM_80)
                .add(inputs::ptx(".visible .entry k() { ret; }")),
        }
    }

    fn results(&self) -> [cuda_program::Result<()>; 3] {
        let ir = self.ir.compile::<Ptx>(&nvvm::Options::new(Arch::SM_80));
        let cpp = self.cpp.compile::<Ptx>(&nvrtc::Options::new(Arch::SM_80));
        let linked = self.linker.link::<Cubin>();
        [ir.map(drop), cpp.map(drop), linked.map(drop)]
    }

    fn work(&self) {
        for result in self.results() {
            result.unwrap();
        }
    }
}

/// Forks, and says with which status the child ended; it is killed where it does not end.
fn status_of_child(child: impl FnOnce() -> bool) -> i32 {
    // SAFETY: the child leaves by `_exit`, and until then does what is tested here.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let code = i32::from(!child());
        // SAFETY: it ends the child alone.
        unsafe { libc::_exit(code) };
    }
    let mut status = 0;
    let end = Instant::now() + Duration::from_secs(20);
    // SAFETY: a child of this process, and a place for its status.
    while unsafe { libc::waitpid(pid, &mut status, libc::WNOHANG) } == 0 {
        if Instant::now() > end {
            // SAFETY: a child of this process that is not waited for yet.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    status
}

#[test]
fn a_child_forked_while_others_compile_gets_errors_and_does_not_hang() {
    again_in_a_process_of_its_own(&[], || {
        let done = AtomicBool::new(false);
        let everything = Everything::new();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let own = Everything::new();
                    while !done.load(Ordering::Relaxed) {
                        own.work();
                    }
                });
            }
            everything.work();
            for round in 0..30 {
                let parent = std::process::id();
                let status = status_of_child(|| {
                    let right =
                        |result| matches!(result, Err(Error::Forked { parent: p }) if p == parent);
                    everything.results().map(right) == [true; 3]
                });
                assert_eq!(status, 0, "round {round}");
            }
            done.store(true, Ordering::Relaxed);
        });
        everything.work();
    });
}

#[test]
fn a_child_forked_before_the_first_use_compiles() {
    again_in_a_process_of_its_own(&[], || {
        let status = status_of_child(|| Everything::new().results().iter().all(Result::is_ok));
        assert_eq!(status, 0);
    });
}

#[test]
fn the_error_says_what_to_do() {
    let error = Error::Forked { parent: 7 };
    insta::assert_snapshot!(error, @"this process was forked by process 7, which had used the compilers before, and a call into them here could wait for ever; start a program anew instead (spawn; in Python, the start method `spawn`), or fork before the first use");
}
