//! What a library reports as a success, and what it is held against.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{NEWEST, TARGET, calls, ending, toolkit};
use cuda_program::error::{Library, Unresolved};
use cuda_program::link::Options as LinkOptions;
use cuda_program::nvvm::{Libdevice, Options, Program};
use cuda_program::{Arch, Cubin, Error, Externals, Linker, LtoIr, Ptx, nvrtc};
use rstest::rstest;

/// A kernel that hands its argument to what these lines declare.
fn using(declarations: &str, body: &str) -> String {
    format!(
        "{TARGET}{declarations}\ndefine void @k(i32* %p) {{\n{body}\n  ret void\n}}\n{}",
        ending(&[("void (i32*)*", "k")])
    )
}

fn helper(name: &str) -> String {
    using(
        &format!("declare void @{name}(i32*)"),
        &format!("  call void @{name}(i32* %p)"),
    )
}

fn program(version: &str, modules: &[(&str, &str)]) -> Program {
    let program = Program::new(&toolkit(version)).unwrap();
    for (name, text) in modules {
        program.add_module(name, text).unwrap();
    }
    program
}

fn unresolved(error: Error) -> Box<Unresolved> {
    match error {
        Error::Unresolved(unresolved) => unresolved,
        other => panic!("{other}"),
    }
}

/// The message with a library that is the same everywhere.
fn said(error: Error) -> String {
    let mut unresolved = unresolved(error);
    unresolved.library = Library {
        name: "the library".to_owned(),
        version: None,
        path: "file".into(),
    };
    unresolved.to_string()
}

#[rstest]
fn a_function_that_no_module_defines_is_an_error_with_those_that_use_it(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
    #[values(Arch::SM_80, Arch::SM_90)] arch: Arch,
) {
    let text = helper("helper");
    let program = program(
        version,
        &[("a.ll", &text), ("b.ll", &text.replace("@k", "@k2"))],
    );
    let error = program.compile::<Ptx>(&Options::new(arch)).unwrap_err();
    assert_eq!(
        said(error),
        "the library (file) reported success, but the PTX refers to `helper` (used by a.ll:3, \
         b.ll:3), which nothing defines; correct the name or add the module that defines it; where \
         a later link brings it, say so by `Options::externals`"
    );
    program.remove_module("b.ll").unwrap();
    let bring = format!(
        "{TARGET}define void @helper(i32* %p) {{\n  ret void\n}}\n{}",
        ending(&[])
    );
    program.add_module("helper.ll", &bring).unwrap();
    program.compile::<Ptx>(&Options::new(arch)).unwrap();
}

#[rstest]
#[case(Externals::Refuse, false)]
#[case(Externals::only(["other"]), false)]
#[case(Externals::only(["other", "helper"]), true)]
#[case(Externals::Allow, true)]
fn what_another_link_brings_is_allowed_by_name_or_altogether(
    #[case] externals: Externals,
    #[case] allowed: bool,
    #[values(Arch::SM_90, Arch::SM_100)] arch: Arch,
) {
    let options = Options::new(arch).externals(externals);
    let made = program(NEWEST, &[("a.ll", &helper("helper"))]).compile::<Ptx>(&options);
    match made {
        Ok(ptx) if allowed => assert_eq!(ptx.externs()[0].name, "helper"),
        Err(error) if !allowed => assert_eq!(unresolved(error).symbols[0].name, "helper"),
        other => panic!("{other:?}"),
    }
}

#[rstest]
#[case(
    "@g = external addrspace(1) global i32",
    "  store i32 1, i32 addrspace(1)* @g",
    Some("g")
)]
#[case(
    "@s = external addrspace(3) global [0 x i32]",
    "  %a = getelementptr [0 x i32], [0 x i32] addrspace(3)* @s, i32 0, i32 0\n  store i32 1, i32 addrspace(3)* %a",
    None
)]
#[case(
    "declare i32 @vprintf(i8*, i8*)",
    "  call i32 @vprintf(i8* null, i8* null)",
    None
)]
#[case("declare i8* @malloc(i64)", "  call i8* @malloc(i64 8)", None)]
#[case("declare void @free(i8*)", "  call void @free(i8* null)", None)]
#[case(
    "declare void @__assertfail(i8*, i8*, i32, i8*, i64)",
    "  call void @__assertfail(i8* null, i8* null, i32 1, i8* null, i64 1)",
    None
)]
#[case(
    "declare i32 @__cuda_syscall_CGS_get_rank(i32)",
    "  call i32 @__cuda_syscall_CGS_get_rank(i32 1)",
    None
)]
#[case("declare void @unused()", "", None)]
fn what_the_driver_brings_and_what_nothing_uses_is_not_missing(
    #[case] declaration: &str,
    #[case] body: &str,
    #[case] missing: Option<&str>,
    #[values("12.0", "13.5")] version: &str,
) {
    let program = program(version, &[("a.ll", &using(declaration, body))]);
    let made = program.compile::<Ptx>(&Options::new(Arch::SM_80));
    let left = made.err().map(|e| unresolved(e).symbols[0].name.clone());
    assert_eq!(left.as_deref(), missing);
}

