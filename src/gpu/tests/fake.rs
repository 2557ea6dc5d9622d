//! A driver that does nothing but note what it is asked, of the thread that runs the test.

mod calls;

use std::cell::RefCell;
use std::ffi::CStr;
use std::path::PathBuf;
use std::ptr::null_mut;

use crate::error::Result;
use crate::gpu::context::Place;
use crate::gpu::driver::Driver;
use crate::sys::Table;
use crate::sys::cuda::{self, RawContext, RawStream};

/// What the fake is to do, and what it did.
#[derive(Debug, Clone)]
pub(super) struct Fake {
    pub(super) init: i32,
    pub(super) devices: i32,
    pub(super) version: i32,
    pub(super) capability: (i32, i32),
    /// Functions that it lacks.
    pub(super) lacks: Vec<&'static str>,
    /// The stack of current contexts.
    pub(super) current: Vec<usize>,
    pub(super) load: i32,
    pub(super) error_log: &'static str,
    pub(super) info_log: &'static str,
    /// Kernels by name, with the sizes of their parameters.
    pub(super) kernels: Vec<(&'static CStr, Vec<usize>)>,
    /// Codes of `cuLibraryGetKernel` for kernels that there are, and of `cuKernelGetFunction`.
    pub(super) get_kernel: i32,
    pub(super) get_function: i32,
    pub(super) launch: i32,
    pub(super) synchronize: i32,
    /// Static and dynamic shared memory of every kernel, and the device's most.
    pub(super) shared: (i32, i32, i32),
    /// What was loaded and is not unloaded; each with its code.
    pub(super) libraries: Vec<Option<Vec<u8>>>,
    pub(super) launches: Vec<Launch>,
    pub(super) asked_attributes: usize,
}

/// A launch: the call, the shape, the attributes by number and first words, and the first bytes of
/// each argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Launch {
    pub(super) call: &'static str,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) shared: u32,
    pub(super) attributes: Vec<(u32, [u32; 3])>,
    pub(super) in_context: Option<usize>,
}

impl Default for Fake {
    fn default() -> Self {
        Fake {
            init: 0,
            devices: 1,
            version: 13000,
            capability: (9, 0),
            lacks: Vec::new(),
            current: Vec::new(),
            load: 0,
            error_log: "",
            info_log: "",
            kernels: vec![(c"saxpy", vec![4, 4, 8, 8]), (c"gelu", vec![4, 8, 8])],
            get_kernel: 0,
            get_function: 0,
            launch: 0,
            synchronize: 0,
            shared: (1024, 48 << 10, 227 << 10),
            libraries: Vec::new(),
            launches: Vec::new(),
            asked_attributes: 0,
        }
    }
}

impl Fake {
    /// How many libraries are loaded.
    pub(super) fn loaded(&self) -> usize {
        self.libraries.iter().flatten().count()
    }
}

thread_local! {
    static FAKE: RefCell<Fake> = RefCell::default();
}

pub(super) fn with<R>(see: impl FnOnce(&mut Fake) -> R) -> R {
    FAKE.with(|fake| see(&mut fake.borrow_mut()))
}

/// The address of context `n`.
pub(super) fn context(n: usize) -> RawContext {
    // SAFETY: the fake looks behind no context.
    unsafe { RawContext::new(std::ptr::without_provenance_mut(n)) }
}

/// A driver over the fake.
pub(super) fn driver(set: impl FnOnce(&mut Fake)) -> Result<&'static Driver> {
    with(|fake| {
        *fake = Fake::default();
        set(fake);
    });
    // SAFETY: each function of `calls` has the C signature of its name.
    let api = unsafe { cuda::Driver::load(calls::lookup) }.expect("the fake has what is required");
    let driver = Driver::over(api, PathBuf::from("fake"))?;
    Ok(Box::leak(Box::new(driver)))
}

/// A place on the fake, in context 7.
pub(super) fn place(set: impl FnOnce(&mut Fake)) -> Place {
    Place::fake(driver(set).expect("the fake starts"), context(7))
}

/// A stream that nothing is done with.
pub(super) fn stream() -> RawStream {
    // SAFETY: the fake looks behind no stream.
    unsafe { RawStream::new(null_mut()) }
}
