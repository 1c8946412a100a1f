//! Evaluation over queries: means, weights, notes, errors, and equal results for any number of threads.

use rand::RngExt;
use rankwise::data::Dataset;
use rankwise::metrics::{
    Conventions, DocumentIds, Evaluation, JudgedList, evaluate, evaluate_lists, parse_list, preset,
};
use rankwise::rng;

/// Three queries: one ranked well, one without relevant documents, one with all scores equal; weights 1, 2 and 3.
fn small() -> (Dataset, Vec<f64>) {
    let data = Dataset::dense(vec![0.0; 6], 1, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0], &[2, 2, 2])
        .and_then(|data| data.with_query_weights(vec![1.0, 2.0, 3.0]))
        .and_then(|data| data.with_document_ids(["a", "b", "c", "d", "e", "f"]));
    (data.unwrap(), vec![2.0, 1.0, 2.0, 1.0, 5.0, 5.0])
}

fn evaluated(specs: &str, conventions: &Conventions) -> Evaluation {
    let (data, scores) = small();
    evaluate(&data, &scores, &parse_list(specs, conventions).unwrap()).unwrap()
}

#[test]
fn means_are_weighted_and_leave_out_skipped_queries() {
    let e = evaluated("mrr,mrr:empty=one,mrr:empty=skip", &Conventions::default());
    assert_eq!(e.values[0], [Some(1.0), Some(0.0), Some(0.75)]);
    assert_eq!(e.values[2][1], None);
    let near = |a: Option<f64>, b: f64| assert!((a.unwrap() - b).abs() < 1e-15, "{a:?} {b}");
    near(e.mean(0), (1.0 + 0.0 + 3.0 * 0.75) / 6.0);
    near(e.mean(1), (1.0 + 2.0 + 3.0 * 0.75) / 6.0);
    near(e.mean(2), (1.0 + 3.0 * 0.75) / 4.0);
    near(e.unweighted_mean(2), (1.0 + 0.75) / 2.0);
}

#[test]
fn parts_are_joined_to_the_whole() {
    let metrics = parse_list("mrr,ndcg@1,mrr:empty=skip,num-q", &Conventions::default()).unwrap();
    let (data, scores) = small();
    let whole = evaluate(&data, &scores, &metrics).unwrap();
    let part = |queries: &[usize]| {
        let rows = queries.iter().flat_map(|&query| data.query(query).range());
        let scores: Vec<f64> = rows.map(|row| scores[row]).collect();
        let part = evaluate(&data.select_queries(queries), &scores, &metrics).unwrap();
        (format!("part {queries:?}"), part)
    };
    assert_eq!(Evaluation::join([part(&[0]), part(&[1, 2])]).unwrap(), whole);
    let message = Evaluation::join([part(&[0, 1]), part(&[1, 2])]).unwrap_err().to_string();
    assert!(message.starts_with("query `2` is in part [0, 1] and in part [1, 2]"), "{message}");
    let other = evaluate(&data, &scores, &parse_list("map", &Conventions::default()).unwrap()).unwrap();
    assert!(Evaluation::join([part(&[0]), ("other".into(), other)]).is_err());
    assert!(Evaluation::join([]).is_err());
}

#[test]
fn there_is_no_mean_without_queries() {
    let list = JudgedList {
        id: "q",
        labels: &[0.0],
        scores: &[1.0],
        document_ids: DocumentIds::Absent,
        weight: 1.0,
    };
    let metrics = parse_list("map:empty=skip", &Conventions::default()).unwrap();
    assert_eq!(evaluate_lists(&[list], &metrics).unwrap().mean(0), None);
    assert_eq!(evaluate_lists(&[], &metrics).unwrap().mean(0), None);
}

#[test]
fn notes_report_empty_queries_and_ties() {
    let e = evaluated("mrr,map,map:empty=skip:ties=input", &Conventions::default());
    let notes = e.notes();
    assert_eq!(
        notes,
        [
            "1 of 3 queries has no relevant documents and was counted as 0 (mrr, map).",
            "1 of 3 queries has no relevant documents and was left out (map:empty=skip:ties=input).",
            "1 of 3 queries has documents with different labels but equal scores; all their orders are averaged (mrr, map).",
            "1 of 3 queries has documents with different labels but equal scores; they are ranked in input order (map:empty=skip:ties=input).",
        ]
    );
}

#[test]
fn ids_of_the_data_set_break_ties() {
    // `f`, which is not relevant, is ranked before `e`.
    assert_eq!(evaluated("mrr", &preset("trec").unwrap()).values[0][2], Some(0.5));
}

#[test]
fn scores_that_are_not_numbers_are_refused_by_name() {
    let (data, mut scores) = small();
    let metrics = parse_list("map", &Conventions::default()).unwrap();
    scores[3] = f64::NAN;
    let error = evaluate(&data, &scores, &metrics).unwrap_err().to_string();
    assert_eq!(error, "the score of document 2 (`d`) of query `2` is not a number");
    let error = evaluate(&data, &scores[1..], &metrics).unwrap_err().to_string();
    assert_eq!(error, "there are 5 scores for 6 documents");
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let mut random = rng::stream(5, &[]);
    let labels: Vec<f32> = (0..9000).map(|_| random.random_range(0..4) as f32).collect();
    let scores: Vec<f64> = (0..9000).map(|_| f64::from(random.random_range(0..40)) / 7.0).collect();
    let lists: Vec<JudgedList<'_>> = labels
        .chunks(30)
        .zip(scores.chunks(30))
        .map(|(labels, scores)| JudgedList {
            id: "",
            labels,
            scores,
            document_ids: DocumentIds::Absent,
            weight: 1.0,
        })
        .collect();
    let metrics = parse_list("ndcg@10,map,err,ndcg:ties=worst", &Conventions::default()).unwrap();
    let with_threads = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let e = pool.install(|| evaluate_lists(&lists, &metrics)).unwrap();
        let means: Vec<u64> = (0..4).map(|m| e.mean(m).unwrap().to_bits()).collect();
        (means, e)
    };
    let one = with_threads(1);
    assert_eq!(one, with_threads(2));
    assert_eq!(one, with_threads(5));
}

/// Labels that are not grades: nothing would be relevant, and every value 0.
#[test]
fn metrics_that_find_nothing_relevant_below_1_are_refused_with_a_threshold() {
    let evaluated = |labels: Vec<f32>, specs: &str| {
        let sizes = [labels.len()];
        let data = Dataset::dense(vec![0.0; labels.len()], 1, labels, &sizes).unwrap();
        let scores: Vec<f64> = (0..data.len()).map(|i| i as f64).collect();
        let evaluation = evaluate(&data, &scores, &parse_list(specs, &Conventions::default()).unwrap());
        evaluation.map_err(|error| error.to_string())
    };
    let error = evaluated(vec![0.1, 0.2, 0.6, 0.7], "ndcg@10,map,mrr,p@10").unwrap_err();
    assert!(error.contains("map, mrr, p@10: documents count as relevant from label 1 on"), "{error}");
    assert!(error.contains("the highest label is 0.7") && error.contains("to 0.6"), "{error}");
    for (labels, specs) in [
        (vec![0.1, 0.2, 0.6, 0.7], "ndcg@10,map:threshold=0.5"),
        (vec![0.1, 1.0], "map,mrr,p@10"),
        (vec![0.0, 0.0], "map"),
        (vec![-0.5, 0.0], "map"),
        (vec![0.0, 1.0], "map:threshold=2"),
    ] {
        assert!(evaluated(labels.clone(), specs).is_ok(), "{labels:?} {specs}");
    }
}
