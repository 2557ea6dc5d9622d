//! Arguments as the pointers that the driver takes.

use std::ffi::c_void;

use super::sealed::Ready;

/// Pointers to arguments; the first ones without an allocation.
pub struct Pointers {
    few: [*mut c_void; Pointers::FEW],
    count: usize,
    many: Vec<*mut c_void>,
}

impl Pointers {
    const FEW: usize = 32;

    pub(in crate::gpu) fn of(ready: &mut impl Ready) -> Self {
        let mut pointers = Pointers {
            few: [std::ptr::null_mut(); Self::FEW],
            count: 0,
            many: Vec::new(),
        };
        ready.pointers(&mut pointers);
        pointers
    }

    pub(super) fn push(&mut self, pointer: *mut c_void) {
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

    pub(in crate::gpu) fn all(&mut self) -> &mut [*mut c_void] {
        if self.many.is_empty() {
            let count = self.count.min(Self::FEW);
            self.few.get_mut(..count).unwrap_or_default()
        } else {
            &mut self.many
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::arguments::values::Value;

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
