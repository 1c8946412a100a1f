//! Contributions against their definition, against LightGBM and by hand.

use super::*;
use crate::trees::Child;
use serde::Deserialize;

/// The conditional expectation of a tree when only the features in `known` (a bit each) are, by its definition.
fn expectation(tree: &Tree, at: Child, row: &[f32], known: u32) -> f64 {
    let Child::Node(node) = at else {
        let Child::Leaf(leaf) = at else { unreachable!() };
        return tree.values[leaf];
    };
    let feature = tree.features[node];
    if known >> feature & 1 == 1 {
        return expectation(tree, tree.next(node, row[feature as usize]), row, known);
    }
    let (left, right) = (Child::of(tree.left[node]), Child::of(tree.right[node]));
    let (some, others) = (documents(tree, left), documents(tree, right));
    let share = if some + others == 0.0 { 0.5 } else { some / (some + others) };
    share * expectation(tree, left, row, known) + (1.0 - share) * expectation(tree, right, row, known)
}

fn documents(tree: &Tree, at: Child) -> f64 {
    match at {
        Child::Leaf(leaf) => f64::from(tree.covers[leaf]),
        Child::Node(node) => {
            documents(tree, Child::of(tree.left[node])) + documents(tree, Child::of(tree.right[node]))
        }
    }
}

/// Shapley values by all subsets of features.
fn by_subsets(trees: &[Tree], row: &[f32]) -> Vec<f64> {
    let width = row.len();
    let factorial = |n: usize| (1..=n).map(|i| i as f64).product::<f64>();
    let worth: Vec<f64> = (0..1u32 << width)
        .map(|known| trees.iter().map(|tree| expectation(tree, tree.root(), row, known)).sum())
        .collect();
    let shapley = |i: usize| {
        let without = (0..1usize << width).filter(|subset| subset >> i & 1 == 0);
        without
            .map(|subset| {
                let size = subset.count_ones() as usize;
                let weight = factorial(size) * factorial(width - size - 1) / factorial(width);
                weight * (worth[subset | 1 << i] - worth[subset])
            })
            .sum()
    };
    (0..width).map(shapley).collect()
}

fn of_trees(width: usize, trees: Vec<Tree>) -> Model {
    Model::Trees(TreeEnsemble::sum(width, 0.0, trees).unwrap())
}

fn dense_row(data: &Dataset, document: usize) -> Vec<f32> {
    (0..data.width()).map(|column| data.row(document).get(column)).collect()
}

#[test]
fn contributions_are_shapley_values() {
    for seed in 0..40 {
        let random = &mut stream(seed, &[1]);
        let width = 3 + seed as usize % 4;
        // More nodes than features: most paths test a feature several times.
        let leaves = 3 + seed as usize % 12;
        let trees = (0..2).map(|_| match seed % 2 {
            0 => random_tree(random, width, leaves),
            _ => random_tree_of_sets(random, width, leaves),
        });
        let model = Model::Trees(TreeEnsemble::sum(width, 0.5, trees.collect()).unwrap());
        let Model::Trees(ensemble) = &model else { unreachable!() };
        let data = random_data(random, width, 6);
        let explainer = Explainer::new(&model).unwrap();
        let nothing: f64 = ensemble.trees().iter().map(|tree| expectation(tree, tree.root(), &[], 0)).sum();
        assert!((explainer.base() - 0.5 - nothing).abs() < 1e-12);
        let found = explainer.contributions(&data, &[5, 0, 1, 2, 3, 4]).unwrap();
        for (document, found) in [5, 0, 1, 2, 3, 4].into_iter().zip(found) {
            let expected = by_subsets(ensemble.trees(), &dense_row(&data, document));
            let near = found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-12);
            assert!(near, "seed {seed}: {found:?} for {expected:?}");
        }
    }
}

#[test]
fn contributions_sum_to_the_score_for_any_threads_and_layout() {
    let random = &mut stream(5, &[]);
    let data = random_data(random, 30, 150);
    let all: Vec<usize> = (0..150).collect();
    // A tree of one leaf, and features that the data lacks, are nothing special.
    let mut trees: Vec<Tree> = (0..20).map(|_| random_tree(random, 32, 40)).collect();
    trees.push(Tree::constant(2.0, 0.0));
    for model in [&of_trees(32, trees), &linear(random, 32)] {
        let explainer = Explainer::new(model).unwrap();
        let found = explainer.contributions(&data, &all).unwrap();
        for (row, score) in found.iter().zip(model.scores(&data).unwrap()) {
            assert!((explainer.base() + row.iter().sum::<f64>() - score).abs() < 1e-11);
        }
        for threads in [1, 2, 5] {
            let again = in_threads(threads, || explainer.contributions(&sparse(&data), &all).unwrap());
            assert_eq!(again, found);
        }
    }
}

