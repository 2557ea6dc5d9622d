//! The look at all inputs before the library sees any.

use std::collections::BTreeMap;

use super::fatbin::{self, Inside};
use super::input::{Known, Ready};
use super::names::{Clash, Names, Place, twice};
use super::options::Options;
use crate::arch::{Arch, Suffix};
use crate::artifact::{Cubin, Linkage, LtoIr, Ptx, PtxKernel, ptx_versions};
use crate::error::{Error, InvalidInput, Library, Result};
use crate::nvvm::Dialect;

/// What is known of the inputs together.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The kernels that must come out.
    pub(super) kernels: Vec<String>,
    /// Whether those are all of them: LTO IR may hold others that nobody named.
    pub(super) kernels_known: bool,
    /// Whether an input is LTO IR.
    pub(super) lto: bool,
    /// Whether an input is LTO IR of the newer dialect.
    pub(super) modern: bool,
    /// What inputs use and none is known to define, with the input.
    pub(super) unresolved: Vec<(String, String)>,
}

/// LTO IR of each toolkit, measured: the toolkit, and the minor versions of the container and of the
/// IR in the header. A library reads those up to its own.
const WRITES: &[((u32, u32), u8, u8)] = &[
    ((12, 0), 57, 51),
    ((12, 4), 61, 71),
    ((12, 9), 64, 93),
    ((13, 0), 65, 98),
    ((13, 5), 67, 131),
];
const CONTAINER_AT: usize = 5;
const IR_AT: usize = 7;

