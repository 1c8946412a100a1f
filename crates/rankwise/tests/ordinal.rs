//! OC-SVM against an independent interior-point solver, on problems small enough to write out whole.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT};
use rand::RngExt;
use rankwise::data::{Dataset, Features, Parts};
use rankwise::learners::LinearParameters;
use rankwise::learners::ordinal::oc_svm::OcSvm;
use rankwise::losses::ThresholdConstraints;
use rankwise::models::{Model, OrdinalModel, Ranker};
use rankwise::recipe::{Recipe, Start};
use rankwise::rng;
use rankwise::watch::Silent;

const WIDTH: usize = 3;
const QUERIES: usize = 8;
const DOCUMENTS: usize = 4;

/// Eight queries of four documents with weights, all grades there are; `follow` is how much of the grade shows in
/// the first feature.
fn small_data(seed: u64, grades: usize, follow: f32) -> Dataset {
    let mut random = rng::stream(seed, &[]);
    let labels: Vec<f32> = (0..QUERIES * DOCUMENTS)
        .map(|i| if i < grades { i as f32 } else { random.random_range(0..grades) as f32 })
        .collect();
    let mut values: Vec<f32> =
        (0..labels.len() * WIDTH).map(|_| random.random::<f32>() * 2.0 - 1.0).collect();
    labels.iter().enumerate().for_each(|(i, label)| values[i * WIDTH] += follow * label);
    Dataset::new(Parts {
        features: Features::dense(WIDTH, values),
        labels,
        bounds: (0..=QUERIES).map(|q| q * DOCUMENTS).collect(),
        query_ids: (0..QUERIES).map(|q| format!("q{q}")).collect(),
        query_weights: Some((0..QUERIES).map(|q| 0.5 + q as f32 / 4.0).collect()),
        ..Parts::default()
    })
    .unwrap()
}

/// `min ½‖w‖² + C Σ v_i ξ_ir / Σ v_i` over weights, thresholds and one slack per document and threshold that count
/// for each other, by the other solver.
fn optimum_written_out(
    data: &Dataset,
    grades: usize,
    constraints: ThresholdConstraints,
    c: f64,
) -> (f64, Vec<f64>) {
    let (mut rows, mut right, mut costs) = (Vec::new(), Vec::new(), Vec::new());
    let head = WIDTH + grades - 1;
    for query in data.queries() {
        for (row, &label) in query.rows().zip(query.labels()) {
            for r in 0..grades - 1 {
                let label = label as usize;
                if constraints == ThresholdConstraints::Explicit && label != r && label != r + 1 {
                    continue;
                }
                // y·(w·x − b_r) ≥ 1 − ξ, as −y·w·x + y·b_r − ξ ≤ −1
                let side = if label > r { 1.0 } else { -1.0 };
                let mut constraint = vec![0.0; head];
                row.add_scaled(-side, &mut constraint[..WIDTH]);
                constraint[WIDTH + r] = side;
                rows.push((constraint, Some(costs.len())));
                right.push(-1.0);
                costs.push(query.weight());
            }
        }
    }
    let hinges = costs.len();
    rows.extend((0..hinges).map(|slack| (vec![0.0; head], Some(slack))));
    for r in 1..grades - 1 {
        let mut order = vec![0.0; head];
        (order[WIDTH + r - 1], order[WIDTH + r]) = (1.0, -1.0);
        rows.push((order, None));
    }
    right.resize(rows.len(), 0.0);
    let variables = head + hinges;
    let dense: Vec<Vec<f64>> = rows
        .into_iter()
        .map(|(mut row, slack)| {
            row.resize(variables, 0.0);
            slack.into_iter().for_each(|slack| row[head + slack] = -1.0);
            row
        })
        .collect();
    let total: f64 = data.queries().map(|q| q.weight() * q.len() as f64).sum();
    let mut linear = vec![0.0; head];
    linear.extend(costs.iter().map(|v| c * v / total));
    let mut quadratic = vec![vec![0.0; variables]; variables];
    (0..WIDTH).for_each(|i| quadratic[i][i] = 1.0);
    let settings = DefaultSettingsBuilder::default().verbose(false).build().unwrap();
    let (quadratic, matrix) = (CscMatrix::from(&quadratic), CscMatrix::from(&dense));
    let cones = [NonnegativeConeT(dense.len())];
    let mut solver = DefaultSolver::new(&quadratic, &linear, &matrix, &right, &cones, settings).unwrap();
    solver.solve();
    (solver.solution.obj_val, solver.solution.x[..WIDTH].to_vec())
}

