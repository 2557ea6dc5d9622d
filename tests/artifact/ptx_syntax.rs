//! Forms of PTX that few compilers write and ptxas takes.

use cuda_program::artifact::{ExternKind, IsaVersion, Linkage};
use cuda_program::{Arch, Ptx};
use rstest::rstest;

const HEADER: &str = ".version 8.7\n.target sm_90\n.address_size 64\n";

fn module(body: &str) -> Ptx {
    Ptx::from_text(format!("{HEADER}{body}")).unwrap()
}

fn kernels(ptx: &Ptx) -> Vec<&str> {
    ptx.kernels().iter().map(|k| k.name.as_str()).collect()
}

#[rstest]
#[case::no_brackets(".entry k{ret;}")]
#[case::a_break_after_the_name(".visible .entry k\n(\n)\n{ret;}")]
#[case::no_blanks(".visible.entry k(){ret;}")]
#[case::directives_without_brackets(".entry k .maxntid 32 {ret;}")]
#[case::many_directives(
    ".entry k() .reqntid 256, 1, 1 .minnctapersm 2 .noreturn .pragma \"nounroll\"; {ret;}"
)]
#[case::clusters(
    ".entry k() .explicitcluster .reqnctapercluster 2, 1, 1 .maxclusterrank 8 .blocksareclusters {ret;}"
)]
#[case::comments_inside(".entry /* .entry x( */ k // (\n(\n) {ret;}")]
#[case::blocks_in_the_body(".entry k {{{ret;}}}")]
#[case::closing_brace_in_a_comment(".entry k { // }\n /* } */ ret;}")]
#[case::string_with_a_brace(".entry k {.pragma \"}\"; ret;}")]
#[case::string_over_two_lines(".entry k {.pragma \"a\nb\"; ret;}")]
#[case::string_that_ends_in_a_backslash(".file 1 \"a\\\"\n.entry k {ret;}")]
#[case::a_comment_does_not_nest("/* a /* b */ .entry k {ret;}")]
#[case::lines_of_a_preprocessor("# 1 \"x.ptx\"\n  # 2\n.entry k {ret;}")]
#[case::windows_line_ends("\r\n.entry k\r\n{ret;}\r\n")]
#[case::a_declaration_first(".entry k(.param .b32 x);\n.entry k(.param .b32 x){ret;}")]
#[case::a_directive_of_a_later_version(
    ".future 3, \"x\";\n.later { .entry no {ret;} }\n.entry k {ret;}"
)]
#[case::other_letters_in_a_comment("// größer\n.entry k {ret;}")]
#[case::a_body_that_calls(
    ".entry k {call (r), f, (a), p; p: .callprototype (.param .b32 _) _ (.param .b32 _); @!%p1 bra $L; {ld.v2.f32 {%f1, %f2}, [%rd1+-8];}}"
)]
#[case::a_kernel_in_a_string(".file 1 \".entry x() {\"\n.entry k {ret;}")]
#[case::variables(
    ".visible .global .attribute(.managed, .unified(1, 2)) .align 8 .b8 v[2][4] = {{1,2,3,4},{5,6,7,8}}, w;\n.const .f32 c = 0f3F800000;\n.global .texref t;\n.global .samplerref s = {addr_mode_0 = wrap};\n.entry k {ret;}"
)]
#[case::sections(".section .debug_str { $L: .b8 1 }\n.entry k {ret;}")]
#[case::section_of_a_string(".section .comment \"release 1; of x\"\n.entry k {ret;}")]
fn one_kernel_is_found_in(#[case] body: &str) {
    assert_eq!(kernels(&module(body)), ["k"]);
}

#[rstest]
#[case(".param .b8 x[0x10]", ".b8", 16, 1)]
#[case(".param .b8 x[010]", ".b8", 8, 1)]
#[case(".param .b8 x[0b10]", ".b8", 2, 1)]
#[case(".param .b32 x[2U]", ".b32", 8, 4)]
#[case(".param .b8 x [ 8 ]", ".b8", 8, 1)]
#[case(".param .b8 .align 8 x[4]", ".b8", 4, 8)]
#[case(".param .align 16 .b8 x[48]", ".b8", 48, 16)]
#[case(".param .b128 x", ".b128", 16, 16)]
#[case(".param .f16 x", ".f16", 2, 2)]
#[case(".param .texref x", ".texref", 0, 1)]
#[case(".param .align 4 .u32 .ptr.global.align 16 x", ".u32", 4, 4)]
#[case(".param .u64 .ptr .shared .align 128 x", ".u64", 8, 8)]
#[case(".param .s16 $x", ".s16", 2, 2)]
fn a_parameter_is_read(
    #[case] declaration: &str,
    #[case] ty: &str,
    #[case] size: usize,
    #[case] align: usize,
) {
    let ptx = module(&format!(".entry k({declaration}) {{ret;}}"));
    let [read] = ptx.kernels()[0].parameters.as_slice() else {
        panic!("{ptx:?}")
    };
    assert_eq!((read.ty.as_str(), read.size, read.align), (ty, size, align));
}

