use super::*;
use crate::clicks::log::Click;
use crate::clicks::simulate::{SimulatedRanker, SimulatedUser, Simulation};
use crate::data::Synth;

/// A session of query `q`, with the documents as one letter each and the clicked ones in capitals.
fn session(id: usize, shown: &str) -> Session {
    let name = |letter: char| letter.to_lowercase().to_string();
    let clicks = shown.chars().filter(|c| c.is_uppercase());
    Session {
        id: id.to_string(),
        query: "q".into(),
        shown: shown.chars().map(name).collect(),
        features: Some(shown.chars().map(|c| vec![f32::from(c.to_ascii_lowercase() as u8), 1.0]).collect()),
        clicks: clicks.map(|c| Click { doc: name(c), time: None }).collect(),
        ..Session::default()
    }
}

fn sessions(lists: &[&str]) -> Vec<Result<Session>> {
    lists.iter().enumerate().map(|(id, shown)| Ok(session(id, shown))).collect()
}

fn halving(clip: f64) -> ClickWeights {
    ClickWeights { propensities: Some(Propensities::given(vec![1.0, 0.5, 0.25]).unwrap()), clip }
}

fn labels(data: &Dataset) -> Vec<(&str, f32)> {
    (0..data.len()).map(|i| (data.document_id(i).unwrap(), data.labels()[i])).collect()
}

#[test]
fn labels_by_hand() {
    let log = || sessions(&["aBc", "abC", "bac", "Bac"]);
    let data = halving(0.0).of_sessions(log()).unwrap().data;
    // b: 2 clicks, looked at ½ + ½ + 1 + 1 times. c: 1 click, looked at 4·¼ times.
    assert_eq!(labels(&data), [("a", 0.0), ("b", 2.0 / 3.0), ("c", 1.0)]);
    assert_eq!(data.row(1).iter().collect::<Vec<_>>(), [(0, 98.0), (1, 1.0)]);
    let clicks = data.click_labels().unwrap();
    assert_eq!(
        (&clicks.propensities[..], &*clicks.method, clicks.clip),
        (&[1.0, 0.5, 0.25][..], "given", 0.0)
    );
    // At least ½·4 looks.
    let clipped = halving(0.5).of_sessions(log()).unwrap();
    assert_eq!(labels(&clipped.data), [("a", 0.0), ("b", 2.0 / 3.0), ("c", 0.5)]);
    assert!(clipped.notes[0].starts_with("1 documents have propensities below the limit 0.5"), "{clipped:?}");
    let naive = ClickWeights::default().of_sessions(log()).unwrap();
    assert_eq!(labels(&naive.data), [("a", 0.0), ("b", 0.5), ("c", 0.25)]);
    assert!(naive.notes[0].contains("clicks count as they are"), "{naive:?}");
}

/// By enumeration of all clicks on two lists, in each of which every document is at another rank.
#[test]
fn labels_are_unbiased_under_true_propensities() {
    let (theta, relevance) = ([1.0, 0.5, 0.25], [0.2, 0.9, 0.6]);
    let lists = [[0, 1, 2], [2, 0, 1]];
    let mut mean = [0.0; 3];
    for pattern in 0..1 << 6 {
        let mut probability = 1.0;
        let log: Vec<Result<Session>> = lists
            .iter()
            .enumerate()
            .map(|(number, list)| {
                let text: String = list
                    .iter()
                    .enumerate()
                    .map(|(rank, &document)| {
                        let is_clicked = pattern >> (3 * number + rank) & 1 == 1;
                        let chance: f64 = theta[rank] * relevance[document];
                        probability *= if is_clicked { chance } else { 1.0 - chance };
                        let letter = ['a', 'b', 'c'][document];
                        if is_clicked { letter.to_ascii_uppercase() } else { letter }
                    })
                    .collect();
                Ok(session(number, &text))
            })
            .collect();
        let data = halving(0.0).of_sessions(log).unwrap().data;
        mean.iter_mut().zip(data.labels()).for_each(|(sum, label)| *sum += probability * f64::from(*label));
    }
    assert!(mean.iter().zip(relevance).all(|(a, b)| (a - b).abs() < 1e-6), "{mean:?}");
}

#[test]
fn the_order_of_sessions_plays_no_part() {
    let mut log = ["aBc", "abC", "bac", "Bac", "cab", "CAB", "AbC"].map(|list| list.to_owned());
    let of = |log: &[String]| {
        let mut list: Vec<Session> = log.iter().enumerate().map(|(id, shown)| session(id, shown)).collect();
        // Different features in one session.
        let odd = list.iter_mut().find(|s| s.shown == ["c", "a", "b"]).unwrap();
        odd.features.as_mut().unwrap()[0][0] = -7.0;
        halving(0.1).of_sessions(list.into_iter().map(Ok)).unwrap()
    };
    let first = of(&log);
    assert!(first.notes.iter().any(|note| note.contains("other features in other sessions")), "{first:?}");
    for _ in 0..7 {
        log.rotate_left(1);
        assert_eq!(of(&log), first);
    }
}