fn learn(train: &Dataset, c: f64, constraints: ThresholdConstraints) -> Ranker {
    let linear = LinearParameters { c, tolerance: 1e-7, iterations: 5000, scale: false };
    let recipe = Recipe::of(OcSvm { constraints, balance: false, linear });
    recipe.fit(train, None, Start::default(), &mut Silent::default()).unwrap()
}

/// The objective at the model's own weights and thresholds, by the formula.
fn objective(data: &Dataset, model: &Model, constraints: ThresholdConstraints, c: f64) -> f64 {
    let Model::Ordinal(OrdinalModel { weights, thresholds, .. }) = model else { panic!("an ordinal model") };
    let (mut loss, mut total) = (0.0, 0.0);
    for query in data.queries() {
        for (row, &label) in query.rows().zip(query.labels()) {
            let score = row.dot(weights);
            for (r, b) in thresholds.iter().enumerate() {
                let gap = label - r as f32;
                let counts = constraints == ThresholdConstraints::Implicit || gap == 0.0 || gap == 1.0;
                let hinge = if gap <= 0.0 { 1.0 + score - b } else { 1.0 - score + b };
                loss += if counts { query.weight() * hinge.max(0.0) } else { 0.0 };
            }
            total += query.weight();
        }
    }
    0.5 * weights.iter().map(|w| w * w).sum::<f64>() + c * loss / total
}

#[test]
fn the_optimum_is_that_of_an_independent_solver() {
    let mut held_together = 0;
    for (seed, grades, follow) in [(1, 3, 0.4), (2, 4, 0.2), (3, 5, 0.0), (4, 3, 0.0), (5, 2, 0.3)] {
        let data = small_data(seed, grades, follow);
        for (c, constraints) in [0.1, 1.0, 10.0, 1000.0]
            .into_iter()
            .flat_map(|c| [(c, ThresholdConstraints::Explicit), (c, ThresholdConstraints::Implicit)])
        {
            let fitted = learn(&data, c, constraints);
            let (optimum, weights) = optimum_written_out(&data, grades, constraints, c);
            let reached = objective(&data, &fitted.model, constraints, c);
            let what = format!("{constraints:?}, {grades} grades, C = {c}");
            assert!((reached - optimum).abs() < 1e-6 * optimum, "{what}: {reached} for {optimum}");
            let claimed = fitted.record.figures.iter().find(|(n, _)| n == "primal objective").unwrap().1;
            assert!((reached - claimed).abs() < 1e-9 * claimed, "{what}: {reached}, said to be {claimed}");
            let Model::Ordinal(OrdinalModel { weights: found, thresholds, .. }) = &fitted.model else {
                panic!("{what}")
            };
            // ½‖w − w*‖² is at most the gap, since the objective is strongly convex.
            let distance: f64 = found.iter().zip(&weights).map(|(a, b)| (a - b).powi(2)).sum();
            assert!(0.5 * distance < 1e-5 * optimum, "{what}: {found:?} for {weights:?}");
            assert!(thresholds.is_sorted() && thresholds.len() == grades - 1, "{what}: {thresholds:?}");
            let equal = thresholds.windows(2).any(|pair| pair[0] == pair[1]);
            held_together += usize::from(equal && constraints == ThresholdConstraints::Explicit);
        }
    }
    assert!(held_together >= 4, "the order held thresholds together only {held_together} times");
}
