//! GPU architectures by name: `sm_90a`, `compute_100f`.
//!
//! A name is checked here before any of NVIDIA's libraries sees it, because one of them ends the
//! whole process over a name that it does not know.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};

/// Which features beyond the portable ones an [`Arch`] asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Suffix {
    /// No letter: portable features alone, as in `sm_90`.
    None,
    /// `a`: features that no other architecture promises to have, as in `sm_90a`.
    ArchSpecific,
    /// `f`: features that the later members of the same family keep, as in `sm_100f`.
    FamilySpecific,
}

impl Suffix {
    /// The letter as names carry it: empty, `a` or `f`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Suffix::None => "",
            Suffix::ArchSpecific => "a",
            Suffix::FamilySpecific => "f",
        }
    }

    /// The first architecture that has names with this letter.
    const fn first(self) -> u16 {
        match self {
            Suffix::None => OLDEST,
            Suffix::ArchSpecific => 90,
            Suffix::FamilySpecific => 100,
        }
    }
}

/// A GPU architecture, as a compilation target or as what a device is.
///
/// `sm_90a` and `compute_90a` are two spellings of one `Arch`: libNVVM and NVRTC are told the
/// second, nvJitLink and PTX the first, and the same features are meant. It orders by number,
/// then by suffix.
///
/// ```
/// use cuda_program::Arch;
///
/// let arch: Arch = "compute_90a".parse()?;
/// assert_eq!(arch, Arch::SM_90A);
/// assert_eq!(arch.to_string(), "sm_90a");
/// assert!("sm_91".parse::<Arch>().is_err());
/// # Ok::<(), cuda_program::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arch {
    number: u16,
    suffix: Suffix,
}

macro_rules! known {
    ($($name:ident = $number:literal $letter:literal $suffix:ident;)*) => {
        impl Arch {
            $(
                #[doc = concat!("The architecture `sm_", $number, $letter, "`.")]
                pub const $name: Arch = Arch { number: $number, suffix: Suffix::$suffix };
            )*

            /// Every architecture that this crate knows by name, in order.
            ///
            /// A library may know fewer or more of them; it is the authority on what it compiles.
            pub const KNOWN: &[Arch] = &[$(Arch::$name),*];
        }
    };
}

known! {
    SM_50 = 50 "" None;
    SM_52 = 52 "" None;
    SM_53 = 53 "" None;
    SM_60 = 60 "" None;
    SM_61 = 61 "" None;
    SM_62 = 62 "" None;
    SM_70 = 70 "" None;
    SM_72 = 72 "" None;
    SM_75 = 75 "" None;
    SM_80 = 80 "" None;
    SM_86 = 86 "" None;
    SM_87 = 87 "" None;
    SM_88 = 88 "" None;
    SM_89 = 89 "" None;
    SM_90 = 90 "" None;
    SM_90A = 90 "a" ArchSpecific;
    SM_100 = 100 "" None;
    SM_100A = 100 "a" ArchSpecific;
    SM_100F = 100 "f" FamilySpecific;
    SM_101 = 101 "" None;
    SM_101A = 101 "a" ArchSpecific;
    SM_101F = 101 "f" FamilySpecific;
    SM_103 = 103 "" None;
    SM_103A = 103 "a" ArchSpecific;
    SM_103F = 103 "f" FamilySpecific;
    SM_107 = 107 "" None;
    SM_107A = 107 "a" ArchSpecific;
    SM_107F = 107 "f" FamilySpecific;
    SM_110 = 110 "" None;
    SM_110A = 110 "a" ArchSpecific;
    SM_110F = 110 "f" FamilySpecific;
    SM_120 = 120 "" None;
    SM_120A = 120 "a" ArchSpecific;
    SM_120F = 120 "f" FamilySpecific;
    SM_121 = 121 "" None;
    SM_121A = 121 "a" ArchSpecific;
    SM_121F = 121 "f" FamilySpecific;
}

const OLDEST: u16 = Arch::SM_50.number;
const NEWEST: u16 = Arch::SM_121.number;

