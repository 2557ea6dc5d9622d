//! The driver of this machine, opened and probed before cudarc meets it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::artifact::IsaVersion;
use crate::artifact::ptx_versions;
use crate::error::{DriverProblem, Library, NoDriver, Result};
use crate::sys::cuda::{self, Failure, consts};
use crate::toolkit::{is_stub, table_of};

/// The CUDA driver of this machine, which has at least one device.
#[derive(Debug)]
pub struct Driver {
    pub(super) api: cuda::Driver,
    pub(super) library: Library,
    version: (u32, u32),
}

#[cfg(unix)]
const NAME: &str = "libcuda.so.1";
#[cfg(windows)]
const NAME: &str = "nvcuda.dll";

const INSTALL: &str = "install NVIDIA's driver (in a container, start it with access to the GPUs); \
                       compiling needs neither driver nor GPU";

impl Driver {
    /// The driver, opened and started by the first call that finds it.
    ///
    /// No lock is held meanwhile, and a failure is not remembered: the next call looks again.
    ///
    /// # Errors
    ///
    /// [`Error::NoDriver`](crate::Error::NoDriver) when there is no driver library, when it is a
    /// toolkit's stub, when it does not start, and when it has no device.
    #[doc(alias = "cuInit")]
    pub fn get() -> Result<&'static Driver> {
        static DRIVER: OnceLock<Driver> = OnceLock::new();
        if let Some(driver) = DRIVER.get() {
            return Ok(driver);
        }
        let driver = Driver::open()?;
        Ok(DRIVER.get_or_init(|| driver))
    }

    /// The CUDA version that the driver implements, major and minor, as in `(13, 0)`.
    #[must_use]
    #[doc(alias = "cuDriverGetVersion")]
    pub fn version(&self) -> (u32, u32) {
        self.version
    }

    /// The newest PTX that the driver's own compiler reads; none for a driver newer than this crate
    /// knows.
    #[must_use]
    pub fn reads_ptx(&self) -> Option<IsaVersion> {
        ptx_versions::of_cuda(self.version)
    }

    /// The driver's version and file, as errors show them.
    #[must_use]
    pub fn library(&self) -> &Library {
        &self.library
    }

    fn open() -> Result<Driver> {
        // SAFETY: it is NVIDIA's name for the driver, in a place that the system has chosen for it.
        let library = unsafe { libloading::Library::new(NAME) }.map_err(|e| NoDriver {
            problem: DriverProblem::Missing,
            what: format!("the system's loader finds no {NAME} ({e})"),
            hint: INSTALL.to_owned(),
            code: None,
        })?;
        let library = library.into();
        // SAFETY: the library has the driver's name, so its functions have the driver's signatures;
        // where the table is kept, the library is never closed.
        let (api, file) = unsafe { table_of::<cuda::Driver>(&library) };
        let path = file.unwrap_or_else(|| PathBuf::from(NAME));
        let resolved = std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        if is_stub(&path) || is_stub(&resolved) {
            // Closed again, or the loader would give the stub to whoever asks for the driver later.
            return Err(stub(&path, None).into());
        }
        // A driver does not survive being closed.
        std::mem::forget(library);
        let api = api.map_err(|missing| NoDriver {
            problem: DriverProblem::Unusable,
            what: format!("{} is no driver since CUDA 11: {missing}", path.display()),
            hint: "update NVIDIA's driver to one of CUDA 12.0 or later".to_owned(),
            code: None,
        })?;
        Driver::over(api, path)
    }

    /// Starts a driver over any function table.
    pub(super) fn over(api: cuda::Driver, path: PathBuf) -> Result<Driver> {
        let started = api.init().and_then(|()| api.device_count());
        match started {
            Ok(1..) => {}
            Ok(_) => return Err(no_device(&path, None).into()),
            Err(Failure::Code { call, code }) => {
                return Err(match code {
                    consts::ERROR_STUB_LIBRARY => stub(&path, Some(code)),
                    consts::ERROR_NO_DEVICE => no_device(&path, Some(code)),
                    _ => NoDriver {
                        problem: DriverProblem::Unusable,
                        what: format!(
                            "{call} of {} fails with {} ({code})",
                            path.display(),
                            api.code_name(code)
                        ),
                        hint: "see whether `nvidia-smi` works; a process that was forked from one \
                               that used the GPU must be started anew"
                            .to_owned(),
                        code: Some(code),
                    },
                }
                .into());
            }
            Err(Failure::Absent { .. }) => {}
        }
        let version = api.version().unwrap_or((0, 0));
        Ok(Driver {
            api,
            library: Library {
                name: "the CUDA driver".to_owned(),
                version: Some(format!("{}.{}", version.0, version.1)),
                path,
            },
            version,
        })
    }
}

fn stub(path: &Path, code: Option<i32>) -> NoDriver {
    NoDriver {
        problem: DriverProblem::Stub,
        what: format!(
            "{} is a stub for linking, which does nothing",
            path.display()
        ),
        hint: "take the toolkit's folder `stubs` off LD_LIBRARY_PATH, and install NVIDIA's driver \
               where there is none"
            .to_owned(),
        code,
    }
}

fn no_device(path: &Path, code: Option<i32>) -> NoDriver {
    NoDriver {
        problem: DriverProblem::NoDevice,
        what: format!("{} is there and finds no device", path.display()),
        hint: "see whether `nvidia-smi` lists one, and whether CUDA_VISIBLE_DEVICES hides it"
            .to_owned(),
        code,
    }
}
