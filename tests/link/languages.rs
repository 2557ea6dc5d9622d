//! Kernels and functions of several languages in one link.

use cuda_program::{Arch, Cubin, Linker, LtoIr, Ptx, nvvm};
use rstest::rstest;

use crate::common::{NEWEST, TARGET, ending, toolkit};
use crate::raw;

const CPP_FUNCTION: &str = r#"extern "C" __device__ int triple(int x) { return x * 3 + 1; }"#;
const CPP_KERNEL: &str = r#"extern "C" __device__ int triple(int);
extern "C" __global__ void k(int *p) { *p = triple(*p); }"#;

/// A kernel `k` in NVVM IR that calls these functions of an `int`, one after the other.
fn nvvm_kernel(functions: &[&str]) -> String {
    let mut text = TARGET.to_owned();
    for name in functions {
        text.push_str(&format!("declare i32 @{name}(i32)\n"));
    }
    text.push_str("define void @k(i32* %p) {\n  %v0 = load i32, i32* %p\n");
    for (n, name) in functions.iter().enumerate() {
        text.push_str(&format!("  %v{} = call i32 @{name}(i32 %v{n})\n", n + 1));
    }
    text.push_str(&format!(
        "  store i32 %v{}, i32* %p\n  ret void\n}}\n",
        functions.len()
    ));
    text + &ending(&[("void (i32*)*", "k")])
}

fn nvvm_function(name: &str) -> String {
    format!(
        "{TARGET}define i32 @{name}(i32 %x) {{\n  %a = mul i32 %x, 3\n  %b = add i32 %a, 1\n  \
         ret i32 %b\n}}\n{}",
        ending(&[])
    )
}

fn nvvm_lto(version: &str, ir: &str, arch: Arch) -> LtoIr {
    let program = nvvm::Program::new(&toolkit(version)).unwrap();
    program.add_module("m.ll", ir).unwrap();
    let options = nvvm::Options::new(arch).keep("triple");
    let options = if ir.contains("define i32 @triple") {
        options
    } else {
        nvvm::Options::new(arch)
    };
    program.compile(&options).unwrap()
}

fn cpp_lto(version: &str, source: &str, arch: Arch) -> LtoIr {
    LtoIr::from_bytes(raw::nvrtc_ltoir(&toolkit(version), source, &arch.sm())).unwrap()
}

/// One kernel comes out, and nothing in it calls.
fn assert_inlined(linker: &Linker) {
    let ptx: Ptx = linker.link().unwrap();
    assert!(ptx.kernel("k").is_some());
    assert!(!ptx.as_str().contains("call"), "{}", ptx.as_str());
    let cubin: Cubin = linker.link().unwrap();
    assert_eq!(raw::cubin_kernels(cubin.as_bytes()), ["k"]);
    assert!(raw::cubin_undefined(cubin.as_bytes()).is_empty());
}

#[rstest]
fn a_cpp_function_is_inlined_into_an_nvvm_kernel(
    #[values(Arch::SM_75, Arch::SM_90, Arch::SM_100)] arch: Arch,
) {
    let kernel = nvvm_lto(NEWEST, &nvvm_kernel(&["triple"]), arch);
    let function = cpp_lto(NEWEST, CPP_FUNCTION, arch);
    assert_inlined(
        &Linker::new(&toolkit(NEWEST), arch)
            .add(kernel)
            .add(&function),
    );
}

#[rstest]
fn an_nvvm_function_is_inlined_into_a_cpp_kernel(
    #[values(Arch::SM_75, Arch::SM_90, Arch::SM_100)] arch: Arch,
) {
    let function = nvvm_lto(NEWEST, &nvvm_function("triple"), arch);
    let kernel = cpp_lto(NEWEST, CPP_KERNEL, arch).with_kernels(["k"]);
    assert_inlined(
        &Linker::new(&toolkit(NEWEST), arch)
            .add(kernel)
            .add(function),
    );
}

