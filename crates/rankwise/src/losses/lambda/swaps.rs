//! What a measure changes when two documents swap places, for all documents below a given one at once.
//!
//! For places a < b (from 0) every measure here changes by a product: a factor of a, a difference of worths, and one
//! of places. It has the sign of `gₐ − g_b`.
//!
//! ```text
//! ΔZ = f·(gₐ − g_b)·(uₐ − u_b)                                                       f = 1, unless given
//! NDCG   g = gain/ideal    u = discount
//! MAP    g = good/R        u = X where a is good, u = Y where it is bad
//! MRR    g = good          u_b = 1/(1 + min(b, 2nd)) where a is the first good document,
//!                          u_b = 1/(1 + min(b, 1st)) above it; nothing changes below it
//! ERR    g = R             uₐ = 1/(a + 1),  u_b = B(a, b),  f = Π_{q<a} (1 − R_q)
//! ```
//! MAP: with H good documents down to a place and C the sum of 1/rank over them, a good document that goes down
//! from a to b counts `H_b/(b+1)` for `Hₐ/(a+1)`, and each good one between has one hit less before it: a loss of
//! `Xₐ − X_b` with `X = H/rank − C`. One that comes up counts `(Hₐ+1)/(a+1)` for `H_b/(b+1)`, and is itself in `C_b`
//! though not between: a gain of `Yₐ − Y_b` with `Y = X + 1/rank`.
//!
//! ERR: a user who goes on at a is worth `Σ_{a<p<b} R_p/(p+1) Π_{a<q<p} (1−R_q)` until b, and is still reading there
//! with `Π_{a<q<b} (1−R_q)`; with that over b + 1 added it is `B(a, b)`. Then
//! `B(a−1, b) = Rₐ/(a+1) + (1−Rₐ)·B(a, b)`: each row comes from the one below it, without a difference.

use super::LambdaMeasure;

/// The swaps of a query's documents with those below them.
pub(super) struct Swaps<'a> {
    measure: LambdaMeasure,
    /// g above, best place first.
    worths: &'a [f64],
    /// How many documents have a row.
    top: usize,
    /// u above: X of MAP, that of the first good document of MRR.
    places: Vec<f64>,
    /// Y of MAP, u above the first good document of MRR, f of ERR.
    others: Vec<f64>,
    /// The place of the first good document, for MRR.
    first: usize,
}

/// The swaps of one document with those below it.
pub(super) struct Row<'a> {
    factor: f64,
    worth: f64,
    place: f64,
    places: &'a [f64],
}

impl Row<'_> {
    /// ΔZ of the swaps with documents from place `from` on, which have these worths.
    #[inline(always)]
    pub fn changes(&self, from: usize, worths: &[f64], out: &mut [f64]) {
        let factor = self.factor;
        for ((change, worth), place) in out.iter_mut().zip(worths).zip(&self.places[from..]) {
            *change = factor * ((self.worth - worth) * (self.place - place));
        }
    }
}

impl<'a> Swaps<'a> {
    /// The swaps of the first `top` documents; `discount` gives NDCG's discounts.
    pub fn new(
        measure: LambdaMeasure,
        worths: &'a [f64],
        top: usize,
        discount: impl Fn(usize) -> f64,
    ) -> Self {
        let n = worths.len();
        let mut first = 0;
        let (places, others) = match measure {
            LambdaMeasure::Ndcg => ((0..n).map(discount).collect(), Vec::new()),
            LambdaMeasure::Map => precision_places(worths),
            LambdaMeasure::Mrr => {
                let mut good = (0..n).filter(|&place| worths[place] > 0.0);
                first = good.next().unwrap_or(n);
                let second = good.next().unwrap_or(n);
                let down_to = |last: usize| (0..n).map(|b| per_rank(b.min(last))).collect();
                (down_to(second), down_to(first))
            }
            LambdaMeasure::Err => cascade_places(worths, top),
        };
        Swaps { measure, worths, top, places, others, first }
    }

    /// The row of the document at place `a`, or nothing when none of its swaps changes anything. Rows are to be
    /// asked for from that of the last document up, each once.
    #[inline(always)]
    pub fn row(&mut self, a: usize) -> Option<Row<'_>> {
        let worth = self.worths[a];
        match self.measure {
            LambdaMeasure::Mrr if a > self.first => return None,
            LambdaMeasure::Err => {
                if a + 1 < self.top {
                    read_one_more(&mut self.places, a + 1, self.worths[a + 1]);
                }
                let places = &self.places;
                return Some(Row { factor: self.others[a], worth, place: per_rank(a), places });
            }
            _ => {}
        }
        let rises = self.measure != LambdaMeasure::Ndcg && worth == 0.0;
        let places = if rises { &self.others } else { &self.places };
        Some(Row { factor: 1.0, worth, place: places[a], places })
    }
}

/// One divided by the rank of a place.
fn per_rank(place: usize) -> f64 {
    1.0 / (place + 1) as f64
}

/// X and Y of MAP.
fn precision_places(worths: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (mut hits, mut sum) = (0.0, 0.0);
    let good_falls = worths.iter().enumerate().map(|(place, &worth)| {
        if worth > 0.0 {
            hits += 1.0;
            sum += per_rank(place);
        }
        hits * per_rank(place) - sum
    });
    let x: Vec<f64> = good_falls.collect();
    let y = x.iter().enumerate().map(|(place, x)| x + per_rank(place)).collect();
    (x, y)
}

/// `B(top − 1, b)` for all b from `top` on, and f of the first `top` places.
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

/// From `B(a, ·)` to `B(a − 1, ·)`, where the document at `a` stops the user with probability `stop`.
#[inline(always)]
fn read_one_more(places: &mut [f64], a: usize, stop: f64) {
    let (here, goes_on) = (stop * per_rank(a), 1.0 - stop);
    places[a] = per_rank(a);
    for place in &mut places[a + 1..] {
        *place = here + goes_on * *place;
    }
}
