//! Interleaving by enumeration of all drafts, and in simulations.

use super::*;
use crate::clicks::Click;
use crate::rng;
use std::collections::{BTreeMap, HashMap};

/// Every list that coin flips can give, with its probability: `run` is called with each sequence of flips.
fn all_drafts(first: &[u32], second: &[u32], depth: usize) -> Vec<(f64, InterleavedList<u32>)> {
    let mut lists = Vec::new();
    let mut prefixes: Vec<Vec<bool>> = vec![Vec::new()];
    while let Some(flips) = prefixes.pop() {
        let mut asked = 0;
        let list = team_draft(first, second, depth, || {
            asked += 1;
            flips.get(asked - 1).copied().unwrap_or(false)
        });
        if asked > flips.len() {
            prefixes.extend([true, false].map(|flip| flips.iter().copied().chain([flip]).collect()));
        } else {
            lists.push((0.5_f64.powi(flips.len() as i32), list));
        }
    }
    lists
}

#[test]
fn every_draft_is_fair() {
    let rankings = [[1, 2, 3, 4], [2, 1, 4, 3], [4, 3, 2, 1], [5, 1, 6, 2]];
    for first in rankings {
        for second in rankings {
            for depth in [1, 2, 3, 4, 9] {
                let drafts = all_drafts(&first, &second, depth);
                assert!((drafts.iter().map(|draft| draft.0).sum::<f64>() - 1.0).abs() < 1e-12);
                let mut credit = 0.0;
                for (probability, list) in &drafts {
                    let mut distinct = list.shown.clone();
                    distinct.sort_unstable();
                    distinct.dedup();
                    let all: Vec<u32> = first.iter().chain(&second).copied().collect();
                    let left = all.iter().filter(|d| !list.shown.contains(d)).count();
                    assert!(distinct.len() == list.shown.len() && (list.shown.len() == depth || left == 0));
                    // Each adds its best document that is left: no document stands below one that its ranker likes less.
                    for (ranking, credited) in [(first, 1.0), (second, 0.0)] {
                        let own = (0..list.shown.len()).filter(|&i| list.credit[i] == credited);
                        let places: Vec<_> =
                            own.map(|i| ranking.iter().position(|d| *d == list.shown[i])).collect();
                        assert!(places.is_sorted() && !places.contains(&None));
                    }
                    let firsts = list.credit.iter().filter(|credit| **credit == 1.0).count() as i64;
                    if depth <= 4 {
                        assert!((2 * firsts - list.credit.len() as i64).abs() <= 1);
                    }
                    credit += probability * credit_difference(&list.credit, &vec![true; list.shown.len()]);
                }
                // A user who clicks everything prefers nobody.
                assert!(credit.abs() < 1e-12 || depth > 4, "{first:?} {second:?} {credit}");
            }
        }
        // For equal rankers, every document is credited to both equally often.
        for document in first {
            let of = |(p, list): &(f64, InterleavedList<u32>)| {
                let place = list.shown.iter().position(|d| *d == document);
                place.map_or(0.0, |place| p * (2.0 * list.credit[place] - 1.0))
            };
            assert!(all_drafts(&first, &first, 4).iter().map(of).sum::<f64>().abs() < 1e-12);
        }
    }
}

/// The probability of each list with each assignment of ranks to rankers, from the definition.
fn assignments(
    first: &[u32],
    second: &[u32],
    depth: usize,
    steepness: f64,
) -> BTreeMap<(Vec<u32>, Vec<bool>), f64> {
    let mut all = BTreeMap::from([((Vec::new(), Vec::new()), 1.0)]);
    for _ in 0..depth {
        let mut next = BTreeMap::new();
        for ((shown, by), probability) in all {
            for (ranking, is_first) in [(first, true), (second, false)] {
                let weight = |place: usize| 1.0 / ((place + 1) as f64).powf(steepness);
                let left: Vec<usize> =
                    (0..ranking.len()).filter(|&place| !shown.contains(&ranking[place])).collect();
                let total: f64 = left.iter().map(|&place| weight(place)).sum();
                for place in left {
                    let (mut shown, mut by): (Vec<u32>, Vec<bool>) = (shown.clone(), by.clone());
                    shown.push(ranking[place]);
                    by.push(is_first);
                    *next.entry((shown, by)).or_insert(0.0) += probability * 0.5 * weight(place) / total;
                }
            }
        }
        all = next;
    }
    all
}

