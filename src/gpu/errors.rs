//! From a failed call of the driver to an error that says what to do.

use super::cudarc::driver::DriverError as CudarcError;
use super::driver::Driver;
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::{DriverError, Error};
use crate::sys::cuda::{Failure, consts::*};

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
        let diagnostics = messages(&log, Severity::Error);
        DriverError {
            call: call.to_owned(),
            code,
            code_name: self.api.code_name(code),
            input: input.map(str::to_owned),
            hint: hint(call, code, !diagnostics.is_empty()).map(str::to_owned),
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

/// A log of the driver's or the linker's compiler, one message at a time.
pub(super) fn messages(log: &str, severity: Severity) -> Vec<Diagnostic> {
    log.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| Diagnostic::new(severity, line))
        .collect()
}

fn hint(call: &str, code: i32, explained: bool) -> Option<&'static str> {
    Some(match code {
        ERROR_STUB_LIBRARY => {
            "cudarc opened a stub: take the toolkit's folder `stubs` off LD_LIBRARY_PATH"
        }
        ERROR_OUT_OF_MEMORY => "free device memory, or unload modules that are not used",
        ERROR_INVALID_DEVICE => "ask `device_count` which ordinals there are",
        ERROR_NO_BINARY_FOR_GPU | ERROR_INVALID_IMAGE if !explained => {
            "the code is for another architecture than this device: make it for what `gpu::arch` says"
        }
        ERROR_INVALID_PTX | ERROR_UNSUPPORTED_PTX_VERSION if !explained => {
            "the driver's compiler refuses the PTX: load it with LoadPolicy::Cubin to see why"
        }
        ERROR_INVALID_VALUE if call.starts_with("cuLaunch") => {
            "grid and block must not be zero, a block may have as many threads as `attributes` says, \
             and the grid must be a multiple of the cluster"
        }
        ERROR_LAUNCH_OUT_OF_RESOURCES => {
            "take smaller blocks: `suggested_block` says which size fits"
        }
        ERROR_COOPERATIVE_LAUNCH_TOO_LARGE => {
            "all blocks of a cooperative grid must fit at once: `max_active_blocks` times the \
             multiprocessors"
        }
        // Not those between that speak of peers, of attributes, and of pinned memory.
        704 | 705 | 708 | 709 | 712 | 713 => return None,
        ERROR_ILLEGAL_ADDRESS..=ERROR_LAUNCH_FAILED => {
            "a kernel that ran before this call may be what failed; the context is lost, and the \
             process must be started anew"
        }
        ERROR_STREAM_CAPTURE_UNSUPPORTED..=ERROR_STREAM_CAPTURE_WRONG_THREAD => {
            "the stream is being captured: for slices, disable cudarc's event tracking before they \
             are made, or pass a `DevicePtr`; copy and load before the capture"
        }
        _ => return None,
    })
}
