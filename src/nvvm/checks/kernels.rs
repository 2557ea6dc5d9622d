//! Kernels that are none to the library, or that it cannot give their parameters.

use std::collections::HashSet;

use super::program::{Path, Situation};
use super::refusal::Refusal;
use crate::arch::Arch;
use crate::error::Result;
use crate::nvvm::modules::{Module, Modules};
use crate::nvvm::probe;
use crate::nvvm::reader::{OddParameter, Symbol};

/// Refuses a kernel that returns something.
pub(super) fn returns(kernel: &Symbol) -> Result<(), Refusal> {
    if kernel.returns_void != Some(false) {
        return Ok(());
    }
    Err(Refusal::new(
        format!("the kernel `{}` returns a value", kernel.name_lossy()),
        "a kernel returns void: let it store what it computes",
    )
    .at(kernel.line))
}

/// Refuses a kernel with more parameters than fit; libNVVM says so too, without a line.
pub(super) fn parameters(kernel: &Symbol, situation: &Situation<'_>) -> Result<(), Refusal> {
    let limit = limit(situation);
    let Some(bytes) = kernel.parameter_bytes.filter(|bytes| *bytes > limit) else {
        return Ok(());
    };
    Err(Refusal::new(
        format!(
            "the parameters of the kernel `{}` take {bytes} bytes, and {} has room for {limit}",
            kernel.name_lossy(),
            situation.options.arch.compute()
        ),
        if limit < LARGE {
            "pass a pointer to the data; from sm_70 on and libNVVM 12.1 on, 32764 bytes fit"
        } else {
            "pass a pointer to the data"
        },
    )
    .at(kernel.line))
}

/// Refuses a kernel with a parameter that GPUs have no registers for: a compiler ends the process over
/// most, and writes PTX that no assembler reads for the others.
pub(super) fn parameter_types(kernel: &Symbol, path: Path) -> Result<(), Refusal> {
    let fatal = |odd: &&OddParameter| match path {
        Path::Legacy => true,
        // There every integer is taken that is wider than the widest register, and part of any other.
        Path::Modern => !odd.inside && odd.bits.is_some_and(|bits| bits <= 128),
    };
    let Some(odd) = kernel.odd_parameter.as_ref().filter(fatal) else {
        return Ok(());
    };
    Err(Refusal::new(
        format!(
            "the kernel `{}` has a parameter {} the type {}, which no GPU has",
            kernel.name_lossy(),
            if odd.inside { "that holds" } else { "of" },
            odd.name
        ),
        "pass an integer of 8, 16, 32, 64 or 128 bits, a half, float or double, or a pointer to the \
         data",
    )
    .at(kernel.line))
}

const LARGE: u64 = 32_764;

fn limit(situation: &Situation<'_>) -> u64 {
    const SMALL: u64 = 4096;
    if situation.is_first() || situation.options.arch < Arch::SM_70 {
        SMALL
    } else {
        LARGE
    }
}

/// Refuses a kernel that the library would make a plain function of: libNVVM before CUDA 12.9 knows a
/// kernel by its annotation alone, and says nothing.
pub(super) fn convention(situation: &Situation<'_>, modules: &[Module]) -> Result<()> {
    if situation.path == Path::Modern {
        return Ok(());
    }
    let annotated: HashSet<&[u8]> = modules
        .iter()
        .flat_map(|module| module.info.symbols.iter())
        .filter(|symbol| symbol.annotated)
        .map(|symbol| symbol.name.as_slice())
        .collect();
    let by_convention = Modules(modules)
        .kernels()
        .find(|(_, kernel)| !annotated.contains(kernel.name.as_slice()));
    let Some((module, kernel)) = by_convention else {
        return Ok(());
    };
    let (nvvm, arch) = (situation.nvvm, situation.options.arch);
    if probe::honours_convention(nvvm, arch, situation.guard) != Some(false) {
        return Ok(());
    }
    let name = kernel.name_lossy();
    Err(Refusal::new(
        format!(
            "`{name}` is marked as a kernel by its calling convention alone, which {} ignores",
            nvvm.library
        ),
        format!(
            "list it in `!nvvm.annotations` too, as `!{{void (…)* @{name}, !\"kernel\", i32 1}}`, \
             or use a libNVVM of CUDA 12.9 or later"
        ),
    )
    .at(kernel.line)
    .for_module(module.name()))
}
