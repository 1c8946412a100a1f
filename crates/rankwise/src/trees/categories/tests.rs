//! Compares splits by categories with all subsets, and with themselves under other codes, layouts and threads.

use crate::data::{Categories, Dataset, Row};
use crate::rng;
use crate::trees::{Binned, CategorySplits, Child, Grower, GrownTree, Growth, GrowthPolicy, Tree};
use rand::RngExt;
use rand::seq::SliceRandom;

/// Documents with two categorical features and gradients that depend on both.
struct Case {
    rows: Vec<[f32; 2]>,
    slopes: Vec<f64>,
    curvatures: Vec<f64>,
}

fn case(seed: u64, rows: usize, categories: u32, missing: f64) -> Case {
    let mut random = rng::stream(seed, &[rows as u64]);
    let effects: Vec<f64> = (0..2 * categories).map(|_| random.random_range(-1.0..1.0)).collect();
    let mut case = Case { rows: Vec::new(), slopes: Vec::new(), curvatures: Vec::new() };
    for _ in 0..rows {
        let codes = [0, 1].map(|_| random.random_range(0..categories));
        let row = codes.map(|code| if random.random_bool(missing) { f32::NAN } else { code as f32 });
        let effect =
            |f: usize| if row[f].is_nan() { 0.7 } else { effects[f * categories as usize + row[f] as usize] };
        case.slopes.push(effect(0) * (1.0 + effect(1)) + random.random_range(-0.5..0.5));
        case.curvatures.push(random.random_range(0.1..1.1));
        case.rows.push(row);
    }
    case
}

impl Case {
    fn data(&self, change: impl Fn(f32) -> f32) -> Dataset {
        let values = self.rows.iter().flatten().map(|&x| change(x)).collect();
        let data = Dataset::dense(values, 2, vec![0.0; self.rows.len()], &[self.rows.len()]).unwrap();
        data.with_categories(Categories::default().with_numbers([0, 1])).unwrap()
    }

    fn grow(&self, growth: &Growth) -> GrownTree {
        self.grow_on(&self.data(|x| x), growth, 255)
    }

    fn grow_on(&self, data: &Dataset, growth: &Growth, bins: usize) -> GrownTree {
        let grown =
            Grower::new(&Binned::new(data, bins), growth).grow(&self.slopes, &self.curvatures, None, 1);
        let grown = grown.unwrap();
        grown.tree.check(2).unwrap();
        // What the tree says of a document is where growing put it.
        for (leaf, rows) in grown.leaves() {
            assert!(rows.iter().all(|&row| grown.tree.leaf(data.row(row as usize)) == leaf));
        }
        grown
    }

    fn sums(&self, rows: &[usize]) -> (f64, f64) {
        (rows.iter().map(|&r| self.slopes[r]).sum(), rows.iter().map(|&r| self.curvatures[r]).sum())
    }

    /// The gain of dividing `rows` by whether `left` holds.
    fn gain(&self, rows: &[usize], left: impl Fn(usize) -> bool) -> f64 {
        let (a, b): (Vec<usize>, Vec<usize>) = rows.iter().partition(|&&row| left(row));
        if a.is_empty() || b.is_empty() {
            return 0.0;
        }
        let worth = |(g, h): (f64, f64)| g * g / h;
        worth(self.sums(&a)) + worth(self.sums(&b)) - worth(self.sums(rows))
    }

    /// The best gain over the sets that `allowed` takes, of all subsets of the categories and missing values.
    fn best_of_all(&self, rows: &[usize], categories: u32, allowed: impl Fn(u32) -> bool) -> f64 {
        let bit = |x: f32| if x.is_nan() { categories } else { x as u32 };
        let gain = |set: u32, f: usize| self.gain(rows, |row| set >> bit(self.rows[row][f]) & 1 == 1);
        (0..1u32 << (categories + 1))
            .filter(|&set| allowed(set))
            .flat_map(|set| [gain(set, 0), gain(set, 1)])
            .fold(0.0, f64::max)
    }
}

/// Without any smoothing, so that the best set is the best of all.
fn exact(leaves: usize) -> Growth {
    let categories =
        CategorySplits { max_onehot: 0, max_categories: 255, smoothing: 0.0, l2: 0.0, min_data_per_group: 0 };
    Growth { num_leaves: leaves, min_data_in_leaf: 1, min_child_weight: 0.0, categories, ..Growth::default() }
}

