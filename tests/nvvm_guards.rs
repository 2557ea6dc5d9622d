//! What would end the process of libNVVM, or keep it busy for ever, is refused before each call; what is
//! close to it and sound still compiles.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{NEWEST, TARGET, ending, store, toolkit};
use cuda_program::nvvm::{Options, Program, Repair};
use cuda_program::{Arch, Error, Ptx};
use rstest::rstest;

fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/fixtures/guards/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// What adding, compiling or verifying says; all that are reached must say the same.
fn refusal(version: &str, module: &[u8], options: &Options) -> String {
    let program = Program::new(&toolkit(version)).unwrap();
    let error = match program.add_module("m", module) {
        Err(error) => error,
        Ok(()) => {
            let error = program.compile::<Ptx>(options).unwrap_err();
            assert_eq!(program.verify(options).unwrap_err(), error);
            error
        }
    };
    assert!(matches!(error, Error::InvalidInput(_)), "{error:?}");
    error.to_string()
}

fn compile(version: &str, module: &[u8], options: &Options) -> Ptx {
    let program = Program::new(&toolkit(version)).unwrap();
    program.add_module("m", module).unwrap();
    program.verify(options).unwrap();
    program.compile(options).unwrap()
}

#[rstest]
#[case(
    "annotation",
    "m:10: its `!nvvm.annotations` is malformed: the annotation \"maxntidx\" of `k` has no value (node !98)"
)]
#[case(
    "assembly",
    "m:8: the constraints \"=m\" of inline assembly are wrong: the output `=m` is in no register"
)]
#[case(
    "cycle_base",
    "m:32: debug metadata leads back to itself through baseType: !50, !51, !52"
)]
#[case(
    "cycle_inlined",
    "m:31: debug metadata leads back to itself through scope and inlinedAt: !16"
)]
#[case(
    "cycle_scope",
    "m:32: debug metadata leads back to itself through scope and inlinedAt: !60, !61"
)]
#[case("intrinsic", "m:15: `llvm.powi.f32` has no code in this compiler")]
#[case("recursive", "m:5: the type `%T` holds itself by value")]
#[case("returns", "m:5: the kernel `k` returns a value")]
fn a_text_is_refused_with_its_line(
    #[case] name: &str,
    #[case] says: &str,
    #[values("12.0", "13.5")] version: &str,
) {
    let options = Options::new(Arch::SM_80);
    let said = refusal(version, &fixture(&format!("{name}.ll")), &options);
    assert!(said.starts_with(says), "{said}");
}

#[rstest]
#[case(
    "annotation.llvm14",
    "the annotation \"maxntidx\" of `k` has no value (node !6)"
)]
#[case("cycle_base.llvm14", "back to itself through baseType: !22, !24, !23")]
#[case(
    "cycle_inlined.llvm14",
    "back to itself through scope and inlinedAt: !19"
)]
#[case(
    "cycle_scope.llvm14",
    "back to itself through scope and inlinedAt: !19, !20"
)]
#[case("intrinsic.llvm22", "`llvm.powi.f32.i32` has no code in this compiler")]
#[case("intrinsic.llvm14", "`llvm.powi.f32.i32` has no code in this compiler")]
#[case(
    "parameters.llvm14",
    "the parameters of the kernel `k` take 32780 bytes"
)]
#[case(
    "recursive.llvm14",
    "a structure, type number 2, holds itself by value"
)]
#[case("returns.llvm14", "the kernel `k` returns a value")]
#[case("assembly.llvm14", "the output `=m` is in no register")]
fn bitcode_is_refused_for_the_same(
    #[case] name: &str,
    #[case] says: &str,
    #[values(Arch::SM_80, Arch::SM_100)] arch: Arch,
) {
    let options = Options::new(arch);
    let said = refusal(NEWEST, &fixture(&format!("{name}.bc")), &options);
    assert!(said.contains(says), "{said}");
}

#[rstest]
#[case("12.0", Arch::SM_80, "debug_list.ll")]
#[case("12.4", Arch::SM_80, "debug_list.ll")]
#[case("12.9", Arch::SM_100, "debug_list.ll")]
#[case("13.0", Arch::SM_80, "debug_list.ll")]
#[case("13.5", Arch::SM_80, "debug_list.ll")]
#[case("13.5", Arch::SM_100, "debug_list.ll")]
#[case("12.9", Arch::SM_100, "debug_list.llvm14.bc")]
#[case("13.5", Arch::SM_100, "debug_list.llvm14.bc")]
fn a_structure_that_reaches_itself_through_a_pointer_is_as_it_should_be(
    #[case] version: &str,
    #[case] arch: Arch,
    #[case] name: &str,
) {
    for debug in [false, true] {
        let options = Options::new(arch).debug(debug);
        assert!(
            compile(version, &fixture(name), &options)
                .kernel("k")
                .is_some()
        );
    }
}

