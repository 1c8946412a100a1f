//! The structured hinge of the reciprocal rank, with its own feature map or φ_po (Chakrabarti et al., KDD 2008).
//!
//! ```text
//! φ_mrr(y) = Σ_{b ahead of g₀} (x_b − x_g₀) ,     g₀ the first good of y;     φ_mrr(y*) = 0
//! Δ(y) = 1 − 1/(1+r)  with r bads ahead of g₀, 1 from r = k on
//! ```
//!
//! One candidate for each `r`, by prefix sums. Under φ_mrr the worst ranking has the `r` best bads ahead and the
//! lowest good as `g₀`. Under φ_po the best good is `g₀`, and every other good stands behind the bads that score
//! above it, but at least behind the first `r`.

use super::{Classes, FeatureMap, LossAugmentedArgmax, PairOrder, has_both_classes, is_good};
use crate::card::Card;
use crate::losses::ScoredQuery;
use crate::rank::Ranking;

pub(crate) const CARD: Card = Card {
    name: "mrr-hinge",
    title: "Structured hinge of the reciprocal rank",
    summary: "An upper bound of one minus the reciprocal rank of the first good document.",
    citations: &["chakrabarti2008structured"],
};

pub(crate) const PAIR_CARD: Card = Card {
    name: "mrr-pair-hinge",
    title: "Structured hinge of the reciprocal rank over pairs",
    summary: "An upper bound of one minus the reciprocal rank, that sees all pairs of a good and a bad document.",
    citations: &["chakrabarti2008structured"],
};

/// φ_mrr, with documents good from `threshold` on.
#[derive(Debug, Clone, Copy)]
pub struct FirstGood {
    /// The least grade of a good document.
    pub threshold: f32,
}

impl FeatureMap for FirstGood {
    fn coefficients(&self, labels: &[f32], ranking: &Ranking, out: &mut [f64]) {
        out.fill(0.0);
        for (place, &d) in ranking.order().iter().enumerate() {
            if is_good(labels[d as usize], self.threshold) {
                out[d as usize] = place as f64;
                return;
            }
            out[d as usize] = -1.0;
        }
    }
}

/// The search for the reciprocal rank under φ_mrr.
#[derive(Debug, Clone, Copy)]
pub struct MrrSearch {
    /// The least grade of a good document.
    pub threshold: f32,
    /// Places that count; 0 for all.
    pub k: usize,
}

impl LossAugmentedArgmax for MrrSearch {
    type Map = FirstGood;

    fn map(&self) -> FirstGood {
        FirstGood { threshold: self.threshold }
    }

    fn task_loss(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        lost(labels, ranking, self.threshold, self.k)
    }

    fn is_informed_by(&self, labels: &[f32]) -> bool {
        has_both_classes(labels, self.threshold)
    }

    fn argmax(&self, query: ScoredQuery<'_>) -> Option<Ranking> {
        let classes = Classes::of(query, self.threshold)?;
        let (lowest, others) = classes.goods.split_last().expect("a query of both classes");
        let (mut lead, mut most, mut chosen) = (0.0, 0.0, 0);
        for (j, &bad) in classes.bads.iter().enumerate() {
            lead += query.scores[bad as usize] - query.scores[*lowest as usize];
            let value = loss(j + 1, self.k) + lead;
            if value > most {
                (most, chosen) = (value, j + 1);
            }
        }
        let (ahead, behind) = classes.bads.split_at(chosen);
        Some(Ranking::from_order([ahead, &[*lowest], others, behind].concat()))
    }
}

/// The search for the reciprocal rank under φ_po.
#[derive(Debug, Clone, Copy)]
pub struct MrrPairSearch {
    /// The least grade of a good document.
    pub threshold: f32,
    /// Places that count; 0 for all.
    pub k: usize,
}

impl LossAugmentedArgmax for MrrPairSearch {
    type Map = PairOrder;

    fn map(&self) -> PairOrder {
        PairOrder { threshold: self.threshold }
    }

    fn task_loss(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        lost(labels, ranking, self.threshold, self.k)
    }

    fn is_informed_by(&self, labels: &[f32]) -> bool {
        has_both_classes(labels, self.threshold)
    }

    /// `value(r) = Δ(r) + u·[ h₀(r) + Σ_{g>0} h_g(max(r, above_g)) ]` with `h_g(b) = Σ_{j<b} (s_bj − s_g)`, where
    /// `above_g` never falls with `g`: the goods held back by `r` are the first ones.
    fn argmax(&self, query: ScoredQuery<'_>) -> Option<Ranking> {
        let classes = Classes::of(query, self.threshold)?;
        let origin = query.scores[classes.goods[0] as usize];
        let relative = |d: &u32| query.scores[*d as usize] - origin;
        let goods: Vec<f64> = classes.goods.iter().map(relative).collect();
        let bads: Vec<f64> = classes.bads.iter().map(relative).collect();
        let above: Vec<usize> = goods.iter().map(|good| bads.partition_point(|bad| bad > good)).collect();
        let unit = 2.0 / (goods.len() as f64 * bads.len() as f64);
        let mut sums = vec![0.0];
        for bad in &bads {
            sums.push(sums[sums.len() - 1] + bad);
        }
        // The first good has score 0 here, so it counts in `held` and not in `held_score`.
        let mut free: f64 = (1..goods.len()).map(|g| sums[above[g]] - above[g] as f64 * goods[g]).sum();
        let (mut held, mut held_score) = (1, 0.0);
        let (mut most, mut chosen) = (f64::NEG_INFINITY, 0);
        for (r, sum) in sums.iter().enumerate() {
            while held < goods.len() && above[held] < r {
                free -= sums[above[held]] - above[held] as f64 * goods[held];
                held_score += goods[held];
                held += 1;
            }
            let value = loss(r, self.k) + unit * (held as f64 * sum - r as f64 * held_score + free);
            if value > most {
                (most, chosen) = (value, r);
            }
        }
        let ahead = |g: usize| if g == 0 { chosen } else { above[g].max(chosen) };
        let mut first = vec![goods.len(); bads.len()];
        let mut placed = 0;
        for g in 0..goods.len() {
            first[placed..ahead(g)].fill(g);
            placed = ahead(g);
        }
        Some(classes.staircase(&first))
    }
}

/// Δ of a ranking.
fn lost(labels: &[f32], ranking: &Ranking, threshold: f32, k: usize) -> f64 {
    let good = |d: &u32| is_good(labels[*d as usize], threshold);
    ranking.order().iter().position(good).map_or(1.0, |place| loss(place, k))
}

/// Δ with `ahead` bads before the first good.
fn loss(ahead: usize, k: usize) -> f64 {
    if k == 0 || ahead < k { 1.0 - 1.0 / (1 + ahead) as f64 } else { 1.0 }
}
