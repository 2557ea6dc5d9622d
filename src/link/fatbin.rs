//! What device code lies in fat binaries, host objects and static libraries.
//!
//! The format is documented by nobody; this is what those of CUDA 12.0 to 13.5 were seen to hold.

use object::elf::ET_REL;
use object::read::archive::ArchiveFile;
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection};

use super::input::InputKind;
use crate::arch::Arch;
use crate::artifact::symbol::Symbol;
use crate::artifact::{Cubin, LtoIr};
use crate::bytes::{u16_at, u32_at, u64_at};

/// The section of a host object that holds relocatable device code, and that of finished code, which no
/// version of the library links: it leaves it out without a word.
const RELOCATABLE: &str = "__nv_relfatbin";
const FINISHED: &str = ".nv_fatbin";
/// In the flags of an entry: it is packed by LZ4, or by zstd.
const PACKED: u32 = 0x2000 | 0x8000;
/// Where an ELF file says what it is, and what it says there of relocatable code.
const E_TYPE_AT: usize = 16;
/// Where an entry says where its options are.
const OPTIONS_AT: usize = 20;
const MAGIC: u32 = 0xba55_ed50;

/// One piece of code in a fat binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Code<'a> {
    kind: CodeKind,
    number: u16,
    /// What it is, where it is not packed.
    payload: &'a [u8],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum CodeKind {
    Cubin,
    /// What no link takes any more.
    Finished,
    Ptx,
    LtoIr,
    Other,
}

/// What a link for the target finds in it.
#[derive(Debug, Default)]
pub(super) struct Inside {
    /// Whether LTO IR is what the link has to take.
    pub(super) lto: bool,
    /// That LTO IR, where it is not packed.
    pub(super) lto_ir: Vec<LtoIr>,
    /// What all of its code calls by name, as far as that is not packed; that of a static library does
    /// not count, as a link takes of it what it needs.
    pub(super) symbols: Vec<Symbol>,
}

impl<'a> Inside {
    fn of(kind: InputKind, codes: &[Code<'a>], target: Arch) -> Self {
        let serving: Vec<Code<'a>> = codes.iter().copied().filter(|c| c.serves(target)).collect();
        let lto = serving.iter().all(|code| code.kind == CodeKind::LtoIr);
        let mut inside = Inside {
            lto,
            ..Inside::default()
        };
        for code in serving {
            match code.kind {
                CodeKind::LtoIr if lto => {
                    inside.lto_ir.extend(LtoIr::from_bytes(code.payload).ok());
                }
                CodeKind::Cubin if kind != InputKind::Library => {
                    let cubin = Cubin::from_bytes(code.payload).ok();
                    inside
                        .symbols
                        .extend(cubin.iter().flat_map(|c| c.symbols().iter().cloned()));
                }
                _ => {}
            }
        }
        inside
    }
}

impl Code<'_> {
    /// Whether a link for this target may take it.
    fn serves(self, target: Arch) -> bool {
        match self.kind {
            // A cubin runs on the same major number from its minor one on.
            CodeKind::Cubin => {
                self.number / 10 == target.number() / 10 && self.number <= target.number()
            }
            CodeKind::Finished => false,
            CodeKind::Ptx | CodeKind::LtoIr | CodeKind::Other => self.number <= target.number(),
        }
    }

    fn name(self) -> String {
        let prefix = match self.kind {
            CodeKind::Ptx => "compute",
            CodeKind::Cubin | CodeKind::Finished | CodeKind::LtoIr | CodeKind::Other => "sm",
        };
        format!("{prefix}_{}", self.number)
    }
}

