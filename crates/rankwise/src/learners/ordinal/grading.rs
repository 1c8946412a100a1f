//! The labels of the training documents as grades: an ordinal learner uses only their order.

use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::learners::distinct::distinct;
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
    /// The total weight of each grade.
    sums: Vec<f64>,
}

impl Grading {
    /// The grades of `data`, for the learner called `learner`.
    pub(super) fn of(data: &Dataset, learner: &str) -> Result<Grading> {
        let weights: Vec<f64> =
            data.queries().flat_map(|q| std::iter::repeat_n(q.weight(), q.len())).collect();
        let grades = distinct(data, MOST_GRADES, || {
            let counting = data.labels().iter().zip(&weights).filter(|(_, weight)| **weight > 0.0);
            counting.map(|(label, _)| *label).collect()
        });
        if grades.len() > MOST_GRADES {
            return Err(Error::data(format!(
                "the training documents have more than {MOST_GRADES} different grades; {learner} places a threshold \
                 between every two grades and accepts no more; use a learner for real-valued labels such as regression"
            )));
        }
        let rank = |label: &f32| grades.partition_point(|grade| grade < label);
        let ranks: Vec<usize> = data.labels().iter().map(rank).collect();
        let sums = data.total(|queries| {
            let mut sums = vec![0.0; grades.len()];
            for document in queries.flat_map(|q| data.query(q).range()) {
                // A document of weight 0 may have a grade that no weighted document has.
                if weights[document] > 0.0 {
                    sums[ranks[document]] += weights[document];
                }
            }
            sums
        });
        Ok(Grading { grades, ranks, weights, sums })
    }

    /// The weights of the documents, scaled so that every grade has the same total.
    pub(super) fn balanced_weights(&self) -> Vec<f64> {
        self.balanced_up_to(f64::INFINITY)
    }

    /// The same, but a document weighs at most `most` times one of the commonest grade.
    pub(super) fn balanced_up_to(&self, most: f64) -> Vec<f64> {
        let ratios: Vec<f64> = self.sums.iter().map(|sum| (self.commonest() / sum).min(most)).collect();
        let (all, scaled) =
            self.sums.iter().zip(&ratios).fold((0.0, 0.0), |(a, b), (s, r)| (a + s, b + s * r));
        let balanced = |(&rank, &weight): (&usize, &f64)| match weight > 0.0 {
            true => weight * ratios[rank] * all / scaled,
            false => 0.0,
        };
        self.ranks.iter().zip(&self.weights).map(balanced).collect()
    }

    /// The largest total weight of a grade: what predicting one grade for all documents would get right.
    fn commonest(&self) -> f64 {
        self.sums.iter().copied().fold(0.0, f64::max)
    }

    /// Adds to `record` how well `model` predicts the grades of its training `data`.
    pub(super) fn tell(&self, model: &Model, data: &Dataset, record: &mut Record) -> Result<()> {
        let predicted = model.grades(data)?;
        let (error, right, total) = data.total(|queries| {
            let (mut error, mut right, mut total) = (0.0, 0.0, 0.0);
            for document in queries.flat_map(|q| data.query(q).range()) {
                let (found, label, weight) =
                    (predicted[document], data.labels()[document], self.weights[document]);
                error += weight * (f64::from(found) - f64::from(label)).abs();
                right += if found == label { weight } else { 0.0 };
                total += weight;
            }
            (error, right, total)
        });
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
