//! Artifacts that were compiled before.

mod cached;
mod counters;
mod depends;
#[cfg(feature = "cache-disk")]
mod disk;
#[cfg(any(feature = "cache-disk", feature = "cache-remote"))]
mod entry;
mod key;
mod keys;
mod memory;
#[cfg(feature = "cache-remote")]
mod remote;

pub use cached::Cached;
pub use counters::Stats;
#[cfg(feature = "cache-disk")]
pub use disk::Disk;
pub use key::{Key, Uncacheable};
pub use keys::Keys;
#[cfg(feature = "cache-remote")]
pub use opendal;
#[cfg(feature = "cache-remote")]
pub use remote::Remote;
