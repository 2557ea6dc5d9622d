//! Files that look right and are of no use, in real folders.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Barrier;

use cuda_program::toolkit::{Environment, Part, Platform, Reason, Toolkit};
use cuda_program::{Error, error::NotFound};
use rstest::rstest;
use tempfile::TempDir;

use crate::machine::{Only, real};
use crate::process::again_in_a_process_of_its_own;

const NVVM: &str = "nvidia/cu13/lib/libnvvm.so.4";
const NVRTC: &str = "nvidia/cu13/lib/libnvrtc.so.13";
const NVJITLINK: &str = "nvidia/cu13/lib/libnvJitLink.so.13";
const LIBDEVICE: &str = "nvidia/cu13/nvvm/libdevice/libdevice.10.bc";

/// An empty folder; `nvvm/lib64`, `nvvm/libdevice` and `lib64` are there to be filled.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["nvvm/lib64", "nvvm/libdevice", "lib64"] {
        fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    folder
}

/// Links a file of the real toolkit 13.5 into a made-up one.
fn link(file: &str, to: &Path) {
    symlink(real("13.5").join(file), to).unwrap();
}

fn not_found(error: Error) -> Box<NotFound> {
    match error {
        Error::NotFound(not_found) => not_found,
        other => panic!("another error: {other}"),
    }
}

fn elf_of_32_bits() -> Vec<u8> {
    let mut head = b"\x7fELF\x01\x01\x01".to_vec();
    head.resize(16, 0);
    head.extend([3, 0, 3, 0]);
    head.resize(52, 0);
    head
}

