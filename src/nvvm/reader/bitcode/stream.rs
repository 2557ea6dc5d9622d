//! The walk through the nested blocks of a bitstream.

use super::super::look::LookError;
use super::abbreviation::{Abbreviation, Abbreviations, Tail};
use super::bits::Bits;
use super::fault::{Fault, Read, block};

/// A record as it stands in its block.
#[derive(Debug)]
pub(super) struct Record<'r, 'a> {
    pub(super) code: u64,
    pub(super) operands: &'r [u64],
    pub(super) blob: Option<&'a [u8]>,
}

impl Record<'_, '_> {
    /// The operand at a place, or the fault that it is missing.
    pub(super) fn operand(&self, at: usize) -> Read<u64> {
        let missing = Fault::Damaged("a record is too short");
        self.operands.get(at).copied().ok_or(missing)
    }
}

/// Who is told of what a walk meets.
pub(super) trait Visitor<'a> {
    /// A block begins inside another, or inside none.
    fn enter(&mut self, parent: Option<u32>, block: u32) -> Read<()>;
    /// A record of a block that lies inside another, or inside none.
    fn record(&mut self, parent: Option<u32>, block: u32, record: &Record<'_, 'a>) -> Read<()>;
}

/// LLVM nests four deep.
const DEEPEST: usize = 32;
const BLOCK_HEADER_WIDTH: u32 = 2;

struct Block {
    id: u32,
    /// Of the abbreviation numbers in it, in bits.
    width: u32,
    /// Its last bit but one, by its own header.
    end: u64,
    /// The list of its kind, and how many abbreviations that had when the block began.
    list: usize,
    inherited: usize,
    own: Vec<Abbreviation>,
    /// In the block of abbreviations: the kind that the next ones are for.
    subject: Option<u32>,
}

struct Walk<'a> {
    bits: Bits<'a>,
    open: Vec<Block>,
    shared: Abbreviations,
    operands: Vec<u64>,
    /// How many more operands may be read. Literals cost no bits, so the length of the file alone
    /// does not bound the work.
    budget: u64,
}

/// Walks every block of a bitstream, behind its magic number, and tells the visitor.
pub(super) fn walk<'a>(bytes: &'a [u8], visitor: &mut impl Visitor<'a>) -> Result<(), LookError> {
    let mut walk = Walk {
        bits: Bits::new(bytes),
        open: Vec::new(),
        shared: Abbreviations::default(),
        operands: Vec::new(),
        budget: (bytes.len() as u64).saturating_mul(16),
    };
    walk.run(visitor)
        .map_err(|fault| fault.within(walk.open.last().map(|block| block.id)))
}

impl<'a> Walk<'a> {
    fn run(&mut self, visitor: &mut impl Visitor<'a>) -> Read<()> {
        self.bits.fixed(32)?;
        loop {
            let Some(block) = self.open.last() else {
                if self.only_padding_left() {
                    return Ok(());
                }
                if self.bits.fixed(BLOCK_HEADER_WIDTH)? != 1 {
                    return Err(Fault::Damaged("no block where one must begin"));
                }
                self.enter(visitor)?;
                continue;
            };
            match self.bits.fixed(block.width)? {
                0 => self.leave()?,
                1 => self.enter(visitor)?,
                2 => self.define()?,
                3 => self.plain(visitor)?,
                number => self.abbreviated(number, visitor)?,
            }
            // Closed blocks were checked when they were left.
            if let Some(block) = self.open.last() {
                if self.bits.at() > block.end {
                    return Err(Fault::Damaged("a block runs past its end"));
                }
            }
        }
    }

    /// Less than a block header, of zeros: archives and downloads pad files so.
    fn only_padding_left(&self) -> bool {
        if self.bits.left() >= 64 {
            return false;
        }
        let mut rest = self.bits.clone();
        while rest.left() > 0 {
            let width = u32::try_from(rest.left()).unwrap_or(32).min(32);
            if rest.fixed(width) != Ok(0) {
                return false;
            }
        }
        true
    }