/// Refuses what holds no code that a link for the target may take, and tells what there is.
///
/// # Errors
///
/// A sentence about what is wrong, and one about what to do.
pub(super) fn check(
    kind: InputKind,
    bytes: &[u8],
    target: Arch,
) -> Result<Inside, (String, &'static str)> {
    const WHOLE: &str = "give the whole file";
    let found = match kind {
        InputKind::Fatbin => of_fatbin(bytes),
        InputKind::Object => of_object(bytes),
        InputKind::Library => of_library(bytes),
        InputKind::Ptx | InputKind::Cubin | InputKind::LtoIr => return Ok(Inside::default()),
    };
    let mut codes = found.map_err(|problem| (problem, WHOLE))?;
    if codes.is_empty() {
        return Err((
            "there is no device code in it".to_owned(),
            "leave it out, or compile it with nvcc and relocatable device code (-rdc=true)",
        ));
    }
    if codes.iter().any(|code| code.serves(target)) {
        return Ok(Inside::of(kind, &codes, target));
    }
    codes.sort_unstable();
    codes.dedup();
    let is_finished = |code: &Code<'_>| code.kind == CodeKind::Finished;
    if codes.iter().all(is_finished) {
        return Err((
            "its device code is finished, and cannot be linked with others".to_owned(),
            "compile it with relocatable device code (-rdc=true of nvcc)",
        ));
    }
    codes.retain(|code| !is_finished(code));
    let names: Vec<String> = codes.into_iter().map(Code::name).collect();
    Err((
        format!(
            "it holds device code for {} alone, and the link is for {target}",
            names.join(", ")
        ),
        "compile it for the target of the link too, or link for one that it serves",
    ))
}

/// The codes of one fat binary, or of several behind each other.
fn of_fatbin(bytes: &[u8]) -> Result<Vec<Code<'_>>, String> {
    let cut = || "it is a fat binary that is cut off or damaged".to_owned();
    let mut codes = Vec::new();
    let mut rest = bytes;
    while let Some(magic) = u32_at(rest, 0) {
        // Sections are filled up with zeros between fat binaries and at the end.
        if magic == 0 {
            rest = rest.get(4..).unwrap_or_default();
            continue;
        }
        let header = usize::from(u16_at(rest, 6).ok_or_else(cut)?);
        let size = size_at(rest, 8).ok_or_else(cut)?;
        let end = header.checked_add(size).ok_or_else(cut)?;
        if magic != MAGIC || header < 16 {
            return Err(cut());
        }
        let mut body = rest.get(header..end).ok_or_else(cut)?;
        while !body.is_empty() {
            let kind = u16_at(body, 0).ok_or_else(cut)?;
            let header = u32_at(body, 4).and_then(|n| usize::try_from(n).ok());
            let size = size_at(body, 8);
            let number = u32_at(body, 28).ok_or_else(cut)?;
            let end = header.zip(size).and_then(|(h, s)| h.checked_add(s));
            let end = end.filter(|&end| end >= 32).ok_or_else(cut)?;
            let packed = u32_at(body, 40).unwrap_or(0) & PACKED != 0;
            let payload = header.and_then(|at| body.get(at..end)).unwrap_or_default();
            let of_elf = u16_at(payload, E_TYPE_AT);
            // The library reads the options of code that it has yet to compile, and ends the process
            // where there is no place for them.
            if matches!(kind, 1 | 8) && u32_at(body, OPTIONS_AT) == Some(0) {
                return Err(cut());
            }
            body = body.get(end..).ok_or_else(cut)?;
            codes.push(Code {
                kind: match kind {
                    1 => CodeKind::Ptx,
                    2 if !packed && of_elf.is_some_and(|kind| kind != ET_REL.0) => {
                        CodeKind::Finished
                    }
                    2 => CodeKind::Cubin,
                    8 => CodeKind::LtoIr,
                    _ => CodeKind::Other,
                },
                number: u16::try_from(number).map_err(|_| cut())?,
                payload: if packed { &[] } else { payload },
            });
        }
        rest = rest.get(end..).unwrap_or_default();
    }
    Ok(codes)
}

fn of_object(bytes: &[u8]) -> Result<Vec<Code<'_>>, String> {
    let damaged = |e| format!("it is an object file that is cut off or damaged ({e})");
    let file = ElfFile64::<Endianness>::parse(bytes).map_err(damaged)?;
    let mut codes = Vec::new();
    for section in file.sections() {
        let name = section.name().unwrap_or_default();
        if name == RELOCATABLE {
            codes.extend(of_fatbin(section.data().map_err(damaged)?)?);
        } else if name == FINISHED {
            let finished = of_fatbin(section.data().map_err(damaged)?)?.into_iter();
            codes.extend(finished.map(|code| Code {
                kind: CodeKind::Finished,
                ..code
            }));
        }
    }
    Ok(codes)
}

