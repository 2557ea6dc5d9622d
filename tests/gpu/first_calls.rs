//! First calls of lazy kernels from many threads at once, on the device itself.
//!
//! A lock that the first call of one kernel leaves behind shows in the first call of another alone. So
//! every round ends with a second kernel, and a watchdog ends the process where one hangs.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cuda_program::gpu::cudarc::driver::DevicePtr as _;
use cuda_program::gpu::{DevicePtr, LaunchConfig, LazyKernel};
use cuda_program::{Arch, Cubin, Ptx, gpu, nvvm};

use crate::{Gpu, Needs, Test, Tested, raw, test};

pub fn tests() -> Vec<Test> {
    vec![
        test(
            "first_calls_from_64_threads_on_16_streams_load_once",
            |gpu| first_calls(gpu, 1, 64, 1_000),
        ),
        Test(
            "first_calls_on_two_devices_at_once_load_once_on_each".to_owned(),
            Needs::Devices(2),
            Box::new(|gpu| first_calls(gpu, gpu::device_count()?, 64, 300)),
        ),
        test(
            "three_threads_make_the_first_call_of_a_kernel_without_arguments",
            |gpu| without_arguments(gpu, 3),
        ),
        test(
            "one_thread_makes_the_first_call_of_a_kernel_without_arguments",
            |gpu| without_arguments(gpu, 1),
        ),
        test(
            "a_lazy_kernel_compiles_at_its_first_call_and_computes",
            compiled_late,
        ),
        test(
            "a_compilation_that_fails_fails_all_who_wait_and_is_tried_again",
            failed_first,
        ),
    ]
}

const KERNELS: &str = r#"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define void @mark(i32* %out, i32 %at, i32 %value) {
  %place = getelementptr i32, i32* %out, i32 %at
  store i32 %value, i32* %place
  ret void
}
define void @nothing() {
  ret void
}
!nvvm.annotations = !{!0, !1}
!0 = !{void (i32*, i32, i32)* @mark, !"kernel", i32 1}
!1 = !{void ()* @nothing, !"kernel", i32 1}
!nvvmir.version = !{!2}
!2 = !{i32 2, i32 0}
"#;

fn compile(gpu: &Gpu, arch: Arch) -> cuda_program::Result<Ptx> {
    let program = nvvm::Program::new(&gpu.toolkit)?;
    program.add_module("kernels.ll", KERNELS)?;
    program.compile(&nvvm::Options::new(arch))
}

/// The kernels for the device, finished once, so that a round is the load alone.
fn cubin(gpu: &Gpu) -> Result<Cubin, Box<dyn std::error::Error>> {
    let (major, minor) = gpu.context.compute_capability()?;
    let arch = Arch::from_capability(major, minor)?;
    let ptx = compile(gpu, arch)?;
    let cubin = raw::cubin_of_ptx(&gpu.toolkit, ptx.as_str(), &arch.sm());
    Ok(Cubin::from_bytes(cubin)?)
}

fn within<R>(limit: Duration, test: impl FnOnce() -> R) -> R {
    let (done, watched) = std::sync::mpsc::channel::<()>();
    std::thread::spawn(move || {
        use std::sync::mpsc::RecvTimeoutError;
        if watched.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            eprintln!("a first call hangs: not done after {limit:?}");
            std::process::abort();
        }
    });
    let result = test();
    drop(done);
    result
}

