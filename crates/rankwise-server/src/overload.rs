//! Whether there is more to do than can be done, and what may wait then.
//!
//! Time is divided into windows. The server is overloaded after several windows in a row in which more work waited than a
//! short burst explains. Then the queue is kept short: what would make it longer is refused, so that requests that are
//! answered are answered soon. That ends after several windows in which few requests had to be refused.

use std::time::{Duration, Instant};

const WINDOW: Duration = Duration::from_millis(100);

/// More work than this waits only in a burst, or if there is more than can be done.
const BURST: Duration = Duration::from_millis(10);

/// How many windows with as much begin an overload, and how many calm ones end it.
const BEGIN: u32 = 3;
const END: u32 = 10;

/// A window is calm if not more than one in so many requests was refused.
const FEW_REFUSED: u32 = 10;

/// How much work may wait during an overload, and how many jobs for each thread may wait in any case.
const PATIENCE: Duration = Duration::from_micros(500);
const FEW: usize = 2;

/// What is known of the load.
pub(crate) struct Overload {
    /// When the window began.
    window: Instant,
    asked: u32,
    refused: u32,
    /// Whether there was more work in this window than a burst explains.
    too_much: bool,
    is_overloaded: bool,
    /// Windows in a row that speak for a change.
    run: u32,
}

impl Overload {
    pub(crate) fn new(now: Instant) -> Overload {
        Overload { window: now, asked: 0, refused: 0, too_much: false, is_overloaded: false, run: 0 }
    }

    /// Whether another job may wait, when so many jobs with so much work for each thread wait already.
    pub(crate) fn takes(&mut self, now: Instant, work: Duration, jobs_per_thread: usize) -> bool {
        if now - self.window > WINDOW {
            self.end_window();
            self.window = now;
        }
        self.asked += 1;
        self.too_much |= work > BURST;
        let takes = !self.is_overloaded || work <= PATIENCE || jobs_per_thread < FEW;
        self.refused += u32::from(!takes);
        takes
    }

    fn end_window(&mut self) {
        let (speaks_for_change, needed) = match self.is_overloaded {
            true => (self.refused * FEW_REFUSED <= self.asked, END),
            false => (self.too_much, BEGIN),
        };
        self.run = if speaks_for_change { self.run + 1 } else { 0 };
        if self.run == needed {
            self.is_overloaded = !self.is_overloaded;
            self.run = 0;
        }
        (self.asked, self.refused, self.too_much) = (0, 0, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asks ten times in a window, with so much work in microseconds waiting. Returns how often a job could wait.
    fn window(overload: &mut Overload, now: &mut Instant, work: u64) -> usize {
        *now += 2 * WINDOW;
        (0..10).filter(|_| overload.takes(*now, Duration::from_micros(work), 100)).count()
    }

    #[test]
    fn bursts_wait_and_an_overload_keeps_the_queue_short() {
        let mut now = Instant::now();
        let mut overload = Overload::new(now);
        for work in [50_000, 50_000, 0, 50_000, 50_000, 9_000, 50_000, 50_000] {
            assert_eq!(window(&mut overload, &mut now, work), 10, "bursts");
        }
        assert_eq!(window(&mut overload, &mut now, 50_000), 10, "the third window in a row");
        assert_eq!(window(&mut overload, &mut now, 50_000), 0);
        assert_eq!((window(&mut overload, &mut now, 600), window(&mut overload, &mut now, 500)), (0, 10));
        assert!(overload.takes(now, Duration::from_secs(9), FEW - 1), "a few jobs, however long they take");
        // Nine calm windows with that one, then one that is not.
        (0..8).for_each(|_| _ = window(&mut overload, &mut now, 100));
        assert_eq!(window(&mut overload, &mut now, 600), 0);
        (0..10).for_each(|_| _ = window(&mut overload, &mut now, 100));
        assert_eq!(window(&mut overload, &mut now, 50_000), 10, "it is over");
    }
}