#[test]
fn features_of_a_file_are_joined_by_ids() {
    let file = Dataset::dense(vec![1.0, 2.0, 3.0, 4.0], 1, vec![9.0; 4], &[3, 1]).unwrap();
    let file = file.with_query_ids(["q", "other"]).unwrap().with_document_ids(["c", "x", "a", "a"]).unwrap();
    let ClickData { data, notes, .. } = halving(0.0).joined(sessions(&["aBc", "abC"]), &file).unwrap();
    assert_eq!(labels(&data), [("a", 0.0), ("c", 2.0)]);
    assert_eq!((data.row(0).get(0), data.row(1).get(0)), (3.0, 1.0));
    let expected = [
        "2 of 4 documents with features were never shown, so nothing is known of them and they are left out",
        "1 of 3 documents of queries have no features, and their 1 clicks are left out; first document `b` of query `q`",
    ];
    assert_eq!(notes, expected);
    let twice = file.with_document_ids(["c", "c", "a", "a"]).unwrap();
    let refusal = halving(0.0).joined(sessions(&["abc"]), &twice).unwrap_err().to_string();
    assert!(refusal.contains("`c` is twice in query `q`"), "{refusal}");
}

/// Documents without ids have the names that the simulation gives them.
#[test]
fn a_simulated_log_fits_the_data_it_was_made_of() {
    let data = Synth::demo().generate().unwrap();
    let scores = (0..data.len()).map(|i| f64::from(data.row(i).get(0))).collect();
    let rankers = [SimulatedRanker { name: "first".into(), scores }];
    let simulation = Simulation {
        user: SimulatedUser::PositionBased { eta: 0.0 },
        noise: 0.0,
        sessions: 2,
        depth: 1000,
        features: true,
        ..Simulation::default()
    };
    let log = || simulation.sessions(&data, &rankers).unwrap().map(Ok);
    let joined = ClickWeights::default().joined(log(), &data).unwrap().data;
    let logged = ClickWeights::default().of_sessions(log()).unwrap().data;
    assert_eq!(joined.labels(), logged.labels());
    assert_eq!((joined.len(), joined.query_count()), (data.len(), data.query_count()));
    let highest = data.labels().iter().copied().fold(0.0, f32::max);
    for row in 0..data.len() {
        assert_eq!(joined.row(row).iter().collect::<Vec<_>>(), logged.row(row).iter().collect::<Vec<_>>());
    }
    // The highest label is always clicked and the lowest never.
    for query in data.queries() {
        let found = joined.queries().find(|other| other.id() == query.id()).unwrap();
        let count = |labels: &[f32], of: f32| labels.iter().filter(|label| **label == of).count();
        assert!(count(found.labels(), 1.0) >= count(query.labels(), highest));
        assert!(count(found.labels(), 0.0) >= count(query.labels(), 0.0));
    }
}

#[test]
fn rows_with_positions_are_weighted_one_by_one() {
    let data = Dataset::dense(vec![0.0; 4], 1, vec![1.0, 0.0, 1.0, 0.0], &[2, 2]).unwrap();
    let refusal = halving(0.0).by_position(data.clone()).unwrap_err().to_string();
    assert!(refusal.contains("has no positions"), "{refusal}");
    let shown = data.clone().with_positions(vec![1, 2, 3, 0]).unwrap();
    assert_eq!(halving(0.0).by_position(shown.clone()).unwrap().data.labels(), [1.0, 0.0, 4.0, 0.0]);
    let clipped = halving(0.5).by_position(shown).unwrap();
    assert_eq!(clipped.data.labels(), [1.0, 0.0, 2.0, 0.0]);
    assert!(clipped.notes[0].starts_with("1 clicks have propensities below the limit"), "{clipped:?}");
    let refusal = halving(0.0).by_position(data.with_positions(vec![0, 1, 1, 2]).unwrap()).unwrap_err();
    assert!(
        refusal.to_string().contains("document 1 was clicked and its position is 0 or missing"),
        "{refusal}"
    );
}

