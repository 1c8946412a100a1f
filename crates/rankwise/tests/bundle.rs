//! Compares the bundle solver with an independent interior-point solver, on problems small enough to write out in
//! full.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT};
use rand::RngExt;
use rankwise::data::Dataset;
use rankwise::losses::structured::{
    AucSearch, DormSearch, FeatureMap, LossAugmentedArgmax, MapSearch, MrrPairSearch, MrrSearch, NdcgSearch,
    StructuredHinge,
};
use rankwise::metrics::Discount;
use rankwise::rank::Ranking;
use rankwise::rng;
use rankwise::solvers::{Bundle, LinearRisk, Objective};
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
        let fit = Bundle { c, gap: 1e-7, rounds: 5000 }.minimize(&risk, &mut Silent::default());
        assert!(fit.converged && fit.gap() <= 1e-7, "C = {c}: gap {}", fit.gap());
        let (optimum, weights) = optimum_by_enumeration(&data, &search, c);
        assert!((fit.primal - optimum).abs() < 1e-6 * optimum, "C = {c}: {} for {optimum}", fit.primal);
        assert!(fit.dual < optimum * (1.0 + 1e-7), "C = {c}: {} is above {optimum}", fit.dual);
        // ½‖w − w*‖² is at most the gap, because the objective is strongly convex.
        let distance: f64 = fit.weights.iter().zip(&weights).map(|(a, b)| (a - b).powi(2)).sum();
        assert!(0.5 * distance < 1e-5 * optimum, "C = {c}: {:?} for {weights:?}", fit.weights);
        let value = risk.value_and_gradient(&fit.weights, &mut [0.0; WIDTH]);
        let norm: f64 = fit.weights.iter().map(|w| w * w).sum();
        assert!((0.5 * norm + c * value - fit.primal).abs() < 1e-9 * fit.primal);
    }
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
