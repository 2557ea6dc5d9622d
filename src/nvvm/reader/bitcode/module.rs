//! The records of a module, as the walk meets them.

use super::super::info::{Malformed, Modern, ModuleInfo, ModuleKind, Producer};
use super::super::look::LookError;
use super::super::notes;
use super::super::symbol::{Linkage, Symbol, SymbolKind};
use super::super::types::{Type, Types};
use super::super::uses::Assembly;
use super::attributes::Attributes;
use super::body::Bodies;
use super::fault::{Fault, Read, block};
use super::metadata::Metadata;
use super::modern;
use super::stream::{Record, Visitor};
use super::symbols::{self, Function};
use super::types::{self, OPAQUE_POINTER};

const KERNEL_CONVENTION: u64 = 71;
/// From this version on, values are named by how far back they lie.
const RELATIVE: u64 = 1;
/// From this version on, names lie in a table behind the module.
const NAMES_IN_TABLE: u64 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    Symbol(usize),
    Int(i64),
    Null,
    /// Undefined, or a floating-point number.
    NoInteger,
    Other,
}

#[derive(Debug, Default)]
pub(super) struct Module<'a> {
    modules: u64,
    version: u64,
    producer: Option<Producer>,
    epoch: Option<u64>,
    triple: Option<String>,
    data_layout: Option<String>,
    opaque_pointers: bool,
    types: Types,
    values: Vec<Value>,
    constant_type: Option<u64>,
    symbols: Vec<Symbol>,
    /// Where the name of each symbol lies in the string table: offset and length.
    name_ranges: Vec<(u64, u64)>,
    strings: Option<&'a [u8]>,
    functions: Vec<Function>,
    /// The functions that take metadata, which intrinsics alone may.
    take_metadata: Vec<usize>,
    /// How many functions with a body were met.
    entered: usize,
    bodies: Bodies,
    attributes: Attributes,
    assembly: Vec<Assembly>,
    metadata: Metadata<'a>,
    modern: Option<String>,
}

impl<'a> Visitor<'a> for Module<'a> {
    fn enter(&mut self, parent: Option<u32>, block: u32) -> Read<()> {
        match (parent, block) {
            (None, block::MODULE) => self.modules += 1,
            (Some(block::MODULE), block::FUNCTION) => return self.enter_body(),
            (Some(block::MODULE | block::FUNCTION), block::CONSTANTS) => self.constant_type = None,
            _ => {}
        }
        Ok(())
    }

    fn record(&mut self, parent: Option<u32>, block: u32, record: &Record<'_, 'a>) -> Read<()> {
        match (parent, block) {
            (None, block::IDENTIFICATION) => self.identification(record),
            (None, block::MODULE) => self.module(record),
            (None, block::STRTAB) => {
                if record.code == 1 && self.strings.is_none() {
                    self.strings = record.blob;
                }
                Ok(())
            }
            (Some(block::MODULE), block::FUNCTION) => {
                let major = self.producer.as_ref().and_then(|p| p.version);
                self.prove(modern::instruction(record.code, major.map(|v| v.0)));
                let relative = self.version >= RELATIVE;
                let metadata = self.metadata.len();
                self.bodies
                    .instruction(record, &self.types, relative, metadata)
            }
            (Some(block::MODULE), block::ATTRIBUTE_GROUPS) => {
                if self.modern.is_none() {
                    self.modern = modern::attributes(record);
                }
                self.attributes.group(record);
                Ok(())
            }
            (Some(block::MODULE), block::ATTRIBUTE_LISTS) => {
                self.attributes.list(record);
                Ok(())
            }
            (Some(block::FUNCTION), block::CONSTANTS) => {
                if self.any_constant(record)? {
                    self.bodies.constant();
                }
                Ok(())
            }
            (Some(block::MODULE), block::TYPE) => self.type_entry(record),
            (Some(block::MODULE), block::CONSTANTS) => self.constant(record),
            (Some(block::MODULE), block::VALUE_SYMTAB) => self.name(record),
            (Some(block::MODULE | block::FUNCTION), block::METADATA) => {
                let known = |at: u64| self.values.get(usize::try_from(at).ok()?).copied();
                self.metadata.record(record, &self.types, known)
            }
            _ => Ok(()),
        }
    }
}

impl<'a> Module<'a> {
    fn identification(&mut self, record: &Record<'_, 'a>) -> Read<()> {
        match record.code {
            1 => {
                let producer = Producer::new(text(record.operands));
                self.metadata.writer = producer.version.map(|version| version.0);
                self.producer = Some(producer);
            }
            2 => self.epoch = Some(record.operand(0)?),
            _ => {}
        }
        Ok(())
    }

