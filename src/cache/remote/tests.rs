//! What happens with a store that fails; real servers are in `tests/cache_remote`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use opendal::{Operator, services};

use super::{Remote, Store};
use crate::cache::counters::{Counters, Stats};
use crate::cache::key::Key;

const COST: Duration = Duration::from_millis(3);

struct Fixture {
    store: Store,
    counters: Arc<Counters>,
}

impl Fixture {
    fn new(remote: &Remote) -> Self {
        let counters = Arc::new(Counters::default());
        Fixture {
            store: Store::new(remote, counters.clone()),
            counters,
        }
    }

    fn stats(&self) -> Stats {
        self.counters.stats(0)
    }
}

fn key(n: u8) -> Key {
    Key::from_bytes([n; 32])
}

fn memory() -> Operator {
    Operator::new(services::Memory::default()).unwrap().finish()
}

#[test]
fn what_one_stored_another_finds() {
    let remote = Remote::new(memory());
    let (one, other) = (Fixture::new(&remote), Fixture::new(&remote));
    one.store.put(&key(1), COST, b"one");
    one.store.flush();
    assert_eq!(other.store.get(&key(1)), Some((b"one".to_vec(), COST)));
    assert_eq!(other.store.get(&key(2)), None);
    let elsewhere = Fixture::new(&remote.prefix("elsewhere"));
    assert_eq!(elsewhere.store.get(&key(1)), None);
    assert_eq!(elsewhere.stats().remote_failures, 0);
}

#[test]
fn what_is_damaged_or_anothers_is_a_miss() {
    let operator = memory();
    let f = Fixture::new(&Remote::new(operator.clone()));
    f.store.put(&key(1), COST, b"one");
    f.store.flush();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let path = |n: u8| {
        let name = key(n).to_string();
        format!("cuda-program/v1/{}/{}", &name[..2], &name[2..])
    };
    let whole = runtime.block_on(operator.read(&path(1))).unwrap().to_vec();
    for byte in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[byte] ^= 4;
        runtime.block_on(operator.write(&path(1), flipped)).unwrap();
        assert_eq!(f.store.get(&key(1)), None, "{byte}");
    }
    runtime
        .block_on(operator.write(&path(2), whole.clone()))
        .unwrap();
    assert_eq!(f.store.get(&key(2)), None);
    assert_eq!(f.stats().damaged, whole.len() as u64 + 1);
}

#[test]
fn nothing_is_written_where_it_is_only_read() {
    let operator = memory();
    let reader = Fixture::new(&Remote::new(operator.clone()).read_only(true));
    reader.store.put(&key(1), COST, b"one");
    reader.store.flush();
    assert_eq!(
        Fixture::new(&Remote::new(operator)).store.get(&key(1)),
        None
    );
}

/// A server that takes connections and never answers.
fn silent() -> (TcpListener, Operator) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    let redis = services::Redis::default().endpoint(&address);
    (listener, Operator::new(redis).unwrap().finish())
}

#[test]
fn a_store_that_does_not_answer_costs_the_deadline_once_and_is_left_alone() {
    let (_listener, operator) = silent();
    // So long that a test on a busy machine cannot mistake one wait for many.
    let deadline = Duration::from_millis(500);
    let f = Fixture::new(&Remote::new(operator).deadline(deadline));
    let start = Instant::now();
    assert_eq!(f.store.get(&key(1)), None);
    assert!(start.elapsed() >= deadline);
    for n in 0..20 {
        assert_eq!(f.store.get(&key(n)), None);
        f.store.put(&key(n), COST, b"some");
    }
    f.store.flush();
    let stats = f.stats();
    assert_eq!((stats.remote_failures, stats.remote_skipped), (1, 40));
    assert_eq!(stats.problems.len(), 1);
    assert!(stats.problems[0].contains("deadline"), "{stats:?}");
}

#[test]
fn a_store_that_is_not_there_is_a_miss_and_is_asked_again_later() {
    let (listener, operator) = silent();
    drop(listener);
    let rest = Duration::from_millis(1);
    let f = Fixture::new(&Remote::new(operator).longest_rest(rest));
    for n in 1..4 {
        assert_eq!(f.store.get(&key(1)), None);
        assert_eq!(f.stats().remote_failures, n);
        std::thread::sleep(2 * rest);
    }
    assert_eq!(f.stats().problems.len(), 1);
}

#[test]
fn it_can_be_used_and_dropped_in_asynchronous_code() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let f = Fixture::new(&Remote::new(memory()));
        f.store.put(&key(1), COST, b"one");
        f.store.flush();
        assert!(f.store.get(&key(1)).is_some());
    });
}

#[test]
fn writes_that_are_on_their_way_are_waited_for_at_the_end() {
    let operator = memory();
    for n in 0..20 {
        let f = Fixture::new(&Remote::new(operator.clone()).deadline(Duration::from_secs(10)));
        f.store.put(&key(n), COST, b"some");
        drop(f);
        let f = Fixture::new(&Remote::new(operator.clone()));
        assert!(f.store.get(&key(n)).is_some(), "{n}");
    }
}
