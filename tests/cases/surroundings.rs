//! What the host process does to a compilation without knowing.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use cuda_program::nvrtc::{Options, Program};
use cuda_program::{Arch, Cubin, Linker, Ptx};

use crate::common::{NEWEST, toolkit};
use crate::locale::CommaLocale;
use crate::process::again_in_a_process_of_its_own;

const ASSEMBLY: &str = "extern \"C\" __global__ void k(double *p) {
    double d;
    asm volatile(\"mov.f64 %0, 3.25;\" : \"=d\"(d));
    *p = d;
}";
const VARIABLE: &str = ".version 8.0\n.target sm_80\n.address_size 64\n\
    .visible .global .f64 g = 3.25;\n.visible .entry k() { ret; }\n";

fn linked() -> Cubin {
    let ptx = Ptx::from_text(VARIABLE).unwrap();
    Linker::new(&toolkit(NEWEST), Arch::SM_80)
        .add(ptx)
        .link()
        .unwrap()
}

fn compiled() -> Cubin {
    let program = Program::new(&toolkit(NEWEST), "k.cu", ASSEMBLY).unwrap();
    program.compile(&Options::new(Arch::SM_80)).unwrap()
}

#[test]
fn a_decimal_comma_of_the_host_takes_no_fraction_away() {
    again_in_a_process_of_its_own(&[], || {
        let before = (linked(), compiled());
        let _locale = CommaLocale::for_the_process();
        let under_it = (linked(), compiled());
        assert_eq!(under_it.0.as_bytes(), before.0.as_bytes());
        assert_eq!(under_it.1.as_bytes(), before.1.as_bytes());
        let whole = 3.25_f64.to_le_bytes();
        assert!(under_it.0.as_bytes().windows(8).any(|w| w == whole));
    });
}
