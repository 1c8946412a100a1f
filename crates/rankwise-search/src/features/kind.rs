//! The kinds of features.

use rankwise::{Error, Result};
use serde::{Deserialize, Serialize};

/// What a feature measures. See [`KINDS`] for the formulas.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "described in `KINDS`")]
pub enum Kind {
    Covered,
    CoveredRatio,
    Length,
    QueryLength,
    Idf,
    Tf(Statistic),
    TfNorm(Statistic),
    TfIdf(Statistic),
    Boolean,
    Cosine,
    Bm25,
    JelinekMercer,
    Dirichlet,
    AbsoluteDiscount,
    FirstPosition,
    Window,
    Phrase,
    InLinks,
    OutLinks,
    PageRank,
    Number,
    Date,
    RetrievalScore,
    RetrievalRank,
}

/// What is computed of the values of a query's different terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named after what they are")]
pub enum Statistic {
    Sum,
    Min,
    Max,
    Mean,
    /// The mean squared distance from the mean.
    Variance,
}

/// What a kind needs to be computed of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// A text field, or all of them together.
    Text,
    /// A text field. Distances between words of different fields have no meaning.
    TextField,
    /// A field with numbers.
    Number,
    /// A field with dates.
    Date,
    /// The links of the index.
    Links,
    /// The candidate.
    Candidate,
}

/// A parameter of formulas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the letters of the formulas")]
pub enum Parameter {
    K1,
    B,
    Lambda,
    Mu,
    Delta,
}

/// The parameters of formulas.
///
/// The defaults are usual ones: k1 and b those of Lucene; λ, μ and δ what Zhai and Lafferty (2004) recommend for short
/// queries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Parameters {
    /// k1 of BM25, at least 0: how slowly more occurrences of a term stop to matter.
    pub k1: f64,
    /// b of BM25, 0 to 1: how much long documents are held against their lengths.
    pub b: f64,
    /// λ of `lm.jm`, above 0 and at most 1: the weight of the collection.
    pub lambda: f64,
    /// μ of `lm.dirichlet`, above 0: how many words of the collection are added to a document.
    pub mu: f64,
    /// δ of `lm.absolute`, above 0 and at most 1: what is taken from every count.
    pub delta: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Parameters { k1: 1.2, b: 0.75, lambda: 0.1, mu: 2000.0, delta: 0.7 }
    }
}

impl Parameter {
    /// All parameters.
    pub const ALL: [Parameter; 5] =
        [Parameter::K1, Parameter::B, Parameter::Lambda, Parameter::Mu, Parameter::Delta];

    /// Its name in feature sets.
    pub fn name(self) -> &'static str {
        match self {
            Parameter::K1 => "k1",
            Parameter::B => "b",
            Parameter::Lambda => "lambda",
            Parameter::Mu => "mu",
            Parameter::Delta => "delta",
        }
    }

    /// The parameter of this name.
    pub fn of_name(name: &str) -> Result<Parameter> {
        Parameter::ALL.into_iter().find(|parameter| parameter.name() == name).ok_or_else(|| {
            Error::parameter(format!(
                "there is no parameter `{name}` of features; there are k1, b, lambda, mu and delta"
            ))
        })
    }

    /// Rejects a value for which a formula is not finite.
    pub(crate) fn check(self, value: f64) -> Result<()> {
        let (fits, range) = match self {
            Parameter::K1 => (value >= 0.0, "at least 0"),
            Parameter::B => ((0.0..=1.0).contains(&value), "0 to 1"),
            Parameter::Lambda | Parameter::Delta => (value > 0.0 && value <= 1.0, "above 0 and at most 1"),
            Parameter::Mu => (value > 0.0, "above 0"),
        };
        match fits && value.is_finite() {
            true => Ok(()),
            false => Err(Error::parameter(format!("`{}` is {value}; it must be {range}", self.name()))),
        }
    }
}

impl Parameters {
    /// The value of a parameter.
    pub fn get(&self, parameter: Parameter) -> f64 {
        match parameter {
            Parameter::K1 => self.k1,
            Parameter::B => self.b,
            Parameter::Lambda => self.lambda,
            Parameter::Mu => self.mu,
            Parameter::Delta => self.delta,
        }
    }

    /// Sets a parameter. Fails if a formula would not be finite with it.
    pub fn set(&mut self, parameter: Parameter, value: f64) -> Result<()> {
        parameter.check(value)?;
        *match parameter {
            Parameter::K1 => &mut self.k1,
            Parameter::B => &mut self.b,
            Parameter::Lambda => &mut self.lambda,
            Parameter::Mu => &mut self.mu,
            Parameter::Delta => &mut self.delta,
        } = value;
        Ok(())
    }
}

/// A kind with its name and formula.
#[derive(Debug)]
pub struct KindEntry {
    /// The kind.
    pub kind: Kind,
    /// Its name in feature sets; the names of features begin with it.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    pub(crate) subject: Subject,
    /// The parameters of its formula.
    pub parameters: &'static [Parameter],
}