/// The documents at each inner node.
fn rows_by_node(tree: &Tree, case: &Case) -> Vec<Vec<usize>> {
    let mut rows = vec![Vec::new(); tree.features.len()];
    for (row, values) in case.rows.iter().enumerate() {
        let mut at = tree.root();
        while let Child::Node(node) = at {
            rows[node].push(row);
            at = tree.next(node, values[tree.features[node] as usize]);
        }
    }
    rows
}

#[test]
fn the_split_is_the_best_of_all_subsets() {
    let mut checked = 0;
    for seed in 0..12 {
        for missing in [0.0, 0.15] {
            let case = case(seed, 90, 6, missing);
            let tree = case.grow(&exact(7)).tree;
            for (node, rows) in rows_by_node(&tree, &case).into_iter().enumerate() {
                let best = case.best_of_all(&rows, 6, |_| true);
                let gain = f64::from(tree.gains[node]);
                assert!((gain - best).abs() <= 1e-5 * best, "{gain} where {best} is possible");
                let found = case
                    .gain(&rows, |row| tree.goes_left(node, case.rows[row][tree.features[node] as usize]));
                assert!((found - best).abs() <= 1e-9 * best);
                assert!(!tree.missing_left[node]);
                checked += 1;
            }
        }
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn few_categories_are_tried_one_against_the_rest() {
    for seed in 0..12 {
        for (categories, missing) in [(4, 0.0), (4, 0.2), (3, 0.2), (2, 0.2), (1, 0.3)] {
            let case = case(seed, 80, categories, missing);
            let mut growth = exact(2);
            growth.categories = CategorySplits { max_onehot: 4, ..CategorySplits::default() };
            let tree = case.grow(&growth).tree;
            let all: Vec<usize> = (0..80).collect();
            // One category alone on either side; missing values on either side.
            let one = |set: u32| {
                let own = set & ((1 << categories) - 1);
                own.count_ones() == 1 || own.count_ones() + 1 == categories
            };
            let best = case.best_of_all(&all, categories, one);
            assert!((f64::from(tree.gains[0]) - best).abs() <= 1e-5 * best, "{categories} categories");
        }
    }
}

#[test]
fn codes_do_not_matter() {
    for seed in 0..6 {
        let case = case(seed, 3000, 40, 0.05);
        let growth = Growth { min_data_in_leaf: 5, ..Growth::default() };
        let tree = case.grow(&growth).tree;
        let mut codes: Vec<u32> = (0..40).map(|i| i * 411_001 % 16_000_000).collect();
        codes.shuffle(&mut rng::stream(seed, &[9]));
        let renamed = |x: f32| if x.is_nan() { x } else { codes[x as usize] as f32 };
        let other = case.grow_on(&case.data(renamed), &growth, 255).tree;
        let mut expected = tree.clone();
        for set in &mut expected.categories {
            set.iter_mut().for_each(|code| *code = codes[*code as usize]);
            set.sort_unstable();
        }
        assert_eq!(other, expected);
        assert!(tree.categories.iter().any(|set| set.len() > 2));
    }
}

#[test]
fn threads_and_layouts_do_not_matter() {
    let dense = case(3, 20_000, 60, 0.05);
    // So few values other than category 0 that they are stored alone.
    let mut mostly_zero = case(3, 20_000, 60, 0.05);
    for (i, row) in mostly_zero.rows.iter_mut().enumerate().filter(|(i, _)| i % 16 > 0) {
        *row = [0.0, (i % 2) as f32 * row[1].max(0.0) * f32::from(u8::from(i % 32 == 1))];
    }
    for case in [dense, mostly_zero] {
        threads_and_layouts_of(&case);
    }
}

fn threads_and_layouts_of(case: &Case) {
    let sparse = {
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in &case.rows {
            for (column, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                columns.push(column as u32);
                values.push(x);
            }
            starts.push(values.len());
        }
        let data = Dataset::sparse(starts, columns, values, 2, vec![0.0; 20_000], &[20_000]).unwrap();
        data.with_categories(Categories::default().with_numbers([0, 1])).unwrap()
    };
    for policy in [GrowthPolicy::LeafWise, GrowthPolicy::LevelWise, GrowthPolicy::Oblivious] {
        let growth = Growth { policy, num_leaves: 16, ..Growth::default() };
        let tree = case.grow(&growth).tree;
        assert!(tree.has_categories() && tree.values.len() > 4);
        assert_eq!(case.grow_on(&sparse, &growth, 255).tree, tree);
        for threads in [1, 3, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(|| case.grow(&growth)).tree, tree);
        }
    }
}

/// Of an oblivious tree, the first test is the best of all, and every test of a level is the same.
#[test]
fn oblivious_trees_test_the_same_set_on_a_level() {
    let case = case(5, 400, 6, 0.1);
    let growth = Growth { policy: GrowthPolicy::Oblivious, ..exact(8) };
    let tree = case.grow(&growth).tree;
    let all: Vec<usize> = (0..400).collect();
    let best = case.best_of_all(&all, 6, |_| true);
    assert!((f64::from(tree.gains[0]) - best).abs() <= 1e-5 * best);
    assert_eq!(tree.values.len(), 8);
    assert_eq!(tree.categories[1], tree.categories[2]);
    assert!((4..7).all(|node| tree.categories[node] == tree.categories[3]));
}

/// Category c has 400 − c documents up to 39, and 5 up to 49. With 20 bins, 15 categories have bins of their own, the next
/// 25 share four, and the rarest have the last.
#[test]
fn categories_without_a_bin_of_their_own_share_one_by_their_labels() {
    let count = |c: u32| if c < 40 { 400 - c as usize } else { 5 };
    let codes: Vec<u32> = (0..50u32).flat_map(|c| vec![c; count(c)]).collect();
    let rows: Vec<[f32; 2]> = codes.iter().map(|&c| [c as f32, 0.0]).collect();
    let slopes = codes.iter().map(|&c| if c % 2 == 0 { -1.0 } else { 1.0 }).collect();
    let case = Case { slopes, curvatures: vec![1.0; rows.len()], rows };
    let mut parts = case.data(|x| x).into_parts();
    // The documents with negative gradients are relevant.
    parts.labels = codes.iter().map(|&c| f32::from(u8::from(c % 2 == 0))).collect();
    let tree = case.grow_on(&Dataset::new(parts).unwrap(), &exact(2), 20).tree;
    let set = tree.category_set(0).unwrap();
    // All categories but the rarest are told apart, although only 15 have a bin.
    let side = set[0] % 2;
    assert_eq!(set, (0..40).filter(|c| c % 2 == side).collect::<Vec<u32>>());
    let leaf = |x: f32| tree.leaf(Row::Dense(&[x, 0.0]));
    let right = leaf(f32::NAN);
    assert!([40.0, 41.0, 49.0, 50.0, 1e6].iter().all(|&x| leaf(x) == right));
}

#[test]
fn settings_limit_the_sets() {
    let case = case(8, 5000, 50, 0.0);
    let with = |categories: CategorySplits| {
        let tree = case.grow(&Growth { num_leaves: 2, ..Growth { categories, ..Growth::default() } }).tree;
        (tree.category_set(0).unwrap().len(), tree)
    };
    let free = CategorySplits { smoothing: 0.0, min_data_per_group: 0, ..CategorySplits::default() };
    let (count, tree) = with(free.clone());
    assert!(count > 5, "{count}");
    assert_eq!(with(CategorySplits { max_categories: 3, ..free.clone() }).0, 3);
    // A set with so many documents on the right and between candidates cannot be small.
    let grouped = with(CategorySplits { min_data_per_group: 2000, ..free.clone() }).1;
    assert!(grouped.covers.iter().all(|&cover| cover >= 2000.0), "{:?}", grouped.covers);
    // No category has as many documents as the smoothing asks for.
    let growth =
        Growth { categories: CategorySplits { smoothing: 1e6, ..free.clone() }, ..Growth::default() };
    assert!(case.grow(&growth).tree.features.is_empty());
    // The values of both leaves are shrunk by the penalty on sets, and by that on all leaves.
    let expected = [0, 1].map(|leaf| {
        let rows: Vec<usize> =
            (0..5000).filter(|&row| tree.leaf(Row::Dense(&case.rows[row])) == leaf).collect();
        let (g, h) = case.sums(&rows);
        -g / (h + 10.0)
    });
    assert!(tree.values.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9));
}
