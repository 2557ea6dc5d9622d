//! How NVIDIA's installer, the wheels, conda and Debian lay a toolkit out.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::environment::{Environment, Platform};
use super::part::{Part, is_stub};

/// The wheels of CUDA 12, each with a folder of its own.
const WHEELS_OF_12: [&str; 3] = ["cuda_nvcc", "cuda_nvrtc", "nvjitlink"];

/// How the files lie below a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// `lib64` or `lib`, and `nvvm`: NVIDIA's installer, conda, `nvidia/cu13`, Debian's `/usr`.
    Prefix,
    /// The folder `nvidia` with one folder for each wheel of CUDA 12.
    WheelsOf12,
}

/// One toolkit: the folder that its parts lie below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Root {
    pub(super) path: PathBuf,
    pub(super) layout: Layout,
}

/// What a root has of one part.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Holding {
    /// The files, the newest first.
    pub(super) files: Vec<PathBuf>,
    /// Stubs of the part, which are shown but never opened.
    pub(super) stubs: Vec<PathBuf>,
}

impl Root {
    /// The root that a file of a toolkit belongs to, from its path alone.
    pub(super) fn of_file(file: &Path) -> Option<Self> {
        let mut folder = file.parent()?;
        while let Some(name) = folder.file_name().and_then(|n| n.to_str()) {
            let inside = matches!(
                name,
                "lib" | "lib64" | "bin" | "x64" | "x86_64" | "nvvm" | "libdevice" | "targets"
            ) || name.ends_with("-linux")
                || name.ends_with("-linux-gnu")
                || name == "nvidia-cuda-toolkit";
            if !inside {
                break;
            }
            folder = folder.parent()?;
        }
        let is_wheel = folder
            .file_name()
            .is_some_and(|name| WHEELS_OF_12.iter().any(|wheel| name == *wheel));
        match folder.parent() {
            Some(nvidia) if is_wheel && nvidia.file_name().is_some_and(|n| n == "nvidia") => {
                Some(Root {
                    path: nvidia.to_owned(),
                    layout: Layout::WheelsOf12,
                })
            }
            _ => Some(Root {
                path: folder.to_owned(),
                layout: Layout::Prefix,
            }),
        }
    }
}

/// Looks at folders, each at most once.
#[derive(Debug)]
pub(super) struct Looker<'a> {
    environment: &'a Environment,
    listings: RefCell<HashMap<PathBuf, Rc<[String]>>>,
}

impl<'a> Looker<'a> {
    pub(super) fn new(environment: &'a Environment) -> Self {
        Self {
            environment,
            listings: RefCell::default(),
        }
    }

    /// The names in a folder; those that are no UTF-8 belong to no toolkit.
    pub(super) fn list(&self, folder: &Path) -> Rc<[String]> {
        if let Some(known) = self.listings.borrow().get(folder) {
            return Rc::clone(known);
        }
        let names: Rc<[String]> = self
            .environment
            .files()
            .list(folder)
            .into_iter()
            .filter_map(|name| name.into_string().ok())
            .collect();
        self.listings
            .borrow_mut()
            .insert(folder.to_owned(), Rc::clone(&names));
        names
    }

    /// The subfolders called `head` and a version, the newest first.
    ///
    /// Versions are compared as numbers, so 13.10 is newer than 13.9.
    pub(super) fn versioned(&self, folder: &Path, head: &str) -> Vec<PathBuf> {
        let mut found: Vec<(Vec<u32>, PathBuf)> = self
            .list(folder)
            .iter()
            .filter_map(|name| {
                let version = numbers(name.strip_prefix(head)?)?;
                Some((version, folder.join(name)))
            })
            .filter(|(_, path)| self.environment.files().is_folder(path))
            .collect();
        found.sort_by(|a, b| b.0.cmp(&a.0));
        found.into_iter().map(|(_, path)| path).collect()
    }

