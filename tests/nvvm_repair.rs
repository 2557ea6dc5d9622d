//! What is mended in modules of text, and what is not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{NEWEST, TARGET, ending, store, toolkit};
use cuda_program::nvvm::{Options, Program, Repair};
use cuda_program::{Arch, Cubin, Error, LtoIr, Ptx, Severity};
use rstest::rstest;

fn program(version: &str, modules: &[(&str, &[u8])]) -> Program {
    let program = Program::new(&toolkit(version)).unwrap();
    for (name, module) in modules {
        program.add_module(name, module).unwrap();
    }
    program
}

fn compile(version: &str, module: &str, options: &Options) -> Ptx {
    let program = program(version, &[("m", module.as_bytes())]);
    let first: Ptx = program.compile(options).unwrap();
    let again: Ptx = program.compile(options).unwrap();
    assert_eq!(first.as_str(), again.as_str());
    program.verify(options).unwrap();
    first
}

fn notes(ptx: &Ptx) -> String {
    let notes: Vec<String> = ptx
        .diagnostics()
        .iter()
        .inspect(|note| assert_eq!(note.severity, Severity::Note))
        .map(ToString::to_string)
        .collect();
    notes.join("\n")
}

fn code(ptx: &Ptx) -> String {
    let lines = ptx.as_str().lines().filter(|line| !line.starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

fn without_version() -> String {
    store("k", 1).replace("!nvvmir.version = !{!99}\n!99 = !{i32 2, i32 0}\n", "")
}

fn with_layout(layout: &str) -> String {
    let rest = &store("k", 1)[TARGET.find('\n').unwrap()..];
    format!("target datalayout = \"{layout}\"{rest}")
}

const CLANG: &str = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64";

#[rstest]
#[case(without_version(), "note: m: `!nvvmir.version` 2.0 was added")]
#[case(
    store("k", 1).replace("target triple = \"nvptx64-nvidia-cuda\"\n", ""),
    "note: m: the target triple nvptx64-nvidia-cuda was added"
)]
#[case(
    store("k", 1)[TARGET.find('\n').unwrap() + 1..].to_owned(),
    "note: m: the data layout of libNVVM was added"
)]
#[case(
    with_layout(CLANG),
    "note: m:1: the data layout was written as libNVVM does"
)]
#[case(
    with_layout("e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"),
    "note: m:1: the data layout was written as libNVVM does"
)]
#[case(
    with_layout("e-i64:64-v16:16-v32:32-n16:32:64"),
    "note: m:1: the data layout was written as libNVVM does"
)]
fn a_module_of_another_compiler_compiles_to_what_it_means(
    #[case] module: String,
    #[case] said: &str,
    #[values(("12.0", Arch::SM_80), ("12.9", Arch::SM_100), ("13.5", Arch::SM_80), ("13.5", Arch::SM_100))]
    at: (&str, Arch),
) {
    let options = Options::new(at.1);
    let ptx = compile(at.0, &module, &options);
    assert_eq!(notes(&ptx), said);
    assert_eq!(code(&ptx), code(&compile(at.0, &store("k", 1), &options)));
}

#[rstest]
#[case(without_version(), "it has no `!nvvmir.version`")]
#[case(store("k", 1).replace("target triple", "; target triple"), "it has no target triple")]
#[case(store("k", 1).replace("target datalayout", "; target datalayout"), "it has no data layout")]
#[case(store("k", 1).replace("@k", "@\"a.b\""), "PTX cannot spell the name `a.b`")]
fn nothing_is_mended_where_that_is_off(#[case] module: String, #[case] says: &str) {
    let program = program(NEWEST, &[("m", module.as_bytes())]);
    let options = Options::new(Arch::SM_90).repair(Repair::Off);
    for error in [
        program.compile::<Ptx>(&options).unwrap_err(),
        program.verify(&options).unwrap_err(),
    ] {
        assert!(matches!(error, Error::InvalidInput(_)), "{error:?}");
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn an_integer_that_a_layout_places_elsewhere_keeps_its_layout() {
    let module = with_layout("e-i64:64-v16:16-v32:32-n16:32:64")
        .replace("store i32 1", "%w = alloca i128\n  store i32 1");
    let program = program("12.0", &[("m", module.as_bytes())]);
    let error = program
        .compile::<Ptx>(&Options::new(Arch::SM_80))
        .unwrap_err();
    assert_eq!(error.raw_code(), Some(9), "{error}");
}

#[test]
fn debug_metadata_gets_the_version_that_it_needs() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/guards/debug_list.ll");
    let module = std::fs::read_to_string(path).unwrap();
    let module = module.replace("!nvvmir.version = !{!99}", "");
    for version in ["12.0", NEWEST] {
        let options = Options::new(Arch::SM_80).debug(true);
        assert_eq!(
            notes(&compile(version, &module, &options)),
            "note: m: `!nvvmir.version` 2.0 was added"
        );
    }
}

#[rstest]
fn flags_of_later_debug_metadata_are_written_as_llvm_7_reads_them(
    #[values("12.0", "13.5")] version: &str,
) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/guards/debug_list.ll");
    let old = std::fs::read_to_string(path).unwrap();
    let new = old.replace(
        "isLocal: false, isDefinition: true, scopeLine: 1, isOptimized: false",
        "scopeLine: 1, spFlags: DISPFlagDefinition | DISPFlagLocalToUnit",
    );
    let old = old.replace("isLocal: false", "isLocal: true");
    let options = Options::new(Arch::SM_80).debug(true);
    let ptx = compile(version, &new, &options);
    assert_eq!(
        notes(&ptx),
        "note: m:29: `spFlags` of debug metadata were written as LLVM 7 reads them"
    );
    assert_eq!(code(&ptx), code(&compile(version, &old, &options)));
    let modern = compile(NEWEST, &new, &Options::new(Arch::SM_100).debug(true));
    assert_eq!(notes(&modern), "");
}