/// A kernel that only calls inline assembly.
fn assembly(constraints: &str, result: &str, arguments: &str) -> String {
    let named = |prefix: &str| {
        let types = arguments.split_terminator(';').enumerate();
        let list: Vec<String> = types.map(|(n, t)| format!("{t} {prefix}{n}")).collect();
        list.join(", ")
    };
    let types: Vec<&str> = arguments.split_terminator(';').collect();
    let assign = if result == "void" { "" } else { "%r = " };
    format!(
        "{TARGET}define void @k({}) {{
  {assign}call {result} asm sideeffect \"// nothing\", \"{constraints}\"({})
  ret void
}}
{}",
        named("%a"),
        named("%a"),
        ending(&[(&format!("void ({})*", types.join(", ")), "k")])
    )
}

#[rstest]
#[case("", "void", "")]
#[case("~{memory}", "void", "")]
#[case("r,~{memory},~{cc}", "void", "i32")]
#[case("=r,r", "i32", "i32")]
#[case("=h,h", "i16", "i16")]
#[case("=l,l", "i64", "i64")]
#[case("=f,f", "float", "float")]
#[case("=d,d", "double", "double")]
#[case("=b,b", "i1", "i1")]
#[case("=c,c", "i8", "i8")]
#[case("q", "void", "i128")]
#[case("=&r,r", "i32", "i32")]
#[case("=r,0", "i32", "i32")]
#[case("=r,=l,r,1", "{ i32, i64 }", "i32;i64")]
#[case("=r,l", "<2 x i16>", "i8*")]
#[case("r", "void", "[2 x i32]")]
#[case("m", "void", "i32*")]
#[case("rm", "void", "i32")]
fn assembly_that_works_is_taken(
    #[case] constraints: &str,
    #[case] result: &str,
    #[case] arguments: &str,
) {
    let module = assembly(constraints, result, arguments);
    for (version, arch) in [
        ("12.0", Arch::SM_80),
        (NEWEST, Arch::SM_80),
        (NEWEST, Arch::SM_100),
    ] {
        let program = Program::new(&toolkit(version)).unwrap();
        program.add_module("m", &module).unwrap();
        program.compile::<Ptx>(&Options::new(arch)).unwrap();
    }
}

#[rstest]
#[case("=m", "i32*", "", "in no register")]
#[case("=rm", "i32", "", "in no register")]
#[case("=X", "i32", "", "in no register")]
#[case("=Z", "i32", "", "in no register")]
#[case("=n", "i32", "", "in no register")]
#[case("=~{r}", "i32", "", "names a register")]
#[case("{r0}", "void", "i32", "names a register")]
#[case("={r0}", "i32", "", "names a register")]
#[case("o", "void", "i32*", "place in memory")]
#[case("*m", "void", "i32*", "place in memory")]
#[case("=*m", "void", "i32*", "place in memory")]
#[case("~memory", "void", "", "a clobber without braces")]
#[case("r,", "void", "i32", "one of them is empty")]
#[case("r,r", "void", "i32", "2 inputs for 1 arguments")]
#[case("=r,=r", "i32", "", "2 outputs for 1 results")]
#[case("=r", "void", "", "1 outputs for 0 results")]
#[case("=r", "[1 x i32]", "", "an array or a structure in one output")]
#[case(
    "=r,=r",
    "{ i32, [1 x i32] }",
    "",
    "an array or a structure in one output"
)]
fn assembly_that_ends_the_process_is_refused(
    #[case] constraints: &str,
    #[case] result: &str,
    #[case] arguments: &str,
    #[case] says: &str,
    #[values(("12.0", Arch::SM_80), ("13.5", Arch::SM_80), ("13.5", Arch::SM_100))] at: (
        &str,
        Arch,
    ),
) {
    let module = assembly(constraints, result, arguments);
    let said = refusal(at.0, module.as_bytes(), &Options::new(at.1));
    assert!(said.starts_with("m:4: ") && said.contains(says), "{said}");
}

