//! Synthetic data sets resemble the public ones, and are as hard as intended.

use super::*;
use crate::data::{Normalizer, Stats, stats};

fn small(name: &str, queries: usize) -> Synth {
    Synth { queries: Some(queries), ..Synth::new(SyntheticShape::named(name).unwrap()) }
}

#[test]
fn sizes_and_grades_are_those_of_the_shape() {
    for (name, queries) in [("ohsumed", 106), ("letor-gov", 15), ("mslr", 150), ("yahoo", 200)] {
        let synth = small(name, queries);
        let data = synth.generate().unwrap();
        assert_eq!((data.query_count(), data.width()), (queries, synth.shape.features));
        let mean = data.len() as f64 / queries as f64 / synth.shape.documents as f64;
        assert!((0.85..1.15).contains(&mean), "{name}: {mean} of the documents expected");
        for (grade, &expected) in synth.shape.grades.iter().enumerate() {
            let count = data.labels().iter().filter(|l| **l == grade as f32).count();
            let fraction = count as f64 / data.len() as f64;
            // Jitter between queries leaves a sampling error well under a tenth of each fraction plus 0.015.
            assert!(
                (fraction - expected).abs() < 0.1 * expected + 0.015,
                "{name} {grade}: {fraction} for {expected}"
            );
        }
    }
}

#[test]
fn every_gov_query_has_a_few_relevant_documents() {
    let data = small("letor-gov", 30).generate().unwrap();
    for q in data.queries() {
        let relevant = q.labels().iter().filter(|l| **l > 0.0).count();
        assert!((1..30).contains(&relevant) && q.len() > 700, "{relevant} of {}", q.len());
    }
}

fn mslr_like() -> Stats {
    stats(&Synth { documents: Some(60), ..small("mslr", 100) }.generate().unwrap())
}

#[test]
fn features_have_heavy_tails_zeros_and_query_values() {
    let stats = mslr_like();
    let heavy = stats.feature_stats.iter().filter(|f| f64::from(f.max) > 50.0 * f.mean.max(1.0)).count();
    assert!(heavy > 10, "{heavy} features with heavy tails");
    let bounded = stats.feature_stats.iter().filter(|f| f.min >= 0.0 && f.max <= 1.0).count();
    assert!(bounded > 10, "{bounded} features in [0, 1]");
    let zeros = stats.feature_stats.iter().map(|f| f.zero_fraction).sum::<f64>() / stats.features as f64;
    assert!((0.1..0.6).contains(&zeros), "{zeros} of the values are 0");
    assert!((5..30).contains(&stats.query_features.len()), "{:?}", stats.query_features);
    assert_eq!(stats.duplicate_features, Vec::<Vec<usize>>::new());
    assert!(stats.documents_per_query.max > 2 * stats.documents_per_query.min);
}

#[test]
fn the_yahoo_shape_is_sparse_and_bounded() {
    let data = small("yahoo", 50).generate().unwrap();
    let stats = stats(&data);
    assert_eq!(stats.layout, "sparse");
    assert!((0.2..0.5).contains(&stats.density), "density {}", stats.density);
    assert!(stats.feature_stats.iter().all(|f| f.min >= 0.0 && f.max <= 1.0));
}

#[test]
fn values_have_few_digits_in_text() {
    let data = small("mslr", 5).generate().unwrap();
    for r in 0..data.len() {
        for (_, x) in data.row(r).iter() {
            assert!(x.to_string().len() <= 8, "{x}");
        }
    }
}

#[test]
fn data_do_not_depend_on_threads_and_the_first_queries_not_on_the_rest() {
    for shape in SHAPES {
        let of = |queries| Synth { documents: Some(20), ..small(shape.card.name, queries) };
        let in_pool = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| of(12).generate().unwrap())
        };
        let large = in_pool(1);
        assert_eq!(large, in_pool(5));
        assert_eq!(large.select_queries(&[0, 1, 2, 3, 4]), of(5).generate().unwrap());
        assert_ne!(large, Synth { seed: 2, ..of(12) }.generate().unwrap());
    }
}

