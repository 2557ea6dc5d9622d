//! Keeping the bound without a lock between processes.
//!
//! Keys are hashes, so any part of the folder has its share of the entries. Each part has its share
//! of the bound and is kept within it by whoever stores to it; that is close to keeping the whole
//! folder by last use, and needs a look at the part alone.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use super::folder::DRAFT;
use crate::cache::key::Key;
use crate::sync::Mutex;

/// Enough that none grows too long to list, and so few that all can be.
const FOLDERS: u64 = 64;
/// How much of the bound a part has where there is enough for it.
const SHARE: u64 = 16 << 20;
/// Files take whole blocks.
const BLOCK: u64 = 4096;
/// No writer takes that long, so that what it left behind is of one that died.
const DEAD_AFTER: Duration = Duration::from_secs(60);
/// Other processes store too, so what was counted is soon out of date.
const COUNT_LASTS: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Room {
    root: PathBuf,
    share: u64,
    parts: Vec<Part>,
}

#[derive(Debug, Default)]
struct Part {
    /// What this process stored since the last count, in bytes.
    added: AtomicU64,
    /// Guards the last count, and is held while one is made, so that one thread does it.
    counted: Mutex<Option<Counted>>,
}

#[derive(Debug)]
struct Counted {
    at: Instant,
    /// How much this process may store before it counts again.
    allowance: u64,
}

impl Room {
    pub(super) fn new(root: PathBuf, max_bytes: u64) -> Self {
        let parts = (max_bytes / SHARE).clamp(1, FOLDERS);
        // A power of two, so that every part has as many folders.
        let parts = 1 << parts.ilog2();
        Room {
            root,
            share: max_bytes / parts,
            parts: (0..parts).map(|_| Part::default()).collect(),
        }
    }

    /// The largest file that is kept, in bytes.
    pub(super) fn largest(&self) -> u64 {
        // With an eighth kept free for what other processes store at the same time, an entry always
        // leaves room for others.
        self.share / 8
    }

    /// Notes that a file was stored, and makes room where there is too much; says how many went.
    pub(super) fn taken(&self, key: &Key, bytes: u64) -> u64 {
        let folders = FOLDERS / self.parts.len() as u64;
        let index = folder_of(key) / folders;
        let Some(part) = self.parts.get(index as usize) else {
            return 0;
        };
        let added = part.added.fetch_add(blocks(bytes), Ordering::Relaxed) + blocks(bytes);
        // Who finds it locked may go: another thread is counting, and the next store looks again.
        let Some(mut counted) = part.counted.try_lock() else {
            return 0;
        };
        let known = counted
            .as_ref()
            .is_some_and(|last| last.at.elapsed() < COUNT_LASTS && added < last.allowance);
        if known {
            return 0;
        }
        part.added.store(0, Ordering::Relaxed);
        let first = index * folders;
        let (total, gone) =
            self.make_room((first..first + folders).map(|n| self.root.join(name(n))));
        let free = self.high().saturating_sub(total);
        *counted = Some(Counted {
            at: Instant::now(),
            allowance: (free / 8).min(self.share / 64),
        });
        gone
    }

    /// Above this, a part makes room. The rest is for what up to eight processes store between two
    /// counts.
    fn high(&self) -> u64 {
        self.share - self.share / 8
    }

    /// Takes away what was not used for longest until there is room; says what is left, in bytes,
    /// and how many files went.
    fn make_room(&self, folders: impl Iterator<Item = PathBuf>) -> (u64, u64) {
        let mut gone = 0;
        let mut total = 0;
        let mut entries = Vec::new();
        let now = SystemTime::now();
        for file in folders
            .filter_map(|folder| fs::read_dir(folder).ok())
            .flatten()
        {
            let Some((file, used, bytes)) = file.ok().and_then(look) else {
                continue;
            };
            if file.file_name().to_string_lossy().starts_with(DRAFT) {
                if now.duration_since(used).is_ok_and(|age| age > DEAD_AFTER) {
                    gone += u64::from(remove(&file.path()));
                } else {
                    total += bytes;
                }
                continue;
            }
            total += bytes;
            entries.push((used, bytes, file.path()));
        }
        if total > self.high() {
            entries.sort();
            let low = self.share - self.share / 4;
            for (_, bytes, path) in entries {
                if total <= low {
                    break;
                }
                if remove(&path) {
                    total = total.saturating_sub(bytes);
                    gone += 1;
                }
            }
        }
        (total, gone)
    }
}

/// Where an entry lies below the root.
pub(super) fn place(key: &Key) -> PathBuf {
    Path::new(&name(folder_of(key))).join(key.to_string())
}

fn folder_of(key: &Key) -> u64 {
    u64::from(key.as_bytes()[0]) * FOLDERS / 256
}

fn name(folder: u64) -> String {
    format!("{folder:02x}")
}

fn look(file: DirEntry) -> Option<(DirEntry, SystemTime, u64)> {
    let metadata = file.metadata().ok().filter(fs::Metadata::is_file)?;
    let used = metadata.modified().ok()?;
    Some((file, used, blocks(metadata.len())))
}

fn blocks(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK).saturating_mul(BLOCK)
}

/// Whether the file is gone now, by this process or by another.
fn remove(path: &Path) -> bool {
    match fs::remove_file(path) {
        Ok(()) => true,
        Err(e) => e.kind() == std::io::ErrorKind::NotFound,
    }
}
