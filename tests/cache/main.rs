//! The cache before the real compilers, in one process and in many.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;
mod jobs;
mod keys;
#[path = "../../src/testing/process.rs"]
mod process;
mod processes;
#[path = "../../src/testing/random.rs"]
mod random;
mod surroundings;
mod threads;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use cuda_program::artifact::LtoIr;
use cuda_program::compile::{Compiler, Emit, Job, Output, Source};
use cuda_program::{Arch, Result, nvvm};

/// Counts what reaches the compiler behind it.
pub struct Counting<C> {
    compiler: C,
    calls: AtomicUsize,
}

impl<C> Counting<C> {
    pub fn new(compiler: C) -> Self {
        Counting {
            compiler,
            calls: AtomicUsize::new(0),
        }
    }

    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

impl<C: Compiler> Compiler for Counting<C> {
    fn compile(&self, job: &Job) -> Result<Output> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.compiler.compile(job)
    }
}

/// Stands for a compiler where thousands of artifacts are wanted: each is made of its job alone, so
/// that a wrong one can be told.
pub struct Maker;

impl Maker {
    pub fn job(n: usize, length: usize) -> Job {
        let name = format!("{n}-{length}");
        let mut job = Job::nvvm(name, "", nvvm::Options::new(Arch::SM_90), Emit::LtoIr);
        if let Source::Nvvm(nvvm) = &mut job.source {
            // Reading it takes longer than all the rest.
            nvvm.libdevice = nvvm::Libdevice::Never;
        }
        job
    }

    pub fn output(n: usize, length: usize) -> Output {
        let mut bytes = vec![0; length.max(64)];
        let mut seed = blake3::Hasher::new();
        seed.update(format!("{n}-{length}").as_bytes());
        seed.finalize_xof().fill(&mut bytes);
        bytes[..4].copy_from_slice(&[0xed, 0x43, 0x4e, 0x7f]);
        Output::LtoIr(LtoIr::from_bytes(bytes).unwrap())
    }
}

impl Compiler for Maker {
    fn compile(&self, job: &Job) -> Result<Output> {
        let text = serde_json::to_value(job).unwrap();
        let name = text["source"]["nvvm"]["modules"][0]["name"].as_str();
        let (n, length) = name.unwrap().split_once('-').unwrap();
        Ok(Maker::output(n.parse().unwrap(), length.parse().unwrap()))
    }
}

const TOLD: &str = "CUDA_PROGRAM_TEST_TOLD";

/// What the calling test was told by the process that runs it again, where it is run again.
pub fn told() -> Option<String> {
    std::env::var(TOLD).ok()
}

/// The calling test, to be run again in a process of its own, which is told something.
pub fn again(told: &str) -> Command {
    let mut command = process::again(&[(TOLD, told)]);
    command
        .arg("--include-ignored")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Every file below a folder, with its length.
pub fn files(folder: &Path) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    // Others may take files away meanwhile.
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => found.extend(files(&entry.path())),
            Ok(metadata) => found.push((entry.path(), metadata.len())),
            Err(_) => {}
        }
    }
    found
}
