//! What comes of a job is what would come of it in this process.

use cuda_program::cache::Cached;
use cuda_program::compile::{AllCores, Batch, Compiler, Emit, InProcess, Job};
use cuda_program::isolate::{Isolated, Options};
use cuda_program::{Arch, Error, nvrtc, nvvm};
use libtest_mimic::Trial;

use crate::common::{NEWEST, toolkit};
use crate::{jobs, trial};

pub fn all() -> Vec<Trial> {
    vec![
        trial(
            "jobs_of_every_kind_give_what_they_give_in_process",
            120,
            kinds,
        ),
        trial("an_error_is_the_error_of_this_process", 60, errors),
        trial("workers_are_reused_and_no_more_than_allowed", 120, reused),
        trial("warm_workers_wait_for_jobs", 60, warm),
        trial("a_cache_stands_before_workers", 60, cached),
        trial(
            "a_program_that_is_no_worker_is_an_error_that_says_so",
            60,
            no_worker,
        ),
        trial(
            "many_jobs_on_a_library_that_is_serial_are_run_by_workers",
            120,
            serial,
        ),
        trial("many_jobs_leave_no_descriptor_open", 120, descriptors),
        trial("a_worker_has_no_descriptor_of_its_owner", 60, inherited),
    ]
}

pub fn isolated(workers: usize) -> Isolated {
    Isolated::with_options(&toolkit(NEWEST), Options::new().workers(workers))
}

fn kinds() {
    for version in ["12.0", NEWEST] {
        let toolkit = toolkit(version);
        let (here, there) = (InProcess::new(&toolkit), Isolated::new(&toolkit));
        let all = [
            jobs::stores(1),
            jobs::cpp(2, Emit::Ptx),
            jobs::cpp(2, Emit::Cubin),
            jobs::link(),
        ];
        for job in all {
            assert_eq!(there.compile(&job).unwrap(), here.compile(&job).unwrap());
        }
        // LTO IR has a new random part each time.
        let lto = there.compile(&jobs::cpp(3, Emit::LtoIr)).unwrap();
        assert_eq!(lto.lto_ir().unwrap().arch(), Some(Arch::SM_80));
    }
}

fn errors() {
    let toolkit = toolkit(NEWEST);
    let (here, there) = (InProcess::new(&toolkit), Isolated::new(&toolkit));
    let options = || nvvm::Options::new(Arch::SM_80);
    let syntax = Job::cpp(
        "e.cu",
        "int f( {",
        nvrtc::Options::new(Arch::SM_80),
        Emit::Ptx,
    );
    let all = [
        Job::nvvm("empty.ll", "", options(), Emit::Ptx),
        Job::nvvm("no.ll", "no IR at all", options(), Emit::Ptx),
        Job::nvvm(
            "k.ll",
            crate::common::calls("k", "nobody"),
            options(),
            Emit::Ptx,
        ),
        Job::nvvm(
            "k.ll",
            crate::common::store("k", 1).replace("i32 1", "i33 x"),
            options(),
            Emit::Ptx,
        ),
        syntax,
        jobs::link().with_input("x", cuda_program::link::InputKind::Cubin, "no cubin"),
    ];
    for job in all {
        let expected = here.compile(&job).unwrap_err();
        let error = there.compile(&job).unwrap_err();
        assert_eq!(error, expected);
        assert_eq!(format!("{error:#}"), format!("{expected:#}"));
    }
    assert_eq!(there.stats().died, 0, "{there:?}");
}

fn reused() {
    let compiler = isolated(2);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let compiler = &compiler;
            scope.spawn(move || {
                for n in 0..10 {
                    let value = thread * 100 + n;
                    let output = compiler.compile(&jobs::stores(value)).unwrap();
                    let text = output.ptx().unwrap().as_str();
                    assert!(text.contains(&format!(", {value};")), "{value} in {text}");
                }
            });
        }
    });
    let stats = compiler.stats();
    assert_eq!(
        (stats.started, stats.died, stats.idle),
        (2, 0, 2),
        "{stats:?}"
    );
}

