//! Preferences between documents of a query, from clicks (Joachims 2002, Joachims et al. 2005, Radlinski and Joachims 2005).

use super::log::Session;
use crate::card;
use crate::data::{AtomicFile, Format, push_field};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::Path;

/// When one document is preferred to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PreferenceRule {
    /// A clicked document is better than each one above it that was not clicked.
    SkipAbove,
    /// The document clicked last is better than each one above it that was not clicked.
    LastClick,
    /// A clicked document is better than each one that was clicked before.
    EarlierClick,
    /// A clicked document is better than the one just above it, if that was not clicked.
    SkipPrevious,
    /// A clicked document is better than the one just below it, if that was not clicked.
    NoClickNext,
}

impl PreferenceRule {
    /// All rules.
    pub const ALL: [PreferenceRule; 5] = [
        PreferenceRule::SkipAbove,
        PreferenceRule::LastClick,
        PreferenceRule::EarlierClick,
        PreferenceRule::SkipPrevious,
        PreferenceRule::NoClickNext,
    ];

    /// The name, as typed.
    pub fn name(self) -> &'static str {
        match self {
            PreferenceRule::SkipAbove => "skip-above",
            PreferenceRule::LastClick => "last-click",
            PreferenceRule::EarlierClick => "earlier-click",
            PreferenceRule::SkipPrevious => "skip-previous",
            PreferenceRule::NoClickNext => "no-click-next",
        }
    }

    /// The rule with this name.
    pub fn named(name: &str) -> Result<PreferenceRule> {
        let names = PreferenceRule::ALL.map(PreferenceRule::name);
        let found = PreferenceRule::ALL.into_iter().find(|rule| rule.name() == name);
        found.ok_or_else(|| card::unknown("preference rule", name, &names))
    }

    /// The pairs of a session, better document first, by places from 0. A document that is clicked repeatedly counts
    /// when it was clicked first, and for the last click, when it was clicked last.
    ///
    /// ```
    /// use rankwise::clicks::preferences::PreferenceRule;
    /// use rankwise::clicks::Session;
    /// let line = r#"{"id": 1, "query": "q", "shown": ["a", "b", "c", "d"], "clicks": [{"doc": "c"}, {"doc": "b"}]}"#;
    /// let session: Session = serde_json::from_str(line).unwrap();
    /// assert_eq!(PreferenceRule::SkipAbove.pairs(&session), [(1, 0), (2, 0)]);
    /// assert_eq!(PreferenceRule::LastClick.pairs(&session), [(1, 0)]);
    /// assert_eq!(PreferenceRule::EarlierClick.pairs(&session), [(1, 2)]);
    /// assert_eq!(PreferenceRule::SkipPrevious.pairs(&session), [(1, 0)]);
    /// assert_eq!(PreferenceRule::NoClickNext.pairs(&session), [(2, 3)]);
    /// ```
    pub fn pairs(self, session: &Session) -> Vec<(usize, usize)> {
        let clicked = session.clicked();
        let clicks: Vec<usize> =
            session.clicks.iter().filter_map(|click| session.place_of(&click.doc)).collect();
        let skipped_above =
            |place: usize| (0..place).filter(|&above| !clicked[above]).map(move |above| (place, above));
        let places = || (0..clicked.len()).filter(|&place| clicked[place]);
        match self {
            PreferenceRule::SkipAbove => places().flat_map(skipped_above).collect(),
            PreferenceRule::LastClick => {
                clicks.last().into_iter().flat_map(|&last| skipped_above(last)).collect()
            }
            PreferenceRule::EarlierClick => {
                let mut first = Vec::new();
                clicks.into_iter().for_each(|place| match first.contains(&place) {
                    true => {}
                    false => first.push(place),
                });
                let earlier = |(number, &place): (usize, &usize)| {
                    first[..number].iter().map(|&before| (place, before)).collect::<Vec<_>>()
                };
                first.iter().enumerate().flat_map(earlier).collect()
            }
            PreferenceRule::SkipPrevious => {
                let previous = |place: usize| place.checked_sub(1).filter(|&above| !clicked[above]);
                places().filter_map(|place| Some((place, previous(place)?))).collect()
            }
            PreferenceRule::NoClickNext => {
                let next = |place: usize| clicked.get(place + 1).is_some_and(|clicked| !clicked);
                places().filter(|&place| next(place)).map(|place| (place, place + 1)).collect()
            }
        }
    }
}

/// One document of a query preferred to another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Preference {
    /// The query.
    pub query: String,
    /// The id of the better document.
    pub better: String,
    /// The id of the worse document.
    pub worse: String,
    /// In how many sessions.
    pub sessions: u64,
}

