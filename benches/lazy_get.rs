//! What a warm `get` costs, and what a first call costs 64 threads against one.
//!
//! `cargo bench --bench lazy_get`. The loader is a fake that sleeps, so no GPU is needed.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use cuda_program::gpu::lazy::{Lazy, Load};
use cuda_program::{Arch, Result};

const THREADS: usize = 64;
const CALLS: u32 = 1_000_000;
const ROUNDS: usize = 31;
const LOAD: Duration = Duration::from_millis(5);

struct Sleepy;

impl Load for Sleepy {
    type Artifact = ();
    type Kernel = usize;
    fn name(&self) -> &str {
        "sleepy"
    }
    fn arch(&self, _device: usize) -> Result<Arch> {
        Ok(Arch::SM_90)
    }
    fn compile(&self, _arch: Arch) -> Result<()> {
        Ok(())
    }
    fn load(&self, device: usize, _artifact: &()) -> Result<usize> {
        thread::sleep(LOAD);
        Ok(device)
    }
}

/// Runs `work` on so many threads, which start together; what each returned.
fn together<R: Send>(threads: usize, work: impl Fn() -> R + Sync) -> Vec<R> {
    let start = Barrier::new(threads);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    work()
                })
            })
            .collect();
        threads.into_iter().filter_map(|t| t.join().ok()).collect()
    })
}

/// Processor time of the calling thread: with fewer cores than threads, the clock on the wall would
/// count the waiting for a core.
#[cfg(unix)]
fn own_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a local that lives through the call.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    let nanos = u32::try_from(time.tv_nsec).unwrap_or(0);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), nanos)
}

#[cfg(not(unix))]
fn own_time() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// Nanoseconds of one warm `get`, the slowest thread's.
fn warm(kernel: &Lazy<Sleepy>, threads: usize) -> f64 {
    let times = together(threads, || {
        let start = own_time();
        for _ in 0..CALLS {
            black_box(black_box(kernel).get(black_box(0)).is_ok());
        }
        (own_time() - start).as_secs_f64() * 1e9 / f64::from(CALLS)
    });
    times.into_iter().fold(0.0, f64::max)
}

/// Milliseconds from the start of the threads until the last has the kernel.
fn first(threads: usize) -> f64 {
    let kernel = Lazy::new(Sleepy);
    let times = together(threads, || {
        let start = Instant::now();
        black_box(kernel.get(0).is_ok());
        start.elapsed().as_secs_f64() * 1e3
    });
    times.into_iter().fold(0.0, f64::max)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Medians of one thread's and of many threads' figures, measured by turns.
fn by_turns(rounds: usize, measure: impl Fn(usize) -> f64) -> (f64, f64) {
    let (one, many): (Vec<_>, Vec<_>) = (0..rounds).map(|_| (measure(1), measure(THREADS))).unzip();
    (median(one), median(many))
}

fn main() -> Result<()> {
    let kernel = Lazy::new(Sleepy);
    kernel.get(0)?;
    let (one, many) = by_turns(ROUNDS.div_ceil(3), |threads| warm(&kernel, threads));
    println!("warm get: {one:.2} ns from 1 thread, {many:.2} ns from {THREADS}");
    let (one, many) = by_turns(ROUNDS, first);
    println!(
        "first call, {LOAD:?} of work: {one:.2} ms for 1 thread, {many:.2} ms for {THREADS}, ratio {:.3}",
        many / one
    );
    Ok(())
}
