//! What the parts of this room share in their tests, and tests across them.

mod importance;
mod shap;

use super::*;
use crate::data::{Dataset, Features};
use crate::models::{Combine, Model, TreeEnsemble};
use crate::rng::{Random, stream};
use crate::trees::Tree;
use rand::RngExt;

/// One query's worth of dense rows, or several where `bounds` says so.
pub(super) fn dataset(width: usize, values: Vec<f32>, labels: Vec<f32>, bounds: Vec<usize>) -> Dataset {
    let sizes: Vec<usize> = bounds.windows(2).map(|b| b[1] - b[0]).collect();
    Dataset::dense(values, width, labels, &sizes).unwrap()
}

/// The same data, only what is not 0 stored.
fn sparse(data: &Dataset) -> Dataset {
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..data.len() {
        for (column, x) in data.row(i).iter().filter(|(_, x)| *x != 0.0) {
            columns.push(column as u32);
            values.push(x);
        }
        starts.push(values.len());
    }
    let mut parts = data.clone().into_parts();
    parts.features = Features::Sparse { width: data.width(), starts, columns, values };
    Dataset::new(parts).unwrap()
}

/// Small whole numbers, so that values meet thresholds, and missing values.
fn random_value(random: &mut Random) -> f32 {
    if random.random_bool(0.15) { f32::NAN } else { random.random_range(-3i32..=3) as f32 }
}

fn random_data(random: &mut Random, width: usize, documents: usize) -> Dataset {
    let values = (0..documents * width).map(|_| random_value(random)).collect();
    let labels = (0..documents).map(|_| random.random_range(0u8..3).into()).collect();
    dataset(width, values, labels, vec![0, documents / 3, documents])
}

/// A tree grown by splitting random leaves; some of its leaves have no documents.
fn random_tree(random: &mut Random, width: usize, leaves: usize) -> Tree {
    let mut tree = Tree::constant(0.0, 0.0);
    // Where each leaf hangs: its parent, and whether to the left.
    let mut places: Vec<Option<(usize, bool)>> = vec![None];
    while places.len() < leaves {
        let node = tree.features.len();
        let split = random.random_range(0..places.len());
        if let Some((parent, left)) = places[split] {
            let side = if left { &mut tree.left } else { &mut tree.right };
            side[parent] = node as i32;
        }
        tree.features.push(random.random_range(0..width) as u32);
        tree.thresholds.push(random.random_range(-3i32..=3) as f32);
        tree.missing_left.push(random.random_bool(0.5));
        tree.gains.push(1.0);
        tree.left.push(!(split as i32));
        tree.right.push(!(places.len() as i32));
        places[split] = Some((node, true));
        places.push(Some((node, false)));
    }
    tree.values = places.iter().map(|_| random.random_range(-1.0..1.0)).collect();
    tree.covers = places
        .iter()
        .map(|_| if random.random_bool(0.25) { 0.0 } else { random.random_range(1u8..20).into() })
        .collect();
    tree.covers[0] = tree.covers[0].max(1.0);
    tree.check(width).unwrap();
    tree
}

/// The same where some tests ask for categories.
fn random_tree_of_sets(random: &mut Random, width: usize, leaves: usize) -> Tree {
    let mut tree = random_tree(random, width, leaves);
    let set = |random: &mut Random| (0..4).filter(|_| random.random()).collect::<Vec<u32>>();
    tree.categories = tree.features.iter().map(|_| set(random)).collect();
    if tree.categories.iter().all(Vec::is_empty) {
        tree.categories.clear();
    }
    tree.check(width).unwrap();
    tree
}

fn random_ensemble(random: &mut Random, width: usize, trees: usize, leaves: usize) -> Model {
    let trees = (0..trees).map(|_| random_tree(random, width, leaves)).collect();
    Model::Trees(TreeEnsemble::sum(width, 0.5, trees).unwrap())
}

/// One that combines three outputs, so that scores are no sums.
fn graded(random: &mut Random, width: usize) -> Model {
    let trees = (0..7).map(|_| random_tree(random, width, 6)).collect();
    let combine = Combine::Softmax { grades: vec![0.0, 1.0, 3.0] };
    Model::Trees(TreeEnsemble::new(width, vec![0.1, 0.2, -0.3], combine, trees).unwrap())
}

fn linear(random: &mut Random, width: usize) -> Model {
    Model::linear((0..width).map(|_| random.random_range(-1.0..1.0)).collect(), 0.75)
}

/// The data with one value in all rows of a column.
fn with_column(data: &Dataset, column: usize, x: f32) -> Dataset {
    let width = data.width();
    let mut parts = data.clone().into_parts();
    parts.features.values_mut().iter_mut().skip(column).step_by(width).for_each(|value| *value = x);
    Dataset::new(parts).unwrap()
}

