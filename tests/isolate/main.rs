//! Compiling in worker processes: with the real libraries, and inputs that end them or keep them busy.
//!
//! This program is its own worker, so it has a `main` of its own.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;
mod deaths;
mod jobs;
#[path = "../../src/testing/mutate.rs"]
mod mutate;
mod mutated;
mod owners;
mod proxy;
#[path = "../../src/testing/random.rs"]
mod random;
mod results;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    if let Some(code) = proxy::run() {
        return code;
    }
    cuda_program::isolate::init();
    if let Some(code) = owners::run() {
        return code;
    }
    let trials = [
        results::all(),
        deaths::all(),
        owners::all(),
        proxy::all(),
        mutated::all(),
    ];
    let trials = trials.into_iter().flatten().collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A test under a watchdog.
fn trial(name: &str, seconds: u64, test: fn()) -> Trial {
    Trial::test(name, move || {
        common::within(seconds, test);
        Ok(())
    })
}
