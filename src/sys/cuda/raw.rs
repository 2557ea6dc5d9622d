//! The owners of the driver's handles, and safe calls on them: the only place that sees the handles.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};

use super::consts::*;
use super::*;

/// A call that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It returned a code.
    Code { call: &'static str, code: CUresult },
    /// The driver lacks it; the CUDA version that brought it.
    Absent {
        call: &'static str,
        since: &'static str,
    },
}

type Result<T, E = Failure> = std::result::Result<T, E>;

pub(super) fn check(call: &'static str, code: CUresult) -> Result<()> {
    if code == SUCCESS {
        Ok(())
    } else {
        Err(Failure::Code { call, code })
    }
}

/// A function that older drivers lack, or which they lack.
macro_rules! newer {
    ($api:expr, $call:ident, $since:literal) => {
        $api.$call.ok_or(Failure::Absent {
            call: stringify!($call),
            since: $since,
        })
    };
}

macro_rules! handles {
    ($($(#[$meta:meta])* $name:ident;)*) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq)]
            pub(crate) struct $name(pub(super) *mut c_void);

            // SAFETY: the driver ties its handles to no thread and locks inside.
            unsafe impl Send for $name {}
            // SAFETY: as above.
            unsafe impl Sync for $name {}
        )*
    };
}

handles! {
    /// A context, which someone else keeps alive.
    RawContext;
    /// A stream, which someone else keeps alive.
    RawStream;
    /// A kernel of a [`RawLibrary`], alive as long as that is.
    RawKernel;
    /// A kernel in one context, alive as long as its library and the context are.
    RawFunction;
}

impl RawContext {
    /// # Safety
    ///
    /// `context` is null or live, and stays so while this or a copy of it is used.
    pub(crate) unsafe fn new(context: *mut c_void) -> Self {
        RawContext(context)
    }
}

impl RawStream {
    /// # Safety
    ///
    /// `stream` is a live stream, or one of the driver's special values, while this is used.
    pub(crate) unsafe fn new(stream: *mut c_void) -> Self {
        RawStream(stream)
    }
}

/// A place where the driver's compiler writes text. The driver has its address for as long as the
/// library is loaded, so it is read as memory that others may write.
struct Log(Box<[UnsafeCell<u8>]>);

impl Log {
    const BYTES: usize = 8 << 10;

    fn new() -> Self {
        Log((0..Self::BYTES).map(|_| UnsafeCell::new(0)).collect())
    }

    fn address(&self) -> *mut c_void {
        self.0.as_ptr().cast_mut().cast()
    }

    fn text(&self) -> Vec<u8> {
        self.0
            .iter()
            // SAFETY: the byte is ours, and initialised.
            .map(|byte| unsafe { byte.get().read_volatile() })
            .take_while(|&byte| byte != 0)
            .collect()
    }
}

/// The owner of one `CUlibrary`: dropping it unloads.
pub(crate) struct RawLibrary {
    api: Driver,
    raw: CUlibrary,
    unload: unsafe extern "C" fn(CUlibrary) -> CUresult,
    info: Log,
    error: Log,
}

// SAFETY: the driver ties a library to no thread; the logs are written while it loads alone.
unsafe impl Send for RawLibrary {}
// SAFETY: as above.
unsafe impl Sync for RawLibrary {}

/// What a load brought.
pub(crate) struct Loaded {
    pub(crate) library: Result<RawLibrary>,
    /// What the driver's compiler complained of, also where there is no library to ask.
    pub(crate) error: Vec<u8>,
}

impl RawLibrary {
    /// `cuLibraryLoadData`. The driver copies `code`, of which PTX must end in a NUL.
    ///
    /// # Errors
    ///
    /// When the driver lacks the function, before anything is loaded.
    pub(crate) fn load(api: Driver, code: &[u8]) -> Result<Loaded> {
        let load = newer!(api, cuLibraryLoadData, "12.0")?;
        let unload = newer!(api, cuLibraryUnload, "12.0")?;
        let (info, error) = (Log::new(), Log::new());
        let mut options = [
            JIT_INFO_LOG_BUFFER,
            JIT_INFO_LOG_BUFFER_SIZE_BYTES,
            JIT_ERROR_LOG_BUFFER,
            JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        // The last byte stays ours, so that the text always ends.
        let size = std::ptr::without_provenance_mut(Log::BYTES - 1);
        let mut values = [info.address(), size, error.address(), size];
        let mut raw = null_mut();
        // SAFETY: `raw` is a place for a handle; `options` and `values` hold as many entries as is
        // said; the logs outlive the library; `code` is whole by the caller's word.
        let code = unsafe {
            load(
                &mut raw,
                code.as_ptr().cast(),
                options.as_mut_ptr(),
                values.as_mut_ptr(),
                options.len() as c_uint,
                null_mut(),
                null_mut(),
                0,
            )
        };
        let error_text = error.text();
        let library = check("cuLibraryLoadData", code).map(|()| RawLibrary {
            api,
            raw,
            unload,
            info,
            error,
        });
        Ok(Loaded {
            library,
            error: error_text,
        })
    }

    /// What the driver has said by now: information, and complaints.
    pub(crate) fn logs(&self) -> (Vec<u8>, Vec<u8>) {
        (self.info.text(), self.error.text())
    }

    /// `cuLibraryGetKernel`.
    pub(crate) fn kernel(&self, name: &CStr) -> Result<RawKernel> {
        let get = newer!(self.api, cuLibraryGetKernel, "12.0")?;
        let mut kernel = null_mut();
        // SAFETY: a place for a handle, a live library, a C string.
        let code = unsafe { get(&mut kernel, self.raw, name.as_ptr()) };
        check("cuLibraryGetKernel", code).map(|()| RawKernel(kernel))
    }

    /// `cuKernelGetFunction`: loads the kernel into the current context.
    pub(crate) fn function(&self, kernel: RawKernel) -> Result<RawFunction> {
        let get = newer!(self.api, cuKernelGetFunction, "12.0")?;
        let mut function = null_mut();
        // SAFETY: a place for a handle; the kernel lives as long as the library does.
        let code = unsafe { get(&mut function, kernel.0) };
        check("cuKernelGetFunction", code).map(|()| RawFunction(function))
    }

    /// `cuKernelGetParamInfo`: offset and size of each parameter; none where the driver cannot tell.
    pub(crate) fn parameters(&self, kernel: RawKernel) -> Option<Vec<(usize, usize)>> {
        let ask = self.api.cuKernelGetParamInfo?;
        let mut all = Vec::new();
        loop {
            let (mut offset, mut size) = (0, 0);
            // SAFETY: two places for sizes; the kernel lives as long as the library does.
            match unsafe { ask(kernel.0, all.len(), &mut offset, &mut size) } {
                SUCCESS => all.push((offset, size)),
                // Past the last one.
                ERROR_INVALID_VALUE => return Some(all),
                _ => return None,
            }
        }
    }

    /// The names of all kernels; none where the driver cannot tell.
    pub(crate) fn kernel_names(&self) -> Option<Vec<String>> {
        let count_of = self.api.cuLibraryGetKernelCount?;
        let list = self.api.cuLibraryEnumerateKernels?;
        let name_of = self.api.cuKernelGetName?;
        let mut count = 0;
        // SAFETY: a place for a count; the library is live.
        check("", unsafe { count_of(&mut count, self.raw) }).ok()?;
        let mut kernels = vec![null_mut(); usize::try_from(count).ok()?];
        // SAFETY: `kernels` has room for `count` handles; the library is live.
        check("", unsafe { list(kernels.as_mut_ptr(), count, self.raw) }).ok()?;
        let mut names = Vec::with_capacity(kernels.len());
        for kernel in kernels.into_iter().filter(|kernel| !kernel.is_null()) {
            let mut name = null::<c_char>();
            // SAFETY: a place for a pointer; the kernel lives as long as the library does.
            check("", unsafe { name_of(&mut name, kernel) }).ok()?;
            if !name.is_null() {
                // SAFETY: the driver's string lives as long as the library does.
                let name = unsafe { CStr::from_ptr(name) };
                names.push(name.to_string_lossy().into_owned());
            }
        }
        Some(names)
    }

    /// `cuLibraryGetGlobal`: address and size of a variable in the current context.
    pub(crate) fn global(&self, name: &CStr) -> Result<(CUdeviceptr, usize)> {
        let get = newer!(self.api, cuLibraryGetGlobal, "12.0")?;
        let (mut address, mut size) = (0, 0);
        // SAFETY: places for an address and a size, a live library, a C string.
        let code = unsafe { get(&mut address, &mut size, self.raw, name.as_ptr()) };
        check("cuLibraryGetGlobal", code).map(|()| (address, size))
    }

    /// `cuLibraryUnload`, with its answer, which dropping cannot give.
    pub(crate) fn unload(mut self) -> Result<()> {
        let raw = std::mem::replace(&mut self.raw, null_mut());
        // SAFETY: the library is live, and nothing uses it after this.
        check("cuLibraryUnload", unsafe { (self.unload)(raw) })
    }
}

impl Drop for RawLibrary {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            // SAFETY: the library is live, and nothing uses it after this.
            unsafe { (self.unload)(self.raw) };
        }
    }
}

