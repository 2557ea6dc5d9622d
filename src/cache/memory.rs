//! Artifacts in memory, and one compilation for all threads that ask at once.

use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;
use std::time::Duration;

use moka::notification::RemovalCause;
use moka::policy::EvictionPolicy;
use moka::sync::Cache;

use super::counters::Counters;
use super::key::Key;
use crate::error::{Error, Result};

/// What the bookkeeping of an entry takes, about, in bytes.
const OVERHEAD: usize = 256;

/// An artifact that was made before.
pub(super) struct Held<T> {
    pub(super) value: T,
    /// How much of the bound it takes.
    pub(super) bytes: usize,
    /// What it had cost to compile.
    pub(super) cost: Duration,
}

/// A bounded map from keys to artifacts. Errors are not kept.
pub(super) struct Memory<T> {
    cache: Cache<Key, Arc<Held<T>>, BuildHasherDefault<FirstBytes>>,
}

/// Where an artifact came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// It was there.
    Memory,
    /// Another thread was making it.
    Other,
    /// This thread made it.
    Made,
}

impl<T: Send + Sync + 'static> Memory<T> {
    pub(super) fn new(max_bytes: u64, counters: &Arc<Counters>) -> Self {
        let counters = counters.clone();
        let cache = Cache::builder()
            .max_capacity(max_bytes)
            // A service compiles most kernels once and asks for them for a while.
            .eviction_policy(EvictionPolicy::lru())
            .weigher(|_, held: &Arc<Held<T>>| {
                u32::try_from(held.bytes.saturating_add(OVERHEAD)).unwrap_or(u32::MAX)
            })
            .eviction_listener(move |_, _, cause| {
                if cause == RemovalCause::Size {
                    counters.memory_evictions.one();
                }
            })
            .build_with_hasher(BuildHasherDefault::default());
        Memory { cache }
    }

    /// The artifact, which one of the threads that ask for it at once makes with `make`.
    ///
    /// An error goes to all who waited for it. A panic goes to the thread that it happened in, and
    /// one of those who waited tries anew.
    pub(super) fn get_or_make(
        &self,
        key: Key,
        make: impl FnOnce() -> Result<Held<T>>,
    ) -> Result<(Arc<Held<T>>, From)> {
        if let Some(held) = self.cache.get(&key) {
            return Ok((held, From::Memory));
        }
        let made = self
            .cache
            .entry(key)
            .or_try_insert_with(|| make().map(Arc::new))
            .map_err(|e: Arc<Error>| (*e).clone())?;
        if !made.is_fresh() {
            return Ok((made.into_value(), From::Other));
        }
        // Evictions are put off otherwise, and the bound is not kept meanwhile.
        self.cache.run_pending_tasks();
        Ok((made.into_value(), From::Made))
    }

    /// Lets go of what was made under a key that fits no more.
    pub(super) fn forget(&self, key: &Key) {
        self.cache.invalidate(key);
    }

    /// How much it holds, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.cache.run_pending_tasks();
        self.cache.weighted_size()
    }
}

/// A key is a hash already.
#[derive(Debug, Default)]
pub(super) struct FirstBytes(u64);

