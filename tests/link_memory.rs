//! A process that links again and again does not grow by more than the library's own leak. Alone in
//! its process, so that nothing else moves the figure.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(target_os = "linux")]

mod common;

use common::{NEWEST, resident_kib, toolkit};
use cuda_program::{Arch, Cubin, Linker, LtoIr, Ptx, nvrtc};

fn round(good: &Linker, bad: &Linker) {
    good.link::<Cubin>().unwrap();
    bad.link::<Cubin>().unwrap_err();
}

#[test]
fn a_thousand_links_grow_the_process_by_less_than_6_mib() {
    let toolkit = toolkit(NEWEST);
    let source = r#"extern "C" __global__ void k(int *p) { *p += 1; }"#;
    let program = nvrtc::Program::new(&toolkit, "k.cu", source).unwrap();
    let lto: LtoIr = program.compile(&nvrtc::Options::new(Arch::SM_80)).unwrap();
    let good = Linker::new(&toolkit, Arch::SM_80).add(lto.with_kernels(["k"]));
    let bogus = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry l() { bogus; }\n";
    let bad = Linker::new(&toolkit, Arch::SM_80).add(Ptx::from_text(bogus).unwrap());
    for _ in 0..50 {
        round(&good, &bad);
    }
    let base = resident_kib();
    for _ in 0..500 {
        round(&good, &bad);
    }
    // The library keeps about 2.5 KiB of each link.
    let grown = resident_kib() - base;
    assert!(grown < 6 * 1024, "grown by {grown} KiB");
}
