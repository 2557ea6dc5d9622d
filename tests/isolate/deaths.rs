//! Workers that end, do not end, or are ended.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cuda_program::Error;
use cuda_program::compile::{Compiler, Emit};
use cuda_program::isolate::{Isolated, Options};
use libtest_mimic::Trial;

use crate::common::{NEWEST, toolkit};
use crate::results::isolated;
use crate::{jobs, trial};

pub fn all() -> Vec<Trial> {
    vec![
        trial(
            "a_crash_is_an_error_and_the_next_job_gets_a_new_worker",
            60,
            crash,
        ),
        trial("a_crash_in_a_used_worker_is_tried_once_more", 60, used),
        trial("a_deadline_ends_what_never_ends", 60, deadline),
        trial("a_ceiling_of_memory_is_an_error_of_its_own", 120, memory),
        trial("workers_killed_at_random_lose_no_job", 300, killed),
    ]
}

fn crash() {
    let compiler = isolated(1);
    let error = compiler.compile(&jobs::crashes()).unwrap_err();
    let Error::CompilerDied(died) = &error else {
        panic!("{error}")
    };
    assert_eq!(died.signal_name(), Some("SIGILL"), "{error}");
    assert!(
        error
            .to_string()
            .contains("NVVM IR `crash.ll` to PTX for sm_100"),
        "{error}"
    );
    compiler.compile(&jobs::stores(1)).unwrap();
    let stats = compiler.stats();
    assert_eq!((stats.started, stats.died, stats.retried), (2, 1, 0));
}

fn used() {
    let compiler = isolated(1);
    compiler.compile(&jobs::stores(1)).unwrap();
    compiler.compile(&jobs::crashes()).unwrap_err();
    let stats = compiler.stats();
    assert_eq!((stats.started, stats.died, stats.retried), (2, 2, 1));
}

fn deadline() {
    let options = Options::new()
        .workers(1)
        .deadline(Duration::from_millis(700));
    let compiler = Isolated::with_options(&toolkit(NEWEST), options);
    compiler.warm(1).unwrap();
    let start = Instant::now();
    let error = compiler.compile(&jobs::endless()).unwrap_err();
    assert!(matches!(error, Error::TimedOut { .. }), "{error}");
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
    compiler.compile(&jobs::stores(1)).unwrap();
    assert_eq!(compiler.stats().timed_out, 1);
}

fn memory() {
    let options = Options::new().workers(1).memory(700 << 20);
    let compiler = Isolated::with_options(&toolkit(NEWEST), options);
    compiler.compile(&jobs::cpp(1, Emit::Ptx)).unwrap();
    let error = compiler.compile(&jobs::endless()).unwrap_err();
    assert!(matches!(error, Error::MemoryCeiling { .. }), "{error:#}");
    compiler.compile(&jobs::cpp(2, Emit::Ptx)).unwrap();
    // Not even the library fits.
    let options = Options::new().workers(1).memory(64 << 20);
    let compiler = Isolated::with_options(&toolkit(NEWEST), options);
    let error = compiler.compile(&jobs::cpp(1, Emit::Ptx)).unwrap_err();
    assert!(matches!(error, Error::MemoryCeiling { .. }), "{error:#}");
}

fn killed() {
    let output = crate::owners::owner("random").output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

pub fn killed_at_random() {
    const JOBS: usize = 1000;
    let compiler = isolated(2);
    let (next, done, ended) = (
        AtomicUsize::new(0),
        AtomicUsize::new(0),
        AtomicBool::new(false),
    );
    let reported = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    loop {
                        let n = next.fetch_add(1, Ordering::Relaxed);
                        if n >= JOBS {
                            break;
                        }
                        let value = i32::try_from(n).unwrap();
                        match compiler.compile(&jobs::stores(value)) {
                            Ok(output) => {
                                let text = output.ptx().unwrap().as_str();
                                assert!(text.contains(&format!(", {value};")), "{value}: {text}");
                            }
                            Err(Error::CompilerDied(died)) => {
                                assert_eq!(died.signal, Some(9), "{died}");
                                reported.fetch_add(1, Ordering::Relaxed);
                            }
                            // Two that were killed as they started.
                            Err(Error::NoWorker { .. }) => {
                                reported.fetch_add(1, Ordering::Relaxed);
                            }
                            Err(other) => {
                                ended.store(true, Ordering::Relaxed);
                                panic!("{other}")
                            }
                        }
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            let mut dice = 1_u32;
            while !ended.load(Ordering::Relaxed) {
                dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                std::thread::sleep(Duration::from_millis(u64::from(dice >> 26)));
                let children = crate::owners::children(std::process::id());
                if let Some(victim) = children.get(dice as usize / 7 % children.len().max(1)) {
                    crate::owners::kill(*victim);
                }
            }
        });
        for worker in workers {
            worker.join().unwrap();
        }
        ended.store(true, Ordering::Relaxed);
    });
    assert_eq!(done.load(Ordering::Relaxed), JOBS);
    let stats = compiler.stats();
    assert!(stats.died > 10 && stats.retried > 10, "{stats:?}");
    println!("{stats:?}, {} reported", reported.load(Ordering::Relaxed));
    // The canary: all turns are free.
    for n in 0..4 {
        compiler.compile(&jobs::stores(n)).unwrap();
    }
}
