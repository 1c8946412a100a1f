//! Features: noisy functions ("views") of hidden factors, in the forms that document features have.

use super::shapes::{Mix, SyntheticShape};
use super::{FACTORS, normal};
use crate::rng::{self, Random};
use rand::RngExt;
use statrs::distribution::{ContinuousCDF, Normal};

/// Purpose of the random stream that decides what features mean.
const MEANING: u64 = 0x6d65_616e;
/// Number of features in a family, which share a view of one factor.
const FAMILY: usize = 4;
/// How far a query shifts the views of a factor; scaling within queries removes the shift.
const LEAN: f64 = 0.7;
/// The largest count: below it, single precision holds every integer.
const MOST: f64 = 1e7;

/// One column: its form, its family, and its noise.
pub(super) struct Feature {
    form: Form,
    family: usize,
    /// The fraction of its own noise in the view.
    blur: f64,
    /// How often it is absent from a document, in a sparse shape.
    absent: f64,
}

/// How a view becomes a value.
enum Form {
    /// ⌊exp(location + scale·view)⌋ − 1, at least 0.
    LogNormalCount { location: f64, scale: f64 },
    /// ⌊tail^(−1/exponent)⌋ − 1 with the upper tail probability of the view: a Pareto distribution.
    ParetoCount { exponent: f64 },
    /// A logistic curve of the view.
    Score { steepness: f64, location: f64 },
    /// height·x/(x + half) of what exceeds a bound: a saturating match score, 0 where nothing matches.
    Match { bound: f64, half: f64, height: f64 },
    /// Whether the view exceeds a bound.
    Indicator { bound: f64 },
    /// A value that depends on the query only: an integer up to `levels`, or a score.
    OfQuery { levels: f64 },
    /// A number unrelated to relevance.
    Noise,
}

/// Decides what `count` features mean.
pub(super) fn draw(shape: &SyntheticShape, count: usize, seed: u64) -> Vec<Feature> {
    (0..count)
        .map(|column| {
            let mut random = rng::stream(seed, &[MEANING, column as u64]);
            let form = draw_form(&shape.mix, shape.sparse, &mut random);
            let (blur, absent) = (between(&mut random, 0.1, 0.5), between(&mut random, 0.2, 0.9));
            // Neighbouring columns form families, as in real data. If there are few columns, they cover the factors in turn.
            let family = column / (count / FACTORS).clamp(1, FAMILY);
            Feature { form, family, blur, absent: if shape.sparse { absent } else { 0.0 } }
        })
        .collect()
}

fn draw_form(mix: &Mix, bounded: bool, random: &mut Random) -> Form {
    let weights = [mix.counts, mix.scores, mix.matches, mix.indicators, mix.of_query, mix.noise];
    let mut left = random.random::<f64>() * weights.iter().sum::<f64>();
    let kind = weights.iter().position(|w| {
        left -= w;
        left < 0.0
    });
    match kind {
        Some(0) if random.random::<f64>() < 0.35 => Form::ParetoCount { exponent: between(random, 0.8, 2.0) },
        Some(0) => {
            Form::LogNormalCount { location: between(random, 0.0, 5.0), scale: between(random, 0.8, 2.0) }
        }
        Some(1) => Form::Score { steepness: between(random, 0.7, 2.5), location: between(random, -1.0, 1.0) },
        Some(2) => Form::Match {
            bound: between(random, -1.5, 0.3),
            half: between(random, 0.5, 3.0),
            height: if bounded { 1.0 } else { between(random, 1.0, 40.0) },
        },
        Some(3) => Form::Indicator { bound: between(random, 0.5, 1.8) },
        Some(4) => Form::OfQuery { levels: if bounded { 1.0 } else { between(random, 3.0, 12.0).round() } },
        _ => Form::Noise,
    }
}

fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * random.random::<f64>()
}

/// What all documents of a query share: its shift of the factors, and the features that depend on the query only.
pub(super) struct QueryViews {
    lean: [f64; FACTORS],
    families: usize,
    /// The value of each column that does not depend on the document.
    of_query: Vec<f32>,
}

impl QueryViews {
    pub(super) fn new(features: &[Feature], lean: &[f64; FACTORS], random: &mut Random) -> Self {
        let of_query = features
            .iter()
            .map(|feature| match feature.form {
                // All depend on the first shift, which decides what is relevant.
                Form::OfQuery { levels } => {
                    let share = logistic(1.5 * (lean[0] + feature.blur * normal(random)));
                    if levels > 1.0 { (1.0 + levels * share).floor() as f32 } else { decimals(share) }
                }
                _ => 0.0,
            })
            .collect();
        let families = features.last().map_or(0, |f| f.family + 1);
        QueryViews { lean: *lean, families, of_query }
    }

    /// The view that each family of features has of a document.
    pub(super) fn families(&self, factors: &[f64; FACTORS], random: &mut Random) -> Vec<f64> {
        (0..self.families)
            .map(|family| {
                let factor = family % FACTORS;
                blend(factors[factor], 0.3, normal(random)) + LEAN * self.lean[(factor + 1) % FACTORS]
            })
            .collect()
    }
}

/// `signal` plus `noise`, weighted so that the variance stays 1.
fn blend(signal: f64, fraction: f64, noise: f64) -> f64 {
    (1.0 - fraction * fraction).sqrt() * signal + fraction * noise
}

impl Feature {
    /// The value in `column` of a document with these views per family.
    pub(super) fn value(
        &self,
        column: usize,
        families: &[f64],
        query: &QueryViews,
        random: &mut Random,
    ) -> f32 {
        if let Form::OfQuery { .. } = self.form {
            return query.of_query[column];
        }
        if self.absent > 0.0 && random.random::<f64>() < self.absent {
            return 0.0;
        }
        let view = blend(families[self.family], self.blur, normal(random));
        match self.form {
            Form::LogNormalCount { location, scale } => {
                ((location + scale * view).exp().min(MOST).floor() - 1.0).max(0.0) as f32
            }
            Form::ParetoCount { exponent } => {
                let tail = Normal::standard().sf(view).max(1e-12);
                (tail.powf(-1.0 / exponent).min(MOST).floor() - 1.0).max(0.0) as f32
            }
            Form::Score { steepness, location } => decimals(logistic(steepness * view - location)),
            Form::Match { bound, half, height } => {
                let excess = (view - bound).max(0.0);
                decimals(height * excess / (excess + half))
            }
            Form::Indicator { bound } => f32::from(u8::from(view > bound)),
            Form::OfQuery { .. } => query.of_query[column],
            Form::Noise => decimals(logistic(normal(random))),
        }
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Rounded to six decimals below 1 and to four above, to keep files readable.
fn decimals(x: f64) -> f32 {
    let unit = if x < 1.0 { 1e6 } else { 1e4 };
    ((x * unit).round() / unit) as f32
}
