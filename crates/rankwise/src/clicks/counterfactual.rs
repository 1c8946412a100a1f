//! What a ranker would have been worth, from the log of another (Joachims, Swaminathan and Schnabel 2017).
//!
//! A metric gives each rank a value `λ(r)`, such as `1/log₂(1 + r)`. Of a document that was clicked at rank `r` and that the
//! new ranker puts at rank `r′`, a click counts for `λ(r′)/θ_r`, since only a part `θ_r` of users looked at rank r:
//!
//! ```text
//! IPS      1/n Σ_clicks λ(r′)/θ_r                          the sum of λ(r′)·relevance of a session, unbiased if θ is right
//! clipped  1/n Σ_clicks λ(r′)/max(θ_r, τ)                  less variable, too small where θ_r < τ
//! SNIPS    Σ_clicks λ(r′)/θ_r / Σ_clicks 1/θ_r             the mean λ(r′) of a relevant document, in proportion to its relevance
//! ```
//!
//! The lists that the log showed are estimated the same way, `r′ = r`, so that the new ranker can be compared with them.
//! Only documents that the log showed can be seen to be relevant. Intervals are percentiles of bootstrap resamples of
//! queries.

mod rankings;

pub use rankings::{Rankings, rankings_of_run, rankings_of_scores};

use super::log::Session;
use super::propensity::Propensities;
use crate::error::{Error, Result};
use crate::significance::{ConfidenceInterval, Resampled};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// The value of each rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankValue {
    /// `1/log₂(1 + r)` up to a depth, as in DCG.
    Dcg {
        /// The last rank that counts.
        depth: u32,
    },
    /// `1/depth` up to a depth, as in precision.
    Precision {
        /// The last rank that counts.
        depth: u32,
    },
    /// `1/r`.
    Reciprocal,
}

impl RankValue {
    /// The value of a rank, from 1.
    pub fn at(self, rank: u32) -> f64 {
        match self {
            RankValue::Dcg { depth } if rank <= depth => 1.0 / (1.0 + f64::from(rank)).log2(),
            RankValue::Precision { depth } if rank <= depth => 1.0 / f64::from(depth),
            RankValue::Dcg { .. } | RankValue::Precision { .. } => 0.0,
            RankValue::Reciprocal => 1.0 / f64::from(rank),
        }
    }

    /// Reads `dcg@10`, `p@10` or `reciprocal`.
    ///
    /// ```
    /// use rankwise::clicks::counterfactual::RankValue;
    /// assert_eq!(RankValue::parse("dcg@5")?, RankValue::Dcg { depth: 5 });
    /// assert!(RankValue::parse("ndcg@5").unwrap_err().to_string().contains("`dcg@10`"));
    /// # Ok::<(), rankwise::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<RankValue> {
        let depth = |text: &str| text.parse().ok().filter(|depth| *depth > 0);
        let parsed = match text.split_once('@') {
            Some(("dcg", k)) => depth(k).map(|depth| RankValue::Dcg { depth }),
            Some(("p", k)) => depth(k).map(|depth| RankValue::Precision { depth }),
            None if text == "reciprocal" => Some(RankValue::Reciprocal),
            _ => None,
        };
        parsed.ok_or_else(|| {
            Error::parameter(format!(
                "`{text}` cannot be estimated from clicks; choose `dcg@10`, `p@10` or `reciprocal`, with any depth. Metrics \
                 that are relative to the best ranking, such as ndcg, need labels"
            ))
        })
    }
}

/// As [`RankValue::parse`] reads it.
impl fmt::Display for RankValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RankValue::Dcg { depth } => write!(f, "dcg@{depth}"),
            RankValue::Precision { depth } => write!(f, "p@{depth}"),
            RankValue::Reciprocal => f.write_str("reciprocal"),
        }
    }
}

/// How to estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EstimateOptions {
    /// The value of each rank.
    pub value: RankValue,
    /// The smallest propensity that is divided by; 0 for none.
    pub clip: f64,
    /// Resamples of queries for intervals.
    pub resamples: usize,
    /// The level of intervals.
    pub confidence: f64,
    /// The seed of the resamples.
    pub seed: u64,
}

impl Default for EstimateOptions {
    fn default() -> Self {
        EstimateOptions {
            value: RankValue::Dcg { depth: 10 },
            clip: 0.0,
            resamples: 1000,
            confidence: 0.95,
            seed: 1,
        }
    }
}

