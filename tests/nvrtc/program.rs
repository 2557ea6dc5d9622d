//! What programs become, and what is said of them.

use cuda_program::{Arch, Cubin, Error, LtoIr, Ptx, Severity};
use rstest::rstest;

use crate::common::NEWEST;
use crate::{Options, STORE, program, sm_80};

const ADD: &str = "template <class T> __global__ void add(T *p, T v) { *p += v; }";

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
    let kernel = cubin.kernel_for("add<float>").unwrap();
    assert_eq!(kernel.name, "_Z3addIfEvPT_S0_");
    program.add_name_expression("add<int>").unwrap();
    let lto: LtoIr = program.compile(&sm_80()).unwrap();
    assert_eq!(lto.arch(), Some(Arch::SM_80));
    assert_eq!(lto.lowered_names().len(), 2);
    let again: Ptx = program.compile(&sm_80()).unwrap();
    assert_eq!(again.kernels().len(), 2);
    let kept: Ptx = serde_json::from_str(&serde_json::to_string(&again).unwrap()).unwrap();
    assert_eq!(kept, again);
}

#[test]
fn lto_ir_owns_up_to_not_knowing_its_kernels_and_remembers_those_it_is_told() {
    let lto: LtoIr = program(NEWEST, STORE).compile(&sm_80()).unwrap();
    assert!(!lto.knows_kernels() && lto.kernels().is_empty());
    // That nobody knows them is no list without any.
    let told = lto.clone().with_kernels([] as [&str; 0]);
    assert!(told.knows_kernels() && told != lto);
    for lto in [lto, told.with_kernels(["k"])] {
        let kept = serde_json::to_string(&lto).unwrap();
        assert_eq!(serde_json::from_str::<LtoIr>(&kept).unwrap(), lto);
    }
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

#[rstest]
fn a_check_says_what_a_compilation_would_and_makes_nothing(
    #[values("12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let source = "extern \"C\" __global__ void k(int *p) {\n  int unused = 1;\n}";
    let warned = program(version, source);
    let ptx: Ptx = warned.compile(&sm_80()).unwrap();
    assert_eq!(warned.check(&sm_80()).unwrap(), ptx.diagnostics());
    assert_eq!(program(version, STORE).check(&sm_80()).unwrap(), []);
    let wrong = program(version, "__global__ void k(int *p) { *p = y; }");
    let compiled = wrong.compile::<Ptx>(&sm_80()).unwrap_err();
    let checked = wrong.check(&sm_80()).unwrap_err();
    assert!(!checked.diagnostics().is_empty());
    assert_eq!(checked.diagnostics(), compiled.diagnostics());
    // An expression is looked for, too.
    let named = program(version, ADD);
    named.add_name_expression("subtract<int>").unwrap();
    assert!(named.check(&sm_80()).is_err());
}

#[test]
fn a_check_with_a_library_that_has_none_names_the_version_that_has() {
    let error = program("12.0", STORE).check(&sm_80()).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error:?}");
    assert!(error.to_string().contains("NVRTC 12.4"), "{error}");
}

#[rstest]
#[case::template(ADD)]
#[case::device_function("__device__ int f(int x) { return x; }")]
#[case::variable("__device__ int x = 3;")]
#[case::nothing("")]
fn code_without_a_kernel_is_made_and_warned_of(
    #[case] source: &str,
    #[values("12.0", "13.5")] version: &str,
) {
    let program = program(version, source);
    let ptx: Ptx = program.compile(&sm_80()).unwrap();
    let cubin: Cubin = program.compile(&sm_80()).unwrap();
    for said in [ptx.diagnostics(), cubin.diagnostics()] {
        let warned = said
            .iter()
            .any(|d| d.severity == Severity::Warning && d.message.contains("has no kernel"));
        assert!(warned, "{said:?}");
    }
}

#[rstest]
#[case::function("__device__ int f(int x) { return x; }")]
#[case::variable("__device__ int x = 3;")]
#[case::constant("__constant__ int x[4];")]
fn code_to_link_with_is_not_warned_of(#[case] source: &str) {
    let program = program(NEWEST, source);
    let mut options = sm_80();
    options.code.relocatable = true;
    let ptx: Ptx = program.compile(&options).unwrap();
    assert_eq!(ptx.diagnostics(), []);
    let cubin: Cubin = program.compile(&options).unwrap();
    assert_eq!(cubin.diagnostics(), []);
}

#[test]
fn errors_of_the_assembler_are_diagnostics_of_their_own() {
    let source = "extern \"C\" __global__ void k(int *p) {
        __shared__ int a[100000]; a[*p] = 1; *p = a[p[1]];
    }";
    let error = program(NEWEST, source)
        .compile::<Cubin>(&sm_80())
        .unwrap_err();
    let said = error.diagnostics();
    assert!(
        said.iter()
            .any(|d| d.severity == Severity::Error && d.message.contains("too much shared data")),
        "{error:?}"
    );
}