    fn module(&mut self, record: &Record<'_, 'a>) -> Read<()> {
        match record.code {
            1 => self.version = record.operand(0)?,
            2 => self.triple = Some(text(record.operands)),
            3 => self.data_layout = Some(text(record.operands)),
            7 => self.symbol(record, SymbolKind::Variable, 3, |r| Ok(r.operand(2)? != 0))?,
            8 => self.symbol(record, SymbolKind::Function, 3, |r| Ok(r.operand(2)? == 0))?,
            9 => self.symbol(record, SymbolKind::Alias, 2, |_| Ok(true))?,
            14 => self.symbol(record, SymbolKind::Alias, 3, |_| Ok(true))?,
            18 => self.symbol(record, SymbolKind::Ifunc, 3, |_| Ok(true))?,
            _ => {}
        }
        Ok(())
    }

    /// Takes a symbol whose linkage is the operand at `linkage`, counted without the name.
    fn symbol(
        &mut self,
        record: &Record<'_, 'a>,
        kind: SymbolKind,
        linkage: usize,
        defined: impl FnOnce(&Record<'_, 'a>) -> Read<bool>,
    ) -> Read<()> {
        let mut name = (0, 0);
        let mut fields = Record { ..*record };
        if self.version >= NAMES_IN_TABLE {
            name = (record.operand(0)?, record.operand(1)?);
            fields.operands = record.operands.get(2..).unwrap_or_default();
        }
        let defined = defined(&fields)?;
        let function = kind == SymbolKind::Function;
        let type_ = usize::try_from(fields.operand(0)?).unwrap_or(usize::MAX);
        if function && self.types.takes_metadata(type_) {
            self.take_metadata.push(self.symbols.len());
        }
        if function && defined {
            self.functions.push(Function {
                symbol: self.symbols.len(),
                type_,
                attributes: fields.operands.get(4).copied().unwrap_or_default(),
            });
        }
        self.values.push(Value::Symbol(self.symbols.len()));
        self.name_ranges.push(name);
        self.symbols.push(Symbol {
            name: Vec::new(),
            kind,
            defined,
            linkage: Linkage::from_bitcode(fields.operand(linkage)?),
            kernel: function && fields.operand(1)? == KERNEL_CONVENTION,
            annotated: false,
            returns_void: None,
            parameter_bytes: None,
            odd_parameter: None,
            line: None,
        });
        Ok(())
    }

    fn enter_body(&mut self) -> Read<()> {
        let function = self.functions.get(self.entered);
        let parameters = function.and_then(|function| function.parameters(&self.types));
        self.entered += 1;
        let values = parameters.map(|parameters| parameters + self.values.len() as u64);
        self.bodies.enter(values)?;
        self.metadata.enter_function()
    }

    fn type_entry(&mut self, record: &Record<'_, 'a>) -> Read<()> {
        if let Some(type_) = types::entry(record)? {
            self.types.add(type_);
            self.opaque_pointers |= record.code == OPAQUE_POINTER;
            self.prove(modern::type_entry(record.code));
        }
        Ok(())
    }

    /// What is kept of constants of the module and of bodies alike; says whether it is one.
    fn any_constant(&mut self, record: &Record<'_, 'a>) -> Read<bool> {
        const SET_TYPE: u64 = 1;
        self.prove(modern::constant(record.code));
        if record.code == SET_TYPE {
            self.constant_type = Some(record.operand(0)?);
            return Ok(false);
        }
        self.assembly
            .extend(symbols::assembly(record, self.constant_type, &self.types));
        Ok(true)
    }

    fn constant(&mut self, record: &Record<'_, 'a>) -> Read<()> {
        const NULL: u64 = 2;
        const UNDEFINED: u64 = 3;
        const INTEGER: u64 = 4;
        const FLOAT: u64 = 6;
        const POISON: u64 = 26;
        if !self.any_constant(record)? {
            return Ok(());
        }
        let value = match record.code {
            NULL if self.is_integer() => Value::Int(0),
            NULL => Value::Null,
            INTEGER => Value::Int(signed(record.operand(0)?)),
            UNDEFINED | FLOAT | POISON => Value::NoInteger,
            _ => Value::Other,
        };
        self.values.push(value);
        Ok(())
    }

    fn prove(&mut self, what: Option<&'static str>) {
        if let (Some(what), None) = (what, &self.modern) {
            self.modern = Some(what.to_owned());
        }
    }

    /// A block of constants begins with 32-bit integers.
    fn is_integer(&self) -> bool {
        self.constant_type
            .is_none_or(|at| matches!(self.types.at(at), Some(Type::Integer(_))))
    }

    /// A name in the table that modules carry inside, up to version 1.
    fn name(&mut self, record: &Record<'_, 'a>) -> Read<()> {
        const ENTRY: u64 = 1;
        const FUNCTION_ENTRY: u64 = 3;
        let skip = match record.code {
            ENTRY => 1,
            FUNCTION_ENTRY => 2,
            _ => return Ok(()),
        };
        if self.version >= NAMES_IN_TABLE {
            return Ok(());
        }
        let value = usize::try_from(record.operand(0)?).unwrap_or(usize::MAX);
        let unknown = Fault::Damaged("a name is for a value that is not there");
        match self.values.get(value).ok_or(unknown)? {
            Value::Symbol(at) => {
                if let Some(symbol) = self.symbols.get_mut(*at) {
                    symbol.name = bytes(record.operands.get(skip..).unwrap_or_default());
                }
                Ok(())
            }
            _ => Err(unknown),
        }
    }

