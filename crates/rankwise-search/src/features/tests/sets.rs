//! Feature sets as files and in models.

use super::{every_kind, field, schema, text};
use crate::analyzer::Analyzer;
use crate::features::{FeatureSet, Parameter, Target};
use crate::schema::{FieldKind, Schema};
use rankwise::data::{Columns, FeatureSource};
use rankwise::models::{Model, Ranker};

fn names(set: &FeatureSet) -> Vec<&str> {
    set.names().collect()
}

fn read(text: &str) -> rankwise::Result<FeatureSet> {
    FeatureSet::from_toml(text, "set.toml", &schema())
}

#[test]
fn presets_fit_every_schema() {
    let texts = |count: usize| Schema { fields: (0..count).map(|i| text(&format!("t{i}"))).collect() };
    // Of MSLR's features, 25 are of text. Beside them there are the query's length and phrases, and first positions and
    // windows in fields.
    assert_eq!(FeatureSet::mslr(&texts(1)).unwrap().features().len(), 27 + 2);
    assert_eq!(FeatureSet::mslr(&texts(5)).unwrap().features().len(), 27 * 6 + 2 * 5);
    let full = FeatureSet::mslr(&schema()).unwrap();
    assert_eq!(full.features().len(), 27 * 4 + 2 * 3 + 3 + 2);
    let last: Vec<&str> = names(&full).split_off(full.features().len() - 5);
    assert_eq!(last, ["in-links", "out-links", "pagerank", "number.price", "date.when"]);
    for schema in [texts(1), texts(3), schema()] {
        let small = FeatureSet::small(&schema).unwrap();
        assert!((10..=24).contains(&small.features().len()), "{:?}", names(&small));
    }
}

#[test]
fn a_set_survives_being_written_and_read() {
    let mut set = every_kind("k1 = 0.9, mu = 1500");
    set.add("{ name = 'short', kind = 'bm25', field = 'title', k1 = 2, b = 0.3 }", &schema()).unwrap();
    let written = set.to_toml();
    assert_eq!(read(&written).unwrap(), set);
    assert!(
        written.contains("{ name = \"short\", kind = \"bm25\", field = \"title\", k1 = 2.0, b = 0.3 },\n"),
        "{written}"
    );
    assert!(
        written.contains("{ name = \"bm25.title\", kind = \"bm25\", field = \"title\" },\n"),
        "{written}"
    );
    assert!(written.contains("#   lm.jm            Σ w·ln"), "{written}");
}

#[test]
fn features_are_picked_renamed_added_and_changed() {
    let set = every_kind("");
    assert_eq!(names(&set.pick(&["bm25.*", "pagerank"]).unwrap()).len(), 5);
    assert_eq!(
        names(&set.pick(&["*.sum.title"]).unwrap()),
        ["tf.sum.title", "tf-norm.sum.title", "tf-idf.sum.title"]
    );
    let rest = set.without(&["*.title", "*.body", "*.whole", "*.authors"]).unwrap();
    assert_eq!(names(&rest)[..3], ["in-links", "out-links", "pagerank"]);
    let error = set.pick(&["bm25.titel"]).unwrap_err().to_string();
    assert!(error.contains("did you mean `bm25.title`"), "{error}");
    assert!(set.without(&["*"]).unwrap().features().is_empty());

    let mut set = set.pick(&["bm25.title", "lm.jm.title"]).unwrap();
    set.rename("bm25.title", "classic").unwrap();
    set.set_parameter(Parameter::K1, 2.5).unwrap();
    set.add("{ kind = 'bm25', field = '*' }", &schema()).unwrap();
    assert_eq!(
        names(&set),
        ["classic", "lm.jm.title", "bm25.title", "bm25.body", "bm25.authors", "bm25.whole"]
    );
    assert!(set.features().iter().all(|feature| feature.parameters.k1 == 2.5));
    assert_eq!(set.features()[5].target, Target::Whole);

    let before = set.clone();
    assert!(
        set.rename("lm.jm.title", "classic")
            .unwrap_err()
            .to_string()
            .contains("two features called `classic`")
    );
    assert!(set.rename("lm.jm.title", "a,b").unwrap_err().to_string().contains("`a,b` cannot be the name"));
    assert!(set.rename("absent", "x").is_err());
    assert!(set.add("{ kind = 'bm25', field = 'title' }", &schema()).is_err());
    assert!(
        set.set_parameter(Parameter::B, 1.5)
            .unwrap_err()
            .to_string()
            .contains("`b` is 1.5; it must be 0 to 1")
    );
    assert_eq!(set, before);
}

