//! Many jobs at once, on the real libraries.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::sync::Mutex;

use common::{NEWEST, store, toolkit, within};
use cuda_program::compile::{Batch, Compiler, Emit, InProcess, Job, Output, compile_all};
use cuda_program::nvrtc::CancelToken;
use cuda_program::{Arch, Error, Result, nvvm};

fn jobs(count: i32) -> Vec<Job> {
    (0..count)
        .map(|n| match n % 7 {
            3 => job("no IR at all".to_owned()),
            _ => job(store("k", n)),
        })
        .collect()
}

fn job(ir: String) -> Job {
    Job::nvvm("k.ll", ir, nvvm::Options::new(Arch::SM_80), Emit::Ptx)
}

#[test]
fn results_are_in_the_order_of_the_jobs_each_with_its_own_error() {
    let jobs = jobs(40);
    let results = within(60, || compile_all(&toolkit(NEWEST), &jobs));
    assert_eq!(results.len(), jobs.len());
    for (n, result) in results.iter().enumerate() {
        match result {
            Ok(output) => {
                let text = output.ptx().unwrap().as_str();
                assert!(
                    n % 7 != 3 && text.contains(&format!(", {n};")),
                    "{n}: {text}"
                );
            }
            Err(error) => assert!(n % 7 == 3 && matches!(error, Error::Library(_)), "{error}"),
        }
    }
}

#[test]
fn each_job_is_told_of_once_with_its_result_and_the_count() {
    let jobs = jobs(20);
    let told = Mutex::new(Vec::new());
    let batch = Batch::new().threads(4).on_done(|progress| {
        assert_eq!(progress.of, 20);
        assert_eq!(progress.result.is_err(), progress.index % 7 == 3);
        told.lock().unwrap().push((progress.index, progress.done));
    });
    within(60, || batch.run_on(&toolkit(NEWEST), &jobs));
    drop(batch);
    let told = told.into_inner().unwrap();
    let counts: Vec<usize> = told.iter().map(|(_, done)| *done).collect();
    assert_eq!(counts, (1..=20).collect::<Vec<_>>());
    let mut places: Vec<usize> = told.iter().map(|(place, _)| *place).collect();
    places.sort_unstable();
    assert_eq!(places, (0..20).collect::<Vec<_>>());
}

/// Calls the others off when it has compiled so many.
struct Until<'a> {
    compiler: InProcess,
    token: &'a CancelToken,
    left: Mutex<u32>,
}

impl Compiler for Until<'_> {
    fn compile(&self, job: &Job) -> Result<Output> {
        let result = self.compiler.compile(job);
        let mut left = self.left.lock().unwrap();
        *left -= 1;
        if *left == 0 {
            self.token.cancel();
        }
        result
    }
}

#[test]
fn jobs_that_have_not_begun_are_called_off_and_the_others_are_kept() {
    let token = CancelToken::new();
    let compiler = Until {
        compiler: InProcess::new(&toolkit(NEWEST)),
        token: &token,
        left: Mutex::new(5),
    };
    let jobs: Vec<Job> = (0..30).map(|n| job(store("k", n))).collect();
    let results = within(60, || {
        Batch::new().threads(1).token(&token).run(&compiler, &jobs)
    });
    let done = results.iter().take_while(|result| result.is_ok()).count();
    assert_eq!(done, 5);
    let called_off = results.iter().skip(5);
    assert!(called_off.clone().count() == 25);
    for result in called_off {
        let said = result.as_ref().unwrap_err().to_string();
        assert!(said.contains("before it began"), "{said}");
    }
}

#[test]
fn no_jobs_have_no_results() {
    assert_eq!(compile_all(&toolkit(NEWEST), &[]), Vec::new());
}
