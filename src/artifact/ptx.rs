//! PTX, which a driver, ptxas or nvJitLink finishes for a GPU.

mod header;
mod lexer;
mod model;
mod parse;
mod signature;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer, ser::SerializeStruct};

use super::common::common;
use super::symbol::Symbol;
use crate::arch::Arch;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::snippet::of_line;
use crate::error::{InvalidInput, Result};

use model::Module;
pub(crate) use model::brought_by_driver;
pub use model::{ExternKind, ExternSymbol, IsaVersion, Linkage, Parameter, PtxKernel};

/// PTX: text, and what it declares.
///
/// The text is parsed when a `Ptx` is made, so what the accessors say is what the text says; names
/// in comments, strings and bodies do not count. Bodies are skipped, and so are module directives
/// that this crate does not know: whether an instruction is right, ptxas and the driver say.
///
/// Serde keeps the text and the diagnostics, and parses again on reading.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Ptx {
    text: String,
    module: Module,
    lowered: BTreeMap<String, String>,
    diagnostics: Vec<Diagnostic>,
}

/// What serde reads, before it is parsed.
#[derive(Deserialize)]
struct Stored {
    text: String,
    #[serde(default)]
    lowered: BTreeMap<String, String>,
    #[serde(default)]
    diagnostics: Vec<Diagnostic>,
}

impl TryFrom<Stored> for Ptx {
    type Error = crate::error::Error;

    fn try_from(stored: Stored) -> Result<Self> {
        Ok(Ptx::from_text(stored.text)?
            .with_lowered_names(stored.lowered)
            .with_diagnostics(stored.diagnostics))
    }
}

impl Serialize for Ptx {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut stored = serializer.serialize_struct("Ptx", 3)?;
        stored.serialize_field("text", &self.text)?;
        stored.serialize_field("lowered", &self.lowered)?;
        stored.serialize_field("diagnostics", &self.diagnostics)?;
        stored.end()
    }
}

impl Ptx {
    /// Parses PTX; one NUL byte at its end, as the libraries write it, is taken off.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`](crate::Error::InvalidInput) with the line, when it is no PTX.
    #[doc(alias = "nvvmGetCompiledResult")]
    #[doc(alias = "nvrtcGetPTX")]
    pub fn from_text(text: impl Into<String>) -> Result<Self> {
        Ptx::parse("PTX", text.into())
    }

    /// Parses PTX from bytes, as [`from_text`](Ptx::from_text) does from text.
    ///
    /// # Errors
    ///
    /// As `from_text`, and for bytes that are no UTF-8.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Result<Self> {
        Ptx::named("PTX", bytes.into())
    }

    fn named(input: &str, bytes: Vec<u8>) -> Result<Self> {
        match String::from_utf8(bytes) {
            Ok(text) => Ptx::parse(input, text),
            Err(e) => {
                let good = e.as_bytes().get(..e.utf8_error().valid_up_to());
                Err(InvalidInput {
                    input: input.to_owned(),
                    line: good.map(lexer::line_after),
                    snippet: None,
                    problem: "there is a byte here that is no UTF-8, and so no PTX".to_owned(),
                    hint: "give PTX as text; a cubin or LTO IR has a type of its own".to_owned(),
                }
                .into())
            }
        }
    }

    fn parse(input: &str, mut text: String) -> Result<Self> {
        if text.ends_with('\0') {
            text.pop();
        }
        match parse::parse(&text) {
            Ok(module) => Ok(Ptx {
                text,
                module,
                lowered: BTreeMap::new(),
                diagnostics: Vec::new(),
            }),
            Err(refusal) => Err(InvalidInput {
                input: input.to_owned(),
                line: Some(refusal.line),
                snippet: of_line(text.as_bytes(), refusal.line, None),
                problem: refusal.problem,
                hint: refusal.hint,
            }
            .into()),
        }
    }

    /// The text, without a NUL byte at its end.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The text as bytes, without a NUL byte at its end.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// The version of the PTX language, from `.version`; a driver reads up to its own.
    #[must_use]
    pub fn isa_version(&self) -> IsaVersion {
        self.module.isa_version
    }

    /// The architecture it was made for, from `.target`.
    #[must_use]
    pub fn target(&self) -> Arch {
        self.module.target
    }

    /// What else `.target` says, as in `debug` or `texmode_independent`.
    #[must_use]
    pub fn target_options(&self) -> &[String] {
        &self.module.target_options
    }

    /// The size of an address in bits, from `.address_size`; 32 where that is left out.
    #[must_use]
    pub fn address_size(&self) -> u32 {
        self.module.address_size
    }

    /// The kernels that are defined, in the order of the text.
    #[must_use]
    pub fn kernels(&self) -> &[PtxKernel] {
        &self.module.kernels
    }

    /// The kernel of that name, as it stands in the PTX (mangled, where C++ mangles).
    #[must_use]
    pub fn kernel(&self, name: &str) -> Option<&PtxKernel> {
        self.module.kernels.iter().find(|k| k.name == name)
    }

    /// What it defines and what it needs.
    pub(crate) fn symbols(&self) -> &[Symbol] {
        &self.module.symbols
    }

    /// The names of the functions that are defined and are no kernels, in the order of the text.
    #[must_use]
    pub fn functions(&self) -> &[String] {
        &self.module.functions
    }

    /// What is declared and must come from elsewhere, each once, in the order of the text.
    ///
    /// That is every `.extern`, and every function that has a prototype and no definition.
    #[must_use]
    pub fn externs(&self) -> &[ExternSymbol] {
        &self.module.externs
    }

    /// The compiler that wrote it, from the comments before `.version`.
    ///
    /// NVIDIA's say `Cuda compilation tools, release 13.5, V13.5.37`; of others it is the line
    /// that begins with `Generated by`.
    #[must_use]
    pub fn producer(&self) -> Option<&str> {
        self.module.producer.as_deref()
    }

    /// The kernel that a name expression stands for, as in `ptx.kernel_for("add<float>")`.
    #[must_use]
    pub fn kernel_for(&self, expression: &str) -> Option<&PtxKernel> {
        self.kernel(self.lowered_name(expression)?)
    }

    common!("PTX", left_out: "The lowered names and the diagnostics");
}

impl AsRef<str> for Ptx {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl std::str::FromStr for Ptx {
    type Err = crate::error::Error;

    fn from_str(text: &str) -> Result<Self> {
        Ptx::from_text(text)
    }
}

impl fmt::Debug for Ptx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ptx")
            .field("text", &format_args!("[{} bytes]", self.text.len()))
            .field("module", &self.module)
            .field("diagnostics", &self.diagnostics)
            .finish()
    }
}
