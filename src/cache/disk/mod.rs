//! Entries in a folder that processes share, with no lock between them.
//!
//! An entry is a file that appears under its name whole, by a rename, and is never written again: a
//! writer may die at any instant, and of two writers of one entry either may be the later. A rename
//! may reach the disk before the bytes do, so a power cut can leave a file that is cut; its checksum
//! tells, and waiting for the disk at every store would cost more than such a miss.

mod folder;
mod place;
mod room;
mod store;
#[cfg(all(test, unix))]
mod tests;

pub use place::Disk;
pub(super) use store::Store;
