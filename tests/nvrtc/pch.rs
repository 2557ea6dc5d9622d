//! Precompiled headers: made, used where they are right, and refused where they are not.

use std::fs;
use std::path::{Path, PathBuf};

use cuda_program::nvrtc::{Options, Pch, PchMode, PchStatus, Program};
use cuda_program::{Error, Ptx};
use rstest::rstest;

use crate::common::{NEWEST, toolkit};
use crate::own_process::{again, again_in_a_process_of_its_own, check, inside};
use crate::pch_automatic::automatic;
use crate::{program, sm_80};

pub(crate) const SOURCE: &str =
    "#include \"h.h\"\nextern \"C\" __global__ void k(int *p) { *p = VALUE; }";

pub(crate) fn header(value: u32) -> String {
    format!("#pragma once\ntemplate <class T> struct S {{ T t; }};\n#define VALUE {value}\n")
}

pub(crate) fn with(mode: PchMode) -> Options {
    let mut options = sm_80();
    options.pch.mode = mode;
    options
}

/// A program whose header is in memory.
pub(crate) fn in_memory(version: &str, value: u32) -> Program {
    let program = program(version, SOURCE);
    program.add_header("h.h", header(value)).unwrap();
    program
}

/// What the kernel stores.
pub(crate) fn stored(ptx: &Ptx) -> u32 {
    let moved = ptx.as_str().lines().find_map(|line| {
        let (_, value) = line.trim().strip_prefix("mov.")?.split_once(", ")?;
        value.strip_suffix(';')?.parse().ok()
    });
    moved.unwrap_or_else(|| panic!("{}", ptx.as_str()))
}

pub(crate) fn says(ptx: &Ptx, what: &str) -> bool {
    ptx.diagnostics().iter().any(|d| d.message.contains(what))
}

pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect()
}

fn refused(program: &Program, options: &Options, why: &str) {
    let error = program.compile::<Ptx>(options).unwrap_err();
    assert!(matches!(error, Error::InvalidOptions { .. }), "{error:?}");
    assert!(error.to_string().contains(why), "{error}");
}

#[rstest]
fn one_is_made_and_used_by_this_and_other_programs(
    #[values("12.9", "13.0", "13.5")] version: &str,
) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a b.pch");
    let program = in_memory(version, 11);
    let made: Ptx = program
        .compile(&with(PchMode::Create(file.clone())))
        .unwrap();
    assert_eq!(program.pch_status(), Some(PchStatus::Created));
    assert_eq!(stored(&made), 11);
    assert!(
        says(&made, "creating") && says(&made, "a b.pch\""),
        "{made:?}"
    );
    let record = folder.path().join("a b.pch.made-by");
    let mut left = files(folder.path());
    left.sort();
    assert_eq!(left, [file.clone(), record]);
    let other = in_memory(version, 11);
    other.add_header("more.h", "").unwrap();
    for program in [&program, &other] {
        let used: Ptx = program.compile(&with(PchMode::Use(file.clone()))).unwrap();
        assert!(says(&used, "using"), "{used:?}");
        assert_eq!(stored(&used), 11);
        assert_eq!(program.pch_status(), Some(PchStatus::NotAttempted));
    }
    // A relative name lies in the folder that was given.
    let mut relative = with(PchMode::Use("a b.pch".into()));
    relative.pch.folder = Some(folder.path().into());
    assert!(says(&program.compile::<Ptx>(&relative).unwrap(), "using"));
    // Made anew over the old one.
    program
        .compile::<Ptx>(&with(PchMode::Create(file.clone())))
        .unwrap();
    program.compile::<Ptx>(&with(PchMode::Use(file))).unwrap();
}

#[rstest]
fn one_that_does_not_fit_the_options_is_left_aside_with_a_warning(
    #[values("12.9", "13.5")] version: &str,
) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.pch");
    let program = in_memory(version, 11);
    program
        .compile::<Ptx>(&with(PchMode::Create(file.clone())))
        .unwrap();
    let mut options = with(PchMode::Use(file));
    options.preprocessor.define("OTHER", "1");
    let ptx: Ptx = program.compile(&options).unwrap();
    assert!(says(&ptx, "do not match"), "{ptx:?}");
    assert_eq!(stored(&ptx), 11);
    options.pch.messages = Some(false);
    options.diagnostics.disable_warnings = true;
    assert_eq!(program.compile::<Ptx>(&options).unwrap().diagnostics(), []);
}

