//! Inputs that do not fit together, or not with the target or the library.

use cuda_program::link::{InputKind, Options};
use cuda_program::{Arch, Cubin, Error, Linker, LtoIr, Ptx, nvrtc};
use rstest::rstest;

use crate::common::{NEWEST, toolkit};
use crate::inputs_of_links::{cubin, ptx};

#[rstest]
fn a_finished_cubin_which_no_library_links_is_refused(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let source = r#"extern "C" __global__ void k(int *p) { *p = 1; }"#;
    let program = nvrtc::Program::new(&toolkit(version), "k.cu", source).unwrap();
    let finished: Cubin = program.compile(&nvrtc::Options::new(Arch::SM_80)).unwrap();
    // 12.0 and 12.4 fail, and 12.4 keeps a lock of its own for ever: a later link would hang.
    if !["12.0", "12.4"].contains(&version) {
        let kind = cuda_program::sys::bindings::nvjitlink::NVJITLINK_INPUT_CUBIN;
        let inputs = [finished.as_bytes()];
        let raw = crate::raw::link_kind(&toolkit(version), kind, &inputs, &[c"-arch=sm_80"]);
        assert!(crate::raw::cubin_kernels(&raw.unwrap()).is_empty());
    }
    let linker = Linker::new(&toolkit(version), Arch::SM_80).add_named("k.cubin", finished);
    let error = linker.link::<Cubin>().unwrap_err().to_string();
    assert!(
        error.starts_with("k.cubin: it is a finished cubin"),
        "{error}"
    );
}

#[rstest]
fn a_variable_that_two_inputs_define_is_refused(
    #[values(false, true)] first_is_cubin: bool,
    #[values(false, true)] second_is_cubin: bool,
) {
    let mut linker = Linker::new(&toolkit(NEWEST), Arch::SM_80);
    for (name, value, is_cubin) in [("a", 1, first_is_cubin), ("b", 2, second_is_cubin)] {
        let input = ptx(&format!(".visible .global .u32 table = {value};\n"));
        linker = if is_cubin {
            let alone = Linker::new(&toolkit(NEWEST), Arch::SM_80)
                .options(Options::new().relocatable(true))
                .add(input);
            linker.add_named(name, alone.link::<Cubin>().unwrap())
        } else {
            linker.add_named(name, input)
        };
    }
    let error = linker.link::<Cubin>().unwrap_err().to_string();
    assert!(
        error.starts_with("b: it defines `table`, and so does a"),
        "{error}"
    );
}

#[rstest]
#[case(".weak .global .u32 table = 1;", ".weak .global .u32 table = 1;")]
#[case(".visible .global .u32 table = 1;", ".extern .global .u32 table;")]
#[case(".common .global .u32 table;", ".common .global .u32 table;")]
#[case(".global .u32 table = 1;", ".global .u32 table = 2;")]
#[case(
    "// .visible .global .u32 table = 1;",
    ".visible .global .u32 table = 1;"
)]
fn variables_that_may_share_a_name_are_linked(#[case] first: &str, #[case] second: &str) {
    let user = ".visible .entry k() { ret; }\n";
    let linked: Cubin = Linker::new(&toolkit(NEWEST), Arch::SM_80)
        .add(ptx(&format!("{first}\n{user}")))
        .add(ptx(&format!("{second}\n")))
        .link()
        .unwrap();
    assert!(linked.kernel("k").is_some());
}

#[rstest]
#[case(Arch::SM_75, Arch::SM_80)]
#[case(Arch::SM_86, Arch::SM_80)]
#[case(Arch::SM_80, Arch::SM_90)]
#[case(Arch::SM_90, Arch::SM_100)]
#[case(Arch::SM_100, Arch::SM_90)]
#[case(Arch::SM_100A, Arch::SM_103)]
#[case(Arch::SM_100A, Arch::SM_100)]
#[case(Arch::SM_90A, Arch::SM_90)]
#[case(Arch::SM_120, Arch::SM_100)]
fn a_cubin_for_another_architecture_is_refused_by_name(#[case] of: Arch, #[case] target: Arch) {
    let linker = Linker::new(&toolkit(NEWEST), target).add_named("k.cubin", cubin(NEWEST, of));
    let error = linker.link::<Cubin>().unwrap_err().to_string();
    let says = format!("k.cubin: it is a cubin for {of}, and the link is for {target}");
    assert!(error.starts_with(&says), "{error}");
}

#[rstest]
#[case(Arch::SM_80, Arch::SM_86)]
#[case(Arch::SM_90, Arch::SM_90A)]
#[case(Arch::SM_90A, Arch::SM_90A)]
#[case(Arch::SM_100, Arch::SM_103)]
#[case(Arch::SM_100F, Arch::SM_103)]
fn a_cubin_that_runs_on_the_target_is_linked(#[case] of: Arch, #[case] target: Arch) {
    let linker = Linker::new(&toolkit(NEWEST), target).add(cubin(NEWEST, of));
    assert!(linker.link::<Cubin>().unwrap().kernel("k").is_some());
}

