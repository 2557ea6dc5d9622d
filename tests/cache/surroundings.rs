use cuda_program::cache::{Cached, Disk};
use cuda_program::compile::Compiler;

use super::common::toolkit;
use super::{Counting, Maker, again, told};

fn before(disk: &Disk) -> Cached<Counting<Maker>> {
    Cached::new(Counting::new(Maker), &toolkit("13.5"))
        .memory(0)
        .disk(disk)
}

/// A limit on the size of files stands for a disk that is full: in both, the system takes a part of
/// what is written and no more.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_miss_and_leaves_nothing_half() {
    let Some(folder) = told() else {
        let folder = tempfile::tempdir().unwrap();
        let run = again(folder.path().to_str().unwrap()).output().unwrap();
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success() && said.contains("1 passed"), "{run:?}");
        return;
    };
    let disk = Disk::at(&folder);
    let small = before(&disk).compile(&Maker::job(1, 1000)).unwrap();
    // SAFETY: the process belongs to this test; ignored, the signal becomes an error of the write.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        let limit = libc::rlimit {
            rlim_cur: 8192,
            rlim_max: 8192,
        };
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &limit), 0);
    }
    let cached = before(&disk);
    for _ in 0..3 {
        let output = cached.compile(&Maker::job(2, 50_000)).unwrap();
        assert_eq!(output, Maker::output(2, 50_000));
    }
    assert_eq!(cached.compile(&Maker::job(1, 1000)).unwrap(), small);
    let stats = cached.stats();
    assert_eq!((stats.misses, stats.not_stored, stats.disk_hits), (3, 3, 1));
    assert_eq!((stats.damaged, stats.problems.len()), (0, 1));
    assert_eq!(
        super::files(&std::path::Path::new(&folder).join("v1")).len(),
        1
    );
}

/// As root: `cargo test --features cache-disk --test cache -- --ignored full_file_system`.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs the right to mount a file system"]
fn a_full_file_system_is_a_miss_and_what_fits_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let mount = |command: &str, arguments: &[&str]| {
        let mut command = std::process::Command::new(command);
        command.args(arguments).arg(folder.path());
        assert!(command.status().unwrap().success(), "{command:?}");
    };
    mount(
        "mount",
        &["-t", "tmpfs", "-o", "size=512k,mode=700", "tmpfs"],
    );
    let disk = Disk::at(folder.path().join("cache"));
    // Checked once nothing is mounted any more.
    let (mut stats, mut wrong) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let cached = before(&disk);
        for n in 0..40 {
            if cached.compile(&Maker::job(n, 30_000)) != Ok(Maker::output(n, 30_000)) {
                wrong.push(n);
            }
        }
        stats.push(cached.stats());
    }
    mount("umount", &[]);
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(stats[0].not_stored > 20, "{stats:?}");
    assert!(stats[1].disk_hits > 5, "{stats:?}");
    assert!(
        stats
            .iter()
            .all(|s| s.damaged == 0 && s.problems.len() == 1)
    );
    assert!(
        stats[0].problems[0].contains("no storage space"),
        "{stats:?}"
    );
}

#[test]
fn a_folder_that_cannot_be_made_is_a_miss_with_one_warning() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let cached = before(&Disk::at(file.join("cache")));
    for n in 0..5 {
        let output = cached.compile(&Maker::job(n, 100)).unwrap();
        assert_eq!(output, Maker::output(n, 100));
    }
    let stats = cached.stats();
    assert_eq!((stats.misses, stats.not_stored), (5, 5));
    let writes = stats.problems.iter().filter(|p| p.contains("written"));
    assert_eq!(writes.count(), 1, "{:?}", stats.problems);
}

#[test]
fn memory_keeps_its_bound() {
    let cached = Cached::new(Counting::new(Maker), &toolkit("13.5")).memory(100_000);
    for n in 0..200 {
        cached.compile(&Maker::job(n, 5000)).unwrap();
        assert!(cached.stats().memory_bytes <= 100_000);
    }
    let stats = cached.stats();
    assert!(stats.memory_bytes > 50_000, "{stats:?}");
    assert!(stats.memory_evictions >= 180, "{stats:?}");
}
