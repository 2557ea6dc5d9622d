//! Which parameters are passed by value.

use std::collections::HashMap;

use super::stream::Record;

/// What a parameter by value points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByValue {
    /// What its pointer type says.
    Pointee,
    /// The type of this number.
    Type(u64),
}

#[derive(Debug, Default)]
pub(super) struct Attributes {
    /// The groups that make a parameter one: which parameter, from 1, and of what.
    groups: HashMap<u64, (u64, ByValue)>,
    lists: Vec<Vec<u64>>,
}

impl Attributes {
    pub(super) fn group(&mut self, record: &Record<'_, '_>) {
        const ENTRY: u64 = 3;
        let (ENTRY, [number, parameter, rest @ ..]) = (record.code, record.operands) else {
            return;
        };
        if let Some(by_value) = by_value(rest) {
            self.groups.insert(*number, (*parameter, by_value));
        }
    }

    pub(super) fn list(&mut self, record: &Record<'_, '_>) {
        // Only groups that matter are kept, and most lists have none.
        let groups = record.operands.iter().copied();
        self.lists
            .push(groups.filter(|g| self.groups.contains_key(g)).collect());
    }

    /// The parameters by value of a list, from 1 on.
    pub(super) fn of(&self, list: u64) -> impl Iterator<Item = (u64, ByValue)> {
        let list = list.checked_sub(1).and_then(|at| usize::try_from(at).ok());
        let groups = list.and_then(|at| self.lists.get(at));
        groups
            .into_iter()
            .flatten()
            .filter_map(|group| self.groups.get(group).copied())
    }
}

fn by_value(mut rest: &[u64]) -> Option<ByValue> {
    const BY_VALUE: u64 = 3;
    loop {
        rest = match rest {
            [0 | 5, BY_VALUE, ..] => return Some(ByValue::Pointee),
            [6, BY_VALUE, of, ..] => return Some(ByValue::Type(*of)),
            [0 | 5, _, rest @ ..] | [1 | 6, _, _, rest @ ..] => rest,
            [3, text @ ..] => behind_zero(text)?,
            [4, text @ ..] => behind_zero(behind_zero(text)?)?,
            _ => return None,
        }
    }
}

pub(super) fn behind_zero(text: &[u64]) -> Option<&[u64]> {
    let zero = text.iter().position(|c| *c == 0)?;
    text.get(zero + 1..)
}