#[test]
fn target_lines_go_to_the_top_and_no_other_line_moves() {
    let late = format!(
        "!nvvmir.version = !{{!99}}\n{TARGET}{}",
        &store("k", 1)[TARGET.len()..].replace("!nvvmir.version = !{!99}\n", "")
    );
    let ptx = compile(NEWEST, &late, &Options::new(Arch::SM_100));
    assert_eq!(
        notes(&ptx),
        "note: m:2: the `target` lines were moved to the top"
    );
    assert_eq!(
        notes(&compile(NEWEST, &late, &Options::new(Arch::SM_90))),
        ""
    );

    let wrong = late.replace("store i32 1", "wrong i32 1");
    let program = program(NEWEST, &[("m", wrong.as_bytes())]);
    let error = program
        .compile::<Ptx>(&Options::new(Arch::SM_100))
        .unwrap_err();
    assert!(error.to_string().contains("m:5:"), "{error}");
    let error = program
        .compile::<Ptx>(&Options::new(Arch::SM_100).repair(Repair::Off))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("m:2: its `target` stands behind another entity"),
        "{error}"
    );
}

#[rstest]
#[case("\"a.b\"", "a.b", "a$2Eb")]
#[case("\"1a\"", "1a", "_$1a")]
#[case("WARP_SZ", "WARP_SZ", "_$WARP_SZ")]
#[case("\"\\C3\\A9\"", "é", "$C3$A9")]
#[case("_", "_", "_$_")]
fn a_kernel_whose_name_was_respelt_is_found_by_the_old_one(
    #[case] written: &str,
    #[case] old: &str,
    #[case] new: &str,
) {
    let module = store("k", 1).replace("@k", &format!("@{written}"));
    let program = program(NEWEST, &[("m", module.as_bytes())]);
    for arch in [Arch::SM_90, Arch::SM_100] {
        let options = Options::new(arch);
        let ptx: Ptx = program.compile(&options).unwrap();
        assert_eq!(ptx.kernel_for(old).unwrap().name, new);
        assert_eq!(
            notes(&ptx),
            format!("note: m:3: PTX cannot spell `{old}`: it became `{new}`")
        );
        let cubin: Cubin = program.compile(&options).unwrap();
        assert_eq!(cubin.kernel_for(old).unwrap().name, new);
        assert!(cubin.kernel(new).is_some());
        let ltoir: LtoIr = program.compile(&options).unwrap();
        assert_eq!(ltoir.kernel_for(old), Some(new));
    }
}

#[test]
fn a_respelt_name_is_the_same_in_every_module_and_not_where_bitcode_has_it() {
    let callee = format!(
        "{TARGET}define i32 @\"f.1\"() noinline {{\n  ret i32 7\n}}\n{}",
        ending(&[])
    );
    let caller = store("k", 1)
        .replace("define", "declare i32 @\"f.1\"()\ndefine")
        .replace("store i32 1", "%v = call i32 @\"f.1\"()\n  store i32 %v");
    let program = program(
        NEWEST,
        &[("callee", callee.as_bytes()), ("caller", caller.as_bytes())],
    );
    let ptx: Ptx = program.compile(&Options::new(Arch::SM_90)).unwrap();
    assert!(ptx.externs().is_empty(), "{}", ptx.as_str());
    assert_eq!(ptx.functions(), ["f$2E1"]);

    let both = program_with_bitcode(&callee);
    let error = both
        .compile::<Ptx>(&Options::new(Arch::SM_100))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("PTX cannot spell the name `other.name`"),
        "{error}"
    );
}

/// A text that defines what bitcode declares under a name with a point.
fn program_with_bitcode(callee: &str) -> Program {
    let callee = callee.replace("f.1", "other.name");
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/fixtures/guards/pointed.llvm14.bc"
    );
    program(
        NEWEST,
        &[
            ("callee", callee.as_bytes()),
            ("caller", &std::fs::read(path).unwrap()),
        ],
    )
}

#[test]
fn bitcode_is_not_mended() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/fixtures/guards/unversioned.llvm14.bc"
    );
    let program = program(NEWEST, &[("m", &std::fs::read(path).unwrap())]);
    let error = program
        .compile::<Ptx>(&Options::new(Arch::SM_100))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("in bitcode its writer must do it"),
        "{error}"
    );
}

#[test]
fn a_module_is_mended_for_each_way_and_the_program_stays_as_it_was() {
    let module = without_version().replace("@k", "@\"a.b\"");
    let program = program(NEWEST, &[("m", module.as_bytes())]);
    let off = Options::new(Arch::SM_90).repair(Repair::Off);
    let on = Options::new(Arch::SM_90);
    let first: Ptx = program.compile(&on).unwrap();
    assert!(program.compile::<Ptx>(&off).is_err());
    assert_eq!(program.compile::<Ptx>(&on).unwrap(), first);
    let names: Vec<_> = program.modules()[0]
        .1
        .kernels()
        .map(|k| k.name_lossy().into_owned())
        .collect();
    assert_eq!(names, ["a.b"]);
    program.replace_module("m", store("k", 2)).unwrap();
    assert_eq!(notes(&program.compile(&on).unwrap()), "");
}