#[test]
fn a_kernel_that_is_only_declared_is_none() {
    assert_eq!(kernels(&module(".visible .entry k();")), [] as [&str; 0]);
}

#[rstest]
#[case(".entry k {}", Linkage::Unmarked)]
#[case(".visible .entry k {}", Linkage::Visible)]
#[case(".weak .entry k {}", Linkage::Weak)]
fn linkage_is_as_marked(#[case] body: &str, #[case] linkage: Linkage) {
    assert_eq!(module(body).kernels()[0].linkage, linkage);
}

#[test]
fn functions_are_those_with_a_body_or_an_alias() {
    let ptx = module(
        ".func plain {ret;}
         .visible .func (.param .b32 r) full (.param .b64 a, .reg .b32 b) .noreturn {ret;}
         .func .attribute(.unified(1,2)) (.reg .b32 r) marked () {ret;}
         .func (.param .b32 r) declared (.param .b64 a);
         .visible .func other;
         .alias other, plain;",
    );
    assert_eq!(ptx.functions(), ["plain", "full", "marked", "other"]);
    let externs: Vec<_> = ptx.externs().iter().map(|e| e.name.as_str()).collect();
    assert_eq!(externs, ["declared"]);
}

#[test]
fn a_prototype_may_lack_its_semicolon() {
    let ptx = module(
        ".extern .func (.param .b32 r) f (.param .b64 a)
         .func g .noreturn
         .visible .entry k {ret;}
         .func h",
    );
    let externs: Vec<_> = ptx.externs().iter().map(|e| e.name.as_str()).collect();
    assert_eq!(externs, ["f", "g", "h"]);
    assert_eq!(kernels(&ptx), ["k"]);
}

#[test]
fn externs_are_listed_once_and_in_order() {
    let ptx = module(
        ".extern .func f (.param .b32 a);
         .extern .global .align 4 .u32 a, b[3];
         .extern .func f (.param .b32 a);
         .extern .shared .align 16 .b8 pool[];
         .extern .shared .b8 fixed[16];
         .extern .const .f32 c;
         .func g;",
    );
    let externs: Vec<_> = ptx
        .externs()
        .iter()
        .map(|e| (e.name.as_str(), e.kind))
        .collect();
    assert_eq!(
        externs,
        [
            ("f", ExternKind::Function),
            ("a", ExternKind::Variable),
            ("b", ExternKind::Variable),
            ("pool", ExternKind::DynamicShared),
            ("fixed", ExternKind::Variable),
            ("c", ExternKind::Variable),
            ("g", ExternKind::Function),
        ]
    );
}

#[test]
fn a_header_alone_is_ptx() {
    let ptx = Ptx::from_text(".version 8.10\n.target sm_90a, texmode_independent, debug").unwrap();
    assert_eq!(
        ptx.isa_version(),
        IsaVersion {
            major: 8,
            minor: 10
        }
    );
    assert!(ptx.isa_version() > IsaVersion { major: 8, minor: 9 });
    assert_eq!(ptx.target_options(), ["texmode_independent", "debug"]);
    assert_eq!(ptx.address_size(), 32);
    assert_eq!(ptx.producer(), None);
}

#[rstest]
#[case(".target sm_80\n.target sm_90, debug", Arch::SM_90)]
#[case(".target sm_90, debug\n.target sm_80", Arch::SM_80)]
fn of_several_targets_the_last_counts(#[case] targets: &str, #[case] last: Arch) {
    let ptx = Ptx::from_text(format!(".version 8.7\n{targets}\n.address_size 64")).unwrap();
    assert_eq!(ptx.target(), last);
    assert_eq!(ptx.target_options(), ["debug"]);
}

#[rstest]
#[case(
    "// Generated by LLVM NVPTX Back-End\n",
    Some("Generated by LLVM NVPTX Back-End")
)]
#[case("/* Generated by a tool */\n", Some("Generated by a tool"))]
#[case("// hand-written\n", None)]
fn another_producer_is_the_one_that_says_so(
    #[case] comments: &str,
    #[case] producer: Option<&str>,
) {
    let text = format!("{comments}{HEADER}// Cuda compilation tools, too late\n");
    assert_eq!(Ptx::from_text(text).unwrap().producer(), producer);
}
