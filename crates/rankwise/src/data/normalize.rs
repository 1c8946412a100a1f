//! Scaling features within each query, so that values of different queries are comparable.
//!
//! ```text
//! min-max   x ↦ (x − min) / (max − min)     over the query's documents, to [0, 1]
//! z-score   x ↦ (x − mean) / deviation      over the query's documents; the population deviation
//! log       x ↦ sign(x) · ln(1 + |x|)       of one value alone
//! ```
//! A feature that is constant in a query becomes 0 there. A missing value stays missing and does not affect minimum,
//! mean and deviation. A value absent from a sparse row is 0 and counts like any other; if scaling turns it into
//! another number, that number is stored. Dense and sparse matrices of the same values therefore give the same result.
//!
//! The result for a query depends only on its own rows: a model stores its [`Normalizer`] and applies it again to score.

use super::rows::{any_infinite, infinite_value};
use super::{Dataset, Features};
use crate::card::{self, Card};
use crate::error::{Error, Result};
use crate::parallel;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How features are scaled within a query; see the [module](self).
///
/// ```
/// use rankwise::data::{Normalizer, Synth};
/// let data = Synth { queries: Some(3), documents: Some(20), ..Synth::demo() }.generate()?;
/// let scaled = Normalizer::parse("log,min-max")?.apply(data)?;
/// assert!(scaled.row(0).iter().all(|(_, x)| (0.0..=1.0).contains(&x)));
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Normalizer {
    /// To [0, 1].
    MinMax,
    /// To mean 0 and standard deviation 1.
    ZScore,
    /// The logarithm of the magnitude, with its sign.
    Log,
    /// One after the other.
    Chain(Vec<Normalizer>),
}

/// Every single normaliser.
pub static NORMALIZERS: &[Card] = &[
    Card {
        name: "min-max",
        title: "Min-max scaling",
        summary: "Scales every feature to [0, 1] within each query, as LETOR does.",
        citations: &[],
    },
    Card {
        name: "z-score",
        title: "Standard score",
        summary: "Shifts and scales every feature to mean 0 and standard deviation 1 within each query.",
        citations: &[],
    },
    Card {
        name: "log",
        title: "Signed logarithm",
        summary: "Replaces every value x by sign(x)·ln(1 + |x|), for counts and other heavy-tailed features.",
        citations: &[],
    },
];

/// The most values that may be added to a sparse matrix when zeros become other numbers (4 GiB with their columns).
const MAX_FILLED: usize = 1 << 29;

/// Values that are mapped one after the other.
const VALUES_PER_CHUNK: usize = 1 << 16;

impl Normalizer {
    /// Parses a name, or several separated by commas and applied from left to right: `log,min-max`.
    ///
    /// ```
    /// use rankwise::data::Normalizer;
    /// assert_eq!(Normalizer::parse("log, min-max")?.to_string(), "log,min-max");
    /// assert!(Normalizer::parse("minmax").unwrap_err().to_string().contains("did you mean `min-max`?"));
    /// # Ok::<(), rankwise::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        let mut steps = text.split(',').map(|name| Self::named(name.trim())).collect::<Result<Vec<_>>>()?;
        Ok(if steps.len() == 1 { steps.remove(0) } else { Normalizer::Chain(steps) })
    }

    fn named(name: &str) -> Result<Self> {
        match card::find(NORMALIZERS, |c| c, "normaliser", name)?.name {
            "min-max" => Ok(Normalizer::MinMax),
            "z-score" => Ok(Normalizer::ZScore),
            "log" => Ok(Normalizer::Log),
            other => unreachable!("the card `{other}` has no normaliser"),
        }
    }

    /// Scales all queries of `data`. Fails if a feature is categorical, if a value becomes infinite, or if a sparse matrix would grow past what
    /// memory can be expected to hold.
    pub fn apply(&self, data: Dataset) -> Result<Dataset> {
        if let Some(column) = data.columns().categories.columns().next() {
            return Err(Error::parameter(format!(
                "feature {} is categorical, and scaling would change its categories; leave out the normalisation ({self}), \
                 which trees do not need",
                data.columns().name(column)
            )));
        }
        let mut parts = data.into_parts();
        parts.features = self.apply_to_features(parts.features, &parts.bounds)?;
        Dataset::new(parts)
    }

    /// Whether what a row becomes depends on the other rows of its query.
    pub(crate) fn works_per_query(&self) -> bool {
        match self {
            Normalizer::MinMax | Normalizer::ZScore => true,
            Normalizer::Log => false,
            Normalizer::Chain(steps) => steps.iter().any(Normalizer::works_per_query),
        }
    }

    /// Scales the rows of queries that start at `bounds`.
    pub(crate) fn apply_to_features(&self, mut features: Features, bounds: &[usize]) -> Result<Features> {
        match self {
            Normalizer::Chain(steps) => {
                let step = |features, step: &Normalizer| step.apply_to_features(features, bounds);
                return steps.iter().try_fold(features, step);
            }
            Normalizer::Log => {
                parallel::for_each(features.values_mut().chunks_mut(VALUES_PER_CHUNK), |values| {
                    values.iter_mut().for_each(|x| *x = signed_log(*x));
                });
            }
            Normalizer::MinMax => features = scale(features, bounds, Affine::min_max)?,
            Normalizer::ZScore => features = scale(features, bounds, Affine::z_score)?,
        }
        match any_infinite(features.values()) {
            true => Err(infinite_value()),
            false => Ok(features),
        }
    }
}

