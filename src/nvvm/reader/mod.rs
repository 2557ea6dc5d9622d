//! What matters of an NVVM IR module before libNVVM sees it.
//!
//! libNVVM stops its whole process on some damaged inputs, and answers others with a message that
//! names nothing. [`look`] reads a module first, as text or as bitcode, in plain Rust: who wrote
//! it, for which target, which symbols and kernels it has, and whether an older dialect can read
//! it. [`kind_of`] tells what some bytes are at all.
//!
//! Bitcode that cannot be walked to its end is a [`LookError`]. Text never is: libNVVM is the
//! authority on text, and where this reader loses track of it [`ModuleInfo::certain`] is false.
//!
//! ```
//! use cuda_program::nvvm::reader::look;
//!
//! let module = look(br#"
//! target triple = "nvptx64-nvidia-cuda"
//! define void @scale(float* %x) {
//!   ret void
//! }
//! !nvvm.annotations = !{!0}
//! !0 = !{void (float*)* @scale, !"kernel", i32 1}
//! "#)?;
//! let kernels: Vec<_> = module.kernels().map(|k| k.name_lossy()).collect();
//! assert_eq!(kernels, ["scale"]);
//! assert_eq!(module.triple.as_deref(), Some("nvptx64-nvidia-cuda"));
//! # Ok::<(), cuda_program::nvvm::reader::LookError>(())
//! ```

mod bitcode;
mod debug;
mod info;
mod kind;
mod look;
mod notes;
mod symbol;
mod text;
mod types;
mod uses;

pub use info::{DebugCycle, Malformed, Modern, ModuleInfo, ModuleKind, NvvmIrVersion, Producer};
pub use kind::{InputKind, kind_of};
pub use look::{LookError, look};
pub use symbol::{Linkage, OddParameter, Symbol, SymbolKind};
pub(super) use text::{Flags, Places, places};
pub use uses::{Assembly, Intrinsic, OperandType};
