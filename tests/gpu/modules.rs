//! Loading: what works, and what says why it does not.

use cuda_program::gpu::{LaunchConfig, LoadOptions, LoadPolicy, Module};
use cuda_program::{Error, Ptx};

use crate::sources::{GLOBALS, body};
use crate::{Gpu, Test, Tested, test};

pub fn tests() -> Vec<Test> {
    vec![
        test("globals_and_constants_are_read_and_written", globals),
        test("an_unknown_kernel_lists_those_there_are", unknown_kernel),
        test("ptx_that_is_too_new_is_refused_with_both_versions", too_new),
        test("a_syntax_error_comes_with_a_log_by_every_policy", |gpu| {
            refused_by_every_policy(gpu, "bogus;", "bogus")
        }),
        test(
            "an_unresolved_function_comes_with_a_log_by_every_policy",
            |gpu| refused_by_every_policy(gpu, "call elsewhere;", "elsewhere"),
        ),
        test("a_module_is_unloaded_when_nothing_uses_it", unload),
        test("loading_and_unloading_keeps_no_device_memory", no_leak),
    ]
}

fn load(gpu: &Gpu, ptx: &str) -> cuda_program::Result<Module> {
    Module::load(&gpu.context, &Ptx::from_text(ptx)?)
}

fn weigh(gpu: &Gpu, module: &Module) -> Result<Vec<f32>, Box<dyn std::error::Error>> {
    let mut out = gpu.stream.alloc_zeros::<f32>(3)?;
    let config = LaunchConfig::new([1, 1, 1], [3, 1, 1]);
    // SAFETY: the kernel takes a slice of three elements.
    unsafe {
        module
            .kernel("weigh")?
            .launch(&gpu.stream, config, &mut out)?
    };
    Ok(gpu.stream.clone_dtoh(&out)?)
}

fn globals(gpu: &Gpu) -> Tested {
    let module = load(gpu, GLOBALS)?;
    assert_eq!(weigh(gpu, &module)?, [2.0, 4.0, 6.0]);
    let scale = module.global::<f32>("scale")?;
    let weights = module.global::<f32>("weights")?;
    assert_eq!(scale.read(&gpu.stream)?, [2.0]);
    assert_eq!(weights.read(&gpu.stream)?, [1.0, 2.0, 3.0]);
    scale.write(&gpu.stream, &[10.0])?;
    weights.write(&gpu.stream, &[3.0, 5.0, 7.0])?;
    assert_eq!(weigh(gpu, &module)?, [30.0, 50.0, 70.0]);
    assert!(weights.write(&gpu.stream, &[1.0]).is_err());
    assert!(module.global::<f64>("scale").is_err());
    assert!(module.global::<f32>("scales").is_err());
    // Another load has variables of its own.
    assert_eq!(weigh(gpu, &load(gpu, GLOBALS)?)?, [2.0, 4.0, 6.0]);
    Ok(())
}

fn unknown_kernel(gpu: &Gpu) -> Tested {
    let module = load(gpu, GLOBALS)?;
    assert_eq!(module.kernel_names(), ["weigh"]);
    let error = module.kernel("weight").unwrap_err();
    assert!(
        matches!(&error, Error::InvalidInput(e) if e.hint == "it has weigh"),
        "{error}"
    );
    Ok(())
}

fn too_new(gpu: &Gpu) -> Tested {
    for policy in [LoadPolicy::Auto, LoadPolicy::Driver] {
        let options = LoadOptions::new().policy(policy).toolkit(&gpu.toolkit);
        let ptx = Ptx::from_text(body("9.9", ""))?;
        match Module::load_with(&gpu.context, &ptx, &options).unwrap_err() {
            Error::PtxTooNew(e) => {
                assert_eq!(e.ptx.to_string(), "9.9");
                assert_eq!(Some(e.reads), cuda_program::gpu::Driver::get()?.reads_ptx());
            }
            // A driver that is newer than the crate knows.
            Error::Driver(e) => assert!(e.log.contains("9.9"), "{e:#}"),
            other => panic!("{other}"),
        }
    }
    Ok(())
}

fn refused_by_every_policy(gpu: &Gpu, instruction: &str, in_log: &str) -> Tested {
    for policy in [LoadPolicy::Auto, LoadPolicy::Driver, LoadPolicy::Cubin] {
        let options = LoadOptions::new().policy(policy).toolkit(&gpu.toolkit);
        let ptx = Ptx::from_text(body("8.0", instruction))?;
        let error = Module::load_with(&gpu.context, &ptx, &options).unwrap_err();
        let log = error.log().unwrap_or_default();
        assert!(log.contains(in_log), "{policy:?}: {error:#}");
    }
    Ok(())
}

fn unload(gpu: &Gpu) -> Tested {
    let module = load(gpu, GLOBALS)?;
    let kernel = module.kernel("weigh")?;
    let refused = module.unload().unwrap_err();
    let module = refused.module.expect("it is given back");
    drop(kernel);
    assert_eq!(weigh(gpu, &module)?, [2.0, 4.0, 6.0]);
    module.unload()?;
    Ok(())
}

fn no_leak(gpu: &Gpu) -> Tested {
    let options = LoadOptions::new()
        .policy(LoadPolicy::Cubin)
        .toolkit(&gpu.toolkit);
    let ptx = Ptx::from_text(GLOBALS)?;
    let round = || -> Tested {
        let module = Module::load_with(&gpu.context, &ptx, &options)?;
        module.kernel("weigh")?;
        Ok(module.unload()?)
    };
    for _ in 0..10 {
        round()?;
    }
    let (before, _) = gpu.context.mem_get_info()?;
    for _ in 0..200 {
        round()?;
    }
    let (after, _) = gpu.context.mem_get_info()?;
    // Other tests allocate meanwhile; 200 modules that stay would be far more.
    assert!(
        before.saturating_sub(after) < 256 << 20,
        "{before} free before, {after} after"
    );
    Ok(())
}
