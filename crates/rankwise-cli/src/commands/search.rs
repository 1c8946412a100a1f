use crate::content::load_model;
use crate::insight::{bar, by_size, number, shown, signed};
use crate::search_args::{Bm25Args, Syntax, note_content, snapshot};
use crate::{interrupt, output, table};
use anstyle::Style;
use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use rankwise_search::search::{Explained, Found, Results, Search, Shown};
use rankwise_search::{Query, Snippet};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Search an index, by BM25 or with a model.
#[derive(Args)]
#[command(
    after_help = "QUERY has the full syntax: title:word, \"a phrase\", +must, -not, AND, OR, year:[1990 TO 2000], word^2. With \
    --queries, queries are plain words unless --syntax says otherwise.\n\n\
    Examples:\n  rankwise search docs.idx time sharing\n  \
    rankwise search docs.idx 'title:sharing -batch' --model model.json --explain\n  \
    rankwise search docs.idx time sharing --model model.json --why-not 1410\n  \
    rankwise search docs.idx --queries q.tsv -k 1000 --format trec -o bm25.run"
)]
pub(crate) struct SearchCommand {
    /// The index
    index: PathBuf,

    /// What to search for
    #[arg(value_name = "QUERY", required_unless_present = "queries", conflicts_with = "queries")]
    query: Vec<String>,

    /// Queries with ids: id and text separated by a tab, JSON lines or TREC topics
    #[arg(long, value_name = "FILE")]
    queries: Option<PathBuf>,

    /// How many documents to show
    #[arg(short, long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    k: u32,

    /// A model trained on features of an index; it orders the first documents of BM25
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,

    /// How many documents the model orders. Default: as many as in its training, or 100
    #[arg(long, value_name = "N", requires = "model", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,

    /// Whether queries are plain words or in the full query syntax. Default: full for QUERY, words for --queries
    #[arg(long, value_name = "SYNTAX")]
    syntax: Option<Syntax>,

    /// Show the features of every document and what each contributes to its score
    #[arg(long, requires = "model")]
    explain: bool,

    /// How many features to explain per document; 0 for all
    #[arg(long, default_value_t = 5, value_name = "N", requires = "explain")]
    top: usize,

    /// Say why the document of this id is not among those shown
    #[arg(long, value_name = "ID", conflicts_with_all = ["queries", "explain"])]
    why_not: Option<String>,

    /// What to print. Default: text for QUERY, trec for --queries
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    format: Option<SearchFormat>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// The name of the system in a TREC run
    #[arg(long, default_value = "rankwise", value_name = "TAG")]
    tag: String,

    /// The file to write a TREC run to. Default: standard output
    #[arg(short, long, default_value = "-", hide_default_value = true, value_name = "OUT")]
    output: PathBuf,

    #[command(flatten)]
    bm25: Bm25Args,
}

#[derive(ValueEnum, Clone, Copy, PartialEq)]
enum SearchFormat {
    Text,
    Trec,
}

/// Characters of a snippet: two lines of a terminal.
const SNIPPET: usize = 150;

impl SearchCommand {
    pub(crate) fn run(self) -> Result<()> {
        ensure!(
            self.output == Path::new("-") || self.format != Some(SearchFormat::Text) && !self.json,
            "-o is for TREC runs; use > for other output"
        );
        let snapshot = snapshot(&self.index)?;
        let model = self.model.as_deref().map(load_model).transpose()?.map(Arc::new);
        let search = Search::of(snapshot, model, &self.bm25.retrieval(self.depth))?;
        search.check_candidates()?;
        match &self.queries {
            Some(file) => self.run_queries(&search, file),
            None => self.run_one(&search),
        }
    }

    fn shown(&self) -> Shown {
        Shown { k: self.k as usize, skip: 0, snippet: SNIPPET, explain: self.explain }
    }

    fn run_one(&self, search: &Search) -> Result<()> {
        let text = self.query.join(" ");
        let query = self.syntax.unwrap_or(Syntax::Full).query(&text, search.snapshot().schema())?;
        note_content(search.snapshot(), &[&query])?;
        if let Some(id) = &self.why_not {
            return self.show_why_not(search, &query, id);
        }
        let results = search.results(&query, self.shown())?;
        match (self.json, self.format) {
            (true, _) => output::print_json(&as_json(&results, &query)),
            (_, Some(SearchFormat::Trec)) => self.write_run(vec![("1".to_owned(), results.found)]),
            _ => output::print_with_style(&as_text(&results, self.top)),
        }
    }

