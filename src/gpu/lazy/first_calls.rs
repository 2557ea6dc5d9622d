//! The state machine of first calls.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use super::attempt::{self, Attempt, Outcome};
use super::{Load, Stats};
use crate::arch::Arch;
use crate::error::{InvalidInput, Result};
use crate::sync::{Mutex, Published, release};

/// A kernel that its first call compiles and loads; see [the module](super) for what that does.
///
/// ```
/// use cuda_program::gpu::lazy::{Lazy, Load};
/// use cuda_program::{Arch, Result};
///
/// struct Pretend;
///
/// impl Load for Pretend {
///     type Artifact = String;
///     type Kernel = String;
///     fn name(&self) -> &str {
///         "pretend"
///     }
///     fn arch(&self, _device: usize) -> Result<Arch> {
///         Ok(Arch::SM_90)
///     }
///     fn compile(&self, arch: Arch) -> Result<String> {
///         Ok(format!("code for {arch}"))
///     }
///     fn load(&self, device: usize, code: &String) -> Result<String> {
///         Ok(format!("{code} on device {device}"))
///     }
/// }
///
/// let kernel = Lazy::new(Pretend);
/// assert_eq!(kernel.get(1)?, "code for sm_90 on device 1");
/// assert_eq!(kernel.stats().loads[&1], 1);
/// # Ok::<(), cuda_program::Error>(())
/// ```
pub struct Lazy<L: Load> {
    /// The kernels by device, in a new list for each load: what is read is never written.
    ready: Published<Kernels<L::Kernel>>,
    /// Guards who is at work on what, what was compiled, and the counts; never held during work.
    state: Mutex<State<L::Artifact>>,
    loader: L,
}

/// More than any machine has; keeps a wrong number from asking for memory without end.
const MOST_DEVICES: usize = 1 << 16;

type Kernels<K> = Box<[Option<Arc<K>>]>;

struct State<A> {
    loading: BTreeMap<usize, Arc<Attempt>>,
    compiling: BTreeMap<Arch, Arc<Attempt>>,
    compiled: BTreeMap<Arch, Arc<A>>,
    stats: Stats,
}

/// What a thread finds that wants a piece of work done.
enum Found<T> {
    Done(T),
    Underway(Arc<Attempt>),
    /// The attempt was entered for this thread, which is to lead it.
    Mine(Arc<Attempt>),
}

impl<L: Load> Lazy<L> {
    /// A kernel that nothing was done for yet.
    pub fn new(loader: L) -> Self {
        Lazy {
            ready: Published::empty(),
            state: Mutex::new(State {
                loading: BTreeMap::new(),
                compiling: BTreeMap::new(),
                compiled: BTreeMap::new(),
                stats: Stats::default(),
            }),
            loader,
        }
    }

    /// The kernel on a device, by number, compiled and loaded before if need be.
    ///
    /// Once it is there, a call is one atomic load that no other thread can slow down.
    ///
    /// # Errors
    ///
    /// Those of the loader, also where the work was another thread's;
    /// [`Error::FirstCallCycle`](crate::Error::FirstCallCycle) and
    /// [`Error::FirstCallPanicked`](crate::Error::FirstCallPanicked). The next call tries again.
    ///
    /// # Panics
    ///
    /// Where the loader does.
    #[inline]
    pub fn get(&self, device: usize) -> Result<&L::Kernel> {
        match self.peek(device) {
            Some(kernel) => Ok(kernel),
            None => self.first(device),
        }
    }

    /// The kernel on a device if it is there already; never waits.
    #[inline]
    #[must_use]
    pub fn peek(&self, device: usize) -> Option<&L::Kernel> {
        self.ready.get()?.get(device)?.as_deref()
    }

    /// What compiles and loads.
    #[must_use]
    pub fn loader(&self) -> &L {
        &self.loader
    }

