//! Variables of a module in device and constant memory.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::arguments::DevicePtr;
use super::cudarc::driver::CudaStream;
use super::launch::stream_of;
use super::module::Loaded;
use crate::error::{InvalidInput, Result};

/// Types that are their bits: any bytes are a value, and there is no padding.
///
/// # Safety
///
/// Every pattern of bits must be a value of the type, and the type must have no padding. A
/// `#[repr(C)]` struct of such types without gaps is one.
pub unsafe trait Bits: Copy + 'static {}

macro_rules! bits {
    ($($ty:ty)*) => {
        $(
            // SAFETY: a plain number.
            unsafe impl Bits for $ty {}
        )*
    };
}

bits! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 }

// SAFETY: as the elements are, one behind the other.
unsafe impl<T: Bits, const N: usize> Bits for [T; N] {}

/// A variable of a module, as elements of `T`. It keeps the module alive.
///
/// Reads and writes happen in the order of the stream that is given, and wait for it.
#[derive(Clone)]
pub struct Global<T> {
    loaded: Arc<Loaded>,
    name: Arc<str>,
    address: u64,
    len: usize,
    _elements: PhantomData<fn() -> T>,
}

impl<T: Bits> Global<T> {
    pub(super) fn new(loaded: Arc<Loaded>, name: &str, address: u64, bytes: usize) -> Result<Self> {
        let size = size_of::<T>();
        if size == 0 || bytes % size != 0 {
            return Err(wrong_size(
                name,
                format!(
                    "it has {bytes} bytes, and {} has {size}",
                    std::any::type_name::<T>()
                ),
            ));
        }
        Ok(Global {
            loaded,
            name: name.into(),
            address,
            len: bytes / size,
            _elements: PhantomData,
        })
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Its address on the device, to pass to a kernel.
    #[must_use]
    pub fn device_ptr(&self) -> DevicePtr {
        DevicePtr(self.address)
    }

    /// Reads all elements.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`](crate::Error::Driver) where the copy fails, as it does during a capture, and
    /// [`Error::InvalidInput`](crate::Error::InvalidInput) for a stream of another context.
    #[doc(alias = "cuMemcpyDtoHAsync")]
    pub fn read(&self, stream: &CudaStream) -> Result<Vec<T>> {
        let place = &self.loaded.place;
        let stream = stream_of(place, stream)?;
        let _current = place.enter()?;
        let mut values: Vec<T> = Vec::with_capacity(self.len);
        let bytes = self.len * size_of::<T>();
        // SAFETY: the variable has that many bytes, and the vector room for them.
        let read = unsafe {
            place
                .driver
                .api
                .read(values.as_mut_ptr().cast(), self.address, bytes, stream)
        };
        read.map_err(|e| place.driver.error_on(e, Some(&self.name), &[]))?;
        // SAFETY: every byte was written, and any bytes are a `T`.
        unsafe { values.set_len(self.len) };
        Ok(values)
    }

    /// Writes all elements.
    ///
    /// # Errors
    ///
    /// As for [`read`](Global::read), and [`Error::InvalidInput`](crate::Error::InvalidInput) for
    /// another number of elements than there are.
    #[doc(alias = "cuMemcpyHtoDAsync")]
    pub fn write(&self, stream: &CudaStream, values: &[T]) -> Result<()> {
        if values.len() != self.len {
            return Err(wrong_size(
                &self.name,
                format!(
                    "it has {} elements, and {} are given",
                    self.len,
                    values.len()
                ),
            ));
        }
        let place = &self.loaded.place;
        let stream = stream_of(place, stream)?;
        let _current = place.enter()?;
        // SAFETY: `T` has no padding, so each of its bytes is initialised.
        let bytes = unsafe {
            std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values))
        };
        // SAFETY: the variable has that many bytes.
        unsafe { place.driver.api.write(self.address, bytes, stream) }
            .map_err(|e| place.driver.error_on(e, Some(&self.name), &[]))
    }
}

fn wrong_size(name: &str, problem: String) -> crate::error::Error {
    InvalidInput {
        input: name.to_owned(),
        line: None,
        snippet: None,
        problem,
        hint: "name the type of its elements, and give as many as there are".to_owned(),
    }
    .into()
}

impl<T> fmt::Debug for Global<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Global")
            .field("name", &self.name)
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}
