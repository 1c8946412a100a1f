//! Whether there is more to do than can be done, and what may wait then.
//!
//! An overload begins when more work than a short burst explains has waited without a break. What is late by then is
//! refused, and from then on the queue is kept short: what would make it longer is refused, so that requests that are
//! answered are answered soon. It ends after a second in which few requests had to be refused.
//!
//! Where there is only a little more to do than can be done, few requests have to be refused, and the next overload begins
//! as soon as one has ended. So an end is doubted at first: less work is taken for a return, and each return doubles how
//! long the next overload lasts at least.

use std::time::{Duration, Instant};

/// More work than this, and more jobs for each thread, wait only in a burst, or if there is more than can be done. A few
/// clients that send one long request after the other are no overload.
const BURST: Duration = Duration::from_millis(10);
const MANY: usize = 8;

/// How long so much work waits before it is an overload.
const LASTING: Duration = Duration::from_millis(40);

/// For so long after an overload, this much work that waits for this long is the same overload again.
const DOUBT: Duration = Duration::from_secs(1);
const BURST_IN_DOUBT: Duration = Duration::from_millis(2);
const LASTING_IN_DOUBT: Duration = Duration::from_millis(5);

/// So many calm windows in a row end an overload; at most so many if it returned.
const WINDOW: Duration = Duration::from_millis(100);
const CALM: u32 = 10;
const MOST_CALM: u32 = 160;

/// A window is calm if not more than one in so many requests was refused.
const FEW_REFUSED: u32 = 10;

/// How much work may wait during an overload, and how many jobs for each thread may wait in any case.
const PATIENCE: Duration = Duration::from_micros(500);
const FEW: usize = 2;

/// What waits: how many jobs, for how many threads that do them, and how long one takes.
#[derive(Clone, Copy)]
pub(crate) struct Waiting {
    pub(crate) jobs: usize,
    pub(crate) threads: usize,
    pub(crate) service: Duration,
}

impl Waiting {
    /// How long the threads need for it.
    fn work(self) -> Duration {
        self.service.mul_f64(self.jobs as f64 / self.threads as f64)
    }

    fn is_usual(self, burst: Duration) -> bool {
        self.jobs <= MANY * self.threads || self.work() <= burst
    }

    fn is_short(self) -> bool {
        self.jobs < FEW * self.threads || self.work() <= PATIENCE
    }
}

/// What is known of the load.
pub(crate) struct Overload {
    /// Since when more work has waited than a burst explains.
    behind: Option<Instant>,
    /// During an overload, its window.
    window: Option<Window>,
    /// How many calm windows end it.
    needed: u32,
    /// When the last one ended.
    ended: Option<Instant>,
}

/// A part of an overload.
struct Window {
    since: Instant,
    asked: u32,
    refused: u32,
    /// How many windows before it were calm, one after the other.
    calm: u32,
}

impl Window {
    fn new(since: Instant, calm: u32) -> Window {
        Window { since, asked: 0, refused: 0, calm }
    }

    /// The window of this moment. Windows in which nobody asked are calm.
    fn at(self, now: Instant) -> Window {
        let passed = ((now - self.since).as_nanos() / WINDOW.as_nanos()) as u32;
        match passed {
            0 => self,
            _ if self.refused * FEW_REFUSED <= self.asked => Window::new(now, self.calm + passed),
            _ => Window::new(now, passed - 1),
        }
    }
}

impl Overload {
    pub(crate) fn new() -> Overload {
        Overload { behind: None, window: None, needed: CALM, ended: None }
    }

    /// Takes note of what waits. Returns whether an overload begins.
    pub(crate) fn notice(&mut self, now: Instant, waiting: Waiting) -> bool {
        let in_doubt = self.ended.is_some_and(|ended| now - ended < DOUBT);
        let (burst, lasting) = if in_doubt { (BURST_IN_DOUBT, LASTING_IN_DOUBT) } else { (BURST, LASTING) };
        if waiting.is_usual(burst) {
            self.behind = None;
            return false;
        }
        let begins = now - *self.behind.get_or_insert(now) > lasting && self.window.is_none();
        if begins {
            self.needed = if in_doubt { MOST_CALM.min(2 * self.needed) } else { CALM };
            self.window = Some(Window::new(now, 0));
        }
        begins
    }

    /// Whether another job may wait, if one comes.
    pub(crate) fn admits(&mut self, now: Instant, waiting: Waiting) -> bool {
        let Some(window) = self.window.take().map(|window| window.at(now)) else { return true };
        if let Some(more) = window.calm.checked_sub(self.needed) {
            // It was over before this request came, if nobody asked for a while.
            self.ended = now.checked_sub(WINDOW * more);
            self.behind = None;
            return true;
        }
        let window = self.window.insert(window);
        if !waiting.is_short() {
            window.asked += 1;
            window.refused += 1;
        }
        waiting.is_short()
    }

