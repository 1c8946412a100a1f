//! The search of DORM: which document stands where, if a place weighs scores and gains each in its own way.
//!
//! ```text
//! max_y Σᵢ [ A(yᵢ)·sᵢ − D(yᵢ)·gᵢ ] ,      yᵢ the place of document i;   A, D never increase
//! ```
//!
//! An assignment problem in general. Documents of equal gain keep the order of their scores, since swapping two of
//! them changes `A·s` alone; so a ranking is a merge of one sorted list for each gain. There are two ways:
//!
//! * [`merge`](super::merge): a dynamic programme over how many of each list have been placed. Below the places
//!   where gains count it need not go: there the documents left stand by score.
//! * [`assign`](super::assignment): from potentials that are mostly right. Neighbours at places `p`, `p+1` are in
//!   order when the first has the larger `(A_p − A_{p+1})·s − (D_p − D_{p+1})·g`; merging greedily by that key gives
//!   a ranking with all neighbours in order, and potentials that prove it optimal if it is, as it mostly is.

use super::assignment::assign;
use super::merge::Merge;
use crate::losses::ScoredQuery;

/// More than so many states of the dynamic programme are not worth their memory.
const MOST_STATES: f64 = 16e6;

/// The documents of one query and the weights of its places.
pub(super) struct Placing {
    /// Documents by decreasing score, equal scores in input order.
    pub(super) documents: Vec<u32>,
    /// Their scores, relative to the highest: a common offset would cost digits.
    pub(super) scores: Vec<f64>,
    /// The list each of them belongs to.
    pub(super) list_of: Vec<u32>,
    /// Which of its list each of them is, from 0.
    pub(super) number_of: Vec<u32>,
    /// Every list: places in `documents`, by decreasing score.
    pub(super) lists: Vec<Vec<u32>>,
    /// The gain of all documents of a list.
    pub(super) gains: Vec<f64>,
    /// A: what a place makes of a score. As long as there are places where it is not 0.
    pub(super) pull: Vec<f64>,
    /// D: what a place makes of a gain. As long as there are places where it is not 0.
    pub(super) worth: Vec<f64>,
}

impl Placing {
    /// The problem of a query with the gain of each document and the weights of the places that have some.
    pub(super) fn new(query: ScoredQuery<'_>, gain: &[f64], pull: Vec<f64>, worth: Vec<f64>) -> Placing {
        let score = |d: u32| query.scores[d as usize];
        let mut documents: Vec<u32> = (0..gain.len() as u32).collect();
        documents.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
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
        Placing { documents, scores, list_of, number_of, lists, gains, pull, worth }
    }

    /// The best order of the query's documents, by the quicker way.
    pub(super) fn solve(&self) -> Vec<u32> {
        let merge = Merge::new(self);
        if merge.states() <= MOST_STATES && merge.steps() <= self.assignment_steps() {
            return self.named(&merge.solve());
        }
        self.named(&self.by_assignment())
    }

    fn named(&self, order: &[u32]) -> Vec<u32> {
        order.iter().map(|&i| self.documents[i as usize]).collect()
    }

    /// What the document at `i` is worth at a place.
    fn value(&self, i: usize, place: usize) -> f64 {
        let (pull, worth) = (self.pull.get(place), self.worth.get(place));
        self.scores[i] * pull.unwrap_or(&0.0) - self.gains[self.list_of[i] as usize] * worth.unwrap_or(&0.0)
    }

    /// Places that weigh anything.
    fn depth(&self) -> usize {
        self.pull.len().max(self.worth.len())
    }

    /// About how many pairs of a document and a place the assignment looks at.
    fn assignment_steps(&self) -> f64 {
        let (n, depth) = (self.documents.len() as f64, self.depth() as f64);
        match (depth < n, self.worth.len() as f64) {
            (true, _) => depth * depth * n / 4.0,
            (false, worth) if worth < n => worth * n * n / 4.0,
            (false, _) => 2.0 * n * n,
        }
    }

    pub(super) fn by_assignment(&self) -> Vec<u32> {
        let (n, depth) = (self.documents.len(), self.depth());
        let potentials = if depth == n { self.potentials() } else { vec![0.0; n] };
        let gain: Vec<f64> = self.list_of.iter().map(|&list| self.gains[list as usize]).collect();
        let [pull, worth] = [&self.pull, &self.worth].map(|weights| {
            let mut padded = weights.clone();
            padded.resize(depth, 0.0);
            padded
        });
        let cost = |place: usize, i: usize| gain[i] * worth[place] - self.scores[i] * pull[place];
        let mut order: Vec<u32> = assign(depth, potentials, cost).into_iter().map(|i| i as u32).collect();
        let mut left = vec![true; n];
        order.iter().for_each(|&i| left[i as usize] = false);
        order.extend((0..n as u32).filter(|&i| left[i as usize]));
        order
    }

    /// Potentials of the documents that fit a ranking: those of neighbours differ by the mean of what they differ by
    /// in cost at their two places. Where gains count everywhere the ranking is the greedy one; else that by scores
    /// alone, which is right below the places where gains count and leaves only those to be settled.
    fn potentials(&self) -> Vec<f64> {
        let n = self.documents.len();
        let smooth = self.worth.len() == n;
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
