//! Whose a header is, by its name.

/// Who has a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// One of NVIDIA's packages, and whether NVRTC may carry the header inside.
    Package(Package, bool),
    /// Standard C or C++, and what `<cuda/std/…>` calls it where it has it.
    Standard(Option<&'static str>),
    /// Nobody that is known here.
    Nobody,
}

/// A package of headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Package {
    /// What it is called from CUDA 13 on.
    name: &'static str,
    /// What it is called for CUDA 12.
    name_12: &'static str,
    /// The folder that it has for itself among the wheels of CUDA 12.
    pub(super) folder_12: &'static str,
    /// Whether its versions are those of CUDA.
    of_cuda: bool,
}

impl Package {
    /// As an installer of packages takes it, for a version of CUDA as in `13.5`.
    pub(super) fn requirement(&self, version: Option<&str>) -> String {
        let of_12 = version.is_some_and(|v| v.starts_with("12."));
        let name = if of_12 { self.name_12 } else { self.name };
        match version.filter(|_| self.of_cuda) {
            Some(version) => format!("{name}=={version}.*"),
            None => name.to_owned(),
        }
    }
}

const fn package(
    name: &'static str,
    name_12: &'static str,
    folder_12: &'static str,
    of_cuda: bool,
) -> Package {
    Package {
        name,
        name_12,
        folder_12,
        of_cuda,
    }
}

const RUNTIME: Package = package(
    "nvidia-cuda-runtime",
    "nvidia-cuda-runtime-cu12",
    "cuda_runtime",
    true,
);
/// Among the wheels of CUDA 12 the compiler's has the internal headers.
const CRT: Package = package(
    "nvidia-cuda-crt",
    "nvidia-cuda-nvcc-cu12",
    "cuda_nvcc",
    true,
);
const CCCL: Package = package(
    "nvidia-cuda-cccl",
    "nvidia-cuda-cccl-cu12",
    "cuda_cccl",
    false,
);
const CURAND: Package = package("nvidia-curand", "nvidia-curand-cu12", "curand", false);
const CUBLAS: Package = package("nvidia-cublas", "nvidia-cublas-cu12", "cublas", false);
const MATHDX: Package = package("nvidia-mathdx", "nvidia-mathdx", "mathdx", false);
pub(super) const NVRTC: Package = package(
    "nvidia-cuda-nvrtc",
    "nvidia-cuda-nvrtc-cu12",
    "cuda_nvrtc",
    true,
);

/// The folders whose headers are one package's.
const FOLDERS: [(&str, Package); 7] = [
    ("cuda/", CCCL),
    ("cub/", CCCL),
    ("thrust/", CCCL),
    ("nv/", CCCL),
    ("crt/", CRT),
    ("cooperative_groups/", RUNTIME),
    ("cccl/", CCCL),
];

/// The runtime's headers that NVRTC may carry inside, without the ending.
const RUNTIME_BUNDLED: &str = "cooperative_groups cuComplex cuda_awbarrier cuda_awbarrier_helpers \
    cuda_awbarrier_primitives cuda_bf16 cuda_fp16 cuda_fp4 cuda_fp6 cuda_fp8 cuda_pipeline \
    cuda_pipeline_helpers cuda_pipeline_primitives cuda_tf32 cudart_platform math_constants mma \
    vector_types";

/// The runtime's other headers, without the ending.
const RUNTIME_OTHERS: &str = "builtin_types channel_descriptor common_functions cuda cudaEGL \
    cudaEGLTypedefs cudaGL cudaGLTypedefs cudaProfilerTypedefs cudaTypedefs cudaVDPAU \
    cudaVDPAUTypedefs cuda_device_runtime_api cuda_egl_interop cuda_gl_interop cuda_occupancy \
    cuda_runtime cuda_runtime_api cuda_surface_types cuda_texture_types cuda_tile cuda_vdpau_interop \
    device_atomic_functions device_double_functions device_functions device_launch_parameters \
    device_types driver_functions driver_types host_config host_defines library_types \
    math_functions sm_20_atomic_functions sm_20_intrinsics sm_30_intrinsics sm_32_atomic_functions \
    sm_32_intrinsics sm_35_atomic_functions sm_35_intrinsics sm_60_atomic_functions \
    sm_61_intrinsics surface_functions surface_indirect_functions surface_types \
    texture_fetch_functions texture_indirect_functions texture_types vector_functions";

const CUBLAS_ALL: &str = "cublas cublasLt cublasXt cublas_api cublas_v2 nvblas";

const MATHDX_ALL: &str = "cublasdx cufftdx curanddx cusolverdx nvcompdx";

/// Standard headers that `<cuda/std/…>` has under the same name, in the newest release that is known.
const WITH_COUNTERPART: &str = "algorithm array atomic barrier bit bitset cassert ccomplex cfloat \
    charconv chrono climits cmath complex concepts cstddef cstdint cstdlib cstring ctime execution \
    expected functional initializer_list inplace_vector iterator latch limits linalg mdspan memory \
    numbers numeric optional random ranges ratio semaphore source_location span string_view tuple \
    type_traits utility variant version";

