//! Modern IR below compute_100 goes to the newer NVVM, or is refused with what to do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
#[path = "common/raw.rs"]
mod raw;

use common::{NEWEST, TARGET, ending, store, toolkit};
use cuda_program::nvvm::{Dialect, Options, Program};
use cuda_program::{Arch, Error, Ptx, Severity};
use rstest::rstest;

fn opaque() -> String {
    format!(
        "{TARGET}define ptx_kernel void @k(ptr %p) {{
  store i32 1, ptr %p
  ret void
}}
{}",
        ending(&[])
    )
}

/// Typed pointers, and an attribute that LLVM 7 does not know.
fn attribute() -> String {
    store("k", 1).replace(
        "(i32* %p) {",
        "(i32* %p) nounwind mustprogress willreturn {",
    )
}

fn freeze() -> String {
    store("k", 1).replace(
        "  store i32 1, i32* %p",
        "  %v = load i32, i32* %p\n  %w = freeze i32 %v\n  store i32 %w, i32* %p",
    )
}

fn program(version: &str, ir: impl AsRef<[u8]>) -> Program {
    let program = Program::new(&toolkit(version)).unwrap();
    program.add_module("k.ll", ir).unwrap();
    program
}

fn bitcode(file: &str) -> Vec<u8> {
    std::fs::read(format!(
        "{}/fixtures/bitcode/{file}",
        env!("CARGO_MANIFEST_DIR")
    ))
    .unwrap()
}

#[rstest]
#[case(opaque())]
#[case(attribute())]
#[case(freeze())]
fn modern_text_compiles_by_the_newer_nvvm_and_the_caller_is_told(#[case] ir: String) {
    let compiled: Ptx = program(NEWEST, &ir)
        .compile(&Options::new(Arch::SM_75))
        .unwrap();
    assert!(compiled.kernel("k").is_some());
    let note = &compiled.diagnostics()[0];
    assert_eq!(note.severity, Severity::Note);
    assert!(note.message.contains("-nvvm-latest"), "{note}");
}

#[test]
fn plain_text_stays_with_the_compiler_that_the_library_picks() {
    let compiled: Ptx = program(NEWEST, store("k", 1))
        .compile(&Options::new(Arch::SM_75))
        .unwrap();
    assert_eq!(compiled.diagnostics(), []);
    assert!(
        compiled.as_str().contains("NVVM 7.0.1"),
        "{}",
        compiled.as_str()
    );
}

#[rstest]
fn from_compute_100_on_modern_text_compiles_on_every_library_that_knows_it(
    #[values("12.9", "13.0", "13.5")] version: &str,
) {
    let compiled: Ptx = program(version, opaque())
        .compile(&Options::new(Arch::SM_100))
        .unwrap();
    assert!(compiled.kernel("k").is_some());
    assert_eq!(compiled.diagnostics(), []);
}

#[rstest]
#[case("12.0", opaque())]
#[case("12.4", attribute())]
#[case("12.9", freeze())]
#[case("13.0", opaque())]
fn without_a_newer_nvvm_modern_text_is_refused_with_line_and_remedy(
    #[case] version: &str,
    #[case] ir: String,
) {
    let error = program(version, &ir)
        .compile::<Ptx>(&Options::new(Arch::SM_80))
        .unwrap_err();
    let Error::Dialect(refused) = &error else {
        panic!("{error:?}")
    };
    assert_eq!(refused.module, "k.ll");
    assert!(
        refused.line.is_some_and(|line| (3..=5).contains(&line)),
        "{refused:?}"
    );
    assert_eq!(refused.reads, 7);
    let text = error.to_string();
    assert!(
        text.contains("compute_80") && text.contains("compute_100"),
        "{text}"
    );
}

#[test]
fn a_user_can_forbid_the_newer_nvvm() {
    let options = Options::new(Arch::SM_90).dialect(Dialect::Legacy);
    let error = program(NEWEST, opaque())
        .compile::<Ptx>(&options)
        .unwrap_err();
    assert!(matches!(error, Error::Dialect(_)), "{error:?}");
    assert!(error.to_string().contains("forbids"), "{error}");
}

#[test]
fn asking_for_the_newer_nvvm_where_there_is_none_is_an_error() {
    let options = Options::new(Arch::SM_90).dialect(Dialect::Latest);
    let error = program("13.0", store("k", 1))
        .compile::<Ptx>(&options)
        .unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error:?}");
}

#[rstest]
#[case("every.llvm16.bc", "LLVM16")]
#[case("every.llvm19.bc", "LLVM19")]
fn the_error_names_the_llvm_that_wrote_the_bitcode(#[case] file: &str, #[case] producer: &str) {
    let error = program("12.9", bitcode(file))
        .compile::<Ptx>(&Options::new(Arch::SM_80))
        .unwrap_err();
    assert!(matches!(error, Error::Dialect(_)), "{error:?}");
    assert!(error.to_string().contains(producer), "{error}");
}

