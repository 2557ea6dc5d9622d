//! What compilations of CUDA C++ fail at.

use std::path::Path;
use std::time::{Duration, Instant};

use cuda_program::nvrtc::{BundledHeaders, Control, Options, PchMode, Program};
use cuda_program::{Arch, Cubin, Error, Ptx, Toolkit, nvvm};
use rstest::rstest;

use crate::alone;
use crate::common::{NEWEST, store, toolkit, within};
use crate::process::again_in_a_process_of_its_own;

const HALF: &str = "#include <cuda_fp16.h>
extern \"C\" __global__ void k(__half *p) { *p = __hadd(*p, *p); }";

fn program(source: &str) -> Program {
    Program::new(&toolkit(NEWEST), "k.cu", source).unwrap()
}

#[test]
fn headers_of_the_toolkit_or_those_inside_the_library_are_found() {
    program(HALF)
        .compile::<Ptx>(&Options::new(Arch::SM_80))
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::new(Arch::SM_80);
    options.preprocessor.toolkit_headers = false;
    let error = program(HALF).compile::<Ptx>(&options).unwrap_err();
    assert!(error.to_string().contains("cuda_fp16.h"), "{error}");
    options.preprocessor.bundled_headers = BundledHeaders::Folder(folder.path().to_owned());
    program(HALF).compile::<Ptx>(&options).unwrap();
}

#[test]
fn a_missing_builtins_library_is_named() {
    // The library that is opened first would lend its own to the other.
    again_in_a_process_of_its_own(&[], || {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/toolkits");
        let library = root.join(NEWEST).join("nvidia/cu13/lib/libnvrtc.so.13");
        let folder = alone(&library);
        let toolkit = Toolkit::at(folder.path()).unwrap();
        let program = Program::new(&toolkit, "k.cu", "__global__ void k() {}").unwrap();
        let options = Options::new(Arch::SM_80);
        let error = program.compile::<Ptx>(&options).unwrap_err();
        let said = error.to_string();
        assert!(said.contains("libnvrtc-builtins.so.13.5"), "{said}");
    });
}

#[test]
fn an_architecture_that_a_library_lacks_is_refused_with_those_that_it_has() {
    let error = program("__global__ void k() {}")
        .compile::<Ptx>(&Options::new(Arch::SM_70))
        .unwrap_err();
    assert!(error.to_string().contains("sm_75"), "{error}");
    let ir = nvvm::Program::new(&toolkit(NEWEST)).unwrap();
    ir.add_module("k.ll", store("k", 1)).unwrap();
    let error = ir
        .compile::<Ptx>(&nvvm::Options::new(Arch::SM_70))
        .unwrap_err();
    assert!(error.to_string().contains("compute_75"), "{error}");
    // Either spelling is one architecture.
    for name in ["sm_80", "compute_80"] {
        ir.compile::<Ptx>(&nvvm::Options::new(name.parse().unwrap()))
            .unwrap();
    }
    let twice = nvvm::Options::new(Arch::SM_80).extra("-opt=0");
    let error = ir.compile::<Ptx>(&twice).unwrap_err();
    assert!(matches!(error, Error::InvalidOptions { .. }), "{error}");
}

#[rstest]
#[case("(", "x", ")", 3000)]
#[case("f(", "x", ")", 1000)]
fn what_is_deeply_nested_compiles_on_a_thread_with_a_small_stack(
    #[case] open: &str,
    #[case] inside: &str,
    #[case] close: &str,
    #[case] depth: usize,
) {
    let nested = format!("{}{inside}{}", open.repeat(depth), close.repeat(depth));
    let source = format!(
        "__device__ int f(int x) {{ return x; }}
         extern \"C\" __global__ void k(int *p) {{ int x = *p; *p = {nested}; }}"
    );
    let thread = std::thread::Builder::new().stack_size(256 << 10);
    let made = thread
        .spawn(move || program(&source).compile::<Ptx>(&Options::new(Arch::SM_80)))
        .unwrap()
        .join()
        .unwrap();
    assert!(made.unwrap().kernel("k").is_some());
}

#[test]
fn a_precompiled_header_that_was_damaged_is_refused_and_the_default_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.pch");
    let mut options = Options::new(Arch::SM_80);
    assert_eq!(options.pch.mode, PchMode::Off);
    let program = program(HALF);
    options.pch.mode = PchMode::Create(file.clone());
    program.compile::<Ptx>(&options).unwrap();
    let whole = std::fs::read(&file).unwrap();
    options.pch.mode = PchMode::Use(file.clone());
    program.compile::<Ptx>(&options).unwrap();
    for damaged in [&whole[..whole.len() / 2], &vec![0; whole.len()], b""] {
        std::fs::write(&file, damaged).unwrap();
        let error = program.compile::<Ptx>(&options).unwrap_err();
        assert!(error.to_string().contains("k.pch"), "{error}");
    }
}

#[test]
fn a_compilation_that_takes_too_long_is_ended() {
    let statements = "x = x * 3 + y; y = y * x + 7; if (x > y) x ^= y; ".repeat(20_000);
    let source = format!(
        "extern \"C\" __global__ void k(int *p) {{ int x = p[0], y = p[1]; {statements} p[0] = x + y; }}"
    );
    let control = Control::new().deadline(Instant::now() + Duration::from_millis(300));
    let made = within(120, || {
        program(&source).compile_with::<Cubin>(&Options::new(Arch::SM_80), &control)
    });
    assert!(
        matches!(made, Err(Error::Cancelled { .. })),
        "{:?}",
        made.err()
    );
}
