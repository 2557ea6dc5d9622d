//! Texts as the library takes them.

use std::ffi::CString;

use crate::error::{Error, InvalidInput, Result};

pub(super) fn invalid(input: &str, problem: &str, hint: &str) -> Error {
    InvalidInput {
        input: input.to_owned(),
        line: None,
        snippet: None,
        problem: problem.to_owned(),
        hint: hint.to_owned(),
    }
    .into()
}

pub(super) fn text(input: &str, text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| invalid(input, "it holds a NUL byte", "take the NUL byte out"))
}

/// A source or header without the mark that some editors put first, which the library trips over.
pub(super) fn source(input: &str, source: &str) -> Result<CString> {
    text(input, source.strip_prefix('\u{feff}').unwrap_or(source))
}

/// A name that can stand in a line of the output.
pub(super) fn file_name(name: &str) -> Result<CString> {
    let breaks = |c: char| c.is_control() || c == '"' || c == '\\';
    if name.is_empty() || name.contains(breaks) {
        return Err(invalid(
            name,
            "it is empty, or holds a control character, a quote or a backslash",
            "give it a name without them",
        ));
    }
    text(name, name)
}