impl fmt::Display for Normalizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Normalizer::MinMax => f.write_str("min-max"),
            Normalizer::ZScore => f.write_str("z-score"),
            Normalizer::Log => f.write_str("log"),
            Normalizer::Chain(steps) => {
                for (i, step) in steps.iter().enumerate() {
                    write!(f, "{}{step}", if i == 0 { "" } else { "," })?;
                }
                Ok(())
            }
        }
    }
}

fn signed_log(x: f32) -> f32 {
    let x = f64::from(x);
    (x.abs().ln_1p().copysign(x)) as f32
}

/// Statistics of one column in one query.
#[derive(Clone, Copy)]
struct Moments {
    min: f64,
    max: f64,
    sum: f64,
    /// Sum of squared differences from the mean, over values other than 0.
    squares: f64,
    /// Documents with a value other than 0.
    nonzero: usize,
    missing: usize,
    /// Documents with a stored value, which may be 0 or missing.
    stored: usize,
}

const NO_MOMENTS: Moments = Moments {
    min: f64::INFINITY,
    max: f64::NEG_INFINITY,
    sum: 0.0,
    squares: 0.0,
    nonzero: 0,
    missing: 0,
    stored: 0,
};

impl Moments {
    fn mean(&self, documents: usize) -> f64 {
        self.sum / (documents - self.missing).max(1) as f64
    }

    fn zeros(&self, documents: usize) -> usize {
        documents - self.missing - self.nonzero
    }
}

/// The moments of `columns` columns over a query's `entries` of `(column, value)`. Zeros are counted together
/// at the end, so that both layouts sum in the same order.
fn moments(
    columns: usize,
    documents: usize,
    entries: impl Iterator<Item = (usize, f32)> + Clone,
) -> Vec<Moments> {
    let mut all = vec![NO_MOMENTS; columns];
    for (c, x) in entries.clone() {
        let (m, x) = (&mut all[c], f64::from(x));
        m.stored += 1;
        if x.is_nan() {
            m.missing += 1;
        } else if x != 0.0 {
            m.nonzero += 1;
            m.min = m.min.min(x);
            m.max = m.max.max(x);
            m.sum += x;
        }
    }
    for m in &mut all {
        if m.zeros(documents) > 0 {
            m.min = m.min.min(0.0);
            m.max = m.max.max(0.0);
        }
    }
    for (c, x) in entries {
        let (mean, x) = (all[c].mean(documents), f64::from(x));
        if !x.is_nan() && x != 0.0 {
            all[c].squares += (x - mean).powi(2);
        }
    }
    all
}

/// `x ↦ (x − shift) / scale`, or 0 if `scale` is 0.
#[derive(Clone, Copy)]
struct Affine {
    shift: f64,
    scale: f64,
}

impl Affine {
    fn min_max(m: &Moments, _documents: usize) -> Self {
        // A column without values has infinite extremes, which must not be subtracted.
        Affine { shift: m.min, scale: if m.max > m.min { m.max - m.min } else { 0.0 } }
    }

    fn z_score(m: &Moments, documents: usize) -> Self {
        let mean = m.mean(documents);
        let squares = m.squares + m.zeros(documents) as f64 * mean.powi(2);
        let deviation = (squares / (documents - m.missing).max(1) as f64).sqrt();
        // Rounding can give a constant column a deviation above 0; its extremes are exact.
        Affine { shift: mean, scale: if m.max > m.min { deviation } else { 0.0 } }
    }

    fn of(self, x: f32) -> f32 {
        if x.is_nan() {
            x
        } else if self.scale == 0.0 {
            0.0
        } else {
            ((f64::from(x) - self.shift) / self.scale) as f32
        }
    }
}

