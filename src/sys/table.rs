//! Function tables built from a closure that looks symbols up.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

/// A function table over one library.
pub trait Table: Sized + Send + Sync + 'static {
    /// The library's name, as in `libNVVM`.
    const LIBRARY: &'static str;

    /// Looks every function up.
    ///
    /// # Safety
    ///
    /// What `lookup` returns for a name must be a function of that name's C signature, and must stay
    /// valid for as long as the table or a copy of it is used.
    ///
    /// # Errors
    ///
    /// [`MissingSymbol`] for the first function that is needed and not there.
    unsafe fn load(
        lookup: impl FnMut(&CStr) -> Option<NonNull<c_void>>,
    ) -> Result<Self, MissingSymbol>;
}

/// A function that a library lacks although every supported version has it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it has no function {0}")]
pub struct MissingSymbol(pub &'static str);

/// Defines a table: for each function its name and type, first those that every supported version
/// has, then those that some lack.
macro_rules! table {
    (
        $(#[$meta:meta])*
        $table:ident, $library:literal;
        required { $($required:ident: $required_type:ty,)* }
        optional { $($optional:ident: $optional_type:ty,)* }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy)]
        #[allow(non_snake_case, missing_docs)]
        #[non_exhaustive]
        pub struct $table {
            $(pub $required: $required_type,)*
            $(pub $optional: Option<$optional_type>,)*
        }

        impl $crate::sys::Table for $table {
            const LIBRARY: &'static str = $library;

            unsafe fn load(
                mut lookup: impl FnMut(&std::ffi::CStr) -> Option<std::ptr::NonNull<std::ffi::c_void>>,
            ) -> Result<Self, $crate::sys::MissingSymbol> {
                Ok($table {
                    $($required: {
                        let name = concat!(stringify!($required), "\0");
                        let symbol = $crate::sys::table::find(name, &mut lookup)
                            .ok_or($crate::sys::MissingSymbol(stringify!($required)))?;
                        // SAFETY: the caller vouches that the symbol has this function's signature.
                        unsafe {
                            std::mem::transmute::<std::ptr::NonNull<std::ffi::c_void>, $required_type>(
                                symbol,
                            )
                        }
                    },)*
                    $($optional: {
                        let name = concat!(stringify!($optional), "\0");
                        $crate::sys::table::find(name, &mut lookup).map(|symbol| {
                            // SAFETY: the caller vouches that the symbol has this function's
                            // signature.
                            unsafe {
                                std::mem::transmute::<
                                    std::ptr::NonNull<std::ffi::c_void>,
                                    $optional_type,
                                >(symbol)
                            }
                        })
                    },)*
                })
            }
        }
    };
}
pub(super) use table;

/// Looks `name` (which ends in a NUL) up, and where it is not there the versioned spelling that
/// nvJitLink 12.0 to 12.2 export alone, as in `__nvJitLinkCreate_12_0`.
pub(super) fn find(
    name: &str,
    lookup: &mut impl FnMut(&CStr) -> Option<NonNull<c_void>>,
) -> Option<NonNull<c_void>> {
    let plain = CStr::from_bytes_with_nul(name.as_bytes()).ok()?;
    lookup(plain).or_else(|| {
        let name = name.trim_end_matches('\0');
        if !name.starts_with("nvJitLink") {
            return None;
        }
        (0..=2).rev().find_map(|minor| {
            let spelling = format!("__{name}_12_{minor}\0");
            lookup(CStr::from_bytes_with_nul(spelling.as_bytes()).ok()?)
        })
    })
}
