//! What the tests on the real libraries share.
#![allow(dead_code)]

use std::path::PathBuf;

use cuda_program::Toolkit;

/// The newest toolkit that the tests run with.
pub const NEWEST: &str = "13.5";

/// A toolkit that `cargo xtask toolkit` installed.
pub fn toolkit(version: &str) -> Toolkit {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("target/toolkits")
        .join(version);
    Toolkit::at(&root)
        .unwrap_or_else(|e| panic!("install it with `cargo xtask toolkit {version}`: {e}"))
}

/// The first lines of a module for libNVVM.
pub const TARGET: &str = "\
target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64\"
target triple = \"nvptx64-nvidia-cuda\"
";

/// The last lines of a module with these kernels (typed-pointer function types and names).
pub fn ending(kernels: &[(&str, &str)]) -> String {
    let mut text = String::from("!nvvmir.version = !{!99}\n!99 = !{i32 2, i32 0}\n");
    let nodes: Vec<String> = (0..kernels.len()).map(|n| format!("!{n}")).collect();
    if !nodes.is_empty() {
        text.push_str(&format!("!nvvm.annotations = !{{{}}}\n", nodes.join(", ")));
    }
    for (n, (ty, name)) in kernels.iter().enumerate() {
        text.push_str(&format!("!{n} = !{{{ty} @{name}, !\"kernel\", i32 1}}\n"));
    }
    text
}

/// A kernel that stores `value` to its argument, in the spelling of LLVM 7.
pub fn store(name: &str, value: i32) -> String {
    format!(
        "{TARGET}define void @{name}(i32* %p) {{
  store i32 {value}, i32* %p
  ret void
}}
{}",
        ending(&[("void (i32*)*", name)])
    )
}

/// A kernel that calls one `__nv_*` function of a float.
pub fn calls(kernel: &str, function: &str) -> String {
    format!(
        "{TARGET}declare float @{function}(float)
define void @{kernel}(float* %p) {{
  %x = load float, float* %p
  %y = call float @{function}(float %x)
  store float %y, float* %p
  ret void
}}
{}",
        ending(&[("void (float*)*", kernel)])
    )
}

/// Ends the process when `test` is not done after `seconds`: a hang must not look like a slow test.
pub fn within<R>(seconds: u64, test: impl FnOnce() -> R) -> R {
    let (done, watched) = std::sync::mpsc::channel::<()>();
    let watchdog = std::thread::spawn(move || {
        use std::sync::mpsc::RecvTimeoutError;
        let limit = std::time::Duration::from_secs(seconds);
        if watched.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            eprintln!("not done after {seconds} s");
            std::process::abort();
        }
    });
    let result = test();
    drop(done);
    watchdog.join().expect("the watchdog does not panic");
    result
}

/// What the process has in memory.
#[cfg(target_os = "linux")]
pub fn resident_kib() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
