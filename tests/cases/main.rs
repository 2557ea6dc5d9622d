//! What users of these libraries were hurt by: each kind through the public API, on the real library.
//!
//! Whatever the library does with an input, its user gets a right result, or an error that says what to
//! do. The files beside this one go into each kind in breadth; here stands one test a kind, so that
//! none is lost.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[path = "../../src/testing/locale.rs"]
mod locale;
#[path = "../../src/testing/process.rs"]
mod process;
#[path = "../common/raw.rs"]
mod raw;

mod cpp;
mod damage;
mod dialects;
mod libdevice;
mod links;
mod modules;
mod surroundings;

use std::path::Path;

use common::toolkit;
use cuda_program::nvvm::{Options, Program};
use cuda_program::{Arch, Diagnostic, Error, Ptx, Result};

fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// A folder like that of a toolkit, with one library in it and nothing beside.
fn alone(library: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let place = folder.path().join("nvidia/cu13/lib");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::hard_link(library, place.join(library.file_name().unwrap())).unwrap();
    folder
}

/// Compiles modules; each is verified before and after, which may say anything and must come back.
fn compile(version: &str, modules: &[impl AsRef<[u8]>], options: &Options) -> Result<Ptx> {
    let program = Program::new(&toolkit(version)).unwrap();
    for (n, module) in modules.iter().enumerate() {
        program.add_module(format!("m{n}"), module)?;
    }
    let before = program.verify(options);
    let made = program.compile(options);
    let after = program.verify(options);
    // The library's own messages name files that it makes anew.
    assert_eq!(before.is_ok(), after.is_ok());
    if let Err(error @ Error::InvalidInput(_)) = &made {
        assert_eq!(before.as_ref().unwrap_err(), error);
    }
    made
}

/// What an error says that a person can act on.
fn refusal(version: &str, module: impl AsRef<[u8]>, options: &Options) -> String {
    let error = compile(version, &[module], options).unwrap_err();
    assert!(matches!(error, Error::InvalidInput(_)), "{error}");
    error.to_string()
}

fn messages(diagnostics: &[Diagnostic]) -> String {
    let all: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
    all.join("\n")
}

/// The two ways a module can take in the newest library.
const BOTH: [Arch; 2] = [Arch::SM_75, Arch::SM_100];
