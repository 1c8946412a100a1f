//! A report on agreement: over all, by judge and by query, with bootstrap intervals.

use super::coefficients::{Coefficients, Distance, JudgePairs};
use super::judgments::{Judgments, Panel};
use crate::error::{Error, Result};
use crate::parallel;
use crate::rng;
use crate::significance::{ConfidenceInterval, percentile_interval};
use rand::RngExt;
use serde::Serialize;

/// The first step of the path of a resample's random stream.
const RESAMPLE_STREAM: u64 = 0x6a75_6467_6573;

/// How intervals are computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgreementOptions {
    /// How often documents are resampled.
    pub resamples: usize,
    /// The level of the intervals.
    pub confidence: f64,
    /// The seed of the resamples.
    pub seed: u64,
}

impl Default for AgreementOptions {
    fn default() -> Self {
        AgreementOptions { resamples: 1000, confidence: 0.95, seed: 1 }
    }
}

/// A value with its interval: percentiles over resamples of documents.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Its interval; `None` if the value is not defined for most resamples.
    pub interval: Option<ConfidenceInterval>,
}

/// The coefficients of [`Coefficients`] with intervals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Estimates {
    pub percentage: Option<Estimate>,
    pub cohen: Option<Estimate>,
    pub cohen_linear: Option<Estimate>,
    pub cohen_quadratic: Option<Estimate>,
    pub fleiss: Option<Estimate>,
    pub alpha_nominal: Option<Estimate>,
    pub alpha_ordinal: Option<Estimate>,
    pub alpha_interval: Option<Estimate>,
}

/// How one judge agrees with the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgeAgreement {
    /// The judge.
    pub judge: String,
    /// How many judgments the judge gave.
    pub judgments: usize,
    /// Their mean grade.
    pub mean_grade: f64,
    /// The share of equal judgments among pairs of the judge's and another one.
    pub percentage: Option<Estimate>,
    /// Cohen's κ, the mean over the other judges.
    pub cohen: Option<Estimate>,
    /// The same with quadratic weights.
    pub cohen_quadratic: Option<Estimate>,
}

/// How two judges agree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairAgreement {
    /// The judges, in the order of their names.
    pub judges: [String; 2],
    /// Documents that both have graded.
    pub documents: u64,
    /// The share of these with equal grades.
    pub percentage: Option<f64>,
    /// Cohen's κ.
    pub cohen: Option<f64>,
    /// The same with linear weights.
    pub cohen_linear: Option<f64>,
    /// The same with quadratic weights.
    pub cohen_quadratic: Option<f64>,
}

/// How judges agree on one query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueryAgreement {
    /// The query.
    pub query: String,
    /// Its documents with at least one judgment.
    pub documents: usize,
    /// The coefficients.
    pub estimates: Estimates,
}

/// How well judges agree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Agreement {
    /// Documents of queries with at least one judgment.
    pub documents: usize,
    /// Those with at least two.
    pub judged_twice: usize,
    /// Judgments.
    pub judgments: usize,
    /// The grades that were given.
    pub grades: Vec<f64>,
    /// Over all documents.
    pub estimates: Estimates,
    /// By judge, in the order of their names.
    pub judges: Vec<JudgeAgreement>,
    /// By pair of judges with a document in common, in the order of their names.
    pub pairs: Vec<PairAgreement>,
    /// Queries with a judgment; [`QueryAgreement::all`] has the agreement on each.
    pub queries: usize,
}

impl Agreement {
    /// Fails if no document was judged by two judges.
    ///
    /// ```
    /// use rankwise::labels::{Agreement, AgreementOptions, Judgment, Judgments};
    /// let mut judgments = Judgments::default();
    /// for (document, grades) in [("a", [2.0, 2.0]), ("b", [0.0, 1.0]), ("c", [0.0, 0.0])] {
    ///     judgments.push(Judgment::new("q", document, "ann", grades[0]))?;
    ///     judgments.push(Judgment::new("q", document, "bob", grades[1]))?;
    /// }
    /// let agreement = Agreement::new(&judgments, &AgreementOptions::default())?;
    /// let percentage = agreement.estimates.percentage.unwrap();
    /// assert!((percentage.value - 2.0 / 3.0).abs() < 1e-12 && percentage.interval.unwrap().high == 1.0);
    /// # Ok::<(), rankwise::Error>(())
    /// ```
    pub fn new(judgments: &Judgments, options: &AgreementOptions) -> Result<Agreement> {
        options.check()?;
        let panel = judgments.panel();
        let judged_twice = panel.ratings.iter().filter(|ratings| ratings.len() > 1).count();
        if judged_twice == 0 {
            let judges = match &panel.judges[..] {
                [] => "there are no judgments".to_owned(),
                [one] => format!("there is only one judge, `{one}`"),
                judges => format!("the {} judges have no document in common", judges.len()),
            };
            let reason = "agreement needs documents that two judges have graded";
            return Err(Error::data(format!("{judges}; {reason}")));
        }
        let all: Vec<usize> = (0..panel.items.len()).collect();
        Ok(Agreement {
            documents: panel.items.len(),
            judged_twice,
            judgments: judgments.all().len(),
            grades: panel.grades.clone(),
            estimates: estimates(&panel, &all, options),
            judges: (0..panel.judges.len()).map(|judge| of_judge(&panel, judge, options)).collect(),
            pairs: of_pairs(&panel),
            queries: by_query(&panel, &all).count(),
        })
    }
}

