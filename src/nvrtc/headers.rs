//! The folders of headers that are searched behind those of the options.

use std::path::{Path, PathBuf};

use super::bundle::{BundledHeaders, HeaderBundle};
use super::options::Preprocessor;
use crate::error::Result;
use crate::sys::Nvrtc;
use crate::toolkit::Opened;

/// One header of each package that may be installed without the others, and the folder that CUDA
/// 12's wheels keep it below.
const PROBES: [(&str, &str); 6] = [
    ("cuda_fp16.h", "cuda_runtime"),
    ("crt/mma.h", "cuda_nvcc"),
    ("nv/target", "cuda_cccl"),
    ("cuda/std/type_traits", "cuda_cccl"),
    ("cub/cub.cuh", "cuda_cccl"),
    ("curand_kernel.h", "curand"),
];

/// How many of the probes stand for headers that NVRTC carries inside too.
const BUNDLED: usize = 4;

/// The folders of bundled headers and of the toolkit, as the options have it, in order.
pub(super) fn behind(
    nvrtc: &std::sync::Arc<Opened<Nvrtc>>,
    options: &Preprocessor,
) -> Result<Vec<PathBuf>> {
    let own = if options.toolkit_headers {
        folders(&nvrtc.library.path)
    } else {
        Vec::new()
    };
    let folder = match &options.bundled_headers {
        BundledHeaders::Off => return Ok(own),
        BundledHeaders::WhereMissing(_) if has_all(&own) => return Ok(own),
        BundledHeaders::WhereMissing(folder) | BundledHeaders::Folder(folder) => folder,
    };
    let installed = HeaderBundle::inside(nvrtc)?.install(folder)?;
    let mut found = installed.include_folders().to_vec();
    found.extend(own);
    Ok(found)
}

fn has_all(folders: &[PathBuf]) -> bool {
    PROBES
        .iter()
        .take(BUNDLED)
        .all(|(header, _)| folders.iter().any(|f| f.join(header).is_file()))
}

/// The folders where the CUDA headers may lie, for a library at this path, in order.
fn candidates(library: &Path) -> Vec<PathBuf> {
    let real = std::fs::canonicalize(library).ok();
    let mut found: Vec<PathBuf> = Vec::new();
    for path in [Some(library), real.as_deref()].into_iter().flatten() {
        for folder in beside(path) {
            if !found.contains(&folder) {
                found.push(folder);
            }
        }
    }
    found
}

/// The same by the path alone.
///
/// CUDA 12's wheels have a folder each. Everything else keeps `include` beside `lib`, which may have a
/// folder for the architecture in it or be below `targets`; there, CUDA 13 keeps the C++ libraries in
/// a folder of their own.
fn beside(library: &Path) -> Vec<PathBuf> {
    let named = |path: &Path, names: &[&str]| {
        path.file_name()
            .is_some_and(|name| names.iter().any(|n| name == *n))
    };
    let of_arch = ["x86_64-linux-gnu", "aarch64-linux-gnu", "x64", "x86_64"];
    let Some(prefix) = library
        .parent()
        .and_then(|folder| {
            if named(folder, &of_arch) {
                folder.parent()
            } else {
                Some(folder)
            }
        })
        .and_then(Path::parent)
    else {
        return Vec::new();
    };
    if let (true, Some(nvidia)) = (named(prefix, &["cuda_nvrtc"]), prefix.parent()) {
        let mut wheels: Vec<&str> = PROBES.iter().map(|(_, wheel)| *wheel).collect();
        wheels.dedup();
        return wheels
            .into_iter()
            .map(|wheel| nvidia.join(wheel).join("include"))
            .collect();
    }
    let mut found = Vec::new();
    for root in ["", "targets/x86_64-linux", "targets/sbsa-linux"] {
        // Joined step by step, for the platform's own separators.
        let include = root
            .split('/')
            .filter(|step| !step.is_empty())
            .fold(prefix.to_owned(), |path, step| path.join(step))
            .join("include");
        found.push(include.clone());
        found.push(include.join("cccl"));
    }
    found
}

/// Where a package is found by itself that keeps its headers below this folder of CUDA 12's wheels.
pub(super) fn place(library: &Path, wheel: &str) -> Option<PathBuf> {
    PROBES.iter().find(|(_, known)| *known == wheel)?;
    let candidates = candidates(library);
    let own = candidates
        .iter()
        .find(|place| place.parent().is_some_and(|p| p.ends_with(wheel)));
    own.or(candidates.first()).cloned()
}

/// The first folder that has each of the probes, once.
pub(crate) fn folders(library: &Path) -> Vec<PathBuf> {
    let candidates = candidates(library);
    let mut found: Vec<PathBuf> = Vec::new();
    for (header, _) in PROBES {
        let first = candidates.iter().find(|f| f.join(header).is_file());
        if let Some(folder) = first.filter(|folder| !found.contains(folder)) {
            found.push(folder.clone());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::wheels_of_12(
        "/s/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
        &["/s/nvidia/cuda_runtime/include", "/s/nvidia/cuda_nvcc/include",
          "/s/nvidia/cuda_cccl/include", "/s/nvidia/curand/include"]
    )]
    #[case::wheels_of_13(
        "/s/nvidia/cu13/lib/libnvrtc.so.13",
        &["/s/nvidia/cu13/include", "/s/nvidia/cu13/include/cccl"]
    )]
    #[case::wheels_of_13_on_windows(
        "/s/nvidia/cu13/bin/x86_64/nvrtc64_130_0.dll",
        &["/s/nvidia/cu13/include", "/s/nvidia/cu13/include/cccl"]
    )]
    #[case::installed(
        "/usr/local/cuda/lib64/libnvrtc.so.13",
        &["/usr/local/cuda/include", "/usr/local/cuda/include/cccl",
          "/usr/local/cuda/targets/x86_64-linux/include"]
    )]
    #[case::target(
        "/c/targets/x86_64-linux/lib/libnvrtc.so.12",
        &["/c/targets/x86_64-linux/include"]
    )]
    #[case::debian("/usr/lib/x86_64-linux-gnu/libnvrtc.so.12", &["/usr/include"])]
    fn the_folders_of_headers_are_known_from_the_librarys_path(
        #[case] library: &str,
        #[case] begins: &[&str],
    ) {
        let found = beside(Path::new(library));
        let begins: Vec<PathBuf> = begins.iter().map(PathBuf::from).collect();
        assert!(found.starts_with(&begins), "{found:?}");
    }

    #[test]
    fn a_library_in_no_folder_has_no_headers() {
        assert!(beside(Path::new("libnvrtc.so.12")).is_empty());
        assert!(candidates(Path::new("/")).is_empty());
    }
}