#[rstest]
#[case("=q", "i128", "", "12.0", "an output of 128 bits")]
#[case("=q", "i128", "", "12.4", "an output of 128 bits")]
#[case("l", "void", "i128", "12.9", "128 bits in a smaller register")]
#[case("=r", "i128", "", "13.5", "128 bits in a smaller register")]
#[case(
    "=r,0",
    "i32",
    "float",
    "12.0",
    "ties an integer to a floating-point number"
)]
fn assembly_that_one_library_ends_at_is_refused_there(
    #[case] constraints: &str,
    #[case] result: &str,
    #[case] arguments: &str,
    #[case] version: &str,
    #[case] says: &str,
) {
    let module = assembly(constraints, result, arguments);
    let said = refusal(version, module.as_bytes(), &Options::new(Arch::SM_80));
    assert!(said.starts_with("m:4: ") && said.contains(says), "{said}");
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("m", module).unwrap();
    program.compile::<Ptx>(&Options::new(Arch::SM_100)).unwrap();
}

#[rstest]
#[case("$5", "`$5`, and there are 2 operands")]
#[case("add $", "a `$` that no number follows")]
#[case("$a", "a `$` that no number follows")]
#[case("${0:zz}", "`${0:zz}`, which says nothing")]
#[case("${0", "a `${` without an end")]
fn assembly_that_refers_to_nothing_is_refused(#[case] text: &str, #[case] says: &str) {
    let module = assembly("=r,r", "i32", "i32").replace("// nothing", text);
    let said = refusal("12.0", module.as_bytes(), &Options::new(Arch::SM_80));
    assert!(said.starts_with("m:4: ") && said.contains(says), "{said}");
}

#[test]
fn dollars_and_modifiers_that_mean_something_are_taken() {
    let text = "mov.u32 $0, $1; // $$ ${0} ${:uid} $(a$|b$)";
    let module = assembly("=r,r", "i32", "i32").replace("// nothing", text);
    compile("12.0", module.as_bytes(), &Options::new(Arch::SM_80));
}

/// A kernel with so many bytes of parameters.
fn with_parameters(bytes: usize) -> String {
    store("k", 1)
        .replace(
            "(i32* %p)",
            &format!("(i32* %p, [{} x i8] %rest)", bytes - 8),
        )
        .replace("(i32*)", &format!("(i32*, [{} x i8])", bytes - 8))
}

#[rstest]
#[case("12.0", Arch::SM_80, 4096)]
#[case("12.4", Arch::SM_60, 4096)]
#[case("12.4", Arch::SM_80, 32_764)]
#[case("13.5", Arch::SM_75, 32_764)]
#[case("13.5", Arch::SM_100, 32_764)]
fn parameters_fit_up_to_the_limit(#[case] version: &str, #[case] arch: Arch, #[case] limit: usize) {
    let options = Options::new(arch);
    compile(version, with_parameters(limit).as_bytes(), &options);
    let said = refusal(version, with_parameters(limit + 1).as_bytes(), &options);
    let expected = format!(
        "m:3: the parameters of the kernel `k` take {} bytes, and {} has room for {limit};",
        limit + 1,
        arch.compute()
    );
    assert!(said.starts_with(&expected), "{said}");
}

#[rstest]
fn a_malformed_layout_is_refused_with_its_line(
    #[values("e-p:0:0:0", "e-p:64:64:64-zork", "e-i64:7", "e-p:64:64:64-", "e-m:z")] layout: &str,
    #[values("12.0", "13.5")] version: &str,
) {
    let module = format!(
        "target datalayout = \"{layout}\"\n{}",
        &store("k", 1)[TARGET.find('\n').unwrap() + 1..]
    );
    let said = refusal(version, module.as_bytes(), &Options::new(Arch::SM_80));
    assert!(
        said.starts_with("m:1: its data layout") && said.contains("malformed"),
        "{said}"
    );
}

#[rstest]
#[case("@\"a.b\"", "`a.b` of a kernel")]
#[case("@\"1a\"", "`1a` of a kernel")]
#[case("@WARP_SZ", "`WARP_SZ` of a kernel")]
#[case("@\"\\C3\\A9\"", "`é` of a kernel")]
#[case("@\"a b\"", "`a b` of a kernel")]
fn a_name_that_ptx_cannot_spell_is_refused_where_it_may_not_be_respelt(
    #[case] name: &str,
    #[case] says: &str,
) {
    let module = store("k", 1).replace("@k", name);
    let options = Options::new(Arch::SM_80).repair(Repair::Off);
    let said = refusal("12.0", module.as_bytes(), &options);
    assert!(said.contains(says), "{said}");
}

