//! Propensities: how likely users are to look at each rank, relative to the first.
//!
//! Under a position-based model a document is clicked with probability `θ_r·relevance`, so a click at rank r counts for
//! `1/θ_r` clicks at rank 1. Only documents that were shown at different ranks tell θ from relevance: where documents never
//! move between ranks, estimation is refused.

mod paired;
#[cfg(test)]
mod tests;

pub use paired::PairedRanks;

use super::models::{FitOptions, ViewCell, fit_views};
use super::stats::{Groups, Movement, run_of_ranks};
use super::{Cell, ClickCounts};
use crate::data::{AtomicFile, Source};
use crate::error::{Error, Result};
use paired::{PairTerm, maximize};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::Path;

/// How propensities were estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PropensityMethod {
    /// Clicks on the same document at two ranks.
    PairedRanks,
    /// Expectation maximisation of the position-based model.
    Em,
    /// Swap experiments.
    Swap,
    /// They were given.
    Given,
}

impl PropensityMethod {
    /// Its name: `paired-ranks`, `em`, `swap` or `given`.
    pub fn name(self) -> &'static str {
        match self {
            PropensityMethod::PairedRanks => "paired-ranks",
            PropensityMethod::Em => "em",
            PropensityMethod::Swap => "swap",
            PropensityMethod::Given => "given",
        }
    }
}

/// The propensity of each rank; that of rank 1 is 1.
///
/// As JSON, a list of numbers or an object with nothing but `theta` are enough: propensities that are known.
///
/// ```
/// use rankwise::clicks::propensity::Propensities;
/// let theta = Propensities::given(vec![2.0, 1.0, 0.1])?;
/// assert_eq!(theta.theta, [1.0, 0.5, 0.05]);
/// assert_eq!(theta.weight(2, 0.0), 2.0);
/// assert_eq!(theta.weight(3, 0.1), 10.0);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Propensities {
    /// How they were estimated.
    #[serde(default = "given")]
    pub method: PropensityMethod,
    /// The propensity of each rank, from 1; the first is 1.
    pub theta: Vec<f64>,
    /// The ranks at which nothing was shown. Their propensities are interpolated: the logarithms lie on a line between those
    /// of the nearest ranks that were shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interpolated: Vec<u32>,
    /// Whether the estimation came to an end.
    #[serde(default = "yes")]
    pub converged: bool,
}

fn given() -> PropensityMethod {
    PropensityMethod::Given
}

fn yes() -> bool {
    true
}

impl Propensities {
    /// Known values, at least one, above 0; they are divided by the first.
    pub fn given(theta: Vec<f64>) -> Result<Propensities> {
        Propensities::relative(PropensityMethod::Given, theta, true)
    }

    /// Estimates at some ranks, ascending from rank 1. Those between them are interpolated.
    fn at_ranks(
        method: PropensityMethod,
        ranks: &[u32],
        theta: &[f64],
        converged: bool,
    ) -> Result<Propensities> {
        let mut all = vec![theta[0]];
        let mut interpolated = Vec::new();
        for (rank, value) in ranks.windows(2).zip(theta.windows(2)) {
            let steps = f64::from(rank[1] - rank[0]);
            let between = (1..rank[1] - rank[0]).map(|step| {
                (f64::from(step) / steps * (value[1].ln() - value[0].ln()) + value[0].ln()).exp()
            });
            all.extend(between);
            all.push(value[1]);
            interpolated.extend(rank[0] + 1..rank[1]);
        }
        Ok(Propensities { interpolated, ..Propensities::relative(method, all, converged)? })
    }

    /// What a careful user should know.
    pub fn notes(&self) -> Vec<String> {
        let unknown = (!self.interpolated.is_empty()).then(|| {
            format!(
                "nothing was shown at {}; propensities there are interpolated between those of the nearest ranks",
                in_words(&self.interpolated)
            )
        });
        let unfinished = (!self.converged).then(|| match self.method {
            PropensityMethod::Em => "the estimation has not converged; em needs more iterations".to_owned(),
            _ => "the estimation has not converged, so propensities are not exact; log more sessions, or leave out \
                  ranks that were hardly shown"
                .to_owned(),
        });
        unknown.into_iter().chain(unfinished).collect()
    }

    fn relative(method: PropensityMethod, mut theta: Vec<f64>, converged: bool) -> Result<Propensities> {
        if let Some(place) = theta.iter().position(|t| !(*t > 0.0 && t.is_finite())) {
            let (rank, value) = (place + 1, theta[place]);
            return Err(Error::data(format!("the propensity of rank {rank} is {value}; it must be above 0")));
        }
        let first = *theta.first().ok_or_else(|| Error::data("there are no propensities"))?;
        theta.iter_mut().for_each(|t| *t /= first);
        Ok(Propensities { method, theta, interpolated: Vec::new(), converged })
    }

    /// The propensity of a rank, from 1; below the last rank, that of the last one.
    pub fn at(&self, rank: u32) -> f64 {
        let place = (rank.max(1) as usize).min(self.theta.len()) - 1;
        self.theta[place]
    }

    /// What a click at a rank counts for: `1/max(θ, clip)`. Clipping makes estimates less variable, and biased.
    pub fn weight(&self, rank: u32, clip: f64) -> f64 {
        1.0 / self.at(rank).max(clip)
    }

