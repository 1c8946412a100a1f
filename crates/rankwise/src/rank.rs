//! From scores to a ranking, with one tie rule for the whole library.
//!
//! Every ranking is made here, so that ties are broken in one place only. A [`Ranking`] lists documents best first
//! and records which have equal scores. With [`Ties::Average`] all orders of tied documents are equally likely; every
//! other rule chooses one order.
//!
//! ```
//! use rankwise::rank::Ranking;
//! let ranking = Ranking::by_scores(&[0.2, 0.9, 0.2]);
//! assert_eq!(ranking.order()[0], 1);
//! assert_eq!(ranking.groups().collect::<Vec<_>>(), [0..1, 1..3]);
//! ```

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How documents with equal scores are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ties {
    /// The exact expectation over all orders of the tied documents.
    #[default]
    Average,
    /// The order of the input.
    Input,
    /// The least relevant first, which gives a lower bound.
    Worst,
    /// By descending document id, as in trec_eval.
    DocId,
}

/// The precision in which scores are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScoreBits {
    /// Double precision: scores as they are.
    #[default]
    F64,
    /// Single precision, as in trec_eval and XGBoost; rounding may make scores equal.
    F32,
}

/// How scores become a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RankRule {
    /// How equal scores are ordered.
    pub ties: Ties,
    /// The precision in which scores are compared.
    pub scores: ScoreBits,
}

/// Documents best first, and which of them are tied.
///
/// It may have fewer documents than the query has labels, because judged documents that were not retrieved are not
/// ranked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ranking {
    order: Vec<u32>,
    /// Where each group of equal scores ends.
    group_ends: Vec<u32>,
    /// Whether ties are broken.
    settled: bool,
}

impl Ranking {
    /// Ranks documents by decreasing score; all orders of equal scores are equally likely.
    pub fn by_scores(scores: &[f64]) -> Self {
        let mut sorter = Sorter::default();
        sorter.sort(scores, RankRule::default(), usize::MAX);
        sorter.ranking
    }

    /// A given order without ties: `order` lists document numbers, best first.
    pub fn from_order(order: Vec<u32>) -> Self {
        let group_ends = (1..=order.len() as u32).collect();
        Ranking { order, group_ends, settled: true }
    }

    /// The documents, best first.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Number of documents ranked.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether no document is ranked.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Whether every document has its own rank: there are no ties, or they were broken.
    pub fn is_strict(&self) -> bool {
        self.settled || self.group_ends.len() == self.order.len()
    }

    /// Ranges of ranks, from 0, within which every order is equally likely; one rank each in a strict ranking.
    pub fn groups(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let strict = self.is_strict();
        let count = if strict { self.order.len() } else { self.group_ends.len() };
        let mut start = 0;
        (0..count).map(move |i| {
            let end = if strict { i + 1 } else { self.group_ends[i] as usize };
            std::mem::replace(&mut start, end)..end
        })
    }

    /// Ranges of ranks with equal scores, whether or not the tie was broken.
    pub fn score_groups(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let mut start = 0;
        self.group_ends.iter().map(move |&end| std::mem::replace(&mut start, end as usize)..end as usize)
    }

    /// Whether documents with different labels have the same score, so that the tie rule can matter.
    pub fn has_mixed_ties(&self, labels: &[f32]) -> bool {
        self.group_ends.len() < self.order.len()
            && self.score_groups().any(|group| {
                let grades = self.order[group].iter().map(|&d| grade(labels[d as usize]));
                !grades.clone().zip(grades.skip(1)).all(|(a, b)| a == b)
            })
    }

    /// Calls `reorder` with the documents of each tie.
    fn each_tie(&mut self, mut reorder: impl FnMut(&mut [u32])) {
        if self.group_ends.len() == self.order.len() {
            return;
        }
        let mut start = 0;
        for &end in &self.group_ends {
            if end - start > 1 {
                reorder(&mut self.order[start as usize..end as usize]);
            }
            start = end;
        }
    }
}