    /// The toolkits that lie at or below a folder a person would name.
    ///
    /// The folder may be a toolkit, a `site-packages` folder, its `nvidia` folder, one folder in
    /// that, a virtual environment, or a conda prefix. The folder itself always comes first.
    pub(super) fn roots(&self, folder: &Path) -> Vec<Root> {
        let files = self.environment.files();
        let mut roots = vec![Root {
            path: folder.to_owned(),
            layout: Layout::Prefix,
        }];
        if self.environment.platform().is_windows() && files.is_folder(&folder.join("Library")) {
            roots.push(Root {
                path: folder.join("Library"),
                layout: Layout::Prefix,
            });
        }
        let mut sites = vec![folder.to_owned()];
        sites.extend(self.python_sites(folder));
        let wheels = std::iter::once(folder.to_owned())
            .chain(sites.into_iter().map(|site| site.join("nvidia")));
        for nvidia in wheels {
            roots.extend(self.versioned(&nvidia, "cu").into_iter().map(|path| Root {
                path,
                layout: Layout::Prefix,
            }));
            if self
                .list(&nvidia)
                .iter()
                .any(|name| WHEELS_OF_12.contains(&name.as_str()))
            {
                roots.push(Root {
                    path: nvidia,
                    layout: Layout::WheelsOf12,
                });
            }
        }
        roots
    }

    /// The folders of installed Python packages below a prefix, the newest Python first.
    fn python_sites(&self, prefix: &Path) -> Vec<PathBuf> {
        if self.environment.platform().is_windows() {
            let mut sites = vec![prefix.join("Lib").join("site-packages")];
            // `%APPDATA%\Python` has a folder for each Python, as in `Python312`.
            sites.extend(
                self.versioned(prefix, "Python")
                    .into_iter()
                    .map(|python| python.join("site-packages")),
            );
            return sites;
        }
        ["lib", "lib64"]
            .into_iter()
            .map(|lib| prefix.join(lib))
            .flat_map(|lib| self.versioned(&lib, "python"))
            .flat_map(|python| [python.join("site-packages"), python.join("dist-packages")])
            .collect()
    }

    /// The files of a part in a root.
    pub(super) fn holding(&self, root: &Root, part: Part) -> Holding {
        let platform = self.environment.platform();
        let mut holding = Holding::default();
        for relative in folders(part, root.layout, platform) {
            let folder = relative
                .split('/')
                .fold(root.path.clone(), |path, step| path.join(step));
            let found = self.files_in(&folder, part);
            if found.is_empty() {
                holding
                    .stubs
                    .extend(self.files_in(&folder.join("stubs"), part));
            }
            for file in found {
                if self.is_stub(&file) {
                    holding.stubs.push(file);
                } else {
                    holding.files.push(file);
                }
            }
        }
        holding
    }

    /// The files of a part directly in a folder, the newest version first.
    ///
    /// A name that leads nowhere is listed too: its opening fails with a reason that is worth
    /// seeing.
    fn files_in(&self, folder: &Path, part: Part) -> Vec<PathBuf> {
        let platform = self.environment.platform();
        let names = self.list(folder);
        let mut found: Vec<(Vec<u32>, &String)> = names
            .iter()
            .filter_map(|name| Some((part.file_version(name, platform)?, name)))
            .collect();
        found.sort_by(|a, b| b.cmp(a));
        found
            .into_iter()
            .map(|(_, name)| folder.join(name))
            .collect()
    }

    /// Whether a file is a stub, by its own path or by the one it links to.
    pub(super) fn is_stub(&self, file: &Path) -> bool {
        is_stub(file)
            || self
                .environment
                .files()
                .canonicalize(file)
                .is_some_and(|real| is_stub(&real))
    }
}

/// The numbers of a text such as `13.5`, or `None` where it is anything else.
pub(super) fn numbers(text: &str) -> Option<Vec<u32>> {
    text.split('.').map(|n| n.parse().ok()).collect()
}

