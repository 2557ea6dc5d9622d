//! The types of a module, once text or bitcode has been taken apart: sizes, and what holds itself.

use std::collections::HashMap;

use super::symbol::OddParameter;

/// A type; others are named by their place in the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    Void,
    /// Its bits.
    Integer(u64),
    /// Its bits.
    Float(u64),
    Pointer(Option<usize>),
    Array(u64, usize),
    Vector(u64, usize),
    Struct {
        packed: bool,
        fields: Vec<usize>,
    },
    Function {
        result: usize,
        parameters: Vec<usize>,
    },
    Metadata,
    Other,
}

#[derive(Debug, Default)]
pub(super) struct Types {
    pub(super) list: Vec<Type>,
}

/// How deep a type is followed.
const DEEPEST: usize = 64;
/// How many types may be visited for one size: types can share parts without end.
const MOST: u32 = 100_000;

impl Types {
    pub(super) fn add(&mut self, type_: Type) -> usize {
        self.list.push(type_);
        self.list.len() - 1
    }

    /// Makes a type what another is.
    pub(super) fn alias(&mut self, at: usize, same: usize) {
        let Some(type_) = self.list.get(same).cloned() else {
            return;
        };
        if let Some(place) = self.list.get_mut(at) {
            *place = type_;
        }
    }

    pub(super) fn get(&self, at: usize) -> Option<&Type> {
        self.list.get(at)
    }

    /// As `get`, for a number that bitcode states.
    pub(super) fn at(&self, number: u64) -> Option<&Type> {
        self.get(usize::try_from(number).ok()?)
    }

