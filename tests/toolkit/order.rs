//! Which place goes before which, on made-up machines.

use cuda_program::toolkit::{Environment, Part, Reason, Toolkit};
use rstest::rstest;

use crate::machine::{installed, linux, usable, usable_of};

/// A machine with a complete toolkit in every place that is looked at.
fn full() -> Environment {
    let roots = [
        "/named",
        "/venv",
        "/conda",
        "/mapped",
        "/home-of-cuda",
        "/path-of-cuda",
        "/usr/local/cuda-13.9",
        "/usr/local/cuda-13.10",
        "/usr/local/cuda-9.0",
        "/opt/cuda",
        "/home/me/.local/lib/python3.12/site-packages/nvidia/cu13",
        "/usr/local/lib/python3.12/dist-packages/nvidia/cu13",
        "/usr/lib/python3/dist-packages/nvidia/cu13",
    ];
    let files: String = roots.iter().map(|root| installed(root)).collect();
    linux(&format!("{files}\n/usr/local/cuda -> /usr/local/cuda-13.9"))
        .with_variable("CUDA_PROGRAM_TOOLKIT", "/named")
        .with_variable("VIRTUAL_ENV", "/venv")
        .with_variable("CONDA_PREFIX", "/conda")
        .with_variable("CUDA_HOME", "/home-of-cuda")
        .with_variable("CUDA_PATH", "/path-of-cuda")
        .with_variable("HOME", "/home/me")
        .with_mapped("/usr/lib/libc.so.6")
        .with_mapped("/mapped/lib64/libnvrtc.so.13")
}

fn shown(environment: &Environment, part: Part) -> String {
    let shown: Vec<String> = Toolkit::builder()
        .environment(environment.clone())
        .candidates(part)
        .iter()
        .map(ToString::to_string)
        .collect();
    shown.join("\n")
}

