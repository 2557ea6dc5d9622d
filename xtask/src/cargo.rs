//! Runs of cargo.

use std::ffi::{OsStr, OsString};
use std::process::{Command, ExitStatus, Stdio};

use crate::error::{Error, Result};
use crate::workspace::Workspace;

/// One run of cargo, in the workspace's root.
#[derive(Debug, PartialEq)]
pub struct Cargo {
    arguments: Vec<OsString>,
    variables: Vec<(&'static str, OsString)>,
}

impl Cargo {
    /// A run with these arguments.
    pub fn new<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Self {
        Cargo {
            arguments: arguments
                .into_iter()
                .map(|a| a.as_ref().to_owned())
                .collect(),
            variables: Vec::new(),
        }
    }

    /// A run of this program, or of its tests, built with these of its features.
    pub fn on_xtask(verb: &str, features: &str) -> Self {
        let mut run = Self::new([verb, "--package", "xtask", "--features", features]);
        if verb == "run" {
            run.arguments.insert(1, "--quiet".into());
        }
        if cfg!(windows) {
            // A running program cannot be replaced there.
            run.arguments.push("--target-dir".into());
            run.arguments.push("target/xtask".into());
        }
        run
    }

    /// The same run, with arguments for the program that cargo runs in turn.
    pub fn passing(mut self, arguments: &[OsString]) -> Self {
        if !arguments.is_empty() {
            self.arguments.push("--".into());
            self.arguments.extend_from_slice(arguments);
        }
        self
    }

    /// The same run, with a variable set.
    pub fn with(mut self, variable: &'static str, value: impl Into<OsString>) -> Self {
        self.variables.push((variable, value.into()));
        self
    }

    /// Runs it, and fails if it does; `name` is for the message.
    pub fn run(&self, name: &'static str, workspace: &Workspace) -> Result<()> {
        let status = self
            .command(workspace)
            .status()
            .map_err(Error::io("run", cargo()))?;
        self.passed(name, status)
    }

    /// Runs it, and returns what it wrote to its standard output.
    pub fn output(&self, name: &'static str, workspace: &Workspace) -> Result<String> {
        let output = self
            .command(workspace)
            .stderr(Stdio::inherit())
            .output()
            .map_err(Error::io("run", cargo()))?;
        self.passed(name, output.status)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn command(&self, workspace: &Workspace) -> Command {
        let mut command = Command::new(cargo());
        command
            .args(&self.arguments)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(workspace.root());
        command
    }

    fn passed(&self, name: &'static str, status: ExitStatus) -> Result<()> {
        if status.success() {
            return Ok(());
        }
        Err(Error::Step {
            name,
            status,
            line: self.line(),
        })
    }

    /// What to type to run it by hand.
    pub fn line(&self) -> String {
        let mut line = String::new();
        for (name, value) in &self.variables {
            line.push_str(&format!("{name}=\"{}\" ", value.to_string_lossy()));
        }
        line.push_str("cargo");
        for argument in &self.arguments {
            line.push(' ');
            line.push_str(&argument.to_string_lossy());
        }
        line
    }
}

/// The cargo that runs this program, so that the toolchain stays the same.
fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}
