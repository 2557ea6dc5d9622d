//! What it costs to get a kernel onto a GPU: PTX by the driver's own compiler, PTX by nvJitLink, and a
//! cubin made before; and a first call from 64 threads against one from a single thread.
//!
//! `cargo bench --bench gpu_load`; says so and ends where there is no GPU. The driver keeps what it
//! compiled on disk, so this runs with `CUDA_CACHE_DISABLE=1` and sets it itself. The ways are taken
//! by turns in one run; medians of many, with the quarter marks.

use std::sync::Barrier;
use std::time::Instant;

use cuda_program::artifact::IsaVersion;
use cuda_program::gpu::{self, LazyKernel, LoadOptions, LoadPolicy, Module};
use cuda_program::{Error, Ptx, Toolkit, nvvm};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const ROUNDS: usize = 40;
const THREADS: usize = 64;
const GELU: &str = include_str!("../fixtures/gelu.ll");

fn main() -> Result<(), Failure> {
    const NO_CACHE: &str = "CUDA_CACHE_DISABLE";
    if std::env::var_os(NO_CACHE).is_none() {
        // Set for a process of its own, since the driver reads it when it is opened.
        let status = std::process::Command::new(std::env::current_exe()?)
            .env(NO_CACHE, "1")
            .status()?;
        std::process::exit(status.code().unwrap_or(1));
    }
    let context = match gpu::context(0) {
        Ok(context) => context,
        Err(error @ Error::NoDriver(_)) => {
            println!("{error}");
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let toolkit = Toolkit::discover()?;
    let arch = gpu::arch(&context)?;
    println!(
        "{} for {arch}, driver {:?}",
        toolkit.nvvm()?.library,
        gpu::Driver::get()?.version()
    );
    let program = nvvm::Program::new(&toolkit)?;
    program.add_module("gelu.ll", GELU)?;
    // A version that the driver reads, so that all ways are open to it.
    let options = nvvm::Options::new(arch).ptx_version(IsaVersion { major: 8, minor: 6 });
    let ptx: Ptx = program.compile(&options)?;

    if let Some(way) = std::env::args().find_map(|a| a.strip_prefix("cold-").map(str::to_owned)) {
        return cold(&way, &context, &toolkit, &ptx);
    }
    for way in ["driver", "linker"] {
        let mut times = (0..7)
            .map(|_| cold_in_a_process(way))
            .collect::<Result<Vec<f64>, _>>()?;
        show(
            &format!("first load of a process, by the {way}"),
            &mut times,
        );
    }

    let by_driver = LoadOptions::default().policy(LoadPolicy::Driver);
    let by_linker = LoadOptions::default()
        .policy(LoadPolicy::Cubin)
        .toolkit(&toolkit);
    let (mut driver, mut linker) = (Vec::new(), Vec::new());
    let (mut one, mut many) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS + 5 {
        let load = |options: &LoadOptions| -> Result<f64, Failure> {
            let start = Instant::now();
            let module = Module::load_with(&context, &ptx, options)?;
            module.kernel("gelu")?;
            Ok(start.elapsed().as_secs_f64() * 1e3)
        };
        let times = (
            load(&by_driver)?,
            load(&by_linker)?,
            first_call(&ptx, &by_linker, 1)?,
            first_call(&ptx, &by_linker, THREADS)?,
        );
        // The first few open libraries and fill caches.
        if round >= 5 {
            driver.push(times.0);
            linker.push(times.1);
            one.push(times.2);
            many.push(times.3);
        }
    }
    show("PTX, compiled by the driver", &mut driver);
    show("PTX, compiled by nvJitLink", &mut linker);
    println!(
        "  nvJitLink against the driver: {:.2}",
        median(&linker) / median(&driver)
    );
    show("first call, one thread", &mut one);
    show("first call, 64 threads", &mut many);
    println!(
        "  64 threads against one: {:.2}",
        median(&many) / median(&one)
    );
    Ok(())
}

/// Milliseconds of the first load of a new process, with the libraries that it opens for it.
fn cold_in_a_process(way: &str) -> Result<f64, Failure> {
    let output = std::process::Command::new(std::env::current_exe()?)
        .arg(format!("cold-{way}"))
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let time = said.lines().last().and_then(|line| line.parse().ok());
    Ok(time.ok_or_else(|| format!("the process for {way} said {said:?}"))?)
}

fn cold(
    way: &str,
    context: &std::sync::Arc<gpu::cudarc::driver::CudaContext>,
    toolkit: &Toolkit,
    ptx: &Ptx,
) -> Result<(), Failure> {
    let policy = match way {
        "driver" => LoadPolicy::Driver,
        _ => LoadPolicy::Cubin,
    };
    let options = LoadOptions::default().policy(policy).toolkit(toolkit);
    let start = Instant::now();
    Module::load_with(context, ptx, &options)?.kernel("gelu")?;
    println!("{}", start.elapsed().as_secs_f64() * 1e3);
    Ok(())
}

/// Milliseconds from the first of `threads` asking for a new kernel to the last having it.
fn first_call(ptx: &Ptx, options: &LoadOptions, threads: usize) -> Result<f64, Failure> {
    let code = ptx.clone();
    let kernel = LazyKernel::with("gelu", options.clone(), move |_| Ok(code.clone()));
    let together = Barrier::new(threads);
    let times = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    together.wait();
                    let asked = Instant::now();
                    kernel.get(0).map(|_| (asked, Instant::now()))
                })
            })
            .collect();
        let mut times = Vec::new();
        for call in calls {
            times.push(call.join().map_err(|_| "a thread panicked")??);
        }
        Ok::<_, Failure>(times)
    })?;
    let first = times.iter().map(|(asked, _)| *asked).min();
    let last = times.iter().map(|(_, got)| *got).max();
    let time = first.zip(last).map(|(first, last)| last - first);
    Ok(time.unwrap_or_default().as_secs_f64() * 1e3)
}

fn show(what: &str, times: &mut [f64]) {
    times.sort_by(f64::total_cmp);
    let at = |part: usize| times[times.len() * part / 4];
    println!(
        "{what}: median {:.3} ms ({:.3} to {:.3})",
        at(2),
        at(1),
        at(3)
    );
}

/// Of sorted times.
fn median(times: &[f64]) -> f64 {
    times[times.len() / 2]
}
