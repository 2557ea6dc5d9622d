//! What a process has only once is tested in a process of its own.

use std::path::Path;
use std::process::{Command, Output};

const INSIDE: &str = "CUDA_PROGRAM_TEST_INSIDE";

/// The calling test, to be run again by itself in another process, where `inside` is true.
pub fn again(variables: &[(&str, &Path)]) -> Command {
    let thread = std::thread::current();
    let name = thread.name().expect("the harness names the thread");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([name, "--exact", "--nocapture"])
        .env(INSIDE, "1")
        .envs(variables.iter().copied());
    command
}

pub fn inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

/// Stops the test unless the other process ran one test, which passed.
pub fn check(output: &Output) {
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{}\n{said}", output.status);
    assert!(said.contains("1 passed"), "it did not run\n{said}");
}

/// Runs `test` in a process of its own.
pub fn in_a_process_of_its_own(test: impl FnOnce()) {
    if inside() {
        return test();
    }
    check(&again(&[]).output().unwrap());
}