#[rstest]
fn a_damaged_or_foreign_file_is_refused_before_the_library_maps_it(
    #[values("12.9", "13.0", "13.5")] version: &str,
) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.pch");
    let program = in_memory(version, 11);
    let options = with(PchMode::Use(file.clone()));
    let error = program.compile::<Ptx>(&options).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error:?}");
    program
        .compile::<Ptx>(&with(PchMode::Create(file.clone())))
        .unwrap();
    let whole = fs::read(&file).unwrap();
    // Each of these would end the process or mislead the compiler.
    for kept in [0, 10, 100, 5000, whole.len() / 2, whole.len() - 1] {
        fs::write(&file, &whole[..kept]).unwrap();
        refused(&program, &options, "cut off");
    }
    let mut zeroed = whole.clone();
    zeroed[70_000..140_000].fill(0);
    for other in [
        zeroed,
        [&whole[..], b"more"].concat(),
        b"no such thing".to_vec(),
    ] {
        fs::write(&file, other).unwrap();
        refused(&program, &options, "cut off");
    }
    fs::write(&file, &whole).unwrap();
    assert!(says(&program.compile::<Ptx>(&options).unwrap(), "using"));
    fs::remove_file(folder.path().join("k.pch.made-by")).unwrap();
    refused(&program, &options, "another process");
}

#[rstest]
fn one_whose_headers_have_changed_is_refused(#[values("12.9", "13.5")] version: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.pch");
    let program = in_memory(version, 11);
    program
        .compile::<Ptx>(&with(PchMode::Create(file.clone())))
        .unwrap();
    refused(
        &in_memory(version, 22),
        &with(PchMode::Use(file.clone())),
        "h.h in memory",
    );
    // On disk, by way of another header.
    let program = self::program(version, SOURCE);
    fs::write(folder.path().join("h.h"), "#include \"deep/value.h\"\n").unwrap();
    fs::create_dir(folder.path().join("deep")).unwrap();
    let value = folder.path().join("deep/value.h");
    fs::write(&value, header(33)).unwrap();
    let including = |mode| {
        let mut options = with(mode);
        options
            .preprocessor
            .include_folders
            .push(folder.path().into());
        options
    };
    program
        .compile::<Ptx>(&including(PchMode::Create(file.clone())))
        .unwrap();
    let used: Ptx = program
        .compile(&including(PchMode::Use(file.clone())))
        .unwrap();
    assert!(says(&used, "using") && stored(&used) == 33);
    fs::write(&value, header(44)).unwrap();
    refused(
        &program,
        &including(PchMode::Use(file.clone())),
        "value.h has changed",
    );
    program
        .compile::<Ptx>(&including(PchMode::Create(file.clone())))
        .unwrap();
    let used: Ptx = program.compile(&including(PchMode::Use(file))).unwrap();
    assert!(says(&used, "using") && stored(&used) == 44);
}

#[test]
fn one_of_another_process_is_refused() {
    if inside() {
        let file = PathBuf::from(std::env::var_os("MADE").unwrap());
        refused(
            &in_memory(NEWEST, 11),
            &with(PchMode::Use(file)),
            "another process",
        );
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.pch");
    in_memory(NEWEST, 11)
        .compile::<Ptx>(&with(PchMode::Create(file.clone())))
        .unwrap();
    check(&again(&[("MADE", &file)]).output().unwrap());
}

#[rstest]
#[case::create(PchMode::Create("/nowhere/k.pch".into()))]
#[case::no_file(PchMode::Create("/".into()))]
#[case::automatic(PchMode::Automatic)]
fn a_place_that_cannot_be_written_is_an_error_and_the_program_stays(#[case] mode: PchMode) {
    let program = in_memory(NEWEST, 11);
    let mut options = with(mode);
    options.pch.folder = Some("/proc/nowhere".into());
    let error = program.compile::<Ptx>(&options).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error:?}");
    program.compile::<Ptx>(&sm_80()).unwrap();
}

