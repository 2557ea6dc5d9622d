use std::sync::{Arc, Barrier};

use cuda_program::cache::Cached;
use cuda_program::compile::{Compiler, Emit, InProcess, Job, Output};
use cuda_program::{Arch, Result, nvrtc};

use super::Counting;
use super::common::{toolkit, within};

fn job(source: &str) -> Job {
    Job::cpp(
        "k.cu",
        source,
        nvrtc::Options::new(Arch::SM_90),
        Emit::Cubin,
    )
}

#[test]
fn of_64_threads_that_ask_for_one_job_one_compiles_it() {
    let toolkit = toolkit("13.5");
    let cached = Cached::new(Counting::new(InProcess::new(&toolkit)), &toolkit);
    let job = job("extern \"C\" __global__ void k(int *p) { *p = 1; }");
    let start = Barrier::new(64);
    let outputs: Vec<Arc<Output>> = within(120, || {
        std::thread::scope(|scope| {
            let ask = || {
                start.wait();
                cached.compile_shared(&job).unwrap()
            };
            let threads: Vec<_> = (0..64).map(|_| scope.spawn(ask)).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        })
    });
    assert_eq!(cached.compiler().calls(), 1);
    assert!(
        outputs
            .iter()
            .all(|output| Arc::ptr_eq(output, &outputs[0]))
    );
    let stats = cached.stats();
    assert_eq!((stats.misses, stats.hits()), (1, 63));
}

/// A compiler that panics the first time.
struct Panicking(Counting<InProcess>);

impl Compiler for Panicking {
    fn compile(&self, job: &Job) -> Result<Output> {
        let output = self.0.compile(job);
        assert_ne!(self.0.calls(), 1, "the first compilation panics");
        output
    }
}

#[test]
fn a_panic_in_the_compiler_hangs_nobody() {
    let toolkit = toolkit("13.5");
    let compiler = Panicking(Counting::new(InProcess::new(&toolkit)));
    let cached = Cached::new(compiler, &toolkit);
    let job = job("extern \"C\" __global__ void k(int *p) { *p = 2; }");
    let panics = within(120, || {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..16)
                .map(|_| scope.spawn(|| cached.compile(&job).unwrap()))
                .collect();
            let done = threads.into_iter().map(|thread| thread.join());
            done.filter(Result::is_err).count()
        })
    });
    assert_eq!(panics, 1);
    assert_eq!(cached.compiler().0.calls(), 2);
    // A canary: nothing was left locked.
    within(60, || cached.compile(&job)).unwrap();
}
