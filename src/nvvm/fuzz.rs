//! All that is done with a module on this side of the library, on modules that were damaged.
//!
//! The library is the fake: the reader, the repairs, the checks and what leads to the call are real.

#![allow(clippy::unwrap_used)] // Clippy looks for `#[test]` alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::fake;
use crate::nvvm::{Options, Repair};
use crate::testing::mutate::{cut, damage, edited, spliced};
use crate::testing::random::Random;
use crate::{Arch, Error, LtoIr, Ptx};

/// How long one module may take, the time that a busy machine takes away included.
const LIMIT: Duration = Duration::from_secs(10);

fn fixtures() -> Vec<Vec<u8>> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut files: Vec<_> = ["", "bitcode", "text", "guards"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "ll" || e == "bc"))
        .collect();
    files.sort();
    let files: Vec<_> = files.iter().map(|f| std::fs::read(f).unwrap()).collect();
    assert!(files.len() > 30);
    files
}

fn mutated(files: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let (one, other) = (
        &files[random.below(files.len())],
        &files[random.below(files.len())],
    );
    match random.below(6) {
        0 | 1 => damage(one, random),
        2 => spliced(one, other, random),
        3 => cut(one, random).to_vec(),
        _ if one.starts_with(b"BC") => damage(one, random),
        _ => edited(one, other, random),
    }
}

/// Whether the module reached the library.
fn look_at(bytes: &[u8], random: &mut Random) -> bool {
    let program = fake::empty();
    let lazy = random.below(8) == 0;
    let added = if lazy {
        program.add_lazy_module("m", bytes)
    } else {
        program.add_module("m", bytes)
    };
    if let Err(error) = added {
        assert!(matches!(error, Error::InvalidInput(_)), "{error}");
        return false;
    }
    if lazy {
        program.add_module("k", files_of_one()).unwrap();
    }
    let arch = [Arch::SM_75, Arch::SM_90, Arch::SM_100][random.below(3)];
    let repair = [Repair::Off, Repair::Safe][random.below(2)];
    let options = Options::new(arch)
        .repair(repair)
        .debug(random.below(4) == 0);
    let before = fake::with(|fake| fake.compiled);
    // The fake makes the same of all, so what comes of it is mostly wrong.
    let _ = if random.below(4) == 0 {
        program.compile::<LtoIr>(&options).map(drop)
    } else {
        program.compile::<Ptx>(&options).map(drop)
    };
    fake::with(|fake| fake.compiled) > before
}

fn files_of_one() -> &'static [u8] {
    include_bytes!("../../fixtures/saxpy.ll")
}

/// Damages modules for so long, or so many of them; the seed tells what each was.
fn run(seconds: u64, modules: u64) -> (u64, u64) {
    let at_work = Arc::new(AtomicU64::new(1));
    // A walk that never ends is told from outside.
    let watched = Arc::downgrade(&at_work);
    std::thread::spawn(move || {
        let mut last = 0;
        while let Some(now) = watched.upgrade().map(|at| at.load(Ordering::Relaxed)) {
            if now == last {
                eprintln!("module {now} is not done after {LIMIT:?}");
                std::process::abort();
            }
            last = now;
            std::thread::sleep(LIMIT);
        }
    });
    fake::with(|fake| fake.takes_anything = true);
    let files = fixtures();
    let begun = Instant::now();
    let (mut done, mut passed) = (0, 0);
    while done < modules && begun.elapsed().as_secs() < seconds {
        done += 1;
        at_work.store(done, Ordering::Relaxed);
        let mut random = Random(0x2545_f491_4f6c_dd1d ^ done);
        let bytes = mutated(&files, &mut random);
        let start = Instant::now();
        passed += u64::from(look_at(&bytes, &mut random));
        assert!(start.elapsed() < LIMIT, "module {done} took too long");
        // The handles of the fake are kept as long as it is.
        if done % 1000 == 0 {
            fake::with(|fake| fake.programs.clear());
        }
    }
    (done, passed)
}

#[test]
fn damaged_modules_end_in_a_refusal_or_at_the_library() {
    let (done, passed) = run(60, 2000);
    assert!(passed > 0 && passed < done, "{passed} of {done}");
}

/// The long proof; `CUDA_PROGRAM_FUZZ_SECONDS` says how long, five minutes by default.
#[test]
#[ignore = "takes minutes: run it with --ignored, best in a release build"]
fn damaged_modules_never_panic_and_always_end() {
    let seconds = std::env::var("CUDA_PROGRAM_FUZZ_SECONDS");
    let seconds = seconds.map_or(300, |s| s.parse().unwrap());
    let (done, passed) = run(seconds, u64::MAX);
    println!("{done} damaged modules, of which {passed} reached the library");
    assert!(passed > 0 && passed < done, "{passed} of {done}");
}
