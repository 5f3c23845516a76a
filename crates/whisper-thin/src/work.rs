//! Divides work among threads, and stops it on request.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cancelled;

/// The caller's callback for stopping; not called again once it returned true.
pub(crate) struct Stop<'a> {
    ask: &'a (dyn Fn() -> bool + Sync),
    stopped: AtomicBool,
}

impl<'a> Stop<'a> {
    pub(crate) fn new(ask: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self { ask, stopped: AtomicBool::new(false) }
    }

    /// True if the work should stop; call it every few milliseconds of work.
    pub(crate) fn now(&self) -> bool {
        if self.stopped.load(Ordering::Relaxed) {
            return true;
        }
        let stop = (self.ask)();
        if stop {
            self.stopped.store(true, Ordering::Relaxed);
        }
        stop
    }

    pub(crate) fn check(&self) -> Result<(), Cancelled> {
        if self.now() { Err(Cancelled) } else { Ok(()) }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Crew<'a> {
    /// At least 1, the caller's own.
    pub(crate) threads: usize,
    /// Checked before each job.
    pub(crate) stop: &'a Stop<'a>,
}

impl Crew<'_> {
    /// Length of blocks of `rows`: at most `most` rows, equally many for each thread.
    pub(crate) fn block(&self, rows: usize, most: usize) -> usize {
        rows.div_ceil(self.threads * rows.div_ceil(self.threads * most).max(1)).max(1)
    }

    /// Does `work` for each job on one thread per element of `scratch`, the calling thread
    /// included. Jobs are taken one by one, so that a slow thread does fewer.
    pub(crate) fn each<T: Send, S: Send>(
        &self,
        scratch: &mut [S],
        jobs: impl Iterator<Item = T> + Send,
        work: impl Fn(&mut S, T) + Sync,
    ) -> Result<(), Cancelled> {
        let jobs = Mutex::new(jobs);
        let run = |scratch: &mut S| {
            while !self.stop.now() {
                let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some(job) = next else { return };
                work(scratch, job);
            }
        };
        if let Some((own, others)) = scratch.split_first_mut() {
            thread::scope(|scope| {
                for scratch in others {
                    // if no thread starts, the others do its jobs
                    let _ = thread::Builder::new().spawn_scoped(scope, || run(scratch));
                }
                run(own);
            });
        }
        self.stop.check()
    }
}

/// The first `length` values of a buffer that grows as needed and is never cleared.
pub(crate) fn sized(buffer: &mut Vec<f32>, length: usize) -> &mut [f32] {
    if buffer.len() < length {
        buffer.resize(length, 0.0);
    }
    &mut buffer[..length]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn jobs_run_exactly_once_on_any_thread_count() {
        for threads in 1..4 {
            let stop = Stop::new(&|| false);
            let crew = Crew { threads, stop: &stop };
            let mut done = vec![0; 100];
            let mut scratch = vec![0; threads];
            crew.each(&mut scratch, done.chunks_mut(7), |count, chunk| {
                *count += chunk.len();
                chunk.iter_mut().for_each(|x| *x += 1);
            })
            .unwrap();
            assert_eq!(done, vec![1; 100]);
            assert_eq!(scratch.iter().sum::<usize>(), 100);
        }
    }

    #[test]
    fn no_job_begins_after_the_stop() {
        let asked = AtomicUsize::new(0);
        let ask = || asked.fetch_add(1, Ordering::Relaxed) >= 3;
        let stop = Stop::new(&ask);
        let crew = Crew { threads: 1, stop: &stop };
        let mut done = 0;
        assert_eq!(crew.each(&mut [()], 0..10, |(), _| ()), Err(Cancelled));
        assert_eq!(
            crew.each(std::slice::from_mut(&mut done), 0..10, |done, _| *done += 1),
            Err(Cancelled)
        );
        assert_eq!((done, asked.into_inner()), (0, 4));
    }

    #[test]
    fn blocks_are_even_and_no_longer_than_asked() {
        let stop = Stop::new(&|| false);
        let crew = Crew { threads: 2, stop: &stop };
        assert_eq!(crew.block(284, 96), 71);
        assert_eq!((crew.block(1, 96), crew.block(0, 96), crew.block(1500, 96)), (1, 1, 94));
    }
}
