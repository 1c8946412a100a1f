//! Raw statistics of candidates are what counting words by hand gives.

mod common;

use common::{Built, Change, Forms, Texts, WORDS, count, query_terms, schema, tokens};
use proptest::prelude::*;
use rankwise_search::terms::ScopeDocument;
use rankwise_search::{Address, Analyzer, FIELD_POSITIONS, Query, Scope};
use std::collections::HashSet;

const VOCABULARY: [&str; 8] = ["run", "running", "the", "of", "dog", "dogs", "cat", "3.5"];

fn words(most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&VOCABULARY[..]), 0..most).prop_map(|words| words.join(" "))
}

fn texts() -> impl Strategy<Value = Texts> {
    let field = prop::sample::select(&["title", "body", "note", "tag"][..]);
    prop::collection::vec((field.prop_map(str::to_owned), words(12)), 0..6)
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = prop_oneof![
        6 => (0u8..20, texts()).prop_map(|(number, texts)| Change::Put(number, texts)),
        1 => (0u8..20).prop_map(Change::Delete),
        1 => Just(Change::Commit),
    ];
    prop::collection::vec(change, 1..40)
}

/// The text fields of a scope: their numbers among the text fields, names and analyzers.
fn fields_of(scope: Scope) -> Vec<(usize, &'static str, Analyzer)> {
    let all =
        WORDS.iter().enumerate().map(|(number, &(place, name, analyzer))| (place, (number, name, analyzer)));
    all.filter(|(place, _)| scope == Scope::Whole || scope == Scope::Field(*place))
        .map(|(_, field)| field)
        .collect()
}

