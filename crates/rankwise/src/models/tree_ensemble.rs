//! A sum of trees.

mod compiled;

use crate::data::{Dataset, Features, Query, Row};
use crate::error::{Error, Result};
use crate::trees::Tree;
use compiled::{Compiled, Rows};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Documents that are walked plainly first, since compiling takes about as long as walking so many.
const COMPILE_AFTER: usize = 200;

/// Documents that one task scores; the same for any number of threads.
const CHUNK: usize = 1024;

/// Trees whose values add up, for one output or for several that are combined into a score. It is checked when it is
/// made or read, and does not change.
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

/// The form of an ensemble that scores fast, once it is wanted. It says nothing that the ensemble does not say.
#[derive(Default)]
struct Fast {
    compiled: OnceLock<Box<Compiled>>,
    /// Documents that were scored without it.
    walked: AtomicUsize,
}

/// An ensemble as a file has it, not yet checked.
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
    /// an error where the parts do not fit together.
    pub fn new(width: usize, base: Vec<f64>, combine: Combine, trees: Vec<Tree>) -> Result<TreeEnsemble> {
        let ensemble = TreeEnsemble { width, base, combine, trees, fast: Fast::default() };
        ensemble.check()?;
        Ok(ensemble)
    }

    /// An ensemble of one output that adds up to the score.
    pub fn sum(width: usize, base: f64, trees: Vec<Tree>) -> Result<TreeEnsemble> {
        TreeEnsemble::new(width, vec![base], Combine::Sum, trees)
    }

    /// Feature columns of the data it learned from.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Where each output begins.
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

    /// The trees, to change them or to add to them.
    pub fn into_trees(self) -> Vec<Tree> {
        self.trees
    }

    /// Scores every document of a query: to the last bit what [`outputs`](TreeEnsemble::outputs) gives, but faster.
    pub fn score(&self, query: Query<'_>, out: &mut [f64]) {
        self.score_rows(&query.data().parts().features, query.range(), out);
    }

    /// Prepares for fast scoring now, and not only after some documents: for a program that answers requests.
    pub fn compile(&self) {
        self.fast.compiled.get_or_init(|| Box::new(Compiled::new(self)));
    }

    /// One score per document of a data set, in its order.
    pub(super) fn score_all(&self, data: &Dataset) -> Vec<f64> {
        let mut scores = vec![0.0; data.len()];
        if data.len() >= COMPILE_AFTER {
            self.compile();
        }
        scores.par_chunks_mut(CHUNK).enumerate().for_each(|(i, out)| {
            let start = i * CHUNK;
            self.score_rows(&data.parts().features, start..start + out.len(), out);
        });
        scores
    }

    fn score_rows(&self, features: &Features, range: Range<usize>, out: &mut [f64]) {
        if self.fast.compiled.get().is_none() {
            let walked = self.fast.walked.fetch_add(range.len(), Ordering::Relaxed);
            if walked.saturating_add(range.len()) < COMPILE_AFTER {
                return self.walk_rows(features, range, out);
            }
            self.compile();
        }
        let compiled = self.fast.compiled.get().expect("it was compiled just now");
        compiled.score(Rows { features, range }, self, out);
    }

    fn walk_rows(&self, features: &Features, range: Range<usize>, out: &mut [f64]) {
        let mut outputs = vec![0.0; self.base.len()];
        for (row, score) in range.zip(out) {
            self.outputs(features.row(row), &mut outputs);
            *score = self.combine.score(&outputs);
        }
    }

    /// The outputs of one document: base plus trees, in order, by a plain walk through each.
    pub fn outputs(&self, row: Row<'_>, out: &mut [f64]) {
        out.copy_from_slice(&self.base);
        for (t, tree) in self.trees.iter().enumerate() {
            out[t % self.base.len()] += tree.values[tree.leaf(row)];
        }
    }

    /// Refuses what no learner could have made.
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
            return Err(Error::model("its base is no number"));
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
    use crate::data::Parts;

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

    /// Plain at first, compiled in between, the same on any number of threads, and never compared or copied.
    #[test]
    fn scores_do_not_depend_on_what_was_scored_before() {
        let values: Vec<f32> = (0..5000).map(|i| (i % 7) as f32 - 3.0).collect();
        let data = Dataset::new(Parts {
            labels: vec![0.0; 2500],
            bounds: (0..=125).map(|q| 20 * q).collect(),
            query_ids: (0..125).map(|q| format!("q{q}")).collect(),
            features: Features::Dense { width: 2, values },
            ..Parts::default()
        })
        .unwrap();
        let stump = |feature, threshold| Tree {
            features: vec![feature],
            thresholds: vec![threshold],
            missing_left: vec![true],
            left: vec![!0],
            right: vec![!1],
            gains: vec![0.0],
            values: vec![0.3, 0.7],
            covers: vec![1.0; 2],
        };
        let ensemble = TreeEnsemble::sum(2, 0.1, vec![stump(0, 0.0), stump(1, -2.0), stump(0, 2.0)]).unwrap();
        let mut expected = vec![0.0; data.len()];
        ensemble.walk_rows(&data.parts().features, 0..data.len(), &mut expected);
        let fresh = ensemble.clone();
        for query in data.queries() {
            let mut scores = vec![0.0; query.len()];
            ensemble.score(query, &mut scores);
            assert_eq!(scores, expected[query.range()]);
        }
        assert!(ensemble.fast.compiled.get().is_some() && fresh.fast.compiled.get().is_none());
        assert_eq!(ensemble, fresh);
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(|| ensemble.clone().score_all(&data)), expected);
        }
    }
}
