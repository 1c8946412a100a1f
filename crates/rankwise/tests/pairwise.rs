//! Compares the pairwise learners with an independent interior-point solver that enumerates every pair, and the
//! smooth solvers with each other.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT};
use rand::RngExt;
use rankwise::data::Dataset;
use rankwise::losses::{GradeWeights, PairHinge, PairSum, PairWeights, SquaredPairHinge};
use rankwise::rng;
use rankwise::solvers::{
    Bundle, CertifiedFit, Curvature, Lbfgs, LinearRisk, NewtonCg, Objective, Regularized, Termination,
};
use rankwise::watch::{Progress, Silent, Stop, Watch};

const WIDTH: usize = 4;
const SIZES: [usize; 5] = [5, 8, 2, 6, 4];

/// Five queries with 2 to 8 documents, random labels and query weights; the third has no pairs.
fn small_data(seed: u64) -> Dataset {
    let mut random = rng::stream(seed, &[]);
    let documents: usize = SIZES.iter().sum();
    let values = (0..documents * WIDTH).map(|_| random.random::<f32>() * 2.0 - 1.0).collect();
    let mut labels: Vec<f32> = (0..documents).map(|_| random.random_range(0..4) as f32 / 2.0).collect();
    labels[13..15].fill(1.0);
    let data = Dataset::dense(values, WIDTH, labels, &SIZES).unwrap();
    data.with_query_weights(vec![1.0, 2.0, 1.0, 0.5, 1.0]).unwrap()
}

/// `xᵢ − xⱼ` of each pair, and its weight in the risk.
fn all_pairs(data: &Dataset, weights: &PairWeights) -> Vec<(Vec<f64>, f64)> {
    let mut pairs: Vec<(Vec<f64>, f64)> = Vec::new();
    let mut total = 0.0;
    for query in data.queries() {
        let (n, labels) = (query.len(), query.labels());
        let better: Vec<(usize, usize)> =
            (0..n * n).map(|k| (k / n, k % n)).filter(|&(i, j)| labels[i] > labels[j]).collect();
        if better.is_empty() {
            continue;
        }
        total += query.weight();
        let mean = if weights.sum == PairSum::Mean { 1.0 / better.len() as f64 } else { 1.0 };
        for (i, j) in better {
            let tau = weights.grades.as_ref().map_or(1.0, |g| g.of(labels[i], labels[j]));
            let x = (0..WIDTH).map(|c| f64::from(query.row(i).get(c)) - f64::from(query.row(j).get(c)));
            pairs.push((x.collect(), query.weight() * mean * tau));
        }
    }
    pairs.iter_mut().for_each(|(_, weight)| *weight /= total);
    pairs
}

/// `min ½‖w‖² + C Σ_p v_p ξ_p` (or ξ_p²) with `w·x_p ≥ 1 − ξ_p` and `ξ_p ≥ 0` for every pair, by the independent solver.
fn optimum_of_pairs(pairs: &[(Vec<f64>, f64)], c: f64, squared: bool) -> (f64, Vec<f64>) {
    let (count, variables) = (pairs.len(), WIDTH + pairs.len());
    let cost = |p: usize| c * pairs[p].1;
    let quadratic: Vec<f64> = (0..variables)
        .map(|i| match i.checked_sub(WIDTH) {
            None => 1.0,
            Some(p) => {
                if squared {
                    2.0 * cost(p)
                } else {
                    0.0
                }
            }
        })
        .collect();
    let linear: Vec<f64> =
        (0..variables).map(|i| i.checked_sub(WIDTH).filter(|_| !squared).map_or(0.0, cost)).collect();
    let diagonal =
        CscMatrix::new(variables, variables, (0..=variables).collect(), (0..variables).collect(), quadratic);
    // Rows 0..count: −w·x − ξ ≤ −1; rows count..2·count: −ξ ≤ 0.
    let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for column in 0..variables {
        match column.checked_sub(WIDTH) {
            None => {
                rows.extend(0..count);
                values.extend(pairs.iter().map(|(x, _)| -x[column]));
            }
            Some(p) => {
                rows.extend([p, count + p]);
                values.extend([-1.0, -1.0]);
            }
        }
        starts.push(rows.len());
    }
    let matrix = CscMatrix::new(2 * count, variables, starts, rows, values);
    let right: Vec<f64> = (0..2 * count).map(|row| if row < count { -1.0 } else { 0.0 }).collect();
    let settings = DefaultSettingsBuilder::default().verbose(false).build().unwrap();
    let cones = [NonnegativeConeT(2 * count)];
    let mut solver = DefaultSolver::new(&diagonal, &linear, &matrix, &right, &cones, settings).unwrap();
    solver.solve();
    (solver.solution.obj_val, solver.solution.x[..WIDTH].to_vec())
}

