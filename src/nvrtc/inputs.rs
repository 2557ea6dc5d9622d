//! What a program is compiled with besides its source.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::sync::Arc;

use super::log::{self, NAME_MAP};
use super::text::{absent, file_name, invalid, source};
use crate::diagnostic::{Diagnostic, Snippet};
use crate::error::Result;

/// The line of the first name expression in the file that the library makes up of them; each has a line.
const FIRST_NAME: u32 = 2;
/// What stands before an expression there.
const BEFORE_NAME: &str = "#pragma nv_mangled_name ";

/// Headers in memory, by name and text, and name expressions.
///
/// A clone shares them and sees no later change, so that a compilation has its own.
#[derive(Debug, Clone, Default)]
pub(super) struct Inputs {
    pub(super) headers: Arc<Vec<(CString, CString)>>,
    pub(super) names: Arc<BTreeSet<String>>,
}

impl Inputs {
    pub(super) fn add_header(&mut self, name: CString, text: CString) -> Result<()> {
        if self.headers.iter().any(|(there, _)| *there == name) {
            return Err(invalid(
                &name.to_string_lossy(),
                "the program has a header of this name already",
                "give this one another name",
            ));
        }
        Arc::make_mut(&mut self.headers).push((name, text));
        Ok(())
    }

    pub(super) fn remove_header(&mut self, name: &str) -> Result<()> {
        let named = |(there, _): &(CString, CString)| there.as_bytes() == name.as_bytes();
        let Some(at) = self.headers.iter().position(named) else {
            let names = self
                .headers
                .iter()
                .filter_map(|(name, _)| name.to_str().ok());
            return Err(absent("header", name, names));
        };
        Arc::make_mut(&mut self.headers).remove(at);
        Ok(())
    }

    pub(super) fn add_name(&mut self, expression: &str) -> Result<()> {
        // It becomes one line of a source that the library makes up.
        if expression.trim().is_empty() || expression.contains(char::is_control) {
            return Err(invalid(
                &format!("the name expression {expression:?}"),
                "it is blank, or more than one line",
                "write it as in `add<float>`",
            ));
        }
        Arc::make_mut(&mut self.names).insert(expression.to_owned());
        Ok(())
    }

    pub(super) fn remove_name(&mut self, expression: &str) -> Result<()> {
        if Arc::make_mut(&mut self.names).remove(expression) {
            return Ok(());
        }
        let names = self.names.iter().map(String::as_str);
        Err(absent("name expression", expression, names))
    }

    /// Gives messages the lines that they point at, of the source and of headers in memory, and the name
    /// expression that they are about.
    pub(super) fn mark(&self, name: &CStr, source: &CStr, diagnostics: &mut [Diagnostic]) {
        for diagnostic in diagnostics.iter_mut() {
            self.place_in_name(diagnostic);
        }
        log::mark(diagnostics, &|module| {
            if name.to_bytes() == module.as_bytes() {
                return Some(source.to_bytes());
            }
            let named = |(known, _): &&(CString, CString)| known.as_bytes() == module.as_bytes();
            let (_, text) = self.headers.iter().find(named)?;
            Some(text.as_bytes())
        });
    }

    fn place_in_name(&self, said: &mut Diagnostic) {
        for note in &mut said.notes {
            self.place_in_name(note);
        }
        if said.module.as_deref() != Some(NAME_MAP) {
            return;
        }
        let line = said.line.take().and_then(|n| n.checked_sub(FIRST_NAME));
        let at = line.and_then(|line| usize::try_from(line).ok());
        let Some(expression) = at.and_then(|at| self.names.iter().nth(at)) else {
            said.module = Some("a name expression".to_owned());
            return;
        };
        said.module = Some(format!("the name expression `{expression}`"));
        let before = u32::try_from(BEFORE_NAME.len()).unwrap_or(u32::MAX);
        said.column = said.column.and_then(|column| column.checked_sub(before));
        said.snippet = said
            .column
            .map(|column| Snippet::new(expression, Some(column)));
    }
}

/// A header as the library takes it.
pub(super) fn header(name: &str, text: &str) -> Result<(CString, CString)> {
    Ok((file_name(name)?, source(name, text)?))
}
