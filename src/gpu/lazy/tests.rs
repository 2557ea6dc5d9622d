//! Many threads, real ones, on a fake loader, under a watchdog.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Barrier, Weak};
use std::thread;
use std::time::Duration;

use rstest::rstest;

use super::Lazy;
use super::fake::{Act, Fake, Loaded, failure};
use crate::error::{Error, Result};

const THREADS: usize = 64;
const DEVICES: usize = 8;

/// Ends the process when `test` hangs: a thread that hangs cannot be ended.
fn watched<R>(test: impl FnOnce() -> R) -> R {
    let (done, watch) = mpsc::channel::<()>();
    let watchdog = thread::spawn(move || {
        if watch.recv_timeout(Duration::from_secs(120)) == Err(RecvTimeoutError::Timeout) {
            eprintln!("a first call hangs");
            std::process::abort();
        }
    });
    let result = catch_unwind(AssertUnwindSafe(test));
    drop(done);
    watchdog.join().unwrap();
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// How the call of each thread ended, `None` for a panic; thread `n` asks for device `n % devices`.
fn at_once(kernel: &Lazy<Fake>, threads: usize, devices: usize) -> Vec<Option<Result<&Loaded>>> {
    let start = Barrier::new(threads);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|n| {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    catch_unwind(AssertUnwindSafe(|| kernel.get(n % devices))).ok()
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    })
}

/// The first call of a second kernel, which would hang on a lock that a first one left behind.
fn canary() {
    let canary = Lazy::new(Fake::named("canary"));
    assert_eq!(canary.get(0), Ok(&Loaded { device: 0, load: 0 }));
}

fn slow(millis: u64) -> Act {
    Act::Sleep(Duration::from_millis(millis))
}

fn assert_loaded_once_on_each(kernel: &Lazy<Fake>, devices: usize) {
    let stats = kernel.stats();
    let loads: Vec<_> = stats.loads.iter().map(|(d, n)| (*d, *n)).collect();
    let once: Vec<_> = (0..devices).map(|device| (device, 1)).collect();
    assert_eq!(loads, once);
    assert!(stats.compiles.values().all(|n| *n == 1), "{stats:?}");
    assert_eq!(kernel.loader().keeping.load(Ordering::Relaxed), 0);
}

#[rstest]
#[case::devices_of_one_architecture(0, 1)]
#[case::devices_of_two(4, 2)]
fn threads_on_all_devices_compile_once_for_each_architecture_and_load_once_on_each_device(
    #[case] other_arch_from: usize,
    #[case] archs: usize,
) {
    watched(|| {
        let mut fake = Fake::named("a")
            .compiling(vec![slow(20)])
            .loading((0..DEVICES).map(|_| slow(5)).collect());
        fake.other_arch_from = other_arch_from;
        let kernel = Lazy::new(fake);
        let got = at_once(&kernel, THREADS, DEVICES);
        for (n, got) in got.iter().enumerate() {
            let got = *got.as_ref().unwrap().as_ref().unwrap();
            assert_eq!(got.device, n % DEVICES);
            assert!(std::ptr::eq(got, kernel.peek(n % DEVICES).unwrap()));
        }
        assert_loaded_once_on_each(&kernel, DEVICES);
        assert_eq!(kernel.stats().compiles.len(), archs);
        assert_eq!(kernel.loader().kept.load(Ordering::Relaxed), DEVICES);
        canary();
    });
}

/// Every thread calls until it has the kernel; loads and compilations fail and panic by turns.
#[test]
fn threads_that_try_again_after_errors_and_panics_all_get_the_kernel_of_the_one_load() {
    watched(|| {
        let bad = || vec![Act::Fail, Act::Panic, slow(5)];
        let kernel = Lazy::new(Fake::named("a").compiling(bad()).loading(bad()));
        let start = Barrier::new(THREADS);
        thread::scope(|scope| {
            for n in 0..THREADS {
                let (kernel, start) = (&kernel, &start);
                scope.spawn(move || {
                    start.wait();
                    let got = (0..)
                        .find_map(|_| {
                            catch_unwind(AssertUnwindSafe(|| kernel.get(n % DEVICES).ok())).ok()?
                        })
                        .unwrap();
                    assert_eq!(got.device, n % DEVICES);
                });
            }
        });
        assert_loaded_once_on_each(&kernel, DEVICES);
        assert_eq!(kernel.loader().compiled.load(Ordering::Relaxed), 3);
        canary();
    });
}

/// A kernel whose first compilation acts when all threads but the leader wait for it.
fn acting_when_all_wait(act: Act) -> Arc<Lazy<Fake>> {
    Arc::new_cyclic(|kernel: &Weak<Lazy<Fake>>| {
        let act = Act::WhenAllWait(kernel.clone(), THREADS - 1, Box::new(act));
        Lazy::new(Fake::named("a").compiling(vec![act]))
    })
}

#[test]
fn an_error_goes_to_every_thread_that_waited_and_is_not_remembered() {
    watched(|| {
        let kernel = acting_when_all_wait(Act::Fail);
        for got in at_once(&kernel, THREADS, 1) {
            assert_eq!(got, Some(Err(failure("compiling"))));
        }
        assert_eq!(kernel.loader().compiled.load(Ordering::Relaxed), 1);
        assert!(kernel.get(0).is_ok());
        assert_loaded_once_on_each(&kernel, 1);
        canary();
    });
}

