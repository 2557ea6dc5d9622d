//! What nvJitLink is asked to do.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::nvvm::{Dialect, OptLevel};

/// Options of one link.
///
/// A field that is `None` leaves the library's default. Every option that nvJitLink of CUDA 13.5
/// documents has a field; [`extra`](Options::extra) is for all others. The library refuses an option
/// that its version lacks.
///
/// ```
/// use cuda_program::link::Options;
///
/// let options = Options::new().max_registers(64).line_info(true);
/// assert_eq!(options.max_registers, Some(64));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Options {
    /// `-g`: full debugging information. Default: off.
    pub debug: bool,
    /// `-lineinfo`: line numbers for profilers. Default: off.
    pub line_info: bool,
    /// `-verbose`: what the assembler used, as notes. Default: off.
    pub verbose: bool,
    /// `-time`: how long the link took, as a note. Default: off.
    pub time: bool,
    /// `-lto`: link-time optimisation; set by itself where an input is LTO IR or the output is PTX or LTO IR. Default: off.
    pub lto: bool,
    /// `-r`: a partial link, whose result may lack definitions and is linked again. From nvJitLink 13.2 on. Default: off.
    pub relocatable: bool,
    /// `-optimize-unused-variables`: takes variables away that device code does not use, though host code may. Default: off.
    pub optimize_unused_variables: bool,
    /// `-no-cache`: keeps no intermediate steps. From nvJitLink 12.9 on. Default: off.
    pub no_cache: bool,
    /// `-device-stack-protector`: stack canaries in device code, which some libraries refuse. Default: off.
    pub device_stack_protector: bool,
    /// `-maxrregcount=…`: registers a thread may use. Default: the library's choice.
    pub max_registers: Option<u32>,
    /// `-O…`: how much is optimised. From nvJitLink 12.4 on. Default: 3.
    pub opt: Option<OptLevel>,
    /// `-Ofc=…`: trades speed of the code for speed of the link. From nvJitLink 12.9 on. Default: off.
    pub fast_compile: Option<FastCompile>,
    /// `-ftz=…`: flushes single-precision denormals to zero. Default: keep them.
    pub ftz: Option<bool>,
    /// `-prec-div=…`: IEEE single-precision division. Default: on.
    pub prec_div: Option<bool>,
    /// `-prec-sqrt=…`: the IEEE single-precision square root. Default: on.
    pub prec_sqrt: Option<bool>,
    /// `-fma=…`: contracts a multiply and an add into one. Default: on.
    pub fma: Option<bool>,
    /// `-split-compile=…`: threads to optimise with, 0 for all processors. From nvJitLink 12.4 on. Default: 1.
    pub split_compile: Option<u32>,
    /// `-split-compile-extended=…`: threads for the whole link of LTO IR, 0 for all processors; refused where the process writes a decimal comma, which those threads would read PTX with. From nvJitLink 12.4 on. Default: 1.
    pub split_compile_extended: Option<u32>,
    /// `-jump-table-density=…`: how dense the cases of a switch must be to become a jump table, in percent, 0 to 101. From nvJitLink 12.4 on. Default: 101, never.
    pub jump_table_density: Option<u8>,
    /// `-kernels-used=…`: each kernel that is used; where any is named, the others may be dropped.
    pub kernels_used: Vec<String>,
    /// `-variables-used=…`: each variable that host code uses; where any is named, the others may be dropped.
    pub variables_used: Vec<String>,
    /// `-Xptxas=…`: each flag of the assembler.
    pub ptxas: Vec<String>,
    /// `-nvvm-latest`, or not: by default where LTO IR of the newer dialect is linked for an
    /// architecture below sm_100.
    pub dialect: Dialect,
    /// Flags passed as they are, behind all others.
    pub extra: Vec<String>,
}

/// How much speed of the code a link gives up to be done sooner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FastCompile {
    /// `min`: hardly any.
    Min,
    /// `mid`: expensive optimisations are left out.
    Mid,
    /// `max`: most optimisations are left out.
    Max,
}

