//! How many of the modules that end libNVVM's process the look refuses: sound modules are damaged, and
//! each goes to the plain library and to a program, in processes of their own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
#[path = "../src/testing/mutate.rs"]
mod mutate;
#[path = "../src/testing/process.rs"]
mod process;
#[path = "../src/testing/random.rs"]
mod random;
#[path = "common/raw.rs"]
mod raw;
#[path = "mutations/workers.rs"]
mod workers;

use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::Path;

use common::{NEWEST, calls, store, toolkit};
use cuda_program::nvvm::reader::look;
use cuda_program::nvvm::{Options, Program};
use cuda_program::{Arch, Error, Ptx};
use mutate::{cut, damage, edited, nudged, spliced};
use random::Random;
use workers::Outcome;

const MODULES: u64 = 2000;

/// Modules that the library compiles as they are.
fn sound(arch: Arch, bitcode: bool) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let modern: &[&str] = match (bitcode, arch >= Arch::SM_100) {
        (true, true) => &["bitcode/every.llvm16.bc", "bitcode/every.llvm22.bc"],
        (false, true) => &["text/every.opaque.ll", "text/freeze.ll"],
        _ => &[],
    };
    let files: &[&str] = if bitcode {
        &[
            "bitcode/every.llvm7.bc",
            "bitcode/every.llvm14.bc",
            "bitcode/inline_assembly.llvm14.bc",
            "guards/debug_list.llvm14.bc",
            "guards/pointed.llvm14.bc",
        ]
    } else {
        &[
            "saxpy.ll",
            "gelu.ll",
            "text/every.typed.ll",
            "text/inline_assembly.ll",
            "guards/debug_list.ll",
            "guards/pointed.ll",
        ]
    };
    let mut modules: Vec<Vec<u8>> = files
        .iter()
        .chain(modern)
        .map(|name| std::fs::read(root.join(name)).unwrap_or_else(|e| panic!("{name}: {e}")))
        .collect();
    if !bitcode {
        modules.extend([store("k", 1), calls("k", "__nv_sinf")].map(String::into_bytes));
    }
    modules
}

/// Text and bitcode by turns, each damaged in a way that the number alone decides.
fn mutated(arch: Arch, number: u64) -> Vec<u8> {
    let bitcode = number % 2 == 1;
    let modules = sound(arch, bitcode);
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (number + 1));
    for _ in 0..8 {
        random.below(2);
    }
    let one = &modules[random.below(modules.len())];
    let other = &modules[random.below(modules.len())];
    // Light damage is the one that gets far into the library.
    match random.below(16) {
        0 => spliced(one, other, &mut random),
        1 => cut(one, &mut random).to_vec(),
        2 => damage(one, &mut random),
        _ if bitcode => nudged(one, &mut random),
        _ => edited(one, other, &mut random),
    }
}

/// The task of a worker: what is called, and for which architecture.
fn does(task: &str, number: u64) -> String {
    let (call, arch) = task.split_once(' ').unwrap();
    let arch: Arch = arch.parse().unwrap();
    let module = mutated(arch, number);
    let toolkit = toolkit(NEWEST);
    let flag = CString::new(format!("-arch={}", arch.compute())).unwrap();
    match call {
        "raw-compile" | "raw-verify" => {
            let api = toolkit.nvvm().unwrap().api;
            let function = match call {
                "raw-compile" => api.nvvmCompileProgram,
                _ => api.nvvmVerifyProgram,
            };
            let mut options = vec![flag.as_c_str()];
            if arch < Arch::SM_100 && is_modern(&module) {
                options.push(c"-nvvm-latest");
            }
            raw::nvvm_call(&toolkit, &module, &options, function)
                .0
                .to_string()
        }
        _ => {
            let program = Program::new(&toolkit).unwrap();
            let options = Options::new(arch);
            let made = program.add_module("m", module).and_then(|()| match call {
                "compile" => program.compile::<Ptx>(&options).map(drop),
                _ => program.verify(&options).map(drop),
            });
            match made {
                Ok(()) => "made".to_owned(),
                Err(e @ (Error::InvalidInput(_) | Error::Dialect(_))) => format!("refused: {e}"),
                Err(e) => format!("failed: {e}"),
            }
        }
    }
}

/// Whether a program takes the newer of the two compilers for it, so that both go the same way.
fn is_modern(module: &[u8]) -> bool {
    look(module).is_ok_and(|info| {
        let writer = info.producer.and_then(|producer| producer.version);
        info.modern.is_some() || writer.is_some_and(|(major, ..)| major > 7)
    })
}

/// For a person: how often each pair of ends was seen.
fn counted(raw: &[Outcome], ours: &[Outcome]) -> BTreeMap<(String, String), u64> {
    let mut pairs = BTreeMap::new();
    for (raw, ours) in raw.iter().zip(ours) {
        let raw = match raw {
            Outcome::Said(code) => format!("code {code}"),
            Outcome::Died(how) => how.clone(),
            Outcome::Hung => "no end".to_owned(),
        };
        let ours = match ours {
            Outcome::Said(said) => said.split(':').next().unwrap_or_default().to_owned(),
            Outcome::Died(how) => how.clone(),
            Outcome::Hung => "no end".to_owned(),
        };
        *pairs.entry((raw, ours)).or_default() += 1;
    }
    pairs
}

fn is_fatal(outcome: &Outcome) -> bool {
    !matches!(outcome, Outcome::Said(_))
}

#[test]
#[ignore = "takes minutes: run it with --ignored"]
fn most_damaged_modules_that_end_the_library_are_refused_before() {
    workers::work(does);
    for arch in [Arch::SM_75, Arch::SM_100] {
        for call in ["compile", "verify"] {
            let raw = workers::run(&format!("raw-{call} {arch}"), 0..MODULES);
            let ours = workers::run(&format!("{call} {arch}"), 0..MODULES);
            println!("{call} for {}:", arch.compute());
            for ((raw, ours), count) in counted(&raw, &ours) {
                println!("  {count:5}  {raw:40} {ours}");
            }
            keep(call, arch, &raw, &ours);
            let fatal = raw.iter().filter(|o| is_fatal(o)).count();
            let both = raw.iter().zip(&ours);
            let left = both.filter(|(raw, ours)| is_fatal(raw) && is_fatal(ours));
            let left = left.count();
            println!("  {left} of {fatal} fatal ones are left");
            assert!(fatal > 0 && left * 4 <= fatal, "{left} of {fatal}");
        }
    }
}

/// What is to be looked at: modules that are still fatal, and sound ones that are refused.
fn keep(call: &str, arch: Arch, raw: &[Outcome], ours: &[Outcome]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/mutations");
    std::fs::create_dir_all(&folder).unwrap();
    for (number, (raw, ours)) in (0..).zip(raw.iter().zip(ours)) {
        let why = match (raw, ours) {
            (Outcome::Said(code), Outcome::Said(said))
                if code == "0" && said.starts_with("refused") =>
            {
                println!("  {number} compiles, and is {said}");
                "refused"
            }
            (_, ours) if is_fatal(ours) => {
                println!("  {number} ends the process: {ours:?}");
                "fatal"
            }
            _ => continue,
        };
        let file = folder.join(format!("{why}-{call}-{arch}-{number}"));
        std::fs::write(file, mutated(arch, number)).unwrap();
    }
}
