//! What the reader takes from texts, those that no compiler writes included.

use rstest::rstest;

use super::super::info::{ModuleInfo, NvvmIrVersion};
use super::super::symbol::{Linkage, Symbol, SymbolKind};
use super::read;

type Pair = (u32, u32);

fn kernels(info: &ModuleInfo) -> Vec<String> {
    info.kernels()
        .map(|k| k.name_lossy().into_owned())
        .collect()
}

fn only(text: &str) -> Symbol {
    let info = read(text.as_bytes());
    assert!(info.certain, "{text}");
    assert_eq!(info.symbols.len(), 1, "{:?}", info.symbols);
    info.symbols.into_iter().next().unwrap()
}

#[rstest]
#[case("define void @f() { ret void }", "f", true, Linkage::External)]
#[case("declare void @f()", "f", false, Linkage::External)]
#[case("declare !dbg !4 void @f()", "f", false, Linkage::External)]
#[case(
    "declare extern_weak i32 @f(i8*, ...)",
    "f",
    false,
    Linkage::ExternWeak
)]
#[case(
    "define private hidden fastcc noalias i8* @f() { ret i8* null }",
    "f",
    true,
    Linkage::Private
)]
#[case(
    "define linkonce_odr dso_local dllexport signext i8 @\"f g\"(i8 %x) local_unnamed_addr #0 { ret i8 %x }",
    "f g",
    true,
    Linkage::LinkOnceOdr
)]
#[case(
    "define available_externally void ()* @f() { ret void ()* null }",
    "f",
    true,
    Linkage::AvailableExternally
)]
#[case(
    "define { i32, [2 x float] } @f() { ret { i32, [2 x float] } undef }",
    "f",
    true,
    Linkage::External
)]
#[case(
    "define <{ i8, i32 }> addrspace(1)* @f({ i8 } %a) { unreachable }",
    "f",
    true,
    Linkage::External
)]
#[case(
    "define void @f(i8* byval align 8 %p) section \"s }\" comdat($c) align 16 gc \"g\" { ret void }",
    "f",
    true,
    Linkage::External
)]
#[case(
    "define void @f() prefix { i32, i8 } { i32 1, i8 2 } prologue i8 7 personality i32 (...)* @g { ret void }",
    "f",
    true,
    Linkage::External
)]
#[case(
    "define void @f() prefix i32* getelementptr inbounds (i32, i32* @x, i32 1) personality i8* null { ret void }",
    "f",
    true,
    Linkage::External
)]
#[case(
    "define void @f() prefix <2 x i32> <i32 1, i32 2> !dbg !1 !x !{!2} { ret void }",
    "f",
    true,
    Linkage::External
)]
#[case(
    "define weak_odr void @\"\\22q\\\\\"() { ret void }",
    "\"q\\",
    true,
    Linkage::WeakOdr
)]
#[case("define void @-$._9() { ret void }", "-$._9", true, Linkage::External)]
fn a_function_is_read(
    #[case] text: &str,
    #[case] name: &str,
    #[case] defined: bool,
    #[case] linkage: Linkage,
) {
    let symbol = only(text);
    assert_eq!(symbol.kind, SymbolKind::Function);
    assert_eq!(symbol.name_lossy(), name);
    assert_eq!((symbol.defined, symbol.linkage), (defined, linkage));
}

#[rstest]
#[case("@x = global i32 0", SymbolKind::Variable, true, Linkage::External)]
#[case(
    "@x = external global i32",
    SymbolKind::Variable,
    false,
    Linkage::External
)]
#[case(
    "@x = external addrspace(4) externally_initialized constant [4 x i8], align 4",
    SymbolKind::Variable,
    false,
    Linkage::External
)]
#[case(
    "@x = extern_weak global i32",
    SymbolKind::Variable,
    false,
    Linkage::ExternWeak
)]
#[case(
    "@x = available_externally constant i32 3",
    SymbolKind::Variable,
    true,
    Linkage::AvailableExternally
)]
#[case(
    "@x = internal thread_local(initialexec) unnamed_addr addrspace(3) global [2 x { i32, float }] [{ i32, float } zeroinitializer, { i32, float } undef], section \"s\", comdat, align 4, !dbg !3",
    SymbolKind::Variable,
    true,
    Linkage::Internal
)]
#[case(
    "@x = private constant [3 x i8] c\"}{\\00\"",
    SymbolKind::Variable,
    true,
    Linkage::Private
)]
#[case(
    "@x = common dso_local global i8* null",
    SymbolKind::Variable,
    true,
    Linkage::Common
)]
#[case(
    "@x = appending global [1 x i8*] [i8* bitcast (void ()* @f to i8*)], section \"llvm.metadata\"",
    SymbolKind::Variable,
    true,
    Linkage::Appending
)]
#[case(
    "@x = weak hidden alias void (), void ()* @f",
    SymbolKind::Alias,
    true,
    Linkage::Weak
)]
#[case(
    "@x = ifunc void (), void ()* ()* @r",
    SymbolKind::Ifunc,
    true,
    Linkage::External
)]
fn a_variable_is_read(
    #[case] text: &str,
    #[case] kind: SymbolKind,
    #[case] defined: bool,
    #[case] linkage: Linkage,
) {
    let symbol = only(text);
    assert_eq!(symbol.name_lossy(), "x");
    assert_eq!(
        (symbol.kind, symbol.defined, symbol.linkage),
        (kind, defined, linkage)
    );
}

