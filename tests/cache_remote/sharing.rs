//! What processes that share a store see.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cuda_program::cache::opendal::Operator;
use cuda_program::cache::{Cached, Disk, Remote};
use cuda_program::compile::{Compiler, Emit, InProcess, Job, Output};
use cuda_program::{Arch, Ptx, Result, nvvm};

use super::common::{store, toolkit, within};
use super::servers::{PASSWORD, Redis, Server, operator};

pub const INSIDE: &str = "CUDA_PROGRAM_TEST_INSIDE";
/// So long that a busy machine is not taken for a server that does not answer.
const PATIENT: Duration = Duration::from_secs(10);

struct Counting {
    compiler: InProcess,
    calls: AtomicUsize,
}

impl Compiler for Counting {
    fn compile(&self, job: &Job) -> Result<Output> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.compiler.compile(job)
    }
}

fn before(remote: &Remote) -> Cached<Counting> {
    let toolkit = toolkit("13.5");
    let compiler = Counting {
        compiler: InProcess::new(&toolkit),
        calls: AtomicUsize::new(0),
    };
    Cached::new(compiler, &toolkit).remote(remote)
}

fn calls(cached: &Cached<Counting>) -> usize {
    cached.compiler().calls.load(Ordering::SeqCst)
}

fn patient(operator: Operator) -> Remote {
    Remote::new(operator)
        .deadline(PATIENT)
        .longest_rest(Duration::from_millis(1))
}

fn job(value: i32) -> Job {
    let options = nvvm::Options::new(Arch::SM_90);
    Job::nvvm("k.ll", store("k", value), options, Emit::Ptx)
}

fn text(output: &Output) -> &str {
    output.ptx().map(Ptx::as_str).unwrap()
}

/// Compiles in a process that was started for it, and says what came of it.
pub fn inside(told: &str) {
    let cached = before(&patient(operator(told)));
    let output = cached.compile(&job(1)).unwrap();
    cached.flush();
    println!(
        "{} {}",
        calls(&cached),
        blake3::hash(text(&output).as_bytes())
    );
}

fn in_another_process(server: &impl Server) -> String {
    let run = Command::new(std::env::current_exe().unwrap())
        .env(INSIDE, server.told())
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    String::from_utf8(run.stdout).unwrap().trim().to_owned()
}

pub fn found<S: Server>(server: S) {
    let first = in_another_process(&server);
    let second = in_another_process(&server);
    let hash = first.strip_prefix("1 ").expect("the first one compiles");
    assert_eq!(second, format!("0 {hash}"), "the second one finds it");
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::at(folder.path());
    let cached = before(&patient(server.operator())).disk(&disk);
    let output = cached.compile(&job(1)).unwrap();
    assert_eq!(blake3::hash(text(&output).as_bytes()).to_string(), hash);
    let stats = cached.stats();
    assert_eq!((calls(&cached), stats.remote_hits), (0, 1));
    assert!(stats.remote_bytes_read > 0 && stats.time_saved > Duration::ZERO);
    // From now on it is nearer.
    let cached = before(&patient(server.operator())).disk(&disk);
    assert_eq!(cached.compile(&job(1)).unwrap(), output);
    let stats = cached.stats();
    assert_eq!((stats.disk_hits, stats.remote_hits), (1, 0));
}

