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

/// There is nothing of this name to take back.
pub(super) fn absent<'a>(what: &str, name: &str, there: impl Iterator<Item = &'a str>) -> Error {
    let there: Vec<&str> = there.collect();
    let hint = match there.as_slice() {
        [] => "it has none at all".to_owned(),
        there => format!("it has {}", there.join(", ")),
    };
    invalid(
        name,
        &format!("the program has no {what} of this name"),
        &hint,
    )
}

pub(super) fn text(input: &str, text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| invalid(input, "it holds a NUL byte", "take the NUL byte out"))
}

/// The deepest nesting of brackets that NVRTC was seen to survive on the stack that it is given.
const DEEPEST: usize = 20_000;

/// The line where brackets nest deeper than the library survives. Strings and comments do not count.
fn nests_too_deep(source: &str) -> Option<u32> {
    let bytes = source.as_bytes();
    let (mut at, mut line, mut depth) = (0, 1_u32, 0_usize);
    while let Some(&byte) = bytes.get(at) {
        let rest = bytes.get(at..).unwrap_or_default();
        let length = match byte {
            // The blank of digits, as in `1'000'000`, which opens nothing.
            b'\'' if is_in_digits(bytes, at) => Some(1),
            b'"' | b'\'' => literal(rest),
            b'/' if rest.starts_with(b"//") => rest.iter().position(|&b| b == b'\n'),
            b'/' if rest.starts_with(b"/*") => rest
                .windows(2)
                .skip(2)
                .position(|two| two == b"*/")
                .map(|end| end + 4),
            b'(' | b'[' | b'{' => {
                depth += 1;
                if depth > DEEPEST {
                    return Some(line);
                }
                Some(1)
            }
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                Some(1)
            }
            _ => Some(1),
        };
        // What is never closed goes to the end.
        let length = length.unwrap_or(rest.len());
        let passed = rest.get(..length).unwrap_or_default();
        let lines = passed.iter().filter(|&&b| b == b'\n').count();
        line = line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        at += length;
    }
    None
}

/// Whether a quote stands between the digits of one number.
fn is_in_digits(bytes: &[u8], at: usize) -> bool {
    let word = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'\'' | b'.');
    let before = bytes.get(..at).unwrap_or_default();
    let length = before.iter().rev().take_while(word).count();
    let number = before.get(at - length..).unwrap_or_default();
    number.first().is_some_and(u8::is_ascii_digit)
        && bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric)
}

/// The length of a literal with its quotes; one that its line does not close is a quote alone, as in the
/// digits of `1'000`.
fn literal(rest: &[u8]) -> Option<usize> {
    let quote = rest.first().copied()?;
    let mut escaped = false;
    for (at, &byte) in rest.iter().enumerate().skip(1) {
        match byte {
            b'\n' => break,
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            _ if byte == quote => return Some(at + 1),
            _ => {}
        }
    }
    Some(1)
}

/// A source or header without the mark that some editors put first, which the library trips over.
pub(super) fn source(input: &str, source: &str) -> Result<CString> {
    if let Some(line) = nests_too_deep(source) {
        return Err(InvalidInput {
            input: input.to_owned(),
            line: Some(line),
            snippet: None,
            problem: format!(
                "brackets nest deeper than {DEEPEST} here, at which NVRTC would end the process"
            ),
            hint: "break the expression up with variables".to_owned(),
        }
        .into());
    }
    text(input, source.strip_prefix('\u{feff}').unwrap_or(source))
}

/// A name that can stand in a line of the output.
pub(super) fn file_name(name: &str) -> Result<CString> {
    let breaks = |c: char| c.is_control() || c == '"' || c == '\\';
    if name.is_empty() || name.contains(breaks) {
        return Err(invalid(
            &format!("the name {name:?}"),
            "it is empty, or holds a control character, a quote or a backslash",
            "give it a name without them",
        ));
    }
    text(name, name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::deep(format!("\n\n{}", "(".repeat(DEEPEST + 1)), Some(3))]
    #[case::deepest("[{(".repeat(DEEPEST / 3), None)]
    #[case::closed("()".repeat(DEEPEST * 2), None)]
    #[case::in_strings(format!("\"{}\"", "(".repeat(DEEPEST * 2)), None)]
    #[case::in_comments(format!("/*{0}*/ //{0}", "(".repeat(DEEPEST * 2)), None)]
    #[case::behind_a_comment(format!("/*\n*/{}", "(".repeat(DEEPEST * 2)), Some(2))]
    #[case::behind_digits(format!("1'000 {}", "{".repeat(DEEPEST * 2)), Some(1))]
    #[case::between_digits(format!("1'000 + {} 1'000", "{".repeat(DEEPEST * 2)), Some(1))]
    #[case::behind_a_marked_letter(format!("u8'(' + 0x1'f {}", "{".repeat(DEEPEST * 2)), Some(1))]
    #[case::in_a_letter(format!("f({}'{{')", "u8'[', ".repeat(DEEPEST * 2)), None)]
    #[case::behind_an_escape(format!("\"\\\"\"{}", "(".repeat(DEEPEST * 2)), Some(1))]
    fn brackets_nest_as_deep_as_the_library_survives(
        #[case] source: String,
        #[case] line: Option<u32>,
    ) {
        assert_eq!(nests_too_deep(&source), line);
    }
}
