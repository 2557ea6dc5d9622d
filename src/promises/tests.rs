//! Results that the real libraries cannot be made to bring on demand.

#![allow(clippy::unwrap_used)] // Clippy looks for `#[test]` alone.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rstest::rstest;

use super::{Empty, Externals, Promised};
use crate::error::{Error, Library};
use crate::{Arch, Cubin, LtoIr, Ptx};

fn library() -> Library {
    Library {
        name: "the library".to_owned(),
        version: None,
        path: PathBuf::from("file"),
    }
}

fn promised(library: &Library, arch: Arch) -> Promised<'_> {
    Promised {
        library,
        linked: false,
        arch,
        isa_version: None,
        kernels: vec!["k".to_owned()],
        all_kernels: true,
        externals: &Externals::Refuse,
        libdevice_elsewhere: false,
        users: Box::new(|_| vec!["m".to_owned()]),
        remedy: Box::new(|name| format!("define {name}")),
        empty: Empty::Refused("put something in"),
        lowered: BTreeMap::new(),
        diagnostics: Vec::new(),
    }
}

fn ptx(target: &str, body: &str) -> Vec<u8> {
    format!(".version 8.0\n.target {target}\n.address_size 64\n{body}\n\0").into_bytes()
}

const K: &str = ".visible .entry k() { ret; }";

fn problem(result: crate::Result<Ptx>) -> String {
    let said = result.unwrap_err().to_string();
    let (_, problem) = said.split_once("success, but ").unwrap_or(("", &said));
    problem.to_owned()
}

#[rstest]
#[case::nothing(Vec::new(), "it gave 0 bytes of PTX; leave")]
#[case::a_nul_alone(vec![0], "its PTX is wrong: ")]
#[case::no_text(vec![0xff, 0xfe], "its PTX is wrong: there is a byte here that is no UTF-8")]
#[case::another_kind(b"\x7fELF".to_vec(), "its PTX is wrong: ")]
#[case::cut(ptx("sm_90", ".visible .entry k() { ret;"), "its PTX is wrong: ")]
#[case::for_an_older_one(ptx("sm_80", K), "the PTX is for sm_80, not sm_90 as asked for; leave")]
#[case::for_one_chip(
    ptx("sm_90a", K),
    "the PTX is for sm_90a, not sm_90 as asked for; leave"
)]
#[case::no_kernel(ptx("sm_90", ""), "the PTX lacks the kernels k; see that each")]
#[case::a_function(
    ptx("sm_90", ".visible .func k() { ret; }"),
    "the PTX lacks the kernels k"
)]
#[case::in_a_comment(ptx("sm_90", "// .visible .entry k() { ret; }"), "the PTX lacks")]
#[case::declared_alone(ptx("sm_90", ".visible .entry k();"), "the PTX lacks the kernels k")]
#[case::undefined(
    ptx(
        "sm_90",
        ".extern .func f();\n.extern .func g();\n.visible .entry k() { call f; ret; }"
    ),
    "the PTX refers to `f` (used by m), `g` (used by m), which nothing defines; f: define f; g: \
     define g"
)]
fn ptx_that_is_not_what_was_promised_is_an_error(#[case] bytes: Vec<u8>, #[case] says: &str) {
    let said = problem(promised(&library(), Arch::SM_90).ptx(bytes));
    assert!(said.starts_with(says), "{said}");
}

#[rstest]
#[case::a_comment("// .extern .func f();")]
#[case::a_string(".file 1 \".extern .func f();\"")]
#[case::of_the_driver(".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);")]
#[case::defined_later(".func f();\n.func f() { ret; }")]
fn a_name_that_is_not_missing_is_not_found_missing(#[case] line: &str) {
    let bytes = ptx("sm_90", &format!("{line}\n{K}"));
    promised(&library(), Arch::SM_90).ptx(bytes).unwrap();
}

#[test]
fn functions_of_libdevice_may_come_from_elsewhere_and_others_not() {
    let library = library();
    let bytes = ptx(
        "sm_90",
        &format!(".extern .func __nv_a();\n.extern .func b();\n{K}"),
    );
    let mut promised = promised(&library, Arch::SM_90);
    promised.libdevice_elsewhere = true;
    let said = problem(promised.ptx(bytes));
    assert!(
        said.starts_with("the PTX refers to `b` (used by m), which"),
        "{said}"
    );
}

