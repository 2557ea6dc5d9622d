//! What the crate costs over the plain C calls, for the smallest kernel: create, add, compile, fetch.
//!
//! `cargo bench --bench overhead`. Each round does both, one after the other, and the medians' ratio
//! is what counts: the machine may be busy. The C side makes the same calls with the same options
//! through the same function table, with none of the crate's looks and checks.

use std::ffi::{CStr, c_char};
use std::hint::black_box;
use std::time::{Duration, Instant};

use cuda_program::nvvm::{Options, Program};
use cuda_program::sys::Nvvm;
use cuda_program::{Arch, Ptx, Toolkit};

const ROUNDS: usize = 300;
const SAXPY: &str = include_str!("../fixtures/saxpy.ll");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let toolkit = Toolkit::discover()?;
    let nvvm = toolkit.nvvm()?;
    println!("{}, {ROUNDS} rounds of fixtures/saxpy.ll", nvvm.library);
    let options = Options::new(Arch::SM_90);
    let ours = || -> cuda_program::Result<usize> {
        let program = Program::new(&toolkit)?;
        program.add_module("saxpy.ll", SAXPY)?;
        Ok(program.compile::<Ptx>(&options)?.as_bytes().len())
    };
    let plain = || plain_calls(&nvvm.api, SAXPY.as_bytes(), c"-arch=compute_90");
    for _ in 0..20 {
        black_box((ours()?, plain()?));
    }
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        // Who goes first changes, so that neither always finds the caches warm.
        if round % 2 == 0 {
            without.push(timed(|| plain().map(drop))?);
            with.push(timed(|| ours().map(drop))?);
        } else {
            with.push(timed(|| ours().map(drop))?);
            without.push(timed(|| plain().map(drop))?);
        }
    }
    let (with, without) = (spread(with), spread(without));
    println!("plain C calls  {without}");
    println!("this crate     {with}");
    println!("ratio of the medians  {:.3}", with.median / without.median);
    Ok(())
}

fn timed<E>(work: impl FnOnce() -> Result<(), E>) -> Result<Duration, E> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

/// Milliseconds: the median, and the quarter and three-quarter marks.
struct Spread {
    quarter: f64,
    median: f64,
    three_quarters: f64,
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "median {:.3} ms ({:.3} to {:.3})",
            self.median, self.quarter, self.three_quarters
        )
    }
}

fn spread(mut times: Vec<Duration>) -> Spread {
    times.sort();
    let at = |part: usize| times[times.len() * part / 4].as_secs_f64() * 1e3;
    Spread {
        quarter: at(1),
        median: at(2),
        three_quarters: at(3),
    }
}

/// A result code of the library other than success.
#[derive(Debug)]
struct Code(u32);

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "libNVVM returned {}", self.0)
    }
}

impl std::error::Error for Code {}

fn check(code: u32) -> Result<(), Code> {
    if code == 0 { Ok(()) } else { Err(Code(code)) }
}

fn plain_calls(api: &Nvvm, ir: &[u8], arch: &CStr) -> Result<Vec<u8>, Code> {
    let mut options: [*const c_char; 1] = [arch.as_ptr()];
    let mut program = std::ptr::null_mut();
    // SAFETY: a live handle throughout, valid strings, and a buffer of the size asked for.
    unsafe {
        check((api.nvvmCreateProgram)(&mut program))?;
        let name = c"saxpy.ll".as_ptr();
        check((api.nvvmAddModuleToProgram)(
            program,
            ir.as_ptr().cast(),
            ir.len(),
            name,
        ))?;
        check((api.nvvmCompileProgram)(program, 1, options.as_mut_ptr()))?;
        let mut size = 0;
        check((api.nvvmGetCompiledResultSize)(program, &mut size))?;
        let mut ptx = vec![0_u8; size];
        check((api.nvvmGetCompiledResult)(
            program,
            ptx.as_mut_ptr().cast(),
        ))?;
        check((api.nvvmDestroyProgram)(&mut program))?;
        Ok(ptx)
    }
}
