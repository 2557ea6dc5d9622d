//! Bad input is a clear error, and the program can be used afterwards.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{NEWEST, TARGET, ending, store, toolkit};
use cuda_program::nvvm::{Options, Program, Repair};
use cuda_program::{Arch, Error, Ptx};
use rstest::rstest;

/// Tries `module`, as it is, as the only one, then goes on with a good one.
fn refusal(module: &[u8]) -> Error {
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    let options = Options::new(Arch::SM_90).repair(Repair::Off);
    let error = match program.add_module("bad", module) {
        Err(error) => {
            assert!(program.modules().is_empty(), "a refused module stayed");
            error
        }
        Ok(()) => {
            let error = program.compile::<Ptx>(&options).unwrap_err();
            program.remove_module("bad").unwrap();
            error
        }
    };
    program.add_module("good", store("k", 7)).unwrap();
    let ptx = program.compile::<Ptx>(&options).unwrap();
    let fresh = Program::new(&toolkit(NEWEST)).unwrap();
    fresh.add_module("good", store("k", 7)).unwrap();
    assert_eq!(
        ptx.as_str(),
        fresh.compile::<Ptx>(&options).unwrap().as_str()
    );
    error
}

fn bitcode() -> Vec<u8> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/fixtures/bitcode/every.llvm7.bc"
    );
    std::fs::read(path).unwrap()
}

#[rstest]
#[case::empty(b"".to_vec(), "empty")]
#[case::blank(b" \n\t\n".to_vec(), "empty")]
#[case::binary(vec![0xff, 0xfe, 0, 1, 2, 3], "binary")]
#[case::truncated(bitcode()[..1000].to_vec(), "bitcode")]
#[case::ptx(b".version 8.0\n.target sm_90\n".to_vec(), "PTX")]
#[case::lto_ir(b"\xed\x43\x4e\x7f0000000000000000000000000000".to_vec(), "LTO IR")]
#[case::elf(b"\x7fELF\x02\x01\x01\x00".to_vec(), "ELF")]
#[case::lfs(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n".to_vec(), "Git LFS")]
#[case::no_version(store("k", 1).replace("!nvvmir.version", "!other").into_bytes(), "nvvmir.version")]
#[case::comment(b"; nothing here\n".to_vec(), "nothing to compile")]
#[case::malformed_version(
    store("k", 1).replace("!{i32 2, i32 0}", "!{null, null}").into_bytes(),
    "nvvmir.version"
)]
#[case::layout_p0_32(
    store("k", 1).replace("e-p:64:64:64", "e-p0:32:32").into_bytes(),
    "32-bit pointers"
)]
#[case::annotation_empty(
    store("k", 1).replace("!{void (i32*)* @k, !\"kernel\", i32 1}", "!{}").into_bytes(),
    "a node is empty"
)]
#[case::annotation_odd(
    store("k", 1).replace("i32 1}", "i32 1, !\"maxntidx\"}").into_bytes(),
    "\"maxntidx\" of `k` has no value"
)]
#[case::annotation_without_value(
    store("k", 1).replace("!\"kernel\", i32 1}", "!\"kernel\"}").into_bytes(),
    "\"kernel\" of `k` has no value"
)]
#[case::annotation_of_text(
    store("k", 1).replace("i32 1}", "!\"1\"}").into_bytes(),
    "is no number"
)]
#[case::annotation_of_no_function(
    store("k", 1).replace("!{void (i32*)* @k, ", "!{!\"k\", ").into_bytes(),
    "does not begin with a function"
)]
#[case::no_triple(
    store("k", 1).replace("target triple", "; target triple").into_bytes(),
    "no target triple"
)]
#[case::no_layout(
    store("k", 1).replace("target datalayout", "; target datalayout").into_bytes(),
    "e-p:64:64:64-i1:8:8"
)]
#[case::triple_32(
    store("k", 1).replace("nvptx64-nvidia-cuda", "nvptx-nvidia-cuda").into_bytes(),
    "nvptx64-nvidia-cuda"
)]
#[case::layout_32(store("k", 1).replace("e-p:64:64:64", "e-p:32:32:32").into_bytes(), "32-bit pointers")]
#[case::kernel_that_returns(
    store("k", 1)
        .replace("define void @k", "define i32 @k")
        .replace("ret void", "ret i32 0")
        .replace("void (i32*)*", "i32 (i32*)*")
        .into_bytes(),
    "returns a value"
)]
#[case::name_with_points(
    store("k", 1).replace("@k", "@\"a.b\"").into_bytes(),
    "PTX cannot spell the name `a.b` of a kernel"
)]
#[case::host_triple(
    store("k", 1).replace("nvptx64-nvidia-cuda", "x86_64-unknown-linux-gnu").into_bytes(),
    "x86_64"
)]
fn a_module_that_is_none_is_refused_before_the_library_sees_it(
    #[case] module: Vec<u8>,
    #[case] says: &str,
) {
    let error = refusal(&module);
    assert!(matches!(error, Error::InvalidInput(_)), "{error:?}");
    assert!(error.to_string().contains(says), "{error}");
}

