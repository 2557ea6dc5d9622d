//! A linker: inputs of any kind in, one artifact out.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fmt;
use std::path::Path;

use super::check::{self, Plan};
use super::input::{Content, Input, InputKind, Known, Linkable, Ready};
use super::log;
use super::options::Options;
use super::output::{Context, Output};
use super::turns;
use crate::arch::Arch;
use crate::diagnostic::{Severity, ptxas};
use crate::error::{Error, Library, LibraryError, Result, Stage};
use crate::guard::{Guarded, guarded};
use crate::hints::{Said, Speaker};
use crate::nvvm::Dialect;
use crate::sys::{Fetch, LinkFailed, Linked, NvJitLink, RawLinker, nvjitlink_code_name};
use crate::toolkit::{Opened, Toolkit};

/// Inputs that are linked together, by nvJitLink.
///
/// It owns its inputs and holds no handle: each link makes one, so a failed link spoils nothing, and
/// any number of threads may link at once.
#[doc(alias = "nvJitLinkHandle")]
#[derive(Clone)]
#[must_use]
pub struct Linker {
    toolkit: Toolkit,
    arch: Arch,
    options: Options,
    inputs: Vec<Input>,
}

impl Linker {
    /// A linker without inputs, for an architecture; the toolkit's nvJitLink is opened by the link.
    pub fn new(toolkit: &Toolkit, arch: Arch) -> Self {
        Linker {
            toolkit: toolkit.clone(),
            arch,
            options: Options::new(),
            inputs: Vec::new(),
        }
    }

    /// Sets the options.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Adds an artifact, by value or by reference; messages call it `PTX 1`, `LTO IR 2` and so on.
    #[doc(alias = "nvJitLinkAddData")]
    #[allow(clippy::should_implement_trait)]
    pub fn add(self, artifact: impl Linkable) -> Self {
        let content = artifact.content();
        let kind = match &content {
            Content::Ptx(_) => "PTX",
            Content::Cubin(_) => "cubin",
            Content::LtoIr(_) => "LTO IR",
            Content::Bytes(..) | Content::File(_) => "input",
        };
        let name = format!("{kind} {}", self.inputs.len() + 1);
        self.with(name, content)
    }

    /// Adds an artifact under a name of one's own, which messages use.
    pub fn add_named(self, name: impl Into<String>, artifact: impl Linkable) -> Self {
        self.with(name.into(), artifact.content())
    }

    /// Adds bytes of a kind under a name; they are looked at by the link.
    #[doc(alias = "nvJitLinkAddData")]
    pub fn add_bytes(
        self,
        name: impl Into<String>,
        kind: InputKind,
        bytes: impl AsRef<[u8]>,
    ) -> Self {
        let bytes = bytes.as_ref().into();
        self.with(name.into(), Content::Bytes(kind, bytes))
    }

    /// Adds a file of any kind, told by its first bytes; it is read by each link.
    #[doc(alias = "nvJitLinkAddFile")]
    pub fn add_file(self, path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        self.with(path.display().to_string(), Content::File(path.to_owned()))
    }

    fn with(mut self, name: String, content: Content) -> Self {
        self.inputs.push(Input { name, content });
        self
    }

    /// The library that links.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where there is no nvJitLink, with every place that was tried.
    pub fn library(&self) -> Result<&Library> {
        Ok(&self.toolkit.nvjitlink()?.library)
    }

