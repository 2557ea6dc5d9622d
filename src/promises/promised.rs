//! From the library's bytes to an artifact.

use std::collections::BTreeMap;

use super::externals::Externals;
use crate::arch::{Arch, Suffix};
use crate::artifact::symbol::Symbol;
use crate::artifact::{Cubin, CubinParameter, ExternSymbol, IsaVersion, LtoIr, Ptx};
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::{Error, Library, Result, Unresolved, UnresolvedSymbol};

/// What is asked of a name, where it is needed.
type Asked<'a, T> = Box<dyn Fn(&str) -> T + 'a>;

/// What was promised of a result, by its compiler or linker and by what went in.
pub(crate) struct Promised<'a> {
    /// Who says that it succeeded.
    pub(crate) library: &'a Library,
    /// Whether that is a linker, so that the kernels were there before.
    pub(crate) linked: bool,
    pub(crate) arch: Arch,
    /// The version of PTX, where one was asked for.
    pub(crate) isa_version: Option<IsaVersion>,
    /// The kernels that must be there.
    pub(crate) kernels: Vec<String>,
    /// Whether those are all of them.
    pub(crate) all_kernels: bool,
    pub(crate) externals: &'a Externals,
    /// Whether another link is to bring the functions of libdevice, `__nv_…`.
    pub(crate) libdevice_elsewhere: bool,
    /// Who uses a name that nothing defines, as messages call them.
    pub(crate) users: Asked<'a, Vec<String>>,
    /// What to do about such a name.
    pub(crate) remedy: Asked<'a, String>,
    pub(crate) empty: Empty,
    /// The names that became others.
    pub(crate) lowered: BTreeMap<String, String>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// What to make of code with nothing to launch or to link with, and what to do then.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Empty {
    Taken,
    Told(&'static str),
    Refused(&'static str),
}

/// What a kernel may declare of shared memory, in bytes.
const STATIC_SHARED: u64 = 48 * 1024;

const UNSPELT: &str = "see whether a name in the code holds a character that PTX cannot spell";

impl Promised<'_> {
    /// PTX that holds what was promised.
    pub(crate) fn ptx(mut self, bytes: Vec<u8>) -> Result<Ptx> {
        self.some("PTX", &bytes)?;
        let ptx = match Ptx::from_bytes(bytes) {
            Ok(ptx) => ptx,
            // An intrinsic that the library does not know is called by its name, which has points as
            // no name in PTX has.
            Err(Error::InvalidInput(e)) if e.problem.starts_with("`llvm.") => {
                let name = e.problem.split('`').nth(1).unwrap_or_default();
                return Err(self.unknown_intrinsics(name));
            }
            Err(Error::InvalidInput(e)) => {
                return Err(self.wrong(format!("its PTX is wrong: {}", e.problem), &e.hint));
            }
            Err(e) => {
                return Err(self.wrong(format!("its PTX cannot be read: {e}"), UNSPELT));
            }
        };
        self.kernels("PTX", |name| ptx.kernel(name).is_some())?;
        self.nothing_undefined("PTX", ptx.externs())?;
        // `compute_90` is `sm_90` there, and a letter stays.
        if ptx.target() != self.arch {
            return Err(self.other_arch("PTX", ptx.target()));
        }
        let written = ptx.isa_version();
        if let Some(asked) = self.isa_version.filter(|asked| *asked != written) {
            return Err(self.wrong(
                format!("the PTX is of version {written}, not {asked} as asked for"),
                "ask for a version that the library writes",
            ));
        }
        let is_empty = ptx.kernels().is_empty()
            && ptx.functions().is_empty()
            && !ptx.symbols().iter().any(Symbol::is_strong);
        self.not_empty("PTX", is_empty)?;
        // Code that may refer to others is code to link with.
        let whole = matches!(self.externals, Externals::Refuse);
        if whole && !is_empty && ptx.kernels().is_empty() {
            self.tell(
                Severity::Note,
                "the PTX has no kernel that could be launched",
            );
        }
        self.no_error_said()?;
        Ok(ptx
            .with_lowered_names(self.lowered)
            .with_diagnostics(self.diagnostics))
    }

    /// A cubin that holds what was promised.
    pub(crate) fn cubin(mut self, bytes: Vec<u8>) -> Result<Cubin> {
        self.some("cubin", &bytes)?;
        let size = bytes.len();
        let cubin = match Cubin::from_bytes(bytes) {
            Ok(cubin) => cubin,
            Err(e) => {
                let problem = format!("its {size} bytes are no cubin: {e}");
                return Err(self.wrong(problem, "see that something in it defines a kernel"));
            }
        };
        self.kernels("cubin", |name| cubin.kernel(name).is_some())?;
        self.nothing_undefined("cubin", cubin.undefined())?;
        self.same_number("cubin", cubin.arch())?;
        // A compiler's cubin may have functions for itself alone, which debuggers show; of a link
        // something was to come out.
        let is_empty = cubin.kernels().is_empty()
            && !cubin.defines()
            && (self.linked || cubin.functions().is_empty());
        self.not_empty("cubin", is_empty)?;
        self.loadable(&cubin)?;
        self.no_error_said()?;
        Ok(cubin
            .with_lowered_names(self.lowered)
            .with_diagnostics(self.diagnostics))
    }

    /// LTO IR that holds what was promised, as far as its header tells; what is in it, and what it
    /// refers to, the link sees.
    pub(crate) fn lto_ir(mut self, bytes: Vec<u8>) -> Result<LtoIr> {
        self.some("LTO IR", &bytes)?;
        let lto = match LtoIr::new("LTO IR", bytes, self.kernels.clone(), Some(self.arch)) {
            Ok(lto) => lto,
            Err(e) => {
                return Err(self.wrong(
                    format!("its LTO IR cannot be read: {e}"),
                    "report it with the inputs that show it",
                ));
            }
        };
        if let Some(written) = lto.arch_in_header() {
            self.same_number("LTO IR", written)?;
        }
        let lto = if self.all_kernels {
            lto.with_kernels(self.kernels)
        } else {
            lto
        };
        Ok(lto
            .with_lowered_names(self.lowered)
            .with_diagnostics(self.diagnostics))
    }

    fn some(&mut self, kind: &str, bytes: &[u8]) -> Result<()> {
        if !bytes.is_empty() {
            return Ok(());
        }
        Err(self.wrong(
            format!("it gave 0 bytes of {kind}"),
            "leave the flags in `extra` out, and try another version of the library",
        ))
    }

    fn kernels(&mut self, kind: &str, has: impl Fn(&str) -> bool) -> Result<()> {
        let missing = self.kernels.iter().filter(|name| !has(name));
        let kernels: Vec<String> = missing.cloned().collect();
        if kernels.is_empty() {
            return Ok(());
        }
        if self.linked {
            return Err(Error::KernelsDropped {
                kernels,
                library: self.library.clone(),
                diagnostics: std::mem::take(&mut self.diagnostics),
            });
        }
        Err(self.wrong(
            format!("the {kind} lacks the kernels {}", kernels.join(", ")),
            "see that each is a function that returns void and is marked as a kernel",
        ))
    }

    fn nothing_undefined(&mut self, kind: &str, externs: &[ExternSymbol]) -> Result<()> {
        let names = externs.iter().map(|symbol| symbol.name.as_str());
        let intrinsics: Vec<&str> = names.filter(|name| name.starts_with("llvm.")).collect();
        if !intrinsics.is_empty() {
            return Err(self.unknown_intrinsics(&intrinsics.join(", ")));
        }
        let elsewhere = |name: &str| self.libdevice_elsewhere && name.starts_with("__nv_");
        let symbols: Vec<UnresolvedSymbol> = externs
            .iter()
            .filter(|symbol| !self.externals.allow(symbol) && !elsewhere(&symbol.name))
            .map(|symbol| UnresolvedSymbol {
                name: symbol.name.clone(),
                used_by: (self.users)(&symbol.name),
                hint: (self.remedy)(&symbol.name),
            })
            .collect();
        if symbols.is_empty() {
            return Ok(());
        }
        Err(Unresolved {
            kind: kind.to_owned(),
            symbols,
            library: self.library.clone(),
            diagnostics: std::mem::take(&mut self.diagnostics),
        }
        .into())
    }

    /// What is read from a header lacks an `f`, and calls 110 as it was called before CUDA 13.
    fn same_number(&mut self, kind: &str, written: Arch) -> Result<()> {
        let bound = |arch: Arch| arch.suffix() == Suffix::ArchSpecific;
        // A link takes the letter from its inputs: without one, the code runs there all the same.
        let fits = match (bound(self.arch), bound(written)) {
            (true, false) => self.linked,
            (asked, written) => asked == written,
        };
        if written.is_same_chip(self.arch) && fits {
            return Ok(());
        }
        Err(self.other_arch(kind, written))
    }

    fn other_arch(&mut self, kind: &str, written: Arch) -> Error {
        let problem = format!(
            "the {kind} is for {written}, not {} as asked for",
            self.arch
        );
        self.wrong(
            problem,
            "leave flags that say an architecture out of `extra`",
        )
    }

    fn not_empty(&mut self, kind: &str, is_empty: bool) -> Result<()> {
        match self.empty {
            Empty::Told(_) if is_empty => {
                let text = format!("the {kind} has no kernel, and no function either");
                self.tell(Severity::Warning, &text);
                Ok(())
            }
            Empty::Refused(hint) if is_empty => {
                Err(self.wrong(format!("the {kind} has nothing in it"), hint))
            }
            _ => Ok(()),
        }
    }

    /// Device functions alone may be meant; where they are not, it is said what a kernel is.
    fn tell(&mut self, severity: Severity, text: &str) {
        if let Empty::Told(hint) = self.empty {
            let mut said = Diagnostic::new(severity, text);
            said.hint = Some(hint.to_owned());
            self.diagnostics.push(said);
        }
    }

    /// A linker said no error beside its success, and no warning that amounts to one: some it only says.
    fn no_error_said(&mut self) -> Result<()> {
        if !self.linked {
            return Ok(());
        }
        let amounts_to_one = |said: &&Diagnostic| {
            said.severity == Severity::Error || said.message.contains("Unresolved extern variable")
        };
        let Some(said) = self.diagnostics.iter().find(amounts_to_one) else {
            return Ok(());
        };
        let problem = format!("it said: {}", said.without_severity());
        let hint = said.hint.clone();
        let hint = hint
            .as_deref()
            .unwrap_or("mend the input that it speaks of");
        Err(self.wrong(problem, hint))
    }

    /// The driver can load it: the linker merges kernels of one name into what no launch can serve, and
    /// older ones do not count shared memory.
    fn loadable(&mut self, cubin: &Cubin) -> Result<()> {
        let greedy = cubin
            .kernels()
            .iter()
            .find(|k| k.shared_bytes > STATIC_SHARED);
        if let Some(kernel) = greedy {
            let problem = format!(
                "the kernel {} declares {} bytes of shared memory, and no more than {STATIC_SHARED} \
                 can be declared",
                kernel.name, kernel.shared_bytes
            );
            let hint = "declare less, or declare it `extern` and ask for it at the launch";
            return Err(self.wrong(problem, hint));
        }
        let overlaps = |parameters: &[CubinParameter]| {
            let mut places: Vec<(u32, u32)> =
                parameters.iter().map(|p| (p.offset, p.size)).collect();
            places.sort_unstable();
            places.windows(2).any(|two| match two {
                [(from, size), (next, _)] => from.saturating_add(*size) > *next,
                _ => false,
            })
        };
        if let Some(kernel) = cubin.kernels().iter().find(|k| overlaps(&k.parameters)) {
            let problem = format!(
                "the kernel {} has parameters that lie over each other, as where two inputs define it",
                kernel.name
            );
            return Err(self.wrong(problem, "take one of the definitions out, or rename it"));
        }
        Ok(())
    }

    fn unknown_intrinsics(&mut self, names: &str) -> Error {
        self.wrong(
            format!("it does not know {names}, and left it unresolved"),
            "correct the name, or call a function of libdevice (`__nv_…`) instead",
        )
    }

    fn wrong(&mut self, problem: String, hint: &str) -> Error {
        Error::WrongOutput {
            problem,
            hint: hint.to_owned(),
            library: self.library.clone(),
            diagnostics: std::mem::take(&mut self.diagnostics),
        }
    }
}
