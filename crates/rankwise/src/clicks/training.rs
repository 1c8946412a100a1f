//! Training data from a log.
//!
//! ```text
//! m_d = c_d / max(e_d, n·τ) ,     e_d = Σ θ_rank over the sessions that showed d
//! ```
//! `c_d` counts the sessions of a query in which document d was clicked, n all its sessions, and `e_d` how often users
//! looked at d if the propensities θ are right. Under a position-based model `c_d` has the expectation `e_d·γ_d`, so
//! `m_d` has the expectation `γ_d`, the relevance of d. Where d was always at one rank, a click counts for `1/θ`: inverse
//! propensity weighting (Joachims, Swaminathan and Schnabel 2017). Where it was at several, all of its displays are
//! weighed together, which varies less than the sum of `1/θ` (Oosterhuis and de Rijke 2020). The limit τ makes labels of documents that were
//! hardly looked at less variable, and too small.
//!
//! A document that was never shown has no label and is left out.

mod lists;
mod rows;
#[cfg(test)]
mod tests;

use super::counts::{ClickCounts, DocumentCells};
use super::log::Session;
use super::propensity::Propensities;
use crate::data::{ClickLabels, Columns, Dataset, Features, Parts, Texts};
use crate::error::{Error, Result};
use rows::{FeatureRows, rows_by_id};

impl ClickData {
    /// Doubly robust labels (Oosterhuis 2023): what is missing from a label is filled in by what a model predicts, the
    /// probability of a click for a user who looks at the document. Predictions count as 0 to 1.
    ///
    /// ```text
    /// m = c/D + (1 − e/D)·μ = μ + (c − e·μ)/D ,      D = max(e, n·τ)
    /// ```
    /// The label has the right expectation where the document was looked at enough, or where the prediction is right.
    pub fn filled_in(self, predictions: &[f64]) -> Result<ClickData> {
        let (documents, count) = (self.data.len(), predictions.len());
        if count != documents {
            return Err(Error::data(format!("there are {count} predictions for {documents} documents")));
        }
        let Some(clicks) = self.data.click_labels().cloned() else {
            return Err(Error::data(
                "the labels are not weighted clicks, so nothing of them can be filled in",
            ));
        };
        let filled = self.data.labels().iter().zip(predictions.iter().zip(&self.missing));
        let labels = filled.map(|(label, (mu, part))| (f64::from(*label) + part * mu.clamp(0.0, 1.0)) as f32);
        let labels = labels.collect();
        let data = Dataset::new(Parts { labels, ..self.data.into_parts() })?;
        let data = data.with_click_labels(ClickLabels { doubly_robust: true, ..clicks })?;
        Ok(ClickData { data, ..self })
    }
}

/// How clicks become labels.
///
/// ```
/// use rankwise::clicks::propensity::Propensities;
/// use rankwise::clicks::{ClickWeights, Session};
/// let line = r#"{"id": 1, "query": "q", "shown": ["a", "b"], "features": [[0.5], [0.9]], "clicks": [{"doc": "b"}]}"#;
/// let session: Session = serde_json::from_str(line).unwrap();
/// let weights = ClickWeights { propensities: Some(Propensities::given(vec![1.0, 0.5])?), clip: 0.0 };
/// let data = weights.of_sessions([Ok(session)])?.data;
/// assert_eq!(data.labels(), [0.0, 2.0]);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClickWeights {
    /// How likely users are to look at each rank; without them, clicks count as they are.
    pub propensities: Option<Propensities>,
    /// The smallest propensity to divide by, from 0 to 1.
    pub clip: f64,
}

/// Training data from clicks, and what a careful user should know about it.
#[derive(Debug, Clone, PartialEq)]
pub struct ClickData {
    /// The data.
    pub data: Dataset,
    /// For each document, the part of its label that is missing because users looked at it less than the limit.
    pub missing: Vec<f64>,
    /// What was left out and why, a sentence each.
    pub notes: Vec<String>,
}

