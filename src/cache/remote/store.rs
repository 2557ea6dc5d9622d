//! Reading and writing entries, with a deadline.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use opendal::ErrorKind;
use tokio::runtime::Runtime;

use super::breaker::Breaker;
use super::place::Remote;
use crate::cache::counters::Counters;
use crate::cache::entry;
use crate::cache::key::Key;
use crate::sync::Mutex;

/// The folder of this version of the format; another version would have another.
const VERSION: &str = "v1";
/// How many writes may be on their way; a store that takes no more is not worth waiting for.
const MOST_WRITES: usize = 64;

/// A remote store, in use.
pub(in crate::cache) struct Store {
    remote: Remote,
    shared: Arc<Shared>,
    /// Made by the first call, since a cache that finds all it needs nearer needs none.
    runtime: OnceLock<Option<Runtime>>,
    /// Guards the list of writes on their way, each of which sends or hangs up when it is done.
    writes: Mutex<Vec<Receiver<()>>>,
}

/// What a write on its way needs too.
struct Shared {
    breaker: Breaker,
    counters: Arc<Counters>,
    /// Whether the store let nobody write, so that it is not asked again.
    refuses: AtomicBool,
    scheme: String,
}

impl Store {
    pub(in crate::cache) fn new(remote: &Remote, counters: Arc<Counters>) -> Self {
        Store {
            shared: Arc::new(Shared {
                breaker: Breaker::new(remote.longest_rest),
                counters,
                refuses: AtomicBool::new(false),
                scheme: remote.operator.info().scheme().to_string(),
            }),
            remote: remote.clone(),
            runtime: OnceLock::new(),
            writes: Mutex::default(),
        }
    }

    /// The payload of a key, and what it had cost to make.
    pub(in crate::cache) fn get(&self, key: &Key) -> Option<(Vec<u8>, Duration)> {
        let runtime = self.ready()?;
        let (operator, path) = (self.remote.operator.clone(), self.path(key));
        let read = self.in_time(runtime, async move { operator.read(&path).await });
        let bytes = match read {
            Some(Ok(buffer)) => {
                self.shared.breaker.succeeded();
                buffer.to_vec()
            }
            // An answer, if not the one hoped for.
            Some(Err(e)) if e.kind() == ErrorKind::NotFound => {
                self.shared.breaker.succeeded();
                return None;
            }
            failed => {
                self.shared.failed("read", failed.and_then(Result::err));
                return None;
            }
        };
        let Some((range, cost)) = entry::open(key, &bytes) else {
            self.shared.counters.damaged.one();
            tracing::debug!(%key, "an entry of the remote store is of no use");
            return None;
        };
        self.shared
            .counters
            .remote_bytes_read
            .add(bytes.len() as u64);
        Some((bytes.get(range)?.to_vec(), cost))
    }

    /// Sends a payload off, where that can be done, and does not wait for it.
    pub(in crate::cache) fn put(&self, key: &Key, cost: Duration, payload: &[u8]) {
        if self.remote.read_only || self.shared.refuses.load(Ordering::Relaxed) {
            return;
        }
        let (done, wait) = sync_channel(1);
        {
            let mut writes = self.writes.lock();
            writes.retain(|done| matches!(done.try_recv(), Err(TryRecvError::Empty)));
            if writes.len() >= MOST_WRITES {
                self.shared.counters.not_stored.one();
                return;
            }
            writes.push(wait);
        }
        let Some(runtime) = self.ready() else {
            return;
        };
        let bytes = entry::seal(key, cost, payload);
        let (operator, path) = (self.remote.operator.clone(), self.path(key));
        let (shared, deadline) = (self.shared.clone(), self.remote.deadline);
        runtime.spawn(async move {
            let length = bytes.len() as u64;
            let write = tokio::time::timeout(deadline, operator.write(&path, bytes)).await;
            shared.written(length, write.ok());
            let _ = done.send(());
        });
    }

    /// Waits for the writes on their way, for as long as one may take.
    pub(in crate::cache) fn flush(&self) {
        let writes = std::mem::take(&mut *self.writes.lock());
        let end = Instant::now() + self.remote.deadline;
        for done in writes {
            let left = end.saturating_duration_since(Instant::now());
            if done.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }

    /// The runtime, where a call is worth a try.
    fn ready(&self) -> Option<&Runtime> {
        let runtime = self.runtime.get_or_init(|| {
            let built = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .thread_name("cuda-program-cache")
                .enable_all()
                .build();
            built
                .map_err(|e| {
                    let problem = format!("the remote cache is not used: no thread for it: {e}");
                    self.shared.counters.problem(problem);
                })
                .ok()
        });
        let runtime = runtime.as_ref()?;
        if self.shared.breaker.allows(Instant::now()) {
            return Some(runtime);
        }
        self.shared.counters.remote_skipped.one();
        None
    }

    /// The outcome of a call, or none where it is not there by the deadline.
    ///
    /// The caller waits on a channel and not in the runtime, which may not be waited in from
    /// asynchronous code.
    fn in_time<T: Send + 'static>(
        &self,
        runtime: &Runtime,
        call: impl Future<Output = opendal::Result<T>> + Send + 'static,
    ) -> Option<opendal::Result<T>> {
        let (done, wait) = sync_channel(1);
        let task = runtime.spawn(async move {
            let _ = done.send(call.await);
        });
        let outcome = wait.recv_timeout(self.remote.deadline).ok();
        if outcome.is_none() {
            task.abort();
        }
        outcome
    }

    fn path(&self, key: &Key) -> String {
        let name = key.to_string();
        let (shard, rest) = name.split_at(2);
        let prefix = self.remote.prefix.trim_matches('/');
        format!("{prefix}/{VERSION}/{shard}/{rest}")
    }
}

impl Shared {
    fn written<T>(&self, length: u64, outcome: Option<opendal::Result<T>>) {
        match outcome {
            Some(Ok(_)) => {
                self.breaker.succeeded();
                self.counters.remote_bytes_written.add(length);
            }
            Some(Err(e))
                if matches!(
                    e.kind(),
                    ErrorKind::PermissionDenied | ErrorKind::Unsupported
                ) =>
            {
                // It may be read all the same.
                self.breaker.succeeded();
                self.refuses.store(true, Ordering::Relaxed);
                self.counters.not_stored.one();
                self.counters.problem(format!(
                    "the remote cache ({}) lets nothing be written: {}",
                    self.scheme,
                    e.kind()
                ));
            }
            failed => {
                self.counters.not_stored.one();
                self.failed("write", failed.and_then(Result::err));
            }
        }
    }

    fn failed(&self, action: &str, error: Option<opendal::Error>) {
        self.breaker.failed(Instant::now());
        self.counters.remote_failures.one();
        // The whole text of an error names the entry, and so would be another one each time.
        let why = match &error {
            Some(error) => error.kind().to_string(),
            None => "no answer by the deadline".to_owned(),
        };
        tracing::debug!(
            action,
            error = error.map(|e| e.to_string()),
            "the remote cache failed"
        );
        self.counters.problem(format!(
            "the remote cache ({}) cannot {action}: {why}",
            self.scheme
        ));
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.flush();
        // Dropping it would wait, which asynchronous code must not.
        if let Some(Some(runtime)) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