fn in_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn a_document_scored_with_other_values_is_the_document_changed() {
    let random = &mut stream(1, &[]);
    let data = random_data(random, 4, 30);
    for model in [random_ensemble(random, 4, 9, 7), graded(random, 4)] {
        for columns in [vec![2], vec![3, 0]] {
            let values: Vec<f32> = columns.iter().map(|_| random_value(random)).collect();
            let changed =
                columns.iter().zip(&values).fold(data.clone(), |data, (&c, &x)| with_column(&data, c, x));
            let expected = model.scores(&changed).unwrap();
            for data in [&data, &sparse(&data)] {
                let mut substitute = model.shape().substitute(&columns);
                for (i, expected) in expected.iter().enumerate() {
                    let mut found = [0.0];
                    substitute.scores(data.row(i), &values, &mut found);
                    assert_eq!(found[0], *expected);
                }
            }
        }
    }
}

#[test]
fn partial_dependence_is_the_mean_over_changed_data() {
    let random = &mut stream(2, &[]);
    let data = random_data(random, 4, 90);
    let how = Dependence { points: 20, documents: 1000, seed: 0 };
    for model in [random_ensemble(random, 4, 9, 7), graded(random, 4), linear(random, 4)] {
        let found = how.of(&model, &data, &[3, 1]).unwrap();
        assert_eq!(found.grids[0][..7], [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0]);
        assert!(found.grids.iter().all(|grid| grid.len() == 8 && grid[7].is_nan()));
        assert_eq!((found.documents, found.means.len()), (90, 64));
        for (i, mean) in found.means.iter().enumerate() {
            let (first, second) = (found.grids[0][i / 8], found.grids[1][i % 8]);
            assert!(found.points()[i].iter().zip([first, second]).all(|(a, b)| a.to_bits() == b.to_bits()));
            let scores = model.scores(&with_column(&with_column(&data, 3, first), 1, second)).unwrap();
            let expected = scores.iter().sum::<f64>() / 90.0;
            assert!((mean - expected).abs() < 1e-12, "{mean} for {expected}");
        }
        let again = in_threads(3, || how.of(&model, &data, &[3, 1]).unwrap());
        assert_eq!(again.means, found.means);
    }
}

#[test]
fn grids_are_quantiles_and_samples_are_drawn() {
    let values: Vec<f32> = (0..101).rev().map(|i| (i * i) as f32).collect();
    let data = dataset(1, values, vec![0.0; 101], vec![0, 101]);
    let zeros = dataset(1, vec![0.0, -0.0, -0.0, 1.0], vec![0.0; 4], vec![0, 4]);
    let model = Model::linear(vec![2.0], 1.0);
    let of = |points, documents, seed| Dependence { points, documents, seed }.of(&model, &data, &[0]);
    let found = of(5, 10, 0).unwrap();
    assert_eq!(found.grids[0], [0.0, 625.0, 2500.0, 5625.0, 10000.0]);
    assert_eq!(found.means, [1.0, 1251.0, 5001.0, 11251.0, 20001.0]);
    assert_eq!(found.documents, 10);
    assert_eq!(of(101, 10, 0).unwrap().grids[0].len(), 101);
    let grid = &Dependence::default().of(&model, &zeros, &[0]).unwrap().grids[0];
    assert!(grid.len() == 2 && grid[0].is_sign_positive(), "there is one zero: {grid:?}");
    for (points, documents, message) in [(1, 10, "`points` is 1"), (1001, 10, "1001"), (5, 0, "documents")] {
        assert!(of(points, documents, 0).unwrap_err().to_string().contains(message));
    }
    let features = |columns: &[usize]| Dependence::default().of(&model, &data, columns).unwrap_err();
    for columns in [vec![], vec![1], vec![0, 0], vec![0, 0, 0]] {
        assert!(features(&columns).to_string().contains("feature"));
    }
}

#[test]
fn the_sample_depends_on_the_seed_alone() {
    let random = &mut stream(3, &[]);
    let data = random_data(random, 3, 300);
    let model = random_ensemble(random, 3, 5, 8);
    let means = |seed| Dependence { points: 5, documents: 40, seed }.of(&model, &data, &[0]).unwrap().means;
    assert_eq!(means(1), in_threads(4, || means(1)));
    assert_ne!(means(1), means(2));
    let all = Dependence { points: 5, documents: 300, seed: 1 }.of(&model, &data, &[0]).unwrap().means;
    assert!(means(1).iter().zip(&all).all(|(some, all)| (some - all).abs() < 1.0));
}