impl ClickWeights {
    /// The documents of a log, with the features that its sessions have.
    pub fn of_sessions(&self, sessions: impl IntoIterator<Item = Result<Session>>) -> Result<ClickData> {
        self.check()?;
        let (mut counts, mut rows) = (ClickCounts::default(), FeatureRows::default());
        for session in sessions {
            let session = session?;
            counts.add(&session);
            rows.add(&session, &mut counts)?;
        }
        let documents = counts.by_document();
        let width = rows.width().ok_or_else(no_features)?;
        let mut values = Vec::new();
        let known = |document: &DocumentCells<'_>| match rows.row(document.pair) {
            Some(row) => {
                values.extend_from_slice(row);
                true
            }
            None => false,
        };
        let kept: Vec<bool> = documents.iter().map(known).collect();
        let features = Features::dense(width, values);
        self.assemble(&counts, &documents, &kept, features, Columns::default(), rows.notes())
    }

    /// The documents of a log, with the features that `features` has for them: queries and documents are matched by their
    /// ids. The labels of that data are not looked at.
    pub fn joined(
        &self,
        sessions: impl IntoIterator<Item = Result<Session>>,
        features: &Dataset,
    ) -> Result<ClickData> {
        self.of_counts(&ClickCounts::of(sessions)?, features)
    }

    /// The same for a log that was counted.
    pub fn of_counts(&self, counts: &ClickCounts, features: &Dataset) -> Result<ClickData> {
        self.check()?;
        let known = rows_by_id(features)?;
        let documents = counts.by_document();
        let row_of =
            |document: &DocumentCells<'_>| known.get(&(document.query, document.document.into())).copied();
        let rows: Vec<Option<usize>> = documents.iter().map(row_of).collect();
        let kept: Vec<bool> = rows.iter().map(Option::is_some).collect();
        let selected: Vec<usize> = rows.into_iter().flatten().collect();
        let left_out = features.len() - selected.len();
        let notes = (left_out > 0).then(|| {
            format!(
                "{left_out} of {} documents with features were never shown, so nothing is known of them and they are left out",
                features.len()
            )
        });
        let rows = features.parts().features.select(&selected);
        self.assemble(
            counts,
            &documents,
            &kept,
            rows,
            features.columns().clone(),
            notes.into_iter().collect(),
        )
    }

    /// Data of one query per session, with positions and with clicks as labels: labels are divided by propensities.
    pub fn by_position(&self, data: Dataset) -> Result<ClickData> {
        self.check()?;
        let Some(propensities) = &self.propensities else {
            return Err(Error::parameter("there are no propensities to weight clicks by"));
        };
        let Some(positions) = &data.parts().positions else {
            return Err(Error::data(
                "the data has no positions, by which clicks are weighted; name the column with the rank at which each \
                 document was shown",
            ));
        };
        let unknown = |(position, label): (&u32, &f32)| *position == 0 && *label > 0.0;
        if let Some(i) = positions.iter().zip(data.labels()).position(unknown) {
            return Err(Error::data(format!(
                "document {} was clicked and its position is 0 or missing, so its weight is not known; positions start \
                 at 1",
                i + 1
            )));
        }
        let rows = positions.iter().zip(data.labels());
        let weighted = |(&position, &label): (&u32, &f32)| match label {
            0.0 => 0.0,
            label => (f64::from(label) * propensities.weight(position, self.clip)) as f32,
        };
        let unseen = |position: u32| match position {
            0 => 1.0,
            rank => 1.0 - propensities.at(rank) * propensities.weight(rank, self.clip),
        };
        let labels: Vec<f32> = rows.clone().map(weighted).collect();
        let clipped = rows.filter(|(p, label)| **label > 0.0 && propensities.at(**p) < self.clip).count();
        let missing = positions.iter().map(|position| unseen(*position)).collect();
        let data = Dataset::new(Parts { labels, ..data.into_parts() })?;
        let notes = self.clip_note(clipped, "clicks").into_iter().collect();
        Ok(ClickData { data: data.with_click_labels(self.labels())?, missing, notes })
    }

    /// How the labels are made, for the records.
    fn labels(&self) -> ClickLabels {
        match &self.propensities {
            None => ClickLabels::default(),
            Some(propensities) => ClickLabels {
                propensities: propensities.theta.clone(),
                method: propensities.method.name().to_owned(),
                clip: self.clip,
                doubly_robust: false,
            },
        }
    }

    fn check(&self) -> Result<()> {
        match (0.0..=1.0).contains(&self.clip) {
            true => Ok(()),
            false => Err(Error::parameter(format!("`clip` is {}; it must be from 0 to 1", self.clip))),
        }
    }

    /// How often users looked at a rank per time it was shown.
    fn examination(&self, rank: u32) -> f64 {
        self.propensities.as_ref().map_or(1.0, |propensities| propensities.at(rank))
    }

    fn label(&self, document: &DocumentCells<'_>) -> Label {
        let (mut clicks, mut looks) = (0.0, 0.0);
        for (rank, cell) in &document.cells {
            clicks += cell.clicks as f64;
            looks += cell.shown as f64 * self.examination(*rank);
        }
        let least = document.sessions as f64 * self.clip;
        let divisor = looks.max(least);
        Label { value: clicks / divisor, missing: 1.0 - looks / divisor }
    }

    fn clip_note(&self, clipped: usize, what: &str) -> Option<String> {
        (clipped > 0).then(|| {
            format!(
                "{clipped} {what} have propensities below the limit {}, so they count for less than they should",
                self.clip
            )
        })
    }

    /// The data set of the documents that are kept, whose features are `features`.
    fn assemble(
        &self,
        counts: &ClickCounts,
        documents: &[DocumentCells<'_>],
        kept: &[bool],
        features: Features,
        columns: Columns,
        mut notes: Vec<String>,
    ) -> Result<ClickData> {
        let (mut labels, mut missing, mut bounds) = (Vec::new(), Vec::new(), Vec::new());
        let (mut query_ids, mut document_ids) = (Texts::default(), Texts::default());
        let mut last = None;
        let mut clipped = 0;
        for document in documents.iter().zip(kept).filter(|(_, kept)| **kept).map(|(document, _)| document) {
            if last != Some(document.query) {
                bounds.push(labels.len());
                query_ids.push(document.query);
                last = Some(document.query);
            }
            let label = self.label(document);
            clipped += usize::from(label.value > 0.0 && label.missing > 0.0);
            labels.push(label.value as f32);
            missing.push(label.missing);
            document_ids.push(document.document);
        }
        if labels.is_empty() {
            return Err(without_features(documents));
        }
        bounds.push(labels.len());
        let data = Dataset::new(Parts { features, labels, bounds, query_ids, columns, ..Parts::default() })?
            .with_document_ids(document_ids.iter())?
            .with_click_labels(self.labels())?;
        notes.extend(left_out_note(documents, kept));
        notes.extend(self.clip_note(clipped, "documents"));
        notes.extend(self.position_note(counts));
        Ok(ClickData { data, missing, notes })
    }

    /// What may be wrong with the weights of ranks.
    fn position_note(&self, counts: &ClickCounts) -> Option<String> {
        let ranks = counts.by_rank().len();
        match &self.propensities {
            None => Some(
                "clicks count as they are, although users look at the first ranks more: documents that were shown there \
                 seem better than they are; estimate propensities to correct it"
                    .to_owned(),
            ),
            Some(propensities) if propensities.theta.len() < ranks => Some(format!(
                "the log shows {ranks} ranks and there are propensities for {}; ranks below have the propensity of the last",
                propensities.theta.len()
            )),
            Some(_) => None,
        }
    }
}

