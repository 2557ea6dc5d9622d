//! The include folder of the toolkit that NVRTC belongs to.

use std::path::{Path, PathBuf};

/// The folders where the CUDA headers may lie, for a library at this path, in order.
///
/// Beside the wheel of CUDA 12 lies that of the runtime; everything else keeps `include` beside
/// `lib`, or below `targets`.
pub(super) fn candidates(library: &Path) -> Vec<PathBuf> {
    let real = std::fs::canonicalize(library).ok();
    let mut found: Vec<PathBuf> = Vec::new();
    for path in [Some(library), real.as_deref()].into_iter().flatten() {
        let Some(prefix) = path.parent().and_then(Path::parent) else {
            continue;
        };
        let beside = prefix
            .file_name()
            .is_some_and(|name| name == "cuda_nvrtc")
            .then(|| prefix.parent())
            .flatten();
        let mut push = |folder: PathBuf| {
            if !found.contains(&folder) {
                found.push(folder);
            }
        };
        match beside {
            Some(nvidia) => {
                push(nvidia.join("cuda_runtime").join("include"));
                push(nvidia.join("cuda_cccl").join("include"));
            }
            None => {
                push(prefix.join("include"));
                push(prefix.join("include").join("cccl"));
                for target in ["x86_64-linux", "sbsa-linux"] {
                    push(prefix.join("targets").join(target).join("include"));
                }
            }
        }
    }
    found
}

/// The first folder with the runtime's headers, and the first with those of the C++ libraries, which
/// they include from CUDA 12.9 on.
pub(crate) fn folders(library: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for header in ["cuda_fp16.h", "nv/target"] {
        let first = candidates(library)
            .into_iter()
            .find(|folder| folder.join(header).is_file());
        found.extend(first.filter(|folder| !found.contains(folder)));
    }
    found
}
