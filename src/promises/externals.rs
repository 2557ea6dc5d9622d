//! What a result may refer to and not define.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::artifact::ExternSymbol;

/// What the code that comes out may refer to and not define, for a later link to bring.
///
/// Compilers report success where a name is defined nowhere, and leave it to fail when a GPU loads the
/// code. What every driver brings (`vprintf`, `malloc`, `free`, `__assertfail`, `__cuda_syscall_…`, and
/// shared memory whose size the launch gives) is never missing.
///
/// ```
/// use cuda_program::{Arch, Externals, nvvm};
///
/// let whole = nvvm::Options::new(Arch::SM_90);
/// assert_eq!(whole.externals, Externals::Refuse);
/// let part = nvvm::Options::new(Arch::SM_90).external("helper");
/// assert_eq!(part.externals, Externals::only(["helper"]));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Externals {
    /// Nothing: a name that nothing defines is an error.
    #[default]
    Refuse,
    /// These names alone.
    Only(BTreeSet<String>),
    /// Anything.
    Allow,
}

impl Externals {
    /// These names alone.
    #[must_use]
    pub fn only(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Externals::Only(names.into_iter().map(Into::into).collect())
    }

    /// The same, and this name too.
    pub(crate) fn and(self, name: String) -> Self {
        match self {
            Externals::Refuse => Externals::only([name]),
            Externals::Only(mut names) => {
                names.insert(name);
                Externals::Only(names)
            }
            Externals::Allow => Externals::Allow,
        }
    }

    /// Whether the name may stay undefined.
    pub(super) fn allow(&self, symbol: &ExternSymbol) -> bool {
        symbol.is_provided()
            || match self {
                Externals::Refuse => false,
                Externals::Only(names) => names.contains(&symbol.name),
                Externals::Allow => true,
            }
    }
}
