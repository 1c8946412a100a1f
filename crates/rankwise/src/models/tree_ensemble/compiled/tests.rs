//! Compiled scores against plain walks, bit for bit.

use super::*;
use crate::data::{Features, MAX_CATEGORY};
use crate::rng::{Random, stream};
use crate::trees::Tree;
use pulp::Scalar;
use rand::RngExt;
use std::ops::Range;

/// Values that are easily got wrong, as features and as thresholds.
const ODD: [f32; 12] =
    [0.0, -0.0, 1.0, -1.0, 0.5, f32::MAX, f32::MIN, f32::INFINITY, f32::NEG_INFINITY, 1e-45, -1e-45, 3.0];

/// Numbers of documents around the edges of blocks.
const COUNTS: [usize; 15] = [0, 1, 3, 5, 6, 7, 31, 32, 33, 64, 67, 96, 97, 128, 321];

#[derive(Clone, Copy)]
enum TreeKind {
    Random,
    /// Each split makes one leaf, on the left or on the right.
    Chain {
        to_the_right: bool,
    },
}

/// A tree over `width` features whose thresholds come from `threshold`.
fn tree(
    random: &mut Random,
    width: u32,
    leaves: usize,
    shape: TreeKind,
    threshold: &mut dyn FnMut(&mut Random) -> f32,
) -> Tree {
    let mut tree = Tree::constant(random.random_range(-1.0..1.0), 1.0);
    // Where each leaf hangs: its parent, and whether on the left.
    let mut parents: Vec<Option<(usize, bool)>> = vec![None];
    while tree.values.len() < leaves {
        let fresh = tree.values.len();
        let (leaf, keep_left) = match shape {
            TreeKind::Random => (random.random_range(0..fresh), random.random()),
            TreeKind::Chain { to_the_right } => (fresh - 1, to_the_right),
        };
        let node = tree.features.len();
        if let Some((parent, left)) = parents[leaf] {
            let side = if left { &mut tree.left } else { &mut tree.right };
            side[parent] = node as i32;
        }
        tree.features.push(random.random_range(0..width));
        tree.thresholds.push(threshold(random));
        tree.missing_left.push(random.random());
        tree.gains.push(0.0);
        let codes = [!(leaf as i32), !(fresh as i32)];
        tree.left.push(codes[usize::from(!keep_left)]);
        tree.right.push(codes[usize::from(keep_left)]);
        parents[leaf] = Some((node, keep_left));
        parents.push(Some((node, !keep_left)));
        tree.values.push(random.random_range(-1.0..1.0));
        tree.covers.push(1.0);
    }
    tree
}

/// Makes some tests of a tree ask for categories, most of them small.
fn with_sets(random: &mut Random, mut tree: Tree) -> Tree {
    let set = |random: &mut Random| -> Vec<u32> {
        let mut set: Vec<u32> = (0..random.random_range(1..6)).map(|_| random.random_range(0..8)).collect();
        if random.random_bool(0.1) {
            set.extend([300, 5000, MAX_CATEGORY]);
        }
        set.sort_unstable();
        set.dedup();
        set
    };
    tree.categories =
        (0..tree.features.len()).map(|_| if random.random() { set(random) } else { Vec::new() }).collect();
    if tree.categories.iter().all(Vec::is_empty) {
        tree.categories.clear();
    }
    tree
}

/// Blocks, single documents and sparse rows; categories that are unseen, missing, and values that are none.
#[test]
fn tests_of_categories() {
    let values =
        [0.0, 1.0, 2.0, 3.0, 5.0, 7.0, 8.0, 300.0, 5000.0, 16_777_215.0, 0.5, -1.0, f32::MAX, f32::NAN];
    for (seed, leaves) in [2, 3, 31, 64, 200, 256, 257, 600].into_iter().enumerate() {
        let random = &mut stream(seed as u64, &[3]);
        let trees: Vec<Tree> = (0..12)
            .map(|_| {
                let tree = tree(random, 4, leaves, TreeKind::Random, &mut odd);
                with_sets(random, tree)
            })
            .collect();
        assert!(trees.iter().any(Tree::has_categories));
        let ensemble = TreeEnsemble::sum(4, 0.25, trees).unwrap();
        for sparse in [false, true] {
            let mut features = rows(random, 140, 4, sparse, 0.1);
            for x in features.values_mut() {
                if random.random_bool(0.8) {
                    *x = values[random.random_range(0..values.len())];
                }
            }
            assert_equal(&ensemble, &features, &[1, 2, 3, 7, 60, 137]);
        }
    }
}

