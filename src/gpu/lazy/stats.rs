//! What first calls cost so far.

use std::collections::BTreeMap;

use crate::arch::Arch;

/// How often a [`Lazy`](super::Lazy) compiled and loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Compilations that succeeded, by architecture; never more than one each.
    pub compiles: BTreeMap<Arch, u64>,
    /// Loads that succeeded, by device; never more than one each.
    pub loads: BTreeMap<usize, u64>,
    /// Compilations and loads that failed or panicked.
    pub failures: u64,
}
