//! Synthetic data sets with the shape of public ones, for demonstrations, tests and benchmarks.
//!
//! Every document has a few hidden factors, such as how well the title matches or how popular the page is, and every
//! query shifts them. Features are noisy functions of the factors in the forms that real features have: heavy-tailed
//! counts, scores in [0, 1], families of similar match scores with zeros where nothing matched, rare indicators, values
//! that depend on the query only, and noise. A hidden nonlinear utility orders the documents, and each query's grades
//! are assigned by that order in the proportions of the public data set.
//!
//! The seed decides what the features mean, and each query has its own random stream. The result therefore does not
//! depend on the number of threads, and the first queries of a large data set are those of a small one.

mod features;
mod shapes;
mod utility;

use super::{Dataset, Features, MAX_FEATURES, Parts, Texts};
use crate::card;
use crate::error::{Error, Result};
use crate::parallel;
use crate::rng::{self, Random};
use features::Feature;
use rand::RngExt;
pub use shapes::{SHAPES, SyntheticShape};
use statrs::distribution::{ContinuousCDF, Normal};
use utility::Utility;

/// Number of hidden factors.
const FACTORS: usize = 10;
/// The largest number of values, including absent ones (64 GiB in single precision).
const MAX_VALUES: f64 = (1u64 << 34) as f64;
/// Queries generated at a time, so that a large data set is not held in memory twice.
const BATCH: usize = 256;
/// Purpose of the random stream of a query.
const QUERY: u64 = 0x7175_6572;
/// The largest number of documents of a query, relative to the mean.
const MOST_TIMES_MEAN: f64 = 8.0;

/// A generator of synthetic data: a shape, and changes to its sizes.
///
/// ```
/// use rankwise::data::{Synth, SyntheticShape};
/// let small = Synth { queries: Some(20), features: Some(12), ..Synth::new(SyntheticShape::named("mslr")?) };
/// let data = small.generate()?;
/// assert_eq!((data.query_count(), data.width()), (20, 12));
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Synth {
    /// The kind of data.
    pub shape: &'static SyntheticShape,
    /// Number of queries; that of the shape if not given.
    pub queries: Option<usize>,
    /// Mean number of documents per query; that of the shape if not given.
    pub documents: Option<usize>,
    /// Number of features; that of the shape if not given.
    pub features: Option<usize>,
    /// Noise on the utility, in standard deviations of the utility within a query; at least 0. The default is 0.5.
    pub noise: f64,
    /// Seed of all random choices.
    pub seed: u64,
}

impl SyntheticShape {
    /// The shape called `name`.
    pub fn named(name: &str) -> Result<&'static SyntheticShape> {
        card::find(SHAPES, |shape| &shape.card, "shape", name)
    }
}

impl Synth {
    /// The shape with its own sizes, noise 0.5 and seed 1.
    pub fn new(shape: &'static SyntheticShape) -> Self {
        Synth { shape, queries: None, documents: None, features: None, noise: 0.5, seed: 1 }
    }

    /// A small data set to train on in seconds: 200 queries of about 40 documents with 40 features.
    pub fn demo() -> Self {
        let mslr = SHAPES.iter().find(|s| s.card.name == "mslr").expect("the shape `mslr` is in the list");
        Synth { queries: Some(200), documents: Some(40), features: Some(40), ..Self::new(mslr) }
    }

    /// Generates the data set.
    pub fn generate(&self) -> Result<Dataset> {
        Ok(self.with_utilities()?.0)
    }

    /// The data set, and the utility of every document before noise.
    fn with_utilities(&self) -> Result<(Dataset, Vec<f64>)> {
        let plan = Plan::new(self)?;
        let queries = self.queries.unwrap_or(self.shape.queries);
        let mut whole = Piece::default();
        for start in (0..queries).step_by(BATCH) {
            let batch: Vec<Piece> = parallel::map(start..queries.min(start + BATCH), |q| plan.query(q));
            batch.into_iter().for_each(|piece| whole.append(piece));
        }
        let width = plan.features.len();
        let features = if self.shape.sparse {
            let mut starts = vec![0];
            starts.extend(whole.row_ends);
            Features::Sparse { width, starts, columns: whole.columns, values: whole.values }
        } else {
            Features::dense(width, whole.values)
        };
        let mut bounds = vec![0];
        bounds.extend(whole.query_ends);
        let data = Dataset::new(Parts {
            features,
            labels: whole.labels,
            bounds,
            query_ids: (1..=queries).map(|q| q.to_string()).collect(),
            document_ids: Some(whole.ids),
            ..Parts::default()
        })?;
        Ok((data, whole.utilities))
    }

    fn check(&self) -> Result<()> {
        let sizes = [("queries", self.queries), ("documents", self.documents), ("features", self.features)];
        if let Some((what, _)) = sizes.iter().find(|(_, size)| *size == Some(0)) {
            return Err(Error::parameter(format!("the number of {what} is `0`; it must be at least 1")));
        }
        if !self.noise.is_finite() || self.noise < 0.0 {
            return Err(Error::parameter(format!("`noise` is `{}`; it must be at least 0", self.noise)));
        }
        if let Some(features) = self.features.filter(|f| *f > MAX_FEATURES) {
            return Err(Error::parameter(format!(
                "the number of features is `{features}`; it must be at most {MAX_FEATURES}"
            )));
        }
        let queries = self.queries.unwrap_or(self.shape.queries) as f64;
        let documents = self.documents.unwrap_or(self.shape.documents) as f64;
        let features = self.features.unwrap_or(self.shape.features) as f64;
        if queries * documents * features > MAX_VALUES {
            return Err(Error::parameter(format!(
                "{queries} queries of {documents} documents with {features} features are more than the \
                 {MAX_VALUES} values allowed"
            )));
        }
        Ok(())
    }
}

