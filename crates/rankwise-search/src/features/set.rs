//! Feature sets: which features, under which names, with which parameters.

use super::kind::{Kind, Parameter, Parameters, Subject};
use super::written;
use crate::schema::{Schema, WHOLE};
use rankwise::{Error, Result};
use std::fs;
use std::path::Path;

/// The features that are computed for a schema, in the order of their columns.
///
/// ```
/// use rankwise_search::{Analyzer, Field, FieldKind, FeatureSet, Schema};
/// let text = |name: &str| Field { name: name.into(), kind: FieldKind::Text { analyzer: Analyzer::English } };
/// let schema = Schema { fields: vec![text("title"), text("body")] };
/// let set = FeatureSet::mslr(&schema)?.pick(&["bm25.*", "lm.*.whole"])?;
/// let names: Vec<&str> = set.features().iter().map(|feature| feature.name.as_str()).collect();
/// assert_eq!(names[..3], ["bm25.title", "bm25.body", "bm25.whole"]);
/// assert_eq!(names[3..], ["lm.absolute.whole", "lm.dirichlet.whole", "lm.jm.whole"]);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureSet {
    /// Its name, for people.
    pub name: String,
    pub(super) parameters: Parameters,
    pub(super) features: Vec<Feature>,
}

/// A feature.
#[derive(Debug, Clone, PartialEq)]
pub struct Feature {
    /// The name of its column.
    pub name: String,
    /// What it measures.
    pub kind: Kind,
    /// Where.
    pub target: Target,
    /// The parameters of its formula; others are not used.
    pub parameters: Parameters,
}

/// Where a feature is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// In a field.
    Field(String),
    /// In all text fields together.
    Whole,
    /// It has no field: links and what is known from retrieval.
    None,
}

impl FeatureSet {
    /// The features of the MSLR-WEB collections, of every text field and of all together, with positions of words and
    /// phrases; and what is known of the documents: links, numbers and dates.
    pub fn mslr(schema: &Schema) -> Result<FeatureSet> {
        written::read(include_str!("mslr.toml"), "mslr", schema)
    }

    /// A few features that are good beside each other.
    pub fn small(schema: &Schema) -> Result<FeatureSet> {
        written::read(include_str!("small.toml"), "small", schema)
    }

    /// `mslr`, `small`, or the feature set in the TOML file of this name.
    pub fn of_name(name: &str, schema: &Schema) -> Result<FeatureSet> {
        match name {
            "mslr" => FeatureSet::mslr(schema),
            "small" => FeatureSet::small(schema),
            file if Path::new(file).exists() || file.contains(['.', '/']) => {
                let text = fs::read_to_string(file).map_err(|source| Error::io("read", file, source))?;
                FeatureSet::from_toml(&text, file, schema)
            }
            _ => Err(Error::parameter(format!(
                "there is no feature set `{name}`; choose mslr, small or a TOML file"
            ))),
        }
    }

    /// Reads a feature set. `file` is for messages, which name the line.
    ///
    /// In a file, the field `*` stands for every field to which a kind applies, and, if there are several text fields,
    /// for `whole`. A kind may have `*`, too: `tf.*` is the sum, minimum, maximum, mean and variance. The name of a feature
    /// is its kind and its field unless the file says another; with a `*`, that other name stands for the kind.
    pub fn from_toml(text: &str, file: &str, schema: &Schema) -> Result<FeatureSet> {
        written::read(text, file, schema)
    }

    /// The feature set as a file that [`from_toml`](FeatureSet::from_toml) reads, with explanations.
    pub fn to_toml(&self) -> String {
        written::write(self)
    }

