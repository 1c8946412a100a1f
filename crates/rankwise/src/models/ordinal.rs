//! An ordinal model: a linear model whose scores are cut into grades by thresholds.

use super::insight::{Explain, Substitute};
use super::interchange::{EngineModel, OnnxGraph, TrialValues};
use super::linear::{self, WeightChange, WeightedSum};
use super::shape::{ScoreRows, Shape};
use crate::data::Rows;
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

impl Shape for OrdinalModel {
    fn width(&self) -> usize {
        self.weights.len()
    }

    fn check(&self) -> Result<()> {
        let (thresholds, grades) = (&self.thresholds, &self.grades);
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

    fn scorer(&self) -> Box<dyn ScoreRows + '_> {
        Box::new(self)
    }

    fn thresholds(&self) -> Option<(&[f64], &[f32])> {
        Some((&self.thresholds, &self.grades))
    }

    fn used_columns(&self) -> Vec<bool> {
        linear::used_columns(&self.weights)
    }

    fn explain(&self) -> Result<Box<dyn Explain + '_>> {
        Ok(Box::new(WeightedSum { weights: &self.weights, bias: 0.0 }))
    }

    fn substitute<'a>(&'a self, columns: &'a [usize]) -> Box<dyn Substitute + 'a> {
        Box::new(WeightChange { weights: &self.weights, bias: 0.0, columns })
    }

    fn engine_model(&self) -> Result<EngineModel<'_>> {
        Ok(EngineModel::Linear { weights: &self.weights, bias: 0.0 })
    }

    fn write_onnx(&self, graph: &mut OnnxGraph, notes: &mut Vec<String>) -> Result<()> {
        notes.push("the file gives scores; it does not hold the thresholds that cut them into grades".into());
        graph.linear(&self.weights, 0.0, notes)
    }

    fn trial_values(&self) -> TrialValues {
        linear::trial_values()
    }

    fn magnitude(&self, row: &[f32]) -> f64 {
        linear::magnitude(&self.weights, row)
    }
}

impl ScoreRows for &OrdinalModel {
    fn score(&mut self, rows: Rows<'_>, out: &mut [f64]) {
        let weights = &self.weights[..rows.width().min(self.weights.len())];
        for (score, row) in out.iter_mut().zip(rows.iter()) {
            *score = row.dot(weights);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::models::Model;

    /// Score = 2x. Grades 1, 2, 5 end at −1, at −1 again (so that 2 is never given) and at 3.
    #[test]
    fn grades_by_hand() {
        let values: Vec<f32> = vec![-9.0, -0.6, -0.5, 0.0, 1.49, 1.5, 80.0];
        let data = Dataset::dense(values, 1, vec![0.0; 7], &[7]).unwrap();
        let ordinal =
            |thresholds, grades| Model::Ordinal(OrdinalModel { weights: vec![2.0], thresholds, grades });
        let model = ordinal(vec![-1.0, -1.0, 3.0], vec![1.0, 2.0, 5.0, 5.5]);
        assert_eq!(model.grades(&data).unwrap(), [1.0, 1.0, 5.0, 5.0, 5.0, 5.5, 5.5]);
        assert_eq!(ordinal(vec![], vec![3.0]).grades(&data).unwrap(), [3.0; 7]);
        let linear = Model::linear(vec![2.0], 0.0);
        assert!(linear.grades(&data).unwrap_err().to_string().contains("predicts no grades"));
    }
}
