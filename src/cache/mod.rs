//! Artifacts that were compiled before.

mod counters;
mod depends;
#[cfg(feature = "cache-disk")]
mod disk;
mod entry;
mod key;
mod memory;
#[cfg(feature = "cache-remote")]
mod remote;

pub use counters::Stats;
#[cfg(feature = "cache-disk")]
pub use disk::Disk;
pub use key::{Key, Uncacheable};
#[cfg(feature = "cache-remote")]
pub use opendal;
#[cfg(feature = "cache-remote")]
pub use remote::Remote;
