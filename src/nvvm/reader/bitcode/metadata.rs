//! The metadata of a module: strings, values, nodes, and the nodes that have names.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::super::notes::{Node, Operand};
use super::bits::Bits;
use super::fault::{Fault, Read};
use super::module::{Type, Value, bytes};
use super::stream::Record;

/// One piece of metadata, by its number.
#[derive(Debug, Clone)]
enum Item<'a> {
    Text(Cow<'a, [u8]>),
    Value(u64),
    /// Its operands, by their place among all operands.
    Node(Range<usize>),
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
}

impl<'a> Metadata<'a> {
    pub(super) fn record(&mut self, record: &Record<'_, 'a>, types: &[Type]) -> Read<()> {
        let item = match record.code {
            1 => Item::Text(Cow::Owned(bytes(record.operands))),
            2 => Item::Value(record.operand(1)?),
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
            _ => Item::Other,
        };
        self.items.push(item);
        Ok(())
    }

    fn node(&mut self, references: impl Iterator<Item = Reference>) -> Item<'a> {
        let from = self.operands.len();
        self.operands.extend(references);
        Item::Node(from..self.operands.len())
    }

    /// Up to LLVM 3.5 operands were pairs of a type and a value.
    fn old_node(&mut self, operands: &[u64], types: &[Type]) -> Read<Item<'a>> {
        let pairs = operands.chunks_exact(2);
        if !pairs.remainder().is_empty() {
            return Err(Fault::Damaged("a record is too short"));
        }
        Ok(self.node(pairs.map(|pair| {
            let (type_, value) = match pair {
                [type_, value] => (*type_, *value),
                _ => (0, 0),
            };
            let type_ = usize::try_from(type_).ok().and_then(|at| types.get(at));
            match type_ {
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
                .map(|node| self.resolve(*node, values))
                .collect(),
        )
    }

    fn resolve(&self, node: u64, values: &[Value]) -> Node<'_> {
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
                _ => Operand::Other,
            }
        };
        let operand = |reference: &Reference| match reference {
            Reference::Null => Operand::Null,
            Reference::Value(at) => value(*at),
            Reference::Item(at) => match self.item(*at) {
                Some(Item::Text(text)) => Operand::Text(Cow::Borrowed(text.as_ref())),
                Some(Item::Value(at)) => value(*at),
                _ => Operand::Other,
            },
        };
        Some(operands.iter().map(operand).collect())
    }

    fn item(&self, at: u64) -> Option<&Item<'a>> {
        self.items.get(usize::try_from(at).ok()?)
    }
}
