//! Names that several inputs use.

use cuda_program::link::{InputKind, Options};
use cuda_program::{Arch, Cubin, Error, Linker, LtoIr, nvrtc};
use rstest::rstest;

use crate::common::{NEWEST, toolkit};
use crate::inputs_of_links::ptx;
use crate::raw;

const VARIABLE: &str = ".visible .global .u32 x = 1;\n.visible .entry k() { ret; }";
const WEAK_VARIABLE: &str = ".weak .global .u32 x = 1;\n.visible .entry k() { ret; }";
const USES_VARIABLE: &str = ".extern .global .u32 x;\n\
    .visible .entry k() { .reg .u32 %r; ld.global.u32 %r, [x]; st.global.u32 [x], %r; ret; }";
const FUNCTION: &str = ".visible .func x() { ret; }\n.visible .entry l() { call x; ret; }";
const WEAK_FUNCTION: &str = ".weak .func x() { ret; }\n.visible .entry l() { call x; ret; }";
const USES_FUNCTION: &str = ".extern .func x();\n.visible .entry l() { call x; ret; }";
const KERNEL: &str = ".visible .entry x() { ret; }";
const UNMARKED: &str = ".entry x() { ret; }";
const WEAK_KERNEL: &str = ".weak .entry x() { ret; }";

fn relocatable(version: &str, body: &str) -> Cubin {
    Linker::new(&toolkit(version), Arch::SM_80)
        .options(Options::new().relocatable(true))
        .add(ptx(body))
        .link()
        .unwrap()
}

/// Links both, each as PTX and as a cubin of it.
fn refused(first: &str, second: &str) -> String {
    let mut said = Vec::new();
    for (first_is_cubin, second_is_cubin) in
        [(false, false), (false, true), (true, false), (true, true)]
    {
        let mut linker = Linker::new(&toolkit(NEWEST), Arch::SM_80);
        for (name, body, is_cubin) in [("a", first, first_is_cubin), ("b", second, second_is_cubin)]
        {
            linker = if is_cubin {
                linker.add_named(name, relocatable(NEWEST, body))
            } else {
                linker.add_named(name, ptx(body))
            };
        }
        match linker.link::<Cubin>().unwrap_err() {
            Error::InvalidInput(e) => said.push(e.to_string()),
            other => panic!("{other}"),
        }
    }
    said.dedup();
    said.join("\n")
}

/// The library ends the process on most of these, and reports success for the others.
#[rstest]
#[case(VARIABLE, FUNCTION)]
#[case(FUNCTION, VARIABLE)]
#[case(WEAK_VARIABLE, WEAK_FUNCTION)]
#[case(VARIABLE, USES_FUNCTION)]
#[case(FUNCTION, USES_VARIABLE)]
#[case(USES_VARIABLE, USES_FUNCTION)]
#[case(KERNEL, USES_VARIABLE)]
#[case(KERNEL, VARIABLE)]
#[case(KERNEL, FUNCTION)]
#[case(UNMARKED, FUNCTION)]
fn a_name_of_two_kinds_is_refused(#[case] first: &str, #[case] second: &str) {
    let error = refused(first, second);
    assert!(
        error.starts_with("b: it ") && error.contains("and a "),
        "{error}"
    );
    assert!(!error.contains('\n'), "{error}");
}

#[test]
fn a_name_of_two_kinds_is_told_with_both_inputs() {
    insta::assert_snapshot!(refused(VARIABLE, USES_FUNCTION), @"b: it uses the function `x`, and a defines the variable `x`; rename one of them, or make both the same");
    insta::assert_snapshot!(refused(UNMARKED, FUNCTION), @"b: it defines the function `x`, and a defines the kernel `x`; rename one of them, or make both the same");
}

#[rstest]
#[case(UNMARKED, UNMARKED)]
#[case(UNMARKED, KERNEL)]
#[case(KERNEL, UNMARKED)]
#[case(WEAK_KERNEL, UNMARKED)]
fn two_kernels_of_one_name_of_which_one_is_local_are_refused(
    #[case] first: &str,
    #[case] second: &str,
) {
    let error = refused(first, second);
    insta::allow_duplicates! {
        insta::assert_snapshot!(error, @"b: it defines the kernel `x`, and so does a; both would be in the result, and a launch could reach one of them alone; rename one of them");
    }
}

#[test]
fn a_weak_kernel_gives_way_to_another() {
    let linker = Linker::new(&toolkit(NEWEST), Arch::SM_80);
    let cubin: Cubin = linker
        .add(ptx(WEAK_KERNEL))
        .add(ptx(KERNEL))
        .link()
        .unwrap();
    assert_eq!(raw::cubin_kernels(cubin.as_bytes()), ["x"]);
}

/// Nobody else sees what is local.
#[test]
fn a_local_name_clashes_with_nothing() {
    let function = ".func x() { ret; }\n.visible .entry l() { call x; ret; }";
    let linker = Linker::new(&toolkit(NEWEST), Arch::SM_80);
    let cubin: Cubin = linker.add(ptx(function)).add(ptx(VARIABLE)).link().unwrap();
    assert_eq!(raw::cubin_kernels(cubin.as_bytes()), ["k", "l"]);
}