    /// The function type at a place, or the one behind a pointer there.
    pub(super) fn function(&self, at: usize) -> Option<(usize, &[usize])> {
        match self.get(at)? {
            Type::Function { result, parameters } => Some((*result, parameters)),
            Type::Pointer(Some(to)) => match self.get(*to)? {
                Type::Function { result, parameters } => Some((*result, parameters)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the function of a type is given metadata.
    pub(super) fn takes_metadata(&self, at: usize) -> bool {
        let is_metadata = |parameter: &usize| self.get(*parameter) == Some(&Type::Metadata);
        self.function(at)
            .is_some_and(|(_, parameters)| parameters.iter().any(is_metadata))
    }

    /// Bytes and alignment in the layout that libNVVM compiles with; none where that is not known.
    pub(super) fn size(&self, at: usize) -> Option<(u64, u64)> {
        let mut sizes = Sizes {
            types: self,
            known: HashMap::new(),
            left: MOST,
        };
        sizes.of(at, DEEPEST)
    }

    /// The bytes that a kernel's parameters take, one behind the other; those by value are given as
    /// what they point to.
    pub(super) fn parameter_bytes(&self, parameters: impl Iterator<Item = usize>) -> Option<u64> {
        let mut end = 0_u64;
        for parameter in parameters {
            let (size, align) = self.size(parameter)?;
            end = padded(end, align)?.checked_add(size)?;
        }
        Some(end)
    }

    /// The first type in a kernel's parameters that GPUs have no registers for.
    pub(super) fn odd_parameter(
        &self,
        mut parameters: impl Iterator<Item = usize>,
    ) -> Option<OddParameter> {
        parameters.find_map(|parameter| {
            let mut left = MOST;
            self.odd(parameter, false, DEEPEST, &mut left)
        })
    }

    fn odd(&self, at: usize, inside: bool, depth: usize, left: &mut u32) -> Option<OddParameter> {
        *left = left.checked_sub(1)?;
        let depth = depth.checked_sub(1)?;
        let odd = |bits: Option<u64>, name: String| Some(OddParameter { name, bits, inside });
        match self.get(at)? {
            Type::Integer(1 | 8 | 16 | 32 | 64 | 128) | Type::Float(16 | 32 | 64) => None,
            // Part of a larger thing, it is so many bytes of it.
            Type::Integer(0..=64) if inside => None,
            Type::Integer(bits) => odd(Some(*bits), format!("i{bits}")),
            Type::Float(bits) => odd(None, format!("fp{bits}")),
            Type::Array(_, of) | Type::Vector(_, of) => self.odd(*of, true, depth, left),
            Type::Struct { fields, .. } => fields
                .iter()
                .find_map(|field| self.odd(*field, true, depth, left)),
            Type::Metadata => odd(Some(0), "metadata".to_owned()),
            Type::Other if !inside => odd(Some(0), "x86_fp80, x86_mmx, token or label".to_owned()),
            _ => None,
        }
    }

    /// A structure, by its place, that holds itself by value.
    pub(super) fn holds_itself(&self) -> Option<usize> {
        let parts = |at: usize| match self.list.get(at) {
            Some(Type::Array(_, of) | Type::Vector(_, of)) => std::slice::from_ref(of),
            Some(Type::Struct { fields, .. }) => fields.as_slice(),
            _ => &[],
        };
        let mut state = vec![0_u8; self.list.len()];
        for start in 0..self.list.len() {
            let mut path = vec![(start, 0_usize)];
            if state.get(start) != Some(&0) {
                continue;
            }
            while let Some((at, next)) = path.last_mut() {
                let at = *at;
                let part = parts(at).get(*next).copied();
                *next += 1;
                let Some(part) = part else {
                    mark(&mut state, at, 2);
                    path.pop();
                    continue;
                };
                mark(&mut state, at, 1);
                match state.get(part) {
                    Some(0) => path.push((part, 0)),
                    Some(1) => return Some(part),
                    _ => {}
                }
            }
        }
        None
    }
}

fn mark(state: &mut [u8], at: usize, value: u8) {
    if let Some(place) = state.get_mut(at) {
        *place = value;
    }
}

struct Sizes<'a> {
    types: &'a Types,
    known: HashMap<usize, Option<(u64, u64)>>,
    left: u32,
}

impl Sizes<'_> {
    fn of(&mut self, at: usize, depth: usize) -> Option<(u64, u64)> {
        if let Some(known) = self.known.get(&at) {
            return *known;
        }
        self.left = self.left.checked_sub(1)?;
        let depth = depth.checked_sub(1)?;
        let size = match self.types.get(at)? {
            Type::Integer(bits) => {
                let bytes = bits.div_ceil(8);
                let align = bytes.checked_next_power_of_two()?.clamp(1, 16);
                Some((padded(bytes, align)?, align))
            }
            Type::Float(bits) => Some((bits / 8, (bits / 8).clamp(1, 16))),
            Type::Pointer(_) => Some((8, 8)),
            Type::Array(count, of) => {
                let (size, align) = self.of(*of, depth)?;
                Some((size.checked_mul(*count)?, align))
            }
            Type::Vector(count, of) => {
                let bits = match self.types.get(*of)? {
                    Type::Integer(bits) | Type::Float(bits) => *bits,
                    Type::Pointer(_) => 64,
                    _ => return None,
                };
                let bytes = bits.checked_mul(*count)?.div_ceil(8);
                let align = bytes.checked_next_power_of_two()?;
                Some((padded(bytes, align)?, align))
            }
            Type::Struct { packed, fields } => {
                let (mut end, mut widest) = (0_u64, 1);
                for field in fields {
                    let (size, align) = self.of(*field, depth)?;
                    let align = if *packed { 1 } else { align };
                    end = padded(end, align)?.checked_add(size)?;
                    widest = widest.max(align);
                }
                Some((padded(end, widest)?, widest))
            }
            _ => None,
        };
        self.known.insert(at, size);
        size
    }
}

fn padded(bytes: u64, align: u64) -> Option<u64> {
    bytes.checked_next_multiple_of(align.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_the_layout() {
        let mut types = Types::default();
        let byte = types.add(Type::Integer(8));
        let long = types.add(Type::Integer(64));
        let record = |packed| Type::Struct {
            packed,
            fields: vec![byte, long, byte],
        };
        let (loose, tight) = (types.add(record(false)), types.add(record(true)));
        let many = types.add(Type::Array(3, tight));
        let three = types.add(Type::Vector(3, byte));
        assert_eq!(types.size(loose), Some((24, 8)));
        assert_eq!(types.size(tight), Some((10, 1)));
        assert_eq!(types.size(many), Some((30, 1)));
        assert_eq!(types.size(three), Some((4, 4)));
        let wide = types.add(Type::Integer(128));
        assert_eq!(types.size(wide), Some((16, 16)));
    }

    #[test]
    fn types_that_share_parts_without_end_cost_no_more_than_their_number() {
        let mut types = Types::default();
        let mut last = types.add(Type::Integer(8));
        for _ in 0..60 {
            last = types.add(Type::Struct {
                packed: true,
                fields: vec![last; 8],
            });
        }
        assert_eq!(types.size(last), None);
        assert_eq!(types.holds_itself(), None);
    }

    #[test]
    fn a_structure_may_point_to_itself_and_not_hold_itself() {
        let mut types = Types::default();
        let fields = |at| Type::Struct {
            packed: false,
            fields: vec![at],
        };
        types.add(Type::Pointer(Some(1)));
        types.add(fields(0));
        assert_eq!(types.holds_itself(), None);
        types.add(Type::Array(2, 3));
        types.add(fields(2));
        assert!(types.holds_itself().is_some());
        assert_eq!(types.size(3), None);
    }
}
