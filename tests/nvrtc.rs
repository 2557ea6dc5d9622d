//! CUDA C++ through the real NVRTC of each version.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::time::Instant;

use common::{NEWEST, toolkit, within};
use cuda_program::nvrtc::{CancelToken, Control, Options, PchMode, PchStatus, Program, Standard};
use cuda_program::{Arch, Cubin, Error, LtoIr, Ptx, Severity};
use rstest::rstest;

const STORE: &str = "extern \"C\" __global__ void k(int *p) { *p = 1; }";
const ADD: &str = "template <class T> __global__ void add(T *p, T v) { *p += v; }";

fn program(version: &str, source: &str) -> Program {
    Program::new(&toolkit(version), "k.cu", source).unwrap()
}

fn sm_80() -> Options {
    Options::new(Arch::SM_80)
}

#[rstest]
fn one_program_becomes_ptx_a_cubin_and_lto_ir_with_lowered_names(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let program = program(version, ADD);
    program.add_name_expression("add<float>").unwrap();
    let ptx: Ptx = program.compile(&sm_80()).unwrap();
    assert_eq!(ptx.target(), Arch::SM_80);
    assert_eq!(ptx.kernel_for("add<float>").unwrap().parameters.len(), 2);
    let cubin: Cubin = program.compile(&Options::new(Arch::SM_90)).unwrap();
    assert_eq!(cubin.kernel_for("add<float>"), Some("_Z3addIfEvPT_S0_"));
    program.add_name_expression("add<int>").unwrap();
    let lto: LtoIr = program.compile(&sm_80()).unwrap();
    assert_eq!(lto.arch(), Some(Arch::SM_80));
    assert_eq!(lto.lowered_names().len(), 2);
    let again: Ptx = program.compile(&sm_80()).unwrap();
    assert_eq!(again.kernels().len(), 2);
    let kept: Ptx = serde_json::from_str(&serde_json::to_string(&again).unwrap()).unwrap();
    assert_eq!(kept, again);
}

#[rstest]
fn a_header_in_memory_is_found(#[values("12.0", "13.5")] version: &str) {
    let program = program(
        version,
        "#include <two.h>\nextern \"C\" __global__ void k(int *p) { *p = TWO; }",
    );
    program.add_header("two.h", "#define TWO 2\n").unwrap();
    assert!(program.add_header("two.h", "").is_err());
    let ptx: Ptx = program.compile(&sm_80()).unwrap();
    assert!(ptx.kernel("k").is_some());
}

#[rstest]
fn the_headers_of_the_toolkit_are_found_by_themselves(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let source = format!("#include <cuda_fp16.h>\n{STORE}");
    let ptx: Ptx = program(version, &source).compile(&sm_80()).unwrap();
    assert!(ptx.kernel("k").is_some());
}

#[test]
fn a_missing_header_names_the_folders_and_the_way_to_add_it() {
    let mut options = sm_80();
    options.preprocessor.include_folders.push("/nowhere".into());
    options.preprocessor.toolkit_headers = false;
    let error = |source| {
        program(NEWEST, source)
            .compile::<Ptx>(&options)
            .unwrap_err()
            .to_string()
    };
    let own = error("#include \"my.h\"\n");
    assert!(
        own.contains("/nowhere") && own.contains("add_header"),
        "{own}"
    );
    let cuda = error("#include <cuda_fp16.h>\n");
    assert!(cuda.contains("nvidia-cuda-runtime"), "{cuda}");
    let cccl = error("#include <nv/target>\n");
    assert!(cccl.contains("nvidia-cuda-cccl"), "{cccl}");
}

#[rstest]
fn warnings_come_with_the_artifact_and_errors_with_their_lines(
    #[values("12.0", "13.5")] version: &str,
) {
    let source = "__global__ void k(int *p) {\n  int unused = 1;\n}";
    let ptx: Ptx = program(version, source).compile(&sm_80()).unwrap();
    let warning = &ptx.diagnostics()[0];
    assert_eq!(warning.severity, Severity::Warning);
    assert_eq!(
        (warning.module.as_deref(), warning.line),
        (Some("k.cu"), Some(2))
    );
    let error = program(version, "\n\nint x = y;")
        .compile::<Ptx>(&sm_80())
        .unwrap_err();
    assert_eq!(error.raw_code(), Some(6));
    assert!(
        error.diagnostics().iter().any(|d| d.line == Some(3)),
        "{error:?}"
    );
}

#[test]
fn an_option_that_the_version_lacks_names_the_version_it_needs() {
    let mut options = sm_80();
    options.language.standard = Some(Standard::Cpp23);
    let error = program("13.0", STORE).compile::<Ptx>(&options).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error:?}");
    assert!(error.to_string().contains("NVRTC 13.5"), "{error}");
    program(NEWEST, STORE).compile::<Ptx>(&options).unwrap();
}

#[test]
fn an_arch_that_the_library_lacks_lists_those_it_has() {
    let error = program("12.0", STORE)
        .compile::<Cubin>(&Options::new(Arch::SM_100))
        .unwrap_err();
    assert!(error.to_string().contains("sm_90"), "{error}");
}