/// An odd value, a small whole number, or any number.
fn odd(random: &mut Random) -> f32 {
    match random.random_range(0..3) {
        0 => ODD[random.random_range(0..ODD.len())],
        1 => random.random_range(-5i32..6) as f32,
        _ => random.random_range(-6.0..6.0),
    }
}

/// Rows of odd values, some missing; half of them absent where they are sparse.
fn rows(random: &mut Random, count: usize, width: usize, sparse: bool, missing: f64) -> Features {
    let value = |random: &mut Random| if random.random_bool(missing) { f32::NAN } else { odd(random) };
    if !sparse {
        return Features::Dense { width, values: (0..count * width).map(|_| value(random)).collect() };
    }
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..count {
        for column in 0..width as u32 {
            if random.random() {
                columns.push(column);
                values.push(value(random));
            }
        }
        starts.push(columns.len());
    }
    Features::Sparse { width, starts, columns, values }
}

fn plain(ensemble: &TreeEnsemble, features: &Features, range: Range<usize>) -> Vec<f64> {
    let mut outputs = vec![0.0; ensemble.base().len()];
    let score = |row| {
        ensemble.outputs(features.row(row), &mut outputs);
        ensemble.combine().score(&outputs)
    };
    range.map(score).collect()
}

/// Compares a few numbers of documents, not all of which begin at the first row, with this machine's vectors and with
/// what the compiler makes of plain loops.
fn assert_equal(ensemble: &TreeEnsemble, features: &Features, counts: &[usize]) {
    let compiled = Compiled::new(ensemble);
    let (all, mut scratch) =
        (Rows::of_features(features, counts.iter().max().unwrap() + 1), Scratch::default());
    let bits = |scores: &[f64]| scores.iter().map(|s| s.to_bits()).collect::<Vec<_>>();
    for (i, &count) in counts.iter().enumerate() {
        let range = i % 2..i % 2 + count;
        let rows = all.slice(range.clone());
        let expected = bits(&plain(ensemble, features, range));
        let mut scores = vec![f64::NAN; count];
        compiled.score(rows, ensemble, &mut scratch, &mut scores);
        assert_eq!(bits(&scores), expected, "{count} documents");
        scores.fill(f64::NAN);
        compiled.score_blocks(Scalar::new(), rows, ensemble, &mut scratch, &mut scores);
        assert_eq!(bits(&scores), expected, "{count} documents without vectors");
    }
}

#[test]
fn any_number_of_leaves_and_documents() {
    let shapes =
        [TreeKind::Random, TreeKind::Chain { to_the_right: true }, TreeKind::Chain { to_the_right: false }];
    for (seed, leaves) in [1, 2, 3, 31, 64, 65, 128, 255, 256, 257, 300, 1000].into_iter().enumerate() {
        let random = &mut stream(seed as u64, &[]);
        let trees = shapes.iter().map(|&shape| tree(random, 4, leaves, shape, &mut odd)).collect();
        let ensemble = TreeEnsemble::sum(4, -0.0, trees).unwrap();
        let features = rows(random, 330, 4, false, 0.1);
        assert_equal(&ensemble, &features, &COUNTS);
    }
}

