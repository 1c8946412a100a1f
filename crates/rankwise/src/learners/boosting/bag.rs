//! The documents that a tree is grown on.
//!
//! Bagging draws queries. GOSS (Ke et al., NeurIPS 2017) takes the documents with the largest gradients and draws some of
//! the others, whose derivatives are multiplied so that their sums keep their expectation:
//!
//! ```text
//! factor = (n − top)/drawn
//! ```

use super::parameters::TreesParameters;
use crate::data::Dataset;
use crate::rng;
use rand::seq::SliceRandom;

/// The name of the random stream, after the seed.
const BAG: u64 = 1;

/// The documents of a round in ascending order; `None` if all are used. GOSS multiplies derivatives in place.
pub(super) fn bag(
    parameters: &TreesParameters,
    train: &Dataset,
    (seed, round): (u64, u64),
    slopes: &mut [Vec<f64>],
    curvatures: &mut [Vec<f64>],
) -> Option<Vec<u32>> {
    let mut random = rng::stream(seed, &[BAG, round]);
    if parameters.goss_top_fraction < 1.0 {
        // The first trees need all documents: until then gradients say little about what is left to learn.
        let is_first = (round as f64) < 1.0 / parameters.learning_rate;
        return (!is_first).then(|| goss(parameters, &mut random, slopes, curvatures));
    }
    (parameters.bagging_fraction < 1.0).then(|| queries(parameters.bagging_fraction, train, &mut random))
}

/// The documents of sampled queries.
fn queries(fraction: f64, train: &Dataset, random: &mut rng::Random) -> Vec<u32> {
    let mut queries: Vec<usize> = (0..train.query_count()).collect();
    let wanted = ((queries.len() as f64 * fraction).round() as usize).max(1);
    let mut drawn = queries.partial_shuffle(random, wanted).0.to_vec();
    drawn.sort_unstable();
    drawn.iter().flat_map(|&query| train.query(query).range()).map(|row| row as u32).collect()
}

/// The documents with the largest `Σ |g·h|` over outputs, and some of the others.
fn goss(
    parameters: &TreesParameters,
    random: &mut rng::Random,
    slopes: &mut [Vec<f64>],
    curvatures: &mut [Vec<f64>],
) -> Vec<u32> {
    let documents = slopes[0].len();
    let size =
        |row: usize| -> f64 { slopes.iter().zip(&*curvatures).map(|(g, h)| (g[row] * h[row]).abs()).sum() };
    let sizes: Vec<f64> = (0..documents).map(size).collect();
    let top = (parameters.goss_top_fraction * documents as f64).ceil() as usize;
    let wanted = (parameters.goss_other_fraction * documents as f64).ceil() as usize;
    let mut rows: Vec<u32> = (0..documents as u32).collect();
    let by_size = |&a: &u32, &b: &u32| sizes[b as usize].total_cmp(&sizes[a as usize]).then(a.cmp(&b));
    rows.select_nth_unstable_by(top.min(documents - 1), by_size);
    let others = &mut rows[top..];
    others.sort_unstable();
    let drawn = others.partial_shuffle(random, wanted).0;
    let factor = (documents - top) as f64 / drawn.len() as f64;
    for column in slopes.iter_mut().chain(curvatures) {
        drawn.iter().for_each(|&row| column[row as usize] *= factor);
    }
    let drawn = drawn.to_vec();
    rows.truncate(top);
    rows.extend(drawn);
    rows.sort_unstable();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every document with a large gradient is there, unchanged; of the others, the wanted number, multiplied.
    #[test]
    fn large_gradients_stay_and_the_others_stand_for_all() {
        let parameters = TreesParameters {
            goss_top_fraction: 0.2,
            goss_other_fraction: 0.1,
            ..TreesParameters::default()
        };
        let before: Vec<f64> = (0..1000).map(|i| if i % 10 < 2 { 5.0 } else { 1.0 }).collect();
        let (mut slopes, mut curvatures) = (vec![before.clone()], vec![vec![1.0; 1000]]);
        let rows = goss(&parameters, &mut rng::stream(3, &[]), &mut slopes, &mut curvatures);
        assert!(rows.is_sorted() && rows.len() == 300);
        let (large, others): (Vec<usize>, Vec<usize>) =
            rows.iter().map(|&row| row as usize).partition(|row| row % 10 < 2);
        assert_eq!((large.len(), others.len()), (200, 100));
        assert!(large.iter().all(|&row| slopes[0][row] == 5.0 && curvatures[0][row] == 1.0));
        assert!(others.iter().all(|&row| slopes[0][row] == 8.0 && curvatures[0][row] == 8.0));
        let sum: f64 = rows.iter().map(|&row| slopes[0][row as usize]).sum();
        assert_eq!(sum, before.iter().sum::<f64>());
    }
}
