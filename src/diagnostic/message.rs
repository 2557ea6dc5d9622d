//! One message.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::snippet::Snippet;

/// How serious a [`Diagnostic`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Severity {
    /// Something worth knowing; nothing is wrong.
    Note,
    /// The result stands, but may not be what was meant.
    Warning,
    /// There is no result.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// One message of a compiler, or of this crate about what it did for a compilation.
///
/// `{}` is the message with its place; `{:#}` adds the line of the input with the place marked, the
/// notes, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Diagnostic {
    /// How serious it is.
    pub severity: Severity,
    /// What the compiler calls this message, as in `177-D`, whose number NVRTC's options about messages
    /// take, or `NVJITLINK_ERROR_PTX_COMPILE`.
    #[serde(default)]
    pub code: Option<String>,
    /// The module it speaks of, by the name it was added under.
    pub module: Option<String>,
    /// The line in that module, from 1.
    pub line: Option<u32>,
    /// The column in that line, in characters from 1.
    pub column: Option<u32>,
    /// What was said.
    pub message: String,
    /// What was said beside it, as in where the other declaration stands.
    #[serde(default)]
    pub notes: Vec<Diagnostic>,
    /// The line of the input that it points at, where that is at hand.
    #[serde(default)]
    pub snippet: Option<Snippet>,
    /// What to do, where that is known.
    #[serde(default)]
    pub hint: Option<String>,
}

impl Diagnostic {
    /// A message that speaks of no particular place.
    pub fn new(severity: Severity, message: impl Into<String>) -> Self {
        Diagnostic {
            severity,
            code: None,
            module: None,
            line: None,
            column: None,
            message: message.into(),
            notes: Vec::new(),
            snippet: None,
            hint: None,
        }
    }

    /// The same message, said of a module.
    #[must_use]
    pub fn in_module(mut self, module: impl Into<String>) -> Self {
        self.module = Some(module.into());
        self
    }

    /// The same message, said of a line (from 1) of its module.
    #[must_use]
    pub fn at_line(mut self, line: u32) -> Self {
        self.line = Some(line);
        self
    }

    /// The same message, with what its compiler calls it.
    #[must_use]
    pub(crate) fn with_code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// The message in one line, without place and severity.
    pub(crate) fn sentence(&self) -> String {
        let lines: Vec<&str> = self.message.lines().map(str::trim).collect();
        lines.join(" ")
    }

    fn write_place(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(module) = &self.module else {
            return Ok(());
        };
        f.write_str(module)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        f.write_str(": ")
    }

    /// The message as it stands in an error's text, where its being an error is said already.
    pub(crate) fn without_severity(&self) -> impl fmt::Display + '_ {
        struct Said<'a>(&'a Diagnostic);
        impl fmt::Display for Said<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.write_place(f)?;
                f.write_str(&self.0.sentence())
            }
        }
        Said(self)
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.severity)?;
        if let Some(code) = &self.code {
            write!(f, "[{code}]")?;
        }
        f.write_str(": ")?;
        self.write_place(f)?;
        f.write_str(&self.message)?;
        if !f.alternate() {
            return Ok(());
        }
        if let Some(snippet) = &self.snippet {
            write!(f, "\n{}", snippet.shown(self.line))?;
        }
        for note in &self.notes {
            let note = format!("{note:#}").replace('\n', "\n  ");
            write!(f, "\n  {note}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  help: {hint}")?;
        }
        Ok(())
    }
}