#[test]
fn mixed_trees_several_outputs_and_all_layouts() {
    let combines = [
        Combine::Sum,
        Combine::Softmax { grades: vec![0.0, 1.0, 4.0] },
        Combine::Ordinal { grades: vec![0.0, 1.0, 2.0, 3.0, 4.0] },
    ];
    for seed in 0..60 {
        let random = &mut stream(seed, &[1]);
        let combine = combines[random.random_range(0..3)].clone();
        let outputs = [1, 3, 4][combines.iter().position(|c| *c == combine).unwrap()];
        let width = random.random_range(1..12);
        let trees = (0..random.random_range(0..20))
            .map(|_| {
                let leaves = [1, random.random_range(1..70), 280][random.random_range(0..3)];
                tree(random, width, leaves, TreeKind::Random, &mut odd)
            })
            .collect();
        let base = (0..outputs).map(|_| random.random_range(-1.0..1.0)).collect();
        let ensemble = TreeEnsemble::new(width as usize, base, combine, trees).unwrap();
        // Narrower than the model, as wide, and wider; without missing values, with some, and with nothing else.
        let columns = random.random_range(0..14);
        let missing = [0.0, 0.2, 1.0][random.random_range(0..3)];
        for sparse in [false, true] {
            let features = rows(random, 140, columns, sparse, missing);
            assert_equal(&ensemble, &features, &[1, 7, 60, 137]);
        }
    }
}

/// Around the 64 and 1,024 thresholds where the search changes, at 255 and 510 where a column ends, and beyond 65,535.
#[test]
fn any_number_of_thresholds() {
    for thresholds in [1, 63, 64, 65, 80, 254, 255, 256, 509, 510, 511, 1023, 1024, 1025, 70_000] {
        let random = &mut stream(thresholds as u64, &[2]);
        let mut next = 0;
        let mut distinct = |_: &mut Random| {
            next += 1;
            next as f32
        };
        let leaves = thresholds.min(250) + 1;
        let trees: Vec<Tree> = (0..thresholds / (leaves - 1) + 1)
            .map(|_| tree(random, 1, leaves, TreeKind::Random, &mut distinct))
            .collect();
        let ensemble = TreeEnsemble::sum(1, 0.0, trees).unwrap();
        let above = 1.2 * thresholds as f32;
        let values: Vec<f32> = (0..150)
            .map(|i| match i % 3 {
                0 => odd(random),
                1 => random.random_range(0.0..above).round(),
                _ => random.random_range(0.0..above),
            })
            .chain([f32::NAN])
            .collect();
        assert_equal(&ensemble, &Features::dense(1, values), &[2, 20, 150]);
    }
}

/// The rank of every value among every small set of thresholds, against counting one by one.
#[test]
fn ranks_count_the_thresholds_below() {
    let tree = |thresholds: &[f32]| Tree {
        features: vec![5; thresholds.len()],
        thresholds: thresholds.to_vec(),
        ..Tree::default()
    };
    for subset in 1..1usize << ODD.len() {
        let thresholds: Vec<f32> =
            ODD.iter().enumerate().filter(|(i, _)| subset >> i & 1 == 1).map(|(_, &t)| t).collect();
        let tree = tree(&thresholds);
        let ranks = Ranks::new(|| [&tree].into_iter());
        let mut block = RankBlock::<16>::new(&ranks);
        let mut values = [f32::NAN; 16];
        values[..ODD.len()].copy_from_slice(&ODD);
        let features = Features::Sparse {
            width: 6,
            starts: (0..=16).collect(),
            columns: vec![5; 16],
            values: values.into(),
        };
        ranks.fill(Scalar::new(), Rows::of_features(&features, 16), &mut block);
        for &threshold in &thresholds {
            let (column, rank) = ranks.place(5, threshold);
            for (i, &x) in values.iter().enumerate() {
                let [left, right] = [false, true].map(|right| block.column(column, right)[i] <= rank);
                let expected = if x.is_nan() { (true, false) } else { (x <= threshold, x <= threshold) };
                assert_eq!((left, right), expected, "{x} ≤ {threshold}");
            }
        }
    }
}
