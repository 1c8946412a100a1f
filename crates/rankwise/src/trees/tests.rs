//! Compares the engine with an exhaustive one, and with itself on other layouts and numbers of threads.

use super::*;
use crate::data::{Dataset, Features, Parts};
use crate::rng;
use rand::RngExt;

fn dataset(features: Features, rows: usize) -> Dataset {
    Dataset::from_features(features, vec![0.0; rows], &[rows]).unwrap()
}

/// Random rows with few distinct values, a tenth of them missing; gradients that depend on the first two features.
struct Case {
    data: Dataset,
    slopes: Vec<f64>,
    curvatures: Vec<f64>,
}

fn case(seed: u64, rows: usize, width: usize) -> Case {
    let mut random = rng::stream(seed, &[rows as u64]);
    let mut values = Vec::new();
    let (mut slopes, mut curvatures) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let row: Vec<f32> = (0..width)
            .map(|_| if random.random_bool(0.1) { f32::NAN } else { random.random_range(-6..7) as f32 / 2.0 })
            .collect();
        let known = |x: f32| if x.is_nan() { 1.3 } else { f64::from(x) };
        slopes.push(known(row[0]) * known(row[1 % width]) + random.random::<f64>() - 0.5);
        curvatures.push(0.1 + random.random::<f64>());
        values.extend(row);
    }
    Case { data: dataset(Features::dense(width, values), rows), slopes, curvatures }
}

fn grow(case: &Case, growth: &Growth) -> GrownTree {
    let binned = Binned::new(&case.data, 255);
    Grower::new(&binned, growth).grow(&case.slopes, &case.curvatures, None, 7).unwrap()
}

/// A split found by the exhaustive engine.
#[derive(Debug, Clone, Copy)]
struct Plain {
    gain: f64,
    feature: usize,
    threshold: f32,
    missing_left: bool,
}

impl Plain {
    fn goes_left(&self, x: f32) -> bool {
        if x.is_nan() { self.missing_left } else { x <= self.threshold }
    }
}

fn sums(case: &Case, rows: &[usize]) -> (f64, f64) {
    (rows.iter().map(|&r| case.slopes[r]).sum(), rows.iter().map(|&r| case.curvatures[r]).sum())
}

fn leaf_gain(growth: &Growth, (slope, curvature): (f64, f64)) -> f64 {
    let pull = (slope.abs() - growth.l1).max(0.0);
    pull * pull / (curvature + growth.l2)
}

/// Every split of `rows` at a value that occurs, with missing values on either side.
fn plain_splits(case: &Case, growth: &Growth, rows: &[usize]) -> Vec<Plain> {
    let own = leaf_gain(growth, sums(case, rows));
    let mut found = Vec::new();
    for feature in 0..case.data.width() {
        let value = |r: usize| case.data.row(r).get(feature);
        let mut thresholds: Vec<f32> = rows.iter().map(|&r| value(r)).filter(|x| !x.is_nan()).collect();
        thresholds.sort_by(f32::total_cmp);
        thresholds.dedup();
        for (threshold, missing_left) in thresholds.iter().flat_map(|&t| [(t, false), (t, true)]) {
            let mut split = Plain { gain: 0.0, feature, threshold, missing_left };
            let (left, right): (Vec<usize>, Vec<usize>) =
                rows.iter().partition(|&&r| split.goes_left(value(r)));
            let enough = |side: &[usize]| {
                side.len() as u64 >= growth.min_data_in_leaf.max(1)
                    && sums(case, side).1 >= growth.min_child_weight
            };
            if enough(&left) && enough(&right) {
                split.gain =
                    leaf_gain(growth, sums(case, &left)) + leaf_gain(growth, sums(case, &right)) - own;
                found.push(split);
            }
        }
    }
    found
}

fn best_plain(case: &Case, growth: &Growth, rows: &[usize]) -> Option<Plain> {
    plain_splits(case, growth, rows).into_iter().max_by(|a, b| a.gain.total_cmp(&b.gain))
}

