//! Compares the solvers of max-margin losses with an independent interior-point solver, on problems small enough to write
//! out in full; and how they do with many features.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT};
use rand::RngExt;
use rankwise::data::{Dataset, Features, Parts};
use rankwise::losses::structured::{
    AucSearch, DormSearch, FeatureMap, LossAugmentedArgmax, MapSearch, MrrPairSearch, MrrSearch, NdcgSearch,
    StructuredHinge,
};
use rankwise::metrics::Discount;
use rankwise::models::Outcome;
use rankwise::rank::Ranking;
use rankwise::recipe::{Recipe, Start};
use rankwise::rng;
use rankwise::solvers::{BlockAscent, Bundle, CertifiedFit, LinearRisk, Objective, QueryPlanes};
use rankwise::watch::Silent;

const QUERIES: usize = 6;
const DOCUMENTS: usize = 5;
const WIDTH: usize = 4;

/// Six queries with five documents and four features each, with random labels of both classes.
fn small_data(seed: u64) -> Dataset {
    let mut random = rng::stream(seed, &[]);
    let values = (0..QUERIES * DOCUMENTS * WIDTH).map(|_| random.random::<f32>() * 2.0 - 1.0).collect();
    let labels = (0..QUERIES * DOCUMENTS)
        .map(|i| match i % DOCUMENTS {
            0 => 0.0,
            1 => 1.0,
            _ => f32::from(random.random::<bool>()),
        })
        .collect();
    Dataset::dense(values, WIDTH, labels, &[DOCUMENTS; QUERIES]).unwrap()
}

fn permutations(n: u32) -> Vec<Vec<u32>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    let shorter = permutations(n - 1);
    let insert = |order: &Vec<u32>| {
        let order = order.clone();
        (0..n as usize).map(move |place| [&order[..place], &[n - 1], &order[place..]].concat())
    };
    shorter.iter().flat_map(insert).collect()
}

/// `min ½‖w‖² + C/Q Σ ξ_q` with one constraint per ranking of every query, by the independent solver.
fn optimum_by_enumeration<S: LossAugmentedArgmax>(data: &Dataset, search: &S, c: f64) -> (f64, Vec<f64>) {
    let (mut rows, mut right): (Vec<Vec<f64>>, Vec<f64>) = (Vec::new(), Vec::new());
    for query in data.queries() {
        let slack = WIDTH + query.index();
        for order in permutations(DOCUMENTS as u32) {
            let ranking = Ranking::from_order(order);
            let mut coefficients = vec![0.0; DOCUMENTS];
            search.map().coefficients(query.labels(), &ranking, &mut coefficients);
            let mut row = vec![0.0; WIDTH + QUERIES];
            query.add_transposed_dot(&coefficients, &mut row[..WIDTH]);
            row.iter_mut().for_each(|x| *x = -*x);
            row[slack] = -1.0;
            rows.push(row);
            right.push(-search.task_loss(query.labels(), &ranking));
        }
    }
    let variables = WIDTH + QUERIES;
    let diagonal = |i: usize| if i < WIDTH { 1.0 } else { 0.0 };
    let quadratic =
        CscMatrix::new(variables, variables, (0..=variables).collect(), (0..variables).collect(), {
            (0..variables).map(diagonal).collect()
        });
    let linear: Vec<f64> = (0..variables).map(|i| (1.0 - diagonal(i)) * c / QUERIES as f64).collect();
    let count = rows.len();
    let by_column = (0..variables).flat_map(|v| rows.iter().map(move |row| row[v])).collect();
    let starts = (0..=variables).map(|v| v * count).collect();
    let places = (0..variables).flat_map(|_| 0..count).collect();
    let matrix = CscMatrix::new(count, variables, starts, places, by_column);
    let settings = DefaultSettingsBuilder::default().verbose(false).build().unwrap();
    let cones = [NonnegativeConeT(count)];
    let mut solver = DefaultSolver::new(&quadratic, &linear, &matrix, &right, &cones, settings).unwrap();
    solver.solve();
    (solver.solution.obj_val, solver.solution.x[..WIDTH].to_vec())
}

