//! `cargo xtask gpu-bundle`: a folder that runs on a GPU machine with no Rust.
//!
//! It holds stripped programs, a `run.sh`, and the newest toolkit's libraries, since what that
//! machine has may be older. They are packed as one: the two compilers in them are much alike.

mod contents;
mod write;

pub use write::write;
