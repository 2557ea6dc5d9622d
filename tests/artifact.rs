//! PTX and LTO IR of real compilers, held against what their sources say.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed helper is a failed test"
)]

#[path = "../src/testing/random.rs"]
mod random;

mod artifact {
    mod files;
    mod ltoir;
    mod ptx;
    mod ptx_refused;
    mod ptx_syntax;
}
