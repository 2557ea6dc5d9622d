//! What a hit costs: the look for the key, memory, and the disk, beside the compilation itself.
//!
//! `cargo bench --bench cache --features cache-disk`. Each number is the median of many runs, with
//! the quarter and three-quarter marks; hashing alone is measured beside, since no hit can cost less.

use std::hint::black_box;
use std::time::{Duration, Instant};

use cuda_program::cache::{Cached, Disk, Keys};
use cuda_program::compile::{Compiler, Emit, InProcess, Job, Output};
use cuda_program::{Arch, Toolkit, nvrtc, nvvm};

const ROUNDS: usize = 2000;
const SAXPY: &str = include_str!("../fixtures/saxpy.ll");

type Failed = Box<dyn std::error::Error>;

fn main() -> Result<(), Failed> {
    let toolkit = Toolkit::discover()?;
    println!("{}, {ROUNDS} rounds", toolkit.nvvm()?.library);
    let folder = tempfile::tempdir()?;
    let disk = Disk::at(folder.path());
    // A comment makes the job as long as wanted and leaves the artifact as it is.
    let padded = |length: usize| format!("{SAXPY}{}\n", ";".repeat(length - SAXPY.len()));
    let ten_kb = Job::nvvm(
        "saxpy.ll",
        padded(10_000),
        nvvm::Options::new(Arch::SM_90),
        Emit::Ptx,
    );
    let plain = Job::cpp(
        "k.cu",
        format!(
            "extern \"C\" __global__ void k(int *p) {{ *p = 1; }}\n//{}",
            " ".repeat(10_000)
        ),
        nvrtc::Options::new(Arch::SM_90),
        Emit::Ptx,
    );
    let with_headers = Job::cpp(
        "k.cu",
        "#include <cuda_fp16.h>\nextern \"C\" __global__ void k(__half *p) { *p = 1; }",
        nvrtc::Options::new(Arch::SM_90),
        Emit::Ptx,
    );
    println!("a job of 10 kB of NVVM IR");
    hits(&toolkit, &disk, &ten_kb)?;
    println!("a job of 10 kB of CUDA C++");
    hits(&toolkit, &disk, &plain)?;
    println!("CUDA C++ that includes a header of the toolkit");
    hits(&toolkit, &disk, &with_headers)?;
    for emit in [Emit::Ptx, Emit::LtoIr, Emit::Cubin] {
        let job = Job::cpp(
            "large.cu",
            large(match emit {
                Emit::Ptx => 50,
                Emit::LtoIr => 75,
                _ => 12,
            }),
            nvrtc::Options::new(Arch::SM_90),
            emit,
        );
        println!("an artifact from the disk: {emit:?}");
        hits(&toolkit, &disk, &job)?;
    }
    Ok(())
}

/// Kernels enough for an artifact of about 20 kB.
fn large(kernels: usize) -> String {
    (0..kernels)
        .map(|n| {
            format!("extern \"C\" __global__ void kernel_{n}(float *p) {{ p[threadIdx.x] *= {n}.5f; }}\n")
        })
        .collect()
}

fn hits(toolkit: &Toolkit, disk: &Disk, job: &Job) -> Result<(), Failed> {
    let bytes = match &job.source {
        cuda_program::compile::Source::Nvvm(nvvm) => nvvm.modules[0].ir.clone(),
        cuda_program::compile::Source::Cpp(cpp) => cpp.source.clone().into_bytes(),
        _ => Vec::new(),
    };
    let compiler = InProcess::new(toolkit);
    let cached = Cached::new(compiler.clone(), toolkit).disk(disk);
    let output: Output = cached.compile(job)?;
    let no_memory = Cached::new(compiler.clone(), toolkit).memory(0).disk(disk);
    let keys = Keys::new(toolkit);
    keys.key(job)?;
    show("compiled", 10, || compiler.compile(job).map(drop))?;
    show("source hashed by blake3 alone", ROUNDS, || {
        black_box(blake3::hash(black_box(&bytes)));
        Ok::<(), Failed>(())
    })?;
    show("key", ROUNDS, || {
        black_box(keys.key(job)?);
        Ok::<(), Failed>(())
    })?;
    show("memory, shared", ROUNDS, || {
        cached.compile_shared(job).map(drop)
    })?;
    show("memory, copied", ROUNDS, || cached.compile(job).map(drop))?;
    let found = format!("disk, {} bytes", output.as_bytes().len());
    show(&found, ROUNDS, || no_memory.compile_shared(job).map(drop))?;
    let stats = no_memory.stats();
    if stats.misses > 0 || stats.disk_hits == 0 {
        return Err(format!("not every round was a hit: {stats:?}").into());
    }
    Ok(())
}

fn show<E>(what: &str, rounds: usize, mut work: impl FnMut() -> Result<(), E>) -> Result<(), E> {
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed());
    }
    times.sort();
    let at = |part: usize| micros(times[times.len() * part / 4]);
    println!(
        "  {what:32} {:9.2} us ({:.2} to {:.2})",
        at(2),
        at(1),
        at(3)
    );
    Ok(())
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
