//! Per-query values as a Parquet file, with the rows and columns of the CSV.

use super::super::findings::{DataFindings, Findings};
use super::value;
use crate::data::AtomicFile;
use crate::error::{Error, Result};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

/// Queries converted to rows at once.
const BATCH_QUERIES: usize = 1024;

/// Writes the value of every metric for every system on every test query.
pub fn write_per_query_parquet(findings: &Findings, path: &Path) -> Result<()> {
    let failed = |e: &dyn Display| Error::io("write", path, std::io::Error::other(e.to_string()));
    let schema = schema(findings);
    let properties =
        WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    let file = AtomicFile::create(path)?;
    let mut writer = ArrowWriter::try_new(file, schema.clone(), Some(properties)).map_err(|e| failed(&e))?;
    for data in &findings.data {
        let queries: Vec<usize> = (0..data.query_ids.len()).collect();
        for queries in queries.chunks(BATCH_QUERIES) {
            let columns = columns(findings, data, queries);
            let batch = RecordBatch::try_new(schema.clone(), columns).map_err(|e| failed(&e))?;
            writer.write(&batch).map_err(|e| failed(&e))?;
        }
    }
    writer.into_inner().map_err(|e| failed(&e))?.commit()
}

fn schema(findings: &Findings) -> SchemaRef {
    let keys = [
        ("data", DataType::Utf8),
        ("fold", DataType::UInt32),
        ("query", DataType::Utf8),
        ("system", DataType::Utf8),
    ];
    let keys = keys.map(|(name, kind)| Field::new(name, kind, false));
    let metrics = findings.metrics.iter().map(|name| Field::new(name, DataType::Float64, true));
    Arc::new(Schema::new(keys.into_iter().chain(metrics).collect::<Vec<_>>()))
}

fn columns(findings: &Findings, data: &DataFindings, queries: &[usize]) -> Vec<ArrayRef> {
    let systems = findings.systems.len();
    let rows = || queries.iter().flat_map(|&query| (0..systems).map(move |system| (query, system)));
    let names: StringArray = rows().map(|_| Some(&data.name)).collect();
    let folds: UInt32Array = rows().map(|(query, _)| Some(data.query_folds[query] as u32 + 1)).collect();
    let ids: StringArray = rows().map(|(query, _)| Some(&data.query_ids[query])).collect();
    let of_systems: StringArray = rows().map(|(_, system)| Some(&findings.systems[system].name)).collect();
    let mut columns: Vec<ArrayRef> =
        vec![Arc::new(names), Arc::new(folds), Arc::new(ids), Arc::new(of_systems)];
    for metric in 0..findings.metrics.len() {
        let values: Float64Array = rows().map(|(query, system)| value(data, system, metric, query)).collect();
        columns.push(Arc::new(values));
    }
    columns
}
