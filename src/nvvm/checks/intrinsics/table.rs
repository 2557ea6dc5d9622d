//! The tables that `cargo xtask intrinsics` writes.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

use super::super::program::Path;

/// What a table says of one intrinsic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Said {
    /// It was never tried.
    Nothing,
    /// There is code for it.
    Taken,
    /// There is none, or its selection ends the process.
    Refused,
}

/// The types that intrinsics of one name were tried with, as its endings.
#[derive(Debug, Default)]
struct Family {
    taken: Vec<&'static str>,
    refused: Vec<&'static str>,
}

/// What one of the two compilers takes, by name.
#[derive(Debug)]
pub(super) struct Table(HashMap<&'static str, Family>);

impl Table {
    /// The table of a path, read at its first use.
    pub(super) fn of(path: Path) -> &'static Table {
        static LEGACY: OnceLock<Table> = OnceLock::new();
        static MODERN: OnceLock<Table> = OnceLock::new();
        match path {
            Path::Legacy => LEGACY.get_or_init(|| Table::read(include_str!("legacy.txt"))),
            Path::Modern => MODERN.get_or_init(|| Table::read(include_str!("modern.txt"))),
        }
    }

    /// What the library of CUDA 12.0 does not take of what later ones take.
    pub(super) fn first() -> &'static Table {
        static FIRST: OnceLock<Table> = OnceLock::new();
        FIRST.get_or_init(|| Table::read(include_str!("first.txt")))
    }

    /// What the newer compiler of CUDA 13.5 does not take of what earlier ones take.
    pub(super) fn last() -> &'static Table {
        static LAST: OnceLock<Table> = OnceLock::new();
        LAST.get_or_init(|| Table::read(include_str!("last.txt")))
    }

    fn read(text: &'static str) -> Table {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        Table(lines.filter_map(family).collect())
    }

    /// Whether it lists an intrinsic, or what it goes by, as refused.
    pub(super) fn refuses(&self, name: &str) -> bool {
        let (head, tail) = split(name);
        self.0.get(head).is_some_and(|family| {
            let elements = elements(&tail);
            [&*tail, &*elements]
                .iter()
                .any(|tail| family.refused.contains(tail))
        })
    }

    /// What it says of an intrinsic, by its name behind `llvm.`.
    ///
    /// Vectors of a length that was not tried go the way of their elements, and integers of a width that
    /// was not tried the way of those like them. Of other types that were not tried nothing is known, so
    /// they are refused; a name that has no types at all goes the way of those that it has elsewhere.
    pub(super) fn says(&self, name: &str) -> Said {
        let (head, tail) = split(name);
        let Some(family) = self.0.get(head) else {
            return Said::Nothing;
        };
        let tried = |tail: &str| {
            if family.refused.contains(&tail) {
                Some(Said::Refused)
            } else {
                family.taken.contains(&tail).then_some(Said::Taken)
            }
        };
        let like = |tail: &str| {
            let said: Vec<Said> = alike(tail).iter().filter_map(|tail| tried(tail)).collect();
            said.into_iter().max()
        };
        let elements = elements(&tail);
        tried(&tail)
            .or_else(|| tried(&elements))
            .or_else(|| like(&elements))
            .unwrap_or(if tail.is_empty() && !family.taken.is_empty() {
                Said::Taken
            } else {
                Said::Refused
            })
    }
}

/// The same types with integers that were tried for those of other widths.
fn alike(tail: &str) -> Vec<String> {
    let width = |part: &str| part.strip_prefix('i')?.parse::<u64>().ok();
    let stand_ins: &[&str] = match tail.split('.').find_map(width) {
        Some(0..8) => &["i4"],
        Some(8..=64) => &["i24", "i48"],
        Some(65..=128) => &["i96"],
        Some(_) => &["i256"],
        None => return Vec::new(),
    };
    let with = |stand_in: &str| {
        let parts: Vec<&str> = tail
            .split('.')
            .map(|part| width(part).map_or(part, |_| stand_in))
            .collect();
        parts.join(".")
    };
    stand_ins.iter().map(|stand_in| with(stand_in)).collect()
}

fn family(line: &'static str) -> Option<(&'static str, Family)> {
    let mut words = line.split(' ');
    let head = words.next()?;
    let mut family = Family::default();
    let mut into = &mut family.taken;
    for word in words {
        match word {
            "+" => {}
            "-" => into = &mut family.refused,
            "." => into.push(""),
            tail => into.push(tail),
        }
    }
    Some((head, family))
}

/// A name and the types that it ends in, with pointers as they are written where none has a type.
fn split(name: &str) -> (&str, Cow<'_, str>) {
    let mut at = 0;
    for part in name.split('.') {
        if at > 0 && type_(part).is_some() {
            let head = name.get(..at - 1).unwrap_or(name);
            let tail = name.get(at..).unwrap_or_default();
            let types = tail.split('.').map(type_);
            if types.clone().eq(tail.split('.').map(Some)) {
                return (head, tail.into());
            }
            // Parts that are no types belong to the name of what a pointer points to.
            let types: Vec<&str> = types.flatten().collect();
            return (head, types.join(".").into());
        }
        at += part.len() + 1;
    }
    (name, "".into())
}

/// The types of a name with vectors' elements for vectors.
fn elements(tail: &str) -> String {
    let elements: Vec<&str> = tail.split('.').map(element).collect();
    elements.join(".")
}

fn element(part: &str) -> &str {
    match part.strip_prefix('v') {
        Some(vector) => vector.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => part,
    }
}

/// The type that part of a name is, as in `v2f32`; of `p1i8` the `p1`.
fn type_(part: &str) -> Option<&str> {
    let scalar = element(part);
    let kind = ["ppcf", "bf", "f", "i", "p"]
        .into_iter()
        .find(|kind| scalar.starts_with(kind))?;
    let number = scalar.get(kind.len()..)?;
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || (digits < number.len() && kind != "p") {
        return None;
    }
    part.get(..part.len() - (number.len() - digits))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("ctpop.i32", "ctpop", "i32")]
    #[case("memcpy.p0i8.p1i8.i64", "memcpy", "p0.p1.i64")]
    #[case("memset.p0s_struct.Foos.i64", "memset", "p0.i64")]
    #[case("masked.gather.v4f32.v4p0f32", "masked.gather", "v4f32.v4p0")]
    #[case("nvvm.f2i.rn", "nvvm.f2i.rn", "")]
    #[case("nvvm.shfl.sync.idx.i32p", "nvvm.shfl.sync.idx.i32p", "")]
    fn a_name_ends_where_its_types_begin(
        #[case] name: &str,
        #[case] head: &str,
        #[case] tail: &str,
    ) {
        assert_eq!(split(name), (head, tail.into()));
    }

    #[test]
    fn what_was_not_tried_goes_the_way_of_what_is_like_it() {
        let table = Table::read("# told\nexp + f32 . - f16\nnone - f16\nmul + i24 i48 - i96\n");
        for (name, said) in [
            ("exp.f32", Said::Taken),
            ("exp", Said::Taken),
            ("exp.v16f32", Said::Taken),
            ("exp.v16f16", Said::Refused),
            ("exp.f128", Said::Refused),
            ("mul.i17", Said::Taken),
            ("mul.v3i33", Said::Taken),
            ("mul.i65", Said::Refused),
            ("mul.i1000", Said::Refused),
            ("mul", Said::Taken),
            ("none.f32", Said::Refused),
            ("other.f32", Said::Nothing),
        ] {
            assert_eq!(table.says(name), said, "{name}");
        }
    }
}
