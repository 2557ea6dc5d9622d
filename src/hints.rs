//! What to do about what NVIDIA's libraries say: one table.
//!
//! A row says whose message it is about, by the result's code or by words of the log, and what a person
//! can do. The first row that fits is taken; the tests beside this file have a real log for each.

use std::path::PathBuf;

use crate::arch::{Arch, Suffix};
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::{Library, Stage};
use crate::nvrtc::missing;
use crate::nvvm::LAYOUT;

/// Whose message it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    LibNvvm,
    Nvrtc,
    NvJitLink,
    Driver,
}

/// A version pair of NVVM IR, and that of its debug metadata.
pub(crate) type IrVersions = ((u32, u32), (u32, u32));

/// What was said, and what is known about the call.
#[derive(Clone, Copy)]
pub(crate) struct Said<'a> {
    pub(crate) from: Speaker,
    pub(crate) stage: Stage,
    /// The result's code, and its name.
    #[cfg_attr(not(feature = "gpu"), expect(dead_code, reason = "the driver's"))]
    pub(crate) number: i32,
    pub(crate) code: &'a str,
    pub(crate) log: &'a str,
    pub(crate) library: &'a Library,
    pub(crate) arch: Option<Arch>,
    /// What the library reads.
    pub(crate) reads: &'a dyn Fn() -> Option<IrVersions>,
    /// The folders that headers were looked for in.
    pub(crate) searched: &'a [PathBuf],
    /// The names that no input of a link defines, with the input that wants each.
    pub(crate) unresolved: &'a [(String, String)],
    /// A kernel whose name PTX cannot spell.
    pub(crate) unspeakable: Option<&'a str>,
    /// The function of the driver that was called.
    #[cfg_attr(not(feature = "gpu"), expect(dead_code, reason = "the driver's"))]
    pub(crate) call: &'a str,
}

