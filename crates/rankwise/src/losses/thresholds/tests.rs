//! Compares with a search over all kinks, and checks the subgradient.

use super::*;
use crate::rng;
use rand::RngExt;

struct Case {
    data: Dataset,
    ranks: Vec<usize>,
    weights: Vec<f64>,
    scores: Vec<f64>,
}

/// Documents without features, in queries of one document: there are several pieces.
fn documents(count: usize) -> Dataset {
    Dataset::dense(Vec::new(), 0, vec![0.0; count], &vec![1; count]).unwrap()
}

/// One document of each grade and up to five more, with many ties in scores and kinks.
fn random_case(seed: u64, grades: usize) -> Case {
    let mut random = rng::stream(seed, &[grades as u64]);
    let extra: usize = random.random_range(0..6);
    let ranks: Vec<usize> =
        (0..grades).chain((0..extra).map(|_| random.random_range(0..grades)).collect::<Vec<_>>()).collect();
    let heavy = seed.is_multiple_of(3);
    let weights =
        ranks.iter().map(|_| if heavy { f64::from(random.random_range(1..4)) / 3.0 } else { 1.0 }).collect();
    let scores = ranks.iter().map(|_| f64::from(random.random_range(-6..7)) / 2.0).collect();
    Case { data: documents(ranks.len()), ranks, weights, scores }
}

impl Case {
    fn hinge(&self, constraints: ThresholdConstraints) -> ThresholdHinge<'_> {
        ThresholdHinge::new(&self.data, self.ranks.clone(), self.weights.clone(), constraints)
    }

    /// The loss at given thresholds, by the formula.
    fn loss_at(&self, constraints: ThresholdConstraints, thresholds: &[f64]) -> f64 {
        let mut sum = 0.0;
        for ((&rank, &weight), &score) in self.ranks.iter().zip(&self.weights).zip(&self.scores) {
            for (r, b) in thresholds.iter().enumerate() {
                let counts = constraints == ThresholdConstraints::Implicit || rank == r || rank == r + 1;
                let hinge = if rank <= r { 1.0 + score - b } else { 1.0 - score + b };
                sum += if counts { weight * hinge.max(0.0) } else { 0.0 };
            }
        }
        sum / self.weights.iter().sum::<f64>()
    }

    /// The minimum loss over all ordered choices of thresholds from the kinks. A piecewise linear function of ordered
    /// variables has a minimum there.
    fn least_loss(&self, constraints: ThresholdConstraints, count: usize) -> f64 {
        let mut places: Vec<f64> = self.scores.iter().flat_map(|s| [s - 1.0, s + 1.0]).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let mut choices: Vec<Vec<usize>> = vec![vec![]];
        for _ in 0..count {
            let further = |choice: &Vec<usize>| {
                let choice = choice.clone();
                let from = choice.last().copied().unwrap_or(0);
                (from..places.len()).map(move |place| [&choice[..], &[place]].concat())
            };
            choices = choices.iter().flat_map(further).collect();
        }
        let at = |choice: &Vec<usize>| -> Vec<f64> { choice.iter().map(|&place| places[place]).collect() };
        choices.iter().map(|c| self.loss_at(constraints, &at(c))).fold(f64::INFINITY, f64::min)
    }
}

fn value_and_gradient(hinge: &ThresholdHinge<'_>, scores: &[f64]) -> (f64, Vec<f64>) {
    let mut gradient = vec![f64::NAN; scores.len()];
    (hinge.value_and_gradient(scores, &mut gradient), gradient)
}

fn all_cases(seeds: u64) -> impl Iterator<Item = (u64, usize, ThresholdConstraints)> {
    let both = [ThresholdConstraints::Explicit, ThresholdConstraints::Implicit];
    (0..seeds).flat_map(move |seed| (2..=4).flat_map(move |grades| both.map(|c| (seed, grades, c))))
}

#[test]
fn the_optimal_thresholds_agree_with_a_search_over_all_kinks() {
    let mut pooled = 0;
    for (seed, grades, constraints) in all_cases(150) {
        let case = random_case(seed, grades);
        let hinge = case.hinge(constraints);
        let (value, _) = value_and_gradient(&hinge, &case.scores);
        let least = case.least_loss(constraints, grades - 1);
        assert!((value - least).abs() < 1e-12, "{constraints:?} {seed} {grades}: {value} for {least}");
        let thresholds = hinge.thresholds(&case.scores);
        assert!(thresholds.is_sorted() && thresholds.len() == grades - 1, "{thresholds:?}");
        let there = case.loss_at(constraints, &thresholds);
        assert!(
            (there - least).abs() < 1e-12,
            "{constraints:?} {seed} {grades}: {thresholds:?} gives {there}"
        );
        let blocks = SortedScores::new(&hinge, &case.scores).pooled(End::Lowest);
        pooled += usize::from(blocks.len() < grades - 1);
        assert!(constraints == ThresholdConstraints::Explicit || blocks.len() == grades - 1);
    }
    assert!(pooled > 50, "thresholds were pooled only {pooled} times");
}

