//! The search of DORM: the optimal position of each document, where positions weight scores and gains differently.
//!
//! ```text
//! max_y Σᵢ [ A(yᵢ)·sᵢ − D(yᵢ)·gᵢ ] ,      yᵢ the position of document i;   A, D never increase
//! ```
//!
//! In general, this is an assignment problem. Documents with equal gains are in the order of their scores, because
//! swapping two of them changes `A·s` only. So a ranking is a merge of one sorted list per gain. There are two
//! methods:
//!
//! * [`merge`](super::merge): a dynamic program over the number of placed documents of each list. It ends at the
//!   positions where gains stop counting; the remaining documents follow by score.
//! * [`assign`](super::assignment): an assignment with a warm start. Neighbours at positions `p`, `p+1` are in order
//!   if the first has the larger `(A_p − A_{p+1})·s − (D_p − D_{p+1})·g`. Merging greedily by that key gives a
//!   ranking with all neighbours in order, and potentials that prove it optimal if it is, which is usually the case.

use super::assignment::assign;
use super::merge::Merge;
use crate::losses::ScoredQuery;

/// The maximum number of states of the dynamic program, to limit its memory.
const MAX_STATES: f64 = 16e6;

/// Sorts documents by decreasing score; ties keep their order.
pub(super) fn score_order(documents: &mut [u32], scores: &[f64]) {
    documents.sort_by(|&a, &b| scores[b as usize].total_cmp(&scores[a as usize]));
}

/// The documents of one query and the weights of its positions.
pub(super) struct Placing {
    /// Documents by decreasing score, ties in input order.
    pub(super) documents: Vec<u32>,
    /// Their scores relative to the highest, so that a common offset costs no precision.
    pub(super) scores: Vec<f64>,
    /// The list each of them belongs to.
    pub(super) list_of: Vec<u32>,
    /// The index of each document within its list.
    pub(super) number_of: Vec<u32>,
    /// The lists, as indices into `documents` by decreasing score.
    pub(super) lists: Vec<Vec<u32>>,
    /// The gain of all documents of a list.
    pub(super) gains: Vec<f64>,
    /// A: the weight of scores at each position, up to the last that is not 0.
    pub(super) pull: Vec<f64>,
    /// D: the discount of gains at each position, up to the last that is not 0.
    pub(super) discounts: Vec<f64>,
}

impl Placing {
    /// The problem of a query with the gain of each document and the weights of the positions.
    pub(super) fn new(query: ScoredQuery<'_>, gain: &[f64], pull: Vec<f64>, discounts: Vec<f64>) -> Placing {
        let score = |d: u32| query.scores[d as usize];
        let mut documents: Vec<u32> = (0..gain.len() as u32).collect();
        score_order(&mut documents, query.scores);
        let scores = documents.iter().map(|&d| score(d) - score(documents[0])).collect();
        let mut gains = gain.to_vec();
        gains.sort_by(f64::total_cmp);
        gains.dedup();
        let mut lists = vec![Vec::new(); gains.len()];
        let (mut list_of, mut number_of) = (Vec::new(), Vec::new());
        for (i, &d) in documents.iter().enumerate() {
            let list = gains.partition_point(|g| *g < gain[d as usize]);
            list_of.push(list as u32);
            number_of.push(lists[list].len() as u32);
            lists[list].push(i as u32);
        }
        Placing { documents, scores, list_of, number_of, lists, gains, pull, discounts }
    }

    /// The optimal order of the query's documents, by the faster method.
    pub(super) fn solve(&self) -> Vec<u32> {
        let merge = Merge::new(self);
        if merge.states() <= MAX_STATES && merge.steps() <= self.assignment_steps() {
            return self.named(&merge.solve());
        }
        self.named(&self.by_assignment())
    }

    fn named(&self, order: &[u32]) -> Vec<u32> {
        order.iter().map(|&i| self.documents[i as usize]).collect()
    }

    /// The value of document `i` at a position.
    fn value(&self, i: usize, place: usize) -> f64 {
        let (pull, discounts) = (self.pull.get(place), self.discounts.get(place));
        self.scores[i] * pull.unwrap_or(&0.0)
            - self.gains[self.list_of[i] as usize] * discounts.unwrap_or(&0.0)
    }

    /// The number of positions with any weight.
    fn depth(&self) -> usize {
        self.pull.len().max(self.discounts.len())
    }

    /// An estimate of the number of pairs of a document and a position that the assignment visits.
    fn assignment_steps(&self) -> f64 {
        let (n, depth) = (self.documents.len() as f64, self.depth() as f64);
        match (depth < n, self.discounts.len() as f64) {
            (true, _) => depth * depth * n / 4.0,
            (false, discounts) if discounts < n => discounts * n * n / 4.0,
            (false, _) => 2.0 * n * n,
        }
    }

    pub(super) fn by_assignment(&self) -> Vec<u32> {
        let (n, depth) = (self.documents.len(), self.depth());
        let potentials = if depth == n { self.potentials() } else { vec![0.0; n] };
        let gain: Vec<f64> = self.list_of.iter().map(|&list| self.gains[list as usize]).collect();
        let [pull, discounts] = [&self.pull, &self.discounts].map(|weights| {
            let mut padded = weights.clone();
            padded.resize(depth, 0.0);
            padded
        });
        let cost = |place: usize, i: usize| gain[i] * discounts[place] - self.scores[i] * pull[place];
        let mut order: Vec<u32> = assign(depth, potentials, cost).into_iter().map(|i| i as u32).collect();
        let mut left = vec![true; n];
        order.iter().for_each(|&i| left[i as usize] = false);
        order.extend((0..n as u32).filter(|&i| left[i as usize]));
        order
    }

    /// Potentials of the documents that fit a ranking: those of neighbours differ by the mean of their cost
    /// differences at the two positions. If gains count at all positions, the ranking is the greedy one. Otherwise it
    /// is the one by scores, which is optimal below the positions where gains count, so that only the top remains to
    /// be solved.
    fn potentials(&self) -> Vec<f64> {
        let n = self.documents.len();
        let smooth = self.discounts.len() == n;
        let order = if smooth { self.greedy() } else { (0..n).collect() };
        let value = |i: usize, place: usize| {
            if smooth { self.value(i, place) } else { self.scores[i] * self.pull[place] }
        };
        let mut potentials = vec![0.0; n];
        for place in (1..n).rev() {
            let (a, b) = (order[place - 1], order[place]);
            let ahead = |place: usize| value(b, place) - value(a, place);
            potentials[a] = potentials[b] + 0.5 * (ahead(place - 1) + ahead(place));
        }
        potentials
    }

    fn greedy(&self) -> Vec<usize> {
        let mut heads = vec![0; self.lists.len()];
        let key = |i: u32, place: usize| self.value(i as usize, place) - self.value(i as usize, place + 1);
        let next = |place: usize| {
            let (mut most, mut chosen) = (f64::NEG_INFINITY, None);
            for (list, head) in self.lists.iter().zip(&mut heads) {
                if let Some(&i) = list.get(*head)
                    && (chosen.is_none() || key(i, place) > most)
                {
                    most = key(i, place);
                    chosen = Some((i as usize, head));
                }
            }
            let (i, head) = chosen.expect("a document for every place");
            *head += 1;
            i
        };
        (0..self.documents.len()).map(next).collect()
    }
}
