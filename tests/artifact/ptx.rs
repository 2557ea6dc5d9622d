//! What PTX of real compilers declares.

use std::path::Path;

use cuda_program::artifact::{ExternKind, Linkage, PtxKernel};
use cuda_program::{Arch, Artifact, Diagnostic, LtoIr, Ptx, Severity};
use rstest::rstest;

fn fixture(name: &str) -> Ptx {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/ptx");
    Ptx::read_from(folder.join(format!("{name}.ptx"))).unwrap()
}

/// Name, size and alignment are what a launch depends on.
fn layout(kernel: &PtxKernel) -> Vec<(&str, usize, usize)> {
    let parameters = kernel.parameters.iter();
    parameters
        .map(|p| (p.ty.as_str(), p.size, p.align))
        .collect()
}

#[rstest]
#[case("kernels-12.0-sm_75", "8.0", "sm_75", "release 12.0, V12.0.140")]
#[case("kernels-12.9-sm_90a", "8.8", "sm_90a", "release 12.9, V12.9.86")]
#[case("kernels-13.5-sm_90", "9.5", "sm_90", "release 13.5, V13.5.37")]
#[case(
    "printing-12.9-sm_100f-rdc",
    "8.8",
    "sm_100f",
    "release 12.9, V12.9.86"
)]
#[case("printing-13.5-sm_120-rdc", "9.5", "sm_120", "release 13.5, V13.5.37")]
#[case("typed-13.5-sm_100f", "9.5", "sm_100f", "release 13.5, V13.5.37")]
#[case("debug-13.5-sm_90-lineinfo", "9.5", "sm_90", "release 13.5, V13.5.37")]
fn the_header_says_version_target_and_producer(
    #[case] name: &str,
    #[case] version: &str,
    #[case] target: &str,
    #[case] release: &str,
) {
    let ptx = fixture(name);
    assert_eq!(ptx.isa_version().to_string(), version);
    assert_eq!(ptx.target(), target.parse::<Arch>().unwrap());
    assert_eq!(ptx.target_options(), [] as [&str; 0]);
    assert_eq!(ptx.address_size(), 64);
    assert_eq!(
        ptx.producer(),
        Some(format!("Cuda compilation tools, {release}").as_str())
    );
}

#[rstest]
fn kernels_have_the_parameters_of_their_source(
    #[values("kernels-12.0-sm_75", "kernels-12.9-sm_90a", "kernels-13.5-sm_90")] name: &str,
) {
    let ptx = fixture(name);
    let names: Vec<_> = ptx.kernels().iter().map(|k| k.name.as_str()).collect();
    let float = "_Z5scaleIfEvPT_PKS0_S0_j";
    let double = "_Z5scaleIdEvPT_PKS0_S0_j";
    assert_eq!(names, [float, double, "no_parameters", "by_value"]);

    let kernel = |name| ptx.kernel(name).unwrap();
    assert_eq!(
        layout(kernel(float)),
        [
            (".u64", 8, 8),
            (".u64", 8, 8),
            (".f32", 4, 4),
            (".u32", 4, 4)
        ]
    );
    assert_eq!(layout(kernel(double))[2], (".f64", 8, 8));
    assert_eq!(kernel(double).linkage, Linkage::Weak);
    assert_eq!(layout(kernel("no_parameters")), []);
    assert_eq!(kernel("no_parameters").linkage, Linkage::Visible);
    assert_eq!(
        layout(kernel("by_value")),
        [
            // double, int[5] and char, padded to a multiple of 8
            (".b8", 32, 8),
            (".b8", 32, 16),
            (".u64", 8, 8),
            (".u8", 1, 1),
            (".u8", 1, 1),
            (".u16", 2, 2),
            (".u64", 8, 8),
        ]
    );
    assert_eq!(kernel("by_value").parameters[1].name, "by_value_param_1");
    assert!(ptx.kernel("in_a_comment").is_none());
    assert_eq!(ptx.functions(), ["_Z6helperff"]);
}

#[rstest]
fn dynamic_shared_memory_needs_no_other_module(
    #[values("kernels-12.0-sm_75", "kernels-13.5-sm_90")] name: &str,
) {
    let ptx = fixture(name);
    let [shared] = ptx.externs() else {
        panic!("{:?}", ptx.externs())
    };
    assert_eq!(shared.name, "dynamic_shared");
    assert_eq!(shared.kind, ExternKind::DynamicShared);
    assert!(shared.is_provided());
}