#[rstest]
fn three_inputs_of_which_one_is_ptx_become_one_cubin(
    #[values(Arch::SM_75, Arch::SM_90, Arch::SM_100)] arch: Arch,
) {
    let ptx = Ptx::from_text(
        ".version 8.0\n.target sm_75\n.address_size 64\n\
         .visible .func (.param .b32 r) twice(.param .b32 x) {\n.reg .b32 %a;\n\
         ld.param.b32 %a, [x];\nadd.s32 %a, %a, %a;\nst.param.b32 [r], %a;\nret;\n}\n",
    )
    .unwrap();
    let cubin: Cubin = Linker::new(&toolkit(NEWEST), arch)
        .add(nvvm_lto(NEWEST, &nvvm_kernel(&["triple", "twice"]), arch))
        .add(cpp_lto(NEWEST, CPP_FUNCTION, arch))
        .add(ptx)
        .link()
        .unwrap();
    assert_eq!(raw::cubin_kernels(cubin.as_bytes()), ["k"]);
    assert!(raw::cubin_undefined(cubin.as_bytes()).is_empty());
}

#[rstest]
fn each_toolkit_links_across_languages(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let kernel = nvvm_lto(version, &nvvm_kernel(&["triple"]), Arch::SM_90);
    let function = cpp_lto(version, CPP_FUNCTION, Arch::SM_90);
    assert_inlined(
        &Linker::new(&toolkit(version), Arch::SM_90)
            .add(kernel)
            .add(function),
    );
}

/// LTO IR of the newer dialect needs a flag below sm_100, which its header tells.
#[test]
fn lto_ir_of_the_newer_dialect_links_below_sm_100_by_its_header_alone() {
    let program = nvvm::Program::new(&toolkit(NEWEST)).unwrap();
    program
        .add_module("k.ll", crate::common::store("k", 7))
        .unwrap();
    let options = nvvm::Options::new(Arch::SM_75).dialect(nvvm::Dialect::Latest);
    let lto: LtoIr = program.compile(&options).unwrap();
    let foreign = LtoIr::from_bytes(lto.as_bytes()).unwrap();
    assert!(foreign.is_modern());
    let linker = Linker::new(&toolkit(NEWEST), Arch::SM_80).add(foreign);
    let cubin: Cubin = linker.link().unwrap();
    assert_eq!(raw::cubin_kernels(cubin.as_bytes()), ["k"]);
    let legacy = cuda_program::link::Options::new().dialect(nvvm::Dialect::Legacy);
    let error = linker
        .options(legacy)
        .link::<Cubin>()
        .unwrap_err()
        .to_string();
    assert!(error.contains("-nvvm-latest"), "{error}");
}

#[rstest]
fn nvvm_ir_becomes_a_cubin_in_one_call(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let program = nvvm::Program::new(&toolkit(version)).unwrap();
    program
        .add_module("saxpy.ll", include_bytes!("../../fixtures/saxpy.ll"))
        .unwrap();
    let cubin: Cubin = program.compile(&nvvm::Options::new(Arch::SM_90)).unwrap();
    assert_eq!(raw::cubin_kernels(cubin.as_bytes()), ["saxpy"]);
}

#[rstest]
fn nvvm_ir_without_a_kernel_that_comes_to_no_cubin_is_told_what_a_kernel_is(
    #[values("12.0", "13.5")] version: &str,
) {
    let program = nvvm::Program::new(&toolkit(version)).unwrap();
    program.add_module("m", nvvm_function("f")).unwrap();
    let options = nvvm::Options::new(Arch::SM_90);
    let error = program.compile::<Cubin>(&options).unwrap_err().to_string();
    assert!(error.contains("`!nvvm.annotations`"), "{error}");
}

/// What PTX cannot spell is an error at the link, with the name in it.
#[rstest]
#[case("a.b")]
#[case("1k")]
fn a_kernel_name_that_ptx_cannot_spell_fails_the_link(#[case] name: &str) {
    let ir = crate::common::store(&format!("\"{name}\""), 1);
    let program = nvvm::Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("m", ir).unwrap();
    let options = nvvm::Options::new(Arch::SM_80).repair(nvvm::Repair::Off);
    let lto: LtoIr = program.compile(&options).unwrap();
    let linker = Linker::new(&toolkit(NEWEST), Arch::SM_80).add(lto);
    let error = linker.link::<Cubin>().unwrap_err().to_string();
    assert!(error.contains(name), "{error}");
}
