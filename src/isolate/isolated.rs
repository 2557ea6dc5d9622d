//! The compiler that runs jobs in worker processes.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::message::{self, Reply, Request, Setup};
use super::options::Options;
use super::pool::Pool;
use super::process::{NotStarted, Outcome, Process, signal_and_code};
use super::program;
use crate::compile::{Compiler, Emit, Job, Output, Source};
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::{CompilerDied, Error, Result};
use crate::toolkit::{Part, Toolkit};

/// Runs jobs in worker processes, which are reused; see the [module](super).
///
/// A clone shares the workers. They end with the last clone, and with this process however it ends. A
/// worker that ends in its first job ended by that job; where it had done others before, or was killed
/// from outside (`SIGKILL`), the job gets one more try on a new worker.
#[derive(Clone)]
pub struct Isolated {
    inner: Arc<Inner>,
}

struct Inner {
    toolkit: Toolkit,
    options: Options,
    owner: u32,
    pool: Pool<Process>,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Counts {
    started: AtomicU64,
    died: AtomicU64,
    timed_out: AtomicU64,
    retried: AtomicU64,
}

/// What the workers have done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Workers that were started.
    pub started: u64,
    /// Workers that ended in a job.
    pub died: u64,
    /// Workers that were ended for a deadline.
    pub timed_out: u64,
    /// Jobs that got a second worker.
    pub retried: u64,
    /// Workers that wait for a job now.
    pub idle: usize,
}

impl fmt::Debug for Isolated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Isolated")
            .field("options", &self.inner.options)
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

impl Isolated {
    /// Jobs for the libraries of a toolkit, with the default options.
    #[must_use]
    pub fn new(toolkit: &Toolkit) -> Self {
        Self::with_options(toolkit, Options::new())
    }

    /// Jobs for the libraries of a toolkit. No worker is started yet.
    #[must_use]
    pub fn with_options(toolkit: &Toolkit, options: Options) -> Self {
        Isolated {
            inner: Arc::new(Inner {
                toolkit: toolkit.clone(),
                owner: std::process::id(),
                pool: Pool::new(options.workers),
                options,
                counts: Counts::default(),
            }),
        }
    }

    /// Starts workers until so many are idle, or there are as many as there may be; jobs that come later
    /// need not wait for a start.
    ///
    /// # Errors
    ///
    /// [`Error::NoWorker`] where one does not start.
    pub fn warm(&self, workers: usize) -> Result<()> {
        self.inner.not_forked()?;
        let workers = workers.min(self.inner.options.workers.max(1));
        let mut leases = Vec::new();
        while leases.len() < workers {
            let mut lease = self.inner.pool.lease();
            if lease.worker.is_none() {
                lease.worker = Some(self.inner.start()?);
            }
            leases.push(lease);
        }
        Ok(())
    }

    /// The options.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.inner.options
    }

    /// What the workers have done so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let Counts {
            started,
            died,
            timed_out,
            retried,
        } = &self.inner.counts;
        let [started, died, timed_out, retried] =
            [started, died, timed_out, retried].map(|count| count.load(Ordering::Relaxed));
        Stats {
            started,
            died,
            timed_out,
            retried,
            idle: self.inner.pool.idle(),
        }
    }

    /// The numbers of the processes that wait for a job.
    #[must_use]
    pub fn idle_processes(&self) -> Vec<u32> {
        self.inner.pool.each_idle(Process::id)
    }
}

