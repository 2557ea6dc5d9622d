//! A bitcode file: its wrapper, and what its blocks add up to.

use super::super::info::ModuleInfo;
use super::super::kind::WRAPPER_MAGIC;
use super::super::look::LookError;
use super::module::Module;
use super::stream::walk;
use crate::bytes::u32_at;

const WHOLE_COPY: &str = "write the file again, or fetch a whole copy of it";

pub(in super::super) fn read(bytes: &[u8]) -> Result<ModuleInfo, LookError> {
    let bytes = unwrapped(bytes)?;
    if bytes.len() % 4 != 0 {
        return Err(LookError::new(
            "bitcode ends in the middle of a word of four bytes",
            WHOLE_COPY,
        ));
    }
    let mut module = Module::default();
    walk(bytes, &mut module)?;
    module.finish(bytes.len())
}

/// The bitcode inside a wrapper, or all of the bytes where there is none.
fn unwrapped(bytes: &[u8]) -> Result<&[u8], LookError> {
    if !bytes.starts_with(&WRAPPER_MAGIC) {
        return Ok(bytes);
    }
    let field = |at: usize| usize::try_from(u32_at(bytes, at)?).ok();
    let inside = match (field(8), field(12), field(16)) {
        (Some(offset), Some(size), Some(_)) => offset
            .checked_add(size)
            .and_then(|end| bytes.get(offset..end)),
        _ => None,
    };
    let inside = inside.ok_or_else(|| {
        LookError::new(
            "bitcode ends in the middle of what its wrapper says it holds",
            WHOLE_COPY,
        )
    })?;
    if inside.starts_with(&super::super::kind::BITCODE_MAGIC) {
        Ok(inside)
    } else {
        Err(LookError::new(
            "the wrapper holds no bitcode",
            "wrap the bitcode again, or give it without a wrapper",
        ))
    }
}
