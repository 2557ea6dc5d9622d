//! The library's handle, derived from the program's own list of modules.
//!
//! A module cannot be taken back from a `nvvmProgram`, and one bad module makes every later compile
//! of it fail. So the list is the truth, and the handle follows: kept while it fits, brought forward
//! where modules came to the end of the list, made anew where it does not fit.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::modules::Module;
use super::pin;
use crate::guard::Guarded;
use crate::sys::{Failed, Nvvm, RawProgram};

/// What a compilation needs the handle to hold.
pub(super) struct Wanted<'a> {
    /// In the order in which the library is to get them.
    pub(super) modules: Vec<&'a Module>,
    pub(super) libdevice: Option<Arc<[u8]>>,
    /// The functions to pin.
    pub(super) pins: BTreeSet<Vec<u8>>,
}

/// A `nvvmProgram` and what was added to it.
#[derive(Debug)]
pub(super) struct Handle {
    pub(super) raw: RawProgram,
    modules: Vec<u64>,
    libdevice: Option<Arc<[u8]>>,
    pins: BTreeSet<Vec<u8>>,
}

/// A module that the library would not take, or a handle that it would not make.
pub(super) struct NotMade {
    pub(super) code: Failed,
    /// The input refused; none where it was the handle.
    pub(super) input: Option<String>,
    pub(super) log: Vec<u8>,
}

impl Handle {
    /// The handle in `slot`, holding what is wanted.
    ///
    /// After a failure the slot is empty, so that nothing half-made is used again and the next call
    /// starts from the list.
    pub(super) fn bring<'a>(
        slot: &'a mut Option<Handle>,
        api: Nvvm,
        wanted: &Wanted<'_>,
        guard: &Guarded,
    ) -> Result<&'a mut Handle, NotMade> {
        let mut handle = match slot.take() {
            Some(handle) if handle.fits(wanted) => handle,
            other => {
                // The old one is freed first: two large programs need not be held at once.
                drop(other);
                Handle {
                    raw: RawProgram::create(api, guard).map_err(|code| NotMade {
                        code,
                        input: None,
                        log: Vec::new(),
                    })?,
                    modules: Vec::new(),
                    libdevice: None,
                    pins: BTreeSet::new(),
                }
            }
        };
        handle.add_missing(wanted, guard)?;
        Ok(slot.insert(handle))
    }

    fn fits(&self, wanted: &Wanted<'_>) -> bool {
        let mut of_list = wanted.modules.iter().map(|module| module.id);
        let begins_the_list = self.modules.iter().all(|&id| of_list.next() == Some(id));
        let complete = of_list.next().is_none();
        // The first lazy definition of a name wins, so nothing may come after libdevice.
        let libdevice_fits = match (&self.libdevice, &wanted.libdevice) {
            (None, _) => true,
            (Some(added), Some(wanted)) => complete && Arc::ptr_eq(added, wanted),
            (Some(_), None) => false,
        };
        // A pin moves functions about in the output, so none may be there that was not asked for.
        begins_the_list && libdevice_fits && self.pins.is_subset(&wanted.pins)
    }

    fn add_missing(&mut self, wanted: &Wanted<'_>, guard: &Guarded) -> Result<(), NotMade> {
        for module in wanted.modules.iter().skip(self.modules.len()) {
            self.add(&module.name, &module.bytes, module.lazy, guard)?;
            self.modules.push(module.id);
        }
        let missing: BTreeSet<Vec<u8>> = wanted.pins.difference(&self.pins).cloned().collect();
        if !missing.is_empty() {
            self.add(pin::NAME, pin::module(&missing).as_bytes(), false, guard)?;
            self.pins.extend(missing);
        }
        if let (None, Some(libdevice)) = (&self.libdevice, &wanted.libdevice) {
            self.add(c"libdevice", libdevice, true, guard)?;
            self.libdevice = Some(libdevice.clone());
        }
        Ok(())
    }

    fn add(
        &mut self,
        name: &std::ffi::CStr,
        bytes: &[u8],
        lazy: bool,
        guard: &Guarded,
    ) -> Result<(), NotMade> {
        self.raw
            .add(name, bytes, lazy, guard)
            .map_err(|code| NotMade {
                code,
                input: Some(name.to_string_lossy().into_owned()),
                log: self.raw.log(guard),
            })
    }
}