    /// Links the inputs to a cubin, to PTX (of LTO IR alone) or to LTO IR (nvJitLink 13.3 or later).
    ///
    /// What the library said besides is in the artifact's diagnostics.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where there is no nvJitLink; [`Error::InvalidOptions`] for options that
    /// cannot be honoured; [`Error::InvalidInput`] for an input that is damaged, for another
    /// architecture, newer than the library, or that defines what another does; [`Error::Io`] for a
    /// file that cannot be read; [`Error::Unsupported`] where the library is too old;
    /// [`Error::Library`] with code, log and options where it fails; [`Error::Unresolved`],
    /// [`Error::KernelsDropped`] and [`Error::WrongOutput`] where it reports success for something else than was asked for.
    #[doc(alias = "nvJitLinkComplete")]
    #[doc(alias = "nvJitLinkGetLinkedCubin")]
    #[doc(alias = "nvJitLinkGetLinkedPtx")]
    #[doc(alias = "nvJitLinkGetLinkedLTOIR")]
    pub fn link<T: Output>(&self) -> Result<T> {
        self.options.check()?;
        let nvjitlink = self.toolkit.nvjitlink()?;
        let library = &nvjitlink.library;
        if let Some(version) = library.major_minor() {
            self.options.check_version(version, library)?;
        }
        let inputs: Vec<Ready<'_>> = self
            .inputs
            .iter()
            .map(Input::ready)
            .collect::<Result<_>>()?;
        let plan = check::check(&inputs, self.arch, &self.options, library)?;
        self.check_output(T::FETCH, &inputs, nvjitlink)?;
        let flags = self.flags(T::FETCH, &plan);
        let api = nvjitlink.api;
        let may_be_refused =
            |input: &Ready<'_>| matches!(input.known, Known::Cubin(_) | Known::Other(..));
        let link = || guarded(|guard| run(api, self.arch, &flags, &inputs, T::FETCH, guard));
        let is_lto = |input: &Ready<'_>| matches!(input.known, Known::LtoIr(_));
        let mixed = plan.lto && !inputs.iter().all(is_lto);
        let linked = if mixed && library.major_minor().is_some_and(turns::loses_late) {
            turns::alone(&library.path, link)
        } else {
            let trial = inputs.iter().any(may_be_refused).then_some(|| {
                guarded(|guard| added(api, self.arch, &flags, &inputs, guard).map(drop))
            });
            turns::link(&library.path, trial, link)
        };
        let text_of = |name: &str| inputs.iter().find(|i| i.name == name).and_then(Ready::text);
        let linked = linked?.map_err(|failure| {
            let error = self.failed(failure, &flags, &plan, library);
            error.marked(&text_of)
        })?;
        let mut diagnostics = ptxas::parse(&log::text(&linked.said), Severity::Note);
        let warned = log::text(&linked.warned);
        let mut warned = ptxas::parse(&warned, Severity::Warning);
        let call = Said::new(Speaker::NvJitLink, Stage::Query, (0, ""), "", library);
        call.advise(&mut warned);
        diagnostics.append(&mut warned);
        tracing::debug!(arch = %self.arch, kind = T::KIND, "linked");
        T::finish(
            linked.bytes,
            Context {
                plan,
                arch: self.arch,
                options: &self.options,
                library,
                lowered: lowered_names(&inputs),
                diagnostics,
            },
        )
    }

