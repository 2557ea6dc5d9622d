//! Folders of headers, by the content of all of their files.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::includes::{self, Include};
use crate::cache::key::Uncacheable;
use crate::sync::Mutex;

/// What a folder may have; one with more is hardly meant, as `/` or `/tmp`.
const MOST_FILES: usize = 100_000;
const MOST_BYTES: u64 = 2 << 30;
/// A file that was written so shortly before it was read could have been written again with the same
/// time.
const SAME_TIME: Duration = Duration::from_secs(2);

/// How far a folder is looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::cache) enum Trust {
    /// A toolkit's: its headers include one another, and stay as they are while the process lives,
    /// as its libraries do.
    Toolkit,
    /// Any other: it may change at any time, and lead elsewhere.
    User,
}

/// Folders that were looked into before.
#[derive(Debug, Default)]
pub(in crate::cache) struct Folders {
    /// Guards what is known; no file is read while it is held.
    known: Mutex<HashMap<(PathBuf, Trust), Arc<Known>>>,
}

#[derive(Debug, Default)]
struct Known {
    hash: [u8; 32],
    files: HashMap<PathBuf, File>,
}

/// A file as it was when it was read.
#[derive(Debug, Clone)]
struct File {
    stamp: Stamp,
    /// Whether it could have changed since without another stamp.
    fresh: bool,
    hash: [u8; 32],
    /// Why what it includes cannot be known.
    problem: Option<&'static str>,
    /// What it includes by a way through the folder above.
    upward: Vec<String>,
}

/// What a file system changes when a file changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: SystemTime,
    /// The file's number, and when anything about it changed, where the system has these.
    inode: (u64, i64, i64),
}

impl Folders {
    /// The hash of a folder's files with their names.
    ///
    /// # Errors
    ///
    /// Where a file could lead out of the folder, or asks for the time, and where the folder cannot
    /// be read or is too large.
    pub(in crate::cache) fn hash(
        &self,
        folder: &Path,
        trust: Trust,
    ) -> Result<[u8; 32], Uncacheable> {
        let slot = (folder.to_owned(), trust);
        let known = self.known.lock().get(&slot).cloned();
        if let (Some(known), Trust::Toolkit) = (&known, trust) {
            return Ok(known.hash);
        }
        let mut walk = Walk {
            root: folder,
            trust,
            known: known.as_deref(),
            files: HashMap::new(),
            bytes: 0,
            chain: Vec::new(),
        };
        // Without the folder nothing can be included from it.
        if folder.exists() {
            walk.folder(Path::new(""))?;
        }
        let files = walk.files;
        let mut names: Vec<(&PathBuf, &File)> = files.iter().collect();
        names.sort_by_key(|(name, _)| *name);
        let mut hasher = blake3::Hasher::new();
        for (name, file) in names {
            let path = name.as_os_str().as_encoded_bytes();
            hasher.update(&(path.len() as u64).to_le_bytes());
            hasher.update(path);
            hasher.update(&file.hash);
            let path = folder.join(name);
            if let Some(problem) = file.problem {
                return Err(refused(&path, problem));
            }
            let inside =
                |way: &&String| within(name, way).is_some_and(|target| files.contains_key(&target));
            if let Some(way) = file.upward.iter().find(|way| !inside(way)) {
                return Err(refused(
                    &path,
                    format_args!("includes `{way}`, which is not in the same include folder"),
                ));
            }
        }
        let hash = *hasher.finalize().as_bytes();
        let known = Known { hash, files };
        self.known.lock().insert(slot, Arc::new(known));
        Ok(hash)
    }
}

struct Walk<'a> {
    root: &'a Path,
    trust: Trust,
    known: Option<&'a Known>,
    files: HashMap<PathBuf, File>,
    bytes: u64,
    /// The folders that lead to the one that is looked into, with links resolved.
    chain: Vec<PathBuf>,
}

impl Walk<'_> {
    /// Looks into a folder, by its name below the root.
    fn folder(&mut self, name: &Path) -> Result<(), Uncacheable> {
        let path = self.root.join(name);
        let real = fs::canonicalize(&path).map_err(|e| unreadable(&path, &e))?;
        if self.chain.contains(&real) {
            // A link to a folder above; all that is in it is known by a shorter name.
            return Ok(());
        }
        self.chain.push(real);
        for entry in fs::read_dir(&path).map_err(|e| unreadable(&path, &e))? {
            let entry = entry.map_err(|e| unreadable(&path, &e))?;
            let name = name.join(entry.file_name());
            let path = entry.path();
            // Through links, as an include goes.
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() => self.folder(&name)?,
                Ok(metadata) if metadata.is_file() => self.file(name, &path, &metadata)?,
                Ok(_) => {
                    return Err(refused(&path, "is neither a file nor a folder"));
                }
                // A link that leads nowhere, which no include can follow.
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(unreadable(&path, &e)),
            }
        }
        self.chain.pop();
        Ok(())
    }

    fn file(&mut self, name: PathBuf, path: &Path, seen: &Metadata) -> Result<(), Uncacheable> {
        self.bytes = self.bytes.saturating_add(seen.len());
        if self.files.len() >= MOST_FILES || self.bytes > MOST_BYTES {
            return Err(refused(
                self.root,
                "has too many files to look at: name a smaller include folder",
            ));
        }
        let stamp = Stamp::of(seen).map_err(|e| unreadable(path, &e))?;
        let known = self.known.and_then(|known| known.files.get(&name));
        let file = match known.filter(|file| file.stamp == stamp && !file.fresh) {
            Some(file) => file.clone(),
            None => self.read(path)?,
        };
        self.files.insert(name, file);
        Ok(())
    }

    fn read(&self, path: &Path) -> Result<File, Uncacheable> {
        // By the clock of the file system at best, which the stamp has too; before the file is read.
        let now = SystemTime::now();
        let stamp = || Stamp::of(&fs::metadata(path)?);
        let before = stamp().map_err(|e| unreadable(path, &e))?;
        let bytes = fs::read(path).map_err(|e| unreadable(path, &e))?;
        let after = stamp().map_err(|e| unreadable(path, &e))?;
        if before != after {
            return Err(refused(path, "is being written to"));
        }
        let age = now.duration_since(after.modified).unwrap_or_default();
        let mut file = File {
            stamp: after,
            fresh: age < SAME_TIME,
            hash: *blake3::hash(&bytes).as_bytes(),
            problem: None,
            upward: Vec::new(),
        };
        if self.trust == Trust::User {
            look(&bytes, &mut file);
        }
        Ok(file)
    }
}

