//! Programs in CUDA C++, compiled and loaded in one call.

use cuda_program::gpu::{LaunchConfig, LoadOptions, LoadPolicy};
use cuda_program::nvrtc::{Options, Program};

use crate::{Gpu, Needs, Test, Tested};

pub fn tests() -> Vec<Test> {
    let test = |name: &str, run: fn(&Gpu) -> Tested| {
        Test(name.to_owned(), Needs::Nvrtc(75), Box::new(run))
    };
    vec![
        test("a_program_in_cuda_cpp_is_loaded_in_one_call", one_call),
        test("nvrtc_options_reach_what_is_loaded", options),
        test("every_way_of_loading_cuda_cpp_computes_the_same", ways),
    ]
}

const SCALE: &str = "extern \"C\" __global__ void scale(unsigned n, float a, float *x) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= FACTOR * a;
}";

fn program(gpu: &Gpu) -> cuda_program::Result<Program> {
    let source = format!("#ifndef FACTOR\n#define FACTOR 1\n#endif\n{SCALE}");
    Program::new(&gpu.toolkit, "scale.cu", source)
}

fn run(gpu: &Gpu, module: &cuda_program::gpu::Module) -> Result<f32, Box<dyn std::error::Error>> {
    let n = 1000_u32;
    let mut x = gpu.stream.clone_htod(&vec![1.5_f32; n as usize])?;
    let config = LaunchConfig::for_elements(n);
    // SAFETY: the kernel takes these, and touches n elements.
    unsafe {
        module
            .kernel("scale")?
            .launch(&gpu.stream, config, (n, 2.0_f32, &mut x))?;
    }
    let x = gpu.stream.clone_dtoh(&x)?;
    assert!(x.iter().all(|v| *v == x[0]), "{x:?}");
    Ok(x[0])
}

fn one_call(gpu: &Gpu) -> Tested {
    let module = program(gpu)?.load(&gpu.context)?;
    assert_eq!(module.kernel_names(), ["scale"]);
    assert_eq!(run(gpu, &module)?, 3.0);
    Ok(())
}

fn options(gpu: &Gpu) -> Tested {
    let by_ten = |mut options: Options| {
        options.preprocessor.define("FACTOR", "10");
        options
    };
    let module = program(gpu)?.load_with(&gpu.context, by_ten, &LoadOptions::new())?;
    assert_eq!(run(gpu, &module)?, 30.0);
    Ok(())
}

fn ways(gpu: &Gpu) -> Tested {
    let program = program(gpu)?;
    for policy in [LoadPolicy::Auto, LoadPolicy::Cubin] {
        let load = LoadOptions::new().policy(policy);
        let module = program.load_with(&gpu.context, |options| options, &load)?;
        assert_eq!(run(gpu, &module)?, 3.0, "{policy:?}");
    }
    // The driver's own compiler may be older than the PTX.
    let load = LoadOptions::new().policy(LoadPolicy::Driver);
    match program.load_with(&gpu.context, |options| options, &load) {
        Ok(module) => assert_eq!(run(gpu, &module)?, 3.0),
        Err(error) => assert!(
            matches!(error, cuda_program::Error::PtxTooNew(_)),
            "{error}"
        ),
    }
    Ok(())
}