/// The library reads the name of the input from memory that it has freed.
#[rstest]
fn bytes_that_are_no_text_in_the_librarys_log_harm_nothing(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let input = ptx(".extern .func f();\n.visible .entry k() { call f; ret; }\n");
    let linker = Linker::new(&toolkit(version), Arch::SM_80).add_named("k.ptx", input);
    for _ in 0..20 {
        let Error::Library(error) = linker.link::<Cubin>().unwrap_err() else {
            panic!("the library was to refuse it")
        };
        // Older libraries write it to standard error alone.
        if !["12.0", "12.4"].contains(&version) {
            assert!(error.log.contains("Undefined reference to 'f'"), "{error}");
        }
        assert!(!error.log.chars().any(|c| c == '\0' || c == '\u{fffd}'));
        assert!(
            error.to_string().contains("`f`, which k.ptx uses"),
            "{error}"
        );
    }
}

#[rstest]
fn ptx_newer_than_the_library_is_refused_with_the_input(
    #[values("12.0", "12.4", "12.9", "13.0")] version: &str,
) {
    let source = r#"extern "C" __global__ void k(int *p) { *p = 1; }"#;
    let program = nvrtc::Program::new(&toolkit(NEWEST), "k.cu", source).unwrap();
    let ptx: Ptx = program.compile(&nvrtc::Options::new(Arch::SM_80)).unwrap();
    let linker = Linker::new(&toolkit(version), Arch::SM_80).add_named("new.ptx", ptx);
    let Error::InvalidInput(error) = linker.link::<Cubin>().unwrap_err() else {
        panic!("it was to be refused before the library sees it")
    };
    assert_eq!(error.input, "new.ptx");
    let reads = match version {
        "12.0" => "8.0",
        "12.4" => "8.4",
        "12.9" => "8.8",
        _ => "9.0",
    };
    let problem = &error.problem;
    assert!(
        problem.starts_with("it is PTX 9.5, and nvJitLink"),
        "{problem}"
    );
    assert!(
        problem.ends_with(&format!("reads no newer PTX than {reads}")),
        "{problem}"
    );
}

#[test]
fn the_same_input_twice_is_refused_and_weak_ltoir_of_it_is_not() {
    let source = r#"extern "C" __global__ void k(int *p) { *p = 1; }"#;
    let program = nvrtc::Program::new(&toolkit(NEWEST), "k.cu", source).unwrap();
    let lto: LtoIr = program.compile(&nvrtc::Options::new(Arch::SM_80)).unwrap();
    let linker = Linker::new(&toolkit(NEWEST), Arch::SM_80);
    let error = linker
        .clone()
        .add(&lto)
        .add(&lto)
        .link::<Cubin>()
        .unwrap_err();
    assert!(error.to_string().contains('k'), "{error}");
    let template = "template <class T> __global__ void t(T *p) { *p = 1; }";
    let program = nvrtc::Program::new(&toolkit(NEWEST), "t.cu", template).unwrap();
    program.add_name_expression("t<int>").unwrap();
    let lto: LtoIr = program.compile(&nvrtc::Options::new(Arch::SM_80)).unwrap();
    let cubin: Cubin = linker.add(&lto).add(&lto).link().unwrap();
    assert_eq!(cubin.kernels().len(), 1);
}

#[rstest]
#[case(InputKind::Ptx)]
#[case(InputKind::Cubin)]
#[case(InputKind::LtoIr)]
#[case(InputKind::Fatbin)]
#[case(InputKind::Object)]
#[case(InputKind::Library)]
fn no_bytes_and_wrong_bytes_are_refused_by_name_for_each_kind(#[case] kind: InputKind) {
    let linker = Linker::new(&toolkit(NEWEST), Arch::SM_80);
    let error = linker.clone().add_bytes("it", kind, b"").link::<Cubin>();
    assert_eq!(
        error.unwrap_err().to_string(),
        "it: it is empty; leave it out"
    );
    let error = linker.add_bytes("it", kind, b"garbage").link::<Cubin>();
    let error = error.unwrap_err();
    assert!(
        matches!(&error, Error::InvalidInput(e) if e.input == "it"),
        "{error}"
    );
}

#[test]
fn a_folder_in_place_of_a_file_is_an_error_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let linker = Linker::new(&toolkit(NEWEST), Arch::SM_80).add_file(folder.path());
    let error = linker.link::<Cubin>().unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
    assert!(error.to_string().contains(folder.path().to_str().unwrap()));
}

#[rstest]
#[case::bitcode(b"BC\xc0\xde\x35\x14", "LLVM bitcode")]
#[case::text(
    b"; saxpy\n\ntarget triple = \"nvptx64-nvidia-cuda\"\n",
    "NVVM IR as text"
)]
#[case::dumped(b"; ModuleID = 'k'\nsource_filename = \"k\"\n", "NVVM IR as text")]
fn nvvm_ir_is_no_input_of_a_link(#[case] ir: &[u8], #[case] what: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.ll");
    std::fs::write(&path, ir).unwrap();
    let error = Linker::new(&toolkit(NEWEST), Arch::SM_80)
        .add_file(&path)
        .link::<Cubin>()
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("k.ll: it is ") && error.contains(what),
        "{error}"
    );
    assert!(error.contains("compile it by `nvvm::Program`"), "{error}");
}
