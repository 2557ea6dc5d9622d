//! A kernel, and what is known of it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::module::Loaded;
use crate::error::Result;
use crate::sys::cuda::{Failure, RawFunction, RawKernel, consts};

/// A kernel of a [`Module`](super::Module), which it keeps loaded; a clone is cheap.
#[derive(Clone)]
pub struct Kernel {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) loaded: Arc<Loaded>,
    pub(super) name: String,
    pub(super) function: RawFunction,
    pub(super) parameters: Option<Vec<KernelParameter>>,
    /// The layout of arguments that was last found to fit; 0 before the first.
    pub(super) fits: AtomicU64,
    /// How much dynamic shared memory a launch may ask for, in bytes; `u64::MAX` before the first
    /// launch that asks.
    pub(super) dynamic_shared: AtomicU64,
}

/// A parameter of a kernel, as the driver lays it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct KernelParameter {
    /// Bytes from the first parameter.
    pub offset: usize,
    /// Its size in bytes.
    pub size: usize,
}

/// What a kernel needs of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct KernelAttributes {
    /// Registers of a thread.
    pub registers: u32,
    /// The most threads that a block may have.
    pub max_threads_per_block: u32,
    /// Static shared memory of a block, in bytes.
    pub shared_bytes: u32,
    /// Dynamic shared memory that a block may have now, in bytes; a launch that needs more raises it.
    pub max_dynamic_shared_bytes: u32,
    /// Local memory of a thread, in bytes: what did not fit into registers, and the stack.
    pub local_bytes: u32,
    /// Constant memory of the user's, in bytes.
    pub const_bytes: u32,
    /// The PTX architecture it was compiled for: 90 for `compute_90`.
    pub ptx_version: u32,
    /// The architecture of its machine code: 90 for `sm_90`.
    pub binary_version: u32,
}

/// A size of blocks that fills a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct BlockSuggestion {
    /// Threads of a block.
    pub threads: u32,
    /// The fewest blocks that fill the device.
    pub min_blocks: u32,
}

impl Kernel {
    pub(super) fn new(
        loaded: Arc<Loaded>,
        name: &str,
        kernel: RawKernel,
        function: RawFunction,
    ) -> Self {
        let parameters = loaded.library.parameters(kernel).map(|all| {
            all.into_iter()
                .map(|(offset, size)| KernelParameter { offset, size })
                .collect()
        });
        Kernel {
            inner: Arc::new(Inner {
                loaded,
                name: name.to_owned(),
                function,
                parameters,
                fits: AtomicU64::new(0),
                dynamic_shared: AtomicU64::new(u64::MAX),
            }),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Its parameters, in order; none with a driver before CUDA 12.4, which cannot tell.
    #[must_use]
    #[doc(alias = "cuKernelGetParamInfo")]
    pub fn parameters(&self) -> Option<&[KernelParameter]> {
        self.inner.parameters.as_deref()
    }

    /// What it needs of the device.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) where the driver does not say.
    #[doc(alias = "cuFuncGetAttribute")]
    pub fn attributes(&self) -> Result<KernelAttributes> {
        let _current = self.inner.loaded.place.enter()?;
        let ask = |which| self.inner.attribute(which);
        Ok(KernelAttributes {
            registers: ask(consts::FUNCTION_NUM_REGS)?,
            max_threads_per_block: ask(consts::FUNCTION_MAX_THREADS_PER_BLOCK)?,
            shared_bytes: ask(consts::FUNCTION_SHARED_SIZE_BYTES)?,
            max_dynamic_shared_bytes: ask(consts::FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES)?,
            local_bytes: ask(consts::FUNCTION_LOCAL_SIZE_BYTES)?,
            const_bytes: ask(consts::FUNCTION_CONST_SIZE_BYTES)?,
            ptx_version: ask(consts::FUNCTION_PTX_VERSION)?,
            binary_version: ask(consts::FUNCTION_BINARY_VERSION)?,
        })
    }

    /// How many blocks of that many threads, with that much dynamic shared memory in bytes, run on
    /// one multiprocessor at once.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) for a size that no block can have.
    #[doc(alias = "cuOccupancyMaxActiveBlocksPerMultiprocessor")]
    pub fn max_active_blocks(&self, threads: u32, shared_bytes: u32) -> Result<u32> {
        let _current = self.inner.loaded.place.enter()?;
        let threads = i32::try_from(threads).unwrap_or(i32::MAX);
        let api = &self.inner.loaded.place.driver.api;
        api.active_blocks(self.inner.function, threads, shared_bytes as usize)
            .map(positive)
            .map_err(|e| self.inner.error(e))
    }

    /// How many blocks of that shape run on the whole device at once: the largest cooperative grid.
    ///
    /// # Errors
    ///
    /// As for [`max_active_blocks`](Kernel::max_active_blocks).
    pub fn max_cooperative_blocks(&self, threads: u32, shared_bytes: u32) -> Result<u32> {
        let each = self.max_active_blocks(threads, shared_bytes)?;
        let place = &self.inner.loaded.place;
        let count = place.device_attribute(consts::DEVICE_MULTIPROCESSOR_COUNT)?;
        Ok(each.saturating_mul(positive(count)))
    }

    /// The size of blocks that fills the device best, with that much dynamic shared memory in bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) where the driver finds none.
    #[doc(alias = "cuOccupancyMaxPotentialBlockSize")]
    pub fn suggested_block(&self, shared_bytes: u32) -> Result<BlockSuggestion> {
        let _current = self.inner.loaded.place.enter()?;
        let api = &self.inner.loaded.place.driver.api;
        let (blocks, threads) = api
            .best_block(self.inner.function, shared_bytes as usize)
            .map_err(|e| self.inner.error(e))?;
        Ok(BlockSuggestion {
            threads: positive(threads),
            min_blocks: positive(blocks),
        })
    }
}

impl Inner {
    /// An attribute; the context is current.
    pub(super) fn attribute(&self, which: i32) -> Result<u32> {
        let api = &self.loaded.place.driver.api;
        api.function_attribute(self.function, which)
            .map(positive)
            .map_err(|e| self.error(e))
    }

    pub(super) fn error(&self, failure: Failure) -> crate::error::Error {
        let driver = self.loaded.place.driver;
        driver.error_on(failure, Some(&self.name), &[])
    }
}

fn positive(value: i32) -> u32 {
    u32::try_from(value).unwrap_or(0)
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("name", &self.inner.name)
            .field("parameters", &self.inner.parameters)
            .finish_non_exhaustive()
    }
}
