//! Reading and writing entries.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use super::folder;
use super::place::Disk;
use super::room::{Room, place};
use crate::cache::counters::Counters;
use crate::cache::depends::Memo;
use crate::cache::entry;
use crate::cache::key::Key;

/// The folder of this version of the format; another version would have another.
const VERSION: &str = "v1";
/// How old the last use of a file may be before it is noted again: noting costs a write.
const NOTED_FOR: Duration = Duration::from_secs(10);

/// A folder of entries, in use.
#[derive(Debug)]
pub(in crate::cache) struct Store {
    root: PathBuf,
    room: Room,
    counters: Arc<Counters>,
    /// Whether the folder is to be trusted, found out once it is there.
    trusted: OnceLock<bool>,
}

impl Store {
    pub(in crate::cache) fn new(disk: &Disk, counters: Arc<Counters>) -> Self {
        let root = disk.folder().join(VERSION);
        Store {
            room: Room::new(root.clone(), disk.limit()),
            root,
            counters,
            trusted: OnceLock::new(),
        }
    }

    /// The payload of a key, and what it had cost to make.
    pub(in crate::cache) fn get(&self, key: &Key) -> Option<(Vec<u8>, Duration)> {
        // Before the folder is looked at, so that a cache that nobody has made costs one call.
        let path = self.path(key);
        let (file, metadata) = match folder::open(&path) {
            Ok(opened) => opened,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return None,
            Err(e) => {
                self.damaged(key, &e.to_string());
                self.problem(&format!("cannot be read: {}", e.kind()));
                return None;
            }
        };
        if !self.is_trusted() {
            return None;
        }
        let limit = self.room.largest();
        let mut bytes = Vec::with_capacity(metadata.len().min(limit) as usize);
        if let Err(e) = (&file).take(limit).read_to_end(&mut bytes) {
            self.damaged(key, &e.to_string());
            return None;
        }
        let Some((range, cost)) = entry::open(key, &bytes) else {
            self.damaged(key, "its checksum does not fit");
            // Another process may have replaced it meanwhile, which then is a miss once.
            let _ = std::fs::remove_file(&path);
            return None;
        };
        self.counters.disk_bytes_read.add(bytes.len() as u64);
        let now = SystemTime::now();
        let noted = metadata.modified().ok();
        if noted.is_none_or(|at| now.duration_since(at).is_ok_and(|age| age > NOTED_FOR)) {
            // Where the folder cannot be written, nothing in it has to make room either.
            let _ = file.set_modified(now);
        }
        bytes.truncate(range.end);
        bytes.drain(..range.start);
        Some((bytes, cost))
    }

    /// Keeps a payload, where that can be done.
    pub(in crate::cache) fn put(&self, key: &Key, cost: Duration, payload: &[u8]) {
        let bytes = entry::seal(key, cost, payload);
        if bytes.len() as u64 > self.room.largest() {
            self.counters.not_stored.one();
            return;
        }
        let written = match self.ready() {
            Ok(true) => folder::write(&self.path(key), &bytes),
            Ok(false) => return self.counters.not_stored.one(),
            Err(e) => Err(e),
        };
        match written {
            Ok(()) => {
                self.counters.disk_bytes_written.add(bytes.len() as u64);
                let gone = self.room.taken(key, bytes.len() as u64);
                self.counters.disk_evictions.add(gone);
            }
            Err(e) => {
                self.counters.not_stored.one();
                tracing::debug!(%key, %e, "an entry could not be written");
                // The whole text names the file, and so would be another one each time.
                self.problem(&format!("cannot be written to: {}", e.kind()));
            }
        }
    }

    /// Makes the folder where it is missing; false where it is there and not to be trusted.
    fn ready(&self) -> io::Result<bool> {
        if !self.root.is_dir() {
            folder::make(&self.root)?;
            self.tag();
        }
        Ok(self.is_trusted())
    }

    /// Marks the folder as one that a backup may leave out, by the convention for that.
    fn tag(&self) {
        let Some(folder) = self.root.parent() else {
            return;
        };
        let tag = folder.join("CACHEDIR.TAG");
        if !tag.exists() {
            let text = b"Signature: 8a477f597d28d172789f06886806bc55\n";
            let _ = folder::write(&tag, text);
        }
    }

    fn is_trusted(&self) -> bool {
        if let Some(&known) = self.trusted.get() {
            return known;
        }
        // Both, since either could be replaced by who may write to it.
        let doubt = [self.root.parent(), Some(&self.root)]
            .into_iter()
            .flatten()
            .find_map(|folder| match std::fs::metadata(folder) {
                Ok(metadata) => folder::distrust(&metadata),
                Err(e) => Some(e.to_string()),
            });
        if let Some(doubt) = &doubt {
            self.problem(&format!("is not used: {doubt}"));
        }
        *self.trusted.get_or_init(|| doubt.is_none())
    }

    fn damaged(&self, key: &Key, why: &str) {
        self.counters.damaged.one();
        tracing::debug!(%key, why, "an entry on the disk is of no use");
    }

    fn problem(&self, what: &str) {
        let folder = self.root.parent().unwrap_or(Path::new(""));
        self.counters
            .problem(format!("the cache {} {what}", folder.display()));
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.root.join(place(key))
    }
}

/// Hashes of toolkits' headers lie among the artifacts, and go as those do.
impl Memo for Arc<Store> {
    fn recall(&self, key: &Key) -> Option<[u8; 32]> {
        self.get(key)?.0.try_into().ok()
    }

    fn remember(&self, key: &Key, hash: &[u8; 32]) {
        self.put(key, Duration::ZERO, hash);
    }
}