#[test]
fn impossible_sizes_are_refused() {
    let refused = |synth: Synth| synth.generate().unwrap_err().to_string();
    assert!(refused(small("mslr", 0)).contains("number of queries is `0`"));
    assert!(refused(small("mslr", usize::MAX)).contains("more than the"));
    assert!(refused(Synth { features: Some(1 << 25), ..small("mslr", 1) }).contains("`33554432`"));
    assert!(refused(Synth { noise: -1.0, ..small("mslr", 1) }).contains("`noise` is `-1`"));
    assert!(SyntheticShape::named("mslrr").unwrap_err().to_string().contains("did you mean `mslr`?"));
    let tiny = Synth { documents: Some(1), features: Some(1), ..small("ohsumed", 1) }.generate().unwrap();
    assert_eq!((tiny.len(), tiny.width()), (1, 1));
}

#[test]
fn the_demo_is_small() {
    let data = Synth::demo().generate().unwrap();
    assert_eq!((data.query_count(), data.width()), (200, 40));
    assert!((6_000..10_000).contains(&data.len()));
}

/// Mean NDCG@10 of `scores`, with gain 2^grade − 1; queries without relevant documents left out.
fn ndcg(data: &Dataset, scores: &[f64]) -> f64 {
    let dcg = |grades: &[f32]| -> f64 {
        grades
            .iter()
            .take(10)
            .enumerate()
            .map(|(i, g)| (g.exp2() as f64 - 1.0) / (i as f64 + 2.0).log2())
            .sum()
    };
    let (mut sum, mut count) = (0.0, 0.0);
    for q in data.queries().filter(|q| q.labels().iter().any(|l| *l > 0.0)) {
        let mut order: Vec<usize> = q.range().collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let ranked: Vec<f32> = order.iter().map(|&r| data.labels()[r]).collect();
        let mut ideal = ranked.clone();
        ideal.sort_by(|a, b| b.total_cmp(a));
        sum += dcg(&ranked) / dcg(&ideal);
        count += 1.0;
    }
    sum / count
}

/// Ridge regression of the grades on the features, both centred in each query; solved by elimination.
fn ridge(data: &Dataset) -> Vec<f64> {
    let d = data.width();
    let mut system = vec![vec![0.0; d + 1]; d];
    for q in data.queries() {
        let n = q.len() as f64;
        let mut means = vec![0.0; d];
        q.rows().for_each(|row| row.add_scaled(1.0 / n, &mut means));
        let label_mean = q.labels().iter().map(|&l| f64::from(l)).sum::<f64>() / n;
        for (row, &label) in q.rows().zip(q.labels()) {
            let x: Vec<f64> = (0..d).map(|c| f64::from(row.get(c)) - means[c]).collect();
            for i in 0..d {
                system[i].iter_mut().zip(&x).for_each(|(s, xj)| *s += x[i] * xj);
                system[i][d] += x[i] * (f64::from(label) - label_mean);
            }
        }
    }
    (0..d).for_each(|i| system[i][i] += 1.0);
    for i in 0..d {
        let pivot = system[i].clone();
        for row in &mut system[i + 1..] {
            let factor = row[i] / pivot[i];
            row.iter_mut().zip(&pivot).for_each(|(r, p)| *r -= factor * p);
        }
    }
    let mut w = vec![0.0; d];
    for i in (0..d).rev() {
        let known: f64 = (i + 1..d).map(|j| system[i][j] * w[j]).sum();
        w[i] = (system[i][d] - known) / system[i][i];
    }
    w
}

#[test]
fn an_oracle_beats_a_linear_model_beats_chance() {
    for (name, documents) in [("ohsumed", 100), ("letor-gov", 400), ("mslr", 60), ("yahoo", 24)] {
        for seed in [1, 2] {
            let features = Some(60).filter(|_| name != "ohsumed");
            let synth = Synth { documents: Some(documents), features, seed, ..small(name, 120) };
            let (data, utilities) = synth.with_utilities().unwrap();
            let test: Vec<usize> = (80..120).collect();
            let start = data.bounds()[80];
            let scaled = Normalizer::parse("log,z-score").unwrap().apply(data).unwrap();
            let w = ridge(&scaled.select_queries(&(0..80).collect::<Vec<_>>()));
            let data = scaled.select_queries(&test);
            let linear: Vec<f64> = (0..data.len()).map(|r| data.row(r).dot(&w)).collect();
            let chance: Vec<f64> =
                (0..data.len()).map(|r| rng::stream(9, &[r as u64]).random::<f64>()).collect();
            let measured = [&utilities[start..], &linear, &chance].map(|scores| ndcg(&data, scores));
            let [oracle, linear, chance] = measured;
            assert!(oracle > linear + 0.08 && linear > chance + 0.08, "{name}, seed {seed}: {measured:?}");
        }
    }
}
