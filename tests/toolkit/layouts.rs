//! Each way in which toolkits are laid out, on made-up machines.

use std::sync::Arc;

use cuda_program::toolkit::{Environment, Part, Platform, Toolkit};
use rstest::rstest;

use crate::machine::{MadeUp, linux, usable, usable_of};

const WHEELS_13: &str = "
    /v/lib/python3.12/site-packages/nvidia/cu13/lib/libnvvm.so.4
    /v/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13
    /v/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.alt.so.13
    /v/lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc-builtins.so.13.0
    /v/lib/python3.12/site-packages/nvidia/cu13/lib/libnvJitLink.so.13
    /v/lib/python3.12/site-packages/nvidia/cu13/nvvm/libdevice/libdevice.10.bc";

const WHEELS_12: &str = "
    /v/lib/python3.12/site-packages/nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so
    /v/lib/python3.12/site-packages/nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc
    /v/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12
    /v/lib/python3.12/site-packages/nvidia/nvjitlink/lib/libnvJitLink.so.12";

const INSTALLER: &str = "
    /v/lib64 -> /v/targets/x86_64-linux/lib
    /v/targets/x86_64-linux/lib/libnvrtc.so -> /v/targets/x86_64-linux/lib/libnvrtc.so.12
    /v/targets/x86_64-linux/lib/libnvrtc.so.12 -> /v/targets/x86_64-linux/lib/libnvrtc.so.12.4.127
    /v/targets/x86_64-linux/lib/libnvrtc.so.12.4.127
    /v/targets/x86_64-linux/lib/libnvJitLink.so.12
    /v/targets/x86_64-linux/lib/stubs/libnvrtc.so
    /v/nvvm/lib64/libnvvm.so -> /v/nvvm/lib64/libnvvm.so.4
    /v/nvvm/lib64/libnvvm.so.4 -> /v/nvvm/lib64/libnvvm.so.4.0.0
    /v/nvvm/lib64/libnvvm.so.4.0.0
    /v/nvvm/libdevice/libdevice.10.bc";

const CONDA: &str = "
    /v/lib/libnvrtc.so.12
    /v/lib/libnvJitLink.so.12
    /v/nvvm/lib64/libnvvm.so.4
    /v/nvvm/libdevice/libdevice.10.bc
    /v/conda-meta/cuda-nvrtc-12.4.127-0.json";

const CONDA_TARGETS: &str = "
    /v/targets/x86_64-linux/lib/libnvrtc.so.13
    /v/targets/x86_64-linux/lib/libnvJitLink.so.13
    /v/targets/x86_64-linux/lib/libnvvm.so.4
    /v/nvvm/libdevice/libdevice.10.bc";

const DEBIAN: &str = "
    /v/lib/x86_64-linux-gnu/libnvvm.so.4
    /v/lib/x86_64-linux-gnu/libnvrtc.so.12
    /v/lib/x86_64-linux-gnu/libnvJitLink.so.12
    /v/lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc";

fn below_v(files: &str, part: Part) -> Vec<String> {
    let builder = Toolkit::builder()
        .environment(linux(files))
        .root("/v")
        .only();
    usable_of(builder.candidates(part))
        .into_iter()
        .map(|path| path.trim_start_matches("/v/").to_owned())
        .collect()
}

/// The one file of each part; every other name of the same file is left out.
#[rstest]
#[case::wheels_of_13(WHEELS_13, [
    "lib/python3.12/site-packages/nvidia/cu13/lib/libnvvm.so.4",
    "lib/python3.12/site-packages/nvidia/cu13/nvvm/libdevice/libdevice.10.bc",
    "lib/python3.12/site-packages/nvidia/cu13/lib/libnvrtc.so.13",
    "lib/python3.12/site-packages/nvidia/cu13/lib/libnvJitLink.so.13",
])]
#[case::wheels_of_12(WHEELS_12, [
    "lib/python3.12/site-packages/nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so",
    "lib/python3.12/site-packages/nvidia/cuda_nvcc/nvvm/libdevice/libdevice.10.bc",
    "lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
    "lib/python3.12/site-packages/nvidia/nvjitlink/lib/libnvJitLink.so.12",
])]
#[case::installer(INSTALLER, [
    "nvvm/lib64/libnvvm.so.4.0.0",
    "nvvm/libdevice/libdevice.10.bc",
    "lib64/libnvrtc.so.12.4.127",
    "lib64/libnvJitLink.so.12",
])]
#[case::conda(CONDA, [
    "nvvm/lib64/libnvvm.so.4",
    "nvvm/libdevice/libdevice.10.bc",
    "lib/libnvrtc.so.12",
    "lib/libnvJitLink.so.12",
])]
#[case::conda_targets(CONDA_TARGETS, [
    "targets/x86_64-linux/lib/libnvvm.so.4",
    "nvvm/libdevice/libdevice.10.bc",
    "targets/x86_64-linux/lib/libnvrtc.so.13",
    "targets/x86_64-linux/lib/libnvJitLink.so.13",
])]
#[case::debian(DEBIAN, [
    "lib/x86_64-linux-gnu/libnvvm.so.4",
    "lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc",
    "lib/x86_64-linux-gnu/libnvrtc.so.12",
    "lib/x86_64-linux-gnu/libnvJitLink.so.12",
])]
fn every_layout_has_one_file_for_each_part(#[case] files: &str, #[case] expected: [&str; 4]) {
    for (part, file) in Part::ALL.into_iter().zip(expected) {
        assert_eq!(below_v(files, part), [file], "{part}");
    }
}