#[test]
fn debug_information_of_two_units_is_refused_with_a_way_out() {
    let unit = String::from_utf8(fixture("debug_list.ll")).unwrap();
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("one", &unit).unwrap();
    program
        .add_module("two", unit.replace("@k", "@k2"))
        .unwrap();
    program
        .compile::<Ptx>(&Options::new(Arch::SM_90).debug(true))
        .unwrap();
    let error = program
        .compile::<Ptx>(&Options::new(Arch::SM_100).debug(true))
        .unwrap_err();
    assert_eq!(error.raw_code(), Some(9));
    assert!(
        error.to_string().contains("emissionKind: NoDebug"),
        "{error}"
    );
}

/// A kernel with a parameter of a type, and a pointer to write to.
fn kernel_of(parameter: &str) -> String {
    format!(
        "{TARGET}define void @k({parameter} %a, i32* %p) {{\n  store i32 1, i32* %p\n  ret void\n}}\n{}",
        ending(&[(&format!("void ({parameter}, i32*)*"), "k")])
    )
}

#[rstest]
#[case("i7", "of the type i7")]
#[case("i65", "of the type i65")]
#[case("i256", "of the type i256")]
#[case("{i96, i32}", "that holds the type i96")]
#[case("[2 x i65]", "that holds the type i65")]
#[case("fp128", "of the type fp128")]
#[case("x86_fp80", "of the type x86_fp80")]
#[case("metadata", "of the type metadata")]
fn a_kernel_with_a_parameter_that_no_gpu_has_is_refused_with_the_type(
    #[case] parameter: &str,
    #[case] says: &str,
    #[values("12.4", NEWEST)] version: &str,
) {
    let options = Options::new(Arch::SM_90);
    let said = refusal(version, kernel_of(parameter).as_bytes(), &options);
    assert!(
        said.starts_with("m:3: the kernel `k` has a parameter"),
        "{said}"
    );
    assert!(said.contains(says), "{said}");
}

#[rstest]
#[case("i96")]
#[case("i24")]
#[case("x86_fp80")]
fn the_newer_compiler_gets_no_such_parameter_either(#[case] parameter: &str) {
    let options = Options::new(Arch::SM_100);
    let said = refusal(NEWEST, kernel_of(parameter).as_bytes(), &options);
    assert!(said.contains("which no GPU has"), "{said}");
}

#[rstest]
#[case("i1", Arch::SM_90)]
#[case("i128", Arch::SM_90)]
#[case("half", Arch::SM_90)]
#[case("{i8, [3 x i24]}", Arch::SM_90)]
#[case("<4 x float>", Arch::SM_90)]
#[case("{i96, i32}", Arch::SM_100)]
fn a_kernel_with_parameters_that_gpus_have_compiles(#[case] parameter: &str, #[case] arch: Arch) {
    let ptx = compile(NEWEST, kernel_of(parameter).as_bytes(), &Options::new(arch));
    assert_eq!(ptx.kernels().len(), 1);
}

#[rstest]
fn a_function_that_a_loader_would_choose_is_refused(
    #[values("12.4", NEWEST)] version: &str,
    #[values(Arch::SM_90, Arch::SM_100)] arch: Arch,
) {
    if arch >= Arch::SM_100 && version != NEWEST {
        return;
    }
    let ifunc =
        "@f = ifunc void (), void ()* ()* @r\ndefine void ()* @r() {\n  ret void ()* null\n}\n";
    let module = store("k", 1).replace(TARGET, &format!("{TARGET}{ifunc}"));
    let said = refusal(version, module.as_bytes(), &Options::new(arch));
    assert!(said.starts_with("m:3: `f` is an ifunc"), "{said}");
}

#[rstest]
fn constructors_that_never_run_are_warned_of(#[values(Arch::SM_90, Arch::SM_100)] arch: Arch) {
    let list = "{ i32, void ()*, i8* }";
    let ctors = format!(
        "@llvm.global_ctors = appending global [1 x {list}] [{list} {{ i32 1, void ()* @c, i8* null }}]\n\
         define internal void @c() {{\n  ret void\n}}\n"
    );
    let module = store("k", 1).replace(TARGET, &format!("{TARGET}{ctors}"));
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("m", module).unwrap();
    // One compiler refuses them, and the other drops them.
    let warning = match program.compile::<Ptx>(&Options::new(arch)) {
        Ok(ptx) => ptx.diagnostics().to_vec(),
        Err(error) => error.diagnostics().to_vec(),
    };
    let warning = warning.iter().find(|said| said.line == Some(3)).unwrap();
    assert!(
        warning.to_string().contains("never runs on a GPU"),
        "{warning}"
    );
}
