//! Feature sets as TOML.

use super::kind::{KINDS, KindEntry, Parameter, Parameters, Subject};
use super::set::{Feature, FeatureSet, Target, fits, is_safe};
use crate::schema::{Field, FieldKind, Schema, WHOLE};
use rankwise::card::unknown;
use rankwise::error::Place;
use rankwise::{Error, Result};
use serde::Deserialize;
use toml::Spanned;

/// Raised when a file of this version means something else to earlier programs.
const VERSION: u64 = 1;

#[derive(Deserialize)]
struct Versioned {
    version: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSet {
    #[serde(rename = "version")]
    _version: u64,
    name: String,
    #[serde(default)]
    parameters: Option<Spanned<Parameters>>,
    features: Vec<Spanned<WrittenFeature>>,
    /// Beside data, a set says with which analyzers it was computed. They are checked where the data is used.
    #[serde(rename = "analyzers")]
    _analyzers: Option<toml::Table>,
    /// And how candidates were found, which is for searches.
    #[serde(rename = "retrieval")]
    _retrieval: Option<toml::Table>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFeature {
    name: Option<String>,
    kind: String,
    field: Option<String>,
    k1: Option<f64>,
    b: Option<f64>,
    lambda: Option<f64>,
    mu: Option<f64>,
    delta: Option<f64>,
}

/// Reads a feature set for a schema.
pub(super) fn read(text: &str, file: &str, schema: &Schema) -> Result<FeatureSet> {
    let at = |start: usize, error: &Error| Error::parse(place(start, text, file), error.message());
    let invalid = |error: toml::de::Error| at(error.span().map_or(0, |span| span.start), &in_words(&error));
    let versioned: Versioned = toml::from_str(text).map_err(invalid)?;
    check_version(versioned.version).map_err(|error| at(0, &error))?;
    let written: WrittenSet = toml::from_str(text).map_err(invalid)?;
    let parameters = match written.parameters {
        Some(given) => check(*given.get_ref()).map_err(|error| at(given.span().start, &error))?,
        None => Parameters::default(),
    };
    let mut set = FeatureSet { name: written.name, parameters, features: Vec::new() };
    for feature in &written.features {
        let more = expand(feature.get_ref(), &parameters, schema);
        let more = more.map_err(|error| at(feature.span().start, &error))?;
        set.features.extend(more);
        set.check_names().map_err(|error| at(feature.span().start, &error))?;
    }
    set.checked().map_err(|error| at(0, &error))
}

/// Reads the features that one line of a file stands for.
pub(super) fn read_one(text: &str, parameters: &Parameters, schema: &Schema) -> Result<Vec<Feature>> {
    #[derive(Deserialize)]
    struct One {
        feature: WrittenFeature,
    }
    let one: One = toml::from_str(&format!("feature = {text}")).map_err(|error| in_words(&error))?;
    expand(&one.feature, parameters, schema)
}

fn check(parameters: Parameters) -> Result<Parameters> {
    Parameter::ALL.into_iter().try_for_each(|parameter| parameter.check(parameters.get(parameter)))?;
    Ok(parameters)
}

fn check_version(version: Option<u64>) -> Result<()> {
    match version {
        Some(VERSION) => Ok(()),
        Some(newer) if newer > VERSION => Err(Error::parameter(format!(
            "the feature set has version {newer}, and this Rankwise reads version {VERSION}; use a newer one"
        ))),
        _ => Err(Error::parameter(format!("a feature set begins with `version = {VERSION}`"))),
    }
}

/// The features that an entry stands for.
fn expand(written: &WrittenFeature, defaults: &Parameters, schema: &Schema) -> Result<Vec<Feature>> {
    let mut features = Vec::new();
    for entry in kinds(&written.kind)? {
        let parameters = parameters(written, entry, defaults)?;
        for target in targets(entry, written.field.as_deref(), schema)? {
            let kind = entry.kind;
            features.push(Feature { name: name(written, entry, &target), kind, target, parameters });
        }
    }
    Ok(features)
}

fn kinds(pattern: &str) -> Result<Vec<&'static KindEntry>> {
    let kinds: Vec<_> = KINDS.iter().filter(|entry| fits(pattern, entry.name)).collect();
    match kinds.is_empty() {
        true => Err(unknown("kind of feature", pattern, &KINDS.each_ref().map(|entry| entry.name))),
        false => Ok(kinds),
    }
}

fn parameters(written: &WrittenFeature, entry: &KindEntry, defaults: &Parameters) -> Result<Parameters> {
    let mut parameters = *defaults;
    let given = [written.k1, written.b, written.lambda, written.mu, written.delta];
    for (parameter, value) in Parameter::ALL.into_iter().zip(given) {
        let Some(value) = value else { continue };
        if !entry.parameters.contains(&parameter) {
            let (kind, name) = (entry.name, parameter.name());
            return Err(Error::parameter(format!("`{kind}` has no parameter `{name}`")));
        }
        parameters.set(parameter, value)?;
    }
    Ok(parameters)
}

/// The fields that are meant, or none for what has no field.
fn targets(entry: &KindEntry, field: Option<&str>, schema: &Schema) -> Result<Vec<Target>> {
    let fitting = fitting_fields(entry.subject, schema);
    let has_links = schema.fields.iter().any(|field| matches!(field.kind, FieldKind::Links));
    match (entry.subject, field) {
        (Subject::Candidate, None | Some("*")) => Ok(vec![Target::None]),
        (Subject::Links, Some("*")) if !has_links => Ok(Vec::new()),
        (Subject::Links, None | Some("*")) if has_links => Ok(vec![Target::None]),
        (Subject::Links, None) => {
            Err(Error::parameter(format!("`{}` needs a field of links, and the index has none", entry.name)))
        }
        (Subject::Candidate | Subject::Links, Some(_)) => {
            Err(Error::parameter(format!("`{}` takes no field", entry.name)))
        }
        (_, None) => Err(Error::parameter(format!("`{}` needs a field", entry.name))),
        (Subject::Text, Some(WHOLE)) if !fitting.is_empty() => Ok(vec![Target::Whole]),
        (_, Some("*")) => {
            let whole = entry.subject == Subject::Text && fitting.len() > 1;
            let fields = fitting.into_iter().map(|name| Target::Field(name.to_owned()));
            Ok(fields.chain(whole.then_some(Target::Whole)).collect())
        }
        (_, Some(name)) if fitting.contains(&name) => Ok(vec![Target::Field(name.to_owned())]),
        (subject, Some(name)) => Err(no_such_field(entry, subject, name, &fitting, schema)),
    }
}

/// The fields to which a kind applies.
fn fitting_fields(subject: Subject, schema: &Schema) -> Vec<&str> {
    let fits = |field: &Field| match subject {
        Subject::Text | Subject::TextField => field.words().is_some(),
        Subject::Number => field.kind == FieldKind::Number,
        Subject::Date => field.kind == FieldKind::Date,
        Subject::Links | Subject::Candidate => false,
    };
    schema.fields.iter().filter(|field| fits(field)).map(|field| field.name.as_str()).collect()
}

fn no_such_field(
    entry: &KindEntry,
    subject: Subject,
    name: &str,
    fitting: &[&str],
    schema: &Schema,
) -> Error {
    let known: Vec<&str> = schema.fields.iter().map(|field| field.name.as_str()).collect();
    if name != WHOLE && !known.contains(&name) {
        return unknown("field", name, &known);
    }
    let wanted = match subject {
        Subject::Number => "a field of numbers",
        Subject::Date => "a field of dates",
        _ => "a text field of words",
    };
    Error::parameter(format!(
        "`{}` needs {wanted}, and `{name}` is none; {}",
        entry.name,
        match fitting.is_empty() {
            true => "the index has none".to_owned(),
            false => format!("there are {}", fitting.join(", ")),
        }
    ))
}

/// A feature's name: what the file says, or kind and field, with `_` for what a name cannot have.
fn name(written: &WrittenFeature, entry: &KindEntry, target: &Target) -> String {
    let shorthand = written.field.as_deref() == Some("*") || written.kind.contains('*');
    let safe = |field: &str| field.chars().map(|c| if is_safe(c) { c } else { '_' }).collect::<String>();
    match (&written.name, target.name()) {
        (Some(name), None) => name.clone(),
        (Some(name), Some(_)) if !shorthand => name.clone(),
        (Some(name), Some(field)) => format!("{name}.{}", safe(field)),
        (None, Some(field)) => format!("{}.{}", entry.name, safe(field)),
        (None, None) => entry.name.to_owned(),
    }
}

fn place(start: usize, text: &str, file: &str) -> Place {
    let before = &text[..text.floor_char_boundary(start)];
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    Place {
        file: file.to_owned(),
        line: before.matches('\n').count() as u64 + 1,
        column: (before.len() - line) as u64 + 1,
    }
}

/// What TOML's reader says, with a suggestion for an unknown key.
fn in_words(error: &toml::de::Error) -> Error {
    let message = error.message();
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    match quoted.split_first() {
        Some((key, known)) if message.starts_with("unknown field") => unknown("key", key, known),
        _ => Error::parameter(message),
    }
}

/// A feature set as a file.
pub(super) fn write(set: &FeatureSet) -> String {
    let mut text = String::from(EXPLANATION);
    text += &format!("version = {VERSION}\nname = {}\n\n", quoted(&set.name));
    text += "# Parameters of features that have none of their own.\n";
    let all = Parameter::ALL.map(|parameter| pair(parameter.name(), set.parameters.get(parameter)));
    text += &format!("parameters = {{ {} }}\n\nfeatures = [\n", all.join(", "));
    for feature in &set.features {
        let own = feature.used_parameters().filter(|(p, value)| set.parameters.get(*p) != *value);
        text += &format!("    {},\n", line(feature, own));
    }
    text + "]\n\n" + &kinds_in_comments()
}

/// A feature as a line of a file, with these parameters.
fn line(feature: &Feature, parameters: impl Iterator<Item = (Parameter, f64)>) -> String {
    let mut pairs = vec![
        format!("name = {}", quoted(&feature.name)),
        format!("kind = {}", quoted(feature.kind.entry().name)),
    ];
    pairs.extend(feature.target.name().map(|field| format!("field = {}", quoted(field))));
    pairs.extend(parameters.map(|(parameter, value)| pair(parameter.name(), value)));
    format!("{{ {} }}", pairs.join(", "))
}

fn pair(name: &str, value: f64) -> String {
    format!("{name} = {}", toml::Value::Float(value))
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A feature set with all parameters of every feature.
pub(super) fn explicit(set: &FeatureSet) -> String {
    let lines =
        set.features.iter().map(|feature| format!("    {},\n", line(feature, feature.used_parameters())));
    let lines: String = lines.collect();
    format!("version = {VERSION}\nname = {}\nfeatures = [\n{lines}]\n", quoted(&set.name))
}

const EXPLANATION: &str = "\
# Features of query-document pairs, one per line, in the order of their columns. Change what you like:
#   name   of the column: letters, digits and . - _
#   kind   what it measures; all kinds are listed below. tf.* stands for all kinds that begin with tf.
#   field  where; \"whole\" is all text fields together, \"*\" every field that fits and the whole
# and the parameters of its formula, where they differ from those below.

";

fn kinds_in_comments() -> String {
    let mut text = String::from("# Kinds:\n");
    for entry in &KINDS {
        text += &format!("#   {:<16} {}\n", entry.name, entry.about);
    }
    text + "\
# Sums are over the different terms of the query: tf occurrences in the document, w in the query, p the share of all
# words of the collection that are this term, idf = ln(1 + (N - n + 0.5)/(n + 0.5)) for n of N documents with the term.
# dl is the number of words of the document, avdl the average, u the number of different words.
"
}
