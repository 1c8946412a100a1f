//! Features against a naive recomputation from the words, and feature sets as files.

mod naive;
mod sets;

use super::{CompiledSet, FeatureSet, Needs, Target};
use crate::analyzer::Analyzer;
use crate::schema::{Field, FieldKind, Schema};
use crate::terms::{DocumentValues, ScopeDocument, ScopeQuery};
use naive::Collection;
use proptest::prelude::*;

fn field(name: &str, kind: FieldKind) -> Field {
    Field { name: name.into(), kind }
}

fn text(name: &str) -> Field {
    field(name, FieldKind::Text { analyzer: Analyzer::English })
}

/// Three text fields, and one of every other kind between them.
fn schema() -> Schema {
    let tag = field("tag", FieldKind::Text { analyzer: Analyzer::Keyword });
    let others =
        [field("price", FieldKind::Number), field("when", FieldKind::Date), field("cites", FieldKind::Links)];
    let [price, when, cites] = others;
    Schema { fields: vec![text("title"), tag, text("body"), price, when, text("authors"), cites] }
}

fn values() -> DocumentValues {
    DocumentValues {
        in_links: 3.0,
        out_links: 0.0,
        page_rank: 0.25,
        fields: vec![f64::NAN, f64::NAN, f64::NAN, 9.5, 31_556_952.0 * 50.0, f64::NAN, f64::NAN],
        retrieval_score: 7.25,
        retrieval_rank: 2.0,
    }
}

fn every_kind(parameters: &str) -> FeatureSet {
    let text = format!(
        "version = 1\nname = 'all'\nparameters = {{ {parameters} }}\nfeatures = [{{ kind = '*', field = '*' }}]"
    );
    FeatureSet::from_toml(&text, "all", &schema()).unwrap()
}

fn computed(set: &FeatureSet, query: &[ScopeQuery], document: &[ScopeDocument]) -> Vec<f32> {
    let compiled = CompiledSet::new(set, &schema()).unwrap();
    let mut row = vec![f32::INFINITY; compiled.width()];
    compiled.query(query).compute(document, &values(), &mut row);
    row
}

