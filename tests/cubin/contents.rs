//! What the sources say.

use std::path::Path;

use cuda_program::artifact::CubinLinkage;
use cuda_program::{Arch, Cubin, Diagnostic, Severity, Toolkit, nvrtc};
use insta::assert_snapshot;
use rstest::rstest;

use crate::{cubin, names};

#[test]
fn the_architecture_is_the_one_asked_for() {
    for name in names() {
        let asked: Arch = name.split('-').nth(2).unwrap().parse().unwrap();
        // Of `-r`, nvJitLink writes no note with the letter.
        let told = if name.ends_with("-r") {
            asked.number().to_string()
        } else {
            asked.to_string().replace("sm_", "")
        };
        assert_eq!(
            cubin(&name).arch().to_string(),
            format!("sm_{told}"),
            "{name}"
        );
    }
}

#[test]
fn relocatable_is_what_is_still_to_be_linked() {
    for name in names() {
        let relocatable = name.ends_with("-rdc") || name.ends_with("-r");
        assert_eq!(cubin(&name).is_relocatable(), relocatable, "{name}");
    }
}

#[test]
fn shared_memory_is_what_the_source_declares() {
    for name in names().iter().filter(|n| n.starts_with("shared-")) {
        let cubin = cubin(name);
        let bytes = |kernel| cubin.kernel(kernel).map(|k| k.shared_bytes);
        assert_eq!(bytes("fixed_shared"), Some(1024), "{name}");
        // In what `-r` makes, nvJitLink gives placeholders to kernels without.
        let linked = !name.ends_with("-r");
        for without in ["dynamic_shared", "empty"].iter().filter(|_| linked) {
            assert!(matches!(bytes(without), None | Some(0)), "{name}");
        }
        let barriers = |kernel| cubin.kernel(kernel).map(|k| k.barriers);
        assert_eq!(barriers("fixed_shared"), Some(1), "{name}");
        assert!(matches!(barriers("empty"), None | Some(0)), "{name}");
    }
}

#[test]
fn parameters_and_the_limit_to_threads_are_read() {
    for name in names().iter().filter(|n| n.starts_with("parameters-")) {
        let cubin = cubin(name);
        let [kernel] = cubin.kernels() else {
            panic!("{name}: {cubin:?}");
        };
        let parameters: Vec<_> = kernel
            .parameters
            .iter()
            .map(|p| (p.offset, p.size))
            .collect();
        assert_eq!(parameters, [(0, 1), (2, 2), (8, 48), (56, 8)], "{name}");
        assert_eq!(kernel.max_threads, Some(128), "{name}");
    }
    let local = cubin("local-13.5-sm_90");
    assert_eq!(local.kernels()[0].max_threads, None);
}

#[rstest]
#[case("huge-12.4-sm_90a")]
#[case("huge-13.5-sm_90")]
fn a_parameter_beyond_4_kb_is_read(#[case] name: &str) {
    let cubin = cubin(name);
    let parameters = &cubin.kernel("huge").unwrap().parameters;
    let parameters: Vec<_> = parameters.iter().map(|p| (p.offset, p.size)).collect();
    assert_eq!(parameters, [(0, 4200), (4200, 4), (4208, 8)]);
}

#[test]
fn kernels_from_templates_are_weak() {
    for name in names().iter().filter(|n| n.starts_with("templates-")) {
        let cubin = cubin(name);
        let kernel = cubin.kernel("_Z5scaleIfEvPT_S0_").unwrap();
        assert_eq!(kernel.linkage, CubinLinkage::Weak, "{name}");
    }
}

// The older ABI has no weak functions, only weak kernels.
#[rstest]
#[case("device-12.0-sm_75-rdc", CubinLinkage::Global)]
#[case("device-12.9-sm_90-rdc", CubinLinkage::Global)]
#[case("device-13.5-sm_90-rdc", CubinLinkage::Weak)]
fn functions_and_what_is_undefined_are_listed(#[case] name: &str, #[case] weak: CubinLinkage) {
    let cubin = cubin(name);
    let linkage = |function: &str| {
        let mut all = cubin.functions().iter();
        all.find(|f| f.name.contains(function)).map(|f| f.linkage)
    };
    assert_eq!(linkage("hidden"), Some(CubinLinkage::Local));
    assert_eq!(linkage("_Z11weak_helperf"), Some(weak));
    assert_eq!(cubin.functions().len(), 3);
    let mut undefined: Vec<_> = cubin.undefined().iter().map(|s| format!("{s:?}")).collect();
    undefined.sort();
    assert_eq!(
        undefined,
        [
            "ExternSymbol { name: \"_Z9elsewheref\", kind: Function }",
            "ExternSymbol { name: \"far_away\", kind: Variable }",
        ]
    );
}

#[test]
fn what_the_driver_brings_is_not_undefined() {
    for name in names().iter().filter(|n| !n.starts_with("device-")) {
        assert_eq!(cubin(name).undefined(), [], "{name}");
    }
}

#[test]
fn serde_keeps_all_of_it_and_reads_the_bytes_again() {
    let cubin =
        cubin("local-13.5-sm_100").with_diagnostics(vec![Diagnostic::new(Severity::Note, "made")]);
    let json = serde_json::to_value(&cubin).unwrap();
    // The bytes, what was said, and the lowered names: all else is read from the bytes.
    assert_eq!(json.as_object().unwrap().len(), 3);
    assert_eq!(serde_json::from_value::<Cubin>(json).unwrap(), cubin);
    let other = serde_json::json!({ "bytes": "AAAA" });
    assert!(serde_json::from_value::<Cubin>(other).is_err());
}

#[test]
fn a_cubin_comes_back_from_a_file_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.cubin");
    let cubin = cubin("local-13.5-sm_100");
    cubin.write_to(&path).unwrap();
    assert_eq!(Cubin::read_from(&path).unwrap(), cubin);
}

#[test]
fn debug_output_shows_what_a_kernel_needs() {
    let cubin = cubin("parameters-13.5-sm_90");
    assert_snapshot!(format!("{:?}", cubin.kernels()), @r#"[CubinKernel { name: "parameters", linkage: Global, registers: 10, shared_bytes: 0, local_bytes: 0, stack_bytes: 0, constant_bytes: 592, parameters: [CubinParameter { offset: 0, size: 1 }, CubinParameter { offset: 2, size: 2 }, CubinParameter { offset: 8, size: 48 }, CubinParameter { offset: 56, size: 8 }], barriers: 0, max_threads: Some(128) }]"#);
}

/// Standard C++ for the device brings hundreds of them.
#[test]
fn a_cubin_that_is_mostly_long_names_is_read() {
    let name = |n: usize| format!("{}{n}", "long_".repeat(400));
    let variables: String = (0..200)
        .map(|n| format!("__device__ int {};\n", name(n)))
        .collect();
    let source = format!(
        "{variables}extern \"C\" __global__ void k() {{ {} = 1; }}",
        name(7)
    );
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/toolkits/13.5");
    let toolkit = Toolkit::at(folder).unwrap();
    let program = nvrtc::Program::new(&toolkit, "k.cu", source).unwrap();
    let cubin: Cubin = program.compile(&nvrtc::Options::new(Arch::SM_90)).unwrap();
    assert!(cubin.as_bytes().len() < 2 * 200 * 2_000);
    assert!(cubin.kernel("k").is_some());
}
