//! The checks between the reader and the library: what libNVVM would end the process at, spin on for
//! ever, misread, or complain of in riddles.
//!
//! The reader says what a module holds, and judges nothing. Here it is judged, at two times:
//! [`module`] when a module is added, for what no option changes, and [`program`] before each compile
//! and verify, where it depends on the options, the library, or the other modules. Every refusal was
//! seen to be right with the real libraries; what they take is taken here.

mod assembly;
mod definitions;
mod intrinsics;
mod kernels;
mod layout;
mod module;
mod names;
mod program;
mod refusal;
mod symbols;

pub(super) use layout::{Difference, Layout};
pub(super) use module::module;
pub(super) use names::{is_spelt, stands};
pub(super) use program::{Path, Situation, program};
