//! Parquet files, with the same columns as delimited ones. Nulls are missing values.

use super::categories::ColumnCategories;
use super::excerpt::quoted;
use super::roles::Role;
use super::source::Source;
use super::table::table_name;
use super::table::{Header, Table, TableRows};
use super::write::{has_document_ids, table_losses, table_names};
use super::{AtomicFile, Columns, Dataset, Loaded, ReadOptions, cell};
use crate::data::code_of;
use crate::error::{Error, Place, Result};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, DictionaryArray, Float32Array, RecordBatch, StringArray, UInt32Array};
use arrow_schema::DataType;
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::fmt::Display;
use std::io::Read;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

/// Rows converted at a time.
const BATCH_ROWS: usize = 8192;

/// Every column of a Parquet file costs a buffer when it is written.
const MAX_COLUMNS: usize = 1 << 16;

/// The key under which a file keeps the number of its first feature.
const FIRST_ID: &str = "rankwise.first_id";

/// The key under which it keeps the names of its categorical features, as a list in JSON.
const CATEGORICAL: &str = "rankwise.categorical";

/// Reads the sources, in order, as one data set.
pub(super) fn read(sources: impl Iterator<Item = Result<Source>>, options: &ReadOptions) -> Result<Loaded> {
    read_table(sources, options)?.finish(options)
}

/// All rows of the sources.
pub(super) fn read_table(
    sources: impl Iterator<Item = Result<Source>>,
    options: &ReadOptions,
) -> Result<Table> {
    let mut table: Option<Table> = None;
    for source in sources {
        let mut source = source?;
        let file = source.origin().name().to_owned();
        let mut bytes = Vec::new();
        source.read_to_end(&mut bytes).map_err(|e| source.origin().read_error(e))?;
        // By the types of Parquet itself: the text of a pandas category is then plain text.
        let types = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let bytes = Bytes::from(bytes);
        let dictionaries = dictionary_columns(&file, &bytes);
        let builder = guarded(&file, || ParquetRecordBatchReaderBuilder::try_new_with_options(bytes, types))?;
        let within = |message: String| Error::malformed(format!("{file}: {message}"));
        let header = header_of(&builder, dictionaries, options).map_err(within)?;
        let table = table.get_or_insert_with(|| Table::new(header.clone()));
        table.enter_file(&file, &header)?;
        let mut batches = guarded(&file, || builder.with_batch_size(BATCH_ROWS).build())?;
        let mut first_row = 1;
        while let Some(batch) = guarded(&file, || batches.next().transpose())? {
            table.append(rows_of(&batch, &header, &file, first_row).map_err(within)?)?;
            first_row += batch.num_rows() as u64;
        }
    }
    table.ok_or_else(|| Error::parameter("there are no files to read"))
}

/// Runs `work` and turns panics into errors, because the parquet crate panics on some damaged files.
fn guarded<T, E: Display>(file: &str, work: impl FnOnce() -> std::result::Result<T, E>) -> Result<T> {
    let reason = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(done)) => return Ok(done),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "it is inconsistent".to_owned(),
    };
    Err(Error::malformed(format!("{file} is not a Parquet file, or a damaged one: {reason}")))
}

type Message<T> = std::result::Result<T, String>;

/// The names of columns with the type of a dictionary of texts: what pandas makes of a category.
fn dictionary_columns(file: &str, bytes: &Bytes) -> Vec<String> {
    let is_text = |kind: &DataType| matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let typed = guarded(file, || ArrowReaderMetadata::load(bytes, ArrowReaderOptions::new()));
    // A file whose Arrow types cannot be read still has those of Parquet.
    let Ok(typed) = typed else { return Vec::new() };
    let is_dictionary = |kind: &DataType| matches!(kind, DataType::Dictionary(_, values) if is_text(values));
    let fields = typed.schema().fields().iter().filter(|field| is_dictionary(field.data_type()));
    fields.map(|field| field.name().clone()).collect()
}

