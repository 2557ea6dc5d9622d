//! Folders of headers, by the content of all of their files.

use std::collections::HashMap;
use std::fmt;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::hash::Fields;
use super::includes::{self, Include};
use crate::cache::key::{Key, Uncacheable};
use crate::sync::Mutex;

/// What a folder may have; one with more is hardly meant, as `/` or `/tmp`.
const MOST_FILES: usize = 100_000;
const MOST_BYTES: u64 = 2 << 30;
/// A file that was written so shortly before it was read could have been written again with the same
/// time.
const SAME_TIME: Duration = Duration::from_secs(2);
/// The same for the time of any change, which nobody can set and which ticks faster.
const SAME_TICK: Duration = Duration::from_millis(100);

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
    memo: Option<Box<dyn Memo>>,
}

/// What remembers hashes longer than a process lives: reading a toolkit's headers takes as long as
/// a compilation.
pub(in crate::cache) trait Memo: fmt::Debug + Send + Sync {
    fn recall(&self, key: &Key) -> Option<[u8; 32]>;
    fn remember(&self, key: &Key, hash: &[u8; 32]);
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
    /// When anything about it changed, and the file's number, where the system has these.
    changed: SystemTime,
    inode: u64,
}

impl Folders {
    /// Has the hashes of toolkits' headers remembered.
    #[cfg_attr(not(feature = "cache-disk"), allow(dead_code))]
    pub(in crate::cache) fn remember_by(&mut self, memo: impl Memo + 'static) {
        self.memo = Some(Box::new(memo));
    }

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
        let memo = self.memo.as_ref().filter(|_| trust == Trust::Toolkit);
        let slot_of_memo = match &memo {
            Some(_) => seen_as(folder, &Walk::new(folder, trust, None).stamps()?),
            None => None,
        };
        if let (Some(memo), Some(key)) = (memo, &slot_of_memo) {
            if let Some(hash) = memo.recall(key) {
                let files = HashMap::new();
                let known = Arc::new(Known { hash, files });
                self.known.lock().insert(slot, known);
                return Ok(hash);
            }
        }
        let files = Walk::new(folder, trust, known.as_deref()).contents()?;
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
        if let (Some(memo), Some(key)) = (memo, &slot_of_memo) {
            // What was read is what was seen before.
            if seen_as(folder, &files).as_ref() == Some(key) {
                memo.remember(key, &hash);
            }
        }
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
    /// Whether files are read, and not only looked at.
    reads: bool,
}

impl<'a> Walk<'a> {
    fn new(root: &'a Path, trust: Trust, known: Option<&'a Known>) -> Self {
        Walk {
            root,
            trust,
            known,
            files: HashMap::new(),
            bytes: 0,
            chain: Vec::new(),
            reads: true,
        }
    }

    /// Every file, read.
    fn contents(mut self) -> Result<HashMap<PathBuf, File>, Uncacheable> {
        // Without the folder nothing can be included from it.
        if self.root.exists() {
            self.folder(Path::new(""))?;
        }
        Ok(self.files)
    }

    /// Every file with its stamp alone.
    fn stamps(mut self) -> Result<HashMap<PathBuf, File>, Uncacheable> {
        self.reads = false;
        self.contents()
    }

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
            None if self.reads => self.read(path)?,
            None => File::unread(stamp, SystemTime::now()),
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
        let mut file = File::unread(after, now);
        file.hash = *blake3::hash(&bytes).as_bytes();
        if self.trust == Trust::User {
            look(&bytes, &mut file);
        }
        Ok(file)
    }
}

impl File {
    fn unread(stamp: Stamp, now: SystemTime) -> Self {
        // What lies in the future is of another clock, and tells nothing.
        let age = |time: SystemTime| now.duration_since(time).unwrap_or_default();
        File {
            stamp,
            fresh: age(stamp.modified) < SAME_TIME || age(stamp.changed) < SAME_TICK,
            hash: [0; 32],
            problem: None,
            upward: Vec::new(),
        }
    }
}

/// What a folder looks like from outside, where that tells whether it changed.
fn seen_as(folder: &Path, files: &HashMap<PathBuf, File>) -> Option<Key> {
    let mut fields = Fields::new();
    fields.field("folder", &folder.canonicalize().ok()?).ok()?;
    let mut files: Vec<(&PathBuf, &File)> = files.iter().collect();
    files.sort_by_key(|(name, _)| *name);
    for (name, file) in files {
        if file.fresh {
            return None;
        }
        let Stamp {
            length,
            modified,
            changed,
            inode,
        } = file.stamp;
        let seen = (length, modified, changed, inode);
        fields.field(name.to_str()?, &seen).ok()?;
    }
    Some(fields.finish())
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
            changed: {
                use std::os::unix::fs::MetadataExt as _;
                let seconds = u64::try_from(metadata.ctime()).unwrap_or_default();
                let rest = u32::try_from(metadata.ctime_nsec()).unwrap_or_default();
                let since = Duration::new(seconds, rest);
                let time = SystemTime::UNIX_EPOCH.checked_add(since);
                time.unwrap_or(SystemTime::UNIX_EPOCH)
            },
            #[cfg(unix)]
            inode: std::os::unix::fs::MetadataExt::ino(metadata),
            #[cfg(not(unix))]
            changed: SystemTime::UNIX_EPOCH,
            #[cfg(not(unix))]
            inode: 0,
        })
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Uncacheable {
    refused(path, format_args!("cannot be read: {error}"))
}

fn refused(path: &Path, why: impl fmt::Display) -> Uncacheable {
    Uncacheable::because(format!("{} {why}", path.display()))
}
