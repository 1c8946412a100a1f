//! Trainings whose workers die at every stage.

use super::*;
use crate::data::Synth;
use crate::learners::{Fitted, Task, find};
use crate::metrics::{Conventions, parse};

const WORKERS: usize = 2;

/// Trains on the queries of one participant; `None` for one machine.
fn fit(
    (learner, parameters): (&str, &str),
    train: &Dataset,
    exchange: Option<Arc<dyn Exchange>>,
) -> Result<Fitted> {
    let learner = find(learner)?.configure(&parameters.parse().expect("parameters"))?;
    let metric = parse("ndcg@5", &Conventions::default())?;
    let shard = exchange.map(|exchange| {
        let pieces = pieces::cut(train.bounds(), train.width()).len() - 1;
        let own = exchange.worker().map_or(0..0, |w| w * pieces / WORKERS..(w + 1) * pieces / WORKERS);
        Shard::cut_from(train, own, exchange)
    });
    learner.train(&Task::new(shard.as_ref().unwrap_or(train), &*metric, 3), &mut Silent::default())
}

/// Trains with a fault at some deliveries; returns the number of deliveries and of workers lost.
fn assert_same_with_faults(
    learner: (&'static str, &'static str),
    train: &Arc<Dataset>,
    alone: &Fitted,
    fault: impl FnMut(usize, usize) -> Option<Fault> + Send + 'static,
) -> (usize, u64) {
    let name = |fitted: &Fitted| hash(&format!("{fitted:?}")).to_string();
    let shared = train.clone();
    let program: Program = Arc::new(move |_, exchange, _| Ok(name(&fit(learner, &shared, Some(exchange))?)));
    let engine = InMemory::new(WORKERS, program).with_faults(fault);
    let deliveries = engine.deliveries.clone();
    let mut driver = Driver::new(engine).with_limits(LIMITS);
    let drive = |exchange: Arc<dyn Exchange>, _: &mut dyn Watch| fit(learner, train, Some(exchange));
    let found = driver.run(Vec::new(), Some(1), &mut Silent::default(), drive, name);
    let found = found.unwrap_or_else(|e| panic!("{learner:?}: {e}"));
    assert!(found == *alone, "{learner:?}");
    (deliveries.load(Ordering::Relaxed), driver.traffic().losses)
}

/// There are more rounds than between two states, so new workers start from a state.
#[test]
fn a_worker_may_die_in_any_round() {
    let shape = Synth { queries: Some(40), documents: Some(8), seed: 1, ..Synth::demo() };
    let train = Arc::new(shape.generate().unwrap());
    for learner in [
        ("lambda-mart", "iterations = 19\nnum_leaves = 4"),
        ("rank-boost", "iterations = 19\nthresholds = 20"),
        ("frank", "iterations = 19\nthresholds = 20\nvalidation_fraction = 0.3"),
        ("ndcg-boost", "iterations = 19\nthresholds = 20\nsample = 0.5"),
        ("random-forest", "num_trees = 5\nnum_leaves = 4"),
        ("ada-rank", "iterations = 19"),
        ("coordinate-ascent", "restarts = 2\npasses = 1"),
    ] {
        let alone = fit(learner, &train, None).unwrap();
        let (deliveries, _) = assert_same_with_faults(learner, &train, &alone, |_, _| None);
        for moment in (0..6).map(|k| (2 * k + 1) * deliveries / 12) {
            let fault = move |number, _| (number == moment).then_some(Fault::DiesBefore);
            let (_, losses) = assert_same_with_faults(learner, &train, &alone, fault);
            assert_eq!(losses, 1, "{learner:?} at {moment}");
        }
    }
}
