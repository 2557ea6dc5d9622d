//! From a program to numbers, with cudarc's contexts, streams and slices, on a driver that is none.

use std::ffi::{CStr, c_char};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use crate::error::Error;
use crate::gpu::cudarc::driver::{CudaContext, CudaStream, DevicePtr as _};
use crate::gpu::{self, ArgumentList, DevicePtr, LaunchConfig, Module};
use crate::nvvm::Program;
use crate::testing::again_in_a_process_of_its_own;
use crate::toolkit::Toolkit;

/// What the fake driver was asked since the last time.
fn said() -> String {
    // SAFETY: the fake is in this process already, and runs nothing when it is opened.
    let fake = unsafe { libloading::Library::new("libcuda.so.1") }.unwrap();
    // SAFETY: the fake defines both, with these signatures; its text is copied.
    unsafe {
        let said = fake
            .get::<unsafe extern "C" fn() -> *const c_char>(b"fake_said")
            .unwrap();
        let text = CStr::from_ptr(said()).to_str().unwrap().to_owned();
        fake.get::<unsafe extern "C" fn()>(b"fake_forget").unwrap()();
        text
    }
}

fn on_the_fake(variables: &[(&str, &str)], test: impl FnOnce(&Arc<CudaContext>)) {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/gpu/tests/fake_driver.c");
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-w", "-o"])
        .arg(folder.path().join("libcuda.so.1"))
        .arg(source)
        .status()
        .unwrap();
    assert!(made.success());
    // cudarc asks for this name first, and must not meet the machine's own driver.
    std::os::unix::fs::symlink("libcuda.so.1", folder.path().join("libcuda.so")).unwrap();
    let mut all = vec![("LD_LIBRARY_PATH", folder.path().to_str().unwrap())];
    all.extend(variables);
    again_in_a_process_of_its_own(&all, || test(&gpu::context(0).unwrap()));
}

fn saxpy(context: &Arc<CudaContext>) -> Module {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/toolkits/13.5");
    let toolkit = Toolkit::at(root)
        .unwrap_or_else(|e| panic!("install it with `cargo xtask toolkit 13.5`: {e}"));
    let program = Program::new(&toolkit).unwrap();
    let source = include_bytes!("../../../fixtures/saxpy.ll");
    program.add_module("saxpy.ll", source).unwrap();
    program.load(context).unwrap()
}

fn current(context: &CudaContext) -> bool {
    let driver = gpu::Driver::get().unwrap();
    // SAFETY: only compared.
    let there = unsafe { crate::sys::cuda::RawContext::new(context.cu_ctx().cast()) };
    driver.api.current() == Ok(there)
}

#[test]
fn a_program_is_compiled_loaded_and_launched_in_the_order_of_its_slices() {
    on_the_fake(&[], |context| {
        let kernel = saxpy(context).kernel("saxpy").unwrap();
        let (one, two) = (context.new_stream().unwrap(), context.new_stream().unwrap());
        let x = one.clone_htod(&[1.0_f32, 2.0, 3.0]).unwrap();
        let mut y = one.clone_htod(&[10.0_f32; 3]).unwrap();
        said();
        let config = LaunchConfig::for_elements(3);
        // SAFETY: the fake touches three elements of each.
        unsafe { kernel.launch(&two, config, (3_i32, 2.0_f32, &x, &mut y)) }.unwrap();
        // Behind the write of x, and the read and the write of y; then the read of x and the write
        // of y are noted.
        insta::assert_snapshot!(said(), @r"
        stream 2 waits for event 2
        stream 2 waits for event 3
        stream 2 waits for event 4
        launch on stream 2, 1 blocks of 256
        event 1 records stream 2
        event 4 records stream 2
        ");
        assert_eq!(one.clone_dtoh(&y).unwrap(), [12.0, 14.0, 16.0]);
    });
}

#[test]
fn views_pointers_and_lists_lead_to_the_same_memory() {
    on_the_fake(&[], |context| {
        let kernel = saxpy(context).kernel("saxpy").unwrap();
        let stream: Arc<CudaStream> = context.default_stream();
        let x = stream.clone_htod(&[1.0_f32, 2.0, 3.0, 4.0]).unwrap();
        let mut y = stream.clone_htod(&[0.0_f32; 4]).unwrap();
        let config = LaunchConfig::for_elements(2);
        // SAFETY: the fake touches two elements of each.
        unsafe {
            let (upper, mut lower) = (x.slice(2..), y.slice_mut(..2));
            kernel
                .launch(&stream, config, (2_i32, 1.0_f32, &upper, &mut lower))
                .unwrap();
            let (address, _note) = x.device_ptr(&stream);
            let mut list = ArgumentList::new();
            let mut last = y.slice_mut(2..);
            list.push((2_i32, 10.0_f32))
                .push(DevicePtr(address))
                .push(&mut last);
            kernel.launch(&stream, config, list).unwrap();
        }
        assert_eq!(stream.clone_dtoh(&y).unwrap(), [3.0, 4.0, 10.0, 20.0]);
    });
}

#[test]
fn what_cudarc_cannot_order_is_not_launched() {
    on_the_fake(&[("FAKE_WAITS_FAIL", "1")], |context| {
        let kernel = saxpy(context).kernel("saxpy").unwrap();
        let stream = context.new_stream().unwrap();
        // Not through a copy, whose own waits fail.
        // SAFETY: the memory is not read.
        let mut y = unsafe { stream.alloc::<f32>(3) }.unwrap();
        said();
        let arguments = (3_i32, 2.0_f32, DevicePtr(0), &mut y);
        // SAFETY: it is not launched.
        let refused = unsafe { kernel.launch(&stream, LaunchConfig::for_elements(3), arguments) };
        let error = refused.unwrap_err();
        assert_eq!(error.raw_code(), Some(905));
        assert!(error.to_string().contains("event tracking"), "{error}");
        assert!(!said().contains("launch"));
    });
}

#[test]
fn every_call_leaves_the_callers_context() {
    on_the_fake(&[], |context| {
        assert!(!current(context), "making a context made it current");
        let module = saxpy(context);
        let kernel = module.kernel("saxpy").unwrap();
        let weights = module.global::<f32>("weights").unwrap();
        let stream = context.default_stream();
        assert_eq!(weights.read(&stream).unwrap(), [1.5, 2.5]);
        weights.write(&stream, &[3.0, 4.0]).unwrap();
        assert_eq!(weights.read(&stream).unwrap(), [3.0, 4.0]);
        kernel.attributes().unwrap();
        let arguments = (0_i32, 0.0_f32, DevicePtr(0), DevicePtr(0));
        // SAFETY: the fake touches nothing for a count of zero.
        unsafe { kernel.launch(&stream, LaunchConfig::for_elements(0), arguments) }.unwrap();
        drop((kernel, weights));
        module.unload().unwrap();
        assert!(!current(context));
    });
}

#[test]
fn an_ordinal_that_no_device_has_is_an_error() {
    on_the_fake(&[], |_| {
        assert_eq!(gpu::device_count().unwrap(), 1);
        for ordinal in [1, usize::MAX] {
            let refused = gpu::context(ordinal).unwrap_err();
            assert!(matches!(refused, Error::InvalidInput(_)), "{refused}");
        }
    });
}