fn agrees(fit: &CertifiedFit, gap: f64, (optimum, weights): (f64, Vec<f64>), what: &str) {
    assert!(fit.converged && fit.gap() <= gap, "{what}: gap {}", fit.gap());
    assert!((fit.primal - optimum).abs() < 1e-6 * optimum, "{what}: {} for {optimum}", fit.primal);
    assert!(fit.dual < optimum * (1.0 + 1e-7), "{what}: {} is above {optimum}", fit.dual);
    // ½‖w − w*‖² is at most the gap, because the objective is strongly convex.
    let distance: f64 = fit.weights.iter().zip(&weights).map(|(a, b)| (a - b).powi(2)).sum();
    assert!(0.5 * distance < 1e-5 * optimum, "{what}: {:?} for {weights:?}", fit.weights);
}

/// Equal weights, or weights by label and normalised per query, as in IR SVM.
fn both_weightings() -> [PairWeights; 2] {
    let tau = |better: f32, worse: f32| f64::from((better + 1.0) * (better - worse));
    let grades = Some(GradeWeights::new(vec![0.0, 0.5, 1.0, 1.5], tau));
    [PairWeights::default(), PairWeights { sum: PairSum::Mean, grades }]
}

#[test]
fn the_optimum_of_the_hinge_agrees_with_an_independent_solver() {
    for weights in both_weightings() {
        for (seed, c) in [(1, 0.01), (2, 0.1), (3, 1.0), (4, 10.0), (5, 100.0)] {
            let data = small_data(seed);
            let risk = LinearRisk::new(&data, PairHinge(weights.clone()), 1);
            assert_eq!(risk.skipped(), 1);
            let fit = Bundle { c, gap: 1e-7, rounds: 5000 }.minimize(&risk, &mut Silent::default());
            let optimum = optimum_of_pairs(&all_pairs(&data, &weights), c, false);
            agrees(&fit, 1e-7, optimum, &format!("C = {c}, {:?}", weights.sum));
        }
    }
}

#[test]
fn the_optimum_of_the_squared_hinge_agrees_with_an_independent_solver() {
    for weights in both_weightings() {
        for (seed, c) in [(1, 0.01), (2, 0.1), (3, 1.0), (4, 10.0), (5, 100.0), (6, 1e4)] {
            let data = small_data(seed);
            let risk = LinearRisk::new(&data, SquaredPairHinge(weights.clone()), 1);
            let fit = NewtonCg { c, gap: 1e-10, rounds: 100 }.minimize(&risk, &mut Silent::default());
            let optimum = optimum_of_pairs(&all_pairs(&data, &weights), c, true);
            agrees(&fit, 1e-10, optimum, &format!("C = {c}, {:?}", weights.sum));
            assert!(fit.rounds <= 30, "C = {c}: {} Newton steps", fit.rounds);
        }
    }
}

/// Both reach the same weights, although they have only the objective and the line search in common.
#[test]
fn two_smooth_solvers_agree() {
    for (seed, c) in [(1, 0.1), (2, 1.0), (3, 10.0), (4, 1000.0)] {
        let data = small_data(seed);
        let risk = LinearRisk::new(&data, SquaredPairHinge::default(), 1).scaled();
        let newton = NewtonCg { c, gap: 1e-18, rounds: 200 }.minimize(&risk, &mut Silent::default());
        let solver = Lbfgs { tolerance: 1e-12, ..Lbfgs::default() };
        let objective = Regularized { risk: &risk, c };
        let fit = solver.minimize(&objective, vec![0.5; WIDTH], &mut Silent::default());
        assert!(matches!(fit.ending, Termination::Converged | Termination::Stalled), "{fit:?}");
        assert!((fit.value - newton.primal).abs() < 1e-12 * newton.primal, "{} {}", fit.value, newton.primal);
        let scale = newton.weights.iter().fold(1.0_f64, |m, w| m.max(w.abs()));
        for (a, b) in fit.weights.iter().zip(&newton.weights) {
            assert!((a - b).abs() < 1e-8 * scale, "{:?} {:?}", fit.weights, newton.weights);
        }
    }
}

