//! Answer requests in a server: load a model once, then rank the documents of each request without allocation.
//!
//! ```sh
//! cargo run --release -p rankwise --example serve_a_request
//! ```

#![allow(clippy::print_stdout)]

use rankwise::data::{Rows, Synth, SyntheticShape};
use rankwise::models::{Ranker, RowScorer};
use rankwise::rank::{RankRule, Sorter};
use rankwise::recipe::{Recipe, Start};
use rankwise::watch::Silent;

/// Features of a document, in the order of the training data.
const FEATURES: usize = 10;

/// What one worker thread keeps from request to request. All workers share the ranker.
struct Worker<'a> {
    scorer: RowScorer<'a>,
    sorter: Sorter,
    scores: Vec<f64>,
}

impl<'a> Worker<'a> {
    fn new(ranker: &'a Ranker) -> Self {
        Worker { scorer: ranker.scorer(), sorter: Sorter::default(), scores: Vec::new() }
    }

    /// The numbers of the documents, best first. `values` has the features of the first document, then those of the
    /// second, and so on. They are borrowed; the buffers of the worker are reused.
    fn rank(&mut self, values: &[f32]) -> rankwise::Result<&[u32]> {
        let rows = Rows::dense(values, FEATURES)?;
        self.scores.clear();
        self.scores.resize(rows.len(), 0.0);
        self.scorer.score_into(rows, &mut self.scores)?;
        Ok(self.sorter.rank(&self.scores, &[], RankRule::default()).order())
    }
}

fn main() -> rankwise::Result<()> {
    let ranker = trained_ranker()?;
    let mut worker = Worker::new(&ranker);

    // A request: five documents of one query. A missing feature is NaN.
    let mut request: Vec<f32> = (0..5 * FEATURES).map(|i| (i * 7 % 11) as f32 / 10.0).collect();
    request[3] = f32::NAN;
    let order = worker.rank(&request)?.to_vec();
    println!("documents, best first: {order:?}");

    // A single document needs no rows at all. It gets the same score as among the others.
    let best = order[0] as usize;
    let alone = worker.scorer.score(&request[best * FEATURES..][..FEATURES])?;
    assert_eq!(alone, worker.scores[best]);
    assert!(worker.scores.iter().all(|score| *score <= alone));

    // A request of another width is an error, not a wrong ranking.
    let error = worker.scorer.score(&request[..FEATURES - 1]).unwrap_err();
    println!("too few features: {error}");
    Ok(())
}

/// In a server, this is `Ranker::load("model.json".as_ref())`.
fn trained_ranker() -> rankwise::Result<Ranker> {
    let shape = SyntheticShape::named("mslr")?;
    let synthetic =
        Synth { queries: Some(40), documents: Some(20), features: Some(FEATURES), ..Synth::new(shape) };
    let recipe = Recipe::new("lambda-mart").set("iterations", 50);
    recipe.fit(&synthetic.generate()?, None, Start::default(), &mut Silent::default())
}
