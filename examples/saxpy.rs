//! From the text of a kernel to numbers from a GPU: `y[i] = a * x[i] + y[i]`.
//!
//! `cargo run --example saxpy`. Without a GPU it compiles all the same, shows what came of it, and
//! says what was missing.

use cuda_program::gpu::{self, LaunchConfig};
use cuda_program::{Arch, Error, Ptx, Toolkit, nvvm};

/// Any compiler that writes NVVM IR could have written it.
const SAXPY: &str = include_str!("../fixtures/saxpy.ll");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let toolkit = Toolkit::discover()?;
    println!("compiler: {}", toolkit.nvvm()?.library);

    let program = nvvm::Program::new(&toolkit)?;
    program.add_module("saxpy.ll", SAXPY)?;

    // Neither a GPU nor a driver is needed up to here, and for PTX there never is.
    let ptx: Ptx = program.compile(&nvvm::Options::new(Arch::SM_90))?;
    println!("PTX {} for {}, with", ptx.isa_version(), ptx.target());
    for kernel in ptx.kernels() {
        let parameters: Vec<String> = kernel
            .parameters
            .iter()
            .map(|p| format!("{} {} bytes", p.ty, p.size))
            .collect();
        println!("  {}({})", kernel.name, parameters.join(", "));
    }

    let context = match gpu::context(0) {
        Ok(context) => context,
        Err(Error::NoDriver(missing)) => {
            println!("{missing}");
            return Ok(());
        }
        Err(other) => return Err(other.into()),
    };
    println!("device: {}, {}", context.name()?, gpu::arch(&context)?);

    // Compiles for the device, and loads.
    let module = program.load(&context)?;
    for note in module.diagnostics() {
        println!("{note:#}");
    }
    let saxpy = module.kernel("saxpy")?;

    let n = 1_000_000_u32;
    let a = 3.0_f32;
    let x: Vec<f32> = (0..n).map(|i| (i % 1000) as f32).collect();
    let y: Vec<f32> = (0..n).map(|i| (i % 77) as f32).collect();

    let stream = context.default_stream();
    let on_device = stream.clone_htod(&x)?;
    let mut result = stream.clone_htod(&y)?;
    let config = LaunchConfig::for_elements(n);
    // SAFETY: the kernel takes an i32, a float and two pointers, and touches n elements of each.
    unsafe { saxpy.launch(&stream, config, (n, a, &on_device, &mut result))? };

    let result = stream.clone_dtoh(&result)?;
    let wrong = (0..n as usize)
        .filter(|&i| result.get(i) != x.get(i).zip(y.get(i)).map(|(x, y)| a * x + y).as_ref())
        .count();
    println!("{n} elements, {wrong} wrong");
    if wrong > 0 {
        return Err("the GPU's numbers are not the CPU's".into());
    }
    Ok(())
}
