//! Compares the closed form of the minimum perturbation with a linear-programming solver.

use microlp::{ComparisonOp, OptimizationDirection, Problem};
use rand::RngExt;
use rankwise::losses::perturbation::{MarginSpacing, MinPerturb};
use rankwise::losses::{QueryLoss, ScoredQuery};
use rankwise::metrics::Discount;
use rankwise::rng;

/// Labels and scores with few distinct values, so that both are often tied.
fn random_case(seed: u64, n: usize) -> (Vec<f32>, Vec<f64>) {
    let mut random = rng::stream(seed, &[n as u64, 11]);
    let scale = [0.02, 0.3, 2.0][random.random_range(0..3)];
    let unit = [1.0, 0.75][random.random_range(0..2)];
    loop {
        let labels: Vec<f32> = (0..n).map(|_| unit * random.random_range(0..4) as f32).collect();
        let scores = (0..n).map(|_| scale * f64::from(random.random_range(-6..7))).collect();
        if labels.iter().any(|r| *r != labels[0]) {
            return (labels, scores);
        }
    }
}

/// ν by its definition: the mean of 1/F over the ranks, from 1, that the document can have in perfect rankings.
fn weight(labels: &[f32], i: usize, k: usize) -> f64 {
    let first = 1 + labels.iter().filter(|r| **r > labels[i]).count();
    let last = labels.iter().filter(|r| **r >= labels[i]).count();
    let discount = |rank: usize| 1.0 / (1.0 + rank as f64).log2();
    let mean = (first..=last).map(discount).sum::<f64>() / (last - first + 1) as f64;
    let mut sorted = labels.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let ideal: f64 =
        (sorted.iter().take(k).zip(1..)).map(|(r, rank)| (f64::from(*r).exp2() - 1.0) * discount(rank)).sum();
    mean / ideal
}

#[test]
fn the_minimum_perturbation_agrees_with_a_linear_program() {
    for seed in 0..400 {
        let n = 2 + seed as usize % 11;
        let (labels, scores) = random_case(seed, n);
        let k = [3, usize::MAX][seed as usize % 2];
        let spacing = [MarginSpacing::Equal, MarginSpacing::Gap][seed as usize / 2 % 2];
        let loss =
            MinPerturb { margin: 0.3, spacing, k: if k == 3 { 3 } else { 0 }, discount: Discount::Log2 };
        let mut program = Problem::new(OptimizationDirection::Minimize);
        let raised: Vec<_> =
            (0..n).map(|i| program.add_var(weight(&labels, i, k), (0.0, f64::INFINITY))).collect();
        for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|&(i, j)| labels[i] > labels[j])
        {
            let margin = match spacing {
                MarginSpacing::Equal => 0.3,
                MarginSpacing::Gap => 0.3 * f64::from(labels[i] - labels[j]),
            };
            let terms = [(raised[i], 1.0), (raised[j], -1.0)];
            program.add_constraint(&terms[..], ComparisonOp::Ge, margin + scores[j] - scores[i]);
        }
        let least = program.solve().unwrap().into_solution().unwrap().objective();
        let query = ScoredQuery { labels: &labels, scores: &scores, seed };
        let value = loss.value_and_gradient(query, &mut vec![0.0; n]);
        assert!((value - least).abs() < 1e-6 * (1.0 + least), "{labels:?} {scores:?}: {value} for {least}");
    }
}
