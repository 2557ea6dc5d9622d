//! Runs every test of the workspace, with what the tests need installed first.

use std::ffi::OsString;
use std::process::Command;
use std::time::Instant;

use crate::error::{Error, Result};
use crate::toolkit;
use crate::workspace::Workspace;

/// Installs what the tests need, and runs them; `arguments` are for the tests themselves.
pub fn run(workspace: &Workspace, arguments: &[OsString]) -> Result<()> {
    let all: Vec<_> = toolkit::all().collect();
    timed("toolkits", || toolkit::install(workspace, &all))?;
    for step in steps(workspace, arguments) {
        timed(step.name, || step.run(workspace))?;
    }
    Ok(())
}

/// One run of cargo.
#[derive(Debug, PartialEq)]
struct Step {
    name: &'static str,
    arguments: Vec<OsString>,
    /// Flags for the compiler, on top of those that the caller has set.
    rustflags: Option<&'static str>,
}

fn steps(workspace: &Workspace, arguments: &[OsString]) -> Vec<Step> {
    let cargo = |line: &[&str]| {
        let mut all: Vec<OsString> = line.iter().map(OsString::from).collect();
        if !arguments.is_empty() {
            all.push("--".into());
            all.extend_from_slice(arguments);
        }
        all
    };
    let mut steps = vec![Step {
        name: "tests and documentation tests",
        arguments: cargo(&["test", "--workspace"]),
        rustflags: None,
    }];
    if workspace.root().join("tests/model.rs").exists() {
        // A target folder of its own, since the flag would have everything else rebuilt; and
        // optimised, since a model checker runs each test some thousand times.
        steps.push(Step {
            name: "model checking",
            arguments: cargo(&[
                "test",
                "--release",
                "--test",
                "model",
                "--target-dir",
                "target/loom",
            ]),
            rustflags: Some("--cfg loom"),
        });
    }
    steps
}

impl Step {
    fn run(&self, workspace: &Workspace) -> Result<()> {
        // The cargo that runs this program, so that the toolchain stays the same.
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(&cargo);
        command.args(&self.arguments).current_dir(workspace.root());
        if let Some(more) = self.rustflags {
            let mut flags = std::env::var_os("RUSTFLAGS").unwrap_or_default();
            flags.push(" ");
            flags.push(more);
            command.env("RUSTFLAGS", flags);
        }
        let status = command.status().map_err(Error::io("run", &cargo))?;
        if status.success() {
            return Ok(());
        }
        Err(Error::Step {
            name: self.name,
            status,
            line: self.line(),
        })
    }

    /// What to type to run it again.
    fn line(&self) -> String {
        let rustflags = self
            .rustflags
            .map(|flags| format!("RUSTFLAGS=\"{flags}\" "));
        let arguments: Vec<_> = self.arguments.iter().map(|a| a.to_string_lossy()).collect();
        format!(
            "{}cargo {}",
            rustflags.unwrap_or_default(),
            arguments.join(" ")
        )
    }
}

fn timed(name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("==> {name}");
    let start = Instant::now();
    let result = work();
    let outcome = if result.is_ok() { "passed" } else { "FAILED" };
    println!(
        "<== {name}: {outcome} in {:.1} s\n",
        start.elapsed().as_secs_f64()
    );
    result
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    fn lines(root: &TempDir, arguments: &[&str]) -> Vec<String> {
        let arguments: Vec<_> = arguments.iter().map(OsString::from).collect();
        steps(&Workspace::at(root), &arguments)
            .iter()
            .map(Step::line)
            .collect()
    }

    #[test]
    fn without_model_tests_only_cargo_test_runs() {
        let root = TempDir::new().unwrap();
        assert_eq!(lines(&root, &[]), ["cargo test --workspace"]);
    }

    #[test]
    fn model_tests_run_under_loom_and_every_step_gets_the_arguments() {
        let root = TempDir::new().unwrap();
        fs::create_dir(root.path().join("tests")).unwrap();
        fs::write(root.path().join("tests/model.rs"), "").unwrap();
        assert_eq!(
            lines(&root, &["--nocapture"]),
            [
                "cargo test --workspace -- --nocapture",
                "RUSTFLAGS=\"--cfg loom\" cargo test --release --test model \
                 --target-dir target/loom -- --nocapture",
            ]
        );
    }
}