pub(super) fn check(
    inputs: &[Ready<'_>],
    target: Arch,
    options: &Options,
    library: &Library,
) -> Result<Plan> {
    if inputs.is_empty() {
        return Err(Error::invalid_options(
            "there is nothing to link",
            "add an input",
        ));
    }
    let mut plan = Plan {
        kernels_known: true,
        ..Plan::default()
    };
    let inside: Vec<Inside> = inputs
        .iter()
        .map(|input| match &input.known {
            Known::Other(kind, bytes) => fatbin::check(*kind, bytes, target)
                .map_err(|(problem, hint)| refused(input.name, problem, hint)),
            _ => Ok(Inside::default()),
        })
        .collect::<Result<_>>()?;
    let mut names = Names::default();
    for (number, (input, inside)) in inputs.iter().zip(&inside).enumerate() {
        let place = Place {
            number,
            name: input.name,
        };
        let clashes = |(problem, hint): Clash| refused(input.name, problem, hint);
        let (symbols, undefined) = match &input.known {
            Known::Ptx(ptx) => {
                check_ptx(input.name, ptx, target, library)?;
                let shown = |k: &&PtxKernel| k.linkage != Linkage::Unmarked;
                let kernels = ptx.kernels().iter().filter(shown);
                plan.kernels.extend(kernels.map(|k| k.name.clone()));
                (ptx.symbols(), ptx.externs())
            }
            Known::Cubin(cubin) => {
                check_cubin(input.name, cubin, target, library)?;
                let kernels = cubin.kernels().iter();
                plan.kernels.extend(kernels.map(|k| k.name.clone()));
                (cubin.symbols(), cubin.undefined())
            }
            Known::LtoIr(lto) => {
                check_lto(input.name, lto, target, library)?;
                plan.lto = true;
                plan.modern |= lto.is_modern();
                plan.kernels.extend(lto.kernels().iter().cloned());
                plan.kernels_known &= lto.knows_kernels();
                continue;
            }
            Known::Other(..) => {
                plan.kernels_known = false;
                plan.lto |= inside.lto;
                for lto in &inside.lto_ir {
                    check_lto(input.name, lto, target, library)?;
                    plan.modern |= lto.is_modern();
                }
                names.add(place, inside.symbols.iter()).map_err(clashes)?;
                continue;
            }
        };
        names.add(place, symbols.iter()).map_err(clashes)?;
        let wanted = undefined.iter().filter(|symbol| !symbol.is_provided());
        plan.unresolved
            .extend(wanted.map(|symbol| (symbol.name.clone(), input.name.to_owned())));
    }
    check_lto_kernels(inputs, &names)?;
    plan.unresolved.retain(|(name, _)| !names.defines(name));
    if !options.kernels_used.is_empty() {
        plan.keep_used(options)?;
    }
    plan.kernels.sort_unstable();
    plan.kernels.dedup();
    if plan.modern && target < Arch::SM_100 && options.dialect == Dialect::Legacy {
        return Err(Error::invalid_options(
            format!(
                "an input is LTO IR of the newer dialect, which is linked for {target} with \
                 -nvvm-latest alone, and `dialect` is Legacy"
            ),
            "set `dialect` to Auto",
        ));
    }
    Ok(plan)
}

impl Plan {
    /// Keeps the kernels that are to stay: each must be there, or a typo would drop another.
    fn keep_used(&mut self, options: &Options) -> Result<()> {
        let used = &options.kernels_used;
        let absent = used.iter().find(|name| !self.kernels.contains(name));
        if let Some(absent) = absent.filter(|_| self.kernels_known) {
            let hint = match self.kernels.as_slice() {
                [] => "they have none at all".to_owned(),
                kernels => format!("they have {}", kernels.join(", ")),
            };
            return Err(Error::invalid_options(
                format!("`kernels_used` names `{absent}`, and no input has a kernel of this name"),
                hint,
            ));
        }
        // Those that nobody knew of must come out all the same.
        self.kernels = used.clone();
        Ok(())
    }
}

/// No two inputs have a kernel of one name, of which one or both are LTO IR.
fn check_lto_kernels(inputs: &[Ready<'_>], names: &Names<'_>) -> Result<()> {
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    for (number, input) in inputs.iter().enumerate() {
        let Known::LtoIr(lto) = &input.known else {
            continue;
        };
        let place = Place {
            number,
            name: input.name,
        };
        for kernel in lto.kernels() {
            names
                .check_kernel(place, kernel)
                .and_then(|()| match seen.insert(kernel, input.name) {
                    None => Ok(()),
                    Some(other) => Err(twice(kernel, other)),
                })
                .map_err(|(problem, hint)| refused(input.name, problem, hint))?;
        }
    }
    Ok(())
}

fn refused(input: &str, problem: String, hint: &str) -> Error {
    InvalidInput {
        input: input.to_owned(),
        line: None,
        snippet: None,
        problem,
        hint: hint.to_owned(),
    }
    .into()
}

fn check_ptx(input: &str, ptx: &Ptx, target: Arch, library: &Library) -> Result<()> {
    let version = ptx.isa_version();
    let reads = library.major_minor().and_then(ptx_versions::of_cuda);
    if let Some(reads) = reads.filter(|reads| version > *reads) {
        return Err(refused(
            input,
            format!("it is PTX {version}, and {library} reads no newer PTX than {reads}"),
            "link with a library as new as the compiler, or compile to older PTX",
        ));
    }
    let made_for = ptx.target();
    let letter_missing =
        made_for.suffix() == Suffix::ArchSpecific && target.suffix() != Suffix::ArchSpecific;
    if made_for.ptx_runs_on(target) && !letter_missing {
        return Ok(());
    }
    Err(refused(
        input,
        format!("it is PTX for {made_for}, and the link is for {target}"),
        &format!(
            "compile it for {}, or link for {made_for}",
            target.compute()
        ),
    ))
}

/// A cubin runs on its major number alone, from its minor number on; what fits together beyond that, the
/// versions of the library see differently (measured with 12.9, 13.0 and 13.5).
fn check_cubin(input: &str, cubin: &Cubin, target: Arch, library: &Library) -> Result<()> {
    // From 12.9 on the library leaves all of it out without a word; before, it fails, and 12.4 keeps
    // a lock of its own for ever, so that the next link on another thread would hang.
    if !cubin.is_relocatable() {
        return Err(refused(
            input,
            "it is a finished cubin, which cannot be linked with others".to_owned(),
            "compile it with relocatable code (`code.relocatable` of NVRTC, -rdc=true of nvcc), or \
             to PTX or LTO IR; a finished cubin is loaded as it is",
        ));
    }
    let made_for = cubin.arch();
    let chip_alone = made_for.suffix() == Suffix::ArchSpecific;
    let version = library.major_minor();
    let later_in_decade = || {
        let (from, to) = (made_for.number(), target.number());
        // What is the 110 of later versions is kin to nothing else, and 13.0 mixes no two here.
        let apart = [from, to].contains(&Arch::SM_101.number());
        let mixes = !(from / 10 == 10 && version == Some((13, 0)));
        !chip_alone && !apart && mixes && from / 10 == to / 10 && from < to
    };
    let fits = if made_for.number() == target.number() {
        let same_letter = target.suffix() == Suffix::ArchSpecific;
        !chip_alone || same_letter || version.is_some_and(|version| version <= (13, 0))
    } else {
        later_in_decade()
    };
    if fits {
        return Ok(());
    }
    Err(refused(
        input,
        format!("it is a cubin for {made_for}, and the link is for {target}"),
        &format!("compile it for {target}, or to PTX or LTO IR, or link for {made_for}"),
    ))
}

/// What was compiled with a letter uses what other architectures do not have.
fn serves(made_for: Arch, target: Arch) -> bool {
    let same_chip = made_for.is_same_chip(target);
    match made_for.suffix() {
        Suffix::None => true,
        Suffix::ArchSpecific => same_chip && target.suffix() == Suffix::ArchSpecific,
        _ => same_chip || made_for.ptx_runs_on(target),
    }
}

fn check_lto(input: &str, lto: &LtoIr, target: Arch, library: &Library) -> Result<()> {
    if let Some(arch) = lto.arch().filter(|arch| arch.number() > target.number()) {
        return Err(refused(
            input,
            format!("it is LTO IR for {arch}, and the link is for {target}, which is older"),
            &format!("compile it for {}, or link for {arch}", target.compute()),
        ));
    }
    if let Some(arch) = lto.arch().filter(|arch| !serves(*arch, target)) {
        return Err(refused(
            input,
            format!("it is LTO IR for {arch} alone, and the link is for {target}"),
            &format!("compile it for {}, or link for {arch}", target.compute()),
        ));
    }
    let at = |place: usize| lto.as_bytes().get(place).copied().unwrap_or(0);
    let (container, ir) = (at(CONTAINER_AT), at(IR_AT));
    let Some(version) = library.major_minor() else {
        return Ok(());
    };
    // A library between two rows may read what the later writes.
    let reads = WRITES.iter().find(|(of, ..)| *of >= version);
    let newer = |&(_, reads_container, reads_ir): &(_, u8, u8)| {
        container > reads_container || ir > reads_ir
    };
    if !reads.is_some_and(newer) {
        return Ok(());
    }
    let by = match WRITES.iter().find(|(_, c, i)| container <= *c && ir <= *i) {
        Some(((major, minor), ..)) => format!("CUDA {major}.{minor} or one shortly before it"),
        None => "a CUDA newer than 13.5".to_owned(),
    };
    Err(refused(
        input,
        format!(
            "it was written by {by} (container 1.{container}, IR 2.{ir}), and {library} reads no \
             newer LTO IR than its own"
        ),
        "link with a library as new as the compiler, or compile with the older toolkit",
    ))
}
