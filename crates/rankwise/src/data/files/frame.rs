//! Frames in Arrow's memory layout, all of whose columns are features: what other languages and libraries hand over.

use super::categories::ColumnCategories;
use super::excerpt::quoted;
use super::parquet::{not_finite, numbers};
use super::{Columns, Features, MAX_FEATURES};
use crate::data::Categories;
use crate::error::{Error, Result};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Schema};

/// The features of a frame. Columns of numbers are features, and dictionaries of text are categorical ones; nulls are
/// missing values. Fails if a column holds anything else.
pub fn read_frame(
    schema: &Schema,
    batches: impl IntoIterator<Item = std::result::Result<RecordBatch, ArrowError>>,
) -> Result<(Features, Columns)> {
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let width = names.len();
    if width > MAX_FEATURES {
        return Err(Error::data(format!("{width} columns are more than the {MAX_FEATURES} allowed")));
    }
    let mut values = Vec::new();
    let mut dictionaries: Vec<Option<Vec<String>>> =
        schema.fields().iter().map(|field| is_dictionary(field.data_type()).then(Vec::new)).collect();
    for batch in batches {
        let batch = batch.map_err(|e| Error::data(format!("the frame cannot be read: {e}")))?;
        let first = values.len();
        values.resize(first + batch.num_rows() * width, 0.0);
        for (column, array) in batch.columns().iter().enumerate() {
            let fault =
                |what: String| Error::data(format!("column {}: {what}", quoted(names[column].as_bytes())));
            let of_column = match &mut dictionaries[column] {
                Some(texts) => codes_in(array, texts).map_err(fault)?,
                None => numbers_in(array).map_err(fault)?,
            };
            for (row, value) in of_column.into_iter().enumerate() {
                values[first + row * width + column] = value;
            }
        }
    }
    let mut categories = Categories::default();
    for (column, texts) in dictionaries.into_iter().enumerate() {
        let Some(texts) = texts else { continue };
        let (codes, texts) = category_codes(texts.iter().map(String::as_str))?;
        for value in values.iter_mut().skip(column).step_by(width).filter(|value| !value.is_nan()) {
            *value = codes[*value as usize] as f32;
        }
        categories = categories.with(column, texts)?;
    }
    Ok((Features::dense(width, values), Columns { names: Some(names), categories, ..Columns::default() }))
}

/// The code of each text of a categorical column, and the texts by code, as in data that is read from a file: texts are
/// sorted, and where all are numbers, they are the codes themselves and there are no texts. A text may occur twice.
pub fn category_codes<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<(Vec<u32>, Vec<String>)> {
    let mut known = ColumnCategories::default();
    let numbers: Vec<u32> = texts.into_iter().map(|text| known.number(text, Default::default)).collect();
    let (codes, texts) = known.codes()?;
    Ok((numbers.into_iter().map(|number| codes[number as usize]).collect(), texts))
}

fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

fn is_dictionary(kind: &DataType) -> bool {
    matches!(kind, DataType::Dictionary(_, texts) if is_text(texts))
}

fn numbers_in(array: &ArrayRef) -> std::result::Result<Vec<f32>, String> {
    if is_text(array.data_type()) {
        return Err("it holds text; make it categorical, or leave it out".to_owned());
    }
    let numbers = numbers(array).map_err(|_| "it does not hold numbers".to_owned())?;
    let number = |value: f64| match (value as f32).is_infinite() {
        true => Err(not_finite(value)),
        false => Ok(value as f32),
    };
    numbers.into_iter().map(number).collect()
}

/// The place of each value in `texts`, which gets the texts of the dictionary. Batches may have dictionaries of their own.
fn codes_in(array: &ArrayRef, texts: &mut Vec<String>) -> std::result::Result<Vec<f32>, String> {
    let dictionary = array.as_any_dictionary_opt().ok_or("its type changes between batches")?;
    let first = texts.len();
    let values = dictionary.values();
    for i in 0..values.len() {
        texts.push(match values.data_type() {
            DataType::Utf8 => values.as_string::<i32>().value(i).to_owned(),
            DataType::LargeUtf8 => values.as_string::<i64>().value(i).to_owned(),
            _ => values.as_string_view().value(i).to_owned(),
        });
    }
    let keys = dictionary.normalized_keys();
    let place = |row: usize| match array.is_null(row) || values.is_null(keys[row]) {
        true => f32::NAN,
        false => (first + keys[row]) as f32,
    };
    Ok((0..array.len()).map(place).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::Int32Type;
    use arrow_array::{DictionaryArray, Float64Array, Int16Array, StringArray};
    use std::sync::Arc;

    fn frame(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true))).unwrap()
    }

    #[test]
    fn numbers_and_dictionaries_become_features_and_nulls_are_missing() {
        let batch = |texts: Vec<Option<&str>>, numbers: Vec<Option<f64>>| {
            let grades: ArrayRef = Arc::new(Int16Array::from(vec![3, -1]));
            let brands: DictionaryArray<Int32Type> = texts.into_iter().collect();
            frame(vec![
                ("x", Arc::new(Float64Array::from(numbers))),
                ("grade", grades),
                ("brand", Arc::new(brands)),
            ])
        };
        let first = batch(vec![Some("zenith"), None], vec![Some(0.5), None]);
        let second = batch(vec![Some("acme"), Some("zenith")], vec![Some(2.0), Some(-1.0)]);
        let (features, columns) = read_frame(&first.schema(), [Ok(first.clone()), Ok(second)]).unwrap();
        let shown = format!("{:?}", features.values());
        assert_eq!(shown, "[0.5, 3.0, 1.0, NaN, -1.0, NaN, 2.0, 3.0, 0.0, -1.0, -1.0, 1.0]");
        assert_eq!(columns.names.unwrap(), ["x", "grade", "brand"]);
        assert_eq!(columns.categories.texts(2).unwrap(), ["acme", "zenith"]);
    }

    #[test]
    fn text_and_numbers_beyond_single_precision_are_refused() {
        let refused = |array: ArrayRef| {
            let batch = frame(vec![("x", array)]);
            read_frame(&batch.schema(), [Ok(batch.clone())]).unwrap_err().to_string()
        };
        assert!(refused(Arc::new(StringArray::from(vec!["1.5"]))).contains("column `x`: it holds text"));
        assert!(refused(Arc::new(Float64Array::from(vec![1e300]))).contains("single precision"));
    }

    #[test]
    fn codes_are_those_of_files() {
        assert_eq!(category_codes(["b", "a", "b"]).unwrap(), (vec![1, 0, 1], vec!["a".into(), "b".into()]));
        assert_eq!(category_codes(["7", "3"]).unwrap(), (vec![7, 3], vec![]));
        assert!(category_codes(["1.5"]).unwrap_err().to_string().contains("is not a category"));
    }
}
