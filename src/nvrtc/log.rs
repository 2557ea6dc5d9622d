//! NVRTC's log, one message at a time.

use crate::diagnostic::{Diagnostic, Severity};

/// Reads `file(line): error: text`, `file(line): warning #177-D: text`, `nvrtc: error: text` and
/// plain lines. A line of another form continues the message before it, so that nothing is lost.
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

fn message(line: &str) -> Option<Diagnostic> {
    // What quotes the source is indented, whatever it says.
    if line.starts_with([' ', '\t']) {
        return None;
    }
    if let Some(rest) = line.strip_prefix("nvrtc: ") {
        let (severity, text) = severity(rest)?;
        return Some(Diagnostic::new(severity, text));
    }
    if let Some(text) = line.strip_prefix("Remark: ") {
        return Some(Diagnostic::new(Severity::Note, text));
    }
    if line.contains(" detected in the compilation of ") || line.starts_with("ptxas info") {
        return Some(Diagnostic::new(Severity::Note, line));
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
    fn a_line_is_read(#[case] line: &str, #[case] shown: &str) {
        let read = parse(line, Severity::Warning);
        let shown_now: Vec<_> = read.iter().map(ToString::to_string).collect();
        assert_eq!(shown_now, [shown]);
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
