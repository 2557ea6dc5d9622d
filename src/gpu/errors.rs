//! From a failed call of the driver to an error that says what to do.

use super::cudarc::driver::DriverError as CudarcError;
use super::driver::Driver;
use crate::diagnostic::{Severity, ptxas};
use crate::error::{DriverError, Error, Stage};
use crate::hints::{Said, Speaker};
use crate::sys::cuda::Failure;

impl Driver {
    /// The error of a call.
    pub(super) fn error(&self, failure: Failure) -> Error {
        self.error_on(failure, None, &[])
    }

    /// The error of a call on something with a name, with the log of the driver's compiler.
    pub(super) fn error_on(&self, failure: Failure, input: Option<&str>, log: &[u8]) -> Error {
        let (call, code) = match failure {
            Failure::Code { call, code } => (call, code),
            Failure::Absent { call, since } => {
                return Error::Unsupported {
                    what: format!("{call}, which this needs,"),
                    needs: format!("a driver of CUDA {since} or later"),
                    library: self.library.clone(),
                };
            }
        };
        let log = crate::nvvm::escaped(log);
        let diagnostics = ptxas::parse(&log, Severity::Error);
        let code_name = self.api.code_name(code);
        let hint = Said {
            call,
            ..Said::new(
                Speaker::Driver,
                Stage::Add,
                (code, &code_name),
                &log,
                &self.library,
            )
        }
        .hint();
        DriverError {
            call: call.to_owned(),
            code,
            code_name,
            input: input.map(str::to_owned),
            hint,
            diagnostics,
            log,
            driver: self.library.clone(),
        }
        .into()
    }

    /// The error of a call that cudarc made.
    pub(super) fn cudarc_error(&self, call: &'static str, error: CudarcError) -> Error {
        // cudarc's own text asks its copy of the driver, which is not there when it is a stub.
        self.error(Failure::Code {
            call,
            code: error.0 as i32,
        })
    }
}