/// Every inner node has the largest gain of all splits of its documents, the leaves have their optimal values, and no
/// leaf that existed at the last split could have gained more.
#[test]
fn trees_agree_with_exhaustive_search() {
    for seed in 0..12 {
        let case = case(seed, 120, 3);
        let policy = if seed % 2 == 0 { GrowthPolicy::LeafWise } else { GrowthPolicy::LevelWise };
        let l1 = if seed % 3 == 0 { 0.4 } else { 0.0 };
        let growth = Growth { policy, num_leaves: 7, min_data_in_leaf: 4, l1, l2: 0.3, ..Growth::default() };
        let GrownTree { tree, .. } = grow(&case, &growth);
        tree.check(3).unwrap();
        assert_eq!(tree.values.len(), 7);
        let rows: Vec<usize> = (0..120).collect();
        let mut unsplit = Vec::new();
        check_node(&case, &growth, &tree, (tree.root(), 0), &rows, &mut unsplit);
        if policy == GrowthPolicy::LeafWise {
            let last = f64::from(*tree.gains.last().unwrap());
            assert!(unsplit.iter().all(|&gain| gain <= last + 1e-5), "{unsplit:?} {last}");
        }
    }
}

fn check_node(
    case: &Case,
    growth: &Growth,
    tree: &Tree,
    (at, parent): (Child, usize),
    rows: &[usize],
    unsplit: &mut Vec<f64>,
) {
    match at {
        Child::Leaf(leaf) => {
            let (slope, curvature) = sums(case, rows);
            let value = -slope.signum() * (slope.abs() - growth.l1).max(0.0) / (curvature + growth.l2);
            assert!((tree.values[leaf] - value).abs() < 1e-9, "{} {value}", tree.values[leaf]);
            assert_eq!(tree.covers[leaf], rows.len() as f32);
            let older = parent + 1 < tree.features.len();
            unsplit.extend(best_plain(case, growth, rows).filter(|_| older).map(|split| split.gain));
        }
        Child::Node(node) => {
            let best = best_plain(case, growth, rows).unwrap();
            let gain = f64::from(tree.gains[node]);
            assert!((gain - best.gain).abs() < 1e-5 * best.gain, "{gain} against {best:?}");
            let feature = tree.features[node] as usize;
            let goes_left =
                |&&r: &&usize| Child::of(tree.left[node]) == tree.next(node, case.data.row(r).get(feature));
            let (left, right): (Vec<usize>, Vec<usize>) = rows.iter().partition(goes_left);
            check_node(case, growth, tree, (Child::of(tree.left[node]), node), &left, unsplit);
            check_node(case, growth, tree, (Child::of(tree.right[node]), node), &right, unsplit);
        }
    }
}