fn header_of(
    builder: &ParquetRecordBatchReaderBuilder<Bytes>,
    mut categorical: Vec<String>,
    options: &ReadOptions,
) -> Message<Header> {
    let names = builder.schema().fields().iter().map(|f| f.name().clone()).collect();
    let mut header = Header::new(names, options).map_err(|e| e.message)?;
    let metadata = builder.metadata().file_metadata().key_value_metadata();
    let entry = |key: &str| metadata?.iter().find(|e| e.key == key)?.value.as_ref();
    let wrong = |key: &str, text: &String| format!("the metadata {key} is {}", quoted(text.as_bytes()));
    if let Some(text) = entry(FIRST_ID) {
        header.columns.first_id = text.parse().map_err(|_| wrong(FIRST_ID, text))?;
    }
    if let Some(text) = entry(CATEGORICAL) {
        let names: Vec<String> = serde_json::from_str(text).map_err(|_| wrong(CATEGORICAL, text))?;
        categorical.extend(names);
    }
    for column in 0..header.names.len() {
        if header.roles[column] == Role::Feature && categorical.contains(&header.names[column]) {
            header.set_categorical(column);
        }
    }
    Ok(header)
}

/// The categories of a column, as their numbers among `known`. The error has the row.
fn categories_of(
    array: &ArrayRef,
    known: &mut ColumnCategories,
    place: impl Fn(usize) -> Place,
) -> std::result::Result<Vec<f32>, (usize, String)> {
    let is_text = matches!(array.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let numbers = if is_text { Vec::new() } else { numbers(array)? };
    let category = |row: usize| {
        let text = if is_text {
            text_at(array, row)?
        } else if numbers[row].is_nan() {
            String::new()
        } else {
            numbers[row].to_string()
        };
        let text = cell::category(text.as_bytes(), "")?;
        Ok(text.map_or(f32::NAN, |text| known.number(text, || place(row)) as f32))
    };
    let mut category = category;
    (0..array.len()).map(|row| category(row).map_err(|what| (row, what))).collect()
}

fn rows_of(batch: &RecordBatch, header: &Header, file: &str, first_row: u64) -> Message<TableRows> {
    let count = batch.num_rows();
    let mut rows = TableRows { features: vec![0.0; count * header.width], ..header.no_rows() };
    let (mut feature, mut categorical) = (0, 0);
    for (column, (array, role)) in batch.columns().iter().zip(&header.roles).enumerate() {
        let name = &header.names[column];
        let fault = |row: usize, what: String| {
            format!("row {}, column {}: {what}", first_row + row as u64, quoted(name.as_bytes()))
        };
        match role {
            Role::Query | Role::Document => {
                for row in 0..count {
                    let text = text_at(array, row).map_err(|what| fault(row, what))?;
                    match role {
                        Role::Query if text.is_empty() => return Err(fault(row, "no query id".to_owned())),
                        Role::Query => rows.queries.push(&text),
                        _ => rows.documents.push(&text),
                    }
                }
            }
            Role::Ignored => {}
            Role::Categorical => {
                let known = &mut rows.categories[categorical];
                let place = |row: usize| Place {
                    file: file.to_owned(),
                    line: first_row + row as u64,
                    column: column as u64 + 1,
                };
                let values = categories_of(array, known, place).map_err(|(row, what)| fault(row, what))?;
                for (row, value) in values.into_iter().enumerate() {
                    rows.features[row * header.width + feature] = value;
                }
                (feature, categorical) = (feature + 1, categorical + 1);
            }
            Role::Feature => {
                let values = numbers(array).map_err(|(row, what)| {
                    fault(row, what) + &cell::advice_to_ignore(&not_features(batch, header))
                })?;
                for (row, value) in values.into_iter().enumerate() {
                    if (value as f32).is_infinite() {
                        return Err(fault(row, not_finite(value)));
                    }
                    rows.features[row * header.width + feature] = value as f32;
                }
                feature += 1;
            }
            _ => {
                let values = numbers(array).map_err(|(row, what)| fault(row, what))?;
                for (row, value) in values.into_iter().enumerate() {
                    rows.push_number(*role, value).map_err(|what| fault(row, what))?;
                }
            }
        }
    }
    rows.places = (0..count as u64).map(|row| (first_row + row, 1)).collect();
    Ok(rows)
}

pub(super) fn not_finite(value: f64) -> String {
    format!("{value} is not a finite number in single precision, which goes up to 3.4e38")
}

/// The columns that are read as features but hold no numbers.
fn not_features(batch: &RecordBatch, header: &Header) -> Vec<String> {
    let columns = batch.columns().iter().zip(&header.roles).zip(&header.names);
    let wrong = columns.filter(|((array, role), _)| **role == Role::Feature && numbers(array).is_err());
    wrong.map(|(_, name)| name.clone()).collect()
}

impl TableRows {
    fn push_number(&mut self, role: Role, value: f64) -> Message<()> {
        match role {
            Role::Label | Role::Weight if value.is_finite() && (value as f32).is_infinite() => {
                return Err(not_finite(value));
            }
            Role::Label if value.is_finite() => self.labels.push(value as f32),
            Role::Weight if value.is_finite() && value >= 0.0 => self.weights.push(value as f32),
            Role::Position if value.is_nan() => self.positions.push(0),
            Role::Position if value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value) => {
                self.positions.push(value as u32);
            }
            Role::Label => return Err(format!("expected a finite label, found {value}")),
            Role::Weight => return Err(format!("expected a weight of 0 or more, found {value}")),
            _ => return Err(format!("expected a whole number from 1 as the position, found {value}")),
        }
        Ok(())
    }
}