#[rstest]
#[case("/v")]
#[case("/v/lib/python3.12/site-packages")]
#[case("/v/lib/python3.12/site-packages/nvidia")]
#[case("/v/lib/python3.12/site-packages/nvidia/cu13")]
fn wheels_are_found_from_any_folder_above_them(#[case] root: &str) {
    let builder = Toolkit::builder()
        .environment(linux(WHEELS_13))
        .root(root)
        .only();
    for part in Part::ALL {
        assert_eq!(usable_of(builder.candidates(part)).len(), 1, "{part}");
    }
}

#[test]
fn a_relative_root_starts_from_the_current_folder() {
    let environment = linux(CONDA).with_current_folder("/v");
    let builder = Toolkit::builder().environment(environment).root(".").only();
    assert_eq!(
        usable_of(builder.candidates(Part::Nvrtc)),
        ["/v/lib/libnvrtc.so.12"]
    );
}

#[test]
fn wheels_of_13_go_before_wheels_of_12_beside_them() {
    let both = format!("{WHEELS_13}{WHEELS_12}");
    let found = below_v(&both, Part::Nvvm);
    assert_eq!(
        found,
        [
            "lib/python3.12/site-packages/nvidia/cu13/lib/libnvvm.so.4",
            "lib/python3.12/site-packages/nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so",
        ]
    );
}

#[test]
fn the_newest_python_goes_first_by_number() {
    let files = "
        /v/lib/python3.9/site-packages/nvidia/cu13/lib/libnvvm.so.4
        /v/lib/python3.13/site-packages/nvidia/cu13/lib/libnvvm.so.4";
    assert_eq!(
        below_v(files, Part::Nvvm),
        [
            "lib/python3.13/site-packages/nvidia/cu13/lib/libnvvm.so.4",
            "lib/python3.9/site-packages/nvidia/cu13/lib/libnvvm.so.4",
        ]
    );
}

#[test]
fn the_newest_versioned_name_in_a_folder_goes_first() {
    let files = "
        /v/lib64/libnvrtc.so
        /v/lib64/libnvrtc.so.11.2
        /v/lib64/libnvrtc.so.12
        /v/lib64/libnvrtc.so.13
        /v/lib64/libnvrtc.so.9";
    assert_eq!(
        below_v(files, Part::Nvrtc),
        [
            "lib64/libnvrtc.so.13",
            "lib64/libnvrtc.so.12",
            "lib64/libnvrtc.so.11.2",
            "lib64/libnvrtc.so.9",
            "lib64/libnvrtc.so",
        ]
    );
}