impl FastCompile {
    fn name(self) -> &'static str {
        match self {
            FastCompile::Min => "min",
            FastCompile::Mid => "mid",
            FastCompile::Max => "max",
        }
    }
}

fn level(opt: OptLevel) -> u8 {
    match opt {
        OptLevel::O0 => 0,
        OptLevel::O3 => 3,
    }
}

macro_rules! setters {
    ($($name:ident: $ty:ty => $wrap:expr;)*) => {
        $(
            #[doc = concat!("Sets [`", stringify!($name), "`](Options::", stringify!($name), ").")]
            #[must_use]
            pub fn $name(mut self, $name: $ty) -> Self {
                self.$name = $wrap($name);
                self
            }
        )*
    };
}

macro_rules! adders {
    ($($name:ident: $field:ident;)*) => {
        $(
            #[doc = concat!("Adds to [`", stringify!($field), "`](Options::", stringify!($field), ").")]
            #[must_use]
            pub fn $name(mut self, value: impl Into<String>) -> Self {
                self.$field.push(value.into());
                self
            }
        )*
    };
}

impl Options {
    /// The library's defaults.
    #[must_use]
    pub fn new() -> Self {
        Options::default()
    }

    setters! {
        debug: bool => std::convert::identity;
        line_info: bool => std::convert::identity;
        verbose: bool => std::convert::identity;
        time: bool => std::convert::identity;
        lto: bool => std::convert::identity;
        relocatable: bool => std::convert::identity;
        optimize_unused_variables: bool => std::convert::identity;
        no_cache: bool => std::convert::identity;
        device_stack_protector: bool => std::convert::identity;
        max_registers: u32 => Some;
        opt: OptLevel => Some;
        fast_compile: FastCompile => Some;
        ftz: bool => Some;
        prec_div: bool => Some;
        prec_sqrt: bool => Some;
        fma: bool => Some;
        split_compile: u32 => Some;
        split_compile_extended: u32 => Some;
        jump_table_density: u8 => Some;
        dialect: Dialect => std::convert::identity;
    }

    adders! {
        kernel_used: kernels_used;
        variable_used: variables_used;
        ptxas: ptxas;
        extra: extra;
    }

    /// The flags of the typed fields, without `-lto` and `-nvvm-latest`, which depend on the inputs.
    pub(super) fn flags(&self) -> Vec<String> {
        let mut flags = Vec::new();
        for (flag, set) in [
            ("-g", self.debug),
            ("-lineinfo", self.line_info),
            ("-verbose", self.verbose),
            ("-time", self.time),
            ("-r", self.relocatable),
            ("-optimize-unused-variables", self.optimize_unused_variables),
            ("-no-cache", self.no_cache),
            ("-device-stack-protector", self.device_stack_protector),
        ] {
            if set {
                flags.push(flag.to_owned());
            }
        }
        flags.extend(
            self.max_registers
                .map(|value| format!("-maxrregcount={}", value)),
        );
        flags.extend(self.opt.map(|value| format!("-O{}", level(value))));
        flags.extend(
            self.fast_compile
                .map(|value| format!("-Ofc={}", value.name())),
        );
        flags.extend(self.ftz.map(|value| format!("-ftz={}", u8::from(value))));
        flags.extend(
            self.prec_div
                .map(|value| format!("-prec-div={}", u8::from(value))),
        );
        flags.extend(
            self.prec_sqrt
                .map(|value| format!("-prec-sqrt={}", u8::from(value))),
        );
        flags.extend(self.fma.map(|value| format!("-fma={}", u8::from(value))));
        flags.extend(
            self.split_compile
                .map(|value| format!("-split-compile={}", value)),
        );
        flags.extend(
            self.split_compile_extended
                .map(|value| format!("-split-compile-extended={}", value)),
        );
        flags.extend(
            self.jump_table_density
                .map(|value| format!("-jump-table-density={}", value)),
        );
        flags.extend(
            self.kernels_used
                .iter()
                .map(|value| format!("-kernels-used={value}")),
        );
        flags.extend(
            self.variables_used
                .iter()
                .map(|value| format!("-variables-used={value}")),
        );
        flags.extend(self.ptxas.iter().map(|value| format!("-Xptxas={value}")));
        flags
    }

