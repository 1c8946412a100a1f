//! What an exported file answers, by our own reading of its format: not the tool itself, whose word counts for more.

use super::{Format, elastic, ranklib_linear, ranklib_reader, solr_reader};
use crate::data::Rows;
use crate::error::{Error, Result};
use crate::models::{Model, Ranker};

/// The scores that the file `bytes` of `format` gives rows, as its documentation and sources say; `None` for ONNX,
/// which is for a runtime to read. The rows have the columns of `ranker`, whose export it is.
pub fn replay(bytes: &[u8], format: Format, ranker: &Ranker, rows: &[Vec<f32>]) -> Result<Option<Vec<f64>>> {
    let (columns, width) = (&ranker.columns, ranker.model.width());
    let engine = match format {
        Format::Onnx => return Ok(None),
        Format::Rankwise | Format::LightGbm | Format::XgBoost | Format::XgBoostUbj => {
            return scores(&Ranker::from_bytes(bytes)?.model, rows).map(Some);
        }
        Format::RankLib => {
            let text = std::str::from_utf8(bytes).map_err(|_| Error::model("it is not UTF-8"))?;
            let first_id = if columns.names.is_some() { 1 } else { columns.first_id };
            if text.starts_with(ranklib_linear::HEADER) {
                ranklib_linear::read(text, first_id)?
            } else {
                ranklib_reader::read(text, first_id)?
            }
        }
        Format::Elasticsearch
        | Format::ElasticsearchRankLib
        | Format::OpenSearch
        | Format::OpenSearchRankLib => elastic::read(bytes, columns, width)?,
        Format::Solr => solr_reader::read(bytes, columns, width)?,
    };
    engine.check(width)?;
    Ok(Some(rows.iter().map(|row| engine.score(row)).collect()))
}

/// The model's own scores of rows.
pub(super) fn scores(model: &Model, rows: &[Vec<f32>]) -> Result<Vec<f64>> {
    let width = model.width();
    if rows.iter().any(|row| row.len() != width) {
        return Err(Error::data(format!("a row does not have the {width} features of the model")));
    }
    let mut scores = vec![0.0; rows.len()];
    model.score_rows(Rows::dense(&rows.concat(), width)?, &mut scores)?;
    Ok(scores)
}
