//! The metadata of a module: strings, values, nodes, and the nodes that have names.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::super::debug::Links;
use super::super::info::DebugCycle;
use super::super::notes::{Node, Operand};
use super::super::types::{Type, Types};
use super::bits::Bits;
use super::fault::{Fault, Read};
use super::fields::{self, Field};
use super::module::{Value, bytes};
use super::stream::Record;

mod parts;

use parts::Extent;

/// One piece of metadata, by its number.
#[derive(Debug, Clone)]
enum Item<'a> {
    Text(Cow<'a, [u8]>),
    Value(u64),
    /// Its operands, by their place among all operands.
    Node(Range<usize>),
    /// A compile unit of debug metadata, and whether it says that there is none.
    Unit {
        no_debug: bool,
    },
    Other,
}

#[derive(Debug, Clone, Copy)]
enum Reference {
    Null,
    Item(u64),
    Value(u64),
}

#[derive(Debug, Default)]
pub(super) struct Metadata<'a> {
    items: Vec<Item<'a>>,
    operands: Vec<Reference>,
    /// The name that the next record gives its nodes.
    pending: Option<Vec<u8>>,
    named: Vec<(Vec<u8>, Vec<u64>)>,
    links: Links,
    /// Those between nodes that one function alone has.
    local: Links,
    cycle: Option<DebugCycle>,
    /// What fields of debug metadata refer to, and what that must be; what is to come is known when the
    /// block is over.
    fields: Vec<(u64, Field)>,
    /// How much there is of the module, where a function has begun.
    module: Option<Extent>,
    /// The major version of the LLVM that wrote it, where that is known.
    pub(super) writer: Option<u32>,
}

impl<'a> Metadata<'a> {
    pub(super) fn record(
        &mut self,
        record: &Record<'_, 'a>,
        types: &Types,
        known: impl Fn(u64) -> Option<Value>,
    ) -> Read<()> {
        let item = match record.code {
            1 => Item::Text(Cow::Owned(bytes(record.operands))),
            2 => {
                let (type_, value) = (record.operand(0)?, record.operand(1)?);
                if known(value).is_some_and(|value| !fits(value, types.at(type_))) {
                    return Err(Fault::Damaged("a value is of another type than is said"));
                }
                Item::Value(value)
            }
            3 | 5 => self.node(record.operands.iter().map(|o| match o.checked_sub(1) {
                Some(item) => Reference::Item(item),
                None => Reference::Null,
            })),
            4 => {
                self.pending = Some(bytes(record.operands));
                return Ok(());
            }
            8 | 9 => self.old_node(record.operands, types)?,
            10 => {
                let name = self.pending.take();
                let name = name.ok_or(Fault::Damaged("a list of nodes has no name"))?;
                self.named.push((name, record.operands.to_vec()));
                return Ok(());
            }
            35 => return self.strings(record),
            // Kinds, attachments and indices are no metadata themselves.
            6 | 11 | 36 | 38 | 39 => return Ok(()),
            code => {
                let refers = |&(at, field): &(usize, Field)| {
                    let to = record.operands.get(at)?.checked_sub(1)?;
                    Some((to, field))
                };
                self.fields
                    .extend(fields::of(code).iter().filter_map(refers));
                if code == 20 {
                    Item::Unit {
                        no_debug: record.operands.get(8) == Some(&0),
                    }
                } else {
                    self.follow(record);
                    Item::Other
                }
            }
        };
        self.items.push(item);
        Ok(())
    }

    /// How many items there are at this place.
    pub(super) fn len(&self) -> u64 {
        self.items.len() as u64
    }

    /// Nodes of debug metadata that lead back to themselves.
    pub(super) fn cycle(&mut self) -> Option<DebugCycle> {
        self.cycle.take().or_else(|| self.links.cycle())
    }

    /// How many compile units are listed that do not say that there is nothing in them.
    pub(super) fn compile_units(&self) -> u32 {
        let listed = self.named.iter().filter(|(name, _)| name == b"llvm.dbg.cu");
        let mut seen = HashSet::new();
        let units = listed
            .flat_map(|(_, nodes)| nodes)
            .filter(|node| seen.insert(**node))
            .filter(|node| matches!(self.item(**node), Some(Item::Unit { no_debug: false })));
        u32::try_from(units.count()).unwrap_or(u32::MAX)
    }

