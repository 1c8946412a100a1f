//! Rank fusion: several runs for the same topics become one.
//!
//! Reciprocal rank fusion looks at ranks only. CombSUM and CombMNZ add up scores, which are normalised first, topic by
//! topic and run by run, because the scores of different systems have different scales.

use super::trec::{Topic, TrecRun};
use super::{Texts, quoted};
use crate::error::{Error, Result};
use crate::rank::{RankRule, Sorter, Ties};
use std::collections::HashMap;

/// How the runs are combined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FusionMethod {
    /// Reciprocal rank fusion: the sum of `1 / (k + rank)` over the runs that retrieved the document
    /// (`cormack2009reciprocal`).
    Rrf {
        /// Lessens the weight of the first ranks; 60 in the paper. At least 0.
        k: f64,
    },
    /// The sum of the normalised scores (`fox1994combination`).
    CombSum(ScoreNormalization),
    /// That sum multiplied by the number of runs that retrieved the document (`fox1994combination`).
    CombMnz(ScoreNormalization),
}

/// How the scores of a run are normalised within a topic. If all are equal, they become 0, except with `None`, `Max` and
/// `Rank`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoreNormalization {
    /// Scores as they are.
    None,
    /// `(s − min) / (max − min)`.
    MinMax,
    /// `s / max`; the highest score must be above 0.
    Max,
    /// `(s − min) / Σ (s − min)`.
    Sum,
    /// `(s − mean) / standard deviation`.
    ZScore,
    /// `1 − (rank − 1) / n`, with ranks from 1 and `n` documents.
    Rank,
}

/// Runs combined into one.
#[derive(Debug, Clone, PartialEq)]
pub struct Fused {
    /// The run: topics in the order in which the runs first have them, documents by descending score, equal scores by
    /// descending document id as in trec_eval.
    pub run: TrecRun,
    /// Number of topics that are missing from at least one of the runs.
    pub incomplete: usize,
}

/// Combines at least two runs into one called `tag`, with the first `depth` documents of each topic.
///
/// Documents with equal scores are ranked by descending document id, as in trec_eval.
///
/// ```
/// use rankwise::data::fusion::{FusionMethod, fuse};
/// use rankwise::data::trec::{Topic, TrecRun};
/// let run = |documents: [&str; 2]| {
///     let topic = Topic { id: "1".into(), documents: documents.into_iter().collect(), values: vec![2.0, 1.0] };
///     TrecRun { topics: vec![topic], tag: "a".into() }
/// };
/// let fused = fuse(&[run(["x", "y"]), run(["y", "z"])], FusionMethod::Rrf { k: 60.0 }, None, "both")?;
/// assert_eq!(fused.run.topics[0].documents.iter().collect::<Vec<_>>(), ["y", "x", "z"]);
/// assert_eq!(fused.run.topics[0].values[0], 1.0 / 61.0 + 1.0 / 62.0);
/// # Ok::<(), rankwise::Error>(())
/// ```
pub fn fuse(runs: &[TrecRun], method: FusionMethod, depth: Option<usize>, tag: &str) -> Result<Fused> {
    if runs.len() < 2 {
        return Err(Error::parameter(format!("fusion needs at least 2 runs, and there is {}", runs.len())));
    }
    if let FusionMethod::Rrf { k } = method
        && !(k >= 0.0 && k.is_finite())
    {
        return Err(Error::parameter(format!("`k` is {k}; it must be 0 or more")));
    }
    let by_id: Vec<HashMap<&str, &Topic<f64>>> =
        runs.iter().map(|run| run.topics.iter().map(|topic| (topic.id.as_str(), topic)).collect()).collect();
    let mut seen = std::collections::HashSet::new();
    let ids = runs.iter().flat_map(|run| &run.topics).map(|topic| topic.id.as_str());
    let (mut topics, mut incomplete) = (Vec::new(), 0);
    for id in ids.filter(|id| seen.insert(*id)) {
        let found: Vec<&Topic<f64>> = by_id.iter().filter_map(|topics| topics.get(id).copied()).collect();
        incomplete += usize::from(found.len() < runs.len());
        topics.push(fuse_topic(&found, method, depth.unwrap_or(usize::MAX))?);
    }
    Ok(Fused { run: TrecRun { topics, tag: tag.to_owned() }, incomplete })
}

