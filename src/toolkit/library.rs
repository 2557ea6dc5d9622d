//! Opening: the one module that turns a candidate into a library in this process.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};

use super::environment::{Environment, Platform};
use super::image;
use super::layout::Root;
use super::loader::{message, open_library, table_of};
use super::part::{Candidate, Part, Reason, is_stub};
use super::version::version_of;
use crate::error::{Attempt, Library};
use crate::sys::{self, Table};

/// A library that is open, and stays open for the life of the process.
#[derive(Debug)]
#[non_exhaustive]
pub struct Opened<T> {
    /// Its functions.
    pub api: T,
    /// Its name, version and file, as errors show them.
    pub library: Library,
    /// Why it was looked at.
    pub because: Reason,
    /// The toolkit it belongs to, where its path tells.
    pub root: Option<PathBuf>,
    /// The places that were tried before it, and why each was of no use.
    pub passed_over: Vec<Attempt>,
    /// What was learnt of it by asking.
    pub(crate) memo: Memo,
}

#[cfg(test)]
impl<T> Opened<T> {
    /// A table that no file stands behind.
    pub(crate) fn of(api: T, library: Library) -> Self {
        Opened {
            api,
            library,
            because: Reason::Code,
            root: None,
            passed_over: Vec::new(),
            memo: Memo::default(),
        }
    }
}

/// Answers of a library that stay true, kept without a lock.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    /// Whether libNVVM has the newer NVVM below compute_100.
    pub(crate) newer_nvvm: Answer,
    /// Whether libNVVM's older compiler goes by the calling convention `ptx_kernel`.
    pub(crate) convention: Answer,
}

/// Yes, no, or not asked yet.
#[derive(Debug, Default)]
pub(crate) struct Answer(AtomicU8);

impl Answer {
    const NO: u8 = 1;
    const YES: u8 = 2;

    /// The answer, asked for where it is not known. Threads that come at once all ask; an answer of
    /// none is not kept.
    pub(crate) fn get_or_ask(&self, ask: impl FnOnce() -> Option<bool>) -> Option<bool> {
        match self.0.load(Ordering::Relaxed) {
            Self::NO => Some(false),
            Self::YES => Some(true),
            _ => {
                let answer = ask()?;
                let kept = if answer { Self::YES } else { Self::NO };
                self.0.store(kept, Ordering::Relaxed);
                Some(answer)
            }
        }
    }
}

/// What a table says about the library it was loaded from.
pub(super) trait Compiler: Table {
    const PART: Part;

    /// Why this version of the library is of no use.
    fn refusal(&self) -> Option<String> {
        None
    }

    /// The toolkit's version, where the library itself tells.
    fn version(&self) -> Option<String> {
        None
    }

    /// A library that this one opens by name when it is first used, and does not find by itself.
    fn companion(&self, _: Platform) -> Option<String> {
        None
    }
}

impl Compiler for sys::Nvvm {
    const PART: Part = Part::Nvvm;

    fn refusal(&self) -> Option<String> {
        match self.ir_version() {
            Ok(((major, _), _)) if major >= 2 => None,
            Ok(((major, minor), _)) => Some(format!(
                "it reads NVVM IR {major}.{minor}, as in CUDA 11; NVVM IR 2.0 is needed, so CUDA \
                 12.0 or later"
            )),
            Err(failed) => Some(format!(
                "it does not tell its NVVM IR version (code {})",
                failed.0
            )),
        }
    }
}

impl Compiler for sys::Nvrtc {
    const PART: Part = Part::Nvrtc;

    fn version(&self) -> Option<String> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: two valid places for integers.
        let code = unsafe { (self.nvrtcVersion)(&mut major, &mut minor) };
        (code == sys::bindings::nvrtc::NVRTC_SUCCESS).then(|| format!("{major}.{minor}"))
    }

    fn companion(&self, platform: Platform) -> Option<String> {
        let version = self.version()?;
        Some(if platform.is_windows() {
            format!("nvrtc-builtins64_{}.dll", version.replace('.', ""))
        } else {
            format!("libnvrtc-builtins.so.{version}")
        })
    }
}

impl Compiler for sys::NvJitLink {
    const PART: Part = Part::NvJitLink;

    fn version(&self) -> Option<String> {
        let ask = self.nvJitLinkVersion?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: two valid places for integers.
        let code = unsafe { ask(&mut major, &mut minor) };
        (code == sys::bindings::nvjitlink::NVJITLINK_SUCCESS).then(|| format!("{major}.{minor}"))
    }
}

/// Opens the first candidate that is of use, or says why none is.
pub(super) fn open_first<T: Compiler>(
    environment: &Environment,
    candidates: Vec<Candidate>,
) -> Result<Opened<T>, Vec<Attempt>> {
    let mut passed_over = Vec::new();
    for candidate in candidates {
        match open::<T>(environment, &candidate) {
            Ok((api, library, root)) => {
                tracing::debug!(%library, because = %candidate.because, "opened");
                return Ok(Opened {
                    api,
                    library,
                    because: candidate.because,
                    root,
                    passed_over,
                    memo: Memo::default(),
                });
            }
            Err(failure) => passed_over.push(attempt(&candidate, failure)),
        }
    }
    Err(passed_over)
}