impl Driver {
    /// `cuFuncGetAttribute`.
    pub(crate) fn function_attribute(&self, function: RawFunction, which: c_int) -> Result<i32> {
        let mut value = 0;
        // SAFETY: a place for an integer; the function is live.
        let code = unsafe { (self.cuFuncGetAttribute)(&mut value, which, function.0) };
        check("cuFuncGetAttribute", code).map(|()| value)
    }

    /// `cuFuncSetAttribute`.
    pub(crate) fn set_function_attribute(
        &self,
        function: RawFunction,
        which: c_int,
        value: i32,
    ) -> Result<()> {
        // SAFETY: the function is live.
        let code = unsafe { (self.cuFuncSetAttribute)(function.0, which, value) };
        check("cuFuncSetAttribute", code)
    }

    /// `cuOccupancyMaxActiveBlocksPerMultiprocessor`.
    pub(crate) fn active_blocks(
        &self,
        function: RawFunction,
        threads: i32,
        shared: usize,
    ) -> Result<i32> {
        let mut blocks = 0;
        // SAFETY: a place for an integer; the function is live.
        let code = unsafe {
            (self.cuOccupancyMaxActiveBlocksPerMultiprocessor)(
                &mut blocks,
                function.0,
                threads,
                shared,
            )
        };
        check("cuOccupancyMaxActiveBlocksPerMultiprocessor", code).map(|()| blocks)
    }

