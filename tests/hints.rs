//! What a person reads where something common went wrong: the sentence, the place, and what to do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{NEWEST, TARGET, calls, ending, store, toolkit};
use cuda_program::error::Error;
use cuda_program::link::{InputKind, Options as LinkOptions};
use cuda_program::nvvm::{Libdevice, Options, Program, Repair};
use cuda_program::{Arch, Cubin, Linker, LtoIr, Ptx, nvrtc};

/// As `{:#}`, without what differs from one machine to another.
fn shown(error: &Error) -> String {
    let root = format!("{}/target/toolkits", env!("CARGO_MANIFEST_DIR"));
    let shown = format!("{error:#}").replace(&root, "[toolkits]");
    // Its number changes with what the process linked before.
    let lines = shown.lines().map(|line| {
        if line.starts_with("ERROR ") && line.ends_with(": complete") {
            return "ERROR [number]: complete\n".to_owned();
        }
        format!("{line}\n")
    });
    lines.collect()
}

fn nvvm<T: cuda_program::nvvm::Output>(version: &str, module: &str, options: &Options) -> Error {
    let program = Program::new(&toolkit(version)).unwrap();
    match program.add_module("k.ll", module) {
        Err(error) => error,
        Ok(()) => match program.compile::<T>(options) {
            Err(error) => error,
            Ok(_) => panic!("it compiles"),
        },
    }
}

fn cpp<T: nvrtc::Output>(version: &str, source: &str) -> Error {
    let program = nvrtc::Program::new(&toolkit(version), "k.cu", source).unwrap();
    match program.compile::<T>(&nvrtc::Options::new(Arch::SM_80)) {
        Err(error) => error,
        Ok(_) => panic!("it compiles"),
    }
}

fn link(linker: Linker) -> Error {
    linker.link::<Cubin>().unwrap_err()
}

fn ptx(body: &str) -> Ptx {
    Ptx::from_text(format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n{body}"
    ))
    .unwrap()
}

