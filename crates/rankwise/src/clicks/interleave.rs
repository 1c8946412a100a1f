//! Interleaving: one list made of the rankings of two rankers, so that clicks compare them.
//!
//! * **Team draft** (Radlinski, Kurup and Joachims 2008): in each round both rankers, in random order, add their best
//!   document that is not in the list yet; a click is credited to the ranker that added the document.
//! * **Probabilistic** (Hofmann, Whiteson and de Rijke 2011): for each rank a ranker is drawn, and then a document of it,
//!   its r-th with probability in proportion to `1/r^τ`. A click is credited to both in proportion to how likely each
//!   was to add the document there.
//!
//! The ranker with more credit wins a session. [`analyze`] tests whether one wins more often.

use super::log::{Interleaved, Session};
use crate::card;
use crate::error::{Error, Result};
use crate::rng::{self, Random};
use crate::significance::ConfidenceInterval;
use rand::RngExt;
use serde::Serialize;
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal};
use std::collections::BTreeMap;
use xxhash_rust::xxh3::xxh3_64;

/// The first step of the path of a list's random stream.
const INTERLEAVING_STREAM: u64 = 0x696e_7465_726c;

/// How lists are interleaved.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Interleaving {
    /// Team draft.
    #[default]
    TeamDraft,
    /// Probabilistic interleaving.
    Probabilistic {
        /// τ, how much higher ranks are favoured: at least 0; 3 is usual.
        steepness: f64,
    },
}

/// An interleaved list.
#[derive(Debug, Clone, PartialEq)]
pub struct InterleavedList<T> {
    /// The documents, the first rank first.
    pub shown: Vec<T>,
    /// For each document, the share of a click's credit that goes to the first ranker.
    pub credit: Vec<f64>,
}

impl Interleaving {
    /// The way with this name: `team-draft` or `probabilistic`.
    ///
    /// ```
    /// use rankwise::clicks::interleave::Interleaving;
    /// assert_eq!(Interleaving::named("probabilistic")?, Interleaving::Probabilistic { steepness: 3.0 });
    /// assert!(Interleaving::named("balanced").is_err());
    /// # Ok::<(), rankwise::Error>(())
    /// ```
    pub fn named(name: &str) -> Result<Interleaving> {
        match name {
            "team-draft" => Ok(Interleaving::TeamDraft),
            "probabilistic" => Ok(Interleaving::Probabilistic { steepness: 3.0 }),
            _ => Err(card::unknown("way of interleaving", name, &["team-draft", "probabilistic"])),
        }
    }

    /// Interleaves two rankings, best first, into a list of at most `depth` documents. Name the random stream by a seed and
    /// the session, so that the list can be made again.
    ///
    /// ```
    /// use rankwise::clicks::interleave::Interleaving;
    /// use rankwise::rng;
    /// let list = Interleaving::TeamDraft.list(&["a", "b", "c"], &["c", "a", "d"], 3, &mut rng::stream(1, &[7]))?;
    /// assert_eq!(list.shown.len(), 3);
    /// assert!(list.credit.iter().all(|share| [0.0, 1.0].contains(share)));
    /// # Ok::<(), rankwise::Error>(())
    /// ```
    pub fn list<T: PartialEq + Clone>(
        self,
        first: &[T],
        second: &[T],
        depth: usize,
        random: &mut Random,
    ) -> Result<InterleavedList<T>> {
        self.check()?;
        Ok(self.interleave(first, second, depth, random))
    }

    /// The same with the random stream of a session: equal seeds and ids give equal lists.
    ///
    /// ```
    /// use rankwise::clicks::interleave::Interleaving;
    /// let list = |session| Interleaving::TeamDraft.list_of_session(&["a", "b"], &["b", "a"], 2, 1, session);
    /// assert_eq!(list("s1")?, list("s1")?);
    /// # Ok::<(), rankwise::Error>(())
    /// ```
    pub fn list_of_session<T: PartialEq + Clone>(
        self,
        first: &[T],
        second: &[T],
        depth: usize,
        seed: u64,
        session: &str,
    ) -> Result<InterleavedList<T>> {
        let mut random = rng::stream(seed, &[INTERLEAVING_STREAM, xxh3_64(session.as_bytes())]);
        self.list(first, second, depth, &mut random)
    }

