//! Cubins of real compilers, held against cuobjdump and against what their sources say.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed helper is a failed test"
)]

#[path = "../src/testing/random.rs"]
mod random;

mod cubin {
    mod contents;
    mod damage;
    mod res_usage;
}

use std::path::{Path, PathBuf};

use cuda_program::Cubin;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn path(name: &str) -> PathBuf {
    root().join(format!("fixtures/cubin/{name}.cubin"))
}

fn cubin(name: &str) -> Cubin {
    Cubin::read_from(path(name)).unwrap()
}

/// The names of all of them, in order.
fn names() -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(root().join("fixtures/cubin"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "cubin"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert!(names.len() > 50, "{names:?}");
    names
}
