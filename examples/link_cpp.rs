//! A kernel template in CUDA C++ and a device function in NVVM IR, linked to one cubin.
//!
//! `cargo run --example link_cpp`. The template is asked for by its C++ name, `smooth<float, 3>`, and the
//! IR's function is inlined into it by the link. Where there is a GPU, the kernel runs and its numbers
//! are checked; elsewhere the cubin is made for sm_90 and shown.

use cuda_program::gpu::{self, LaunchConfig, cudarc};
use cuda_program::{Arch, Cubin, Error, Linker, LtoIr, Toolkit, nvrtc, nvvm};

const CPP: &str = r#"
#include "activation.h"

template <typename T, int RADIUS>
__global__ void smooth(int n, const T *x, T *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T sum = 0;
    for (int j = max(i - RADIUS, 0); j <= min(i + RADIUS, n - 1); j++) sum += x[j];
    y[i] = activation(sum);
}
"#;

/// What the C++ knows of the IR, as a header that lies in memory alone.
const HEADER: &str = "extern \"C\" __device__ float activation(float);\n";

/// `max(x, 0)`, as a compiler of one's own may write it.
const IR: &str = r#"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define float @activation(float %x) {
  %positive = fcmp ogt float %x, 0.0
  %y = select i1 %positive, float %x, float 0.0
  ret float %y
}
!nvvmir.version = !{!0}
!0 = !{i32 2, i32 0}
"#;

/// What the template is asked for by, spelt the same everywhere.
const KERNEL: &str = "smooth<float, 3>";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let toolkit = Toolkit::discover()?;
    let context = match gpu::context(0) {
        Ok(context) => Some(context),
        Err(Error::NoDriver(missing)) => {
            println!("{missing}");
            None
        }
        Err(other) => return Err(other.into()),
    };
    let arch = match &context {
        Some(context) => gpu::arch(context)?,
        None => Arch::SM_90,
    };
    let cubin = compile_and_link(&toolkit, arch)?;

    println!(
        "a cubin of {} bytes for {}:",
        cubin.as_bytes().len(),
        cubin.arch()
    );
    for kernel in cubin.kernels() {
        println!(
            "  {}: {} registers, {} bytes of shared memory, {} parameters",
            kernel.name,
            kernel.registers,
            kernel.shared_bytes,
            kernel.parameters.len()
        );
    }
    if let Some(kernel) = cubin.kernel_for(KERNEL) {
        println!("{KERNEL} is {}", kernel.name);
    }
    match context {
        Some(context) => run(&context, &cubin),
        None => Ok(()),
    }
}

fn compile_and_link(toolkit: &Toolkit, arch: Arch) -> cuda_program::Result<Cubin> {
    let cpp = nvrtc::Program::new(toolkit, "smooth.cu", CPP)?;
    cpp.add_header("activation.h", HEADER)?;
    cpp.add_name_expression(KERNEL)?;
    let kernel: LtoIr = cpp.compile(&nvrtc::Options::new(arch))?;

    let ir = nvvm::Program::new(toolkit)?;
    ir.add_module("activation.ll", IR)?;
    let function: LtoIr = ir.compile(&nvvm::Options::new(arch).keep("activation"))?;

    Linker::new(toolkit, arch).add(kernel).add(function).link()
}

/// Loads the cubin and launches the template by its C++ name.
fn run(
    context: &std::sync::Arc<cudarc::driver::CudaContext>,
    cubin: &Cubin,
) -> Result<(), Box<dyn std::error::Error>> {
    let smooth = gpu::Module::load(context, cubin)?.kernel(KERNEL)?;
    let stream = context.default_stream();
    let x: Vec<f32> = (0..1000_i16).map(|i| f32::from(i % 13 - 6)).collect();
    let on_device = stream.clone_htod(&x)?;
    let mut y = stream.clone_htod(&vec![0.0_f32; x.len()])?;
    let config = LaunchConfig::for_elements(1000);
    // SAFETY: the kernel takes an int and two pointers to float, and touches 1000 elements of each.
    unsafe { smooth.launch(&stream, config, (1000_i32, &on_device, &mut y))? };

    let y = stream.clone_dtoh(&y)?;
    let expected = (0..x.len()).map(|i| {
        let window = x.get(i.saturating_sub(3)..(i + 4).min(x.len()));
        window.unwrap_or_default().iter().sum::<f32>().max(0.0)
    });
    let wrong = y.iter().zip(expected).filter(|(y, e)| *y != e).count();
    println!("{} elements, {wrong} wrong", y.len());
    if wrong > 0 {
        return Err("the GPU's numbers are not the CPU's".into());
    }
    Ok(())
}
