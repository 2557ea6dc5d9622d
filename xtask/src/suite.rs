//! Runs every test of the workspace, with what the tests need installed first.

use std::ffi::OsString;
use std::time::Instant;

use crate::cargo::Cargo;
use crate::error::Result;
use crate::headers;
use crate::toolkit;
use crate::workspace::Workspace;

/// Installs what the tests need, and runs them; `arguments` are for the tests themselves.
pub fn run(workspace: &Workspace, arguments: &[OsString]) -> Result<()> {
    let all: Vec<_> = toolkit::all().collect();
    timed("toolkits", |_| toolkit::install(workspace, &all))?;
    timed("cuobjdump", |_| {
        toolkit::install_cuobjdump(workspace).map(drop)
    })?;
    timed("tests of the commands with all their features", |name| {
        let tests = Cargo::on_xtask("test", "bindgen,demo,intrinsics").passing(arguments);
        headers::with_libclang(workspace, tests)?.run(name, workspace)
    })?;
    timed("bindings made from an older toolkit's headers", |name| {
        let check = Cargo::new(["check", "--features", "buildtime-bindgen"])
            .with("CUDA_PROGRAM_TOOLKIT", "target/toolkits/12.9");
        headers::with_libclang(workspace, check)?.run(name, workspace)
    })?;
    timed("model checking", |name| {
        model_tests(std::env::var_os("RUSTFLAGS")).run(name, workspace)
    })?;
    timed("tests and documentation tests", |name| {
        all_tests(arguments).run(name, workspace)
    })
}

/// Last, so that the output closes as that of a plain `cargo test` does. The cache and the workers are no defaults.
fn all_tests(arguments: &[OsString]) -> Cargo {
    let line = "test --workspace --features cuda-program/cache-disk,cuda-program/isolate";
    Cargo::new(line.split(' ')).passing(arguments)
}

/// In a target folder of its own, since the flag would have everything else rebuilt. The models lie
/// beside what they check, in modules named `model`, so that they reach what is private.
fn model_tests(rustflags: Option<OsString>) -> Cargo {
    let mut flags = rustflags.unwrap_or_default();
    if !flags.is_empty() {
        flags.push(" ");
    }
    flags.push("--cfg loom");
    let line = "test --package cuda-program --lib --target-dir target/loom";
    Cargo::new(line.split(' '))
        .passing(&["::model::".into()])
        .with("RUSTFLAGS", flags)
}

fn timed(name: &'static str, work: impl FnOnce(&'static str) -> Result<()>) -> Result<()> {
    println!("==> {name}");
    let start = Instant::now();
    let result = work(name);
    let outcome = if result.is_ok() { "passed" } else { "FAILED" };
    println!(
        "<== {name}: {outcome} in {:.1} s\n",
        start.elapsed().as_secs_f64()
    );
    result
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn the_tests_run_as_by_a_plain_cargo_test_with_the_cache() {
        assert_eq!(
            all_tests(&[]).line(),
            "cargo test --workspace --features cuda-program/cache-disk,cuda-program/isolate"
        );
    }

    #[test]
    fn arguments_reach_the_tests() {
        let line = all_tests(&["--nocapture".into(), "name".into()]).line();
        assert_eq!(
            line,
            "cargo test --workspace --features cuda-program/cache-disk,cuda-program/isolate -- --nocapture name"
        );
    }

    #[rstest]
    #[case(None, "--cfg loom")]
    #[case(Some("-Dwarnings"), "-Dwarnings --cfg loom")]
    fn model_tests_add_their_flag_to_the_callers(
        #[case] rustflags: Option<&str>,
        #[case] expected: &str,
    ) {
        assert_eq!(
            model_tests(rustflags.map(OsString::from)).line(),
            format!(
                "RUSTFLAGS=\"{expected}\" cargo test --package cuda-program --lib \
                 --target-dir target/loom -- ::model::"
            )
        );
    }
}