#[test]
fn opaque_pointers_for_the_older_compiler() {
    let module = store("k", 7)
        .replace("i32* %p", "ptr %p")
        .replace("void (i32*)*", "ptr");
    let error = nvvm::<Ptx>("12.9", &module, &Options::new(Arch::SM_90));
    insta::assert_snapshot!(shown(&error), @r"
    k.ll:3: the type `ptr` is newer than LLVM 7, whose IR libNVVM 12.9 ([toolkits]/12.9/nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so) reads for compute_90, and it has no newer NVVM; compile for compute_100 or newer, use a libNVVM with the newer NVVM (CUDA 13.5), or write the module for LLVM 7, with typed pointers
      3 | define void @k(ptr %p) {
        |                ^
    ");
}

#[test]
fn a_parse_error_of_the_library() {
    let module = store("k", 7).replace("ret void", "ret vod");
    let error = nvvm::<Ptx>(NEWEST, &module, &Options::new(Arch::SM_90));
    insta::assert_snapshot!(shown(&error), @r"
    libNVVM failed to compile with NVVM_ERROR_COMPILATION (9): k.ll:5:7: expected type
    error: k.ll:5:7: expected type
      5 |   ret vod
        |       ^
    library: libNVVM 13.5 ([toolkits]/13.5/nvidia/cu13/lib/libnvvm.so.4)
    options: -arch=compute_90
    log:
    k.ll (5, 6): parse expected type
    ");
}

#[test]
fn no_nvvm_ir_version() {
    let module = store("k", 7).replace("!nvvmir.version", "!other");
    let options = Options::new(Arch::SM_90).repair(Repair::Off);
    insta::assert_snapshot!(shown(&nvvm::<Ptx>(NEWEST, &module, &options)), @"k.ll: it has no `!nvvmir.version`, which every module that is not lazy needs; add the lines `!nvvmir.version = !{!0}` and `!0 = !{i32 2, i32 0}` (with a number that is free), or allow it with `repair`");
}

#[test]
fn another_nvvm_ir_version() {
    let module = store("k", 7).replace("!{i32 2, i32 0}", "!{i32 1, i32 6}");
    let options = Options::new(Arch::SM_90).repair(Repair::Off);
    insta::assert_snapshot!(shown(&nvvm::<Ptx>(NEWEST, &module, &options)), @r"
    libNVVM failed to compile with NVVM_ERROR_IR_VERSION_MISMATCH (3): k.ll: IR version 1.6 incompatible with current version 2.0 Consider inserting/updating nvvmir.version module metadata. For example: !nvvmir.version = !{!0} !0 = !{i32 2, i32 0, i32 3, i32 2}; the library reads `!nvvmir.version` 2.0, with debug metadata up to 3.2: write `!{i32 2, i32 0}`, and two more numbers only where there is debug metadata
    library: libNVVM 13.5 ([toolkits]/13.5/nvidia/cu13/lib/libnvvm.so.4)
    options: -arch=compute_90
    log:
    k.ll: error: IR version 1.6 incompatible with current version 2.0

    Consider inserting/updating nvvmir.version module metadata. For example:
    !nvvmir.version = !{!0}
    !0 = !{i32 2, i32 0, i32 3, i32 2}
    ");
}

#[test]
fn no_data_layout() {
    let module = store("k", 7).replace(TARGET.lines().next().unwrap(), "");
    let options = Options::new(Arch::SM_90).repair(Repair::Off);
    insta::assert_snapshot!(shown(&nvvm::<Ptx>(NEWEST, &module, &options)), @r#"k.ll: it has no data layout; add the line `target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"`, or allow it with `repair`"#);
}

#[test]
fn another_triple() {
    let module = store("k", 7).replace("nvptx64-nvidia-cuda", "x86_64-unknown-linux-gnu");
    let options = Options::new(Arch::SM_90).repair(Repair::Off);
    insta::assert_snapshot!(shown(&nvvm::<Ptx>(NEWEST, &module, &options)), @r#"
    k.ll:2: its target triple is "x86_64-unknown-linux-gnu"; libNVVM compiles 64-bit code for NVIDIA GPUs alone: use "nvptx64-nvidia-cuda"
      2 | target triple = "x86_64-unknown-linux-gnu"
    "#);
}

#[test]
fn newer_bitcode_for_the_older_compiler() {
    let path = format!(
        "{}/fixtures/bitcode/every.llvm19.bc",
        env!("CARGO_MANIFEST_DIR")
    );
    let program = Program::new(&toolkit("12.9")).unwrap();
    program
        .add_module("k.bc", std::fs::read(path).unwrap())
        .unwrap();
    let error = program
        .compile::<Ptx>(&Options::new(Arch::SM_90))
        .unwrap_err();
    insta::assert_snapshot!(shown(&error), @"k.bc: opaque pointers is newer than LLVM 7, whose IR libNVVM 12.9 ([toolkits]/12.9/nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so) reads for compute_90 (the module was written by LLVM19.1.7), and it has no newer NVVM; compile for compute_100 or newer, use a libNVVM with the newer NVVM (CUDA 13.5), or write the module for LLVM 7, with typed pointers");
}

#[test]
fn an_architecture_that_libnvvm_does_not_know() {
    let error = nvvm::<Ptx>("12.9", &store("k", 7), &Options::new(Arch::SM_110));
    insta::assert_snapshot!(shown(&error), @"`compute_110` cannot be the architecture: libNVVM 12.9 ([toolkits]/12.9/nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so) does not know it; the nearest that it knows: compute_101, compute_103, compute_120, compute_121; compile for one of them, or use a newer toolkit");
}

#[test]
fn an_architecture_that_nvrtc_does_not_know() {
    let program = nvrtc::Program::new(&toolkit("12.0"), "k.cu", "__global__ void k() {}").unwrap();
    let error = program
        .compile::<Ptx>(&nvrtc::Options::new(Arch::SM_120))
        .unwrap_err();
    insta::assert_snapshot!(shown(&error), @"`sm_120` cannot be the architecture: NVRTC 12.0 ([toolkits]/12.0/nvidia/cuda_nvrtc/lib/libnvrtc.so.12) does not know it; the nearest that it knows: sm_89, sm_90; compile for one of them, or use another toolkit");
}

#[test]
fn a_function_that_libdevice_does_not_have() {
    let error = nvvm::<Ptx>(
        NEWEST,
        &calls("k", "__nv_sinus"),
        &Options::new(Arch::SM_90),
    );
    insta::assert_snapshot!(shown(&error), @"libNVVM 13.5 ([toolkits]/13.5/nvidia/cu13/lib/libnvvm.so.4) reported success, but the PTX refers to `__nv_sinus` (used by k.ll:3), which nothing defines; libdevice ([toolkits]/13.5/nvidia/cu13/nvvm/libdevice/libdevice.10.bc) has no function of this name either: correct it, add the module that defines it, or set libdevice to `Never` where another link is to bring it");
}

#[test]
fn modules_without_a_kernel() {
    let function = format!(
        "{TARGET}define void @f(i32* %p) {{\n  ret void\n}}\n{}",
        ending(&[])
    );
    let said = [format!("{TARGET}{}", ending(&[])), function].map(|module| {
        let program = Program::new(&toolkit(NEWEST)).unwrap();
        program.add_module("k.ll", module).unwrap();
        let ptx: Ptx = program.compile(&Options::new(Arch::SM_90)).unwrap();
        let said = ptx.diagnostics().iter();
        said.map(|d| format!("{d:#}\n")).collect::<String>()
    });
    insta::assert_snapshot!(said.concat(), @r#"
    warning: the PTX has no kernel, and no function either
      help: a kernel is a function with external linkage that returns void and is named in `!nvvm.annotations` with `!"kernel", i32 1`, or, from compute_100 on, has the calling convention `ptx_kernel`
    note: the PTX has no kernel that could be launched
      help: a kernel is a function with external linkage that returns void and is named in `!nvvm.annotations` with `!"kernel", i32 1`, or, from compute_100 on, has the calling convention `ptx_kernel`
    "#);
}

#[test]
fn a_kernel_name_that_ptx_cannot_spell() {
    let module = store("\"a.b\"", 7);
    let options = Options::new(Arch::SM_90).repair(Repair::Off);
    insta::assert_snapshot!(shown(&nvvm::<Ptx>(NEWEST, &module, &options)), @r#"
    k.ll:3: PTX cannot spell the name `a.b` of a kernel; use letters, digits, `_` and `$`, no digit first and no `WARP_SZ`; in text, `repair` does it
      3 | define void @"a.b"(i32* %p) {
        |               ^
    "#);
}

#[test]
fn an_identifier_that_is_not_declared_with_the_quote_of_the_library() {
    let error = cpp::<Ptx>(
        NEWEST,
        "__global__ void k(int *p) {\n\t  *p = foo + 1;\n}\n",
    );
    insta::assert_snapshot!(shown(&error), @r#"
    NVRTC failed to compile with NVRTC_ERROR_COMPILATION (6): k.cu:2:9: identifier "foo" is undefined
    error: k.cu:2:9: identifier "foo" is undefined
      2 |    *p = foo + 1;
        |         ^
    library: NVRTC 13.5 ([toolkits]/13.5/nvidia/cu13/lib/libnvrtc.so.13)
    options: --gpu-architecture=compute_80 --modify-stack-limit=false --include-path=[toolkits]/13.5/nvidia/cu13/include --include-path=[toolkits]/13.5/nvidia/cu13/include/cccl
    log:
    k.cu(2): error: identifier "foo" is undefined
      	  *p = foo + 1;
      	       ^

    1 error detected in the compilation of "k.cu".
    "#);
}

#[test]
fn an_identifier_that_is_not_declared_with_the_quote_of_the_crate() {
    let error = cpp::<Ptx>(
        "12.0",
        "__global__ void k(int *p) {\n\t  *p = foo + 1;\n}\n",
    );
    insta::assert_snapshot!(shown(&error), @r#"
    NVRTC failed to compile with NVRTC_ERROR_COMPILATION (6): k.cu:2: identifier "foo" is undefined
    error: k.cu:2: identifier "foo" is undefined
      2 |    *p = foo + 1;
    library: NVRTC 12.0 ([toolkits]/12.0/nvidia/cuda_nvrtc/lib/libnvrtc.so.12)
    options: --gpu-architecture=compute_80 --modify-stack-limit=false --include-path=[toolkits]/12.0/nvidia/cuda_runtime/include --include-path=[toolkits]/12.0/nvidia/cuda_nvcc/include --include-path=[toolkits]/12.0/nvidia/cuda_cccl/include
    log:
    k.cu(2): error: identifier "foo" is undefined

    1 error detected in the compilation of "k.cu".
    "#);
}

#[test]
fn an_overload_that_does_not_fit_with_its_notes() {
    let source = "__device__ void f(int);\n__device__ void f(float*);\n\
                  __global__ void k(int *p) { f(\"a\", 3); }\n";
    insta::assert_snapshot!(shown(&cpp::<Ptx>(NEWEST, source)), @r#"
    NVRTC failed to compile with NVRTC_ERROR_COMPILATION (6): k.cu:3:29: no instance of overloaded function "f" matches the argument list argument types are: (const char [2], int)
    error: k.cu:3:29: no instance of overloaded function "f" matches the argument list
                argument types are: (const char [2], int)
      3 | __global__ void k(int *p) { f("a", 3); }
        |                             ^
      note[3322-D]: k.cu:2:17: number of parameters of function "f(float *)" does not match the call
        2 | __device__ void f(float*);
          |                 ^
      note[3322-D]: k.cu:1:17: number of parameters of function "f(int)" does not match the call
        1 | __device__ void f(int);
          |                 ^
    library: NVRTC 13.5 ([toolkits]/13.5/nvidia/cu13/lib/libnvrtc.so.13)
    options: --gpu-architecture=compute_80 --modify-stack-limit=false --include-path=[toolkits]/13.5/nvidia/cu13/include --include-path=[toolkits]/13.5/nvidia/cu13/include/cccl
    log:
    k.cu(3): error: no instance of overloaded function "f" matches the argument list
                argument types are: (const char [2], int)
      __global__ void k(int *p) { f("a", 3); }
                                  ^
    k.cu(2): note #3322-D: number of parameters of function "f(float *)" does not match the call
      __device__ void f(float*);
                      ^
    k.cu(1): note #3322-D: number of parameters of function "f(int)" does not match the call
      __device__ void f(int);
                      ^

    1 error detected in the compilation of "k.cu".
    "#);
}

#[test]
fn a_header_of_a_package() {
    let source = "#include <thrust/sort.h>\n#include <cub/none_such.h>\n";
    insta::assert_snapshot!(shown(&cpp::<Ptx>("12.4", source)), @r#"
    NVRTC failed to compile with NVRTC_ERROR_COMPILATION (6): [toolkits]/12.4/nvidia/cuda_cccl/include/thrust/detail/config/cpp_compatibility.h:31:19: cannot open source file "cstddef"; `cstddef` was not found (searched in [toolkits]/12.4/nvidia/cuda_runtime/include, [toolkits]/12.4/nvidia/cuda_nvcc/include, [toolkits]/12.4/nvidia/cuda_cccl/include); NVRTC has none of the headers of standard C and C++; include `<cuda/std/cstddef>` and use `cuda::std::`
    error: [toolkits]/12.4/nvidia/cuda_cccl/include/thrust/detail/config/cpp_compatibility.h:31:19: cannot open source file "cstddef"
      31 | #include <cstddef>
         |                   ^
    library: NVRTC 12.4 ([toolkits]/12.4/nvidia/cuda_nvrtc/lib/libnvrtc.so.12)
    options: --gpu-architecture=compute_80 --modify-stack-limit=false --include-path=[toolkits]/12.4/nvidia/cuda_runtime/include --include-path=[toolkits]/12.4/nvidia/cuda_nvcc/include --include-path=[toolkits]/12.4/nvidia/cuda_cccl/include
    log:
    [toolkits]/12.4/nvidia/cuda_cccl/include/thrust/detail/config/cpp_compatibility.h(31): catastrophic error: cannot open source file "cstddef"
      #include <cstddef>
                        ^

    1 catastrophic error detected in the compilation of "k.cu".
    Compilation terminated.
    "#);
}

#[test]
fn a_variable_of_the_host() {
    insta::assert_snapshot!(shown(&cpp::<Ptx>(NEWEST, "int a;\n")), @r#"
    NVRTC failed to compile with NVRTC_ERROR_COMPILATION (6): k.cu:1:5: A namespace scope variable without memory space annotations (__device__/__constant__/__shared__/__managed__) is considered a host variable, and host variables are not allowed in JIT mode. Consider using -default-device flag to process unannotated namespace scope variables as __device__ variables in JIT mode; mark it `__device__` or `__constant__`, or set `default_device` of the language options
    error: k.cu:1:5: A namespace scope variable without memory space annotations (__device__/__constant__/__shared__/__managed__) is considered a host variable, and host variables are not allowed in JIT mode. Consider using -default-device flag to process unannotated namespace scope variables as __device__ variables in JIT mode
      1 | int a;
        |     ^
    library: NVRTC 13.5 ([toolkits]/13.5/nvidia/cu13/lib/libnvrtc.so.13)
    options: --gpu-architecture=compute_80 --modify-stack-limit=false --include-path=[toolkits]/13.5/nvidia/cu13/include --include-path=[toolkits]/13.5/nvidia/cu13/include/cccl
    log:
    k.cu(1): error: A namespace scope variable without memory space annotations (__device__/__constant__/__shared__/__managed__) is considered a host variable, and host variables are not allowed in JIT mode. Consider using -default-device flag to process unannotated namespace scope variables as __device__ variables in JIT mode
      int a;
          ^

    1 error detected in the compilation of "k.cu".
    "#);
}

#[test]
fn assembly_that_ptxas_refuses() {
    let source = "__global__ void k(int *p) { asm volatile(\"foo.u32 %0, 1;\" : \"=r\"(*p)); }";
    insta::assert_snapshot!(shown(&cpp::<Cubin>("12.9", source)), @r"
    NVRTC failed to compile with NVRTC_ERROR_COMPILATION (6): ptx input:26: Not a name of any known instruction: 'foo'
    library: NVRTC 12.9 ([toolkits]/12.9/nvidia/cuda_nvrtc/lib/libnvrtc.so.12)
    options: --gpu-architecture=sm_80 --modify-stack-limit=false --include-path=[toolkits]/12.9/nvidia/cuda_runtime/include --include-path=[toolkits]/12.9/nvidia/cuda_nvcc/include --include-path=[toolkits]/12.9/nvidia/cuda_cccl/include
    log:
    ptxas application ptx input, line 26; error   : Not a name of any known instruction: 'foo'
    ptxas fatal   : Ptx assembly aborted due to errors
    ");
}

#[test]
fn a_function_that_no_input_of_a_link_defines() {
    let input = ptx(".extern .func f();\n.visible .entry k() {\n  call f;\n  ret;\n}\n");
    let error = link(Linker::new(&toolkit(NEWEST), Arch::SM_80).add_named("k.ptx", input));
    insta::assert_snapshot!(shown(&error), @r"
    nvJitLink failed to link with NVJITLINK_ERROR_INTERNAL (6) on k.ptx: Undefined reference to 'f' in 'k.ptx'; add the input that defines `f`, which k.ptx uses
    library: nvJitLink 13.5 ([toolkits]/13.5/nvidia/cu13/lib/libnvJitLink.so.13)
    options: -arch=sm_80
    log:
    error   : Undefined reference to 'f' in 'k.ptx'
    ERROR [number]: complete
    ");
}

#[test]
fn ptx_with_a_mistake() {
    let input = ptx(".visible .entry k() {\n  .reg .b32 %r1;\n  add.u32 %r1, %r2, 1;\n  ret;\n}\n");
    let error = link(Linker::new(&toolkit(NEWEST), Arch::SM_80).add_named("k.ptx", input));
    insta::assert_snapshot!(shown(&error), @r"
    nvJitLink failed to add with NVJITLINK_ERROR_PTX_COMPILE (4) on k.ptx: k.ptx:6: Arguments mismatch for instruction 'add' (and 1 more error)
    error: k.ptx:6: Arguments mismatch for instruction 'add'
      6 |   add.u32 %r1, %r2, 1;
    error: k.ptx:6: Unknown symbol '%r2'
      6 |   add.u32 %r1, %r2, 1;
    library: nvJitLink 13.5 ([toolkits]/13.5/nvidia/cu13/lib/libnvJitLink.so.13)
    options: -arch=sm_80
    log:
    ptxas application ptx input, line 6; error   : Arguments mismatch for instruction 'add'
    ptxas application ptx input, line 6; error   : Unknown symbol '%r2'
    ptxas fatal   : Ptx assembly aborted due to errors
    ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (k.ptx)
    ");
}

#[test]
fn a_kernel_with_too_much_shared_memory() {
    let input = ptx(
        ".shared .b8 big[999999];\n.visible .entry k() {\n  .reg .b64 %rd;\n  mov.u64 %rd, big;\n  \
         st.u8 [%rd], 1;\n  ret;\n}\n",
    );
    let error = link(Linker::new(&toolkit(NEWEST), Arch::SM_80).add_named("k.ptx", input));
    insta::assert_snapshot!(shown(&error), @r"
    nvJitLink failed to link with NVJITLINK_ERROR_INTERNAL (6) on k.ptx: Entry function 'k' uses too much shared data (0xf423f bytes, 0xc000 max); a kernel may declare 48 KiB of shared memory: take less, or declare it `extern` and ask for it at the launch
    library: nvJitLink 13.5 ([toolkits]/13.5/nvidia/cu13/lib/libnvJitLink.so.13)
    options: -arch=sm_80
    log:
    error   : Entry function 'k' uses too much shared data (0xf423f bytes, 0xc000 max)
    ERROR [number]: complete
    ");
}

#[test]
fn ptx_newer_than_the_linker() {
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("k.ll", store("k", 7)).unwrap();
    let newer: Ptx = program.compile(&Options::new(Arch::SM_80)).unwrap();
    let error = link(Linker::new(&toolkit("12.4"), Arch::SM_80).add_named("k.ptx", newer));
    insta::assert_snapshot!(shown(&error), @"k.ptx: it is PTX 9.5, and nvJitLink 12.4 ([toolkits]/12.4/nvidia/nvjitlink/lib/libnvJitLink.so.12) reads no newer PTX than 8.4; link with a library as new as the compiler, or compile to older PTX");
}

#[test]
fn lto_ir_of_a_newer_architecture() {
    let program = nvrtc::Program::new(&toolkit(NEWEST), "k.cu", "__global__ void k() {}").unwrap();
    let lto: LtoIr = program.compile(&nvrtc::Options::new(Arch::SM_90)).unwrap();
    let error = link(Linker::new(&toolkit(NEWEST), Arch::SM_80).add_named("k.ltoir", lto));
    insta::assert_snapshot!(shown(&error), @"k.ltoir: it is LTO IR for sm_90, and the link is for sm_80, which is older; compile it for compute_80, or link for sm_90");
}

#[test]
fn kernels_that_a_link_drops() {
    // What libNVVM itself makes, without a pin.
    let lto = LtoIr::from_bytes(include_bytes!("../fixtures/link/unpinned.ltoir")).unwrap();
    let lto = lto.with_kernels(["k"]);
    let linker = Linker::new(&toolkit(NEWEST), Arch::SM_80).add_named("k.ltoir", lto);
    insta::assert_snapshot!(shown(&link(linker)), @"nvJitLink 13.5 ([toolkits]/13.5/nvidia/cu13/lib/libnvJitLink.so.13) linked without a word, and dropped the kernels k; compile them with this crate, which pins them, or name each in `@llvm.used` of its module");
}

#[test]
fn an_option_that_the_linker_lacks() {
    let input = ptx(".visible .entry k() {\n  ret;\n}\n");
    let options = LinkOptions::new().extra("-bogus");
    let linker = Linker::new(&toolkit(NEWEST), Arch::SM_80).options(options);
    insta::assert_snapshot!(shown(&link(linker.add_named("k.ptx", input))), @r"
    nvJitLink failed to create with NVJITLINK_ERROR_UNRECOGNIZED_OPTION (1): unrecognized option: -bogus; nvJitLink 13.5 ([toolkits]/13.5/nvidia/cu13/lib/libnvJitLink.so.13) lacks this option: leave it out, or use a library that has it
    library: nvJitLink 13.5 ([toolkits]/13.5/nvidia/cu13/lib/libnvJitLink.so.13)
    options: -arch=sm_80 -bogus
    log:
    unrecognized option: -bogus
    ");
}

#[test]
fn an_input_that_is_no_cubin() {
    let bytes = b"hello".to_vec();
    let linker = Linker::new(&toolkit(NEWEST), Arch::SM_80);
    insta::assert_snapshot!(shown(&link(linker.add_bytes("k.cubin", InputKind::Cubin, bytes))), @"k.cubin: no cubin begins like this; give the bytes that ptxas, nvcc -cubin, NVRTC or nvJitLink made; PTX and LTO IR have types of their own");
}

#[test]
fn no_libdevice_where_it_is_wanted() {
    let program = Program::new(&toolkit(NEWEST)).unwrap();
    program.add_module("k.ll", calls("k", "__nv_sinf")).unwrap();
    program.set_libdevice(Libdevice::Never).unwrap();
    let error = program
        .compile::<Cubin>(&Options::new(Arch::SM_90))
        .unwrap_err();
    insta::assert_snapshot!(shown(&error), @r"
    nvJitLink failed to link with NVJITLINK_ERROR_INTERNAL (6) on the program's PTX: Undefined reference to '__nv_sinf' in 'the program's PTX'; add the input that defines `__nv_sinf`, which the program's PTX uses; functions `__nv_…` are libdevice's, which `nvvm::Program` adds where a module of its own declares them
    library: nvJitLink 13.5 ([toolkits]/13.5/nvidia/cu13/lib/libnvJitLink.so.13)
    options: -arch=sm_90
    log:
    error   : Undefined reference to '__nv_sinf' in 'the program's PTX'
    ERROR [number]: complete
    ");
}

#[test]
fn machines_read_all_of_it() {
    let error = cpp::<Ptx>(NEWEST, "__global__ void k(int *p) {\n  *p = foo;\n}\n");
    let json = serde_json::to_value(&error).unwrap();
    let said = &json["diagnostics"][0];
    assert_eq!(said["line"], 2);
    assert_eq!(said["column"], 8);
    assert_eq!(said["snippet"]["text"], "  *p = foo;");
    assert_eq!(json["log"].as_str(), error.log());
}
