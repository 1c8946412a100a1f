//! Models that are fitted by counting once.
//!
//! They have no hidden state up to the last click: users examine every document above it. The dependent click model and
//! the simplified DBN take no notice of documents below the last click, but of all in sessions without a click.

use super::super::sessions::{Pattern, SortedSessions};
use super::fit::{EmRun, FitOptions};
use super::{Browsing, ByDocument};

pub(super) type Counted = (Browsing, Vec<f64>, EmRun);

/// Successes and trials of each parameter.
struct Tally(Vec<(f64, f64)>);

impl Tally {
    fn new(parameters: usize) -> Tally {
        Tally(vec![(0.0, 0.0); parameters])
    }

    fn add(&mut self, parameter: usize, success: bool, count: u64) {
        let (successes, trials) = &mut self.0[parameter];
        *trials += count as f64;
        *successes += if success { count as f64 } else { 0.0 };
    }

    fn estimates(&self, options: &FitOptions) -> Vec<f64> {
        let estimate = |&(successes, trials)| options.prior.estimate(successes, trials, options.start);
        self.0.iter().map(estimate).collect()
    }
}

fn at_once() -> EmRun {
    EmRun { iterations: 0, converged: true, objective: Vec::new() }
}

/// How many documents users examined: up to this click, or all if there is none.
fn examined(pattern: &Pattern, click: Option<usize>) -> usize {
    click.map_or(pattern.shown.len(), |place| place + 1)
}

fn last_click(pattern: &Pattern) -> Option<usize> {
    pattern.shown.iter().rposition(|shown| shown.clicked)
}

/// Clicks on each document among the views of it up to the last click.
fn up_to_last_click(sessions: &SortedSessions<'_>) -> Tally {
    let mut attractiveness = Tally::new(sessions.pairs.len());
    for pattern in &sessions.patterns {
        for shown in &pattern.shown[..examined(pattern, last_click(pattern))] {
            attractiveness.add(shown.pair, shown.clicked, pattern.count);
        }
    }
    attractiveness
}

/// Counts up to the first click; later clicks, which the model rules out, are not counted.
pub(super) fn cascade(sessions: &SortedSessions<'_>, options: &FitOptions) -> Counted {
    let mut attractiveness = Tally::new(sessions.pairs.len());
    for pattern in &sessions.patterns {
        let first = pattern.shown.iter().position(|shown| shown.clicked);
        for shown in &pattern.shown[..examined(pattern, first)] {
            attractiveness.add(shown.pair, shown.clicked, pattern.count);
        }
    }
    (Browsing::Cascade, attractiveness.estimates(options), at_once())
}

/// A click that is not the last one was gone on after.
pub(super) fn dependent_click(sessions: &SortedSessions<'_>, options: &FitOptions) -> Counted {
    let mut continuation = Tally::new(sessions.ranks);
    for pattern in &sessions.patterns {
        let last = last_click(pattern);
        for (place, shown) in pattern.shown.iter().enumerate().filter(|(_, shown)| shown.clicked) {
            continuation.add(shown.rank - 1, Some(place) != last, pattern.count);
        }
    }
    let browsing = Browsing::Dcm { continuation: continuation.estimates(options) };
    (browsing, up_to_last_click(sessions).estimates(options), at_once())
}

/// The last click is the one that satisfied.
pub(super) fn simplified_dbn(sessions: &SortedSessions<'_>, options: &FitOptions) -> Counted {
    let mut satisfaction = Tally::new(sessions.pairs.len());
    for pattern in &sessions.patterns {
        let last = last_click(pattern);
        for (place, shown) in pattern.shown.iter().enumerate().filter(|(_, shown)| shown.clicked) {
            satisfaction.add(shown.pair, Some(place) == last, pattern.count);
        }
    }
    let default = options.prior.estimate(0.0, 0.0, options.start);
    let satisfaction = ByDocument::new(default, &sessions.pairs, &satisfaction.estimates(options));
    (Browsing::Sdbn { satisfaction }, up_to_last_click(sessions).estimates(options), at_once())
}