/// Standard headers that it lacks.
const WITHOUT_COUNTERPART: &str = "any cctype cerrno cfenv cinttypes clocale codecvt compare complex.h \
    condition_variable coroutine csetjmp csignal cstdarg cstdio ctype.h cuchar cwchar cwctype deque \
    errno.h exception fenv.h filesystem flat_map flat_set format forward_list fstream future \
    generator inttypes.h iomanip ios iosfwd iostream istream list locale locale.h map memory.h \
    memory_resource mutex new ostream print queue regex scoped_allocator set setjmp.h shared_mutex \
    signal.h spanstream sstream stack stacktrace stdarg.h stdexcept stdio.h stop_token streambuf \
    string strstream syncstream system_error thread typeindex typeinfo unistd.h unordered_map \
    unordered_set uchar.h valarray vector wchar.h wctype.h";

/// C's names for headers that it has.
const OF_C: [(&str, &str); 9] = [
    ("assert.h", "cassert"),
    ("float.h", "cfloat"),
    ("limits.h", "climits"),
    ("math.h", "cmath"),
    ("stddef.h", "cstddef"),
    ("stdint.h", "cstdint"),
    ("stdlib.h", "cstdlib"),
    ("string.h", "cstring"),
    ("time.h", "ctime"),
];

fn among(names: &'static str, name: &str) -> Option<&'static str> {
    names.split_whitespace().find(|known| *known == name)
}

/// Who has the header of this name, as `#include` spells it.
pub(super) fn owner(header: &str) -> Owner {
    if let Some((_, package)) = FOLDERS.iter().find(|(head, _)| header.starts_with(head)) {
        let inside = *package != CRT || header.starts_with("crt/mma.");
        return Owner::Package(*package, inside);
    }
    if let Some((_, name)) = OF_C.iter().find(|(of_c, _)| *of_c == header) {
        return Owner::Standard(Some(name));
    }
    if let Some(name) = among(WITH_COUNTERPART, header) {
        return Owner::Standard(Some(name));
    }
    if among(WITHOUT_COUNTERPART, header).is_some() {
        return Owner::Standard(None);
    }
    let Some((stem, "h" | "hpp" | "cuh")) = header.rsplit_once('.') else {
        return Owner::Nobody;
    };
    let curand = stem == "curand" || stem.starts_with("curand_");
    if among(RUNTIME_BUNDLED, stem).is_some() {
        Owner::Package(RUNTIME, true)
    } else if among(RUNTIME_OTHERS, stem).is_some() {
        Owner::Package(RUNTIME, false)
    } else if curand {
        Owner::Package(CURAND, false)
    } else if among(MATHDX_ALL, stem).is_some() {
        Owner::Package(MATHDX, false)
    } else if among(CUBLAS_ALL, stem).is_some() {
        Owner::Package(CUBLAS, false)
    } else {
        Owner::Nobody
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use rstest::rstest;

    fn toolkit(version: &str) -> PathBuf {
        let nvidia = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("target/toolkits")
            .join(version)
            .join("nvidia");
        assert!(
            nvidia.is_dir(),
            "install it with `cargo xtask toolkit {version}`"
        );
        nvidia
    }

    fn names(folder: &Path) -> BTreeSet<String> {
        std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[rstest]
    #[case("cuda_fp16.h", Owner::Package(RUNTIME, true))]
    #[case("cuda_fp16_tools.h", Owner::Nobody)]
    #[case("cooperative_groups/reduce.h", Owner::Package(RUNTIME, true))]
    #[case("cuda/std/vector", Owner::Package(CCCL, true))]
    #[case("crt/mma.h", Owner::Package(CRT, true))]
    #[case("crt/host_defines.h", Owner::Package(CRT, false))]
    #[case("curand_kernel.h", Owner::Package(CURAND, false))]
    #[case("cublasdx.hpp", Owner::Package(MATHDX, false))]
    #[case("cublas_v2.h", Owner::Package(CUBLAS, false))]
    #[case("vector", Owner::Standard(None))]
    #[case("stdint.h", Owner::Standard(Some("cstdint")))]
    #[case("mine.h", Owner::Nobody)]
    #[case("", Owner::Nobody)]
    fn the_owner_of_a_header_is_known(#[case] header: &str, #[case] expected: Owner) {
        assert_eq!(owner(header), expected);
    }

    #[rstest]
    #[case("12.0", "cuda_runtime/include")]
    #[case("12.9", "cuda_runtime/include")]
    #[case("13.5", "cu13/include")]
    fn every_header_of_the_runtime_has_an_owner(#[case] version: &str, #[case] folder: &str) {
        let names = names(&toolkit(version).join(folder));
        let of_others = ["nvJitLink.h", "nvrtc.h", "nvvm.h"];
        let mut seen = 0;
        for name in names.iter().filter(|n| n.contains(".h")) {
            if !of_others.contains(&name.as_str()) {
                assert!(
                    matches!(owner(name), Owner::Package(RUNTIME, _)),
                    "{name} of {version}"
                );
                seen += 1;
            }
        }
        assert!(seen > 60, "{seen} in {folder} of {version}");
    }

    #[test]
    fn every_counterpart_is_there_and_none_that_is_denied() {
        let folder = toolkit("13.5").join("cu13/include/cccl/cuda/std");
        let there = names(&folder);
        for name in WITH_COUNTERPART.split_whitespace() {
            assert!(there.contains(name), "{name}");
        }
        for name in WITHOUT_COUNTERPART.split_whitespace() {
            assert!(!there.contains(name), "{name}");
        }
        for (_, name) in OF_C {
            assert!(WITH_COUNTERPART.split_whitespace().any(|n| n == name));
        }
    }
}