const fn entry(kind: Kind, subject: Subject, name: &'static str, about: &'static str) -> KindEntry {
    KindEntry { kind, name, about, subject, parameters: &[] }
}

const fn with(entry: KindEntry, parameters: &'static [Parameter]) -> KindEntry {
    KindEntry { parameters, ..entry }
}

use Statistic::{Max, Mean, Min, Sum, Variance};
use Subject::{Candidate, Links, Text, TextField};

/// All kinds. See the [module](super) for the letters of the formulas.
pub static KINDS: [KindEntry; 36] = [
    entry(Kind::Covered, Text, "covered", "number of the query's terms that the document has"),
    entry(Kind::CoveredRatio, Text, "covered-ratio", "covered / number of the query's terms"),
    entry(Kind::Length, Text, "length", "number of words, dl"),
    entry(Kind::QueryLength, Text, "query-length", "number of words of the query"),
    entry(Kind::Idf, Text, "idf", "Σ idf"),
    entry(Kind::Tf(Sum), Text, "tf.sum", "Σ tf"),
    entry(Kind::Tf(Min), Text, "tf.min", "smallest tf"),
    entry(Kind::Tf(Max), Text, "tf.max", "largest tf"),
    entry(Kind::Tf(Mean), Text, "tf.mean", "mean tf"),
    entry(Kind::Tf(Variance), Text, "tf.variance", "variance of tf"),
    entry(Kind::TfNorm(Sum), Text, "tf-norm.sum", "Σ tf/dl"),
    entry(Kind::TfNorm(Min), Text, "tf-norm.min", "smallest tf/dl"),
    entry(Kind::TfNorm(Max), Text, "tf-norm.max", "largest tf/dl"),
    entry(Kind::TfNorm(Mean), Text, "tf-norm.mean", "mean tf/dl"),
    entry(Kind::TfNorm(Variance), Text, "tf-norm.variance", "variance of tf/dl"),
    entry(Kind::TfIdf(Sum), Text, "tf-idf.sum", "Σ tf·idf"),
    entry(Kind::TfIdf(Min), Text, "tf-idf.min", "smallest tf·idf"),
    entry(Kind::TfIdf(Max), Text, "tf-idf.max", "largest tf·idf"),
    entry(Kind::TfIdf(Mean), Text, "tf-idf.mean", "mean tf·idf"),
    entry(Kind::TfIdf(Variance), Text, "tf-idf.variance", "variance of tf·idf"),
    entry(Kind::Boolean, Text, "boolean", "1 if the document has all terms of the query, else 0"),
    entry(Kind::Cosine, Text, "cosine", "vector space: Σ w·idf·√tf / (√(Σ (w·idf)²)·√dl)"),
    with(
        entry(Kind::Bm25, Text, "bm25", "Σ w·idf·tf/(tf + k1(1−b + b·dl/avdl))"),
        &[Parameter::K1, Parameter::B],
    ),
    with(entry(Kind::JelinekMercer, Text, "lm.jm", "Σ w·ln((1−λ)·tf/dl + λ·p)"), &[Parameter::Lambda]),
    with(entry(Kind::Dirichlet, Text, "lm.dirichlet", "Σ w·ln((tf + μ·p)/(dl + μ))"), &[Parameter::Mu]),
    with(
        entry(Kind::AbsoluteDiscount, Text, "lm.absolute", "Σ w·ln(max(tf−δ, 0)/dl + δ·u/dl·p)"),
        &[Parameter::Delta],
    ),
    entry(Kind::FirstPosition, TextField, "first-position", "words before the first term of the query"),
    entry(
        Kind::Window,
        TextField,
        "window",
        "words in the shortest piece that has all terms that the field has",
    ),
    entry(Kind::Phrase, Text, "phrase", "number of occurrences of the query as a phrase"),
    entry(Kind::InLinks, Links, "in-links", "number of documents that link to it"),
    entry(Kind::OutLinks, Links, "out-links", "number of documents that it links to"),
    entry(Kind::PageRank, Links, "pagerank", "PageRank"),
    entry(Kind::Number, Subject::Number, "number", "the number in the field"),
    entry(Kind::Date, Subject::Date, "date", "the date in the field, in years since 1970"),
    entry(Kind::RetrievalScore, Candidate, "retrieval-score", "the score with which it was retrieved"),
    entry(Kind::RetrievalRank, Candidate, "retrieval-rank", "the place at which it was retrieved, from 1"),
];

impl Kind {
    /// Its entry in [`KINDS`].
    pub fn entry(self) -> &'static KindEntry {
        KINDS.iter().find(|entry| entry.kind == self).expect("every kind has an entry")
    }

    /// Whether it is computed from the positions of words.
    pub(crate) fn needs_positions(self) -> bool {
        matches!(self, Kind::FirstPosition | Kind::Window | Kind::Phrase)
    }
}