/// Each level has one test: the one with the largest total gain over the leaves of the level.
#[test]
fn oblivious_trees_agree_with_exhaustive_search() {
    for seed in 20..26 {
        let case = case(seed, 100, 3);
        let growth = Growth {
            policy: GrowthPolicy::Oblivious,
            num_leaves: 8,
            min_data_in_leaf: 1,
            l2: 0.5,
            ..Growth::default()
        };
        let GrownTree { tree, .. } = grow(&case, &growth);
        tree.check(3).unwrap();
        let mut parts: Vec<Vec<usize>> = vec![(0..100).collect()];
        for depth in 0..3usize {
            let nodes = (1 << depth) - 1..(1 << (depth + 1)) - 1;
            let first = nodes.start;
            let same = |n: usize| {
                (tree.features[n], tree.thresholds[n], tree.missing_left[n])
                    == (tree.features[first], tree.thresholds[first], tree.missing_left[first])
            };
            assert!(nodes.clone().all(same));
            let test = Plain {
                gain: 0.0,
                feature: tree.features[first] as usize,
                threshold: tree.thresholds[first],
                missing_left: tree.missing_left[first],
            };
            let all: Vec<usize> = (0..100).collect();
            let gain_of =
                |test: &Plain| parts.iter().map(|rows| gain_in(&case, &growth, rows, test)).sum::<f64>();
            let most = plain_splits(&case, &growth, &all).iter().map(gain_of).fold(0.0, f64::max);
            assert!((gain_of(&test) - most).abs() < 1e-9, "{} {most}", gain_of(&test));
            assert!((f64::from(tree.gains[first]) - most).abs() < 1e-4);
            parts = parts
                .into_iter()
                .flat_map(|rows| {
                    let value = |r: usize| case.data.row(r).get(test.feature);
                    let (left, right): (Vec<_>, Vec<_>) =
                        rows.into_iter().partition(|&r| test.goes_left(value(r)));
                    [left, right]
                })
                .collect();
        }
        for (leaf, rows) in parts.iter().enumerate() {
            let (slope, curvature) = sums(&case, rows);
            assert!((tree.values[leaf] + slope / (curvature + growth.l2)).abs() < 1e-9);
        }
    }
}

fn gain_in(case: &Case, growth: &Growth, rows: &[usize], test: &Plain) -> f64 {
    let value = |r: usize| case.data.row(r).get(test.feature);
    let (left, right): (Vec<usize>, Vec<usize>) = rows.iter().partition(|&&r| test.goes_left(value(r)));
    let enough = |side: &[usize]| !side.is_empty() && sums(case, side).1 >= growth.min_child_weight;
    if !enough(&left) || !enough(&right) {
        return 0.0;
    }
    leaf_gain(growth, sums(case, &left)) + leaf_gain(growth, sums(case, &right))
        - leaf_gain(growth, sums(case, rows))
}

/// The leaf assigned by codes while growing is the leaf found by values when scoring.
#[test]
fn documents_are_in_the_leaf_that_scoring_finds() {
    for policy in [GrowthPolicy::LeafWise, GrowthPolicy::LevelWise, GrowthPolicy::Oblivious] {
        let case = case(31, 500, 11);
        let grown = grow(&case, &Growth { policy, num_leaves: 16, min_data_in_leaf: 2, ..Growth::default() });
        let mut seen = 0;
        for (leaf, rows) in grown.leaves() {
            assert!(rows.is_sorted());
            assert!(rows.iter().all(|&row| grown.tree.leaf(case.data.row(row as usize)) == leaf));
            seen += rows.len();
        }
        assert_eq!(seen, 500);
        let mut scores = vec![1.0; 500];
        grown.add_to(&mut scores, 0.5);
        let walked = 1.0 + 0.5 * grown.tree.values[grown.tree.leaf(case.data.row(9))];
        assert_eq!(scores[9], walked);
    }
}

/// Sparse rows give the same tree as the same rows stored densely.
#[test]
fn sparse_and_dense_rows_give_the_same_tree() {
    let (rows, width) = (400, 40);
    let mut random = rng::stream(8, &[]);
    let mut dense = vec![0.0f32; rows * width];
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..rows {
        for column in 0..width {
            if random.random_bool(0.08) {
                let x = if random.random_bool(0.1) { f32::NAN } else { random.random_range(-4..5) as f32 };
                dense[row * width + column] = x;
                columns.push(column as u32);
                values.push(x);
            }
        }
        starts.push(values.len());
    }
    let slopes: Vec<f64> = (0..rows)
        .map(|r| f64::from(dense[r * width]) + random.random::<f64>())
        .map(|g| if g.is_nan() { 2.0 } else { g })
        .collect();
    let curvatures = vec![1.0; rows];
    let case = |features| Case {
        data: dataset(features, rows),
        slopes: slopes.clone(),
        curvatures: curvatures.clone(),
    };
    let sparse = case(Features::Sparse { width, starts, columns, values });
    assert!(matches!(Binned::new(&sparse.data, 255).codes(), binned::Codes::Sparse { .. }));
    let dense = case(Features::dense(width, dense));
    for policy in [GrowthPolicy::LeafWise, GrowthPolicy::Oblivious] {
        let growth = Growth { policy, num_leaves: 16, min_data_in_leaf: 3, ..Growth::default() };
        let tree = grow(&dense, &growth).tree;
        assert!(tree.features.len() > 6);
        assert_eq!(grow(&sparse, &growth).tree, tree);
    }
}