fn no_features() -> Error {
    Error::data(
        "no session of the log has features; log them, or give a file with the features of the documents",
    )
}

/// The error if no document of the log has features.
fn without_features(documents: &[DocumentCells<'_>]) -> Error {
    let example = documents.first().map_or_else(String::new, |DocumentCells { query, document, .. }| {
        format!(", such as document `{document}` of query `{query}`; queries and documents are matched by their ids")
    });
    Error::data(format!("no document of the log has features{example}"))
}

/// A note about documents without features.
fn left_out_note(documents: &[DocumentCells<'_>], kept: &[bool]) -> Option<String> {
    let mut lost: Vec<&DocumentCells<'_>> = Vec::new();
    lost.extend(documents.iter().zip(kept).filter(|(_, kept)| !**kept).map(|(document, _)| document));
    let first = lost.first()?;
    let clicks: u64 = lost.iter().flat_map(|document| &document.cells).map(|(_, cell)| cell.clicks).sum();
    Some(format!(
        "{} of {} documents of queries have no features, and their {clicks} clicks are left out; first document `{}` of \
         query `{}`",
        lost.len(),
        documents.len(),
        first.document,
        first.query
    ))
}

/// The label of a document.
struct Label {
    value: f64,
    /// The part of it that is missing because of the limit.
    missing: f64,
}
