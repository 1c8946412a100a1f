//! Could this difference be noise? Tests and confidence intervals for systems evaluated on the same queries.
//!
//! All of them use the per-query differences `d₁ … d_n` of two systems. With `T = |Σ dᵢ|`:
//!
//! ```text
//! randomisation   p = P( |Σ sᵢ dᵢ| ≥ T ) ,   signs sᵢ = ±1 equally likely        (`smucker2007comparison`)
//! paired t        p = P( |t_{n−1}| ≥ |mean(d)| / (sd(d)/√n) )
//! Holm            p̃₍ᵢ₎ = max_{j ≤ i} min(1, (m − j + 1)·p₍ⱼ₎)                       (`holm1979simple`)
//! bootstrap       quantiles of the mean over n queries drawn with replacement    (`efron1979bootstrap`)
//! ```
//!
//! With query weights, every difference is multiplied by its query's weight, divided by the mean weight. The tests are
//! then of the weighted mean, and a resample's mean is weighted by the queries drawn.
//!
//! Everything is symmetric in the two systems, and the same for any number of threads.

use crate::parallel;
use crate::rng;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Two values of a metric that differ by no more than this are the same value, rounded differently.
pub const TIE: f64 = 1e-12;

/// With no more non-zero differences than this, the randomisation test enumerates all sign assignments.
pub const MAX_EXACT: usize = 20;

/// Sign assignments drawn from one random stream: the unit of parallel work.
const PERMUTATIONS_PER_CHUNK: usize = 2048;
const RESAMPLES_PER_CHUNK: usize = 64;

/// The first step of each random stream's path, so that the two uses draw from different streams.
const PERMUTATION_STREAM: u64 = 1;
const BOOTSTRAP_STREAM: u64 = 2;

/// A confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ConfidenceInterval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// The differences that are not ties; ties have no sign to flip.
fn untied(differences: &[f64]) -> Vec<f64> {
    differences.iter().copied().filter(|d| d.abs() > TIE).collect()
}

/// Whether [`permutation_p`] is exact for these differences rather than sampled.
pub fn is_exact(differences: &[f64]) -> bool {
    differences.iter().filter(|d| d.abs() > TIE).count() <= MAX_EXACT
}

/// Two-sided p of the paired randomisation test.
///
/// Exact by enumeration with up to [`MAX_EXACT`] non-zero differences. Otherwise `(b + 1)/(m + 1)`, where `b` of
/// `m = permutations` random sign assignments reach the observed sum: never 0, and never below the true level.
pub fn permutation_p(differences: &[f64], permutations: u64, seed: u64) -> f64 {
    let d = untied(differences);
    // Sums that are equal in exact arithmetic must count as reaching it: `slack` bounds the rounding of both.
    let slack = (d.len() + 16) as f64 * f64::EPSILON * d.iter().map(|x| x.abs()).sum::<f64>();
    let reach = d.iter().sum::<f64>().abs() - slack;
    if d.len() <= MAX_EXACT {
        return enumerate_signs(&d, reach) as f64 / (1u64 << d.len()) as f64;
    }
    let hits = parallel::map(0..permutations.div_ceil(PERMUTATIONS_PER_CHUNK as u64), |chunk| {
        let left = permutations - chunk * PERMUTATIONS_PER_CHUNK as u64;
        let sums = random_sums(&d, &mut rng::stream(seed, &[PERMUTATION_STREAM, chunk]));
        let count = left.min(PERMUTATIONS_PER_CHUNK as u64) as usize;
        sums[..count].iter().filter(|s| s.abs() >= reach).count() as u64
    });
    let hits: u64 = hits.iter().sum();
    (hits + 1) as f64 / (permutations + 1) as f64
}

/// How many of the 2ⁿ signed sums have an absolute value of at least `reach`.
fn enumerate_signs(d: &[f64], reach: f64) -> u64 {
    let (front, back) = d.split_at(d.len() / 2);
    let back = signed_sums(back);
    let count = |f: f64| back.iter().filter(|b| (f + **b).abs() >= reach).count() as u64;
    signed_sums(front).into_iter().map(count).sum()
}

/// All sums `±d₁ ± … ± d_n`; bit `i` of the index is set where `dᵢ` counts positively.
fn signed_sums(d: &[f64]) -> Vec<f64> {
    let mut sums = Vec::with_capacity(1 << d.len());
    sums.push(0.0);
    for &x in d {
        let half = sums.len();
        sums.extend_from_within(..);
        sums[..half].iter_mut().for_each(|s| *s -= x);
        sums[half..].iter_mut().for_each(|s| *s += x);
    }
    sums
}

/// One chunk of signed sums with random signs. A random byte chooses the signs of eight differences at once, from a
/// table of their 256 sums; the table is small enough for the nearest cache while all sums of the chunk use it.
fn random_sums(d: &[f64], random: &mut rng::Random) -> Vec<f64> {
    let mut sums = vec![0.0; PERMUTATIONS_PER_CHUNK];
    let mut bytes = [0u8; PERMUTATIONS_PER_CHUNK];
    for eight in d.chunks(8) {
        let table = signed_sums(eight);
        let mask = table.len() - 1;
        random.fill_bytes(&mut bytes);
        for (sum, &byte) in sums.iter_mut().zip(&bytes) {
            *sum += table[usize::from(byte) & mask];
        }
    }
    sums
}