    /// Notes where a node of debug metadata leads.
    fn follow(&mut self, record: &Record<'_, 'a>) {
        let from = self.items.len() as u64;
        let local = self.module.is_some();
        let links = if local {
            &mut self.local
        } else {
            &mut self.links
        };
        let operand = |at: usize| record.operands.get(at).copied();
        // Most references are one more than the number, so that 0 means none.
        let other = |at: usize| operand(at)?.checked_sub(1);
        let (scope, base, inlined) = match record.code {
            7 => (operand(3), None, other(4)),
            17 => {
                links.derived(from);
                (other(5), other(6), None)
            }
            18 => (other(5), None, None),
            21..=24 | 27 | 28 | 40 | 44 => (other(1), None, None),
            _ => return,
        };
        for to in [scope, inlined].into_iter().flatten() {
            links.scope(from, to);
        }
        if let Some(to) = base {
            links.base(from, to);
        }
    }

    fn node(&mut self, references: impl Iterator<Item = Reference>) -> Item<'a> {
        let from = self.operands.len();
        self.operands.extend(references);
        Item::Node(from..self.operands.len())
    }

    /// Up to LLVM 3.5 operands were pairs of a type and a value.
    fn old_node(&mut self, operands: &[u64], types: &Types) -> Read<Item<'a>> {
        let pairs = operands.chunks_exact(2);
        if !pairs.remainder().is_empty() {
            return Err(Fault::Damaged("a record is too short"));
        }
        Ok(self.node(pairs.map(|pair| {
            let (type_, value) = match pair {
                [type_, value] => (*type_, *value),
                _ => (0, 0),
            };
            match types.at(type_) {
                Some(Type::Metadata) => Reference::Item(value),
                Some(Type::Void) => Reference::Null,
                _ => Reference::Value(value),
            }
        })))
    }

    /// Many strings in one blob: their lengths, packed, then their characters.
    fn strings(&mut self, record: &Record<'_, 'a>) -> Read<()> {
        let short = Fault::Damaged("its strings are cut short");
        let count = record.operand(0)?;
        let offset = usize::try_from(record.operand(1)?).map_err(|_| short)?;
        let blob = record.blob.ok_or(short)?;
        let (lengths, mut characters) = blob.split_at_checked(offset).ok_or(short)?;
        let mut lengths = Bits::new(lengths);
        for _ in 0..count {
            let len = lengths.variable(6).map_err(|_| short)?;
            let len = usize::try_from(len).map_err(|_| short)?;
            let (string, rest) = characters.split_at_checked(len).ok_or(short)?;
            self.items.push(Item::Text(Cow::Borrowed(string)));
            characters = rest;
        }
        Ok(())
    }

    /// The nodes of a name, or `None` where the module does not have that name.
    pub(super) fn nodes_of(&self, name: &[u8], values: &[Value]) -> Option<Vec<Node<'_>>> {
        let mut lists = self.named.iter().filter(|(n, _)| n == name).peekable();
        lists.peek()?;
        // A node that is listed many times is read once.
        let mut seen = HashSet::new();
        Some(
            lists
                .flat_map(|(_, nodes)| nodes)
                .filter(|node| seen.insert(**node))
                .map(|node| Node {
                    number: *node,
                    line: None,
                    operands: self.resolve(*node, values),
                })
                .collect(),
        )
    }

    fn resolve(&self, node: u64, values: &[Value]) -> Option<Vec<Operand<'_>>> {
        let Some(Item::Node(range)) = self.item(node) else {
            return None;
        };
        let operands = self.operands.get(range.clone())?;
        let value = |at: u64| {
            let value = usize::try_from(at).ok().and_then(|at| values.get(at));
            match value {
                Some(Value::Symbol(at)) => Operand::Symbol(*at),
                Some(Value::Int(value)) => Operand::Int(*value),
                Some(Value::Null) => Operand::Null,
                Some(Value::NoInteger) => Operand::NoInteger,
                _ => Operand::Other,
            }
        };
        let operand = |reference: &Reference| match reference {
            Reference::Null => Operand::Null,
            Reference::Value(at) => value(*at),
            Reference::Item(at) => match self.item(*at) {
                Some(Item::Text(text)) => Operand::Text(Cow::Borrowed(text.as_ref())),
                Some(Item::Value(at)) => value(*at),
                Some(Item::Node(_)) => Operand::Node,
                _ => Operand::Other,
            },
        };
        Some(operands.iter().map(operand).collect())
    }

    fn item(&self, at: u64) -> Option<&Item<'a>> {
        self.items.get(usize::try_from(at).ok()?)
    }
}

/// Whether a value can be of a type.
fn fits(value: Value, type_: Option<&Type>) -> bool {
    match value {
        Value::Symbol(_) => matches!(type_, Some(Type::Pointer(_))),
        Value::Int(_) => matches!(type_, Some(Type::Integer(_))),
        _ => true,
    }
}