    /// How often this kernel was compiled and loaded so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.state.lock().stats.clone()
    }

    /// Tells this kernel from every other that is there; no call is at work on one that moves.
    pub(super) fn identity(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// How many threads wait for a device.
    #[cfg(all(test, not(loom)))]
    pub(super) fn waiters(&self, device: usize) -> usize {
        // Held by the entry, and twice by the leader.
        let underway = self
            .state
            .lock()
            .loading
            .get(&device)
            .map(Arc::strong_count);
        underway.unwrap_or(0).saturating_sub(3)
    }

    #[cold]
    fn first(&self, device: usize) -> Result<&L::Kernel> {
        attempt::refuse_reentry(self.identity())?;
        let name = self.loader.name();
        if device >= MOST_DEVICES {
            return Err(InvalidInput {
                input: name.to_owned(),
                line: None,
                snippet: None,
                problem: format!("device {device} is asked for"),
                hint: format!("number devices as the driver does, below {MOST_DEVICES}"),
            }
            .into());
        }
        loop {
            match self.look_for_kernel(name, device) {
                Found::Done(kernel) => return Ok(kernel),
                Found::Underway(attempt) => attempt.wait()?,
                Found::Mine(attempt) => {
                    let work = || {
                        let _current = self.loader.keep_current()?;
                        let artifact = self.artifact(name, self.loader.arch(device)?)?;
                        self.loader.load(device, &artifact)
                    };
                    let clear = |state: &mut State<_>| drop(state.loading.remove(&device));
                    let kernel = self.lead(&attempt, work, clear, |state, kernel| {
                        *state.stats.loads.entry(device).or_default() += 1;
                        self.publish(device, kernel);
                        self.peek(device)
                    })?;
                    if let Some(kernel) = kernel {
                        return Ok(kernel);
                    }
                }
            }
        }
    }

    fn look_for_kernel(&self, name: &str, device: usize) -> Found<&L::Kernel> {
        let mut state = self.state.lock();
        if let Some(kernel) = self.peek(device) {
            release(state);
            return Found::Done(kernel);
        }
        if let Some(attempt) = state.loading.get(&device) {
            return Found::Underway(attempt.clone());
        }
        let attempt = Attempt::new(name, self.identity());
        state.loading.insert(device, attempt.clone());
        Found::Mine(attempt)
    }

    /// What was compiled for an architecture, by this thread if by no other.
    fn artifact(&self, name: &str, arch: Arch) -> Result<Arc<L::Artifact>> {
        loop {
            match self.look_for_artifact(name, arch) {
                Found::Done(artifact) => return Ok(artifact),
                Found::Underway(attempt) => attempt.wait()?,
                Found::Mine(attempt) => {
                    let work = || self.loader.compile(arch);
                    let clear = |state: &mut State<_>| drop(state.compiling.remove(&arch));
                    return self.lead(&attempt, work, clear, |state, artifact| {
                        let artifact = Arc::new(artifact);
                        state.compiled.insert(arch, artifact.clone());
                        *state.stats.compiles.entry(arch).or_default() += 1;
                        artifact
                    });
                }
            }
        }
    }

    fn look_for_artifact(&self, name: &str, arch: Arch) -> Found<Arc<L::Artifact>> {
        let mut state = self.state.lock();
        if let Some(artifact) = state.compiled.get(&arch) {
            let artifact = artifact.clone();
            release(state);
            return Found::Done(artifact);
        }
        if let Some(attempt) = state.compiling.get(&arch) {
            return Found::Underway(attempt.clone());
        }
        let attempt = Attempt::new(name, self.identity());
        state.compiling.insert(arch, attempt.clone());
        Found::Mine(attempt)
    }

    /// Does `work` with no lock held; `clear` takes the attempt out, and `enter` puts in what was
    /// made. Whatever comes of the work, even a panic, the attempt ends and those who wait are told.
    fn lead<R, T>(
        &self,
        attempt: &Arc<Attempt>,
        work: impl FnOnce() -> Result<R>,
        clear: impl FnOnce(&mut State<L::Artifact>),
        enter: impl FnOnce(&mut State<L::Artifact>, R) -> T,
    ) -> Result<T> {
        let came = attempt.lead(|| catch_unwind(AssertUnwindSafe(work)));
        let mut state = self.state.lock();
        clear(&mut state);
        match came {
            Ok(Ok(made)) => {
                // Before those who wait wake: they look again.
                let entered = enter(&mut state, made);
                drop(state);
                attempt.end(Outcome::Done);
                Ok(entered)
            }
            Ok(Err(error)) => {
                state.stats.failures += 1;
                drop(state);
                attempt.end(Outcome::Failed(error.clone()));
                Err(error)
            }
            Err(panic) => {
                state.stats.failures += 1;
                drop(state);
                attempt.end(Outcome::Panicked(message(&*panic)));
                resume_unwind(panic)
            }
        }
    }

    /// Called with `state` locked, so that no other list is made from the same one.
    fn publish(&self, device: usize, kernel: L::Kernel) {
        let mut kernels = self.ready.get().map_or_else(Vec::new, |k| k.to_vec());
        if kernels.len() <= device {
            kernels.resize(device + 1, None);
        }
        if let Some(place) = kernels.get_mut(device) {
            *place = Some(Arc::new(kernel));
        }
        self.ready.publish(kernels.into());
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "a value that is no text".to_owned(),
    }
}

impl<L: Load> fmt::Debug for Lazy<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lazy")
            .field("name", &self.loader.name())
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}
