use crate::progress::DocumentCount;
use crate::{interrupt, output, table};
use anyhow::{Context, Result, anyhow, ensure};
use clap::{Args, ValueEnum};
use rankwise::error::Error;
use rankwise_search::document::{DocumentFormat, DocumentOptions, Documents, OnError};
use rankwise_search::index::{
    Committed, Duplicates, IndexInfo, NewIndex, UnknownFields, Writer, WriterOptions,
};
use rankwise_search::{Analyzer, FieldKind, Index};
use serde_json::json;
use std::fs;
use std::path::PathBuf;

/// Index documents, to search them and to compute features.
#[derive(Args)]
#[command(
    after_help = "FILE is JSON lines, CSV, TSV, TREC SGML or a folder of .txt, .md and .html files; plain, .gz or .zst.\n\n\
    Without --fields all fields are indexed: numbers and dates as such, everything else as text. A field may say what \
    it holds: `text`, `number`, `date`, `links` or the name of an analyzer for its text.\n\n\
    Examples:\n  rankwise index docs.jsonl -o docs.idx\n  \
    rankwise index cacm.jsonl -o cacm.idx --fields title,body,authors:plain,year \\\n      --links cites\n  \
    rankwise index new.jsonl --add -o docs.idx\n  \
    rankwise index --delete gone.txt -o docs.idx\n  \
    rankwise index --show -o docs.idx"
)]
pub(crate) struct IndexCommand {
    /// The documents
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The directory of the index
    #[arg(short, long, value_name = "INDEX")]
    output: PathBuf,

    /// The fields to index, in this order. Default: all
    #[arg(long, value_delimiter = ',', value_name = "FIELD[:KIND],…")]
    fields: Vec<String>,

    /// Fields with the ids of linked documents, for in-links and PageRank
    #[arg(long, value_delimiter = ',', value_name = "FIELD,…")]
    links: Vec<String>,

    /// The analyzer of text: a language, plain (words in lower case) or keyword. Default: english
    #[arg(long, value_name = "NAME")]
    analyzer: Option<String>,

    /// The field with the id. Default: id, _id, docid, docno or doc_id
    #[arg(long, value_name = "FIELD")]
    id: Option<String>,

    /// The format of the files. Default: by name and content
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    input_format: Option<DocumentFormat>,

    /// Add documents to an existing index; those whose id it has replace the old ones
    #[arg(long)]
    add: bool,

    /// Delete the documents whose ids are in this file, one per line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    delete: Option<PathBuf>,

    /// What to do about a malformed document
    #[arg(long, default_value = "stop", value_name = "WHAT")]
    on_error: OnErrorArg,

    /// What to do about a second document with the same id
    #[arg(long, default_value = "stop", value_name = "WHAT")]
    duplicates: DuplicatesArg,

    /// Memory for documents that are not on disk yet, in MiB
    #[arg(long, default_value_t = 256, value_name = "MIB", value_parser = clap::value_parser!(u32).range(32..=3800))]
    memory: u32,

    /// The largest document, in MiB of text
    #[arg(long, default_value_t = 16, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..=1024))]
    max_document: u32,

    /// Show what the index is
    #[arg(long, conflicts_with_all = ["files", "add", "delete"])]
    show: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(ValueEnum, Clone, Copy)]
enum OnErrorArg {
    Stop,
    Skip,
}

#[derive(ValueEnum, Clone, Copy)]
enum DuplicatesArg {
    Stop,
    KeepFirst,
    Replace,
}

fn format(name: &str) -> Result<DocumentFormat, Error> {
    DocumentFormat::of_name(name)
}

impl IndexCommand {
    pub(crate) fn run(self) -> Result<()> {
        if self.show {
            let info = Index::open(&self.output)?.info()?;
            return if self.json {
                output::print_json(&as_json(&info))
            } else {
                output::print(&as_text(&info))
            };
        }
        let updates = self.add || self.delete.is_some();
        ensure!(
            !self.files.is_empty() || self.delete.is_some(),
            "name the documents to index, or --show to look at an index"
        );
        ensure!(
            !updates || self.fields.is_empty() && self.links.is_empty() && self.analyzer.is_none(),
            "an index has its fields and analyzers from the start; --fields, --links and --analyzer are for new ones"
        );
        let committed = if updates { self.update()? } else { self.create()? };
        self.report(&committed)
    }

    fn create(&self) -> Result<Committed> {
        let new = NewIndex {
            fields: self.fields.clone(),
            links: self.links.clone(),
            analyzer: self.analyzer.as_deref().map(Analyzer::of_name).transpose()?.unwrap_or_default(),
            writer: self.writer_options(),
        };
        let mut documents = self.documents(new.fields_to_read())?;
        let result = interrupt::stoppable(|stop| {
            new.create(&self.output, &mut documents, &mut DocumentCount::new(stop))
        });
        note_summary(&documents);
        result.map_err(|error| self.explained(error))
    }