#[rstest]
fn a_function_that_libdevice_lacks_says_which_libdevice_was_searched(
    #[values("12.0", "13.5")] version: &str,
) {
    let toolkit = toolkit(version);
    let program = program(version, &[("a.ll", &calls("k", "__nv_no_such"))]);
    let error = program
        .compile::<Ptx>(&Options::new(Arch::SM_80))
        .unwrap_err();
    let path = toolkit.libdevice().unwrap().path.display();
    assert_eq!(
        said(error),
        format!(
            "the library (file) reported success, but the PTX refers to `__nv_no_such` (used by \
             a.ll:3), which nothing defines; libdevice ({path}) has no function of this name either: \
             correct it, add the module that defines it, or set libdevice to `Never` where another \
             link is to bring it"
        )
    );
    program.set_libdevice(Libdevice::Never).unwrap();
    program.compile::<Ptx>(&Options::new(Arch::SM_80)).unwrap();
}

#[test]
fn lto_ir_may_refer_to_anything_and_a_cubin_to_nothing() {
    let program = program(NEWEST, &[("a.ll", &helper("helper"))]);
    let options = Options::new(Arch::SM_90);
    program.compile::<LtoIr>(&options).unwrap();
    let error = program.compile::<Cubin>(&options).unwrap_err();
    assert_eq!(unresolved(error).symbols[0].used_by, ["a.ll:3"]);
    // Allowed in the PTX, which is finished here and now.
    let allowed = options.external("helper");
    let error = program.compile::<Cubin>(&allowed).unwrap_err();
    assert!(error.to_string().contains("`helper`"), "{error}");
}

const CPP: &str = "extern \"C\" __device__ void helper(int *);
extern \"C\" __global__ void k(int *p) { helper(p); }";

#[rstest]
fn cuda_cpp_may_refer_to_others_where_it_is_relocatable(
    #[values("12.0", "12.9", "13.5")] version: &str,
) {
    let program = nvrtc::Program::new(&toolkit(version), "k.cu", CPP).unwrap();
    let mut options = nvrtc::Options::new(Arch::SM_80);
    let error = program.compile::<Ptx>(&options).unwrap_err();
    assert_eq!(
        said(error),
        "the library (file) reported success, but the PTX refers to `helper` (used by k.cu), which \
         nothing defines; define it; where a later link brings it, compile with \
         `code.relocatable`, or say so by `code.externals`"
    );
    options.code.relocatable = true;
    assert_eq!(
        program.compile::<Ptx>(&options).unwrap().externs()[0].name,
        "helper"
    );
    assert_eq!(
        program.compile::<Cubin>(&options).unwrap().undefined()[0].name,
        "helper"
    );
    program.compile::<LtoIr>(&options).unwrap();
    options.code.externals = Some(Externals::Refuse);
    unresolved(program.compile::<Ptx>(&options).unwrap_err());
    unresolved(program.compile::<Cubin>(&options).unwrap_err());
    options.code.externals = Some(Externals::only(["helper"]));
    program.compile::<Cubin>(&options).unwrap();
}

#[rstest]
fn ptx_of_a_link_may_lack_what_its_options_say(#[values("12.9", "13.5")] version: &str) {
    let toolkit = toolkit(version);
    let program = nvrtc::Program::new(&toolkit, "k.cu", CPP).unwrap();
    let mut options = nvrtc::Options::new(Arch::SM_80);
    options.code.relocatable = true;
    let lto: LtoIr = program.compile(&options).unwrap();
    let linker = Linker::new(&toolkit, Arch::SM_80).add_named("k", &lto);
    let made = linker.clone().link::<Ptx>();
    let error = made.expect_err("nothing brings `helper`");
    assert!(error.to_string().contains("`helper`"), "{error}");
    let linker = linker.options(LinkOptions::new().externals(Externals::only(["helper"])));
    assert_eq!(linker.link::<Ptx>().unwrap().externs()[0].name, "helper");
}

#[test]
fn a_module_that_keeps_nothing_is_told_of() {
    let text = format!(
        "{TARGET}define internal void @f() {{\n  ret void\n}}\n{}",
        ending(&[])
    );
    let program = program(NEWEST, &[("a.ll", &text)]);
    let ptx: Ptx = program.compile(&Options::new(Arch::SM_90)).unwrap();
    let said = &ptx.diagnostics()[0];
    assert_eq!(
        said.message,
        "the PTX has no kernel, and no function either"
    );
    let hint = said.hint.as_deref().unwrap();
    assert!(hint.starts_with("a kernel is a function"), "{hint}");
}
