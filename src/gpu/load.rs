//! What can be loaded, and by which way.

use crate::artifact::{Cubin, LtoIr, Ptx};
use crate::toolkit::Toolkit;

/// Code to load; made of a reference to [`Ptx`], [`Cubin`] or [`LtoIr`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Image<'a> {
    /// PTX.
    Ptx(&'a Ptx),
    /// A cubin.
    Cubin(&'a Cubin),
    /// LTO IR.
    LtoIr(&'a LtoIr),
}

impl<'a> From<&'a Ptx> for Image<'a> {
    fn from(ptx: &'a Ptx) -> Self {
        Image::Ptx(ptx)
    }
}

impl<'a> From<&'a Cubin> for Image<'a> {
    fn from(cubin: &'a Cubin) -> Self {
        Image::Cubin(cubin)
    }
}

impl<'a> From<&'a LtoIr> for Image<'a> {
    fn from(lto: &'a LtoIr) -> Self {
        Image::LtoIr(lto)
    }
}

/// Who finishes the code for the device. A cubin is finished, and loaded as it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LoadPolicy {
    /// nvJitLink where there is one that can; else the driver, which compiles PTX alone. A program is
    /// compiled to an older PTX where the driver needs that.
    #[default]
    Auto,
    /// The driver, with PTX as it is.
    Driver,
    /// nvJitLink, or an error.
    Cubin,
}

/// How code is loaded.
///
/// ```
/// use cuda_program::gpu::{LoadOptions, LoadPolicy};
///
/// let options = LoadOptions::new().policy(LoadPolicy::Driver);
/// assert_eq!(options.policy, LoadPolicy::Driver);
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LoadOptions {
    /// Who finishes the code. Default: [`LoadPolicy::Auto`].
    pub policy: LoadPolicy,
    /// The toolkit whose nvJitLink is used. Default: the program's own, or the one that
    /// [`Toolkit::discover`] finds.
    pub toolkit: Option<Toolkit>,
}

impl LoadOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`policy`](LoadOptions::policy).
    #[must_use]
    pub fn policy(mut self, policy: LoadPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets [`toolkit`](LoadOptions::toolkit).
    #[must_use]
    pub fn toolkit(mut self, toolkit: &Toolkit) -> Self {
        self.toolkit = Some(toolkit.clone());
        self
    }
}
