//! Installs NVIDIA's compilers from their Python wheels.
//!
//! The wheels are the one source that has every version for every platform, and needs neither
//! a GPU, nor a driver, nor rights on the machine. A toolkit is fetched into a folder beside its
//! place and renamed into it once it is whole; a manifest inside says what whole means.

mod install;
mod manifest;
mod pins;
mod python;

pub use install::{install, install_cuobjdump, install_libclang};
pub use pins::{Pinned, all, find, known, newest};
