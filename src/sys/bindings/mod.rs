//! What bindgen made of NVIDIA's headers: types, constants and function types, one module a library.
//!
//! Written by `cargo xtask bindgen`, never edited by hand. With the feature `buildtime-bindgen` the
//! build script makes them from the headers of the installed toolkit instead.
#![allow(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    dead_code,
    clippy::all
)]

/// From `nvvm.h`.
#[cfg(not(feature = "buildtime-bindgen"))]
pub mod nvvm;

/// From `nvrtc.h`.
#[cfg(not(feature = "buildtime-bindgen"))]
pub mod nvrtc;

/// From `nvJitLink.h`.
#[cfg(not(feature = "buildtime-bindgen"))]
pub mod nvjitlink;

/// From the installed `nvvm.h`.
#[cfg(feature = "buildtime-bindgen")]
pub mod nvvm {
    include!(concat!(env!("OUT_DIR"), "/nvvm.rs"));
}

/// From the installed `nvrtc.h`.
#[cfg(feature = "buildtime-bindgen")]
pub mod nvrtc {
    include!(concat!(env!("OUT_DIR"), "/nvrtc.rs"));
}

/// From the installed `nvJitLink.h`.
#[cfg(feature = "buildtime-bindgen")]
pub mod nvjitlink {
    include!(concat!(env!("OUT_DIR"), "/nvjitlink.rs"));
}