fn same(seen: f32, wanted: f64) -> bool {
    let seen = f64::from(seen);
    seen.is_nan() && wanted.is_nan() || (seen - wanted).abs() <= 1e-6 * wanted.abs().max(1.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_feature_is_what_its_words_say(
        documents in prop::collection::vec([words(8), words(30), words(3)], 1..6),
        query in prop::collection::vec((0..9u8, prop::sample::select(vec![0.0, 1.0, 1.0, 2.5])), 0..6),
        (k1, b, lambda) in (0.0..3.0, 0.0..=1.0, 0.01..=1.0),
        (mu, delta) in (0.1..3000.0, 0.01..=1.0),
    ) {
        let collection = Collection { documents, query };
        let set = every_kind(&format!("k1={k1:?}, b={b:?}, lambda={lambda:?}, mu={mu:?}, delta={delta:?}"));
        let queries = collection.scope_queries();
        for document in 0..collection.documents.len() {
            let row = computed(&set, &queries, &collection.scope_documents(document));
            for (feature, &seen) in set.features().iter().zip(&row) {
                let wanted = match &feature.target {
                    Target::None => collection.value_feature(feature.kind.entry().name, &values(), 0),
                    Target::Field(name) if name == "price" => 9.5,
                    Target::Field(name) if name == "when" => 50.0,
                    target => collection.feature(feature, target, document),
                };
                prop_assert!(same(seen, wanted), "{}: {} instead of {}", feature.name, seen, wanted);
            }
        }
    }

    #[test]
    fn a_feature_does_not_depend_on_the_others(
        documents in prop::collection::vec([words(8), words(12), words(3)], 1..4),
        query in prop::collection::vec((0..9u8, Just(1.0)), 0..4),
    ) {
        let collection = Collection { documents, query };
        let (set, queries) = (every_kind(""), collection.scope_queries());
        let document = collection.scope_documents(0);
        let row = computed(&set, &queries, &document);
        for (feature, wanted) in set.features().iter().zip(row) {
            let alone = computed(&set.pick(&[&feature.name]).unwrap(), &queries, &document);
            prop_assert_eq!(alone[0].to_bits(), wanted.to_bits(), "{}", feature.name);
        }
    }
}

/// Words; 0 is a stop word.
fn words(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(0..7u8, 0..=most)
}

fn one(kind: &str, field: &str, collection: &Collection, document: usize) -> f32 {
    let mut set = every_kind("");
    let text = format!("{{ name = 'x', kind = '{kind}', field = '{field}' }}");
    set.add(&text, &schema()).unwrap();
    let documents = collection.scope_documents(document);
    computed(&set.pick(&["x"]).unwrap(), &collection.scope_queries(), &documents)[0]
}

#[test]
fn formulas_computed_by_hand() {
    // Two documents: `a b a` and `c`. The query is `a`: n = 1, N = 2, cf = 2, C = 4, dl = 3, avdl = 2, u = 2.
    let documents = vec![[vec![], vec![1, 2, 1], vec![]], [vec![], vec![3], vec![]]];
    let collection = Collection { documents, query: vec![(1, 1.0)] };
    for (kind, wanted) in [
        ("idf", 2f64.ln()),
        ("bm25", 2f64.ln() * 2.0 / 3.65),
        ("lm.jm", 0.65f64.ln()),
        ("lm.dirichlet", (1002.0f64 / 2003.0).ln()),
        ("lm.absolute", (2.0f64 / 3.0).ln()),
        ("cosine", (2.0f64 / 3.0).sqrt()),
        ("window", 1.0),
        ("phrase", 2.0),
    ] {
        assert!(same(one(kind, "body", &collection, 0), wanted), "{kind}");
    }
    // The other document has no `a`; its title is empty, and no title has a word.
    for (kind, wanted) in [
        ("bm25", 0.0),
        ("lm.jm", 0.05f64.ln()),
        ("lm.dirichlet", (1000.0f64 / 2001.0).ln()),
        ("lm.absolute", 0.35f64.ln()),
        ("first-position", f64::NAN),
        ("window", f64::NAN),
    ] {
        assert!(same(one(kind, "body", &collection, 1), wanted), "{kind}");
    }
    for kind in ["idf", "bm25", "lm.jm", "lm.dirichlet", "lm.absolute", "cosine", "tf-norm.mean", "boolean"] {
        assert_eq!(one(kind, "title", &collection, 0).to_bits(), 0.0f32.to_bits(), "{kind}");
    }
}

#[test]
fn an_empty_text_leaves_everything_to_the_collection() {
    let documents = vec![[vec![], vec![1, 2], vec![]], [vec![], vec![], vec![]]];
    let collection = Collection { documents, query: vec![(1, 1.0)] };
    for (kind, wanted) in [("lm.jm", 0.05f64), ("lm.dirichlet", 0.5), ("lm.absolute", 0.35)] {
        assert!(same(one(kind, "body", &collection, 1), wanted.ln()), "{kind}");
    }
    assert_eq!(one("length", "body", &collection, 1), 0.0);
}

#[test]
fn what_is_not_known_is_missing_and_nothing_is_infinite() {
    let set = every_kind("").pick(&["in-links", "number.price", "date.when", "retrieval-*"]).unwrap();
    let compiled = CompiledSet::new(&set, &schema()).unwrap();
    let collection = Collection { documents: vec![[vec![], vec![], vec![]]], query: vec![] };
    let (queries, texts) = (collection.scope_queries(), collection.scope_documents(0));
    let mut row = vec![0.0; 5];
    compiled.query(&queries).compute(&texts, &DocumentValues::unknown(7), &mut row);
    assert!(row.iter().all(|x| x.is_nan()), "{row:?}");
    let mut values = values();
    values.fields[3] = -1e300;
    compiled.query(&queries).compute(&texts, &values, &mut row);
    assert!(row.contains(&f32::MIN), "{row:?}");
}

#[test]
fn a_compiled_set_says_what_it_needs() {
    let needs = |names: &[&str]| {
        let set = every_kind("").pick(names).unwrap();
        CompiledSet::new(&set, &schema()).unwrap().needs()
    };
    let (nothing, frequencies, positions) = (Needs::Nothing, Needs::Frequencies, Needs::Positions);
    assert_eq!(needs(&["bm25.body", "window.authors"]), [nothing, frequencies, positions, nothing]);
    assert_eq!(needs(&["phrase.whole", "pagerank"]), [nothing, nothing, nothing, positions]);
}

#[test]
fn every_feature_has_a_time() {
    let documents = vec![[vec![1, 2], vec![1, 2, 3, 1], vec![4]]; 3];
    let collection = Collection { documents, query: vec![(1, 1.0), (2, 1.0)] };
    let set = every_kind("");
    let compiled = CompiledSet::new(&set, &schema()).unwrap();
    let candidates: Vec<_> = (0..3).map(|d| (collection.scope_documents(d), values())).collect();
    let times = compiled.times(&collection.scope_queries(), &candidates, 20);
    assert_eq!(times.len(), set.features().len());
    assert!(times.iter().all(|seconds| *seconds > 0.0 && *seconds < 1.0), "{times:?}");
    assert!(compiled.times(&collection.scope_queries(), &[], 20).iter().all(|seconds| seconds.is_finite()));
}
