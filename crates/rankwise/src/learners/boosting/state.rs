//! The state that a round of boosting changes: scores, trees and their weights.

use super::steps::Plan;
use crate::data::Dataset;
use crate::learners::Task;
use crate::learners::validation::mean_metric_of_scores;
use crate::models::{Combine, TreeEnsemble};
use crate::parallel;
use crate::trees::{GrownTree, Tree};

/// Documents per task.
const CHUNK: usize = 1 << 11;

/// The scores of one data set, one array per output.
pub(super) struct Scored<'a> {
    pub(super) data: &'a Dataset,
    pub(super) outputs: Vec<Vec<f64>>,
}

/// Everything that a round changes.
pub(super) struct State<'a> {
    pub(super) train: Scored<'a>,
    pub(super) valid: Option<Scored<'a>>,
    /// One tree per output and round, with the leaf values they were grown with.
    pub(super) trees: Vec<Tree>,
    /// The weight of each round's trees.
    pub(super) weights: Vec<f64>,
    /// The metric on the validation queries after each round.
    pub(super) curve: Vec<f64>,
    /// The best round so far, counted from 1, and the weights it had.
    pub(super) best: Option<(f64, Vec<f64>)>,
    /// Whether a worker that joins later may start with this round. It knows only this state, so no worker may rely on
    /// anything else that it computed in the round before.
    pub(super) is_kept: bool,
}

impl<'a> State<'a> {
    pub(super) fn new(
        task: &Task<'a>,
        start: Option<&TreeEnsemble>,
        base: &[f64],
        combine: &Combine,
    ) -> State<'a> {
        let none;
        let begin = match start {
            Some(ensemble) => ensemble,
            None => {
                none = TreeEnsemble::new(task.train.width(), base.to_vec(), combine.clone(), Vec::new())
                    .expect("a base for each output");
                &none
            }
        };
        let mut state = State {
            train: Scored::new(task.train, begin),
            valid: task.valid.map(|data| Scored::new(data, begin)),
            trees: Vec::new(),
            weights: Vec::new(),
            curve: Vec::new(),
            best: None,
            is_kept: false,
        };
        if let Some(value_on_valid) = state.evaluate(task, combine).filter(|_| start.is_some()) {
            state.best = Some((value_on_valid, Vec::new()));
        }
        state
    }

    /// Subtracts the dropped trees from the scores.
    pub(super) fn take_out(&mut self, plan: &Plan) {
        for &round in &plan.dropped {
            self.add_round(round, -self.weights[round]);
        }
    }

    /// Adds the dropped trees again with less weight, and scales all trees by `fade`.
    pub(super) fn put_back(&mut self, plan: &Plan) {
        for &round in &plan.dropped {
            self.weights[round] *= plan.keep;
            self.add_round(round, self.weights[round]);
        }
        if plan.fade != 1.0 {
            self.weights.iter_mut().for_each(|w| *w *= plan.fade);
            let sets = [Some(&mut self.train), self.valid.as_mut()];
            for scores in sets.into_iter().flatten().flat_map(|set| &mut set.outputs) {
                scores.iter_mut().for_each(|s| *s *= plan.fade);
            }
        }
    }

    pub(super) fn add_round(&mut self, round: usize, weight: f64) {
        let outputs = self.train.outputs.len();
        for output in 0..outputs {
            let tree = &self.trees[round * outputs + output];
            self.train.add(output, tree, weight);
            if let Some(valid) = &mut self.valid {
                valid.add(output, tree, weight);
            }
        }
    }

    pub(super) fn add_to_valid(&mut self, output: usize, tree: &Tree, weight: f64) {
        if let Some(valid) = &mut self.valid {
            valid.add(output, tree, weight);
        }
    }

    pub(super) fn evaluate(&self, task: &Task<'_>, combine: &Combine) -> Option<f64> {
        let valid = self.valid.as_ref()?;
        Some(mean_metric_of_scores(valid.data, task.metric, &valid.scores(combine)))
    }

    pub(super) fn note(&mut self, value_on_valid: Option<f64>) {
        let Some(value_on_valid) = value_on_valid else { return };
        self.curve.push(value_on_valid);
        if self.best.as_ref().is_none_or(|(best, _)| value_on_valid > *best) {
            self.best = Some((value_on_valid, self.weights.clone()));
        }
    }

    pub(super) fn is_past_its_best(&self, patience: u64) -> bool {
        let since = self.best.as_ref().map_or(0, |(_, weights)| self.weights.len() - weights.len());
        patience > 0 && since as u64 >= patience
    }
}

impl<'a> Scored<'a> {
    /// The outputs of `begin`, summed in the order of its trees.
    pub(super) fn new(data: &'a Dataset, begin: &TreeEnsemble) -> Scored<'a> {
        let outputs = begin.base().iter().map(|&base| vec![base; data.len()]).collect();
        let mut scored = Scored { data, outputs };
        for (t, tree) in begin.trees().iter().enumerate() {
            scored.add(t % begin.base().len(), tree, 1.0);
        }
        scored
    }

    /// Adds `weight` times a tree to the scores of all documents.
    pub(super) fn add(&mut self, output: usize, tree: &Tree, weight: f64) {
        let data = self.data;
        parallel::for_each(self.outputs[output].chunks_mut(CHUNK).enumerate(), |(chunk, scores)| {
            for (i, score) in scores.iter_mut().enumerate() {
                *score += weight * tree.values[tree.leaf(data.row(chunk * CHUNK + i))];
            }
        });
    }

    /// The same for a tree just grown on the documents of `bag`, whose leaves are known.
    pub(super) fn add_grown(&mut self, output: usize, grown: &GrownTree, weight: f64, bag: Option<&[u32]>) {
        grown.add_to(&mut self.outputs[output], weight);
        let Some(bag) = bag else { return };
        let mut drawn = bag.iter().copied().peekable();
        let left_out: Vec<usize> =
            (0..self.data.len()).filter(|&row| drawn.next_if_eq(&(row as u32)).is_none()).collect();
        let (tree, data) = (&grown.tree, self.data);
        let steps: Vec<f64> = parallel::map(&left_out, |&row| weight * tree.values[tree.leaf(data.row(row))]);
        left_out.iter().zip(steps).for_each(|(&row, step)| self.outputs[output][row] += step);
    }

    pub(super) fn scores(&self, combine: &Combine) -> Vec<f64> {
        if let Combine::Sum = combine {
            return self.outputs[0].clone();
        }
        let score = |row: usize| {
            let outputs: Vec<f64> = self.outputs.iter().map(|output| output[row]).collect();
            combine.score(&outputs)
        };
        parallel::map(0..self.data.len(), score)
    }
}
