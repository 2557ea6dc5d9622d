//! Launching a kernel.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::arguments::{Argument, Pointers};
use super::context::Place;
use super::cudarc::driver::{self, CudaStream};
use super::kernel::Kernel;
use crate::error::{Error, InvalidInput, Result};
use crate::sys::cuda::{RawContext, RawStream, Shape, consts};

/// The shape of a launch: how many blocks of how many threads, and what they share.
///
/// ```
/// use cuda_program::gpu::LaunchConfig;
///
/// let config = LaunchConfig::for_elements(1000);
/// assert_eq!((config.grid, config.block), ([4, 1, 1], [256, 1, 1]));
/// let config = LaunchConfig::new([8, 8, 1], [16, 16, 1]).shared_bytes(64 << 10);
/// assert_eq!(config.shared_bytes, 65536);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct LaunchConfig {
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes. What is above 48 KiB is asked for.
    pub shared_bytes: u32,
    /// Whether all blocks run at once, so that the grid can synchronise.
    pub cooperative: bool,
    /// Blocks of a cluster along x, y and z, from compute capability 9.0 on.
    pub cluster: Option<[u32; 3]>,
}

impl LaunchConfig {
    const BLOCK: u32 = 256;

    /// A grid of blocks.
    #[must_use]
    pub const fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        LaunchConfig {
            grid,
            block,
            shared_bytes: 0,
            cooperative: false,
            cluster: None,
        }
    }

    /// At least one thread for each of `n` elements, in blocks of 256; one block for none.
    #[must_use]
    pub const fn for_elements(n: u32) -> Self {
        let blocks = n.div_ceil(Self::BLOCK);
        let blocks = if blocks == 0 { 1 } else { blocks };
        LaunchConfig::new([blocks, 1, 1], [Self::BLOCK, 1, 1])
    }

    /// Sets [`shared_bytes`](LaunchConfig::shared_bytes).
    #[must_use]
    pub const fn shared_bytes(mut self, bytes: u32) -> Self {
        self.shared_bytes = bytes;
        self
    }

    /// Sets [`cooperative`](LaunchConfig::cooperative).
    #[must_use]
    pub const fn cooperative(mut self, cooperative: bool) -> Self {
        self.cooperative = cooperative;
        self
    }

    /// Sets [`cluster`](LaunchConfig::cluster).
    #[must_use]
    pub const fn cluster(mut self, blocks: [u32; 3]) -> Self {
        self.cluster = Some(blocks);
        self
    }
}

impl From<driver::LaunchConfig> for LaunchConfig {
    fn from(config: driver::LaunchConfig) -> Self {
        let (gx, gy, gz) = config.grid_dim;
        let (bx, by, bz) = config.block_dim;
        LaunchConfig::new([gx, gy, gz], [bx, by, bz]).shared_bytes(config.shared_mem_bytes)
    }
}