enum Bad {
    Bytes(Vec<u8>),
    Link(&'static str),
    Folder,
    OfRealToolkit(&'static str),
    Cut(&'static str),
}

fn put(bad: &Bad, at: &Path) {
    match bad {
        Bad::Bytes(bytes) => fs::write(at, bytes).unwrap(),
        Bad::Link(target) => symlink(target, at).unwrap(),
        Bad::Folder => fs::create_dir(at).unwrap(),
        Bad::OfRealToolkit(file) => link(file, at),
        Bad::Cut(file) => {
            let mut bytes = fs::read(real("13.5").join(file)).unwrap();
            bytes.truncate(bytes.len() / 2);
            fs::write(at, bytes).unwrap();
        }
    }
}

#[rstest]
#[case::text(Bad::Bytes(b"GROUP ( libnvvm.so.4 )\n".to_vec()), "it is text")]
#[case::empty(Bad::Bytes(Vec::new()), "it is empty")]
#[case::of_32_bits(Bad::Bytes(elf_of_32_bits()), "a 32-bit x86 ELF library")]
#[case::dangling(Bad::Link("/nowhere/libnvvm.so.4"), "a link that leads nowhere")]
#[case::unreadable(Bad::Link("/proc/self/mem"), "it cannot be read")]
#[case::device(Bad::Link("/dev/zero"), "it is no regular file")]
#[case::folder(Bad::Folder, "it is a folder")]
#[case::another_library(Bad::OfRealToolkit(NVRTC), "it has no function nvvmGetErrorString")]
#[case::bitcode(Bad::OfRealToolkit(LIBDEVICE), "of no known kind")]
#[case::cut_short(Bad::Cut(NVVM), "it is cut short")]
fn a_bad_library_is_passed_over_with_its_reason(#[case] bad: Bad, #[case] says: &str) {
    let (first, second) = (folder(), folder());
    put(&bad, &first.path().join("nvvm/lib64/libnvvm.so.4"));
    link(NVVM, &second.path().join("nvvm/lib64/libnvvm.so.4"));

    let toolkit = Toolkit::builder()
        .root(first.path())
        .root(second.path())
        .only()
        .build()
        .unwrap();
    let opened = toolkit.nvvm().unwrap();
    assert!(opened.library.path.starts_with(second.path()));
    let passed_over = &opened.passed_over[0];
    assert!(passed_over.path.starts_with(first.path()));
    assert!(
        passed_over.failure.contains(says),
        "{}",
        passed_over.failure
    );

    let error = not_found(Toolkit::at(first.path()).unwrap_err());
    assert!(error.tried[0].failure.contains(says), "{error}");
}

#[rstest]
#[case::text(Bad::Bytes(b"define void @f()".to_vec()), "it is text, and must be LLVM bitcode")]
#[case::empty(Bad::Bytes(Vec::new()), "empty")]
#[case::cut_short(Bad::Cut(LIBDEVICE), "bitcode ends in the middle")]
#[case::folder(Bad::Folder, "it is no regular file")]
#[case::dangling(Bad::Link("/nowhere"), "no such file")]
#[case::unreadable(Bad::Link("/proc/self/mem"), "it cannot be read")]
fn a_bad_libdevice_is_refused_with_its_reason(#[case] bad: Bad, #[case] says: &str) {
    let folder = folder();
    let file = folder.path().join("nvvm/libdevice/libdevice.10.bc");
    put(&bad, &file);
    link(NVRTC, &folder.path().join("lib64/libnvrtc.so.13"));

    let toolkit = Toolkit::at(folder.path()).unwrap();
    let error = not_found(toolkit.libdevice().unwrap_err());
    assert_eq!(error.part, "libdevice");
    assert!(error.tried[0].failure.contains(says), "{error}");

    let builder = Toolkit::builder().root(folder.path()).libdevice(&file);
    let error = not_found(builder.build().unwrap_err());
    assert_eq!(error.tried.len(), 1, "a given file is the only candidate");
    assert!(error.tried[0].failure.contains(says), "{error}");
}

#[test]
fn a_given_file_that_cannot_be_used_is_an_error_even_beside_a_whole_toolkit() {
    for part in [Part::Nvvm, Part::Nvrtc, Part::NvJitLink] {
        let builder = Toolkit::builder().root(real("13.5"));
        let builder = match part {
            Part::Nvvm => builder.nvvm("/nowhere/lib.so"),
            Part::Nvrtc => builder.nvrtc("/nowhere/lib.so"),
            _ => builder.nvjitlink("/nowhere/lib.so"),
        };
        let error = not_found(builder.build().unwrap_err());
        assert_eq!(error.part, part.name());
        assert_eq!(error.tried.len(), 1);
        assert_eq!(error.tried[0].because, "given in code");
        assert_eq!(error.tried[0].failure, "no such file");
    }
}

#[test]
fn no_other_compiler_stands_in_for_a_given_libnvvm_that_does_not_open() {
    let another_library = real("13.5").join(NVRTC);
    let builder = Toolkit::builder().root(real("13.5")).nvvm(another_library);
    let error = not_found(builder.build().unwrap_err());
    assert_eq!(error.part, "libNVVM");
    assert!(
        error.tried[0].failure.contains("it has no function nvvm"),
        "{error}"
    );
}

#[test]
fn a_given_stub_is_refused() {
    let folder = folder();
    fs::create_dir(folder.path().join("lib64/stubs")).unwrap();
    let stub = folder.path().join("lib64/stubs/libnvrtc.so");
    link(NVRTC, &stub);
    let error = not_found(Toolkit::builder().nvrtc(stub).build().unwrap_err());
    assert!(error.tried[0].failure.contains("a stub"), "{error}");
}

#[test]
fn libnvvm_without_libdevice_still_compiles_what_needs_none() {
    let folder = folder();
    // A copy, because a link leads to the libdevice beside what it links to.
    fs::copy(
        real("13.5").join(NVVM),
        folder.path().join("nvvm/lib64/libnvvm.so.4"),
    )
    .unwrap();
    let toolkit = Toolkit::at(folder.path()).unwrap();
    assert!(toolkit.nvvm().is_ok());
    let error = not_found(toolkit.libdevice().unwrap_err());
    assert_eq!(error.tried[0].failure, "it has no libdevice.*.bc");
}

#[test]
fn a_linked_libnvvm_has_the_libdevice_beside_the_file_it_links_to() {
    let folder = folder();
    link(NVVM, &folder.path().join("nvvm/lib64/libnvvm.so.4"));
    let toolkit = Toolkit::at(folder.path()).unwrap();
    assert_eq!(
        toolkit.libdevice().unwrap().path,
        real("13.5").join(LIBDEVICE).canonicalize().unwrap()
    );
}

#[test]
fn libdevice_without_libnvvm_is_found_beside_another_compiler() {
    let folder = folder();
    link(
        LIBDEVICE,
        &folder.path().join("nvvm/libdevice/libdevice.10.bc"),
    );
    let error = not_found(Toolkit::at(folder.path()).unwrap_err());
    assert!(error.part.contains("compiler"), "{error}");

    link(NVRTC, &folder.path().join("lib64/libnvrtc.so.13"));
    let toolkit = Toolkit::at(folder.path()).unwrap();
    assert!(
        toolkit
            .libdevice()
            .unwrap()
            .bytes
            .starts_with(b"BC\xc0\xde")
    );
    assert_eq!(not_found(toolkit.nvvm().unwrap_err()).part, "libNVVM");
}

#[test]
fn a_failure_is_not_remembered_and_many_first_calls_get_one_library() {
    let folder = folder();
    link(NVRTC, &folder.path().join("lib64/libnvrtc.so.13"));
    let toolkit = Toolkit::at(folder.path()).unwrap();
    assert!(toolkit.nvvm().is_err());
    assert!(toolkit.libdevice().is_err());
    link(NVVM, &folder.path().join("nvvm/lib64/libnvvm.so.4"));
    link(
        LIBDEVICE,
        &folder.path().join("nvvm/libdevice/libdevice.10.bc"),
    );

    let start = Barrier::new(64);
    let got: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..64)
            .map(|index| {
                let (start, toolkit) = (&start, &toolkit);
                scope.spawn(move || {
                    start.wait();
                    let nvvm = toolkit.nvvm().unwrap();
                    // Reading libdevice is slow without optimisation, so four threads do.
                    let libdevice = (index % 16 == 0)
                        .then(|| toolkit.clone().libdevice().unwrap().bytes.as_ptr() as usize);
                    // A first call of another part, which a lock left behind would stop.
                    let nvrtc = toolkit.nvrtc().unwrap().library.path.clone();
                    (std::ptr::from_ref(&**nvvm) as usize, nvrtc, libdevice)
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(
        got.iter()
            .all(|one| (one.0, &one.1) == (got[0].0, &got[0].1))
    );
    assert!(
        got.iter()
            .filter_map(|one| one.2)
            .all(|one| Some(one) == got[0].2)
    );
}

#[test]
fn libdevice_comes_from_beside_the_libnvvm_in_use() {
    let (complete_but_broken, good) = (folder(), folder());
    let broken = complete_but_broken.path();
    fs::write(broken.join("nvvm/lib64/libnvvm.so.4"), "text").unwrap();
    link(LIBDEVICE, &broken.join("nvvm/libdevice/libdevice.10.bc"));
    link(NVRTC, &broken.join("lib64/libnvrtc.so.13"));
    link(NVJITLINK, &broken.join("lib64/libnvJitLink.so.13"));
    link(NVVM, &good.path().join("nvvm/lib64/libnvvm.so.4"));
    fs::copy(
        real("13.5").join(LIBDEVICE),
        good.path().join("nvvm/libdevice/libdevice.10.bc"),
    )
    .unwrap();

    let files = Only::new(&[broken, good.path(), &real("13.5")]);
    let environment = Environment::new(Platform::current(), files)
        .with_variable("CUDA_HOME", broken)
        .with_variable("CUDA_PATH", good.path())
        .with_loader(false);
    let toolkit = Toolkit::builder().environment(environment).build().unwrap();
    toolkit.nvrtc().unwrap();
    let libdevice = toolkit.libdevice().unwrap();
    assert!(libdevice.path.starts_with(good.path()), "{libdevice:?}");
    assert_eq!(libdevice.because, Reason::BesideNvvm);
    assert!(toolkit.is_mixed(), "{:?}", toolkit.sources());
}

#[test]
fn the_systems_loader_tells_which_file_it_found() {
    let folder = real("13.5").join("nvidia/cu13/lib");
    let searched = folder.to_str().unwrap();
    again_in_a_process_of_its_own(&[("LD_LIBRARY_PATH", searched)], || {
        let environment = Environment::new(Platform::current(), Only::new(&[&real("13.5")]));
        let toolkit = Toolkit::builder().environment(environment).build().unwrap();
        let opened = toolkit.nvvm().unwrap();
        assert_eq!(opened.because, Reason::Loader);
        assert_eq!(
            opened.library.path,
            real("13.5").join(NVVM).canonicalize().unwrap()
        );
        assert_eq!(opened.library.version.as_deref(), Some("13.5"));
        let libdevice = toolkit.libdevice().unwrap();
        assert_eq!(libdevice.because, Reason::BesideNvvm);
        assert_eq!(toolkit.nvrtc().unwrap().because, Reason::Loader);
        assert!(!toolkit.is_mixed(), "{:?}", toolkit.sources());
    });
}

#[rstest]
#[case::by_its_path("stubs")]
#[case::by_a_link("linked")]
fn a_stub_that_the_systems_loader_finds_is_refused(#[case] searched: &str) {
    let folder = folder();
    let (stubs, linked) = (folder.path().join("stubs"), folder.path().join("linked"));
    fs::create_dir(&stubs).unwrap();
    fs::create_dir(&linked).unwrap();
    let stub = stubs.join("libnvvm.so.4");
    fs::copy(real("13.5").join(NVVM), &stub).unwrap();
    symlink(&stub, linked.join("libnvvm.so.4")).unwrap();

    let searched = folder.path().join(searched);
    let searched = searched.to_str().unwrap();
    again_in_a_process_of_its_own(&[("LD_LIBRARY_PATH", searched)], || {
        // The folder of the process that started this one.
        let searched = std::env::var_os("LD_LIBRARY_PATH").unwrap();
        let files = Only::new(&[Path::new(&searched).parent().unwrap()]);
        let environment = Environment::new(Platform::current(), files);
        let error = Toolkit::builder().environment(environment).build();
        let error = not_found(error.unwrap_err());
        let attempt = &error.tried[0];
        assert_eq!(attempt.path.to_str(), Some("libnvvm.so.4"));
        assert!(attempt.failure.contains("a stub for linking"), "{error}");
    });
}

#[test]
fn a_library_already_in_the_process_brings_its_whole_toolkit() {
    again_in_a_process_of_its_own(&[], || {
        let old = Toolkit::at(real("12.9")).unwrap();
        let first = old.nvrtc().unwrap().library.path.canonicalize().unwrap();

        let environment = Environment::current()
            .with_files(Only::new(&[&real("12.9"), &real("13.5")]))
            .without_variable("CUDA_PROGRAM_TOOLKIT")
            .without_variable("VIRTUAL_ENV")
            .without_variable("CONDA_PREFIX")
            .with_variable("CUDA_HOME", real("13.5"));
        let toolkit = Toolkit::builder().environment(environment).build().unwrap();
        let nvrtc = toolkit.nvrtc().unwrap();
        assert_eq!(
            (nvrtc.because, &nvrtc.library.path),
            (Reason::Mapped, &first)
        );
        assert_eq!(nvrtc.library.version.as_deref(), Some("12.9"));
        let nvjitlink = toolkit.nvjitlink().unwrap();
        assert_eq!(nvjitlink.because, Reason::BesideMapped);
        assert_eq!(nvjitlink.library.version.as_deref(), Some("12.9"));
        toolkit.libdevice().unwrap();
        assert!(!toolkit.is_mixed(), "{:?}", toolkit.sources());
    });
}
