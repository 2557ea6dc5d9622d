//! The parts of a toolkit, and what says where one may lie.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::environment::Platform;

/// The variable that names a toolkit for this crate.
pub(super) const EXPLICIT: &str = "CUDA_PROGRAM_TOOLKIT";

/// A part of the CUDA toolkit that this crate uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Part {
    /// libNVVM, which compiles NVVM IR.
    Nvvm,
    /// libdevice, the mathematical functions that NVVM IR calls.
    Libdevice,
    /// NVRTC, which compiles CUDA C++.
    Nvrtc,
    /// nvJitLink, which links.
    NvJitLink,
}

impl Part {
    /// Every part, in the order in which a report shows them.
    pub const ALL: [Part; 4] = [Part::Nvvm, Part::Libdevice, Part::Nvrtc, Part::NvJitLink];

    /// The name that NVIDIA gives the part.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Part::Nvvm => "libNVVM",
            Part::Libdevice => "libdevice",
            Part::Nvrtc => "NVRTC",
            Part::NvJitLink => "nvJitLink",
        }
    }

    /// The Python package that holds its newest version.
    pub(super) const fn wheel(self) -> &'static str {
        match self {
            Part::Nvvm | Part::Libdevice => "nvidia-nvvm",
            Part::Nvrtc => "nvidia-cuda-nvrtc",
            Part::NvJitLink => "nvidia-nvjitlink",
        }
    }

    /// What its file is called, with `*` for the version.
    pub(super) const fn pattern(self, platform: Platform) -> &'static str {
        match (self, platform.is_windows()) {
            (Part::Libdevice, _) => "libdevice.*.bc",
            (Part::Nvvm, false) => "libnvvm.so*",
            (Part::Nvrtc, false) => "libnvrtc.so*",
            (Part::NvJitLink, false) => "libnvJitLink.so*",
            (Part::Nvvm, true) => "nvvm64_*.dll",
            (Part::Nvrtc, true) => "nvrtc64_*.dll",
            (Part::NvJitLink, true) => "nvJitLink_*.dll",
        }
    }

    /// The names to ask the system's loader for, the newest first.
    pub(super) const fn loader_names(self, platform: Platform) -> &'static [&'static str] {
        match (self, platform.is_windows()) {
            (Part::Libdevice, _) => &[],
            (Part::Nvvm, false) => &["libnvvm.so.4"],
            (Part::Nvrtc, false) => &["libnvrtc.so.13", "libnvrtc.so.12"],
            (Part::NvJitLink, false) => &["libnvJitLink.so.13", "libnvJitLink.so.12"],
            (Part::Nvvm, true) => &["nvvm64_40_0.dll"],
            (Part::Nvrtc, true) => &["nvrtc64_130_0.dll", "nvrtc64_120_0.dll"],
            (Part::NvJitLink, true) => &["nvJitLink_130_0.dll", "nvJitLink_120_0.dll"],
        }
    }

    /// The version in a file name of this part, or `None` where the name is another file's.
    ///
    /// A name without a version, as `libnvvm.so`, has the empty one, which is older than any.
    pub(super) fn file_version(self, name: &str, platform: Platform) -> Option<Vec<u32>> {
        let (head, tail) = self.pattern(platform).split_once('*')?;
        // Windows does not tell capitals from small letters.
        let head_of = name.get(..head.len())?;
        let same = if platform.is_windows() {
            head_of.eq_ignore_ascii_case(head)
        } else {
            head_of == head
        };
        if !same {
            return None;
        }
        let rest = name.get(head.len()..)?;
        let end = rest.len().checked_sub(tail.len())?;
        if !rest.get(end..)?.eq_ignore_ascii_case(tail) {
            return None;
        }
        let middle = rest.get(..end)?;
        if middle.is_empty() {
            return tail.is_empty().then(Vec::new);
        }
        let digits = match (tail.is_empty(), middle.strip_prefix('.')) {
            (true, Some(digits)) => digits,
            (true, None) => return None,
            (false, _) => middle,
        };
        // This refuses `libnvrtc.alt.so.12` and `nvrtc64_130_0.alt.dll`, which are other
        // builds that need their own builtins.
        digits
            .split(['.', '_'])
            .map(|n| n.parse().ok())
            .collect::<Option<Vec<u32>>>()
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a place was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// The caller named it.
    Code,
    /// This environment variable named it.
    Variable(&'static str),
    /// The library is already mapped into this process.
    Mapped,
    /// It lies in the same toolkit as a library that is already mapped into this process.
    BesideMapped,
    /// It lies in the same toolkit as the libNVVM in use.
    BesideNvvm,
    /// The system's loader was asked by name.
    Loader,
    /// Toolkits are usually installed there.
    WellKnown,
}

impl Reason {
    /// Whether someone named the place for this crate, so that it wins for what it has.
    pub(super) fn is_explicit(self) -> bool {
        matches!(self, Reason::Code | Reason::Variable(EXPLICIT))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Code => "given in code",
            Reason::Variable(name) => name,
            Reason::Mapped => "already in this process",
            Reason::BesideMapped => "beside a library already in this process",
            Reason::BesideNvvm => "beside the libNVVM in use",
            Reason::Loader => "the system's loader",
            Reason::WellKnown => "well-known folder",
        })
    }
}

