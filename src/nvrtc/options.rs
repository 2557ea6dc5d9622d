//! What NVRTC is asked to do.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::bundle::BundledHeaders;
use crate::arch::Arch;
use crate::promises::Externals;

/// Options of one compilation, in groups. A field that is `None` or empty leaves the library's
/// default.
///
/// ```
/// use cuda_program::{Arch, nvrtc};
///
/// let mut options = nvrtc::Options::new(Arch::SM_90);
/// options.code.fast_math = true;
/// options.preprocessor.define("TILE", "32");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// `--gpu-architecture=…`, spelt `sm_…` for a cubin and `compute_…` for PTX and LTO IR.
    pub arch: Arch,
    /// How code is made.
    #[serde(default)]
    pub code: CodeGeneration,
    /// Macros and headers.
    #[serde(default)]
    pub preprocessor: Preprocessor,
    /// The language of the source.
    #[serde(default)]
    pub language: Language,
    /// What the compiler says.
    #[serde(default)]
    pub diagnostics: Diagnostics,
    /// Information for debuggers and profilers.
    #[serde(default)]
    pub debug: Debugging,
    /// Precompiled headers.
    #[serde(default)]
    pub pch: Pch,
    /// `--fdevice-time-trace=…`: the file, with a name that ends in `.json`, for a trace of where the
    /// compiler's time goes. From NVRTC 12.9 on.
    #[serde(default)]
    pub time_trace: Option<PathBuf>,
    /// `--time=…`: the file that a table of the compiler's phases and their times, as CSV, is added
    /// to; `-` is the log, and so a note among the diagnostics. From NVRTC 12.4 on.
    #[serde(default)]
    pub timings: Option<PathBuf>,
    /// Flags passed as they are, behind all others.
    #[serde(default)]
    pub extra: Vec<String>,
}

/// How code is made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[serde(deny_unknown_fields)]
pub struct CodeGeneration {
    /// `--relocatable-device-code=true`: code that a linker finishes. Default: off.
    pub relocatable: bool,
    /// `--extensible-whole-program`. Default: off.
    pub extensible_whole_program: bool,
    /// What PTX and cubins may refer to that the source does not define. Default:
    /// [`Externals::Allow`] with `relocatable` and with `extensible_whole_program`, whose code a linker
    /// finishes, and [`Externals::Refuse`] without: a GPU would refuse to load it. LTO IR may refer to
    /// anything in any case.
    pub externals: Option<Externals>,
    /// `--maxrregcount=…`: the most registers a function may use, 1 at least. Refused for everything but
    /// [`Cubin`](crate::Cubin), since PTX and LTO IR do not hold it: give it to what finishes them.
    pub max_registers: Option<u32>,
    /// `--ftz=…`: flush single-precision denormals to zero. Default: keep them.
    pub ftz: Option<bool>,
    /// `--prec-sqrt=…`: the square root of IEEE, not an approximation. Default: on.
    pub prec_sqrt: Option<bool>,
    /// `--prec-div=…`: the division of IEEE, not an approximation. Default: on.
    pub prec_div: Option<bool>,
    /// `--fmad=…`: contract a multiply and an add into one. Default: on.
    pub fmad: Option<bool>,
    /// `--use_fast_math`. Default: off.
    pub fast_math: bool,
    /// `--ffinite-math-only`: take it that no value is infinite or no number. From NVRTC 13.5 on.
    /// Default: off.
    pub finite_math: bool,
    /// `--fno-signed-zeros`: take it that the sign of a zero does not matter. From NVRTC 13.5 on.
    /// Default: off.
    pub no_signed_zeros: bool,
    /// `--extra-device-vectorization`. Default: off.
    pub extra_vectorization: bool,
    /// `--ptxas-options=…`, one flag each. Refused for everything but [`Cubin`](crate::Cubin): ptxas
    /// makes nothing else.
    pub ptxas: Vec<String>,
    /// `--split-compile=…`: threads for the optimiser, at most 4,096; 0 for one a processor.
    pub split_compile: Option<u32>,
    /// `--gen-opt-lto`: optimise before the LTO IR is written. Refused for everything but
    /// [`LtoIr`](crate::LtoIr). Default: off.
    pub optimised_lto: bool,
    /// `--Ofast-compile=…`. From NVRTC 12.9 on.
    pub fast_compile: Option<FastCompile>,
    /// `--jump-table-density=…`, in percent, 0 to 101. From NVRTC 12.4 on.
    pub jump_table_density: Option<u8>,
    /// `--device-stack-protector=…`. From NVRTC 12.9 on.
    pub stack_protector: Option<bool>,
    /// `--frandom-seed=…`: the seed of names that are made up. From NVRTC 12.9 on.
    pub random_seed: Option<String>,
    /// `--no-cache`: do without the compiler's own cache. From NVRTC 12.9 on.
    pub no_cache: bool,
}

