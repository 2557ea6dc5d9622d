//! NVRTC's log, one message at a time.

use crate::diagnostic::{Diagnostic, Severity, Snippet, ptxas, snippet};

/// Reads `file(line): error: text`, `file(line): warning #177-D: text`, `file:line:column: error: text`,
/// `nvrtc: error: text`, `Warning #629-D: text`, `ptxas error   : text` and plain lines.
///
/// Notes go to the message before them, and a quoted line with its mark becomes the snippet. A line of
/// another form continues the message before it, so that nothing is lost.
pub(super) fn parse(log: &str, otherwise: Severity) -> Vec<Diagnostic> {
    let mut messages: Vec<Diagnostic> = Vec::new();
    let mut lines = log
        .lines()
        .map(str::trim_end)
        .filter(|l| !l.is_empty())
        .peekable();
    while let Some(line) = lines.next() {
        if let Some(begun) = message(line) {
            match messages.last_mut() {
                Some(last)
                    if begun.severity == Severity::Note
                        && begun.line.is_some()
                        && !line.starts_with(REMARK) =>
                {
                    last.notes.push(begun);
                }
                _ => messages.push(begun),
            }
            continue;
        }
        let Some(last) = messages.last_mut() else {
            messages.push(Diagnostic::new(otherwise, line));
            continue;
        };
        let about = match last.notes.last_mut() {
            Some(note) => note,
            None => last,
        };
        match lines.peek().and_then(|mark| quoted(line, mark)) {
            Some(snippet) if about.snippet.is_none() => {
                lines.next();
                about.column = snippet.column;
                about.snippet = Some(snippet);
            }
            _ => {
                about.message.push('\n');
                about.message.push_str(line);
            }
        }
    }
    messages
}

/// Gives each message without a quoted line of its own the one that it points at.
pub(super) fn mark<'a>(diagnostics: &mut [Diagnostic], text_of: &dyn Fn(&str) -> Option<&'a [u8]>) {
    drop_other_lines(diagnostics, text_of);
    snippet::mark(diagnostics, text_of);
}

/// Takes back the places that are of another line than the message's, as in a macro call of several lines.
fn drop_other_lines<'a>(
    diagnostics: &mut [Diagnostic],
    text_of: &dyn Fn(&str) -> Option<&'a [u8]>,
) {
    for diagnostic in diagnostics {
        let held = diagnostic.module.as_deref().and_then(text_of);
        if let (Some(held), Some(line), Some(quoted)) = (held, diagnostic.line, &diagnostic.snippet)
        {
            let there = snippet::of_line(held, line, diagnostic.column);
            if there.as_ref().is_some_and(|there| there != quoted) {
                diagnostic.column = None;
                diagnostic.snippet = None;
            }
        }
        drop_other_lines(&mut diagnostic.notes, text_of);
    }
}

/// A line of the source, two blanks before it, with a line below that has a mark and nothing else.
fn quoted(line: &str, mark: &str) -> Option<Snippet> {
    let text = line.strip_prefix("  ")?;
    let place = mark.strip_prefix("  ")?.strip_suffix('^')?;
    if !place.chars().all(char::is_whitespace) {
        return None;
    }
    // The mark stands below a byte.
    let column = text
        .char_indices()
        .take_while(|(at, _)| *at < place.len())
        .count()
        + 1;
    Some(Snippet::new(text, u32::try_from(column).ok()))
}

/// The log without remarks on inlining, which the library goes on making after a compilation that asked
/// for them.
pub(super) fn without_remarks(log: &str) -> String {
    let is_other = |line: &&str| !line.starts_with(REMARK);
    log.split_inclusive('\n').filter(is_other).collect()
}

/// The file that the library makes up of name expressions.
pub(super) const NAME_MAP: &str = "__nv_name_map";

const REMARK: &str = "remark: ";

