//! An ordinal model: a linear model whose scores are cut into grades by thresholds.

use super::Model;
use crate::data::Dataset;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// `score = Σ weights[c]·x[c]`, cut into grades by thresholds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrdinalModel {
    /// One weight per feature column.
    pub weights: Vec<f64>,
    /// The scores at which one grade ends and the next begins, ascending. Two equal thresholds leave out a grade.
    pub thresholds: Vec<f64>,
    /// The grades, ascending: one more than there are thresholds.
    pub grades: Vec<f32>,
}

impl Model {
    /// The grade it predicts for each document of `data`, in its order; an error where the model has no thresholds,
    /// or the data cannot be scored.
    pub fn grades(&self, data: &Dataset) -> Result<Vec<f32>> {
        let Model::Ordinal(OrdinalModel { thresholds, grades, .. }) = self else {
            return Err(Error::data(
                "the model gives scores alone and predicts no grades; learners such as oc-svm and prank make models \
                 that do",
            ));
        };
        // min{r : s < b_r}, as many places up as thresholds are not above the score.
        let place = |score: &f64| thresholds.partition_point(|b| b <= score);
        Ok(self.scores(data)?.iter().map(|score| grades[place(score)]).collect())
    }

    /// Refuses what no learner could have made.
    pub(super) fn check(&self) -> Result<()> {
        let (thresholds, grades) = match self {
            // Ensembles and networks are checked as they are made.
            Model::Linear(LinearModel { .. }) | Model::Trees(_) | Model::Network(_) => return Ok(()),
            Model::Ordinal(OrdinalModel { thresholds, grades, .. }) => (thresholds, grades),
        };
        if grades.len() != thresholds.len() + 1 {
            return Err(Error::model(format!(
                "it has {} grades and {} thresholds; there must be one grade more",
                grades.len(),
                thresholds.len()
            )));
        }
        if !thresholds.iter().all(|b| b.is_finite()) || !thresholds.is_sorted() {
            return Err(Error::model("its thresholds are not finite and ascending"));
        }
        if !grades.iter().all(|g| g.is_finite()) || !grades.is_sorted_by(|a, b| a < b) {
            return Err(Error::model("its grades are not finite and ascending"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Features, Parts};

    /// Score = 2x. Grades 1, 2, 5 end at −1, at −1 again (so that 2 is never given) and at 3.
    #[test]
    fn grades_by_hand() {
        let values: Vec<f32> = vec![-9.0, -0.6, -0.5, 0.0, 1.49, 1.5, 80.0];
        let count = values.len();
        let data = Dataset::new(Parts {
            features: Features::Dense { width: 1, values },
            labels: vec![0.0; count],
            bounds: vec![0, count],
            query_ids: ["q"].into_iter().collect(),
            ..Parts::default()
        })
        .unwrap();
        let (weights, thresholds) = (vec![2.0], vec![-1.0, -1.0, 3.0]);
        let model = Model::Ordinal(OrdinalModel { weights, thresholds, grades: vec![1.0, 2.0, 5.0, 5.5] });
        assert_eq!(model.grades(&data).unwrap(), [1.0, 1.0, 5.0, 5.0, 5.0, 5.5, 5.5]);
        let sole = Model::Ordinal(OrdinalModel { weights: vec![2.0], thresholds: vec![], grades: vec![3.0] });
        assert_eq!(sole.grades(&data).unwrap(), [3.0; 7]);
        let linear = Model::linear(vec![2.0], 0.0);
        assert!(linear.grades(&data).unwrap_err().to_string().contains("predicts no grades"));
    }
}
