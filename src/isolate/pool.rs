//! Workers that take turns.

use std::mem;

use crate::sync::waking::{Condvar, Mutex};

/// At most so many workers, of which some are idle and the others are leased.
pub(super) struct Pool<W> {
    size: usize,
    state: Mutex<State<W>>,
    freed: Condvar,
}

struct State<W> {
    idle: Vec<W>,
    leased: usize,
}

impl<W> Pool<W> {
    pub(super) fn new(size: usize) -> Self {
        Pool {
            size: size.max(1),
            state: Mutex::new(State {
                idle: Vec::new(),
                leased: 0,
            }),
            freed: Condvar::new(),
        }
    }

    /// A turn, with an idle worker where there is one; waits where all turns are taken.
    pub(super) fn lease(&self) -> Lease<'_, W> {
        let free = |state: &State<W>| state.leased < self.size;
        let mut state = self.freed.wait_until(self.state.lock(), free);
        state.leased += 1;
        let worker = state.idle.pop();
        drop(state);
        Lease { pool: self, worker }
    }

    /// How many are idle.
    #[cfg(not(loom))]
    pub(super) fn idle(&self) -> usize {
        self.state.lock().idle.len()
    }

    /// What `of` says of each idle worker.
    #[cfg(not(loom))]
    pub(super) fn each_idle<R>(&self, of: impl Fn(&W) -> R) -> Vec<R> {
        self.state.lock().idle.iter().map(of).collect()
    }
}

/// A turn. Its end wakes those that wait, and the worker in it, if one is left there, is idle again.
pub(super) struct Lease<'a, W> {
    pool: &'a Pool<W>,
    pub(super) worker: Option<W>,
}

impl<W> Drop for Lease<'_, W> {
    fn drop(&mut self) {
        let worker = mem::take(&mut self.worker);
        let mut state = self.pool.state.lock();
        state.leased -= 1;
        state.idle.extend(worker);
        drop(state);
        self.pool.freed.notify_all();
    }
}

#[cfg(all(test, loom))]
mod model {
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicUsize, Ordering};
    use loom::thread;

    use super::*;

    /// Threads that each want a turn, some of which lose their worker.
    fn turns(size: usize, threads: usize, loses: usize) {
        let mut model = loom::model::Builder::new();
        // Of three threads all orders are too many to try.
        model.preemption_bound = (threads > 2).then_some(2);
        model.check(move || {
            let pool = Arc::new(Pool::new(size));
            let (at_once, made) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let work = |n: usize| {
                let (pool, at_once, made) = (pool.clone(), at_once.clone(), made.clone());
                move || {
                    let mut lease = pool.lease();
                    assert!(at_once.fetch_add(1, Ordering::SeqCst) < size);
                    let worker = lease
                        .worker
                        .take()
                        .unwrap_or_else(|| made.fetch_add(1, Ordering::SeqCst));
                    if n >= loses {
                        lease.worker = Some(worker);
                    }
                    at_once.fetch_sub(1, Ordering::SeqCst);
                }
            };
            let others: Vec<_> = (1..threads).map(|n| thread::spawn(work(n))).collect();
            work(0)();
            for other in others {
                other.join().unwrap();
            }
            // All turns are free again, and no worker is there twice.
            let all: Vec<_> = (0..size).map(|_| pool.lease()).collect();
            let workers: Vec<usize> = all.iter().filter_map(|lease| lease.worker).collect();
            let mut once = workers.clone();
            once.dedup();
            assert_eq!(once, workers);
            assert_eq!(made.load(Ordering::SeqCst), workers.len() + loses);
        });
    }

    #[test]
    fn two_threads_take_turns_with_one_worker() {
        turns(1, 2, 0);
    }

    #[test]
    fn a_worker_that_is_lost_frees_its_turn() {
        turns(1, 2, 1);
    }

    #[test]
    fn three_threads_share_two_workers() {
        turns(2, 3, 0);
    }
}