/// Mean and sample standard deviation; the deviation is 0 for fewer than two values.
pub fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    if values.len() < 2 {
        return (mean, 0.0);
    }
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, (squares / (n - 1.0)).sqrt())
}

/// Two-sided p of the paired t-test.
///
/// Where t is undefined: p = 1 for fewer than two differences or when all are zero; p = 0 when all are equal and not
/// zero (equal and zero as [`TIE`] says).
pub fn paired_t_p(differences: &[f64]) -> f64 {
    let n = differences.len();
    if n < 2 || differences.iter().all(|d| d.abs() <= TIE) {
        return 1.0;
    }
    let (mean, deviation) = mean_and_deviation(differences);
    if deviation <= TIE {
        return 0.0;
    }
    let t = mean.abs() / (deviation / (n as f64).sqrt());
    let distribution = StudentsT::new(0.0, 1.0, (n - 1) as f64).expect("at least one degree of freedom");
    (2.0 * distribution.sf(t)).min(1.0)
}

/// Holm's step-down correction. Compare the results with the level wanted for all tests together.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![0.0; p.len()];
    let mut highest: f64 = 0.0;
    for (rank, &i) in order.iter().enumerate() {
        highest = highest.max(((p.len() - rank) as f64 * p[i]).min(1.0));
        adjusted[i] = highest;
    }
    adjusted
}

/// Means of several systems over resampled queries.
///
/// Every resample draws the same queries for all systems, so a difference of two systems' means within a resample is
/// a paired one.
pub struct Resampled {
    /// For each system, one mean per resample.
    means: Vec<Vec<f64>>,
}

impl Resampled {
    /// Draws `resamples` times as many queries as there are, with replacement. `values[s][q]` is system `s` on query
    /// `q`; all systems have the same number of queries, at least one. The means are weighted by `weights`, one per
    /// query and above 0.
    pub fn draw(values: &[Vec<f64>], weights: &[f64], resamples: usize, seed: u64) -> Self {
        // One column per system, and the weights, whose sum the others are divided by.
        let (columns, queries) = (values.len() + 1, weights.len());
        let of_query = |q: usize| values.iter().map(move |v| weights[q] * v[q]).chain([weights[q]]);
        let by_query: Vec<f64> = (0..queries).flat_map(of_query).collect();
        let chunks: Vec<Vec<f64>> = parallel::map(0..resamples.div_ceil(RESAMPLES_PER_CHUNK), |chunk| {
            let mut random = rng::stream(seed, &[BOOTSTRAP_STREAM, chunk as u64]);
            let count = RESAMPLES_PER_CHUNK.min(resamples - chunk * RESAMPLES_PER_CHUNK);
            let mut sums = vec![0.0; count * columns];
            for sums in sums.chunks_exact_mut(columns) {
                add_resample(&by_query, queries, sums, &mut random);
            }
            sums
        });
        let of_system = |s: usize| {
            let draws = chunks.iter().flat_map(|chunk| chunk.chunks_exact(columns));
            draws.map(|sums| sums[s] / sums[columns - 1]).collect()
        };
        Resampled { means: (0..values.len()).map(of_system).collect() }
    }

    /// Percentile confidence interval of a system's mean.
    pub fn mean(&self, system: usize, confidence: f64) -> ConfidenceInterval {
        percentile_interval(self.means[system].clone(), confidence)
    }

    /// Percentile confidence interval of the difference of two systems' means, `a − b`.
    ///
    /// BCa intervals would gain little, since a mean over queries has almost no bias or skew. Percentile intervals are
    /// exactly symmetric when the systems are swapped.
    pub fn difference(&self, a: usize, b: usize, confidence: f64) -> ConfidenceInterval {
        let differences = self.means[a].iter().zip(&self.means[b]).map(|(a, b)| a - b).collect();
        percentile_interval(differences, confidence)
    }
}

/// Adds the columns of as many randomly drawn queries as there are to one sum per column.
fn add_resample(by_query: &[f64], queries: usize, sums: &mut [f64], random: &mut rng::Random) {
    let columns = sums.len();
    for _ in 0..queries {
        let q = random.random_range(0..queries as u32) as usize;
        for (sum, value) in sums.iter_mut().zip(&by_query[q * columns..(q + 1) * columns]) {
            *sum += value;
        }
    }
}

/// The middle `confidence` of the values, interpolating between neighbours; both ends count from their own side, so
/// that negating the values mirrors the interval exactly.
pub(crate) fn percentile_interval(mut values: Vec<f64>, confidence: f64) -> ConfidenceInterval {
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len() - 1;
    let place = last as f64 * (1.0 - confidence) / 2.0;
    let (below, part) = (place.floor() as usize, place.fract());
    let between = |a: f64, b: f64| a + part * (b - a);
    ConfidenceInterval {
        low: between(values[below], values[(below + 1).min(last)]),
        high: between(values[last - below], values[last - (below + 1).min(last)]),
    }
}
