#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rstest::rstest;

use super::folder::DRAFT;
use super::{Disk, Store};
use crate::cache::counters::{Counters, Stats};
use crate::cache::key::Key;

const COST: Duration = Duration::from_millis(3);

struct Fixture {
    folder: tempfile::TempDir,
    store: Store,
    counters: Arc<Counters>,
}

impl Fixture {
    fn new(max_bytes: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk::at(folder.path().join("cache")).max_bytes(max_bytes);
        let counters = Arc::new(Counters::default());
        Fixture {
            store: Store::new(&disk, counters.clone()),
            folder,
            counters,
        }
    }

    fn stats(&self) -> Stats {
        self.counters.stats(0)
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    fn entry(&self, key: &Key) -> PathBuf {
        self.cache().join("v1").join(super::room::place(key))
    }
}

fn key(n: u64) -> Key {
    Key::from_bytes(*blake3::hash(&n.to_le_bytes()).as_bytes())
}

fn payload(n: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    blake3::Hasher::new()
        .update(&n.to_le_bytes())
        .finalize_xof()
        .fill(&mut bytes);
    bytes
}

fn files(folder: &Path) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            found.extend(files(&entry.path()));
        } else {
            found.push((entry.path(), entry.metadata().unwrap().len()));
        }
    }
    found
}

#[test]
fn what_was_stored_is_found_by_another_store_of_the_same_folder() {
    let f = Fixture::new(1 << 20);
    assert_eq!(f.store.get(&key(1)), None);
    assert!(!f.cache().exists(), "looking makes nothing");
    f.store.put(&key(1), COST, b"one");
    let other = Store::new(&Disk::at(f.cache()), Arc::default());
    assert_eq!(other.get(&key(1)), Some((b"one".to_vec(), COST)));
    assert_eq!(other.get(&key(2)), None);
    f.store.put(&key(1), COST, b"one");
    assert_eq!(f.store.get(&key(1)), Some((b"one".to_vec(), COST)));
}

#[test]
fn folders_and_files_are_their_owners_alone() {
    let f = Fixture::new(1 << 20);
    f.store.put(&key(1), COST, b"one");
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    let entry = f.entry(&key(1));
    assert_eq!(mode(&entry), 0o600);
    for folder in entry.ancestors().skip(1).take(3) {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
    }
    assert!(f.cache().join("CACHEDIR.TAG").is_file());
}

#[test]
fn a_folder_that_others_may_write_to_is_not_used_and_that_is_said_once() {
    let f = Fixture::new(1 << 20);
    f.store.put(&key(1), COST, b"one");
    fs::set_permissions(f.cache(), fs::Permissions::from_mode(0o777)).unwrap();
    let counters = Arc::new(Counters::default());
    let store = Store::new(&Disk::at(f.cache()), counters.clone());
    for _ in 0..3 {
        assert_eq!(store.get(&key(1)), None);
        store.put(&key(2), COST, b"two");
    }
    assert!(!f.entry(&key(2)).exists());
    let stats = counters.stats(0);
    assert_eq!(stats.not_stored, 3);
    assert_eq!(stats.problems.len(), 1);
    assert!(stats.problems[0].contains("chmod 700"), "{stats:?}");
}

#[test]
fn every_flipped_bit_of_a_file_is_a_miss() {
    let f = Fixture::new(1 << 20);
    let entry = f.entry(&key(1));
    f.store.put(&key(1), COST, &payload(1, 100));
    let whole = fs::read(&entry).unwrap();
    for bit in 0..whole.len() * 8 {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        fs::write(&entry, &flipped).unwrap();
        assert_eq!(f.store.get(&key(1)), None, "bit {bit}");
        assert!(!entry.exists(), "bit {bit}: it is of no use to anybody");
    }
    assert_eq!(f.stats().damaged, whole.len() as u64 * 8);
    f.store.put(&key(1), COST, &payload(1, 100));
    assert_eq!(f.store.get(&key(1)), Some((payload(1, 100), COST)));
}

#[rstest]
#[case(0)]
#[case(1)]
#[case(87)]
#[case(150)]
fn a_cut_file_is_a_miss(#[case] length: usize) {
    let f = Fixture::new(1 << 20);
    f.store.put(&key(1), COST, &payload(1, 100));
    let whole = fs::read(f.entry(&key(1))).unwrap();
    fs::write(f.entry(&key(1)), &whole[..length]).unwrap();
    assert_eq!(f.store.get(&key(1)), None);
}

#[test]
fn a_file_in_anothers_place_is_a_miss() {
    let f = Fixture::new(1 << 20);
    f.store.put(&key(1), COST, b"one");
    f.store.put(&key(2), COST, b"two");
    fs::copy(f.entry(&key(1)), f.entry(&key(2))).unwrap();
    assert_eq!(f.store.get(&key(2)), None);
}

