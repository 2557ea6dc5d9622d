//! Calling a compilation off.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Calls compilations off, from any thread; a clone is the same token.
///
/// It lies outside a program's lock, so it works while the program compiles, and while a compilation waits
/// for its turn.
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token that has called nothing off.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls off every compilation that was given this token, and those that will be.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether it was called off.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

type Check = Arc<dyn Fn() -> bool + Send + Sync>;

/// What may end a compilation early. The library asks now and then, not at once: a long
/// compilation may go on for seconds.
#[derive(Clone, Default)]
#[doc(alias = "nvrtcSetFlowCallback")]
pub struct Control {
    token: Option<CancelToken>,
    deadline: Option<Instant>,
    check: Option<Check>,
}

impl Control {
    /// Nothing ends it early.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends when the token is cancelled.
    #[must_use]
    pub fn token(mut self, token: &CancelToken) -> Self {
        self.token = Some(token.clone());
        self
    }

    /// Ends when this moment has come.
    #[must_use]
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Ends when `stop` returns true. It must not compile the same program, which would wait for itself;
    /// a panic in it comes back as that panic.
    #[must_use]
    pub fn stop_when(mut self, stop: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.check = Some(Arc::new(stop));
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.token.is_none() && self.deadline.is_none() && self.check.is_none()
    }

    /// Why it is to end now, without asking the caller's function.
    pub(super) fn reason(&self) -> Option<&'static str> {
        if self.token.as_ref().is_some_and(CancelToken::is_cancelled) {
            Some("its token was cancelled")
        } else if self.deadline.is_some_and(|at| Instant::now() >= at) {
            Some("its deadline has passed")
        } else {
            None
        }
    }

    /// Why it is to end, where it is.
    pub(super) fn why(&self) -> &'static str {
        self.reason().unwrap_or("the caller's function said so")
    }

    pub(super) fn is_to_stop(&self) -> bool {
        self.reason().is_some() || self.check.as_ref().is_some_and(|check| check())
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control")
            .field("token", &self.token)
            .field("deadline", &self.deadline)
            .field("check", &self.check.is_some())
            .finish()
    }
}
