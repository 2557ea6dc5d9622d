//! The metadata of the module and of each function, once all of it is there.

use super::super::fault::{Fault, Read};
use super::super::fields::{self, Field};
use super::{Item, Metadata, Reference};

/// How much of each list was there.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Extent {
    items: usize,
    operands: usize,
    fields: usize,
}

impl Metadata<'_> {
    /// A function begins, whose metadata goes on from that of the module.
    pub(in super::super) fn enter_function(&mut self) -> Read<()> {
        self.end_part()?;
        self.module = Some(Extent {
            items: self.items.len(),
            operands: self.operands.len(),
            fields: self.fields.len(),
        });
        Ok(())
    }

    /// All of the module is there, or all of a function, whose own is of no use to others.
    fn end_part(&mut self) -> Read<()> {
        let module = self.module.take();
        let from = module.unwrap_or_default();
        self.references_fit(from)?;
        if module.is_some() {
            // What belongs to a function leads to the module, and never back.
            let local = std::mem::take(&mut self.local);
            self.cycle = self.cycle.take().or_else(|| local.cycle());
            self.items.truncate(from.items);
            self.operands.truncate(from.operands);
            self.fields.truncate(from.fields);
        }
        Ok(())
    }

    /// LLVM keeps a stand-in for what never comes, and ends the process at it, and at what is not of the
    /// kind that it is taken for.
    fn references_fit(&self, from: Extent) -> Read<()> {
        let known = |reference: &Reference| match reference {
            Reference::Item(at) => self.item(*at).is_some(),
            Reference::Null | Reference::Value(_) => true,
        };
        let mut operands = self.operands.iter().skip(from.operands);
        if !operands.all(known) {
            return Err(Fault::Damaged("a node refers to what is not there"));
        }
        if !self
            .writer
            .is_some_and(|writer| fields::LLVMS.contains(&writer))
        {
            return Ok(());
        }
        let fits = |(to, field): &(u64, Field)| match (field, self.item(*to)) {
            (_, None) => false,
            (Field::Any, Some(_)) => true,
            (Field::Text, Some(item)) => matches!(item, Item::Text(_)),
            (Field::Node, Some(item)) => !matches!(item, Item::Text(_) | Item::Value(_)),
            (Field::List, Some(item)) => matches!(item, Item::Node(_)),
        };
        if self.fields.iter().skip(from.fields).all(fits) {
            Ok(())
        } else {
            let what = "debug metadata refers to what is not there, or of another kind";
            Err(Fault::Damaged(what))
        }
    }

    /// The module is over.
    pub(in super::super) fn close(&mut self) -> Read<()> {
        self.end_part()?;
        let lists = self.named.iter().all(|(name, nodes)| {
            let fits = |node: &u64| match (name.as_slice(), self.item(*node)) {
                (_, None | Some(Item::Text(_) | Item::Value(_))) => false,
                (b"llvm.dbg.cu", Some(item)) => matches!(item, Item::Unit { .. }),
                (
                    b"nvvm.annotations" | b"nvvmir.version" | b"llvm.module.flags" | b"llvm.ident",
                    Some(item),
                ) => matches!(item, Item::Node(_)),
                (_, Some(_)) => true,
            };
            nodes.iter().all(fits)
        });
        if lists {
            Ok(())
        } else {
            Err(Fault::Damaged("a list names what is no node of its kind"))
        }
    }
}