#[rstest]
#[case::arch("--gpu-architecture=sm_90", "arch")]
#[case::lto("-dlto", "LtoIr")]
#[case::blank("--dopt=on ", "blanks")]
#[case::define("-DA=1", "defines")]
#[case::trace("-time=/nowhere/trace.json", "time_trace")]
#[case::stack("-modify-stack-limit=true", "stack of its own")]
#[case::nothing_made("-fdevice-syntax-only", "leave it out")]
fn what_extra_may_not_hold_is_refused(#[case] flag: &str, #[case] hint: &str) {
    let mut options = sm_80();
    options.extra.push(flag.to_owned());
    let error = program(NEWEST, STORE).compile::<Ptx>(&options).unwrap_err();
    assert!(error.to_string().contains(hint), "{error}");
}

#[test]
fn a_trace_file_that_cannot_be_written_is_an_error_and_not_the_end_of_the_process() {
    let mut options = sm_80();
    options.time_trace = Some("/nowhere/trace.json".into());
    let error = program(NEWEST, STORE).compile::<Ptx>(&options).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error:?}");
}

#[rstest]
#[case::quote("a\"b.cu")]
#[case::newline("a\nb.cu")]
#[case::empty("")]
fn a_name_that_would_break_lines_of_the_output_is_refused(#[case] name: &str) {
    assert!(Program::new(&toolkit(NEWEST), name, STORE).is_err());
}

#[test]
fn sources_and_names_beyond_ascii_compile() {
    let source = format!("\u{feff}// größer\n{STORE}");
    let program = Program::new(&toolkit(NEWEST), "größe.cu", source).unwrap();
    let mut options = sm_80();
    options.debug.line_info = true;
    let ptx: Ptx = program.compile(&options).unwrap();
    // The library escapes what is not ASCII by the octal numbers of its bytes.
    assert!(
        ptx.as_str().contains(r"/gr\303\266\303\237e.cu"),
        "{}",
        ptx.as_str()
    );
}

#[test]
fn deep_nesting_compiles_on_a_small_thread() {
    let source = format!(
        "extern \"C\" __global__ void k(int *p) {{ *p = {}1{}; }}",
        "(".repeat(5000),
        ")".repeat(5000)
    );
    let ptx = std::thread::spawn(move || program(NEWEST, &source).compile::<Ptx>(&sm_80()));
    assert!(ptx.join().unwrap().is_ok());
}

#[test]
fn a_precompiled_header_is_made_and_used() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.pch");
    let program = program(
        NEWEST,
        "#include <h.h>\nextern \"C\" __global__ void k(H *p) { *p = 1; }",
    );
    program.add_header("h.h", "using H = int;\n").unwrap();
    let mut options = sm_80();
    options.pch.mode = PchMode::Create(file.clone());
    program.compile::<Ptx>(&options).unwrap();
    assert_eq!(program.pch_status(), Some(PchStatus::Created));
    assert!(file.is_file());
    options.pch.mode = PchMode::Use(file);
    let used: Ptx = program.compile(&options).unwrap();
    assert!(
        used.diagnostics()
            .iter()
            .any(|d| d.message.contains("using")),
        "{used:?}"
    );
}

#[test]
fn a_cancelled_token_a_passed_deadline_and_a_function_end_a_compilation() {
    let program = program(NEWEST, STORE);
    let token = CancelToken::new();
    token.cancel();
    for control in [
        Control::new().token(&token),
        Control::new().deadline(Instant::now()),
        Control::new().stop_when(|| true),
    ] {
        let error = program.compile_with::<Ptx>(&sm_80(), &control).unwrap_err();
        assert!(matches!(error, Error::Cancelled { .. }), "{error:?}");
    }
    program.compile::<Ptx>(&sm_80()).unwrap();
    let old = Program::new(&toolkit("12.4"), "k.cu", STORE).unwrap();
    let error = old.compile_with::<Ptx>(&sm_80(), &Control::new().token(&token));
    assert!(matches!(error, Err(Error::Unsupported { .. })));
}

#[test]
fn a_panic_in_the_callers_function_comes_back_as_that_panic() {
    let program = program(NEWEST, STORE);
    let control = Control::new().stop_when(|| panic!("mine"));
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        program.compile_with::<Ptx>(&sm_80(), &control)
    }));
    assert_eq!(panicked.unwrap_err().downcast_ref::<&str>(), Some(&"mine"));
    program.compile::<Ptx>(&sm_80()).unwrap();
}

#[test]
fn one_program_and_many_give_the_same_from_many_threads() {
    within(300, || {
        let shared = program(NEWEST, STORE);
        let expected: Ptx = shared.compile(&sm_80()).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    for _ in 0..4 {
                        assert_eq!(shared.compile::<Ptx>(&sm_80()).unwrap(), expected);
                        let own = program(NEWEST, STORE);
                        assert_eq!(own.compile::<Ptx>(&sm_80()).unwrap(), expected);
                    }
                });
            }
        });
    });
}