#[rstest]
#[case::syntax(
    format!("{TARGET}define garbage\n{}", ending(&[])),
    9,
    "bad:3"
)]
#[case::garbage("this is no IR".to_owned(), 9, "bad:1")]
#[case::old_version(store("k", 1).replace("!{i32 2, i32 0}", "!{i32 1, i32 6}"), 3, "2.0")]
#[case::unknown_function(
    store("k", 1).replace("ret void", "call void @missing()\n  ret void"),
    9,
    "missing"
)]
fn what_the_library_refuses_comes_back_with_code_and_log(
    #[case] module: String,
    #[case] code: i32,
    #[case] says: &str,
) {
    let error = refusal(module.as_bytes());
    assert_eq!(error.raw_code(), Some(code), "{error:?}");
    assert!(!error.log().unwrap().is_empty());
    assert!(error.to_string().contains(says), "{error}");
    assert!(!error.diagnostics().is_empty());
}

#[test]
fn a_log_that_is_no_utf8_is_escaped_and_kept() {
    let mut module = store("k", 1).into_bytes();
    let at = module.windows(9).position(|w| w == b"i32 1, i3").unwrap();
    module.splice(at..at, b"@\"na\xff\xfeme\", ".iter().copied());
    let error = refusal(&module);
    assert_eq!(error.raw_code(), Some(9), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("bad:4"), "{text}");
}

#[test]
fn a_name_that_no_message_can_show_is_refused() {
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    for name in ["a\0b", "", "a\nb"] {
        let error = program.add_module(name, store("k", 1)).unwrap_err();
        assert!(error.to_string().contains("NUL"), "{error}");
    }
    program.add_module("ab", store("k", 1)).unwrap();
}

#[test]
fn a_program_without_modules_is_told_what_it_lacks() {
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    let options = Options::new(Arch::SM_90);
    let error = program.compile::<Ptx>(&options).unwrap_err();
    assert!(error.to_string().contains("add_module"), "{error}");
    let error = program.verify(&options).unwrap_err();
    assert!(error.to_string().contains("no module"), "{error}");
    program.add_lazy_module("lazy", bitcode()).unwrap();
    let error = program.compile::<Ptx>(&options).unwrap_err();
    assert!(error.to_string().contains("lazy modules alone"), "{error}");
}

#[test]
fn a_lazy_module_of_text_is_refused() {
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    let error = program.add_lazy_module("lazy", store("k", 1)).unwrap_err();
    assert!(error.to_string().contains("bitcode"), "{error}");
}

#[test]
fn every_cut_of_a_lazy_module_is_refused() {
    let whole = bitcode();
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("k", store("k2", 1)).unwrap();
    for length in 0..whole.len() {
        program
            .add_lazy_module("lazy", &whole[..length])
            .expect_err(&format!("the first {length} bytes were taken"));
    }
    program.add_lazy_module("lazy", &whole).unwrap();
    program.compile::<Ptx>(&Options::new(Arch::SM_90)).unwrap();
}

#[test]
fn a_symbol_defined_twice_is_named_and_the_program_recovers() {
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("a", store("k", 1)).unwrap();
    program.add_module("b", store("k", 2)).unwrap();
    for arch in [Arch::SM_90, Arch::SM_100] {
        let error = program.compile::<Ptx>(&Options::new(arch)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "b:3: it defines `k`, which a defines too; take one of them out, or make both \
             `linkonce_odr` where they are equal and `internal` where they are not"
        );
    }
    program.remove_module("b").unwrap();
    program.compile::<Ptx>(&Options::new(Arch::SM_90)).unwrap();
}

