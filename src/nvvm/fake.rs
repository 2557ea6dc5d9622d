//! A libNVVM that does nothing but count, for what the real one cannot be made to do.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::error::{Library, Result};
use crate::nvvm::Program;
use crate::sys::bindings::nvvm::*;
use crate::sys::{Nvvm, Table};
use crate::toolkit::Opened;

/// What the fake did and is to do; of the thread that runs the test, which in a model is one thread
/// for all threads of the model.
#[derive(Debug, Default)]
pub(super) struct Fake {
    /// Live handles, each with the names of the modules in it.
    pub(super) programs: Vec<Option<Vec<String>>>,
    /// Handles made in all.
    pub(super) created: usize,
    /// Adds of libdevice that succeeded, over all handles.
    pub(super) libdevice_adds: usize,
    /// Adds of libdevice that are to fail first.
    pub(super) fail_libdevice_adds: usize,
    /// Compilations that are to fail first.
    pub(super) fail_compiles: usize,
    /// Whether programs without libdevice are compiled too.
    pub(super) takes_anything: bool,
    /// What the last compilation was for.
    pub(super) target: String,
    /// Compilations that succeeded.
    pub(super) compiled: usize,
    /// The handle a call is at work in, to catch two at once.
    pub(super) busy: Option<usize>,
}

thread_local! {
    static FAKE: RefCell<Fake> = RefCell::default();
}

pub(super) fn with<R>(see: impl FnOnce(&mut Fake) -> R) -> R {
    FAKE.with(|fake| see(&mut fake.borrow_mut()))
}

/// Lets the other threads of a model run in the middle of a call.
fn pause() {
    #[cfg(loom)]
    loom::thread::yield_now();
}

fn index(program: nvvmProgram) -> usize {
    program as usize - 1
}

/// Marks the handle as at work for the length of a call.
fn call<R>(program: nvvmProgram, work: impl FnOnce(&mut Fake, usize) -> R) -> R {
    let at = index(program);
    with(|fake| {
        assert_eq!(fake.busy, None, "two calls on one handle at once");
        assert!(
            fake.programs[at].is_some(),
            "a handle is used after it was freed"
        );
        fake.busy = Some(at);
    });
    pause();
    with(|fake| {
        fake.busy = None;
        work(fake, at)
    })
}

unsafe extern "C" fn create(program: *mut nvvmProgram) -> nvvmResult {
    let handle = with(|fake| {
        fake.created += 1;
        fake.programs.push(Some(Vec::new()));
        fake.programs.len()
    });
    // SAFETY: the caller gives a valid place for one handle.
    unsafe { *program = handle as nvvmProgram };
    NVVM_SUCCESS
}

unsafe extern "C" fn destroy(program: *mut nvvmProgram) -> nvvmResult {
    // SAFETY: the caller gives a valid place with a live handle.
    let handle = unsafe { std::mem::replace(&mut *program, std::ptr::null_mut()) };
    call(handle, |fake, at| fake.programs[at] = None);
    NVVM_SUCCESS
}

unsafe extern "C" fn add(
    program: nvvmProgram,
    _: *const c_char,
    _: usize,
    name: *const c_char,
) -> nvvmResult {
    // SAFETY: the caller gives a C string.
    let name = unsafe { CStr::from_ptr(name) }
        .to_string_lossy()
        .into_owned();
    call(program, |fake, at| {
        if name == "libdevice" {
            if fake.fail_libdevice_adds > 0 {
                fake.fail_libdevice_adds -= 1;
                return NVVM_ERROR_OUT_OF_MEMORY;
            }
            fake.libdevice_adds += 1;
        }
        if let Some(modules) = &mut fake.programs[at] {
            assert!(
                !modules.contains(&name),
                "{name} was added twice to one handle"
            );
            modules.push(name);
        }
        NVVM_SUCCESS
    })
}

unsafe extern "C" fn compile(
    program: nvvmProgram,
    _: c_int,
    options: *mut *const c_char,
) -> nvvmResult {
    // SAFETY: the caller gives an array of C strings, of which the architecture is the first.
    let arch = unsafe { CStr::from_ptr(*options) }.to_string_lossy();
    let target = arch.replace("-arch=compute_", "sm_");
    call(program, |fake, at| {
        fake.target = target;
        if fake.fail_compiles > 0 {
            fake.fail_compiles -= 1;
            return NVVM_ERROR_COMPILATION;
        }
        let modules = fake.programs[at].clone().unwrap_or_default();
        assert!(
            fake.takes_anything || modules.contains(&"libdevice".to_owned()),
            "compiled without libdevice"
        );
        fake.compiled += 1;
        NVVM_SUCCESS
    })
}