/// The names that matter stand in comments, strings, bodies and names of other things too.
#[test]
fn names_in_comments_and_strings_do_not_count() {
    let text = r#"
; define void @a() { ret void }
source_filename = "declare void @b()"
module asm "define void @c() {"
@s = constant [21 x i8] c"define void @d() { }\00"
%"define void @e() {" = type { i32 }
$"declare void @g()" = comdat any
define void @f() {
entry: ; } define void @h() {
  call void asm sideeffect "} define void @i() {", ""()
  br label %"}"
"}":
  ret void
}
attributes #0 = { "declare void @j()"="}" }
!0 = !{!"void @k", !"kernel", i32 1}
!nvvm.annotation = !{!1}
!1 = !{void ()* @f, !"kernel", i32 1}
"#;
    let info = read(text.as_bytes());
    let names: Vec<_> = info.symbols.iter().map(|s| s.name_lossy()).collect();
    assert_eq!(names, ["s", "f"]);
    assert!(info.certain);
    assert_eq!(info.kernels().count(), 0);
}

const FUNCTIONS: &str = "define void @k(i32* %p) { ret void }\ndefine void @other() { ret void }\n";

#[rstest]
#[case("!0 = !{void (i32*)* @k, !\"kernel\", i32 1}\n!nvvm.annotations = !{!0}", &["k"])]
#[case("!nvvm.annotations = !{!7, !0}\n!0 = !{ptr @k, !\"kernel\", i32 1}\n!7 = !{ptr @other, !\"kernel\", i32 0}", &["k"])]
#[case("!nvvm.annotations = !{!0}\n!0 = !{void (i32*)* @\"\\6B\", !\"maxntidx\", i32 1, !\"kern\\65l\", i32 1}", &["k"])]
#[case("!nvvm.annotations = !{!0}\n!nvvm.annotations = !{!1}\n!0 = !{void (i32*)* @k, !\"kernel\", i32 1}\n!1 = distinct !{void ()* @other, !\"kernel\", i64 1}", &["k", "other"])]
#[case("!nvvm\\2eannotations = !{!0}\n!0 = !{void (i32*)* @k, !\"kernel\", i32 1}", &["k"])]
#[case("!nvvm.annotations = !{!0, !0, !0}\n!0 = !{void (i32*)* @k, !\"kernel\", i32 1}", &["k"])]
#[case("!nvvm.annotations = !{!0}\n!0 = !{null, !\"kernel\", i32 1}", &[])]
#[case("!nvvm.annotations = !{!0}\n!0 = !{void (i32*)* @k, !\"kernel\", i32 0}", &[])]
#[case("!nvvm.annotations = !{!0}\n!0 = !{void (i32*)* @k, !\"Kernel\", i32 1}", &[])]
#[case("!nvvm.annotations = !{!0}\n!0 = !{void (i32*)* @k, !\"align\", i32 1, !\"x\", !\"kernel\"}", &[])]
#[case("!nvvm.annotations = !{!0}\n!0 = !{}", &[])]
#[case("!nvvm.annotations = !{}", &[])]
#[case("!0 = !{void (i32*)* @k, !\"kernel\", i32 1}", &[])]
fn annotations_name_the_kernels(#[case] metadata: &str, #[case] expected: &[&str]) {
    for text in [
        format!("{FUNCTIONS}{metadata}"),
        format!("{metadata}\n{FUNCTIONS}"),
    ] {
        let info = read(text.as_bytes());
        assert_eq!(kernels(&info), expected, "{text}");
        assert!(info.certain, "{text}");
    }
}

