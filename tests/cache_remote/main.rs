//! The cache with stores that machines share: a real Redis, and a server that speaks S3.
//!
//! The servers are started by the tests, on this machine alone. Where one is not installed, its tests
//! are ignored, with the reason.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;
mod servers;
mod sharing;

use libtest_mimic::{Arguments, Trial};
use servers::{Redis, S3, Server};

fn main() {
    if let Ok(told) = std::env::var(sharing::INSIDE) {
        return sharing::inside(&told);
    }
    let mut trials = tests("redis", Redis::missing(), Redis::start);
    trials.extend(tests("s3", S3::missing(), S3::start));
    let redis: [Named<Redis>; 3] = [
        (
            "a_stopped_server_costs_a_deadline_and_is_used_again",
            sharing::stopped,
        ),
        ("a_server_that_dies_is_a_miss", sharing::dies),
        (
            "a_wrong_password_is_a_miss_and_is_not_told",
            sharing::wrong_password,
        ),
    ];
    for (name, test) in redis {
        let start = move || test(Redis::start());
        trials.push(trial("redis", name, Redis::missing(), start));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

type Named<S> = (&'static str, fn(S));

/// What holds for every kind of store.
fn tests<S: Server + 'static>(
    kind: &'static str,
    missing: Option<String>,
    start: fn() -> S,
) -> Vec<Trial> {
    let tests: [Named<S>; 4] = [
        ("one_process_compiles_and_another_finds_it", sharing::found),
        (
            "what_is_damaged_is_compiled_again_and_mended",
            sharing::damaged,
        ),
        ("what_is_only_read_is_not_written", sharing::read_only),
        (
            "sixty_four_artifacts_at_once_come_back_whole",
            sharing::many,
        ),
    ];
    tests
        .into_iter()
        .map(|(name, test)| trial(kind, name, missing.clone(), move || test(start())))
        .collect()
}

fn trial(
    kind: &str,
    name: &str,
    missing: Option<String>,
    test: impl FnOnce() + Send + 'static,
) -> Trial {
    let name = format!("{kind}::{name}");
    match missing {
        None => Trial::test(name, move || {
            test();
            Ok(())
        }),
        Some(why) => Trial::ignorable_test(name, move || {
            Ok(libtest_mimic::Completion::ignored_with(why))
        }),
    }
}