fn fuse_topic(runs: &[&Topic<f64>], method: FusionMethod, depth: usize) -> Result<Topic<f64>> {
    let (mut documents, mut sums, mut counts) = (Texts::new(), Vec::<f64>::new(), Vec::<u32>::new());
    let mut number_of: HashMap<&str, usize> = HashMap::new();
    for run in runs {
        for (document, score) in run.documents.iter().zip(method.scores(run)?) {
            let number = *number_of.entry(document).or_insert(sums.len());
            if number == sums.len() {
                documents.push(document);
                sums.push(0.0);
                counts.push(0);
            }
            sums[number] += score;
            counts[number] += 1;
        }
    }
    if let FusionMethod::CombMnz(_) = method {
        sums.iter_mut().zip(&counts).for_each(|(sum, &count)| *sum *= f64::from(count));
    }
    let id = runs[0].id.clone();
    if let Some(number) = sums.iter().position(|sum| !sum.is_finite()) {
        return Err(Error::data(format!(
            "the fused score of document {} of topic {} is too large for a number",
            quoted(documents.get(number).as_bytes()),
            quoted(id.as_bytes())
        )));
    }
    let order = ranked(&documents, &sums)?;
    let order = &order[..order.len().min(depth)];
    Ok(Topic {
        id,
        documents: order.iter().map(|&d| documents.get(d as usize)).collect(),
        values: order.iter().map(|&d| sums[d as usize]).collect(),
    })
}

/// Documents by descending score, then by descending id.
fn ranked(documents: &Texts, scores: &[f64]) -> Result<Vec<u32>> {
    let rule = RankRule { ties: Ties::DocId, ..RankRule::default() };
    let mut sorter = Sorter::default();
    let ranking = sorter.rank_with_ids(scores, &[], rule, |document| Some(documents.get(document)))?;
    Ok(ranking.order().to_vec())
}

impl FusionMethod {
    /// What each document of a run adds to its fused score.
    fn scores(self, run: &Topic<f64>) -> Result<Vec<f64>> {
        match self {
            FusionMethod::Rrf { k } => by_rank(run, |rank, _| 1.0 / (k + rank)),
            FusionMethod::CombSum(normalization) | FusionMethod::CombMnz(normalization) => {
                normalization.apply(run)
            }
        }
    }
}

/// A function of the rank of each document, from 1, and of their number.
fn by_rank(run: &Topic<f64>, worth: impl Fn(f64, f64) -> f64) -> Result<Vec<f64>> {
    let mut worths = vec![0.0; run.values.len()];
    for (place, document) in ranked(&run.documents, &run.values)?.into_iter().enumerate() {
        worths[document as usize] = worth((place + 1) as f64, run.values.len() as f64);
    }
    Ok(worths)
}