fn ptx(fake: &Fake) -> String {
    format!(
        ".version 8.0\n.target {}\n.address_size 64\n.visible .entry k() {{ ret; }}\n\0",
        fake.target
    )
}

unsafe extern "C" fn result_size(program: nvvmProgram, size: *mut usize) -> nvvmResult {
    let ptx = call(program, |fake, _| ptx(fake));
    // SAFETY: the caller gives a valid place for a size.
    unsafe { *size = ptx.len() };
    NVVM_SUCCESS
}

unsafe extern "C" fn result(program: nvvmProgram, to: *mut c_char) -> nvvmResult {
    let ptx = call(program, |fake, _| ptx(fake));
    // SAFETY: the caller gives as many bytes as `result_size` said.
    unsafe { to.copy_from_nonoverlapping(ptx.as_ptr().cast(), ptx.len()) };
    NVVM_SUCCESS
}

unsafe extern "C" fn log_size(_: nvvmProgram, size: *mut usize) -> nvvmResult {
    // SAFETY: the caller gives a valid place for a size.
    unsafe { *size = 1 };
    NVVM_SUCCESS
}

unsafe extern "C" fn log(_: nvvmProgram, to: *mut c_char) -> nvvmResult {
    // SAFETY: the caller gives as many bytes as `log_size` said.
    unsafe { *to = 0 };
    NVVM_SUCCESS
}

unsafe extern "C" fn error_string(_: nvvmResult) -> *const c_char {
    c"NVVM_ERROR_FAKE".as_ptr()
}

unsafe extern "C" fn version(major: *mut c_int, minor: *mut c_int) -> nvvmResult {
    // SAFETY: the caller gives two valid places.
    unsafe { (*major, *minor) = (2, 0) };
    NVVM_SUCCESS
}

unsafe extern "C" fn ir_version(
    major: *mut c_int,
    minor: *mut c_int,
    debug_major: *mut c_int,
    debug_minor: *mut c_int,
) -> nvvmResult {
    // SAFETY: the caller gives four valid places.
    unsafe { (*major, *minor, *debug_major, *debug_minor) = (2, 0, 3, 2) };
    NVVM_SUCCESS
}

fn lookup(name: &CStr) -> Option<NonNull<c_void>> {
    let function: *const () = match name.to_str().ok()? {
        "nvvmGetErrorString" => error_string as *const (),
        "nvvmVersion" => version as *const (),
        "nvvmIRVersion" => ir_version as *const (),
        "nvvmCreateProgram" => create as *const (),
        "nvvmDestroyProgram" => destroy as *const (),
        "nvvmAddModuleToProgram" | "nvvmLazyAddModuleToProgram" => add as *const (),
        "nvvmCompileProgram" | "nvvmVerifyProgram" => compile as *const (),
        "nvvmGetCompiledResultSize" => result_size as *const (),
        "nvvmGetCompiledResult" => result as *const (),
        "nvvmGetProgramLogSize" => log_size as *const (),
        "nvvmGetProgramLog" => log as *const (),
        _ => return None,
    };
    NonNull::new(function.cast_mut().cast())
}

/// A program over the fake, with a module that declares an `__nv_*` function.
pub(super) fn program() -> Program {
    let program = empty();
    program
        .add_module("k.ll", MODULE)
        .expect("the module is one");
    program
}

/// A program over the fake.
pub(super) fn empty() -> Program {
    // SAFETY: each function above has the C signature of its name.
    let api = unsafe { Nvvm::load(lookup) }.expect("the fake has every function");
    let library = Library {
        name: "libNVVM".to_owned(),
        version: None,
        path: PathBuf::from("fake"),
    };
    let libdevice: Arc<[u8]> = Arc::from(&b"libdevice"[..]);
    Program::over(Arc::new(Opened::of(api, library)), move || -> Result<_> {
        Ok(libdevice.clone())
    })
}

const MODULE: &str = "\
target datalayout = \"e-p:64:64:64\"
target triple = \"nvptx64-nvidia-cuda\"
declare float @__nv_sinf(float)
define void @k() {
  %y = call float @__nv_sinf(float 1.0)
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{void ()* @k, !\"kernel\", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0}
";
