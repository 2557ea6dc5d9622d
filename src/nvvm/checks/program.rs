//! What is wrong with the modules of a program for one compilation.

use super::intrinsics::Age;
use super::refusal::Refusal;
use super::{assembly, definitions, intrinsics, kernels, names, symbols};
use crate::arch::Arch;
use crate::error::Result;
use crate::guard::Guarded;
use crate::nvvm::dialect::Choice;
use crate::nvvm::modules::{LAYOUT, Module};
use crate::nvvm::options::Options;
use crate::nvvm::reader::{ModuleInfo, ModuleKind};
use crate::sys::Nvvm;
use crate::toolkit::Opened;

/// Which of libNVVM's two compilers reads the modules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::nvvm) enum Path {
    /// That of LLVM 7.
    Legacy,
    /// That of a current LLVM.
    Modern,
}

/// What one compilation is for.
pub(in crate::nvvm) struct Situation<'a> {
    pub(in crate::nvvm) options: &'a Options,
    pub(super) nvvm: &'a Opened<Nvvm>,
    pub(super) guard: &'a Guarded,
    pub(in crate::nvvm) path: Path,
    pub(in crate::nvvm) lto: bool,
}

impl<'a> Situation<'a> {
    pub(in crate::nvvm) fn new(
        options: &'a Options,
        choice: &Choice,
        lto: bool,
        nvvm: &'a Opened<Nvvm>,
        guard: &'a Guarded,
    ) -> Self {
        let path = if choice.latest || options.arch >= Arch::SM_100 {
            Path::Modern
        } else {
            Path::Legacy
        };
        Situation {
            options,
            nvvm,
            guard,
            path,
            lto,
        }
    }

    /// The versions of NVVM IR and of its debug metadata that the library reads.
    pub(in crate::nvvm) fn ir_version(&self) -> Option<((u32, u32), (u32, u32))> {
        self.nvvm.api.ir_version().ok()
    }

    fn age(&self) -> Age {
        match self.nvvm.library.major_minor() {
            Some((12, 0)) => Age::First,
            Some(version) if version >= (13, 5) => Age::Last,
            _ => Age::Middle,
        }
    }

    /// Whether the library is that of CUDA 12.0, the oldest that is taken.
    pub(super) fn is_first(&self) -> bool {
        self.nvvm.library.major_minor() == Some((12, 0))
    }

    /// Whether the library is one of CUDA 12 before 12.9, by the debug metadata that it reads.
    fn older(&self) -> bool {
        self.nvvm
            .api
            .ir_version()
            .is_ok_and(|(_, debug)| debug < (3, 2))
    }
}

/// Refuses what this library would end the process at, misread, or complain of in riddles.
pub(in crate::nvvm) fn program(situation: &Situation<'_>, modules: &[Module]) -> Result<()> {
    for module in modules {
        one(situation, &module.info, module.lazy).map_err(|e| e.for_module(module.name()))?;
    }
    definitions::once(modules)?;
    kernels::convention(situation, modules)
}

fn one(situation: &Situation<'_>, info: &ModuleInfo, lazy: bool) -> Result<(), Refusal> {
    intrinsics::check(info, situation.path, situation.age())?;
    for assembly in &info.assembly {
        assembly::here(assembly, situation.path, situation.older())?;
    }
    if lazy {
        return Ok(());
    }
    target(info, situation.path)?;
    version(info)?;
    symbols::check(info)?;
    names::check(info, situation.path, situation.lto)?;
    for kernel in info.kernels() {
        kernels::returns(kernel)?;
        kernels::parameters(kernel, situation)?;
        kernels::parameter_types(kernel, situation.path)?;
    }
    Ok(())
}

fn target(info: &ModuleInfo, path: Path) -> Result<(), Refusal> {
    if info.certain && info.triple.is_none() {
        return Err(Refusal::new(
            "it has no target triple",
            format!(
                "add the line `target triple = \"nvptx64-nvidia-cuda\"`{}",
                or_repair(info)
            ),
        ));
    }
    if info.certain && info.data_layout.as_deref().is_none_or(str::is_empty) {
        return Err(Refusal::new(
            "it has no data layout",
            format!(
                "add the line `target datalayout = \"{LAYOUT}\"`{}",
                or_repair(info)
            ),
        ));
    }
    match info.late_target {
        Some(line) if path == Path::Modern => Err(Refusal::new(
            "its `target` stands behind another entity, where a current LLVM reads none",
            format!("move the `target` lines to the top{}", or_repair(info)),
        )
        .at(Some(line))),
        _ => Ok(()),
    }
}

fn version(info: &ModuleInfo) -> Result<(), Refusal> {
    if info.nvvmir_version.is_some() || !info.certain {
        return Ok(());
    }
    Err(Refusal::new(
        "it has no `!nvvmir.version`, which every module that is not lazy needs",
        format!(
            "add the lines `!nvvmir.version = !{{!0}}` and `!0 = !{{i32 2, i32 0}}` (with a number \
             that is free){}",
            or_repair(info)
        ),
    ))
}

fn or_repair(info: &ModuleInfo) -> &'static str {
    match info.kind {
        ModuleKind::Bitcode => "; in bitcode its writer must do it",
        _ => ", or allow it with `repair`",
    }
}