impl Compiler for Isolated {
    fn compile(&self, job: &Job) -> Result<Output> {
        let inner = &*self.inner;
        inner.not_forked()?;
        let files = inner.files(job)?;
        let request = Request { files: &files, job };
        let request = message::frame(&request).map_err(|e| Error::InvalidOptions {
            problem: format!("the job cannot be sent to a worker: {e}"),
            hint: "compile it in this process, or less at once".to_owned(),
        })?;
        let mut lease = inner.pool.lease();
        let mut tries = 0;
        loop {
            tries += 1;
            let mut process = match lease.worker.take() {
                Some(idle) => idle,
                None => inner.start()?,
            };
            let was_used = process.used;
            match process.ask(&request, inner.options.deadline) {
                Outcome::Answer(answer, said) => {
                    let Reply(result) = message::read(&answer).map_err(|e| {
                        inner.counts.died.fetch_add(1, Ordering::Relaxed);
                        no_answer(job, &e)
                    })?;
                    process.used = true;
                    lease.worker = Some(process);
                    return inner.finish(job, result, &said);
                }
                Outcome::TimedOut => {
                    inner.counts.timed_out.fetch_add(1, Ordering::Relaxed);
                    return Err(Error::TimedOut {
                        job: job.to_string(),
                        after: inner.options.deadline,
                    });
                }
                Outcome::Died(status, said) => {
                    let (signal, _) = signal_and_code(status);
                    let may_be_anothers = was_used || signal == Some(9);
                    let error = inner.died(job, process, status, said);
                    if tries > 1 || !may_be_anothers {
                        return Err(error);
                    }
                    inner.counts.retried.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }
}

impl Inner {
    fn not_forked(&self) -> Result<()> {
        if self.owner == std::process::id() {
            return Ok(());
        }
        Err(Error::Forked { parent: self.owner })
    }

    fn start(&self) -> Result<Process> {
        // Its `main` would start the next one, and so on without end.
        if program::is_worker() {
            return Err(Error::NoWorker {
                problem:
                    "this process was itself started as one, and its program did not call `init`"
                        .to_owned(),
                hint: "call `cuda_program::isolate::init()` at the top of `main`".to_owned(),
            });
        }
        let program = program::find(self.options.program.as_deref())?;
        let setup = Setup {
            memory: self.options.memory,
        };
        let process = match Process::start(&program, &setup) {
            // Killed before it said a word: the next may have more luck.
            Err(NotStarted::Killed) => Process::start(&program, &setup),
            other => other,
        }
        .map_err(|e| e.of(&program))?;
        self.counts.started.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(process = process.id(), program = %program.display(), "worker started");
        Ok(process)
    }

    /// The files that the job needs of the toolkit: a worker takes these and no others.
    fn files(&self, job: &Job) -> Result<BTreeMap<Part, PathBuf>> {
        let toolkit = &self.toolkit;
        let mut files = BTreeMap::new();
        if let Source::Nvvm(_) = job.source {
            files.insert(Part::Nvvm, toolkit.nvvm()?.library.path.clone());
            // Without it the job may be done all the same; the worker says where it is missed.
            if let Ok(libdevice) = toolkit.libdevice() {
                files.insert(Part::Libdevice, libdevice.path.clone());
            }
        }
        if let Source::Cpp(_) = job.source {
            files.insert(Part::Nvrtc, toolkit.nvrtc()?.library.path.clone());
        }
        if matches!(job.source, Source::Link(_)) || job.emit == Emit::Cubin {
            match toolkit.nvjitlink() {
                Ok(nvjitlink) => {
                    files.insert(Part::NvJitLink, nvjitlink.library.path.clone());
                }
                Err(e) if !matches!(job.source, Source::Cpp(_)) => return Err(e),
                Err(_) => {}
            }
        }
        Ok(files)
    }

    fn died(
        &self,
        job: &Job,
        process: Process,
        status: Option<std::process::ExitStatus>,
        said: String,
    ) -> Error {
        self.counts.died.fetch_add(1, Ordering::Relaxed);
        let (signal, code) = signal_and_code(status);
        tracing::warn!(process = process.id(), %job, ?signal, ?code, "worker ended in a job");
        match self.options.memory {
            Some(limit) if speaks_of_memory(&said) => Error::MemoryCeiling {
                job: job.to_string(),
                limit,
                text: said,
            },
            _ => CompilerDied {
                job: job.to_string(),
                signal,
                code,
                stderr: said,
            }
            .into(),
        }
    }

    /// The result, with what the worker wrote to its standard error, which is where a library says what it
    /// says nowhere else.
    fn finish(&self, job: &Job, result: Result<Output>, said: &str) -> Result<Output> {
        let lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
        match (result, self.options.memory) {
            (Err(error), Some(limit)) if is_of_memory(&error) => Err(Error::MemoryCeiling {
                job: job.to_string(),
                limit,
                text: said.to_owned(),
            }),
            (Err(Error::Library(mut error)), _) if lines.clone().next().is_some() => {
                error.log.push_str("\non its standard error:\n");
                error.log.push_str(said.trim_end());
                Err(Error::Library(error))
            }
            (Ok(output), _) => Ok(output.saying(lines.map(|line| {
                Diagnostic::new(Severity::Note, format!("on its standard error: {line}"))
            }))),
            (result, _) => result,
        }
    }
}

/// What came back is no answer.
fn no_answer(job: &Job, e: &std::io::Error) -> Error {
    Error::NoWorker {
        problem: format!("what one answered to {job} cannot be read: {e}"),
        hint: "let the program that is the worker be built with this version of the crate"
            .to_owned(),
    }
}

/// Whether what a process said last is that it got no memory.
fn speaks_of_memory(said: &str) -> bool {
    let said = said.to_lowercase();
    let words = [
        "bad_alloc",
        "out of memory",
        "memory allocation of",
        "cannot allocate memory",
    ];
    words.iter().any(|words| said.contains(words))
}

/// Whether a library, or the crate in the worker, got no memory.
fn is_of_memory(error: &Error) -> bool {
    match error {
        Error::OutOfMemory { .. } => true,
        // A library that does not fit below the ceiling is not opened.
        Error::NotFound(error) => error.tried.iter().any(|attempt| {
            attempt.failure.contains("failed to map") || speaks_of_memory(&attempt.failure)
        }),
        Error::Library(error) => {
            error.code_name.contains("OUT_OF_MEMORY") || speaks_of_memory(&error.log)
        }
        _ => false,
    }
}
