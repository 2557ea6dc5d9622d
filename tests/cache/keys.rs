use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

use cuda_program::cache::{Cached, Keys};
use cuda_program::compile::{Compiler, Emit, InProcess, Job, Output, Source};
use cuda_program::link::{self, InputKind};
use cuda_program::{Arch, Ptx, Result, Toolkit, nvrtc, nvvm};
use rstest::rstest;

use super::Counting;
use super::common::{store, toolkit};

fn nvvm_job() -> Job {
    let options = nvvm::Options::new(Arch::SM_90);
    Job::nvvm("k.ll", store("k", 1), options, Emit::Ptx)
}

fn cpp_job(source: &str) -> Job {
    Job::cpp("k.cu", source, nvrtc::Options::new(Arch::SM_90), Emit::Ptx)
}

fn including(folder: &Path) -> Job {
    let source = "#include <x.h>\nextern \"C\" __global__ void k(int *p) { *p = X; }";
    let mut job = cpp_job(source);
    if let Source::Cpp(cpp) = &mut job.source {
        let folders = &mut cpp.options.preprocessor.include_folders;
        folders.push(folder.to_owned());
    }
    job
}

fn text(output: &Output) -> &str {
    output.ptx().map(Ptx::as_str).unwrap()
}

#[test]
fn the_same_job_has_the_same_key_and_any_other_has_another() {
    let toolkit = toolkit("13.5");
    let keys = Keys::new(&toolkit);
    let nvvm_options = |set: fn(nvvm::Options) -> nvvm::Options| {
        let options = set(nvvm::Options::new(Arch::SM_90));
        Job::nvvm("k.ll", store("k", 1), options, Emit::Ptx)
    };
    let libdevice = |libdevice| {
        let mut job = nvvm_job();
        if let Source::Nvvm(nvvm) = &mut job.source {
            nvvm.libdevice = libdevice;
        }
        job
    };
    let mut emits = nvvm_job();
    emits.emit = Emit::Cubin;
    let link = |options: link::Options, bytes: &str| {
        Job::link(Arch::SM_90, options, Emit::Cubin).with_input("a", InputKind::Ptx, bytes)
    };
    let jobs = [
        nvvm_job(),
        emits,
        nvvm_options(|options| options.ftz(true)),
        nvvm_options(|options| options.ftz(false)),
        nvvm_options(|options| options.keep("f")),
        nvvm_options(|options| options.extra("-f")),
        nvvm_job().with_module("more.ll", store("m", 2), false),
        nvvm_job().with_module("more.ll", store("m", 2), true),
        libdevice(nvvm::Libdevice::Never),
        libdevice(nvvm::Libdevice::Bytes(store("k", 1).into_bytes().into())),
        Job::nvvm(
            "l.ll",
            store("k", 1),
            nvvm::Options::new(Arch::SM_90),
            Emit::Ptx,
        ),
        Job::nvvm(
            "k.ll",
            store("k", 2),
            nvvm::Options::new(Arch::SM_90),
            Emit::Ptx,
        ),
        Job::nvvm(
            "k.ll",
            store("k", 1),
            nvvm::Options::new(Arch::SM_80),
            Emit::Ptx,
        ),
        cpp_job("int x;"),
        cpp_job("int y;"),
        cpp_job("int x;").with_header("x.h", ""),
        cpp_job("int x;").with_header("x.h", "1"),
        cpp_job("int x;").with_header("y.h", ""),
        cpp_job("int x;").with_name("x"),
        link(link::Options::new(), "a"),
        link(link::Options::new(), "b"),
        link(link::Options::new().debug(true), "a"),
    ];
    let mut seen = BTreeMap::new();
    for (n, job) in jobs.iter().enumerate() {
        let key = keys.key(job).unwrap();
        assert_eq!(keys.key(&job.clone()).unwrap(), key, "{n}");
        assert_eq!(job.key(&toolkit).unwrap(), key, "{n}");
        assert_eq!(seen.insert(key, n), None, "{n}");
    }
}

