//! What is wrong with a module whatever it is compiled for.

use super::assembly;
use super::layout::Layout;
use super::refusal::Refusal;
use crate::nvvm::modules::LAYOUT;
use crate::nvvm::reader::{ModuleInfo, ModuleKind};

/// How deep brackets may lie in each other: half of what fits on the stack that a call gets.
const DEEPEST: u32 = 80_000;

/// Refuses a module that no library and no option makes good.
pub(in crate::nvvm) fn module(info: &ModuleInfo, lazy: bool) -> Result<(), Refusal> {
    if info.nesting > DEEPEST {
        return Err(Refusal::new(
            format!("brackets lie {} deep in each other", info.nesting),
            format!("libNVVM would run out of stack: stay below {DEEPEST}"),
        ));
    }
    if lazy && info.kind == ModuleKind::Text {
        return Err(Refusal::new(
            "a lazy module must be bitcode, and this is text",
            "add it with `add_module`, or assemble it to bitcode first",
        ));
    }
    if info.certain && !lazy && says_nothing(info) {
        return Err(Refusal::new(
            "it has no function, no variable and no target triple: nothing to compile",
            "give NVVM IR as text or as bitcode",
        ));
    }
    if let Some(cycle) = &info.debug_cycle {
        let nodes: Vec<String> = cycle
            .nodes
            .iter()
            .take(8)
            .map(|n| format!("!{n}"))
            .collect();
        let more = if cycle.nodes.len() > nodes.len() {
            ", …"
        } else {
            ""
        };
        return Err(Refusal::new(
            format!(
                "debug metadata leads back to itself through {}: {}{more}",
                cycle.through,
                nodes.join(", ")
            ),
            "libNVVM would never end: let the chain end in a function, a file or a type that stands \
             for itself",
        )
        .at(cycle.line));
    }
    if let Some(type_) = &info.recursive_type {
        return Err(Refusal::of(
            type_,
            "",
            "no size is large enough for that: let it hold a pointer to itself",
        ));
    }
    for assembly in &info.assembly {
        assembly::always(assembly)?;
    }
    if lazy { Ok(()) } else { eager(info) }
}

fn says_nothing(info: &ModuleInfo) -> bool {
    info.symbols.is_empty()
        && info.triple.is_none()
        && info.data_layout.is_none()
        && info.nvvmir_version.is_none()
        && info.nvvmir_version_malformed.is_none()
}

/// What libNVVM would misread in a module that it takes whole; of lazy ones it reads no more than it
/// needs, and libdevice itself passes none of this.
fn eager(info: &ModuleInfo) -> Result<(), Refusal> {
    if let Some(triple) = &info.triple {
        if !triple.starts_with("nvptx64-") {
            return Err(Refusal::new(
                format!("its target triple is \"{triple}\""),
                "libNVVM compiles 64-bit code for NVIDIA GPUs alone: use \"nvptx64-nvidia-cuda\"",
            )
            .at(info.triple_line));
        }
    }
    if let Some(layout) = info
        .data_layout
        .as_deref()
        .filter(|layout| !layout.is_empty())
    {
        // libNVVM of CUDA 12 ends the process at one that it cannot read.
        let parsed = Layout::parse(layout).map_err(|problem| {
            Refusal::new(
                format!("its data layout \"{layout}\" is malformed: {problem}"),
                format!("write `target datalayout = \"{LAYOUT}\"`"),
            )
            .at(info.data_layout_line)
        })?;
        if let Some(bits) = parsed.pointer_bits().filter(|bits| *bits != 64) {
            return Err(Refusal::new(
                format!("its data layout has {bits}-bit pointers"),
                "CUDA has 64-bit pointers alone: write p:64:64:64, or leave it out",
            )
            .at(info.data_layout_line));
        }
    }
    if let Some(malformed) = &info.annotations_malformed {
        return Err(Refusal::of(
            malformed,
            "its `!nvvm.annotations` is malformed: ",
            "write each node as a function and then pairs of a name and a number, as in \
             `!{void ()* @k, !\"kernel\", i32 1}`",
        ));
    }
    if let Some(malformed) = &info.nvvmir_version_malformed {
        return Err(Refusal::of(
            malformed,
            "its `!nvvmir.version` is malformed: ",
            "write it as one node of two or four integers: `!nvvmir.version = !{!0}` and \
             `!0 = !{i32 2, i32 0}`",
        ));
    }
    Ok(())
}
