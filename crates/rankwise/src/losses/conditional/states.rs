//! Rankings of goods and bads up to the order within a class, kept as one count for each document.

/// A ranking up to the order within a class.
///
/// Goods and bads are numbered from 0 each. The pairs that a ranking gets wrong are those it counts here, once from
/// either side: both counts have the same sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct State<'a> {
    bads_ahead: &'a [u32],
    goods_behind: &'a [u32],
}

impl<'a> State<'a> {
    /// The ranking of these counts: those of all goods, then those of all bads.
    pub(super) fn new(counts: &'a [u32], goods: usize) -> Self {
        let (bads_ahead, goods_behind) = counts.split_at(goods);
        State { bads_ahead, goods_behind }
    }

    /// How many bads are ahead of each good.
    pub fn bads_ahead(&self) -> &'a [u32] {
        self.bads_ahead
    }

    /// How many goods are behind each bad.
    pub fn goods_behind(&self) -> &'a [u32] {
        self.goods_behind
    }

    /// From the top: whether each place has a good.
    pub fn places(&self) -> impl Iterator<Item = bool> + use<> {
        let documents = self.bads_ahead.len() + self.goods_behind.len();
        let mut bads_ahead = self.bads_ahead.to_vec();
        bads_ahead.sort_unstable();
        let mut goods = 0;
        (0..documents).map(move |place| {
            let good = bads_ahead.get(goods).is_some_and(|&bads| goods + bads as usize == place);
            goods += usize::from(good);
            good
        })
    }
}

/// Rankings drawn for one query; the first is the perfect one. The same ranking may come more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    goods: usize,
    documents: usize,
    /// The counts of each ranking in turn, one for each document.
    counts: Vec<u32>,
}

impl Sample {
    /// Only the perfect ranking, with room for `size` in all.
    pub(super) fn of_perfect(goods: usize, bads: usize, size: usize) -> Self {
        let documents = goods + bads;
        let mut counts = Vec::with_capacity(size * documents);
        counts.resize(documents, 0);
        Sample { goods, documents, counts }
    }

    /// One more ranking.
    pub(super) fn push(&mut self, state: State<'_>) {
        self.counts.extend_from_slice(state.bads_ahead);
        self.counts.extend_from_slice(state.goods_behind);
    }

    /// How many rankings there are.
    pub fn len(&self) -> usize {
        // A query of no documents has one ranking too.
        self.counts.len().checked_div(self.documents).unwrap_or(1)
    }

    /// Whether there is no ranking; never, since the perfect one is always there.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The ranking number `i`.
    pub fn state(&self, i: usize) -> State<'_> {
        State::new(&self.counts[i * self.documents..][..self.documents], self.goods)
    }
}
