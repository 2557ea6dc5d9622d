//! The trait by which a compilation is asked for one kind of artifact.

use super::{Cubin, LtoIr, Ptx};

/// A kind of compiler output, as in `program.compile::<Ptx>(…)`.
///
/// It is sealed: the kinds are those that NVIDIA's compilers make.
pub trait Artifact: sealed::Sealed {
    /// What the kind is called in messages.
    const KIND: &'static str;
}

impl Artifact for Ptx {
    const KIND: &'static str = "PTX";
}

impl Artifact for LtoIr {
    const KIND: &'static str = "LTO IR";
}

impl Artifact for Cubin {
    const KIND: &'static str = "cubin";
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Ptx {}
    impl Sealed for super::LtoIr {}
    impl Sealed for super::Cubin {}
}