#[test]
fn a_variable_in_two_spaces_is_refused() {
    let constant = ".extern .const .u32 x;\n\
        .visible .entry l() { .reg .u32 %r; ld.const.u32 %r, [x]; ret; }";
    let linker = Linker::new(&toolkit(NEWEST), Arch::SM_80)
        .add_named("a", ptx(VARIABLE))
        .add_named("b", ptx(constant));
    let error = linker.link::<Cubin>().unwrap_err();
    insta::assert_snapshot!(error, @"b: its variable `x` lies in constant memory, and that of a in global memory; rename one of them, or make both the same");
}

#[rstest]
#[case("(.param .b32 r)", "(.param .b64 a)")]
#[case("", "(.param .b32 a, .param .b32 b)")]
#[case("", "(.param .align 4 .b8 a[12])")]
fn a_function_of_two_prototypes_is_refused(#[case] results: &str, #[case] parameters: &str) {
    let defines = ".visible .func f(.param .b32 a) { ret; }\n.visible .entry k() { ret; }";
    let uses = format!(".extern .func {results} f {parameters};\n.visible .entry l() {{ ret; }}");
    let linker = Linker::new(&toolkit(NEWEST), Arch::SM_80)
        .add_named("a", ptx(defines))
        .add_named("b", ptx(&uses));
    let error = linker.link::<Cubin>().unwrap_err().to_string();
    assert!(error.starts_with("b: its `f` returns "), "{error}");
    assert!(
        error.contains("that of a returns nothing and takes 4 bytes"),
        "{error}"
    );
}

/// Which type it is of the same size, the code does not tell.
#[test]
fn prototypes_that_differ_in_spelling_alone_are_linked() {
    let defines = ".visible .func (.reg .f32 r) f(.reg .u32 a) { ret; }\n";
    let uses = ".extern .func (.param .b32 r) f(.param .s32 x);\n.visible .entry k() { ret; }";
    let linker = Linker::new(&toolkit(NEWEST), Arch::SM_80);
    let cubin: Cubin = linker.add(ptx(defines)).add(ptx(uses)).link().unwrap();
    assert_eq!(raw::cubin_kernels(cubin.as_bytes()), ["k"]);
}

const TEMPLATE: &str = "template <typename T> __global__ void add(T *p) { *p += T(1); }";

fn template(relocatable: bool) -> (nvrtc::Program, nvrtc::Options) {
    let program = nvrtc::Program::new(&toolkit(NEWEST), "add.cu", TEMPLATE).unwrap();
    program.add_name_expression("add<float>").unwrap();
    let mut options = nvrtc::Options::new(Arch::SM_80);
    options.code.relocatable = relocatable;
    (program, options)
}

#[test]
fn a_linked_cubin_knows_the_name_expressions_of_its_inputs() {
    let (program, options) = template(false);
    let lto: LtoIr = program.compile(&options).unwrap();
    let linker = Linker::new(&toolkit(NEWEST), Arch::SM_80);
    let cubin: Cubin = linker.clone().add(&lto).link().unwrap();
    let kernel = cubin.kernel_for("add<float>").unwrap();
    assert_eq!(kernel.name, "_Z3addIfEvPT_");
    let (program, options) = template(true);
    let part: Cubin = program.compile(&options).unwrap();
    let cubin: Cubin = linker
        .add(part)
        .add(ptx(".visible .entry k() { ret; }"))
        .link()
        .unwrap();
    let kernel = cubin.kernel_for("add<float>").unwrap();
    assert_eq!(kernel.name, "_Z3addIfEvPT_");
}

#[test]
fn a_name_that_became_two_in_two_inputs_is_known_by_neither() {
    let named = |kernel: &str, became: &str| {
        let names = [("k.1", became), ("both", "both")];
        let names = names.map(|(name, became)| (name.to_owned(), became.to_owned()));
        ptx(&format!(".visible .entry {kernel}() {{ ret; }}")).with_lowered_names(names.into())
    };
    let cubin: Cubin = Linker::new(&toolkit(NEWEST), Arch::SM_80)
        .add(named("k_1", "k_1"))
        .add(named("k_2", "k_2"))
        .link()
        .unwrap();
    assert_eq!(cubin.lowered_name("k.1"), None);
    assert_eq!(cubin.lowered_name("both"), Some("both"));
}

#[rstest]
fn a_link_that_comes_to_nothing_is_an_error(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let body = ".func f() { ret; }\n";
    let linker = Linker::new(&toolkit(version), Arch::SM_80);
    let error = linker
        .add_bytes("f.ptx", InputKind::Ptx, ptx(body).as_bytes())
        .link::<Cubin>()
        .unwrap_err();
    assert!(
        matches!(&error, Error::WrongOutput { problem, .. } if problem == "the cubin has nothing in it"),
        "{error}"
    );
}
