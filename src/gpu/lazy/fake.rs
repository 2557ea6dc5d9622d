//! A loader that counts, and does on demand what a real one cannot be made to do.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use super::{Lazy, Load};
use crate::Arch;
use crate::error::{Error, InvalidInput, Result};

/// What one kind of call does.
pub(super) enum Act {
    Fail,
    Panic,
    /// Asks another kernel, or the same one, for itself on a device.
    Get(Weak<Lazy<Fake>>, usize),
    #[cfg(not(loom))]
    Sleep(std::time::Duration),
    /// Acts once so many threads wait for device 0 of a kernel.
    #[cfg(not(loom))]
    WhenAllWait(Weak<Lazy<Fake>>, usize, Box<Act>),
    /// Succeeds once another kernel is there on device 0.
    #[cfg(not(loom))]
    WhenReady(Weak<Lazy<Fake>>),
}

/// The kernel that the fake loads: which device, and which load of it.
#[derive(Debug, PartialEq)]
pub(super) struct Loaded {
    pub(super) device: usize,
    pub(super) load: usize,
}

/// Counts are of the standard library also under loom: they are no part of what is checked.
#[derive(Default)]
pub(super) struct Fake {
    name: String,
    /// What the first compilations do, each in turn; later ones succeed.
    pub(super) compiles: OnceLock<Vec<Act>>,
    /// The same for loads, over all devices.
    pub(super) loads: OnceLock<Vec<Act>>,
    pub(super) compiled: AtomicUsize,
    pub(super) loaded: AtomicUsize,
    /// Current contexts kept and not set back yet, and all that ever were.
    pub(super) keeping: Arc<AtomicUsize>,
    pub(super) kept: AtomicUsize,
    /// Devices from this one on have an architecture of their own, if it is not 0.
    pub(super) other_arch_from: usize,
}

struct Keeping(Arc<AtomicUsize>);

impl Drop for Keeping {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The error with which a fake fails.
pub(super) fn failure(what: &str) -> Error {
    InvalidInput {
        input: what.to_owned(),
        line: None,
        snippet: None,
        problem: "it was to fail".to_owned(),
        hint: "try again".to_owned(),
    }
    .into()
}

impl Fake {
    pub(super) fn named(name: &str) -> Self {
        Fake {
            name: name.to_owned(),
            ..Fake::default()
        }
    }

    pub(super) fn compiling(self, acts: Vec<Act>) -> Self {
        assert!(self.compiles.set(acts).is_ok());
        self
    }

    pub(super) fn loading(self, acts: Vec<Act>) -> Self {
        assert!(self.loads.set(acts).is_ok());
        self
    }

    fn act(&self, what: &str, acts: &OnceLock<Vec<Act>>, call: usize) -> Result<()> {
        #[cfg(loom)]
        loom::thread::yield_now();
        match acts.get().and_then(|acts| acts.get(call)) {
            None => Ok(()),
            Some(act) => act.take_place(what),
        }
    }
}

impl Act {
    fn take_place(&self, what: &str) -> Result<()> {
        let there = |kernel: &Weak<Lazy<Fake>>| kernel.upgrade().expect("the test keeps it");
        match self {
            Act::Fail => Err(failure(what)),
            Act::Panic => panic!("{what} was to panic"),
            Act::Get(other, device) => there(other).get(*device).map(|_| ()),
            #[cfg(not(loom))]
            Act::Sleep(time) => {
                std::thread::sleep(*time);
                Ok(())
            }
            #[cfg(not(loom))]
            Act::WhenAllWait(kernel, waiters, act) => {
                while there(kernel).waiters(0) < *waiters {
                    std::thread::yield_now();
                }
                act.take_place(what)
            }
            #[cfg(not(loom))]
            Act::WhenReady(other) => {
                while there(other).peek(0).is_none() {
                    std::thread::yield_now();
                }
                Ok(())
            }
        }
    }
}

impl Load for Fake {
    type Artifact = Arch;
    type Kernel = Loaded;

    fn name(&self) -> &str {
        &self.name
    }

    fn arch(&self, device: usize) -> Result<Arch> {
        let other = self.other_arch_from != 0 && device >= self.other_arch_from;
        Ok(if other { Arch::SM_100 } else { Arch::SM_90 })
    }

    fn compile(&self, arch: Arch) -> Result<Arch> {
        let call = self.compiled.fetch_add(1, Ordering::Relaxed);
        self.act("compiling", &self.compiles, call)?;
        Ok(arch)
    }

    fn load(&self, device: usize, artifact: &Arch) -> Result<Loaded> {
        assert_eq!(*artifact, self.arch(device)?);
        let load = self.loaded.fetch_add(1, Ordering::Relaxed);
        self.act("loading", &self.loads, load)?;
        Ok(Loaded { device, load })
    }

    fn keep_current(&self) -> Result<impl Sized> {
        self.kept.fetch_add(1, Ordering::Relaxed);
        self.keeping.fetch_add(1, Ordering::Relaxed);
        Ok(Keeping(self.keeping.clone()))
    }
}
