//! Tests that change what a process has once. Unit and integration tests share this file.

#![allow(dead_code, reason = "each test file uses a part")]

use std::ffi::OsStr;
use std::process::{Command, Output};

const INSIDE: &str = "CUDA_PROGRAM_TEST_INSIDE";

/// The calling test, to be run again by itself in another process, where [`inside`] is true.
pub(crate) fn again<V: AsRef<OsStr>>(variables: &[(&str, V)]) -> Command {
    let thread = std::thread::current();
    let name = thread
        .name()
        .expect("the harness names a test's thread after it");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([name, "--exact", "--nocapture"])
        .env(INSIDE, "1")
        .envs(variables.iter().map(|(name, value)| (name, value)));
    command
}

pub(crate) fn inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// Stops the test unless the other process ran one test, which passed.
pub(crate) fn check(output: &Output) {
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{}\n{said}", output.status);
    assert!(said.contains("1 passed"), "it did not run\n{said}");
}

/// Runs `test`, which changes what a process has only once (its locale, its limits), in a process of
/// its own.
pub(crate) fn again_in_a_process_of_its_own(variables: &[(&str, &str)], test: impl FnOnce()) {
    if inside() {
        return test();
    }
    check(&again(variables).output().unwrap());
}
