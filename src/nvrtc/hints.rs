//! What to do about an error of NVRTC.

use std::path::PathBuf;

use super::headers;
use crate::error::Library;
use crate::sys::NvrtcFailed;
use crate::sys::bindings::nvrtc::NVRTC_ERROR_BUILTIN_OPERATION_FAILURE;

/// A sentence for the person who reads the error, where there is one to say.
pub(super) fn of(
    NvrtcFailed(code): NvrtcFailed,
    log: &str,
    searched: &[PathBuf],
    major: u32,
    library: &Library,
) -> Option<String> {
    if code == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE || log.contains("libnvrtc-builtins") {
        return Some(format!(
            "the file libnvrtc-builtins of the same version must lie beside {}: install NVRTC anew, \
             whole",
            library.path.display()
        ));
    }
    let header = log
        .split_once("open source file \"")
        .and_then(|(_, rest)| rest.split_once('"'))
        .map(|(name, _)| name)?;
    let folders = if searched.is_empty() {
        "no folder was searched".to_owned()
    } else {
        let shown: Vec<_> = searched.iter().map(|f| f.display().to_string()).collect();
        format!("searched in {}", shown.join(", "))
    };
    let of_cuda = [
        "cuda",
        "cooperative_groups",
        "vector_",
        "mma.h",
        "curand",
        "device_",
    ]
    .iter()
    .any(|head| header.starts_with(head));
    let package = if header.starts_with("cub/")
        || header.starts_with("thrust/")
        || header.starts_with("cuda/")
        || header.starts_with("nv/")
    {
        Some("nvidia-cuda-cccl")
    } else if header.starts_with("crt/") && major >= 13 {
        Some("nvidia-cuda-crt")
    } else if header.starts_with("curand") {
        Some("nvidia-curand")
    } else if of_cuda || header.starts_with("crt/") {
        Some("nvidia-cuda-runtime")
    } else {
        None
    };
    Some(match package {
        Some(package) => {
            let suffix = if major < 13 { "-cu12" } else { "" };
            let places: Vec<_> = headers::candidates(&library.path)
                .iter()
                .map(|f| f.display().to_string())
                .collect();
            format!(
                "`{header}` was not found ({folders}); it is in the package {package}{suffix}, whose \
                 folder is found by itself at {}",
                places.join(" or ")
            )
        }
        None => format!(
            "`{header}` was not found ({folders}); add it with `add_header`, or its folder to \
             `preprocessor.include_folders`"
        ),
    })
}