    pub(super) fn check(self) -> Result<()> {
        match self {
            Interleaving::Probabilistic { steepness } if !(steepness >= 0.0 && steepness.is_finite()) => {
                Err(Error::parameter(format!("`steepness` is {steepness}; it must be at least 0")))
            }
            _ => Ok(()),
        }
    }

    /// The list, once the parameters are checked.
    pub(super) fn interleave<T: PartialEq + Clone>(
        self,
        first: &[T],
        second: &[T],
        depth: usize,
        random: &mut Random,
    ) -> InterleavedList<T> {
        match self {
            Interleaving::TeamDraft => team_draft(first, second, depth, || random.random::<bool>()),
            Interleaving::Probabilistic { steepness } => {
                probabilistic(first, second, depth, steepness, || random.random::<f64>())
            }
        }
    }
}

/// The best document that is not in the list.
fn best_left<'a, T: PartialEq>(ranking: &'a [T], shown: &[T]) -> Option<&'a T> {
    ranking.iter().find(|document| !shown.contains(document))
}

/// `first_begins` is asked once per round.
fn team_draft<T: PartialEq + Clone>(
    first: &[T],
    second: &[T],
    depth: usize,
    mut first_begins: impl FnMut() -> bool,
) -> InterleavedList<T> {
    let mut list = InterleavedList { shown: Vec::new(), credit: Vec::new() };
    loop {
        let before = list.shown.len();
        let teams =
            if first_begins() { [(first, 1.0), (second, 0.0)] } else { [(second, 0.0), (first, 1.0)] };
        for (ranking, credit) in teams {
            let next = best_left(ranking, &list.shown).filter(|_| list.shown.len() < depth);
            if let Some(document) = next.cloned() {
                list.shown.push(document);
                list.credit.push(credit);
            }
        }
        if list.shown.len() == before {
            return list;
        }
    }
}

/// The probability that a ranker adds each of the documents, given those that are in the list.
fn softmax<T: PartialEq>(ranking: &[T], left: &[T], shown: &[T], steepness: f64) -> Vec<f64> {
    let weight = |place: usize| ((place + 1) as f64).powf(-steepness);
    let remaining = ranking.iter().enumerate().filter(|(_, document)| !shown.contains(document));
    let total: f64 = remaining.map(|(place, _)| weight(place)).sum();
    let place_of = |document: &T| ranking.iter().position(|ranked| ranked == document);
    left.iter().map(|document| place_of(document).map_or(0.0, |place| weight(place) / total)).collect()
}

/// `uniform` is asked once per rank: the ranker and the document together are one draw from the mean of both distributions.
fn probabilistic<T: PartialEq + Clone>(
    first: &[T],
    second: &[T],
    depth: usize,
    steepness: f64,
    mut uniform: impl FnMut() -> f64,
) -> InterleavedList<T> {
    let mut list = InterleavedList { shown: Vec::new(), credit: Vec::new() };
    let mut left: Vec<T> = first.to_vec();
    left.extend(second.iter().filter(|document| !first.contains(document)).cloned());
    while !left.is_empty() && list.shown.len() < depth {
        let [by_first, by_second] =
            [first, second].map(|ranking| softmax(ranking, &left, &list.shown, steepness));
        let both: Vec<f64> = by_first.iter().zip(&by_second).map(|(a, b)| a + b).collect();
        let mut point = uniform() * both.iter().sum::<f64>();
        let reached = both.iter().position(|weight| {
            point -= weight;
            point < 0.0
        });
        // Rounding may leave the point beyond the last document.
        let chosen = reached.or_else(|| both.iter().rposition(|&weight| weight > 0.0)).unwrap_or(0);
        list.credit.push(by_first[chosen] / both[chosen]);
        list.shown.push(left.remove(chosen));
    }
    list
}

impl InterleavedList<String> {
    /// What a log keeps of the list, to credit clicks.
    pub fn logged(&self, first: &str, second: &str) -> Interleaved {
        Interleaved { rankers: [first.to_owned(), second.to_owned()], credit: self.credit.clone() }
    }
}