    /// `cuOccupancyMaxPotentialBlockSize`: blocks of the smallest full grid, and threads of a block.
    pub(crate) fn best_block(&self, function: RawFunction, shared: usize) -> Result<(i32, i32)> {
        let (mut grid, mut block) = (0, 0);
        // SAFETY: two places for integers; the function is live.
        let code = unsafe {
            (self.cuOccupancyMaxPotentialBlockSize)(
                &mut grid, &mut block, function.0, None, shared, 0,
            )
        };
        check("cuOccupancyMaxPotentialBlockSize", code).map(|()| (grid, block))
    }

    /// Launches through `cuLaunchKernelEx`, or by the older calls where it is not there.
    ///
    /// # Safety
    ///
    /// `parameters` points to what the kernel takes; the kernel does with it what its caller may do;
    /// function and stream belong to the current context.
    pub(crate) unsafe fn launch(
        &self,
        function: RawFunction,
        stream: RawStream,
        shape: &Shape,
        parameters: &mut [*mut c_void],
    ) -> Result<()> {
        let [x, y, z] = shape.grid;
        let [bx, by, bz] = shape.block;
        let shared = shape.shared_bytes;
        if let Some(launch) = self.cuLaunchKernelEx {
            let mut attributes = [CUlaunchAttribute::cooperative(); 2];
            let mut count = 0;
            let wanted = [
                shape.cooperative.then(CUlaunchAttribute::cooperative),
                shape.cluster.map(CUlaunchAttribute::cluster),
            ];
            for (place, attribute) in attributes.iter_mut().zip(wanted.into_iter().flatten()) {
                *place = attribute;
                count += 1;
            }
            let config = CUlaunchConfig {
                grid: shape.grid,
                block: shape.block,
                shared_bytes: shared,
                stream: stream.0,
                attributes: attributes.as_ptr(),
                count,
            };
            // SAFETY: `attributes` holds `count` entries; the rest is the caller's word.
            let code = unsafe { launch(&config, function.0, parameters.as_mut_ptr(), null_mut()) };
            return check("cuLaunchKernelEx", code);
        }
        if shape.cluster.is_some() {
            return Err(Failure::Absent {
                call: "cuLaunchKernelEx",
                since: "11.8",
            });
        }
        let parameters = parameters.as_mut_ptr();
        if shape.cooperative {
            // SAFETY: the caller's word.
            let code = unsafe {
                (self.cuLaunchCooperativeKernel)(
                    function.0, x, y, z, bx, by, bz, shared, stream.0, parameters,
                )
            };
            return check("cuLaunchCooperativeKernel", code);
        }
        // SAFETY: the caller's word.
        let code = unsafe {
            (self.cuLaunchKernel)(
                function.0,
                x,
                y,
                z,
                bx,
                by,
                bz,
                shared,
                stream.0,
                parameters,
                null_mut(),
            )
        };
        check("cuLaunchKernel", code)
    }
}
