//! Which program is the worker.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// Names a program that is the worker.
const VARIABLE: &str = "CUDA_PROGRAM_WORKER";

/// The command line's program, which is a worker too.
const BINARY: &str = "cuda-program";

/// Whether this program is a worker where it is started as one.
static IS_ITS_OWN: AtomicBool = AtomicBool::new(false);

/// What a program is started with to be a worker.
pub(super) const ARGUMENTS: [&str; 2] = ["worker", "--of-cuda-program"];

/// This program called `init`.
pub(super) fn is_its_own() {
    IS_ITS_OWN.store(true, Ordering::Release);
}

/// Whether this process was started as a worker.
pub(super) fn is_worker() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    let all = ARGUMENTS
        .iter()
        .all(|a| arguments.next().is_some_and(|there| there == *a));
    all && arguments.next().is_none()
}

/// What the search knows.
struct Surroundings {
    named: Option<PathBuf>,
    variable: Option<PathBuf>,
    this: Option<PathBuf>,
    is_its_own: bool,
    path: Vec<PathBuf>,
}

/// The worker's file.
///
/// # Errors
///
/// [`Error::NoWorker`] where none is found, or a file that was named is not there.
pub(super) fn find(named: Option<&Path>) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    Surroundings {
        named: named.map(Path::to_owned),
        variable: std::env::var_os(VARIABLE)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from),
        this: std::env::current_exe().ok(),
        is_its_own: IS_ITS_OWN.load(Ordering::Acquire),
        path: std::env::split_paths(&path).collect(),
    }
    .find()
}

/// Whether there is a worker.
pub(crate) fn is_possible() -> bool {
    find(None).is_ok()
}

impl Surroundings {
    fn find(self) -> Result<PathBuf> {
        for (file, by) in [(self.named, "the options name"), (self.variable, VARIABLE)] {
            let Some(file) = file else { continue };
            if file.is_file() {
                return Ok(file);
            }
            let by = if by == VARIABLE {
                "CUDA_PROGRAM_WORKER names"
            } else {
                by
            };
            return Err(Error::NoWorker {
                problem: format!("there is no file {}, which {by}", file.display()),
                hint: "correct the path, or leave it out and the worker is looked for".to_owned(),
            });
        }
        if let Some(this) = self.this.as_deref().filter(|_| self.is_its_own) {
            return Ok(this.to_owned());
        }
        let beside = self.this.as_deref().and_then(Path::parent);
        beside
            .into_iter()
            .chain(self.path.iter().map(PathBuf::as_path))
            .map(|folder| folder.join(format!("{BINARY}{}", std::env::consts::EXE_SUFFIX)))
            .find(|file| file.is_file())
            .ok_or_else(|| Error::NoWorker {
                problem: format!(
                    "this program did not call `cuda_program::isolate::init()`, and there is no \
                     `{BINARY}` beside it or on the PATH"
                ),
                hint: format!(
                    "call `cuda_program::isolate::init()` at the top of `main`, or name a program \
                     that does in {VARIABLE}"
                ),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing() -> Surroundings {
        Surroundings {
            named: None,
            variable: None,
            this: None,
            is_its_own: false,
            path: Vec::new(),
        }
    }

    #[test]
    fn the_worker_is_the_one_named_then_this_program_then_one_beside_it_then_one_on_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, "").unwrap();
            file
        };
        let (named, variable, this) = (file("named"), file("variable"), file("bin/this"));
        let (beside, on_path) = (file("bin/cuda-program"), file("path/cuda-program"));
        let all = || Surroundings {
            named: Some(named.clone()),
            variable: Some(variable.clone()),
            this: Some(this.clone()),
            is_its_own: true,
            path: vec![folder.path().join("path")],
        };
        assert_eq!(all().find().unwrap(), named);
        let mut less = all();
        less.named = None;
        assert_eq!(less.find().unwrap(), variable);
        let unnamed = || Surroundings {
            named: None,
            variable: None,
            ..all()
        };
        assert_eq!(unnamed().find().unwrap(), this);
        let mut less = unnamed();
        less.is_its_own = false;
        assert_eq!(less.find().unwrap(), beside);
        let mut less = unnamed();
        less.this = None;
        assert_eq!(less.find().unwrap(), on_path);
    }

    #[test]
    fn without_a_worker_the_error_says_how_to_have_one() {
        let error = nothing().find().unwrap_err();
        insta::assert_snapshot!(error, @"no worker process: this program did not call `cuda_program::isolate::init()`, and there is no `cuda-program` beside it or on the PATH; call `cuda_program::isolate::init()` at the top of `main`, or name a program that does in CUDA_PROGRAM_WORKER");
        let mut wrong = nothing();
        wrong.named = Some("/no/where".into());
        insta::assert_snapshot!(wrong.find().unwrap_err(), @"no worker process: there is no file /no/where, which the options name; correct the path, or leave it out and the worker is looked for");
    }
}
