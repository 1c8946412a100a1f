//! Block-coordinate ascent with one block of dual multipliers per query (after Lacoste-Julien, Jaggi, Schmidt and
//! Pletscher, ICML 2013), and with stored planes (after Shah, Kolmogorov and Lampert, CVPR 2015).
//!
//! ```text
//! min_w  ½‖w‖² + Σ_q κ_q L_q(X_q·w/u) ,      κ_q = C·v_q / Σv
//! w = −Σ_q κ_q u⁻¹ X_qᵀ Σ_k β_qk g_qk ,      dual = Σ_q κ_q Σ_k β_qk b_qk − ½‖w‖²
//! ```
//!
//! Like [`Bundle`](super::Bundle) it raises a lower bound made of cutting planes, and stops by the duality gap. But every
//! query has planes of its own, as functions of its scores, so a plane has a number per document and not per feature.
//! Each round adds the plane that touches the loss of each query at the current weights. Then it visits the queries one
//! after the other, and each visit improves the multipliers of one query and moves the weights.
//!
//! With thousands of features, a few dozen rounds do what takes the bundle method thousands of planes.

use super::block::{Block, Plane};
use super::certified::CertifiedFit;
use super::objective::LinearRisk;
use crate::data::Query;
use crate::losses::QueryLoss;
use crate::parallel;
use crate::rng;
use crate::sums::dot;
use crate::watch::{Progress, Stop, Watch};
use rand::seq::SliceRandom;
use std::ops::Range;

/// Passes over the queries per round, at most.
const PASSES: usize = 11;
/// A round ends with a pass that gains less than this fraction of what the round has gained.
const WORTHWHILE: f64 = 0.1;
/// Tasks that the queries are divided into; each has a number for every feature.
const TASKS: usize = 16;
/// A plane has to be higher than the others by more than this fraction, which is rounding.
const HIGHER: f64 = 1e-12;

/// The block-coordinate solver and its stopping criteria.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockAscent {
    /// The weight C > 0 of the risk.
    pub c: f64,
    /// The relative duality gap at which to stop.
    pub gap: f64,
    /// The maximum number of rounds.
    pub rounds: u64,
}

/// The planes found so far for each query. They lie below the losses for any C, so those found for one C can be reused
/// for the next.
#[derive(Debug, Clone)]
pub struct QueryPlanes {
    blocks: Vec<Block>,
}

impl QueryPlanes {
    /// Only the constant planes of the queries of `risk`.
    pub fn under<L: QueryLoss>(risk: &LinearRisk<'_, L>) -> QueryPlanes {
        QueryPlanes { blocks: (0..risk.used()).map(|place| Block::new(risk.query(place).len())).collect() }
    }
}

impl BlockAscent {
    /// Minimises from `w = 0`. If asked to stop, returns the best weights so far.
    pub fn minimize<L: QueryLoss>(&self, risk: &LinearRisk<'_, L>, watch: &mut dyn Watch) -> CertifiedFit {
        self.minimize_from(risk, &mut QueryPlanes::under(risk), watch)
    }

    /// Minimises starting from the planes and multipliers found for another `C` of the same risk.
    pub fn minimize_from<L: QueryLoss>(
        &self,
        risk: &LinearRisk<'_, L>,
        planes: &mut QueryPlanes,
        watch: &mut dyn Watch,
    ) -> CertifiedFit {
        let mut state = Ascent::new(risk, self.c, planes);
        let mut best = state.certified();
        while best.rounds < self.rounds && best.gap() > self.gap && !watch.stop().requested() {
            let gained = state.climb(best.rounds, watch.stop());
            let now = state.certified();
            if watch.stop().requested() {
                // The evaluation may have been cut short.
                break;
            }
            let (rounds, dual) = (best.rounds + 1, best.dual.max(now.dual));
            best = CertifiedFit { rounds, dual, ..if now.primal < best.primal { now } else { best } };
            let (done, gap) = (best.rounds, best.gap());
            watch.step(Progress { done, total: None, what: "duality gap", value: gap });
            if gained <= f64::EPSILON * best.primal {
                // Rounding hides any further progress.
                break;
            }
        }
        best.converged = best.gap() <= self.gap;
        best
    }
}

/// The state of an ascent.
struct Ascent<'a, 'd, L> {
    risk: &'a LinearRisk<'d, L>,
    c: f64,
    blocks: &'a mut [Block],
    /// The weights of the unscaled features.
    weights: Vec<f64>,
    /// `u⁻²` of every feature.
    shrink: Vec<f64>,
    /// The order of the queries in a pass.
    order: Vec<usize>,
    scratch: Scratch,
}

/// What the visit of a query works with.
#[derive(Default)]
struct Scratch {
    scores: Vec<f64>,
    slope: Vec<f64>,
    before: Vec<f64>,
    heights: Vec<f64>,
}