fn warm() {
    let compiler = isolated(3);
    compiler.warm(2).unwrap();
    let stats = compiler.stats();
    assert_eq!((stats.started, stats.idle), (2, 2));
    compiler.warm(9).unwrap();
    assert_eq!(compiler.stats().started, 3);
    compiler.compile(&jobs::stores(1)).unwrap();
    assert_eq!(compiler.stats().started, 3);
}

fn cached() {
    let compiler = Cached::new(isolated(1), &toolkit(NEWEST));
    let first = compiler.compile(&jobs::stores(1)).unwrap();
    assert_eq!(compiler.compile(&jobs::stores(1)).unwrap(), first);
    assert_eq!(compiler.stats().memory_hits, 1);
    let crash = compiler.compile(&jobs::crashes()).unwrap_err();
    assert!(matches!(crash, Error::CompilerDied(_)), "{crash}");
    // It was tried once more, since the worker had done a job before.
    assert_eq!(compiler.compiler().stats().died, 2);
}

fn no_worker() {
    let error = |program: &str| {
        let options = Options::new().program(program);
        let compiler = Isolated::with_options(&toolkit(NEWEST), options);
        let error = compiler.compile(&jobs::stores(1)).unwrap_err();
        assert!(matches!(error, Error::NoWorker { .. }), "{error}");
        error.to_string()
    };
    assert!(error("/no/where").contains("there is no file /no/where"));
    let ended = error("/bin/true");
    assert!(ended.contains("/bin/true: it ended at once"), "{ended}");
    let text = error(&format!("{}/Cargo.toml", env!("CARGO_MANIFEST_DIR")));
    assert!(text.contains("it does not start"), "{text}");
}

fn descriptors() {
    let count = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let compiler = isolated(2);
    compiler.warm(2).unwrap();
    compiler.compile(&jobs::stores(1)).unwrap();
    let before = count();
    for n in 0..20 {
        compiler.compile(&jobs::stores(n)).unwrap();
        compiler.compile(&jobs::crashes()).unwrap_err();
    }
    compiler.warm(2).unwrap();
    assert!(
        count() <= before + 2,
        "{} descriptors, {before} before",
        count()
    );
    drop(compiler);
    assert!(count() < before);
}

fn inherited() {
    // Without the flag that closes it for programs that are started.
    let left_open = std::fs::File::open("/dev/zero").unwrap();
    let raw = std::os::fd::AsRawFd::as_raw_fd(&left_open);
    // SAFETY: it changes a flag of a descriptor that this test owns.
    unsafe { libc::fcntl(raw, libc::F_SETFD, 0) };
    let compiler = isolated(1);
    compiler.warm(1).unwrap();
    let [worker] = compiler.idle_processes()[..] else {
        panic!("{compiler:?}")
    };
    let open: Vec<String> = std::fs::read_dir(format!("/proc/{worker}/fd"))
        .unwrap()
        .map(|entry| std::fs::read_link(entry.unwrap().path()).unwrap())
        .map(|file| file.display().to_string())
        .collect();
    assert!(!open.iter().any(|file| file == "/dev/zero"), "{open:?}");
    assert!(open.len() <= 5, "{open:?}");
}

fn serial() {
    for (version, workers) in [("12.0", true), (NEWEST, false)] {
        let compiler = AllCores::new(&toolkit(version));
        let jobs: Vec<Job> = (0..12).map(jobs::stores).collect();
        let results = Batch::new().threads(2).run(&compiler, &jobs);
        for (n, result) in results.iter().enumerate() {
            let output = result.as_ref().unwrap();
            let text = output.ptx().unwrap().as_str();
            assert!(text.contains(&format!(", {n};")), "{n} in {text}");
        }
        let started = compiler.workers().unwrap().stats().started;
        assert_eq!(started > 0, workers, "{started} for {version}");
        assert!(started <= 2);
    }
}