#[rstest]
#[case("!{!\"k\", !\"kernel\", i32 1}", "does not begin with a function")]
#[case("!{i32 1, !\"kernel\", i32 1}", "does not begin with a function")]
#[case(
    "!{void (i32*)* @k, !\"kernel\", !\"1\"}",
    "\"kernel\" of `k` is no number"
)]
#[case(
    "!{void (i32*)* @k, !\"kernel\", i8* null}",
    "\"kernel\" of `k` is no number"
)]
#[case("!{void (i32*)* @k, !\"kernel\"}", "\"kernel\" of `k` has no value")]
#[case(
    "!{void (i32*)* @k, !\"kernel\", i32 1, !\"align\"}",
    "\"align\" of `k` has no value"
)]
#[case(
    "!{void (i32*)* @k, i32 1, !\"kernel\"}",
    "does not begin with its name"
)]
#[case("!{}", "a node is empty")]
fn a_malformed_annotation_is_told_of(#[case] node: &str, #[case] says: &str) {
    let info = read(format!("{FUNCTIONS}!nvvm.annotations = !{{!0}}\n!0 = {node}").as_bytes());
    let problem = info.annotations_malformed.unwrap();
    assert!(problem.what.contains(says), "{problem:?}");
}

#[rstest]
#[case("i32 1", true)]
#[case("i32 2", true)]
#[case("i32 -1", true)]
#[case("i1 true", true)]
#[case("i32 u0x1", true)]
#[case("i32 add (i32 0, i32 1)", true)]
#[case("i32 0", false)]
#[case("i1 false", false)]
fn any_value_but_zero_makes_a_kernel(#[case] value: &str, #[case] kernel: bool) {
    let node = format!("!{{void (i32*)* @k, !\"kernel\", {value}}}");
    let info = read(format!("{FUNCTIONS}!nvvm.annotations = !{{!0}}\n!0 = {node}").as_bytes());
    assert_eq!(kernels(&info).len(), usize::from(kernel));
    assert_eq!(info.annotations_malformed, None);
}

#[rstest]
#[case("!nvvm.annotations = !{!0}")]
#[case("!nvvm.annotations = !{!0}\n!0 = !{void ()* @absent, !\"kernel\", i32 1}")]
#[case(
    "!nvvm.annotations = !{!0}\n!0 = !{i8* bitcast (void (i32*)* @k to i8*), !\"kernel\", i32 1}"
)]
#[case("!nvvm.annotations = !{!DIExpression()}")]
#[case("!nvvm.annotations = !{!0}\n!0 = !DIBasicType(name: \"kernel\")")]
fn an_annotation_that_cannot_be_followed_makes_the_reader_uncertain(#[case] metadata: &str) {
    let info = read(format!("{FUNCTIONS}{metadata}").as_bytes());
    assert_eq!(kernels(&info), [""; 0]);
    assert!(!info.certain);
    assert_eq!(info.symbols.len(), 2);
}

#[rstest]
#[case("define ptx_kernel void @k() { ret void }", true)]
#[case("define internal cc 71 void @k() { ret void }", true)]
#[case("define cc71 void @k() { ret void }", true)]
#[case("declare ptx_kernel void @k()", true)]
#[case("define ptx_device void @k() { ret void }", false)]
#[case("define cc 7 void @k() { call cc 71 void @x() ret void }", false)]
fn the_calling_convention_makes_a_kernel(#[case] text: &str, #[case] kernel: bool) {
    assert_eq!(only(text).kernel, kernel);
}

#[test]
fn a_function_with_a_number_for_a_name_can_be_a_kernel() {
    let text = "define void @0() { ret void }\n!nvvm.annotations = !{!0}\n!0 = !{void ()* @0, !\"kernel\", i32 1}";
    let symbol = only(text);
    assert!(symbol.kernel && symbol.name.is_empty());
}

#[rstest]
#[case("!nvvmir.version = !{!0}\n!0 = !{i32 2, i32 0}", Some(((2, 0), None)), false)]
#[case("!0 = !{i32 2, i32 0, i32 3, i32 2}\n!nvvmir.version = !{!0}", Some(((2, 0), Some((3, 2)))), false)]
#[case("!nvvmir.version = !{!0, !1}\n!0 = !{i32 2, i32 0}\n!1 = !{i32 2, i32 0, i32 3, i32 1}", Some(((2, 0), Some((3, 1)))), false)]
#[case(
    "!nvvmir.version = !{!0, !1}\n!0 = !{i32 2, i32 0}\n!1 = !{i32 1, i32 6}",
    None,
    true
)]
#[case("!nvvmir.version = !{!0}\n!0 = !{i32 2, i32 0, i32 3}", None, true)]
#[case("!nvvmir.version = !{!0}\n!0 = !{null, null}", None, true)]
#[case("!nvvmir.version = !{!0}\n!0 = !{i32 -2, i32 0}", None, true)]
#[case("!nvvmir.version = !{!0}", None, true)]
#[case("!nvvmir.version = !{}", None, false)]
#[case("; !nvvmir.version = !{!0}\n!0 = !{i32 2, i32 0}", None, false)]
fn the_version_is_read(
    #[case] text: &str,
    #[case] version: Option<(Pair, Option<Pair>)>,
    #[case] malformed: bool,
) {
    let info = read(text.as_bytes());
    let version = version.map(|(ir, debug)| NvvmIrVersion::new(ir, debug));
    assert_eq!(
        (info.nvvmir_version, info.nvvmir_version_malformed.is_some()),
        (version, malformed)
    );
}

