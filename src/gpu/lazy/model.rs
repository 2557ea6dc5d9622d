//! First calls, checked in every order that a model of threads can run in.
//!
//! What is checked is the shipped [`Lazy`], over a fake loader that yields in the middle of each
//! call. Every model ends with the canary: the first call of a kernel that nobody asked for before,
//! and a further first call of the kernel at test, which would hang on a lock that was left behind.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::LocalKey;

use super::Lazy;
use super::fake::{Act, Fake, failure};
use crate::error::{Error, Result};
use crate::sync::model::{LEAKED, LEFT_OUT};

/// How one thread's call ended.
#[derive(Debug, Clone, PartialEq)]
enum Ended {
    /// With the kernel of this load.
    Got(usize),
    Failed(Error),
    Panicked,
}

fn call(kernel: &Lazy<Fake>, device: usize) -> Ended {
    match catch_unwind(AssertUnwindSafe(|| kernel.get(device).map(|k| k.load))) {
        Ok(Ok(load)) => Ended::Got(load),
        Ok(Err(error)) => Ended::Failed(error),
        Err(_) => Ended::Panicked,
    }
}

fn explore(model: impl Fn() + Sync + Send + 'static) {
    // The default hook prints each panic that a model makes on purpose, in each of its orders.
    std::panic::set_hook(Box::new(|info| {
        let said = info.to_string();
        if !said.contains("was to panic") {
            eprintln!("{said}");
        }
    }));
    explore_within(3, model);
}

/// Orders in which no thread is stopped in favour of another more often than `bound` times.
fn explore_within(bound: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(bound);
    builder.check(model);
}

/// Calls kernel `.0` on device `.1` from a thread each.
fn at_once(calls: &[(&Arc<Lazy<Fake>>, usize)]) -> Vec<Ended> {
    /// In words; loom's default is too small for nested first calls without optimisation.
    const STACK: usize = 1 << 16;
    let threads: Vec<_> = calls
        .iter()
        .map(|(kernel, device)| {
            let (kernel, device) = (Arc::clone(kernel), *device);
            loom::thread::Builder::new()
                .stack_size(STACK)
                .spawn(move || call(&kernel, device))
                .unwrap()
        })
        .collect();
    threads.into_iter().map(|t| t.join().unwrap()).collect()
}

fn canary(kernel: &Lazy<Fake>) {
    const UNUSED: usize = 7;
    let second = Lazy::new(Fake::named("canary"));
    assert!(second.get(0).is_ok());
    assert!(kernel.get(UNUSED).is_ok());
    assert_eq!(kernel.stats().loads[&UNUSED], 1);
    assert_eq!(kernel.loader().keeping.load(Ordering::Relaxed), 0);
}

fn threads_on_one_device(threads: usize) {
    let kernel = Arc::new(Lazy::new(Fake::named("a")));
    let ended = at_once(&vec![(&kernel, 0); threads]);
    assert_eq!(ended, vec![Ended::Got(0); threads]);
    let stats = kernel.stats();
    assert_eq!(stats.compiles.values().sum::<u64>(), 1);
    assert_eq!((stats.loads[&0], stats.failures), (1, 0));
    canary(&kernel);
}

#[test]
fn two_threads_load_once_and_get_the_same() {
    explore(|| threads_on_one_device(2));
}

#[test]
fn three_threads_load_once_and_get_the_same() {
    explore(|| threads_on_one_device(3));
}

#[test]
fn four_threads_load_once_and_get_the_same() {
    // The orders of four threads are too many for the bound of three.
    explore_within(1, || threads_on_one_device(4));
}

#[test]
fn threads_on_two_devices_compile_once_and_load_on_each() {
    explore(|| {
        let kernel = Arc::new(Lazy::new(Fake::named("a")));
        let ended = at_once(&[(&kernel, 0), (&kernel, 1), (&kernel, 0)]);
        assert_eq!(ended[0], ended[2]);
        assert_ne!(ended[0], ended[1]);
        let stats = kernel.stats();
        assert_eq!(stats.compiles.values().sum::<u64>(), 1);
        assert_eq!((stats.loads[&0], stats.loads[&1]), (1, 1));
        canary(&kernel);
    });
}

/// A failed attempt must fail those who waited for it and nobody else; who comes later loads.
fn after_one_failure(kernel: &Arc<Lazy<Fake>>, threads: usize, error: &Error, own: &Ended) {
    let ended = at_once(&vec![(kernel, 0); threads]);
    assert_eq!(ended.iter().filter(|e| *e == own).count().min(1), 1);
    for ended in &ended {
        match ended {
            Ended::Got(_) => {}
            Ended::Failed(got) => assert_eq!(got, error),
            Ended::Panicked => assert_eq!(own, &Ended::Panicked),
        }
    }
    assert_eq!(
        ended.iter().filter(|e| **e == Ended::Panicked).count(),
        usize::from(*own == Ended::Panicked)
    );
    assert_eq!(
        kernel.stats().failures,
        if error == &failure("loading") { 1 } else { 2 }
    );
    assert!(kernel.get(0).is_ok());
    assert_eq!(kernel.stats().loads[&0], 1);
    canary(kernel);
}

