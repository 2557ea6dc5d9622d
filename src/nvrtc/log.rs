//! NVRTC's log, one message at a time.

use crate::diagnostic::{Diagnostic, Severity};

/// Reads `file(line): error: text`, `file(line): warning #177-D: text`, `nvrtc: error: text`,
/// `Warning #629-D: text`, `ptxas error   : text` and plain lines. A line of another form continues
/// the message before it, so that nothing is lost.
pub(super) fn parse(log: &str, otherwise: Severity) -> Vec<Diagnostic> {
    let mut messages: Vec<Diagnostic> = Vec::new();
    for line in log.lines().map(str::trim_end).filter(|l| !l.is_empty()) {
        match (message(line), messages.last_mut()) {
            (Some(message), _) => messages.push(message),
            (None, Some(last)) => {
                last.message.push('\n');
                last.message.push_str(line);
            }
            (None, None) => messages.push(Diagnostic::new(otherwise, line)),
        }
    }
    messages
}

/// The log without remarks on inlining, which the library goes on making after a compilation that asked
/// for them.
pub(super) fn without_remarks(log: &str) -> String {
    let is_other = |line: &&str| !line.starts_with(REMARK);
    log.split_inclusive('\n').filter(is_other).collect()
}

const REMARK: &str = "remark: ";

fn message(line: &str) -> Option<Diagnostic> {
    // What quotes the source is indented, whatever it says.
    if line.starts_with([' ', '\t']) {
        return None;
    }
    if let Some(rest) = line.strip_prefix("nvrtc: ") {
        let (severity, text) = severity(rest)?;
        return Some(Diagnostic::new(severity, text));
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
    if let Some(message) = of_ptxas(line) {
        return Some(message);
    }
    // Without a file it begins as a sentence does.
    let mut letters = line.chars();
    if let Some(first) = letters.next() {
        let line = format!("{}{}", first.to_ascii_lowercase(), letters.as_str());
        if let Some((severity, text)) = severity(&line) {
            return Some(Diagnostic::new(severity, text));
        }
    }
    // A file's name may hold what looks like a place; the first that a severity follows is it.
    line.match_indices("): ").find_map(|(at, _)| {
        let (severity, text) = severity(line.get(at + 3..)?)?;
        let (file, number) = line.get(..at)?.rsplit_once('(')?;
        let mut diagnostic = Diagnostic::new(severity, text);
        diagnostic.module = Some(file.to_owned());
        diagnostic.line = Some(number.parse().ok()?);
        Some(diagnostic)
    })
}

/// `file:1:2: text`.
fn of_inlining(line: &str) -> Option<Diagnostic> {
    let (place, text) = line.split_once(": ")?;
    let mut parts = place.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let number = parts.next()?.parse().ok()?;
    let mut diagnostic = Diagnostic::new(Severity::Note, text);
    diagnostic.module = Some(parts.next()?.to_owned());
    diagnostic.line = Some(number);
    diagnostic.column = Some(column);
    Some(diagnostic)
}

/// `ptxas error   : text`, or `ptxas application ptx input, line 9; fatal   : text`.
fn of_ptxas(line: &str) -> Option<Diagnostic> {
    let (head, _) = line.strip_prefix("ptxas ")?.split_once(':')?;
    let severity = match head.split_whitespace().next_back()? {
        "error" | "fatal" => Severity::Error,
        "warning" => Severity::Warning,
        "info" => Severity::Note,
        _ => return None,
    };
    Some(Diagnostic::new(severity, line))
}

fn severity(text: &str) -> Option<(Severity, &str)> {
    for (word, severity) in [
        ("catastrophic error", Severity::Error),
        ("internal error", Severity::Error),
        ("error", Severity::Error),
        ("warning", Severity::Warning),
        ("remark", Severity::Note),
        ("note", Severity::Note),
    ] {
        let Some(rest) = text.strip_prefix(word) else {
            continue;
        };
        if let Some(text) = rest.strip_prefix(": ") {
            return Some((severity, text));
        }
        // The number is kept: it is what the options about messages take.
        if rest.starts_with(" #") && rest.contains(": ") {
            return Some((severity, rest.trim_start()));
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
        "warning: a (b) c.cu:12: #177-D: unused"
    )]
    #[case("k.cu(1): catastrophic error: cannot", "error: k.cu:1: cannot")]
    #[case("k.cu(1): note #3453-D: was 4", "note: k.cu:1: #3453-D: was 4")]
    #[case("nvrtc: error: unrecognized option", "error: unrecognized option")]
    #[case("anything else", "warning: anything else")]
    #[case("Warning #629-D: do not match", "warning: #629-D: do not match")]
    #[case("remark: k.cu:1:63: f inlined", "note: k.cu:1:63: f inlined")]
    #[case("remark: what is no place", "note: what is no place")]
    #[case("Catastrophic error: cannot open", "error: cannot open")]
    #[case("Command-line error: invalid", "error: invalid")]
    #[case(
        "\"k.cu\": using precompiled header file \"k.pch\"",
        "note: \"k.cu\": using precompiled header file \"k.pch\""
    )]
    #[case(
        "ptxas fatal   : Unknown option 'z'",
        "error: ptxas fatal   : Unknown option 'z'"
    )]
    #[case(
        "ptxas application ptx input, line 9; error   : no",
        "error: ptxas application ptx input, line 9; error   : no"
    )]
    #[case("ptxas info    : 0 bytes gmem", "note: ptxas info    : 0 bytes gmem")]
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
    fn quoted_source_continues_the_message_even_where_it_looks_like_one() {
        let log = "k.cu(1): error: bad\n  k.cu(2): error: quoted\n  ^\n\nnvrtc: warning: old\n";
        let read = parse(log, Severity::Warning);
        let shown: Vec<_> = read.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "error: k.cu:1: bad\n  k.cu(2): error: quoted\n  ^",
                "warning: old"
            ]
        );
    }
}
