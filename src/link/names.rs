//! Whether the names of all inputs go together.
//!
//! The library looks too, and then ends the process with a fault in its memory, or reports success and
//! leaves its complaint on standard error.

use std::collections::BTreeMap;

use crate::artifact::symbol::{Binding, Space, Symbol, What};

/// An input: two may have one name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) number: usize,
    pub(super) name: &'a str,
}

/// What every input calls by name so far.
#[derive(Default)]
pub(super) struct Names<'a> {
    all: BTreeMap<&'a str, Vec<(Place<'a>, &'a Symbol)>>,
}

/// What is wrong with an input beside those before it, and what to do.
pub(super) type Clash = (String, &'static str);

impl<'a> Names<'a> {
    /// Notes what an input calls by name.
    ///
    /// # Errors
    ///
    /// The first name that does not go together with that of an input before it.
    pub(super) fn add(
        &mut self,
        input: Place<'a>,
        symbols: impl Iterator<Item = &'a Symbol>,
    ) -> Result<(), Clash> {
        for symbol in symbols {
            // Nobody else sees the others that are local.
            if symbol.binding == Binding::Local && symbol.what != What::Kernel {
                continue;
            }
            let others = self.all.entry(&symbol.name).or_default();
            for (other, before) in others
                .iter()
                .filter(|(other, _)| other.number != input.number)
            {
                if let Some(clash) = clash(symbol, other.name, before) {
                    return Err(clash);
                }
            }
            others.push((input, symbol));
        }
        Ok(())
    }

    /// Refuses a kernel of LTO IR, whose other names nobody knows, that another input defines too.
    ///
    /// # Errors
    ///
    /// As for [`add`](Names::add).
    pub(super) fn check_kernel(&self, input: Place<'a>, kernel: &str) -> Result<(), Clash> {
        let defined = |(other, symbol): &&(Place<'_>, &Symbol)| {
            other.number != input.number && symbol.binding != Binding::Needed
        };
        match self
            .all
            .get(kernel)
            .and_then(|all| all.iter().find(defined))
        {
            None => Ok(()),
            Some((other, _)) => Err(twice(kernel, other.name)),
        }
    }

    /// Whether an input defines it for others.
    pub(super) fn defines(&self, name: &str) -> bool {
        let others = |(_, symbol): &(Place<'_>, &Symbol)| {
            matches!(symbol.binding, Binding::Strong | Binding::Weak)
        };
        self.all.get(name).is_some_and(|all| all.iter().any(others))
    }
}

/// Both define it.
pub(super) fn twice(name: &str, other: &str) -> Clash {
    (
        format!("it defines `{name}`, and so does {other}"),
        "take one of the definitions out, rename it, or make it weak or static",
    )
}

fn clash(one: &Symbol, other: &str, before: &Symbol) -> Option<Clash> {
    let name = &one.name;
    let says = |symbol: &Symbol| {
        let verb = match symbol.binding {
            Binding::Needed => "uses",
            _ => "defines",
        };
        format!("{verb} {} `{name}`", kind(&symbol.what))
    };
    if one.is_strong() && before.is_strong() && kind(&one.what) == kind(&before.what) {
        return Some(twice(name, other));
    }
    let problem = match (&one.what, &before.what) {
        (What::Kernel, What::Kernel) => {
            let is_local = |symbol: &Symbol| symbol.binding == Binding::Local;
            if !is_local(one) && !is_local(before) {
                return None;
            }
            return Some((
                format!(
                    "it defines the kernel `{name}`, and so does {other}; both would be in the \
                     result, and a launch could reach one of them alone"
                ),
                "rename one of them",
            ));
        }
        (What::Function(one), What::Function(before)) => {
            let (one, before) = one.as_ref().zip(before.as_ref())?;
            if one == before {
                return None;
            }
            format!(
                "its `{name}` returns {} and takes {}, and that of {other} returns {} and takes {}",
                bytes(&one.results),
                bytes(&one.parameters),
                bytes(&before.results),
                bytes(&before.parameters)
            )
        }
        (What::Variable(one), What::Variable(before)) => {
            let (one, before) = (*one).zip(*before)?;
            if one == before {
                return None;
            }
            format!(
                "its variable `{name}` lies in {}, and that of {other} in {}",
                memory(one),
                memory(before)
            )
        }
        _ => format!("it {}, and {other} {}", says(one), says(before)),
    };
    Some((problem, "rename one of them, or make both the same"))
}

fn kind(what: &What) -> &'static str {
    match what {
        What::Kernel => "the kernel",
        What::Function(_) => "the function",
        What::Variable(_) => "the variable",
    }
}

fn memory(space: Space) -> &'static str {
    match space {
        Space::Global => "global memory",
        Space::Constant => "constant memory",
        Space::Shared => "shared memory",
    }
}

fn bytes(sizes: &[usize]) -> String {
    match sizes {
        [] => "nothing".to_owned(),
        sizes => {
            let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
            format!("{} bytes", sizes.join(", "))
        }
    }
}