    /// What was met, as one module.
    pub(super) fn finish(mut self, file_len: usize) -> Result<ModuleInfo, LookError> {
        if self.modules == 0 {
            return Err(Fault::Cut.within(Some(block::IDENTIFICATION)));
        }
        if self.modules > 1 {
            return Err(LookError::new(
                format!("the bitcode holds {} modules", self.modules),
                "give each module for itself",
            ));
        }
        if self.entered != self.functions.len() {
            let damage = Fault::Damaged("it has not one body for each function it defines");
            return Err(damage.within(Some(block::MODULE)));
        }
        let within = |kind| move |fault: Fault| fault.within(Some(kind));
        self.bodies.close().map_err(within(block::FUNCTION))?;
        self.metadata.close().map_err(within(block::METADATA))?;
        self.take_names(file_len)?;
        let mut named = self
            .take_metadata
            .iter()
            .filter_map(|at| self.symbols.get(*at));
        if !named.all(|symbol| symbol.name.starts_with(b"llvm.")) {
            let damage = Fault::Damaged("a function takes metadata, and is no intrinsic");
            return Err(damage.within(Some(block::MODULE)));
        }
        let mut info = ModuleInfo::new(ModuleKind::Bitcode);
        info.certain = self.version <= NAMES_IN_TABLE;
        info.producer = self.producer.map(|producer| Producer {
            epoch: self.epoch,
            ..producer
        });
        info.triple = self.triple;
        info.data_layout = self.data_layout;
        info.opaque_pointers = self.opaque_pointers;
        info.symbols = self.symbols;
        // Of all proofs this is the one that a person understands at once.
        let what = if self.opaque_pointers {
            modern::type_entry(OPAQUE_POINTER).map(str::to_owned)
        } else {
            self.modern
        };
        info.modern = what.map(|what| Modern { what, line: None });
        if let Some(nodes) = self.metadata.nodes_of(b"nvvm.annotations", &self.values) {
            notes::annotate(&mut info, &nodes);
        }
        if let Some(nodes) = self.metadata.nodes_of(b"nvvmir.version", &self.values) {
            notes::version(&mut info, &nodes);
        }
        for function in &self.functions {
            if let Some(kernel) = info.symbols.get_mut(function.symbol).filter(|s| s.kernel) {
                function.describe(kernel, &self.types, &self.attributes);
            }
        }
        let called = (!self.bodies.any_lost).then_some(self.bodies.called.as_slice());
        info.intrinsics = symbols::intrinsics(called, &self.values, &info.symbols);
        info.assembly = self.assembly;
        info.compile_units = self.metadata.compile_units();
        info.debug_cycle = self.metadata.cycle();
        info.recursive_type = self.types.holds_itself().map(|at| {
            Malformed::new(format!(
                "a structure, type number {at}, holds itself by value"
            ))
        });
        Ok(info)
    }

    fn take_names(&mut self, file_len: usize) -> Result<(), LookError> {
        if self.version < NAMES_IN_TABLE || self.symbols.is_empty() {
            return Ok(());
        }
        let fault = |fault: Fault| fault.within(Some(block::STRTAB));
        let strings = self.strings.ok_or_else(|| fault(Fault::Cut))?;
        // Names may share their bytes, but not so often that they outgrow the file.
        let mut left = file_len;
        for (symbol, (offset, len)) in self.symbols.iter_mut().zip(&self.name_ranges) {
            let name = usize::try_from(*offset)
                .ok()
                .zip(usize::try_from(*len).ok())
                .and_then(|(from, len)| strings.get(from..from.checked_add(len)?))
                .ok_or_else(|| fault(Fault::Damaged("a name lies outside of it")))?;
            left = left
                .checked_sub(name.len())
                .ok_or_else(|| fault(Fault::Damaged("its names overlap")))?;
            symbol.name = name.to_vec();
        }
        Ok(())
    }
}

/// The number whose sign stands in its lowest bit.
fn signed(value: u64) -> i64 {
    let magnitude = (value >> 1) as i64;
    match value {
        1 => i64::MIN,
        _ if value & 1 == 1 => magnitude.wrapping_neg(),
        _ => magnitude,
    }
}

/// Operands that are one character each.
pub(super) fn bytes(operands: &[u64]) -> Vec<u8> {
    operands
        .iter()
        .map(|o| u8::try_from(*o & 0xff).unwrap_or_default())
        .collect()
}

fn text(operands: &[u64]) -> String {
    String::from_utf8_lossy(&bytes(operands)).into_owned()
}
