//! What a compilation depends on, as far as it can be known before it runs.

mod folder;
mod hash;
mod includes;
mod library;

pub(super) use folder::{Folders, Trust};
pub(super) use hash::Fields;
pub(super) use library::Libraries;
