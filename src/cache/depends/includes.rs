//! The includes of a source, and whether it asks for the time.
//!
//! NVRTC does not say what it read, so a source is looked through for what it could read. Too much is
//! found where an include is in a comment, a string or a branch that is not taken; that can cost a
//! hit, and never gives a wrong artifact. Too little must not be found.

use std::borrow::Cow;

/// What a source includes, or asks for with `__has_include`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cache) enum Include {
    /// `#include "name"`.
    Quoted(String),
    /// `#include <name>`.
    Angled(String),
    /// What a macro stands for, or what is not understood.
    Computed,
}

/// What a source says about what it reads.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::cache) struct Seen {
    /// Every include, in order.
    pub(in crate::cache) includes: Vec<Include>,
    /// Whether it asks for the time, so that the artifact would differ from one day to the next.
    pub(in crate::cache) time: bool,
}

/// Looks a source through, in as few passes as can be: it is done for every hit.
pub(in crate::cache) fn look(source: &[u8]) -> Seen {
    let text = &*spliced(source);
    let mut seen = Seen::default();
    for at in memchr::memmem::find_iter(text, b"__") {
        let word = text.get(at..).map(identifier).unwrap_or_default();
        let starts_it = at == 0 || text.get(at - 1).is_none_or(|&b| !is_of_a_word(b));
        if !starts_it {
            continue;
        }
        if word.starts_with(b"__has_include") || word.starts_with(b"__has_embed") {
            let (before, rest) = text.split_at_checked(at).unwrap_or_default();
            let behind = rest.get(word.len()..).unwrap_or_default();
            seen.includes.extend(asked(before, behind));
        }
        seen.time |= [&b"__DATE__"[..], b"__TIME__", b"__TIMESTAMP__"].contains(&word);
    }
    for at in memchr::memchr2_iter(b'#', b'%', text) {
        let rest = match text.get(at..).unwrap_or_default() {
            [b'#', rest @ ..] | [b'%', b':', rest @ ..] => rest,
            _ => continue,
        };
        seen.includes.extend(after_hash(rest));
    }
    let trigraph = |at: usize| matches!(text.get(at + 2), Some(b'=' | b'/'));
    if memchr::memmem::find_iter(text, b"??").any(trigraph) {
        // With an old standard these are `#` and a backslash.
        seen.includes.push(Include::Computed);
    }
    seen
}

/// The include of a directive, behind its `#`.
fn after_hash(rest: &[u8]) -> Option<Include> {
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
fn asked(before: &[u8], behind: &[u8]) -> Option<Include> {
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
fn named(text: &[u8]) -> Include {
    let until = |close: u8| {
        let line = text.split(|&b| b == b'\n').next().unwrap_or_default();
        let name = line.get(1..)?;
        let end = name.iter().position(|&b| b == close)?;
        let name = std::str::from_utf8(name.get(..end)?).ok()?;
        (!name.is_empty()).then(|| name.to_owned())
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
    let end = text.iter().position(|&b| !is_of_a_word(b));
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

fn is_of_a_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The source with every backslash at the end of a line taken out, as the compiler reads it.
fn spliced(source: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\\', source).is_none() {
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

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn quoted(name: &str) -> Include {
        Include::Quoted(name.to_owned())
    }

    fn angled(name: &str) -> Include {
        Include::Angled(name.to_owned())
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
    #[case("#if !__has_include(HEADER)", Include::Computed)]
    #[case("#define THERE __has_include\n", Include::Computed)]
    fn an_include_is_found_however_it_is_written(#[case] source: &str, #[case] include: Include) {
        assert_eq!(look(source.as_bytes()).includes, [include]);
    }

    #[rstest]
    #[case("")]
    #[case("__global__ void include(int *p) { *p = 1; }")]
    #[case("#define include 1\n#pragma once\n")]
    #[case("#ifdef __has_include\n#endif")]
    #[case("#if defined(__has_include) || defined __has_include\n#endif")]
    #[case("a # b / include")]
    fn what_includes_nothing_has_no_include(#[case] source: &str) {
        assert_eq!(look(source.as_bytes()), Seen::default());
    }

    #[test]
    fn all_includes_of_a_source_are_found() {
        let source = b"#include <a>\nint x;\n#if 0\n#include \"b\"\n#endif\n# include \"a\"\n";
        assert_eq!(
            look(source).includes,
            [angled("a"), quoted("b"), quoted("a")]
        );
    }

    #[rstest]
    #[case("const char *built = __DATE__;", true)]
    #[case("const char *built = __TI\\\nME__;", true)]
    #[case("const char *built = __TIMESTAMP__;", true)]
    #[case("#define __TIMEOUT 3", false)]
    #[case("#define __TIME__OUT 3", false)]
    #[case("#define my__TIME__ 3", false)]
    #[case("____TIME__", false)]
    #[case("int date, time;", false)]
    fn a_source_that_asks_for_the_time_is_known(#[case] source: &str, #[case] asks: bool) {
        assert_eq!(look(source.as_bytes()).time, asks);
    }

    #[test]
    fn no_cut_of_a_source_makes_the_look_panic() {
        let source = b"#/* */inc\\\r\nlude \"x\" %:embed <y> __has_include(\"z\") ??= \\";
        for start in 0..source.len() {
            for end in start..=source.len() {
                let found = look(&source[start..end]).includes;
                assert!(found.len() <= 4);
            }
        }
    }
}
