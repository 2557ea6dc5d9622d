//! The ordered list of modules that a program owns.

use std::collections::HashSet;
use std::ffi::CString;
use std::sync::Arc;

use super::checks;
use super::reader::{self, Linkage, ModuleInfo, ModuleKind, Symbol, SymbolKind};
use crate::error::{InvalidInput, Result};

/// The data layout that every libNVVM reads.
pub(crate) const LAYOUT: &str = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-\
    i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64";

/// One module of a program.
#[derive(Debug, Clone)]
pub(super) struct Module {
    /// Tells this module from one that later takes its name.
    pub(super) id: u64,
    pub(super) name: CString,
    pub(super) bytes: Arc<[u8]>,
    pub(super) lazy: bool,
    pub(super) info: Arc<ModuleInfo>,
}

impl Module {
    pub(super) fn name(&self) -> &str {
        // Made from a `str`, so this never falls back.
        self.name.to_str().unwrap_or_default()
    }

    /// Looks at the module before any library does.
    pub(super) fn read(id: u64, name: &str, bytes: Arc<[u8]>, lazy: bool) -> Result<Self> {
        let c_name = CString::new(name).ok();
        let Some(c_name) = c_name.filter(|_| !name.is_empty() && !name.contains(char::is_control))
        else {
            return Err(InvalidInput {
                input: format!("{name:?}"),
                line: None,
                snippet: None,
                problem:
                    "the module's name is empty, or holds a NUL byte or another control character"
                        .to_owned(),
                hint: "give it a name that can be shown in a message".to_owned(),
            }
            .into());
        };
        let info = reader::look(&bytes)
            .map_err(|e| e.for_input(name))
            .and_then(|info| match checks::module(&info, lazy) {
                Ok(()) => Ok(info),
                Err(e) => Err(e.for_module(name)),
            })
            .map_err(|e| e.marked(&|_| Some(&bytes)))?;
        Ok(Module {
            id,
            name: c_name,
            bytes,
            lazy,
            info: Arc::new(info),
        })
    }
}

/// What is in the list, seen as a whole.
pub(super) struct Modules<'a>(pub(super) &'a [Module]);

impl<'a> Modules<'a> {
    pub(super) fn eager(&self) -> impl Iterator<Item = &'a Module> + use<'a> {
        self.0.iter().filter(|module| !module.lazy)
    }