impl CodeGeneration {
    /// What may stay undefined.
    pub(super) fn allowed_externals(&self) -> &Externals {
        match &self.externals {
            Some(externals) => externals,
            None if self.relocatable || self.extensible_whole_program => &Externals::Allow,
            None => &Externals::Refuse,
        }
    }
}

/// How much is given up for a fast compilation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FastCompile {
    /// `0`: nothing, the default.
    Off,
    /// `min`: little.
    Min,
    /// `mid`: more.
    Mid,
    /// `max`: most.
    Max,
}

/// Macros and headers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[serde(deny_unknown_fields)]
pub struct Preprocessor {
    /// `--define-macro=…`: each a name, or a name, `=` and a value.
    pub defines: Vec<String>,
    /// `--undefine-macro=…`.
    pub undefines: Vec<String>,
    /// `--include-path=…`, in the order of the search.
    pub include_folders: Vec<PathBuf>,
    /// `--pre-include=…`: headers included before the source.
    pub pre_includes: Vec<String>,
    /// `--no-source-include`: do not look in the folder of the source. Default: off.
    pub no_source_include: bool,
    /// Whether the include folders of NVRTC's own toolkit are searched, last. Default: yes.
    pub toolkit_headers: bool,
    /// The headers that NVRTC carries inside, from 13.3 on. Default: not used.
    pub bundled_headers: BundledHeaders,
}

impl Default for Preprocessor {
    fn default() -> Self {
        Preprocessor {
            defines: Vec::new(),
            undefines: Vec::new(),
            include_folders: Vec::new(),
            pre_includes: Vec::new(),
            no_source_include: false,
            toolkit_headers: true,
            bundled_headers: BundledHeaders::Off,
        }
    }
}

impl Preprocessor {
    /// Adds a macro with its value to [`defines`](Preprocessor::defines).
    pub fn define(&mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> &mut Self {
        self.defines
            .push(format!("{}={}", name.as_ref(), value.as_ref()));
        self
    }
}

/// The language of the source.
///
/// There is no field for `--restrict`: from NVRTC 12.4 on a compilation with it makes all later ones
/// of the process, whoever's they are, take it that pointers do not overlap. `__restrict__` on the
/// pointers does the same for their kernel alone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[serde(deny_unknown_fields)]
pub struct Language {
    /// `--std=…`. Default: C++17.
    pub standard: Option<Standard>,
    /// `--builtin-move-forward=…`. Default: on.
    pub builtin_move_forward: Option<bool>,
    /// `--builtin-initializer-list=…`. Default: on.
    pub builtin_initializer_list: Option<bool>,
    /// `--device-as-default-execution-space`: functions without a mark are for the device.
    pub device_by_default: bool,
    /// `--device-int128`: the type `__int128`.
    pub int128: bool,
    /// `--device-float128`: the type `__float128`, from sm_100 and NVRTC 12.9 on.
    pub float128: bool,
    /// `--minimal`: leave language features out for speed. From NVRTC 12.4 on.
    pub minimal: bool,
}

/// A version of C++.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Standard {
    /// `c++03`.
    Cpp03,
    /// `c++11`.
    Cpp11,
    /// `c++14`.
    Cpp14,
    /// `c++17`.
    Cpp17,
    /// `c++20`.
    Cpp20,
    /// `c++23`: from NVRTC 13.5 on.
    Cpp23,
}

