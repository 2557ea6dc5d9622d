//! The locking of a program, checked in every order that a model of threads can run in.
//!
//! Run by `RUSTFLAGS="--cfg loom" cargo test --lib nvvm::model`. What is checked is the shipped
//! `Program`, over a fake table that yields in the middle of each call.

use std::sync::atomic::Ordering;

use loom::sync::Arc;

use super::fake;
use crate::nvvm::Options;
use crate::sync::model::LEFT_OUT;
use crate::{Arch, Ptx};

/// Threads compile one program at once; libdevice must be added once in all.
fn explore(threads: usize, setup: fn(&mut fake::Fake), check: fn(&fake::Fake, usize)) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        fake::with(|fake| {
            *fake = fake::Fake::default();
            setup(fake);
        });
        let program = Arc::new(fake::program());
        let others: Vec<_> = (1..threads)
            .map(|_| {
                let program = program.clone();
                loom::thread::spawn(move || {
                    usize::from(program.compile::<Ptx>(&Options::new(Arch::SM_90)).is_ok())
                })
            })
            .collect();
        let mut done = usize::from(program.compile::<Ptx>(&Options::new(Arch::SM_80)).is_ok());
        for other in others {
            done += other.join().expect("no thread of the model panics");
        }
        fake::with(|fake| check(fake, done));
    });
}

#[test]
fn threads_that_compile_one_program_add_libdevice_once() {
    explore(
        3,
        |_| (),
        |fake, done| {
            assert_eq!((done, fake.compiled), (3, 3));
            assert_eq!((fake.created, fake.libdevice_adds), (1, 1));
        },
    );
}

#[test]
fn a_failed_add_fails_one_thread_alone_and_another_tries_again() {
    explore(
        3,
        |fake| fake.fail_libdevice_adds = 1,
        |fake, done| {
            assert_eq!((done, fake.compiled), (2, 2));
            assert_eq!(fake.libdevice_adds, 1);
        },
    );
}

#[test]
fn a_failed_compilation_fails_one_thread_alone() {
    explore(
        3,
        |fake| fake.fail_compiles = 1,
        |fake, done| {
            assert_eq!((done, fake.compiled), (2, 2));
            assert_eq!((fake.created, fake.libdevice_adds), (1, 1));
        },
    );
}

#[test]
fn the_model_notices_when_the_lock_is_left_out() {
    let found = std::thread::spawn(|| {
        LEFT_OUT.with(|left_out| left_out.store(true, Ordering::Relaxed));
        explore(2, |_| (), |_, _| ());
    })
    .join();
    assert!(found.is_err(), "a program without its lock passed");
}