#[test]
fn a_panic_goes_on_in_its_thread_and_is_an_error_for_every_thread_that_waited() {
    watched(|| {
        let kernel = acting_when_all_wait(Act::Panic);
        let (panicked, failed): (Vec<_>, Vec<_>) = at_once(&kernel, THREADS, 1)
            .into_iter()
            .partition(Option::is_none);
        assert_eq!((panicked.len(), failed.len()), (1, THREADS - 1));
        for got in failed {
            insta::allow_duplicates! {
                insta::assert_snapshot!(
                    got.unwrap().unwrap_err(),
                    @"the first call of `a` panicked in another thread: compiling was to panic; the next call tries again"
                );
            }
        }
        assert!(kernel.get(0).is_ok());
        assert_loaded_once_on_each(&kernel, 1);
        canary();
    });
}

/// The reported case: three threads, one device, then the canary; one thread is the control.
#[rstest]
#[case::control(1)]
#[case::reported(3)]
fn a_thousand_fresh_first_calls_load_once_each_and_leave_nothing_locked(#[case] threads: usize) {
    watched(|| {
        for _ in 0..1000 {
            let kernel = Lazy::new(Fake::named("a"));
            for got in at_once(&kernel, threads, 1) {
                assert_eq!(got, Some(Ok(&Loaded { device: 0, load: 0 })));
            }
            assert_loaded_once_on_each(&kernel, 1);
            canary();
        }
    });
}

fn needing(name: &str, other: &Weak<Lazy<Fake>>, device: usize) -> Fake {
    Fake::named(name).compiling(vec![Act::Get(other.clone(), device)])
}

#[rstest]
#[case::on_the_same_device(0)]
#[case::on_another(1)]
fn a_loader_that_asks_for_its_own_kernel_gets_an_error(#[case] device: usize) {
    watched(|| {
        let kernel = Arc::new_cyclic(|kernel| Lazy::new(needing("a", kernel, device)));
        insta::allow_duplicates! {
            insta::assert_snapshot!(
                kernel.get(0).unwrap_err(),
                @"the first call of `a` waits for itself (a needs a); let no loader ask for a kernel that needs the one it makes"
            );
        }
        assert!(kernel.get(0).is_ok());
        canary();
    });
}

#[test]
fn kernels_that_need_each_other_on_one_thread_get_an_error_that_names_both() {
    watched(|| {
        let a = Arc::new(Lazy::new(Fake::named("a")));
        let b = Arc::new(Lazy::new(needing("b", &Arc::downgrade(&a), 0)));
        assert!(
            a.loader()
                .compiles
                .set(vec![Act::Get(Arc::downgrade(&b), 0)])
                .is_ok()
        );
        let cycle = ["a", "b", "a"].map(str::to_owned).to_vec();
        assert_eq!(a.get(0), Err(Error::FirstCallCycle { cycle }));
        assert!(a.get(0).is_ok() && b.get(0).is_ok());
        canary();
    });
}

#[test]
fn a_kernel_is_called_while_the_first_call_of_another_is_at_work() {
    watched(|| {
        let fast = Arc::new(Lazy::new(Fake::named("fast")));
        // The slow kernel is done only when another thread had the fast one.
        let slow =
            Lazy::new(Fake::named("slow").compiling(vec![Act::WhenReady(Arc::downgrade(&fast))]));
        thread::scope(|scope| {
            let waits = scope.spawn(|| slow.get(0).is_ok());
            assert!(fast.get(0).is_ok());
            assert!(waits.join().unwrap());
        });
    });
}

#[test]
fn a_failed_load_keeps_what_was_compiled() {
    let kernel = Lazy::new(Fake::named("a").loading(vec![Act::Fail]));
    assert_eq!(kernel.get(0), Err(failure("loading")));
    assert!(kernel.get(0).is_ok());
    assert_eq!(kernel.loader().compiled.load(Ordering::Relaxed), 1);
    assert_eq!(kernel.stats().failures, 1);
}

#[test]
fn a_device_number_beyond_any_machine_is_refused() {
    let kernel = Lazy::new(Fake::named("a"));
    insta::assert_snapshot!(
        kernel.get(usize::MAX).unwrap_err(),
        @"a: device 18446744073709551615 is asked for; number devices as the driver does, below 65536"
    );
}

#[test]
fn warm_up_compiles_once_loads_on_each_device_and_reports_every_failure() {
    watched(|| {
        let kernel = Lazy::new(Fake::named("a").loading(vec![Act::Fail, Act::Fail]));
        let devices: Vec<_> = (0..DEVICES).collect();
        let Err(Error::WarmUp { failures, .. }) = kernel.warm_up(&devices) else {
            panic!("two loads were to fail")
        };
        assert_eq!(failures.len(), 2);
        for (device, error) in failures {
            assert_eq!(error, failure("loading"));
            assert!(kernel.peek(device).is_none());
        }
        assert_eq!(kernel.warm_up(&devices), Ok(()));
        assert_eq!(kernel.loader().compiled.load(Ordering::Relaxed), 1);
        assert_loaded_once_on_each(&kernel, DEVICES);
        canary();
    });
}

#[test]
fn everything_loaded_and_compiled_goes_with_the_kernel() {
    struct Counted(Arc<()>);
    impl super::Load for Counted {
        type Artifact = Arc<()>;
        type Kernel = Arc<()>;
        fn name(&self) -> &str {
            "counted"
        }
        fn arch(&self, _: usize) -> Result<crate::Arch> {
            Ok(crate::Arch::SM_90)
        }
        fn compile(&self, _: crate::Arch) -> Result<Arc<()>> {
            Ok(self.0.clone())
        }
        fn load(&self, _: usize, artifact: &Arc<()>) -> Result<Arc<()>> {
            Ok(artifact.clone())
        }
    }
    let alive = Arc::new(());
    let kernel = Lazy::new(Counted(alive.clone()));
    for device in [3, 0, 1] {
        kernel.get(device).unwrap();
    }
    assert_eq!(Arc::strong_count(&alive), 2 + 1 + 3);
    drop(kernel);
    assert_eq!(Arc::strong_count(&alive), 1);
}