impl QueryAgreement {
    /// The agreement on each query, in the order of their ids. Every query has resamples of its own, so many queries take
    /// a while.
    pub fn all(judgments: &Judgments, options: &AgreementOptions) -> Result<Vec<QueryAgreement>> {
        options.check()?;
        let panel = judgments.panel();
        let of_query = |items: &[usize]| QueryAgreement {
            query: panel.items[items[0]].0.to_owned(),
            documents: items.len(),
            estimates: estimates(&panel, items, options),
        };
        let all: Vec<usize> = (0..panel.items.len()).collect();
        Ok(by_query(&panel, &all).map(of_query).collect())
    }
}

impl AgreementOptions {
    fn check(&self) -> Result<()> {
        match self.resamples > 0 && self.confidence > 0.0 && self.confidence < 1.0 {
            true => Ok(()),
            false => Err(Error::parameter("intervals need at least 1 resample and a level between 0 and 1")),
        }
    }
}

/// The items of each query.
fn by_query<'a>(panel: &'a Panel<'_>, all: &'a [usize]) -> impl Iterator<Item = &'a [usize]> {
    all.chunk_by(|&a, &b| panel.items[a].0 == panel.items[b].0)
}

fn estimates(panel: &Panel<'_>, items: &[usize], options: &AgreementOptions) -> Estimates {
    let (value, resampled) =
        resampled(items, options, |items| Coefficients::of_items(panel, items.iter().copied()));
    let estimate = |of: fn(&Coefficients) -> Option<f64>| {
        Some(Estimate { value: of(&value)?, interval: interval(resampled.iter().map(of), options) })
    };
    Estimates {
        percentage: estimate(|c| c.percentage),
        cohen: estimate(|c| c.cohen),
        cohen_linear: estimate(|c| c.cohen_linear),
        cohen_quadratic: estimate(|c| c.cohen_quadratic),
        fleiss: estimate(|c| c.fleiss),
        alpha_nominal: estimate(|c| c.alpha_nominal),
        alpha_ordinal: estimate(|c| c.alpha_ordinal),
        alpha_interval: estimate(|c| c.alpha_interval),
    }
}

fn of_pairs(panel: &Panel<'_>) -> Vec<PairAgreement> {
    let all = JudgePairs::new(panel, 0..panel.ratings.len(), None);
    let of_pair = |((a, b), pair): ((usize, usize), JudgePairs<'_>)| PairAgreement {
        judges: [a, b].map(|judge| panel.judges[judge].to_owned()),
        documents: pair.count(),
        percentage: pair.percentage(),
        cohen: pair.cohen(Distance::Nominal),
        cohen_linear: pair.cohen(Distance::Linear),
        cohen_quadratic: pair.cohen(Distance::Quadratic),
    };
    all.each().map(of_pair).collect()
}

fn of_judge(panel: &Panel<'_>, judge: usize, options: &AgreementOptions) -> JudgeAgreement {
    let is_own = |rating: &&(usize, usize)| rating.0 == judge;
    let items: Vec<usize> =
        (0..panel.ratings.len()).filter(|&item| panel.ratings[item].iter().any(|r| is_own(&r))).collect();
    let own = items.iter().flat_map(|&item| panel.ratings[item].iter().filter(is_own));
    let grades: Vec<f64> = own.map(|&(_, grade)| panel.grades[grade]).collect();
    let (value, resampled) = resampled(&items, options, |items| {
        let pairs = JudgePairs::new(panel, items.iter().copied(), Some(judge));
        [pairs.percentage(), pairs.cohen(Distance::Nominal), pairs.cohen(Distance::Quadratic)]
    });
    let [percentage, cohen, cohen_quadratic] = std::array::from_fn(|i| {
        let interval = || interval(resampled.iter().map(|values| values[i]), options);
        value[i].map(|value| Estimate { value, interval: interval() })
    });
    JudgeAgreement {
        judge: panel.judges[judge].to_owned(),
        judgments: grades.len(),
        mean_grade: grades.iter().sum::<f64>() / grades.len() as f64,
        percentage,
        cohen,
        cohen_quadratic,
    }
}

/// A statistic of some items, and of resamples of them.
fn resampled<T: Send>(
    items: &[usize],
    options: &AgreementOptions,
    statistic: impl Fn(&[usize]) -> T + Sync,
) -> (T, Vec<T>) {
    let draw = |number: usize| {
        let mut random = rng::stream(options.seed, &[RESAMPLE_STREAM, number as u64]);
        let mut one = || items[random.random_range(0..items.len() as u64) as usize];
        statistic(&(0..items.len()).map(|_| one()).collect::<Vec<usize>>())
    };
    (statistic(items), parallel::map(0..options.resamples, draw))
}

/// The interval of the resamples for which the value is defined, if they are more than half.
fn interval(
    values: impl ExactSizeIterator<Item = Option<f64>>,
    options: &AgreementOptions,
) -> Option<ConfidenceInterval> {
    let all = values.len();
    let defined: Vec<f64> = values.flatten().collect();
    (2 * defined.len() > all).then(|| percentile_interval(defined, options.confidence))
}
