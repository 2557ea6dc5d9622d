//! First calls ahead of time.

use std::panic::resume_unwind;
use std::thread;

use super::{Lazy, Load, attempt};
use crate::error::{Error, Result};

impl<L: Load + Sync> Lazy<L> {
    /// Compiles and loads on all these devices, so that later calls find the kernel ready.
    ///
    /// Each device has a thread, so the loads overlap. Within another kernel's loader the devices
    /// take their turns in the calling thread instead, where a cycle is seen.
    ///
    /// # Errors
    ///
    /// [`Error::WarmUp`] with the error of each device that failed; the others are ready.
    ///
    /// # Panics
    ///
    /// Where the loader does, once all devices are through.
    pub fn warm_up(&self, devices: &[usize]) -> Result<()> {
        let results: Vec<Option<Error>> = match devices {
            [_, _, ..] if attempt::leads_nothing() => self.in_threads(devices),
            _ => devices.iter().map(|d| self.get(*d).err()).collect(),
        };
        let failures: Vec<(usize, Error)> = devices
            .iter()
            .zip(results)
            .filter_map(|(device, error)| Some((*device, error?)))
            .collect();
        if failures.is_empty() {
            return Ok(());
        }
        Err(Error::WarmUp {
            kernel: self.loader().name().to_owned(),
            failures,
        })
    }

    fn in_threads(&self, devices: &[usize]) -> Vec<Option<Error>> {
        thread::scope(|scope| {
            let mut panic = None;
            let threads: Vec<_> = devices
                .iter()
                .map(|device| {
                    let thread =
                        thread::Builder::new().spawn_scoped(scope, || self.get(*device).err());
                    (device, thread)
                })
                .collect();
            let results = threads
                .into_iter()
                .map(|(device, thread)| match thread.map(|t| t.join()) {
                    Ok(Ok(result)) => result,
                    Ok(Err(payload)) => {
                        panic.get_or_insert(payload);
                        None
                    }
                    // The system gives no more threads; this one does.
                    Err(_) => self.get(*device).err(),
                })
                .collect();
            if let Some(payload) = panic {
                resume_unwind(payload);
            }
            results
        })
    }
}
