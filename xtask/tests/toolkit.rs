//! `cargo xtask toolkit` from the outside, in surroundings that lack something.

#![allow(clippy::unwrap_used, reason = "a helper of a test may stop the test")]

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Runs the command in a workspace of its own, so that no installed toolkit is found.
fn xtask(root: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(arguments)
        .env("CARGO_MANIFEST_DIR", root.join("xtask"))
        .env_remove("PYTHON")
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

fn refusal(output: &Output) -> String {
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn without_python_the_message_says_what_to_install() {
    let root = TempDir::new().unwrap();
    let said = refusal(&xtask(root.path(), &["toolkit"], &[("PATH", "")]));
    assert!(said.contains("no Python was found"), "{said}");
    assert!(said.contains("python3, python"), "{said}");
    assert!(said.contains("apt install python3-pip"), "{said}");
}

#[test]
fn an_interpreter_that_is_not_there_is_named() {
    let root = TempDir::new().unwrap();
    let absent = root.path().join("absent-python");
    let variables = [("PYTHON", absent.to_str().unwrap())];
    let said = refusal(&xtask(root.path(), &["toolkit"], &variables));
    assert!(said.contains("absent-python"), "{said}");
    assert!(said.contains("variable PYTHON"), "{said}");
}

#[test]
fn an_unknown_version_lists_the_known_ones_and_exits_with_2() {
    let root = TempDir::new().unwrap();
    let output = xtask(root.path(), &["toolkit", "11.8"], &[]);
    assert_eq!(output.status.code(), Some(2));
    let said = refusal(&output);
    assert!(said.contains("CUDA 11.8 is not known here"), "{said}");
    assert!(said.contains("12.0, 12.4, 12.9, 13.0, 13.5"), "{said}");
}

#[test]
fn an_unknown_command_prints_the_usage_and_exits_with_2() {
    let root = TempDir::new().unwrap();
    let output = xtask(root.path(), &["toolkti"], &[]);
    assert_eq!(output.status.code(), Some(2));
    let said = refusal(&output);
    assert!(said.contains("there is no command `toolkti`"), "{said}");
    assert!(said.contains("Usage: cargo xtask <COMMAND>"), "{said}");
}

#[cfg(unix)]
mod with_a_python_of_our_own {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn python(root: &Path, script: &str) -> String {
        let path = root.join("python");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_python_without_pip_is_told_from_no_python() {
        let root = TempDir::new().unwrap();
        let python = python(root.path(), "echo 'No module named pip' >&2; exit 1");
        let said = refusal(&xtask(root.path(), &["toolkit"], &[("PYTHON", &python)]));
        assert!(said.contains("has no pip"), "{said}");
        assert!(said.contains("  No module named pip"), "{said}");
    }

    #[test]
    fn a_failed_download_shows_what_pip_said_and_leaves_no_toolkit() {
        let root = TempDir::new().unwrap();
        let python = python(
            root.path(),
            "[ \"$3\" = --version ] || { echo 'Name or service not known' >&2; exit 1; }",
        );
        let said = refusal(&xtask(
            root.path(),
            &["toolkit", "13.0"],
            &[("PYTHON", &python)],
        ));
        assert!(
            said.contains("cannot download nvidia-nvvm 13.0.88"),
            "{said}"
        );
        assert!(said.contains("  Name or service not known"), "{said}");
        assert!(!root.path().join("target/toolkits/13.0").exists());
    }
}
