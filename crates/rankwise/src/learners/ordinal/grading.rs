//! The labels of the training documents as grades: an ordinal learner uses only their order.

use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::models::{Model, Record};

/// More grades than this are taken for real-valued targets, for which thresholds make no sense.
const MOST_GRADES: usize = 1000;

/// The distinct grades, and the grade of each document.
pub(super) struct Grading {
    /// The distinct grades of documents with a weight above 0, ascending.
    pub(super) grades: Vec<f32>,
    /// The index of each document's grade; meaningless for documents of weight 0.
    pub(super) ranks: Vec<usize>,
    /// The weight of each document: that of its query.
    pub(super) weights: Vec<f64>,
}

impl Grading {
    /// The grades of `data`, for the learner called `learner`.
    pub(super) fn of(data: &Dataset, learner: &str) -> Result<Grading> {
        let weights: Vec<f64> =
            data.queries().flat_map(|q| std::iter::repeat_n(q.weight(), q.len())).collect();
        let counting = data.labels().iter().zip(&weights).filter(|(_, weight)| **weight > 0.0);
        let mut grades: Vec<f32> = counting.map(|(label, _)| *label).collect();
        grades.sort_by(f32::total_cmp);
        grades.dedup();
        if grades.len() > MOST_GRADES {
            return Err(Error::data(format!(
                "the training documents have {} different grades; {learner} places a threshold between every \
                 two grades and accepts at most {MOST_GRADES}; use a learner for real-valued labels such as \
                 regression",
                grades.len()
            )));
        }
        let rank = |label: &f32| grades.partition_point(|grade| grade < label);
        let ranks = data.labels().iter().map(rank).collect();
        Ok(Grading { grades, ranks, weights })
    }

    /// The weights of the documents, scaled so that every grade has the same total.
    pub(super) fn balanced_weights(&self) -> Vec<f64> {
        self.balanced_up_to(f64::INFINITY)
    }

    /// The same, but a document weighs at most `most` times one of the commonest grade.
    pub(super) fn balanced_up_to(&self, most: f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.grades.len()];
        let counting = || self.ranks.iter().zip(&self.weights).filter(|(_, weight)| **weight > 0.0);
        counting().for_each(|(&rank, weight)| sums[rank] += weight);
        let commonest = sums.iter().copied().fold(0.0, f64::max);
        let ratios: Vec<f64> = sums.iter().map(|sum| (commonest / sum).min(most)).collect();
        let (all, scaled) = sums.iter().zip(&ratios).fold((0.0, 0.0), |(a, b), (s, r)| (a + s, b + s * r));
        let balanced = |(&rank, &weight): (&usize, &f64)| match weight > 0.0 {
            true => weight * ratios[rank] * all / scaled,
            false => 0.0,
        };
        self.ranks.iter().zip(&self.weights).map(balanced).collect()
    }

    /// The largest total weight of a grade: what predicting one grade for all documents would get right.
    fn commonest(&self) -> f64 {
        let mut sums = vec![0.0; self.grades.len()];
        // A document of weight 0 may have a grade that no weighted document has.
        let weighing = self.ranks.iter().zip(&self.weights).filter(|(_, weight)| **weight > 0.0);
        weighing.for_each(|(&rank, weight)| sums[rank] += weight);
        sums.into_iter().fold(0.0, f64::max)
    }

    /// Adds to `record` how well `model` predicts the grades of its training `data`.
    pub(super) fn tell(&self, model: &Model, data: &Dataset, record: &mut Record) -> Result<()> {
        let predicted = model.grades(data)?;
        let (mut error, mut right, mut total) = (0.0, 0.0, 0.0);
        for ((&predicted, &label), weight) in predicted.iter().zip(data.labels()).zip(&self.weights) {
            error += weight * (f64::from(predicted) - f64::from(label)).abs();
            right += if predicted == label { *weight } else { 0.0 };
            total += weight;
        }
        record.figures.push(("mean absolute error of the grades".into(), error / total));
        record.figures.push(("share of grades predicted right".into(), right / total));
        record.figures.push(("share of the commonest grade".into(), self.commonest() / total));
        if let [sole] = self.grades[..] {
            record.notes.push(format!(
                "every training document has grade {sole}: there was no order to learn, and the model always \
                 predicts {sole}"
            ));
        }
        Ok(())
    }
}
