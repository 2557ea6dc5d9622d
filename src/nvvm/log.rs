//! libNVVM's log, one message at a time.

use crate::diagnostic::{Diagnostic, Severity};

/// The log as text: bytes that are no UTF-8 are escaped, as in `\xff`, so that nothing is lost.
pub(crate) fn text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// Reads `module (line, column): text`, `module: text`, `module: error: text` and plain lines.
///
/// `otherwise` is the severity of a line that names none. A line of unknown form is a message of its
/// own, so that nothing of the log is lost.
pub(super) fn parse(log: &str, modules: &[&str], otherwise: Severity) -> Vec<Diagnostic> {
    log.lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty())
        .map(|line| message(line, modules, otherwise))
        .collect()
}

fn message(line: &str, modules: &[&str], otherwise: Severity) -> Diagnostic {
    // Of two names that both fit, as in `a` and `a (1)`, the longer is meant.
    let module = modules
        .iter()
        .filter(|name| !name.is_empty())
        .filter_map(|name| Some((*name, after_name(line, name)?)))
        .max_by_key(|(name, _)| name.len());
    let (place, rest) = match module {
        Some((_, (place, rest))) => (place, rest),
        None => (None, line.strip_prefix("libnvvm : ").unwrap_or(line)),
    };
    let (severity, text) = severity(rest).unwrap_or((otherwise, rest));
    let mut diagnostic = Diagnostic::new(severity, text);
    diagnostic.module = module.map(|(name, _)| name.to_owned());
    diagnostic.line = place.map(|(line, _)| line);
    // The library counts columns from 0.
    diagnostic.column = place.map(|(_, column)| column + 1);
    diagnostic
}

type Place = Option<(u32, u32)>;

/// What follows the module's name: the place, where there is one, and the message.
fn after_name<'a>(line: &'a str, name: &str) -> Option<(Place, &'a str)> {
    let rest = line.strip_prefix(name)?;
    if let Some(rest) = rest.strip_prefix(": ") {
        return Some((None, rest));
    }
    let (place, rest) = rest.strip_prefix(" (")?.split_once("): ")?;
    let (line, column) = place.split_once(", ")?;
    Some((Some((line.parse().ok()?, column.parse().ok()?)), rest))
}

fn severity(text: &str) -> Option<(Severity, &str)> {
    for (word, severity) in [
        ("error", Severity::Error),
        ("warning", Severity::Warning),
        ("note", Severity::Note),
    ] {
        let Some(head) = text.get(..word.len()) else {
            continue;
        };
        if head.eq_ignore_ascii_case(word) {
            let rest = text.get(word.len()..)?;
            return Some((severity, rest.strip_prefix(':')?.trim_start()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(
        "a.ll (5, 15): parse expected type",
        "error: a.ll:5:16: parse expected type"
    )]
    #[case("a.ll: error: IR version 1.0", "error: a.ll: IR version 1.0")]
    #[case(
        "a.ll: parse Expected a single module",
        "error: a.ll: parse Expected a single module"
    )]
    #[case("a.ll: warning: odd", "warning: a.ll: odd")]
    #[case(
        "libnvvm : error: -x is an unsupported option",
        "error: -x is an unsupported option"
    )]
    #[case("Error: unsupported operation", "error: unsupported operation")]
    #[case("a.ll (1): (2, 3): text", "error: a.ll (1):2:4: text")]
    #[case("errors: two of them", "error: errors: two of them")]
    #[case("völlig anderes", "error: völlig anderes")]
    fn a_line_is_read(#[case] line: &str, #[case] shown: &str) {
        let read = parse(line, &["a.ll", "a.ll (1):"], Severity::Error);
        assert_eq!(read.len(), 1);
        let shown = shown.replace("a.ll (1):2", "a.ll (1)::2");
        assert_eq!(read[0].to_string(), shown);
    }

    #[test]
    fn lines_of_unknown_form_keep_the_severity_of_the_outcome() {
        let read = parse(
            "Deprecated data layout\n\n64-bit: e-p",
            &[],
            Severity::Warning,
        );
        assert_eq!(read.len(), 2);
        assert!(read.iter().all(|d| d.severity == Severity::Warning));
    }

    #[test]
    fn bytes_that_are_no_utf8_are_escaped() {
        assert_eq!(text(b"a\xff\xfeb \xc3\xa9"), "a\\xff\\xfeb \u{e9}");
    }
}
