//! Contexts, captures and devices.

use cuda_program::gpu::cudarc::driver::{DevicePtr as _, result, sys};
use cuda_program::gpu::{DevicePtr, LaunchConfig, LoadOptions, LoadPolicy, Module};
use cuda_program::{Error, Ptx, gpu, nvvm};

use crate::numbers::saxpy;
use crate::sources::{GLOBALS, SAXPY};
use crate::{Gpu, Needs, Test, Tested, test};

pub fn tests() -> Vec<Test> {
    vec![
        test("the_callers_context_stays_as_it_was", as_before),
        test("a_captured_launch_runs_with_the_graph", captured),
        test(
            "slices_with_events_in_a_capture_are_an_error_or_work",
            captured_slices,
        ),
        test(
            "two_contexts_of_one_device_each_have_their_module",
            two_contexts,
        ),
        test(
            "slices_of_another_context_value_are_refused",
            two_context_values,
        ),
        test(
            "the_callers_context_stays_when_the_last_owner_goes",
            last_owner,
        ),
        test("an_ordinal_that_no_device_has_is_an_error", ordinal),
        Test(
            "a_stream_of_another_device_is_refused".to_owned(),
            Needs::Devices(2),
            Box::new(other_device),
        ),
    ]
}

fn current() -> Option<sys::CUcontext> {
    result::ctx::get_current().unwrap()
}

fn as_before(gpu: &Gpu) -> Tested {
    let ptx = Ptx::from_text(GLOBALS)?;
    let out = gpu.stream.alloc_zeros::<f32>(3)?;
    let (address, _note) = out.device_ptr(&gpu.stream);
    let all_calls = |expected: Option<sys::CUcontext>| -> Tested {
        let same = |what: &str| assert_eq!(current(), expected, "after {what}");
        let module = Module::load(&gpu.context, &ptx)?;
        same("load");
        let kernel = module.kernel("weigh")?;
        same("kernel");
        kernel.attributes()?;
        kernel.suggested_block(0)?;
        same("attributes");
        let scale = module.global::<f32>("scale")?;
        let value = scale.read(&gpu.stream)?;
        scale.write(&gpu.stream, &value)?;
        same("global");
        let config = LaunchConfig::new([1, 1, 1], [3, 1, 1]);
        // SAFETY: the kernel takes the address of three elements.
        unsafe { kernel.launch(&gpu.stream, config, DevicePtr(address))? };
        same("launch");
        assert!(module.kernel("no such").is_err());
        same("an error");
        let other = gpu::context(0)?;
        same("context");
        drop((kernel, scale));
        module.unload()?;
        same("unload");
        // cudarc makes a context current to let it go.
        drop(other);
        Ok(())
    };
    // SAFETY: the context is live; null is none.
    unsafe { result::ctx::set_current(gpu.context.cu_ctx())? };
    all_calls(Some(gpu.context.cu_ctx()))?;
    // SAFETY: as above.
    unsafe { result::ctx::set_current(std::ptr::null_mut())? };
    all_calls(None)?;
    Ok(())
}

fn captured(gpu: &Gpu) -> Tested {
    // Of its own: switching event tracking off is for all slices of a context.
    let context = gpu::context(0)?;
    // SAFETY: one stream alone is used.
    unsafe { context.disable_event_tracking() };
    let stream = context.new_stream()?;
    let mut out = stream.alloc_zeros::<f32>(3)?;
    let config = LaunchConfig::new([1, 1, 1], [3, 1, 1]);
    let ptx = Ptx::from_text(GLOBALS)?;
    for policy in [LoadPolicy::Cubin, LoadPolicy::Driver] {
        let load = LoadOptions::new().policy(policy).toolkit(&gpu.toolkit);
        stream.memset_zeros(&mut out)?;
        stream.synchronize()?;
        stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
        // The first load, kernel and launch, all of them within.
        let launched = Module::load_with(&context, &ptx, &load).and_then(|module| {
            let kernel = module.kernel("weigh")?;
            // SAFETY: the kernel takes a slice of three elements.
            unsafe { kernel.launch(&stream, config, &mut out) }
        });
        let graph = stream.end_capture(sys::CUgraphInstantiate_flags(0));
        launched?;
        let graph = graph?.ok_or("nothing was captured")?;
        assert_eq!(stream.clone_dtoh(&out)?, [0.0; 3]);
        graph.launch()?;
        assert_eq!(stream.clone_dtoh(&out)?, [2.0, 4.0, 6.0], "{policy:?}");
    }
    Ok(())
}