fn of_library(bytes: &[u8]) -> Result<Vec<Code<'_>>, String> {
    let damaged = |e| format!("it is a static library that is cut off or damaged ({e})");
    let archive = ArchiveFile::parse(bytes).map_err(damaged)?;
    let mut codes = Vec::new();
    for member in archive.members() {
        let member = member.map_err(damaged)?;
        let data = member.data(bytes).map_err(damaged)?;
        // A library may hold text and other things besides.
        if InputKind::of(data) == InputKind::Object {
            let name = String::from_utf8_lossy(member.name());
            let found = of_object(data).map_err(|problem| format!("its {name}: {problem}"));
            codes.extend(found?);
        }
    }
    Ok(codes)
}

fn size_at(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u64_at(bytes, at)?).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn fatbin(codes: &[(u16, u32)]) -> Vec<u8> {
        let mut body = Vec::new();
        for (kind, number) in codes {
            body.extend(kind.to_le_bytes());
            body.extend(0x101_u16.to_le_bytes());
            body.extend(64_u32.to_le_bytes());
            body.extend(8_u64.to_le_bytes());
            body.extend([0; 4]);
            body.extend(64_u32.to_le_bytes());
            body.extend([0; 4]);
            body.extend(number.to_le_bytes());
            body.extend([0; 40]);
        }
        let mut all = MAGIC.to_le_bytes().to_vec();
        all.extend([1, 0, 16, 0]);
        all.extend(u64::try_from(body.len()).unwrap().to_le_bytes());
        all.extend(body);
        all
    }

    #[test]
    fn a_fat_binary_is_refused_where_none_of_its_code_serves_the_target() {
        let bytes = fatbin(&[(2, 75), (2, 86), (1, 121)]);
        let (problem, _) = check(InputKind::Fatbin, &bytes, Arch::SM_90).unwrap_err();
        insta::assert_snapshot!(problem, @"it holds device code for sm_75, sm_86, compute_121 alone, and the link is for sm_90");
        for arch in [Arch::SM_75, Arch::SM_86, Arch::SM_89] {
            assert!(check(InputKind::Fatbin, &bytes, arch).is_ok(), "{arch}");
        }
        let ptx = fatbin(&[(1, 75)]);
        assert!(check(InputKind::Fatbin, &ptx, Arch::SM_120).is_ok());
    }

    #[test]
    fn lto_ir_is_what_the_link_takes_where_nothing_else_serves_the_target() {
        for (codes, lto) in [
            (&[(8, 80)][..], true),
            (&[(8, 80), (2, 86)], false),
            (&[(8, 80), (2, 75)], true),
            (&[(8, 80), (1, 75)], false),
        ] {
            let inside = check(InputKind::Fatbin, &fatbin(codes), Arch::SM_86).unwrap();
            assert_eq!(inside.lto, lto, "{codes:?}");
        }
    }

    #[test]
    fn code_to_compile_without_a_place_for_its_options_is_refused() {
        for kind in [1, 8] {
            let mut bytes = fatbin(&[(kind, 80)]);
            assert!(check(InputKind::Fatbin, &bytes, Arch::SM_80).is_ok());
            let at = 16 + OPTIONS_AT;
            bytes.get_mut(at..at + 4).unwrap().fill(0);
            let (problem, _) = check(InputKind::Fatbin, &bytes, Arch::SM_80).unwrap_err();
            assert!(problem.contains("damaged"), "{problem}");
        }
    }

    #[test]
    fn every_cut_of_a_fat_binary_is_refused_but_that_to_nothing() {
        let bytes = fatbin(&[(2, 75), (1, 80)]);
        for length in 1..bytes.len() {
            let cut = check(InputKind::Fatbin, bytes.get(..length).unwrap(), Arch::SM_75);
            assert!(cut.is_err(), "{length}");
        }
    }
}