/// Uses enough documents that leaves are halved between threads.
#[test]
fn any_number_of_threads_gives_the_same_tree() {
    let case = case(41, 140_000, 9);
    let on = |threads: usize, growth: &Growth| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let grown = pool.install(|| grow(&case, growth));
        let leaves: Vec<Vec<u32>> = grown.leaves().map(|(_, rows)| rows.to_vec()).collect();
        (grown.tree, leaves)
    };
    // Where every split draws its features, leaves are split one at a time; otherwise several at once.
    for feature_fraction_per_split in [0.7, 1.0] {
        for policy in [GrowthPolicy::LeafWise, GrowthPolicy::LevelWise] {
            let growth = Growth { num_leaves: 12, feature_fraction_per_split, policy, ..Growth::default() };
            let one = on(1, &growth);
            assert!(one.1.iter().all(|rows| rows.is_sorted()));
            assert!([2, 3, 8].into_iter().all(|threads| on(threads, &growth) == one));
        }
    }
}

/// If the memory for histograms runs out, they are rebuilt, and nothing else changes.
#[test]
fn rebuilt_histograms_give_the_same_tree() {
    let case = case(42, 600, 5);
    let growth = Growth { num_leaves: 20, min_data_in_leaf: 3, ..Growth::default() };
    let binned = Binned::new(&case.data, 255);
    let grown = |bytes: usize| {
        let mut grower = Grower::new(&binned, &growth);
        grower.kept_bytes = bytes;
        grower.grow(&case.slopes, &case.curvatures, None, 1).unwrap().tree
    };
    assert_eq!(grown(0), grown(1 << 30));
}

/// A tree grown on a bag depends on its documents only.
#[test]
fn a_tree_depends_only_on_its_bag() {
    let mut case = case(43, 300, 4);
    let growth = Growth { num_leaves: 6, min_data_in_leaf: 5, ..Growth::default() };
    let binned = Binned::new(&case.data, 255);
    let bag: Vec<u32> = (0..300).filter(|r| r % 3 != 0).collect();
    let grown = |case: &Case| {
        Grower::new(&binned, &growth).grow(&case.slopes, &case.curvatures, Some(&bag), 1).unwrap()
    };
    let first = grown(&case);
    assert_eq!(first.tree.covers.iter().sum::<f32>(), 200.0);
    assert_eq!(first.leaves().map(|(_, rows)| rows.len()).sum::<usize>(), 200);
    (0..300).step_by(3).for_each(|r| case.slopes[r] = -case.slopes[r]);
    assert_eq!(grown(&case).tree, first.tree);
}

