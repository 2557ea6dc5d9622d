//! What code calls by name, for those who put several pieces of it together.

/// A name that a piece of code defines, or needs from another piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub(crate) name: String,
    pub(crate) what: What,
    pub(crate) binding: Binding,
}

/// What a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    Kernel,
    /// A function, with its prototype where that is known.
    Function(Option<Prototype>),
    /// A variable, with the space it lies in where that is known.
    Variable(Option<Space>),
}

/// The sizes in bytes of what a function returns and of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prototype {
    pub(crate) results: Vec<usize>,
    pub(crate) parameters: Vec<usize>,
}

/// Where a variable lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    Global,
    Constant,
    Shared,
}

/// Who brings the definition of a name, and who sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binding {
    /// Another piece has to bring it.
    Needed,
    /// This piece, and no other may.
    Strong,
    /// This piece, or another one.
    Weak,
    /// This piece, for itself alone.
    Local,
}

impl Symbol {
    pub(crate) fn is_strong(&self) -> bool {
        self.binding == Binding::Strong
    }
}