#[test]
fn a_failed_load_fails_its_waiters_and_the_next_call_tries_again() {
    explore(|| {
        let kernel = Arc::new(Lazy::new(Fake::named("a").loading(vec![Act::Fail])));
        let error = failure("loading");
        after_one_failure(&kernel, 3, &error, &Ended::Failed(error.clone()));
    });
}

#[test]
fn a_failed_compilation_fails_its_waiters_and_the_next_call_tries_again() {
    explore(|| {
        let kernel = Arc::new(Lazy::new(Fake::named("a").compiling(vec![Act::Fail])));
        let error = failure("compiling");
        after_one_failure(&kernel, 2, &error, &Ended::Failed(error.clone()));
    });
}

#[test]
fn a_panic_is_one_threads_alone_and_leaves_nothing_locked() {
    explore(|| {
        let kernel = Arc::new(Lazy::new(Fake::named("a").compiling(vec![Act::Panic])));
        let error = Error::FirstCallPanicked {
            kernel: "a".to_owned(),
            message: "compiling was to panic".to_owned(),
        };
        after_one_failure(&kernel, 2, &error, &Ended::Panicked);
    });
}

fn needing(name: &str, other: &Arc<Lazy<Fake>>) -> Fake {
    Fake::named(name).compiling(vec![Act::Get(Arc::downgrade(other), 0)])
}

fn cycle(names: &[&str]) -> Ended {
    Ended::Failed(Error::FirstCallCycle {
        cycle: names.iter().map(|n| (*n).to_owned()).collect(),
    })
}

#[test]
fn a_loader_that_asks_for_its_own_kernel_fails_all_and_hangs_nobody() {
    explore(|| {
        let kernel = Arc::new_cyclic(|kernel| {
            let again = || Act::Get(kernel.clone(), 1);
            Lazy::new(Fake::named("a").compiling(vec![again(), again()]))
        });
        let ended = at_once(&[(&kernel, 0), (&kernel, 0)]);
        assert_eq!(ended, vec![cycle(&["a", "a"]); 2]);
        assert!(kernel.get(0).is_ok() || kernel.get(0).is_ok());
        canary(&kernel);
    });
}

#[test]
fn kernels_that_need_each_other_fail_on_two_threads_and_hang_neither() {
    explore(|| {
        let a = Arc::new(Lazy::new(Fake::named("a")));
        let b = Arc::new(Lazy::new(needing("b", &a)));
        let needs_b = || Act::Get(Arc::downgrade(&b), 0);
        assert!(a.loader().compiles.set(vec![needs_b(), needs_b()]).is_ok());
        for ended in at_once(&[(&a, 0), (&b, 0)]) {
            // After the first cycle broke, b no longer needs a.
            let known = [cycle(&["a", "b", "a"]), cycle(&["b", "a", "b"])];
            assert!(
                known.contains(&ended) || matches!(ended, Ended::Got(_)),
                "{ended:?}"
            );
        }
        assert!(a.get(0).is_ok() && b.get(0).is_ok());
        canary(&a);
    });
}

#[test]
fn a_kernel_that_needs_another_waits_for_it_and_for_nothing_else() {
    explore(|| {
        let a = Arc::new(Lazy::new(Fake::named("a")));
        let b = Arc::new(Lazy::new(needing("b", &a)));
        let ended = at_once(&[(&a, 0), (&b, 0)]);
        assert_eq!(ended, vec![Ended::Got(0); 2]);
        assert_eq!((a.stats().loads[&0], b.stats().loads[&0]), (1, 1));
        canary(&b);
    });
}

/// Whether the checker fails a model with this fault switched on.
fn notices(fault: &'static LocalKey<AtomicBool>, model: fn()) -> bool {
    std::thread::spawn(move || {
        fault.with(|fault| fault.store(true, Ordering::Relaxed));
        explore(model);
    })
    .join()
    .is_err()
}

#[test]
fn the_model_notices_a_lock_left_out() {
    assert!(notices(&LEFT_OUT, || threads_on_one_device(2)));
}

/// The reported hang: who finds the work done already returns with the lock still held.
#[test]
fn the_model_notices_the_leaked_lock_of_the_report() {
    assert!(notices(&LEAKED, || threads_on_one_device(2)));
    assert!(notices(&LEAKED, || threads_on_one_device(3)));
}

/// One thread never meets the branch that leaks: what the report's control showed.
#[test]
fn one_thread_does_not_notice_the_leaked_lock() {
    assert!(!notices(&LEAKED, || {
        let kernel = Arc::new(Lazy::new(Fake::named("a")));
        let first: Result<_> = kernel.get(0);
        assert!(first.is_ok() && kernel.get(0).is_ok());
    }));
}
