//! From the bytes of an ELF file to what it holds.
//!
//! Nothing here is documented by NVIDIA; it is what cubins of CUDA 12.0 to 13.5 were seen to hold.

use std::collections::HashMap;

use object::LittleEndian as Le;
use object::elf::{
    ET_REL, FileHeader64, SHN_LORESERVE, SHN_UNDEF, SHT_NOBITS, SHT_NOTE, SHT_SYMTAB, STB_LOCAL,
    STB_WEAK, STT_FUNC, STT_NOTYPE, STT_OBJECT, STT_SECTION, SectionHeader64, SectionType,
    SymbolType,
};
use object::read::SectionIndex;
use object::read::elf::{FileHeader, SectionHeader, SectionTable, Sym};

use super::info::{self, attributes};
use super::model::{Contents, CubinFunction, CubinKernel, CubinLinkage, CubinParameter};
use crate::arch::{Arch, Suffix};
use crate::artifact::ptx::{ExternKind, ExternSymbol, brought_by_driver};
use crate::artifact::symbol::{Binding, Space, Symbol, What};
use crate::bytes::{u16_at, u32_at};

type Header = FileHeader64<Le>;
type Sections<'a> = SectionTable<'a, Header>;

/// Sections of attributes.
const INFO: SectionType = SectionType(0x7000_0000);
/// The type of a variable on the device.
const STT_CUDA_OBJECT: SymbolType = SymbolType(13);
/// In `st_other`: a kernel.
const IS_KERNEL: u8 = 0x10;
/// In `st_other`: a variable in shared memory, whose size the launch gives where it is undefined.
const IS_SHARED: u8 = 0x40;
/// What the system keeps of a block's shared memory from `sm_90` on; a link adds it to each kernel.
const RESERVED_SHARED: u64 = 1024;

/// The two layouts of `e_flags`, by the version of the ABI: from CUDA 12.9 for `sm_100` on, and
/// from 13 on for all, it is the second.
const OLDER_ABI: u8 = 7;
const NEWER_ABI: u8 = 8;

pub(super) fn read(data: &[u8]) -> Result<Contents, String> {
    let header = Header::parse(data).map_err(damaged)?;
    header.endian().map_err(damaged)?;
    header.program_headers(Le, data).map_err(damaged)?;
    let sections = header.sections(Le, data).map_err(damaged)?;
    for section in sections.iter() {
        let kind = section.sh_type(Le);
        // Above lie NVIDIA's kinds, some of which have a size and no bytes.
        if kind.0 <= INFO.0 && kind != SHT_NOBITS {
            section.data(Le, data).map_err(damaged)?;
        }
    }
    let mut reader = Reader {
        data,
        sections,
        budget: data.len(),
        older: header.e_ident().abi_version == OLDER_ABI,
        relocatable: header.e_type(Le) == ET_REL,
        arch: arch(header, &sections, data)?,
        kernels: Vec::new(),
        by_section: HashMap::new(),
        by_symbol: HashMap::new(),
        functions: Vec::new(),
        undefined: Vec::new(),
        symbols: Vec::new(),
        defines: false,
    };
    reader.names()?;
    reader.resources()?;
    for kernel in &mut reader.kernels {
        kernel.parameters.sort_by_key(|p| p.offset);
    }
    Ok(Contents {
        arch: reader.arch,
        relocatable: reader.relocatable,
        kernels: reader.kernels,
        functions: reader.functions,
        undefined: reader.undefined,
        symbols: reader.symbols,
        defines: reader.defines,
    })
}

fn damaged(e: object::read::Error) -> String {
    format!("it is a cubin that is cut off or damaged ({e})")
}

fn arch(header: &Header, sections: &Sections<'_>, data: &[u8]) -> Result<Arch, String> {
    let flags = header.e_flags(Le).0;
    let (number, specific) = match header.e_ident().abi_version {
        OLDER_ABI => (flags & 0xff, flags & 0x800 != 0),
        NEWER_ABI => (flags >> 8 & 0xff, flags & 0x8 != 0),
        other => {
            return Err(format!(
                "it is a cubin of ABI version {other}, and {OLDER_ABI} and {NEWER_ABI} are known"
            ));
        }
    };
    let suffix = if specific {
        Suffix::ArchSpecific
    } else {
        Suffix::None
    };
    let number = u16::try_from(number).unwrap_or(0);
    let arch = Arch::from_parts(number, suffix)
        .map_err(|problem| format!("it is a cubin for `sm_{number}`: {problem}"))?;
    // Newer flags have no place for a letter, but a note has the options of ptxas.
    let noted = sections
        .iter()
        .filter(|s| s.sh_type(Le) == SHT_NOTE)
        .filter_map(|s| noted_arch(s.data(Le, data).ok()?))
        .find(|noted| noted.number() == number);
    Ok(noted.filter(|_| !specific).unwrap_or(arch))
}

