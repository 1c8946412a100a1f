//! Data that is part of a larger whole: the queries of one worker.
//!
//! Code that needs something of *all* queries asks the data set for it here. It then works the same on a data set that is
//! whole and on one whose other queries are on other machines.

#[cfg(test)]
pub(crate) mod threads;

use super::Dataset;
use crate::exchange::{self, Exchange};
use crate::parallel;
use crate::pieces::{self, Term};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::panic::Location;
use std::sync::Arc;

/// The place of a data set in the whole: adjacent pieces of it, in its order.
#[derive(Clone)]
pub(crate) struct Shard {
    /// The way to the others; `None` if there are none.
    pub(crate) exchange: Option<Arc<dyn Exchange>>,
    /// The size of the whole, and what comes before this data set in it.
    pub(crate) whole: Whole,
    /// The number of pieces of the whole.
    pub(crate) pieces: usize,
    /// The number of the first piece of this data set.
    pub(crate) first_piece: usize,
    /// The first query of each of its pieces, and the number of its queries.
    pub(crate) bounds: Vec<usize>,
}

/// The size of the whole, and what comes before a data set in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Whole {
    /// The number of queries.
    pub(crate) queries: usize,
    /// The number of documents.
    pub(crate) documents: usize,
    /// The number in the whole of the data set's first query.
    pub(crate) first_query: usize,
    /// The number in the whole of the data set's first document.
    pub(crate) first_document: usize,
}

/// A data set is what is in it; where the rest is does not matter.
impl PartialEq for Shard {
    fn eq(&self, _: &Shard) -> bool {
        true
    }
}

impl fmt::Debug for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pieces {:?} of {}", self.own_pieces(), self.pieces)
    }
}

impl Shard {
    /// The place of `own` pieces in a whole whose queries start at `bounds`, with `width` features.
    pub(crate) fn new(
        bounds: &[usize],
        width: usize,
        own: Range<usize>,
        exchange: Arc<dyn Exchange>,
    ) -> Shard {
        let pieces = pieces::cut(bounds, width);
        let first_query = pieces[own.start];
        let whole = Whole {
            queries: bounds.len() - 1,
            documents: bounds[bounds.len() - 1],
            first_query,
            first_document: bounds[first_query],
        };
        let first_piece = own.start;
        let own = pieces[own.start..=own.end].iter().map(|&query| query - first_query).collect();
        Shard { exchange: Some(exchange), whole, pieces: pieces.len() - 1, first_piece, bounds: own }
    }

    /// Some pieces of a data set, as the data set of a worker.
    #[cfg(test)]
    pub(crate) fn cut_from(data: &Dataset, own: Range<usize>, exchange: Arc<dyn Exchange>) -> Dataset {
        let shard = Shard::new(data.bounds(), data.width(), own, exchange);
        let first = shard.whole.first_query;
        let queries: Vec<usize> = (first..first + shard.bounds[shard.bounds.len() - 1]).collect();
        data.select_queries(&queries).with_shard(shard)
    }

    /// The sum over all queries of the whole: `of` gives that over a range of the data set's queries.
    #[track_caller]
    pub(crate) fn total<T: Term>(&self, of: impl Fn(Range<usize>) -> T + Sync) -> T {
        self.totals_of_groups(1, of).pop().expect("one group")
    }

    /// The sums over up to `most` groups of adjacent pieces; `most` is a power of two. There are as many groups for any
    /// number of workers.
    #[track_caller]
    pub(crate) fn totals_of_groups<T: Term>(
        &self,
        most: usize,
        of: impl Fn(Range<usize>) -> T + Sync,
    ) -> Vec<T> {
        let of_piece = |piece: usize| {
            let place = piece - self.first_piece;
            of(self.bounds[place]..self.bounds[place + 1])
        };
        let size = self.pieces / self.pieces.min(most);
        let own_sums = || {
            parallel::map(pieces::branches(self.own_pieces(), size), |branch| {
                ((branch.start, branch.len()), pieces::branch_sum(branch, &of_piece))
            })
        };
        let joined = |sums: Vec<Vec<((usize, usize), T)>>| {
            let mut known: BTreeMap<(usize, usize), T> = sums.into_iter().flatten().collect();
            let groups = (0..self.pieces / size).map(|group| group * size..(group + 1) * size);
            groups.map(|group| pieces::joined_sum(group, &mut known)).collect()
        };
        self.decide(own_sums, joined)
    }

    /// The numbers of the data set's pieces.
    fn own_pieces(&self) -> Range<usize> {
        self.first_piece..self.first_piece + self.bounds.len() - 1
    }

    /// Lets the driver decide by what every worker contributes of its `own` queries. With one machine, it decides by its
    /// own contribution. Everybody gets the answer. Never called from parallel work.
    #[track_caller]
    pub(crate) fn decide<L, R>(&self, own: impl FnOnce() -> L, decide: impl FnOnce(Vec<L>) -> R) -> R
    where
        L: Serialize + DeserializeOwned + Send,
        R: Serialize + DeserializeOwned,
    {
        match self.exchange.as_deref() {
            Some(exchange) => exchange::ask(exchange, Location::caller(), own, decide),
            None => decide(vec![own()]),
        }
    }