impl Hasher for FirstBytes {
    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk() {
            self.0 ^= u64::from_ne_bytes(*first);
        }
    }

    // The length of the array, which is that of every key.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Barrier, mpsc};

    use super::*;

    fn memory(max_bytes: u64) -> (Memory<usize>, Arc<Counters>) {
        let counters = Arc::new(Counters::default());
        (Memory::new(max_bytes, &counters), counters)
    }

    fn held(value: usize, bytes: usize) -> Result<Held<usize>> {
        Ok(Held {
            value,
            bytes,
            cost: Duration::ZERO,
        })
    }

    fn key(n: u64) -> Key {
        Key::from_bytes(*blake3::hash(&n.to_le_bytes()).as_bytes())
    }

    fn refused() -> Error {
        Error::InvalidOptions {
            problem: "no".to_owned(),
            hint: "try".to_owned(),
        }
    }

    /// Lets `threads` ask for one key at once; the first to make it goes on once all others had
    /// time to queue behind it.
    fn at_once(
        threads: usize,
        max_bytes: u64,
        make: impl Fn(usize) -> Result<Held<usize>> + Sync,
    ) -> (Vec<std::thread::Result<Result<usize>>>, usize) {
        let (memory, _) = memory(max_bytes);
        let (made, start) = (AtomicUsize::new(0), Barrier::new(threads));
        let (asked, asking) = mpsc::channel();
        let asking = std::sync::Mutex::new(asking);
        let results = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..threads)
                .map(|_| {
                    let asked = asked.clone();
                    let (memory, made, start, asking, make) =
                        (&memory, &made, &start, &asking, &make);
                    scope.spawn(move || {
                        start.wait();
                        asked.send(()).unwrap();
                        let found = memory.get_or_make(key(1), || {
                            let turn = made.fetch_add(1, Ordering::SeqCst);
                            if turn == 0 {
                                let asking = asking.lock().unwrap();
                                asking.iter().take(threads).for_each(drop);
                                std::thread::sleep(Duration::from_millis(200));
                            }
                            make(turn)
                        });
                        found.map(|(held, _)| held.value)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join()).collect()
        });
        (results, made.into_inner())
    }

    #[test]
    fn of_64_threads_that_ask_at_once_one_makes_it() {
        let (results, made) = at_once(64, 1 << 20, |_| held(7, 10));
        assert_eq!(made, 1);
        for result in results {
            assert_eq!(result.unwrap().unwrap(), 7);
        }
    }

    #[test]
    fn one_makes_it_for_all_even_where_memory_holds_nothing() {
        let (results, made) = at_once(16, 0, |_| held(7, 10));
        assert_eq!(made, 1);
        assert!(results.into_iter().all(|r| r.unwrap().unwrap() == 7));
    }

    #[test]
    fn an_error_reaches_all_who_wait_and_is_not_kept() {
        let (results, made) = at_once(16, 1 << 20, |_| Err(refused()));
        assert!(results.into_iter().all(|r| r.unwrap() == Err(refused())));
        assert_eq!(made, 1);
        let (memory, _) = memory(1 << 20);
        assert!(memory.get_or_make(key(1), || Err(refused())).is_err());
        let (held, from) = memory.get_or_make(key(1), || held(3, 10)).unwrap();
        assert_eq!((held.value, from), (3, From::Made));
    }

    #[test]
    fn after_a_panic_one_of_those_who_wait_makes_it() {
        let (results, made) = at_once(16, 1 << 20, |turn| {
            assert_ne!(turn, 0, "the first one panics");
            held(turn, 10)
        });
        assert_eq!(made, 2);
        let (panicked, done): (Vec<_>, Vec<_>) = results.into_iter().partition(|r| r.is_err());
        assert_eq!((panicked.len(), done.len()), (1, 15));
        assert!(done.into_iter().all(|r| r.unwrap().unwrap() == 1));
    }

    #[test]
    fn the_bound_is_kept_and_what_was_used_last_stays() {
        let entry = 1000 + OVERHEAD as u64;
        let (memory, counters) = memory(10 * entry);
        memory.get_or_make(key(0), || held(0, 1000)).unwrap();
        for n in 1..100 {
            memory.get_or_make(key(n), || held(1, 1000)).unwrap();
            assert!(memory.bytes() <= 10 * entry);
            let (_, from) = memory.get_or_make(key(0), || held(0, 1000)).unwrap();
            assert_eq!(from, From::Memory, "after {n}");
        }
        assert_eq!(memory.bytes(), 10 * entry);
        assert_eq!(counters.memory_evictions.get(), 90);
    }

    #[test]
    fn what_is_larger_than_the_bound_is_made_and_not_kept() {
        let (memory, _) = memory(1000);
        for _ in 0..2 {
            let (held, from) = memory.get_or_make(key(0), || held(5, 2000)).unwrap();
            assert_eq!((held.value, from), (5, From::Made));
            assert_eq!(memory.bytes(), 0);
        }
    }
}