fn noted_arch(note: &[u8]) -> Option<Arch> {
    const OPTION: &[u8] = b"-arch sm_";
    let at = note.windows(OPTION.len()).position(|w| w == OPTION)?;
    let name = note.get(at + b"-arch ".len()..)?;
    let name = name
        .split(|b| !b.is_ascii_alphanumeric() && *b != b'_')
        .next()?;
    std::str::from_utf8(name).ok()?.parse().ok()
}

struct Reader<'a> {
    data: &'a [u8],
    sections: Sections<'a>,
    /// Bytes that may still be copied or walked. Names and sections may overlap, so that a small
    /// file could ask for much memory or time; in a real one they do not.
    budget: usize,
    older: bool,
    relocatable: bool,
    arch: Arch,
    kernels: Vec<CubinKernel>,
    /// Which kernel a section of code, and a symbol, stands for.
    by_section: HashMap<usize, usize>,
    by_symbol: HashMap<u32, usize>,
    functions: Vec<CubinFunction>,
    undefined: Vec<ExternSymbol>,
    symbols: Vec<Symbol>,
    defines: bool,
}

impl<'a> Reader<'a> {
    fn spend(&mut self, bytes: usize) -> Result<(), String> {
        self.budget = self
            .budget
            .checked_sub(bytes)
            .ok_or("it is a cubin whose parts overlap, as in no real one")?;
        Ok(())
    }

    fn names(&mut self) -> Result<(), String> {
        let symbols = self
            .sections
            .symbols(Le, self.data, SHT_SYMTAB)
            .map_err(damaged)?;
        for (index, symbol) in symbols.enumerate() {
            let kind = symbol.st_type();
            if kind == STT_SECTION || symbol.st_name(Le) == 0 {
                continue;
            }
            let defined = symbol.st_shndx(Le) != SHN_UNDEF;
            if defined && ![STT_FUNC, STT_OBJECT, STT_CUDA_OBJECT].contains(&kind) {
                continue;
            }
            let name = symbols.symbol_name(Le, symbol).map_err(damaged)?;
            let name = std::str::from_utf8(name)
                .map_err(|_| "it is a cubin with a name that is no UTF-8")?;
            if !defined && is_provided(name, kind, symbol.st_other().0) {
                continue;
            }
            self.spend(name.len())?;
            let name = name.to_owned();
            let linkage = match symbol.st_bind() {
                STB_LOCAL => CubinLinkage::Local,
                STB_WEAK => CubinLinkage::Weak,
                _ => CubinLinkage::Global,
            };
            // The toolchain's own names begin with a point, as no name of PTX does.
            if defined && linkage != CubinLinkage::Local && !name.starts_with('.') {
                self.defines = true;
            }
            let section = symbols.symbol_section(Le, symbol, index).map_err(damaged)?;
            let is_kernel = kind == STT_FUNC && symbol.st_other().0 & IS_KERNEL != 0;
            if !name.starts_with('.') && (linkage != CubinLinkage::Local || is_kernel) {
                let common = symbol.st_shndx(Le).0 >= SHN_LORESERVE;
                let what = match kind {
                    _ if is_kernel => What::Kernel,
                    STT_FUNC => What::Function(None),
                    _ => What::Variable(section.and_then(|section| self.space(section))),
                };
                self.symbols.push(Symbol {
                    name: name.clone(),
                    what,
                    binding: match linkage {
                        _ if !defined => Binding::Needed,
                        CubinLinkage::Local => Binding::Local,
                        CubinLinkage::Global if !common => Binding::Strong,
                        CubinLinkage::Global | CubinLinkage::Weak => Binding::Weak,
                    },
                });
            }
            if !defined {
                let kind = match kind {
                    STT_FUNC => ExternKind::Function,
                    _ => ExternKind::Variable,
                };
                self.undefined.push(ExternSymbol { name, kind });
            } else if kind != STT_FUNC {
                continue;
            } else if is_kernel {
                let at = self.kernels.len();
                if let Some(section) = section {
                    self.by_section.insert(section.0, at);
                }
                self.by_symbol
                    .extend(u32::try_from(index.0).ok().map(|i| (i, at)));
                self.kernels.push(CubinKernel {
                    name,
                    linkage,
                    registers: 0,
                    shared_bytes: 0,
                    local_bytes: 0,
                    stack_bytes: 0,
                    constant_bytes: 0,
                    parameters: Vec::new(),
                    barriers: 0,
                    max_threads: None,
                });
            } else {
                self.functions.push(CubinFunction { name, linkage });
            }
        }
        Ok(())
    }