fn captured_slices(_: &Gpu) -> Tested {
    let context = gpu::context(0)?;
    let stream = context.new_stream()?;
    let module = Module::load(&context, &Ptx::from_text(GLOBALS)?)?;
    let kernel = module.kernel("weigh")?;
    let mut out = stream.alloc_zeros::<f32>(3)?;
    stream.synchronize()?;
    stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    let config = LaunchConfig::new([1, 1, 1], [3, 1, 1]);
    // SAFETY: the kernel takes a slice of three elements.
    let launched = unsafe { kernel.launch(&stream, config, &mut out) };
    let ended = stream.end_capture(sys::CUgraphInstantiate_flags(0));
    match launched {
        Ok(()) => {
            ended?.ok_or("nothing was captured")?.launch()?;
            stream.synchronize()?;
        }
        Err(Error::Driver(e)) => {
            assert!((900..=908).contains(&e.code), "{e}");
            assert!(e.hint.is_some_and(|hint| hint.contains("event tracking")));
        }
        Err(other) => panic!("{other}"),
    }
    // An event of a capture cannot be waited for, which is what dropping a slice does.
    std::mem::forget(out);
    Ok(())
}

fn two_contexts(gpu: &Gpu) -> Tested {
    let other = gpu::context(0)?;
    let program = nvvm::Program::new(&gpu.toolkit)?;
    program.add_module("saxpy.ll", SAXPY)?;
    for context in [&gpu.context, &other] {
        let gpu = Gpu {
            stream: context.default_stream(),
            context: context.clone(),
            toolkit: gpu.toolkit.clone(),
        };
        saxpy(&gpu, &program.load(context)?)?;
    }
    Ok(())
}

fn ordinal(_: &Gpu) -> Tested {
    let count = gpu::device_count()?;
    for ordinal in [count, usize::MAX] {
        let refused = gpu::context(ordinal).unwrap_err();
        assert!(matches!(refused, Error::InvalidInput(_)), "{refused}");
    }
    Ok(())
}

fn other_device(gpu: &Gpu) -> Tested {
    let other = gpu::context(1)?;
    let program = nvvm::Program::new(&gpu.toolkit)?;
    program.add_module("saxpy.ll", SAXPY)?;
    let there = Gpu {
        stream: other.default_stream(),
        context: other.clone(),
        toolkit: gpu.toolkit.clone(),
    };
    let (here, module) = (program.load(&gpu.context)?, program.load(&other)?);
    saxpy(gpu, &here)?;
    saxpy(&there, &module)?;
    let kernel = here.kernel("saxpy")?;
    let pointer = DevicePtr(0);
    let arguments = (0_u32, 0.0_f32, pointer, pointer);
    // SAFETY: it is refused.
    let refused = unsafe { kernel.launch(&there.stream, LaunchConfig::for_elements(1), arguments) };
    assert!(
        matches!(refused, Err(Error::InvalidInput(_))),
        "{refused:?}"
    );
    Ok(())
}

fn two_context_values(_: &Gpu) -> Tested {
    let (one, other) = (gpu::context(0)?, gpu::context(0)?);
    let mut out = one.default_stream().alloc_zeros::<f32>(3)?;
    let module = Module::load(&other, &Ptx::from_text(GLOBALS)?)?;
    let kernel = module.kernel("weigh")?;
    let stream = other.new_stream()?;
    // SAFETY: the kernel takes a slice of three elements.
    let launched = unsafe { kernel.launch(&stream, LaunchConfig::for_elements(3), &mut out) };
    match launched {
        Err(Error::InvalidInput(e)) => assert!(e.problem.contains("CudaContext"), "{e}"),
        other => panic!("{other:?}"),
    }
    Ok(())
}

fn last_owner(_: &Gpu) -> Tested {
    let devices = gpu::device_count()?;
    // On a device that no other test holds, where there is one.
    let context = gpu::context(devices - 1)?;
    let module = Module::load(&context, &Ptx::from_text(GLOBALS)?)?;
    drop(context);
    // SAFETY: null is no context.
    unsafe { result::ctx::set_current(std::ptr::null_mut())? };
    module.unload()?;
    assert_eq!(current(), None);
    Ok(())
}
