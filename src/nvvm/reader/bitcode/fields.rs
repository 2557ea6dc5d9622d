//! What the fields of debug metadata refer to.
//!
//! LLVM takes it for granted that a name is a string and a list is a list, and ends the process where one
//! is not.

/// What a field must refer to, where it refers to anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// Some metadata.
    Any,
    /// A string.
    Text,
    /// A node, and no string.
    Node,
    /// A plain list of other metadata.
    List,
}

/// The LLVMs whose records are known here to be of this form.
pub(super) const LLVMS: std::ops::RangeInclusive<u32> = 4..=23;

/// The fields of a record that are one more than a number of metadata, or 0; those alone that all of
/// these write at the same place.
pub(super) fn of(code: u64) -> &'static [(usize, Field)] {
    use Field::{Any, List, Node, Text};
    match code {
        // Basic types, files, derived types, composite types, types of functions.
        15 => &[(2, Text)],
        16 => &[(1, Text), (2, Text)],
        17 => &[(2, Text), (3, Node), (5, Any), (6, Any), (11, Any)],
        18 => &[
            (2, Text),
            (3, Node),
            (5, Any),
            (6, Any),
            (11, List),
            (13, Any),
            (14, List),
            (15, Text),
        ],
        19 => &[(2, List)],
        // Compile units, functions, blocks.
        20 => &[
            (2, Node),
            (3, Text),
            (5, Text),
            (7, Text),
            (9, List),
            (10, List),
            (12, List),
            (13, List),
            (15, List),
        ],
        21 => &[(1, Any), (2, Text), (3, Text), (4, Node), (6, Any)],
        22 | 23 => &[(1, Node), (2, Node)],
        _ => &[],
    }
}
