//! Running what was compiled.

pub mod lazy;

pub use lazy::{Lazy, Load, Stats};
