//! A host that writes numbers in another way. Unit and integration tests share this file.

#![allow(dead_code, reason = "each test file uses a part")]

/// A locale whose decimal point is a comma.
pub(crate) struct CommaLocale {
    _folder: tempfile::TempDir,
}

impl CommaLocale {
    /// An `LC_NUMERIC` file of glibc: magic number, count, offsets, then decimal point, thousands
    /// separator, grouping, the first two as wide characters, and the code set.
    #[rustfmt::skip]
    const LC_NUMERIC: [u8; 54] = [
        0x14, 0x11, 0x03, 0x20, 6, 0, 0, 0,
        0x20, 0, 0, 0, 0x22, 0, 0, 0, 0x24, 0, 0, 0, 0x28, 0, 0, 0, 0x2c, 0, 0, 0, 0x30, 0, 0, 0,
        b',', 0, b'.', 0, 3, 3, 0, 0, b',', 0, 0, 0, b'.', 0, 0, 0,
        b'U', b'T', b'F', b'-', b'8', 0,
    ];

    fn install() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("comma")).unwrap();
        std::fs::write(folder.path().join("comma/LC_NUMERIC"), Self::LC_NUMERIC).unwrap();
        // SAFETY: called from a test that has its process to itself.
        unsafe { std::env::set_var("LOCPATH", folder.path()) };
        CommaLocale { _folder: folder }
    }

    pub(crate) fn for_the_process() -> Self {
        let locale = Self::install();
        // SAFETY: the name ends in a NUL, and no other thread reads the locale.
        let set = unsafe { libc::setlocale(libc::LC_NUMERIC, c"comma".as_ptr()) };
        assert!(!set.is_null());
        locale
    }

    pub(crate) fn for_this_thread() -> Self {
        let locale = Self::install();
        // SAFETY: the name ends in a NUL; the locale is never freed.
        unsafe {
            let comma = libc::newlocale(
                libc::LC_NUMERIC_MASK,
                c"comma".as_ptr(),
                std::ptr::null_mut(),
            );
            assert!(!comma.is_null());
            libc::uselocale(comma);
        }
        locale
    }
}
