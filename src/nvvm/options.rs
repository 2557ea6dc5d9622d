//! What libNVVM is asked to do.

use serde::{Deserialize, Serialize};

use crate::arch::Arch;
use crate::artifact::IsaVersion;
use crate::error::{Error, Result};
use crate::options::{self, Instead, Known, setters};
use crate::promises::Externals;

/// Options of one compilation or verification.
///
/// A field that is `None` leaves the library's default. Every option that libNVVM of CUDA 13.5
/// documents has a field; [`extra`](Options::extra) is for all others.
///
/// ```
/// use cuda_program::{Arch, nvvm};
///
/// let options = nvvm::Options::new(Arch::SM_90).ftz(true).opt(nvvm::OptLevel::O3);
/// assert_eq!(options.ftz, Some(true));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// `-arch=compute_…`: the GPU architecture to compile for.
    pub arch: Arch,
    /// `-g`: full debugging information, from the debug metadata of the modules. Valid without
    /// optimisation alone, so it brings `-opt=0` along. Default: off.
    #[serde(default)]
    pub debug: bool,
    /// `-opt=0` or `-opt=3`. Default: 3.
    #[serde(default)]
    pub opt: Option<OptLevel>,
    /// `-ftz=1`: flush single-precision denormals to zero. Default: keep them.
    #[serde(default)]
    pub ftz: Option<bool>,
    /// `-prec-sqrt=0`: a faster approximation of the single-precision square root. Default: IEEE.
    #[serde(default)]
    pub prec_sqrt: Option<bool>,
    /// `-prec-div=0`: a faster approximation of single-precision division. Default: IEEE.
    #[serde(default)]
    pub prec_div: Option<bool>,
    /// `-fma=0`: no contraction of a multiply and an add into one. Default: contract.
    #[serde(default)]
    pub fma: Option<bool>,
    /// `-jump-table-density=…`: how dense the cases of a switch must be to become a jump table, in
    /// percent, 0 to 101. Default: 101, never. Not in libNVVM 12.0.
    #[serde(default)]
    pub jump_table_density: Option<u8>,
    /// `-ptx-version-target=…`: the PTX ISA version to write, for a driver that reads no newer one.
    /// Default: the newest that the library writes. From libNVVM 13.1 on, and below compute_100 by
    /// the newer NVVM alone, which [`Dialect::Auto`] then picks.
    #[serde(default)]
    pub ptx_version: Option<IsaVersion>,
    /// `-nvvm-latest`, or not: which of the library's two compilers reads the modules.
    #[serde(default)]
    pub dialect: Dialect,
    /// What is mended in a module of text before the library sees it. Default: [`Repair::Safe`].
    #[serde(default)]
    pub repair: Repair,
    /// What PTX may refer to that no module defines. Default: [`Externals::Refuse`], since a GPU would
    /// refuse to load it. Where a link follows, name what it brings, or allow all. LTO IR may refer to
    /// anything in any case: it is there to be linked. Functions `__nv_*` are besides allowed where
    /// libdevice is [`Never`](super::Libdevice::Never).
    #[serde(default)]
    pub externals: Externals,
    /// Functions besides the kernels that must survive a later LTO link, by name. Each must be
    /// defined with external linkage by a module added with `add_module`. PTX has all of those in
    /// any case.
    #[serde(default)]
    pub keep: Vec<String>,
    /// Flags passed as they are, behind all others.
    #[serde(default)]
    pub extra: Vec<String>,
}

/// How much the compiler optimises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum OptLevel {
    /// `-opt=0`: not at all.
    O0,
    /// `-opt=3`: the default.
    O3,
}

/// Which of the two compilers inside libNVVM reads the modules.
///
/// For architectures below compute_100 libNVVM reads the IR of LLVM 7 (typed pointers); from
/// compute_100 on, and below it with the newer NVVM that 13.x libraries bring, that of a current
/// LLVM, which reads typed pointers too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Dialect {
    /// The library's own choice, but the newer NVVM where a module or an option needs it.
    #[default]
    Auto,
    /// Never the newer NVVM below compute_100.
    Legacy,
    /// `-nvvm-latest`: the newer NVVM on every architecture.
    Latest,
}

/// What may be mended in modules of text before the library sees them.
///
/// libNVVM refuses modules of other compilers (clang, rustc) for what does not change what they mean.
/// Such a module compiles nowhere as it is, so mending is the default; each repair is a diagnostic of
/// what comes out. Bitcode is never mended: its writer must do it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Repair {
    /// Nothing: a module is given to the library as it is, or refused with what to do.
    Off,
    /// What changes no program: a missing `!nvvmir.version` or target triple is added; a data layout
    /// that is missing, or says the same for the module in other words, becomes that of libNVVM;
    /// `target` lines go to the top, where a current LLVM wants them; `spFlags` of debug metadata are
    /// written as LLVM 7 reads them; and names that PTX cannot spell are respelt in all modules, where
    /// all that have them are text. What was respelt is found by the old name, as in
    /// `ptx.kernel_for("a.b")`.
    #[default]
    Safe,
}

