//! Compiles one small program 10,000 times, good and bad by turns, and shows what the process holds:
//! the resident memory must stay where it was after the first hundred.
//!
//! `cargo run --release --example many_compiles [COUNT]`

use std::time::Instant;

use cuda_program::nvvm::{Options, Program};
use cuda_program::{Arch, LtoIr, Ptx, Toolkit};

const GOOD: &str = include_str!("../fixtures/gelu.ll");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let count: usize = match std::env::args().nth(1) {
        Some(text) => text.parse().map_err(|_| format!("`{text}` is no count"))?,
        None => 10_000,
    };
    let toolkit = Toolkit::discover()?;
    println!("{}", toolkit.nvvm()?.library);
    let start = Instant::now();
    let mut base = 0;
    for n in 0..count {
        let program = Program::new(&toolkit)?;
        program.add_module("gelu.ll", GOOD)?;
        match n % 4 {
            0 => drop(program.compile::<LtoIr>(&Options::new(Arch::SM_90))?),
            1 => {
                program.add_module("bad.ll", "define garbage")?;
                if program.compile::<Ptx>(&Options::new(Arch::SM_90)).is_ok() {
                    return Err("a module that is none compiled".into());
                }
            }
            _ => drop(program.compile::<Ptx>(&Options::new(Arch::SM_90))?),
        }
        if n == 99.min(count / 2) {
            base = resident_kib();
            println!("after {}: {base} KiB", n + 1);
        }
    }
    let end = resident_kib();
    println!(
        "after {count}: {end} KiB, {:+} KiB, in {:.1} s",
        end - base,
        start.elapsed().as_secs_f64()
    );
    Ok(())
}

/// The resident memory of this process in KiB; 0 where the system does not say.
fn resident_kib() -> i64 {
    std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| {
            let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
            line.split_whitespace().nth(1)?.parse().ok()
        })
        .unwrap_or(0)
}