#[test]
fn a_folder_or_a_pipe_in_the_place_of_a_file_is_a_miss() {
    let f = Fixture::new(1 << 20);
    f.store.put(&key(1), COST, b"one");
    fs::remove_file(f.entry(&key(1))).unwrap();
    fs::create_dir(f.entry(&key(1))).unwrap();
    assert_eq!(f.store.get(&key(1)), None);
    f.store.put(&key(1), COST, b"one");
    assert_eq!(f.stats().not_stored, 1);
    fs::remove_dir(f.entry(&key(1))).unwrap();
    symlink("/dev/null", f.entry(&key(1))).unwrap();
    assert_eq!(f.store.get(&key(1)), None);
    fs::remove_file(f.entry(&key(1))).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(f.entry(&key(1)))
        .status();
    assert!(made.unwrap().success());
    assert_eq!(f.store.get(&key(1)), None);
}

#[test]
fn a_place_that_cannot_be_made_is_a_miss_and_said_once() {
    let f = Fixture::new(1 << 20);
    fs::write(f.cache(), "a file").unwrap();
    for n in 0..3 {
        f.store.put(&key(n), COST, b"some");
        assert_eq!(f.store.get(&key(n)), None);
    }
    let stats = f.stats();
    assert_eq!(stats.not_stored, 3);
    assert!(stats.problems.len() <= 2, "{stats:?}");
    assert!(
        stats
            .problems
            .iter()
            .any(|p| p.contains("cannot be written to")),
        "{stats:?}"
    );
}

/// One part alone, so that the order is that of the whole folder.
#[test]
fn what_was_not_used_for_longest_goes_first() {
    const MAX: u64 = 4 << 20;
    let f = Fixture::new(MAX);
    let hour = |n: u64| SystemTime::now() - Duration::from_secs(3600 * (1000 - n));
    let size = 4096 * 16 - crate::cache::entry::OVERHEAD;
    for n in 0..40 {
        f.store.put(&key(n), COST, &payload(n, size));
        let file = fs::File::open(f.entry(&key(n))).unwrap();
        file.set_modified(hour(n)).unwrap();
    }
    for n in [3, 7] {
        assert!(f.store.get(&key(n)).is_some());
    }
    for n in 40..64 {
        f.store.put(&key(n), COST, &payload(n, size));
        let total: u64 = files(&f.cache()).iter().map(|(_, bytes)| bytes).sum();
        assert!(total <= MAX, "{total} after {n}");
    }
    let there: Vec<u64> = (0..64).filter(|&n| f.entry(&key(n)).exists()).collect();
    assert!(there.starts_with(&[3, 7]), "{there:?}");
    let rest = &there[2..];
    let oldest = rest[0];
    assert!(oldest > 7);
    assert!(rest.iter().copied().eq(oldest..64), "{there:?}");
    assert_eq!(f.stats().disk_evictions, 64 - there.len() as u64);
}

#[rstest]
fn the_bound_is_kept_at_any_size(#[values(0, 1000, 300_000, 5 << 20, 40 << 20)] max_bytes: u64) {
    let f = Fixture::new(max_bytes);
    for n in 0..300 {
        f.store
            .put(&key(n), COST, &payload(n, 1000 + 700 * (n as usize % 37)));
    }
    let found = (0..300).filter(|n| f.store.get(&key(*n)).is_some()).count();
    let total: u64 = if f.cache().exists() {
        files(&f.cache().join("v1"))
            .iter()
            .map(|(_, bytes)| bytes)
            .sum()
    } else {
        0
    };
    assert!(total <= max_bytes, "{total}");
    match max_bytes {
        0 | 1000 => assert_eq!(found, 0),
        300_000 => assert!(found > 3, "{found}"),
        5_242_880 => assert!(found > 100, "{found}"),
        _ => assert_eq!(found, 300),
    }
}

#[test]
fn an_entry_that_is_too_large_for_the_folder_is_not_stored() {
    let f = Fixture::new(1 << 20);
    f.store.put(&key(1), COST, &payload(1, (1 << 20) / 8));
    assert_eq!((f.store.get(&key(1)), f.stats().not_stored), (None, 1));
}

#[test]
fn what_a_dead_writer_left_goes_and_what_a_live_one_writes_stays() {
    let f = Fixture::new(1 << 20);
    f.store.put(&key(1), COST, b"one");
    let shard = f.entry(&key(1)).parent().unwrap().to_owned();
    let (dead, live) = (
        shard.join(format!("{DRAFT}dead")),
        shard.join(format!("{DRAFT}live")),
    );
    for path in [&dead, &live] {
        fs::write(path, "half").unwrap();
    }
    let file = fs::File::options().write(true).open(&dead).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(3600))
        .unwrap();
    // Another process, whose first store counts.
    let other = Store::new(&Disk::at(f.cache()).max_bytes(1 << 20), Arc::default());
    other.put(&key(1), COST, b"one");
    assert!(!dead.exists());
    assert!(live.exists());
}

#[test]
fn a_hit_notes_the_use() {
    let f = Fixture::new(1 << 20);
    f.store.put(&key(1), COST, b"one");
    let entry = f.entry(&key(1));
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    let file = fs::File::open(&entry).unwrap();
    file.set_modified(long_ago).unwrap();
    f.store.get(&key(1)).unwrap();
    assert!(fs::metadata(&entry).unwrap().modified().unwrap() > long_ago);
}