#[test]
fn limits_are_kept() {
    let case = case(44, 800, 6);
    let grown = |growth: Growth| grow(&case, &growth).tree;
    let free = Growth { num_leaves: 40, min_data_in_leaf: 1, min_child_weight: 0.0, ..Growth::default() };
    assert_eq!(grown(free.clone()).values.len(), 40);
    let depth = |tree: &Tree| {
        fn below(tree: &Tree, at: Child) -> usize {
            match at {
                Child::Leaf(_) => 0,
                Child::Node(n) => {
                    1 + below(tree, Child::of(tree.left[n])).max(below(tree, Child::of(tree.right[n])))
                }
            }
        }
        below(tree, tree.root())
    };
    assert!(depth(&grown(free.clone())) > 4);
    assert_eq!(depth(&grown(Growth { max_depth: 4, ..free.clone() })), 4);
    let covers = grown(Growth { min_data_in_leaf: 50, ..free.clone() }).covers;
    assert!(covers.len() > 4 && covers.iter().all(|&c| c >= 50.0));
    let mut gains = grown(free.clone()).gains;
    gains.sort_by(f32::total_cmp);
    let middle = gains[gains.len() / 2];
    let gains = grown(Growth { min_split_gain: middle.into(), ..free.clone() }).gains;
    assert!(!gains.is_empty() && gains.len() < 39 && gains.iter().all(|&g| g > middle));
    let one = grown(Growth { feature_fraction: 0.01, ..free.clone() }).features;
    assert!(one.len() > 3 && one.iter().all(|f| *f == one[0]));
    let several = grown(Growth { feature_fraction_per_split: 0.01, ..free }).features;
    assert!(several.iter().any(|f| *f != several[0]));
}

/// With a monotone constraint, no document's value decreases as the feature increases; without it, some do.
#[test]
fn monotone_constraints_are_obeyed() {
    let mut case = case(45, 600, 3);
    // Increases with the feature overall, with a dip.
    for r in 0..600 {
        let x = f64::from(case.data.row(r).get(0));
        case.slopes[r] = if x.is_nan() { 0.0 } else { -(x - 2.0 * f64::from(u8::from(x == 1.0))) };
    }
    for (direction, demanded) in [(0, false), (1, true), (-1, true)] {
        let growth = Growth {
            num_leaves: 30,
            min_data_in_leaf: 2,
            monotone: vec![direction, 0, 0],
            ..Growth::default()
        };
        let tree = grow(&case, &growth).tree;
        let value = |row: &[f32]| tree.values[tree.leaf(crate::data::Row::Dense(row))];
        let mut falls = 0;
        for r in 0..600 {
            let crate::data::Row::Dense(row) = case.data.row(r) else { unreachable!() };
            for step in -6..6 {
                let at = |x: i32| value(&[x as f32 / 2.0, row[1], row[2]]);
                falls += usize::from((at(step + 1) - at(step)) * f64::from(direction.max(-1) | 1) < -1e-12);
            }
        }
        assert_eq!(falls == 0, demanded, "{direction}: {falls}");
    }
}

#[test]
fn constant_gradients_or_features_give_a_single_leaf() {
    let mut flat = case(46, 50, 2);
    flat.slopes.fill(0.0);
    assert_eq!(grow(&flat, &Growth::default()).tree.values, [0.0]);
    assert_eq!(
        grow(&flat, &Growth { policy: GrowthPolicy::Oblivious, ..Growth::default() }).tree.values,
        [0.0]
    );
    let constant = Case { data: dataset(Features::dense(2, vec![3.0; 100]), 50), ..flat };
    assert_eq!(grow(&constant, &Growth { min_data_in_leaf: 1, ..Growth::default() }).tree.values.len(), 1);
}

#[test]
fn missing_goes_where_0_goes_if_training_saw_none() {
    for policy in [GrowthPolicy::LeafWise, GrowthPolicy::LevelWise, GrowthPolicy::Oblivious] {
        let growth =
            Growth { policy, num_leaves: 16, max_depth: 4, min_data_in_leaf: 5, ..Growth::default() };
        let mut directions = [0, 0];
        for seed in 0..10 {
            let mut case = case(seed, 400, 3);
            let values =
                case.data.parts().features.values().iter().map(|x| if x.is_nan() { 2.25 } else { *x });
            case.data = dataset(Features::Dense { width: 3, values: values.collect() }, 400);
            let best = Midpoints::new(&case.data).best(&case.slopes).expect("a test");
            for tree in [&grow(&case, &growth).tree, &best] {
                for (threshold, missing_left) in tree.thresholds.iter().zip(&tree.missing_left) {
                    assert_eq!(*missing_left, 0.0 <= *threshold, "{policy:?}: x <= {threshold}");
                    directions[usize::from(*missing_left)] += 1;
                }
            }
        }
        assert!(directions.iter().all(|&count| count > 20), "both directions occur: {directions:?}");
    }
}

