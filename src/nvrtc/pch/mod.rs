//! Precompiled headers that are used where they are right, and by the process that made them.
//!
//! The library trusts a precompiled header: it maps one that is cut off and dies, and uses one whose
//! headers have changed since without a word. So what each was made of is kept here: in memory for
//! those that a program makes by itself, in a file beside it for those that the user names.

mod automatic;
mod contents;
mod record;
mod work;

pub(super) use automatic::Automatic;
pub(super) use work::Work;

use crate::sys::bindings::nvrtc::*;

/// What became of making a precompiled header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PchStatus {
    /// One was made.
    Created,
    /// None was asked for, or one was used.
    NotAttempted,
    /// The heap was too small for it, also after it was made larger.
    HeapExhausted,
    /// It could not be made.
    Failed,
}

impl PchStatus {
    pub(super) fn of(code: nvrtcResult) -> Self {
        match code {
            NVRTC_SUCCESS => PchStatus::Created,
            NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED => PchStatus::NotAttempted,
            NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED => PchStatus::HeapExhausted,
            _ => PchStatus::Failed,
        }
    }
}
