//! Simulated logs: sessions of users whose clicks follow from the labels of a data set.
//!
//! A document with label `y` attracts a user who examines it with probability `ε + (1 − ε)(2^y − 1)/(2^max − 1)`, where
//! `max` is the largest label of the data and `ε` the noise. What users examine is up to [`SimulatedUser`]. Every session has
//! its own random stream, named by the seed, the query's id and the session's number.

use super::interleave::{InterleavedList, Interleaving};
use super::log::{Click, Interleaved, Session};
use crate::data::{Dataset, Query};
use crate::error::{Error, Result};
use crate::rank::grade;
use crate::rng::{self, Random};
use rand::RngExt;
use rand::seq::SliceRandom;
use std::borrow::Cow;
use std::fmt;
use xxhash_rust::xxh3::xxh3_64;

/// The first step of the path of a session's random stream.
const SESSION_STREAM: u64 = 0x636c_6963_6b73;

/// What users examine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SimulatedUser {
    /// Rank r with probability `(1/r)^eta`, whatever the others.
    PositionBased {
        /// How fast attention falls.
        eta: f64,
    },
    /// The list down to the first click.
    Cascade,
    /// The list down to a click after which the user does not go on.
    DependentClick {
        /// The probability of going on after a click.
        continuation: f64,
    },
}

impl SimulatedUser {
    /// Reads `pbm:eta=1`, `cascade` or `dcm:continue=0.6`; the parameters may be left out.
    ///
    /// ```
    /// use rankwise::clicks::simulate::SimulatedUser;
    /// assert_eq!(SimulatedUser::parse("pbm:eta=0.5")?, SimulatedUser::PositionBased { eta: 0.5 });
    /// assert!(SimulatedUser::parse("dcm:eta=1").unwrap_err().to_string().contains("`continue`"));
    /// # Ok::<(), rankwise::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<SimulatedUser> {
        let (name, parameter) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let number = |known: &str, default: f64, highest: f64| {
            let Some(parameter) = parameter else { return Ok(default) };
            let value = parameter.split_once('=').filter(|(key, _)| *key == known);
            let value = value.and_then(|(_, value)| value.parse::<f64>().ok());
            value.filter(|value| (0.0..=highest).contains(value)).ok_or_else(|| {
                Error::parameter(format!(
                    "`{parameter}` is no parameter of the user model `{name}`, which has `{known}`, from 0 to {highest}"
                ))
            })
        };
        match name {
            "pbm" => Ok(SimulatedUser::PositionBased { eta: number("eta", 1.0, 100.0)? }),
            "dcm" => Ok(SimulatedUser::DependentClick { continuation: number("continue", 0.6, 1.0)? }),
            "cascade" if parameter.is_none() => Ok(SimulatedUser::Cascade),
            "cascade" => Err(Error::parameter("the user model `cascade` has no parameters")),
            _ => Err(crate::card::unknown("user model", name, &["pbm", "cascade", "dcm"])),
        }
    }

    /// Which documents are clicked, given how attractive each is.
    fn clicks(self, attractive: &[f64], random: &mut Random) -> Vec<bool> {
        let mut reading = true;
        let of = |(place, &attractive): (usize, &f64)| {
            // Every document takes the same numbers of the stream, whatever happened above it.
            let [examine, click, go_on] = std::array::from_fn(|_| random.random::<f64>());
            let examined = match self {
                SimulatedUser::PositionBased { eta } => examine < (1.0 / (place + 1) as f64).powf(eta),
                _ => reading,
            };
            let clicked = examined && click < attractive;
            reading &= match self {
                SimulatedUser::DependentClick { continuation } => !clicked || go_on < continuation,
                _ => !clicked,
            };
            clicked
        };
        attractive.iter().enumerate().map(of).collect()
    }
}

/// As [`SimulatedUser::parse`] reads it.
impl fmt::Display for SimulatedUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SimulatedUser::PositionBased { eta } => write!(f, "pbm:eta={eta}"),
            SimulatedUser::Cascade => f.write_str("cascade"),
            SimulatedUser::DependentClick { continuation } => write!(f, "dcm:continue={continuation}"),
        }
    }
}

