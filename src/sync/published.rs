//! A value that threads read with one load, and that is replaced but never taken away.

use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;

use super::{AtomicPtr, Tracked};

/// The newest of the values published so far.
///
/// Reading is one load and writes nothing, so that it costs the same from any number of threads. The
/// price is that older values stay until the slot goes: publish seldom.
pub(crate) struct Published<T> {
    newest: AtomicPtr<Node<T>>,
    owns: PhantomData<T>,
}

struct Node<T> {
    value: Tracked<T>,
    older: *mut Node<T>,
}

impl<T: Send + Sync> Published<T> {
    /// A slot with nothing in it.
    pub(crate) fn empty() -> Self {
        Published {
            newest: AtomicPtr::new(null_mut()),
            owns: PhantomData,
        }
    }

    /// The newest value; the reference lasts as long as the slot.
    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        let node = self.newest.load(Ordering::Acquire);
        // SAFETY: a node is whole before it is published, and freed by `drop` alone.
        unsafe { node.as_ref() }.map(|node| node.value.get())
    }

    /// Makes `value` the newest.
    ///
    /// Of two threads that publish at once, either may be the later one.
    pub(crate) fn publish(&self, value: T) {
        let mut older = self.newest.load(Ordering::Relaxed);
        let node = Box::into_raw(Box::new(Node {
            value: Tracked::new(value),
            older,
        }));
        while let Err(newer) =
            self.newest
                .compare_exchange(older, node, Ordering::Release, Ordering::Relaxed)
        {
            older = newer;
            // SAFETY: the node is not published yet, so nobody else has it.
            unsafe { (*node).older = older };
        }
    }
}

impl<T> Drop for Published<T> {
    fn drop(&mut self) {
        // A model that failed has no threads left to load with.
        #[cfg(loom)]
        if std::thread::panicking() {
            return;
        }
        // Acquire, since the thread that drops need not be one that published.
        let mut node = self.newest.load(Ordering::Acquire);
        while !node.is_null() {
            // SAFETY: nodes come from `Box::into_raw`, each is in the list once, and nobody reads
            // any more.
            let owned = unsafe { Box::from_raw(node) };
            node = owned.older;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;

    use super::Published;

    #[test]
    fn a_reference_outlives_later_values_and_all_are_freed_with_the_slot() {
        let values: Vec<Arc<usize>> = (0..3).map(Arc::new).collect();
        let slot = Published::empty();
        assert!(slot.get().is_none());
        slot.publish(values[0].clone());
        let first = slot.get().unwrap();
        slot.publish(values[1].clone());
        slot.publish(values[2].clone());
        assert_eq!((**first, **slot.get().unwrap()), (0, 2));
        drop(slot);
        for value in &values {
            assert_eq!(Arc::strong_count(value), 1);
        }
    }
}