    fn run_queries(&self, search: &Search, file: &Path) -> Result<()> {
        let syntax = self.syntax.unwrap_or(Syntax::Words);
        let queries = syntax.queries(file, search.snapshot().schema())?;
        note_content(search.snapshot(), &queries.iter().map(|query| &query.query).collect::<Vec<_>>())?;
        if self.json || self.format == Some(SearchFormat::Text) {
            return self.show_all(search, &queries);
        }
        let bar = crate::progress::queries(queries.len());
        let found = search.run_all(&queries, self.k as usize, &|done| bar.set_position(done as u64));
        bar.finish_and_clear();
        let found = found?;
        let nothing = found.iter().filter(|found| found.is_empty()).count();
        if nothing > 0 {
            output::note(format!("{} nothing", output::count(nothing, "query finds", "queries find")));
        }
        self.write_run(queries.into_iter().map(|query| query.id).zip(found).collect())
    }

    fn show_all(&self, search: &Search, queries: &[rankwise_search::SearchQuery]) -> Result<()> {
        let mut all = Vec::new();
        for query in queries {
            let results = search.results(&query.query, self.shown())?;
            if self.json {
                let mut value = as_json(&results, &query.query);
                value["id"] = query.id.clone().into();
                all.push(value);
            } else {
                let title =
                    format!("{}: {}\n", table::escaped(&query.id), table::escaped(query.query.text()));
                output::print_with_style(&format!("{title}{}\n", as_text(&results, self.top)))?;
            }
        }
        if self.json { output::print_json(&json!({ "queries": all })) } else { Ok(()) }
    }

    fn write_run(&self, found: Vec<(String, Vec<Found>)>) -> Result<()> {
        output::prepare_to_write(&self.output, &[])?;
        let run = rankwise_search::search::run_of(&found, &self.tag);
        interrupt::will_write(&self.output);
        Ok(run.write(&self.output)?)
    }

    fn show_why_not(&self, search: &Search, query: &Query, id: &str) -> Result<()> {
        let k = self.k as usize;
        let why = search.why_not(query, id, k)?;
        if self.json {
            return output::print_json(&why.to_json());
        }
        output::print(&table::wrap(&format!("{}\n", why.in_words(id, k))))
    }
}

/// Documents as a list, with the words of the query in bold.
fn as_text(results: &Results, top: usize) -> String {
    if results.found.is_empty() {
        return "nothing found\n".to_owned();
    }
    let mut text = String::new();
    for (at, found) in results.found.iter().enumerate() {
        let moved = match found.by_model && found.bm25_rank != at + 1 {
            true => format!("  (BM25: {})", found.bm25_rank),
            false => String::new(),
        };
        let (id, score) = (table::escaped(&found.id), table::six(found.score));
        text += &format!("{:3}. {id}  {score}{moved}\n", at + 1);
        let heading = results.heading(at);
        if !heading.is_empty() {
            text += &format!("     {}\n", table::wrap_to(&table::escaped(&heading), 80, 5, 5));
        }
        text += &marked(&results.snippets[at]);
        if let Some(explained) = &results.explained {
            text += &match &explained[at] {
                Some(explained) => contributions(explained, top),
                None => "   not scored by the model; --depth says how many documents are\n".to_owned(),
            };
        }
    }
    text
}

fn as_json(results: &Results, query: &Query) -> Value {
    json!({ "query": query.text(), "documents": results.to_json() })
}

/// A snippet with its highlights, wrapped and indented.
fn marked(snippet: &Snippet) -> String {
    let bold = Style::new().bold();
    let (mut line, mut used) = (String::from("     "), 5);
    let mut start = 0;
    // As many bytes as before, so that the highlights stay where they are.
    let text = snippet.text.replace(['\n', '\r', '\t'], " ");
    for word in text.split(' ') {
        let end = start + word.len();
        let length = word.chars().count();
        if used > 5 && used + 1 + length > 80 {
            line.push_str("\n     ");
            used = 5;
        } else if used > 5 {
            line.push(' ');
            used += 1;
        }
        used += length;
        let mut at = start;
        for range in snippet.highlights.iter().filter(|range| range.start >= start && range.end <= end) {
            line += &table::escaped(&text[at..range.start]);
            line += &format!("{bold}{}{bold:#}", table::escaped(&text[range.clone()]));
            at = range.end;
        }
        line += &table::escaped(&text[at..end]);
        start = end + 1;
    }
    if line.trim().is_empty() { String::new() } else { format!("{line}\n") }
}

/// The largest contributions to a score, as a table.
fn contributions(explained: &Explained, top: usize) -> String {
    let mut lines = table::Columns::new(&["", ">value", ">contribution", ""]).headless();
    let Some(all) = explained.features.iter().map(|f| f.contribution).collect::<Option<Vec<f64>>>() else {
        for feature in explained.features.iter().take(shown(top, explained.features.len())) {
            lines.row([feature.name.as_str(), &number(feature.value), "", ""]);
        }
        return format!("{}\n", lines.render());
    };
    let order = by_size(&all);
    let largest = order.first().map_or(0.0, |&first| all[first].abs());
    for &column in order.iter().take(shown(top, order.len())) {
        let feature = &explained.features[column];
        lines.row([
            feature.name.as_str(),
            &number(feature.value),
            &signed(all[column]),
            &bar(all[column], largest),
        ]);
    }
    format!("{}\n", lines.render())
}