fn scale(mut features: Features, bounds: &[usize], map: fn(&Moments, usize) -> Affine) -> Result<Features> {
    match &mut features {
        Features::Dense { width: 0, .. } => {}
        Features::Dense { width, values } => {
            let width = *width;
            let ends = bounds[1..].iter().map(|b| b * width);
            parallel::for_each(split_at_ends(values, ends), |rows| scale_dense(rows, width, map));
        }
        Features::Sparse { width, starts, columns, values } => {
            let ends: Vec<usize> = bounds[1..].iter().map(|&b| starts[b]).collect();
            let fills: Vec<Fill> = parallel::map(
                split_at_ends(values, ends.into_iter()).into_iter().zip(bounds.windows(2)),
                |(rows, bounds)| {
                    scale_sparse(
                        rows,
                        &columns[starts[bounds[0]]..starts[bounds[1]]],
                        bounds[1] - bounds[0],
                        map,
                    )
                },
            );
            let filled = fills.iter().map(|f| f.absent).sum::<usize>();
            if filled > MAX_FILLED {
                return Err(Error::data(format!(
                    "scaling would turn {filled} absent values into numbers other than 0, too many to store; \
                     use `min-max`, which keeps zeros if no feature is negative"
                )));
            }
            if filled > 0 {
                let width = *width;
                features = fill(&features, width, bounds, &fills);
            }
        }
    }
    Ok(features)
}

/// `values` split at `ends`, which ascend to its length.
fn split_at_ends(mut values: &mut [f32], ends: impl Iterator<Item = usize>) -> Vec<&mut [f32]> {
    let mut start = 0;
    ends.map(|end| {
        let piece = values.split_off_mut(..end - start).expect("ends ascend within the values");
        start = end;
        piece
    })
    .collect()
}

fn scale_dense(rows: &mut [f32], width: usize, map: fn(&Moments, usize) -> Affine) {
    let documents = rows.len() / width;
    let entries = rows.chunks_exact(width).flat_map(|row| row.iter().copied().enumerate());
    let maps: Vec<Affine> = moments(width, documents, entries).iter().map(|m| map(m, documents)).collect();
    for row in rows.chunks_exact_mut(width) {
        for (x, map) in row.iter_mut().zip(&maps) {
            *x = map.of(*x);
        }
    }
}

/// What the absent values of one query become: `(column, value)` if it is not 0, columns ascending.
struct Fill {
    columns: Vec<(u32, f32)>,
    /// Number of values to add.
    absent: usize,
}

fn scale_sparse(
    values: &mut [f32],
    columns: &[u32],
    documents: usize,
    map: fn(&Moments, usize) -> Affine,
) -> Fill {
    let mut present: Vec<u32> = columns.to_vec();
    present.sort_unstable();
    present.dedup();
    let local: Vec<usize> = columns.iter().map(|c| present.partition_point(|p| p < c)).collect();
    let entries = local.iter().copied().zip(values.iter().copied());
    let all = moments(present.len(), documents, entries);
    let maps: Vec<Affine> = all.iter().map(|m| map(m, documents)).collect();
    for (x, &c) in values.iter_mut().zip(&local) {
        *x = maps[c].of(*x);
    }
    let mut fill = Fill { columns: Vec::new(), absent: 0 };
    for ((&column, m), map) in present.iter().zip(&all).zip(&maps) {
        let zero = map.of(0.0);
        if zero != 0.0 && m.stored < documents {
            fill.columns.push((column, zero));
            fill.absent += documents - m.stored;
        }
    }
    fill
}

/// A sparse matrix with the scaled absent values added where they are not 0.
fn fill(features: &Features, width: usize, bounds: &[usize], fills: &[Fill]) -> Features {
    let queries: Vec<(Vec<usize>, Vec<u32>, Vec<f32>)> = bounds
        .par_windows(2)
        .zip(fills)
        .map(|(bounds, fill)| {
            let (mut ends, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
            for row in bounds[0]..bounds[1] {
                let mut absent = fill.columns.iter().copied().peekable();
                for (c, x) in features.row(row).iter() {
                    while let Some((fc, fx)) = absent.next_if(|&(fc, _)| (fc as usize) < c) {
                        columns.push(fc);
                        values.push(fx);
                    }
                    absent.next_if(|&(fc, _)| fc as usize == c);
                    columns.push(c as u32);
                    values.push(x);
                }
                for (fc, fx) in absent {
                    columns.push(fc);
                    values.push(fx);
                }
                ends.push(columns.len());
            }
            (ends, columns, values)
        })
        .collect();
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for (ends, query_columns, query_values) in queries {
        let offset = columns.len();
        starts.extend(ends.iter().map(|e| e + offset));
        columns.extend(query_columns);
        values.extend(query_values);
    }
    Features::Sparse { width, starts, columns, values }
}

#[cfg(test)]
mod tests;
