//! What a compilation is made of.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::arch::Arch;
use crate::artifact::bytes;
use crate::link::{self, InputKind};
use crate::{nvrtc, nvvm};

/// Everything about one compilation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// What is compiled, and how.
    pub source: Source,
    /// What is made of it.
    pub emit: Emit,
}

/// What is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Emit {
    /// [`Ptx`](crate::Ptx).
    Ptx,
    /// [`LtoIr`](crate::LtoIr).
    LtoIr,
    /// A [`Cubin`](crate::Cubin).
    Cubin,
}

/// What is compiled, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(
    clippy::large_enum_variant,
    reason = "a job is moved seldom, and its texts are larger"
)]
#[non_exhaustive]
pub enum Source {
    /// NVVM IR, by libNVVM.
    Nvvm(Nvvm),
    /// CUDA C++, by NVRTC.
    Cpp(Cpp),
    /// What was compiled before, by nvJitLink.
    Link(Link),
}

/// A compilation of NVVM IR.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(deny_unknown_fields)]
pub struct Nvvm {
    /// The modules, in order.
    pub modules: Vec<Module>,
    /// Where the functions `__nv_*` come from.
    #[serde(default)]
    pub libdevice: nvvm::Libdevice,
    /// The options, with the architecture.
    pub options: nvvm::Options,
}

/// A module of NVVM IR.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(deny_unknown_fields)]
pub struct Module {
    /// What messages call it.
    pub name: String,
    /// Text or bitcode.
    #[serde(with = "bytes")]
    pub ir: Vec<u8>,
    /// Whether only what others use of it is compiled; bitcode alone can be lazy.
    #[serde(default)]
    pub lazy: bool,
}

/// A compilation of CUDA C++.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(deny_unknown_fields)]
pub struct Cpp {
    /// What messages call the source.
    pub name: String,
    /// The source.
    pub source: String,
    /// Headers in memory.
    #[serde(default)]
    pub headers: Vec<Header>,
    /// Names in the code whose names in the result are asked for.
    #[serde(default)]
    pub names: Vec<String>,
    /// The options, with the architecture.
    pub options: nvrtc::Options,
}

/// A header in memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// What `#include` calls it.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The architecture to link for.
    pub arch: Arch,
    /// The inputs, in order.
    pub inputs: Vec<Input>,
    /// The options.
    #[serde(default)]
    pub options: link::Options,
}

/// An input of a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// What messages call it.
    pub name: String,
    /// What the bytes are.
    pub kind: InputKind,
    /// The bytes.
    #[serde(with = "bytes")]
    pub bytes: Vec<u8>,
}

/// As in ``NVVM IR `k.ll` to PTX for sm_90``.
impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, names): (_, Vec<&str>) = match &self.source {
            Source::Nvvm(nvvm) => (
                "NVVM IR",
                nvvm.modules
                    .iter()
                    .map(|module| module.name.as_str())
                    .collect(),
            ),
            Source::Cpp(cpp) => ("CUDA C++", vec![cpp.name.as_str()]),
            Source::Link(link) => (
                "the link of",
                link.inputs
                    .iter()
                    .map(|input| input.name.as_str())
                    .collect(),
            ),
        };
        f.write_str(what)?;
        match names.as_slice() {
            [] => f.write_str(" of nothing")?,
            [one] => write!(f, " `{one}`")?,
            [first, others @ ..] => write!(f, " `{first}` and {} more", others.len())?,
        }
        let arch = match &self.source {
            Source::Nvvm(nvvm) => nvvm.options.arch,
            Source::Cpp(cpp) => cpp.options.arch,
            Source::Link(link) => link.arch,
        };
        let emit = match self.emit {
            Emit::Ptx => "PTX",
            Emit::LtoIr => "LTO IR",
            Emit::Cubin => "a cubin",
        };
        write!(f, " to {emit} for {arch}")
    }
}

impl Job {
    /// A compilation of one module of NVVM IR; more go to [`with_module`](Job::with_module).
    #[must_use]
    pub fn nvvm(
        name: impl Into<String>,
        ir: impl Into<Vec<u8>>,
        options: nvvm::Options,
        emit: Emit,
    ) -> Self {
        let nvvm = Nvvm {
            modules: Vec::new(),
            libdevice: nvvm::Libdevice::Auto,
            options,
        };
        Job {
            source: Source::Nvvm(nvvm),
            emit,
        }
        .with_module(name, ir, false)
    }

    /// A compilation of CUDA C++; headers go to [`with_header`](Job::with_header).
    #[must_use]
    pub fn cpp(
        name: impl Into<String>,
        source: impl Into<String>,
        options: nvrtc::Options,
        emit: Emit,
    ) -> Self {
        let cpp = Cpp {
            name: name.into(),
            source: source.into(),
            headers: Vec::new(),
            names: Vec::new(),
            options,
        };
        Job {
            source: Source::Cpp(cpp),
            emit,
        }
    }

    /// A link; inputs go to [`with_input`](Job::with_input).
    #[must_use]
    pub fn link(arch: Arch, options: link::Options, emit: Emit) -> Self {
        let link = Link {
            arch,
            inputs: Vec::new(),
            options,
        };
        Job {
            source: Source::Link(link),
            emit,
        }
    }

    /// Adds a module to a compilation of NVVM IR; any other job stays as it is.
    #[must_use]
    pub fn with_module(
        mut self,
        name: impl Into<String>,
        ir: impl Into<Vec<u8>>,
        lazy: bool,
    ) -> Self {
        if let Source::Nvvm(nvvm) = &mut self.source {
            nvvm.modules.push(Module {
                name: name.into(),
                ir: ir.into(),
                lazy,
            });
        }
        self
    }

    /// Adds a header in memory to a compilation of CUDA C++; any other job stays as it is.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        if let Source::Cpp(cpp) = &mut self.source {
            cpp.headers.push(Header {
                name: name.into(),
                text: text.into(),
            });
        }
        self
    }

    /// Adds a name expression to a compilation of CUDA C++; any other job stays as it is.
    #[must_use]
    pub fn with_name(mut self, expression: impl Into<String>) -> Self {
        if let Source::Cpp(cpp) = &mut self.source {
            cpp.names.push(expression.into());
        }
        self
    }

    /// Adds an input to a link; any other job stays as it is.
    #[must_use]
    pub fn with_input(
        mut self,
        name: impl Into<String>,
        kind: InputKind,
        bytes: impl Into<Vec<u8>>,
    ) -> Self {
        if let Source::Link(link) = &mut self.source {
            link.inputs.push(Input {
                name: name.into(),
                kind,
                bytes: bytes.into(),
            });
        }
        self
    }
}
