//! A compiler that looks first whether it has done it before.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::counters::{Counters, Stats};
use super::key::{Key, Uncacheable};
use super::keys::Keys;
use super::memory::{self, Held, Memory};
use crate::compile::{Compiler, Job, Output};
use crate::error::{Error, Result};
use crate::toolkit::Toolkit;

/// A compiler with a cache before it: memory first, then a folder, then a remote store, and only then
/// the compiler.
///
/// An artifact that is found is the one that was made: its bytes, what is known of it, and what the
/// compiler said. Threads that ask for one job at once wait for one of them to compile it; an error
/// goes to all of these, and is not kept. Nothing that a tier does is an error: it is a miss, and
/// [`stats`](Cached::stats) tells. A job that depends on what cannot be known is compiled each time.
///
/// ```
/// use cuda_program::cache::Cached;
/// use cuda_program::compile::{Compiler, Emit, InProcess, Job};
/// use cuda_program::{Arch, Toolkit, nvvm};
///
/// # fn main() -> cuda_program::Result<()> {
/// # /*
/// let toolkit = Toolkit::discover()?;
/// # */
/// # let toolkit = Toolkit::at(concat!(env!("CARGO_MANIFEST_DIR"), "/target/toolkits/13.5"))?;
/// # let ir = include_str!("../../fixtures/saxpy.ll");
/// let compiler = Cached::new(InProcess::new(&toolkit), &toolkit);
/// let job = Job::nvvm("saxpy.ll", ir, nvvm::Options::new(Arch::SM_90), Emit::Ptx);
/// let first = compiler.compile(&job)?;
/// assert_eq!(compiler.compile(&job)?, first);
/// assert_eq!((compiler.stats().misses, compiler.stats().memory_hits), (1, 1));
/// # Ok(())
/// # }
/// ```
pub struct Cached<C> {
    compiler: C,
    keys: Keys,
    memory: Memory<Arc<Output>>,
    #[cfg(feature = "cache-disk")]
    disk: Option<Arc<super::disk::Store>>,
    #[cfg(feature = "cache-remote")]
    remote: Option<super::remote::Store>,
    counters: Arc<Counters>,
}

/// The tier that had an artifact.
#[derive(Debug, Clone, Copy)]
enum Tier {
    #[cfg(feature = "cache-disk")]
    Disk,
    #[cfg(feature = "cache-remote")]
    Remote,
}

impl<C: Compiler> Cached<C> {
    /// What memory may hold where nobody says otherwise: 256 MiB.
    pub const DEFAULT_MEMORY: u64 = 256 << 20;

    /// A cache in memory before a compiler that uses this toolkit.
    #[must_use]
    pub fn new(compiler: C, toolkit: &Toolkit) -> Self {
        let counters = Arc::new(Counters::default());
        Cached {
            compiler,
            keys: Keys::new(toolkit),
            memory: Memory::new(Self::DEFAULT_MEMORY, &counters),
            #[cfg(feature = "cache-disk")]
            disk: None,
            #[cfg(feature = "cache-remote")]
            remote: None,
            counters,
        }
    }

    /// Sets how much memory may hold, in bytes; what it held is let go. With 0 it holds nothing, and
    /// threads that ask at once still share.
    #[must_use]
    pub fn memory(mut self, max_bytes: u64) -> Self {
        self.memory = Memory::new(max_bytes, &self.counters);
        self
    }

    /// Keeps artifacts in a folder too.
    #[cfg(feature = "cache-disk")]
    #[must_use]
    pub fn disk(mut self, disk: &super::Disk) -> Self {
        let store = Arc::new(super::disk::Store::new(disk, self.counters.clone()));
        self.keys.remember_by(store.clone());
        self.disk = Some(store);
        self
    }

    /// Keeps artifacts in a store that machines share too.
    #[cfg(feature = "cache-remote")]
    #[must_use]
    pub fn remote(mut self, remote: &super::Remote) -> Self {
        self.remote = Some(super::remote::Store::new(remote, self.counters.clone()));
        self
    }

    /// The compiler behind the cache.
    #[must_use]
    pub fn compiler(&self) -> &C {
        &self.compiler
    }

    /// The key of a job in this cache.
    ///
    /// # Errors
    ///
    /// As [`Keys::key`].
    pub fn key(&self, job: &Job) -> Result<Key, Uncacheable> {
        self.keys.key(job)
    }

