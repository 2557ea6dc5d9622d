//! A process that compiles CUDA C++ again and again does not grow. Alone in its process, so that
//! nothing else moves the figure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(target_os = "linux")]

mod common;

use common::{NEWEST, resident_kib, toolkit};
use cuda_program::nvrtc::{Control, Options, PchMode, Program};
use cuda_program::{Arch, Cubin, LtoIr, Ptx, Toolkit};

fn round(toolkit: &Toolkit, n: usize) {
    let source = "#include \"h.h\"
template <int N> __global__ void k(float *p) { *p = sinf(*p) * N; }";
    let program = Program::new(toolkit, "k.cu", source).unwrap();
    program.add_header("h.h", "#define H 1\n").unwrap();
    program.add_name_expression(format!("k<{n}>")).unwrap();
    let mut options = Options::new(Arch::SM_90);
    match n % 6 {
        0 => drop(program.compile::<LtoIr>(&options).unwrap()),
        1 => {
            program.add_name_expression("bad<1>").unwrap();
            program.compile::<Ptx>(&options).unwrap_err();
        }
        2 => drop(program.compile::<Cubin>(&options).unwrap()),
        3 => {
            let off = Control::new().stop_when(|| true);
            program.compile_with::<Ptx>(&options, &off).unwrap_err();
        }
        4 => {
            options.pch.mode = PchMode::Automatic;
            drop(program.compile::<Ptx>(&options).unwrap());
        }
        _ => drop(program.compile::<Ptx>(&options).unwrap()),
    }
}

#[test]
fn three_hundred_compilations_grow_the_process_by_less_than_5_mib() {
    let toolkit = toolkit(NEWEST);
    for n in 0..60 {
        round(&toolkit, n);
    }
    let base = resident_kib();
    for n in 0..300 {
        round(&toolkit, n);
    }
    let grown = resident_kib() - base;
    println!("grown by {grown} KiB");
    assert!(grown < 5 * 1024, "grown by {grown} KiB");
}