#[test]
fn places_are_tried_in_the_documented_order() {
    insta::assert_snapshot!(shown(&full(), Part::Nvvm), @r"
    libNVVM: /named/nvvm/lib64/libnvvm.so.4 (CUDA_PROGRAM_TOOLKIT)
    libNVVM: /venv/nvvm/lib64/libnvvm.so.4 (VIRTUAL_ENV)
    libNVVM: /conda/nvvm/lib64/libnvvm.so.4 (CONDA_PREFIX)
    libNVVM: /mapped/nvvm/lib64/libnvvm.so.4 (beside a library already in this process)
    libNVVM: /home-of-cuda/nvvm/lib64/libnvvm.so.4 (CUDA_HOME)
    libNVVM: /path-of-cuda/nvvm/lib64/libnvvm.so.4 (CUDA_PATH)
    libNVVM: /usr/local/cuda-13.10/nvvm/lib64/libnvvm.so.4 (well-known folder)
    libNVVM: /usr/local/cuda-13.9/nvvm/lib64/libnvvm.so.4 (well-known folder)
    libNVVM: /usr/local/cuda-9.0/nvvm/lib64/libnvvm.so.4 (well-known folder)
    libNVVM: /opt/cuda/nvvm/lib64/libnvvm.so.4 (well-known folder)
    libNVVM: /home/me/.local/lib/python3.12/site-packages/nvidia/cu13/nvvm/lib64/libnvvm.so.4 (well-known folder)
    libNVVM: /usr/local/lib/python3.12/dist-packages/nvidia/cu13/nvvm/lib64/libnvvm.so.4 (well-known folder)
    libNVVM: /usr/lib/python3/dist-packages/nvidia/cu13/nvvm/lib64/libnvvm.so.4 (well-known folder)
    libNVVM: libnvvm.so.4 (the system's loader)
    ");
    insta::assert_snapshot!(shown(&full(), Part::Nvrtc), @r"
    NVRTC: /named/lib64/libnvrtc.so.13 (CUDA_PROGRAM_TOOLKIT)
    NVRTC: /venv/lib64/libnvrtc.so.13 (VIRTUAL_ENV)
    NVRTC: /conda/lib64/libnvrtc.so.13 (CONDA_PREFIX)
    NVRTC: /mapped/lib64/libnvrtc.so.13 (already in this process)
    NVRTC: /home-of-cuda/lib64/libnvrtc.so.13 (CUDA_HOME)
    NVRTC: /path-of-cuda/lib64/libnvrtc.so.13 (CUDA_PATH)
    NVRTC: /usr/local/cuda-13.10/lib64/libnvrtc.so.13 (well-known folder)
    NVRTC: /usr/local/cuda-13.9/lib64/libnvrtc.so.13 (well-known folder)
    NVRTC: /usr/local/cuda-9.0/lib64/libnvrtc.so.13 (well-known folder)
    NVRTC: /opt/cuda/lib64/libnvrtc.so.13 (well-known folder)
    NVRTC: /home/me/.local/lib/python3.12/site-packages/nvidia/cu13/lib64/libnvrtc.so.13 (well-known folder)
    NVRTC: /usr/local/lib/python3.12/dist-packages/nvidia/cu13/lib64/libnvrtc.so.13 (well-known folder)
    NVRTC: /usr/lib/python3/dist-packages/nvidia/cu13/lib64/libnvrtc.so.13 (well-known folder)
    NVRTC: libnvrtc.so.13 (the system's loader)
    NVRTC: libnvrtc.so.12 (the system's loader)
    ");
}

#[test]
fn what_code_names_goes_before_all_that_the_environment_names() {
    let builder = Toolkit::builder()
        .environment(full())
        .root("/opt/cuda")
        .nvrtc("/conda/lib64/libnvrtc.so.13");
    let nvvm = usable_of(builder.candidates(Part::Nvvm));
    assert_eq!(
        nvvm[..2],
        [
            "/opt/cuda/nvvm/lib64/libnvvm.so.4",
            "/named/nvvm/lib64/libnvvm.so.4"
        ]
    );
    let nvrtc = builder.candidates(Part::Nvrtc);
    assert_eq!(nvrtc.len(), 1, "a given file is the only candidate");
    assert_eq!(nvrtc[0].because, Reason::Code);
    assert_eq!(nvrtc[0].path.to_str(), Some("/conda/lib64/libnvrtc.so.13"));
}

#[test]
fn only_looks_nowhere_else() {
    let builder = Toolkit::builder()
        .environment(full())
        .root("/opt/cuda")
        .only();
    for part in Part::ALL {
        let candidates = builder.candidates(part);
        assert!(
            candidates.iter().all(|c| c.path.starts_with("/opt/cuda")),
            "{candidates:?}"
        );
        assert_eq!(candidates.len(), 1);
    }
}

#[test]
fn a_virtual_environment_goes_before_cuda_home() {
    let files = installed("/venv/lib/python3.12/site-packages/nvidia/cu13") + &installed("/cuda");
    let environment = linux(&files)
        .with_variable("VIRTUAL_ENV", "/venv")
        .with_variable("CUDA_HOME", "/cuda");
    assert_eq!(
        usable(&environment, Part::Nvvm)[0],
        "/venv/lib/python3.12/site-packages/nvidia/cu13/nvvm/lib64/libnvvm.so.4"
    );
}

#[test]
fn a_complete_toolkit_goes_before_an_earlier_partial_one() {
    let files = format!(
        "{}/venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
        installed("/cuda")
    );
    let environment = linux(&files)
        .with_variable("VIRTUAL_ENV", "/venv")
        .with_variable("CUDA_HOME", "/cuda");
    assert_eq!(
        usable(&environment, Part::Nvrtc),
        [
            "/cuda/lib64/libnvrtc.so.13",
            "/venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
        ]
    );
}

#[test]
fn a_toolkit_with_stubs_for_a_part_is_not_complete() {
    let files = format!(
        "{}/stubs-only/nvvm/lib64/libnvvm.so.4
         /stubs-only/nvvm/libdevice/libdevice.10.bc
         /stubs-only/lib64/stubs/libnvrtc.so
         /stubs-only/lib64/libnvJitLink.so.13",
        installed("/cuda")
    );
    let environment = linux(&files)
        .with_variable("CUDA_HOME", "/stubs-only")
        .with_variable("CUDA_PATH", "/cuda");
    assert_eq!(
        usable(&environment, Part::Nvvm)[0],
        "/cuda/nvvm/lib64/libnvvm.so.4"
    );
}

#[test]
fn a_named_toolkit_wins_for_what_it_has_even_where_it_is_partial() {
    let files = format!("{}/named/lib64/libnvrtc.so.12", installed("/cuda"));
    let environment = linux(&files)
        .with_variable("CUDA_PROGRAM_TOOLKIT", "/named")
        .with_variable("CUDA_HOME", "/cuda");
    assert_eq!(
        usable(&environment, Part::Nvrtc)[0],
        "/named/lib64/libnvrtc.so.12"
    );
    assert_eq!(
        usable(&environment, Part::Nvvm),
        ["/cuda/nvvm/lib64/libnvvm.so.4"]
    );
}

#[test]
fn a_mapped_library_is_not_passed_over_for_a_complete_toolkit_after_it() {
    let files = format!(
        "{}/torch/nvidia/nvjitlink/lib/libnvJitLink.so.12",
        installed("/cuda")
    );
    let environment = linux(&files)
        .with_mapped("/torch/nvidia/nvjitlink/lib/libnvJitLink.so.12")
        .with_variable("CUDA_HOME", "/cuda");
    assert_eq!(
        usable(&environment, Part::NvJitLink)[0],
        "/torch/nvidia/nvjitlink/lib/libnvJitLink.so.12"
    );
    assert_eq!(
        usable(&environment, Part::Nvvm),
        ["/cuda/nvvm/lib64/libnvvm.so.4"]
    );
}

#[test]
fn versions_are_compared_as_numbers() {
    let files = installed("/usr/local/cuda-13.9") + &installed("/usr/local/cuda-13.10");
    assert_eq!(
        usable(&linux(&files), Part::Nvrtc),
        [
            "/usr/local/cuda-13.10/lib64/libnvrtc.so.13",
            "/usr/local/cuda-13.9/lib64/libnvrtc.so.13",
        ]
    );
}

#[rstest]
#[case("CUDA_HOME")]
#[case("CUDA_PATH")]
#[case("VIRTUAL_ENV")]
#[case("CONDA_PREFIX")]
fn a_stale_variable_is_passed_over(#[case] variable: &str) {
    let environment = linux(&installed("/opt/cuda")).with_variable(variable, "/gone");
    assert_eq!(
        usable(&environment, Part::Nvvm),
        ["/opt/cuda/nvvm/lib64/libnvvm.so.4"]
    );
    assert!(
        shown(&environment, Part::Nvvm)
            .contains(&format!("libNVVM: /gone ({variable}): no such folder"))
    );
}

#[test]
fn a_named_toolkit_that_is_not_there_is_an_error_whatever_else_is_installed() {
    let environment = linux(&installed("/opt/cuda")).with_variable("CUDA_PROGRAM_TOOLKIT", "/gone");
    let error = Toolkit::builder()
        .environment(environment)
        .build()
        .unwrap_err();
    insta::assert_snapshot!(error, @r"
    the CUDA toolkit that was asked for was not found; set CUDA_PROGRAM_TOOLKIT to a toolkit's folder, a site-packages folder with NVIDIA's wheels, or a conda prefix, or unset it to search the usual places; tried, in this order:
      /gone (CUDA_PROGRAM_TOOLKIT): no such folder
    ");
}

#[test]
fn a_root_without_any_part_is_an_error_that_says_so() {
    let builder = Toolkit::builder()
        .environment(linux("/mine/readme.txt"))
        .root("/mine")
        .root("/mine/readme.txt")
        .only();
    insta::assert_snapshot!(builder.build().unwrap_err(), @r"
    the CUDA toolkit that was asked for was not found; name a toolkit's folder, a site-packages folder with NVIDIA's wheels, or a conda prefix, or use Toolkit::discover() to search the usual places; tried, in this order:
      /mine (given in code): it has no part of a CUDA toolkit where an installer, a wheel or conda puts one
      /mine/readme.txt (given in code): it is a file, where a folder is needed
    ");
}

#[test]
fn an_empty_machine_is_told_every_place_that_was_tried() {
    let environment = linux("/usr/lib/libc.so.6")
        .with_variable("HOME", "/home/me")
        .with_variable("CUDA_HOME", "/usr/local/cuda-12.0")
        .with_variable("CUDA_PATH", "")
        .with_loader(false);
    let error = Toolkit::builder()
        .environment(environment)
        .build()
        .unwrap_err();
    insta::assert_snapshot!(error, @r"
    a compiler of NVIDIA's (libNVVM, NVRTC or nvJitLink) was not found; install it into the active virtual environment with `python3 -m pip install nvidia-nvvm nvidia-cuda-nvrtc nvidia-nvjitlink`, or set CUDA_PROGRAM_TOOLKIT or CUDA_HOME to an installed toolkit; in the crate's own repository, run `cargo xtask toolkit` and set CUDA_PROGRAM_TOOLKIT to target/toolkits/<version>; tried, in this order:
      /usr/local/cuda-12.0 (CUDA_HOME): no such folder
      /usr/local/cuda-* (well-known folder): no such folder
      /usr/local/cuda (well-known folder): no such folder
      /opt/cuda (well-known folder): no such folder
      /home/me/.local (well-known folder): no such folder
      /usr/local (well-known folder): no such folder
      /usr (well-known folder): it has no libnvvm.so*
      /usr (well-known folder): it has no libnvrtc.so*
      /usr (well-known folder): it has no libnvJitLink.so*
    ");
}