/// A place where a part may lie, in the order of the search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Candidate {
    /// The part.
    pub part: Part,
    /// The file, the folder that has none, or the name for the system's loader.
    pub path: PathBuf,
    /// Why it is looked at.
    pub because: Reason,
    /// The toolkit it belongs to, where that is known before opening.
    pub root: Option<PathBuf>,
    /// Why it is of no use, where that is known before opening.
    pub problem: Option<String>,
}

impl Candidate {
    /// Whether the path is a bare name that the system's loader resolves.
    #[must_use]
    pub fn is_by_name(&self) -> bool {
        self.because == Reason::Loader
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} ({})",
            self.part,
            self.path.display(),
            self.because
        )?;
        match &self.problem {
            Some(problem) => write!(f, ": {problem}"),
            None => Ok(()),
        }
    }
}

/// Whether a path goes through a folder of link-time stubs, which cannot compile anything.
pub(crate) fn is_stub(path: &Path) -> bool {
    path.components().any(|c| c.as_os_str() == "stubs")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(Part::Nvvm, "libnvvm.so", Some(vec![]))]
    #[case(Part::Nvvm, "libnvvm.so.4", Some(vec![4]))]
    #[case(Part::Nvvm, "libnvvm.so.4.0.0", Some(vec![4, 0, 0]))]
    #[case(Part::Nvvm, "libnvvm.so.old", None)]
    #[case(Part::Nvvm, "libnvvm.sofa", None)]
    #[case(Part::Nvvm, "libnvvm.so.", None)]
    #[case(Part::Nvrtc, "libnvrtc.alt.so.12", None)]
    #[case(Part::Nvrtc, "libnvrtc-builtins.so.12.4", None)]
    #[case(Part::Nvrtc, "LIBNVRTC.so.12", None)]
    #[case(Part::Libdevice, "libdevice.10.bc", Some(vec![10]))]
    #[case(Part::Libdevice, "libdevice.bc", None)]
    #[case(Part::Libdevice, "libdevice.compute_35.10.bc", None)]
    fn linux_file_names_tell_their_version(
        #[case] part: Part,
        #[case] name: &str,
        #[case] version: Option<Vec<u32>>,
    ) {
        assert_eq!(part.file_version(name, Platform::LinuxX86_64), version);
    }

    #[rstest]
    #[case(Part::Nvvm, "nvvm64_40_0.dll", Some(vec![40, 0]))]
    #[case(Part::Nvrtc, "NVRTC64_130_0.DLL", Some(vec![130, 0]))]
    #[case(Part::Nvrtc, "nvrtc64_130_0.alt.dll", None)]
    #[case(Part::Nvrtc, "nvrtc-builtins64_130.dll", None)]
    #[case(Part::NvJitLink, "nvJitLink_120_0.dll", Some(vec![120, 0]))]
    #[case(Part::NvJitLink, "nvJitLink_é.dll", None)]
    fn windows_file_names_tell_their_version(
        #[case] part: Part,
        #[case] name: &str,
        #[case] version: Option<Vec<u32>>,
    ) {
        assert_eq!(part.file_version(name, Platform::WindowsX86_64), version);
    }
}