/// A candidate that was of no use, as an error shows it.
pub(super) fn attempt(candidate: &Candidate, failure: String) -> Attempt {
    tracing::trace!(%candidate, failure, "of no use");
    Attempt {
        path: candidate.path.clone(),
        because: candidate.because.to_string(),
        failure,
    }
}

fn open<T: Compiler>(
    environment: &Environment,
    candidate: &Candidate,
) -> Result<(T, Library, Option<PathBuf>), String> {
    if let Some(problem) = &candidate.problem {
        return Err(problem.clone());
    }
    if !candidate.is_by_name() {
        image::check(&candidate.path, Platform::current())?;
    }
    let (api, loaded_from) = load::<T>(&candidate.path)?;
    let path = if candidate.is_by_name() {
        let real = loaded_from.unwrap_or_else(|| candidate.path.clone());
        let resolved = environment.files().canonicalize(&real);
        if is_stub(&real) || resolved.as_deref().is_some_and(is_stub) {
            return Err(format!(
                "the loader found {}, a stub for linking, which does nothing",
                real.display()
            ));
        }
        resolved.unwrap_or(real)
    } else {
        candidate.path.clone()
    };
    if let Some(refusal) = api.refusal() {
        return Err(refusal);
    }
    // NVRTC of CUDA 13.0 looks for its builtins by name alone, where nothing says to look beside it;
    // a library of that name that is there already is taken. Where this fails, NVRTC says so itself.
    if let (Some(companion), Some(folder)) = (api.companion(Platform::current()), path.parent()) {
        let companion = folder.join(companion);
        if environment.files().is_file(&companion) {
            // A file that is cut off would end the process now, or at the first compilation.
            image::check(&companion, Platform::current())
                .map_err(|reason| format!("its part {}: {reason}", companion.display()))?;
            // SAFETY: as for the library itself, whose part this is.
            if let Ok(library) = unsafe { open_library(&companion) } {
                std::mem::forget(library);
            }
        }
    }
    let root = candidate
        .root
        .clone()
        .or_else(|| Root::of_file(&path).map(|root| root.path));
    let version = api
        .version()
        .or_else(|| version_of(environment, T::PART, root.as_deref()?));
    let library = Library {
        name: T::LIBRARY.to_owned(),
        version,
        path,
    };
    Ok((api, library, root))
}

/// Opens a library for ever and builds its table; the second value is the file that the loader
/// says it came from.
fn load<T: Compiler>(path: &Path) -> Result<(T, Option<PathBuf>), String> {
    // SAFETY: opening runs the library's initialisers. The candidate is a library of the name that
    // NVIDIA gives it, in a place that the user or the system has chosen for it.
    let library = unsafe { open_library(path) }.map_err(|e| message(&e))?;
    // NVIDIA's libraries do not survive being closed, so this one never is, useful or not.
    let library: &'static _ = Box::leak(Box::new(library));
    // SAFETY: the library has NVIDIA's name for it, so its functions have NVIDIA's signatures; it is
    // never closed, so they stay valid.
    let (api, file) = unsafe { table_of::<T>(library) };
    let api = api.map_err(|missing| {
        format!("{missing}, so it is older than CUDA 12.0 or another library of that name")
    })?;
    Ok((api, file))
}

#[cfg(test)]
mod tests {
    use std::ffi::{c_int, c_void};
    use std::ptr::NonNull;

    use rstest::rstest;

    use super::*;

    /// An `nvvmIRVersion` that answers with a major version and minor 9.
    unsafe extern "C" fn ir_version<const MAJOR: c_int>(
        major: *mut c_int,
        minor: *mut c_int,
        debug_major: *mut c_int,
        debug_minor: *mut c_int,
    ) -> c_int {
        // SAFETY: the caller passes four valid places.
        unsafe {
            *major = MAJOR;
            *minor = 9;
            *debug_major = 3;
            *debug_minor = 0;
        }
        // What is below 1 stands for a library that fails.
        if MAJOR < 1 { 1 } else { 0 }
    }

    fn library<const MAJOR: c_int>() -> sys::Nvvm {
        let function = ir_version::<MAJOR> as *const () as *mut c_void;
        // SAFETY: of the functions that are found here, the test calls `nvvmIRVersion` alone.
        unsafe { sys::Nvvm::load(|_| NonNull::new(function)) }.unwrap()
    }

    #[rstest]
    #[case(library::<1>(), Some("CUDA 12.0 or later"))]
    #[case(library::<0>(), Some("does not tell its NVVM IR version (code 1)"))]
    #[case(library::<2>(), None)]
    #[case(library::<3>(), None)]
    fn a_libnvvm_of_cuda_11_is_refused(#[case] api: sys::Nvvm, #[case] says: Option<&str>) {
        match (api.refusal(), says) {
            (Some(refusal), Some(says)) => assert!(refusal.contains(says), "{refusal}"),
            (refusal, says) => assert_eq!(refusal.as_deref(), says),
        }
    }
}
