//! Processes that do one thing after another, and of which the next takes over where one dies.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::process::{again, inside};

const TASK: &str = "CUDA_PROGRAM_TEST_TASK";
const NUMBERS: &str = "CUDA_PROGRAM_TEST_NUMBERS";
const BEGUN: &str = "begun ";
const DONE: &str = "done ";

/// How long one number may take; a machine with other work is slow.
const LIMIT: Duration = Duration::from_secs(30);

/// What became of a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// What the work returned.
    Said(String),
    /// How the process ended.
    Died(String),
    Hung,
}

/// In a worker, does what it was told to and ends it.
pub fn work(does: impl Fn(&str, u64) -> String) {
    if !inside() {
        return;
    }
    let task = std::env::var(TASK).unwrap();
    for number in std::env::var(NUMBERS).unwrap().split(',') {
        let number = number.parse().unwrap();
        say(&format!("{BEGUN}{number}"));
        say(&format!("{DONE}{}", does(&task, number).replace('\n', " ")));
    }
    std::process::exit(0);
}

/// One line; the harness has begun one of its own.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{line}").unwrap();
    out.flush().unwrap();
}

/// Runs the task of the calling test's workers over all numbers.
pub fn run(task: &str, numbers: std::ops::Range<u64>) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    let mut next = numbers.start;
    while next < numbers.end {
        let list: Vec<String> = (next..numbers.end).map(|n| n.to_string()).collect();
        let mut command = again(&[(TASK, task), (NUMBERS, &list.join(","))]);
        let mut worker = command
            .arg("--include-ignored")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = lines(&mut worker);
        let last = follow(&lines, &mut outcomes);
        if last == Some(RecvTimeoutError::Timeout) {
            worker.kill().unwrap();
            worker.wait().unwrap();
            outcomes.push(Outcome::Hung);
        } else {
            let status = worker.wait().unwrap();
            if outcomes.len() as u64 + numbers.start < numbers.end {
                outcomes.push(Outcome::Died(status.to_string()));
            }
        }
        next = numbers.start + outcomes.len() as u64;
    }
    outcomes
}

fn lines(worker: &mut Child) -> Receiver<String> {
    let (send, lines) = channel();
    let out = BufReader::new(worker.stdout.take().unwrap());
    std::thread::spawn(move || {
        for line in out.lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

/// Takes what the worker says, up to its end or to a silence that is too long.
fn follow(lines: &Receiver<String>, outcomes: &mut Vec<Outcome>) -> Option<RecvTimeoutError> {
    loop {
        match lines.recv_timeout(LIMIT) {
            Ok(line) => outcomes.extend(
                line.strip_prefix(DONE)
                    .map(|said| Outcome::Said(said.to_owned())),
            ),
            Err(why) => return Some(why),
        }
    }
}
