//! Binning of a feature: at most 255 bins, or more if asked for, with about the same number of documents each.
//!
//! A feature with few distinct values gets one bin per value, so nothing is lost. A feature with many is cut at
//! quantiles. Bounds lie between values that occur, so the thresholds of a tree do not coincide with data values.

use super::categories::CategoryBins;
use crate::data::Whole;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The maximum number of bins whose codes are bytes; one of the 256 is reserved for missing values.
pub const MAX_BINS: usize = 255;

/// The maximum number of bins whose codes have two bytes.
pub const MAX_WIDE_BINS: usize = 65_535;

/// The number of documents that is enough to place quantiles. Larger data is subsampled evenly.
const SAMPLE: usize = 1 << 18;

/// The bins of one feature: code `b` stands for values in `(uppers[b − 1], uppers[b]]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeatureBins {
    /// The upper bound of each bin. The last bin has no upper bound other than the largest float.
    uppers: Vec<f32>,
    /// Whether there is a code for missing values; it comes after the last bin.
    missing: bool,
    /// The number of given values outside the most frequent code.
    rest: usize,
    /// What the bins are where the feature holds categories; there are then as many upper bounds, without a meaning.
    categories: Option<CategoryBins>,
}

impl FeatureBins {
    /// Bins a feature by values in any order; missing ones (NaN) are ignored. `missing` tells whether any document,
    /// sampled or not, lacks the value.
    pub fn of(values: Vec<f32>, missing: bool, max_bins: usize) -> FeatureBins {
        FeatureBins::with_zeros(values, 0, missing, max_bins)
    }

    /// The same with `zeros` more values that are 0.
    pub(super) fn with_zeros(values: Vec<f32>, zeros: usize, missing: bool, max_bins: usize) -> FeatureBins {
        let given = values.len() + zeros;
        let keys: Vec<u32> = values.into_iter().filter(|x| !x.is_nan()).map(sortable).collect();
        let absent = given - zeros - keys.len();
        let runs = runs(keys, zeros);
        let uppers = uppers(&runs, max_bins.clamp(1, MAX_WIDE_BINS));
        let mut counts = vec![0; uppers.len() + 1];
        counts[uppers.len()] = absent;
        let mut bin = 0;
        for (x, count) in runs {
            while bin < uppers.len() && uppers[bin] < x {
                bin += 1;
            }
            counts[bin] += count;
        }
        let rest = given - counts.into_iter().max().unwrap_or(0);
        FeatureBins { uppers, missing, rest, categories: None }
    }

    /// Bins of categories.
    pub(super) fn of_categories(categories: CategoryBins, missing: bool) -> FeatureBins {
        let uppers = vec![f32::MAX; categories.len()];
        FeatureBins { uppers, missing, rest: usize::MAX, categories: Some(categories) }
    }

    /// What the bins are where the feature holds categories.
    pub(super) fn categories(&self) -> Option<&CategoryBins> {
        self.categories.as_ref()
    }

    /// The number of codes.
    pub fn codes(&self) -> usize {
        self.uppers.len() + usize::from(self.missing)
    }

    /// The number of bins for values that are not missing.
    pub fn value_bins(&self) -> usize {
        self.uppers.len()
    }

    /// The code of missing values, if the training data had any.
    pub fn missing_code(&self) -> Option<usize> {
        self.missing.then_some(self.uppers.len())
    }

    /// The number of given values outside the most frequent code, or more. One side of any split has no others.
    pub(super) fn rest(&self) -> usize {
        self.rest
    }

    /// The upper bound of bin `bin`.
    pub fn upper(&self, bin: usize) -> f32 {
        self.uppers[bin]
    }

    /// Whether 0 goes left if bins up to `bin` do. Missing values follow it where training saw none: a search engine
    /// sends a missing value where a query does not match, and most tools read it as 0.
    pub(super) fn sends_zero_left(&self, bin: usize) -> bool {
        self.uppers[bin] >= 0.0
    }

    /// Whether codes do not fit a byte.
    pub(super) fn is_wide(&self) -> bool {
        self.codes() > MAX_BINS + 1
    }

    /// The code of a value.
    pub fn code(&self, x: f32) -> u16 {
        if x.is_nan() {
            self.uppers.len() as u16
        } else if let Some(categories) = &self.categories {
            categories.bin(x).into()
        } else {
            self.uppers.partition_point(|&upper| upper < x) as u16
        }
    }

    /// A faster encoder for many values, whose codes fit a byte.
    pub fn coder(&self) -> Coder<'_> {
        let mut uppers = [f32::INFINITY; 256];
        uppers[..self.uppers.len()].copy_from_slice(&self.uppers);
        Coder { uppers, missing: self.uppers.len() as u8, categories: self.categories.as_ref() }
    }
}

/// Encodes values of one feature quickly: a binary search of exactly eight steps without branches, because the
/// processor cannot predict the next bin.
pub struct Coder<'a> {
    uppers: [f32; 256],
    missing: u8,
    categories: Option<&'a CategoryBins>,
}

