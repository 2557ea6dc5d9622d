//! Intrinsics that a compiler has no code for are refused by name; those that it has code for compile.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{NEWEST, TARGET, toolkit};
use cuda_program::nvvm::{Dialect, Libdevice, Options, Program};
use cuda_program::{Arch, Error, LtoIr, Ptx, Result};
use rstest::rstest;

/// A function that calls an intrinsic of one value on line 5, and what becomes of it.
fn compile(version: &str, intrinsic: &str, ty: &str, options: &Options) -> Result<Ptx> {
    let module = format!(
        "{TARGET}declare {ty} @{intrinsic}({ty})\ndefine {ty} @f({ty} %x) {{\n  \
         %r = call {ty} @{intrinsic}({ty} %x)\n  ret {ty} %r\n}}\n\
         !nvvmir.version = !{{!0}}\n!0 = !{{i32 2, i32 0}}\n"
    );
    let program = Program::new(&toolkit(version))?;
    program.add_module("m", module)?;
    program.compile(&options.clone().keep("f"))
}

#[rstest]
#[case("llvm.exp.f32", "float", Arch::SM_80, "call `__nv_expf` of libdevice")]
#[case(
    "llvm.log2.f64",
    "double",
    Arch::SM_80,
    "call `__nv_log2` of libdevice"
)]
#[case("llvm.tan.f32", "float", Arch::SM_80, "call `__nv_tanf` of libdevice")]
#[case("llvm.exp.f16", "half", Arch::SM_100, "call `__nv_expf` of libdevice")]
#[case("llvm.pow.f32", "float", Arch::SM_100, "call `__nv_powf` of libdevice")]
#[case("llvm.x86.rdtsc", "i64", Arch::SM_80, "write it out in instructions")]
#[case("llvm.coro.size", "i64", Arch::SM_100, "write it out in instructions")]
fn an_intrinsic_without_code_is_refused_by_name_and_line_with_a_way_out(
    #[case] intrinsic: &str,
    #[case] ty: &str,
    #[case] arch: Arch,
    #[case] way_out: &str,
    #[values("12.9", NEWEST)] version: &str,
) {
    let error = compile(version, intrinsic, ty, &Options::new(arch)).unwrap_err();
    assert!(matches!(error, Error::InvalidInput(_)), "{error:?}");
    let said = error.to_string();
    assert!(
        said.starts_with(&format!("m:5: `{intrinsic}`")) && said.contains(way_out),
        "{said}"
    );
}

#[rstest]
#[case("\"llvm\\2Eexp.f32\"", "float", "llvm.exp.f32")]
#[case("\"\\6Clvm.exp.f32\"", "float", "llvm.exp.f32")]
#[case("llvm.bswap.i24", "i24", "llvm.bswap.i24")]
#[case("llvm.sqrt.f128", "fp128", "llvm.sqrt.f128")]
#[case("llvm.floor.ppcf128", "ppc_fp128", "llvm.floor.ppcf128")]
fn a_name_with_escapes_and_types_that_no_gpu_has_are_looked_at_too(
    #[case] intrinsic: &str,
    #[case] ty: &str,
    #[case] name: &str,
    #[values("12.4", NEWEST)] version: &str,
) {
    let error = compile(version, intrinsic, ty, &Options::new(Arch::SM_90)).unwrap_err();
    let said = error.to_string();
    assert!(said.starts_with(&format!("m:5: `{name}`")), "{said}");
}

#[rstest]
#[case("llvm.sqrt.f32", "float")]
#[case("llvm.fabs.f64", "double")]
#[case("llvm.ctpop.v16i32", "<16 x i32>")]
#[case("llvm.bitreverse.i16", "i16")]
#[case("llvm.floor.v16f32", "<16 x float>")]
fn an_intrinsic_with_code_compiles_with_types_that_the_tables_do_not_list_too(
    #[case] intrinsic: &str,
    #[case] ty: &str,
    #[values(Arch::SM_80, Arch::SM_100)] arch: Arch,
    #[values("12.9", "13.0", NEWEST)] version: &str,
) {
    let ptx = compile(version, intrinsic, ty, &Options::new(arch)).unwrap();
    assert!(!ptx.as_str().contains("llvm."), "{}", ptx.as_str());
}

#[test]
fn what_the_newer_compiler_alone_has_code_for_is_refused_with_its_name_and_taken_by_it() {
    let by = |dialect| {
        let options = Options::new(Arch::SM_80).dialect(dialect);
        compile(NEWEST, "llvm.arithmetic.fence.f32", "float", &options)
    };
    let said = by(Dialect::Legacy).unwrap_err().to_string();
    assert!(said.contains("`Dialect::Latest`"), "{said}");
    let ptx = by(Dialect::Latest).unwrap();
    assert!(!ptx.as_str().contains("llvm."), "{}", ptx.as_str());
}

#[test]
fn what_an_older_library_had_code_for_and_a_newer_has_not_is_refused_for_the_newer_alone() {
    let options = Options::new(Arch::SM_100);
    let ptx = compile("13.0", "llvm.tan.f32", "float", &options).unwrap();
    assert!(!ptx.as_str().contains("llvm."), "{}", ptx.as_str());
    let said = compile(NEWEST, "llvm.tan.f32", "float", &options).unwrap_err();
    assert!(
        said.to_string()
            .starts_with("m:5: `llvm.tan.f32` has no code"),
        "{said}"
    );
}

#[test]
fn an_intrinsic_of_nvvm_that_no_table_knows_gets_the_librarys_own_answer() {
    let name = "llvm.nvvm.of.a.later.library";
    for arch in [Arch::SM_80, Arch::SM_100] {
        let error = compile(NEWEST, name, "i32", &Options::new(arch)).unwrap_err();
        assert!(!matches!(error, Error::InvalidInput(_)), "{error:?}");
        assert!(format!("{error:#}").contains(name), "{error:#}");
    }
}

/// libdevice is full of them, and NVIDIA's own.
#[rstest]
fn every_intrinsic_of_libdevice_passes_the_tables(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
    #[values(Arch::SM_80, Arch::SM_100)] arch: Arch,
) {
    if arch >= Arch::SM_100 && version < "12.9" {
        return;
    }
    let toolkit = toolkit(version);
    let libdevice = std::fs::read(&toolkit.libdevice().unwrap().path).unwrap();
    let program = Program::new(&toolkit).unwrap();
    program.add_module("libdevice", libdevice).unwrap();
    program.set_libdevice(Libdevice::Never).unwrap();
    let options = Options::new(arch).keep("__nv_sinf");
    let lto: LtoIr = program.compile(&options).unwrap();
    assert!(!lto.as_bytes().is_empty());
    let modules = program.modules();
    let called = modules.iter().map(|(_, module)| module.intrinsics.len());
    assert!(called.sum::<usize>() > 100, "{modules:?}");
}