impl<'a, 'd, L: QueryLoss> Ascent<'a, 'd, L> {
    fn new(risk: &'a LinearRisk<'d, L>, c: f64, planes: &'a mut QueryPlanes) -> Self {
        let units = risk.in_data_units(&vec![1.0; risk.width()]).into_owned();
        Ascent {
            risk,
            c,
            blocks: &mut planes.blocks,
            weights: Vec::new(),
            shrink: units.iter().map(|s| s * s).collect(),
            order: (0..risk.used()).filter(|&place| risk.share(place) > 0.0).collect(),
            scratch: Scratch::default(),
        }
    }

    /// The weights of the current multipliers with their primal and dual objectives. Adds the planes that touch the
    /// losses there.
    fn certified(&mut self) -> CertifiedFit {
        let (weights, dual) = self.recompute();
        let queries = self.risk.used();
        let per_task = queries.div_ceil(TASKS).max(1);
        let touching: Vec<(f64, Option<Plane>)> =
            parallel::flat_map((0..queries).step_by(per_task), |start| {
                self.touch(start..queries.min(start + per_task))
            });
        let mut value = 0.0;
        for (place, (loss, plane)) in touching.into_iter().enumerate() {
            value += self.risk.share(place) * loss;
            plane.into_iter().for_each(|plane| self.blocks[place].add(plane));
        }
        let primal = 0.5 * dot(&weights, &weights) + self.c * value;
        CertifiedFit { weights, primal, dual, rounds: 0, converged: false }
    }

    /// Computes the weights from the multipliers, without the rounding errors of many small steps. Returns them in the
    /// solver's units, and the dual objective.
    fn recompute(&mut self) -> (Vec<f64>, f64) {
        let mut sum = vec![0.0; self.risk.width()];
        let mut offsets = 0.0;
        let slope = &mut self.scratch.slope;
        for (place, block) in self.blocks.iter_mut().enumerate() {
            block.tidy();
            let weight = self.c * self.risk.share(place);
            block.slope(slope);
            slope.iter_mut().for_each(|s| *s *= -weight);
            self.risk.query(place).add_transposed_dot(slope, &mut sum);
            offsets += weight * block.offset();
        }
        let weights = self.risk.in_data_units(&sum).into_owned();
        self.weights = self.risk.in_data_units(&weights).into_owned();
        let dual = offsets - 0.5 * dot(&weights, &weights);
        (weights, dual)
    }

    /// The loss of some queries, and the plane that touches it if that is higher than the others.
    fn touch(&self, places: Range<usize>) -> Vec<(f64, Option<Plane>)> {
        let mut sums = vec![0.0; self.weights.len()];
        let mut heights = Vec::new();
        let of_query = |place: usize| {
            let query = self.risk.query(place);
            let [mut scores, mut slope] = [(); 2].map(|()| vec![0.0; query.len()]);
            query.dot(&self.weights, &mut scores);
            let loss = self.risk.loss_of(place, &scores, &mut slope);
            self.blocks[place].heights(&scores, &mut heights);
            let highest = heights.iter().copied().fold(0.0, f64::max);
            let plane = (loss > highest * (1.0 + HIGHER)).then(|| {
                let offset = loss - dot(&slope, &scores);
                Plane { bent: bent(query, &slope, &self.shrink, &mut sums), slope, offset }
            });
            (loss, plane)
        };
        places.map(of_query).collect()
    }

    /// Improves the multipliers of all queries. Returns by how much the dual objective grows.
    fn climb(&mut self, round: u64, stop: &Stop) -> f64 {
        let mut random = rng::stream(round, &[]);
        let mut gained = 0.0;
        for _ in 0..PASSES {
            self.order.shuffle(&mut random);
            let mut gain = 0.0;
            for i in 0..self.order.len() {
                if stop.requested() {
                    return gained;
                }
                gain += self.visit(self.order[i]);
            }
            gained += gain;
            if gain < WORTHWHILE * gained {
                break;
            }
        }
        gained
    }

    /// Improves the multipliers of one query and moves the weights. Returns by how much the dual objective grows.
    fn visit(&mut self, place: usize) -> f64 {
        let (query, weight) = (self.risk.query(place), self.c * self.risk.share(place));
        let (block, scratch) = (&mut self.blocks[place], &mut self.scratch);
        scratch.scores.resize(query.len(), 0.0);
        query.dot(&self.weights, &mut scratch.scores);
        block.heights(&scratch.scores, &mut scratch.heights);
        block.slope(&mut scratch.before);
        let gained = block.improve(weight, &mut scratch.heights);
        if gained > 0.0 {
            block.slope(&mut scratch.slope);
            for (row, (now, before)) in query.rows().zip(scratch.slope.iter().zip(&scratch.before)) {
                row.add_scaled_by(weight * (before - now), &self.shrink, &mut self.weights);
            }
        }
        gained
    }
}

/// `X u⁻² Xᵀ slope`. `sums` has a 0 for every feature, before and after.
fn bent(query: Query<'_>, slope: &[f64], shrink: &[f64], sums: &mut [f64]) -> Vec<f64> {
    for (row, &slope) in query.rows().zip(slope).filter(|(_, slope)| **slope != 0.0) {
        row.add_scaled_by(slope, shrink, sums);
    }
    let mut bent = vec![0.0; slope.len()];
    query.dot(sums, &mut bent);
    query.rows().for_each(|row| row.clear(sums));
    bent
}
