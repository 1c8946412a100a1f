//! Expectation maximisation for models in which a click needs an attractive document in an examined place, and places are
//! examined independently of what else was examined: position-based (a place is a rank) and user browsing (a place is a
//! rank and the rank of the click before).
//!
//! Clicked documents were attractive and examined. For one that was not clicked, with attractiveness `α` and examination `θ`:
//!
//! ```text
//! P(attractive | no click) = α(1 − θ)/(1 − αθ)        P(examined | no click) = θ(1 − α)/(1 − αθ)
//! ```

use super::super::sessions::SortedSessions;
use super::Browsing;
use super::counting::Counted;
use super::fit::{self, Em, EmRun, FitOptions, times_ln};
use std::collections::BTreeMap;

/// How often a document was shown in a place, and clicked there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::clicks) struct ViewCell {
    pub(in crate::clicks) document: usize,
    pub(in crate::clicks) place: usize,
    pub(in crate::clicks) shown: u64,
    pub(in crate::clicks) clicks: u64,
}

struct ViewEm<'a> {
    cells: &'a [ViewCell],
    attractiveness: Vec<f64>,
    examination: Vec<f64>,
    options: &'a FitOptions,
}

/// Attractiveness by document and examination by place.
pub(in crate::clicks) fn fit_views(
    cells: &[ViewCell],
    documents: usize,
    places: usize,
    options: &FitOptions,
) -> (Vec<f64>, Vec<f64>, EmRun) {
    let start = |parameters| vec![options.start; parameters];
    let mut em = ViewEm { cells, attractiveness: start(documents), examination: start(places), options };
    let run = fit::run(&mut em, options);
    (em.attractiveness, em.examination, run)
}

impl Em for ViewEm<'_> {
    fn step(&mut self) -> f64 {
        let (mut attractive, mut examined) =
            (vec![(0.0, 0.0); self.attractiveness.len()], vec![(0.0, 0.0); self.examination.len()]);
        let mut log_likelihood = 0.0;
        for cell in self.cells {
            let (a, e) = (self.attractiveness[cell.document], self.examination[cell.place]);
            let (shown, clicks) = (cell.shown as f64, cell.clicks as f64);
            let skips = shown - clicks;
            let skip = 1.0 - a * e;
            log_likelihood += times_ln(clicks, a * e) + times_ln(skips, skip);
            // Nothing is left unclicked where a click is certain.
            let by_skips = if skip > 0.0 { skips / skip } else { 0.0 };
            let attractive = &mut attractive[cell.document];
            attractive.0 += clicks + by_skips * a * (1.0 - e);
            attractive.1 += shown;
            let examined = &mut examined[cell.place];
            examined.0 += clicks + by_skips * e * (1.0 - a);
            examined.1 += shown;
        }
        let objective = log_likelihood + self.prior();
        let options = self.options;
        let update = |parameters: &mut [f64], expected: Vec<(f64, f64)>| {
            for (parameter, (successes, trials)) in parameters.iter_mut().zip(expected) {
                *parameter = options.prior.estimate(successes, trials, *parameter);
            }
        };
        update(&mut self.attractiveness, attractive);
        update(&mut self.examination, examined);
        objective
    }

    fn objective(&self) -> f64 {
        let of_cell = |cell: &ViewCell| {
            let click = self.attractiveness[cell.document] * self.examination[cell.place];
            times_ln(cell.clicks as f64, click) + times_ln((cell.shown - cell.clicks) as f64, 1.0 - click)
        };
        self.cells.iter().map(of_cell).sum::<f64>() + self.prior()
    }
}

impl ViewEm<'_> {
    fn prior(&self) -> f64 {
        let prior = self.options.prior;
        prior.log_density(&self.attractiveness) + prior.log_density(&self.examination)
    }
}

pub(super) fn position_based(sessions: &SortedSessions<'_>, options: &FitOptions) -> Counted {
    let cells = cells(sessions, |rank, _| rank - 1);
    let (attractiveness, examination, run) = fit_views(&cells, sessions.pairs.len(), sessions.ranks, options);
    (Browsing::Pbm { examination }, attractiveness, run)
}

pub(super) fn user_browsing(sessions: &SortedSessions<'_>, options: &FitOptions) -> Counted {
    // Only ranks that were shown have parameters: one session with a rank far down would otherwise add millions.
    let ranks = sessions.shown_ranks();
    let number = |rank: usize| ranks.partition_point(|shown| *shown < rank) + 1;
    // The n-th of them has n places: after no click, and after a click at each of them above.
    let first = |number: usize| number * (number - 1) / 2;
    let place = |rank: usize, last: usize| first(number(rank)) + if last == 0 { 0 } else { number(last) };
    let cells = cells(sessions, place);
    let places = first(ranks.len() + 1);
    let (attractiveness, values, run) = fit_views(&cells, sessions.pairs.len(), places, options);
    let unknown = options.prior.estimate(0.0, 0.0, options.start);
    let mut examination = vec![Vec::new(); sessions.ranks];
    for &rank in &ranks {
        let row = &mut examination[rank - 1];
        *row = vec![unknown; rank];
        let above = std::iter::once(&0).chain(ranks.iter().take_while(|above| **above < rank));
        above.for_each(|&last| row[last] = values[place(rank, last)]);
    }
    (Browsing::Ubm { examination }, attractiveness, run)
}

/// The counts by document and place, where a place follows from the rank and the rank of the click before, 0 if there
/// was none.
fn cells(sessions: &SortedSessions<'_>, place: impl Fn(usize, usize) -> usize) -> Vec<ViewCell> {
    let mut cells: BTreeMap<(usize, usize), (u64, u64)> = BTreeMap::new();
    for pattern in &sessions.patterns {
        let mut last = 0;
        for shown in &pattern.shown {
            let cell = cells.entry((shown.pair, place(shown.rank, last))).or_default();
            cell.0 += pattern.count;
            if shown.clicked {
                cell.1 += pattern.count;
                last = shown.rank;
            }
        }
    }
    let cell = |((document, place), (shown, clicks))| ViewCell { document, place, shown, clicks };
    cells.into_iter().map(cell).collect()
}