    /// What the cache has done so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.counters.stats(self.memory.bytes())
    }

    /// Waits until what is on its way to the remote store is there, for as long as its deadline.
    ///
    /// Dropping the cache waits too.
    pub fn flush(&self) {
        #[cfg(feature = "cache-remote")]
        if let Some(remote) = &self.remote {
            remote.flush();
        }
    }

    /// As [`compile`](Compiler::compile), without a copy of an artifact that memory holds.
    ///
    /// # Errors
    ///
    /// As [`compile`](Compiler::compile).
    pub fn compile_shared(&self, job: &Job) -> Result<Arc<Output>> {
        let key = match self.keys.key(job) {
            Ok(key) => key,
            Err(uncacheable) => {
                self.counters.uncacheable.one();
                tracing::debug!(%uncacheable, "compiled without the cache");
                return Ok(Arc::new(self.compile_and_count(job)?));
            }
        };
        loop {
            let (mut leads, mut fits) = (false, true);
            let found = self.memory.get_or_make(key, || {
                leads = true;
                let (held, still) = self.find_or_compile(&key, job)?;
                fits = still;
                Ok(held)
            });
            if !fits {
                self.memory.forget(&key);
            }
            match found {
                Ok((held, from)) => {
                    match from {
                        memory::From::Memory => self.hit(&self.counters.memory_hits, held.cost),
                        memory::From::Other => self.hit(&self.counters.shared, held.cost),
                        memory::From::Made => {}
                    }
                    return Ok(held.value.clone());
                }
                // It was another caller's wish.
                Err(Error::Cancelled { .. }) if !leads => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The artifact, and whether it is what the key says.
    fn find_or_compile(&self, key: &Key, job: &Job) -> Result<(Held<Arc<Output>>, bool)> {
        if let Some((output, cost, tier)) = self.find(key) {
            tracing::debug!(%key, ?tier, saved = ?cost, "found");
            return Ok((held(output, cost), true));
        }
        self.counters.misses.one();
        let start = Instant::now();
        let output = self.compile_and_count(job)?;
        let cost = start.elapsed();
        tracing::debug!(%key, ?cost, "compiled");
        // A header may have changed between the look at it and the compilation that read it.
        let fits = self.keys.key(job).as_ref() == Ok(key);
        if fits {
            self.keep(key, &output, cost);
        }
        Ok((held(output, cost), fits))
    }

    fn compile_and_count(&self, job: &Job) -> Result<Output> {
        self.compiler
            .compile(job)
            .inspect_err(|_| self.counters.errors.one())
    }

    fn hit(&self, tier: &super::counters::Count, cost: Duration) {
        tier.one();
        self.counters.saved(cost);
    }
}

/// The tiers behind memory, each where its feature is on.
#[cfg(any(feature = "cache-disk", feature = "cache-remote"))]
impl<C: Compiler> Cached<C> {
    fn find(&self, key: &Key) -> Option<(Output, Duration, Tier)> {
        #[cfg(feature = "cache-disk")]
        if let Some((output, cost)) = self.disk.as_ref().and_then(|disk| self.read(disk.get(key))) {
            self.hit(&self.counters.disk_hits, cost);
            return Some((output, cost, Tier::Disk));
        }
        #[cfg(feature = "cache-remote")]
        if let Some(remote) = &self.remote {
            let (payload, cost) = remote.get(key)?;
            let (output, cost) = self.read(Some((payload.clone(), cost)))?;
            self.hit(&self.counters.remote_hits, cost);
            #[cfg(feature = "cache-disk")]
            if let Some(disk) = &self.disk {
                disk.put(key, cost, &payload);
            }
            return Some((output, cost, Tier::Remote));
        }
        None
    }

    fn read(&self, found: Option<(Vec<u8>, Duration)>) -> Option<(Output, Duration)> {
        let (payload, cost) = found?;
        match rmp_serde::from_slice(&payload) {
            Ok(output) => Some((output, cost)),
            Err(e) => {
                self.counters.damaged.one();
                tracing::debug!(%e, "an entry is whole, but no artifact");
                None
            }
        }
    }

    fn keep(&self, key: &Key, output: &Output, cost: Duration) {
        let mut wanted = false;
        #[cfg(feature = "cache-disk")]
        {
            wanted |= self.disk.is_some();
        }
        #[cfg(feature = "cache-remote")]
        {
            wanted |= self.remote.is_some();
        }
        if !wanted {
            return;
        }
        let Ok(payload) = rmp_serde::to_vec_named(output) else {
            return self.counters.not_stored.one();
        };
        #[cfg(feature = "cache-disk")]
        if let Some(disk) = &self.disk {
            disk.put(key, cost, &payload);
        }
        #[cfg(feature = "cache-remote")]
        if let Some(remote) = &self.remote {
            remote.put(key, cost, &payload);
        }
    }
}

#[cfg(not(any(feature = "cache-disk", feature = "cache-remote")))]
impl<C: Compiler> Cached<C> {
    fn find(&self, _: &Key) -> Option<(Output, Duration, Tier)> {
        None
    }

    fn keep(&self, _: &Key, _: &Output, _: Duration) {}
}

impl<C: Compiler> Compiler for Cached<C> {
    fn compile(&self, job: &Job) -> Result<Output> {
        self.compile_shared(job).map(Arc::unwrap_or_clone)
    }
}

impl<C: fmt::Debug> fmt::Debug for Cached<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cached")
            .field("compiler", &self.compiler)
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}

fn held(output: Output, cost: Duration) -> Held<Arc<Output>> {
    let said: usize = output.diagnostics().iter().map(|d| d.message.len()).sum();
    Held {
        bytes: output.as_bytes().len() + said,
        value: Arc::new(output),
        cost,
    }
}
