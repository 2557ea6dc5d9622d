//! Compilations in a process that writes a decimal comma.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use rstest::rstest;

use super::{Options, Program};
use crate::testing::{CommaLocale, again_in_a_process_of_its_own};
use crate::{Arch, Cubin, Ptx, Toolkit};

/// A number with a fraction, which the assembler reads.
fn program(version: &str) -> Program {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("target/toolkits")
        .join(version);
    let toolkit = Toolkit::at(root)
        .unwrap_or_else(|e| panic!("install it with `cargo xtask toolkit {version}`: {e}"));
    // Several, so that there is something to split.
    let kernel = |n| {
        format!(
            "extern \"C\" __global__ void k{n}(double *p) {{
                double d;
                asm volatile(\"mov.f64 %0, 3.25;\" : \"=d\"(d));
                *p = d;
            }}\n"
        )
    };
    let source: String = (0..8).map(kernel).collect();
    Program::new(&toolkit, "k.cu", source).unwrap()
}

fn made(program: &Program) -> (Ptx, Cubin) {
    let options = Options::new(Arch::SM_80);
    (
        program.compile(&options).unwrap(),
        program.compile(&options).unwrap(),
    )
}

#[rstest]
fn numbers_in_assembly_keep_their_fraction_under_a_decimal_comma(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
    #[values(true, false)] of_the_process: bool,
) {
    again_in_a_process_of_its_own(&[], || {
        let program = program(version);
        let (ptx, cubin) = made(&program);
        // The upper half of 3.25 is there to be lost.
        let upper = 3.25_f64.to_le_bytes();
        assert!(cubin.as_bytes().windows(4).any(|w| w == &upper[4..]));
        let _locale = if of_the_process {
            CommaLocale::for_the_process()
        } else {
            CommaLocale::for_this_thread()
        };
        let (ptx_now, cubin_now) = made(&program);
        assert_eq!(cubin_now.as_bytes(), cubin.as_bytes());
        assert_eq!(ptx_now.as_str(), ptx.as_str());
    });
}

#[rstest]
fn threads_of_the_librarys_own_read_them_whole_too(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    again_in_a_process_of_its_own(&[], || {
        let program = program(version);
        let mut options = Options::new(Arch::SM_80);
        options.code.split_compile = Some(4);
        // The assembler has threads of its own from CUDA 12.9 on.
        if !version.starts_with("12.0") && !version.starts_with("12.4") {
            options.code.ptxas.push("--split-compile=4".to_owned());
        }
        let cubin: Cubin = program.compile(&options).unwrap();
        let _locale = CommaLocale::for_the_process();
        let now: Cubin = program.compile(&options).unwrap();
        assert_eq!(now.as_bytes(), cubin.as_bytes());
    });
}
