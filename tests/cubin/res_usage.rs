//! The reference: `cuobjdump -res-usage`.

use std::collections::BTreeMap;
use std::process::Command;

use crate::{cubin, names, path, root};

const TOOL: &str = "target/tools/cuobjdump/13.5.37/nvidia/cu13/bin/cuobjdump";

type Numbers = BTreeMap<String, u64>;

/// What cuobjdump says of each function.
fn res_usage(name: &str) -> BTreeMap<String, Numbers> {
    let output = Command::new(root().join(TOOL))
        .arg("-res-usage")
        .arg(path(name))
        .output()
        .unwrap_or_else(|e| panic!("cannot run {TOOL} ({e}): install it with `cargo xtask test`"));
    assert!(output.status.success(), "{name}: {output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let mut functions = BTreeMap::new();
    let mut lines = text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if let Some(function) = line.strip_prefix("Function ") {
            let numbers = lines.next().unwrap().split(' ').map(|pair| {
                let (key, value) = pair.split_once(':').unwrap();
                (key.to_owned(), value.parse().unwrap())
            });
            functions.insert(function.trim_end_matches(':').to_owned(), numbers.collect());
        }
    }
    functions
}

#[test]
fn every_kernel_needs_what_cuobjdump_says() {
    let mut compared = 0;
    for name in names() {
        let cubin = cubin(&name);
        let said = res_usage(&name);
        let functions = cubin.functions().iter().map(|f| &f.name);
        let mut all: Vec<_> = cubin
            .kernels()
            .iter()
            .map(|k| &k.name)
            .chain(functions)
            .collect();
        all.sort();
        assert_eq!(all, said.keys().collect::<Vec<_>>(), "{name}");
        for kernel in cubin.kernels() {
            let said = &said[&kernel.name];
            let number = |key: &str| said.get(key).copied().unwrap_or(0);
            // A linked kernel with a section for shared memory has 1,024 bytes more in it.
            let reserved = match number("SHARED") {
                0 => 0,
                _ if cubin.is_relocatable() || cubin.arch().number() < 90 => 0,
                _ => 1024,
            };
            let read = [
                ("REG", u64::from(kernel.registers)),
                ("SHARED", kernel.shared_bytes + reserved),
                ("STACK", u64::from(kernel.stack_bytes)),
                ("LOCAL", kernel.local_bytes),
                ("CONSTANT[0]", kernel.constant_bytes),
            ];
            for (key, value) in read {
                assert_eq!(value, number(key), "{key} of {} in {name}", kernel.name);
            }
            compared += 1;
        }
    }
    assert!(compared > 80, "{compared}");
}
