//! One handle, from making to freeing.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, CString};

use super::control::Control;
use super::pch::PchStatus;
use crate::error::Stage;
use crate::guard::Guarded;
use crate::nvvm::escaped;
use crate::sys::{Nvrtc, NvrtcFailed, RawNvrtc};

/// What a handle is made of.
pub(super) struct Input<'a> {
    pub(super) api: Nvrtc,
    pub(super) source: &'a CStr,
    pub(super) name: &'a CStr,
    pub(super) headers: &'a [(CString, CString)],
    pub(super) names: &'a BTreeSet<String>,
    pub(super) flags: &'a [CString],
    pub(super) control: &'a Control,
    pub(super) wants_pch: bool,
}

/// What an attempt brought.
pub(super) struct Done<R> {
    pub(super) made: R,
    pub(super) log: String,
    pub(super) lowered: BTreeMap<String, String>,
    pub(super) pch: Option<PchStatus>,
    /// Whether a larger heap, which there is now, would have given a precompiled header.
    pub(super) again: bool,
}

pub(super) struct NotDone {
    pub(super) stage: Stage,
    pub(super) code: NvrtcFailed,
    pub(super) input: Option<String>,
    pub(super) log: String,
    pub(super) panic: Option<Box<dyn Any + Send>>,
}

impl NotDone {
    /// A call that failed without a log.
    pub(super) fn new(stage: Stage, code: NvrtcFailed) -> Self {
        NotDone {
            stage,
            code,
            input: None,
            log: String::new(),
            panic: None,
        }
    }

    fn early(stage: Stage, input: Option<&str>) -> impl FnOnce(NvrtcFailed) -> Self {
        let input = input.map(str::to_owned);
        move |code| NotDone {
            input,
            ..NotDone::new(stage, code)
        }
    }
}

/// Compiles, and fetches what `fetch` says.
pub(super) fn attempt<R>(
    input: &Input<'_>,
    fetch: impl FnOnce(&mut RawNvrtc, &Guarded) -> Result<R, NvrtcFailed>,
    guard: &Guarded,
) -> Result<Done<R>, NotDone> {
    let mut raw = RawNvrtc::create(input.api, input.source, input.name, input.headers, guard)
        .map_err(NotDone::early(Stage::Create, None))?;
    if !input.control.is_empty() {
        let control = input.control.clone();
        raw.stop_when(Box::new(move || control.is_to_stop()), guard)
            .map_err(NotDone::early(Stage::Create, None))?;
    }
    let mut names = Vec::new();
    for expression in input.names {
        // A NUL byte was refused when it was added.
        let name = CString::new(expression.as_str()).unwrap_or_default();
        raw.add_name(&name, guard)
            .map_err(NotDone::early(Stage::Add, Some(expression)))?;
        names.push((expression, name));
    }
    let compiled = raw.compile(input.flags, guard);
    let log = escaped(&raw.log(guard));
    let panic = raw.take_panic();
    // The library may come to its end all the same after it was told to stop by a panic.
    let code = match (compiled, &panic) {
        (Err(code), _) => Some(code),
        (Ok(()), Some(_)) => Some(NvrtcFailed(
            crate::sys::bindings::nvrtc::NVRTC_ERROR_CANCELLED,
        )),
        (Ok(()), None) => None,
    };
    if let Some(code) = code {
        return Err(NotDone {
            stage: Stage::Compile,
            code,
            input: None,
            log,
            panic,
        });
    }
    let pch = raw.pch_status(guard).map(PchStatus::of);
    let again =
        input.wants_pch && pch == Some(PchStatus::HeapExhausted) && raw.grow_pch_heap(guard);
    let mut lowered = BTreeMap::new();
    for (expression, name) in names {
        let found = raw
            .lowered(&name, guard)
            .map_err(NotDone::early(Stage::Fetch, Some(expression)))?;
        lowered.insert(expression.clone(), found);
    }
    let made = fetch(&mut raw, guard).map_err(NotDone::early(Stage::Fetch, None))?;
    Ok(Done {
        made,
        log,
        lowered,
        pch,
        again,
    })
}
