//! libdevice comes where it is needed, once, and never against the user's own definition.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::sync::Arc;

use common::{NEWEST, TARGET, calls, ending, store, toolkit};
use cuda_program::nvvm::{Dialect, Libdevice, Options, Program};
use cuda_program::{Arch, Error, LtoIr, Ptx, Toolkit};
use rstest::rstest;

fn program(module: &str) -> Program {
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("k", module).unwrap();
    program
}

fn ptx(program: &Program, arch: Arch) -> Ptx {
    program.compile(&Options::new(arch)).unwrap()
}

fn libdevice() -> Arc<[u8]> {
    toolkit(NEWEST).libdevice().unwrap().bytes.clone()
}

#[rstest]
fn a_declared_function_is_resolved(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
    #[values("__nv_sinf", "__nv_expf", "__nv_tanhf")] function: &str,
) {
    let program = Program::new(&toolkit(version)).unwrap();
    program.add_module("k", calls("k", function)).unwrap();
    let compiled = ptx(&program, Arch::SM_80);
    assert!(compiled.externs().is_empty(), "{}", compiled.as_str());
}

#[rstest]
#[case(Arch::SM_90, Dialect::Auto)]
#[case(Arch::SM_90, Dialect::Latest)]
#[case(Arch::SM_100, Dialect::Auto)]
fn both_compilers_resolve_it_in_ptx_and_lto_ir(#[case] arch: Arch, #[case] dialect: Dialect) {
    let program = program(&calls("k", "__nv_sinf"));
    let options = Options::new(arch).dialect(dialect);
    let compiled: Ptx = program.compile(&options).unwrap();
    assert!(compiled.externs().is_empty(), "{}", compiled.as_str());
    let with: LtoIr = program.compile(&options).unwrap();
    program.set_libdevice(Libdevice::Never).unwrap();
    let without: LtoIr = program.compile(&options).unwrap();
    assert!(with.as_bytes().len() > without.as_bytes().len());
}

#[test]
fn without_libdevice_the_function_stays_undefined_and_with_it_again_it_does_not() {
    let program = program(&calls("k", "__nv_sinf"));
    program.set_libdevice(Libdevice::Never).unwrap();
    let compiled = ptx(&program, Arch::SM_90);
    assert_eq!(compiled.externs()[0].name, "__nv_sinf");
    program.set_libdevice(Libdevice::Auto).unwrap();
    assert!(ptx(&program, Arch::SM_90).externs().is_empty());
    program.set_libdevice(Libdevice::Never).unwrap();
    assert_eq!(ptx(&program, Arch::SM_90).externs()[0].name, "__nv_sinf");
}

#[test]
fn a_function_that_no_libdevice_has_is_an_error_under_auto() {
    let program = program(&calls("k", "__nv_no_such_function"));
    let error = program
        .compile::<Ptx>(&Options::new(Arch::SM_90))
        .unwrap_err();
    assert!(matches!(error, Error::Unresolved(_)), "{error:?}");
    assert!(
        error.to_string().contains("__nv_no_such_function"),
        "{error}"
    );
}

/// A toolkit with the newest libNVVM and no libdevice, and where its libdevice would lie.
fn without_libdevice() -> (tempfile::TempDir, Toolkit, std::path::PathBuf) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let root = folder.path().join("nvidia/cu13");
    let libnvvm = root.join("lib/libnvvm.so.4");
    std::fs::create_dir_all(root.join("lib")).unwrap();
    std::fs::create_dir_all(root.join("nvvm/libdevice")).unwrap();
    let newest = toolkit(NEWEST);
    std::fs::hard_link(&newest.nvvm().unwrap().library.path, libnvvm).unwrap();
    let toolkit = Toolkit::builder()
        .root(folder.path())
        .only()
        .build()
        .unwrap();
    let libdevice = root.join("nvvm/libdevice/libdevice.10.bc");
    (folder, toolkit, libdevice)
}

#[test]
fn a_program_that_needs_no_libdevice_does_not_look_for_one() {
    let (_folder, toolkit, file) = without_libdevice();
    let program = Program::new(&toolkit).unwrap();
    program.add_module("k", store("k", 7)).unwrap();
    ptx(&program, Arch::SM_90);

    program.add_module("m", calls("m", "__nv_sinf")).unwrap();
    let root = file.ancestors().nth(5).unwrap();
    let error = program
        .compile::<Ptx>(&Options::new(Arch::SM_90))
        .unwrap_err();
    assert!(
        error.to_string().contains(root.to_str().unwrap()),
        "{error}"
    );

    program
        .set_libdevice(Libdevice::Bytes(libdevice()))
        .unwrap();
    assert!(ptx(&program, Arch::SM_90).externs().is_empty());
}

#[test]
fn what_is_no_libdevice_is_tried_again_by_the_next_compilation() {
    let (_folder, toolkit, file) = without_libdevice();
    let program = Program::new(&toolkit).unwrap();
    program.add_module("k", calls("k", "__nv_sinf")).unwrap();
    let fails_with = |says: &str| {
        let error = program
            .compile::<Ptx>(&Options::new(Arch::SM_90))
            .unwrap_err();
        assert!(matches!(error, Error::NotFound(_)), "{error:?}");
        assert!(error.to_string().contains(says), "{error}");
    };
    fails_with("libdevice");
    std::fs::write(
        &file,
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
    )
    .unwrap();
    fails_with("Git LFS");
    std::fs::write(&file, &libdevice()[..100_000]).unwrap();
    fails_with("bitcode");
    std::fs::write(&file, libdevice()).unwrap();
    assert!(ptx(&program, Arch::SM_90).externs().is_empty());
}

