//! What a warm worker process costs over compiling in this process: the job there, the artifact back.
//!
//! `cargo bench --features isolate --bench isolate`. Each round does both, one after the other, and the
//! medians' ratio is what counts: the machine may be busy.

use std::hint::black_box;
use std::time::{Duration, Instant};

use cuda_program::compile::{Compiler, Emit, InProcess, Job};
use cuda_program::isolate::{Isolated, Options};
use cuda_program::{Arch, Toolkit, nvvm};

const ROUNDS: usize = 300;
const SAXPY: &str = include_str!("../fixtures/saxpy.ll");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    cuda_program::isolate::init();
    let toolkit = Toolkit::discover()?;
    println!(
        "{}, {ROUNDS} rounds of fixtures/saxpy.ll",
        toolkit.nvvm()?.library
    );
    let job = Job::nvvm(
        "saxpy.ll",
        SAXPY,
        nvvm::Options::new(Arch::SM_90),
        Emit::Ptx,
    );
    let here = InProcess::new(&toolkit);
    let workers = Isolated::with_options(&toolkit, Options::new().workers(1));
    let start = Instant::now();
    workers.warm(1)?;
    println!(
        "start of a worker  {:.1} ms",
        start.elapsed().as_secs_f64() * 1e3
    );
    for _ in 0..20 {
        black_box((here.compile(&job)?, workers.compile(&job)?));
    }
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        // Who goes first changes, so that neither always finds the caches warm.
        if round % 2 == 0 {
            without.push(timed(|| here.compile(&job).map(drop))?);
            with.push(timed(|| workers.compile(&job).map(drop))?);
        } else {
            with.push(timed(|| workers.compile(&job).map(drop))?);
            without.push(timed(|| here.compile(&job).map(drop))?);
        }
    }
    let (with, without) = (spread(with), spread(without));
    println!("in this process  {without}");
    println!("in a worker      {with}");
    println!("ratio of the medians  {:.3}", with.median / without.median);
    Ok(())
}

fn timed<E>(work: impl FnOnce() -> Result<(), E>) -> Result<Duration, E> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

/// Milliseconds: the median, and the quarter and three-quarter marks.
struct Spread {
    quarter: f64,
    median: f64,
    three_quarters: f64,
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "median {:.3} ms ({:.3} to {:.3})",
            self.median, self.quarter, self.three_quarters
        )
    }
}

fn spread(mut times: Vec<Duration>) -> Spread {
    times.sort();
    let at = |part: usize| times[times.len() * part / 4].as_secs_f64() * 1e3;
    Spread {
        quarter: at(1),
        median: at(2),
        three_quarters: at(3),
    }
}
