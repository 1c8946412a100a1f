//! Scoring of small requests without allocation.

use super::shape::ScoreRows;
use super::{Ranker, check_finite, check_room};
use crate::data::Rows;
use crate::error::{Error, Result};

/// Scores small requests on one thread, with buffers that it keeps from one request to the next.
///
/// Once it has scored a request of some size, requests of that size or less allocate nothing, unless the ranker scales
/// features. Get one for each thread from [`Ranker::scorer`].
///
/// ```
/// use rankwise::data::{Columns, Rows};
/// use rankwise::models::{Model, Ranker};
/// let ranker = Ranker::of_model(Model::linear(vec![2.0, -1.0], 0.5), Columns::default())?;
/// let mut scorer = ranker.scorer();
/// assert_eq!(scorer.score(&[1.0, 0.5])?, 2.0);
/// let mut scores = [0.0; 2];
/// scorer.score_into(Rows::dense(&[1.0, 0.5, 0.0, f32::NAN], 2)?, &mut scores)?;
/// assert_eq!(scores, [2.0, 0.5]);
/// # Ok::<(), rankwise::Error>(())
/// ```
pub struct RowScorer<'a> {
    ranker: &'a Ranker,
    scorer: Box<dyn ScoreRows + 'a>,
}

impl<'a> RowScorer<'a> {
    pub(super) fn new(ranker: &'a Ranker) -> Self {
        let shape = ranker.model.shape();
        // Requests are expected to keep coming.
        shape.prepare(usize::MAX);
        RowScorer { ranker, scorer: shape.scorer() }
    }

    /// The score of one document, with a value for each feature of the model. Fails if the ranker scales features
    /// within each query, which needs all documents of the query.
    pub fn score(&mut self, row: &[f32]) -> Result<f64> {
        self.ranker.check_independent()?;
        let mut score = [0.0];
        self.score_into(Rows::dense_strided(row, 1, row.len(), row.len())?, &mut score)?;
        Ok(score[0])
    }

    /// Sets one score per row. The rows are the documents of one query.
    pub fn score_into(&mut self, rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.ranker.check_same_width(rows)?;
        check_room(rows, out)?;
        match &self.ranker.normalizer {
            None => self.scorer.score(rows, out),
            Some(normalizer) if !rows.is_empty() => {
                let scaled = normalizer.apply_to_features(rows.to_features(), &[0, rows.len()])?;
                self.scorer.score(Rows::of_features(&scaled, rows.len()), out);
            }
            Some(_) => {}
        }
        check_finite(out)
    }
}

impl Ranker {
    /// A scorer for small requests, with buffers of its own.
    pub fn scorer(&self) -> RowScorer<'_> {
        RowScorer::new(self)
    }

    /// Sets one score per row, each independent of the others. The rows have the model's features in its order.
    ///
    /// Nothing is copied unless the ranker scales features. Fails if it scales them within each query: then use
    /// [`score_query_rows`](Ranker::score_query_rows) or [`score_queries`](Ranker::score_queries).
    ///
    /// ```
    /// use rankwise::data::{Columns, Rows};
    /// use rankwise::models::{Model, Ranker};
    /// let ranker = Ranker::of_model(Model::linear(vec![2.0, -1.0], 0.5), Columns::default())?;
    /// let mut scores = [0.0; 2];
    /// ranker.score_rows(Rows::dense(&[1.0, 0.5, 0.0, 3.0], 2)?, &mut scores)?;
    /// assert_eq!(scores, [2.0, -2.5]);
    /// # Ok::<(), rankwise::Error>(())
    /// ```
    pub fn score_rows(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.check_independent()?;
        self.score_query_rows(rows, out)
    }

    /// Sets one score per row. The rows are all documents of one query.
    pub fn score_query_rows(&self, rows: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.check_same_width(rows)?;
        let bounds = [0, rows.len()];
        self.score_prepared(rows, if rows.is_empty() { &bounds[..1] } else { &bounds }, out)
    }

    /// Sets one score per row. Query `q` has the next `sizes[q]` rows.
    pub fn score_queries(&self, rows: Rows<'_>, sizes: &[usize], out: &mut [f64]) -> Result<()> {
        self.check_same_width(rows)?;
        self.score_prepared(rows, &crate::data::bounds_of(sizes, rows.len())?, out)
    }

    /// Sets one score per row, of queries that start at `bounds`. The columns are where the model expects them.
    pub(super) fn score_prepared(&self, rows: Rows<'_>, bounds: &[usize], out: &mut [f64]) -> Result<()> {
        match &self.normalizer {
            None => self.model.score_rows(rows, out),
            Some(normalizer) => {
                let scaled = normalizer.apply_to_features(rows.to_features(), bounds)?;
                self.model.score_rows(Rows::of_features(&scaled, rows.len()), out)
            }
        }
    }

    /// Rejects rankers whose scores depend on the other documents of a query.
    /// Whether it scales features within each query, so that the score of a document depends on the others of its query.
    pub fn scales_within_queries(&self) -> bool {
        self.normalizer.as_ref().is_some_and(|normalizer| normalizer.works_per_query())
    }

    fn check_independent(&self) -> Result<()> {
        match &self.normalizer {
            Some(normalizer) if self.scales_within_queries() => Err(Error::data(format!(
                "the model scales features within each query ({normalizer}), so a row cannot be scored without the \
                 others of its query; score all rows of a query together"
            ))),
            _ => Ok(()),
        }
    }

    /// A missing column in an array is more likely a mistake than a column of zeros.
    fn check_same_width(&self, rows: Rows<'_>) -> Result<()> {
        let (width, expected) = (rows.width(), self.model.width());
        match width == expected {
            true => Ok(()),
            false => {
                Err(Error::data(format!("the rows have {width} features, and the model has {expected}")))
            }
        }
    }
}
