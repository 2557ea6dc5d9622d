//! The handle that the rest of the crate asks for libraries.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde::Serialize;

use super::builder::Builder;
use super::environment::Environment;
use super::libdevice::{Libdevice, read_first};
use super::library::{Compiler, Opened, open_first};
use super::part::{Candidate, Part, Reason};
use super::search::{Request, libdevice_beside, once_each, search};
use crate::error::{Attempt, NotFound, Result};
use crate::sys;

/// NVIDIA's libNVVM, libdevice, NVRTC and nvJitLink, each opened when it is first needed.
///
/// A clone is cheap and shares what is open. A part that could not be opened is looked for anew by
/// the next call, so an installation that was repaired meanwhile is found.
///
/// No lock is held while a library is opened: threads that come first at once may each open it,
/// which the system's loader makes one, and all get the same table.
///
/// ```no_run
/// use cuda_program::Toolkit;
///
/// let toolkit = Toolkit::discover()?;
/// println!("{}", toolkit.nvvm()?.library);
/// println!("{}", toolkit.libdevice()?.path.display());
/// # Ok::<(), cuda_program::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Toolkit {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    environment: Environment,
    request: Request,
    nvvm: OnceLock<Arc<Opened<sys::Nvvm>>>,
    nvrtc: OnceLock<Arc<Opened<sys::Nvrtc>>>,
    nvjitlink: OnceLock<Arc<Opened<sys::NvJitLink>>>,
    libdevice: OnceLock<Libdevice>,
}

/// Where a part in use came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Source {
    /// The part.
    pub part: Part,
    /// Its file.
    pub path: PathBuf,
    /// The version of its toolkit, as in `13.5`, where that is known.
    pub version: Option<String>,
    /// The folder of its toolkit, where that is known.
    pub root: Option<PathBuf>,
    /// Why it was looked at.
    pub because: Reason,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.part)?;
        if let Some(version) = &self.version {
            write!(f, " {version}")?;
        }
        write!(f, ": {} ({})", self.path.display(), self.because)
    }
}

impl Toolkit {
    /// Finds the toolkit of this machine; the [module](crate::toolkit) says where it looks.
    ///
    /// libNVVM is opened at once where there is one, the other parts at first need.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`](crate::Error::NotFound) when no compiler could be opened, with every place
    /// tried; and when `CUDA_PROGRAM_TOOLKIT` names a folder that has no part of a toolkit.
    pub fn discover() -> Result<Self> {
        Self::builder().build()
    }

    /// The toolkit at or below a folder, and nothing else.
    ///
    /// The folder is an installed toolkit, a `site-packages` folder with NVIDIA's wheels, its
    /// `nvidia` folder, `nvidia/cu13`, a virtual environment, or a conda prefix. The variables of the
    /// environment have no effect.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`](crate::Error::NotFound) when there is no compiler in it.
    pub fn at(path: impl AsRef<Path>) -> Result<Self> {
        Self::builder().root(path).only().build()
    }

    /// A builder, for single files and for other environments.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The toolkit of these files, and of nothing else.
    #[cfg(all(feature = "isolate", unix, not(loom)))]
    pub(crate) fn of_files(files: &std::collections::BTreeMap<Part, PathBuf>) -> Result<Self> {
        files
            .iter()
            .fold(Self::builder().only(), |builder, (&part, path)| {
                builder.file(part, path)
            })
            .build()
    }

    pub(super) fn new(environment: Environment, request: Request) -> Self {
        Self {
            inner: Arc::new(Inner {
                environment,
                request,
                nvvm: OnceLock::new(),
                nvrtc: OnceLock::new(),
                nvjitlink: OnceLock::new(),
                libdevice: OnceLock::new(),
            }),
        }
    }

    /// libNVVM, opened by the first call.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`](crate::Error::NotFound), which the next call does not remember.
    #[doc(alias = "nvvmIRVersion")]
    pub fn nvvm(&self) -> Result<&Arc<Opened<sys::Nvvm>>> {
        self.opened(&self.inner.nvvm)
    }

    /// NVRTC, opened by the first call.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`](crate::Error::NotFound), which the next call does not remember.
    #[doc(alias = "nvrtcVersion")]
    pub fn nvrtc(&self) -> Result<&Arc<Opened<sys::Nvrtc>>> {
        self.opened(&self.inner.nvrtc)
    }

    /// nvJitLink, opened by the first call.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`](crate::Error::NotFound), which the next call does not remember.
    #[doc(alias = "nvJitLinkVersion")]
    pub fn nvjitlink(&self) -> Result<&Arc<Opened<sys::NvJitLink>>> {
        self.opened(&self.inner.nvjitlink)
    }