impl Kernel {
    /// Launches the kernel on a stream, with [arguments](Argument), and does not wait for it.
    ///
    /// The number of the arguments and their sizes are compared with the kernel's parameters where
    /// the driver tells them (CUDA 12.4 or later), once for each kernel and layout of arguments.
    ///
    /// # Safety
    ///
    /// The arguments are of the types that the kernel takes; the kernel keeps within the memory that
    /// its pointers lead to, writes to none that is passed by shared reference, and races with no
    /// other work. Memory behind a [`DevicePtr`](super::DevicePtr) stays until the kernel is done. Where
    /// the launch is captured, the module is not unloaded before the last launch of the graph is done.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] for arguments that do not fit the kernel, for a stream of another
    /// context, and for more shared memory than a block can have; [`Error::Driver`] where the driver
    /// refuses the launch, or reports what an earlier one did.
    #[doc(alias = "cuLaunchKernelEx")]
    #[doc(alias = "cuLaunchKernel")]
    pub unsafe fn launch<'a>(
        &self,
        stream: &'a CudaStream,
        config: impl Into<LaunchConfig>,
        arguments: impl Argument<'a>,
    ) -> Result<()> {
        let config = config.into();
        let place = &self.inner.loaded.place;
        let raw = stream_of(place, stream)?;
        self.check(&arguments)?;
        let _current = place.enter()?;
        self.allow_shared(config.shared_bytes)?;
        let mut ordered = false;
        let mut foreign = false;
        arguments.streams(&mut |of| {
            ordered = true;
            foreign |= !Arc::ptr_eq(of.context(), stream.context());
        });
        if foreign {
            return Err(InvalidInput {
                input: self.name().to_owned(),
                line: None,
                snippet: None,
                problem: "a slice and the stream belong to two `CudaContext` values, and cudarc \
                          orders slices within one"
                    .to_owned(),
                hint: "make slices and streams from one `Arc<CudaContext>`, also of one device"
                    .to_owned(),
            }
            .into());
        }
        // cudarc notes what its events could not do, in one place for all of a context, until
        // somebody asks. Only launches with slices have to do with events, so only they ask.
        let noted = |call| {
            let noted = if ordered {
                stream.context().check_err()
            } else {
                Ok(())
            };
            noted.map_err(|e| place.driver.cudarc_error(call, e))
        };
        noted("an earlier call of cudarc")?;
        let mut ready = arguments.ready(stream);
        // What cudarc could not order must not run. Another thread's call may take the note; but what
        // makes a wait fail, a context that is lost or a capture that it spoils, fails the launch too.
        let launched = noted("cuStreamWaitEvent").and_then(|()| {
            let mut pointers = Pointers::of(&mut ready);
            // SAFETY: the pointers lead into `ready`, which is still there; what the kernel does is
            // the caller's word; the context is current.
            unsafe { self.launch_raw(raw, &config, pointers.all()) }
        });
        drop(ready);
        let recorded = noted("cuEventRecord, after the launch,");
        if launched.is_ok() && recorded.is_err() {
            // Nothing else keeps the slices from being freed under the kernel. It cannot be waited for
            // in a capture, where it does not run yet either.
            let _ = stream.synchronize();
        }
        launched.and(recorded)
    }

    /// # Safety
    ///
    /// As for [`launch`](Kernel::launch), with pointers to the arguments; the context is current.
    pub(super) unsafe fn launch_raw(
        &self,
        stream: RawStream,
        config: &LaunchConfig,
        pointers: &mut [*mut std::ffi::c_void],
    ) -> Result<()> {
        let shape = Shape {
            grid: config.grid,
            block: config.block,
            shared_bytes: config.shared_bytes,
            cooperative: config.cooperative,
            cluster: config.cluster,
        };
        let api = &self.inner.loaded.place.driver.api;
        // SAFETY: the caller's word.
        unsafe { api.launch(self.inner.function, stream, &shape, pointers) }
            .map_err(|e| self.inner.error(e))
    }

    /// Whether the arguments fit the parameters; one load where it was found before.
    pub(super) fn check<'a>(&self, arguments: &impl Argument<'a>) -> Result<()> {
        let layout = arguments.layout();
        let key = layout.key();
        if layout.is_short() && self.inner.fits.load(Ordering::Relaxed) == key {
            return Ok(());
        }
        if let Some(parameters) = self.parameters() {
            let mut given = Vec::new();
            arguments.sizes(&mut given);
            let takes: Vec<usize> = parameters.iter().map(|p| p.size).collect();
            if let Some(problem) = misfit(&takes, &given) {
                return Err(InvalidInput {
                    input: self.name().to_owned(),
                    line: None,
                    snippet: None,
                    problem,
                    hint: format!(
                        "its parameters have {} bytes; a struct goes in `ByValue`",
                        list(&takes)
                    ),
                }
                .into());
            }
        }
        self.inner.fits.store(key, Ordering::Relaxed);
        Ok(())
    }

    /// Raises the limit of dynamic shared memory where a launch needs that; the context is current.
    pub(super) fn allow_shared(&self, wanted: u32) -> Result<()> {
        let limit = &self.inner.dynamic_shared;
        let wanted_bytes = u64::from(wanted);
        let known = limit.load(Ordering::Relaxed);
        if wanted == 0 || (known != u64::MAX && wanted_bytes <= known) {
            return Ok(());
        }
        let now = self
            .inner
            .attribute(consts::FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES)?;
        if wanted <= now {
            limit.store(u64::from(now), Ordering::Relaxed);
            return Ok(());
        }
        let place = &self.inner.loaded.place;
        let of_device = place.device_attribute(consts::DEVICE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        let fixed = self.inner.attribute(consts::FUNCTION_SHARED_SIZE_BYTES)?;
        let most = u32::try_from(of_device).unwrap_or(0).saturating_sub(fixed);
        if wanted > most {
            return Err(InvalidInput {
                input: self.name().to_owned(),
                line: None,
                snippet: None,
                problem: format!("{wanted} bytes of dynamic shared memory are asked for"),
                hint: format!(
                    "a block of this kernel can have {most}, besides the {fixed} that it always has"
                ),
            }
            .into());
        }
        // To the most at once: threads that raise it to amounts of their own would lower it for each
        // other.
        let value = i32::try_from(most).unwrap_or(i32::MAX);
        place
            .driver
            .api
            .set_function_attribute(
                self.inner.function,
                consts::FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                value,
            )
            .map_err(|e| self.inner.error(e))?;
        limit.store(u64::from(most), Ordering::Relaxed);
        Ok(())
    }
}

/// cudarc's stream, where it belongs to the place's context.
pub(super) fn stream_of(place: &Place, stream: &CudaStream) -> Result<RawStream> {
    // SAFETY: only compared.
    let context = unsafe { RawContext::new(stream.context().cu_ctx().cast()) };
    if context == place.context {
        // SAFETY: cudarc keeps the stream alive while it is borrowed, which is for the whole call.
        return Ok(unsafe { RawStream::new(stream.cu_stream().cast()) });
    }
    Err(Error::from(InvalidInput {
        input: "stream".to_owned(),
        line: None,
        snippet: None,
        problem: "it belongs to another context than the module".to_owned(),
        hint: "load the module into the stream's context, or use a stream of the module's"
            .to_owned(),
    }))
}

/// What does not fit, in words.
fn misfit(takes: &[usize], given: &[usize]) -> Option<String> {
    if takes.len() != given.len() {
        return Some(format!(
            "it takes {} arguments, and {} are given",
            takes.len(),
            given.len()
        ));
    }
    let wrong = takes.iter().zip(given).position(|(a, b)| a != b)?;
    Some(format!(
        "argument {wrong} (from 0) has {} bytes, and the parameter has {}",
        given.get(wrong)?,
        takes.get(wrong)?
    ))
}

fn list(sizes: &[usize]) -> String {
    let texts: Vec<String> = sizes.iter().map(usize::to_string).collect();
    if texts.is_empty() {
        "no".to_owned()
    } else {
        texts.join(", ")
    }
}
