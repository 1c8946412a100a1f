//! The logistic function on pairs of documents, one row of pairs at a time.
//!
//! ```text
//! z = exp(sⱼ − sᵢ) ,   z/(1+z) = 1/(1 + exp(sᵢ − sⱼ)) ,   its derivative z/(1+z)²
//! ```
//! `z` is the ratio of two numbers that belong to one document each, so no pair needs an exponential. Rows are
//! processed in loops that the compiler vectorises when they are inlined into code for wide vectors. Sums use a fixed
//! number of lanes, so the result is the same for any vector width.

use crate::sums::LANES;

/// The largest range of scores for which one exponential per document is enough. Beyond it, the ratios would lose
/// precision and eventually overflow. Larger differences are treated as this one.
const WIDEST: f64 = 300.0;
/// A product of numbers is finite if the sum of their logarithms is below this.
const LARGEST_LOG: f64 = 600.0;

/// The scores of a query, prepared for rows of pairs.
pub(super) struct Odds {
    scores: Vec<f64>,
    /// `exp(s − max s)`, unless the range of scores is too wide.
    powers: Vec<f64>,
    range: f64,
}

impl Odds {
    /// Prepares at least one score; all must be finite.
    pub(super) fn new(scores: Vec<f64>) -> Odds {
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let worst = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let range = best - worst;
        let powers = match range > WIDEST {
            true => Vec::new(),
            false => scores.iter().map(|score| (score - best).exp()).collect(),
        };
        Odds { scores, powers, range }
    }

    /// z of document `i` with each of the first `out.len()` documents.
    #[inline(always)]
    pub(super) fn row(&self, i: usize, out: &mut [f64]) {
        if self.range > WIDEST {
            let score = self.scores[i];
            for (z, other) in out.iter_mut().zip(&self.scores) {
                *z = (other - score).clamp(-WIDEST, WIDEST).exp();
            }
        } else {
            let inverse = 1.0 / self.powers[i];
            for (z, power) in out.iter_mut().zip(&self.powers) {
                *z = power * inverse;
            }
        }
    }

    /// `Σ ln(1 + z)` over a row of document `i`. One logarithm is taken of a product of as many factors as fit.
    #[inline(always)]
    pub(super) fn sum_of_logs(&self, i: usize, row: &[f64]) -> f64 {
        if self.range > WIDEST {
            let softplus = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
            return self.scores[..row.len()].iter().map(|other| softplus(other - self.scores[i])).sum();
        }
        let factors = (LARGEST_LOG / (self.range + 1.0)) as usize;
        let (chunks, rest) = row.as_chunks::<LANES>();
        let mut total: f64 = rest.iter().map(|z| z.ln_1p()).sum();
        for block in chunks.chunks(factors) {
            let mut products = [1.0; LANES];
            for chunk in block {
                for lane in 0..LANES {
                    products[lane] *= 1.0 + chunk[lane];
                }
            }
            total += products.iter().map(|product| product.ln()).sum::<f64>();
        }
        total
    }
}

/// `z/(1+z)` and `z/(1+z)²` of a row.
#[inline(always)]
pub(super) fn logistic(row: &[f64], values: &mut [f64], slopes: &mut [f64]) {
    let n = row.len();
    let (values, slopes) = (&mut values[..n], &mut slopes[..n]);
    for j in 0..n {
        let rest = 1.0 / (1.0 + row[j]);
        values[j] = row[j] * rest;
        slopes[j] = values[j] * rest;
    }
}

/// The logarithm of a finite number of at least 1, precise to 1e-15, in operations that can be vectorised. With `x =
/// 2^e·m` and m from √½ to √2, `ln m = 2(t + t³/3 + t⁵/5 + …)`, `t = (m − 1)/(m + 1)`.
#[inline(always)]
pub(super) fn ln(x: f64) -> f64 {
    const FRACTION: u64 = (1 << 52) - 1;
    // The lowest bits of 2^52 + n are those of n.
    const POWER_52: u64 = 0x4330_0000_0000_0000;
    const HALF: u64 = 0x3fe0_0000_0000_0000;
    let bits = x.to_bits();
    let exponent = f64::from_bits((bits >> 52) | POWER_52) - (f64::from_bits(POWER_52) + 1022.0);
    let half = f64::from_bits((bits & FRACTION) | HALF);
    let is_low = half < std::f64::consts::FRAC_1_SQRT_2;
    let (m, exponent) = if is_low { (2.0 * half, exponent - 1.0) } else { (half, exponent) };
    let t = (m - 1.0) / (m + 1.0);
    let square = t * t;
    let mut series = 1.0 / 21.0;
    for odd in [19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        series = series * square + 1.0 / odd;
    }
    exponent * std::f64::consts::LN_2 + 2.0 * t * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_precise() {
        let mut x = 1.0;
        while x < 1e300 {
            assert!((ln(x) - f64::ln(x)).abs() <= 1e-15 * (1.0 + f64::ln(x)), "{x}: {}", ln(x));
            x = x * 1.0137 + 1e-9;
        }
        assert_eq!(ln(1.0), 0.0);
    }

    /// Compares rows of every length with the definition, for scores close together and far apart.
    #[test]
    fn rows_agree_with_the_definition() {
        for range in [0.0, 1.0, 40.0, 299.0, 301.0, 2e4] {
            let scores: Vec<f64> = (0..37).map(|i| range * f64::from(i * 11 % 37) / 36.0 - 5.0).collect();
            let odds = Odds::new(scores.clone());
            for (i, length) in (0..37).flat_map(|i| [(i, 37), (i, i)]) {
                let mut out = [(); 3].map(|()| vec![f64::NAN; length]);
                let [row, values, slopes] = &mut out;
                odds.row(i, row);
                logistic(row, values, slopes);
                let mut logs = 0.0;
                for j in 0..length {
                    let lead = scores[i] - scores[j];
                    let value = 1.0 / (1.0 + lead.exp());
                    assert!((values[j] - value).abs() < 1e-13, "{lead}: {} for {value}", values[j]);
                    let slope = value * (1.0 / (1.0 + (-lead).exp()));
                    assert!((slopes[j] - slope).abs() < 1e-13, "{lead}: {} for {slope}", slopes[j]);
                    logs += if lead < -700.0 { -lead } else { (-lead).exp().ln_1p() };
                }
                let found = odds.sum_of_logs(i, row);
                assert!((found - logs).abs() <= 1e-12 * (1.0 + logs), "{range}: {found} for {logs}");
            }
        }
    }
}
