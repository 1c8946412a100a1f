//! What must not allocate, or little: a scorer for small requests once it has scored a request of that size, and training
//! on many short queries.

use rankwise::data::{Columns, Dataset, Rows};
use rankwise::losses::perturbation::{MaxMax, TieRandom};
use rankwise::losses::structured::{DormSearch, StructuredHinge};
use rankwise::losses::{QueryLoss, ScoredQuery, Subsampled};
use rankwise::models::{Activation, Layer, Model, NeuralNetwork, Ranker, TreeEnsemble};
use rankwise::recipe::{Recipe, Start};
use rankwise::trees::Tree;
use rankwise::watch::Silent;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// Counts what the thread allocates.
struct Counting;

#[global_allocator]
static GLOBAL: Counting = Counting;

#[allow(unsafe_code)]
// SAFETY: every call is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        unsafe { System.realloc(pointer, layout, size) }
    }
}

fn allocations(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.with(Cell::get);
    work();
    ALLOCATIONS.with(Cell::get) - before
}

const WIDTH: usize = 6;

fn models() -> [(&'static str, Model); 3] {
    let tree = |feature: u32, leaves: usize| Tree {
        features: vec![feature; leaves - 1],
        thresholds: (1..leaves).map(|t| t as f32 / 8.0).collect(),
        missing_left: vec![false; leaves - 1],
        left: (0..leaves as i32 - 1).map(|node| !node).collect(),
        right: (1..leaves as i32).map(|n| if n + 1 == leaves as i32 { !n } else { n }).collect(),
        gains: vec![0.0; leaves - 1],
        values: (0..leaves).map(|leaf| leaf as f64).collect(),
        covers: vec![1.0; leaves],
        ..Tree::default()
    };
    // The last tree has too many leaves for the vectorised form.
    let trees = [(0, 4), (3, 16), (5, 2), (1, 300)].map(|(feature, leaves)| tree(feature, leaves));
    let layer = |inputs: usize, outputs: usize| Layer {
        outputs,
        weights: vec![0.1; inputs * outputs],
        biases: vec![0.0; outputs],
    };
    let layers = vec![layer(WIDTH, 40), layer(40, 3), layer(3, 1)];
    let network = NeuralNetwork::new(vec![0.0; WIDTH], vec![1.0; WIDTH], Activation::Relu, layers);
    [
        ("linear", Model::linear(vec![0.5; WIDTH], 1.0)),
        ("trees", Model::Trees(TreeEnsemble::sum(WIDTH, 0.5, trees.to_vec()).unwrap())),
        ("network", Model::Network(network.unwrap())),
    ]
}

#[test]
fn small_requests_allocate_nothing_after_the_first() {
    const MOST: usize = 150;
    let values: Vec<f32> = (0..MOST * WIDTH).map(|i| (i % 17) as f32 / 3.0 - 2.0).collect();
    let with_missing: Vec<f32> =
        values.iter().enumerate().map(|(i, &x)| if i % 5 == 0 { f32::NAN } else { x }).collect();
    let starts: Vec<usize> = (0..=MOST).map(|row| 2 * row).collect();
    let columns: Vec<u32> = (0..2 * MOST as u32).map(|i| if i % 2 == 0 { 1 } else { 5 }).collect();
    let mut scores = vec![0.0; MOST];
    for (name, model) in models() {
        let ranker = Ranker::of_model(model, Columns::default()).unwrap();
        let mut scorer = ranker.scorer();
        let mut requests = |scores: &mut [f64]| {
            for count in [1, 2, 3, 10, 32, 33, 64, 100, MOST] {
                let out = &mut scores[..count];
                let dense = Rows::dense(&values[..count * WIDTH], WIDTH).unwrap();
                scorer.score_into(dense, out).unwrap();
                let strided = Rows::dense_strided(&with_missing, count, WIDTH, WIDTH).unwrap();
                scorer.score_into(strided, out).unwrap();
                let given = &values[..2 * count];
                let sparse = Rows::sparse(&starts[..=count], &columns[..2 * count], given, WIDTH).unwrap();
                scorer.score_into(sparse, out).unwrap();
            }
            scorer.score(&values[..WIDTH]).unwrap();
        };
        requests(&mut scores);
        assert_eq!(allocations(|| requests(&mut scores)), 0, "{name}");
    }
}

/// Buffers are shared between the queries of a piece, so a round of boosting allocates as often for many queries as for
/// few. Both numbers of queries here are cut into 64 pieces.
#[test]
fn boosting_rounds_allocate_nothing_per_query() {
    let in_rounds = |learner: &str, queries: usize| {
        let values = (0..4 * queries).map(|i| (i * 7 % 23) as f32 + (i % 3) as f32).collect();
        let labels = (0..2 * queries).map(|i| (i * 5 % 7 % 3) as f32).collect();
        let train = Dataset::dense(values, 2, labels, &vec![2; queries]).unwrap();
        let of = |iterations: i64| {
            let recipe = Recipe::new(learner).set("iterations", iterations);
            let fit =
                || drop(recipe.fit(&train, Some(&train), Start::default(), &mut Silent::default()).unwrap());
            // One thread, whose allocations are counted.
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            pool.install(|| allocations(fit))
        };
        of(6) - of(2)
    };
    for learner in ["frank", "ndcg-boost"] {
        let (few, many) = (in_rounds(learner, 2100), in_rounds(learner, 4000));
        assert!(many < few + 1000, "{learner}: {few} allocations for 2,100 queries, {many} for 4,000");
    }
}

/// Losses over subsets of documents are evaluated on a hundred subsets per query.
#[test]
fn losses_of_few_documents_allocate_little() {
    let subsampled = |loss: Box<dyn QueryLoss>| Subsampled { loss, documents: 3, draws: 100 };
    let losses: [(&str, Box<dyn QueryLoss>); 3] = [
        ("dorm", Box::new(StructuredHinge(DormSearch::default()))),
        ("max-max", Box::new(MaxMax::default())),
        ("tie-random", Box::new(TieRandom::default())),
    ];
    for (name, loss) in losses {
        let loss = subsampled(loss);
        let labels: Vec<f32> = (0..10).map(|d| (d % 3) as f32).collect();
        let scores: Vec<f64> = (0..10).map(|d| f64::from(d * 3 % 7)).collect();
        let query = ScoredQuery { labels: &labels, scores: &scores, seed: 1 };
        let counted = allocations(|| {
            loss.value_and_gradient(query, &mut [0.0; 10]);
        });
        assert!(counted <= 100 * 12, "{name}: {counted} allocations for 100 subsets");
    }
}
