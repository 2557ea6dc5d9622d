//! Which store, and how long it may take.

use std::time::Duration;

use opendal::Operator;

/// A store that keeps artifacts for a fleet of machines: Redis, S3, or whatever else opendal knows.
///
/// It is asked where neither memory nor the disk has an artifact. A call that is not done by the
/// deadline is a miss, as is one that fails; then the store is left alone, for a second at first, and
/// for longer each time it fails again. What comes from it is checked to be whole, but whoever may
/// write to it decides what runs on the GPUs that read from it: let nobody write that you would not
/// let compile.
///
/// ```
/// use cuda_program::cache::{Remote, opendal};
///
/// let operator = opendal::Operator::new(opendal::services::Memory::default())?.finish();
/// let remote = Remote::new(operator).prefix("kernels").read_only(true);
/// # drop(remote);
/// # Ok::<(), opendal::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Remote {
    pub(super) operator: Operator,
    pub(super) prefix: String,
    pub(super) deadline: Duration,
    pub(super) longest_rest: Duration,
    pub(super) read_only: bool,
}

impl Remote {
    /// The store behind an operator.
    ///
    /// Its calls run on a thread of the cache's own, so it may be used from asynchronous code and
    /// outside of it. Let the operator have no layer that retries: a miss costs less.
    #[must_use]
    pub fn new(operator: Operator) -> Self {
        Remote {
            operator,
            prefix: "cuda-program".to_owned(),
            deadline: Duration::from_millis(250),
            longest_rest: Duration::from_secs(30),
            read_only: false,
        }
    }

    /// Sets what the names of entries begin with. Default: `cuda-program`.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets how long a call may take. Default: 250 ms.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets how long it is left alone at most after it failed. Default: 30 s.
    #[must_use]
    pub fn longest_rest(mut self, rest: Duration) -> Self {
        self.longest_rest = rest;
        self
    }

    /// Says whether nothing is written to it. Default: it is written to.
    #[must_use]
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }
}
