//! Calls into a library that must all come from one thread.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Sender, channel};

use parking_lot::Mutex;

use crate::error::{Error, Result};

type Job = Box<dyn FnOnce() + Send>;

/// A thread that makes calls one after the other; it starts with the first, and never ends.
#[derive(Default)]
pub(crate) struct OneThread {
    /// The way to the thread. Held to take it or to start the thread, never during a call.
    jobs: Mutex<Option<Sender<Job>>>,
}

impl OneThread {
    /// Runs `call` on the thread, behind the calls before it.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] where the system starts no thread; then `call` was not run.
    ///
    /// # Panics
    ///
    /// Where `call` panics, with that panic.
    pub(crate) fn run<R: Send>(&self, call: impl FnOnce() -> R + Send) -> Result<R> {
        let no_thread = || Error::OutOfMemory {
            what: "a thread for the linker".to_owned(),
            reason: "the system starts none".to_owned(),
        };
        let jobs = self.jobs().ok_or_else(no_thread)?;
        let (done, answer) = channel::<std::result::Result<R, Box<dyn Any + Send>>>();
        let job: Box<dyn FnOnce() + Send + '_> = Box::new(move || {
            let result = catch_unwind(AssertUnwindSafe(call));
            // The caller waits for it.
            let _ = done.send(result);
        });
        // SAFETY: this function returns only when the job has run or was dropped unrun, which the end
        // of `answer` tells, so nothing that the job borrows is gone before.
        let job: Job = unsafe { std::mem::transmute::<Box<dyn FnOnce() + Send + '_>, Job>(job) };
        jobs.send(job).map_err(|_| no_thread())?;
        match answer.recv() {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => Err(no_thread()),
        }
    }

    fn jobs(&self) -> Option<Sender<Job>> {
        let mut started = self.jobs.lock();
        if let Some(jobs) = &*started {
            return Some(jobs.clone());
        }
        let (jobs, received) = channel::<Job>();
        std::thread::Builder::new()
            .name("cuda-program link".to_owned())
            .spawn(move || {
                for job in received {
                    job();
                }
            })
            .ok()?;
        *started = Some(jobs.clone());
        Some(jobs)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn all_calls_run_on_one_thread_and_borrow_what_they_need() {
        let (one, other) = (OneThread::default(), OneThread::default());
        let ids: Mutex<Vec<std::thread::ThreadId>> = Mutex::default();
        std::thread::scope(|scope| {
            for n in 0..8 {
                let (ids, one) = (&ids, &one);
                scope.spawn(move || {
                    let text = format!("call {n}");
                    let length = one.run(|| {
                        ids.lock().push(std::thread::current().id());
                        text.len()
                    });
                    assert_eq!(length.unwrap(), text.len());
                });
            }
        });
        let ids = ids.into_inner();
        assert_eq!(ids.len(), 8);
        assert!(ids.iter().all(|id| *id == ids[0]));
        let other = other.run(|| std::thread::current().id());
        assert_ne!(other.unwrap(), ids[0]);
    }

    #[test]
    fn a_panic_in_a_call_comes_back_and_the_thread_goes_on() {
        let one = OneThread::default();
        let panic = catch_unwind(AssertUnwindSafe(|| one.run(|| panic!("as asked"))));
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"as asked"));
        assert_eq!(one.run(|| 1).unwrap(), 1);
    }
}