#[rstest]
#[case::empty(b"".to_vec())]
#[case::text(store("__nv_sinf", 1).into_bytes())]
#[case::truncated(libdevice()[..200_000].to_vec())]
#[case::without_a_function(
    std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/bitcode/every.llvm7.bc")).unwrap()
)]
fn what_is_no_libdevice_is_refused_and_the_choice_before_stands(#[case] bytes: Vec<u8>) {
    let program = program(&calls("k", "__nv_sinf"));
    let error = program
        .set_libdevice(Libdevice::Bytes(bytes.into()))
        .unwrap_err();
    assert!(matches!(error, Error::InvalidInput(_)), "{error:?}");
    assert!(ptx(&program, Arch::SM_90).externs().is_empty());
    program
        .set_libdevice(Libdevice::Bytes(libdevice()))
        .unwrap();
    assert!(ptx(&program, Arch::SM_90).externs().is_empty());
}

/// A definition of `__nv_sinf` that stores a constant that libdevice does not.
fn own_sinf(linkage: &str) -> String {
    format!(
        "{TARGET}define {linkage} float @__nv_sinf(float %x) {{
  ret float 0x4059000000000000
}}
{}",
        ending(&[])
    )
}

/// Whether the constant of [`own_sinf`] is there, as PTX writes it as a float or as bits.
fn is_own(ptx: &Ptx) -> bool {
    ptx.as_str().contains("0f42C80000") || ptx.as_str().contains("1120403456")
}

#[rstest]
#[case("")]
#[case("weak")]
#[case("weak_odr")]
#[case("linkonce")]
#[case("linkonce_odr")]
fn a_users_own_definition_wins(#[case] linkage: &str) {
    let modules = [
        ("k", calls("k", "__nv_sinf")),
        ("own", own_sinf(linkage)),
        ("other", calls("m", "__nv_cosf")),
    ];
    for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0]] {
        for choice in [
            Libdevice::Auto,
            Libdevice::Always,
            Libdevice::Bytes(libdevice()),
        ] {
            let program = Program::new(&toolkit(NEWEST)).unwrap();
            for (name, module) in order.map(|at| &modules[at]) {
                program.add_module(name, module).unwrap();
            }
            program.set_libdevice(choice.clone()).unwrap();
            for arch in [Arch::SM_90, Arch::SM_100] {
                let compiled = ptx(&program, arch);
                assert!(
                    is_own(&compiled),
                    "{order:?} {choice:?}\n{}",
                    compiled.as_str()
                );
                assert!(compiled.externs().is_empty());
            }
        }
    }
}

#[test]
fn a_definition_added_after_libdevice_was_there_still_wins() {
    let program = program(&calls("k", "__nv_sinf"));
    assert!(!is_own(&ptx(&program, Arch::SM_90)));
    program.add_module("own", own_sinf("")).unwrap();
    assert!(is_own(&ptx(&program, Arch::SM_90)));
    program.remove_module("own").unwrap();
    assert!(!is_own(&ptx(&program, Arch::SM_90)));
}

#[test]
fn an_internal_definition_of_another_module_does_not_resolve_the_declaration() {
    let program = program(&calls("k", "__nv_sinf"));
    program.add_module("own", own_sinf("internal")).unwrap();
    let compiled = ptx(&program, Arch::SM_90);
    assert!(compiled.externs().is_empty(), "{}", compiled.as_str());
    assert!(!is_own(&compiled));
}

#[rstest]
fn bitcode_that_declares_a_function_gets_it(
    #[values(
        "every.llvm7.bc",
        "every.llvm14.bc",
        "every.llvm16.bc",
        "every.llvm19.bc"
    )]
    file: &str,
) {
    let path = format!("{}/fixtures/bitcode/{file}", env!("CARGO_MANIFEST_DIR"));
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program
        .add_module(file, std::fs::read(path).unwrap())
        .unwrap();
    let compiled = ptx(&program, Arch::SM_90);
    assert!(compiled.externs().is_empty(), "{}", compiled.as_str());
}

#[test]
fn always_gives_the_same_ptx_as_auto_where_nothing_uses_it() {
    let auto = program(&store("k", 7));
    let always = program(&store("k", 7));
    always.set_libdevice(Libdevice::Always).unwrap();
    assert_eq!(
        ptx(&auto, Arch::SM_90).as_str(),
        ptx(&always, Arch::SM_90).as_str()
    );
}

#[test]
fn verify_adds_it_too_and_a_compilation_after_it_is_whole() {
    let program = program(&calls("k", "__nv_sinf"));
    program.verify(&Options::new(Arch::SM_90)).unwrap();
    assert!(ptx(&program, Arch::SM_90).externs().is_empty());
}

#[test]
fn a_comment_ends_at_a_carriage_return_too() {
    let module = calls("k", "__nv_sinf").replace("declare", "; a comment\rdeclare");
    let compiled = ptx(&program(&module), Arch::SM_90);
    assert!(compiled.externs().is_empty(), "{}", compiled.as_str());
    let classic = calls("k", "__nv_sinf").replace('\n', "\r");
    let compiled = ptx(&program(&classic), Arch::SM_90);
    assert!(compiled.externs().is_empty(), "{}", compiled.as_str());
}
