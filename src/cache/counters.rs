//! What a cache counts, for those who want to know whether it pays.

// Memory alone has no problems.
#![cfg_attr(
    not(any(feature = "cache-disk", feature = "cache-remote")),
    allow(dead_code)
)]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::sync::Mutex;

/// What a cache has done since it was made, in this process.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Stats {
    /// Artifacts that were in memory.
    pub memory_hits: u64,
    /// Artifacts that another thread was just making, and that this one waited for.
    pub shared: u64,
    /// Artifacts that were on the disk.
    pub disk_hits: u64,
    /// Artifacts that were in the remote store.
    pub remote_hits: u64,
    /// Jobs that were compiled because no tier had the artifact.
    pub misses: u64,
    /// Jobs that were compiled because they have no key.
    pub uncacheable: u64,
    /// Jobs that were compiled and failed; no error is kept.
    pub errors: u64,
    /// Artifacts that memory let go of to keep its bound.
    pub memory_evictions: u64,
    /// Files that were taken off the disk to keep its bound, or because a writer had died.
    pub disk_evictions: u64,
    /// Entries that were cut, flipped or not readable; each was a miss.
    pub damaged: u64,
    /// Entries that could not be stored.
    pub not_stored: u64,
    /// Calls to the remote store that failed or were not done by the deadline.
    pub remote_failures: u64,
    /// Calls to the remote store that were left out because it failed a moment ago.
    pub remote_skipped: u64,
    /// Bytes that memory holds now.
    pub memory_bytes: u64,
    /// Bytes that were read from the disk.
    pub disk_bytes_read: u64,
    /// Bytes that were written to the disk.
    pub disk_bytes_written: u64,
    /// Bytes that came from the remote store.
    pub remote_bytes_read: u64,
    /// Bytes that went to the remote store.
    pub remote_bytes_written: u64,
    /// How long the artifacts that were found had taken to compile, all together.
    pub time_saved: Duration,
    /// What is wrong with a tier, each thing once.
    pub problems: Vec<String>,
}

impl Stats {
    /// Artifacts that were found, in any tier.
    #[must_use]
    pub fn hits(&self) -> u64 {
        self.memory_hits + self.shared + self.disk_hits + self.remote_hits
    }
}

/// More are not worth keeping.
const MOST_PROBLEMS: usize = 16;

#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) memory_hits: Count,
    pub(super) shared: Count,
    pub(super) disk_hits: Count,
    pub(super) remote_hits: Count,
    pub(super) misses: Count,
    pub(super) uncacheable: Count,
    pub(super) errors: Count,
    pub(super) memory_evictions: Count,
    pub(super) disk_evictions: Count,
    pub(super) damaged: Count,
    pub(super) not_stored: Count,
    pub(super) remote_failures: Count,
    pub(super) remote_skipped: Count,
    pub(super) disk_bytes_read: Count,
    pub(super) disk_bytes_written: Count,
    pub(super) remote_bytes_read: Count,
    pub(super) remote_bytes_written: Count,
    pub(super) micros_saved: Count,
    /// Guards the list itself, which is read and written whole.
    problems: Mutex<Vec<String>>,
}

/// A number that only grows; nothing else is ordered by it.
#[derive(Debug, Default)]
pub(super) struct Count(AtomicU64);

impl Count {
    pub(super) fn one(&self) {
        self.add(1);
    }

    pub(super) fn add(&self, by: u64) {
        self.0.fetch_add(by, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counters {
    pub(super) fn saved(&self, cost: Duration) {
        self.micros_saved
            .add(u64::try_from(cost.as_micros()).unwrap_or(u64::MAX));
    }

    /// Keeps what is wrong, and says it once.
    pub(super) fn problem(&self, problem: String) {
        let mut problems = self.problems.lock();
        if problems.len() >= MOST_PROBLEMS || problems.contains(&problem) {
            return;
        }
        problems.push(problem.clone());
        drop(problems);
        tracing::warn!(%problem, "the cache does without");
    }

    pub(super) fn stats(&self, memory_bytes: u64) -> Stats {
        Stats {
            memory_hits: self.memory_hits.get(),
            shared: self.shared.get(),
            disk_hits: self.disk_hits.get(),
            remote_hits: self.remote_hits.get(),
            misses: self.misses.get(),
            uncacheable: self.uncacheable.get(),
            errors: self.errors.get(),
            memory_evictions: self.memory_evictions.get(),
            disk_evictions: self.disk_evictions.get(),
            damaged: self.damaged.get(),
            not_stored: self.not_stored.get(),
            remote_failures: self.remote_failures.get(),
            remote_skipped: self.remote_skipped.get(),
            memory_bytes,
            disk_bytes_read: self.disk_bytes_read.get(),
            disk_bytes_written: self.disk_bytes_written.get(),
            remote_bytes_read: self.remote_bytes_read.get(),
            remote_bytes_written: self.remote_bytes_written.get(),
            time_saved: Duration::from_micros(self.micros_saved.get()),
            problems: self.problems.lock().clone(),
        }
    }
}
