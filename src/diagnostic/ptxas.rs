//! The forms of ptxas, which the driver's compiler and nvJitLink share.

use super::message::{Diagnostic, Severity};

/// What ptxas calls the PTX it is given.
pub(crate) const INPUT: &str = "ptx input";

/// What nvJitLink says of every input of LTO IR, and nobody asks for.
const CONTAINER: &str = " LTOIR Container created";

/// Reads a log of such lines, one message a line; a line of no known form is of severity `otherwise`.
pub(crate) fn parse(log: &str, otherwise: Severity) -> Vec<Diagnostic> {
    log.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.ends_with(CONTAINER))
        .map(|line| message(line).unwrap_or_else(|| Diagnostic::new(otherwise, line)))
        .collect()
}

/// Reads `ptxas error   : text`, `ptxas application ptx input, line 9; fatal   : text`, both also
/// without `ptxas`, `INFO: text`, `ERROR 3: text` and `ERROR NVJITLINK_ERROR_PTX_COMPILE: text`.
pub(crate) fn message(line: &str) -> Option<Diagnostic> {
    let line = line.strip_prefix("ptxas ").unwrap_or(line).trim_start();
    let (place, rest) = match line.strip_prefix("application ptx input, line ") {
        Some(rest) => {
            let (number, rest) = rest.split_once(';')?;
            (Some(number.parse().ok()?), rest.trim_start())
        }
        None => (None, line),
    };
    // What continues the note before it.
    if let Some(text) = rest.strip_prefix('.') {
        return Some(Diagnostic::new(Severity::Note, text.trim()));
    }
    let (head, text) = rest.split_once(':')?;
    let mut words = head.split_whitespace();
    let severity = match words.next()?.to_ascii_lowercase().as_str() {
        "error" | "fatal" => Severity::Error,
        "warning" => Severity::Warning,
        "info" => Severity::Note,
        _ => return None,
    };
    let code = words.next();
    if words.next().is_some() {
        return None;
    }
    let mut diagnostic = Diagnostic::new(severity, text.trim());
    diagnostic.code = code.map(str::to_owned);
    if let Some(line) = place {
        diagnostic = diagnostic.in_module(INPUT).at_line(line);
    }
    Some(diagnostic)
}

/// Puts the input's own name where ptxas says "ptx input".
pub(crate) fn name_input(diagnostics: &mut [Diagnostic], name: &str) {
    for diagnostic in diagnostics {
        if diagnostic.module.as_deref() == Some(INPUT) {
            diagnostic.module = Some(name.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(
        "ptxas fatal   : Unresolved extern function 'f'",
        "error: Unresolved extern function 'f'"
    )]
    #[case(
        "error   : Undefined reference to 'f' in 'a'",
        "error: Undefined reference to 'f' in 'a'"
    )]
    #[case("ptxas info    : 0 bytes gmem", "note: 0 bytes gmem")]
    #[case("ptxas info    : Compile time = 1.2 ms", "note: Compile time = 1.2 ms")]
    #[case("INFO: something of the linker", "note: something of the linker")]
    #[case("ERROR 3: ptxjit:a.ptx", "error[3]: ptxjit:a.ptx")]
    #[case(
        "ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (a.ptx)",
        "error[NVJITLINK_ERROR_PTX_COMPILE]: JIT the PTX (a.ptx)"
    )]
    #[case(
        "ptxas application ptx input, line 9; error   : Unknown symbol 'x'",
        "error: ptx input:9: Unknown symbol 'x'"
    )]
    #[case("ptxas         .     0 bytes stack frame", "note: 0 bytes stack frame")]
    #[case("an error of mine: none", "warning: an error of mine: none")]
    #[case("something else", "warning: something else")]
    fn a_line_is_read(#[case] line: &str, #[case] shown: &str) {
        let read: Vec<_> = parse(line, Severity::Warning)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(read, [shown]);
    }

    #[test]
    fn what_is_said_of_every_input_of_lto_ir_is_left_out() {
        let log = "INFO: NVVM70 LTOIR Container created\nINFO: other\n";
        let read = parse(log, Severity::Warning);
        assert_eq!(read.len(), 1, "{read:?}");
    }
}