#[test]
fn two_modules_of_one_name_are_refused() {
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("k", store("a", 1)).unwrap();
    let error = program.add_module("k", store("b", 1)).unwrap_err();
    assert!(error.to_string().contains("replace_module"), "{error}");
    let error = program.remove_module("m").unwrap_err();
    assert!(error.to_string().contains("it has k"), "{error}");
}

#[test]
fn a_module_of_20_mb_compiles() {
    use std::fmt::Write;
    let mut module = String::from(TARGET);
    module.push_str("@table = addrspace(1) constant [2000000 x i32] [");
    for n in 0..2_000_000 {
        let _ = write!(module, "{}i32 {}", if n == 0 { "" } else { "," }, n % 1000);
    }
    module.push_str("]\n");
    module.push_str(&store("k", 7)[TARGET.len()..]);
    module.push_str(&";".repeat((20 << 20) - module.len().min(20 << 20)));
    assert!(module.len() >= 20 << 20);
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("large", &module).unwrap();
    let ptx: Ptx = program.compile(&Options::new(Arch::SM_90)).unwrap();
    assert!(ptx.kernel("k").is_some());
}

/// A module with a constant expression that is this deep.
fn nested(depth: usize) -> String {
    let constant = format!(
        "{}i64 ptrtoint (i32 addrspace(1)* @g to i64){}",
        "i64 add (".repeat(depth),
        ", i64 1)".repeat(depth)
    );
    format!(
        "{TARGET}@g = addrspace(1) global i32 0
define void @k(i64* %p) {{
  store {constant}, i64* %p
  ret void
}}
{}",
        ending(&[("void (i64*)*", "k")])
    )
}

#[rstest]
#[case("12.0", Arch::SM_80)]
#[case("13.5", Arch::SM_80)]
#[case("13.5", Arch::SM_100)]
fn deeply_nested_constants_compile_on_a_small_thread(#[case] version: &str, #[case] arch: Arch) {
    let program = Program::new(&toolkit(version)).unwrap();
    program.add_module("deep", nested(79_000)).unwrap();
    let ptx = std::thread::Builder::new()
        .stack_size(1 << 20)
        .spawn(move || program.compile::<Ptx>(&Options::new(arch)).unwrap())
        .unwrap()
        .join()
        .unwrap();
    assert!(ptx.kernel("k").is_some());
}

#[test]
fn what_no_stack_holds_is_refused_before_the_library_sees_it() {
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    let error = program.add_module("deep", nested(1_000_000)).unwrap_err();
    assert!(error.to_string().contains("deep in each other"), "{error}");
}

#[rstest]
#[case::misspelt_intrinsic(
    store("k", 1)
        .replace("define", "declare i32 @llvm.nvvm.read.ptx.sreg.tidd.x()\ndefine")
        .replace(
            "store i32 1",
            "%t = call i32 @llvm.nvvm.read.ptx.sreg.tidd.x()\n  store i32 %t",
        ),
    "does not know llvm.nvvm.read.ptx.sreg.tidd.x"
)]
fn what_compiles_to_something_else_is_an_error_that_names_the_cause(
    #[case] module: String,
    #[case] says: &str,
) {
    let error = refusal(module.as_bytes());
    assert!(error.to_string().contains(says), "{error}");
    assert!(matches!(error, Error::WrongOutput { .. }), "{error}");
}

#[test]
fn a_message_of_several_lines_is_shown_whole() {
    let short = store("k", 1).replace(
        &TARGET[..TARGET.find('\n').unwrap()],
        "target datalayout = \"e-i64:64-i128:128-v16:16-v32:32-n16:32:64\"",
    );
    let program = Program::new(&toolkit("12.4")).unwrap();
    program.add_module("k", short).unwrap();
    let error = program
        .compile::<Ptx>(&Options::new(Arch::SM_80).repair(Repair::Off))
        .unwrap_err();
    let text = error.to_string();
    assert!(text.contains("must be: 64-bit: e-p:64:64:64"), "{text}");
    assert!(text.contains("target datalayout = "), "{text}");
    assert_eq!(format!("{error:?}"), format!("{error:#}"));
}
