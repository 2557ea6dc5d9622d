//! Entries in a store that machines share.

mod breaker;
mod place;
mod store;
#[cfg(all(test, feature = "cache-remote-tests"))]
mod tests;

pub use place::Remote;
pub(super) use store::Store;
