//! Tests that change what a process has once. Unit and integration tests share this file.

use std::process::Command;

/// Runs `test`, which changes what a process has only once (its locale, its limits), in a process of
/// its own: the calling test, run again by itself.
pub(crate) fn again_in_a_process_of_its_own(variables: &[(&str, &str)], test: impl FnOnce()) {
    const INSIDE: &str = "CUDA_PROGRAM_TEST_INSIDE";
    if std::env::var_os(INSIDE).is_some() {
        return test();
    }
    let thread = std::thread::current();
    let name = thread
        .name()
        .expect("the harness names a test's thread after it");
    let output = Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env(INSIDE, "1")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{name}: {}\n{said}", output.status);
    assert!(said.contains("1 passed"), "{name} did not run\n{said}");
}