#[test]
fn bitcode_of_a_newer_llvm_with_typed_pointers_is_tried_and_its_failure_explained() {
    let compiled =
        program("13.0", bitcode("every.llvm14.bc")).compile::<Ptx>(&Options::new(Arch::SM_80));
    match compiled {
        Ok(ptx) => {
            let warned = ptx
                .diagnostics()
                .iter()
                .any(|d| d.severity == Severity::Warning && d.message.contains("LLVM 7"));
            assert!(warned, "{:?}", ptx.diagnostics());
        }
        Err(Error::Dialect(refused)) => {
            assert!(!refused.log.is_empty());
            assert!(refused.producer.is_some_and(|p| p.starts_with("LLVM14")));
        }
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn the_errors_read_well() {
    let error = program("13.0", opaque())
        .compile::<Ptx>(&Options::new(Arch::SM_90))
        .unwrap_err();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    insta::assert_snapshot!(error.to_string().replace(root, ""), @"k.ll:3: the type `ptr` is newer than LLVM 7, whose IR libNVVM 13.0 (target/toolkits/13.0/nvidia/cu13/lib/libnvvm.so.4) reads for compute_90, and it has no newer NVVM; compile for compute_100 or newer, use a libNVVM with the newer NVVM (CUDA 13.5), or write the module for LLVM 7, with typed pointers");
}

/// Each word by which the reader knows modern text, where it belongs, beside one that LLVM 7 knows.
#[rstest]
#[case::types("declare void @f(WORD)", "i32", "ptr bfloat x86_amx target(\"x\")")]
#[case::vectors("declare void @f(<WORD 4 x i32>)", "", "vscale,x")]
#[case::instructions(
    "define i32 @f(i32 %x) { %y = WORD i32 %x, 1 ret i32 %y }",
    "add",
    "freeze fneg"
)]
#[case::constants("@x = constant i32 WORD", "undef", "poison")]
#[case::flags(
    "define i32 @f(i32 %x) { %y = add WORD i32 %x, 1 ret i32 %y }",
    "nuw",
    "disjoint nneg samesign nusw"
)]
#[case::atomics(
    "define i32 @f(i32* %p) { %y = atomicrmw WORD i32* %p, i32 1 seq_cst ret i32 %y }",
    "umax",
    "uinc_wrap udec_wrap usub_cond usub_sat fmaximum fminimum"
)]
#[case::function_attributes(
    "define void @f() WORD { ret void }",
    "nounwind",
    "allockind(\"alloc\") coro_elide_safe disable_sanitizer_instrumentation fn_ret_thunk_extern \
     hot hybrid_patchable memory(none) mustprogress nocallback nocreateundeforpoison \
     nodivergencesource nofree nomerge noprofile nosanitize_bounds nosanitize_coverage nosync \
     null_pointer_is_valid optdebug presplitcoroutine sanitize_alloc_token sanitize_memtag \
     sanitize_numerical_stability sanitize_realtime sanitize_realtime_blocking sanitize_type \
     skipprofile speculative_load_hardening vscale_range(1,2) willreturn uwtable(sync)"
)]
#[case::parameter_attributes(
    "declare void @f(i32* WORD %p)",
    "nocapture",
    "allocalign allocptr byref(i32) captures(none) dead_on_return dead_on_unwind \
     elementtype(i32) immarg initializes((0,4)) noext nofpclass(nan) noundef preallocated(i32) \
     swiftasync writable byval(i32) sret(i32) inalloca(i32)"
)]
#[case::variables(
    "@x = addrspace(1) global i32 0, WORD \"a\"",
    "section",
    "partition code_model"
)]
#[case::conventions(
    "declare WORD void @f()",
    "fastcc",
    "tailcc cfguard_checkcc swifttailcc"
)]
fn a_word_that_counts_as_modern_is_one_that_llvm_7_refuses(
    #[case] template: &str,
    #[case] known: &str,
    #[case] words: &str,
    #[values("12.0", "13.5")] version: &str,
) {
    use cuda_program::nvvm::reader::look;

    let toolkit = toolkit(version);
    let module = |word: &str| {
        let word = word.replace(',', " ");
        format!(
            "{TARGET}{}\n{}",
            template.replace("WORD", &word),
            ending(&[])
        )
    };
    let good = module(known);
    let (code, log) = raw::nvvm_compile(&toolkit, good.as_bytes(), c"-arch=compute_75");
    assert_eq!(code, 0, "{good}{log}");
    assert_eq!(look(good.as_bytes()).unwrap().modern, None);
    for word in words.split_whitespace() {
        let modern = module(word);
        let (code, _) = raw::nvvm_compile(&toolkit, modern.as_bytes(), c"-arch=compute_75");
        assert_eq!(code, 9, "LLVM 7 takes {modern}");
        let found = look(modern.as_bytes()).unwrap().modern;
        let first = word.split(['(', ',']).next().unwrap();
        assert!(
            found
                .as_ref()
                .is_some_and(|found| found.what.contains(first)),
            "{word}: {found:?}"
        );
    }
}