impl Arch {
    /// The architecture of a device, from the two halves of its compute capability.
    ///
    /// It has no suffix: a device can also run what was made for the `a` and `f` of its number,
    /// which [`ptx_runs_on`](Arch::ptx_runs_on) answers.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArch`] when no architecture has that compute capability.
    #[doc(alias = "cuDeviceGetAttribute")]
    #[doc(alias = "CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR")]
    pub fn from_capability(major: i32, minor: i32) -> Result<Self> {
        let refused = |problem| Error::InvalidArch {
            text: format!("{major}.{minor}"),
            problem,
        };
        match (u16::try_from(major), u16::try_from(minor)) {
            (Ok(major @ 0..=99), Ok(minor @ 0..=9)) => {
                Arch::from_parts(major * 10 + minor, Suffix::None).map_err(refused)
            }
            _ => Err(refused(format!(
                "a compute capability is a pair such as 9.0, with a minor from 0 to 9; {RANGE}"
            ))),
        }
    }

    /// The number in the name: 90 for `sm_90a`.
    #[must_use]
    pub const fn number(self) -> u16 {
        self.number
    }

    /// The letter in the name.
    #[must_use]
    pub const fn suffix(self) -> Suffix {
        self.suffix
    }

    /// The first half of the compute capability: 10 for `sm_103`.
    #[must_use]
    pub const fn major(self) -> u16 {
        self.number / 10
    }

    /// The second half of the compute capability: 3 for `sm_103`.
    #[must_use]
    pub const fn minor(self) -> u16 {
        self.number % 10
    }

    /// The name that nvJitLink, ptxas and PTX use: `sm_90a`.
    #[must_use]
    pub fn sm(self) -> String {
        self.to_string()
    }

    /// The name that libNVVM and NVRTC use for a virtual architecture: `compute_90a`.
    #[must_use]
    pub fn compute(self) -> String {
        format!("compute_{}{}", self.number, self.suffix.as_str())
    }

    /// Whether both are names of one chip, whatever their suffixes: what CUDA 12 calls `sm_101` is `sm_110`
    /// from CUDA 13 on.
    pub(crate) const fn is_same_chip(self, other: Self) -> bool {
        const fn of(arch: Arch) -> u16 {
            match arch.number {
                110 => 101,
                number => number,
            }
        }
        of(self) == of(other)
    }

    /// Whether PTX made for this architecture can be finished for a device, whose suffix plays
    /// no part.
    ///
    /// The rule is that of the CUDA Programming Guide, in its chapters on feature sets and on
    /// compute capabilities: portable PTX runs on its own and every later architecture, `a` on
    /// its own alone, and `f` on its own and the later ones of its family. A family is one major
    /// number, except that `sm_101` never belonged to the family of `sm_100`: it was given the
    /// name `sm_110` later, and its `a` and `f` go on to run there.
    ///
    /// It says nothing of the PTX version, which a driver may be too old for.
    ///
    /// ```
    /// use cuda_program::Arch;
    ///
    /// assert!(Arch::SM_90.ptx_runs_on(Arch::SM_100));
    /// assert!(!Arch::SM_90A.ptx_runs_on(Arch::SM_100));
    /// assert!(Arch::SM_100F.ptx_runs_on(Arch::SM_103));
    /// ```
    #[must_use]
    pub fn ptx_runs_on(self, device: Arch) -> bool {
        let same_chip = self.number == device.number
            || (self.number == Arch::SM_101.number && device.number == Arch::SM_110.number);
        match self.suffix {
            Suffix::None => device.number >= self.number,
            Suffix::ArchSpecific => same_chip,
            Suffix::FamilySpecific => {
                let apart = [self.number, device.number].contains(&Arch::SM_101.number);
                let later_in_family =
                    self.major() == device.major() && device.minor() >= self.minor();
                same_chip || (later_in_family && !apart)
            }
        }
    }

