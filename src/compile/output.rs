//! What a job makes.

use serde::{Deserialize, Serialize};

use crate::artifact::{Cubin, LtoIr, Ptx};
use crate::diagnostic::Diagnostic;

/// What a job makes: the artifact that it asks for, with what the compiler said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Output {
    /// PTX.
    Ptx(Ptx),
    /// LTO IR.
    LtoIr(LtoIr),
    /// A cubin.
    Cubin(Cubin),
}

impl Output {
    /// The PTX, where it is that.
    #[must_use]
    pub fn ptx(&self) -> Option<&Ptx> {
        match self {
            Output::Ptx(ptx) => Some(ptx),
            _ => None,
        }
    }

    /// The LTO IR, where it is that.
    #[must_use]
    pub fn lto_ir(&self) -> Option<&LtoIr> {
        match self {
            Output::LtoIr(lto) => Some(lto),
            _ => None,
        }
    }

    /// The cubin, where it is one.
    #[must_use]
    pub fn cubin(&self) -> Option<&Cubin> {
        match self {
            Output::Cubin(cubin) => Some(cubin),
            _ => None,
        }
    }

    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Output::Ptx(ptx) => ptx.as_bytes(),
            Output::LtoIr(lto) => lto.as_bytes(),
            Output::Cubin(cubin) => cubin.as_bytes(),
        }
    }

    /// What the compiler said.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Output::Ptx(ptx) => ptx.diagnostics(),
            Output::LtoIr(lto) => lto.diagnostics(),
            Output::Cubin(cubin) => cubin.diagnostics(),
        }
    }

    /// The same, with more that was said.
    #[cfg(all(feature = "isolate", unix, not(loom)))]
    pub(crate) fn saying(self, more: impl IntoIterator<Item = Diagnostic>) -> Self {
        let mut said = self.diagnostics().to_vec();
        said.extend(more);
        match self {
            Output::Ptx(ptx) => Output::Ptx(ptx.with_diagnostics(said)),
            Output::LtoIr(lto) => Output::LtoIr(lto.with_diagnostics(said)),
            Output::Cubin(cubin) => Output::Cubin(cubin.with_diagnostics(said)),
        }
    }
}
