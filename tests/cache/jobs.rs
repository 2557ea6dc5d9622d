use cuda_program::cache::{Cached, Disk};
use cuda_program::compile::{Compiler, Emit, InProcess, Job, Output};
use cuda_program::link::{self, InputKind};
use cuda_program::{Arch, Severity, Toolkit, nvrtc, nvvm};
use rstest::rstest;

use super::Counting;
use super::common::{calls, toolkit};

fn before(toolkit: &Toolkit, disk: &Disk) -> Cached<Counting<InProcess>> {
    Cached::new(Counting::new(InProcess::new(toolkit)), toolkit).disk(disk)
}

fn nvvm(emit: Emit) -> Job {
    let options = nvvm::Options::new(Arch::SM_90);
    Job::nvvm("sin.ll", calls("k", "__nv_sinf"), options, emit)
}

/// CUDA C++ whose compilation warns, with a name that is lowered.
fn cpp(emit: Emit) -> Job {
    let source = "#include \"value.h\"\n\
        template <class T> __global__ void set(T *p) { int never_used; *p = VALUE; }";
    Job::cpp("set.cu", source, nvrtc::Options::new(Arch::SM_90), emit)
        .with_header("value.h", "#define VALUE 3\n")
        .with_name("set<float>")
}

/// Every kind of artifact, from every compiler, as it comes back from another process's store.
#[rstest]
fn an_artifact_that_is_found_is_the_one_that_was_made(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let toolkit = toolkit(version);
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::at(folder.path().join("cache"));
    let ptx = InProcess::new(&toolkit).compile(&cpp(Emit::Ptx)).unwrap();
    let linked = Job::link(Arch::SM_90, link::Options::new(), Emit::Cubin).with_input(
        "set",
        InputKind::Ptx,
        ptx.as_bytes(),
    );
    let jobs = [
        nvvm(Emit::Ptx),
        nvvm(Emit::LtoIr),
        nvvm(Emit::Cubin),
        cpp(Emit::Ptx),
        cpp(Emit::LtoIr),
        cpp(Emit::Cubin),
        linked,
    ];
    let (first, second) = (before(&toolkit, &disk), before(&toolkit, &disk));
    for job in &jobs {
        let made = first.compile(job).unwrap();
        assert_eq!(first.compile(job).unwrap(), made, "{job:?}");
        assert_eq!(second.compile(job).unwrap(), made, "{job:?}");
    }
    assert_eq!(first.compiler().calls(), jobs.len());
    assert_eq!(second.compiler().calls(), 0);
    let (first, second) = (first.stats(), second.stats());
    assert_eq!((first.misses, first.memory_hits), (7, 7));
    assert_eq!((second.misses, second.disk_hits), (0, 7));
    assert!(second.time_saved > std::time::Duration::ZERO);
    assert_eq!(first.disk_bytes_written, second.disk_bytes_read);
    assert_eq!(second.problems, [""; 0]);
}

#[test]
fn warnings_and_lowered_names_come_back_with_a_hit() {
    let toolkit = toolkit("13.5");
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::at(folder.path());
    before(&toolkit, &disk).compile(&cpp(Emit::Ptx)).unwrap();
    let found = before(&toolkit, &disk).compile(&cpp(Emit::Ptx)).unwrap();
    let Output::Ptx(ptx) = found else {
        panic!("{found:?} is no PTX");
    };
    let warned = ptx
        .diagnostics()
        .iter()
        .any(|said| said.severity == Severity::Warning && said.message.contains("never_used"));
    assert!(warned, "{:?}", ptx.diagnostics());
    assert_eq!(ptx.kernel_for("set<float>").unwrap().parameters.len(), 1);
}

#[test]
fn an_error_is_not_kept() {
    let toolkit = toolkit("13.5");
    let folder = tempfile::tempdir().unwrap();
    let cached = before(&toolkit, &Disk::at(folder.path()));
    let wrong = Job::cpp(
        "k.cu",
        "no C++",
        nvrtc::Options::new(Arch::SM_90),
        Emit::Ptx,
    );
    let error = cached.compile(&wrong).unwrap_err();
    assert_eq!(cached.compile(&wrong).unwrap_err().log(), error.log());
    assert_eq!(cached.compiler().calls(), 2);
    assert_eq!(cached.stats().errors, 2);
    assert_eq!(super::files(&folder.path().join("v1")), []);
}

#[test]
fn a_flipped_byte_on_the_disk_is_compiled_again_and_mended() {
    let toolkit = toolkit("13.5");
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::at(folder.path());
    let made = before(&toolkit, &disk).compile(&nvvm(Emit::Ptx)).unwrap();
    let [(path, _)] = &super::files(&folder.path().join("v1"))[..] else {
        panic!("one entry");
    };
    let whole = std::fs::read(path).unwrap();
    for place in [0, 50, 90, whole.len() / 2, whole.len() - 1] {
        let mut flipped = whole.clone();
        flipped[place] ^= 0x20;
        std::fs::write(path, flipped).unwrap();
        let cached = before(&toolkit, &disk);
        assert_eq!(cached.compile(&nvvm(Emit::Ptx)).unwrap(), made, "{place}");
        assert_eq!((cached.stats().damaged, cached.compiler().calls()), (1, 1));
        let mended = before(&toolkit, &disk);
        assert_eq!(mended.compile(&nvvm(Emit::Ptx)).unwrap(), made);
        assert_eq!(mended.compiler().calls(), 0);
    }
}
