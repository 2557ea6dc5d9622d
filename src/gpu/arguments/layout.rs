//! Count and sizes of arguments, in one number.

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
    pub(super) const EMPTY: Layout = Layout {
        hash: 0,
        power: 1,
        count: 0,
    };

    pub(super) const fn one(size: usize) -> Self {
        Layout {
            // A size of 0 counts too.
            hash: (size as u64).wrapping_add(1),
            power: Self::BASE,
            count: 1,
        }
    }

    pub(super) const fn then(self, next: Layout) -> Self {
        Layout {
            hash: self.hash.wrapping_mul(next.power).wrapping_add(next.hash),
            power: self.power.wrapping_mul(next.power),
            count: self.count.saturating_add(next.count),
        }
    }

    /// Whether the key stands for these sizes alone: of very many arguments, lists can be made that
    /// share one.
    pub(in crate::gpu) const fn is_short(self) -> bool {
        self.count <= 64
    }

    /// Never 0.
    pub(in crate::gpu) const fn key(self) -> u64 {
        self.hash.rotate_left(1) | 1
    }
}

#[cfg(test)]
mod tests {
    use crate::gpu::{Argument, ArgumentList, ByValue, DevicePtr};

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
}
