//! Workers that end when their job is done and not yet told, or half told.
//!
//! Between an owner and a real worker stands a process that passes on what they say, until it does not.

use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, ExitCode, Stdio};

use cuda_program::Error;
use cuda_program::compile::Compiler;
use cuda_program::isolate::{Isolated, Options};
use libtest_mimic::Trial;

use crate::common::{NEWEST, toolkit};
use crate::{jobs, trial};

const PROXY: &str = "CUDA_PROGRAM_TEST_PROXY";

pub fn all() -> Vec<Trial> {
    vec![
        trial(
            "a_worker_that_ends_before_it_answers_is_reported",
            60,
            || dies("none", 3),
        ),
        trial("a_worker_that_answers_by_half_is_reported", 60, || {
            dies("half", 4)
        }),
        trial(
            "a_worker_that_answers_with_something_else_is_reported",
            60,
            noise,
        ),
        trial(
            "a_program_that_names_itself_and_forgets_to_be_a_worker_starts_itself_once",
            60,
            forgets,
        ),
        trial(
            "what_is_said_on_standard_error_comes_with_the_result",
            60,
            speaks,
        ),
    ]
}

fn dies(how: &str, code: i32) {
    let (error, _folder, compiler) = error(how);
    let Error::CompilerDied(died) = &error else {
        panic!("{error}")
    };
    assert_eq!(died.code, Some(code), "{error}");
    // The turn is free again.
    compiler.compile(&jobs::stores(1)).unwrap_err();
    assert_eq!(compiler.stats().died, 2);
}

fn noise() {
    let (error, _folder, compiler) = error("noise");
    let said = error.to_string();
    assert!(said.contains("cannot be read"), "{said}");
    compiler.compile(&jobs::stores(1)).unwrap_err();
}

fn forgets() {
    let (error, ..) = error("forgets");
    assert!(matches!(error, Error::NoWorker { .. }), "{error}");
    assert!(
        error.to_string().contains("itself started as one"),
        "{error}"
    );
}

/// Nothing known makes a library say on standard error alone what the crate does not see before; it
/// may, and a worker between says so in its stead.
fn speaks() {
    let (_folder, compiler) = with_worker("speaks");
    let output = compiler.compile(&jobs::stores(1)).unwrap();
    let [said] = output.diagnostics() else {
        panic!("{output:?}")
    };
    assert_eq!(said.message, "on its standard error: a word beside it");
    let error = compiler.compile(&jobs::unknown()).unwrap_err();
    let log = error.log().unwrap();
    assert!(
        log.ends_with("on its standard error:\na word beside it"),
        "{log}"
    );
}

/// What a job comes to with such a worker.
fn error(how: &str) -> (Error, tempfile::TempDir, Isolated) {
    let (folder, compiler) = with_worker(how);
    let error = compiler.compile(&jobs::stores(1)).unwrap_err();
    (error, folder, compiler)
}

fn with_worker(how: &str) -> (tempfile::TempDir, Isolated) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("proxy");
    let this = std::env::current_exe().unwrap();
    let script = format!("#!/bin/sh\n{PROXY}={how} exec {} \"$@\"\n", this.display());
    std::fs::write(&program, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    let options = Options::new().workers(1).program(&program);
    let compiler = Isolated::with_options(&toolkit(NEWEST), options);
    (folder, compiler)
}

/// The process in between.
pub fn run() -> Option<ExitCode> {
    let how = std::env::var(PROXY).ok()?;
    if how == "worker" {
        return None;
    }
    if how == "forgets" {
        // Its `main` goes on as in any process, and wants a worker.
        let this = std::env::current_exe().unwrap();
        let options = Options::new().program(this);
        let compiler = Isolated::with_options(&toolkit(NEWEST), options);
        eprintln!("{}", compiler.compile(&jobs::stores(1)).unwrap_err());
        return Some(ExitCode::from(9));
    }
    let mut owner = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned().unwrap());
    let (mut worker, theirs) = UnixStream::pair().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(std::env::args().skip(1))
        .env(PROXY, "worker")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .spawn()
        .unwrap();
    // The beginning is passed on.
    pass_on(&mut owner, &mut worker);
    pass_on(&mut worker, &mut owner);
    pass_on(&mut owner, &mut worker);
    if how == "speaks" {
        loop {
            eprintln!("a word beside it");
            pass_on(&mut worker, &mut owner);
            pass_on(&mut owner, &mut worker);
        }
    }
    let answer = message(&mut worker);
    let code = match how.as_str() {
        "half" => {
            owner.write_all(&answer[..answer.len() / 2]).unwrap();
            4
        }
        "noise" => {
            owner.write_all(&[3, 0, 0, 0, 1, 2, 3]).unwrap();
            5
        }
        _ => 3,
    };
    _ = child.kill();
    _ = child.wait();
    Some(ExitCode::from(code))
}

fn message(from: &mut UnixStream) -> Vec<u8> {
    let mut message = vec![0; 4];
    from.read_exact(&mut message).unwrap();
    let length = u32::from_le_bytes(message[..4].try_into().unwrap()) as usize;
    message.resize(4 + length, 0);
    from.read_exact(&mut message[4..]).unwrap();
    message
}

fn pass_on(from: &mut UnixStream, to: &mut UnixStream) {
    to.write_all(&message(from)).unwrap();
}