fn naive(texts: &Texts, scope: Scope, terms: &[(Forms, f64)]) -> ScopeDocument {
    let fields = fields_of(scope);
    let mut document = ScopeDocument::default();
    let mut distinct = HashSet::new();
    for &(_, name, analyzer) in &fields {
        let tokens = tokens(texts, name, analyzer);
        document.length += tokens.len() as u32;
        distinct.extend(tokens.into_iter().map(|(text, _)| text));
    }
    document.distinct = distinct.len() as u32;
    for (forms, _) in terms {
        let mut positions = Vec::new();
        for (name, analyzer, term) in forms {
            let number = fields.iter().find(|(_, other, _)| other == name).unwrap().0;
            let base = if scope == Scope::Whole { number as u32 * FIELD_POSITIONS } else { 0 };
            let found = tokens(texts, name, *analyzer).into_iter().filter(|(text, _)| text == term);
            positions.extend(found.map(|(_, position)| base + position));
        }
        document.frequencies.push(positions.len() as u32);
        document.positions.extend(positions);
    }
    document
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn statistics_are_those_of_counting(changes in changes(), query in words(8), every in 1usize..3) {
        let built = Built::by_changes(&schema(), &changes);
        let snapshot = built.snapshot();
        let scopes = [Scope::Field(0), Scope::Whole, Scope::Field(1), Scope::Field(3)];
        let mut matches = snapshot.matches(&Query::words(&query), &scopes).unwrap();
        let terms: Vec<Vec<(Forms, f64)>> = scopes
            .iter()
            .map(|&scope| {
                let fields: Vec<_> = fields_of(scope).iter().map(|&(_, name, analyzer)| (name, analyzer)).collect();
                query_terms(&query, &fields)
            })
            .collect();

        for ((scope, terms), found) in scopes.iter().zip(&terms).zip(matches.queries()) {
            prop_assert_eq!(found.documents, built.live.len() as u64);
            prop_assert_eq!(found.terms.len(), terms.len());
            let all: Vec<ScopeDocument> = built.live.values().map(|texts| naive(texts, *scope, terms)).collect();
            prop_assert_eq!(found.tokens, all.iter().map(|d| u64::from(d.length)).sum::<u64>());
            for (place, ((_, times), term)) in terms.iter().zip(&found.terms).enumerate() {
                prop_assert_eq!(*times, term.weight);
                let here: Vec<u64> = all.iter().map(|d| u64::from(d.frequencies[place])).collect();
                prop_assert_eq!(term.document_frequency, here.iter().filter(|&&tf| tf > 0).count() as u64);
                prop_assert_eq!(term.collection_frequency, here.iter().sum::<u64>());
            }
        }

        let candidates: Vec<Address> = snapshot.addresses().step_by(every).collect();
        let ids = snapshot.ids(&candidates).unwrap();
        for positions in [true, false] {
            let mut visited = Vec::new();
            matches
                .visit(&candidates, positions, |place, documents| {
                    visited.push((place, documents.to_vec()));
                    Ok(())
                })
                .unwrap();
            prop_assert_eq!(visited.len(), candidates.len());
            for (expected_place, (place, documents)) in visited.into_iter().enumerate() {
                prop_assert_eq!(place, expected_place);
                for ((scope, terms), found) in scopes.iter().zip(&terms).zip(documents) {
                    let mut expected = naive(&built.live[&ids[place]], *scope, terms);
                    if !positions {
                        expected.positions.clear();
                    }
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }
}

/// More candidates than are looked up together, and postings of several blocks.
#[test]
fn many_candidates_are_looked_up_in_turn() {
    let texts = |number: usize| -> Texts {
        let text = if number.is_multiple_of(3) { "dog run dog" } else { "cat dog" };
        vec![("title".into(), text.into()), ("body".into(), "run ".repeat(number % 7))]
    };
    let live = (0..1000).map(|number| (format!("{number:04}"), texts(number))).collect();
    let built = Built::anew(&schema(), &live);
    let snapshot = built.snapshot();
    let mut matches = snapshot.matches(&Query::words("run dog"), &[Scope::Field(0), Scope::Whole]).unwrap();
    let candidates: Vec<Address> = snapshot.addresses().collect();
    let ids = snapshot.ids(&candidates).unwrap();
    let mut visited = 0;
    let check = |place: usize, documents: &[ScopeDocument]| {
        let title = tokens(&live[&ids[place]], "title", Analyzer::English);
        let body = tokens(&live[&ids[place]], "body", Analyzer::Plain);
        let [run, dog] = [count(&title, "run"), count(&title, "dog")];
        assert_eq!(documents[0].frequencies, [run, dog]);
        assert_eq!(documents[1].frequencies, [run + count(&body, "run"), dog]);
        assert_eq!(documents[1].length as usize, title.len() + body.len());
        visited += 1;
        Ok(())
    };
    matches.visit(&candidates, true, check).unwrap();
    assert_eq!(visited, 1000);
    let unsorted = [candidates[1], candidates[0]];
    assert!(matches.visit(&unsorted, true, |_, _| Ok(())).is_err());
    let unknown = [Address { segment: 99, document: 0 }];
    assert!(matches.visit(&unknown, true, |_, _| Ok(())).is_err());
}

#[test]
fn words_of_a_query_have_their_positions() {
    let live = [("1".to_owned(), vec![("title".to_owned(), "the dog of the cat".to_owned())])].into();
    let built = Built::anew(&schema(), &live);
    let snapshot = built.snapshot();
    let words = |query: &Query, scope| -> Vec<(usize, u32)> {
        let matches = snapshot.matches(query, &[scope]).unwrap();
        matches.queries()[0].words.iter().map(|word| (word.term, word.position)).collect()
    };
    let plain = Query::words("the dogs and the dog");
    assert_eq!(words(&plain, Scope::Field(0)), [(0, 1), (0, 4)]);
    assert_eq!(words(&plain, Scope::Field(1)), [(0, 0), (1, 1), (2, 2), (0, 3), (3, 4)]);
    let full = Query::parse("cat \"the dog\" -mouse title:cats", &schema()).unwrap();
    assert_eq!(words(&full, Scope::Field(0)), [(0, 0), (1, 2), (0, 3)]);
    assert_eq!(words(&full, Scope::Field(1)), [(0, 0), (1, 1), (2, 2)]);
}
