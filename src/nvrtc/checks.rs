//! What is looked at before the options become flags.

use std::io::ErrorKind;
use std::path::Path;

use super::extra;
use super::options::Options;
use crate::artifact::{Artifact, Cubin, LtoIr};
use crate::error::{Error, Result};
use crate::options::{check_extra, check_jump_table_density};

/// The assembler starts all the threads it is told at once, and waits for ever where the system gives
/// no more; the library reads more than an `int` holds as none of these.
const MOST_THREADS: u32 = 4096;

/// Refuses options that contradict each other or cannot be; `kind` is the artifact's, and none where
/// nothing is made.
pub(super) fn check(options: &Options, kind: Option<&str>) -> Result<()> {
    let code = &options.code;
    check_jump_table_density("code.jump_table_density", code.jump_table_density)?;
    if options.language.float128 && options.arch < crate::Arch::SM_100 {
        return refuse(
            format!(
                "`language.float128` is there from sm_100 on, not for {}",
                options.arch
            ),
            "compile for sm_100 or newer, or leave it out",
        );
    }
    let for_ptxas = [
        ("max_registers", code.max_registers.is_some()),
        ("ptxas", !code.ptxas.is_empty()),
    ];
    if kind.is_some_and(|kind| kind != Cubin::KIND) {
        if let Some((field, _)) = for_ptxas.iter().find(|(_, set)| *set) {
            return refuse(
                format!("`code.{field}` is for ptxas, which makes cubins alone"),
                "compile to `Cubin`, or give it to the linker instead",
            );
        }
    }
    if code.max_registers == Some(0) {
        return refuse(
            "`code.max_registers` is 0".to_owned(),
            "leave it out, or name a number",
        );
    }
    if code.split_compile.is_some_and(|n| n > MOST_THREADS) {
        return refuse(
            format!(
                "`code.split_compile` is {}, and at most {MOST_THREADS} threads are started",
                code.split_compile.unwrap_or_default()
            ),
            "set it to the threads that the machine has, or to 0 for as many",
        );
    }
    // The library ends the process over a flag of the assembler that is blank.
    if let Some(flag) = code.ptxas.iter().find(|flag| flag.trim().is_empty()) {
        return refuse(
            format!("`code.ptxas` holds {flag:?}"),
            "leave it out, or name a flag",
        );
    }
    if code
        .random_seed
        .as_ref()
        .is_some_and(|s| s.trim().is_empty())
    {
        return refuse(
            "`code.random_seed` is blank".to_owned(),
            "leave it out, or give a text",
        );
    }
    if code.optimised_lto && kind.is_some_and(|kind| kind != LtoIr::KIND) {
        return refuse(
            "`code.optimised_lto` is for LTO IR alone".to_owned(),
            "compile to `LtoIr`, or leave it out",
        );
    }
    if options.debug.numba && !options.debug.full {
        return refuse(
            "`debug.numba` is a form of full debugging information, which is off".to_owned(),
            "set `debug.full` too",
        );
    }
    if options.diagnostics.version_ident == Some(true) {
        return refuse(
            "`diagnostics.version_ident` puts a line into the PTX that no compiler of PTX reads"
                .to_owned(),
            "leave it out; `Library` tells the version of NVRTC",
        );
    }
    if options.diagnostics.max_errors == Some(0) {
        return refuse(
            "`diagnostics.max_errors` is 0".to_owned(),
            "set it to 1 or more",
        );
    }
    check_extra(&options.extra, extra::FLAGS)
}

fn refuse<T>(problem: String, hint: &str) -> Result<T> {
    Err(Error::invalid_options(problem, hint))
}

/// A text that the library would cut at the end of its first line, or take for none.
pub(super) fn line<'a>(field: &str, text: &'a str) -> Result<&'a str> {
    if text.trim().is_empty() {
        return refuse(
            format!("`preprocessor.{field}` holds {text:?}"),
            "leave it out, or give it a name",
        );
    }
    if text.contains(['\n', '\r']) {
        return refuse(
            format!("`preprocessor.{field}` holds {text:?}, which is more than one line"),
            "write it as one line, or put it into a header",
        );
    }
    Ok(text)
}

/// The name of a header that is included first, which the library puts between quotes.
pub(super) fn pre_include(header: &str) -> Result<&str> {
    let header = line("pre_includes", header)?;
    if header.contains(['"', '<', '>']) {
        return refuse(
            format!("`preprocessor.pre_includes` holds {header:?}"),
            "give the name alone, without quotes or angle brackets",
        );
    }
    Ok(header)
}

/// A path that the library takes as it is: it takes blanks off at both ends.
pub(super) fn path<'a>(field: &str, path: &'a Path) -> Result<&'a str> {
    let Some(text) = path.to_str() else {
        return refuse(
            format!("`{field}` is {}, which is no UTF-8", path.display()),
            "give the library a path that is",
        );
    };
    if text.is_empty() || text.trim() != text {
        return refuse(
            format!(
                "`{field}` is {text:?}, and the library takes blanks at the ends of a path off"
            ),
            "give a path that neither begins nor ends with one, and is not empty",
        );
    }
    Ok(text)
}

/// What the library is given for a trace of its time, to which it adds the ending.
pub(super) fn trace_stem(file: &Path) -> Result<&str> {
    let Some(stem) = path("time_trace", file)?.strip_suffix(".json") else {
        return refuse(
            format!(
                "`time_trace` is {}, which does not end in `.json`",
                file.display()
            ),
            "give it that ending, which the library writes",
        );
    };
    path("time_trace", Path::new(stem))?;
    // The library ends the process where it cannot write there.
    check_writable(file)?;
    Ok(stem)
}

/// Sees that the library can write this file without waiting for anyone.
pub(super) fn check_writable(file: &Path) -> Result<()> {
    let there = regular(file)?;
    std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(file)
        .map_err(|e| Error::io("write", file, &e))?;
    if !there {
        let _ = std::fs::remove_file(file);
    }
    Ok(())
}

/// Whether the file is there; a pipe, which could make the library wait for ever, and a device are
/// refused. The system itself refuses folders.
pub(super) fn regular(file: &Path) -> Result<bool> {
    match std::fs::metadata(file) {
        Ok(there) if there.is_file() || there.is_dir() => Ok(true),
        Ok(_) => refuse(
            format!("{} is there and is no file", file.display()),
            "give the name of a file, or one that is not there yet",
        ),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
        Err(e) => Err(Error::io("open", file, &e)),
    }
}
