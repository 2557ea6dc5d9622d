//! The includes of a source, and whether it asks for the time.
//!
//! NVRTC does not say what it read, so a source is looked through for what it could read. Too much is
//! found where an include is in a comment, a string or a branch that is not taken; that can cost a
//! hit, and never gives a wrong artifact. Too little must not be found.

use std::borrow::Cow;

/// What a source includes, or asks for with `__has_include`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cache) enum Include<'a> {
    /// `#include "name"`.
    Quoted(Cow<'a, str>),
    /// `#include <name>`.
    Angled(Cow<'a, str>),
    /// What a macro stands for, or what is not understood.
    Computed,
}

/// Whether the artifact would differ from one day to the next.
pub(in crate::cache) fn mentions_the_time(source: &[u8]) -> bool {
    let source = spliced(source);
    // Two searches and not three, since this is done for every hit.
    contains(&source, b"__DATE__")
        || contains(&source, b"__TIME")
            && (contains(&source, b"__TIME__") || contains(&source, b"__TIMESTAMP__"))
}

/// Every include of a source, in order.
pub(in crate::cache) fn scan(source: &[u8]) -> Vec<Include<'static>> {
    let text = spliced(source);
    if contains(&text, b"??=") || contains(&text, b"??/") {
        // With an old standard these are `#` and a backslash.
        return vec![Include::Computed];
    }
    if ![&b"include"[..], b"import", b"embed"]
        .iter()
        .any(|word| contains(&text, word))
    {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let directive = match rest {
            [b'#', ..] => Some(1),
            [b'%', b':', ..] => Some(2),
            _ => None,
        };
        if let Some(length) = directive {
            found.extend(after_hash(rest.get(length..).unwrap_or_default()));
        } else if rest.starts_with(b"__has_include") || rest.starts_with(b"__has_embed") {
            let word = identifier(rest);
            let before = text.get(..at).unwrap_or_default();
            found.extend(asked(before, rest.get(word.len()..).unwrap_or_default()));
            at += word.len();
            continue;
        }
        at += 1;
    }
    found
}

/// The include of a directive, behind its `#`.
fn after_hash(rest: &[u8]) -> Option<Include<'static>> {
    let rest = skip(rest);
    let word = identifier(rest);
    match word {
        b"include" | b"include_next" | b"import" => {
            Some(named(skip(rest.get(word.len()..).unwrap_or_default())))
        }
        b"embed" => Some(Include::Computed),
        _ => None,
    }
}

/// What `__has_include` asks for, given what stands before and behind the word.
fn asked(before: &[u8], behind: &[u8]) -> Option<Include<'static>> {
    match skip(behind) {
        [b'(', rest @ ..] => Some(named(skip(rest))),
        _ => {
            // `#ifdef __has_include` and `defined(__has_include)` ask for no file.
            let before = before.trim_ascii_end();
            let before = before.strip_suffix(b"(").unwrap_or(before).trim_ascii_end();
            let harmless = [&b"ifdef"[..], b"ifndef", b"defined"]
                .iter()
                .any(|word| before.ends_with(word));
            (!harmless).then_some(Include::Computed)
        }
    }
}

/// The name at the beginning of a text.
fn named(text: &[u8]) -> Include<'static> {
    let until = |close: u8| {
        let line = text.split(|&b| b == b'\n').next().unwrap_or_default();
        let name = line.get(1..)?;
        let end = name.iter().position(|&b| b == close)?;
        let name = std::str::from_utf8(name.get(..end)?).ok()?;
        (!name.is_empty()).then(|| Cow::Owned(name.to_owned()))
    };
    let include = match text.first() {
        Some(b'"') => until(b'"').map(Include::Quoted),
        Some(b'<') => until(b'>').map(Include::Angled),
        _ => None,
    };
    include.unwrap_or(Include::Computed)
}

/// Takes blanks and comments off the beginning.
fn skip(mut text: &[u8]) -> &[u8] {
    loop {
        match text {
            [b' ' | b'\t' | 0x0b | 0x0c | b'\r', rest @ ..] => text = rest,
            [b'/', b'*', rest @ ..] => {
                let end = rest.windows(2).position(|two| two == b"*/");
                text = end.and_then(|end| rest.get(end + 2..)).unwrap_or_default();
            }
            _ => return text,
        }
    }
}