fn message(line: &str) -> Option<Diagnostic> {
    // What quotes the source is indented, whatever it says.
    if line.starts_with([' ', '\t']) {
        return None;
    }
    if let Some(rest) = line.strip_prefix("nvrtc: ") {
        return said(rest);
    }
    if let Some(remark) = line.strip_prefix(REMARK).and_then(of_inlining) {
        return Some(remark);
    }
    if let Some(text) = line.strip_prefix("Remark: ") {
        return Some(Diagnostic::new(Severity::Note, text));
    }
    let said_in_passing = line.contains(" detected in the compilation of ")
        || line.contains(" detected in this compilation.")
        || line.starts_with('"') && line.contains(" precompiled header file ")
        // The table of phases and times, whose rows follow.
        || line == "File name, phase name, metric, unit";
    if said_in_passing {
        return Some(Diagnostic::new(Severity::Note, line));
    }
    if let Some(text) = line.strip_prefix("Command-line error: ") {
        return Some(Diagnostic::new(Severity::Error, text));
    }
    if line.starts_with("ptxas ") {
        return ptxas::message(line);
    }
    // Without a file it begins as a sentence does.
    let mut letters = line.chars();
    if let Some(first) = letters.next() {
        let line = format!("{}{}", first.to_ascii_lowercase(), letters.as_str());
        if let Some(said) = said(&line) {
            return Some(said);
        }
    }
    // A file's name may hold what looks like a place; the first that a severity follows is it.
    let in_parentheses = line.match_indices("): ").find_map(|(at, _)| {
        let (file, number) = line.get(..at)?.rsplit_once('(')?;
        let said = said(line.get(at + 3..)?)?;
        Some(said.in_module(file).at_line(number.parse().ok()?))
    });
    in_parentheses.or_else(|| {
        line.match_indices(": ").find_map(|(at, _)| {
            let said = said(line.get(at + 2..)?)?;
            placed(line.get(..at)?, said)
        })
    })
}

/// `file:1:2: text`.
fn of_inlining(line: &str) -> Option<Diagnostic> {
    let (place, text) = line.split_once(": ")?;
    placed(place, Diagnostic::new(Severity::Note, text))
}

/// The message at `file:1:2`.
fn placed(place: &str, mut said: Diagnostic) -> Option<Diagnostic> {
    let mut parts = place.rsplitn(3, ':');
    said.column = Some(parts.next()?.parse().ok()?);
    let line = parts.next()?.parse().ok()?;
    Some(said.in_module(parts.next()?).at_line(line))
}