/// What the compiler says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[serde(deny_unknown_fields)]
pub struct Diagnostics {
    /// `--disable-warnings`. Default: off.
    pub disable_warnings: bool,
    /// `--diag-error=…`: messages, by number, that become errors.
    pub errors: Vec<u32>,
    /// `--diag-suppress=…`: messages that are left out.
    pub suppress: Vec<u32>,
    /// `--diag-warn=…`: messages that become warnings.
    pub warnings: Vec<u32>,
    /// `--optimization-info=inline`: remarks on inlining. Default: off.
    pub inline_remarks: bool,
    /// `--display-error-number`, or `--no-display-error-number`. Default: shown.
    pub error_numbers: Option<bool>,
    /// `--brief-diagnostics=…`: without the line of the source. From NVRTC 12.4 on.
    pub brief: Option<bool>,
    /// `--Wreorder`: warn of members that are initialised in another order than written. From NVRTC
    /// 13.5 on.
    pub reorder: bool,
    /// `--Wconversion`: warn of conversions between numbers that may lose some. From NVRTC 13.5 on.
    pub conversion: bool,
    /// `--warning-as-error=…`: warnings that become errors. From NVRTC 13.5 on.
    pub warnings_as_errors: Vec<WarningKind>,
    /// `--fmax-errors=…`: end after so many errors, 1 at least. From NVRTC 13.5 on.
    pub max_errors: Option<u32>,
    /// `--version-ident=…`: the compiler's version in the output. It can be switched off alone: the line
    /// that it writes is none that compilers of PTX read.
    pub version_ident: Option<bool>,
}

/// Warnings that can become errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum WarningKind {
    /// `all-warnings`: every one.
    AllWarnings,
    /// `reorder`: those of [`reorder`](Diagnostics::reorder).
    Reorder,
    /// `deprecated-declarations`: uses of what is deprecated.
    DeprecatedDeclarations,
    /// `conversion`: those of [`conversion`](Diagnostics::conversion).
    Conversion,
}

/// Information for debuggers and profilers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[serde(deny_unknown_fields)]
pub struct Debugging {
    /// `--device-debug`: full debugging information. Default: off.
    pub full: bool,
    /// `--generate-line-info`: lines of the source for profilers. Default: off.
    pub line_info: bool,
    /// `--dopt=on`: optimise all the same where [`full`](Debugging::full) is set.
    pub optimised: bool,
    /// `--numba-debug`, which [`full`](Debugging::full) goes with: the form of debugging information
    /// that Numba asks for. From NVRTC 13.5 on.
    pub numba: bool,
}

/// Precompiled headers, from NVRTC 12.9 on.
///
/// The library uses one only in the process that made it, and only until its heap for them changes
/// size; where one does not fit the compilation, it compiles without and says so in a warning. It
/// does not look whether headers have changed, but the crate does: where a header in memory or a
/// file on disk is another than it was, a precompiled one is made anew or refused. A header that
/// newly appears in a folder searched before is not noticed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[serde(deny_unknown_fields)]
pub struct Pch {
    /// What is done with them.
    pub mode: PchMode,
    /// Where files with relative names lie, and where [`Automatic`](PchMode::Automatic) makes a folder
    /// of its own. Default: the current folder, and that for temporary files.
    pub folder: Option<PathBuf>,
    /// `--pch-verbose=…`: say why one was not used. Default: on.
    pub verbose: Option<bool>,
    /// `--pch-messages=…`: say that one was made or used. Default: on.
    pub messages: Option<bool>,
    /// `--instantiate-templates-in-pch=…`. Default: on.
    pub instantiate_templates: Option<bool>,
}

/// What is done with precompiled headers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PchMode {
    /// Nothing.
    #[default]
    Off,
    /// `--pch`: one that this program made is used where it fits, else one is made.
    ///
    /// They lie in a folder that only the same user may enter. Each program has its own, so that it
    /// is never shared with another program, process or forked child; it goes away with the program.
    Automatic,
    /// `--create-pch=…`: one is made in this file, which another thread finds whole or not at all.
    ///
    /// Beside it lies a file `….made-by` that says what it was made of.
    Create(PathBuf),
    /// `--use-pch=…`: the one in this file is used, by this or another program.
    ///
    /// It is looked at before: a file that [`Create`](PchMode::Create) did not make in this process,
    /// that has changed since, or whose headers have changed, is refused. A damaged one would end the
    /// process.
    Use(PathBuf),
}

impl Options {
    /// The library's defaults for an architecture.
    #[must_use]
    pub fn new(arch: Arch) -> Self {
        Options {
            arch,
            code: CodeGeneration::default(),
            preprocessor: Preprocessor::default(),
            language: Language::default(),
            diagnostics: Diagnostics::default(),
            debug: Debugging::default(),
            pch: Pch::default(),
            time_trace: None,
            timings: None,
            extra: Vec::new(),
        }
    }
}
