//! Why a bitstream cannot be read.

use super::super::look::LookError;

/// A fault, before it is known in which block it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The bytes end too early.
    Cut,
    /// The bytes are all there, and wrong.
    Damaged(&'static str),
}

pub(super) type Read<T> = Result<T, Fault>;

impl Fault {
    /// The error for a fault in the block of this number, or between blocks.
    pub(super) fn within(self, block: Option<u32>) -> LookError {
        let place = match block {
            Some(id) => block_name(id),
            None => "the header of a block",
        };
        let problem = match self {
            Fault::Cut => format!("bitcode ends in the middle of {place}"),
            Fault::Damaged(what) => format!("bitcode is damaged in {place}: {what}"),
        };
        LookError::new(problem, "write the file again, or fetch a whole copy of it")
    }
}

pub(super) mod block {
    pub(in super::super) const BLOCKINFO: u32 = 0;
    pub(in super::super) const MODULE: u32 = 8;
    pub(in super::super) const ATTRIBUTE_LISTS: u32 = 9;
    pub(in super::super) const ATTRIBUTE_GROUPS: u32 = 10;
    pub(in super::super) const CONSTANTS: u32 = 11;
    pub(in super::super) const FUNCTION: u32 = 12;
    pub(in super::super) const IDENTIFICATION: u32 = 13;
    pub(in super::super) const VALUE_SYMTAB: u32 = 14;
    pub(in super::super) const METADATA: u32 = 15;
    pub(in super::super) const TYPE: u32 = 17;
    pub(in super::super) const STRTAB: u32 = 23;
}

fn block_name(id: u32) -> &'static str {
    match id {
        block::BLOCKINFO => "the abbreviations",
        block::MODULE => "the module block",
        block::ATTRIBUTE_LISTS | block::ATTRIBUTE_GROUPS => "the attributes",
        block::CONSTANTS => "a constants block",
        block::FUNCTION => "a function block",
        block::IDENTIFICATION => "the identification block",
        block::VALUE_SYMTAB => "a symbol table",
        block::METADATA => "a metadata block",
        16 => "a metadata attachment block",
        block::TYPE => "the type table",
        18 => "a use-list block",
        22 => "the metadata kinds",
        block::STRTAB => "the string table",
        25 => "the linker's symbol table",
        _ => "a block of unknown kind",
    }
}