impl<'a> Said<'a> {
    /// What is always known.
    pub(crate) fn new(
        from: Speaker,
        stage: Stage,
        (number, code): (i32, &'a str),
        log: &'a str,
        library: &'a Library,
    ) -> Self {
        Said {
            from,
            stage,
            number,
            code,
            log,
            library,
            arch: None,
            reads: &|| None,
            searched: &[],
            unresolved: &[],
            unspeakable: None,
            call: "",
        }
    }

    /// What to do, where that is known.
    pub(crate) fn hint(&self) -> Option<String> {
        TABLE
            .iter()
            .filter(|row| row.from.contains(&self.from) && row.seen.fits(self))
            .find_map(|row| (row.advice)(self))
    }

    /// Gives each error among the messages what to do about it by its own words.
    pub(crate) fn advise(&self, diagnostics: &mut [Diagnostic]) {
        for diagnostic in diagnostics {
            if diagnostic.severity == Severity::Error && diagnostic.hint.is_none() {
                let alone = Said {
                    log: &diagnostic.message,
                    number: 0,
                    code: "",
                    stage: Stage::Query,
                    ..*self
                };
                diagnostic.hint = alone.hint();
            }
        }
    }
}

/// What a row goes by.
enum Seen {
    /// The code, by the end of its name.
    Code(&'static str),
    /// Any of these words in the log.
    Words(&'static [&'static str]),
    /// Something else that is known of the call.
    That(fn(&Said<'_>) -> bool),
}

impl Seen {
    fn fits(&self, said: &Said<'_>) -> bool {
        match self {
            Seen::Code(end) => said.code.ends_with(end),
            Seen::Words(words) => words.iter().any(|words| said.log.contains(words)),
            Seen::That(fits) => fits(said),
        }
    }
}

struct Row {
    from: &'static [Speaker],
    seen: Seen,
    advice: fn(&Said<'_>) -> Option<String>,
}

const fn row(from: &'static [Speaker], seen: Seen, advice: fn(&Said<'_>) -> Option<String>) -> Row {
    Row { from, seen, advice }
}

/// The triple that goes with it.
const TRIPLE: &str = "nvptx64-nvidia-cuda";

use Seen::{Code, That, Words};
use Speaker::{Driver, LibNvvm, NvJitLink, Nvrtc};

static TABLE: &[Row] = &[
    // libNVVM.
    row(&[LibNvvm], Code("INVALID_OPTION"), |said| {
        Some(format!(
            "{} does not take this option or its value; check how it is spelt and what it may be, or \
             use a library that takes it",
            said.library
        ))
    }),
    row(&[LibNvvm], Code("IR_VERSION_MISMATCH"), |said| {
        let ((major, minor), debug) = (said.reads)()?;
        Some(format!(
            "the library reads `!nvvmir.version` {major}.{minor}, with debug metadata up to {}.{}: \
             write `!{{i32 {major}, i32 {minor}}}`, and two more numbers only where there is debug \
             metadata",
            debug.0, debug.1
        ))
    }),
    row(
        &[LibNvvm],
        Words(&["number of debug compile units"]),
        |_| {
            Some(
                "this compiler takes `debug` (-g) with one compile unit in all modules together: link \
                 them into one unit before, let the other units say `emissionKind: NoDebug`, or \
                 leave `debug` out"
                    .to_owned(),
            )
        },
    ),
    row(
        &[LibNvvm],
        Words(&["DataLayout", "data layout", "datalayout"]),
        |_| {
            Some(format!(
                "the layout that every libNVVM reads is `target datalayout = \"{LAYOUT}\"`"
            ))
        },
    ),
    row(&[LibNvvm], Words(&["triple"]), |_| {
        Some(format!("the triple is `target triple = \"{TRIPLE}\"`"))
    }),
    row(
        &[LibNvvm],
        Words(&[
            "Producer: 'LLVM",
            "Producer LLVM",
            "Unknown attribute kind",
            "Unknown encoding",
            "Invalid record",
        ]),
        |_| {
            Some(
                "the bitcode was written by an LLVM that this compiler does not read: compile for \
                 compute_100 or newer, use a libNVVM with the newer NVVM (CUDA 13.5), or write the \
                 module as LLVM 7 does"
                    .to_owned(),
            )
        },
    ),
    row(&[LibNvvm], Words(&["multiply defined"]), |_| {
        Some(
            "define it in one module alone, or make it `internal`, or `linkonce_odr` where all \
             definitions are the same"
                .to_owned(),
        )
    }),
    row(
        &[LibNvvm],
        Words(&["unsupported operation", "no libcall available"]),
        |_| {
            Some(
            "an intrinsic or an instruction has no code for this architecture: call the function of \
             libdevice (`__nv_…`) in its place"
                .to_owned(),
        )
        },
    ),
    // NVRTC.
    row(&[Nvrtc], That(missing::lacks_builtins), |said| {
        Some(missing::no_builtins(said))
    }),
    row(&[Nvrtc], Words(&["__nv_name_map"]), |_| {
        Some(
            "a name expression names nothing in the source: correct it, or leave it out \
             (`remove_name_expression`)"
                .to_owned(),
        )
    }),
    row(&[Nvrtc], That(|_| true), missing::no_header),
    row(
        &[Nvrtc],
        Words(&[
            "considered a host variable",
            "host variables are not allowed",
        ]),
        |_| {
            Some(
            "mark it `__device__` or `__constant__`, or set `default_device` of the language options"
                .to_owned(),
        )
        },
    ),
    // nvJitLink.
    row(
        &[NvJitLink],
        That(|said| {
            let of_ir = said.log.contains("NVVM_ERROR");
            said.stage == Stage::Link && !said.unresolved.is_empty() && !of_ir
        }),
        |said| {
            let wanted: Vec<String> = said
                .unresolved
                .iter()
                .map(|(name, input)| format!("`{name}`, which {input} uses"))
                .collect();
            let libdevice = if said
                .unresolved
                .iter()
                .any(|(name, _)| name.starts_with("__nv_"))
            {
                "; functions `__nv_…` are libdevice's, which `nvvm::Program` adds where a module of its \
             own declares them"
            } else {
                ""
            };
            Some(format!(
                "add the input that defines {}{libdevice}",
                wanted.join(", ")
            ))
        },
    ),
    row(
        &[NvJitLink],
        That(|said| said.stage == Stage::Link && said.unspeakable.is_some()),
        |said| {
            Some(format!(
                "PTX cannot spell the kernel's name `{}`: use letters, digits, `_` and `$`, and no digit \
             first",
                said.unspeakable?
            ))
        },
    ),
    row(
        &[NvJitLink],
        Words(&["NVVM_ERROR_NO_MODULE_IN_PROGRAM"]),
        |_| Some("no input is LTO IR: leave `lto` out".to_owned()),
    ),
    row(
        &[NvJitLink],
        Words(&["LTOIR arch newer than target"]),
        |_| {
            Some(
            "LTO IR links for its own architecture and newer ones: compile it for the link's target, \
             or link for its own"
                .to_owned(),
        )
        },
    ),
    row(
        &[NvJitLink],
        Words(&["Producer LLVM", "Producer: 'LLVM"]),
        |_| Some("an input is LTO IR of the newer NVVM: set `dialect` to Latest".to_owned()),
    ),
    row(&[NvJitLink], Code("UNRECOGNIZED_OPTION"), |said| {
        Some(format!(
            "{} lacks this option: leave it out, or use a library that has it",
            said.library
        ))
    }),
    // What ptxas says, inside the three.
    row(
        &[Nvrtc, NvJitLink, Driver],
        Words(&["Unsupported .version"]),
        |_| {
            Some(
            "the PTX is newer than this compiler of PTX: make a cubin of it with a library as new as \
             what wrote it, or ask for older PTX (`ptx_version`)"
                .to_owned(),
        )
        },
    ),
    row(
        &[Nvrtc, NvJitLink, Driver],
        Words(&["Unresolved extern", "Undefined reference"]),
        |said| {
            let name = said.log.split('\'').nth(1).unwrap_or_default();
            Some(if name.starts_with("__nv_") {
                format!(
                    "`{name}` is libdevice's: compile with `libdevice` set to Auto, which adds it, or \
                     see that the name is spelt right"
                )
            } else if said.from == NvJitLink {
                "add the input that defines it".to_owned()
            } else {
                "link it with what defines it, by a `Linker`".to_owned()
            })
        },
    ),
    row(
        &[Nvrtc, NvJitLink, Driver],
        Words(&["uses too much shared data"]),
        |_| {
            Some(
            "a kernel may declare 48 KiB of shared memory: take less, or declare it `extern` and ask \
             for it at the launch"
                .to_owned(),
        )
        },
    ),
    row(
        &[NvJitLink],
        That(|said| said.stage == Stage::Add && !said.log.contains("ptx input, line")),
        |said| {
            Some(format!(
                "see that it is whole, made for {}, and not newer than {}",
                said.arch?, said.library
            ))
        },
    ),
    // The driver.
    #[cfg(feature = "gpu")]
    row(&[Driver], That(|_| true), |said| {
        of_driver(said).map(str::to_owned)
    }),
];

/// By the driver's code; what its compiler said besides comes first.
#[cfg(feature = "gpu")]
fn of_driver(said: &Said<'_>) -> Option<&'static str> {
    use crate::sys::cuda::consts::*;
    let explained = !said.log.trim().is_empty();
    Some(match said.number {
        ERROR_STUB_LIBRARY => {
            "cudarc opened a stub: take the toolkit's folder `stubs` off LD_LIBRARY_PATH"
        }
        ERROR_OUT_OF_MEMORY => "free device memory, or unload modules that are not used",
        ERROR_INVALID_DEVICE => "ask `device_count` which ordinals there are",
        ERROR_NO_BINARY_FOR_GPU | ERROR_INVALID_IMAGE if !explained => {
            "the code is for another architecture than this device: make it for what `gpu::arch` says"
        }
        ERROR_INVALID_PTX | ERROR_UNSUPPORTED_PTX_VERSION if !explained => {
            "the driver's compiler refuses the PTX: load it with LoadPolicy::Cubin to see why"
        }
        ERROR_INVALID_VALUE if said.call.starts_with("cuLaunch") => {
            "grid and block must not be zero, a block may have as many threads as `attributes` says, \
             and the grid must be a multiple of the cluster"
        }
        ERROR_LAUNCH_OUT_OF_RESOURCES => {
            "take smaller blocks: `suggested_block` says which size fits"
        }
        ERROR_COOPERATIVE_LAUNCH_TOO_LARGE => {
            "all blocks of a cooperative grid must fit at once: `max_active_blocks` times the \
             multiprocessors"
        }
        // Not those between that speak of peers, of attributes, and of pinned memory.
        704 | 705 | 708 | 709 | 712 | 713 => return None,
        ERROR_ILLEGAL_ADDRESS..=ERROR_LAUNCH_FAILED => {
            "a kernel that ran before this call may be what failed; the context is lost, and the \
             process must be started anew"
        }
        ERROR_STREAM_CAPTURE_UNSUPPORTED..=ERROR_STREAM_CAPTURE_WRONG_THREAD => {
            "the stream is being captured: for slices, disable cudarc's event tracking before they \
             are made, or pass a `DevicePtr`; copy and load before the capture"
        }
        _ => return None,
    })
}

/// The known ones nearest to one that is not, two below and two above; with a letter only where that
/// one has a letter.
pub(crate) fn nearest(arch: Arch, known: &[Arch], shown: fn(Arch) -> String) -> String {
    let lettered = |known: Arch| known.suffix() != Suffix::None;
    let mut near: Vec<Arch> = known.to_vec();
    near.retain(|known| lettered(arch) || !lettered(*known));
    near.sort_unstable();
    near.dedup();
    let at = near.partition_point(|known| *known < arch);
    let first = at.saturating_sub(2);
    // What was sm_101 before CUDA 13 is sm_110 since, and comes first.
    let renamed = |known: &Arch| known.is_same_chip(arch) && known.suffix() == arch.suffix();
    let beside = near.iter().skip(first).take(at - first + 2);
    let beside = beside.filter(|known| !renamed(known));
    let near = near.iter().filter(|known| renamed(known)).chain(beside);
    near.map(|arch| shown(*arch)).collect::<Vec<_>>().join(", ")
}

#[cfg(all(test, not(loom)))]
mod tests;
