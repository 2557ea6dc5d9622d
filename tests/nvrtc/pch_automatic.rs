//! Precompiled headers that programs make by themselves.

use std::fs;
use std::path::{Path, PathBuf};

use cuda_program::Ptx;
use cuda_program::nvrtc::{Options, PchMode, PchStatus};
use rstest::rstest;

use crate::common::{NEWEST, within};
use crate::own_process::again_in_a_process_of_its_own;
use crate::pch::{SOURCE, files, header, in_memory, says, stored, with};
use crate::program;

pub(crate) fn automatic(below: &Path) -> Options {
    let mut options = with(PchMode::Automatic);
    options.pch.folder = Some(below.into());
    options
}

#[rstest]
fn automatic_ones_lie_in_a_folder_of_the_program_that_goes_away_with_it(
    #[values("12.9", "13.0", "13.5")] version: &str,
) {
    let below = tempfile::tempdir().unwrap();
    let options = automatic(below.path());
    let program = in_memory(version, 11);
    let made: Ptx = program.compile(&options).unwrap();
    assert_eq!(program.pch_status(), Some(PchStatus::Created));
    assert!(says(&made, "creating"), "{made:?}");
    let used: Ptx = program.compile(&options).unwrap();
    assert!(says(&used, "using"), "{used:?}");
    assert_eq!(used.as_str(), made.as_str());
    let folders = files(below.path());
    assert_eq!(folders.len(), 1, "{folders:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&folders[0]).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
    let other = in_memory(version, 22);
    assert_eq!(stored(&other.compile::<Ptx>(&options).unwrap()), 22);
    assert_eq!(files(below.path()).len(), 2);
    drop((program, other));
    assert_eq!(files(below.path()), [] as [PathBuf; 0]);
}

#[rstest]
fn automatic_ones_are_made_anew_where_a_header_has_changed(
    #[values("12.9", "13.0", "13.5")] version: &str,
) {
    let below = tempfile::tempdir().unwrap();
    let headers = tempfile::tempdir().unwrap();
    let mut options = automatic(below.path());
    options
        .preprocessor
        .include_folders
        .push(headers.path().into());
    let program = program(version, SOURCE);
    // No dot in the second name, and the time of a file may not tell its states apart.
    fs::write(headers.path().join("h.h"), "#include \"value\"\n").unwrap();
    for value in [11, 22, 33] {
        fs::write(headers.path().join("value"), header(value)).unwrap();
        let made: Ptx = program.compile(&options).unwrap();
        assert_eq!(stored(&made), value);
        assert!(says(&made, "creating"), "{made:?}");
        let used: Ptx = program.compile(&options).unwrap();
        assert_eq!(stored(&used), value);
        assert!(says(&used, "using"), "{used:?}");
    }
    // A header in memory comes before that on disk.
    program.add_header("h.h", header(44)).unwrap();
    assert_eq!(stored(&program.compile::<Ptx>(&options).unwrap()), 44);
    assert_eq!(files(below.path()).len(), 1);
}

#[test]
fn headers_found_by_a_relative_path_are_watched_too() {
    again_in_a_process_of_its_own(&[], || {
        let folder = tempfile::tempdir().unwrap();
        let below = tempfile::tempdir().unwrap();
        std::env::set_current_dir(folder.path()).unwrap();
        let mut options = automatic(below.path());
        for place in ["h.h", "include/h.h"] {
            let program = program(NEWEST, SOURCE);
            fs::create_dir_all("include").unwrap();
            for value in [11, 22] {
                fs::write(place, header(value)).unwrap();
                assert_eq!(stored(&program.compile::<Ptx>(&options).unwrap()), value);
                let used: Ptx = program.compile(&options).unwrap();
                assert!(says(&used, "using") && stored(&used) == value);
            }
            fs::remove_file(place).unwrap();
            options.preprocessor.include_folders.push("include".into());
        }
    });
}

#[test]
fn automatic_ones_of_many_threads_do_not_meet() {
    within(300, || {
        let below = tempfile::tempdir().unwrap();
        let options = automatic(below.path());
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let options = &options;
                scope.spawn(move || {
                    for round in 0..6 {
                        let value = thread * 10 + round % 2;
                        let program = in_memory(NEWEST, value);
                        for _ in 0..3 {
                            let ptx: Ptx = program.compile(options).unwrap();
                            assert_eq!(stored(&ptx), value);
                        }
                    }
                });
            }
        });
        assert_eq!(files(below.path()), [] as [PathBuf; 0]);
    });
}