/// One or more generated queries. Only sparse shapes use `columns` and `row_ends`.
#[derive(Default)]
struct Piece {
    values: Vec<f32>,
    columns: Vec<u32>,
    row_ends: Vec<usize>,
    labels: Vec<f32>,
    utilities: Vec<f64>,
    ids: Texts,
    query_ends: Vec<usize>,
}

impl Piece {
    /// Appends one query.
    fn append(&mut self, other: Piece) {
        let offset = self.values.len();
        self.row_ends.extend(other.row_ends.iter().map(|e| e + offset));
        self.values.extend(other.values);
        self.columns.extend(other.columns);
        self.labels.extend(other.labels);
        self.utilities.extend(other.utilities);
        self.ids.append(&other.ids);
        self.query_ends.push(self.labels.len());
    }
}

/// What the seed decides for the whole data set, before any query is generated.
struct Plan<'a> {
    synth: &'a Synth,
    documents: f64,
    features: Vec<Feature>,
    utility: Utility,
    /// For each grade from 1, where it starts: a normal quantile, widened to allow for the jitter between queries.
    cuts: Vec<f64>,
}

impl<'a> Plan<'a> {
    fn new(synth: &'a Synth) -> Result<Self> {
        synth.check()?;
        let shape = synth.shape;
        let normal = Normal::standard();
        // For r ~ N(0, s²), E Φ(c·√(1+s²) + r) = Φ(c): jitter does not change the mean fraction of each grade.
        let widen = (1.0 + shape.grade_jitter.powi(2)).sqrt();
        let cuts = (1..shape.grades.len())
            .map(|g| normal.inverse_cdf(shape.grades[g..].iter().sum::<f64>()) * widen)
            .collect();
        Ok(Plan {
            synth,
            documents: synth.documents.unwrap_or(shape.documents) as f64,
            features: features::draw(shape, synth.features.unwrap_or(shape.features), synth.seed),
            utility: Utility::draw(synth.seed),
            cuts,
        })
    }

    /// Query number `number`, from its own random stream.
    fn query(&self, number: usize) -> Piece {
        let mut random = rng::stream(self.synth.seed, &[QUERY, number as u64]);
        let n = self.document_count(&mut random);
        let lean: [f64; FACTORS] = std::array::from_fn(|_| normal(&mut random));
        let mut piece = Piece::default();
        let views = features::QueryViews::new(&self.features, &lean, &mut random);
        for document in 0..n {
            let factors: [f64; FACTORS] = std::array::from_fn(|_| normal(&mut random));
            piece.utilities.push(self.utility.of(&factors, &lean));
            self.row(&factors, &views, &mut random, &mut piece);
            piece.ids.push(&format!("q{}d{}", number + 1, document + 1));
        }
        piece.labels = self.grades(&piece.utilities, &mut random);
        piece
    }

    fn document_count(&self, random: &mut Random) -> usize {
        let spread = self.synth.shape.documents_spread;
        let drawn = self.documents * (spread * normal(random) - spread * spread / 2.0).exp();
        drawn.clamp(1.0, self.documents * MOST_TIMES_MEAN).round() as usize
    }

    fn row(
        &self,
        factors: &[f64; FACTORS],
        views: &features::QueryViews,
        random: &mut Random,
        piece: &mut Piece,
    ) {
        let families = views.families(factors, random);
        for (column, feature) in self.features.iter().enumerate() {
            let value = feature.value(column, &families, views, random);
            if !self.synth.shape.sparse {
                piece.values.push(value);
            } else if value != 0.0 {
                piece.values.push(value);
                piece.columns.push(column as u32);
            }
        }
        if self.synth.shape.sparse {
            piece.row_ends.push(piece.values.len());
        }
    }

    /// Assigns grades by the order of utility plus noise.
    fn grades(&self, utilities: &[f64], random: &mut Random) -> Vec<f32> {
        let n = utilities.len();
        let mean = utilities.iter().sum::<f64>() / n as f64;
        let variance = utilities.iter().map(|u| (u - mean).powi(2)).sum::<f64>() / n as f64;
        let noise = self.synth.noise * variance.sqrt();
        let noisy: Vec<f64> = utilities.iter().map(|u| u + noise * normal(random)).collect();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| noisy[b].total_cmp(&noisy[a]));
        let shape = self.synth.shape;
        let (jitter, rounding) = (shape.grade_jitter * normal(random), random.random::<f64>());
        let mut grades = vec![0.0; n];
        for (cut, grade) in self.cuts.iter().zip(1u8..) {
            // One draw rounds all fractions of the query: means stay exact, and higher grades stay rarer.
            let fraction = Normal::standard().cdf(cut + jitter);
            let least = usize::from(shape.always_relevant && grade == 1);
            let count = ((fraction * n as f64 + rounding) as usize).clamp(least, n);
            order[..count].iter().for_each(|&d| grades[d] = f32::from(grade));
        }
        grades
    }
}

/// A standard normal number by the Box–Muller method. The second number is discarded, so that the state of a stream
/// depends only on the number of draws.
fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.random::<f64>()).cos()
}

#[cfg(test)]
mod tests;