impl Options {
    /// The library's defaults for an architecture.
    #[must_use]
    pub fn new(arch: Arch) -> Self {
        Options {
            arch,
            debug: false,
            opt: None,
            ftz: None,
            prec_sqrt: None,
            prec_div: None,
            fma: None,
            jump_table_density: None,
            ptx_version: None,
            dialect: Dialect::Auto,
            repair: Repair::Safe,
            externals: Externals::Refuse,
            keep: Vec::new(),
            extra: Vec::new(),
        }
    }

    setters! {
        debug: bool => std::convert::identity;
        opt: OptLevel => Some;
        ftz: bool => Some;
        prec_sqrt: bool => Some;
        prec_div: bool => Some;
        fma: bool => Some;
        jump_table_density: u8 => Some;
        ptx_version: IsaVersion => Some;
        dialect: Dialect => std::convert::identity;
        repair: Repair => std::convert::identity;
        externals: Externals => std::convert::identity;
    }

    /// Adds a name to those that [`externals`](Options::externals) allows.
    #[must_use]
    pub fn external(mut self, name: impl Into<String>) -> Self {
        self.externals = self.externals.and(name.into());
        self
    }

    /// Adds a name to [`keep`](Options::keep).
    #[must_use]
    pub fn keep(mut self, name: impl Into<String>) -> Self {
        self.keep.push(name.into());
        self
    }

    /// Adds a flag to [`extra`](Options::extra).
    #[must_use]
    pub fn extra(mut self, flag: impl Into<String>) -> Self {
        self.extra.push(flag.into());
        self
    }

    /// The flags of the typed fields, without those that depend on the modules or the library.
    pub(super) fn flags(&self) -> Vec<String> {
        let bit = |value: bool| u8::from(value);
        let mut flags = vec![format!("-arch={}", self.arch.compute())];
        if self.debug {
            flags.push("-g".to_owned());
        }
        match self.opt {
            Some(OptLevel::O0) => flags.push("-opt=0".to_owned()),
            Some(OptLevel::O3) => flags.push("-opt=3".to_owned()),
            None if self.debug => flags.push("-opt=0".to_owned()),
            None => {}
        }
        for (name, value) in [
            ("ftz", self.ftz),
            ("prec-sqrt", self.prec_sqrt),
            ("prec-div", self.prec_div),
            ("fma", self.fma),
        ] {
            flags.extend(value.map(|value| format!("-{name}={}", bit(value))));
        }
        flags.extend(
            self.jump_table_density
                .map(|percent| format!("-jump-table-density={percent}")),
        );
        flags
    }

    /// Refuses what the documentation rules out, and what the library would ignore without a word.
    pub(super) fn check(&self, lto: bool) -> Result<()> {
        let refuse = |problem: &str, hint: &str| Err(Error::invalid_options(problem, hint));
        if self.debug && self.opt == Some(OptLevel::O3) {
            return refuse(
                "`debug` (-g) is valid without optimisation alone, and `opt` is O3",
                "set `opt` to O0 or leave it out, or leave `debug` out",
            );
        }
        options::check_jump_table_density("jump_table_density", self.jump_table_density)?;
        if let Some(version) = self.ptx_version.filter(|version| version.minor > 9) {
            return refuse(
                &format!("`ptx_version` is {version}"),
                "the library takes one digit behind the point, as in 8.6",
            );
        }
        if lto && self.ptx_version.is_some() {
            return refuse(
                "`ptx_version` says nothing about LTO IR",
                "ask for the PTX version where PTX is made of it, at the link",
            );
        }
        if self.ptx_version.is_some() && self.dialect == Dialect::Legacy && self.arch < Arch::SM_100
        {
            return refuse(
                "`ptx_version` is honoured below compute_100 by the newer NVVM alone, and `dialect` \
                 is Legacy",
                "set `dialect` to Auto or Latest, or leave `ptx_version` out",
            );
        }
        if self.dialect == Dialect::Legacy && self.arch >= Arch::SM_100 {
            return refuse(
                &format!(
                    "the LLVM 7 dialect is not there for {}",
                    self.arch.compute()
                ),
                "it ends below compute_100: set `dialect` to Auto",
            );
        }
        options::check_extra(&self.extra, FLAGS)
    }
}

const FLAGS: Known = &[
    (&["arch"], Instead::Field("arch")),
    (&["g"], Instead::Field("debug")),
    (&["opt"], Instead::Field("opt")),
    (&["ftz"], Instead::Field("ftz")),
    (&["prec-sqrt"], Instead::Field("prec_sqrt")),
    (&["prec-div"], Instead::Field("prec_div")),
    (&["fma"], Instead::Field("fma")),
    (
        &["jump-table-density"],
        Instead::Field("jump_table_density"),
    ),
    (&["ptx-version-target"], Instead::Field("ptx_version")),
    (&["nvvm-latest"], Instead::Field("dialect")),
    (
        &["gen-lto", "lto"],
        Instead::Do("compile to `LtoIr` instead"),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_that_a_field_becomes_is_refused_among_the_extra_ones() {
        let mut flags = Options::new(Arch::SM_90)
            .debug(true)
            .opt(OptLevel::O0)
            .ftz(true)
            .prec_sqrt(false)
            .prec_div(false)
            .fma(true)
            .jump_table_density(5)
            .flags();
        // Those that depend on the modules and the library.
        flags.extend(["-ptx-version-target=86", "-nvvm-latest"].map(str::to_owned));
        options::tests::assert_fields_are_known(&flags, FLAGS);
    }
}