#[rstest]
#[case("define void @k(ptr %p) {\n ret void\n}", "the type `ptr`", 1)]
#[case(
    "define void @k(i32* %p)\nnounwind mustprogress {\n ret void\n}",
    "the attribute `mustprogress`",
    2
)]
#[case(
    "attributes #0 = { nounwind\n\"x\"=\"y\" memory(none) }",
    "the attribute `memory`",
    2
)]
#[case(
    "define void @k(i32* byval(i32) %p) {\n ret void\n}",
    "the attribute `byval` with parentheses",
    1
)]
#[case(
    "define i32 @k(i32 %a) {\nb:\n freeze i32 %a\n ret i32 %a\n}",
    "the instruction `freeze`",
    3
)]
#[case(
    "define void @k() {\n #dbg_value(i32 0, !1, !DIExpression(), !2)\n ret void\n}",
    "the debug record `#dbg_value`",
    2
)]
#[case("!0 = distinct !DIAssignID()", "the metadata `!DIAssignID`", 1)]
#[case("declare void @k(target(\"x\"))", "the type `target`", 1)]
fn a_newer_word_is_shown_with_its_line(#[case] text: &str, #[case] what: &str, #[case] line: u32) {
    let modern = read(text.as_bytes()).modern.unwrap();
    assert_eq!((modern.what.as_str(), modern.line), (what, Some(line)));
}

#[rstest]
#[case("; ptr freeze\ntarget triple = \"ptr\"")]
#[case("define void @ptr(i32* byval %freeze) {\nptr:\n br label %memory\nmemory:\n ret void\n}")]
#[case("%ptr = type { i32 }\n$hot = comdat any\n!range = !{!0}\n!0 = !{!\"ptr\"}")]
#[case("!0 = !DIDerivedType(tag: DW_TAG_pointer_type, name: \"ptr\", hot: ptr, range: !1)")]
#[case("define void @k(i32* sret %p, i32* inalloca %q) uwtable { ret void }")]
#[case("target datalayout = \"e\"\ntarget triple = \"ptr\"")]
fn a_word_that_is_no_keyword_proves_nothing(#[case] text: &str) {
    let info = read(text.as_bytes());
    assert_eq!(info.modern, None);
    assert!(!info.opaque_pointers);
}

#[rstest]
#[case("define void @f() {\n ret void\n")]
#[case("define void @f() {\n call void @g(\ndefine void @h() { ret void }")]
#[case("@x = constant [3 x i8] c\"abc")]
#[case("define void @f")]
#[case("declare\ndefine")]
#[case("}")]
#[case("words that mean nothing")]
#[case("global i32 0")]
#[case("target triple nonsense")]
#[case("@x @y")]
#[case("define void @f() prefix")]
#[case("!nvvm.annotations = !{!0,")]
#[case("\"")]
fn text_that_is_lost_is_no_error_but_uncertain(#[case] text: &str) {
    assert!(!read(text.as_bytes()).certain);
}

#[test]
fn what_follows_a_lost_entity_is_still_read() {
    let text = "define void @f() {\n call void @g(\ndefine ptx_kernel void @h() { ret void }";
    assert_eq!(kernels(&read(text.as_bytes())), ["h"]);
}

#[test]
fn odd_bytes_and_line_ends_are_taken_as_they_are() {
    let text = b"\xef\xbb\xbf; caf\xe9\r\ntarget triple = \"nvptx64\xff\"\r\n@\"\xe9\" = global i32 0 ; \xff\r\ndeclare void @f()\0";
    let info = read(text);
    assert_eq!(info.triple.as_deref(), Some("nvptx64\u{fffd}"));
    assert_eq!(info.symbols[0].name, b"\xe9");
    assert_eq!(info.symbols[1].line, Some(4));
    assert!(info.certain);
}

#[test]
fn deep_brackets_and_long_lists_cost_no_stack() {
    let deep = "[".repeat(200_000);
    assert!(!read(format!("@x = global {deep}").as_bytes()).certain);
    let nodes = "!0, ".repeat(50_000);
    let text = format!(
        "!nvvm.annotations = !{{{nodes}!0}}\n!0 = !{{{}null}}",
        "null, ".repeat(50_000)
    );
    assert!(read(text.as_bytes()).certain);
}
