//! A sum of regression trees.

mod compiled;
mod shape;
mod substitution;

use crate::data::{Row, Rows};
use crate::error::{Error, Result};
use crate::trees::Tree;
use compiled::{Compiled, Scratch};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Compiling takes about as long as walking the trees for this number of documents, so they are walked first.
const COMPILE_AFTER: usize = 200;

/// Trees whose values add up to one output, or to several that are combined into a score.
///
/// It is checked when it is made or read, and never changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct TreeEnsemble {
    width: usize,
    base: Vec<f64>,
    combine: Combine,
    trees: Vec<Tree>,
    #[serde(skip)]
    fast: Fast,
}

/// The compiled form of an ensemble, made on demand. It is derived from the ensemble, so it is not compared or copied.
#[derive(Default)]
struct Fast {
    compiled: OnceLock<Box<Compiled>>,
    /// Documents that were scored before it was made.
    walked: AtomicUsize,
}

/// An ensemble as it is in a file, before it is checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    width: usize,
    base: Vec<f64>,
    combine: Combine,
    trees: Vec<Tree>,
}

impl TryFrom<Fields> for TreeEnsemble {
    type Error = Error;

    fn try_from(fields: Fields) -> Result<TreeEnsemble> {
        TreeEnsemble::new(fields.width, fields.base, fields.combine, fields.trees)
    }
}

/// How the outputs of an ensemble become a score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Combine {
    /// The one output is the score.
    Sum,
    /// The expected grade, where output `k` is the logarithm of the odds of grade `k` (a softmax).
    Softmax {
        /// The grade of each output.
        grades: Vec<f32>,
    },
    /// The expected grade, where output `k` is the log odds that the grade is above `grades[k]`.
    Ordinal {
        /// The grades, ascending, one more than there are outputs.
        grades: Vec<f32>,
    },
}

impl TreeEnsemble {
    /// An ensemble over `width` feature columns, where output `k` is `base[k]` plus the trees `t` with `t mod outputs = k`;
    /// an error if the parts do not fit together.
    pub fn new(width: usize, base: Vec<f64>, combine: Combine, trees: Vec<Tree>) -> Result<TreeEnsemble> {
        let ensemble = TreeEnsemble { width, base, combine, trees, fast: Fast::default() };
        ensemble.check()?;
        Ok(ensemble)
    }

    /// An ensemble of one output that adds up to the score.
    pub fn sum(width: usize, base: f64, trees: Vec<Tree>) -> Result<TreeEnsemble> {
        TreeEnsemble::new(width, vec![base], Combine::Sum, trees)
    }

    /// Number of feature columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The value that each output starts from.
    pub fn base(&self) -> &[f64] {
        &self.base
    }

    /// How outputs become a score.
    pub fn combine(&self) -> &Combine {
        &self.combine
    }

    /// The trees; tree `t` adds to output `t mod outputs`.
    pub fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// The same trees over the first `width` columns, which have all that they test.
    pub(super) fn narrowed(self, width: usize) -> TreeEnsemble {
        TreeEnsemble { width, fast: Fast::default(), ..self }
    }

    /// The trees, to change them or to add to them.
    pub fn into_trees(self) -> Vec<Tree> {
        self.trees
    }

    /// Prepares for fast scoring.
    fn compile(&self) -> &Compiled {
        self.fast.compiled.get_or_init(|| Box::new(Compiled::new(self)))
    }

    /// Sets one score per row: to the last bit what [`outputs`](TreeEnsemble::outputs) gives, but faster.
    fn score_rows(&self, rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        if self.fast.compiled.get().is_none() {
            let walked = self.fast.walked.fetch_add(rows.len(), Ordering::Relaxed);
            if walked.saturating_add(rows.len()) < COMPILE_AFTER {
                return self.walk_rows(rows, scratch, out);
            }
        }
        self.compile().score(rows, self, scratch, out);
    }

    fn walk_rows(&self, rows: Rows<'_>, scratch: &mut Scratch, out: &mut [f64]) {
        scratch.outputs.resize(self.base.len(), 0.0);
        for (row, score) in rows.iter().zip(out) {
            self.outputs(row, &mut scratch.outputs);
            *score = self.combine.score(&scratch.outputs);
        }
    }

    /// The outputs of one document: base plus trees, in order, by a plain walk through each.
    pub fn outputs(&self, row: Row<'_>, out: &mut [f64]) {
        out.copy_from_slice(&self.base);
        for (t, tree) in self.trees.iter().enumerate() {
            out[t % self.base.len()] += tree.values[tree.leaf(row)];
        }
    }

    /// Rejects an ensemble that no learner could have trained.
    fn check(&self) -> Result<()> {
        let outputs = self.base.len();
        let (needed, grades) = match &self.combine {
            Combine::Sum => (1, None),
            Combine::Softmax { grades } => (grades.len(), Some(grades)),
            Combine::Ordinal { grades } => (grades.len().saturating_sub(1), Some(grades)),
        };
        if outputs == 0 || outputs != needed {
            return Err(Error::model(format!("it has {outputs} outputs where {needed} are needed")));
        }
        if grades.is_some_and(|g| !g.iter().all(|x| x.is_finite()) || !g.is_sorted_by(|a, b| a < b)) {
            return Err(Error::model("its grades are not finite and ascending"));
        }
        if self.base.iter().any(|b| !b.is_finite()) {
            return Err(Error::model("its base is not finite"));
        }
        self.trees.iter().try_for_each(|tree| tree.check(self.width))
    }
}