/// Notes what in a header leads out of its folder, or changes by itself.
fn look(bytes: &[u8], file: &mut File) {
    let seen = includes::look(bytes);
    if seen.time {
        file.problem = Some("asks for the time (`__DATE__`, `__TIME__`)");
    }
    for include in seen.includes {
        match include {
            Include::Computed => {
                file.problem = Some(
                    "includes what a macro stands for, so what is read cannot be told before it is \
                     compiled",
                );
            }
            Include::Quoted(name) | Include::Angled(name) if is_rooted(&name) => {
                file.problem = Some("includes a file by its whole path");
            }
            Include::Quoted(name) if goes_up(&name) => file.upward.push(name),
            Include::Angled(name) if goes_up(&name) => {
                file.problem = Some("includes a file through the folder above an include folder");
            }
            Include::Quoted(_) | Include::Angled(_) => {}
        }
    }
}

/// Whether a name leads to the same file from everywhere.
pub(super) fn is_rooted(name: &str) -> bool {
    name.starts_with(['/', '\\']) || name.as_bytes().get(1) == Some(&b':')
}

/// Whether a name leads through a folder above.
pub(super) fn goes_up(name: &str) -> bool {
    name.split(['/', '\\']).any(|part| part == "..")
}

/// The name of what a file includes, where that stays within the folder.
fn within(file: &Path, way: &str) -> Option<PathBuf> {
    let mut target = file.parent()?.to_owned();
    for part in Path::new(way).components() {
        match part {
            Component::Normal(name) => target.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !target.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(target)
}

impl Stamp {
    fn of(metadata: &Metadata) -> io::Result<Self> {
        Ok(Stamp {
            length: metadata.len(),
            modified: metadata.modified()?,
            #[cfg(unix)]
            inode: {
                use std::os::unix::fs::MetadataExt as _;
                (metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
            },
            #[cfg(not(unix))]
            inode: (0, 0, 0),
        })
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Uncacheable {
    refused(path, format_args!("cannot be read: {error}"))
}

fn refused(path: &Path, why: impl std::fmt::Display) -> Uncacheable {
    Uncacheable::because(format!("{} {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn hash(folder: &tempfile::TempDir) -> Result<[u8; 32], Uncacheable> {
        Folders::default().hash(folder.path(), Trust::User)
    }

    #[test]
    fn folders_with_the_same_files_have_the_same_hash_wherever_they_lie() {
        let files = [("a.h", "1"), ("sub/b.h", "2")];
        assert_eq!(hash(&folder(&files)), hash(&folder(&files)));
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
        let one = hash(&folder(&[("a.h", "1"), ("b.h", "2")])).unwrap();
        assert_ne!(hash(&folder(files)).unwrap(), one);
    }

    #[test]
    fn a_change_is_seen_even_where_length_and_time_stay() {
        let (folders, folder) = (Folders::default(), folder(&[("sub/a.h", "1")]));
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
        let refused = hash(&folder(&[("sub/a.h", text), ("x.h", "")])).unwrap_err();
        assert!(refused.reason.contains("sub/a.h"), "{refused}");
        assert!(refused.reason.contains(says), "{refused}");
    }

    #[test]
    fn a_way_up_that_stays_in_the_folder_is_fine() {
        let files = [("sub/deep/a.h", "#include \"../../x.h\""), ("x.h", "")];
        assert!(hash(&folder(&files)).is_ok());
    }

    #[test]
    fn a_folder_that_is_not_there_is_as_an_empty_one() {
        let nowhere = folder(&[]).path().join("none");
        let empty = hash(&folder(&[]));
        assert_eq!(Folders::default().hash(&nowhere, Trust::User), empty);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_circles_end() {
        use std::os::unix::fs::symlink;
        let (there, here) = (folder(&[("x.h", "1")]), folder(&[("a.h", "")]));
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
        let folder = folder(&[]);
        let made = std::process::Command::new("mkfifo")
            .arg(folder.path().join("pipe"))
            .status();
        assert!(made.unwrap().success());
        assert!(hash(&folder).unwrap_err().reason.contains("pipe"));
    }
}