    fn enter(&mut self, visitor: &mut impl Visitor<'a>) -> Read<()> {
        let id = u32::try_from(self.bits.variable(8)?)
            .map_err(|_| Fault::Damaged("a block has an impossible number"))?;
        let width = match self.bits.variable(4)? {
            width @ 2..=32 => width as u32,
            _ => return Err(Fault::Damaged("a block has an impossible width")),
        };
        self.bits.align()?;
        let bits = self.bits.fixed(32)? * 32;
        let end = self.bits.at() + bits;
        let parent = self.open.last();
        if parent.is_some_and(|p| p.id == block::BLOCKINFO) {
            return Err(Fault::Damaged("a block lies where none may"));
        }
        if parent.is_some_and(|p| end > p.end) {
            return Err(Fault::Damaged("a block is longer than the one around it"));
        }
        if self.open.len() >= DEEPEST {
            return Err(Fault::Damaged("blocks are nested too deeply"));
        }
        let parent = parent.map(|p| p.id);
        if parent.is_none() {
            // Each module of a file states its own.
            self.shared.clear();
        }
        visitor.enter(parent, id)?;
        let (list, inherited) = self.shared.list_of(id);
        self.open.push(Block {
            id,
            width,
            end,
            list,
            inherited,
            own: Vec::new(),
            subject: None,
        });
        if end > self.bits.len() {
            return Err(Fault::Cut);
        }
        Ok(())
    }

    fn leave(&mut self) -> Read<()> {
        self.bits.align()?;
        if self.open.last().is_some_and(|b| self.bits.at() != b.end) {
            return Err(Fault::Damaged("a block does not end where it says"));
        }
        self.open.pop();
        Ok(())
    }

    fn define(&mut self) -> Read<()> {
        let abbreviation = Abbreviation::read(&mut self.bits)?;
        let Some(block) = self.open.last_mut() else {
            return Ok(());
        };
        if block.id != block::BLOCKINFO {
            block.own.push(abbreviation);
        } else if let Some(subject) = block.subject {
            self.shared.add(subject, abbreviation);
        } else {
            return Err(Fault::Damaged("an abbreviation is for no block"));
        }
        Ok(())
    }

    fn plain(&mut self, visitor: &mut impl Visitor<'a>) -> Read<()> {
        let code = self.bits.variable(6)?;
        let count = self.bits.variable(6)?;
        self.reserve(count, 6)?;
        self.operands.clear();
        for _ in 0..count {
            let operand = self.bits.variable(6)?;
            self.operands.push(operand);
        }
        self.tell(code, None, visitor)
    }

    fn abbreviated(&mut self, number: u64, visitor: &mut impl Visitor<'a>) -> Read<()> {
        let Some(block) = self.open.last() else {
            return Ok(());
        };
        let index = usize::try_from(number - 4).unwrap_or(usize::MAX);
        let abbreviation = if index < block.inherited {
            self.shared.get(block.list, index)
        } else {
            block.own.get(index - block.inherited)
        };
        let unknown = Fault::Damaged("a record uses an abbreviation that is not defined");
        let abbreviation = abbreviation.ok_or(unknown)?;
        let (code, operands) = abbreviation.scalars.split_first().ok_or(unknown)?;
        self.budget = spend(self.budget, operands.len() as u64)?;
        let code = code.read(&mut self.bits)?;
        self.operands.clear();
        for operand in operands {
            self.operands.push(operand.read(&mut self.bits)?);
        }
        let mut blob = None;
        match abbreviation.tail {
            Tail::None => {}
            Tail::Array(element) => {
                let count = self.bits.variable(6)?;
                // Checked before anything grows: the count is not to be trusted.
                if count.saturating_mul(element.least_bits()) > self.bits.left() {
                    return Err(Fault::Cut);
                }
                self.budget = spend(self.budget, count)?;
                for _ in 0..count {
                    self.operands.push(element.read(&mut self.bits)?);
                }
            }
            Tail::Blob => {
                let len = self.bits.variable(6)?;
                blob = Some(self.bits.blob(len)?);
            }
        }
        self.tell(code, blob, visitor)
    }

    fn reserve(&mut self, count: u64, least_bits: u64) -> Read<()> {
        if count.saturating_mul(least_bits) > self.bits.left() {
            return Err(Fault::Cut);
        }
        self.budget = spend(self.budget, count)?;
        Ok(())
    }

    fn tell(
        &mut self,
        code: u64,
        blob: Option<&'a [u8]>,
        visitor: &mut impl Visitor<'a>,
    ) -> Read<()> {
        let [around @ .., block] = self.open.as_mut_slice() else {
            return Ok(());
        };
        let record = Record {
            code,
            operands: &self.operands,
            blob,
        };
        if block.id == block::BLOCKINFO {
            if code == 1 {
                let subject = record.operand(0)?;
                block.subject = u32::try_from(subject).ok();
            }
            return Ok(());
        }
        visitor.record(around.last().map(|b| b.id), block.id, &record)
    }
}

fn spend(budget: u64, operands: u64) -> Read<u64> {
    let too_much = Fault::Damaged("its records hold more than their bits can");
    budget.checked_sub(operands).ok_or(too_much)
}