#[test]
fn stubs_are_shown_and_never_of_use() {
    let files = "
        /v/lib64/stubs/libnvrtc.so
        /v/lib64/libnvJitLink.so -> /v/lib64/stubs/libnvJitLink.so
        /v/lib64/stubs/libnvJitLink.so";
    let builder = Toolkit::builder()
        .environment(linux(files))
        .root("/v")
        .only();
    let shown: Vec<String> = Part::ALL
        .into_iter()
        .flat_map(|part| builder.candidates(part))
        .map(|c| c.to_string())
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    libNVVM: /v (given in code): it has no libnvvm.so*
    libdevice: /v (given in code): it has no libdevice.*.bc
    NVRTC: /v/lib64/stubs/libnvrtc.so (given in code): it is a stub for linking, which does nothing
    nvJitLink: /v/lib64/libnvJitLink.so (given in code): it is a stub for linking, which does nothing
    ");
    insta::assert_snapshot!(builder.build().unwrap_err(), @r"
    the CUDA toolkit that was asked for was not found; name a toolkit's folder, a site-packages folder with NVIDIA's wheels, or a conda prefix, or use Toolkit::discover() to search the usual places; tried, in this order:
      /v (given in code): it has only stubs for linking, such as /v/lib64/stubs/libnvrtc.so
    ");
}

#[test]
fn a_library_for_arm_is_looked_for_in_the_folders_for_arm() {
    let files = MadeUp::new(
        "/v/targets/sbsa-linux/lib/libnvrtc.so.13
         /v/targets/x86_64-linux/lib/libnvrtc.so.13",
    );
    let builder = Toolkit::builder()
        .environment(Environment::new(Platform::LinuxAarch64, Arc::new(files)))
        .root("/v")
        .only();
    assert_eq!(
        usable_of(builder.candidates(Part::Nvrtc)),
        ["/v/targets/sbsa-linux/lib/libnvrtc.so.13"]
    );
}

#[rstest]
#[case::installer_of_13("CUDA_PATH", r"C:\CUDA\v13.0", [
    r"C:\CUDA\v13.0\nvvm\bin\x64\nvvm64_40_0.dll",
    r"C:\CUDA\v13.0\nvvm\libdevice\libdevice.10.bc",
    r"C:\CUDA\v13.0\bin\x64\nvrtc64_130_0.dll",
    r"C:\CUDA\v13.0\bin\x64\nvJitLink_130_0.dll",
])]
#[case::installer_of_12("CUDA_PATH", r"D:\CUDA\v12.9", [
    r"D:\CUDA\v12.9\nvvm\bin\nvvm64_40_0.dll",
    r"D:\CUDA\v12.9\nvvm\libdevice\libdevice.10.bc",
    r"D:\CUDA\v12.9\bin\nvrtc64_120_0.dll",
    r"D:\CUDA\v12.9\bin\nvJitLink_120_0.dll",
])]
#[case::program_files("ProgramFiles", r"E:\Programs", [
    r"E:\Programs\NVIDIA GPU Computing Toolkit\CUDA\v13.5\nvvm\bin\x64\nvvm64_40_0.dll",
    r"E:\Programs\NVIDIA GPU Computing Toolkit\CUDA\v13.5\nvvm\libdevice\libdevice.10.bc",
    r"E:\Programs\NVIDIA GPU Computing Toolkit\CUDA\v13.5\bin\x64\nvrtc64_130_0.dll",
    r"E:\Programs\NVIDIA GPU Computing Toolkit\CUDA\v13.5\bin\x64\nvJitLink_130_0.dll",
])]
#[case::wheels_of_13("VIRTUAL_ENV", r"C:\venv", [
    r"C:\venv\Lib\site-packages\nvidia\cu13\bin\x86_64\nvvm64_40_0.dll",
    r"C:\venv\Lib\site-packages\nvidia\cu13\nvvm\libdevice\libdevice.10.bc",
    r"C:\venv\Lib\site-packages\nvidia\cu13\bin\x86_64\nvrtc64_130_0.dll",
    r"C:\venv\Lib\site-packages\nvidia\cu13\bin\x86_64\nvJitLink_130_0.dll",
])]
#[case::wheels_of_12("VIRTUAL_ENV", r"C:\venv", [
    r"C:\venv\Lib\site-packages\nvidia\cuda_nvcc\nvvm\bin\nvvm64_40_0.dll",
    r"C:\venv\Lib\site-packages\nvidia\cuda_nvcc\nvvm\libdevice\libdevice.10.bc",
    r"C:\venv\Lib\site-packages\nvidia\cuda_nvrtc\bin\nvrtc64_120_0.dll",
    r"C:\venv\Lib\site-packages\nvidia\nvjitlink\bin\nvJitLink_120_0.dll",
])]
#[case::conda("CONDA_PREFIX", r"C:\conda", [
    r"C:\conda\Library\nvvm\bin\nvvm64_40_0.dll",
    r"C:\conda\Library\nvvm\libdevice\libdevice.10.bc",
    r"C:\conda\Library\bin\nvrtc64_120_0.dll",
    r"C:\conda\Library\bin\nvJitLink_120_0.dll",
])]
#[case::user_packages("APPDATA", r"C:\Users\me\AppData", [
    r"C:\Users\me\AppData\Python\Python312\site-packages\nvidia\cu13\bin\x86_64\nvvm64_40_0.dll",
    r"C:\Users\me\AppData\Python\Python312\site-packages\nvidia\cu13\nvvm\libdevice\libdevice.10.bc",
    r"C:\Users\me\AppData\Python\Python312\site-packages\nvidia\cu13\bin\x86_64\nvrtc64_130_0.dll",
    r"C:\Users\me\AppData\Python\Python312\site-packages\nvidia\cu13\bin\x86_64\nvJitLink_130_0.dll",
])]
fn windows_layouts_have_one_file_for_each_part(
    #[case] variable: &str,
    #[case] value: &str,
    #[case] files: [&str; 4],
) {
    let environment = Environment::new(
        Platform::WindowsX86_64,
        Arc::new(MadeUp::new(&files.join("\n"))),
    )
    .with_variable(variable, value);
    for (part, file) in Part::ALL.into_iter().zip(files) {
        assert_eq!(
            usable(&environment, part),
            [file.replace('\\', "/")],
            "{part}"
        );
    }
}