    /// Whether a job that has come may wait.
    pub(crate) fn takes(&mut self, now: Instant, waiting: Waiting) -> bool {
        let takes = self.admits(now, waiting);
        if let (true, Some(window)) = (takes, &mut self.window) {
            window.asked += 1;
        }
        takes
    }

    /// How many of the jobs that wait may go on waiting when an overload begins.
    pub(crate) fn keeps(waiting: Waiting) -> usize {
        (0..=waiting.jobs).rev().find(|jobs| Waiting { jobs: *jobs, ..waiting }.is_short()).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(jobs: usize) -> Waiting {
        Waiting { jobs, threads: 2, service: Duration::from_micros(200) }
    }

    const FAR_BEHIND: usize = 500;

    fn after(start: Instant, milliseconds: u64) -> Instant {
        start + Duration::from_millis(milliseconds)
    }

    /// One that begins now.
    fn overloaded(now: Instant) -> Overload {
        let mut overload = Overload::new();
        assert!(!overload.notice(now, waiting(FAR_BEHIND)) && overload.takes(now, waiting(FAR_BEHIND)));
        assert!(overload.notice(after(now, 41), waiting(FAR_BEHIND)));
        overload
    }

    #[test]
    fn a_burst_waits() {
        let (mut overload, start) = (Overload::new(), Instant::now());
        for round in 0..10 {
            for (time, jobs) in [(0, FAR_BEHIND), (20, FAR_BEHIND), (39, 101), (41, 100)] {
                let now = after(start, round * 50 + time);
                assert!(!overload.notice(now, waiting(jobs)) && overload.takes(now, waiting(jobs)));
            }
        }
    }

    #[test]
    fn a_few_long_jobs_wait() {
        let (mut overload, start) = (Overload::new(), Instant::now());
        let long = Waiting { service: Duration::from_millis(50), ..waiting(16) };
        assert!((0..10).all(|round| !overload.notice(after(start, round * 50), long)));
        let more = Waiting { jobs: 17, ..long };
        assert!(!overload.notice(after(start, 500), more) && overload.notice(after(start, 541), more));
    }

    #[test]
    fn an_overload_keeps_the_queue_short() {
        let start = Instant::now();
        let mut overload = overloaded(start);
        let now = after(start, 42);
        assert!(!overload.notice(now, waiting(FAR_BEHIND)), "it has begun");
        // Five jobs of 0.2 ms take two threads 0.5 ms.
        assert!(overload.takes(now, waiting(5)) && !overload.takes(now, waiting(6)));
        assert_eq!(Overload::keeps(waiting(FAR_BEHIND)), 5);
        let long = Waiting { service: Duration::from_secs(9), ..waiting(3) };
        assert!(overload.takes(now, long), "a few jobs, however long they take");
        assert!(!overload.takes(now, Waiting { jobs: 4, ..long }));
        assert_eq!(Overload::keeps(Waiting { jobs: 100, ..long }), 3);
    }

    #[test]
    fn a_calm_second_ends_it() {
        let start = after(Instant::now(), 0);
        let mut overload = overloaded(start);
        let mut now = after(start, 42);
        let mut ask = |milliseconds: u64, jobs: usize| {
            now += Duration::from_millis(milliseconds);
            overload.takes(now, waiting(jobs))
        };
        for _ in 0..9 {
            assert!(!ask(10, 6), "refused, so the window is not calm");
            assert!((0..9).all(|_| ask(10, 5)));
            assert!(ask(10, 5), "one of eleven refused: calm");
        }
        assert!(!ask(100, 6));
        // A pause is calm.
        assert!(ask(1_200, FAR_BEHIND));
    }

    #[test]
    fn an_overload_that_returns_at_once_lasts_twice_as_long() {
        let mut now = Instant::now();
        let mut overload = overloaded(now);
        now = after(now, 41);
        // Returns 5 ms after each end with 2 ms of work, which is no overload otherwise.
        for needed in [1_000, 2_000, 4_000, 8_000, 16_000, 16_000] {
            now = after(now, needed - 100);
            assert!(!overload.takes(now, waiting(FAR_BEHIND)), "{needed} ms");
            // That was refused, so the time begins anew with the next window.
            now = after(now, needed + 100);
            assert!(overload.takes(now, waiting(FAR_BEHIND)), "{needed} ms");
            assert!(!overload.notice(now, waiting(21)) && overload.notice(after(now, 6), waiting(21)));
            now = after(now, 6);
        }
        // After a pause that was longer than needed, a burst is a burst.
        now = after(now, 18_100);
        assert!(overload.takes(now, waiting(FAR_BEHIND)));
        assert!(!overload.notice(now, waiting(21)) && !overload.notice(after(now, 30), waiting(FAR_BEHIND)));
        assert!(overload.takes(after(now, 30), waiting(FAR_BEHIND)));
    }
}