/// The folders of a part below a root, in the order of the search.
fn folders(part: Part, layout: Layout, platform: Platform) -> &'static [&'static str] {
    use Layout::{Prefix, WheelsOf12};
    match (part, layout, platform) {
        (Part::Libdevice, WheelsOf12, _) => &["cuda_nvcc/nvvm/libdevice"],
        (Part::Libdevice, Prefix, Platform::WindowsX86_64) => &["nvvm/libdevice", "libdevice"],
        (Part::Libdevice, Prefix, _) => &[
            "nvvm/libdevice",
            "libdevice",
            "lib/nvidia-cuda-toolkit/libdevice",
        ],

        (Part::Nvvm, WheelsOf12, Platform::WindowsX86_64) => &[
            "cuda_nvcc/nvvm/bin",
            "cuda_nvcc/nvvm/bin/x64",
            "cuda_nvcc/bin",
        ],
        (Part::Nvvm, WheelsOf12, _) => &[
            "cuda_nvcc/nvvm/lib64",
            "cuda_nvcc/nvvm/lib",
            "cuda_nvcc/lib",
        ],
        (Part::Nvrtc, WheelsOf12, Platform::WindowsX86_64) => &["cuda_nvrtc/bin"],
        (Part::Nvrtc, WheelsOf12, _) => &["cuda_nvrtc/lib"],
        (Part::NvJitLink, WheelsOf12, Platform::WindowsX86_64) => &["nvjitlink/bin"],
        (Part::NvJitLink, WheelsOf12, _) => &["nvjitlink/lib"],

        (Part::Nvvm, Prefix, Platform::WindowsX86_64) => {
            &["nvvm/bin", "nvvm/bin/x64", "bin", "bin/x64", "bin/x86_64"]
        }
        (_, Prefix, Platform::WindowsX86_64) => &["bin", "bin/x64", "bin/x86_64"],

        (Part::Nvvm, Prefix, Platform::LinuxX86_64) => &[
            "nvvm/lib64",
            "nvvm/lib",
            "lib64",
            "lib",
            "targets/x86_64-linux/nvvm/lib64",
            "targets/x86_64-linux/lib",
            "lib/x86_64-linux-gnu",
        ],
        (Part::Nvvm, Prefix, Platform::LinuxAarch64) => &[
            "nvvm/lib64",
            "nvvm/lib",
            "lib64",
            "lib",
            "targets/sbsa-linux/nvvm/lib64",
            "targets/sbsa-linux/lib",
            "targets/aarch64-linux/lib",
            "lib/aarch64-linux-gnu",
        ],
        (_, Prefix, Platform::LinuxX86_64) => &[
            "lib64",
            "lib",
            "targets/x86_64-linux/lib",
            "lib/x86_64-linux-gnu",
        ],
        (_, Prefix, Platform::LinuxAarch64) => &[
            "lib64",
            "lib",
            "targets/sbsa-linux/lib",
            "targets/aarch64-linux/lib",
            "lib/aarch64-linux-gnu",
        ],
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(
        "/usr/local/cuda/nvvm/lib64/libnvvm.so.4",
        "/usr/local/cuda",
        Layout::Prefix
    )]
    #[case(
        "/usr/local/cuda/targets/sbsa-linux/lib/libnvrtc.so.13",
        "/usr/local/cuda",
        Layout::Prefix
    )]
    #[case("/s/nvidia/cu13/lib/libnvvm.so.4", "/s/nvidia/cu13", Layout::Prefix)]
    #[case(
        "/s/nvidia/cu13/bin/x86_64/nvvm64_40_0.dll",
        "/s/nvidia/cu13",
        Layout::Prefix
    )]
    #[case(
        "/s/nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so",
        "/s/nvidia",
        Layout::WheelsOf12
    )]
    #[case(
        "/s/nvidia/nvjitlink/lib/libnvJitLink.so.12",
        "/s/nvidia",
        Layout::WheelsOf12
    )]
    #[case("/usr/lib/x86_64-linux-gnu/libnvvm.so.4", "/usr", Layout::Prefix)]
    #[case(
        "/usr/lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc",
        "/usr",
        Layout::Prefix
    )]
    #[case("/libnvvm.so.4", "/", Layout::Prefix)]
    #[case("/home/cuda_nvcc/lib/libnvvm.so.4", "/home/cuda_nvcc", Layout::Prefix)]
    fn the_root_of_a_file_is_known_from_its_path(
        #[case] file: &str,
        #[case] path: &str,
        #[case] layout: Layout,
    ) {
        let expected = Root {
            path: PathBuf::from(path),
            layout,
        };
        assert_eq!(Root::of_file(Path::new(file)), Some(expected));
    }
}
