//! Linking on the real nvJitLink of each toolkit.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/raw.rs"]
mod raw;

mod languages;
mod refused;
mod results;
