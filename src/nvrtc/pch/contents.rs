//! What a precompiled header was made of.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A clock of a file system may stand still for this long, so that two states of a file have one time.
const TICK: Duration = Duration::from_millis(50);
const LONGEST_PATH: usize = 4096;

/// The headers inside a precompiled one, and more: what looks like a file's name in it and is one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Contents {
    /// Headers in memory, with the hash of their text.
    pub(super) memory: BTreeMap<String, u64>,
    /// Files on disk, by the names that the compiler has for them.
    pub(super) disk: BTreeMap<String, Source>,
}

/// A file as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) hash: u64,
    pub(super) size: u64,
    /// Nanoseconds since 1970; 0 where it was so young that it cannot tell a later state from this.
    pub(super) modified: u128,
}

impl Source {
    fn of(path: &Path) -> Option<Self> {
        let (size, modified) = state(path)?;
        let settled = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .is_ok_and(|now| modified + TICK.as_nanos() < now.as_nanos());
        Some(Source {
            hash: hash(&std::fs::read(path).ok()?),
            size,
            modified: if settled { modified } else { 0 },
        })
    }

    fn is_still(&self, path: &Path) -> bool {
        state(path) == Some((self.size, self.modified))
            || std::fs::read(path).is_ok_and(|now| hash(&now) == self.hash)
    }
}

/// Size and time of a file.
fn state(path: &Path) -> Option<(u64, u128)> {
    let metadata = std::fs::metadata(path).ok()?;
    let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    metadata
        .is_file()
        .then_some((metadata.len(), modified.as_nanos()))
}

pub(super) fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

pub(super) fn memory(headers: &[(CString, CString)]) -> BTreeMap<String, u64> {
    headers
        .iter()
        .map(|(name, text)| (name.to_string_lossy().into_owned(), hash(text.as_bytes())))
        .collect()
}

impl Contents {
    /// Of a precompiled header, in which the compiler keeps the name of each file that it opened.
    pub(super) fn of(precompiled: &[u8], headers: &[(CString, CString)]) -> Self {
        let mut disk = BTreeMap::new();
        for name in precompiled.split(|&byte| byte == 0) {
            if name.is_empty() || name.len() > LONGEST_PATH || name.iter().any(u8::is_ascii_control)
            {
                continue;
            }
            let Ok(name) = std::str::from_utf8(name) else {
                continue;
            };
            if disk.contains_key(name) {
                continue;
            }
            if let Some(source) = Source::of(Path::new(name)) {
                disk.insert(name.to_owned(), source);
            }
        }
        Contents {
            memory: memory(headers),
            disk,
        }
    }

    /// Whether a file has a name that the current folder gives its meaning.
    pub(super) fn is_relative(&self) -> bool {
        self.disk.keys().any(|name| Path::new(name).is_relative())
    }

    /// What is no longer as it was, where something is not.
    pub(super) fn changed(&self, headers: &[(CString, CString)]) -> Option<String> {
        let now = memory(headers);
        for (name, hash) in &self.memory {
            if now.get(name) != Some(hash) {
                return Some(format!("the header {name} in memory is another"));
            }
        }
        // One that was not there could stand for a file that was.
        let new = now.keys().filter(|name| !self.memory.contains_key(*name));
        for name in new {
            if let Some(file) = self.disk.keys().find(|f| Path::new(f).ends_with(name)) {
                return Some(format!("the header {name} in memory stands before {file}"));
            }
        }
        let (file, _) = self
            .disk
            .iter()
            .find(|(name, source)| !source.is_still(Path::new(name)))?;
        Some(format!("{file} has changed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str, text: &str) -> (CString, CString) {
        (CString::new(name).unwrap(), CString::new(text).unwrap())
    }

    #[test]
    fn a_file_that_changes_within_one_tick_and_keeps_its_size_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("h.h");
        std::fs::write(&file, "1").unwrap();
        let inside = format!("\u{1}x\0{}\0more", file.display());
        let contents = Contents::of(inside.as_bytes(), &[]);
        assert_eq!(contents.disk.len(), 1, "{contents:?}");
        assert_eq!(contents.changed(&[]), None);
        let written = std::fs::metadata(&file).unwrap().modified().unwrap();
        std::fs::write(&file, "2").unwrap();
        let same_time = std::fs::File::options().write(true).open(&file).unwrap();
        same_time.set_modified(written).unwrap();
        assert!(contents.changed(&[]).unwrap().contains("h.h"));
    }

    #[test]
    fn a_file_that_was_only_touched_has_not_changed_and_one_that_is_gone_has() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("h.h");
        std::fs::write(&file, "1").unwrap();
        let old = std::fs::File::options().write(true).open(&file).unwrap();
        old.set_modified(UNIX_EPOCH + TICK).unwrap();
        let contents = Contents::of(file.to_str().unwrap().as_bytes(), &[]);
        assert_ne!(contents.disk.values().next().unwrap().modified, 0);
        old.set_modified(UNIX_EPOCH).unwrap();
        assert_eq!(contents.changed(&[]), None);
        std::fs::remove_file(&file).unwrap();
        assert!(contents.changed(&[]).is_some());
    }

    #[test]
    fn headers_in_memory_count_by_name_and_text_and_may_become_more() {
        let mut contents = Contents {
            memory: memory(&[header("a.h", "1")]),
            disk: BTreeMap::new(),
        };
        assert_eq!(contents.changed(&[header("a.h", "1")]), None);
        let more = [header("a.h", "1"), header("sub/b.h", "")];
        assert_eq!(contents.changed(&more), None);
        assert!(contents.changed(&[header("a.h", "2")]).is_some());
        assert!(contents.changed(&[]).is_some());
        let source = Source {
            hash: 0,
            size: 0,
            modified: 1,
        };
        contents.disk.insert("/inc/sub/b.h".to_owned(), source);
        let shadowed = contents.changed(&more).unwrap();
        assert!(shadowed.contains("sub/b.h in memory"), "{shadowed}");
    }
}
