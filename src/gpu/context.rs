//! Contexts: cudarc's, made after a look, and current for the length of a call.

use std::sync::Arc;

use super::cudarc::driver::CudaContext;
use super::driver::Driver;
use crate::arch::Arch;
use crate::error::{InvalidInput, Result};
use crate::sys::cuda::{RawContext, consts};

/// The number of devices.
///
/// # Errors
///
/// [`Error::NoDriver`](crate::Error::NoDriver) where there is no driver, and where it finds no device.
#[doc(alias = "cuDeviceGetCount")]
pub fn device_count() -> Result<usize> {
    let driver = Driver::get()?;
    let count = driver.api.device_count().map_err(|e| driver.error(e))?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// The primary context of a device, by ordinal from 0; the calling thread's current context stays.
///
/// # Errors
///
/// [`Error::NoDriver`](crate::Error::NoDriver) where there is no driver or no device,
/// [`Error::InvalidInput`](crate::Error::InvalidInput) for an ordinal that no device has, and
/// [`Error::Driver`](crate::Error::Driver) where the driver makes no context.
#[doc(alias = "cuDevicePrimaryCtxRetain")]
pub fn context(ordinal: usize) -> Result<Arc<CudaContext>> {
    let driver = Driver::get()?;
    let count = device_count()?;
    if ordinal >= count {
        return Err(InvalidInput {
            input: format!("device {ordinal}"),
            line: None,
            snippet: None,
            problem: format!("there are {count} devices"),
            hint: "ordinals begin at 0".to_owned(),
        }
        .into());
    }
    let _as_before = AsBefore::note(driver);
    CudaContext::new(ordinal).map_err(|e| driver.cudarc_error("cuDevicePrimaryCtxRetain", e))
}

/// The architecture of a context's device; the nearest older one that is known, for a device newer
/// than this crate.
///
/// # Errors
///
/// [`Error::Driver`](crate::Error::Driver) where the driver does not say.
#[doc(alias = "cuDeviceGetAttribute")]
pub fn arch(context: &Arc<CudaContext>) -> Result<Arch> {
    Place::of(context)?.arch()
}

/// Where code is loaded: a context of a driver.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) driver: &'static Driver,
    pub(super) context: RawContext,
    device: i32,
    /// Keeps the context alive; none where a test stands for it.
    keep: Option<Arc<CudaContext>>,
}

impl Drop for Place {
    fn drop(&mut self) {
        // cudarc makes a context current to let the last owner of it go.
        let _before = AsBefore::note(self.driver);
        drop(self.keep.take());
    }
}

impl Place {
    pub(super) fn of(context: &Arc<CudaContext>) -> Result<Self> {
        Ok(Place {
            driver: Driver::get()?,
            // SAFETY: the place keeps cudarc's context alive.
            context: unsafe { RawContext::new(context.cu_ctx().cast()) },
            device: context.cu_device(),
            keep: Some(context.clone()),
        })
    }

    #[cfg(all(test, not(loom)))]
    pub(super) fn fake(driver: &'static Driver, context: RawContext) -> Self {
        Place {
            driver,
            context,
            device: 0,
            keep: None,
        }
    }

    pub(super) fn arch(&self) -> Result<Arch> {
        let ask = |which| self.device_attribute(which);
        let major = ask(consts::DEVICE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = ask(consts::DEVICE_COMPUTE_CAPABILITY_MINOR)?;
        Arch::from_capability(major, minor).or_else(|unknown| {
            let number = major.saturating_mul(10).saturating_add(minor);
            Arch::KNOWN
                .iter()
                .rev()
                .find(|known| {
                    known.suffix() == crate::arch::Suffix::None
                        && i32::from(known.number()) < number
                })
                .copied()
                .ok_or(unknown)
        })
    }

    pub(super) fn device_attribute(&self, which: i32) -> Result<i32> {
        self.driver
            .api
            .device_attribute(self.device, which)
            .map_err(|e| self.driver.error(e))
    }

    /// Makes the context current until the value is dropped.
    pub(super) fn enter(&self) -> Result<Current> {
        let api = &self.driver.api;
        let there = api.current().is_ok_and(|current| current == self.context);
        if !there {
            api.push(self.context).map_err(|e| self.driver.error(e))?;
        }
        Ok(Current {
            pushed: (!there).then_some(self.driver),
        })
    }
}

/// A context is current until this is dropped; then the one before is again.
#[must_use]
pub(super) struct Current {
    pushed: Option<&'static Driver>,
}

impl Drop for Current {
    fn drop(&mut self) {
        if let Some(driver) = self.pushed {
            let _ = driver.api.pop();
        }
    }
}

/// Sets the current context back to what it was, for calls of cudarc that set it.
pub(super) struct AsBefore {
    driver: &'static Driver,
    before: Option<RawContext>,
}

impl AsBefore {
    pub(super) fn note(driver: &'static Driver) -> Self {
        AsBefore {
            driver,
            before: driver.api.current().ok(),
        }
    }
}

impl Drop for AsBefore {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            let _ = self.driver.api.set_current(before);
        }
    }
}
