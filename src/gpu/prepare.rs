//! From an artifact to the bytes that the driver is given.

use std::collections::BTreeMap;

use super::driver::Driver;
use super::link;
use super::load::{Image, LoadOptions, LoadPolicy};
use crate::arch::Arch;
use crate::artifact::{Cubin, IsaVersion, LtoIr, Ptx};
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::{Error, InvalidInput, Library, PtxTooNew, Result};
use crate::toolkit::Toolkit;

/// What the driver is given, and what is known of it.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    /// A cubin, or PTX with a NUL at its end.
    pub(super) code: Vec<u8>,
    /// The kernels that must be in it; empty where nobody knows.
    pub(super) kernels: Vec<String>,
    /// Whether a linker had the chance to drop kernels, so that each is looked for.
    pub(super) linked: bool,
    /// The linker, where one was at work.
    pub(super) linker: Option<Library>,
    /// Other names by which kernels and variables are asked for, as in `add<float>`.
    pub(super) lowered: BTreeMap<String, String>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

pub(super) fn prepare(
    driver: &Driver,
    device: Arch,
    image: Image<'_>,
    options: &LoadOptions,
) -> Result<Prepared> {
    match image {
        Image::Cubin(cubin) => Ok(Prepared {
            code: cubin.as_bytes().to_vec(),
            kernels: cubin.kernels().iter().map(|k| k.name.clone()).collect(),
            linked: false,
            linker: None,
            lowered: cubin.lowered_names().clone(),
            diagnostics: cubin.diagnostics().to_vec(),
        }),
        Image::LtoIr(lto) => of_lto(device, lto, options),
        Image::Ptx(ptx) => of_ptx(driver, device, ptx, options),
    }
}

fn toolkit(options: &LoadOptions) -> Result<Toolkit> {
    match &options.toolkit {
        Some(toolkit) => Ok(toolkit.clone()),
        None => link::default_toolkit(),
    }
}

fn of_lto(device: Arch, lto: &LtoIr, options: &LoadOptions) -> Result<Prepared> {
    if options.policy == LoadPolicy::Driver {
        return Err(Error::InvalidOptions {
            problem: "LTO IR is linked by nvJitLink, and `policy` is Driver".to_owned(),
            hint: "set `policy` to Auto or Cubin, or compile to PTX".to_owned(),
        });
    }
    let (cubin, linker) = link::lto(&toolkit(options)?, lto, device)?;
    of_linked(
        cubin,
        linker,
        lto.kernels().to_vec(),
        lto.diagnostics(),
        format!("the LTO IR was linked for {device}"),
    )
}

fn of_ptx(driver: &Driver, device: Arch, ptx: &Ptx, options: &LoadOptions) -> Result<Prepared> {
    if !ptx.target().ptx_runs_on(device) {
        return Err(InvalidInput {
            input: "PTX".to_owned(),
            line: None,
            snippet: None,
            problem: format!("it is for {}, and the device is {device}", ptx.target()),
            hint: format!("compile it for {}", device.compute()),
        }
        .into());
    }
    let why_not = match options.policy {
        LoadPolicy::Driver => None,
        LoadPolicy::Cubin => {
            let linked = link::ptx(&toolkit(options)?, ptx, device)?;
            return of_linked_ptx(linked, ptx, device);
        }
        LoadPolicy::Auto => {
            let linked = toolkit(options).and_then(|toolkit| link::ptx(&toolkit, ptx, device));
            let reads_it = driver
                .reads_ptx()
                .is_none_or(|reads| ptx.isa_version() <= reads);
            match linked {
                Ok((_, linker)) if reads_it && is_of_a_later_major(&linker, driver) => Some(
                    format!("{linker} is of a later major version than the driver"),
                ),
                Ok(linked) => return of_linked_ptx(linked, ptx, device),
                Err(e) => Some(short(&e)),
            }
        }
    };
    let too_old = |reads: &IsaVersion| ptx.isa_version() > *reads;
    if let Some(reads) = driver.reads_ptx().filter(too_old) {
        return Err(PtxTooNew {
            ptx: ptx.isa_version(),
            reads,
            why_not: why_not.map(|why| format!("nvJitLink cannot make a cubin of it ({why})")),
            driver: driver.library.clone(),
        }
        .into());
    }
    let mut code = ptx.as_bytes().to_vec();
    code.push(0);
    let mut diagnostics = ptx.diagnostics().to_vec();
    let way = match why_not {
        None => "the driver compiles the PTX".to_owned(),
        Some(why) => format!("the driver compiles the PTX, and not nvJitLink: {why}"),
    };
    diagnostics.push(Diagnostic::new(Severity::Note, way));
    Ok(Prepared {
        code,
        kernels: names(ptx),
        linked: false,
        linker: None,
        lowered: ptx.lowered_names().clone(),
        diagnostics,
    })
}

fn of_linked_ptx((cubin, linker): (Cubin, Library), ptx: &Ptx, device: Arch) -> Result<Prepared> {
    let what = format!("PTX {} was made a cubin for {device}", ptx.isa_version());
    of_linked(cubin, linker, names(ptx), ptx.diagnostics(), what)
}

fn of_linked(
    cubin: Cubin,
    linker: Library,
    kernels: Vec<String>,
    earlier: &[Diagnostic],
    what: String,
) -> Result<Prepared> {
    // The driver would say it too, later and with less: nvJitLink may drop a kernel without a word.
    if let Some(name) = kernels.iter().find(|name| cubin.kernel(name).is_none()) {
        return Err(lost(name, &linker, cubin.diagnostics()));
    }
    let mut diagnostics = earlier.to_vec();
    diagnostics.extend_from_slice(cubin.diagnostics());
    let note = format!("{what} by {linker}");
    diagnostics.push(Diagnostic::new(Severity::Note, note));
    Ok(Prepared {
        code: cubin.as_bytes().to_vec(),
        kernels: cubin.kernels().iter().map(|k| k.name.clone()).collect(),
        linked: true,
        linker: Some(linker),
        lowered: cubin.lowered_names().clone(),
        diagnostics,
    })
}

/// A kernel that was promised and is not in what came of it.
pub(super) fn lost(name: &str, library: &Library, diagnostics: &[Diagnostic]) -> Error {
    Error::WrongOutput {
        problem: format!("the kernel {name} is not in the linked code"),
        hint:
            "give it external linkage, or pin it: what libNVVM compiles to `LtoIr` here is pinned"
                .to_owned(),
        library: library.clone(),
        diagnostics: diagnostics.to_vec(),
    }
}

fn names(ptx: &Ptx) -> Vec<String> {
    ptx.kernels().iter().map(|k| k.name.clone()).collect()
}

/// Whether a linker may write cubins of a form that came after the driver: CUDA 13 writes another ELF
/// ABI (8) than CUDA 12 (7), and compatibility is promised within a major version.
pub(super) fn is_of_a_later_major(linker: &Library, driver: &Driver) -> bool {
    let linker = linker
        .version
        .as_deref()
        .and_then(|version| version.split('.').next()?.parse::<u32>().ok());
    linker.is_some_and(|linker| linker > driver.version().0)
}

/// The reason alone: an error that lists every place tried would hide what it is told beside.
fn short(error: &Error) -> String {
    match error {
        Error::NotFound(missing) => format!("{} was not found", missing.part),
        other => other.to_string(),
    }
}
