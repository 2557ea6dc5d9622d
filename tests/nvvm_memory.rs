//! A process that compiles again and again does not grow. Alone in its process, so that nothing else
//! moves the figure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(target_os = "linux")]

mod common;

use common::{NEWEST, calls, resident_kib, store, toolkit};
use cuda_program::nvvm::{Options, Program};
use cuda_program::{Arch, LtoIr, Ptx, Toolkit};

fn round(toolkit: &Toolkit, n: usize) {
    let program = Program::new(toolkit).unwrap();
    program.add_module("k", calls("k", "__nv_expf")).unwrap();
    match n % 4 {
        0 => drop(
            program
                .compile::<LtoIr>(&Options::new(Arch::SM_90))
                .unwrap(),
        ),
        1 => {
            let bad = format!("{}garbage", store("worse", 1));
            program.add_module("bad", bad).unwrap();
            program
                .compile::<Ptx>(&Options::new(Arch::SM_90))
                .unwrap_err();
        }
        2 => drop(program.compile::<Ptx>(&Options::new(Arch::SM_100)).unwrap()),
        _ => drop(program.compile::<Ptx>(&Options::new(Arch::SM_90)).unwrap()),
    }
}

#[test]
fn a_thousand_compilations_grow_the_process_by_less_than_5_mib() {
    let toolkit = toolkit(NEWEST);
    for n in 0..100 {
        round(&toolkit, n);
    }
    let base = resident_kib();
    for n in 0..1000 {
        round(&toolkit, n);
    }
    let grown = resident_kib() - base;
    assert!(grown < 5 * 1024, "grown by {grown} KiB");
}