/// The label, or 0 for an unjudged document (NaN), which counts as non-relevant.
pub fn grade(label: f32) -> f32 {
    if label.is_nan() { 0.0 } else { label }
}

/// Makes rankings and reuses its memory; keep one for a loop over queries.
#[derive(Debug, Clone, Default)]
pub struct Sorter {
    keys: Vec<u64>,
    ranking: Ranking,
}

impl Sorter {
    /// The ranking made last.
    pub fn ranking(&self) -> &Ranking {
        &self.ranking
    }

    /// Ranks the first `scores.len()` documents of a query. No score may be NaN.
    ///
    /// Only [`Ties::Worst`] uses `labels`. [`Ties::DocId`] needs [`rank_with_ids`](Self::rank_with_ids) and is treated
    /// as [`Ties::Input`] here.
    pub fn rank(&mut self, scores: &[f64], labels: &[f32], rule: RankRule) -> &Ranking {
        self.rank_top(scores, labels, rule, usize::MAX)
    }

    /// Like [`rank`](Self::rank), for callers that need only the first `depth` ranks: documents that cannot reach them
    /// may be left out. Documents tied with one of the first `depth` are always included.
    ///
    /// It is fastest if the top documents are nearly those of the ranking made before.
    pub fn rank_top(&mut self, scores: &[f64], labels: &[f32], rule: RankRule, depth: usize) -> &Ranking {
        self.sort(scores, rule, depth);
        if rule.ties == Ties::Worst {
            let by_grade = |a: &u32, b: &u32| {
                grade(labels[*a as usize]).total_cmp(&grade(labels[*b as usize])).then(a.cmp(b))
            };
            self.ranking.each_tie(|tied| tied.sort_unstable_by(by_grade));
        }
        &self.ranking
    }

    /// Like [`rank`](Self::rank), with ties broken by document id if the rule asks for it. It is an error if a tied
    /// document has no id.
    pub fn rank_with_ids<'a>(
        &mut self,
        scores: &[f64],
        labels: &[f32],
        rule: RankRule,
        id: impl Fn(usize) -> Option<&'a str>,
    ) -> Result<&Ranking> {
        self.rank(scores, labels, rule);
        if rule.ties == Ties::DocId {
            let mut nameless = false;
            self.ranking.each_tie(|tied| {
                nameless |= tied.iter().any(|&d| id(d as usize).is_none());
                tied.sort_by(|&a, &b| id(b as usize).cmp(&id(a as usize)));
            });
            if nameless {
                return Err(Error::data(
                    "documents with equal scores have no ids to order them by; choose another tie rule, such as \
                     `ties=average`",
                ));
            }
        }
        Ok(&self.ranking)
    }

    /// Sorts one integer per document: the leading bits of its key, then its number. This is several times faster than
    /// sorting pairs. Documents whose keys differ only in the bits cut off are sorted afterwards.
    fn sort(&mut self, scores: &[f64], rule: RankRule, depth: usize) {
        debug_assert!(scores.iter().all(|score| !score.is_nan()), "a score is NaN");
        let number_bits = usize::BITS - scores.len().leading_zeros();
        let number_mask = (1_u64 << number_bits) - 1;
        let compared = |i: usize| match rule.scores {
            ScoreBits::F64 => scores[i],
            ScoreBits::F32 => f64::from(scores[i] as f32),
        };
        let key = |i: usize| descending_key(compared(i));
        let least = self.least_needed(scores.len(), compared, depth);
        self.keys.resize(scores.len(), 0);
        let mut kept = 0;
        // Branch-free: rejected entries are overwritten.
        for i in 0..scores.len() {
            self.keys[kept] = i as u64;
            kept += usize::from(compared(i) >= least);
        }
        self.keys.truncate(kept);
        for k in &mut self.keys {
            *k |= key(*k as usize) & !number_mask;
        }
        if depth > 0 && kept / SELECTED > depth {
            let last = *self.keys.select_nth_unstable(depth - 1).1 | number_mask;
            self.keys.retain(|&k| k <= last);
        }
        self.keys.sort_unstable();
        let Ranking { order, group_ends, settled } = &mut self.ranking;
        order.resize(self.keys.len(), 0);
        for (rank, document) in order.iter_mut().enumerate() {
            *document = (self.keys[rank] & number_mask) as u32;
        }
        group_ends.clear();
        *settled = rule.ties != Ties::Average;
        let mut start = 0;
        for end in 1..=order.len() {
            if self.keys.get(end).is_some_and(|k| (k ^ self.keys[start]) & !number_mask == 0) {
                continue;
            }
            if end - start > 1 {
                let alike = &mut order[start..end];
                alike.sort_by_key(|&i| key(i as usize));
                let differs = |w: &[u32]| key(w[0] as usize) != key(w[1] as usize);
                let ends = (start + 1..).zip(alike.windows(2)).filter(|(_, w)| differs(w));
                group_ends.extend(ends.map(|(i, _)| i as u32));
            }
            group_ends.push(end as u32);
            start = end;
        }
    }

    /// A lower bound of the scores of the first `depth` documents. The lowest score of any `depth` documents is one;
    /// those that ranked first the last time make it tight if scores have changed little.
    fn least_needed(&self, documents: usize, compared: impl Fn(usize) -> f64, depth: usize) -> f64 {
        let before = self.ranking.order.get(..depth).unwrap_or_default();
        if before.iter().any(|&d| d as usize >= documents) {
            return f64::NEG_INFINITY;
        }
        before.iter().map(|&d| compared(d as usize)).reduce(f64::min).unwrap_or(f64::NEG_INFINITY)
    }
}

