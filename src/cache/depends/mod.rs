//! What a compilation depends on, as far as it can be known before it runs.

mod cpp;
#[cfg(test)]
mod cpp_tests;
mod flags;
mod folder;
#[cfg(test)]
mod folder_tests;
mod hash;
#[cfg(test)]
mod hash_tests;
mod includes;
mod library;

pub(super) use cpp::Cpp;
pub(super) use flags::check as check_flags;
pub(super) use folder::Folders;
#[cfg(feature = "cache-disk")]
pub(super) use folder::Memo;
pub(super) use hash::Fields;
pub(super) use library::Libraries;