    /// All pieces, on one machine.
    fn alone(data: &Dataset) -> Shard {
        let bounds = pieces::cut(data.bounds(), data.width());
        Shard { exchange: None, whole: data.whole(), pieces: bounds.len() - 1, first_piece: 0, bounds }
    }
}

impl Dataset {
    /// The whole that this data set belongs to; the data set itself unless there are other workers.
    pub(crate) fn whole(&self) -> Whole {
        self.shard.as_ref().map_or(
            Whole { queries: self.query_count(), documents: self.len(), first_query: 0, first_document: 0 },
            |shard| shard.whole,
        )
    }

    /// The same data as part of a whole.
    pub(crate) fn with_shard(mut self, shard: Shard) -> Dataset {
        self.shard = Some(Arc::new(shard));
        self
    }

    /// The queries of each piece that this data set has.
    pub(crate) fn own_pieces(&self) -> Vec<Range<usize>> {
        let of = |shard: &Shard| shard.bounds.windows(2).map(|piece| piece[0]..piece[1]).collect();
        self.shard.as_deref().map_or_else(|| of(&Shard::alone(self)), of)
    }

    /// Whether this process decides: it is the only one, or the driver.
    pub(crate) fn decides(&self) -> bool {
        self.exchange().is_none_or(|exchange| exchange.worker().is_none())
    }

    /// The way to the other workers, if there are any.
    pub(crate) fn exchange(&self) -> Option<&dyn Exchange> {
        self.shard.as_ref().and_then(|shard| shard.exchange.as_deref())
    }

    /// Its own place: all pieces, if there are no other workers.
    pub(crate) fn shard(&self) -> Arc<Shard> {
        self.shard.clone().unwrap_or_else(|| Arc::new(Shard::alone(self)))
    }

    /// The sum over all queries of the whole: `of` gives that over a range of this data set's queries.
    #[track_caller]
    pub(crate) fn total<T: Term>(&self, of: impl Fn(Range<usize>) -> T + Sync) -> T {
        self.shard().total(of)
    }

    /// The sums over up to `most` groups of adjacent pieces; see [`Shard::totals_of_groups`].
    #[track_caller]
    pub(crate) fn totals_of_groups<T: Term>(
        &self,
        most: usize,
        of: impl Fn(Range<usize>) -> T + Sync,
    ) -> Vec<T> {
        self.shard().totals_of_groups(most, of)
    }

    /// The number of groups of [`totals_of_groups`](Dataset::totals_of_groups).
    pub(crate) fn groups(&self, most: usize) -> usize {
        self.shard().pieces.min(most)
    }

    /// Lets the driver decide by what every worker contributes of its own queries; see [`Shard::decide`].
    #[track_caller]
    pub(crate) fn decide<L, R>(&self, own: impl FnOnce() -> L, decide: impl FnOnce(Vec<L>) -> R) -> R
    where
        L: Serialize + DeserializeOwned + Send,
        R: Serialize + DeserializeOwned,
    {
        match self.exchange() {
            Some(exchange) => exchange::ask(exchange, Location::caller(), own, decide),
            None => decide(vec![own()]),
        }
    }

    /// Whether `own` is true of any worker.
    #[track_caller]
    pub(crate) fn any(&self, own: impl FnOnce() -> bool) -> bool {
        self.decide(own, |found| found.contains(&true))
    }

    /// Whether `own` is true of all workers.
    #[track_caller]
    pub(crate) fn all(&self, own: impl FnOnce() -> bool) -> bool {
        !self.any(|| !own())
    }

    /// What all workers contribute, one after the other, which everybody gets.
    #[track_caller]
    pub(crate) fn gather<T: Serialize + DeserializeOwned + Send>(
        &self,
        own: impl FnOnce() -> Vec<T>,
    ) -> Vec<T> {
        self.decide(own, |lists| lists.into_iter().flatten().collect())
    }

    /// The queries with the numbers `chosen`, ascending, in the pieces in which they are here.
    pub(crate) fn keep_queries(&self, chosen: &[usize]) -> Dataset {
        let mut kept = self.select_queries(chosen);
        let before = Shard::clone(&self.shard());
        let sizes = self.gather(|| vec![(chosen.len(), kept.len())]);
        let place = before.exchange.as_ref().map_or(Some(0), |exchange| exchange.worker());
        let sum = |workers: &[(usize, usize)]| {
            workers.iter().fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1))
        };
        let (all, first) = (sum(&sizes), sum(&sizes[..place.unwrap_or(0)]));
        let whole = Whole { queries: all.0, documents: all.1, first_query: first.0, first_document: first.1 };
        let bounds = before.bounds.iter().map(|&bound| chosen.partition_point(|&q| q < bound)).collect();
        kept.shard = Some(Arc::new(Shard { whole, bounds, ..before }));
        kept
    }

    /// The queries of each of its own pieces.
    pub(crate) fn pieces(&self) -> Vec<Range<usize>> {
        let shard = self.shard.as_deref().cloned().unwrap_or_else(|| Shard::alone(self));
        shard.bounds.windows(2).map(|bounds| bounds[0]..bounds[1]).collect()
    }
}