fn identifier(text: &[u8]) -> &[u8] {
    let end = text
        .iter()
        .position(|b| !b.is_ascii_alphanumeric() && *b != b'_')
        .unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// The source with every backslash at the end of a line taken out, as the compiler reads it.
fn spliced(source: &[u8]) -> Cow<'_, [u8]> {
    if !contains(source, b"\\\n") && !contains(source, b"\\\r") {
        return Cow::Borrowed(source);
    }
    let mut text = Vec::with_capacity(source.len());
    let mut rest = source;
    loop {
        rest = match rest {
            [b'\\', b'\r', b'\n', rest @ ..] => rest,
            [b'\\', b'\n' | b'\r', rest @ ..] => rest,
            [byte, rest @ ..] => {
                text.push(*byte);
                rest
            }
            [] => return Cow::Owned(text),
        };
    }
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(text, word).is_some()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn quoted(name: &str) -> Include<'static> {
        Include::Quoted(name.to_owned().into())
    }

    fn angled(name: &str) -> Include<'static> {
        Include::Angled(name.to_owned().into())
    }

    #[rstest]
    #[case("#include \"x.h\"", quoted("x.h"))]
    #[case("#include <x.h>", angled("x.h"))]
    #[case("  #  include\t<a/b c.h> // why", angled("a/b c.h"))]
    #[case("#include<x.h>\r\n", angled("x.h"))]
    #[case("#include_next <x.h>", angled("x.h"))]
    #[case("#import \"x.h\"", quoted("x.h"))]
    #[case("%:include \"x.h\"", quoted("x.h"))]
    #[case("/* a */ # /* b\n */ include /* c */ \"x.h\"", quoted("x.h"))]
    #[case("#inc\\\nlude \"x.h\"", quoted("x.h"))]
    #[case("#include \\\r\n \"x\\\n.h\"", quoted("x.h"))]
    #[case("#\x0b\x0cinclude\x0c\"x.h\"", quoted("x.h"))]
    #[case("#include HEADER", Include::Computed)]
    #[case("#include \"never closed\n\"", Include::Computed)]
    #[case("#include", Include::Computed)]
    #[case("#include \"\"", Include::Computed)]
    #[case("char a[] = {\n#embed \"x.bin\"\n};", Include::Computed)]
    #[case("??=include \"x.h\"", Include::Computed)]
    #[case("#if __has_include(\"x.h\")", quoted("x.h"))]
    #[case("#if __has_include ( <x.h> )", angled("x.h"))]
    #[case("#if __has_include_next(<x.h>)", angled("x.h"))]
    #[case("#if __has_include(HEADER)", Include::Computed)]
    #[case("#define THERE __has_include\n", Include::Computed)]
    fn an_include_is_found_however_it_is_written(
        #[case] source: &str,
        #[case] include: Include<'static>,
    ) {
        assert_eq!(scan(source.as_bytes()), [include]);
    }

    #[rstest]
    #[case("")]
    #[case("__global__ void include(int *p) { *p = 1; }")]
    #[case("#define include 1\n#pragma once\n")]
    #[case("#ifdef __has_include\n#endif")]
    #[case("#if defined(__has_include) || defined __has_include\n#endif")]
    #[case("a # b / include")]
    fn what_includes_nothing_has_no_include(#[case] source: &str) {
        assert_eq!(scan(source.as_bytes()), []);
    }

    #[test]
    fn all_includes_of_a_source_are_found() {
        let source = b"#include <a>\nint x;\n#if 0\n#include \"b\"\n#endif\n# include \"a\"\n";
        assert_eq!(scan(source), [angled("a"), quoted("b"), quoted("a")]);
    }

    #[rstest]
    #[case("const char *built = __DATE__;", true)]
    #[case("const char *built = __TI\\\nME__;", true)]
    #[case("const char *built = __TIMESTAMP__;", true)]
    #[case("#define __TIMEOUT 3", false)]
    #[case("int date, time;", false)]
    fn a_source_that_asks_for_the_time_is_known(#[case] source: &str, #[case] asks: bool) {
        assert_eq!(mentions_the_time(source.as_bytes()), asks);
    }

    #[test]
    fn no_cut_of_a_source_makes_the_look_panic() {
        let source = b"#/* */inc\\\r\nlude \"x\" %:embed <y> __has_include(\"z\") ??= \\";
        for start in 0..source.len() {
            for end in start..=source.len() {
                let found = scan(&source[start..end]);
                assert!(found.len() <= 4);
            }
        }
    }
}
