//! Where tantivy keeps what: the only place that names hidden fields.

use crate::analyzer::Analyzer;
use crate::schema::{Field, FieldKind, Schema};
use tantivy::schema::{
    FAST, Field as Handle, IndexRecordOption, NumericOptions, STORED, Schema as TantivySchema, SchemaBuilder,
    TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::TokenizerManager;

/// The id of a document.
pub(crate) const ID: &str = "_id";
/// The document as JSON: an object of field names to values, without the id.
pub(crate) const SOURCE: &str = "_source";
/// Number of different terms of the whole document.
pub(crate) const DISTINCT: &str = "#distinct";

/// Name of the column with a text field's number of tokens.
pub(crate) fn length_of(field: &str) -> String {
    format!("{field}#length")
}

/// Name of the column with a text field's number of different tokens.
pub(crate) fn distinct_of(field: &str) -> String {
    format!("{field}{DISTINCT}")
}

/// A schema, and where its fields are.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) schema: Schema,
    pub(crate) layout: Layout,
}

impl Plan {
    pub(crate) fn of(schema: Schema) -> Plan {
        let layout = Layout::of(&schema);
        Plan { schema, layout }
    }
}

/// The fields of the tantivy index.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// All of them, for tantivy.
    pub(crate) tantivy: TantivySchema,
    /// Indexed as one term, and a column of text.
    pub(crate) id: Handle,
    /// Stored text.
    pub(crate) source: Handle,
    /// A column of u64.
    pub(crate) distinct: Handle,
    /// One for every field of the schema, in its order.
    pub(crate) fields: Vec<Place>,
}

/// Where a field of the schema is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Words with frequencies and positions, and columns of u64.
    Words { analyzer: Analyzer, terms: Handle, length: Handle, distinct: Handle },
    /// Whole values as terms.
    Keyword { terms: Handle },
    /// A column of f64, with ranges.
    Number { column: Handle },
    /// A column of i64, seconds since 1970, with ranges.
    Date { column: Handle },
    /// In the source only; what links say about documents is a file of its own.
    Links,
}

impl Layout {
    /// The layout of indexes with this schema.
    pub(crate) fn of(schema: &Schema) -> Layout {
        let mut builder = TantivySchema::builder();
        let id = builder.add_text_field(ID, terms("raw", IndexRecordOption::Basic).set_fast("raw"));
        let source = builder.add_text_field(SOURCE, STORED);
        let distinct = builder.add_u64_field(DISTINCT, FAST);
        let fields = schema.fields.iter().map(|field| Place::of(field, &mut builder)).collect();
        Layout { tantivy: builder.build(), id, source, distinct, fields }
    }

    /// The analyzers of the fields of words, in their order.
    pub(crate) fn words(&self) -> impl Iterator<Item = Analyzer> {
        self.fields.iter().filter_map(|place| match *place {
            Place::Words { analyzer, .. } => Some(analyzer),
            _ => None,
        })
    }
}

impl Place {
    fn of(field: &Field, builder: &mut SchemaBuilder) -> Place {
        let name = field.name.as_str();
        match field.kind {
            FieldKind::Text { analyzer: Analyzer::Keyword } => {
                let options = terms(&Analyzer::Keyword.name(), IndexRecordOption::Basic);
                Place::Keyword { terms: builder.add_text_field(name, options) }
            }
            FieldKind::Text { analyzer } => {
                let options = terms(&analyzer.name(), IndexRecordOption::WithFreqsAndPositions);
                Place::Words {
                    analyzer,
                    terms: builder.add_text_field(name, options),
                    length: builder.add_u64_field(&length_of(name), FAST),
                    distinct: builder.add_u64_field(&distinct_of(name), FAST),
                }
            }
            FieldKind::Number => Place::Number { column: builder.add_f64_field(name, range()) },
            FieldKind::Date => Place::Date { column: builder.add_i64_field(name, range()) },
            FieldKind::Links => Place::Links,
        }
    }
}

/// Lengths are ours, so tantivy's are not kept.
fn terms(tokenizer: &str, option: IndexRecordOption) -> TextOptions {
    let indexing = TextFieldIndexing::default().set_tokenizer(tokenizer).set_index_option(option);
    TextOptions::default().set_indexing_options(indexing.set_fieldnorms(false))
}

fn range() -> NumericOptions {
    NumericOptions::default().set_fast().set_indexed()
}

/// The tokenizers of readers, under the names of their analyzers: tantivy's query parser analyses queries alike.
pub(crate) fn analyzers(schema: &Schema) -> TokenizerManager {
    let manager = TokenizerManager::default();
    for analyzer in schema.analyzers() {
        manager.register(&analyzer.name(), analyzer.tokenizer());
    }
    manager
}