#[test]
fn probabilistic_lists_and_credit_are_those_of_the_definition() {
    let (first, second, steepness) = ([1, 2, 3], [3, 1, 2], 1.5);
    let assignments = assignments(&first, &second, 3, steepness);
    assert!((assignments.values().sum::<f64>() - 1.0).abs() < 1e-12);
    let mut frequency: HashMap<Vec<u32>, f64> = HashMap::new();
    let draws = 20_000;
    for number in 0..draws {
        let random = &mut rng::stream(3, &[number]);
        let list = Interleaving::Probabilistic { steepness }.list(&first, &second, 3, random).unwrap();
        for (place, credit) in list.credit.iter().enumerate() {
            let of_list = assignments.iter().filter(|((shown, _), _)| *shown == list.shown);
            let (mut own, mut all) = (0.0, 0.0);
            of_list.for_each(|((_, by), p)| (own, all) = (own + if by[place] { *p } else { 0.0 }, all + p));
            assert!((credit - own / all).abs() < 1e-12, "{list:?}");
        }
        *frequency.entry(list.shown).or_default() += 1.0 / draws as f64;
    }
    for (shown, found) in frequency {
        let p: f64 = assignments.iter().filter(|((other, _), _)| *other == shown).map(|(_, p)| p).sum();
        assert!((found - p).abs() < 4.5 * (p * (1.0 - p) / draws as f64).sqrt(), "{shown:?} {found} {p}");
    }
    let refused =
        Interleaving::Probabilistic { steepness: -1.0 }.list(&first, &second, 3, &mut rng::stream(1, &[]));
    assert!(refused.unwrap_err().to_string().contains("`steepness` is -1"));
    // A ranker that has nothing left to add gets no credit.
    let list = probabilistic(&[1], &[2, 3], 5, 3.0, || 0.999_999);
    assert_eq!(list.shown.len(), 3);
    assert!(list.shown.iter().zip(&list.credit).all(|(d, c)| *c == if *d == 1 { 1.0 } else { 0.0 }));
}

/// Interleaves two rankings of ten documents, of which lower numbers are more relevant, and clicks by position.
fn simulated(rankings: &[[u32; 10]; 2], kind: Interleaving, sessions: u64, seed: u64) -> InterleavingResult {
    let mut tally = InterleavingTally::default();
    for number in 0..sessions {
        let mut random = rng::stream(seed, &[number]);
        let list = kind.list(&rankings[0], &rankings[1], 10, &mut random).unwrap();
        let clicked = (1..).zip(&list.shown).filter(|(rank, document)| {
            let p = (1.0 / f64::from(*rank)) * (1.0 - f64::from(**document) / 12.0);
            random.random::<f64>() < p
        });
        let clicks = clicked.map(|(_, document)| Click { doc: document.to_string(), time: None }).collect();
        let list =
            InterleavedList { shown: list.shown.iter().map(u32::to_string).collect(), credit: list.credit };
        let interleaved = Some(list.logged("first", "second"));
        let session = Session { shown: list.shown, clicks, interleaved, ..Session::default() };
        assert!(tally.add(&session));
    }
    tally.result(0.95).unwrap()
}

const BEST: [u32; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
const WORSE: [u32; 10] = [5, 0, 8, 1, 2, 9, 3, 4, 6, 7];

#[test]
fn equal_rankers_win_equally_often_and_the_better_one_is_found() {
    for kind in [Interleaving::TeamDraft, Interleaving::Probabilistic { steepness: 3.0 }] {
        let equal = simulated(&[BEST, BEST], kind, 10_000, 1);
        // Equal rankers have equal shares in every document of a probabilistic list, so there all sessions are ties.
        let decided = equal.wins[0] + equal.wins[1];
        assert!((equal.win_rate - 0.5).abs() < 0.02 && equal.p > 0.05, "{equal:?}");
        assert!(equal.interval.low < 0.5 && equal.interval.high > 0.5);
        assert_eq!(decided > 5000, kind == Interleaving::TeamDraft);
        let found = (0..40).filter(|&seed| {
            let result = simulated(&[WORSE, BEST], kind, 600, 100 + seed);
            result.wins[1] > result.wins[0] && result.p < 0.05 && result.interval.high < 0.5
        });
        assert!(found.count() >= 38);
    }
    // Mirrored rankers are as good as each other for a user who clicks at random.
    let mirrored = simulated(
        &[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 0, 3, 2, 5, 4, 7, 6, 9, 8]],
        Interleaving::TeamDraft,
        10,
        1,
    );
    assert_eq!(mirrored.sessions, 10);
}