/// Clicks of a log by the rank where they happened and the rank that a new ranker gives the document.
///
/// ```
/// use rankwise::clicks::counterfactual::{Counterfactual, EstimateOptions, RankValue, Rankings};
/// use rankwise::clicks::propensity::Propensities;
/// use rankwise::clicks::Session;
/// let rankings = Rankings::from([("q".into(), vec!["b".into(), "a".into()])]);
/// let mut clicks = Counterfactual::new(&rankings)?;
/// let line = r#"{"id": 1, "query": "q", "shown": ["a", "b"], "clicks": [{"doc": "b"}]}"#;
/// clicks.add(&serde_json::from_str::<Session>(line).unwrap());
/// let theta = Propensities::given(vec![1.0, 0.5])?;
/// let options = EstimateOptions { value: RankValue::Reciprocal, ..EstimateOptions::default() };
/// let found = clicks.estimate(&theta, &options)?;
/// // The click at rank 2 counts for two at rank 1, where the new ranker puts the document.
/// assert_eq!((found.ips, found.shown), (2.0, 1.0));
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Counterfactual<'a> {
    /// The rank of each document in the new ranking.
    ranks: HashMap<&'a str, HashMap<&'a str, u32>>,
    queries: BTreeMap<&'a str, QueryClicks>,
    unranked_sessions: u64,
}

#[derive(Debug, Clone, Default)]
struct QueryClicks {
    sessions: u64,
    /// How many clicks there are by their rank and the new rank, if there is one.
    clicks: BTreeMap<(u32, Option<u32>), u64>,
}

/// The estimated worth of a ranker.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CounterfactualEstimate {
    /// Queries that were used.
    pub queries: usize,
    /// Sessions that were used.
    pub sessions: u64,
    /// The value per session, by inverse propensities, clipped if asked for.
    pub ips: f64,
    /// Confidence interval of that; like the others `None` if all sessions are of one query, since queries are resampled.
    pub ips_interval: Option<ConfidenceInterval>,
    /// The same for the lists that were shown in these sessions.
    pub shown: f64,
    /// Confidence interval of that.
    pub shown_interval: Option<ConfidenceInterval>,
    /// How much more the new ranker is worth than the lists that were shown.
    pub difference: f64,
    /// Confidence interval of that, from the same queries for both.
    pub difference_interval: Option<ConfidenceInterval>,
    /// The self-normalised estimate: the mean value of the rank of a relevant document; `None` without clicks.
    pub snips: Option<f64>,
    /// Confidence interval of that.
    pub snips_interval: Option<ConfidenceInterval>,
    /// Sessions of queries that the new ranker does not rank; they are left out.
    pub unranked_sessions: u64,
    /// Clicks on documents that the new ranker does not rank; they count for 0.
    pub unranked_clicks: u64,
    /// Clicks at ranks with propensities below the limit, which bias the estimate.
    pub clipped_clicks: u64,
    /// Clicks at ranks behind the last propensity, which is taken for them.
    pub deep_clicks: u64,
}

impl CounterfactualEstimate {
    /// What a careful user should know; `clipped` is the estimate with a limit for propensities.
    pub fn notes(&self, clipped: &CounterfactualEstimate) -> Vec<String> {
        let counted = [
            (self.unranked_sessions, "sessions of queries that it does not rank; left out"),
            (self.unranked_clicks, "clicks on documents that it does not rank; they count for nothing"),
            (self.deep_clicks, "clicks at ranks without a propensity; they have that of the last rank"),
            (clipped.clipped_clicks, "clicks at ranks with propensities below the limit of clipped IPS"),
        ];
        let counted = counted.into_iter().filter(|(count, _)| *count > 0);
        let mut notes: Vec<String> = counted.map(|(count, what)| format!("{what}: {count}")).collect();
        if self.queries == 1 {
            notes.push(
                "all sessions are of one query, so there are no confidence intervals: queries are resampled for them"
                    .to_owned(),
            );
        }
        notes
    }
}

/// Weighted clicks of a query.
#[derive(Default)]
struct QuerySums {
    sessions: f64,
    /// Σ λ(r′)/θ_r
    valued: f64,
    /// Σ λ(r)/θ_r
    shown: f64,
    /// Σ 1/θ_r
    weights: f64,
}