    /// The features.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// The names of the features.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.features.iter().map(|feature| feature.name.as_str())
    }

    /// The name of a feature of retrieval, if there is one.
    pub(crate) fn of_retrieval(&self) -> Option<&str> {
        let feature = self.features.iter().find(|feature| feature.kind.entry().subject == Subject::Candidate);
        feature.map(|feature| feature.name.as_str())
    }

    /// The parameters of features that are added without their own.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The features with these names, in the order of the set. In a name, `*` stands for any text. Fails if a name fits
    /// no feature.
    pub fn pick<T: AsRef<str>>(&self, names: &[T]) -> Result<FeatureSet> {
        self.check_known(names)?;
        Ok(self.filtered(|name| names.iter().any(|pattern| fits(pattern.as_ref(), name))))
    }

    /// All features but those with these names, in which `*` stands for any text. Fails if a name fits no feature.
    pub fn without<T: AsRef<str>>(&self, names: &[T]) -> Result<FeatureSet> {
        self.check_known(names)?;
        Ok(self.filtered(|name| !names.iter().any(|pattern| fits(pattern.as_ref(), name))))
    }

    /// The features that [`pick`](FeatureSet::pick) and then [`without`](FeatureSet::without) leave; an empty list changes
    /// nothing.
    pub fn select<T: AsRef<str>>(self, picked: &[T], without: &[T]) -> Result<FeatureSet> {
        let set = if picked.is_empty() { self } else { self.pick(picked)? };
        if without.is_empty() { Ok(set) } else { set.without(without) }
    }

    fn filtered(&self, keep: impl Fn(&str) -> bool) -> FeatureSet {
        let features = self.features.iter().filter(|feature| keep(&feature.name)).cloned().collect();
        FeatureSet { features, ..self.clone() }
    }

    fn check_known<T: AsRef<str>>(&self, patterns: &[T]) -> Result<()> {
        match patterns.iter().find(|pattern| !self.names().any(|name| fits(pattern.as_ref(), name))) {
            Some(pattern) => {
                let known: Vec<&str> = self.names().collect();
                Err(rankwise::card::unknown("feature", pattern.as_ref(), &known))
            }
            None => Ok(()),
        }
    }

    /// Gives a feature another name.
    pub fn rename(&mut self, name: &str, new: &str) -> Result<()> {
        self.check_known(&[name])?;
        let mut renamed = self.clone();
        for feature in renamed.features.iter_mut().filter(|feature| feature.name == name) {
            new.clone_into(&mut feature.name);
        }
        *self = renamed.checked()?;
        Ok(())
    }

    /// Adds features as they are written in a file: `{ kind = "bm25", field = "title", k1 = 0.9 }`.
    pub fn add(&mut self, written: &str, schema: &Schema) -> Result<()> {
        let mut longer = self.clone();
        longer.features.extend(written::read_one(written, &self.parameters, schema)?);
        *self = longer.checked()?;
        Ok(())
    }

    /// Sets a parameter of all features whose formula has it, and of those added later.
    pub fn set_parameter(&mut self, parameter: Parameter, value: f64) -> Result<()> {
        self.parameters.set(parameter, value)?;
        self.features.iter_mut().try_for_each(|feature| feature.parameters.set(parameter, value))
    }

    /// The set, if there are features and every one has a name of its own that can be a column of a table.
    pub(super) fn checked(self) -> Result<FeatureSet> {
        self.check_names()?;
        match self.features.is_empty() {
            true => Err(Error::parameter(format!("the feature set `{}` has no features", self.name))),
            false => Ok(self),
        }
    }

    pub(super) fn check_names(&self) -> Result<()> {
        let mut seen = std::collections::HashSet::new();
        for feature in &self.features {
            check_name(&feature.name)?;
            if !seen.insert(&feature.name) {
                return Err(Error::parameter(format!(
                    "there are two features called `{}`; give one of them another name",
                    feature.name
                )));
            }
        }
        Ok(())
    }
}

impl Target {
    /// The field's name, as feature sets write it.
    pub fn name(&self) -> Option<&str> {
        match self {
            Target::Field(name) => Some(name),
            Target::Whole => Some(WHOLE),
            Target::None => None,
        }
    }
}

impl Feature {
    /// The parameters that its formula has, with their values.
    pub fn used_parameters(&self) -> impl Iterator<Item = (Parameter, f64)> + '_ {
        let used = self.kind.entry().parameters.iter();
        used.map(|&parameter| (parameter, self.parameters.get(parameter)))
    }
}

/// Whether a character is safe in the header of a table and in the model files of other tools.
pub(super) fn is_safe(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '-' | '_')
}

fn check_name(name: &str) -> Result<()> {
    match !name.is_empty() && name.chars().all(is_safe) {
        true => Ok(()),
        false => Err(Error::parameter(format!(
            "`{name}` cannot be the name of a feature: names have letters, digits and . - _ only"
        ))),
    }
}

/// Whether `name` fits `pattern`, in which `*` stands for any text.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(start) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let end = pieces.pop().unwrap_or_default();
    for piece in pieces {
        match left.find(piece) {
            Some(at) => left = &left[at + piece.len()..],
            None => return false,
        }
    }
    left.ends_with(end)
}
