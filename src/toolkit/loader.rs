//! The system's loader: opening a library, and asking where one came from.

use std::ffi::{CStr, c_void};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;

#[cfg(unix)]
use libloading::os::unix::Library as OsLibrary;
#[cfg(windows)]
use libloading::os::windows::Library as OsLibrary;

use crate::sys::{MissingSymbol, Table};

/// The table of an open library, and the file that the loader says it came from.
///
/// # Safety
///
/// As for [`Table::load`]: what the library exports by the table's names has the table's signatures,
/// and the library is not closed while the table is used.
pub(crate) unsafe fn table_of<T: Table>(
    library: &OsLibrary,
) -> (Result<T, MissingSymbol>, Option<PathBuf>) {
    let mut any = None;
    let lookup = |name: &CStr| {
        // SAFETY: the pointer is not used here, only passed on as one.
        let symbol = unsafe { library.get::<*mut c_void>(name.to_bytes_with_nul()) };
        let symbol = symbol.ok().and_then(|symbol| NonNull::new(*symbol));
        any = any.or(symbol);
        symbol
    };
    // SAFETY: the caller vouches for the signatures and for the library's life.
    let table = unsafe { T::load(lookup) };
    (table, any.and_then(file_of))
}

pub(super) fn message(error: &libloading::Error) -> String {
    use std::error::Error as _;
    // The text of the system lies one level down for some of libloading's errors.
    error
        .source()
        .map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}

/// Opens a library, with every symbol bound now, and visible to no other library.
///
/// # Safety
///
/// The library's initialisers must be sound to run.
#[cfg(unix)]
pub(super) unsafe fn open_library(path: &Path) -> Result<OsLibrary, libloading::Error> {
    use libloading::os::unix::{RTLD_LOCAL, RTLD_NOW};
    // SAFETY: the caller vouches for the initialisers.
    unsafe { OsLibrary::open(Some(path), RTLD_NOW | RTLD_LOCAL) }
}

/// Opens a library, which finds the libraries it needs in its own folder.
///
/// # Safety
///
/// The library's initialisers must be sound to run.
#[cfg(windows)]
pub(super) unsafe fn open_library(path: &Path) -> Result<OsLibrary, libloading::Error> {
    use libloading::os::windows::{
        LOAD_LIBRARY_SEARCH_DEFAULT_DIRS, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR,
    };
    let flags = if path.is_absolute() {
        LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS
    } else {
        0
    };
    // SAFETY: the caller vouches for the initialisers.
    unsafe { OsLibrary::load_with_flags(path, flags) }
}

/// The file of the library that a symbol lies in.
#[cfg(unix)]
fn file_of(symbol: NonNull<c_void>) -> Option<PathBuf> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: the function only compares the address, and `info` is a valid place for its answer.
    let found = unsafe { libc::dladdr(symbol.as_ptr(), info.as_mut_ptr()) };
    // SAFETY: all zeros is a valid value, with null pointers.
    let info = unsafe { info.assume_init() };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the name is a C string of the loader's that lives as long as the library is open.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

/// The file of the library that a symbol lies in.
#[cfg(windows)]
fn file_of(symbol: NonNull<c_void>) -> Option<PathBuf> {
    use std::os::windows::ffi::OsStringExt as _;

    const FROM_ADDRESS: u32 = 4;
    const UNCHANGED_REFCOUNT: u32 = 2;
    unsafe extern "system" {
        fn GetModuleHandleExW(flags: u32, address: *const c_void, module: *mut *mut c_void) -> i32;
        fn GetModuleFileNameW(module: *mut c_void, name: *mut u16, length: u32) -> u32;
    }
    let mut module = std::ptr::null_mut();
    // SAFETY: with these flags the address is only looked up, and `module` is a valid place.
    let found = unsafe {
        GetModuleHandleExW(
            FROM_ADDRESS | UNCHANGED_REFCOUNT,
            symbol.as_ptr(),
            &mut module,
        )
    };
    if found == 0 {
        return None;
    }
    let mut name = vec![0_u16; 32768];
    // SAFETY: the module stays loaded, and `name` has the length that is passed.
    let length = unsafe { GetModuleFileNameW(module, name.as_mut_ptr(), 32768) };
    let name = name.get(..usize::try_from(length).ok()?)?;
    (length != 0).then(|| PathBuf::from(std::ffi::OsString::from_wide(name)))
}
