//! How much a metric changes when two documents swap positions, for all documents below a given one at once.
//!
//! For positions a < b (from 0), the change of each metric is a product: a factor that depends on a, a difference of
//! gains, and a difference of position weights. It has the sign of `gₐ − g_b`.
//!
//! ```text
//! ΔZ = f·(gₐ − g_b)·(uₐ − u_b)                                                       f = 1, unless given
//! NDCG   g = gain/ideal    u = discount
//! MAP    g = relevant/R    u = X if a is relevant, u = Y if it is not
//! MRR    g = relevant      u_b = 1/(1 + min(b, 2nd)) if a is the first relevant document,
//!                          u_b = 1/(1 + min(b, 1st)) above it; nothing changes below it
//! ERR    g = R             uₐ = 1/(a + 1),  u_b = B(a, b),  f = Π_{q<a} (1 − R_q)
//! ```
//! MAP: let H be the number of relevant documents down to a position and C the sum of 1/rank over them. A relevant
//! document that moves down from a to b contributes `H_b/(b+1)` instead of `Hₐ/(a+1)`, and each relevant document
//! between them has one fewer before it: a loss of `Xₐ − X_b` with `X = H/rank − C`. One that moves up from b to a
//! contributes `(Hₐ+1)/(a+1)` instead of `H_b/(b+1)`, and is itself included in `C_b`: a gain of `Yₐ − Y_b` with `Y =
//! X + 1/rank`.
//!
//! ERR: a user who does not stop at a yields `Σ_{a<p<b} R_p/(p+1) Π_{a<q<p} (1−R_q)` before b, and reaches b with
//! probability `Π_{a<q<b} (1−R_q)`. `B(a, b)` is the sum of the former and of the latter divided by b + 1. Then
//! `B(a−1, b) = Rₐ/(a+1) + (1−Rₐ)·B(a, b)`: each row follows from the one below it without a subtraction.

use super::LambdaMetric;

/// The swaps of a query's documents with those below them. The memory serves one query after the other.
#[derive(Default)]
pub(super) struct Swaps {
    metric: LambdaMetric,
    /// The number of documents that have a row.
    top: usize,
    /// The position weights u: X for MAP, those of the first relevant document for MRR.
    places: Vec<f64>,
    /// Y for MAP, u above the first relevant document for MRR, f for ERR.
    others: Vec<f64>,
    /// The position of the first relevant document, for MRR.
    first: usize,
}

/// The swaps of one document with those below it.
pub(super) struct SwapRow<'a> {
    factor: f64,
    gain: f64,
    place: f64,
    places: &'a [f64],
}

impl SwapRow<'_> {
    /// ΔZ for swaps with the documents from position `from` on, which have these gains.
    #[inline(always)]
    pub(super) fn changes(&self, from: usize, gains: &[f64], out: &mut [f64]) {
        let n = out.len();
        let (gains, places) = (&gains[..n], &self.places[from..from + n]);
        for b in 0..n {
            out[b] = self.factor * ((self.gain - gains[b]) * (self.place - places[b]));
        }
    }
}

impl Swaps {
    /// Takes a query with the gains g from the top position down, of which the top `top` documents have rows; `discount` gives
    /// the discounts of NDCG.
    pub(super) fn begin(
        &mut self,
        metric: LambdaMetric,
        gains: &[f64],
        top: usize,
        discount: impl Fn(usize) -> f64,
    ) {
        let n = gains.len();
        (self.metric, self.top) = (metric, top);
        match metric {
            LambdaMetric::Ndcg => {
                // They are those of the position alone, whichever the query.
                self.places.truncate(n);
                self.places.extend((self.places.len()..n).map(discount));
            }
            LambdaMetric::Map => (self.places, self.others) = precision_places(gains),
            LambdaMetric::Mrr => {
                let mut relevant = (0..n).filter(|&place| gains[place] > 0.0);
                self.first = relevant.next().unwrap_or(n);
                let second = relevant.next().unwrap_or(n);
                let down_to = |last: usize| (0..n).map(|b| per_rank(b.min(last))).collect();
                (self.places, self.others) = (down_to(second), down_to(self.first));
            }
            LambdaMetric::Err => (self.places, self.others) = cascade_places(gains, top),
        }
    }

    /// The row of the document at position `a`, or `None` if none of its swaps changes anything. Rows must be
    /// requested once each, from the last document up.
    #[inline(always)]
    pub(super) fn row(&mut self, gains: &[f64], a: usize) -> Option<SwapRow<'_>> {
        let gain = gains[a];
        match self.metric {
            LambdaMetric::Mrr if a > self.first => return None,
            LambdaMetric::Err => {
                if a + 1 < self.top {
                    read_one_more(&mut self.places, a + 1, gains[a + 1]);
                }
                let places = &self.places;
                return Some(SwapRow { factor: self.others[a], gain, place: per_rank(a), places });
            }
            _ => {}
        }
        let rises = self.metric != LambdaMetric::Ndcg && gain == 0.0;
        let places = if rises { &self.others } else { &self.places };
        Some(SwapRow { factor: 1.0, gain, place: places[a], places })
    }
}

/// One divided by the rank of a position.
fn per_rank(place: usize) -> f64 {
    1.0 / (place + 1) as f64
}

/// X and Y of MAP.
fn precision_places(gains: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (mut hits, mut sum) = (0.0, 0.0);
    let relevant_falls = gains.iter().enumerate().map(|(place, &gain)| {
        if gain > 0.0 {
            hits += 1.0;
            sum += per_rank(place);
        }
        hits * per_rank(place) - sum
    });
    let x: Vec<f64> = relevant_falls.collect();
    let y = x.iter().enumerate().map(|(place, x)| x + per_rank(place)).collect();
    (x, y)
}

/// `B(top − 1, b)` for all b from `top` on, and f of the top `top` positions.
fn cascade_places(stops: &[f64], top: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut satisfied, mut reading) = (0.0, 1.0);
    let mut places = vec![0.0; stops.len()];
    for b in top..stops.len() {
        places[b] = satisfied + reading * per_rank(b);
        satisfied += reading * stops[b] * per_rank(b);
        reading *= 1.0 - stops[b];
    }
    let mut still = 1.0;
    let factors = stops[..top].iter().map(|stop| {
        let here = still;
        still *= 1.0 - stop;
        here
    });
    (places, factors.collect())
}

/// From `B(a, ·)` to `B(a − 1, ·)`, where a user stops at the document at `a` with probability `stop`.
#[inline(always)]
fn read_one_more(places: &mut [f64], a: usize, stop: f64) {
    let (here, goes_on) = (stop * per_rank(a), 1.0 - stop);
    places[a] = per_rank(a);
    for place in &mut places[a + 1..] {
        *place = here + goes_on * *place;
    }
}
