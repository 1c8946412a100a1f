//! Normalisers against hand computation, across layouts, and at the edges of f32.

use super::*;
use crate::data::Parts;
use proptest::prelude::*;

const NAN: f32 = f32::NAN;

fn data(features: Features, bounds: &[usize]) -> Dataset {
    Dataset::new(Parts {
        features,
        labels: vec![0.0; bounds[bounds.len() - 1]],
        bounds: bounds.to_vec(),
        query_ids: (1..bounds.len()).map(|q| q.to_string()).collect(),
        ..Parts::default()
    })
    .unwrap()
}

fn dense(width: usize, values: &[f32], bounds: &[usize]) -> Dataset {
    data(Features::dense(width, values.to_vec()), bounds)
}

/// The same matrix with its zeros left out.
fn sparse(width: usize, values: &[f32], bounds: &[usize]) -> Dataset {
    let (mut starts, mut columns, mut kept) = (vec![0], Vec::new(), Vec::new());
    for row in values.chunks(width) {
        for (c, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            columns.push(c as u32);
            kept.push(x);
        }
        starts.push(kept.len());
    }
    data(Features::Sparse { width, starts, columns, values: kept }, bounds)
}

fn values(data: &Dataset) -> Vec<f32> {
    (0..data.len()).flat_map(|r| (0..data.width()).map(move |c| data.row(r).get(c))).collect()
}

/// Equal bit for bit, except that -0 equals 0 and all NaNs are equal.
fn alike(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
}

/// Two queries of three and two documents; columns: plain, constant, negative with a missing value.
const BY_HAND: [f32; 15] = [
    2.0, 7.0, -1.0, //
    4.0, 7.0, NAN, //
    10.0, 7.0, 3.0, //
    0.0, 0.0, 0.0, //
    5.0, 0.0, -2.0,
];

#[test]
fn min_max_by_hand_in_both_layouts() {
    let expected = [0.0, 0.0, 0.0, 0.25, 0.0, NAN, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0];
    for data in [dense(3, &BY_HAND, &[0, 3, 5]), sparse(3, &BY_HAND, &[0, 3, 5])] {
        let once = Normalizer::MinMax.apply(data).unwrap();
        assert!(alike(&values(&once), &expected), "{:?}", values(&once));
        let twice = Normalizer::MinMax.apply(once.clone()).unwrap();
        assert!(alike(&values(&twice), &expected));
    }
}

#[test]
fn z_score_by_hand() {
    // Column 1 of query 1: mean 16/3, variance ((10/3)² + (4/3)² + (14/3)²)/3 = 104/9.
    let deviation = (104.0f64 / 9.0).sqrt();
    let z = |x: f64| ((x - 16.0 / 3.0) / deviation) as f32;
    let expected = [z(2.0), 0.0, -1.0, z(4.0), 0.0, NAN, z(10.0), 0.0, 1.0, -1.0, 0.0, 1.0, 1.0, 0.0, -1.0];
    for data in [dense(3, &BY_HAND, &[0, 3, 5]), sparse(3, &BY_HAND, &[0, 3, 5])] {
        let scaled = values(&Normalizer::ZScore.apply(data).unwrap());
        assert!(alike(&scaled, &expected), "{scaled:?}");
    }
}

#[test]
fn log_keeps_sign_zero_and_missing() {
    let e = std::f64::consts::E;
    let given = [0.0, (e - 1.0) as f32, (1.0 - e) as f32, NAN];
    let logs = values(&Normalizer::Log.apply(dense(4, &given, &[0, 1])).unwrap());
    assert!(logs.iter().zip([0.0, 1.0, -1.0]).all(|(a, b)| (a - b).abs() < 1e-6) && logs[3].is_nan());
    let chained = Normalizer::parse("log,min-max").unwrap();
    let scaled = values(&chained.apply(dense(1, &[0.0, 1.0, 3.0], &[0, 3])).unwrap());
    assert_eq!(scaled, [0.0, 0.5, 1.0]);
}

#[test]
fn sparsity_stays_where_the_least_value_is_zero() {
    let rows = [0.0, 2.0, 3.0, 0.0, 0.0, 4.0];
    let Features::Sparse { values, .. } =
        Normalizer::MinMax.apply(sparse(2, &rows, &[0, 3])).unwrap().into_parts().features
    else {
        panic!("a sparse matrix stays sparse");
    };
    assert_eq!(values, [0.5, 1.0, 1.0]);
}

#[test]
fn too_many_filled_values_are_refused_and_not_allocated() {
    let n = 30_000u32;
    let features = Features::Sparse {
        width: n as usize,
        starts: (0..=n as usize).collect(),
        columns: (0..n).collect(),
        values: vec![-1.0; n as usize],
    };
    let error = Normalizer::MinMax.apply(data(features, &[0, n as usize])).unwrap_err();
    assert!(error.to_string().contains("899970000 absent values"), "{error}");
}

#[test]
fn huge_values_stay_finite() {
    let huge = [1e38, -3e38, f32::MAX, f32::MIN, 1e-20, 0.0, 1e-45, -1e-45];
    for name in ["min-max", "z-score", "log", "log,z-score,min-max"] {
        let scaled = Normalizer::parse(name).unwrap().apply(dense(1, &huge, &[0, 6, 8])).unwrap();
        assert!(values(&scaled).iter().all(|x| x.is_finite()), "{name}: {:?}", values(&scaled));
    }
    let tiny = Normalizer::ZScore.apply(dense(1, &huge[6..], &[0, 2])).unwrap();
    assert_eq!(values(&tiny), [1.0, -1.0]);
}

#[test]
fn names_are_read_written_and_suggested() {
    let chain = Normalizer::parse("log,min-max").unwrap();
    assert_eq!(chain, Normalizer::Chain(vec![Normalizer::Log, Normalizer::MinMax]));
    let json = serde_json::to_string(&chain).unwrap();
    assert_eq!(json, r#"{"chain":["log","min-max"]}"#);
    assert_eq!(serde_json::from_str::<Normalizer>(&json).unwrap(), chain);
    for card in NORMALIZERS {
        assert_eq!(Normalizer::parse(card.name).unwrap().to_string(), card.name);
    }
    assert!(Normalizer::parse("zscore").unwrap_err().to_string().contains("did you mean `z-score`?"));
    assert!(Normalizer::parse("").unwrap_err().to_string().contains("known: min-max"));
}

#[test]
fn empty_matrices_are_accepted() {
    let empty = Normalizer::MinMax.apply(dense(0, &[], &[0, 2])).unwrap();
    assert_eq!(empty.len(), 2);
    let missing = Normalizer::ZScore.apply(dense(1, &[NAN, NAN], &[0, 2])).unwrap();
    assert!(values(&missing).iter().all(|x| x.is_nan()));
}

proptest! {
    #[test]
    fn layouts_agree_bit_for_bit_with_any_number_of_threads(
        cells in prop::collection::vec(prop_oneof![
            3 => Just(0.0f32), 1 => Just(NAN), 4 => -100.0f32..100.0, 1 => Just(1e38f32)
        ], 24),
        cut in 1usize..6,
    ) {
        for step in [Normalizer::MinMax, Normalizer::ZScore, Normalizer::Log] {
            let bounds = [0, cut, 6];
            let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            let from_dense = one.install(|| step.apply(dense(4, &cells, &bounds)).unwrap());
            let from_sparse = step.apply(sparse(4, &cells, &bounds)).unwrap();
            prop_assert!(alike(&values(&from_dense), &values(&from_sparse)));
        }
    }
}
