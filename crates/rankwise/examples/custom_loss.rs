//! Train your own loss with a linear model, boosted trees and a neural network.
//!
//! The loss is the mean exponential loss of the P pairs of documents with different labels:
//!
//! ```text
//! L(s) = 1/P Σ_{rᵢ>rⱼ} exp(sⱼ − sᵢ)
//! ```
//!
//! ```sh
//! cargo run --release -p rankwise --example custom_loss
//! ```

#![allow(clippy::print_stdout)]

use rankwise::data::{Dataset, Synth, SyntheticShape};
use rankwise::learners::{CustomLoss, LossKind};
use rankwise::losses::{QueryLoss, ScoredQuery};
use rankwise::metrics::{Conventions, evaluate, parse_list};
use rankwise::recipe::{Recipe, Start};
use rankwise::watch::Silent;

/// The mean of `exp(worse score − better score)` over the pairs of a query.
struct PairExponential;

impl PairExponential {
    /// Calls `add` for each pair with the better document, the worse document and the pair's part of the loss.
    fn each_pair(query: ScoredQuery<'_>, mut add: impl FnMut(usize, usize, f64)) {
        let labels = query.labels;
        let documents = 0..labels.len();
        let pairs = documents.clone().flat_map(|i| documents.clone().map(move |j| (i, j)));
        let pairs: Vec<(usize, usize)> = pairs.filter(|&(i, j)| labels[i] > labels[j]).collect();
        for &(i, j) in &pairs {
            add(i, j, (query.scores[j] - query.scores[i]).exp() / pairs.len() as f64);
        }
    }
}

impl QueryLoss for PairExponential {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        let mut value = 0.0;
        gradient.fill(0.0);
        PairExponential::each_pair(query, |better, worse, term| {
            value += term;
            gradient[better] -= term;
            gradient[worse] += term;
        });
        value
    }

    fn curvature(&self, query: ScoredQuery<'_>, curvature: &mut [f64]) {
        curvature.fill(0.0);
        PairExponential::each_pair(query, |better, worse, term| {
            curvature[better] += term;
            curvature[worse] += term;
        });
    }

    /// Only queries with two different labels have pairs.
    fn has_signal(&self, labels: &[f32]) -> bool {
        labels.iter().any(|label| *label != labels[0])
    }
}

fn main() -> rankwise::Result<()> {
    let shape = SyntheticShape::named("ohsumed")?;
    let synthetic = Synth { queries: Some(60), documents: Some(20), features: Some(10), ..Synth::new(shape) };
    let data = synthetic.generate()?;
    let (train, test) =
        (data.select_queries(&Vec::from_iter(0..40)), data.select_queries(&Vec::from_iter(40..60)));

    // `LossKind` states what an optimiser may rely on: this loss is convex and smooth.
    let loss = CustomLoss::new("pair-exponential", |_train| Ok(LossKind::Smooth(Box::new(PairExponential))));

    let unranked = mean_ndcg(&test, &vec![0.0; test.len()])?;
    println!("unranked {unranked:.4}");
    for scorer in ["linear", "trees", "network"] {
        let recipe = Recipe::custom(loss.clone()).scorer(scorer).seed(1);
        let ranker = recipe.fit(&train, None, Start::default(), &mut Silent::default())?;
        let learned = mean_ndcg(&test, &ranker.score(&test)?)?;
        println!("{scorer:<8} {learned:.4}");
        assert!(learned > unranked + 0.05, "{scorer} learned nothing");
    }
    Ok(())
}

/// Mean NDCG@10 over the queries of `data`.
fn mean_ndcg(data: &Dataset, scores: &[f64]) -> rankwise::Result<f64> {
    let metrics = parse_list("ndcg@10", &Conventions::default())?;
    Ok(evaluate(data, scores, &metrics)?.mean(0).unwrap_or(0.0))
}
