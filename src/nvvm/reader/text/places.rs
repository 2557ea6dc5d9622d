//! Where in a text those things stand that a repair changes.

use std::ops::Range;

use super::super::kind::BYTE_ORDER_MARK;
use super::lexer::{Lexer, Token, unescaped};

/// What a repair looks at, by place in the bytes.
#[derive(Debug, Default)]
pub(in crate::nvvm) struct Places {
    /// Where the text begins, behind a byte order mark.
    pub(in crate::nvvm) start: usize,
    /// The lines that begin with `target`.
    pub(in crate::nvvm) targets: Vec<Target>,
    /// Every name of a function or variable: its place, its line, and the name.
    pub(in crate::nvvm) names: Vec<(Range<usize>, u32, Vec<u8>)>,
    /// The fields `spFlags` of debug metadata.
    pub(in crate::nvvm) flags: Vec<Flags>,
    /// A number that no metadata node has.
    pub(in crate::nvvm) free_node: u64,
    /// The widest integer type.
    pub(in crate::nvvm) widest_integer: u64,
    /// The address spaces that are named.
    pub(in crate::nvvm) spaces: Vec<u32>,
    /// Whether there is any comdat, whose names go with those of functions.
    pub(in crate::nvvm) comdats: bool,
}

/// A line `target … = "…"`.
#[derive(Debug)]
pub(in crate::nvvm) struct Target {
    pub(in crate::nvvm) place: Range<usize>,
    pub(in crate::nvvm) layout: bool,
    /// The string, with its quotes.
    pub(in crate::nvvm) string: Range<usize>,
}

/// A field `spFlags: A | B`.
#[derive(Debug)]
pub(in crate::nvvm) struct Flags {
    pub(in crate::nvvm) place: Range<usize>,
    pub(in crate::nvvm) line: u32,
    /// The names of the flags; none where one is no name.
    pub(in crate::nvvm) names: Option<Vec<String>>,
}

/// Goes through a text once.
pub(in crate::nvvm) fn places(bytes: &[u8]) -> Places {
    let start = if bytes.starts_with(BYTE_ORDER_MARK) {
        BYTE_ORDER_MARK.len()
    } else {
        0
    };
    let mut places = Places {
        start,
        ..Places::default()
    };
    // Behind the mark the places are those of all bytes, since the mark reads as punctuation.
    let mut lexer = Lexer::new(bytes);
    loop {
        let token = lexer.next();
        match token {
            Token::End => return places,
            Token::Word(b"target") => places.targets.extend(target(lexer)),
            Token::Word(b"addrspace") => places.spaces.extend(space(lexer)),
            Token::Word([b'i', digits @ ..]) => {
                let bits = std::str::from_utf8(digits)
                    .ok()
                    .and_then(|d| d.parse().ok());
                places.widest_integer = places.widest_integer.max(bits.unwrap_or(0));
            }
            Token::Global(name) => {
                let name = unescaped(name).into_owned();
                places.names.push((lexer.span(), lexer.line(), name));
            }
            Token::Numbered(number) => {
                places.free_node = places.free_node.max(number.saturating_add(1));
            }
            Token::Label(b"spFlags") => places.flags.extend(flags(lexer)),
            Token::Comdat | Token::Word(b"comdat") => places.comdats = true,
            _ => {}
        }
    }
}

fn target(mut lexer: Lexer<'_>) -> Option<Target> {
    let from = lexer.span().start;
    let layout = match lexer.next() {
        Token::Word(b"datalayout") => true,
        Token::Word(b"triple") => false,
        _ => return None,
    };
    if lexer.next() != Token::Punct(b'=') {
        return None;
    }
    let Token::String(_) = lexer.next() else {
        return None;
    };
    let string = lexer.span();
    Some(Target {
        place: from..string.end,
        layout,
        string,
    })
}

fn space(mut lexer: Lexer<'_>) -> Option<u32> {
    match (lexer.next(), lexer.next()) {
        (Token::Punct(b'('), Token::Int(space)) => u32::try_from(space).ok(),
        _ => None,
    }
}

fn flags(mut lexer: Lexer<'_>) -> Option<Flags> {
    let (from, line) = (lexer.span().start, lexer.line());
    let mut names = Some(Vec::new());
    loop {
        match lexer.next() {
            Token::Word(name) => {
                if let Some(names) = &mut names {
                    names.push(String::from_utf8_lossy(name).into_owned());
                }
            }
            Token::Int(0) => {}
            Token::Int(_) => names = None,
            _ => return None,
        }
        let place = from..lexer.span().end;
        let mut ahead = lexer;
        if ahead.next() != Token::Punct(b'|') {
            return Some(Flags { place, line, names });
        }
        lexer = ahead;
    }
}
