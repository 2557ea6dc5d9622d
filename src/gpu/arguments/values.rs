//! Each type that may be an argument.

use std::sync::Arc;

use super::layout::Layout;
use super::pointers::Pointers;
use super::sealed::{self, Ready};
use super::{ByValue, DevicePtr};
use crate::gpu::cudarc::driver::{
    CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr as _, DevicePtrMut as _,
    DeviceSlice as _, SyncOnDrop,
};

/// A value in a place of its own.
pub struct Value<T>(pub(super) T);

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
