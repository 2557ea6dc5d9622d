//! Owners that end, fork, or are killed.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use cuda_program::Error;
use cuda_program::compile::Compiler;
use libtest_mimic::Trial;

use crate::results::isolated;
use crate::{jobs, trial};

const OWNER: &str = "CUDA_PROGRAM_TEST_OWNER";

pub fn all() -> Vec<Trial> {
    vec![
        trial("the_last_clone_leaves_no_process_behind", 60, dropped),
        trial(
            "workers_go_when_their_owner_is_killed_in_mid_compile",
            60,
            killed,
        ),
        trial(
            "a_fork_of_the_owner_gets_an_error_and_harms_no_worker",
            60,
            forked,
        ),
    ]
}

/// What an owner of its own does, by name, in a process of its own.
pub fn run() -> Option<ExitCode> {
    match std::env::var(OWNER).ok()?.as_str() {
        "busy" => busy(),
        "random" => crate::deaths::killed_at_random(),
        other => panic!("{other}"),
    }
    Some(ExitCode::SUCCESS)
}

/// An owner in a process of its own, where every child is a worker.
pub fn owner(does: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(OWNER, does);
    command
}

/// Says which worker it has, and is busy.
fn busy() {
    let compiler = isolated(1);
    compiler.warm(1).unwrap();
    for worker in compiler.idle_processes() {
        println!("{worker}");
    }
    _ = compiler.compile(&jobs::endless());
}

pub fn exists(process: u32) -> bool {
    // One that is a zombie has no memory, and counts as there: its owner has not taken it away.
    std::path::Path::new(&format!("/proc/{process}")).exists()
}

/// The children of a process, zombies too.
pub fn children(of: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{of}/task")).unwrap();
    let of_task = |task: std::io::Result<std::fs::DirEntry>| {
        let list = task.ok()?.path().join("children");
        let list = std::fs::read_to_string(list).ok()?;
        Some(list.split_whitespace().flat_map(str::parse).collect())
    };
    let lists: Vec<Vec<u32>> = tasks.filter_map(of_task).collect();
    lists.concat()
}

pub fn kill(process: u32) {
    // SAFETY: it sends a signal to a child of this test.
    unsafe { libc::kill(i32::try_from(process).unwrap(), libc::SIGKILL) };
}

fn gone(process: u32) {
    let start = Instant::now();
    while exists(process) {
        assert!(start.elapsed() < Duration::from_secs(20), "{process} stays");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn dropped() {
    let compiler = isolated(2);
    compiler.warm(2).unwrap();
    let other = compiler.clone();
    let workers = compiler.idle_processes();
    assert_eq!(workers.len(), 2);
    drop(compiler);
    assert!(workers.iter().all(|worker| exists(*worker)));
    drop(other);
    assert!(!workers.iter().any(|worker| exists(*worker)));
}

fn killed() {
    let mut owner = owner("busy").stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut said = BufReader::new(owner.stdout.take().unwrap());
    said.read_line(&mut line).unwrap();
    let worker = line.trim().parse().unwrap();
    // In mid-compile.
    std::thread::sleep(Duration::from_millis(500));
    assert!(exists(worker));
    owner.kill().unwrap();
    owner.wait().unwrap();
    gone(worker);
}

fn forked() {
    let compiler = isolated(1);
    compiler.compile(&jobs::stores(1)).unwrap();
    // SAFETY: the child leaves by `_exit`, and until then does what is tested here.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let result = compiler.compile(&jobs::stores(2));
        let refused = matches!(result, Err(Error::Forked { .. }));
        drop(compiler);
        // SAFETY: it ends the child alone.
        unsafe { libc::_exit(if refused { 7 } else { 1 }) };
    }
    let mut status = 0;
    // SAFETY: the child is this test's own, and the place is valid.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(libc::WEXITSTATUS(status), 7);
    compiler.compile(&jobs::stores(3)).unwrap();
    assert_eq!(compiler.stats().started, 1);
}