fn agrees<S: LossAugmentedArgmax + Copy>(search: S) {
    for (seed, c) in [(1, 0.1), (2, 1.0), (3, 10.0), (4, 100.0), (5, 1000.0)] {
        let data = small_data(seed);
        let risk = LinearRisk::new(&data, StructuredHinge(search), 1);
        let optimum = optimum_by_enumeration(&data, &search, c);
        let (gap, rounds) = (1e-7, 5000);
        is_optimal(&Bundle { c, gap, rounds }.minimize(&risk, &mut Silent::default()), &risk, c, &optimum);
        is_optimal(
            &BlockAscent { c, gap, rounds }.minimize(&risk, &mut Silent::default()),
            &risk,
            c,
            &optimum,
        );
    }
}

fn is_optimal(fit: &CertifiedFit, risk: &impl Objective, c: f64, (optimum, weights): &(f64, Vec<f64>)) {
    assert!(fit.converged && fit.gap() <= 1e-7, "C = {c}: gap {} after {}", fit.gap(), fit.rounds);
    assert!((fit.primal - optimum).abs() < 1e-6 * optimum, "C = {c}: {} for {optimum}", fit.primal);
    assert!(fit.dual < optimum * (1.0 + 1e-7), "C = {c}: {} is above {optimum}", fit.dual);
    // ½‖w − w*‖² is at most the gap, because the objective is strongly convex.
    let distance: f64 = fit.weights.iter().zip(weights).map(|(a, b)| (a - b).powi(2)).sum();
    assert!(0.5 * distance < 1e-5 * optimum, "C = {c}: {:?} for {weights:?}", fit.weights);
    let value = risk.value_and_gradient(&fit.weights, &mut [0.0; WIDTH]);
    let norm: f64 = fit.weights.iter().map(|w| w * w).sum();
    assert!((0.5 * norm + c * value - fit.primal).abs() < 1e-9 * fit.primal);
}

#[test]
fn the_optimum_for_auc_agrees_with_an_independent_solver() {
    agrees(AucSearch { threshold: 1.0 });
}

#[test]
fn the_optimum_for_average_precision_agrees_with_an_independent_solver() {
    agrees(MapSearch { threshold: 1.0 });
}

#[test]
fn the_optimum_for_ndcg_agrees_with_an_independent_solver() {
    agrees(NdcgSearch { threshold: 1.0, k: 3, discount: Discount::Letor });
    agrees(NdcgSearch { threshold: 1.0, k: 0, discount: Discount::Log2 });
}

#[test]
fn the_optimum_for_the_reciprocal_rank_agrees_with_an_independent_solver() {
    agrees(MrrSearch { threshold: 1.0, k: 0 });
    agrees(MrrPairSearch { threshold: 1.0, k: 0 });
}

#[test]
fn the_optimum_for_position_weights_agrees_with_an_independent_solver() {
    agrees(DormSearch::default());
}

const MANY: usize = 4000;

/// 150 queries of five documents, each with fifteen of 4,000 features. A label depends on some of the features and on
/// chance; every tenth query has the weight 0, and every seventh 2.
fn wide_data() -> Dataset {
    let mut random = rng::stream(8, &[]);
    let (mut columns, mut labels) = (Vec::new(), Vec::new());
    for document in 0..750 {
        let first = columns.len();
        columns.extend((0..15).map(|i| (MANY / 15 * i + random.random_range(0..MANY / 15)) as u32));
        let signal = columns[first..].iter().filter(|c| **c % 3 == 0).count() + random.random_range(0..4);
        labels.push([0.0, 1.0, signal as f32 / 4.0][document % 5 % 3].floor());
    }
    let values = columns.iter().map(|_| random.random::<f32>() + 0.5).collect();
    Dataset::new(Parts {
        features: Features::Sparse {
            width: MANY,
            starts: (0..=750).map(|i| 15 * i).collect(),
            columns,
            values,
        },
        labels,
        bounds: (0..=150).map(|q| 5 * q).collect(),
        query_ids: (0..150).map(|q| format!("{q:03}")).collect(),
        query_weights: Some(
            (0..150)
                .map(|q| [1.0, 2.0, 0.0][usize::from(q % 7 == 0).max(2 * usize::from(q % 10 == 0))])
                .collect(),
        ),
        ..Parts::default()
    })
    .unwrap()
}