#[test]
fn a_compilation_that_fails_leaves_no_file_behind() {
    let folder = tempfile::tempdir().unwrap();
    let program = program(NEWEST, "#include \"h.h\"\nint x = y;");
    program.add_header("h.h", header(1)).unwrap();
    let options = with(PchMode::Create(folder.path().join("k.pch")));
    program.compile::<Ptx>(&options).unwrap_err();
    assert_eq!(files(folder.path()), [] as [PathBuf; 0]);
}

fn set_heap(version: &str, bytes: usize) {
    let nvrtc = toolkit(version).nvrtc().unwrap().api;
    // SAFETY: the function takes any size.
    assert_eq!(unsafe { nvrtc.nvrtcSetPCHHeapSize.unwrap()(bytes) }, 0);
}

fn heap(version: &str) -> usize {
    let nvrtc = toolkit(version).nvrtc().unwrap().api;
    let mut bytes = 0;
    // SAFETY: a place for a size.
    assert_eq!(unsafe { nvrtc.nvrtcGetPCHHeapSize.unwrap()(&mut bytes) }, 0);
    bytes
}

#[rstest]
fn a_heap_that_is_too_small_grows_and_the_program_is_compiled_once_more(
    #[values("12.9", "13.0", "13.5")] version: &str,
) {
    again_in_a_process_of_its_own(&[], || {
        let folder = tempfile::tempdir().unwrap();
        let times = folder.path().join("times.csv");
        let compilations = || {
            let table = fs::read_to_string(&times).unwrap();
            fs::remove_file(&times).unwrap();
            table.matches("CUDA C++ Frontend").count()
        };
        let program = in_memory(version, 11);
        let plain: Ptx = program.compile(&sm_80()).unwrap();
        set_heap(version, 1 << 16);
        let small = heap(version);
        for mode in [
            PchMode::Create(folder.path().join("k.pch")),
            PchMode::Automatic,
        ] {
            set_heap(version, small);
            let mut options = with(mode);
            options.timings = Some(times.clone());
            let ptx: Ptx = program.compile(&options).unwrap();
            assert_eq!(program.pch_status(), Some(PchStatus::Created));
            assert_eq!(compilations(), 2);
            assert_eq!(ptx.as_str(), plain.as_str());
            assert!(heap(version) > small);
            // It stays grown, so the next one is compiled once.
            program.compile::<Ptx>(&options).unwrap();
            assert_eq!(compilations(), 1);
        }
        // A heap that was never given any is beyond help, and the code is right all the same.
        set_heap(version, 0);
        let ptx: Ptx = program.compile(&with(PchMode::Automatic)).unwrap();
        assert_eq!(ptx.as_str(), plain.as_str());
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_forked_child_neither_uses_nor_removes_what_its_parent_made() {
    again_in_a_process_of_its_own(&[], || {
        let below = tempfile::tempdir().unwrap();
        let file = below.path().join("k.pch");
        let program = in_memory(NEWEST, 11);
        let own = below.path().join("own");
        fs::create_dir(&own).unwrap();
        program.compile::<Ptx>(&automatic(&own)).unwrap();
        let made = files(&own);
        program
            .compile::<Ptx>(&with(PchMode::Create(file.clone())))
            .unwrap();
        // SAFETY: the child leaves by `_exit`, and no other thread of this test is inside the library.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let refused = program.compile::<Ptx>(&with(PchMode::Use(file)));
            let right = matches!(&refused, Err(e) if e.to_string().contains("another process"));
            drop(program);
            // SAFETY: it ends the child alone.
            unsafe { libc::_exit(if right { 0 } else { 3 }) };
        }
        let mut status = 0;
        // SAFETY: a child of this process, and a place for its status.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0, "the child saw something else");
        assert_eq!(files(&own), made);
        assert!(says(
            &program.compile::<Ptx>(&automatic(&own)).unwrap(),
            "using"
        ));
    });
}

#[test]
fn the_default_is_none_and_its_status_is_not_known() {
    assert_eq!(sm_80().pch, Pch::default());
    let program = in_memory(NEWEST, 11);
    program.compile::<Ptx>(&sm_80()).unwrap();
    assert_eq!(program.pch_status(), None);
}
