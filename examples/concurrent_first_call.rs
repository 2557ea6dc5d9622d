//! Many threads call a kernel for the first time at once, on every device; it is compiled once and
//! loaded once on each. Then a second kernel is called, which a lock left behind would hang.
//!
//! `cargo run --example concurrent_first_call [THREADS]`

use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use cuda_program::gpu::{LaunchConfig, LazyKernel, context, device_count};
use cuda_program::{Error, Ptx, Toolkit, nvvm};

const ELEMENTS: u32 = 10_000;
const FACTOR: f32 = 3.0;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let threads: usize = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => 64,
    };
    let devices = match device_count() {
        Ok(devices) => devices,
        Err(error @ Error::NoDriver(_)) => {
            println!("{error}");
            println!("With a GPU, this has {threads} threads make the first call of one kernel.");
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let toolkit = Toolkit::discover()?;
    let saxpy = first_calls(&toolkit, threads.max(1), devices)?;
    println!(
        "{threads} threads on {devices} devices: {:?}",
        saxpy.stats()
    );
    let canary = first_calls(&toolkit, 1, 1)?;
    println!("then a second kernel on one thread: {:?}", canary.stats());
    if saxpy.stats().loads.values().any(|loads| *loads != 1) {
        return Err("a device was loaded on more than once".into());
    }
    Ok(())
}

/// Makes a new kernel and has all threads call it at once; each checks what it computed.
fn first_calls(toolkit: &Toolkit, threads: usize, devices: usize) -> Result<LazyKernel, Failure> {
    let program = nvvm::Program::new(toolkit)?;
    program.add_module("saxpy.ll", include_str!("../fixtures/saxpy.ll"))?;
    let saxpy = LazyKernel::new("saxpy", move |arch| {
        program.compile::<Ptx>(&nvvm::Options::new(arch))
    });
    let ready = Barrier::new(threads);
    let start = Instant::now();
    thread::scope(|scope| {
        let calls: Vec<_> = (0..threads)
            .map(|n| {
                let (saxpy, ready) = (&saxpy, &ready);
                scope.spawn(move || {
                    ready.wait();
                    call(saxpy, n % devices)
                })
            })
            .collect();
        for call in calls {
            call.join().map_err(|_| "a thread panicked")??;
        }
        Ok::<(), Failure>(())
    })?;
    println!("all had the right numbers after {:.1?}", start.elapsed());
    Ok(saxpy)
}

fn call(saxpy: &LazyKernel, device: usize) -> Result<(), Failure> {
    // The first call comes before anything that another thread's could be ordered by.
    saxpy.get(device)?;
    let stream = context(device)?.new_stream()?;
    let x: Vec<f32> = (0..ELEMENTS).map(|n| n as f32).collect();
    let x = stream.clone_htod(&x)?;
    let mut y = stream.clone_htod(&vec![1.0_f32; ELEMENTS as usize])?;
    let config = LaunchConfig::for_elements(ELEMENTS);
    // SAFETY: the kernel takes these arguments, and touches that many elements of each slice.
    unsafe { saxpy.launch(&stream, config, (ELEMENTS, FACTOR, &x, &mut y))? };
    let y = stream.clone_dtoh(&y)?;
    let wrong = y
        .iter()
        .enumerate()
        .find(|(n, y)| **y != FACTOR * *n as f32 + 1.0);
    match wrong {
        None => Ok(()),
        Some((n, y)) => Err(format!("element {n} on device {device} is {y}").into()),
    }
}
