//! One label per document from the grades of several judges.

use super::dawid_skene::{DawidSkene, DawidSkeneOptions};
use super::judgments::{Judgments, Panel};
use crate::card;
use crate::data::trec::{Qrels, Topic};
use crate::data::{AtomicFile, Format, Texts, push_f64, push_field};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// How grades are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MergeRule {
    /// The grade that most judges gave; of grades that equally many gave, the lowest.
    Majority,
    /// The median; between two grades in the middle, the lower one, so that it is a grade somebody gave.
    Median,
    /// The mean, not rounded.
    Mean,
    /// The most probable grade by the model of Dawid and Skene, which weights judges by how reliable they are; of equally
    /// probable ones, the lowest.
    DawidSkene,
}

impl MergeRule {
    /// The rule with this name: `majority`, `median`, `mean` or `dawid-skene`.
    pub fn named(name: &str) -> Result<MergeRule> {
        match name {
            "majority" => Ok(MergeRule::Majority),
            "median" => Ok(MergeRule::Median),
            "mean" => Ok(MergeRule::Mean),
            "dawid-skene" => Ok(MergeRule::DawidSkene),
            _ => Err(card::unknown("rule", name, &["majority", "median", "mean", "dawid-skene"])),
        }
    }
}

/// The label of a document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MergedLabel {
    /// The query.
    pub query: String,
    /// The id of the document.
    pub document: String,
    /// The label.
    pub grade: f64,
    /// How many judges graded the document.
    pub judges: usize,
    /// The share of judges who gave exactly this label; for Dawid and Skene's model, its probability.
    pub support: f64,
    /// Whether several grades were given by equally many judges, more than gave any other.
    pub tied: bool,
}

/// The labels of all documents.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Merged {
    /// The rule.
    pub rule: MergeRule,
    /// The labels, in the order of queries and documents.
    pub labels: Vec<MergedLabel>,
    /// Documents for which several grades were given by equally many judges, more than gave any other.
    pub tied: usize,
}

impl Judgments {
    /// One label per document. [`DawidSkene::fit`] also returns what the model says about judges.
    pub fn merge(&self, rule: MergeRule) -> Merged {
        if rule == MergeRule::DawidSkene {
            return DawidSkene::fit(self, &DawidSkeneOptions::default()).merged;
        }
        Merged::new(&self.panel(), rule, |_, ratings, grades| {
            let mut given: Vec<f64> = ratings.iter().map(|&(_, grade)| grades[grade]).collect();
            given.sort_unstable_by(f64::total_cmp);
            let grade = match rule {
                MergeRule::Median => given[(given.len() - 1) / 2],
                MergeRule::Mean => given.iter().sum::<f64>() / given.len() as f64,
                MergeRule::Majority | MergeRule::DawidSkene => grades[most_given(ratings).0],
            };
            (grade, given.iter().filter(|given| **given == grade).count() as f64 / given.len() as f64)
        })
    }
}

/// The lowest of the grades given most often, and whether there are several.
fn most_given(ratings: &[(usize, usize)]) -> (usize, bool) {
    let mut given: Vec<usize> = ratings.iter().map(|(_, grade)| *grade).collect();
    given.sort_unstable();
    let (mut best, mut tied): (&[usize], bool) = (&[], false);
    for run in given.chunk_by(|a, b| a == b) {
        tied = run.len() == best.len() || (tied && run.len() < best.len());
        best = if run.len() > best.len() { run } else { best };
    }
    (best[0], tied)
}

impl Merged {
    /// Labels every document: `label` gives the grade and its support from the item, its ratings and the grades.
    pub(super) fn new(
        panel: &Panel<'_>,
        rule: MergeRule,
        label: impl Fn(usize, &[(usize, usize)], &[f64]) -> (f64, f64),
    ) -> Merged {
        let items = panel.items.iter().zip(&panel.ratings).enumerate();
        let labels = items.map(|(item, ((query, document), ratings))| {
            let (grade, support) = label(item, ratings, &panel.grades);
            let [query, document] = [query, document].map(|id| (*id).to_owned());
            let tied = most_given(ratings).1;
            MergedLabel { query, document, grade, judges: ratings.len(), support, tied }
        });
        let labels: Vec<MergedLabel> = labels.collect();
        let tied = labels.iter().filter(|label| label.tied).count();
        Merged { rule, labels, tied }
    }

    /// The same labels rounded to whole numbers, halves away from 0.
    ///
    /// ```
    /// use rankwise::labels::{Judgment, Judgments, MergeRule};
    /// let mut judgments = Judgments::default();
    /// for (judge, grade) in [("ann", 1.0), ("bob", 3.0), ("eve", 3.0)] {
    ///     judgments.push(Judgment::new("q", "d", judge, grade))?;
    /// }
    /// let mean = judgments.merge(MergeRule::Mean);
    /// assert!(mean.qrels().unwrap_err().to_string().contains("2.33"));
    /// assert_eq!(mean.rounded().qrels()?.topics[0].values, [2]);
    /// assert_eq!(judgments.merge(MergeRule::Majority).qrels()?.topics[0].values, [3]);
    /// # Ok::<(), rankwise::Error>(())
    /// ```
    pub fn rounded(mut self) -> Merged {
        self.labels.iter_mut().for_each(|label| label.grade = label.grade.round());
        self
    }

    /// Writes a table with one row per document: query, document, grade, judges, support and tied (0 or 1); as CSV, or TSV
    /// if the name ends in `.tsv`.
    pub fn write(&self, path: &Path) -> Result<()> {
        let delimiter = if Format::of_path(path) == Format::Tsv { b'\t' } else { b',' };
        let names = ["query", "document", "grade", "judges", "support", "tied"];
        let mut text = names.join(&*char::from(delimiter).to_string()).into_bytes();
        text.push(b'\n');
        for label in &self.labels {
            for id in [&label.query, &label.document] {
                push_field(&mut text, id, delimiter);
                text.push(delimiter);
            }
            for number in [label.grade, label.judges as f64, label.support, f64::from(u8::from(label.tied))] {
                push_f64(&mut text, number);
                text.push(delimiter);
            }
            text.pop();
            text.push(b'\n');
        }
        let mut file = AtomicFile::create(path)?;
        file.put(&text)?;
        file.commit()
    }

    /// The labels as judgments of TREC, which [`Qrels::write`] writes. Fails if a label is no whole number.
    pub fn qrels(&self) -> Result<Qrels> {
        let mut topics: Vec<Topic<i32>> = Vec::new();
        for label in &self.labels {
            let MergedLabel { query, document, grade, .. } = label;
            let whole = *grade as i32;
            if f64::from(whole) != *grade {
                return Err(Error::data(format!(
                    "document `{document}` of query `{query}` has the label {grade:.4}, but qrels need whole numbers; merge by \
                     majority, median or Dawid–Skene, or round the labels"
                )));
            }
            if topics.last().is_none_or(|topic| topic.id != *query) {
                topics.push(Topic { id: query.clone(), documents: Texts::new(), values: Vec::new() });
            }
            if let Some(topic) = topics.last_mut() {
                topic.documents.push(document);
                topic.values.push(whole);
            }
        }
        Ok(Qrels { topics })
    }
}