#[rstest]
fn externs_are_what_other_modules_must_bring(
    #[values("printing-12.9-sm_100f-rdc", "printing-13.5-sm_120-rdc")] name: &str,
) {
    let ptx = fixture(name);
    let externs: Vec<_> = ptx
        .externs()
        .iter()
        .map(|e| (e.name.as_str(), e.kind, e.is_provided()))
        .collect();
    assert_eq!(
        externs,
        [
            ("vprintf", ExternKind::Function, true),
            ("elsewhere", ExternKind::Function, false),
            ("far_away", ExternKind::Variable, false),
        ]
    );
    assert_eq!(
        layout(ptx.kernel("says").unwrap()),
        [(".u32", 4, 4), (".u64", 8, 8), (".u64", 8, 8)]
    );
    assert_eq!(ptx.functions(), [] as [&str; 0]);
}

#[rstest]
fn a_libdevice_function_that_was_not_linked_is_extern(
    #[values(
        "typed-12.0-sm_75",
        "typed-12.9-sm_100a",
        "typed-13.5-sm_90a",
        "typed-13.5-sm_100f"
    )]
    name: &str,
) {
    let ptx = fixture(name);
    let externs: Vec<_> = ptx.externs().iter().map(|e| e.name.as_str()).collect();
    assert_eq!(externs, ["__nv_sinf"]);
    assert_eq!(ptx.functions(), ["twice"]);
    // The alignment of what a pointer points to is not that of the pointer.
    assert_eq!(
        layout(ptx.kernel("sines").unwrap()),
        [(".u64", 8, 8), (".f32", 4, 4)]
    );
    assert_eq!(layout(ptx.kernel("empty").unwrap()), []);
}

#[test]
fn a_prototype_that_is_defined_later_is_no_extern() {
    let ptx = fixture("managed-13.5-sm_100-rdc");
    assert_eq!(ptx.externs(), []);
    assert_eq!(ptx.functions(), ["_Z5twicei", "_Z6thricei"]);
    assert_eq!(ptx.kernels().len(), 1);
}

#[rstest]
fn debug_sections_hide_nothing_and_add_nothing(
    #[values("debug-12.9-sm_90-debug", "debug-13.5-sm_100-debug")] name: &str,
) {
    let ptx = fixture(name);
    assert_eq!(ptx.target_options(), ["debug"]);
    assert_eq!(
        layout(ptx.kernel("traced").unwrap()),
        [(".u64", 8, 8), (".u32", 4, 4)]
    );
    assert_eq!(ptx.kernels().len(), 1);
    assert_eq!(ptx.externs(), []);
}

#[test]
fn directives_between_a_signature_and_its_body_are_stepped_over() {
    let ptx = fixture("cluster-13.5-sm_90a");
    let clustered = ptx.kernel("clustered").unwrap();
    assert_eq!(layout(clustered), [(".b8", 4, 4), (".u64", 8, 8)]);
}

#[test]
fn serde_keeps_text_and_diagnostics_and_parses_again() {
    let ptx = fixture("kernels-13.5-sm_90").with_diagnostics(vec![
        Diagnostic::new(Severity::Warning, "unused").at_line(3),
    ]);
    let json = serde_json::to_string(&ptx).unwrap();
    let back: Ptx = serde_json::from_str(&json).unwrap();
    assert_eq!(back, ptx);
    assert_eq!(back.diagnostics().len(), 1);
    assert_eq!(back.kernels().len(), 4);

    let broken = json.replacen(".version", ".vers", 1);
    let error = serde_json::from_str::<Ptx>(&broken).unwrap_err();
    assert!(error.to_string().contains("PTX:9"), "{error}");
}

#[test]
fn one_nul_byte_at_the_end_is_taken_off() {
    let ptx = fixture("cluster-13.5-sm_90a");
    let ended = format!("{}\0", ptx.as_str());
    assert_eq!(Ptx::from_text(ended.clone()).unwrap(), ptx);
    assert_eq!(Ptx::from_bytes(ended.clone().into_bytes()).unwrap(), ptx);
    let error = Ptx::from_text(ended + "\0").unwrap_err().to_string();
    assert!(error.contains("NUL"), "{error}");
}

#[test]
fn each_kind_of_artifact_has_a_name() {
    assert_eq!((Ptx::KIND, LtoIr::KIND), ("PTX", "LTO IR"));
}