#[test]
fn logs_that_cannot_be_used_are_refused() {
    let refused =
        |weights: &ClickWeights, log: Vec<Result<Session>>| weights.of_sessions(log).unwrap_err().to_string();
    let bare = Session { features: None, ..session(0, "aB") };
    assert!(refused(&halving(0.0), vec![Ok(bare)]).contains("no session of the log has features"));
    assert!(refused(&halving(1.5), sessions(&["aB"])).contains("`clip` is 1.5"));
    let mut narrow = session(1, "ab");
    narrow.features = Some(vec![vec![1.0]; 2]);
    assert!(refused(&halving(0.0), vec![Ok(session(0, "ab")), Ok(narrow)]).contains("has 1 features"));
}

#[test]
fn sessions_become_queries_with_positions_and_weights() {
    let log = || sessions(&["aBc", "aBc", "abc", "CAb", "AbC", "ABC"]);
    let ClickData { data, notes, .. } = ClickWeights::lists(log(), None).unwrap();
    // The session without clicks and the one with clicks on everything prefer no document.
    assert_eq!(data.query_count(), 3);
    let note =
        "sessions in which nothing or everything was clicked, which prefer no document, are left out: 2";
    assert_eq!(notes, [note]);
    assert!(data.click_labels().is_none());
    let lists: Vec<(&str, Vec<&str>, &[f32], f64)> = data
        .queries()
        .map(|q| (q.id(), (0..3).map(|i| q.document_id(i).unwrap()).collect(), q.labels(), q.weight()))
        .collect();
    let expected: [(&str, Vec<&str>, &[f32], f64); 3] = [
        ("q#1", vec!["a", "b", "c"], &[0.0, 1.0, 0.0], 2.0),
        ("q#2", vec!["a", "b", "c"], &[1.0, 0.0, 1.0], 1.0),
        ("q#3", vec!["c", "a", "b"], &[1.0, 1.0, 0.0], 1.0),
    ];
    assert_eq!(lists, expected);
    assert_eq!(data.parts().positions.as_deref().unwrap(), [1, 2, 3, 1, 2, 3, 1, 2, 3]);
    assert_eq!(data.row(6).get(0), 99.0);
    // The same with features of a file, which lacks one document.
    let file = Dataset::dense(vec![97.0, 99.0], 1, vec![0.0; 2], &[2]).unwrap();
    let file = file.with_query_ids(["q"]).unwrap().with_document_ids(["a", "c"]).unwrap();
    let ClickData { data, notes, .. } =
        ClickWeights::lists(sessions(&["Abc", "aBc", "ABC"]), Some(&file)).unwrap();
    // Without `b`, only the first session prefers a document.
    assert_eq!((data.query_count(), data.labels()), (1, &[1.0, 0.0][..]));
    assert_eq!(data.parts().positions.as_deref().unwrap(), [1, 3]);
    assert_eq!(notes, ["3 displays of documents have no features and are left out, with 2 clicks", note]);
    let refusal = ClickWeights::lists(log(), Some(&file)).unwrap_err().to_string();
    assert!(refusal.contains("no session of the log has both clicked and other documents"), "{refusal}");
}

/// What was not looked at is filled in: with true predictions, labels have the right expectation in spite of the limit.
#[test]
fn doubly_robust_labels_by_enumeration() {
    let (theta, relevance) = ([1.0, 0.5, 0.25], [0.2, 0.9, 0.6]);
    let mean = |predictions: [f64; 3]| {
        let mut mean = [0.0; 3];
        for pattern in 0..8 {
            let clicked = |i: usize| pattern >> i & 1 == 1;
            let chance =
                |i: usize| if clicked(i) { theta[i] * relevance[i] } else { 1.0 - theta[i] * relevance[i] };
            let probability: f64 = (0..3).map(chance).product();
            let letter = |i: usize| if clicked(i) { ['A', 'B', 'C'][i] } else { ['a', 'b', 'c'][i] };
            let list: String = (0..3).map(letter).collect();
            let made = halving(0.4).of_sessions(sessions(&[&list])).unwrap().filled_in(&predictions).unwrap();
            assert!(made.data.click_labels().unwrap().doubly_robust);
            mean.iter_mut()
                .zip(made.data.labels())
                .for_each(|(m, label)| *m += probability * f64::from(*label));
        }
        mean
    };
    let close = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
    assert!(close(mean(relevance), relevance), "{:?}", mean(relevance));
    // Only the last document is looked at less than 0.4 times per session: ⅝ of its label is known.
    let partly = [0.2, 0.9, 0.6 * 0.625];
    assert!(close(mean([0.0; 3]), partly), "{:?}", mean([0.0; 3]));
    assert!(close(mean([5.0, 0.3, 5.0]), [0.2, 0.9, 0.6 * 0.625 + 0.375]));
}
