//! What a kernel can be called with.

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

use super::cudarc::driver::{
    CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr as _, DevicePtrMut as _,
    DeviceSlice as _, SyncOnDrop,
};

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

/// The count and sizes of arguments as one number, which the compiler works out for a tuple: a
/// polynomial over the sizes, so that lists join by a multiplication.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    hash: u64,
    power: u64,
    count: u32,
}

impl Layout {
    /// Odd, so that no power of it is 0.
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
    const EMPTY: Layout = Layout {
        hash: 0,
        power: 1,
        count: 0,
    };

    const fn one(size: usize) -> Self {
        Layout {
            // A size of 0 counts too.
            hash: (size as u64).wrapping_add(1),
            power: Self::BASE,
            count: 1,
        }
    }

    const fn then(self, next: Layout) -> Self {
        Layout {
            hash: self.hash.wrapping_mul(next.power).wrapping_add(next.hash),
            power: self.power.wrapping_mul(next.power),
            count: self.count.saturating_add(next.count),
        }
    }

    /// Whether the key stands for these sizes alone: of very many arguments, lists can be made that
    /// share one.
    pub(super) const fn is_short(self) -> bool {
        self.count <= 64
    }

    /// Never 0.
    pub(super) const fn key(self) -> u64 {
        self.hash.rotate_left(1) | 1
    }
}

/// Pointers to arguments; the first ones without an allocation.
pub struct Pointers {
    few: [*mut c_void; Pointers::FEW],
    count: usize,
    many: Vec<*mut c_void>,
}

impl Pointers {
    const FEW: usize = 32;

    pub(super) fn of(ready: &mut impl sealed::Ready) -> Self {
        let mut pointers = Pointers {
            few: [std::ptr::null_mut(); Self::FEW],
            count: 0,
            many: Vec::new(),
        };
        ready.pointers(&mut pointers);
        pointers
    }

    fn push(&mut self, pointer: *mut c_void) {
        match self.few.get_mut(self.count) {
            Some(place) => *place = pointer,
            None => {
                if self.many.is_empty() {
                    self.many.extend_from_slice(&self.few);
                }
                self.many.push(pointer);
            }
        }
        self.count += 1;
    }

    pub(super) fn all(&mut self) -> &mut [*mut c_void] {
        if self.many.is_empty() {
            let count = self.count.min(Self::FEW);
            self.few.get_mut(..count).unwrap_or_default()
        } else {
            &mut self.many
        }
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

/// A value in a place of its own.
pub struct Value<T>(T);

impl<T> Ready for Value<T> {
    fn pointers(&mut self, pointers: &mut Pointers) {
        pointers.push((&raw mut self.0).cast());
    }
}

/// An address, and what cudarc is to note after the launch.
pub struct Memory<'a> {
    address: u64,
    _note: SyncOnDrop<'a>,
}

impl Ready for Memory<'_> {
    fn pointers(&mut self, pointers: &mut Pointers) {
        pointers.push((&raw mut self.address).cast());
    }
}

macro_rules! values {
    ($([$($generic:tt)*] $ty:ty;)*) => {
        $(
            impl<'a, $($generic)*> sealed::Argument<'a> for $ty {
                type Ready = Value<Self>;

                fn layout(&self) -> Layout {
                    const { Layout::one(size_of::<Self>()) }
                }

                fn sizes(&self, sizes: &mut Vec<usize>) {
                    sizes.push(size_of::<Self>());
                }

                fn streams(&self, _: &mut dyn FnMut(&Arc<CudaStream>)) {}

                fn ready(self, _: &'a CudaStream) -> Self::Ready {
                    Value(self)
                }
            }
        )*
    };
}