#[test]
fn names_are_safe_in_tables_and_models_of_other_tools() {
    let odd = Schema { fields: vec![text("full text, \"all\": [x]"), text("Überschrift")] };
    let set = FeatureSet::from_toml(
        "version = 1\nname = 's'\nfeatures = [{ kind = 'bm25', field = '*' }]",
        "s",
        &odd,
    );
    assert_eq!(names(&set.unwrap()), ["bm25.full_text___all____x_", "bm25.Überschrift", "bm25.whole"]);
    let clash = Schema { fields: vec![text("a b"), text("a:b")] };
    let error = FeatureSet::mslr(&clash).unwrap_err().to_string();
    assert!(error.contains("two features called `covered.a_b`"), "{error}");
}

#[test]
fn a_name_stands_for_the_kind_of_a_shorthand() {
    let set =
        read("version = 1\nname = 's'\nfeatures = [{ name = 'okapi', kind = 'bm25', field = '*', k1 = 3 }]");
    assert_eq!(names(&set.unwrap()), ["okapi.title", "okapi.body", "okapi.authors", "okapi.whole"]);
}

#[test]
fn mistakes_are_named_with_their_line() {
    let set = |line: &str| {
        format!("version = 1\nname = 's'\nfeatures = [\n  {{ kind = 'idf', field = 'body' }},\n  {line},\n]")
    };
    for (text, place, part) in [
        (set("{ kind = 'bm52', field = 'title' }"), "set.toml:5:3", "did you mean `bm25`"),
        (set("{ kind = 'bm25', field = 'titel' }"), "set.toml:5:3", "did you mean `title`"),
        (set("{ kind = 'bm25', field = 'price' }"), "set.toml:5:3", "needs a text field"),
        (set("{ kind = 'bm25', field = 'tag' }"), "set.toml:5:3", "there are title, body, authors"),
        (set("{ kind = 'number', field = 'title' }"), "set.toml:5:3", "needs a field of numbers"),
        (set("{ kind = 'window', field = 'whole' }"), "set.toml:5:3", "`whole` is none"),
        (set("{ kind = 'bm25' }"), "set.toml:5:3", "needs a field"),
        (set("{ kind = 'pagerank', field = 'title' }"), "set.toml:5:3", "takes no field"),
        (set("{ kind = 'bm25', field = 'title', mu = 3 }"), "set.toml:5:3", "`bm25` has no parameter `mu`"),
        (set("{ kind = 'bm25', field = 'title', k1 = -1 }"), "set.toml:5:3", "`k1` is -1"),
        (set("{ kind = 'lm.jm', field = 'title', lambda = 0 }"), "set.toml:5:3", "above 0 and at most 1"),
        (set("{ kind = 'bm25', field = 'title', k = 1 }"), "set.toml:5:", "unknown key `k`"),
        (set("{ kind = 'idf', field = 'body' }"), "set.toml:5:3", "two features called `idf.body`"),
        (set("{ name = 'a b', kind = 'idf', field = 'body' }"), "set.toml:5:3", "cannot be the name"),
        (set("").replace("version = 1", "version = 2"), "set.toml:1:", "version 2"),
        (set("").replace("version = 1\n", "# none\n"), "set.toml:1:", "begins with `version = 1`"),
        ("version = 1\nname = 's'\nfeatures = []".into(), "set.toml:1:", "has no features"),
        (
            "version = 1\nname = 's'\n\nparameters = { b = 2 }\nfeatures = []".into(),
            "set.toml:4:",
            "`b` is 2",
        ),
        ("version = 1\nname = 's'\nfeatures = [".into(), "set.toml:3:", ""),
    ] {
        let text = text.replace("  ,\n", "");
        let error = read(&text).unwrap_err().to_string();
        assert!(error.contains(place) && error.contains(part), "{text}\n{error}");
    }
    let no_links = Schema { fields: vec![text("title")] };
    let pagerank = "version = 1\nname = 's'\nfeatures = [{ kind = 'pagerank' }]";
    let error = FeatureSet::from_toml(pagerank, "s", &no_links).unwrap_err().to_string();
    assert!(error.contains("needs a field of links"), "{error}");
}