/// All values of a column of numbers, or of numbers written as text; NaN for nulls. The error has the row.
pub(super) fn numbers(array: &ArrayRef) -> std::result::Result<Vec<f64>, (usize, String)> {
    macro_rules! cast {
        ($kind:ty, $convert:expr) => {
            Ok(array.as_primitive::<$kind>().iter().map(|v| v.map_or(f64::NAN, $convert)).collect())
        };
    }
    match array.data_type() {
        DataType::Float32 => cast!(Float32Type, f64::from),
        DataType::Float64 => cast!(Float64Type, |v| v),
        DataType::Float16 => cast!(Float16Type, f64::from),
        DataType::Int8 => cast!(Int8Type, f64::from),
        DataType::Int16 => cast!(Int16Type, f64::from),
        DataType::Int32 => cast!(Int32Type, f64::from),
        DataType::Int64 => cast!(Int64Type, |v| v as f64),
        DataType::UInt8 => cast!(UInt8Type, f64::from),
        DataType::UInt16 => cast!(UInt16Type, f64::from),
        DataType::UInt32 => cast!(UInt32Type, f64::from),
        DataType::UInt64 => cast!(UInt64Type, |v| v as f64),
        DataType::Boolean => {
            Ok(array.as_boolean().iter().map(|v| v.map_or(f64::NAN, |v| f64::from(u8::from(v)))).collect())
        }
        DataType::Null => Ok(vec![f64::NAN; array.len()]),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            (0..array.len()).map(|row| number_in(array, row).map_err(|what| (row, what))).collect()
        }
        _ => Err((0, "the column does not hold numbers".to_owned())),
    }
}

fn number_in(array: &ArrayRef, row: usize) -> Message<f64> {
    let text = text_at(array, row)?;
    let number = cell::feature(text.as_bytes(), "").map(f64::from);
    number.map_err(|_| format!("expected a number, found {}", quoted(text.as_bytes())))
}

/// An id; empty for a null.
fn text_at(array: &ArrayRef, row: usize) -> Message<String> {
    macro_rules! show {
        ($kind:ty) => {
            array.as_primitive::<$kind>().value(row).to_string()
        };
    }
    if array.is_null(row) {
        return Ok(String::new());
    }
    Ok(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row).to_owned(),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).to_owned(),
        DataType::Utf8View => array.as_string_view().value(row).to_owned(),
        DataType::Int8 => show!(Int8Type),
        DataType::Int16 => show!(Int16Type),
        DataType::Int32 => show!(Int32Type),
        DataType::Int64 => show!(Int64Type),
        DataType::UInt8 => show!(UInt8Type),
        DataType::UInt16 => show!(UInt16Type),
        DataType::UInt32 => show!(UInt32Type),
        DataType::UInt64 => show!(UInt64Type),
        _ => return Err("the column does not hold ids; use text or whole numbers".to_owned()),
    })
}