impl Coder<'_> {
    /// The code of a value; the same as [`FeatureBins::code`].
    #[inline]
    pub fn code(&self, x: f32) -> u8 {
        if let Some(categories) = self.categories {
            return if x.is_nan() { self.missing } else { categories.bin(x) };
        }
        let mut at = 0usize;
        for half in [128, 64, 32, 16, 8, 4, 2, 1] {
            at += usize::from(self.uppers[(at + half - 1) & 255] < x) * half;
        }
        if x.is_nan() { self.missing } else { at as u8 }
    }
}

/// The row indices that are sampled out of `rows`.
pub(super) fn sampled(rows: usize) -> impl ExactSizeIterator<Item = usize> {
    let taken = rows.min(SAMPLE);
    (0..taken).map(move |i| (i as u128 * rows as u128 / taken as u128) as usize)
}

/// Those of the sampled rows that are among `own` rows of a part of the whole, by their numbers in that part.
pub(super) fn sampled_of(whole: Whole, own: usize) -> impl ExactSizeIterator<Item = usize> {
    let (rows, first) = (whole.documents as u128, whole.first_document as u128);
    let taken = rows.min(SAMPLE as u128);
    // `⌊i·rows/taken⌋ ≥ row` from this i on.
    let from = |row: u128| (row * taken).div_ceil(rows.max(1)) as usize;
    let range: Range<usize> = from(first)..from(first + own as u128);
    range.map(move |i| (i as u128 * rows / taken - first) as usize)
}

/// The distinct values in ascending order, with the number of occurrences of each, by their keys and the number of further
/// zeros.
fn runs(mut keys: Vec<u32>, zeros: usize) -> Vec<(f32, usize)> {
    let mut counts = counts_of_few(&keys).unwrap_or_else(|| {
        sort_keys(&mut keys);
        keys.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect()
    });
    if zeros > 0 {
        let zero = sortable(0.0);
        match counts.binary_search_by_key(&zero, |(key, _)| *key) {
            Ok(at) => counts[at].1 += zeros,
            Err(at) => counts.insert(at, (zero, zeros)),
        }
    }
    counts.into_iter().map(|(key, count)| (from_sortable(key), count)).collect()
}

/// The distinct keys in ascending order, with the number of occurrences of each, if there are few: counting them in a
/// hash table is then several times faster than sorting.
fn counts_of_few(keys: &[u32]) -> Option<Vec<(u32, usize)>> {
    const SLOTS: usize = 1 << 10;
    if keys.len() < SLOTS {
        return None;
    }
    let mut slots = vec![(0u32, 0usize); SLOTS];
    let mut distinct = 0;
    for &key in keys {
        let mut at = (key.wrapping_mul(0x9e37_79b1) >> 22) as usize;
        while slots[at].1 > 0 && slots[at].0 != key {
            at = (at + 1) % SLOTS;
        }
        if slots[at].1 == 0 {
            distinct += 1;
            if distinct > MAX_BINS {
                return None;
            }
            slots[at].0 = key;
        }
        slots[at].1 += 1;
    }
    slots.retain(|slot| slot.1 > 0);
    slots.sort_unstable();
    Some(slots)
}

/// A key with the same sort order as the number; −0 equals 0.
pub(super) fn sortable(x: f32) -> u32 {
    let bits = (x + 0.0).to_bits();
    if bits >> 31 == 1 { !bits } else { bits | 1 << 31 }
}

fn from_sortable(key: u32) -> f32 {
    f32::from_bits(if key >> 31 == 1 { key & !(1 << 31) } else { !key })
}

/// Radix sort by three digits of 11 bits, several times faster than a comparison sort.
fn sort_keys(keys: &mut Vec<u32>) {
    const DIGIT: u32 = 11;
    if keys.len() < 256 {
        return keys.sort_unstable();
    }
    let digit = |key: u32, pass: u32| (key >> (pass * DIGIT)) as usize & ((1 << DIGIT) - 1);
    let mut counts = vec![[0usize; 1 << DIGIT]; 3];
    for &key in keys.iter() {
        (0..3).for_each(|pass| counts[pass as usize][digit(key, pass)] += 1);
    }
    let mut other = vec![0; keys.len()];
    for (pass, mut places) in (0..3).zip(counts) {
        if places.contains(&keys.len()) {
            continue;
        }
        let mut start = 0;
        for place in &mut places {
            start += std::mem::replace(place, start);
        }
        for &key in keys.iter() {
            let place = &mut places[digit(key, pass)];
            other[*place] = key;
            *place += 1;
        }
        std::mem::swap(keys, &mut other);
    }
}

