//! Kernels, launches and variables of a loaded module.

use std::sync::atomic::Ordering;

use rstest::rstest;

use super::fake::{self, Fake, Launch};
use crate::error::Error;
use crate::gpu::prepare::Prepared;
use crate::gpu::{ByValue, DevicePtr, Kernel, LaunchConfig, Module};
use crate::sys::cuda::consts::*;

fn module(set: impl FnOnce(&mut Fake)) -> Module {
    module_with(set, &[])
}

fn module_with(set: impl FnOnce(&mut Fake), lowered: &[(&str, &str)]) -> Module {
    let names = lowered
        .iter()
        .map(|(name, became)| ((*name).to_owned(), (*became).to_owned()));
    let prepared = Prepared {
        lowered: names.collect(),
        code: b"cubin\0".to_vec(),
        kernels: Vec::new(),
        linked: false,
        linker: None,
        diagnostics: Vec::new(),
    };
    Module::install(fake::place(set), prepared).unwrap()
}

fn launch(kernel: &Kernel, config: LaunchConfig) -> crate::Result<()> {
    let _current = kernel.inner.loaded.place.enter()?;
    kernel.allow_shared(config.shared_bytes)?;
    // SAFETY: the fake runs nothing.
    unsafe { kernel.launch_raw(fake::stream(), &config, &mut []) }
}

fn launches() -> Vec<Launch> {
    fake::with(|fake| std::mem::take(&mut fake.launches))
}

#[test]
fn an_unknown_kernel_lists_those_there_are_the_nearest_first() {
    let error = module(|_| ()).kernel("geluu").unwrap_err();
    insta::assert_snapshot!(error, @"geluu: the module has no kernel of this name; it has gelu, saxpy");
}

#[test]
fn a_kernel_is_found_by_the_names_that_its_artifact_knows() {
    let expressions = [
        ("gelu<float>", "gelu"),
        ("saxpy", "gelu"),
        ("gone<int>", "gone"),
    ];
    let module = module_with(|_| (), &expressions);
    assert_eq!(module.kernel("gelu<float>").unwrap().name(), "gelu");
    // What the code itself calls so comes first.
    assert_eq!(module.kernel("saxpy").unwrap().name(), "saxpy");
    let error = module.kernel("gone<int>").unwrap_err();
    assert!(
        matches!(&error, Error::InvalidInput(e) if e.input == "gone<int>"),
        "{error}"
    );
    insta::assert_snapshot!(module.kernel("gelu<flaot>").unwrap_err(), @"gelu<flaot>: the module has no kernel of this name; it has gelu, gelu<float>, saxpy");
}

#[test]
fn an_unknown_kernel_of_unknown_code_is_an_error_too() {
    let module = module(|fake| fake.lacks = vec!["cuLibraryEnumerateKernels"]);
    assert!(module.kernel_names().is_empty());
    let error = module.kernel("geluu").unwrap_err();
    insta::assert_snapshot!(error, @"geluu: the module has no kernel of this name; its kernels are not known by name here");
}

#[test]
fn a_name_with_a_nul_byte_is_an_error() {
    let module = module(|_| ());
    assert!(matches!(module.kernel("a\0b"), Err(Error::InvalidInput(_))));
    assert!(matches!(
        module.global::<f32>("a\0b"),
        Err(Error::InvalidInput(_))
    ));
}

#[rstest]
#[case::fits((1_u32, 2.0_f32, DevicePtr(0), DevicePtr(0)), None)]
#[case::grouped((1_u32, (2.0_f32, DevicePtr(0)), ByValue([0_u8; 8])), None)]
#[case::too_few(
    (1_u32, 2.0_f32),
    Some("it takes 4 arguments, and 2 are given")
)]
#[case::too_many(
    (1_u32, 2.0_f32, DevicePtr(0), DevicePtr(0), 1_u8),
    Some("it takes 4 arguments, and 5 are given")
)]
#[case::wrong_size(
    (1_u32, 2.0_f64, DevicePtr(0), DevicePtr(0)),
    Some("argument 1 (from 0) has 8 bytes, and the parameter has 4")
)]
fn arguments_are_compared_with_the_parameters<A: for<'a> crate::gpu::Argument<'a>>(
    #[case] arguments: A,
    #[case] problem: Option<&str>,
) {
    let kernel = module(|_| ()).kernel("saxpy").unwrap();
    // The second time says the same.
    for _ in 0..2 {
        let checked = kernel.check(&arguments);
        match problem {
            None => checked.unwrap(),
            Some(problem) => {
                let error = checked.unwrap_err().to_string();
                assert!(error.contains(problem), "{error}");
            }
        }
    }
    let found = kernel.inner.fits.load(Ordering::Relaxed) != 0;
    assert_eq!(found, problem.is_none());
}

