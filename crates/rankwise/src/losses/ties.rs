//! Subgradients where all scores are equal, as at the start of training.

use super::ScoredQuery;

/// Gives the documents of each class the mean of their slopes, if all scores of the query are equal.
///
/// A hinge has many subgradients there, and an exact search finds one of them by the order of the documents. If the
/// loss does not tell the documents of a class apart, exchanging their slopes gives another subgradient, and the mean
/// of all of them is one as well. It does not depend on the order of the documents.
pub(super) fn level_if_all_tied(query: ScoredQuery<'_>, class_of: impl Fn(f32) -> f64, gradient: &mut [f64]) {
    if query.scores.iter().any(|score| *score != query.scores[0]) {
        return;
    }
    let class = |d: usize| class_of(query.labels[d]);
    let mut documents: Vec<usize> = (0..gradient.len()).collect();
    documents.sort_by(|&a, &b| class(a).total_cmp(&class(b)));
    for alike in documents.chunk_by(|&a, &b| class(a) == class(b)) {
        let mean = alike.iter().map(|&d| gradient[d]).sum::<f64>() / alike.len() as f64;
        alike.iter().for_each(|&d| gradient[d] = mean);
    }
}

#[cfg(test)]
mod tests {
    use crate::losses::perturbation::{MaxMax, MinPerturb};
    use crate::losses::structured::{DormSearch, MapSearch, MrrPairSearch, MrrSearch, StructuredHinge};
    use crate::losses::{QueryLoss, ScoredQuery};
    use crate::rng;
    use rand::RngExt;

    fn losses() -> Vec<Box<dyn QueryLoss>> {
        let threshold = 1.0;
        vec![
            Box::new(StructuredHinge(DormSearch::default())),
            Box::new(StructuredHinge(DormSearch { cut_off: 2, k: 3, ..DormSearch::default() })),
            Box::new(StructuredHinge(MapSearch { threshold })),
            Box::new(StructuredHinge(MrrSearch { threshold, k: 2 })),
            Box::new(StructuredHinge(MrrPairSearch { threshold, k: 2 })),
            Box::new(MaxMax::default()),
            Box::new(MinPerturb::default()),
        ]
    }

    const LABELS: [f32; 7] = [0.0, 2.0, 1.0, 0.0, f32::NAN, 2.0, 1.0];

    /// The slope of a document at equal scores depends on its label and not on its place.
    #[test]
    fn equal_scores_give_equal_slopes_to_equal_labels() {
        for (number, loss) in losses().iter().enumerate() {
            let slopes = |labels: &[f32]| {
                let mut gradient = [0.0; LABELS.len()];
                let value = loss.value_and_gradient(
                    ScoredQuery { labels, scores: &[0.5; LABELS.len()], seed: 1 },
                    &mut gradient,
                );
                (value, gradient)
            };
            let ((value, forwards), mut reversed) = (slopes(&LABELS), LABELS);
            reversed.reverse();
            let (again, mut backwards) = slopes(&reversed);
            backwards.reverse();
            assert!((value - again).abs() < 1e-12, "loss {number}");
            for (a, b) in forwards.iter().zip(backwards) {
                assert!((a - b).abs() < 1e-12, "loss {number}: {forwards:?} and {backwards:?}");
            }
            assert!(forwards.iter().any(|slope| slope.abs() > 1e-3), "loss {number}");
        }
    }

    /// The convex loss lies above the plane of the levelled slopes.
    #[test]
    fn levelled_slopes_are_a_subgradient() {
        let mut random = rng::stream(6, &[]);
        for (number, loss) in losses().iter().enumerate() {
            let value = |scores: &[f64], gradient: &mut [f64]| {
                loss.value_and_gradient(ScoredQuery { labels: &LABELS, scores, seed: 1 }, gradient)
            };
            let mut slopes = [0.0; LABELS.len()];
            let here = value(&[0.0; LABELS.len()], &mut slopes);
            for step in [1e-3, 0.1, 1.0, 10.0] {
                for _ in 0..50 {
                    let scores = LABELS.map(|_| step * (2.0 * random.random::<f64>() - 1.0));
                    let plane = here + slopes.iter().zip(scores).map(|(g, s)| g * s).sum::<f64>();
                    let there = value(&scores, &mut [0.0; LABELS.len()]);
                    assert!(there >= plane - 1e-9, "loss {number}: {there} is below {plane}");
                }
            }
        }
    }
}
