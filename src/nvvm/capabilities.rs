//! What the libNVVM at hand can do.

use std::sync::Arc;

use super::dialect::LEGACY_LLVM;
use super::failure::Failure;
use super::probe;
use super::reader::NvvmIrVersion;
use crate::arch::Arch;
use crate::error::{Error, Library, Result, Stage};
use crate::guard::guarded;
use crate::sys::{Failed, Nvvm};
use crate::toolkit::{Opened, Toolkit};

/// What a libNVVM can do, asked of the library itself where it can tell.
#[derive(Debug, Clone)]
pub struct Capabilities {
    nvvm: Arc<Opened<Nvvm>>,
}

/// Which LLVM's IR is read for an architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LlvmVersion {
    /// The library says so.
    Told(u32),
    /// The library cannot tell, and this is known of its version.
    Known(u32),
}

impl LlvmVersion {
    /// The major version.
    #[must_use]
    pub fn major(self) -> u32 {
        match self {
            LlvmVersion::Told(major) | LlvmVersion::Known(major) => major,
        }
    }
}

impl Capabilities {
    /// What the toolkit's libNVVM can do.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where there is no libNVVM.
    pub fn of(toolkit: &Toolkit) -> Result<Self> {
        Ok(Capabilities {
            nvvm: toolkit.nvvm()?.clone(),
        })
    }

    pub(super) fn over(nvvm: Arc<Opened<Nvvm>>) -> Self {
        Capabilities { nvvm }
    }

    /// The library that is asked.
    #[must_use]
    pub fn library(&self) -> &Library {
        &self.nvvm.library
    }

    /// The NVVM IR version that the library reads, with its debug metadata version.
    ///
    /// # Errors
    ///
    /// [`Error::Library`] where the library does not answer.
    #[doc(alias = "nvvmIRVersion")]
    pub fn ir_version(&self) -> Result<NvvmIrVersion> {
        let (ir, debug) = self
            .nvvm
            .api
            .ir_version()
            .map_err(|code| self.no_answer(code))?;
        Ok(NvvmIrVersion::new(ir, Some(debug)))
    }

    /// The architectures that the library compiles for, of those known to this crate.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] where the system gives no stack for the calls.
    pub fn supported_archs(&self) -> Result<Vec<Arch>> {
        guarded(|guard| {
            Arch::KNOWN
                .iter()
                .copied()
                .filter(|&arch| probe::knows(self.nvvm.api, arch, guard))
                .collect()
        })
    }

    /// Which LLVM's IR the library reads for an architecture without the newer NVVM; none for an
    /// architecture that it does not know.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] where the system gives no stack for the calls.
    #[doc(alias = "nvvmLLVMVersion")]
    pub fn llvm_version(&self, arch: Arch) -> Result<Option<LlvmVersion>> {
        if let Ok(name) = std::ffi::CString::new(arch.compute()) {
            if let Some(answer) = self.nvvm.api.llvm_version(&name) {
                return Ok(answer.ok().map(LlvmVersion::Told));
            }
        }
        let known = guarded(|guard| probe::knows(self.nvvm.api, arch, guard))?;
        Ok(known.then_some(LlvmVersion::Known(if arch < Arch::SM_100 {
            LEGACY_LLVM
        } else {
            // The libraries that know compute_100 and cannot tell are those of CUDA 12.8 to 13.0.
            20
        })))
    }

    /// Whether the library has the newer NVVM for architectures below compute_100.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] where the system gives no stack for the calls.
    pub fn has_newer_nvvm(&self) -> Result<bool> {
        guarded(|guard| probe::has_newer_nvvm(&self.nvvm, Arch::SM_90, guard).unwrap_or(false))
    }

    fn no_answer(&self, code: Failed) -> Error {
        Failure {
            nvvm: &self.nvvm,
            stage: Stage::Query,
            code,
            log: String::new(),
            notes: Vec::new(),
            options: Vec::new(),
        }
        .plain()
        .into()
    }
}