#[test]
fn a_kernel_that_a_linker_drops_is_an_error_of_its_own() {
    let library = library();
    let mut promised = promised(&library, Arch::SM_90);
    promised.linked = true;
    let error = promised.ptx(ptx("sm_90", "")).unwrap_err();
    assert!(matches!(error, Error::KernelsDropped { kernels, .. } if kernels == ["k"]));
}

#[rstest]
#[case(Empty::Refused("put something in"), false)]
#[case(Empty::Told("put something in"), true)]
#[case(Empty::Taken, true)]
fn emptiness_is_judged_by_what_was_to_come(#[case] empty: Empty, #[case] taken: bool) {
    let library = library();
    let mut promised = promised(&library, Arch::SM_90);
    (promised.kernels, promised.empty) = (Vec::new(), empty);
    let made = promised.ptx(ptx("sm_90", ".func f() { ret; }\n.const .u32 c = 1;"));
    assert!(made.is_ok(), "a function is something");
    let mut promised = self::promised(&library, Arch::SM_90);
    (promised.kernels, promised.empty) = (Vec::new(), empty);
    let made = promised.ptx(ptx("sm_90", ""));
    assert_eq!(made.is_ok(), taken);
    let told = made.is_ok_and(|ptx| ptx.diagnostics().len() == 1);
    assert_eq!(told, matches!(empty, Empty::Told(_)));
}

fn fixture(name: &str) -> Vec<u8> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    std::fs::read(root.join(name)).unwrap()
}

#[rstest]
#[case("registers-13.5-sm_90.cubin", Arch::SM_90, false, true)]
#[case("registers-13.5-sm_90.cubin", Arch::SM_80, false, false)]
#[case("registers-13.5-sm_90a.cubin", Arch::SM_90A, false, true)]
#[case("registers-13.5-sm_90a.cubin", Arch::SM_90, true, false)]
#[case("registers-13.5-sm_90.cubin", Arch::SM_90A, false, false)]
#[case("registers-13.5-sm_90.cubin", Arch::SM_90A, true, true)]
#[case("registers-13.5-sm_103f.cubin", Arch::SM_103F, false, true)]
fn a_cubin_is_for_what_was_asked(
    #[case] name: &str,
    #[case] arch: Arch,
    #[case] linked: bool,
    #[case] fits: bool,
) {
    let library = library();
    let mut promised = promised(&library, arch);
    (promised.linked, promised.kernels) = (linked, Vec::new());
    let made: crate::Result<Cubin> = promised.cubin(fixture(&format!("cubin/{name}")));
    match made {
        Err(error) => assert!(
            !fits && error.to_string().contains("as asked for"),
            "{error}"
        ),
        Ok(_) => assert!(fits),
    }
}

#[rstest]
#[case("typed-13.5-sm_90a.ltoir", Arch::SM_90A, true)]
#[case("typed-13.5-sm_90a.ltoir", Arch::SM_90, false)]
#[case("typed-13.5-sm_90a.ltoir", Arch::SM_100, false)]
#[case("typed-12.9-sm_100f.ltoir", Arch::SM_100F, true)]
#[case("debug-13.5-sm_120.ltoir", Arch::SM_120, true)]
fn lto_ir_is_for_what_was_asked_as_far_as_its_header_tells(
    #[case] name: &str,
    #[case] arch: Arch,
    #[case] fits: bool,
) {
    let made: crate::Result<LtoIr> =
        promised(&library(), arch).lto_ir(fixture(&format!("ltoir/{name}")));
    match made {
        Err(error) => assert!(!fits && error.to_string().contains("sm_90a"), "{error}"),
        Ok(lto) => assert!(fits && lto.kernels() == ["k"] && lto.arch() == Some(arch)),
    }
}

#[rstest]
#[case::nothing(Vec::new(), "it gave 0 bytes of LTO IR")]
#[case::another_kind(b".version 8.0".to_vec(), "its LTO IR cannot be read")]
fn bytes_that_are_no_lto_ir_are_an_error(#[case] bytes: Vec<u8>, #[case] says: &str) {
    let error = promised(&library(), Arch::SM_90).lto_ir(bytes).unwrap_err();
    assert!(error.to_string().contains(says), "{error}");
}
