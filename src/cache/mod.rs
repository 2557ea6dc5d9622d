//! Artifacts that were compiled before.

mod counters;
#[cfg(feature = "cache-disk")]
mod disk;
mod entry;
mod key;
mod memory;

pub use counters::Stats;
#[cfg(feature = "cache-disk")]
pub use disk::Disk;
pub use key::{Key, Uncacheable};