/// `L(t) ≥ L(s) + g(s)·(t − s)` for any two score vectors, including ties and pooled thresholds.
#[test]
fn the_subgradient_supports_the_loss_from_below() {
    for (seed, grades, constraints) in all_cases(600) {
        let case = random_case(seed, grades);
        let hinge = case.hinge(constraints);
        let (value, gradient) = value_and_gradient(&hinge, &case.scores);
        let mut random = rng::stream(seed, &[99]);
        for step in [0.01, 0.3, 1.0, 4.0] {
            let moves: Vec<f64> = case.scores.iter().map(|_| step * (random.random::<f64>() - 0.5)).collect();
            let there: Vec<f64> = case.scores.iter().zip(&moves).map(|(s, m)| s + m).collect();
            let slope: f64 = gradient.iter().zip(&moves).map(|(g, m)| g * m).sum();
            let value_there = value_and_gradient(&hinge, &there).0;
            assert!(
                value_there >= value + slope - 1e-12,
                "{constraints:?} {seed} {grades} {step}: {value_there} below {value} + {slope}"
            );
        }
        // Thresholds move along with the scores, so a common shift changes nothing.
        assert!(gradient.iter().sum::<f64>().abs() < 1e-12);
    }
}

/// Two documents with the same score and grades 0 and 1: any threshold from −1 to 1 costs 2, so ½·2 on average, and
/// the middle is 0. If the scores differ by 2, the cost is 0.
#[test]
fn two_documents_by_hand() {
    let data = documents(2);
    let hinge = ThresholdHinge::new(&data, vec![0, 1], vec![1.0; 2], ThresholdConstraints::Explicit);
    assert_eq!(value_and_gradient(&hinge, &[0.0, 0.0]), (1.0, vec![0.5, -0.5]));
    assert_eq!(hinge.thresholds(&[0.0, 0.0]), [0.0]);
    assert_eq!(value_and_gradient(&hinge, &[-3.0, -1.0]).0, 0.0);
    assert_eq!(hinge.thresholds(&[-3.0, 5.0]), [1.0]);
}

#[test]
fn documents_without_weight_and_a_single_grade_have_no_loss() {
    let data = documents(3);
    let hinge =
        ThresholdHinge::new(&data, vec![0, 1, 7], vec![1.0, 1.0, 0.0], ThresholdConstraints::Implicit);
    let (value, gradient) = value_and_gradient(&hinge, &[0.0, 0.0, 50.0]);
    assert_eq!((value, gradient[2]), (1.0, 0.0));
    let data = documents(2);
    let sole = ThresholdHinge::new(&data, vec![0, 0], vec![1.0; 2], ThresholdConstraints::Explicit);
    assert_eq!(value_and_gradient(&sole, &[1.0, 2.0]), (0.0, vec![0.0; 2]));
    assert!(sole.thresholds(&[1.0, 2.0]).is_empty());
}

#[test]
fn huge_scores_stay_finite() {
    let data = documents(4);
    let hinge = ThresholdHinge::new(&data, vec![0, 1, 2, 1], vec![1.0; 4], ThresholdConstraints::Explicit);
    let (value, gradient) = value_and_gradient(&hinge, &[1e300, -1e300, 0.0, 1e300]);
    assert!(value.is_finite() && gradient.iter().all(|g| g.is_finite()));
}

#[test]
fn keys_are_in_the_order_of_their_numbers() {
    let numbers = [f64::NEG_INFINITY, -1e300, -2.0, -f64::MIN_POSITIVE, -0.0, 0.0, 5e-324, 1.0, 1e300];
    assert!(numbers.windows(2).all(|pair| key(pair[0]) < key(pair[1])));
    assert!(numbers.iter().all(|x| number(key(*x)).to_bits() == x.to_bits()));
    assert_eq!(between((10, 14), 3), [11, 12, 13]);
    assert_eq!(between((10, 11), 2), [10, 10]);
}
