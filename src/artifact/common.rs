//! What every kind of artifact can do.

/// The methods that all kinds have.
///
/// They stand on the fields `lowered` and `diagnostics`, on the method `as_bytes`, and on the function
/// `named`, which makes an artifact of bytes that errors call by that name. The fields are no struct
/// of their own, since serde cannot put one in line for formats that do not name their fields.
macro_rules! common {
    ($kind:literal, left_out: $left_out:literal) => {
        /// The name in the code of what a name expression stands for, as in `_Z3addIfEvPT_` for
        /// `add<float>`; none for an expression that the compilation was not asked for. Expressions
        /// are told apart by their text, blanks and all: ask as you added it.
        #[must_use]
        #[doc(alias = "nvrtcGetLoweredName")]
        pub fn lowered_name(&self, expression: &str) -> Option<&str> {
            self.lowered.get(expression).map(String::as_str)
        }

        /// Every name expression with the name it became.
        #[must_use]
        pub fn lowered_names(&self) -> &std::collections::BTreeMap<String, String> {
            &self.lowered
        }

        #[doc = concat!("The same ", $kind, " with the names that its name expressions became.")]
        #[must_use]
        pub fn with_lowered_names(
            mut self,
            lowered: std::collections::BTreeMap<String, String>,
        ) -> Self {
            self.lowered = lowered;
            self
        }

        /// What the compiler or the linker said while it made this.
        #[must_use]
        pub fn diagnostics(&self) -> &[$crate::diagnostic::Diagnostic] {
            &self.diagnostics
        }

        #[doc = concat!("The same ", $kind, " with what was said while it was made.")]
        #[must_use]
        pub fn with_diagnostics(
            mut self,
            diagnostics: Vec<$crate::diagnostic::Diagnostic>,
        ) -> Self {
            self.diagnostics = diagnostics;
            self
        }

        #[doc = concat!("Writes the ", $kind, " to a file, whole or not at all.")]
        ///
        #[doc = concat!($left_out, " are not in the file; serde keeps them.")]
        ///
        /// # Errors
        ///
        /// [`Error::Io`](crate::Error::Io) when the folder or the file cannot be written.
        pub fn write_to(&self, path: impl AsRef<std::path::Path>) -> $crate::error::Result<()> {
            $crate::artifact::file::write(path.as_ref(), self.as_bytes())
        }

        #[doc = concat!("Reads the ", $kind, " in a file.")]
        ///
        /// # Errors
        ///
        /// [`Error::Io`](crate::Error::Io) when it cannot be read, and
        /// [`Error::InvalidInput`](crate::Error::InvalidInput) when it holds something else.
        pub fn read_from(path: impl AsRef<std::path::Path>) -> $crate::error::Result<Self> {
            let path = path.as_ref();
            let bytes = $crate::artifact::file::read(path)?;
            Self::named(&path.display().to_string(), bytes)
        }
    };
}
pub(super) use common;