/// Value 1 where all features are at most 0, which half of the documents pass each: all have the same part in it.
#[test]
fn deep_trees_lose_no_digits() {
    for depth in [1, 2, 9, 60, 100] {
        let mut tree = Tree::default();
        for node in 0..depth {
            tree.features.push(node as u32);
            tree.left.push(if node + 1 < depth { node as i32 + 1 } else { !(depth as i32) });
            tree.right.push(!(node as i32));
            tree.values.push(0.0);
            tree.covers.push(2f32.powi((depth - node - 1) as i32));
        }
        tree.thresholds = vec![0.0; depth];
        tree.missing_left = vec![false; depth];
        tree.gains = vec![1.0; depth];
        tree.values.push(1.0);
        tree.covers.push(1.0);
        let model = of_trees(depth, vec![tree]);
        let data = dataset(depth, vec![0.0; depth], vec![0.0], vec![0, 1]);
        let explainer = Explainer::new(&model).unwrap();
        let rarity = 0.5f64.powi(depth as i32);
        assert!((explainer.base() / rarity - 1.0).abs() < 1e-12);
        for found in &explainer.contributions(&data, &[0]).unwrap()[0] {
            assert!((found * depth as f64 / (1.0 - rarity) - 1.0).abs() < 1e-12, "{depth}: {found}");
        }
    }
}

/// The differences of contributions sum to the difference of the scores, and turn their sign with the pair.
#[test]
fn differences_sum_to_the_difference_of_the_scores() {
    let random = &mut stream(9, &[]);
    let data = random_data(random, 6, 40);
    for model in
        [random_ensemble(random, 6, 20, 9), Model::linear(vec![1.5, 0.0, -2.0, 0.25, 3.0, -1.0], 7.0)]
    {
        let (explainer, scores) = (Explainer::new(&model).unwrap(), model.scores(&data).unwrap());
        for (a, b) in [(0, 1), (39, 3), (17, 17), (20, 5)] {
            let found = explainer.difference(&data, a, b).unwrap();
            let sum: f64 = found.iter().sum();
            assert!((sum - (scores[a] - scores[b])).abs() < 1e-9, "{a} {b}: {sum}");
            let turned = explainer.difference(&data, b, a).unwrap();
            assert!(found.iter().zip(&turned).all(|(x, y)| *x == -y));
        }
    }
}

#[test]
fn linear_contributions_by_hand() {
    let model = Model::linear(vec![2.0, -1.0, 4.0], 0.5);
    let data = dataset(2, vec![3.0, f32::NAN, -1.0, 2.0], vec![0.0; 2], vec![0, 2]);
    let explainer = Explainer::new(&model).unwrap();
    assert_eq!(explainer.base(), 0.5);
    assert_eq!(explainer.contributions(&data, &[1, 0]).unwrap(), [[-2.0, -2.0, 0.0], [6.0, 0.0, 0.0]]);
}

#[derive(Deserialize)]
struct Stored {
    lightgbm: String,
    models: Vec<StoredModel>,
}

#[derive(Deserialize)]
struct StoredModel {
    width: usize,
    trees: Vec<Tree>,
    rows: Vec<Vec<Option<f32>>>,
    contributions: Vec<Vec<f64>>,
}

/// What `testdata/insight/generate.py` stored.
#[test]
fn contributions_are_lightgbms() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/insight/lightgbm.json");
    let stored: Stored = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(stored.models.len(), 3, "LightGBM {}", stored.lightgbm);
    for StoredModel { width, trees, rows, contributions } in stored.models {
        let count = rows.len();
        let values = rows.into_iter().flatten().map(|x| x.unwrap_or(f32::NAN)).collect();
        let data = dataset(width, values, vec![0.0; count], vec![0, count]);
        let model = of_trees(width, trees);
        let explainer = Explainer::new(&model).unwrap();
        let found = explainer.contributions(&data, &(0..count).collect::<Vec<_>>()).unwrap();
        for (found, expected) in found.iter().zip(&contributions) {
            for (a, b) in found.iter().copied().chain([explainer.base()]).zip(expected) {
                assert!((a - b).abs() < 1e-9, "{a} for {b}");
            }
            assert_eq!(expected.len(), width + 1);
        }
    }
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let refused = |model: &Model| Explainer::new(model).err().unwrap().to_string();
    let random = &mut stream(6, &[]);
    assert!(refused(&graded(random, 4)).contains("several outputs"));
    let with_covers = |covers: Vec<f32>| {
        let tree = Tree { covers, ..random_tree(&mut stream(7, &[]), 2, 3) };
        of_trees(2, vec![Tree::constant(1.0, 0.0), tree])
    };
    assert!(refused(&with_covers(vec![0.0; 3])).contains("tree 2 does not say how many documents"));
    assert!(refused(&with_covers(vec![1.0, -1.0, 3.0])).contains("covers of tree 2"));
    assert!(refused(&with_covers(vec![1.0, f32::NAN, 3.0])).contains("covers of tree 2"));
    let depth = 1001;
    let chain = Tree {
        features: vec![0; depth],
        thresholds: vec![0.0; depth],
        missing_left: vec![false; depth],
        left: (1..=depth as i32).map(|n| if n < depth as i32 { n } else { !n }).collect(),
        right: (0..depth as i32).map(|n| !n).collect(),
        gains: vec![0.0; depth],
        values: vec![1.0; depth + 1],
        covers: vec![1.0; depth + 1],
        ..Tree::default()
    };
    chain.check(1).unwrap();
    let deep = of_trees(1, vec![chain]);
    assert!(refused(&deep).contains("tree 1 has more than 1000 tests"));
    let huge = Model::linear(vec![1e308], 0.0);
    let data = dataset(1, vec![1e30], vec![0.0], vec![0, 1]);
    let error = Explainer::new(&huge).unwrap().contributions(&data, &[0]).unwrap_err();
    assert!(error.to_string().contains("document 1"));
}