/// Preferences of a log by one rule. Memory grows with the number of different preferences.
///
/// ```
/// use rankwise::clicks::preferences::{PreferenceRule, Preferences};
/// use rankwise::clicks::Session;
/// let line = r#"{"id": 1, "query": "q", "shown": ["a", "b"], "clicks": [{"doc": "b"}]}"#;
/// let mut preferences = Preferences::new(PreferenceRule::SkipAbove);
/// preferences.add(&serde_json::from_str::<Session>(line).unwrap());
/// assert_eq!(preferences.sorted()[0].better, "b");
/// ```
#[derive(Debug, Clone)]
pub struct Preferences {
    rule: PreferenceRule,
    counts: HashMap<String, HashMap<(String, String), u64>>,
}

impl Preferences {
    /// No preferences yet.
    pub fn new(rule: PreferenceRule) -> Preferences {
        Preferences { rule, counts: HashMap::new() }
    }

    /// Adds those of one session.
    pub fn add(&mut self, session: &Session) {
        for (better, worse) in self.rule.pairs(session) {
            let of_query = self.counts.entry(session.query.clone()).or_default();
            let pair = (session.shown[better].clone(), session.shown[worse].clone());
            *of_query.entry(pair).or_default() += 1;
        }
    }

    /// All preferences in the order of their ids. Both directions of a pair may occur, from different sessions.
    pub fn sorted(&self) -> Vec<Preference> {
        let of_query = |(query, pairs): (&String, &HashMap<(String, String), u64>)| {
            let preference = |((better, worse), &sessions): (&(String, String), &u64)| Preference {
                query: query.clone(),
                better: better.clone(),
                worse: worse.clone(),
                sessions,
            };
            pairs.iter().map(preference).collect::<Vec<_>>()
        };
        let mut all: Vec<Preference> = self.counts.iter().flat_map(of_query).collect();
        all.sort_unstable();
        all
    }
}

/// How many pairs of documents are preferred both ways. The preferences are in the order of their ids.
///
/// ```
/// use rankwise::clicks::preferences::{Preference, contradictions};
/// let preference = |better: &str, worse: &str| {
///     let [query, better, worse] = ["q", better, worse].map(str::to_owned);
///     Preference { query, better, worse, sessions: 1 }
/// };
/// assert_eq!(contradictions(&[preference("a", "b"), preference("a", "c"), preference("b", "a")]), 1);
/// ```
pub fn contradictions(sorted: &[Preference]) -> usize {
    let has = |query: &str, better: &str, worse: &str| {
        let key = |p: &Preference| (&*p.query, &*p.better, &*p.worse).cmp(&(query, better, worse));
        sorted.binary_search_by(key).is_ok()
    };
    let both = |p: &&Preference| p.better < p.worse && has(&p.query, &p.worse, &p.better);
    sorted.iter().filter(both).count()
}

/// Writes preferences as CSV; as TSV if the name ends in `.tsv`, and as JSON lines if it ends in `.jsonl`. `.gz` and `.zst`
/// after that compress it. The columns, or keys, are `query`, `better`, `worse` and `sessions`.
///
/// ```
/// use rankwise::clicks::preferences::{Preference, write_preferences};
/// let [query, better, worse] = ["q, r", "b", "a"].map(str::to_owned);
/// let path = std::env::temp_dir().join(format!("rankwise-preferences-{}.csv", std::process::id()));
/// write_preferences(&path, &[Preference { query, better, worse, sessions: 3 }])?;
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "query,better,worse,sessions\n\"q, r\",b,a,3\n");
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), rankwise::Error>(())
/// ```
pub fn write_preferences(path: &Path, preferences: &[Preference]) -> Result<()> {
    let name = path.to_string_lossy();
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    let mut file = AtomicFile::create(path)?;
    if name.ends_with(".jsonl") {
        for preference in preferences {
            let line = serde_json::to_string(preference).map_err(|e| Error::data(e.to_string()))?;
            file.put(line.as_bytes())?;
            file.put(b"\n")?;
        }
        return file.commit();
    }
    let delimiter = if Format::of_path(path) == Format::Tsv { b'\t' } else { b',' };
    let mut text =
        ["query", "better", "worse", "sessions"].join(&*char::from(delimiter).to_string()).into_bytes();
    text.push(b'\n');
    for preference in preferences {
        for id in [&preference.query, &preference.better, &preference.worse] {
            push_field(&mut text, id, delimiter);
            text.push(delimiter);
        }
        text.extend_from_slice(format!("{}\n", preference.sessions).as_bytes());
        file.put(&text)?;
        text.clear();
    }
    file.put(&text)?;
    file.commit()
}
