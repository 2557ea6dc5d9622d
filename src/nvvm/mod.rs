//! NVVM IR, and NVIDIA's libNVVM that compiles it.

pub mod reader;
