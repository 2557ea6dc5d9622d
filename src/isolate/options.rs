//! How jobs are isolated.

use std::path::PathBuf;
use std::time::Duration;

/// How jobs are isolated.
///
/// ```
/// use std::time::Duration;
/// use cuda_program::isolate::Options;
///
/// let options = Options::new().deadline(Duration::from_secs(10)).memory(4 << 30);
/// assert_eq!(options.memory, Some(4 << 30));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// How many workers there may be at once; a job waits for one to be free. Default: as many as the
    /// process has processors.
    pub workers: usize,
    /// How long a job may take, from when it has a worker. Default: a minute.
    pub deadline: Duration,
    /// How much memory a worker may map, in bytes, with the libraries themselves (`RLIMIT_AS`): NVRTC
    /// alone maps some 500 MiB. Default: no ceiling.
    pub memory: Option<u64>,
    /// The program that is the worker. Default: it is looked for, as the [module](super) says.
    pub program: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            workers: std::thread::available_parallelism().map_or(1, usize::from),
            deadline: Duration::from_secs(60),
            memory: None,
            program: None,
        }
    }
}

impl Options {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many workers there may be at once; 0 counts as 1.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// Sets how long a job may take.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets how much memory a worker may map, in bytes.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Names the program that is the worker.
    #[must_use]
    pub fn program(mut self, file: impl Into<PathBuf>) -> Self {
        self.program = Some(file.into());
        self
    }
}