impl fmt::Debug for Fast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fast").field("compiled", &self.compiled.get().is_some()).finish()
    }
}

impl Clone for Fast {
    fn clone(&self) -> Self {
        Fast::default()
    }
}

impl PartialEq for Fast {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Combine {
    /// The score of one document's outputs.
    pub fn score(&self, outputs: &[f64]) -> f64 {
        match self {
            Combine::Sum => outputs[0],
            Combine::Softmax { grades } => {
                let most = outputs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let (mut weighted, mut total) = (0.0, 0.0);
                for (&output, &grade) in outputs.iter().zip(grades) {
                    let odds = (output - most).exp();
                    weighted += odds * f64::from(grade);
                    total += odds;
                }
                weighted / total
            }
            // E[r] = r_0 + Σ_k (r_{k+1} − r_k)·P(r > r_k)
            Combine::Ordinal { grades } => {
                let steps = grades.windows(2).map(|g| f64::from(g[1]) - f64::from(g[0]));
                f64::from(grades[0])
                    + outputs.iter().zip(steps).map(|(&o, step)| step / (1.0 + (-o).exp())).sum::<f64>()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::models::Model;
    use crate::models::shape::Shape;

    #[test]
    fn outputs_combine_as_told() {
        assert_eq!(Combine::Sum.score(&[3.5]), 3.5);
        let third = (1.0f64 / 3.0).ln();
        let softmax = Combine::Softmax { grades: vec![0.0, 1.0, 4.0] };
        assert!((softmax.score(&[third, third, third]) - 5.0 / 3.0).abs() < 1e-12);
        assert!((softmax.score(&[-1e6, 1e6, 1e6]) - 2.5).abs() < 1e-12);
        let ordinal = Combine::Ordinal { grades: vec![0.0, 1.0, 4.0] };
        // P(r > 0) = ½, P(r > 1) = ¼.
        assert!((ordinal.score(&[0.0, -(3.0f64).ln()]) - (0.5 + 0.75)).abs() < 1e-12);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = |base: Vec<f64>, combine: Combine, trees: Vec<Tree>| {
            TreeEnsemble::new(1, base, combine, trees).unwrap_err().to_string()
        };
        assert!(refused(vec![], Combine::Sum, vec![]).contains("0 outputs"));
        assert!(refused(vec![0.0; 2], Combine::Sum, vec![]).contains("2 outputs where 1 are needed"));
        assert!(
            refused(vec![0.0; 2], Combine::Ordinal { grades: vec![1.0, 2.0, 2.0] }, vec![])
                .contains("ascending")
        );
        assert!(refused(vec![f64::NAN], Combine::Sum, vec![]).contains("base"));
        assert!(refused(vec![0.0], Combine::Sum, vec![Tree::default()]).contains("lengths"));
    }

    #[test]
    fn a_file_is_checked_as_it_is_read() {
        let ensemble = TreeEnsemble::sum(3, 0.5, vec![Tree::constant(2.0, 1.0)]).unwrap();
        let text = serde_json::to_string(&ensemble).unwrap();
        assert_eq!(serde_json::from_str::<TreeEnsemble>(&text).unwrap(), ensemble);
        let broken = text.replace("\"base\":[0.5]", "\"base\":[0.5,1]");
        assert!(serde_json::from_str::<TreeEnsemble>(&broken).unwrap_err().to_string().contains("2 outputs"));
        let unknown = text.replace("\"width\"", "\"depth\":1,\"width\"");
        assert!(
            serde_json::from_str::<TreeEnsemble>(&unknown).unwrap_err().to_string().contains("unknown field")
        );
    }

    /// Walked at first, compiled later, the same on any number of threads. The compiled form is not compared or copied.
    #[test]
    fn scores_do_not_depend_on_what_was_scored_before() {
        let values: Vec<f32> = (0..5000).map(|i| (i % 7) as f32 - 3.0).collect();
        let data = Dataset::dense(values, 2, vec![0.0; 2500], &[20; 125]).unwrap();
        let stump = |feature, threshold| Tree {
            features: vec![feature],
            thresholds: vec![threshold],
            missing_left: vec![true],
            left: vec![!0],
            right: vec![!1],
            gains: vec![0.0],
            values: vec![0.3, 0.7],
            covers: vec![1.0; 2],
            ..Tree::default()
        };
        let ensemble = TreeEnsemble::sum(2, 0.1, vec![stump(0, 0.0), stump(1, -2.0), stump(0, 2.0)]).unwrap();
        let mut expected = vec![0.0; data.len()];
        ensemble.walk_rows(data.rows(), &mut Scratch::default(), &mut expected);
        let fresh = ensemble.clone();
        for query in data.queries() {
            let mut scores = vec![0.0; query.len()];
            ensemble.scorer().score(data.rows().slice(query.range()), &mut scores);
            assert_eq!(scores, expected[query.range()]);
        }
        assert!(ensemble.fast.compiled.get().is_some() && fresh.fast.compiled.get().is_none());
        assert_eq!(ensemble, fresh);
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let scores = pool.install(|| Model::Trees(ensemble.clone()).scores(&data)).unwrap();
            assert_eq!(scores, expected);
        }
    }
}