impl ScoreNormalization {
    fn apply(self, run: &Topic<f64>) -> Result<Vec<f64>> {
        let scores = &run.values;
        let count = scores.len() as f64;
        let lowest = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // If all scores are equal, the differences are 0, and so are the quotients.
        let scaled = |from: f64, by: f64| {
            let by = if by > 0.0 { by } else { 1.0 };
            Ok(scores.iter().map(|score| (score - from) / by).collect())
        };
        match self {
            ScoreNormalization::None => Ok(scores.clone()),
            ScoreNormalization::MinMax => scaled(lowest, highest - lowest),
            ScoreNormalization::Sum => scaled(lowest, scores.iter().map(|score| score - lowest).sum()),
            ScoreNormalization::ZScore => {
                let mean = scores.iter().sum::<f64>() / count;
                let squares: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
                scaled(mean, (squares / count).sqrt())
            }
            ScoreNormalization::Max if highest > 0.0 => scaled(0.0, highest),
            ScoreNormalization::Max => Err(Error::data(format!(
                "the highest score of topic {} is {highest}, and normalising by the maximum needs one above 0; \
                 choose another normalisation, such as min-max",
                quoted(run.id.as_bytes())
            ))),
            ScoreNormalization::Rank => by_rank(run, |rank, count| 1.0 - (rank - 1.0) / count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(lists: &[(&str, &[(&str, f64)])]) -> TrecRun {
        let topic = |(id, list): &(&str, &[(&str, f64)])| Topic {
            id: id.to_string(),
            documents: list.iter().map(|(document, _)| *document).collect(),
            values: list.iter().map(|(_, score)| *score).collect(),
        };
        TrecRun { topics: lists.iter().map(topic).collect(), tag: "t".into() }
    }

    fn fused(
        runs: &[TrecRun],
        method: FusionMethod,
        depth: Option<usize>,
    ) -> Vec<(String, Vec<(String, f64)>)> {
        let topics = fuse(runs, method, depth, "f").unwrap().run.topics;
        let list = |t: &Topic<f64>| t.documents.iter().map(str::to_owned).zip(t.values.clone()).collect();
        topics.iter().map(|topic| (topic.id.clone(), list(topic))).collect()
    }

    /// By hand: in the first run `b` and `a` are tied, and `b` ranks first. `c` and `a` have the same fused score.
    #[test]
    fn ties_are_broken_by_descending_id_before_and_after() {
        let runs = [run(&[("1", &[("a", 1.0), ("b", 1.0)])]), run(&[("1", &[("c", 5.0), ("b", 4.0)])])];
        let found = fused(&runs, FusionMethod::Rrf { k: 0.0 }, None);
        let expected = [("b", 1.5), ("c", 1.0), ("a", 0.5)].map(|(d, s)| (d.to_owned(), s));
        assert_eq!(found, [("1".to_owned(), expected.to_vec())]);
        let found = fused(&runs, FusionMethod::CombSum(ScoreNormalization::MinMax), None);
        let expected = [("c", 1.0), ("b", 0.0), ("a", 0.0)].map(|(d, s)| (d.to_owned(), s));
        assert_eq!(found[0].1, expected, "equal scores become 0");
    }

    #[test]
    fn every_topic_is_kept_and_lists_are_cut() {
        let runs =
            [run(&[("2", &[("a", 1.0)]), ("1", &[("a", 3.0), ("b", 2.0)])]), run(&[("3", &[("c", 1.0)])])];
        let found = fuse(&runs, FusionMethod::CombMnz(ScoreNormalization::None), Some(1), "f").unwrap();
        let lists: Vec<(&str, Vec<&str>)> =
            found.run.topics.iter().map(|t| (t.id.as_str(), t.documents.iter().collect())).collect();
        assert_eq!(lists, [("2", vec!["a"]), ("1", vec!["a"]), ("3", vec!["c"])]);
        assert_eq!((found.incomplete, found.run.tag.as_str()), (3, "f"));
    }

    #[test]
    fn what_cannot_be_fused_is_refused() {
        let negative = [run(&[("7", &[("a", -1.0)])]), run(&[("7", &[("a", 1.0)])])];
        let refusal = |runs: &[TrecRun], method| fuse(runs, method, None, "f").unwrap_err().to_string();
        let message = refusal(&negative, FusionMethod::CombSum(ScoreNormalization::Max));
        assert!(message.contains("topic `7`") && message.contains("min-max"), "{message}");
        assert!(refusal(&negative[..1], FusionMethod::Rrf { k: 1.0 }).contains("at least 2 runs"));
        assert!(refusal(&negative, FusionMethod::Rrf { k: f64::NAN }).contains("`k` is NaN"));
        let large = [run(&[("7", &[("a", f64::MAX)])]), run(&[("7", &[("a", f64::MAX)])])];
        assert!(refusal(&large, FusionMethod::CombSum(ScoreNormalization::None)).contains("too large"),);
    }
}
