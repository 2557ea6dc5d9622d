//! One thread's attempt at one piece of work, and the threads that wait for it.

use std::cell::RefCell;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::sync::{Mutex, thread_local, waking};

/// How an attempt ended.
#[derive(Clone)]
pub(super) enum Outcome {
    Done,
    Failed(Error),
    Panicked(String),
}

/// Work that one thread, the leader, does for all that want it.
pub(super) struct Attempt {
    kernel: Box<str>,
    /// Which [`Lazy`](super::Lazy) it belongs to; names may be the same.
    owner: usize,
    leader: Arc<Thread>,
    /// The leader once more: a thread that is ending has no other mark left.
    mark: usize,
    /// Guards the outcome alone, and is held for no longer than it takes to read or set it.
    outcome: waking::Mutex<Option<Outcome>>,
    ended: waking::Condvar,
}

/// A thread, as those see it that wait for work it leads.
pub(super) struct Thread {
    /// What it waits for while it leads something itself; guards that link alone.
    waits_for: Mutex<Option<Arc<Attempt>>>,
}

/// What a thread knows of itself.
struct Myself {
    thread: Arc<Thread>,
    leads: RefCell<Vec<Arc<Attempt>>>,
}

thread_local! {
    static MYSELF: Myself = Myself::new();
}

impl Myself {
    fn new() -> Self {
        Myself {
            thread: Arc::new(Thread {
                waits_for: Mutex::new(None),
            }),
            leads: RefCell::new(Vec::new()),
        }
    }

    /// A thread that ends has no locals left, and then stands for itself anew in each call: it
    /// cannot be seen to wait for itself, but works.
    fn with<R>(f: impl Fn(&Myself) -> R) -> R {
        MYSELF.try_with(&f).unwrap_or_else(|_| f(&Myself::new()))
    }
}

/// What tells the calling thread from all others that live, also when its locals are gone.
#[cfg(not(loom))]
fn mark() -> usize {
    std::thread_local! {
        // Without a destructor, so it is there until the thread is not.
        static MARK: u8 = const { 0 };
    }
    MARK.with(|mark| std::ptr::from_ref(mark) as usize)
}

/// The threads of a model share the thread that runs them, so their marks are made up.
#[cfg(loom)]
fn mark() -> usize {
    thread_local! {
        static MARK: Box<u8> = Box::new(0);
    }
    MARK.with(|mark| std::ptr::from_ref::<u8>(mark) as usize)
}

/// Whether the calling thread leads nothing at all.
#[cfg(not(loom))]
pub(super) fn leads_nothing() -> bool {
    Myself::with(|me| me.leads.borrow().is_empty())
}

/// Refuses a call by a thread that is at work for `owner` already.
pub(super) fn refuse_reentry(owner: usize) -> Result<()> {
    Myself::with(|me| {
        let leads = me.leads.borrow();
        let Some(outer) = leads.iter().position(|a| a.owner == owner) else {
            return Ok(());
        };
        let mut cycle: Vec<String> = Vec::new();
        let mut last = None;
        for attempt in leads.iter().skip(outer) {
            // A thread leads a load and the compilation in it, which are one step of the cycle.
            if last.replace(attempt.owner) != Some(attempt.owner) {
                cycle.push(attempt.kernel.to_string());
            }
        }
        cycle.extend(leads.get(outer).map(|a| a.kernel.to_string()));
        Err(Error::FirstCallCycle { cycle })
    })
}

impl Attempt {
    /// A new attempt, led by the calling thread.
    pub(super) fn new(kernel: &str, owner: usize) -> Arc<Self> {
        Arc::new(Attempt {
            kernel: kernel.into(),
            owner,
            leader: Myself::with(|me| me.thread.clone()),
            mark: mark(),
            outcome: waking::Mutex::new(None),
            ended: waking::Condvar::new(),
        })
    }

    /// Does the work, during which the calling thread is known to lead this attempt.
    ///
    /// `work` must not panic.
    pub(super) fn lead<R>(self: &Arc<Self>, work: impl FnOnce() -> R) -> R {
        Myself::with(|me| me.leads.borrow_mut().push(self.clone()));
        let result = work();
        Myself::with(|me| drop(me.leads.borrow_mut().pop()));
        result
    }

    /// Wakes all who wait.
    pub(super) fn end(&self, outcome: Outcome) {
        *self.outcome.lock() = Some(outcome);
        self.ended.notify_all();
    }

    /// Sleeps until the attempt ends.
    ///
    /// # Errors
    ///
    /// The attempt's own, or that it waits in turn for the calling thread.
    pub(super) fn wait(self: &Arc<Self>) -> Result<()> {
        if self.mark == mark() {
            let name = self.kernel.to_string();
            return Err(Error::FirstCallCycle {
                cycle: vec![name.clone(), name],
            });
        }
        Myself::with(|me| {
            // Nobody waits for a thread that leads nothing, so it closes no cycle.
            if me.leads.borrow().is_empty() {
                return self.sleep();
            }
            // First seen, then looking: of the threads that close a cycle, the last to be seen
            // sees all of it.
            *me.thread.waits_for.lock() = Some(self.clone());
            let result = match self.cycle_through(&me.thread) {
                Some(cycle) => Err(Error::FirstCallCycle { cycle }),
                None => self.sleep(),
            };
            *me.thread.waits_for.lock() = None;
            result
        })
    }

    fn sleep(&self) -> Result<()> {
        let mut outcome = self.outcome.lock();
        loop {
            match &*outcome {
                None => outcome = self.ended.wait_until(outcome, Option::is_some),
                Some(Outcome::Done) => return Ok(()),
                Some(Outcome::Failed(error)) => return Err(error.clone()),
                Some(Outcome::Panicked(message)) => {
                    return Err(Error::FirstCallPanicked {
                        kernel: self.kernel.to_string(),
                        message: message.clone(),
                    });
                }
            }
        }
    }

    /// The kernels from the one that this attempt is for back to it, if its leader waits for
    /// `thread`, itself or through others.
    fn cycle_through(self: &Arc<Self>, thread: &Arc<Thread>) -> Option<Vec<String>> {
        let mut path = vec![self.clone()];
        while let Some(last) = path.last().filter(|a| !Arc::ptr_eq(&a.leader, thread)) {
            let next = last.leader.waits_for.lock().clone()?;
            if path.iter().any(|a| Arc::ptr_eq(a, &next)) {
                // A cycle of others, who see it themselves.
                return None;
            }
            path.push(next);
        }
        // The links were read one after the other; if all of them still hold, they held together.
        // Who waited for one that ended since will look in turn before waiting again.
        if path.iter().any(|a| a.outcome.lock().is_some()) {
            return None;
        }
        let mut cycle: Vec<String> = path.iter().map(|a| a.kernel.to_string()).collect();
        cycle.push(self.kernel.to_string());
        Some(cycle)
    }
}