fn first_calls(gpu: &Gpu, devices: usize, threads: usize, rounds: usize) -> Tested {
    const STREAMS: usize = 16;
    let cubin = cubin(gpu)?;
    // One set of kernels a round: the one that all call first, and the one that shows a leaked lock.
    let kernels: Vec<[LazyKernel; 2]> = (0..rounds)
        .map(|_| [(); 2].map(|()| LazyKernel::from_code("mark", cubin.clone())))
        .collect();
    let mut places = Vec::new();
    for device in 0..devices {
        let context = gpu::context(device)?;
        let streams: Vec<_> = (0..STREAMS)
            .map(|_| context.new_stream())
            .collect::<Result<_, _>>()?;
        // A place for each thread's two calls in each round.
        let out = streams[0].alloc_zeros::<i32>(rounds * threads * 2)?;
        streams[0].synchronize()?;
        places.push((context, streams, out));
    }
    let together = Barrier::new(threads);
    let failed = AtomicUsize::new(0);
    within(Duration::from_secs(240), || {
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let (kernels, places, together, failed) = (&kernels, &places, &together, &failed);
                scope.spawn(move || {
                    let (_, streams, out) = &places[thread % devices];
                    let stream = &streams[thread / devices % STREAMS];
                    let (address, _note) = out.device_ptr(&streams[0]);
                    for (round, [kernel, canary]) in kernels.iter().enumerate() {
                        let call = |kernel: &LazyKernel, which: usize| {
                            let at = i32::try_from((round * threads + thread) * 2 + which).unwrap();
                            let arguments = (DevicePtr(address), at, at + 1);
                            // SAFETY: the kernel writes one element, of its own.
                            unsafe {
                                kernel.launch(stream, LaunchConfig::for_elements(1), arguments)
                            }
                        };
                        together.wait();
                        let first = call(kernel, 0);
                        together.wait();
                        // One thread alone, then all: a leaked lock would stop it here.
                        let second = call(canary, 1);
                        if first.is_err() || second.is_err() {
                            eprintln!("round {round}, thread {thread}: {first:?} {second:?}");
                            failed.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                    if stream.synchronize().is_err() {
                        failed.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
    });
    assert_eq!(failed.into_inner(), 0);
    for (device, (_, streams, out)) in places.iter().enumerate() {
        let got = streams[0].clone_dtoh(out)?;
        for (at, &value) in got.iter().enumerate() {
            let thread = at / 2 % threads;
            let expected = if thread % devices == device {
                i32::try_from(at)? + 1
            } else {
                0
            };
            assert_eq!(value, expected, "element {at} on device {device}");
        }
    }
    for kernel in kernels.iter().flatten() {
        let loads = kernel.stats().loads;
        assert_eq!(loads.len(), devices);
        assert!(loads.values().all(|&loads| loads == 1), "{loads:?}");
    }
    Ok(())
}

fn without_arguments(gpu: &Gpu, threads: usize) -> Tested {
    const ROUNDS: usize = 1_000;
    let cubin = cubin(gpu)?;
    let kernels: Vec<[LazyKernel; 2]> = (0..ROUNDS)
        .map(|_| [(); 2].map(|()| LazyKernel::from_code("nothing", cubin.clone())))
        .collect();
    let together = Barrier::new(threads);
    let called = AtomicUsize::new(0);
    within(Duration::from_secs(120), || {
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let (kernels, together, called) = (&kernels, &together, &called);
                let stream = &gpu.stream;
                scope.spawn(move || {
                    for [kernel, canary] in kernels {
                        together.wait();
                        // SAFETY: the kernel takes no arguments and touches no memory.
                        let first =
                            unsafe { kernel.launch(stream, LaunchConfig::for_elements(1), ()) };
                        together.wait();
                        let mut calls = usize::from(first.is_ok());
                        if thread == 0 {
                            // SAFETY: as above.
                            let second =
                                unsafe { canary.launch(stream, LaunchConfig::for_elements(1), ()) };
                            calls += usize::from(second.is_ok());
                        }
                        called.fetch_add(calls, Ordering::Relaxed);
                    }
                });
            }
        });
    });
    gpu.stream.synchronize()?;
    assert_eq!(called.into_inner(), ROUNDS * (threads + 1));
    for kernel in kernels.iter().flatten() {
        assert_eq!(kernel.stats().loads.values().sum::<u64>(), 1);
    }
    Ok(())
}

fn compiled_late(gpu: &Gpu) -> Tested {
    let toolkit = gpu.toolkit.clone();
    let kernel = LazyKernel::new("mark", move |arch| {
        let program = nvvm::Program::new(&toolkit)?;
        program.add_module("kernels.ll", KERNELS)?;
        program.compile::<Ptx>(&nvvm::Options::new(arch))
    });
    let mut out = gpu.stream.alloc_zeros::<i32>(3)?;
    for (at, value) in [(0, 5), (2, 7)] {
        // SAFETY: the kernel writes one of three elements.
        unsafe {
            kernel.launch(
                &gpu.stream,
                LaunchConfig::for_elements(1),
                (&mut out, at, value),
            )?;
        }
    }
    assert_eq!(gpu.stream.clone_dtoh(&out)?, [5, 0, 7]);
    assert_eq!(kernel.stats().compiles.values().sum::<u64>(), 1);
    Ok(())
}

fn failed_first(gpu: &Gpu) -> Tested {
    const THREADS: usize = 32;
    let toolkit = gpu.toolkit.clone();
    let fail = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let failing = fail.clone();
    let kernel = LazyKernel::new("mark", move |arch| {
        let program = nvvm::Program::new(&toolkit)?;
        if failing.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(50));
            program.add_module("empty", "")?;
        }
        program.add_module("kernels.ll", KERNELS)?;
        program.compile::<Ptx>(&nvvm::Options::new(arch))
    });
    let together = Barrier::new(THREADS);
    let outcomes = || -> Vec<bool> {
        std::thread::scope(|scope| {
            let calls: Vec<_> = (0..THREADS)
                .map(|_| {
                    scope.spawn(|| {
                        together.wait();
                        kernel.get(0).is_ok()
                    })
                })
                .collect();
            calls.into_iter().map(|call| call.join().unwrap()).collect()
        })
    };
    within(Duration::from_secs(60), || {
        assert_eq!(outcomes(), [false; THREADS]);
        fail.store(false, Ordering::Relaxed);
        assert_eq!(outcomes(), [true; THREADS]);
    });
    let stats = kernel.stats();
    assert_eq!(stats.compiles.values().sum::<u64>(), 1);
    assert_eq!(stats.loads.values().sum::<u64>(), 1);
    assert!(stats.failures >= 1);
    Ok(())
}