    /// Writes the propensities as JSON.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_vec_pretty(self).map_err(|e| Error::data(e.to_string()))?;
        let mut file = AtomicFile::create(path)?;
        file.put(&text)?;
        file.put(b"\n")?;
        file.commit()
    }

    /// Reads propensities that were written.
    pub fn read(path: &Path) -> Result<Propensities> {
        let mut source = Source::open(path)?;
        let mut text = Vec::new();
        source.read_to_end(&mut text).map_err(|e| source.origin().read_error(e))?;
        let read = match text.trim_ascii_start().starts_with(b"[") {
            true => serde_json::from_slice(&text).map(Propensities::given),
            false => serde_json::from_slice(&text).map(|read: Propensities| {
                let relative = Propensities::relative(read.method, read.theta, read.converged)?;
                Ok(Propensities { interpolated: read.interpolated, ..relative })
            }),
        };
        let wrong = |e: &dyn std::fmt::Display| format!("{} holds no propensities: {e}", path.display());
        read.map_err(|e| Error::malformed(wrong(&e)))?.map_err(|e| Error::malformed(wrong(&e)))
    }

    /// Expectation maximisation of the position-based model over the ranks up to `depth` at which documents were shown.
    pub fn by_em(counts: &ClickCounts, depth: u32, options: &FitOptions) -> Result<Propensities> {
        options.check()?;
        let ranks = check_movement(counts, depth)?;
        let documents = counts.by_document();
        let mut cells = Vec::new();
        for (document, of_document) in documents.iter().enumerate() {
            let within = of_document.cells.iter().filter(|(rank, _)| *rank <= depth);
            cells.extend(within.map(|&(rank, Cell { shown, clicks })| ViewCell {
                document,
                place: place_of(&ranks, rank),
                shown,
                clicks,
            }));
        }
        let (_, examination, run) = fit_views(&cells, documents.len(), ranks.len(), options);
        Propensities::at_ranks(PropensityMethod::Em, &ranks, &examination, run.converged)
    }

    /// From sessions with swap experiments (`swap` in the log): since each of the two documents was equally likely at either
    /// rank, the clicks there are in proportion to the propensities. With several experiments per rank, the same sum is
    /// maximised as for [`PairedRanks`], without smoothing.
    pub fn by_swap(counts: &ClickCounts) -> Result<Propensities> {
        let Some(last) = counts.swaps.keys().map(|(_, last)| *last).max() else {
            return Err(Error::data(
                "the log has no swap experiments; its sessions must name the two ranks as `swap`",
            ));
        };
        let ranks = counts.shown_ranks(last);
        check_first(&ranks)?;
        let mut groups = Groups::new(last as usize);
        let mut terms = Vec::new();
        for (&(a, b), cells) in &counts.swaps {
            groups.join(a as usize - 1, b as usize - 1);
            terms.push(PairTerm::new((place_of(&ranks, a), cells[0]), (place_of(&ranks, b), cells[1])));
        }
        let is_shown = |place: usize| ranks.binary_search(&(place as u32 + 1)).is_ok();
        let movement = Movement { moving: 0, groups: groups.lists(is_shown) };
        if !movement.is_connected() {
            return Err(Error::data(format!(
                "swap experiments do not connect all ranks: {movement}; every rank must be swapped with rank 1, or with a \
                 rank that is"
            )));
        }
        let (theta, converged) = maximize(&terms, &ranks, 0.0)?;
        Propensities::at_ranks(PropensityMethod::Swap, &ranks, &theta, converged)
    }
}

/// The place of a rank among those at which documents were shown.
fn place_of(ranks: &[u32], rank: u32) -> usize {
    ranks.partition_point(|shown| *shown < rank)
}

/// Fails if nothing was shown at rank 1.
fn check_first(ranks: &[u32]) -> Result<()> {
    match ranks.first() {
        Some(1) => Ok(()),
        _ => Err(Error::data("the log shows nothing at rank 1, to which propensities are relative")),
    }
}

/// Ranks for people: `ranks 3–7 and 9`.
fn in_words(ranks: &[u32]) -> String {
    let runs: Vec<String> = ranks.chunk_by(|a, b| a + 1 == *b).map(run_of_ranks).collect();
    let many = if ranks.len() == 1 { "rank" } else { "ranks" };
    match runs.as_slice() {
        [] => String::new(),
        [one] => format!("{many} {one}"),
        [some @ .., last] if some.len() < 8 => format!("{many} {} and {last}", some.join(", ")),
        [first, ..] => format!("{} ranks, the first of them {first}", ranks.len()),
    }
}

/// Fails unless all ranks up to `depth` at which documents were shown can be compared. Returns these ranks.
fn check_movement(counts: &ClickCounts, depth: u32) -> Result<Vec<u32>> {
    let ranks = counts.shown_ranks(depth);
    check_first(&ranks)?;
    let movement = Movement::of(counts, depth);
    if movement.is_connected() {
        return Ok(ranks);
    }
    Err(Error::data(format!(
        "documents do not move between these groups of ranks: {movement}. A rank that is looked at less and worse documents \
         there give the same clicks, so propensities cannot be told from relevance. Log several rankers, or exchange \
         documents of two ranks at random in some sessions"
    )))
}