/// The product with a vector is the directional derivative of the gradient, with and without scaled features.
#[test]
fn hessian_products_are_slopes_of_the_gradient() {
    let data = small_data(7);
    let mut random = rng::stream(8, &[]);
    for scaled in [false, true] {
        let risk = LinearRisk::new(&data, SquaredPairHinge::default(), 1);
        let risk = if scaled { risk.scaled() } else { risk };
        let mut draw = || (0..WIDTH).map(|_| random.random::<f64>() - 0.5).collect::<Vec<f64>>();
        let (w, v) = (draw(), draw());
        let mut product = vec![0.0; WIDTH];
        risk.hessian(&w)(&v, &mut product);
        let gradient = |step: f64| {
            let there: Vec<f64> = w.iter().zip(&v).map(|(w, v)| w + step * v).collect();
            let mut out = vec![0.0; WIDTH];
            risk.value_and_gradient(&there, &mut out);
            out
        };
        let (up, down) = (gradient(1e-6), gradient(-1e-6));
        for k in 0..WIDTH {
            let slope = (up[k] - down[k]) / 2e-6;
            assert!((slope - product[k]).abs() < 1e-6 * (1.0 + slope.abs()), "{slope} for {}", product[k]);
        }
    }
}

/// Requests to stop after a given number of steps.
struct StopsAfter(u64, Stop);

impl Watch for StopsAfter {
    fn step(&mut self, step: Progress<'_>) {
        if step.done >= self.0 {
            self.1.request();
        }
    }

    fn stop(&self) -> &Stop {
        &self.1
    }
}

#[test]
fn newton_stops_when_asked_and_after_the_maximum_number_of_steps() {
    let data = small_data(9);
    let risk = LinearRisk::new(&data, SquaredPairHinge::default(), 1);
    let solver = NewtonCg { c: 100.0, gap: 1e-12, rounds: 100 };
    let fit = solver.minimize(&risk, &mut StopsAfter(2, Stop::default()));
    assert!(!fit.converged && fit.rounds == 2, "{fit:?}");
    let shorter = NewtonCg { rounds: 2, ..solver };
    assert_eq!(shorter.minimize(&risk, &mut Silent::default()), fit);
    let whole = solver.minimize(&risk, &mut Silent::default());
    assert!(whole.converged && whole.primal < fit.primal && fit.dual <= whole.primal);
}

#[test]
fn newton_does_not_depend_on_the_number_of_threads() {
    let data = small_data(10);
    let fit = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let risk = LinearRisk::new(&data, SquaredPairHinge::default(), 1).scaled();
        pool.install(|| NewtonCg { c: 10.0, gap: 1e-9, rounds: 100 }.minimize(&risk, &mut Silent::default()))
    };
    let one = fit(1);
    assert!(one.rounds > 1 && one == fit(2) && one == fit(5));
}

/// No pairs at all, and features so large that their squares exceed single precision by far.
#[test]
fn newton_stays_finite_on_degenerate_data() {
    for (values, labels) in [([1.0, 2.0, 3.0], [1.0; 3]), ([1e38, -1e38, 3e38], [0.0, 1.0, 2.0])] {
        let data = Dataset::dense(values.to_vec(), 1, labels.to_vec(), &[3]).unwrap();
        for c in [1e-6, 1.0, 1e6] {
            let risk = LinearRisk::new(&data, SquaredPairHinge::default(), 1);
            let fit = NewtonCg { c, gap: 1e-3, rounds: 100 }.minimize(&risk, &mut Silent::default());
            assert!(fit.weights[0].is_finite() && fit.primal.is_finite() && fit.dual.is_finite(), "{fit:?}");
            assert!(fit.dual <= fit.primal, "{fit:?}");
        }
    }
}
