//! The naive recomputation. It knows tantivy's and our code only through `Analyzer`.

use super::{Known, Terms};
use crate::{Analyzer, Document, Value};
use std::collections::{BTreeMap, BTreeSet};

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Text(text) => vec![text.clone()],
        Value::List(texts) => texts.clone(),
        Value::Number(number) => vec![number.to_string()],
    }
}

fn values<'a>(document: &'a Document, field: &str) -> Vec<&'a Value> {
    document.fields.iter().filter(|(name, _)| name == field).map(|(_, value)| value).collect()
}

pub(super) fn links(document: &Document) -> Vec<String> {
    values(document, "cites").into_iter().flat_map(texts).collect()
}

/// Terms with positions. A value starts two positions behind the last term of the value before it.
fn words(document: &Document, field: &str, analyzer: Analyzer) -> (Terms, u64) {
    let (mut terms, mut start, mut length) = (Terms::new(), 0, 0);
    let mut any = false;
    for text in values(document, field).into_iter().flat_map(texts) {
        if any {
            start += 1;
        }
        let mut tokenizer = analyzer.tokenizer();
        let mut stream = tokenizer.token_stream(&text);
        let mut end = start;
        while stream.advance() {
            let token = stream.token();
            let position = start + token.position as u32;
            terms.entry(token.text.clone()).or_insert_with(Vec::new).push(position);
            (end, length, any) = (position + 1, length + 1, true);
        }
        start = end;
    }
    (terms, length)
}

pub(super) fn known(document: &Document) -> Known {
    let mut known = Known { source: source(document), ..Known::default() };
    let mut whole = BTreeSet::new();
    for (field, analyzer) in [("title", Analyzer::English), ("body", Analyzer::Plain)] {
        let (terms, length) = words(document, field, analyzer);
        known.sizes.insert(field.to_owned(), (length, terms.len() as u64));
        whole.extend(terms.keys().cloned());
        if !terms.is_empty() {
            known.terms.insert(field.to_owned(), terms);
        }
    }
    known.distinct = whole.len() as u64;
    let tags: Terms = values(document, "tag")
        .into_iter()
        .flat_map(texts)
        .filter(|tag| !tag.is_empty())
        .map(|tag| (tag, Vec::new()))
        .collect();
    if !tags.is_empty() {
        known.terms.insert("tag".to_owned(), tags);
    }
    for (name, value) in &document.fields {
        if let Value::Number(number) = value {
            known.numbers.insert(name.clone(), *number);
        }
    }
    known
}

/// Fields in the order in which they come first; several values are a list.
fn source(document: &Document) -> String {
    let names: Vec<&String> = document.fields.iter().map(|(name, _)| name).collect();
    let mut first = names.clone();
    let mut seen = BTreeMap::new();
    first.retain(|name| seen.insert((*name).clone(), ()).is_none());
    let field = |name: &String| {
        let of_name = values(document, name);
        let is_list = of_name.len() > 1 || matches!(of_name[0], Value::List(_));
        let one = |value: &Value| match value {
            Value::Number(number) => number.to_string(),
            value => texts(value)
                .iter()
                .map(|text| serde_json::to_string(text).unwrap())
                .collect::<Vec<_>>()
                .join(","),
        };
        let all: Vec<String> = of_name.into_iter().map(one).filter(|text| !text.is_empty()).collect();
        let all = all.join(",");
        let all = if is_list { format!("[{all}]") } else { all };
        format!("{}:{all}", serde_json::to_string(name).unwrap())
    };
    format!("{{{}}}", first.into_iter().map(field).collect::<Vec<_>>().join(","))
}
