//! Watching long work: progress out, a request to stop in.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request to stop, shared between threads; clones see the same flag.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks the work to stop at its next convenient point.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether someone has asked.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// One step of long work, as told to a [`Watch`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step<'a> {
    /// Steps done so far.
    pub done: u64,
    /// Steps expected in all, where that is known.
    pub total: Option<u64>,
    /// What `value` is: `ndcg@10 (valid)`, `duality gap`.
    pub what: &'a str,
    /// The best or latest value of it.
    pub value: f64,
}

/// Who is told of progress and can ask to stop. Results never depend on it, except by stopping early.
pub trait Watch {
    /// Called after each step.
    fn step(&mut self, step: Step<'_>);
    /// The flag that long loops look at.
    fn stop(&self) -> &Stop;
}

/// Says nothing; stops when its flag is raised.
#[derive(Debug, Clone, Default)]
pub struct Silent(pub Stop);

impl Watch for Silent {
    fn step(&mut self, _: Step<'_>) {}

    fn stop(&self) -> &Stop {
        &self.0
    }
}
