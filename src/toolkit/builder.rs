//! Saying in code which toolkit, or which file of one part, is to be used.

use std::path::{Path, PathBuf};

use super::environment::{Environment, Platform};
use super::image;
use super::libdevice::read_first;
use super::library::attempt;
use super::part::{Candidate, Part};
use super::search::{Request, explicit_problem, search};
use super::toolkit::{Toolkit, not_found, not_found_part};
use crate::error::{Attempt, Error, InvalidInput, Result};

/// Says which toolkit or which files to use, before anything is opened.
///
/// ```no_run
/// use cuda_program::Toolkit;
///
/// let toolkit = Toolkit::builder()
///     .root("/opt/cuda-13.5")
///     .libdevice("/opt/mine/libdevice.10.bc")
///     .build()?;
/// # Ok::<(), cuda_program::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Builder {
    request: Request,
    environment: Option<Environment>,
}

impl Builder {
    /// Adds a toolkit that goes before all that the environment names.
    ///
    /// Roots are tried in the order of the calls. What they lack is searched for elsewhere, unless
    /// [`only`](Self::only) is called.
    pub fn root(mut self, path: impl AsRef<Path>) -> Self {
        self.request.roots.push(path.as_ref().to_owned());
        self
    }

    /// Makes a file the only candidate for libNVVM.
    pub fn nvvm(self, file: impl Into<PathBuf>) -> Self {
        self.file(Part::Nvvm, file)
    }

    /// Makes a file the only candidate for NVRTC.
    pub fn nvrtc(self, file: impl Into<PathBuf>) -> Self {
        self.file(Part::Nvrtc, file)
    }

    /// Makes a file the only candidate for nvJitLink.
    pub fn nvjitlink(self, file: impl Into<PathBuf>) -> Self {
        self.file(Part::NvJitLink, file)
    }

    /// Makes a file the only candidate for libdevice.
    pub fn libdevice(self, file: impl Into<PathBuf>) -> Self {
        self.file(Part::Libdevice, file)
    }

    pub(super) fn file(mut self, part: Part, file: impl Into<PathBuf>) -> Self {
        self.request.files.insert(part, file.into());
        self
    }

    /// Looks nowhere but in the roots and files that were given.
    pub fn only(mut self) -> Self {
        self.request.only = true;
        self
    }

    /// Searches another environment than that of this process.
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = Some(environment);
        self
    }

    /// Every place where a part would be looked for, in order, with the reason for each.
    ///
    /// Nothing is opened, and nothing need be installed.
    #[must_use]
    pub fn candidates(&self, part: Part) -> Vec<Candidate> {
        let current;
        let environment = match &self.environment {
            Some(environment) => environment,
            None => {
                current = Environment::current();
                &current
            }
        };
        let mut found = search(environment, &self.request);
        found.retain(|candidate| candidate.part == part);
        found
    }

    /// Finds the toolkit and opens libNVVM, or another compiler where there is no libNVVM.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] when no compiler could be opened, when a file that was given cannot be
    /// used, and when a root that was given, or `CUDA_PROGRAM_TOOLKIT`, leads to no toolkit;
    /// [`Error::InvalidInput`] for an empty path.
    pub fn build(self) -> Result<Toolkit> {
        let Builder {
            request,
            environment,
        } = self;
        let environment = environment.unwrap_or_else(Environment::current);
        // An empty path would mean the current folder, which nobody writes so.
        if request
            .roots
            .iter()
            .chain(request.files.values())
            .any(|path| path.as_os_str().is_empty())
        {
            return Err(Error::InvalidInput(Box::new(InvalidInput {
                input: "toolkit".to_owned(),
                line: None,
                snippet: None,
                problem: "the path that was given is empty".to_owned(),
                hint: "name a folder or file, or use Toolkit::discover()".to_owned(),
            })));
        }
        if let Some(problem) = explicit_problem(&environment, &request) {
            return Err(problem.into());
        }
        check_files(&environment, &request)?;

        let toolkit = Toolkit::new(environment, request.clone());
        let mut failures = Vec::new();
        match toolkit.nvvm() {
            Ok(_) => return Ok(toolkit),
            // A file that was given is wanted, so another compiler is no substitute.
            Err(error) if request.files.contains_key(&Part::Nvvm) => return Err(error),
            Err(error) => failures.push(error),
        }
        match toolkit.nvrtc() {
            Ok(_) => return Ok(toolkit),
            Err(error) => failures.push(error),
        }
        match toolkit.nvjitlink() {
            Ok(_) => return Ok(toolkit),
            Err(error) => failures.push(error),
        }
        let parts = [Part::Nvvm, Part::Nvrtc, Part::NvJitLink];
        let name = "a compiler of NVIDIA's (libNVVM, NVRTC or nvJitLink)";
        Err(not_found(name, &parts, merged(failures), &request).into())
    }
}

/// Refuses a given file at once, even where its part is opened only later.
fn check_files(environment: &Environment, request: &Request) -> Result<()> {
    if request.files.is_empty() {
        return Ok(());
    }
    let candidates = search(environment, request);
    for candidate in candidates
        .into_iter()
        .filter(|c| request.files.contains_key(&c.part))
    {
        let part = candidate.part;
        let checked = match (&candidate.problem, part) {
            (_, Part::Libdevice) => read_first(environment, vec![candidate]).map(drop),
            (Some(problem), _) => Err(vec![attempt(&candidate, problem.clone())]),
            (None, _) => image::check(&candidate.path, Platform::current())
                .map_err(|failure| vec![attempt(&candidate, failure)]),
        };
        checked.map_err(|tried| not_found_part(part, tried, request))?;
    }
    Ok(())
}

/// The attempts of several searches, each once: a folder that does not exist lacks every part.
fn merged(failures: Vec<Error>) -> Vec<Attempt> {
    let mut tried: Vec<Attempt> = Vec::new();
    for failure in failures {
        if let Error::NotFound(not_found) = failure {
            for attempt in not_found.tried {
                if !tried.contains(&attempt) {
                    tried.push(attempt);
                }
            }
        }
    }
    tried
}
