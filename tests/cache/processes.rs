//! Processes that share one folder, and some that are killed while they write.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use cuda_program::cache::{Cached, Disk};
use cuda_program::compile::{Compiler, Job, Output};
use rstest::rstest;

use super::common::{toolkit, within};
use super::process;
use super::random::Random;
use super::{Counting, Maker, again, files, told};

fn before(folder: &Path, max_bytes: u64) -> Cached<Counting<Maker>> {
    Cached::new(Counting::new(Maker), &toolkit("13.5"))
        .memory(0)
        .disk(&Disk::at(folder).max_bytes(max_bytes))
}

fn succeeds(child: Child) {
    process::check(&child.wait_with_output().unwrap());
}

/// Artifacts of 1 kB to 1 MB, which take from one write to hundreds of pages.
const KILLED: [(usize, usize); 6] = [
    (0, 1000),
    (1, 20_000),
    (2, 70_000),
    (3, 200_000),
    (4, 500_000),
    (5, 1_000_000),
];

/// 1,000 kills are the long proof: `cargo test --features cache-disk --test cache -- --ignored`.
#[rstest]
#[case(100)]
#[ignore = "takes a minute"]
#[case(1000)]
fn writers_that_are_killed_at_any_instant_leave_no_wrong_artifact(#[case] kills: usize) {
    if let Some(folder) = told() {
        return write_until_killed(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut left_behind = BTreeSet::new();
    for _ in 0..kills / 2 {
        // Two at once, so that one may die while the other replaces the same file.
        let mut writers: Vec<Child> = (0..2)
            .map(|_| again(folder.path().to_str().unwrap()).spawn().unwrap())
            .collect();
        for writer in &mut writers {
            wait_for_the_mark(writer);
        }
        for mut writer in writers {
            std::thread::sleep(Duration::from_micros(random.below(3000) as u64));
            writer.kill().unwrap();
            let status = writer.wait().unwrap();
            assert!(!status.success(), "it was killed");
        }
        let drafts = files(folder.path()).into_iter().map(|(path, _)| path);
        left_behind.extend(drafts.filter(|path| is_draft(path)));
        let cached = before(folder.path(), 1 << 30);
        for (n, length) in KILLED {
            let output = cached.compile(&Maker::job(n, length)).unwrap();
            assert_eq!(output, Maker::output(n, length));
        }
        assert_eq!(cached.stats().damaged, 0);
        assert_eq!(cached.stats().problems, [""; 0]);
    }
    // Otherwise no kill had hit a write, and nothing would be shown.
    let hits = left_behind.len();
    assert!(hits > 0, "of {kills} kills");
    println!("{hits} of {kills} kills hit a write");
}

fn is_draft(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with(".draft-"))
}

/// Artifacts that were made before, so that most of a writer's time goes into writing.
struct Ready(Vec<(Job, Output)>);

impl Compiler for Ready {
    fn compile(&self, job: &Job) -> cuda_program::Result<Output> {
        let (_, output) = self.0.iter().find(|(there, _)| there == job).unwrap();
        Ok(output.clone())
    }
}

fn write_until_killed(folder: &Path) {
    let made = |(n, length)| (Maker::job(n, length), Maker::output(n, length));
    let compiler = Ready(KILLED.map(made).to_vec());
    let jobs: Vec<Job> = compiler.0.iter().map(|(job, _)| job.clone()).collect();
    let cached = Cached::new(compiler, &toolkit("13.5"))
        .memory(0)
        .disk(&Disk::at(folder));
    // Where each lies, so that it can be taken away and is written again.
    let paths: Vec<PathBuf> = jobs
        .iter()
        .map(|job| {
            let key = cached.key(job).unwrap();
            let shard = format!("{:02x}", key.as_bytes()[0] >> 2);
            folder.join("v1").join(shard).join(key.to_string())
        })
        .collect();
    std::io::stdout().write_all(b"\x01").unwrap();
    std::io::stdout().flush().unwrap();
    // Ends by itself should nobody kill it.
    for round in 0..100_000 {
        let _ = std::fs::remove_file(&paths[round % jobs.len()]);
        cached.compile(&jobs[round % jobs.len()]).unwrap();
        assert_eq!(cached.stats().problems, [""; 0]);
    }
}

fn wait_for_the_mark(writer: &mut Child) {
    let mut byte = [0];
    let stdout = writer.stdout.as_mut().unwrap();
    while byte[0] != 1 {
        assert_eq!(stdout.read(&mut byte).unwrap(), 1, "the writer ended");
    }
}

const SHARED_BOUND: u64 = 4 << 20;

#[test]
fn eight_processes_with_a_thousand_jobs_each_share_a_folder_within_its_bound() {
    if let Some(told) = told() {
        let (seed, folder) = told.split_once(' ').unwrap();
        return thousand_jobs(seed.parse().unwrap(), Path::new(folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let mut running: Vec<Child> = (1..=8)
        .map(|seed| again(&format!("{seed} {path}")).spawn().unwrap())
        .collect();
    let mut largest = 0;
    within(300, || {
        while running
            .iter_mut()
            .any(|child| child.try_wait().unwrap().is_none())
        {
            let total: u64 = files(folder.path()).iter().map(|(_, bytes)| bytes).sum();
            largest = largest.max(total);
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    running.into_iter().for_each(succeeds);
    assert!(largest <= SHARED_BOUND, "{largest} bytes at some time");
    assert!(largest > SHARED_BOUND / 2, "{largest} bytes at most");
    assert!(!files(folder.path()).iter().any(|(path, _)| is_draft(path)));
}

fn thousand_jobs(seed: u64, folder: &Path) {
    let cached = before(folder, SHARED_BOUND);
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    for _ in 0..1000 {
        // 300 artifacts of 20 kB to 50 kB are twice what the folder holds, and some are asked for
        // more often than others.
        let n = random.below(300).min(random.below(300));
        let length = 20_000 + n * 100;
        let output = cached.compile(&Maker::job(n, length)).unwrap();
        assert_eq!(output, Maker::output(n, length));
    }
    let stats = cached.stats();
    assert_eq!((stats.damaged, stats.not_stored), (0, 0));
    assert_eq!(stats.problems, [""; 0]);
    assert!(
        stats.disk_hits > 100 && stats.disk_evictions > 10,
        "{stats:?}"
    );
    assert_eq!(stats.disk_hits + stats.misses, 1000);
}