/// More bins than a byte has codes: nothing is lost where every value has its own bin, in any layout of the codes.
#[test]
fn wide_codes_find_thresholds_that_bytes_cannot() {
    let rows = 3000;
    let value = |row: usize| ((row * 1_171) % rows) as f32;
    // One document in the middle of the values stands out on each side of the best threshold.
    let labels: Vec<f64> = (0..rows).map(|row| if value(row) < 1234.0 { -1.0 } else { 1.0 }).collect();
    let dense: Vec<f32> = (0..rows).flat_map(|row| [value(row), (row % 3) as f32]).collect();
    let sparse = (0..rows).flat_map(|row| {
        let zeros = std::iter::repeat_n(0.0, 18);
        [value(row), (row % 3) as f32].into_iter().chain(zeros).collect::<Vec<f32>>()
    });
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in sparse.collect::<Vec<f32>>().chunks(20) {
        for (column, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            columns.push(column as u32);
            values.push(x);
        }
        starts.push(values.len());
    }
    let growth = Growth { num_leaves: 2, min_data_in_leaf: 1, ..Growth::default() };
    let tree = |features: Features, max_bins: usize| {
        let data = Dataset::new(Parts {
            features,
            labels: vec![0.0; rows],
            bounds: vec![0, rows],
            query_ids: ["1"].into_iter().map(String::from).collect(),
            ..Parts::default()
        })
        .unwrap();
        let binned = Binned::new(&data, max_bins);
        let slopes: Vec<f64> = labels.iter().map(|label| -label).collect();
        let grown = Grower::new(&binned, &growth).grow(&slopes, &vec![1.0; rows], None, 0).unwrap();
        assert!((0..rows).all(|row| {
            let (_, bins) = binned.feature(0);
            binned.code(row, 0) == bins.code(value(row))
        }));
        grown.tree
    };
    let wide = tree(Features::dense(2, dense.clone()), 4000);
    assert_eq!((wide.features[0], wide.thresholds[0]), (0, 1233.5));
    assert_eq!(wide.values, [-1.0, 1.0]);
    let narrow = tree(Features::dense(2, dense), 255);
    assert_ne!(narrow.thresholds[0], 1233.5);
    assert_eq!(tree(Features::Sparse { width: 20, starts, columns, values }, 4000), wide);
}

/// A feature with too few documents outside its most frequent bin cannot split, and leaving it out changes no tree.
#[test]
fn features_that_cannot_split_off_enough_documents_are_left_out() {
    let case = case(77, 400, 6);
    let mut parts = case.data.parts().clone();
    let Features::Dense { width, values } = &mut parts.features else { panic!("the rows are dense") };
    for (row, values) in values.chunks_mut(*width).enumerate() {
        values[1] = if row < 9 { row as f32 } else { 50.0 };
        values[3] = if row < 20 { f32::NAN } else { 1.0 };
    }
    let data = Dataset::new(parts).unwrap();
    let growth = Growth { num_leaves: 8, min_data_in_leaf: 20, ..Growth::default() };
    let (all, some) = (Binned::new(&data, 255), Binned::for_leaves(&data, 255, 20));
    let columns = |binned: &Binned| -> Vec<usize> {
        (0..binned.feature_count()).map(|feature| binned.feature(feature).0).collect()
    };
    assert_eq!(columns(&all), [0, 1, 2, 3, 4, 5]);
    assert_eq!(columns(&some), [0, 2, 3, 4, 5]);
    let grown = |binned: &Binned| {
        Grower::new(binned, &growth).grow(&case.slopes, &case.curvatures, None, 1).unwrap().tree
    };
    assert_eq!(grown(&all), grown(&some));
}
