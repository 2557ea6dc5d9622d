//! The line that a message points at.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::message::Diagnostic;

/// The characters of a line that are shown at most; machines write lines of megabytes.
const WIDEST: usize = 160;

/// A line of an input, with the place in it that a message points at.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Snippet {
    /// The line, without its end; of a long one the part around the place, with `…` for the rest.
    pub text: String,
    /// The place in `text`, in characters from 1.
    pub column: Option<u32>,
}

impl Snippet {
    /// A line and a place in it, in characters from 1; a place behind the line's end is none.
    pub(crate) fn new(line: &str, column: Option<u32>) -> Self {
        let length = line.chars().count();
        let place = column
            .and_then(|column| usize::try_from(column).ok())
            .and_then(|column| column.checked_sub(1))
            // One behind the last is where something is missing.
            .filter(|&place| place <= length);
        let first = match place {
            Some(place) if length > WIDEST => place.saturating_sub(WIDEST / 2).min(length - WIDEST),
            _ => 0,
        };
        let mut text = String::new();
        if first > 0 {
            text.push('…');
        }
        // A tab is as wide as the terminal says, and the mark below would stand elsewhere.
        let shown = line.chars().skip(first).take(WIDEST);
        text.extend(shown.map(|c| if c.is_control() { ' ' } else { c }));
        if first + WIDEST < length {
            text.push('…');
        }
        let column = place.map(|place| place - first + usize::from(first > 0) + 1);
        Snippet {
            text,
            column: column.and_then(|column| u32::try_from(column).ok()),
        }
    }

    /// The line with its number before it and a mark below.
    pub(crate) fn shown(&self, line: Option<u32>) -> impl fmt::Display + '_ {
        struct Shown<'a>(&'a Snippet, String);
        impl fmt::Display for Shown<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let Shown(snippet, number) = self;
                write!(f, "  {number} | {}", snippet.text)?;
                if let Some(column) = snippet.column {
                    let before = usize::try_from(column).unwrap_or(1) - 1;
                    write!(f, "\n  {:w$} | {:before$}^", "", "", w = number.len())?;
                }
                Ok(())
            }
        }
        Shown(self, line.map(|line| line.to_string()).unwrap_or_default())
    }
}

/// Gives each message, and each of its notes, the line it points at, where `text_of` has the text of its
/// module and it has none yet.
pub(crate) fn mark<'a>(diagnostics: &mut [Diagnostic], text_of: &dyn Fn(&str) -> Option<&'a [u8]>) {
    for diagnostic in diagnostics {
        mark(&mut diagnostic.notes, text_of);
        let (None, Some(module), Some(line)) =
            (&diagnostic.snippet, &diagnostic.module, diagnostic.line)
        else {
            continue;
        };
        diagnostic.snippet =
            text_of(module).and_then(|text| of_line(text, line, diagnostic.column));
    }
}

/// A line of a text (from 1), with a place in it.
pub(crate) fn of_line(text: &[u8], line: u32, column: Option<u32>) -> Option<Snippet> {
    let number = usize::try_from(line).ok()?.checked_sub(1)?;
    let line = text.split(|&byte| byte == b'\n').nth(number)?;
    let line = String::from_utf8_lossy(line);
    let line = line.trim_end_matches('\r');
    (!line.trim().is_empty()).then(|| Snippet::new(line, column))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Severity;
    use rstest::rstest;

    #[test]
    fn the_place_is_marked_below_the_line() {
        let mut said = Diagnostic::new(Severity::Error, "expected type")
            .in_module("a.ll")
            .at_line(2);
        said.column = Some(5);
        let mut said = [said];
        mark(&mut said, &|name| {
            (name == "a.ll").then_some(b"x\n\t%1 = ptr\r\n".as_slice())
        });
        insta::assert_snapshot!(format!("{:#}", said[0]), @r"
        error: a.ll:2:5: expected type
          2 |  %1 = ptr
            |     ^
        ");
    }

    #[rstest]
    #[case::no_such_line(b"one", 2)]
    #[case::line_zero(b"one", 0)]
    #[case::empty(b"\n\n", 1)]
    fn where_there_is_no_line_there_is_no_snippet(#[case] text: &[u8], #[case] line: u32) {
        assert_eq!(of_line(text, line, None), None);
    }

    #[rstest]
    #[case::first(1, Some(1))]
    #[case::in_the_middle(501, Some(82))]
    #[case::last(1000, Some(161))]
    #[case::behind(5000, None)]
    fn of_a_long_line_the_part_around_the_place_is_shown(
        #[case] column: u32,
        #[case] expected: Option<u32>,
    ) {
        let mut line = vec!['a'; 1000];
        if let Some(c) = line.get_mut(column as usize - 1) {
            *c = 'x';
        }
        let line: String = line.into_iter().collect();
        let snippet = Snippet::new(&line, Some(column));
        assert_eq!(snippet.column, expected);
        assert!(snippet.text.chars().count() <= WIDEST + 2);
        if let Some(column) = expected {
            let marked = snippet.text.chars().nth(column as usize - 1);
            assert_eq!(marked, Some('x'));
        }
    }
}