values! {
    [] bool; [] u8; [] u16; [] u32; [] u64; [] u128; [] usize;
    [] i8; [] i16; [] i32; [] i64; [] i128; [] isize; [] f32; [] f64;
    [] DevicePtr;
    [T: Copy + 'static] ByValue<T>;
}

macro_rules! memory {
    ($([$($generic:tt)*] $ty:ty, $get:ident;)*) => {
        $(
            impl<'a, 'b: 'a, $($generic)*> sealed::Argument<'a> for $ty {
                type Ready = Memory<'a>;

                fn layout(&self) -> Layout {
                    const { Layout::one(size_of::<u64>()) }
                }

                fn sizes(&self, sizes: &mut Vec<usize>) {
                    sizes.push(size_of::<u64>());
                }

                fn streams(&self, see: &mut dyn FnMut(&Arc<CudaStream>)) {
                    see(self.stream());
                }

                fn ready(self, stream: &'a CudaStream) -> Self::Ready {
                    let (address, note) = self.$get(stream);
                    Memory { address, _note: note }
                }
            }
        )*
    };
}

memory! {
    [T] &'b CudaSlice<T>, device_ptr;
    [T] &'b mut CudaSlice<T>, device_ptr_mut;
    ['c, T] &'b CudaView<'c, T>, device_ptr;
    ['c, T] &'b CudaViewMut<'c, T>, device_ptr;
    ['c, T] &'b mut CudaViewMut<'c, T>, device_ptr_mut;
}

macro_rules! tuples {
    ($($name:ident)*) => {
        #[allow(non_snake_case, unused_variables)]
        impl<$($name: Ready),*> Ready for ($($name,)*) {
            fn pointers(&mut self, pointers: &mut Pointers) {
                let ($($name,)*) = self;
                $($name.pointers(pointers);)*
            }
        }

        #[allow(non_snake_case, unused_variables, clippy::unused_unit)]
        impl<'a, $($name: sealed::Argument<'a>),*> sealed::Argument<'a> for ($($name,)*) {
            type Ready = ($($name::Ready,)*);

            fn layout(&self) -> Layout {
                let ($($name,)*) = self;
                Layout::EMPTY$(.then($name.layout()))*
            }

            fn sizes(&self, sizes: &mut Vec<usize>) {
                let ($($name,)*) = self;
                $($name.sizes(sizes);)*
            }

            fn streams(&self, see: &mut dyn FnMut(&Arc<CudaStream>)) {
                let ($($name,)*) = self;
                $($name.streams(see);)*
            }

            fn ready(self, stream: &'a CudaStream) -> Self::Ready {
                let ($($name,)*) = self;
                ($($name.ready(stream),)*)
            }
        }
    };
}

macro_rules! every_tuple {
    ($($name:ident)*) => { every_tuple! { @ [] $($name)* } };
    (@ [$($before:ident)*]) => { tuples! { $($before)* } };
    (@ [$($before:ident)*] $next:ident $($rest:ident)*) => {
        tuples! { $($before)* }
        every_tuple! { @ [$($before)* $next] $($rest)* }
    };
}

every_tuple! { A B C D E F G H I J K L M N O P }

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

#[cfg(test)]
mod tests {
    use super::*;

    fn key<'a>(argument: impl Argument<'a>) -> u64 {
        argument.layout().key()
    }

    #[test]
    fn a_layout_is_the_same_however_the_arguments_are_grouped() {
        let mut list = ArgumentList::new();
        list.push(1_u32).push(2.0_f64).push((true, DevicePtr(0)));
        let flat = key((1_u32, 2.0_f64, true, DevicePtr(0)));
        assert_eq!(flat, key((1_u32, ((2.0_f64,), true), DevicePtr(0))));
        assert_eq!(flat, key(list));
    }

    #[test]
    fn another_count_size_or_order_is_another_layout() {
        let all = [
            key(()),
            key(0_u32),
            key(0_u64),
            key((0_u32, 0_u64)),
            key((0_u64, 0_u32)),
            key((0_u32, 0_u32)),
            key((0_u32, 0_u32, 0_u32)),
            key(ByValue([0_u8; 0])),
        ];
        for (n, one) in all.iter().enumerate() {
            assert!(!all[..n].contains(one), "{n}");
        }
    }

    #[test]
    fn pointers_lead_to_the_values_in_order_also_beyond_those_kept_inline() {
        let mut many: Vec<Value<u32>> = (0..100).map(Value).collect();
        let mut pointers = Pointers {
            few: [std::ptr::null_mut(); Pointers::FEW],
            count: 0,
            many: Vec::new(),
        };
        for (n, value) in many.iter_mut().enumerate() {
            assert_eq!(pointers.all().len(), n);
            value.pointers(&mut pointers);
        }
        let read: Vec<u32> = pointers
            .all()
            .iter()
            // SAFETY: each points to a value of `many`.
            .map(|pointer| unsafe { *pointer.cast::<u32>() })
            .collect();
        assert_eq!(read, (0..100).collect::<Vec<_>>());
    }
}