/// Both solvers have a certificate, so their optima must be the same; but with many features one needs many planes.
#[test]
fn many_features_take_few_rounds_of_block_ascent() {
    let data = wide_data();
    for c in [1.0, 100.0] {
        let risk = LinearRisk::new(&data, StructuredHinge(MapSearch { threshold: 1.0 }), 1).scaled();
        let by_query = BlockAscent { c, gap: 1e-3, rounds: 100 }.minimize(&risk, &mut Silent::default());
        assert!(by_query.converged && by_query.rounds <= 30, "C = {c}: {} rounds", by_query.rounds);
        let by_pieces = Bundle { c, gap: 1e-3, rounds: 1000 }.minimize(&risk, &mut Silent::default());
        assert!(by_pieces.converged && by_pieces.rounds > 2 * by_query.rounds, "C = {c}");
        assert!(by_query.dual <= by_pieces.primal && by_pieces.dual <= by_query.primal, "C = {c}");
        let value = risk.value_and_gradient(&by_query.weights, &mut [0.0; MANY]);
        let norm: f64 = by_query.weights.iter().map(|w| w * w).sum();
        assert!((0.5 * norm + c * value - by_query.primal).abs() < 1e-9 * by_query.primal, "C = {c}");
    }
}

#[test]
fn block_ascent_continues_from_the_planes_of_another_c() {
    let data = wide_data();
    let risk = LinearRisk::new(&data, StructuredHinge(MapSearch { threshold: 1.0 }), 1);
    let ascent = |c: f64| BlockAscent { c, gap: 1e-4, rounds: 500 };
    let mut planes = QueryPlanes::under(&risk);
    ascent(3.0).minimize_from(&risk, &mut planes, &mut Silent::default());
    let warm = ascent(4.0).minimize_from(&risk, &mut planes, &mut Silent::default());
    let cold = ascent(4.0).minimize(&risk, &mut Silent::default());
    assert!(warm.converged && cold.converged && warm.rounds < cold.rounds, "{} {}", warm.rounds, cold.rounds);
    assert!(warm.dual <= cold.primal && cold.dual <= warm.primal);
}

/// Learners of nine losses, as in a recipe: with thousands of features all use the solver that suits them.
#[test]
fn max_margin_learners_converge_on_many_features_on_any_number_of_threads() {
    let data = wide_data();
    let learners = [
        "svm-auc",
        "svm-map",
        "svm-mrr",
        "svm-ndcg",
        "svm-combo",
        "dorm",
        "min-perturb",
        "max-max",
        "tie-random",
        "rank-svm",
        "ir-svm",
    ];
    for learner in learners {
        let fit = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let draws = ["dorm", "min-perturb", "max-max", "tie-random"].contains(&learner);
            let recipe = Recipe::new(learner);
            let recipe = if draws { recipe.set("draws", 4) } else { recipe };
            pool.install(|| recipe.fit(&data, None, Start::default(), &mut Silent::default()).unwrap())
        };
        let one = fit(1);
        let record = &one.record;
        assert!(record.outcome == Outcome::Converged && record.rounds <= 40, "{learner}: {record:?}");
        assert_eq!(one.to_bytes(), fit(3).to_bytes(), "{learner}");
    }
}
