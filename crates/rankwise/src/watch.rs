//! Progress reports of long computations, and requests to stop them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A request to stop, shared between threads; clones see the same flag.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    raised: AtomicBool,
    deadline: Option<Instant>,
    parent: Option<Stop>,
}

impl Stop {
    /// A new request that is made when this one is made, and also at the deadline.
    pub fn until(&self, deadline: Option<Instant>) -> Stop {
        Stop(Arc::new(Flag { raised: AtomicBool::new(false), deadline, parent: Some(self.clone()) }))
    }

    /// Asks the work to stop at its next convenient point.
    pub fn request(&self) {
        self.0.raised.store(true, Ordering::Relaxed);
    }

    /// Whether a stop was requested or the deadline has passed.
    pub fn requested(&self) -> bool {
        self.0.raised.load(Ordering::Relaxed)
            || self.0.deadline.is_some_and(|deadline| Instant::now() >= deadline)
            || self.0.parent.as_ref().is_some_and(Stop::requested)
    }
}

/// Progress of a long computation, as reported to a [`Watch`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress<'a> {
    /// Steps done so far.
    pub done: u64,
    /// Steps expected in all, if known.
    pub total: Option<u64>,
    /// What `value` is: `ndcg@10 (valid)`, `duality gap`; empty if there is none.
    pub what: &'a str,
    /// Its best or latest value.
    pub value: f64,
}

/// Receives progress and can ask to stop. Results never depend on it, except by stopping early.
pub trait Watch {
    /// Called after each step.
    fn step(&mut self, step: Progress<'_>);
    /// The flag that long loops check.
    fn stop(&self) -> &Stop;
}

/// Reports nothing; stops when its flag is raised.
#[derive(Debug, Clone, Default)]
pub struct Silent(pub Stop);

impl Watch for Silent {
    fn step(&mut self, _: Progress<'_>) {}

    fn stop(&self) -> &Stop {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_request_reaches_derived_requests_and_not_the_other_way() {
        let (whole, now) = (Stop::default(), Instant::now());
        let (part, timed) = (whole.until(None), whole.until(Some(now)));
        assert!(!part.requested() && timed.requested());
        assert!(!whole.until(Some(now + Duration::from_secs(3600))).requested());
        part.request();
        assert!(part.requested() && !whole.requested());
        whole.request();
        assert!(whole.until(None).requested());
    }
}