    fn check_output(
        &self,
        fetch: Fetch,
        inputs: &[Ready<'_>],
        nvjitlink: &Opened<NvJitLink>,
    ) -> Result<()> {
        let library = &nvjitlink.library;
        let unsupported = |what: &str, needs: &str| Error::Unsupported {
            what: what.to_owned(),
            needs: needs.to_owned(),
            library: library.clone(),
        };
        let api = &nvjitlink.api;
        let writes_lto =
            api.nvJitLinkGetLinkedLTOIR.is_some() && api.nvJitLinkGetLinkedLTOIRSize.is_some();
        if fetch == Fetch::LtoIr && !writes_lto {
            return Err(unsupported("linking to LTO IR", "nvJitLink 13.3 or later"));
        }
        // 13.0 takes the flag and makes nothing of it.
        let version = library.major_minor();
        if self.options.relocatable && version.is_some_and(|version| version < (13, 2)) {
            return Err(unsupported(
                "a partial link (-r)",
                "nvJitLink 13.2 or later",
            ));
        }
        if self.options.relocatable && fetch == Fetch::Ptx {
            return Err(Error::invalid_options(
                "a partial link (`relocatable`) makes no PTX",
                "link to `Cubin` or `LtoIr`, or leave `relocatable` out",
            ));
        }
        let other = inputs
            .iter()
            .find(|input| matches!(input.known, Known::Ptx(_) | Known::Cubin(_)));
        match other {
            Some(input) if fetch != Fetch::Cubin => Err(Error::InvalidOptions {
                problem: format!(
                    "{} is no LTO IR, of which alone PTX and LTO IR are linked",
                    input.name
                ),
                hint: "link to `Cubin`, or compile the input to LTO IR".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// The flags behind `-arch`.
    fn flags(&self, fetch: Fetch, plan: &Plan) -> Vec<String> {
        let options = &self.options;
        let mut flags = options.flags();
        if options.lto || plan.lto || fetch != Fetch::Cubin {
            flags.push("-lto".to_owned());
        }
        if fetch == Fetch::Ptx {
            flags.push("-ptx".to_owned());
        }
        let needed = plan.modern && self.arch < Arch::SM_100;
        if options.dialect == Dialect::Latest || needed {
            flags.push("-nvvm-latest".to_owned());
        }
        flags.extend(options.extra.iter().cloned());
        flags
    }

    fn failed(&self, failure: Failure, flags: &[String], plan: &Plan, library: &Library) -> Error {
        let Failure {
            stage,
            input,
            what: LinkFailed { code, log },
        } = failure;
        let log = log::text(&log);
        let spelt = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%');
        let unspeakable = plan.kernels.iter().find(|name| {
            !name.chars().all(spelt) || name.starts_with(|c: char| c.is_ascii_digit())
        });
        let (number, code_name) = (
            i32::try_from(code).unwrap_or(i32::MAX),
            nvjitlink_code_name(code),
        );
        let said = Said {
            arch: Some(self.arch),
            unresolved: &plan.unresolved,
            unspeakable: unspeakable.map(String::as_str),
            ..Said::new(
                Speaker::NvJitLink,
                stage,
                (number, code_name),
                &log,
                library,
            )
        };
        let hint = said.hint();
        let mut diagnostics = ptxas::parse(&log, Severity::Error);
        said.advise(&mut diagnostics);
        if let Some(input) = &input {
            ptxas::name_input(&mut diagnostics, input);
        }
        let options = std::iter::once(format!("-arch={}", self.arch));
        LibraryError {
            stage,
            code: number,
            code_name: code_name.to_owned(),
            input,
            diagnostics,
            hint,
            log,
            options: options.chain(flags.iter().cloned()).collect(),
            library: library.clone(),
        }
        .into()
    }
}

/// The names of all inputs that became others; none where two inputs disagree on one.
fn lowered_names(inputs: &[Ready<'_>]) -> BTreeMap<String, String> {
    let mut all: BTreeMap<&String, Option<&String>> = BTreeMap::new();
    for input in inputs {
        let names = match &input.known {
            Known::Ptx(ptx) => ptx.lowered_names(),
            Known::Cubin(cubin) => cubin.lowered_names(),
            Known::LtoIr(lto) => lto.lowered_names(),
            Known::Other(..) => continue,
        };
        for (name, became) in names {
            let known = all.entry(name).or_insert(Some(became));
            *known = known.filter(|known| *known == became);
        }
    }
    all.into_iter()
        .filter_map(|(name, became)| Some((name.clone(), became?.clone())))
        .collect()
}

/// A failed call, where it happened, and the input it happened on.
struct Failure {
    stage: Stage,
    input: Option<String>,
    what: LinkFailed,
}

/// A handle with all inputs: the first failure ends it, since the library reports success for what
/// comes after one.
fn added(
    api: NvJitLink,
    arch: Arch,
    flags: &[String],
    inputs: &[Ready<'_>],
    guard: &Guarded,
) -> Result<RawLinker, Failure> {
    let flags: Vec<CString> = flags.iter().map(|flag| c_string(flag)).collect();
    let mut linker = RawLinker::create(api, arch, flags, guard).map_err(at(Stage::Create, None))?;
    for input in inputs {
        linker = linker
            .add(
                input.kind().raw(),
                &input.bytes(),
                c_string(input.name),
                guard,
            )
            .map_err(at(Stage::Add, Some(input.name)))?;
    }
    Ok(linker)
}

fn at(stage: Stage, input: Option<&str>) -> impl FnOnce(LinkFailed) -> Failure + use<> {
    let input = input.map(str::to_owned);
    move |what| Failure { stage, input, what }
}

/// One link.
fn run(
    api: NvJitLink,
    arch: Arch,
    flags: &[String],
    inputs: &[Ready<'_>],
    fetch: Fetch,
    guard: &Guarded,
) -> Result<Linked, Failure> {
    let linker = added(api, arch, flags, inputs, guard)?;
    // With one input there is no doubt which one it is.
    let only = match inputs {
        [one] => Some(one.name),
        _ => None,
    };
    let linker = linker.complete(guard).map_err(at(Stage::Link, only))?;
    let absent = || {
        Err(LinkFailed {
            code: u32::MAX,
            log: Vec::new(),
        })
    };
    linker
        .fetch(fetch, guard)
        .unwrap_or_else(absent)
        .map_err(at(Stage::Fetch, None))
}

/// Names and flags with a NUL byte were refused before.
fn c_string(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

impl fmt::Debug for Linker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Linker")
            .field("arch", &self.arch)
            .field("options", &self.options)
            .field(
                "inputs",
                &self
                    .inputs
                    .iter()
                    .map(|input| &input.name)
                    .collect::<Vec<_>>(),
            )
            .finish_non_exhaustive()
    }
}