    /// Refuses what cannot be honoured.
    pub(super) fn check(&self) -> Result<()> {
        if let Some(percent) = self.jump_table_density.filter(|&percent| percent > 101) {
            return refuse(
                format!("`jump_table_density` is {percent}"),
                "it is a percentage from 0 to 101, where 101 means never",
            );
        }
        if self.opt.is_some() && self.fast_compile.is_some() {
            return refuse(
                "`opt` and `fast_compile` both say how much is optimised".to_owned(),
                "leave one of them out",
            );
        }
        if self.max_registers == Some(0) {
            return refuse(
                "`max_registers` is 0".to_owned(),
                "leave it out, or name a number",
            );
        }
        let threads = self.split_compile_extended.unwrap_or(1);
        if threads != 1 && !crate::guard::process_writes_a_point() {
            return refuse(
                "the process writes a decimal comma, and the threads of `split_compile_extended` \
                 would read numbers in PTX by it"
                    .to_owned(),
                "set LC_NUMERIC of the process to C, leave the option out, or link in another process",
            );
        }
        let named = self
            .kernels_used
            .iter()
            .chain(&self.variables_used)
            .chain(&self.ptxas);
        for value in named {
            if value.is_empty() || value.contains('\0') {
                return refuse(
                    format!("an option's value is {value:?}"),
                    "give a name or a flag without a NUL byte",
                );
            }
        }
        self.check_extra()
    }

    fn check_extra(&self) -> Result<()> {
        /// Each flag that has a field, and the field.
        const TYPED: &[(&str, &str)] = &[
            ("-g", "debug"),
            ("-lineinfo", "line_info"),
            ("-verbose", "verbose"),
            ("-time", "time"),
            ("-lto", "lto"),
            ("-r", "relocatable"),
            ("-optimize-unused-variables", "optimize_unused_variables"),
            ("-no-cache", "no_cache"),
            ("-device-stack-protector", "device_stack_protector"),
            ("-maxrregcount", "max_registers"),
            ("-O", "opt"),
            ("-Ofc", "fast_compile"),
            ("-ftz", "ftz"),
            ("-prec-div", "prec_div"),
            ("-prec-sqrt", "prec_sqrt"),
            ("-fma", "fma"),
            ("-split-compile", "split_compile"),
            ("-split-compile-extended", "split_compile_extended"),
            ("-jump-table-density", "jump_table_density"),
            ("-kernels-used", "kernels_used"),
            ("-variables-used", "variables_used"),
            ("-Xptxas", "ptxas"),
            ("-O0", "opt"),
            ("-O3", "opt"),
            ("-nvvm-latest", "dialect"),
        ];
        for flag in &self.extra {
            let name = flag.split_once('=').map_or(flag.as_str(), |(name, _)| name);
            let hint = match TYPED.iter().find(|(typed, _)| *typed == name) {
                Some((_, field)) => format!("set the field `{field}` instead"),
                None if name == "-arch" => "give the architecture to `Linker::new`".to_owned(),
                None if name == "-ptx" => "link to `Ptx` instead".to_owned(),
                None if flag.contains('\0') => "take the NUL byte out".to_owned(),
                None if !flag.starts_with('-') => "a flag begins with `-`".to_owned(),
                None if flag.trim() != flag => "take the blanks around it off".to_owned(),
                None => continue,
            };
            return Err(Error::InvalidOptions {
                problem: format!("`extra` holds {flag:?}"),
                hint,
            });
        }
        Ok(())
    }
}

fn refuse(problem: String, hint: &str) -> Result<()> {
    Err(Error::InvalidOptions {
        problem,
        hint: hint.to_owned(),
    })
}