/// What is random about the lists shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Randomization {
    /// Nothing.
    #[default]
    None,
    /// A swap experiment: the documents of rank 1 and of another rank are exchanged with probability ½.
    Swap,
    /// The documents that would be shown are shuffled.
    Shuffle,
}

/// A ranker whose rankings are shown.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedRanker {
    /// Its name in the log.
    pub name: String,
    /// Its score of every document of the data set.
    pub scores: Vec<f64>,
}

/// What is shown in a session.
struct List {
    shown: Vec<usize>,
    ranker: Option<String>,
    interleaved: Option<Interleaved>,
}

/// How to simulate a log.
///
/// ```
/// use rankwise::clicks::simulate::{SimulatedRanker, Simulation};
/// use rankwise::data::Synth;
/// let data = Synth::demo().generate()?;
/// let scores = (0..data.len()).map(|i| f64::from(data.row(i).get(0))).collect();
/// let rankers = [SimulatedRanker { name: "first-feature".into(), scores }];
/// let simulation = Simulation { sessions: 3, ..Simulation::default() };
/// let log: Vec<_> = simulation.sessions(&data, &rankers)?.collect();
/// assert_eq!(log.len(), 3 * data.query_count());
/// assert!(log.iter().all(|session| session.shown.len() <= 10));
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Simulation {
    /// What users examine.
    pub user: SimulatedUser,
    /// The probability ε with which a document without relevance attracts a click.
    pub noise: f64,
    /// Sessions per query.
    pub sessions: usize,
    /// How many documents are shown at most.
    pub depth: usize,
    /// What is random about the lists.
    pub randomization: Randomization,
    /// Whether every list is made of the rankings of two rankers.
    pub interleaving: Option<Interleaving>,
    /// Whether sessions have the features of the documents shown.
    pub features: bool,
    /// The seed of all that is random.
    pub seed: u64,
}

impl Default for Simulation {
    fn default() -> Self {
        Simulation {
            user: SimulatedUser::PositionBased { eta: 1.0 },
            noise: 0.1,
            sessions: 100,
            depth: 10,
            randomization: Randomization::None,
            interleaving: None,
            features: false,
            seed: 1,
        }
    }
}

