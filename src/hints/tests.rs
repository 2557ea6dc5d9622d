//! Each row on a log as the library wrote it; `tests/hints.rs` asks the libraries themselves.

use std::path::PathBuf;

use super::*;
use rstest::rstest;

fn library(name: &str) -> Library {
    Library {
        name: name.to_owned(),
        version: Some("13.5".to_owned()),
        path: PathBuf::from("/cuda/lib"),
    }
}

fn hint(speaker: Speaker, stage: Stage, code: &str, log: &str) -> Option<String> {
    let library = library("the library");
    let said = Said::new(speaker, stage, (1, code), log, &library);
    Said {
        arch: Some(Arch::SM_90),
        ..said
    }
    .hint()
}

#[rstest]
#[case::layout(
    Speaker::LibNvvm,
    "NVVM_ERROR_INVALID_IR",
    "u: error: Warning: missing or deprecated DataLayout",
    "the layout that every libNVVM reads"
)]
#[case::triple(
    Speaker::LibNvvm,
    "NVVM_ERROR_INVALID_IR",
    "u: error: Missing target triple",
    "the triple is `target triple = \"nvptx64-nvidia-cuda\"`"
)]
#[case::newer_bitcode(
    Speaker::LibNvvm,
    "NVVM_ERROR_COMPILATION",
    "u: parse Unknown attribute kind (70) (Producer: 'LLVM14.0.6' Reader: 'LLVM 7.0.1')",
    "written by an LLVM that this compiler does not read"
)]
#[case::twice(
    Speaker::LibNvvm,
    "NVVM_ERROR_COMPILATION",
    "b: error: Linking globals named 'f': symbol multiply defined!",
    "define it in one module alone"
)]
#[case::operation(
    Speaker::LibNvvm,
    "NVVM_ERROR_COMPILATION",
    "Error: unsupported operation",
    "call the function of libdevice"
)]
#[case::libcall(
    Speaker::LibNvvm,
    "NVVM_ERROR_COMPILATION",
    "no libcall available for ftan",
    "call the function of libdevice"
)]
#[case::units(
    Speaker::LibNvvm,
    "NVVM_ERROR_COMPILATION",
    "Error: number of debug compile units (2) is not 1",
    "one compile unit in all modules together"
)]
#[case::option(
    Speaker::LibNvvm,
    "NVVM_ERROR_INVALID_OPTION",
    "libnvvm : error: -x is an unsupported option",
    "does not take this option or its value"
)]
#[case::host_variable(
    Speaker::Nvrtc,
    "NVRTC_ERROR_COMPILATION",
    "k.cu(6): error: A namespace scope variable without memory space annotations \
     (__device__/__constant__/__shared__/__managed__) is considered a host variable, and host \
     variables are not allowed in JIT mode.",
    "mark it `__device__` or `__constant__`"
)]
#[case::header(
    Speaker::Nvrtc,
    "NVRTC_ERROR_COMPILATION",
    "k.cu(1): catastrophic error: could not open source file \"my.h\" (no directories in search list)",
    "`my.h` was not found (no folder was searched); add it with `add_header`"
)]
#[case::builtins(
    Speaker::Nvrtc,
    "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
    "nvrtc: error: failed to open libnvrtc-builtins.so.13.5.\n  Make sure",
    "libnvrtc-builtins.so.13.5 must lie beside /cuda/lib"
)]
#[case::newer_ptx(
    Speaker::NvJitLink,
    "NVJITLINK_ERROR_PTX_COMPILE",
    "ptxas application ptx input, line 1; fatal   : Unsupported .version 9.9; current version is '9.5'",
    "the PTX is newer than this compiler of PTX"
)]
#[case::newer_ptx_for_the_driver(
    Speaker::Driver,
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
    "ptxas application ptx input, line 9; fatal   : Unsupported .version 9.5; current version is '9.0'",
    "the PTX is newer than this compiler of PTX"
)]
#[case::unresolved(
    Speaker::NvJitLink,
    "NVJITLINK_ERROR_INTERNAL",
    "error   : Undefined reference to 'f' in 'a.ptx'\nERROR 1: complete",
    "add the input that defines it"
)]
#[case::libdevice(
    Speaker::Driver,
    "CUDA_ERROR_INVALID_PTX",
    "ptxas fatal   : Unresolved extern function '__nv_sinf'",
    "`__nv_sinf` is libdevice's"
)]
#[case::shared(
    Speaker::NvJitLink,
    "",
    "error   : Entry function 'k' uses too much shared data (0xf423f bytes, 0xc000 max)",
    "48 KiB of shared memory"
)]
#[case::newer_lto_ir(
    Speaker::NvJitLink,
    "NVJITLINK_ERROR_ARCH_MISMATCH",
    "NVVM_ERROR not found (90) in LTOIR arch newer than target arch",
    "LTO IR links for its own architecture and newer ones"
)]
#[case::dialect(
    Speaker::NvJitLink,
    "NVJITLINK_ERROR_NVVM_COMPILE",
    "parse Invalid value (Producer: 'LLVM23.0.0' Reader: 'LLVM 7.0.1')",
    "set `dialect` to Latest"
)]
#[case::flag(
    Speaker::NvJitLink,
    "NVJITLINK_ERROR_UNRECOGNIZED_OPTION",
    "unrecognized option: -bogus",
    "lacks this option"
)]
fn a_log_has_its_advice(
    #[case] speaker: Speaker,
    #[case] code: &str,
    #[case] log: &str,
    #[case] advice: &str,
) {
    let hint = hint(speaker, Stage::Compile, code, log).unwrap();
    assert!(hint.contains(advice), "{hint}");
}

#[rstest]
#[case(
    Speaker::LibNvvm,
    "NVVM_ERROR_COMPILATION",
    "a.ll (5, 15): parse expected type"
)]
#[case(
    Speaker::Nvrtc,
    "NVRTC_ERROR_COMPILATION",
    "k.cu(2): error: identifier \"foo\" is undefined"
)]
#[case(Speaker::NvJitLink, "NVJITLINK_ERROR_INTERNAL", "")]
fn what_says_all_itself_has_none(#[case] speaker: Speaker, #[case] code: &str, #[case] log: &str) {
    assert_eq!(hint(speaker, Stage::Compile, code, log), None);
}

#[test]
fn each_error_among_messages_has_the_advice_to_its_own_words() {
    let library = library("nvJitLink");
    let said = Said::new(
        Speaker::NvJitLink,
        Stage::Link,
        (6, "NVJITLINK_ERROR_INTERNAL"),
        "",
        &library,
    );
    let mut messages = [
        Diagnostic::new(Severity::Note, "Undefined reference to 'f'"),
        Diagnostic::new(Severity::Error, "Undefined reference to '__nv_sinf' in 'a'"),
        Diagnostic::new(Severity::Error, "something else"),
    ];
    said.advise(&mut messages);
    let hints: Vec<_> = messages.iter().map(|m| m.hint.is_some()).collect();
    assert_eq!(hints, [false, true, false]);
}

#[rstest]
#[case(Arch::SM_70, "compute_75, compute_80")]
#[case(Arch::SM_101, "compute_90, compute_100, compute_103, compute_120")]
#[case(Arch::SM_121, "compute_103, compute_120")]
fn the_nearest_are_two_below_and_two_above(#[case] arch: Arch, #[case] expected: &str) {
    let known = [
        Arch::SM_120,
        Arch::SM_75,
        Arch::SM_80,
        Arch::SM_90,
        Arch::SM_100,
        Arch::SM_103,
    ];
    assert_eq!(nearest(arch, &known, Arch::compute), expected);
}
