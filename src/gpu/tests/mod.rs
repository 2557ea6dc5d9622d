//! Tests over a driver that is none.

mod fake;
mod kernels;
mod loading;
mod opening;