#[rstest]
#[case(link::Options::new().extra("-x=a.txt"), "`extra`")]
#[case(link::Options::new().ptxas("-optf"), "`ptxas`")]
#[case(link::Options::new().nvvm("-x=a.txt"), "`nvvm`")]
fn a_link_whose_flags_could_name_a_file_has_no_key(
    #[case] options: link::Options,
    #[case] field: &str,
) {
    let job = Job::link(Arch::SM_90, options, Emit::Cubin).with_input("a", InputKind::Ptx, "a");
    let refused = job.key(&toolkit("13.5")).unwrap_err();
    assert!(refused.reason.contains(field), "{refused}");
}

#[test]
fn every_version_of_the_toolkit_has_keys_of_its_own() {
    let versions = ["12.0", "12.4", "12.9", "13.0", "13.5"];
    let mut seen = BTreeMap::new();
    for version in versions {
        let toolkit = toolkit(version);
        for job in [nvvm_job(), cpp_job("int x;")] {
            let key = job.key(&toolkit).unwrap();
            assert_eq!(seen.insert(key, version), None, "{version}");
        }
    }
}

/// The part of a toolkit that one job needs is what its key names, and no other.
#[test]
fn another_libdevice_is_another_key_where_it_is_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/toolkits/13.5/nvidia/cu13");
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("libdevice.10.bc");
    let mut bytes = fs::read(root.join("nvvm/libdevice/libdevice.10.bc")).unwrap();
    bytes.extend_from_slice(&[0; 4]);
    fs::write(&other, bytes).unwrap();
    let plain = toolkit("13.5");
    let changed = Toolkit::builder().root(&root).libdevice(&other).only();
    let changed = changed.build().unwrap();
    assert_ne!(nvvm_job().key(&changed), nvvm_job().key(&plain));
    let without = {
        let mut job = nvvm_job();
        if let Source::Nvvm(nvvm) = &mut job.source {
            nvvm.libdevice = nvvm::Libdevice::Never;
        }
        job
    };
    assert_eq!(without.key(&changed), without.key(&plain));
}

#[rstest]
fn a_changed_header_is_compiled_again(#[values("12.0", "13.5")] version: &str) {
    let toolkit = toolkit(version);
    let folder = tempfile::tempdir().unwrap();
    let cached = Cached::new(Counting::new(InProcess::new(&toolkit)), &toolkit);
    for value in [1111, 2222, 1111] {
        fs::write(folder.path().join("x.h"), format!("#define X {value}\n")).unwrap();
        let output = cached.compile(&including(folder.path())).unwrap();
        assert!(text(&output).contains(&value.to_string()), "{value}");
    }
    assert_eq!(cached.compiler().calls(), 2);
    assert_eq!(cached.stats().memory_hits, 1);
}

/// A compiler whose header changes while it compiles.
struct Changing<'a> {
    header: &'a Path,
    texts: Mutex<Vec<&'static str>>,
    compiler: InProcess,
}

impl Compiler for Changing<'_> {
    fn compile(&self, job: &Job) -> Result<Output> {
        if let Some(text) = self.texts.lock().unwrap().pop() {
            fs::write(self.header, text).unwrap();
        }
        self.compiler.compile(job)
    }
}

#[test]
fn what_was_compiled_while_a_header_changed_is_not_kept() {
    let toolkit = toolkit("13.5");
    let folder = tempfile::tempdir().unwrap();
    let header = folder.path().join("x.h");
    fs::write(&header, "#define X 1111\n").unwrap();
    let cached = Cached::new(
        Changing {
            header: &header,
            texts: Mutex::new(vec!["#define X 2222\n"]),
            compiler: InProcess::new(&toolkit),
        },
        &toolkit,
    );
    let job = including(folder.path());
    assert!(text(&cached.compile(&job).unwrap()).contains("2222"));
    fs::write(&header, "#define X 1111\n").unwrap();
    assert!(text(&cached.compile(&job).unwrap()).contains("1111"));
    assert_eq!((cached.stats().misses, cached.stats().memory_hits), (2, 0));
}

