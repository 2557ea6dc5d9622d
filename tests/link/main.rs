//! Linking on the real nvJitLink of each toolkit.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/inputs.rs"]
mod inputs_of_links;
#[path = "../../src/testing/process.rs"]
mod process;
#[path = "../common/raw.rs"]
mod raw;

mod after_failures;
mod containers;
mod inputs;
mod languages;
mod names;
mod options;
mod refused;
mod results;
mod threads;
mod twice;