/// The credit of the first ranker minus that of the second, over all documents that were clicked.
pub fn credit_difference(credit: &[f64], clicked: &[bool]) -> f64 {
    credit.iter().zip(clicked).filter(|(_, clicked)| **clicked).map(|(share, _)| 2.0 * share - 1.0).sum()
}

/// Which of two rankers wins more sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InterleavingResult {
    /// The rankers.
    pub rankers: [String; 2],
    /// Sessions that were interleaved from these two.
    pub sessions: u64,
    /// Sessions in which the first, or the second, has more credit.
    pub wins: [u64; 2],
    /// Sessions without a click, or with equal credit.
    pub ties: u64,
    /// The credit of the first, and of the second, over all documents that were clicked.
    pub credit: [f64; 2],
    /// Wins of the first ranker among sessions that are no ties; ½ if all are.
    pub win_rate: f64,
    /// Confidence interval of that (Wilson's).
    pub interval: ConfidenceInterval,
    /// Two-sided p of the sign test, exact.
    pub p: f64,
}

/// Compares the rankers of interleaved sessions, in the order in which the first session names them. Sessions that are not
/// interleaved, or of other rankers, are not counted. The level of the interval is `confidence`.
///
/// ```
/// use rankwise::clicks::interleave::analyze;
/// use rankwise::clicks::{Interleaved, Session};
/// let line = r#"{"id": 1, "query": "q", "shown": ["a", "b"], "clicks": [{"doc": "a"}],
///     "interleaved": {"rankers": ["new", "old"], "credit": [1, 0]}}"#;
/// let session: Session = serde_json::from_str(line).unwrap();
/// let result = analyze([&session; 8], 0.95)?;
/// assert_eq!((result.wins, result.win_rate), ([8, 0], 1.0));
/// assert!((result.p - 2.0 / 256.0).abs() < 1e-12);
/// # Ok::<(), rankwise::Error>(())
/// ```
pub fn analyze<'a>(
    sessions: impl IntoIterator<Item = &'a Session>,
    confidence: f64,
) -> Result<InterleavingResult> {
    let mut tally = InterleavingTally::default();
    for session in sessions {
        tally.add(session);
    }
    tally.result(confidence)
}

/// Counts interleaved sessions one by one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InterleavingTally {
    rankers: Option<[String; 2]>,
    wins: [u64; 2],
    ties: u64,
    /// In units of 2⁻⁴⁰, so that sums do not depend on the order of the sessions.
    credit: [u128; 2],
}

/// Differences of credit below this are rounding.
const EQUAL_CREDIT: f64 = 1e-9;

/// A credit of 1.
const WHOLE_CREDIT: f64 = (1_u64 << 40) as f64;

impl InterleavingTally {
    /// Counts a session. Returns whether it was counted: it is interleaved from the same two rankers as those before, in
    /// either order, with a credit from 0 to 1 for each document.
    pub fn add(&mut self, session: &Session) -> bool {
        let Some(interleaved) = &session.interleaved else { return false };
        let Interleaved { rankers, credit } = interleaved;
        let known = self.rankers.get_or_insert_with(|| rankers.clone());
        let swapped = known[0] == rankers[1] && known[1] == rankers[0] && known[0] != known[1];
        if !interleaved.fits(session.shown.len()) || !(swapped || known == rankers) {
            return false;
        }
        let clicked = session.clicked();
        for share in credit.iter().zip(&clicked).filter(|(_, clicked)| **clicked).map(|(share, _)| share) {
            let of_named = [*share, 1.0 - share].map(|share| (share * WHOLE_CREDIT).round() as u128);
            self.credit[0] += of_named[usize::from(swapped)];
            self.credit[1] += of_named[usize::from(!swapped)];
        }
        let difference = credit_difference(credit, &clicked) * if swapped { -1.0 } else { 1.0 };
        match difference {
            d if d > EQUAL_CREDIT => self.wins[0] += 1,
            d if d < -EQUAL_CREDIT => self.wins[1] += 1,
            _ => self.ties += 1,
        }
        true
    }

