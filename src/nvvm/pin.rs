//! Keeping kernels alive through a link of LTO IR.
//!
//! nvJitLink drops the kernels of libNVVM's LTO IR without a word when it links LTO IR: nothing
//! refers to them. `@llvm.used` is what refers to them, and a small module of its own that declares
//! the functions and lists them there does it without touching the user's modules.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::modules::LAYOUT;

/// The name under which the module of pins is added.
pub(super) const NAME: &std::ffi::CStr = c"cuda-program pins";

/// The module that pins `names`, which must not be empty.
///
/// The spelling is that of LLVM 7, which both of libNVVM's compilers read. The declared type is of no
/// matter: the IR linker takes the definition's.
pub(super) fn module(names: &BTreeSet<Vec<u8>>) -> String {
    let mut module =
        format!("target datalayout = \"{LAYOUT}\"\ntarget triple = \"nvptx64-nvidia-cuda\"\n");
    let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    for name in &names {
        // Writing to a string does not fail.
        let _ = writeln!(module, "declare void {name}()");
    }
    let used: Vec<String> = names
        .iter()
        .map(|name| format!("i8* bitcast (void ()* {name} to i8*)"))
        .collect();
    let _ = writeln!(
        module,
        "@llvm.used = appending global [{} x i8*] [{}], section \"llvm.metadata\"",
        used.len(),
        used.join(", ")
    );
    module.push_str("!nvvmir.version = !{!0}\n!0 = !{i32 2, i32 0}\n");
    module
}

/// `@"name"`, with every byte that needs it escaped.
fn quoted(name: &[u8]) -> String {
    let mut quoted = String::from("@\"");
    for &byte in name {
        if (byte.is_ascii_graphic() || byte == b' ') && byte != b'"' && byte != b'\\' {
            quoted.push(char::from(byte));
        } else {
            let _ = write!(quoted, "\\{byte:02X}");
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_any_bytes_is_escaped() {
        assert_eq!(quoted(b"a \"b\\\x01\xff"), r#"@"a \22b\5C\01\FF""#);
    }

    #[test]
    fn the_module_declares_and_uses_each_name() {
        let names = [b"k".to_vec(), b"m".to_vec()].into();
        insta::assert_snapshot!(module(&names), @r#"
        target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
        target triple = "nvptx64-nvidia-cuda"
        declare void @"k"()
        declare void @"m"()
        @llvm.used = appending global [2 x i8*] [i8* bitcast (void ()* @"k" to i8*), i8* bitcast (void ()* @"m" to i8*)], section "llvm.metadata"
        !nvvmir.version = !{!0}
        !0 = !{i32 2, i32 0}
        "#);
    }
}
