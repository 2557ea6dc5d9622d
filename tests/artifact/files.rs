//! Artifacts in files.

use std::fs;
use std::path::Path;

use cuda_program::{Error, LtoIr, Ptx};
use tempfile::tempdir;

const TEXT: &str = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(){ret;}\n";

fn ltoir() -> LtoIr {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/ltoir");
    LtoIr::read_from(folder.join("typed-13.5-sm_90a.ltoir")).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn ptx_comes_back_from_a_file_as_it_was() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("k.ptx");
    let ptx = Ptx::from_text(TEXT).unwrap();
    ptx.write_to(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), TEXT);
    assert_eq!(Ptx::read_from(&path).unwrap(), ptx);
    assert_eq!(names(folder.path()), ["k.ptx"]);
}

#[test]
fn ltoir_comes_back_from_a_file_without_its_kernels() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("k.ltoir");
    ltoir().with_kernels(["k"]).write_to(&path).unwrap();
    assert_eq!(LtoIr::read_from(&path).unwrap(), ltoir());
}

#[test]
fn a_write_replaces_the_whole_of_an_older_file() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("k.ptx");
    fs::write(&path, TEXT.repeat(50)).unwrap();
    Ptx::from_text(TEXT).unwrap().write_to(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), TEXT);
}

#[test]
fn writers_at_once_leave_one_whole_file() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("k.ptx");
    let texts: Vec<String> = (0..8)
        .map(|n| format!("{TEXT}// {}\n", "x".repeat(n * 900)))
        .collect();
    std::thread::scope(|scope| {
        for text in &texts {
            scope.spawn(|| {
                Ptx::from_text(text.as_str())
                    .unwrap()
                    .write_to(&path)
                    .unwrap()
            });
        }
    });
    assert!(texts.contains(&fs::read_to_string(&path).unwrap()));
    assert_eq!(names(folder.path()), ["k.ptx"]);
}

#[test]
fn a_path_that_cannot_be_written_is_an_error_and_leaves_nothing() {
    let folder = tempdir().unwrap();
    let ptx = Ptx::from_text(TEXT).unwrap();
    let taken = folder.path().join("taken");
    fs::create_dir(&taken).unwrap();
    // A folder that is not empty can be replaced by no file.
    fs::create_dir(taken.join("inside")).unwrap();
    for path in [
        folder.path().join("absent/k.ptx"),
        taken,
        folder.path().join(".."),
        Path::new("").to_owned(),
    ] {
        let error = ptx.write_to(&path).unwrap_err();
        assert!(
            matches!(&error, Error::Io { action, path: named, .. } if action == "write" && *named == path),
            "{error}"
        );
    }
    assert_eq!(names(folder.path()), ["taken"]);
}

#[test]
fn a_file_without_an_artifact_is_refused_by_its_name() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("wrong");
    let missing = Ptx::read_from(&path).unwrap_err();
    assert!(
        matches!(&missing, Error::Io { action, .. } if action == "read"),
        "{missing}"
    );
    fs::write(&path, "\n\nhello").unwrap();
    let ptx = Ptx::read_from(&path).unwrap_err().to_string();
    assert!(ptx.starts_with(&format!("{}:3: ", path.display())), "{ptx}");
    let lto = LtoIr::read_from(&path).unwrap_err().to_string();
    assert!(lto.starts_with(&format!("{}: ", path.display())), "{lto}");
}