#[test]
fn a_job_that_reads_what_is_not_declared_is_compiled_each_time() {
    let toolkit = toolkit("13.5");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.h"), "#define X 1111\n").unwrap();
    let name = folder.path().join("k.cu").display().to_string();
    let source = "#include \"x.h\"\nextern \"C\" __global__ void k(int *p) { *p = X; }";
    let job = Job::cpp(name, source, nvrtc::Options::new(Arch::SM_90), Emit::Ptx);
    let cached = Cached::new(InProcess::new(&toolkit), &toolkit);
    let reason = cached.key(&job).unwrap_err().reason;
    assert!(reason.contains("x.h"), "{reason}");
    assert!(text(&cached.compile(&job).unwrap()).contains("1111"));
    fs::write(folder.path().join("x.h"), "#define X 2222\n").unwrap();
    assert!(text(&cached.compile(&job).unwrap()).contains("2222"));
    assert_eq!((cached.stats().uncacheable, cached.stats().misses), (2, 0));
}

#[rstest]
fn the_toolkits_own_headers_are_known(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let toolkit = toolkit(version);
    let cached = Cached::new(InProcess::new(&toolkit), &toolkit);
    let job =
        cpp_job("#include <cuda_fp16.h>\n__global__ void k(__half *p) { *p = __half(1.0f); }");
    for _ in 0..2 {
        cached.compile(&job).unwrap();
    }
    assert_eq!((cached.stats().misses, cached.stats().memory_hits), (1, 1));
}

/// The rules by which a source is looked through are the library's: where it searches elsewhere, a
/// key would lack what it reads.
#[rstest]
fn includes_are_searched_for_where_the_key_looks(
    #[values("12.0", "12.4", "12.9", "13.0", "13.5")] version: &str,
) {
    let toolkit = toolkit(version);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    for name in ["beside", "sub", "declared"] {
        fs::create_dir(path(name)).unwrap();
    }
    fs::write(path("beside/x.h"), "#define X 1111\n").unwrap();
    fs::write(path("sub/x.h"), "#define X 2222\n").unwrap();
    fs::write(path("declared/a.h"), "#include \"x.h\"\n").unwrap();
    let compiled = |include: &str, header: Option<(&str, &str)>, beside: bool, declared: bool| {
        let source =
            format!("#include {include}\nextern \"C\" __global__ void k(int *p) {{ *p = X; }}");
        let mut job = cpp_job(&source);
        if let Source::Cpp(cpp) = &mut job.source {
            cpp.name = path("beside/k.cu");
            cpp.options.preprocessor.no_source_include = !beside;
            if declared {
                let folders = &mut cpp.options.preprocessor.include_folders;
                folders.push(path("declared").into());
            }
        }
        let job = match header {
            Some((name, text)) => job.with_header(name, text),
            None => job,
        };
        let output = InProcess::new(&toolkit).compile(&job).ok()?;
        let found = ["1111", "2222", "4444"]
            .into_iter()
            .find(|x| text(&output).contains(x));
        found.map(str::to_owned)
    };
    let in_memory = Some(("x.h", "#define X 4444\n"));
    let at = |found: &str| Some(found.to_owned());
    assert_eq!(compiled("\"x.h\"", None, true, false), at("1111"));
    assert_eq!(compiled("\"x.h\"", None, false, false), None);
    assert_eq!(compiled("<x.h>", None, true, false), None);
    assert_eq!(compiled("\"x.h\"", in_memory, true, false), at("4444"));
    assert_eq!(compiled("<x.h>", in_memory, true, false), at("4444"));
    // A file's own folder alone, and not those of the files that include it.
    assert_eq!(compiled("<a.h>", None, true, true), None);
    assert_eq!(compiled("<a.h>", in_memory, true, true), at("4444"));
    let header = path("sub/m.h");
    let header = Some((header.as_str(), "#include \"x.h\"\n"));
    let include = format!("\"{}\"", path("sub/m.h"));
    assert_eq!(compiled(&include, header, true, false), at("2222"));
    assert_eq!(compiled(&include, header, false, false), None);
}
