//! Tests over a driver that is none.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod fake;
mod kernels;
mod loading;
mod nvrtc;
mod opening;
#[cfg(target_os = "linux")]
mod through_cudarc;
