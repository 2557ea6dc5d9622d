//! `cargo xtask intrinsics`: which intrinsics libNVVM's two compilers have code for, by trying them.
//!
//! Some end the process, some come out as calls of nothing. The library refuses both by the tables that
//! this command writes.

#[allow(
    clippy::expect_used,
    clippy::string_slice,
    reason = "the list is part of this program, and a test reads all of it"
)]
mod candidates;
mod table;
mod trial;
mod worker;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::cli::Intrinsics;
use crate::error::{Error, Result};
use crate::toolkit;
use crate::workspace::Workspace;
use candidates::Candidate;
use table::{Answers, Verdict};
use trial::{COMPILERS, Path};

/// Tries candidates on every compiler, and writes the tables or compares them; or is one of the
/// processes that do so.
pub fn run(workspace: &Workspace, how: Intrinsics) -> Result<()> {
    let mut candidates = candidates::all();
    match how {
        Intrinsics::Serve { toolkit, options } => worker::serve(&toolkit, &options),
        Intrinsics::Write => tables(workspace, &candidates, write),
        Intrinsics::Check { sample } => {
            if let Some(count) = sample {
                candidates = draw(candidates, count);
            }
            tables(workspace, &candidates, compare)
        }
    }
}

/// So many of them, far from each other, always the same.
fn draw(candidates: Vec<Candidate>, count: usize) -> Vec<Candidate> {
    /// The golden ratio of 64 bits, whose multiples lie evenly.
    const STEP: usize = 0x9e37_79b9_7f4a_7c15;
    let mut numbered: Vec<_> = candidates.into_iter().enumerate().collect();
    numbered.sort_by_key(|(n, _)| n.wrapping_mul(STEP));
    numbered.truncate(count);
    numbered.into_iter().map(|(_, one)| one).collect()
}

type Verdicts = BTreeMap<String, Verdict>;

/// What is done with the verdicts on each path.
type Then = fn(&std::path::Path, Path, &Verdicts) -> Result<()>;

fn tables(workspace: &Workspace, candidates: &[Candidate], then: Then) -> Result<()> {
    let all: Vec<_> = toolkit::all().collect();
    toolkit::install(workspace, &all)?;
    println!(
        "trying {} intrinsics on {} compilers",
        candidates.len(),
        COMPILERS.len()
    );
    let answers = everywhere(workspace, candidates)?;
    for path in Path::BOTH {
        let verdicts = verdicts(path, candidates, &answers);
        report(path, &verdicts);
        let name = match path {
            Path::Legacy => "legacy.txt",
            Path::Modern => "modern.txt",
        };
        let folder = workspace.root().join("src/nvvm/checks/intrinsics");
        then(&folder.join(name), path, &verdicts)?;
    }
    Ok(())
}

fn verdicts(path: Path, candidates: &[Candidate], answers: &[Answers]) -> Verdicts {
    let on_path = |n: usize| {
        let answers = COMPILERS.iter().zip(answers);
        answers
            .filter(|(compiler, _)| compiler.path == path)
            .map(|(_, answers)| answers[n])
            .collect()
    };
    candidates
        .iter()
        .enumerate()
        .map(|(n, candidate)| {
            let verdict = table::verdict(&candidate.name, &on_path(n));
            (candidate.name.clone(), verdict)
        })
        .collect()
}

/// The answers of each compiler, with all cores.
fn everywhere(workspace: &Workspace, candidates: &[candidates::Candidate]) -> Result<Vec<Answers>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some((n, compiler)) = {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    COMPILERS.get(n).map(|compiler| (n, compiler))
                } {
                    let answers = compiler.try_all(workspace, candidates);
                    if let Ok(answers) = &answers {
                        let died = answers.iter().filter(|answer| answer.is_none()).count();
                        println!("  CUDA {}: {died} end the process", compiler.name());
                    }
                    lock(&done).push((n, answers));
                }
            });
        }
    });
    let mut done = std::mem::take(&mut *lock(&done));
    done.sort_by_key(|(n, _)| *n);
    done.into_iter().map(|(_, answers)| answers).collect()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn report(path: Path, verdicts: &Verdicts) {
    let count = |wanted| verdicts.values().filter(|v| **v == wanted).count();
    println!(
        "{path:?}: {} are taken, {} refused, {} left to the library",
        count(Verdict::Taken),
        count(Verdict::Refused),
        count(Verdict::Unsaid),
    );
}

fn write(file: &std::path::Path, path: Path, verdicts: &Verdicts) -> Result<()> {
    std::fs::write(file, table::write(path, verdicts)).map_err(Error::io("write", file))
}

fn compare(file: &std::path::Path, _: Path, verdicts: &Verdicts) -> Result<()> {
    let there = std::fs::read_to_string(file).map_err(Error::io("read", file))?;
    let differences = table::differences(verdicts, &table::read(&there));
    if differences.is_empty() {
        return Ok(());
    }
    Err(Error::Intrinsics {
        file: file.to_owned(),
        differences: differences.join("\n"),
    })
}