fn path_of(cached: &Cached<Counting>, job: &Job) -> String {
    let name = cached.key(job).unwrap().to_string();
    format!("cuda-program/v1/{}/{}", &name[..2], &name[2..])
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

pub fn damaged<S: Server>(server: S) {
    let cached = before(&patient(server.operator()));
    let made = cached.compile(&job(1)).unwrap();
    cached.flush();
    let path = path_of(&cached, &job(1));
    let whole = block_on(server.operator().read(&path)).unwrap().to_vec();
    for place in [0, 20, 60, whole.len() / 2, whole.len() - 1] {
        let mut flipped = whole.clone();
        flipped[place] ^= 1;
        block_on(server.operator().write(&path, flipped)).unwrap();
        let cached = before(&patient(server.operator()));
        assert_eq!(cached.compile(&job(1)).unwrap(), made);
        assert_eq!((cached.stats().damaged, calls(&cached)), (1, 1), "{place}");
        cached.flush();
        let mended = before(&patient(server.operator()));
        assert_eq!(mended.compile(&job(1)).unwrap(), made);
        assert_eq!(calls(&mended), 0);
    }
}

pub fn read_only<S: Server>(server: S) {
    let reader = before(&patient(server.operator()).read_only(true));
    reader.compile(&job(1)).unwrap();
    reader.flush();
    let path = path_of(&reader, &job(1));
    assert!(!block_on(server.operator().exists(&path)).unwrap());
    let writer = before(&patient(server.operator()));
    writer.compile(&job(1)).unwrap();
    writer.flush();
    let reader = before(&patient(server.operator()).read_only(true));
    reader.compile(&job(1)).unwrap();
    assert_eq!((calls(&reader), reader.stats().remote_hits), (0, 1));
}

pub fn many<S: Server>(server: S) {
    let compile = |cached: &Cached<Counting>| -> Vec<Output> {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..64)
                .map(|n| scope.spawn(move || cached.compile(&job(n)).unwrap()))
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        })
    };
    let first = before(&patient(server.operator()));
    let made = compile(&first);
    first.flush();
    assert_eq!(first.stats().problems, [""; 0]);
    let second = before(&patient(server.operator()));
    assert_eq!(compile(&second), made);
    assert_eq!((calls(&second), second.stats().remote_hits), (0, 64));
}

pub fn stopped(server: Redis) {
    let remote = patient(server.operator());
    before(&remote).compile(&job(1)).unwrap();
    let deadline = Duration::from_millis(200);
    let cached = before(&Remote::new(server.operator()).deadline(deadline)).memory(0);
    server.signal(libc::SIGSTOP);
    within(60, || {
        for n in 0..50 {
            let output = cached.compile(&job(n)).unwrap();
            assert!(text(&output).contains("st.global"), "{n}");
        }
    });
    let stats = cached.stats();
    // Left alone for a second and longer each time: the fifty cost a few deadlines at most.
    assert!((1..10).contains(&stats.remote_failures), "{stats:?}");
    assert!(stats.remote_skipped >= 80, "{stats:?}");
    assert_eq!((stats.misses, calls(&cached)), (50, 50));
    server.signal(libc::SIGCONT);
    let again = before(&remote);
    again.compile(&job(1)).unwrap();
    assert_eq!(calls(&again), 0);
    // The one that saw it stopped finds it again by itself.
    within(120, || {
        while cached.stats().remote_hits == 0 {
            std::thread::sleep(Duration::from_millis(100));
            cached.compile(&job(1)).unwrap();
        }
    });
}

pub fn dies(mut server: Redis) {
    let remote = patient(server.operator());
    before(&remote).compile(&job(1)).unwrap();
    let cached = before(&remote).memory(0);
    cached.compile(&job(1)).unwrap();
    assert_eq!(calls(&cached), 0);
    server.kill();
    for n in 0..5 {
        cached.compile(&job(n)).unwrap();
    }
    let stats = cached.stats();
    assert_eq!((calls(&cached), stats.misses), (5, 5));
    assert!(stats.remote_failures > 0 && !stats.problems.is_empty());
}

pub fn wrong_password(server: Redis) {
    let told = server.told().replace(PASSWORD, "guessed-and-secret");
    let cached = before(&patient(operator(&told)));
    cached.compile(&job(1)).unwrap();
    cached.flush();
    let stats = cached.stats();
    assert_eq!((calls(&cached), stats.remote_hits), (1, 0));
    assert!(stats.remote_failures > 0, "{stats:?}");
    let shown = format!("{stats:?}");
    assert!(!shown.contains("secret"), "{shown}");
    let path = path_of(&cached, &job(1));
    assert!(!block_on(server.operator().exists(&path)).unwrap());
}
