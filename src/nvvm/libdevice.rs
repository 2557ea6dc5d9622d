//! Which libdevice a program takes, and whether it is one.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::reader::{self, ModuleKind};

/// Where the functions `__nv_*` come from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Libdevice {
    /// The libdevice beside libNVVM, where a module declares an `__nv_*` function that none defines.
    #[default]
    Auto,
    /// The libdevice beside libNVVM, in any case. What nothing uses is not compiled, but the look at
    /// it costs most of a millisecond.
    Always,
    /// None. An `__nv_*` function that no module defines stays an undefined symbol of the result.
    Never,
    /// These bytes (bitcode) in place of the one beside libNVVM, where [`Auto`](Libdevice::Auto)
    /// would take that.
    Bytes(#[serde(with = "crate::artifact::bytes")] Arc<[u8]>),
}

/// Whether these bytes are a libdevice that libNVVM survives: bitcode that can be read to its end,
/// with an `__nv_*` function in it. The error is what is wrong with them.
pub(crate) fn check(bytes: &[u8]) -> Result<(), String> {
    let info = reader::look(bytes).map_err(|e| e.problem)?;
    if info.kind == ModuleKind::Text {
        return Err("it is text, and must be LLVM bitcode".to_owned());
    }
    if !info
        .visible_definitions()
        .any(|symbol| symbol.name.starts_with(b"__nv_"))
    {
        return Err("it defines no `__nv_*` function".to_owned());
    }
    Ok(())
}
