//! The numbers of kernels, by every way from a source to the GPU.

use cuda_program::gpu::{LaunchConfig, LoadOptions, LoadPolicy, Module};
use cuda_program::{LtoIr, Ptx, Toolkit, gpu, nvvm};

use crate::sources::{BITCODE, GELU, SAXPY};
use crate::{Gpu, Test, Tested, test};

pub fn tests() -> Vec<Test> {
    vec![
        test("saxpy_from_text_is_right", |gpu| {
            saxpy(gpu, &program(gpu, &gpu.toolkit)?.load(&gpu.context)?)
        }),
        test("saxpy_is_right_by_every_policy_and_artifact", every_way),
        test(
            "a_program_is_compiled_to_older_ptx_where_nothing_else_helps",
            older_ptx,
        ),
        test("gelu_with_libdevice_is_right", gelu),
        test("a_program_from_bitcode_is_right", bitcode),
    ]
}

fn program(_: &Gpu, toolkit: &Toolkit) -> cuda_program::Result<nvvm::Program> {
    let program = nvvm::Program::new(toolkit)?;
    program.add_module("saxpy.ll", SAXPY)?;
    Ok(program)
}

/// Runs saxpy over 10,000 elements, by slices and by views, and looks at every one.
pub fn saxpy(gpu: &Gpu, module: &Module) -> Tested {
    let kernel = module.kernel("saxpy")?;
    let n = 10_000_u32;
    let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let on_device = gpu.stream.clone_htod(&x)?;
    let mut y = gpu.stream.alloc_zeros::<f32>(n as usize)?;
    let config = LaunchConfig::for_elements(n);
    // SAFETY: the kernel takes these, and touches n elements of each slice.
    unsafe { kernel.launch(&gpu.stream, config, (n, 2.0_f32, &on_device, &mut y))? };
    let half = n as usize / 2;
    let upper = on_device.slice(half..);
    let mut lower = y.slice_mut(..half);
    let few = half as i32;
    // SAFETY: as above, over the halves.
    unsafe { kernel.launch(&gpu.stream, config, (few, 1.0_f32, &upper, &mut lower))? };
    for (i, y) in gpu.stream.clone_dtoh(&y)?.into_iter().enumerate() {
        let first = 2.0 * i as f32;
        let expected = if i < half {
            first + (i + half) as f32
        } else {
            first
        };
        assert_eq!(y, expected, "element {i}");
    }
    Ok(())
}

fn every_way(gpu: &Gpu) -> Tested {
    let program = program(gpu, &gpu.toolkit)?;
    let mut options = nvvm::Options::new(gpu::arch(&gpu.context)?);
    let lto: LtoIr = program.compile(&options)?;
    let load = LoadOptions::new().toolkit(&gpu.toolkit);
    for policy in [LoadPolicy::Auto, LoadPolicy::Cubin] {
        let load = load.clone().policy(policy);
        saxpy(gpu, &Module::load_with(&gpu.context, &lto, &load)?)?;
        let ptx: Ptx = program.compile(&options)?;
        saxpy(gpu, &Module::load_with(&gpu.context, &ptx, &load)?)?;
    }
    let mut ptx: Ptx = program.compile(&options)?;
    let reads = gpu::Driver::get()?.reads_ptx();
    if reads.is_some_and(|reads| ptx.isa_version() > reads) {
        options.ptx_version = reads;
        ptx = program.compile(&options)?;
    }
    let by_driver = load.policy(LoadPolicy::Driver);
    saxpy(gpu, &Module::load_with(&gpu.context, &ptx, &by_driver)?)
}

fn older_ptx(gpu: &Gpu) -> Tested {
    let nvvm = gpu.toolkit.nvvm()?.library.path.clone();
    let alone = Toolkit::builder().only().nvvm(nvvm).build()?;
    let program = program(gpu, &alone)?;
    let module = program.load(&gpu.context)?;
    saxpy(gpu, &module)?;
    let ptx: Ptx = program.compile(&nvvm::Options::new(gpu::arch(&gpu.context)?))?;
    let reads = gpu::Driver::get()?.reads_ptx();
    if let Some(reads) = reads.filter(|reads| ptx.isa_version() > *reads) {
        let said = format!("compiled to PTX {reads} instead of {}", ptx.isa_version());
        let notes: Vec<_> = module.diagnostics().iter().map(|d| d.to_string()).collect();
        assert!(notes.iter().any(|note| note.contains(&said)), "{notes:?}");
    }
    Ok(())
}

fn gelu(gpu: &Gpu) -> Tested {
    let program = nvvm::Program::new(&gpu.toolkit)?;
    program.add_module("gelu.ll", GELU)?;
    let kernel = program.load(&gpu.context)?.kernel("gelu")?;
    let x: Vec<f32> = (-400..400).map(|i| i as f32 / 50.0).collect();
    let n = x.len() as u32;
    let on_device = gpu.stream.clone_htod(&x)?;
    let mut y = gpu.stream.alloc_zeros::<f32>(x.len())?;
    let config = LaunchConfig::for_elements(n);
    // SAFETY: the kernel takes these, and touches n elements of each slice.
    unsafe { kernel.launch(&gpu.stream, config, (n, &on_device, &mut y))? };
    for (x, y) in x.iter().zip(gpu.stream.clone_dtoh(&y)?) {
        let v = f64::from(*x);
        let inner = (v + 0.044_715 * v * v * v) * (2.0 / std::f64::consts::PI).sqrt();
        let expected = 0.5 * v * (1.0 + inner.tanh());
        // The sum with 1 loses bits where tanh is near -1.
        assert!(
            (f64::from(y) - expected).abs() < 1e-6 * v.abs().max(1.0),
            "gelu({x}) = {y}"
        );
    }
    Ok(())
}

fn bitcode(gpu: &Gpu) -> Tested {
    let program = nvvm::Program::new(&gpu.toolkit)?;
    program.add_module("every.bc", BITCODE)?;
    // What the module declares and leaves to others.
    program.set_libdevice(nvvm::Libdevice::Auto)?;
    let kernel = program.load(&gpu.context)?.kernel("by_convention")?;
    let mut p = gpu.stream.alloc_zeros::<f32>(1)?;
    let config = LaunchConfig::new([1, 1, 1], [1, 1, 1]);
    // SAFETY: the kernel writes one element.
    unsafe { kernel.launch(&gpu.stream, config, &mut p)? };
    assert_eq!(gpu.stream.clone_dtoh(&p)?, [1.0]);
    Ok(())
}
