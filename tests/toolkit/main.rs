//! Finding and opening NVIDIA's libraries.
//!
//! The search is tested on made-up machines. Opening is tested on the toolkits in
//! `target/toolkits`, which `cargo xtask toolkit` installs; without them those tests fail.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "clippy knows test functions, but not the helpers of an integration test"
)]

mod layouts;
mod machine;
mod opening;
mod order;
#[path = "../../src/testing/process.rs"]
mod process;
mod real;