impl Simulation {
    /// The sessions of each query in turn. With several rankers, each session shows one of them, all equally often on
    /// average; or two of them are interleaved. Documents with equal scores are in the order of their ids; a document without an id is called `QID-N`.
    pub fn sessions<'a>(
        &'a self,
        data: &'a Dataset,
        rankers: &'a [SimulatedRanker],
    ) -> Result<impl Iterator<Item = Session> + 'a> {
        self.check(data, rankers)?;
        let highest =
            data.labels().iter().copied().fold(0.0, |highest, label| f32::max(highest, grade(label)));
        if highest <= 0.0 {
            return Err(Error::data(
                "no document of the data has a label above 0, so there is nothing to click",
            ));
        }
        let of_query = move |query: Query<'a>| {
            let lists: Vec<Vec<usize>> =
                rankers.iter().map(|ranker| self.ranked(query, &ranker.scores[query.range()])).collect();
            let ids: Vec<String> = (0..query.len()).map(|i| document_id(query, i).into_owned()).collect();
            let stream = xxh3_64(query.id().as_bytes());
            (0..self.sessions).map(move |number| {
                let mut random = rng::stream(self.seed, &[SESSION_STREAM, stream, number as u64]);
                let mut list = self.list(&lists, rankers, &mut random);
                let swap = self.randomize(&mut list.shown, &mut random);
                let session = self.session(query, &ids, &list.shown, highest, &mut random);
                let id = format!("{}#{}", query.id(), number + 1);
                Session { id, ranker: list.ranker, interleaved: list.interleaved, swap, ..session }
            })
        };
        Ok(data.queries().flat_map(of_query))
    }

    fn check(&self, data: &Dataset, rankers: &[SimulatedRanker]) -> Result<()> {
        if !(0.0..=1.0).contains(&self.noise) {
            return Err(Error::parameter(format!("`noise` is {}; it must be from 0 to 1", self.noise)));
        }
        if self.depth == 0 {
            return Err(Error::parameter("`depth` is 0; at least one document must be shown"));
        }
        if rankers.is_empty() {
            return Err(Error::parameter("a simulation needs at least one ranker whose rankings are shown"));
        }
        if let Some(kind) = self.interleaving {
            kind.check()?;
            if rankers.len() != 2 {
                let rankers = rankers.len();
                return Err(Error::parameter(format!("two rankers can be interleaved, not {rankers}")));
            }
            if self.randomization != Randomization::None {
                return Err(Error::parameter(
                    "interleaved lists are random already; they are neither shuffled nor swapped",
                ));
            }
        }
        for SimulatedRanker { name, scores } in rankers {
            if scores.len() != data.len() {
                let (scores, documents) = (scores.len(), data.len());
                return Err(Error::data(format!(
                    "ranker `{name}` has {scores} scores for {documents} documents"
                )));
            }
            if let Some(i) = scores.iter().position(|score| score.is_nan()) {
                return Err(Error::data(format!(
                    "ranker `{name}`: the score of document {} is no number",
                    i + 1
                )));
            }
        }
        Ok(())
    }

    /// The list of a session, before anything is changed at random.
    fn list(&self, lists: &[Vec<usize>], rankers: &[SimulatedRanker], random: &mut Random) -> List {
        if let (Some(kind), [first, second], [a, b]) = (self.interleaving, lists, rankers) {
            let InterleavedList { shown, credit } = kind.interleave(first, second, self.depth, random);
            let rankers = [&a.name, &b.name].map(String::clone);
            return List { shown, ranker: None, interleaved: Some(Interleaved { rankers, credit }) };
        }
        let ranker = random.random_range(0..rankers.len() as u32) as usize;
        List { shown: lists[ranker].clone(), ranker: Some(rankers[ranker].name.clone()), interleaved: None }
    }

    /// The documents shown, best first.
    fn ranked(&self, query: Query<'_>, scores: &[f64]) -> Vec<usize> {
        // −0 and 0 are equal.
        let score = |i: usize| scores[i] + 0.0;
        let mut order: Vec<usize> = (0..query.len()).collect();
        let id = |i: usize| query.document_id(i).map(str::as_bytes);
        order.sort_by(|&a, &b| score(b).total_cmp(&score(a)).then_with(|| id(a).cmp(&id(b))).then(a.cmp(&b)));
        order.truncate(self.depth);
        order
    }

    /// Changes the list at random. Returns the ranks of a swap experiment.
    fn randomize(&self, shown: &mut [usize], random: &mut Random) -> Option<[u32; 2]> {
        match self.randomization {
            Randomization::None => None,
            Randomization::Shuffle => {
                shown.shuffle(random);
                None
            }
            Randomization::Swap if shown.len() < 2 => None,
            Randomization::Swap => {
                let other = random.random_range(1..shown.len() as u32);
                if random.random::<bool>() {
                    shown.swap(0, other as usize);
                }
                Some([1, other + 1])
            }
        }
    }

    fn session(
        &self,
        query: Query<'_>,
        ids: &[String],
        shown: &[usize],
        highest: f32,
        random: &mut Random,
    ) -> Session {
        let gain = |label: f32| f64::from(grade(label).max(0.0)).exp2() - 1.0;
        let attractive = |&document: &usize| {
            self.noise + (1.0 - self.noise) * gain(query.labels()[document]) / gain(highest)
        };
        let attractive: Vec<f64> = shown.iter().map(attractive).collect();
        let clicked = self.user.clicks(&attractive, random);
        let clicks = shown.iter().zip(clicked).filter(|(_, clicked)| *clicked);
        let clicks = clicks.map(|(&document, _)| Click { doc: ids[document].clone(), time: None }).collect();
        let width = query.data().width();
        let row = |&document: &usize| (0..width).map(|column| query.row(document).get(column)).collect();
        Session {
            query: query.id().to_owned(),
            shown: shown.iter().map(|&document| ids[document].clone()).collect(),
            features: self.features.then(|| shown.iter().map(row).collect()),
            clicks,
            ..Session::default()
        }
    }
}

/// The id of a document in the log.
pub(super) fn document_id(query: Query<'_>, document: usize) -> Cow<'_, str> {
    let own = query.document_id(document).filter(|id| !id.is_empty());
    own.map_or_else(|| format!("{}-{}", query.id(), document + 1).into(), Cow::Borrowed)
}

#[cfg(test)]
mod tests;
