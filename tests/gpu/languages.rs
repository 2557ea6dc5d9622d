//! Kernels and functions of several languages in one link, and the numbers they compute.

use cuda_program::gpu::{LaunchConfig, Module};
use cuda_program::{Arch, Cubin, Linker, LtoIr, Ptx, gpu, nvrtc, nvvm};

use crate::sources::TARGET;
use crate::{Gpu, Needs, Test, Tested};

pub fn tests() -> Vec<Test> {
    let test = |name: &str, run: fn(&Gpu) -> Tested| {
        Test(name.to_owned(), Needs::Nvrtc(75), Box::new(run))
    };
    vec![
        test("an_nvvm_kernel_calls_a_cpp_function", cpp_function),
        test("a_cpp_kernel_calls_an_nvvm_function", nvvm_function),
        test("a_link_of_three_inputs_of_which_one_is_ptx_is_right", three),
        test("an_nvvm_program_becomes_a_cubin_that_runs", one_call),
        test(
            "kernels_are_launched_by_name_expressions_and_by_names_that_were_respelt",
            other_names,
        ),
    ]
}

const CPP_FUNCTION: &str = "extern \"C\" __device__ int triple(int x) { return x * 3 + 1; }";
const CPP_KERNEL: &str = "extern \"C\" __device__ int triple(int);
extern \"C\" __global__ void k(int *p) { p[threadIdx.x] = triple(p[threadIdx.x]); }";
const PTX_FUNCTION: &str = ".version 8.0\n.target sm_75\n.address_size 64\n\
    .visible .func (.param .b32 r) twice(.param .b32 x) {\n.reg .b32 %a;\n\
    ld.param.b32 %a, [x];\nadd.s32 %a, %a, %a;\nst.param.b32 [r], %a;\nret;\n}\n";
const VERSION: &str = "!nvvmir.version = !{!9}\n!9 = !{i32 2, i32 0}\n";

/// A kernel in NVVM IR that puts each element through functions, one after the other.
fn nvvm_kernel(name: &str, functions: &[&str]) -> String {
    let declared: String = functions
        .iter()
        .map(|function| format!("declare i32 @{function}(i32)\n"))
        .collect();
    let calls: String = functions
        .iter()
        .enumerate()
        .map(|(n, function)| format!("  %v{} = call i32 @{function}(i32 %v{n})\n", n + 1))
        .collect();
    format!(
        "{TARGET}declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
{declared}define void @{name}(i32* %p) {{
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %q = getelementptr i32, i32* %p, i32 %t
  %v0 = load i32, i32* %q
{calls}  store i32 %v{last}, i32* %q
  ret void
}}
!nvvm.annotations = !{{!0}}
!0 = !{{void (i32*)* @{name}, !\"kernel\", i32 1}}
{VERSION}",
        last = functions.len(),
    )
}

fn nvvm(gpu: &Gpu, source: &str) -> cuda_program::Result<(nvvm::Program, nvvm::Options)> {
    let program = nvvm::Program::new(&gpu.toolkit)?;
    program.add_module("m.ll", source)?;
    Ok((program, nvvm::Options::new(gpu::arch(&gpu.context)?)))
}

fn cpp(gpu: &Gpu, source: &str, arch: Arch) -> cuda_program::Result<LtoIr> {
    nvrtc::Program::new(&gpu.toolkit, "f.cu", source)?.compile(&nvrtc::Options::new(arch))
}

/// Runs a kernel over 64 elements and looks at each.
fn check(gpu: &Gpu, cubin: &Cubin, name: &str, expected: impl Fn(i32) -> i32) -> Tested {
    let module = Module::load(&gpu.context, cubin)?;
    let values: Vec<i32> = (0..64).map(|i| i * i - 100).collect();
    let mut on_device = gpu.stream.clone_htod(&values)?;
    let config = LaunchConfig::new([1, 1, 1], [64, 1, 1]);
    // SAFETY: the kernel takes a slice with an element for each thread.
    unsafe {
        module
            .kernel(name)?
            .launch(&gpu.stream, config, &mut on_device)?
    };
    let expected: Vec<i32> = values.into_iter().map(expected).collect();
    assert_eq!(gpu.stream.clone_dtoh(&on_device)?, expected);
    Ok(())
}

fn triple(x: i32) -> i32 {
    x * 3 + 1
}

fn cpp_function(gpu: &Gpu) -> Tested {
    let (program, options) = nvvm(gpu, &nvvm_kernel("k", &["triple"]))?;
    let kernel: LtoIr = program.compile(&options)?;
    let cubin: Cubin = Linker::new(&gpu.toolkit, options.arch)
        .add(kernel)
        .add(cpp(gpu, CPP_FUNCTION, options.arch)?)
        .link()?;
    check(gpu, &cubin, "k", triple)
}

fn nvvm_function(gpu: &Gpu) -> Tested {
    let source = format!(
        "{TARGET}define i32 @triple(i32 %x) {{\n  %a = mul i32 %x, 3\n  %b = add i32 %a, 1\n  \
         ret i32 %b\n}}\n{VERSION}"
    );
    let (program, options) = nvvm(gpu, &source)?;
    let options = options.keep("triple");
    let function: LtoIr = program.compile(&options)?;
    let cubin: Cubin = Linker::new(&gpu.toolkit, options.arch)
        .add(cpp(gpu, CPP_KERNEL, options.arch)?)
        .add(function)
        .link()?;
    check(gpu, &cubin, "k", triple)
}

fn three(gpu: &Gpu) -> Tested {
    let (program, options) = nvvm(gpu, &nvvm_kernel("k", &["triple", "twice"]))?;
    let kernel: LtoIr = program.compile(&options)?;
    let cubin: Cubin = Linker::new(&gpu.toolkit, options.arch)
        .add(kernel)
        .add(cpp(gpu, CPP_FUNCTION, options.arch)?)
        .add(Ptx::from_text(PTX_FUNCTION)?)
        .link()?;
    check(gpu, &cubin, "k", |x| 2 * triple(x))
}

fn one_call(gpu: &Gpu) -> Tested {
    let (program, options) = nvvm(gpu, &nvvm_kernel("k", &[]))?;
    let cubin: Cubin = program.compile(&options)?;
    check(gpu, &cubin, "k", |x| x)
}

fn other_names(gpu: &Gpu) -> Tested {
    let source = "template <typename T> __global__ void add(T *p) { p[threadIdx.x] += T(7); }";
    let program = nvrtc::Program::new(&gpu.toolkit, "add.cu", source)?;
    program.add_name_expression("add<int>")?;
    let (respelt, options) = nvvm(gpu, &nvvm_kernel("my.kernel", &["triple"]))?;
    let template: LtoIr = program.compile(&nvrtc::Options::new(options.arch))?;
    let kernel: LtoIr = respelt.compile(&options)?;
    let cubin: Cubin = Linker::new(&gpu.toolkit, options.arch)
        .add(template)
        .add(kernel)
        .add(cpp(gpu, CPP_FUNCTION, options.arch)?)
        .link()?;
    assert_ne!(cubin.kernel_for("add<int>"), None);
    check(gpu, &cubin, "add<int>", |x| x + 7)?;
    check(gpu, &cubin, "my.kernel", triple)
}