    /// libdevice, read by the first call, from beside the libNVVM in use where it lies there.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`](crate::Error::NotFound), which the next call does not remember.
    pub fn libdevice(&self) -> Result<&Libdevice> {
        if let Some(known) = self.inner.libdevice.get() {
            return Ok(known);
        }
        // Which libNVVM is in use decides where to look; without one, libdevice is still of use.
        let _ = self.nvvm();
        let found = read_first(&self.inner.environment, self.candidates(Part::Libdevice))
            .map_err(|tried| not_found_part(Part::Libdevice, tried, &self.inner.request))?;
        Ok(self.inner.libdevice.get_or_init(|| found))
    }

    /// Every place where a part is looked for, in order, with the reason for each.
    ///
    /// The search is made anew; nothing is opened.
    #[must_use]
    pub fn candidates(&self, part: Part) -> Vec<Candidate> {
        let Inner {
            environment,
            request,
            nvvm,
            ..
        } = &*self.inner;
        let mut found = search(environment, request);
        found.retain(|candidate| candidate.part == part);
        if part != Part::Libdevice || request.files.contains_key(&part) {
            return found;
        }
        let Some(nvvm) = nvvm.get() else {
            return found;
        };
        let (named, others): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|c| c.because.is_explicit());
        let beside = libdevice_beside(environment, &nvvm.library.path);
        let all = named.into_iter().chain(beside).chain(others).collect();
        once_each(environment, all)
    }

    /// Where the parts in use came from; a part that nothing has asked for yet is not among them.
    #[must_use]
    pub fn sources(&self) -> Vec<Source> {
        let inner = &*self.inner;
        let libdevice = inner.libdevice.get().map(|found| Source {
            part: Part::Libdevice,
            path: found.path.clone(),
            version: found.version.clone(),
            root: found.root.clone(),
            because: found.because,
        });
        [
            inner.nvvm.get().map(|opened| source(opened)),
            libdevice,
            inner.nvrtc.get().map(|opened| source(opened)),
            inner.nvjitlink.get().map(|opened| source(opened)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Whether the parts in use come from more than one toolkit, or from more than one version.
    #[must_use]
    pub fn is_mixed(&self) -> bool {
        let sources = self.sources();
        let files = self.inner.environment.files();
        let roots: BTreeSet<PathBuf> = sources
            .iter()
            .filter_map(|s| s.root.clone())
            .map(|root| files.canonicalize(&root).unwrap_or(root))
            .collect();
        let versions: BTreeSet<&str> = sources
            .iter()
            .filter_map(|s| s.version.as_deref())
            .collect();
        roots.len() > 1 || versions.len() > 1
    }

    fn opened<'a, T: Compiler>(
        &self,
        cell: &'a OnceLock<Arc<Opened<T>>>,
    ) -> Result<&'a Arc<Opened<T>>> {
        if let Some(opened) = cell.get() {
            return Ok(opened);
        }
        let opened = open_first(&self.inner.environment, self.candidates(T::PART))
            .map_err(|tried| not_found_part(T::PART, tried, &self.inner.request))?;
        // Made before the cell is entered, so that no thread waits for another's opening.
        let opened = Arc::new(opened);
        Ok(cell.get_or_init(|| opened))
    }
}

fn source<T: Compiler>(opened: &Opened<T>) -> Source {
    Source {
        part: T::PART,
        path: opened.library.path.clone(),
        version: opened.library.version.clone(),
        root: opened.root.clone(),
        because: opened.because,
    }
}

pub(super) fn not_found_part(part: Part, tried: Vec<Attempt>, request: &Request) -> NotFound {
    not_found(part.name(), &[part], tried, request)
}

/// The error for parts that are nowhere, with the advice that fits what was asked for.
pub(super) fn not_found(
    name: &str,
    parts: &[Part],
    tried: Vec<Attempt>,
    request: &Request,
) -> NotFound {
    let hint = if request.only || parts.iter().any(|part| request.files.contains_key(part)) {
        "name another toolkit or file, or use Toolkit::discover() to search the usual places"
            .to_owned()
    } else {
        let wheels: Vec<&str> = parts.iter().map(|part| part.wheel()).collect();
        format!(
            "install it into the active virtual environment with `python3 -m pip install {}`, or set CUDA_PROGRAM_TOOLKIT or CUDA_HOME \
             to an installed toolkit; in the crate's own repository, run `cargo xtask toolkit` and \
             set CUDA_PROGRAM_TOOLKIT to target/toolkits/<version>",
            wheels.join(" ")
        )
    };
    NotFound {
        part: name.to_owned(),
        tried,
        hint,
    }
}
