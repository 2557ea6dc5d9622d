//! Which packages make up which toolkit. A newer toolkit is one more entry here.

/// The packages that hold the compilers of one CUDA version, or another tool.
#[derive(Debug, PartialEq, Eq)]
pub struct Pinned {
    /// What to call it in messages.
    pub title: &'static str,
    /// The CUDA version, as in `13.5`, or the tool's version; its folder is named after it.
    pub version: &'static str,
    /// What to install.
    pub packages: &'static [Package],
}

/// A package at one exact version.
#[derive(Debug, PartialEq, Eq)]
pub struct Package {
    /// Its name in the index.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

const fn package(name: &'static str, version: &'static str) -> Package {
    Package { name, version }
}

/// Oldest first; the last is the default.
const PINS: &[Pinned] = &[
    Pinned {
        title: "CUDA 12.0",
        version: "12.0",
        packages: &[
            package("nvidia-cuda-nvcc-cu12", "12.0.140"),
            package("nvidia-cuda-nvrtc-cu12", "12.0.140"),
            package("nvidia-nvjitlink-cu12", "12.0.140"),
            package("nvidia-cuda-runtime-cu12", "12.0.146"),
            // The wheels before this one lack every header whose name has no dot.
            package("nvidia-cuda-cccl-cu12", "12.3.101.post1"),
        ],
    },
    Pinned {
        title: "CUDA 12.4",
        version: "12.4",
        packages: &[
            package("nvidia-cuda-nvcc-cu12", "12.4.131"),
            package("nvidia-cuda-nvrtc-cu12", "12.4.127"),
            package("nvidia-nvjitlink-cu12", "12.4.127"),
            package("nvidia-cuda-runtime-cu12", "12.4.127"),
            package("nvidia-cuda-cccl-cu12", "12.4.127.post1"),
        ],
    },
    Pinned {
        title: "CUDA 12.9",
        version: "12.9",
        packages: &[
            package("nvidia-cuda-nvcc-cu12", "12.9.86"),
            package("nvidia-cuda-nvrtc-cu12", "12.9.86"),
            package("nvidia-nvjitlink-cu12", "12.9.86"),
            package("nvidia-cuda-runtime-cu12", "12.9.79"),
            package("nvidia-cuda-cccl-cu12", "12.9.27"),
        ],
    },
    Pinned {
        title: "CUDA 13.0",
        version: "13.0",
        packages: &[
            package("nvidia-nvvm", "13.0.88"),
            package("nvidia-cuda-nvrtc", "13.0.88"),
            package("nvidia-nvjitlink", "13.0.88"),
            package("nvidia-cuda-runtime", "13.0.96"),
            package("nvidia-cuda-crt", "13.0.88"),
            package("nvidia-cuda-cccl", "13.0.85"),
        ],
    },
    Pinned {
        title: "CUDA 13.5",
        version: "13.5",
        packages: &[
            package("nvidia-nvvm", "13.5.37"),
            package("nvidia-cuda-nvrtc", "13.5.37"),
            package("nvidia-nvjitlink", "13.5.37"),
            package("nvidia-cuda-runtime", "13.5.37"),
            package("nvidia-cuda-crt", "13.5.37"),
            // CCCL 3.5.0, the release that this NVRTC carries inside.
            package("nvidia-cuda-cccl", "13.3.5.0.6"),
        ],
    },
];

const NEWEST: &Pinned = &PINS[PINS.len() - 1];

/// What bindgen reads C headers with.
pub const LIBCLANG: Pinned = Pinned {
    title: "libclang",
    version: "18.1.1",
    packages: &[package("libclang", "18.1.1")],
};

/// What the tests hold the reading of cubins against.
pub const CUOBJDUMP: Pinned = Pinned {
    title: "cuobjdump",
    version: "13.5.37",
    packages: &[package("nvidia-cuda-cuobjdump", "13.5.37")],
};

/// Every known toolkit, oldest first.
pub fn all() -> impl Iterator<Item = &'static Pinned> {
    PINS.iter()
}

/// The toolkit of this CUDA version.
pub fn find(version: &str) -> Option<&'static Pinned> {
    PINS.iter().find(|p| p.version == version)
}

/// The newest toolkit, which is the default.
pub fn newest() -> &'static Pinned {
    NEWEST
}

/// The known versions, for messages.
pub fn known() -> String {
    let versions: Vec<_> = PINS.iter().map(|p| p.version).collect();
    versions.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(version: &str) -> Vec<u32> {
        version
            .split('.')
            .map(|n| n.parse().expect("a version is numbers and dots"))
            .collect()
    }

    #[test]
    fn toolkits_are_listed_oldest_first_and_once() {
        let versions: Vec<_> = all().map(|p| numbers(p.version)).collect();
        assert!(versions.is_sorted_by(|a, b| a < b), "{versions:?}");
    }

    #[test]
    fn every_package_is_of_its_toolkits_version_and_major() {
        for pinned in all() {
            let toolkit = numbers(pinned.version);
            for package in pinned.packages {
                let release = package.version.split(".post").next().unwrap_or_default();
                let version = numbers(release);
                assert!(version.len() >= 3, "{package:?} is not pinned exactly");
                // CCCL has releases of its own, of which each serves several toolkits.
                let same = if package.name.contains("cccl") { 1 } else { 2 };
                assert_eq!(version[..same], toolkit[..same], "{package:?}");
                assert_eq!(
                    package.name.ends_with("-cu12"),
                    toolkit.starts_with(&[12]),
                    "{package:?}"
                );
            }
        }
    }

    #[test]
    fn every_toolkit_has_the_three_compilers_and_the_headers() {
        for pinned in all() {
            let has = |part: &str| pinned.packages.iter().any(|p| p.name.contains(part));
            assert!(has("nvvm") || has("nvcc"), "libNVVM of {}", pinned.version);
            assert!(has("nvrtc"), "NVRTC of {}", pinned.version);
            assert!(has("nvjitlink"), "nvJitLink of {}", pinned.version);
            assert!(has("runtime"), "headers of {}", pinned.version);
            assert!(has("cccl"), "C++ headers of {}", pinned.version);
            // The internal headers, which lie beside the compiler before CUDA 13.
            assert!(has("crt") || has("nvcc"), "crt of {}", pinned.version);
        }
    }
}