/// `error: text` or `warning #177-D: text`.
fn said(text: &str) -> Option<Diagnostic> {
    for (word, severity) in [
        ("catastrophic error", Severity::Error),
        ("internal error", Severity::Error),
        ("fatal error", Severity::Error),
        ("error", Severity::Error),
        ("Error", Severity::Error),
        ("warning", Severity::Warning),
        ("remark", Severity::Note),
        ("note", Severity::Note),
    ] {
        let Some(rest) = text.strip_prefix(word) else {
            continue;
        };
        if let Some(text) = rest.strip_prefix(": ") {
            return Some(Diagnostic::new(severity, text));
        }
        if let Some((number, text)) = rest.strip_prefix(" #").and_then(|r| r.split_once(": ")) {
            return Some(Diagnostic::new(severity, text).with_code(number));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("k.cu(3): error: no", "error: k.cu:3: no")]
    #[case(
        "a (b) c.cu(12): warning #177-D: unused",
        "warning[177-D]: a (b) c.cu:12: unused"
    )]
    #[case("k.cu(1): catastrophic error: cannot", "error: k.cu:1: cannot")]
    #[case("k.cu(1): note #3453-D: was 4", "note[3453-D]: k.cu:1: was 4")]
    #[case("nvrtc: error: unrecognized option", "error: unrecognized option")]
    #[case(
        "k.cu(1): Error: Formal parameter space overflowed",
        "error: k.cu:1: Formal parameter space overflowed"
    )]
    #[case("k.cu:3:5: error: no", "error: k.cu:3:5: no")]
    #[case("C:\\k.cu:3:5: fatal error: no", "error: C:\\k.cu:3:5: no")]
    #[case("anything else", "warning: anything else")]
    #[case("Warning #629-D: do not match", "warning[629-D]: do not match")]
    #[case("remark: k.cu:1:63: f inlined", "note: k.cu:1:63: f inlined")]
    #[case("remark: what is no place", "note: what is no place")]
    #[case("Catastrophic error: cannot open", "error: cannot open")]
    #[case("Command-line error: invalid", "error: invalid")]
    #[case(
        "\"k.cu\": using precompiled header file \"k.pch\"",
        "note: \"k.cu\": using precompiled header file \"k.pch\""
    )]
    #[case("ptxas fatal   : Unknown option 'z'", "error: Unknown option 'z'")]
    #[case(
        "ptxas application ptx input, line 9; error   : no",
        "error: ptx input:9: no"
    )]
    #[case("ptxas info    : 0 bytes gmem", "note: 0 bytes gmem")]
    fn a_line_is_read(#[case] line: &str, #[case] shown: &str) {
        let read = parse(line, Severity::Warning);
        let shown_now: Vec<_> = read.iter().map(ToString::to_string).collect();
        assert_eq!(shown_now, [shown]);
    }

    #[test]
    fn remarks_can_be_left_out_and_nothing_else_is() {
        let log = "k.cu(1): warning: a\n  remark: quoted\nremark: k.cu:1:2: inlined\nlast";
        let left = "k.cu(1): warning: a\n  remark: quoted\nlast";
        assert_eq!(without_remarks(log), left);
    }

    #[test]
    fn a_table_of_times_is_one_note() {
        let log = "File name, phase name, metric, unit\nk.cu, NVVM Optimizer, 13, ms\n";
        let read = parse(log, Severity::Warning);
        assert_eq!(read, [Diagnostic::new(Severity::Note, log.trim_end())]);
    }

    #[test]
    fn a_quoted_line_is_the_snippet_even_where_it_looks_like_a_message() {
        let log = "k.cu(1): error: bad\n  k.cu(2): error: quoted\n  ^\n\nnvrtc: warning: old\n";
        insta::assert_snapshot!(shown(log), @r"
        error: k.cu:1:1: bad
          1 | k.cu(2): error: quoted
            | ^
        warning: old
        ");
    }

    #[test]
    fn notes_belong_to_the_message_before_them_and_continued_lines_to_what_they_continue() {
        let log = "k.cu(4): error: no instance of \"f\" matches\n            argument types are: (int)\n  \
                   void k() { f(1); }\n             ^\nk.cu(2): note #3322-D: number of parameters\n  \
                   void f();\n       ^\n          detected during instantiation at line 9\n\n\
                   k.cu(5): warning #1-D: last\n";
        insta::assert_snapshot!(shown(log), @r#"
        error: k.cu:4:12: no instance of "f" matches
                    argument types are: (int)
          4 | void k() { f(1); }
            |            ^
          note[3322-D]: k.cu:2:6: number of parameters
                    detected during instantiation at line 9
            2 | void f();
              |      ^
        warning[1-D]: k.cu:5: last
        "#);
    }

    #[test]
    fn marks_count_bytes_and_columns_count_characters() {
        let read = parse(
            "k.cu(1): error: zz\n  /* äö */ zz\n             ^\n",
            Severity::Error,
        );
        assert_eq!(read[0].column, Some(10));
    }

    #[test]
    fn a_quoted_line_that_is_another_than_the_messages_gives_no_place() {
        let mut read = parse("k.cu(2): error: y\n  A(\n  ^\n", Severity::Error);
        mark(&mut read, &|_| Some(b"A(\n3);"));
        assert_eq!(format!("{:#}", read[0]), "error: k.cu:2: y\n  2 | 3);");
    }

    fn shown(log: &str) -> String {
        let read = parse(log, Severity::Warning);
        let read: Vec<_> = read.iter().map(|said| format!("{said:#}")).collect();
        read.join("\n")
    }
}
