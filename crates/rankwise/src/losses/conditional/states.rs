//! Rankings of relevant and non-relevant documents up to the order within a class, stored as one count per document.

/// A ranking up to the order within a class.
///
/// Relevant and non-relevant documents are each numbered from 0. The counts cover every wrong pair twice, once from
/// either side, so both sets of counts have the same sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RankingState<'a> {
    non_relevant_ahead: &'a [u32],
    relevant_behind: &'a [u32],
}

impl<'a> RankingState<'a> {
    /// The ranking with these counts: first those of the relevant, then those of the non-relevant documents.
    pub(super) fn new(counts: &'a [u32], relevant: usize) -> Self {
        let (non_relevant_ahead, relevant_behind) = counts.split_at(relevant);
        RankingState { non_relevant_ahead, relevant_behind }
    }

    /// The number of non-relevant documents ahead of each relevant one.
    pub fn non_relevant_ahead(&self) -> &'a [u32] {
        self.non_relevant_ahead
    }

    /// The number of relevant documents behind each non-relevant one.
    pub fn relevant_behind(&self) -> &'a [u32] {
        self.relevant_behind
    }

    /// Whether the document at each position, from the top, is relevant.
    pub fn places(&self) -> impl Iterator<Item = bool> + use<> {
        let documents = self.non_relevant_ahead.len() + self.relevant_behind.len();
        let mut non_relevant_ahead = self.non_relevant_ahead.to_vec();
        non_relevant_ahead.sort_unstable();
        let mut relevant = 0;
        (0..documents).map(move |place| {
            let is_relevant = non_relevant_ahead
                .get(relevant)
                .is_some_and(|&non_relevant| relevant + non_relevant as usize == place);
            relevant += usize::from(is_relevant);
            is_relevant
        })
    }
}

/// The rankings drawn for one query. The first is the perfect one, and rankings may occur more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankingSample {
    relevant: usize,
    documents: usize,
    /// The counts of all rankings, one per document each.
    counts: Vec<u32>,
}

impl RankingSample {
    /// Only the perfect ranking, with capacity for `size` rankings.
    pub(super) fn of_perfect(relevant: usize, non_relevant: usize, size: usize) -> Self {
        let documents = relevant + non_relevant;
        let mut counts = Vec::with_capacity(size * documents);
        counts.resize(documents, 0);
        RankingSample { relevant, documents, counts }
    }

    /// Appends a ranking.
    pub(super) fn push(&mut self, state: RankingState<'_>) {
        self.counts.extend_from_slice(state.non_relevant_ahead);
        self.counts.extend_from_slice(state.relevant_behind);
    }

    /// The rankings with these numbers, in this order; the first should be 0.
    pub(crate) fn only(&self, numbers: &[usize]) -> RankingSample {
        let counts = numbers.iter().flat_map(|i| &self.counts[i * self.documents..][..self.documents]);
        RankingSample { counts: counts.copied().collect(), ..*self }
    }

    /// The number of rankings.
    pub fn len(&self) -> usize {
        // A query without documents has one ranking, too.
        self.counts.len().checked_div(self.documents).unwrap_or(1)
    }

    /// Whether there are no rankings; always false, because the perfect ranking is included.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Ranking number `i`.
    pub fn state(&self, i: usize) -> RankingState<'_> {
        RankingState::new(&self.counts[i * self.documents..][..self.documents], self.relevant)
    }
}
