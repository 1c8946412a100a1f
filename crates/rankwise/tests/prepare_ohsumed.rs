//! Preparing OHSUMED: counts that were published, or computed from the same files by a Python script.

use rankwise::data::{Cleaner, Dataset, Features, Folds, Normalizer, Parts, SplitOrder, stats};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

/// OHSUMED of LETOR 3.0, all five subsets; `None` if the data are not available.
fn ohsumed() -> Option<Dataset> {
    five_subsets("ohsumed", 45)
}

fn five_subsets(name: &str, width: usize) -> Option<Dataset> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")).join(name);
    if !folder.exists() {
        writeln!(std::io::stderr(), "skipped: {} is not here", folder.display()).expect("stderr is open");
        return None;
    }
    let mut parts = Parts { bounds: vec![0], ..Parts::default() };
    let mut values = Vec::new();
    let mut last = String::new();
    for part in 1..=5 {
        let file = std::fs::File::open(folder.join(format!("S{part}.txt.zst"))).unwrap();
        for line in BufReader::new(zstd::Decoder::new(file).unwrap()).lines() {
            let line = line.unwrap();
            let mut tokens = line.split('#').next().unwrap().split_whitespace();
            let label = tokens.next().unwrap().parse().unwrap();
            let query = tokens.next().unwrap().strip_prefix("qid:").unwrap();
            if query != last {
                parts.query_ids.push(query);
                parts.bounds.push(parts.labels.len());
                last = query.to_string();
            }
            parts.labels.push(label);
            *parts.bounds.last_mut().unwrap() = parts.labels.len();
            values.extend(tokens.map(|t| t.split_once(':').unwrap().1.parse::<f32>().unwrap()));
        }
    }
    parts.features = Features::dense(width, values);
    Some(Dataset::new(parts).unwrap())
}

fn dropped(data: &Dataset, spec: &str) -> usize {
    let (_, report) = Cleaner::parse(spec).unwrap().clean(data.clone()).unwrap();
    report.steps.iter().map(|s| s.documents).sum()
}

#[test]
fn cleaning_drops_as_many_documents_as_published() {
    let Some(data) = ohsumed() else { return };
    // The table "How much the cleaning decides" of the project's published figures.
    assert_eq!(dropped(&data, "conflicts"), 457);
    assert_eq!(dropped(&data, "near"), 7385);
    assert_eq!(dropped(&data, "near:side=non-relevant"), 4405);
    assert_eq!(dropped(&data, "near:side=non-relevant:cosine=0.995"), 2598);
    // Other options, from a Python script over the same files.
    assert_eq!(dropped(&data, "zero-rows"), 1498);
    assert_eq!(dropped(&data, "conflicts:side=non-relevant"), 240);
    assert_eq!(dropped(&data, "conflicts:scope=data"), 457);
    assert_eq!(dropped(&data, "conflicts:zeros=compare"), 1723);
    assert_eq!(dropped(&data, "conflicts:zeros=compare:scope=data"), 1955);
    assert_eq!(dropped(&data, "conflicts:grades=graded"), 554);
    assert_eq!(dropped(&data, "near:threshold=2"), 5198);
    let (_, report) = Cleaner::parse("empty-queries").unwrap().clean(data).unwrap();
    assert_eq!(report.steps[0].queries, 1);
}

/// LETOR 2.0 has raw features. Chakrabarti et al. 2008 scale them within each query and then clean (Section 4.1). The
/// counts were found independently of this program, from the same files.
#[test]
fn scaling_before_cleaning_leaves_what_the_paper_had() {
    let Some(data) = five_subsets("ohsumed-letor2", 25) else { return };
    let left = |data: Dataset| {
        let (left, _) = Cleaner::parse("papers").unwrap().clean(data).unwrap();
        (left.len(), left.query_count())
    };
    assert_eq!(left(data.clone()), (1_081, 65));
    assert_eq!(left(Normalizer::MinMax.apply(data).unwrap()), (7_139, 103));
}

#[test]
fn statistics_match_the_files() {
    let Some(data) = ohsumed() else { return };
    let s = stats(&data);
    assert_eq!((s.queries, s.documents, s.features), (106, 16_140, 45));
    let grades: Vec<_> = s.grades.iter().map(|g| (g.grade, g.documents)).collect();
    assert_eq!(grades, [(0.0, 11_303), (1.0, 2_585), (2.0, 2_252)]);
    assert_eq!((s.documents_per_query.min, s.documents_per_query.max), (35, 320));
    assert_eq!((s.queries_without_relevant, s.zero_documents), (1, 1498));
    assert_eq!((s.duplicate_documents, s.conflicting_documents), (2052, 1820));
    assert_eq!(s.constant_features, [4, 5, 6, 19, 20, 21, 34, 35, 36]);
    assert!(s.query_features.is_empty() && s.duplicate_features.is_empty());
    assert!((1.0 - s.density - 0.371_368_580_476).abs() < 1e-9);
}

#[test]
fn letor_data_are_scaled_per_query_already() {
    let Some(data) = ohsumed() else { return };
    // The files have six decimals of the min-max scaled values, so scaling again changes them only by rounding.
    let again = Normalizer::MinMax.apply(data.clone()).unwrap();
    for (query, scaled) in data.queries().zip(again.queries()) {
        for (row, scaled) in query.rows().zip(scaled.rows()) {
            assert!(row.iter().zip(scaled.iter()).all(|((_, a), (_, b))| (a - b).abs() < 2e-6));
        }
    }
    let folds = Folds::new(data.query_count(), 5, SplitOrder::Shuffled(1)).unwrap();
    let fold = folds.fold(&data, 2).unwrap();
    assert_eq!(fold.train.len() + fold.valid.len() + fold.test.len(), data.len());
}