    /// The space of the variables in a section, by its name.
    fn space(&self, section: SectionIndex) -> Option<Space> {
        let section = self.sections.section(section).ok()?;
        match self.sections.section_name(Le, section).ok()? {
            name if name.starts_with(b".nv.global") => Some(Space::Global),
            name if name.starts_with(b".nv.constant") => Some(Space::Constant),
            name if name.starts_with(b".nv.shared") => Some(Space::Shared),
            _ => None,
        }
    }

    /// What each kernel needs, from the sections that belong to its code.
    fn resources(&mut self) -> Result<(), String> {
        for (index, section) in self.sections.enumerate() {
            let code = usize::try_from(section.sh_info(Le)).unwrap_or(0);
            let belongs_to = self.by_section.get(&code).copied();
            if section.sh_type(Le) == INFO {
                let data = section.data(Le, self.data).map_err(damaged)?;
                self.spend(data.len())?;
                match belongs_to {
                    Some(at) => self.kernel_info(at, data),
                    None => self.common_info(data),
                }
            } else if let Some(at) = self.by_section.get(&index.0).copied() {
                self.code(at, section);
            } else if let Some(at) = belongs_to {
                let name = self.sections.section_name(Le, section).map_err(damaged)?;
                self.memory(at, name, section.sh_size(Le));
            }
        }
        Ok(())
    }

    /// The older ABI has numbers in the header of the section of code.
    fn code(&mut self, at: usize, section: &SectionHeader64<Le>) {
        let Some(kernel) = self.kernels.get_mut(at).filter(|_| self.older) else {
            return;
        };
        if kernel.registers == 0 {
            kernel.registers = section.sh_info(Le) >> 24;
        }
        kernel.barriers = u32::try_from(section.sh_flags(Le).0 >> 20 & 0x7f).unwrap_or(0);
    }

    fn memory(&mut self, at: usize, section: &[u8], size: u64) {
        let Some(kernel) = self.kernels.get_mut(at) else {
            return;
        };
        if section.starts_with(b".nv.shared.") {
            let reserves = !self.relocatable && self.arch.number() >= 90;
            let reserved = if reserves { RESERVED_SHARED } else { 0 };
            kernel.shared_bytes = size.saturating_sub(reserved);
        } else if section.starts_with(b".nv.constant0.") {
            kernel.constant_bytes = size;
        } else if section.starts_with(b".nv.local.") {
            kernel.local_bytes = size;
        }
    }

    /// The section that names kernels by their symbols.
    fn common_info(&mut self, data: &[u8]) {
        for (kind, value) in attributes(data) {
            let (Some(symbol), Some(number)) = (u32_at(value, 0), u32_at(value, 4)) else {
                continue;
            };
            let at = self.by_symbol.get(&symbol);
            let Some(kernel) = at.and_then(|at| self.kernels.get_mut(*at)) else {
                continue;
            };
            match kind {
                info::REGISTERS => kernel.registers = number,
                info::MIN_STACK => kernel.stack_bytes = number,
                _ => {}
            }
        }
    }

    fn kernel_info(&mut self, at: usize, data: &[u8]) {
        let Some(kernel) = self.kernels.get_mut(at) else {
            return;
        };
        for (kind, value) in attributes(data) {
            match kind {
                info::PARAMETER | info::LARGE_PARAMETER => {
                    let size = match kind {
                        info::PARAMETER => u32_at(value, 8).map(|word| word >> 18),
                        _ => u16_at(value, 8).map(u32::from),
                    };
                    if let (Some(offset), Some(size)) = (u16_at(value, 6), size) {
                        let offset = u32::from(offset);
                        kernel.parameters.push(CubinParameter { offset, size });
                    }
                }
                info::BARRIERS => kernel.barriers = value.first().copied().map_or(0, u32::from),
                info::MAX_THREADS => {
                    let sides = [0, 4, 8].map(|at| u32_at(value, at).map_or(1, u64::from));
                    kernel.max_threads = Some(sides.into_iter().fold(1, u64::saturating_mul));
                }
                _ => {}
            }
        }
    }
}

/// Whether the driver, the linker or the launch brings it, so that nobody has to define it.
fn is_provided(name: &str, kind: SymbolType, other: u8) -> bool {
    const LINKERS: [&str; 8] = [
        "__UDT",
        "__UFT",
        "__UDT_END",
        "__UFT_END",
        "__UDT_OFFSET",
        "__UFT_OFFSET",
        "__UDT_CANONICAL",
        "__UFT_CANONICAL",
    ];
    kind == STT_NOTYPE
        || name.starts_with(".nv.")
        || LINKERS.contains(&name)
        || brought_by_driver(name)
        || (kind != STT_FUNC && other & IS_SHARED != 0)
}