/// Writes `data`; returns what the file does not hold.
pub(super) fn write(data: &Dataset, path: &Path) -> Result<Vec<String>> {
    if data.width() > MAX_COLUMNS {
        return Err(Error::data(format!(
            "{} features are too many for Parquet, which takes up to {MAX_COLUMNS}; write LETOR text, which keeps them \
             sparse",
            data.width()
        )));
    }
    let names = table_names(data)?;
    let batch_rows = ((1 << 24) / data.width()).clamp(1, BATCH_ROWS);
    let mut file = Some(AtomicFile::create(path)?);
    let mut writer: Option<ArrowWriter<AtomicFile>> = None;
    let failed = |e: &dyn Display| Error::io("write", path, std::io::Error::other(e.to_string()));
    for start in (0..data.len()).step_by(batch_rows) {
        let rows = start..data.len().min(start + batch_rows);
        let named = names.iter().zip(columns_of(data, rows)).map(|(name, array)| (name, array, true));
        let batch = RecordBatch::try_from_iter_with_nullable(named).map_err(|e| failed(&e))?;
        if let Some(file) = file.take() {
            let properties = Some(properties(data.columns()));
            writer = Some(ArrowWriter::try_new(file, batch.schema(), properties).map_err(|e| failed(&e))?);
        }
        if let Some(writer) = &mut writer {
            writer.write(&batch).map_err(|e| failed(&e))?;
        }
    }
    let Some(writer) = writer else {
        return Err(Error::data("a data set without documents cannot be written as Parquet"));
    };
    writer.into_inner().map_err(|e| failed(&e))?.commit()?;
    Ok(table_losses(data))
}

fn properties(columns: &Columns) -> WriterProperties {
    let mut entries = vec![KeyValue::new(FIRST_ID.to_owned(), columns.first_id.to_string())];
    if !columns.categories.is_empty() {
        let names: Vec<String> =
            columns.categories.columns().map(|column| table_name(columns, column)).collect();
        entries.push(KeyValue::new(CATEGORICAL.to_owned(), serde_json::Value::from(names).to_string()));
    }
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_key_value_metadata(Some(entries))
        .build()
}

fn columns_of(data: &Dataset, rows: Range<usize>) -> Vec<ArrayRef> {
    let parts = data.parts();
    let query_of = |row: usize| parts.bounds.partition_point(|&b| b <= row) - 1;
    let labels: Float32Array = rows.clone().map(|row| Some(parts.labels[row])).collect();
    let queries: StringArray = rows.clone().map(|row| Some(parts.query_ids.get(query_of(row)))).collect();
    let mut columns: Vec<ArrayRef> = vec![Arc::new(labels), Arc::new(queries)];
    if has_document_ids(data) {
        let ids: StringArray = rows.clone().map(|row| Some(data.document_id(row).unwrap_or(""))).collect();
        columns.push(Arc::new(ids));
    }
    if let Some(weights) = &parts.query_weights {
        let weights: Float32Array = rows.clone().map(|row| Some(weights[query_of(row)])).collect();
        columns.push(Arc::new(weights));
    }
    if let Some(positions) = &parts.positions {
        let known: UInt32Array = rows.clone().map(|row| Some(positions[row]).filter(|&p| p > 0)).collect();
        columns.push(Arc::new(known));
    }
    for column in 0..data.width() {
        if let Some(texts) = data.columns().categories.texts(column).filter(|texts| !texts.is_empty()) {
            let text =
                |row: usize| code_of(data.row(row).get(column)).map(|code| texts[code as usize].as_str());
            let values: DictionaryArray<Int32Type> = rows.clone().map(text).collect();
            columns.push(Arc::new(values));
            continue;
        }
        let values: Float32Array =
            rows.clone().map(|row| Some(data.row(row).get(column)).filter(|v| !v.is_nan())).collect();
        columns.push(Arc::new(values));
    }
    columns
}
