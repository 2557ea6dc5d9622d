//! What goes into the bundle.

use serde::Deserialize;

/// The programs, as arguments of cargo; those that need a GPU, and the bench beside them.
pub const PROGRAMS: [&str; 12] = [
    "--test",
    "gpu",
    "--example",
    "saxpy",
    "--example",
    "concurrent_first_call",
    "--example",
    "link_cpp",
    "--bench",
    "gpu_load",
    "--bench",
    "lazy_get",
];

/// What the programs open of a toolkit of CUDA 13, below its folder `nvidia/cu13`. NVRTC stays: it
/// would be a third of all, and the tests that use it are ignored where it is not found.
pub const LIBRARIES: [&str; 3] = [
    "lib/libnvvm.so.4",
    "lib/libnvJitLink.so.13",
    "nvvm/libdevice/libdevice.10.bc",
];

/// What runs there.
pub const RUN: &str = include_str!("run.sh");

/// Packs the files that follow, below the folder `argv[2]`, into `argv[1]`.
pub const PACK: &str = include_str!("pack.py");

/// The most bytes that travel.
pub const LIMIT: u64 = 60_000_000;

/// A program that cargo built.
#[derive(Debug, PartialEq)]
pub struct Program {
    /// Its file name in the bundle: what it is, then its name.
    pub name: String,
    /// Where cargo put it.
    pub path: String,
}

#[derive(Deserialize)]
struct Message {
    target: Target,
    executable: Option<String>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
    name: String,
}

/// The programs in what cargo writes with `--message-format=json`.
pub fn programs(messages: &str) -> Vec<Program> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Message>(line).ok())
        .filter_map(|message| {
            let kind = message.target.kind.into_iter().next()?;
            Some(Program {
                name: format!("{kind}-{}", message.target.name),
                path: message.executable?,
            })
        })
        .collect()
}

/// Bytes as people read them.
pub fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_are_found_among_what_cargo_says() {
        let said = r#"{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"a"},"executable":null}
not json
{"reason":"compiler-artifact","target":{"kind":["test"],"name":"gpu"},"executable":"/t/gpu-1"}
{"reason":"compiler-artifact","target":{"kind":["example"],"name":"saxpy"},"executable":"/t/saxpy"}
{"reason":"build-finished","success":true}"#;
        let found: Vec<_> = programs(said)
            .into_iter()
            .map(|p| (p.name, p.path))
            .collect();
        let expected = [("test-gpu", "/t/gpu-1"), ("example-saxpy", "/t/saxpy")];
        assert_eq!(found, expected.map(|(n, p)| (n.to_owned(), p.to_owned())));
    }
}
