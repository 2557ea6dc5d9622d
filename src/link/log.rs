//! nvJitLink's logs, one message at a time.

use crate::diagnostic::{Diagnostic, Severity};

/// A log as text. Bytes that are no text are escaped: the library writes some where a name should be.
pub(super) fn text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for c in crate::nvvm::escaped(bytes).chars() {
        match c {
            '\n' | '\t' => text.push(c),
            c if c.is_control() => text.extend(c.escape_default()),
            c => text.push(c),
        }
    }
    text
}

/// Reads `error   : …`, `ptxas fatal   : …`, `ptxas info    : …`, `INFO: …` and plain lines, which
/// are of severity `otherwise`.
pub(super) fn parse(log: &str, otherwise: Severity) -> Vec<Diagnostic> {
    log.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| Diagnostic::new(severity(line).unwrap_or(otherwise), line))
        .collect()
}

fn severity(line: &str) -> Option<Severity> {
    let head = line.split_once(':')?.0.to_ascii_lowercase();
    head.split_whitespace().find_map(|word| match word {
        "error" | "fatal" => Some(Severity::Error),
        "warning" => Some(Severity::Warning),
        "info" => Some(Severity::Note),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("error   : Undefined reference to 'f' in 'a'", Severity::Error)]
    #[case("ptxas fatal   : Unresolved extern function 'f'", Severity::Error)]
    #[case("ptxas info    : 0 bytes gmem", Severity::Note)]
    #[case("INFO: NVVM70 LTOIR Container created", Severity::Note)]
    #[case("something else", Severity::Warning)]
    fn a_line_says_how_serious_it_is(#[case] line: &str, #[case] severity: Severity) {
        let read = parse(line, Severity::Warning);
        assert_eq!(read, [Diagnostic::new(severity, line)]);
    }

    #[test]
    fn bytes_that_are_no_text_are_escaped() {
        assert_eq!(text(b"f in '\x01\xfe'\n\tg"), "f in '\\u{1}\\xfe'\n\tg");
    }
}
