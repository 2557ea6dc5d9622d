//! PTX as words.

use super::model::Refusal;

/// What a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A dot and a word: `.entry`, `.b8`.
    Directive,
    /// A name: `saxpy`, `%r1`, `$L__BB0_1`.
    Name,
    /// A number: `9.5`, `0x10`, `0f3F800000`.
    Number,
    /// A string, with its quotes.
    String,
    /// Any other single character.
    Mark,
    /// The end of the text.
    End,
}

/// A word of the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    /// Where it begins, in bytes.
    pub start: usize,
    /// From 1.
    pub line: u32,
}

impl Token<'_> {
    pub fn is(&self, kind: Kind, text: &str) -> bool {
        self.kind == kind && self.text == text
    }

    pub fn is_mark(&self, mark: &str) -> bool {
        self.is(Kind::Mark, mark)
    }
}

pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

const HINT: &str = "give PTX as a compiler wrote it";

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Self {
        Lexer {
            text,
            at: 0,
            line: 1,
        }
    }

    pub fn next(&mut self) -> Result<Token<'a>, Refusal> {
        self.skip_blank()?;
        let (start, line) = (self.at, self.line);
        let rest = self.rest();
        let (kind, length) = match rest {
            [] => (Kind::End, 0),
            [b'"', inside @ ..] => (Kind::String, self.string_length(inside)?),
            [b'.', word @ ..] if word.first().is_some_and(|b| is_word(*b)) => {
                (Kind::Directive, 1 + run(word, is_word))
            }
            [b'0'..=b'9', ..] => (Kind::Number, number_length(rest)),
            // `_` alone stands for a result that nobody wants; `%` and `$` alone are no names.
            [b'a'..=b'z' | b'A'..=b'Z' | b'_', ..] => (Kind::Name, run(rest, is_word)),
            [b'%' | b'$', word @ ..] if word.first().is_some_and(|b| is_word(*b)) => {
                (Kind::Name, 1 + run(word, is_word))
            }
            [0, ..] => return Err(self.refuse("there is a NUL byte here, inside the text")),
            [b, ..] if b.is_ascii() => (Kind::Mark, 1),
            _ => return Err(self.refuse("PTX allows ASCII alone outside comments and strings")),
        };
        self.at += length;
        if kind == Kind::String {
            self.line = self.line.saturating_add(newlines(rest, length));
        }
        Ok(Token {
            kind,
            text: self.text.get(start..start + length).unwrap_or_default(),
            start,
            line,
        })
    }

    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn refuse(&self, problem: &str) -> Refusal {
        Refusal {
            line: self.line,
            problem: problem.to_owned(),
            hint: HINT.to_owned(),
        }
    }

    /// Steps over blanks, comments, and lines that a C preprocessor left.
    fn skip_blank(&mut self) -> Result<(), Refusal> {
        loop {
            let rest = self.rest();
            let length = match rest {
                [b' ' | b'\t' | b'\r' | b'\n', ..] => {
                    run(rest, |b| matches!(b, b' ' | b'\t' | b'\r' | b'\n'))
                }
                [b'/', b'/', ..] => run(rest, |b| b != b'\n'),
                [b'#', ..] if self.begins_line() => run(rest, |b| b != b'\n'),
                [b'/', b'*', inside @ ..] => match inside.windows(2).position(|w| w == b"*/") {
                    Some(length) => length + 4,
                    None => return Err(self.refuse("a comment begins here and never ends")),
                },
                _ => return Ok(()),
            };
            let skipped = rest.get(..length).unwrap_or_default();
            if skipped.contains(&0) {
                let before = skipped.iter().position(|b| *b == 0).unwrap_or_default();
                self.line = self.line.saturating_add(newlines(skipped, before));
                return Err(self.refuse("there is a NUL byte here, inside the text"));
            }
            self.line = self.line.saturating_add(newlines(rest, length));
            self.at += length;
        }
    }

    fn begins_line(&self) -> bool {
        let before = self.text.as_bytes().get(..self.at).unwrap_or_default();
        before
            .iter()
            .rev()
            .take_while(|b| **b != b'\n')
            .all(|b| matches!(b, b' ' | b'\t'))
    }

    /// The length of a string with its quotes; PTX has no escapes, and strings may span lines.
    fn string_length(&self, inside: &[u8]) -> Result<usize, Refusal> {
        match inside.iter().position(|b| matches!(b, b'"' | 0)) {
            Some(length) if inside.get(length) == Some(&b'"') => Ok(length + 2),
            Some(_) => Err(self.refuse("a string begins here that holds a NUL byte")),
            None => Err(self.refuse("a string begins here and never ends")),
        }
    }
}

/// The line, from 1, on which the byte after these stands.
pub(super) fn line_after(bytes: &[u8]) -> u32 {
    newlines(bytes, bytes.len()).saturating_add(1)
}

fn newlines(bytes: &[u8], length: usize) -> u32 {
    let count = bytes.iter().take(length).filter(|b| **b == b'\n').count();
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$')
}

fn run(bytes: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take_while(|b| belongs(**b)).count()
}

/// A dot belongs to a number when a digit follows it.
fn number_length(bytes: &[u8]) -> usize {
    let mut length = run(bytes, is_word);
    while let Some([b'.', b'0'..=b'9', ..]) = bytes.get(length..) {
        let fraction = bytes.get(length + 1..).unwrap_or_default();
        length += 1 + run(fraction, is_word);
    }
    length
}
