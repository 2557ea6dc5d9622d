#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::HashMap;
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use rstest::rstest;

use super::folder::{Folders, Memo, Trust};
use crate::cache::key::{Key, Uncacheable};
use crate::testing::folder_of;

fn hash(folder: &tempfile::TempDir) -> Result<[u8; 32], Uncacheable> {
    Folders::default().hash(folder.path(), Trust::User)
}

#[test]
fn folders_with_the_same_files_have_the_same_hash_wherever_they_lie() {
    let files = [("a.h", "1"), ("sub/b.h", "2")];
    assert_eq!(hash(&folder_of(&files)), hash(&folder_of(&files)));
}

#[rstest]
#[case(&[("a.h", "2"), ("b.h", "2")])]
#[case(&[("a.h", "1"), ("c.h", "2")])]
#[case(&[("a.h", "1")])]
#[case(&[("a.h", "1"), ("b.h", "2"), ("c.h", "")])]
#[case(&[("a.h", "1"), ("sub/b.h", "2")])]
#[case(&[("a.h1", ""), ("b.h", "2")])]
#[case(&[])]
fn another_content_or_another_name_is_another_hash(#[case] files: &[(&str, &str)]) {
    let one = hash(&folder_of(&[("a.h", "1"), ("b.h", "2")])).unwrap();
    assert_ne!(hash(&folder_of(files)).unwrap(), one);
}

#[test]
fn a_change_is_seen_even_where_length_and_time_stay() {
    let (folders, folder) = (Folders::default(), folder_of(&[("sub/a.h", "1")]));
    let path = folder.path().join("sub/a.h");
    let first = folders.hash(folder.path(), Trust::User).unwrap();
    assert_eq!(folders.hash(folder.path(), Trust::User), Ok(first));
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, "2").unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(time).unwrap();
    let second = folders.hash(folder.path(), Trust::User).unwrap();
    assert_ne!(second, first);
    fs::write(&path, "1").unwrap();
    assert_eq!(folders.hash(folder.path(), Trust::User), Ok(first));
    fs::write(folder.path().join("new.h"), "").unwrap();
    assert_ne!(folders.hash(folder.path(), Trust::User), Ok(first));
}

#[rstest]
#[case("#include \"/etc/passwd\"", "whole path")]
#[case("#include <C:/x.h>", "whole path")]
#[case("#include \"../../x.h\"", "../../x.h")]
#[case("#include \"../none.h\"", "../none.h")]
#[case("#include <../x.h>", "folder above")]
#[case("#include HEADER", "macro")]
#[case("const char *built = __TIME__;", "time")]
fn what_leads_out_of_a_folder_is_refused_with_the_file(#[case] text: &str, #[case] says: &str) {
    let refused = hash(&folder_of(&[("sub/a.h", text), ("x.h", "")])).unwrap_err();
    assert!(refused.reason.contains("sub/a.h"), "{refused}");
    assert!(refused.reason.contains(says), "{refused}");
}

#[test]
fn a_way_up_that_stays_in_the_folder_is_fine() {
    let files = [("sub/deep/a.h", "#include \"../../x.h\""), ("x.h", "")];
    assert!(hash(&folder_of(&files)).is_ok());
}

#[test]
fn a_folder_that_is_not_there_is_as_an_empty_one() {
    let nowhere = folder_of(&[]).path().join("none");
    let empty = hash(&folder_of(&[]));
    assert_eq!(Folders::default().hash(&nowhere, Trust::User), empty);
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_circles_end() {
    use std::os::unix::fs::symlink;
    let (there, here) = (folder_of(&[("x.h", "1")]), folder_of(&[("a.h", "")]));
    let plain = hash(&here).unwrap();
    symlink(here.path(), here.path().join("circle")).unwrap();
    assert_eq!(hash(&here), Ok(plain));
    symlink(here.path().join("none"), here.path().join("dangling.h")).unwrap();
    assert_eq!(hash(&here), Ok(plain));
    symlink(there.path(), here.path().join("there")).unwrap();
    let with = hash(&here).unwrap();
    assert_ne!(with, plain);
    fs::write(there.path().join("x.h"), "2").unwrap();
    assert_ne!(hash(&here), Ok(with));
}

#[cfg(unix)]
#[test]
fn a_pipe_in_a_folder_is_refused_and_not_waited_for() {
    let folder = folder_of(&[]);
    let made = std::process::Command::new("mkfifo")
        .arg(folder.path().join("pipe"))
        .status();
    assert!(made.unwrap().success());
    assert!(hash(&folder).unwrap_err().reason.contains("pipe"));
}

#[derive(Debug, Clone, Default)]
struct Remembered(Arc<Mutex<HashMap<Key, [u8; 32]>>>);

impl Memo for Remembered {
    fn recall(&self, key: &Key) -> Option<[u8; 32]> {
        self.0.lock().unwrap().get(key).copied()
    }

    fn remember(&self, key: &Key, hash: &[u8; 32]) {
        self.0.lock().unwrap().insert(*key, *hash);
    }
}

#[test]
fn a_toolkits_headers_are_read_once_and_again_when_one_changed() {
    let (memo, toolkit) = (
        Remembered::default(),
        folder_of(&[("sub/a.h", "1"), ("b.h", "2")]),
    );
    let write = |name: &str, text: &str, age: u64| {
        let path = toolkit.path().join(name);
        fs::write(&path, text).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        let time = SystemTime::now() - Duration::from_secs(age);
        file.set_modified(time).unwrap();
        // That it was changed just now cannot be set.
        std::thread::sleep(Duration::from_millis(200));
    };
    // As in a process of its own.
    let hash = || {
        let mut folders = Folders::default();
        folders.remember_by(memo.clone());
        folders.hash(toolkit.path(), Trust::Toolkit).unwrap()
    };
    let plain = || Folders::default().hash(toolkit.path(), Trust::Toolkit);
    let count = || memo.0.lock().unwrap().len();
    assert_eq!(hash(), plain().unwrap());
    assert_eq!(count(), 0, "what was written just now could change unseen");
    write("sub/a.h", "1", 100);
    write("b.h", "2", 100);
    let first = hash();
    assert_eq!((hash(), plain(), count()), (first, Ok(first), 1));
    // What was remembered is what is used: nothing is read.
    for remembered in memo.0.lock().unwrap().values_mut() {
        *remembered = [7; 32];
    }
    assert_eq!(hash(), [7; 32]);
    write("b.h", "3", 100);
    assert_eq!((hash(), count()), (plain().unwrap(), 2));
    assert_ne!(hash(), first);
}