    /// The result so far.
    pub fn result(&self, confidence: f64) -> Result<InterleavingResult> {
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(Error::parameter(format!(
                "`confidence` is {confidence}; it must be between 0 and 1"
            )));
        }
        let rankers = self.rankers.clone();
        let rankers = rankers.ok_or_else(|| Error::data("the log has no interleaved sessions"))?;
        let (wins, ties) = (self.wins, self.ties);
        let decided = wins[0] + wins[1];
        let win_rate = if decided == 0 { 0.5 } else { wins[0] as f64 / decided as f64 };
        let interval = wilson(wins[0], decided, confidence);
        Ok(InterleavingResult {
            rankers,
            sessions: decided + ties,
            wins,
            ties,
            credit: self.credit.map(|units| units as f64 / WHOLE_CREDIT),
            win_rate,
            interval,
            p: sign_test_p(wins),
        })
    }
}

/// Counts interleaved sessions of any rankers, one by one.
///
/// ```
/// use rankwise::clicks::Session;
/// use rankwise::clicks::interleave::InterleavingTallies;
/// let line = r#"{"id": 1, "query": "q", "shown": ["a", "b"], "clicks": [{"doc": "a"}],
///     "interleaved": {"rankers": ["old", "new"], "credit": [0, 1]}}"#;
/// let session: Session = serde_json::from_str(line).unwrap();
/// let mut tallies = InterleavingTallies::default();
/// tallies.add(&session);
/// tallies.add(&Session::default());
/// assert_eq!((tallies.results(0.95)?[0].wins, tallies.not_interleaved()), ([1, 0], 1));
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InterleavingTallies {
    /// By the names of both, in their order.
    pairs: BTreeMap<[String; 2], InterleavingTally>,
    not_interleaved: u64,
}

impl InterleavingTallies {
    /// Counts a session.
    pub fn add(&mut self, session: &Session) {
        let interleaved = session.interleaved.as_ref();
        let Some(Interleaved { rankers, .. }) = interleaved.filter(|i| i.fits(session.shown.len())) else {
            self.not_interleaved += 1;
            return;
        };
        let mut names = rankers.clone();
        names.sort_unstable();
        let named = || InterleavingTally { rankers: Some(names.clone()), ..InterleavingTally::default() };
        self.pairs.entry(names.clone()).or_insert_with(named).add(session);
    }

    /// Sessions that are not interleaved, or whose credit does not fit their documents.
    pub fn not_interleaved(&self) -> u64 {
        self.not_interleaved
    }

    /// The result of each pair of rankers, by their names. Fails if no session is interleaved.
    pub fn results(&self, confidence: f64) -> Result<Vec<InterleavingResult>> {
        if self.pairs.is_empty() {
            return InterleavingTally::default().result(confidence).map(|result| vec![result]);
        }
        self.pairs.values().map(|tally| tally.result(confidence)).collect()
    }
}

/// Two-sided p of the sign test: how likely the larger of the two counts is at least so large, if both are equally likely.
fn sign_test_p(wins: [u64; 2]) -> f64 {
    let (total, fewer) = (wins[0] + wins[1], wins[0].min(wins[1]));
    match Binomial::new(0.5, total) {
        Ok(binomial) if total > 0 => (2.0 * binomial.cdf(fewer)).min(1.0),
        _ => 1.0,
    }
}

/// Wilson's interval of a proportion; from 0 to 1 without trials.
pub fn wilson(successes: u64, trials: u64, confidence: f64) -> ConfidenceInterval {
    if trials == 0 {
        return ConfidenceInterval { low: 0.0, high: 1.0 };
    }
    let z = Normal::standard().inverse_cdf(0.5 + confidence / 2.0);
    let (n, p) = (trials as f64, successes as f64 / trials as f64);
    let center = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z / (1.0 + z * z / n) * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    // Without rounding: 0 of n has the lower end 0, and n of n the upper end 1.
    let low = if successes == 0 { 0.0 } else { (center - half).max(0.0) };
    let high = if successes == trials { 1.0 } else { (center + half).min(1.0) };
    ConfidenceInterval { low, high }
}

#[cfg(test)]
mod tests;