#[test]
fn arguments_that_fit_do_not_vouch_for_others() {
    let kernel = module(|_| ()).kernel("saxpy").unwrap();
    let pointer = DevicePtr(0);
    kernel.check(&(1_u32, 2.0_f32, pointer, pointer)).unwrap();
    assert!(kernel.check(&(1_u64, 2.0_f32, pointer, pointer)).is_err());
    kernel.check(&(1_i32, 2_i32, pointer, 3_u64)).unwrap();
}

#[test]
fn a_driver_that_cannot_tell_parameters_lets_arguments_pass() {
    let module = module(|fake| fake.lacks = vec!["cuKernelGetParamInfo"]);
    let kernel = module.kernel("saxpy").unwrap();
    assert_eq!(kernel.parameters(), None);
    kernel.check(&(1_u8,)).unwrap();
}

#[test]
fn parameters_have_offsets_and_sizes() {
    let kernel = module(|_| ()).kernel("saxpy").unwrap();
    let all: Vec<_> = kernel
        .parameters()
        .unwrap()
        .iter()
        .map(|p| (p.offset, p.size))
        .collect();
    assert_eq!(all, [(0, 4), (4, 4), (8, 8), (16, 8)]);
}

#[test]
fn a_launch_brings_shape_and_attributes_in_the_modules_context() {
    let kernel = module(|fake| fake.current = vec![3])
        .kernel("gelu")
        .unwrap();
    let config = LaunchConfig::new([4, 2, 1], [32, 8, 1])
        .shared_bytes(512)
        .cooperative(true)
        .cluster([2, 1, 1]);
    launch(&kernel, config).unwrap();
    let expected = Launch {
        call: "cuLaunchKernelEx",
        grid: [4, 2, 1],
        block: [32, 8, 1],
        shared: 512,
        attributes: vec![(2, [1, 0, 0]), (4, [2, 1, 1])],
        in_context: Some(7),
    };
    assert_eq!(launches(), [expected]);
    assert_eq!(fake::with(|fake| fake.current.clone()), [3]);
}

#[rstest]
#[case(LaunchConfig::for_elements(1), "cuLaunchKernel")]
#[case(LaunchConfig::for_elements(1).cooperative(true), "cuLaunchCooperativeKernel")]
fn older_drivers_launch_by_the_older_calls(#[case] config: LaunchConfig, #[case] call: &str) {
    let module = module(|fake| fake.lacks = vec!["cuLaunchKernelEx"]);
    launch(&module.kernel("gelu").unwrap(), config).unwrap();
    assert_eq!(launches()[0].call, call);
}

#[test]
fn clusters_on_an_older_driver_are_an_error() {
    let module = module(|fake| fake.lacks = vec!["cuLaunchKernelEx"]);
    let config = LaunchConfig::for_elements(1).cluster([2, 1, 1]);
    let error = launch(&module.kernel("gelu").unwrap(), config).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    assert_eq!(launches(), []);
}

#[test]
fn a_refused_launch_says_what_to_do() {
    let module = module(|fake| fake.launch = ERROR_LAUNCH_OUT_OF_RESOURCES);
    let error = launch(
        &module.kernel("gelu").unwrap(),
        LaunchConfig::for_elements(1),
    );
    insta::assert_snapshot!(error.unwrap_err(), @"cuLaunchKernelEx failed with unknown code 701 (701) on gelu; take smaller blocks: `suggested_block` says which size fits");
    assert!(fake::with(|fake| fake.current.is_empty()));
}