    pub(super) fn names(&self) -> Vec<&'a str> {
        self.0.iter().map(Module::name).collect()
    }

    /// The text of a module; bitcode has none.
    pub(super) fn text(&self, name: &str) -> Option<&'a [u8]> {
        let module = self.0.iter().find(|module| module.name() == name)?;
        (module.info.kind == ModuleKind::Text).then_some(&*module.bytes)
    }

    /// The modules in the order in which libNVVM is to get them.
    ///
    /// That is the list's, but for one thing: libNVVM of CUDA 13.5 links the modules one by one and
    /// drops a `linkonce` definition that nothing before it refers to, also where a later module does.
    /// So a module with such a definition goes behind the others.
    pub(super) fn in_order(&self) -> Vec<&'a Module> {
        let linkonce = |module: &'a Module| {
            module.info.symbols.iter().filter(|symbol| {
                matches!(symbol.linkage, Linkage::LinkOnce | Linkage::LinkOnceOdr) && symbol.defined
            })
        };
        let mut referred_to_later: HashSet<&[u8]> = HashSet::new();
        let mut goes_behind = vec![false; self.0.len()];
        if self
            .0
            .iter()
            .any(|module| linkonce(module).next().is_some())
        {
            for (module, behind) in self.0.iter().zip(&mut goes_behind).rev() {
                *behind = !module.lazy
                    && linkonce(module).any(|s| referred_to_later.contains(s.name.as_slice()));
                let declared = module.info.undefined().map(|symbol| symbol.name.as_slice());
                referred_to_later.extend(declared);
            }
        }
        let part = |behind: bool| {
            self.0
                .iter()
                .zip(goes_behind.clone())
                .filter(move |(_, goes)| *goes == behind)
                .map(|(module, _)| module)
        };
        part(false).chain(part(true)).collect()
    }

    /// Whether some module declares an `__nv_*` function that none defines; also where the reader
    /// lost track of a module, since libdevice too many costs a millisecond, and one too few a kernel.
    pub(super) fn need_libdevice(&self) -> bool {
        let is_libdevice = |symbol: &&Symbol| symbol.name.starts_with(b"__nv_");
        if self.0.iter().any(|module| !module.info.certain) {
            return true;
        }
        let mut wanted = self
            .0
            .iter()
            .flat_map(|module| module.info.symbols.iter())
            .filter(is_libdevice)
            .filter(|symbol| is_reference(symbol))
            .peekable();
        if wanted.peek().is_none() {
            return false;
        }
        let defined: HashSet<&[u8]> = self
            .0
            .iter()
            .flat_map(|module| module.info.visible_definitions())
            .filter(is_libdevice)
            .map(|symbol| symbol.name.as_slice())
            .collect();
        wanted.any(|symbol| !defined.contains(symbol.name.as_slice()))
    }

    /// The kernels that the result must have: functions that some eager module marks, and that one
    /// defines so that the linker keeps them.
    pub(super) fn kernels(&self) -> impl Iterator<Item = (&'a Module, &'a Symbol)> + use<'a> {
        let marked: HashSet<&[u8]> = self
            .eager()
            .flat_map(|module| module.info.kernels())
            .map(|kernel| kernel.name.as_slice())
            .collect();
        self.functions()
            .filter(move |(_, function)| marked.contains(function.name.as_slice()))
            .filter(|(_, function)| is_kept(function))
    }

    /// The functions that eager modules define.
    pub(super) fn functions(&self) -> impl Iterator<Item = (&'a Module, &'a Symbol)> + use<'a> {
        self.defined(SymbolKind::Function)
    }

    /// The variables that the modules define, lazy modules left out.
    pub(super) fn variables(&self) -> impl Iterator<Item = (&'a Module, &'a Symbol)> + use<'a> {
        self.defined(SymbolKind::Variable)
    }

    fn defined(
        &self,
        kind: SymbolKind,
    ) -> impl Iterator<Item = (&'a Module, &'a Symbol)> + use<'a> {
        self.eager().flat_map(move |module| {
            module
                .info
                .symbols
                .iter()
                .filter(move |symbol| symbol.kind == kind && symbol.defined)
                .map(move |symbol| (module, symbol))
        })
    }

    /// Who uses which names of others, to be asked when the modules are gone.
    pub(super) fn uses(&self) -> Uses {
        let module = |module: &Module| (module.name().to_owned(), module.info.clone());
        Uses {
            eager: self.eager().map(module).collect(),
            lazy: self.0.iter().filter(|m| m.lazy).map(module).collect(),
        }
    }

    /// Refuses a program that has nothing to compile.
    pub(super) fn check_not_empty(&self) -> Result<()> {
        if self.eager().next().is_some() {
            return Ok(());
        }
        let (problem, hint) = if self.0.is_empty() {
            ("the program has no module", "add one with `add_module`")
        } else {
            (
                "the program has lazy modules alone, and of those only what another module uses is \
                 compiled",
                "add the module with the kernels by `add_module`",
            )
        };
        Err(InvalidInput {
            input: "program".to_owned(),
            line: None,
            snippet: None,
            problem: problem.to_owned(),
            hint: hint.to_owned(),
        }
        .into())
    }
}

/// Which modules use names that others define.
#[derive(Debug)]
pub(super) struct Uses {
    eager: Vec<(String, Arc<ModuleInfo>)>,
    lazy: Vec<(String, Arc<ModuleInfo>)>,
}

impl Uses {
    /// The modules that use a name, each with its line where that is known; lazy ones only where no
    /// other does, since most of what is in them is not used.
    pub(super) fn of(&self, name: &str) -> Vec<String> {
        let uses = |(module, info): &(String, Arc<ModuleInfo>)| {
            let symbol = info.undefined().find(|s| s.name == name.as_bytes())?;
            Some(match symbol.line {
                Some(line) => format!("{module}:{line}"),
                None => module.clone(),
            })
        };
        let eager: Vec<String> = self.eager.iter().filter_map(uses).collect();
        if eager.is_empty() {
            self.lazy.iter().filter_map(uses).collect()
        } else {
            eager
        }
    }
}

/// Whether the linker keeps a function that nothing refers to, under a name that can be said.
pub(super) fn is_kept(function: &Symbol) -> bool {
    matches!(
        function.linkage,
        Linkage::External | Linkage::Weak | Linkage::WeakOdr
    ) && !function.name.is_empty()
}

/// A definition that stays in its module refers to nothing outside; a declaration does, and so does
/// a copy for the optimiser.
fn is_reference(symbol: &Symbol) -> bool {
    !symbol.defined || symbol.linkage == Linkage::AvailableExternally
}
