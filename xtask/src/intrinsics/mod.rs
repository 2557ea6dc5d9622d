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
use trial::{COMPILERS, Compiler, Path};

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
type Then = fn(&std::path::Path, &str, &Verdicts) -> Result<()>;

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
        let all = verdicts(path, candidates, &answers, |compiler| {
            compiler.path == path && !compiler.is_first()
        });
        report(path, &all);
        then(&file(workspace, name(path)), &table::title(path), &all)?;
    }
    // What one library has no code for is kept apart, so that it is taken by all others.
    let except = |path: Path, of: fn(&Compiler) -> bool| {
        let all = verdicts(path, candidates, &answers, |compiler| {
            compiler.path == path && !compiler.is_first()
        });
        let mut one = verdicts(path, candidates, &answers, |compiler| {
            compiler.path == path && of(compiler)
        });
        one.retain(|name, verdict| {
            let taken = all.get(name) == Some(&Verdict::Taken);
            let lacking = taken && *verdict != Verdict::Taken && !name.starts_with("nvvm.");
            *verdict = Verdict::Refused;
            lacking
        });
        one
    };
    then(
        &file(workspace, "first.txt"),
        "what that of CUDA 12.0 has no code for, though later ones have",
        &except(Path::Legacy, Compiler::is_first),
    )?;
    then(
        &file(workspace, "last.txt"),
        "what the newer compiler of CUDA 13.5 has no code for, though earlier ones have",
        &except(Path::Modern, Compiler::is_last),
    )
}

fn file(workspace: &Workspace, name: &str) -> std::path::PathBuf {
    workspace
        .root()
        .join("src/nvvm/checks/intrinsics")
        .join(name)
}

fn name(path: Path) -> &'static str {
    match path {
        Path::Legacy => "legacy.txt",
        Path::Modern => "modern.txt",
    }
}

fn verdicts(
    path: Path,
    candidates: &[Candidate],
    answers: &[Answers],
    of: impl Fn(&Compiler) -> bool,
) -> Verdicts {
    let given = |n: usize| {
        let answers = COMPILERS.iter().zip(answers);
        answers
            .filter(|(compiler, _)| of(compiler))
            .map(|(_, answers)| answers[n])
            .collect()
    };
    candidates
        .iter()
        .enumerate()
        .filter(|(_, candidate)| candidate.is_for(path.pointers()))
        .map(|(n, candidate)| {
            let verdict = table::verdict(&candidate.name, &given(n));
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

fn write(file: &std::path::Path, title: &str, verdicts: &Verdicts) -> Result<()> {
    std::fs::write(file, table::write(title, verdicts)).map_err(Error::io("write", file))
}

fn compare(file: &std::path::Path, _: &str, verdicts: &Verdicts) -> Result<()> {
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
