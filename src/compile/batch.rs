//! Many jobs at once.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::all_cores::AllCores;
use super::in_process::Compiler;
use super::job::Job;
use super::output::Output;
use crate::error::{Error, Result};
use crate::nvrtc::CancelToken;
use crate::toolkit::Toolkit;

/// A job of many is done.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// Its place among the jobs, from 0.
    pub index: usize,
    /// What came of it.
    pub result: &'a Result<Output>,
    /// How many are done, with this one.
    pub done: usize,
    /// How many there are.
    pub of: usize,
}

type OnDone<'a> = Box<dyn Fn(Progress<'_>) + Send + Sync + 'a>;

/// How many jobs are run.
///
/// ```
/// use cuda_program::compile::{Batch, Emit, Job};
/// use cuda_program::{Arch, Toolkit, nvrtc};
///
/// # fn main() -> cuda_program::Result<()> {
/// # /*
/// let toolkit = Toolkit::discover()?;
/// # */
/// # let toolkit = Toolkit::at(concat!(env!("CARGO_MANIFEST_DIR"), "/target/toolkits/13.5"))?;
/// let jobs: Vec<Job> = (0..8)
///     .map(|n| {
///         let source = format!("extern \"C\" __global__ void k(int *p) {{ *p = {n}; }}");
///         Job::cpp("k.cu", source, nvrtc::Options::new(Arch::SM_90), Emit::Ptx)
///     })
///     .collect();
/// let results = Batch::new()
///     .on_done(|progress| println!("{} of {}", progress.done, progress.of))
///     .run_on(&toolkit, &jobs);
/// assert!(results.iter().all(Result::is_ok));
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
#[must_use]
pub struct Batch<'a> {
    threads: Option<usize>,
    token: Option<CancelToken>,
    on_done: Option<OnDone<'a>>,
}

impl fmt::Debug for Batch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("threads", &self.threads)
            .field("token", &self.token)
            .field("on_done", &self.on_done.is_some())
            .finish()
    }
}

impl<'a> Batch<'a> {
    /// All at once that the processors take.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many jobs run at once; 0 counts as 1. Default: as many as the process has processors.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads.max(1));
        self
    }

    /// Jobs that have not begun when the token is cancelled are not run, and are
    /// [`Error::Cancelled`]; those that have begun are finished.
    pub fn token(mut self, token: &CancelToken) -> Self {
        self.token = Some(token.clone());
        self
    }

    /// Sets what is called when a job is done, in the order in which they are; calls come one at a time,
    /// from the threads that compile. Jobs that were called off are done too.
    pub fn on_done(mut self, on_done: impl Fn(Progress<'_>) + Send + Sync + 'a) -> Self {
        self.on_done = Some(Box::new(on_done));
        self
    }

    /// Runs the jobs on the libraries of a toolkit, as [`AllCores`] does, and gives what came of each, in
    /// their order.
    pub fn run_on(&self, toolkit: &Toolkit, jobs: &[Job]) -> Vec<Result<Output>> {
        self.run(&AllCores::new(toolkit), jobs)
    }

    /// Runs the jobs by a compiler, and gives what came of each, in their order.
    ///
    /// # Panics
    ///
    /// Where the compiler or the function for each job panics.
    pub fn run(&self, compiler: &dyn Compiler, jobs: &[Job]) -> Vec<Result<Output>> {
        let threads = self
            .threads
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
            .min(jobs.len());
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Done {
            results: jobs.iter().map(|_| None).collect(),
            count: 0,
        });
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(job) = jobs.get(index) else { break };
                        let result = match &self.token {
                            Some(token) if token.is_cancelled() => Err(Error::Cancelled {
                                reason: "its token was cancelled before it began".to_owned(),
                            }),
                            _ => compiler.compile(job),
                        };
                        let mut done = done.lock();
                        done.count += 1;
                        if let Some(on_done) = &self.on_done {
                            on_done(Progress {
                                index,
                                result: &result,
                                done: done.count,
                                of: jobs.len(),
                            });
                        }
                        if let Some(place) = done.results.get_mut(index) {
                            *place = Some(result);
                        }
                    }
                });
            }
        });
        // Each was taken by one thread, and a panic of a thread has ended this function.
        done.into_inner().results.into_iter().flatten().collect()
    }
}

struct Done {
    results: Vec<Option<Result<Output>>>,
    count: usize,
}

/// Runs jobs on all cores on the libraries of a toolkit, and gives what came of each, in their order;
/// [`Batch`] has progress, cancellation and other compilers.
pub fn compile_all(toolkit: &Toolkit, jobs: &[Job]) -> Vec<Result<Output>> {
    Batch::new().run_on(toolkit, jobs)
}
