//! What a kernel can be called with.

use std::fmt;
use std::sync::Arc;

use super::cudarc::driver::CudaStream;

mod layout;
mod pointers;
mod values;

use layout::Layout;
pub(super) use pointers::Pointers;

/// An argument of a launch, or several: a tuple is its elements one after the other, and may hold
/// tuples, so that there is no limit.
///
/// - numbers and `bool`, by value;
/// - `&CudaSlice`, `&mut CudaSlice`, `&CudaView` and `&mut CudaViewMut`, as pointers: cudarc's events
///   order the launch behind earlier writes, and with `&mut` behind earlier reads too;
/// - [`DevicePtr`], a pointer that nobody watches;
/// - [`ByValue`], any other value as the kernel's language lays it out;
/// - [`ArgumentList`], where the number is known at run time alone.
///
/// The trait is sealed.
pub trait Argument<'a>: sealed::Argument<'a> {}

impl<'a, A: sealed::Argument<'a>> Argument<'a> for A {}

/// A raw device pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct DevicePtr(pub u64);

/// A value that is passed as its bytes: a `#[repr(C)]` struct, an array in a struct, a half.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct ByValue<T: Copy + 'static>(pub T);

/// Arguments that are put together at run time.
///
/// ```
/// use cuda_program::gpu::{ArgumentList, ByValue};
///
/// let mut list = ArgumentList::new();
/// list.push(4_u32).push((1.5_f32, ByValue([0_u8; 12])));
/// assert_eq!(list.len(), 3);
/// ```
#[derive(Default)]
pub struct ArgumentList<'a> {
    later: Vec<Later<'a>>,
    sizes: Vec<usize>,
    streams: Vec<Arc<CudaStream>>,
}

type Later<'a> = Box<dyn FnOnce(&'a CudaStream) -> Box<dyn sealed::Ready + 'a> + 'a>;

impl<'a> ArgumentList<'a> {
    /// An empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an argument, or several.
    pub fn push<A: Argument<'a> + 'a>(&mut self, argument: A) -> &mut Self {
        argument.sizes(&mut self.sizes);
        argument.streams(&mut |stream| self.streams.push(stream.clone()));
        self.later
            .push(Box::new(|stream| Box::new(argument.ready(stream))));
        self
    }

    /// The number of arguments.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }
}

impl fmt::Debug for ArgumentList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArgumentList")
            .field("sizes", &self.sizes)
            .finish_non_exhaustive()
    }
}

pub(super) mod sealed {
    use std::sync::Arc;

    use super::{CudaStream, Layout, Pointers};

    /// How an argument becomes pointers.
    pub trait Argument<'a> {
        type Ready: Ready + 'a;

        fn layout(&self) -> Layout;

        fn sizes(&self, sizes: &mut Vec<usize>);

        /// Shows the stream of each slice, which cudarc orders by events.
        fn streams(&self, see: &mut dyn FnMut(&Arc<CudaStream>));

        /// Orders the launch on `stream` behind what it must wait for.
        fn ready(self, stream: &'a CudaStream) -> Self::Ready;
    }

    /// An argument whose launch may follow; dropping it after the launch records that it was used.
    pub trait Ready {
        fn pointers(&mut self, pointers: &mut Pointers);
    }
}

use sealed::Ready;

impl<'a> Ready for Vec<Box<dyn Ready + 'a>> {
    fn pointers(&mut self, pointers: &mut Pointers) {
        for one in self {
            one.pointers(pointers);
        }
    }
}

impl<'a> sealed::Argument<'a> for ArgumentList<'a> {
    type Ready = Vec<Box<dyn Ready + 'a>>;

    fn layout(&self) -> Layout {
        let add = |layout: Layout, &size: &usize| layout.then(Layout::one(size));
        self.sizes.iter().fold(Layout::EMPTY, add)
    }

    fn sizes(&self, sizes: &mut Vec<usize>) {
        sizes.extend_from_slice(&self.sizes);
    }

    fn streams(&self, see: &mut dyn FnMut(&Arc<CudaStream>)) {
        self.streams.iter().for_each(see);
    }

    fn ready(self, stream: &'a CudaStream) -> Self::Ready {
        self.later.into_iter().map(|later| later(stream)).collect()
    }
}