/// The upper bounds of at most `most` bins. A value frequent enough to fill a bin gets its own; the others are
/// distributed evenly.
fn uppers(runs: &[(f32, usize)], most: usize) -> Vec<f32> {
    let mut uppers = Vec::new();
    if runs.len() <= most {
        uppers.extend(runs.windows(2).map(|pair| between(pair[0].0, pair[1].0)));
    } else {
        let mut rest: usize = runs.iter().map(|r| r.1).sum();
        let heavy = |count: usize, rest: usize, bins: usize| count * bins >= rest;
        let mut filled = 0;
        for (i, pair) in runs.windows(2).enumerate() {
            let bins = most - uppers.len();
            if bins <= 1 {
                break;
            }
            filled += runs[i].1;
            if heavy(filled, rest, bins) || heavy(pair[1].1, rest, bins) {
                uppers.push(between(pair[0].0, pair[1].0));
                rest -= filled;
                filled = 0;
            }
        }
    }
    uppers.push(f32::MAX);
    uppers
}

/// A number at least `low` and below `high`; the midpoint if it can be represented.
pub(super) fn between(low: f32, high: f32) -> f32 {
    let middle = ((f64::from(low) + f64::from(high)) / 2.0) as f32;
    if middle < high { middle.max(low) } else { low }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;
    use rand::RngExt;

    #[test]
    fn few_values_get_a_bin_each() {
        let values = vec![3.0, -1.0, f32::NAN, 0.0, -0.0, 3.0, 7.5];
        let bins = FeatureBins::of(values, true, 255);
        assert_eq!((bins.value_bins(), bins.missing_code(), bins.codes()), (4, Some(4), 5));
        let codes: Vec<u16> = [-9.0, -1.0, -0.5, -0.0, 0.0, 1.49, 1.51, 3.0, 7.5, 1e30, f32::NAN]
            .map(|x| bins.code(x))
            .to_vec();
        assert_eq!(codes, [0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4]);
        let coder = bins.coder();
        assert!(
            [-9.0, 0.0, 1.51, 7.5, f32::MAX, f32::NAN]
                .iter()
                .all(|&x| u16::from(coder.code(x)) == bins.code(x))
        );
    }

    #[test]
    fn codes_agree_with_a_linear_search_and_bins_are_even() {
        let mut random = rng::stream(5, &[]);
        let values: Vec<f32> = (0..20_000).map(|_| random.random::<f32>().powi(3) * 1e4 - 10.0).collect();
        let bins = FeatureBins::of(values.clone(), false, 64);
        assert_eq!(bins.value_bins(), 64);
        let mut counts = vec![0; 64];
        for &x in &values {
            let code = bins.code(x) as usize;
            assert!(x <= bins.upper(code) && (code == 0 || x > bins.upper(code - 1)));
            assert_eq!(bins.coder().code(x) as usize, code);
            counts[code] += 1;
        }
        assert!(counts.iter().all(|&c| (250..=400).contains(&c)), "{counts:?}");
    }

    /// Half of the documents have the same value: it fills one bin, and the others share the rest.
    #[test]
    fn a_frequent_value_has_its_own_bin() {
        let values: Vec<f32> = (0..2000).map(|i| if i % 2 == 0 { 500.0 } else { i as f32 }).collect();
        let bins = FeatureBins::of(values, false, 20);
        let code = bins.code(500.0);
        assert!(bins.code(499.0) < code && bins.code(501.0) > code);
        assert_eq!(bins.value_bins(), 20);
    }

    /// Zeros that are only counted give the same bins as zeros that are listed.
    #[test]
    fn counted_zeros_are_zeros() {
        let mut random = rng::stream(7, &[]);
        for (stored, zeros) in [(0, 50), (1, 0), (3, 100), (40, 2000), (3000, 5), (5000, 20_000)] {
            let mut value = || (random.random_range(-40..60) as f32 * 0.37).powi(3);
            let mut stored: Vec<f32> = (0..stored).map(|_| value()).collect();
            stored.iter_mut().step_by(7).for_each(|x| *x = f32::NAN);
            let mut listed = stored.clone();
            listed.resize(listed.len() + zeros, 0.0);
            for bins in [2, 16, 255] {
                let counted = FeatureBins::with_zeros(stored.clone(), zeros, true, bins);
                assert_eq!(counted, FeatureBins::of(listed.clone(), true, bins));
            }
        }
    }

    #[test]
    fn bounds_lie_between_neighbouring_values() {
        for (low, high) in
            [(1.0, 1.0f32.next_up()), (-f32::MAX, f32::MAX), (0.0, f32::from_bits(1)), (-2.0, 5.0)]
        {
            let middle = between(low, high);
            assert!(low <= middle && middle < high, "{low} {middle} {high}");
        }
    }

    #[test]
    fn keys_sort_as_numbers_do() {
        let mut random = rng::stream(6, &[]);
        let mut values: Vec<f32> =
            (0..5000).map(|_| f32::from_bits(random.random())).filter(|x| x.is_finite()).collect();
        values.extend([f32::MAX, -f32::MAX, 0.0, 0.0]);
        let keys = values.iter().map(|&x| sortable(x)).collect();
        let sorted: Vec<f32> = runs(keys, 0).iter().flat_map(|&(x, n)| vec![x; n]).collect();
        values.sort_by(f32::total_cmp);
        assert_eq!(sorted, values);
    }
}