impl<'a> Counterfactual<'a> {
    /// No sessions yet.
    pub fn new(rankings: &'a Rankings) -> Result<Counterfactual<'a>> {
        let mut ranks = HashMap::new();
        for (query, documents) in rankings {
            let by_document: HashMap<&str, u32> = documents.iter().map(String::as_str).zip(1..).collect();
            if by_document.len() < documents.len() {
                return Err(Error::data(format!("the ranking of query `{query}` has a document twice")));
            }
            ranks.insert(query.as_str(), by_document);
        }
        Ok(Counterfactual { ranks, queries: BTreeMap::new(), unranked_sessions: 0 })
    }

    /// Adds a session of the log.
    pub fn add(&mut self, session: &Session) {
        let Some((&query, ranks)) = self.ranks.get_key_value(session.query.as_str()) else {
            self.unranked_sessions += 1;
            return;
        };
        let of_query = self.queries.entry(query).or_default();
        of_query.sessions += 1;
        for (place, _) in session.clicked().iter().enumerate().filter(|(_, clicked)| **clicked) {
            let new_rank = ranks.get(session.shown[place].as_str()).copied();
            *of_query.clicks.entry((session.rank(place), new_rank)).or_default() += 1;
        }
    }

    /// The estimates so far.
    pub fn estimate(
        &self,
        propensities: &Propensities,
        options: &EstimateOptions,
    ) -> Result<CounterfactualEstimate> {
        options.check()?;
        if self.queries.is_empty() {
            return Err(Error::data("the log has no session of a query that the new ranker ranks"));
        }
        let EstimateOptions { clip, resamples, confidence, seed, .. } = *options;
        let sums: Vec<QuerySums> =
            self.queries.values().map(|query| query.sums(propensities, options)).collect();
        let total = |of: fn(&QuerySums) -> f64| sums.iter().map(of).sum::<f64>();
        let sessions: Vec<f64> = sums.iter().map(|sums| sums.sessions).collect();
        let per_session =
            |of: fn(&QuerySums) -> f64| sums.iter().map(|sums| of(sums) / sums.sessions).collect();
        let values = [per_session(|sums| sums.valued), per_session(|sums| sums.shown)];
        let resampled = Resampled::draw(&values, &sessions, resamples, seed);
        let ips = total(|sums| sums.valued) / total(|sums| sums.sessions);
        let shown = total(|sums| sums.shown) / total(|sums| sums.sessions);
        let clicked: Vec<&QuerySums> = sums.iter().filter(|sums| sums.weights > 0.0).collect();
        let interval = |of: &dyn Fn() -> ConfidenceInterval| (sums.len() > 1).then(of);
        let snips_interval = || {
            let weights: Vec<f64> = clicked.iter().map(|sums| sums.weights).collect();
            let values = clicked.iter().map(|sums| sums.valued / sums.weights).collect();
            Resampled::draw(&[values], &weights, resamples, seed).mean(0, confidence)
        };
        let has_clicks = !clicked.is_empty();
        Ok(CounterfactualEstimate {
            queries: sums.len(),
            sessions: self.queries.values().map(|query| query.sessions).sum(),
            ips,
            ips_interval: interval(&|| resampled.mean(0, confidence)),
            shown,
            shown_interval: interval(&|| resampled.mean(1, confidence)),
            difference: ips - shown,
            difference_interval: interval(&|| resampled.difference(0, 1, confidence)),
            snips: has_clicks.then(|| total(|sums| sums.valued) / total(|sums| sums.weights)),
            snips_interval: (clicked.len() > 1).then(snips_interval),
            unranked_sessions: self.unranked_sessions,
            unranked_clicks: self.count(|_, new_rank| new_rank.is_none()),
            clipped_clicks: self.count(|rank, _| propensities.at(rank) < clip),
            deep_clicks: self.count(|rank, _| rank as usize > propensities.theta.len()),
        })
    }
}

impl Counterfactual<'_> {
    /// How many clicks there are whose rank and new rank are so.
    fn count(&self, are: impl Fn(u32, Option<u32>) -> bool) -> u64 {
        let all = self.queries.values().flat_map(|query| &query.clicks);
        all.filter(|((rank, new_rank), _)| are(*rank, *new_rank)).map(|(_, count)| count).sum()
    }
}

impl QueryClicks {
    fn sums(&self, propensities: &Propensities, options: &EstimateOptions) -> QuerySums {
        let mut sums = QuerySums { sessions: self.sessions as f64, ..QuerySums::default() };
        for (&(rank, new_rank), &count) in &self.clicks {
            let weight = count as f64 * propensities.weight(rank, options.clip);
            sums.valued += weight * new_rank.map_or(0.0, |new_rank| options.value.at(new_rank));
            sums.shown += weight * options.value.at(rank);
            sums.weights += weight;
        }
        sums
    }
}

impl EstimateOptions {
    fn check(&self) -> Result<()> {
        let EstimateOptions { value, clip, resamples, confidence, .. } = *self;
        if !(0.0..=1.0).contains(&clip) {
            return Err(Error::parameter(format!("`clip` is {clip}; it must be from 0 to 1")));
        }
        if matches!(value, RankValue::Dcg { depth: 0 } | RankValue::Precision { depth: 0 }) {
            return Err(Error::parameter("the depth of the metric is 0; it must be at least 1"));
        }
        if resamples == 0 || !(confidence > 0.0 && confidence < 1.0) {
            return Err(Error::parameter("intervals need at least 1 resample and a level between 0 and 1"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