#[test]
fn shared_memory_above_the_limit_raises_it_once() {
    let kernel = module(|_| ()).kernel("gelu").unwrap();
    let config = |bytes| LaunchConfig::for_elements(1).shared_bytes(bytes);
    launch(&kernel, config(48 << 10)).unwrap();
    assert_eq!(fake::with(|fake| fake.shared.1), 48 << 10);
    launch(&kernel, config(100 << 10)).unwrap();
    assert_eq!(fake::with(|fake| fake.shared.1), (227 << 10) - 1024);
    let asked = fake::with(|fake| fake.asked_attributes);
    launch(&kernel, config(200 << 10)).unwrap();
    launch(&kernel, config(1)).unwrap();
    assert_eq!(fake::with(|fake| fake.asked_attributes), asked);
}

#[test]
fn more_shared_memory_than_the_device_has_is_an_error() {
    let kernel = module(|_| ()).kernel("gelu").unwrap();
    let config = LaunchConfig::for_elements(1).shared_bytes(227 << 10);
    let error = launch(&kernel, config).unwrap_err();
    insta::assert_snapshot!(error, @"gelu: 232448 bytes of dynamic shared memory are asked for; a block of this kernel can have 231424, besides the 1024 that it always has");
    assert_eq!(launches(), []);
}

#[test]
fn attributes_and_occupancy_are_the_drivers() {
    let kernel = module(|_| ()).kernel("gelu").unwrap();
    let attributes = kernel.attributes().unwrap();
    assert_eq!(attributes.registers, 104);
    assert_eq!(attributes.shared_bytes, 1024);
    assert_eq!(attributes.binary_version, 106);
    assert_eq!(kernel.max_active_blocks(256, 0).unwrap(), 8);
    assert_eq!(kernel.max_cooperative_blocks(256, 0).unwrap(), 8 * 132);
}

#[test]
fn a_variable_has_as_many_elements_as_fit() {
    let module = module(|_| ());
    assert_eq!(module.global::<f32>("weights").unwrap().len(), 3);
    assert_eq!(module.global::<[f32; 3]>("weights").unwrap().len(), 1);
    let error = module.global::<f64>("weights").unwrap_err();
    insta::assert_snapshot!(error, @"weights: it has 12 bytes, and f64 has 8; name the type of its elements, and give as many as there are");
    let error = module.global::<f32>("weight").unwrap_err();
    insta::assert_snapshot!(error, @"weight: the module has no variable of this name; it must be defined with external linkage, and used or kept");
}

#[test]
fn a_kernel_keeps_its_module_from_being_unloaded() {
    let module = module(|_| ());
    let kernel = module.kernel("gelu").unwrap();
    let refused = module.unload().unwrap_err();
    insta::assert_snapshot!(refused, @"the module was not unloaded: module: it is still used, 1 times; drop its kernels, globals and clones first");
    let module = refused.module.unwrap();
    assert_eq!(fake::with(|fake| fake.loaded()), 1);
    drop(kernel);
    module.unload().unwrap();
    fake::with(|fake| {
        assert_eq!(fake.loaded(), 0);
        assert!(fake.current.is_empty());
    });
}

#[test]
fn a_module_whose_context_failed_is_not_unloaded() {
    let module = module(|fake| fake.synchronize = ERROR_ILLEGAL_ADDRESS);
    let refused = module.unload().unwrap_err();
    assert_eq!(refused.error.raw_code(), Some(ERROR_ILLEGAL_ADDRESS));
    assert_eq!(fake::with(|fake| fake.loaded()), 1);
    fake::with(|fake| fake.synchronize = 0);
    refused.module.unwrap().unload().unwrap();
    assert_eq!(fake::with(|fake| fake.loaded()), 0);
}

#[test]
fn what_is_loaded_goes_from_thread_to_thread() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<Module>();
    shared::<Kernel>();
    shared::<crate::gpu::Global<f32>>();
    let kernel = module(|_| ()).kernel("gelu").unwrap();
    let name = std::thread::spawn(move || kernel.name().to_owned()).join();
    assert_eq!(name.unwrap(), "gelu");
}
