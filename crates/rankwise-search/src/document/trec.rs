//! Documents in TREC's form: `<DOC><DOCNO>…</DOCNO>…</DOC>`.

use super::Value;
use super::draft::Draft;
use super::elements::Elements;
use super::reader::{Drafts, Next};

use rankwise::data::Source;

pub(super) struct TrecDocuments(Elements);

impl TrecDocuments {
    pub(super) fn new(source: Source, longest: u64) -> Self {
        TrecDocuments(Elements::new(source, &["doc"], longest))
    }
}

impl Drafts for TrecDocuments {
    fn next(&mut self) -> Next {
        let Some(element) = self.0.next()? else { return Ok(None) };
        let fields = element.fields().into_iter().map(|(name, text)| (name, Value::Text(text))).collect();
        Ok(Some((Draft { fields, ..Draft::default() }, element.place)))
    }
}