    fn update(&self) -> Result<Committed> {
        let mut writer = Index::open(&self.output)?.writer(self.writer_options())?;
        self.delete_ids(&mut writer)?;
        if self.files.is_empty() {
            return Ok(writer.commit()?);
        }
        let mut documents = self.documents(None)?;
        let result = interrupt::stoppable(|stop| {
            writer.write_documents(&mut documents, &mut DocumentCount::new(stop))
        });
        note_summary(&documents);
        result.map_err(|error| self.explained(error))
    }

    fn documents(&self, fields: Option<Vec<String>>) -> Result<Documents> {
        let options = DocumentOptions {
            format: self.input_format,
            id: self.id.clone(),
            fields,
            on_error: match self.on_error {
                OnErrorArg::Stop => OnError::Stop,
                OnErrorArg::Skip => OnError::Skip,
            },
            longest: self.longest(),
        };
        Ok(Documents::open(&self.files, &options)?)
    }

    /// The longest document in a file, in bytes.
    fn longest(&self) -> u64 {
        DocumentOptions::longest_of(self.document_bytes())
    }

    fn document_bytes(&self) -> u64 {
        u64::from(self.max_document) << 20
    }

    /// Names the flag that lets longer documents be read.
    fn explained(&self, error: Error) -> anyhow::Error {
        match error.message().contains(&format!("is longer than {} bytes", self.longest())) {
            true => anyhow!("{error}; --max-document allows larger documents"),
            false => error.into(),
        }
    }

    fn writer_options(&self) -> WriterOptions {
        WriterOptions {
            memory_bytes: (self.memory as usize) << 20,
            duplicates: match self.duplicates {
                DuplicatesArg::Stop => Duplicates::Refuse,
                DuplicatesArg::KeepFirst => Duplicates::KeepFirst,
                DuplicatesArg::Replace => Duplicates::Replace,
            },
            unknown_fields: UnknownFields::Ignore,
            document_bytes: self.document_bytes(),
        }
    }

    fn delete_ids(&self, writer: &mut Writer) -> Result<()> {
        let Some(path) = &self.delete else { return Ok(()) };
        let text = match path.as_os_str() == "-" {
            true => std::io::read_to_string(std::io::stdin()).context("cannot read standard input")?,
            false => fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?,
        };
        let mut missing = Vec::new();
        for id in text.lines().map(str::trim).filter(|id| !id.is_empty()) {
            if !writer.delete(id)? {
                missing.push(id);
            }
        }
        if let Some(first) = missing.first() {
            let ids = output::count(missing.len(), "id to delete is", "ids to delete are");
            output::note(format!("{ids} not in the index, such as `{first}`"));
        }
        Ok(())
    }

    fn report(&self, committed: &Committed) -> Result<()> {
        let info = Index::open(&self.output)?.info()?;
        if self.json {
            let mut value = as_json(&info);
            value["added"] = committed.added.into();
            value["replaced"] = committed.replaced.into();
            value["deleted"] = committed.deleted.into();
            return output::print_json(&value);
        }
        output::notes(&committed.notes());
        let changes =
            [(committed.added, "added"), (committed.replaced, "replaced"), (committed.deleted, "deleted")];
        let changes = changes.iter().filter(|(count, _)| *count > 0);
        let changes: Vec<String> =
            changes.map(|(count, what)| format!("{} {what}", output::thousands(*count as usize))).collect();
        output::print(&format!("{}\n{}", changes.join(", "), as_text(&info)))
    }
}

/// What was left out of the files.
fn note_summary(documents: &Documents) {
    let summary = documents.summary();
    output::notes(&summary.notes());
    output::notes(&summary.messages);
}

fn kind_in_words(kind: &FieldKind) -> String {
    match kind {
        FieldKind::Text { analyzer } => format!("text, {analyzer}"),
        FieldKind::Number => "number".into(),
        FieldKind::Date => "date".into(),
        FieldKind::Links => "links".into(),
    }
}

fn as_text(info: &IndexInfo) -> String {
    let mut lines = table::Columns::new(&["", ""]).headless();
    lines.row(["documents", &output::thousands(info.documents as usize)]);
    for field in &info.schema.fields {
        lines.row([format!("field {}", field.name), kind_in_words(&field.kind)]);
    }
    lines.row(["size", &format!("{:.1} MiB in {}", info.bytes as f64 / f64::from(1 << 20), segments(info))]);
    lines.row(["format", &format!("{}, written by Rankwise {}", info.format, info.version)]);
    lines.render()
}

fn segments(info: &IndexInfo) -> String {
    output::count(info.segments, "segment", "segments")
}

fn as_json(info: &IndexInfo) -> serde_json::Value {
    json!({
        "documents": info.documents,
        "fields": info.schema.fields,
        "analyzers": info.analyzers,
        "segments": info.segments,
        "bytes": info.bytes,
        "format": info.format,
        "version": info.version,
    })
}