    /// The architecture of a number and a suffix, or what is wrong with them.
    pub(crate) fn from_parts(number: u16, suffix: Suffix) -> Result<Self, String> {
        let arch = Arch { number, suffix };
        if number < OLDEST {
            return Err(format!(
                "the oldest known is `{}`, and it names an older one",
                Arch::SM_50
            ));
        }
        if number <= NEWEST && !Arch::KNOWN.iter().any(|known| known.number == number) {
            return Err(format!(
                "no such architecture exists; {}",
                nearest(number, suffix)
            ));
        }
        if number < suffix.first() {
            return Err(format!(
                "the letter `{}` exists from `sm_{}` on; {}",
                suffix.as_str(),
                suffix.first(),
                nearest(number, suffix)
            ));
        }
        Ok(arch)
    }
}

const RANGE: &str = "the known names run from `sm_50` to `sm_121f`";

/// Says which known names lie beside a number, with the suffix that was asked for.
fn nearest(number: u16, suffix: Suffix) -> String {
    let mut names: Vec<String> = Vec::new();
    let mut push = |arch: Option<&Arch>| {
        if let Some(arch) = arch {
            names.push(format!("`{arch}`"));
        }
    };
    let alike = || Arch::KNOWN.iter().filter(|known| known.suffix == suffix);
    if number < suffix.first() {
        push(Arch::KNOWN.iter().find(|known| known.number == number));
    }
    push(alike().rfind(|known| known.number < number));
    push(alike().find(|known| known.number > number));
    match names.as_slice() {
        [] => RANGE.to_owned(),
        [one] => format!("the nearest known is {one}"),
        several => format!("the nearest known are {}", several.join(" and ")),
    }
}

/// What is wrong with a name that is not even shaped like one.
fn ill_formed(text: &str) -> String {
    let lower = text.trim().to_ascii_lowercase();
    // A dot may part the halves of a compute capability, and zeros may lead.
    let mut digits = lower
        .chars()
        .skip_while(|c| !c.is_ascii_digit())
        .filter(|c| *c != '.');
    let number: String = digits.by_ref().take_while(char::is_ascii_digit).collect();
    let suffix = match lower.as_bytes() {
        [.., before, b'a'] if before.is_ascii_digit() => Suffix::ArchSpecific,
        [.., before, b'f'] if before.is_ascii_digit() => Suffix::FamilySpecific,
        _ => Suffix::None,
    };
    let meant = number
        .parse()
        .ok()
        .and_then(|number| Arch::from_parts(number, suffix).ok());
    let shape = "a name is `sm_` or `compute_`, two or three digits, and perhaps `a` or `f`";
    match meant {
        Some(arch) => format!("{shape}; write `{arch}` if that is meant"),
        None => format!("{shape}; {RANGE}"),
    }
}

impl FromStr for Arch {
    type Err = Error;

    /// Reads `sm_90a` or `compute_90a`, and no other spelling.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArch`] for any other text, and for an architecture that cannot exist. A
    /// number above the newest known one is let through: the library may be newer than the crate.
    fn from_str(text: &str) -> Result<Self> {
        let refused = |problem| Error::InvalidArch {
            text: text.to_owned(),
            problem,
        };
        let shape = text
            .strip_prefix("sm_")
            .or_else(|| text.strip_prefix("compute_"))
            .map(|rest| {
                if let Some(digits) = rest.strip_suffix('a') {
                    (digits, Suffix::ArchSpecific)
                } else if let Some(digits) = rest.strip_suffix('f') {
                    (digits, Suffix::FamilySpecific)
                } else {
                    (rest, Suffix::None)
                }
            })
            .filter(|(digits, _)| {
                (1..=3).contains(&digits.len())
                    && !digits.starts_with('0')
                    && digits.bytes().all(|b| b.is_ascii_digit())
            });
        let Some((digits, suffix)) = shape else {
            return Err(refused(ill_formed(text)));
        };
        match digits.parse() {
            Ok(number) => Arch::from_parts(number, suffix).map_err(refused),
            Err(_) => Err(refused(ill_formed(text))),
        }
    }
}

impl TryFrom<&str> for Arch {
    type Error = Error;

    fn try_from(text: &str) -> Result<Self> {
        text.parse()
    }
}

/// As it is written: `sm_90a`.
impl fmt::Debug for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("sm_{}{}", self.number, self.suffix.as_str()))
    }
}

impl Serialize for Arch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Arch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