fn model(features: &[&str], source: Option<FeatureSource>) -> Ranker {
    let names = Some(features.iter().map(|name| (*name).to_owned()).collect());
    let columns = Columns { names, source, ..Columns::default() };
    Ranker::of_model(Model::linear(vec![1.0; features.len()], 0.0), columns).unwrap()
}

#[test]
fn a_model_asks_for_its_features_in_its_order() {
    let mut set = every_kind("mu = 900");
    set.add("{ name = 'mine', kind = 'bm25', field = 'whole', b = 0.2 }", &schema()).unwrap();
    set.set_parameter(Parameter::K1, 0.7).unwrap();
    let source = set.source(&schema()).unwrap();
    assert_eq!(source.feature_names(), names(&set));
    let ranker = model(&["mine", "date.when", "lm.dirichlet.title"], Some(source));
    let loaded = Ranker::from_bytes(&ranker.to_bytes()).unwrap();
    let needed = FeatureSet::of_model(&loaded, &schema()).unwrap();
    assert_eq!(names(&needed), ["mine", "date.when", "lm.dirichlet.title"]);
    let [mine, _, dirichlet] = needed.features() else { panic!("{needed:?}") };
    assert_eq!((mine.parameters.k1, mine.parameters.b, dirichlet.parameters.mu), (0.7, 0.2, 900.0));
}

#[test]
fn an_index_that_does_not_fit_a_model_is_refused() {
    let source = every_kind("").source(&schema()).unwrap();
    let refusal = |features: &[&str], source: Option<&FeatureSource>, schema: &Schema| {
        FeatureSet::of_model(&model(features, source.cloned()), schema).unwrap_err().to_string()
    };
    let error = refusal(&["bm25.title"], None, &schema());
    assert!(error.contains("does not say how its features were computed"), "{error}");
    let error = refusal(&["bm25.title", "clicks"], Some(&source), &schema());
    assert!(error.contains("feature `clicks`") && error.contains("added to the training data"), "{error}");

    let with = |name: &str, kind: FieldKind| {
        let mut changed = schema();
        changed.fields.iter_mut().filter(|f| f.name == name).for_each(|f| f.kind = kind.clone());
        changed
    };
    let plain = with("title", FieldKind::Text { analyzer: Analyzer::Plain });
    for feature in ["bm25.title", "bm25.whole"] {
        let error = refusal(&[feature], Some(&source), &plain);
        assert!(
            error.contains("`title` has the analyzer plain") && error.contains("with english"),
            "{error}"
        );
    }
    let fits = |feature: &str, schema: &Schema| {
        FeatureSet::of_model(&model(&[feature], Some(source.clone())), schema)
    };
    fits("bm25.body", &plain).unwrap();
    fits("date.when", &plain).unwrap();

    // Another text field changes what the whole document is, but no other field.
    let mut longer = schema();
    longer.fields.push(text("more"));
    fits("bm25.title", &longer).unwrap();
    let error = refusal(&["bm25.whole"], Some(&source), &longer);
    assert!(error.contains("`more`") && error.contains("no text field"), "{error}");
    let numbers = with("title", FieldKind::Number);
    assert!(refusal(&["bm25.title"], Some(&source), &numbers).contains("the index does not fit the model"));
    let only_body = Schema { fields: vec![text("body"), field("cites", FieldKind::Links)] };
    fits("bm25.body", &only_body).unwrap();
    assert!(refusal(&["bm25.title"], Some(&source), &only_body).contains("`title`"));
}