#[test]
fn sign_test_and_interval_are_those_of_the_tables() {
    // Sums of binomial coefficients: 2·(1 + 10 + 45)/1024.
    assert!((sign_test_p([2, 8]) - 112.0 / 1024.0).abs() < 1e-12);
    assert!((sign_test_p([8, 2]) - 112.0 / 1024.0).abs() < 1e-12);
    assert_eq!((sign_test_p([0, 0]), sign_test_p([3, 3])), (1.0, 1.0));
    // Wilson's interval of 8 of 10, worked out by hand: (0.8 + 0.19207 ± 0.27366·…)/1.38415.
    let interval = wilson(8, 10, 0.95);
    assert!(
        (interval.low - 0.490_162).abs() < 1e-5 && (interval.high - 0.943_318).abs() < 1e-5,
        "{interval:?}"
    );
    let ConfidenceInterval { low, high } = wilson(0, 0, 0.95);
    assert_eq!((low, high), (0.0, 1.0));
}

#[test]
fn sessions_of_other_rankers_are_not_counted() {
    let session = |rankers: [&str; 2], credit: &[f64]| Session {
        shown: vec!["a".into(), "b".into()],
        clicks: vec![Click { doc: "a".into(), time: None }],
        interleaved: Some(Interleaved { rankers: rankers.map(str::to_owned), credit: credit.into() }),
        ..Session::default()
    };
    let mut tally = InterleavingTally::default();
    assert!(tally.add(&session(["x", "y"], &[1.0, 0.0])));
    assert!(tally.add(&session(["y", "x"], &[1.0, 0.0])));
    assert!(!tally.add(&session(["x", "z"], &[1.0, 0.0])));
    assert!(!tally.add(&session(["x", "y"], &[1.0])));
    assert!(!tally.add(&session(["x", "y"], &[2.0, 0.0])));
    assert!(!tally.add(&Session::default()));
    assert_eq!(tally.result(0.95).unwrap().wins, [1, 1]);
    assert!(tally.result(1.0).is_err() && InterleavingTally::default().result(0.95).is_err());
}

#[test]
fn credit_is_added_up_for_each_ranker_whichever_is_named_first() {
    let session = |rankers: [&str; 2], credit: [f64; 2], clicks: &[&str]| Session {
        shown: vec!["a".into(), "b".into()],
        clicks: clicks.iter().map(|doc| Click { doc: (*doc).to_owned(), time: None }).collect(),
        interleaved: Some(Interleaved { rankers: rankers.map(str::to_owned), credit: credit.into() }),
        ..Session::default()
    };
    let mut tallies = InterleavingTallies::default();
    // x: 0.75 + 0.5, y: 0.25 + 0.5; then named the other way round, x: 1, y: 0; then a tie without clicks.
    tallies.add(&session(["x", "y"], [0.75, 0.5], &["a", "b"]));
    tallies.add(&session(["y", "x"], [0.0, 1.0], &["a"]));
    tallies.add(&session(["x", "y"], [1.0, 0.0], &[]));
    tallies.add(&session(["x", "a"], [1.0, 0.0], &["a", "a"]));
    tallies.add(&session(["x", "y"], [1.5, 0.0], &["a"]));
    tallies.add(&Session::default());
    let results = tallies.results(0.9).unwrap();
    let shown: Vec<_> = results.iter().map(|r| (r.rankers.join(" "), r.wins, r.ties, r.credit)).collect();
    let expected = [("a x".to_owned(), [0, 1], 0, [0.0, 1.0]), ("x y".to_owned(), [2, 0], 1, [2.25, 0.75])];
    assert_eq!((shown, tallies.not_interleaved()), (expected.into(), 2));
    assert!(InterleavingTallies::default().results(0.9).is_err());
}