/// Selecting before sorting pays if there are this many times more documents than needed.
const SELECTED: usize = 3;

/// Integers that ascend as scores descend; equal scores (−0 and 0 among them) have equal keys.
fn descending_key(score: f64) -> u64 {
    let bits = (score + 0.0).to_bits();
    // The bits of negative numbers ascend as the numbers descend. Those of positive numbers are inverted and come
    // before all negative ones.
    if bits >> 63 == 1 { bits } else { !bits & !(1 << 63) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_descend_and_zero_has_no_sign() {
        let scores = [0.0, f64::NEG_INFINITY, 1e-300, -0.0, f64::INFINITY, -2.0, 3.5, -1e-300];
        let ranking = Ranking::by_scores(&scores);
        assert_eq!(ranking.order(), [4, 6, 2, 0, 3, 7, 5, 1]);
        let groups: Vec<_> = ranking.groups().map(|g| g.len()).collect();
        assert_eq!(groups, [1, 1, 1, 2, 1, 1, 1]);
    }

    /// Scores that differ in their last bits only share the leading bits that are sorted first.
    #[test]
    fn the_last_bit_of_a_score_matters() {
        let mut random = crate::rng::stream(1, &[]);
        for n in [2, 3, 7, 100, 1000] {
            let steps: Vec<u64> = (0..n).map(|_| rand::RngExt::random_range(&mut random, 0..n)).collect();
            let scores: Vec<f64> = steps
                .iter()
                .map(|&s| f64::from_bits(1_f64.to_bits() + s) * [1.0, -1.0][s as usize % 2])
                .collect();
            let mut expected: Vec<u32> = (0..n as u32).collect();
            expected.sort_by(|&a, &b| scores[b as usize].total_cmp(&scores[a as usize]));
            let ranking = Ranking::by_scores(&scores);
            assert_eq!(ranking.order(), expected);
            let distinct: std::collections::BTreeSet<u64> = steps.into_iter().collect();
            assert_eq!(ranking.groups().count(), distinct.len());
            for group in ranking.groups() {
                let first = scores[ranking.order()[group.start] as usize];
                assert!(ranking.order()[group].iter().all(|&d| scores[d as usize] == first));
            }
        }
    }

    #[test]
    fn the_first_places_are_those_of_the_whole_ranking() {
        let mut random = crate::rng::stream(2, &[]);
        let mut below = |n: usize| rand::RngExt::random_range(&mut random, 0..n);
        let (mut sorter, mut shortened) = (Sorter::default(), 0);
        for case in 0..2000 {
            let (n, depth, distinct) = (below(60) + 1, below(12), [2, 9, 1 << 20][below(3)]);
            let mut scores: Vec<f64> = (0..n).map(|_| below(distinct) as f64 - 3.0).collect();
            let labels: Vec<f32> = (0..n).map(|_| below(3) as f32).collect();
            // The same query again with one score changed, as in a line search along a feature.
            for _ in 0..3 {
                let ties = [Ties::Average, Ties::Input, Ties::Worst, Ties::DocId][case % 4];
                let rule = RankRule { ties, scores: [ScoreBits::F64, ScoreBits::F32][case / 4 % 2] };
                let mut fresh = Sorter::default();
                let whole = fresh.rank(&scores, &labels, rule);
                let top = sorter.rank_top(&scores, &labels, rule, depth);
                assert!(top.len() >= depth.min(n));
                assert_eq!(top.order(), &whole.order()[..top.len()]);
                assert!(top.groups().eq(whole.groups().take(top.groups().count())));
                shortened += usize::from(top.len() < n);
                scores[below(n)] += 1.0 + 1e-12 * below(3) as f64;
            }
        }
        assert!(shortened > 1000, "{shortened}");
    }

    #[test]
    fn each_rule_breaks_ties_its_own_way() {
        let (scores, labels) = ([1.0, 2.0, 1.0, 1.0], [2.0, 0.0, f32::NAN, 1.0]);
        let ids = ["b", "a", "é", "c"];
        let order = |ties| {
            let rule = RankRule { ties, ..RankRule::default() };
            let mut sorter = Sorter::default();
            let ranking = sorter.rank_with_ids(&scores, &labels, rule, |i| Some(ids[i])).unwrap();
            (ranking.order().to_vec(), ranking.groups().count(), ranking.score_groups().count())
        };
        assert_eq!(order(Ties::Average), (vec![1, 0, 2, 3], 2, 2));
        assert_eq!(order(Ties::Input), (vec![1, 0, 2, 3], 4, 2));
        assert_eq!(order(Ties::Worst), (vec![1, 2, 3, 0], 4, 2));
        assert_eq!(order(Ties::DocId), (vec![1, 2, 3, 0], 4, 2));
    }

    #[test]
    fn single_precision_makes_ties_and_only_those_of_mixed_grade_count() {
        let scores = [1.0, 1.0 + 1e-12];
        let mut sorter = Sorter::default();
        let rule = RankRule { scores: ScoreBits::F32, ..RankRule::default() };
        assert!(sorter.rank(&scores, &[0.0, 1.0], rule).has_mixed_ties(&[0.0, 1.0]));
        assert!(!sorter.rank(&scores, &[0.0, f32::NAN], rule).has_mixed_ties(&[0.0, f32::NAN]));
        assert!(sorter.rank(&scores, &[0.0, 1.0], RankRule::default()).is_strict());
    }

    #[test]
    fn a_tie_cannot_be_broken_by_ids_that_are_not_there() {
        let rule = RankRule { ties: Ties::DocId, ..RankRule::default() };
        let mut sorter = Sorter::default();
        assert!(sorter.rank_with_ids(&[2.0, 1.0], &[0.0, 1.0], rule, |_| None).is_ok());
        let error = sorter.rank_with_ids(&[1.0, 1.0], &[0.0, 1.0], rule, |_| None).unwrap_err();
        assert!(error.to_string().contains("ties=average"), "{error}");
    }
}
