//! What a file holds: a model, scores, a TREC run, TREC qrels or data. The first bytes decide, never the name.

use anyhow::{Result, bail};
use rankwise::data::Peeked;
use rankwise::models::Ranker;
use rankwise::models::interchange::Format;
use std::path::{Path, PathBuf};

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    Model,
    /// One number per line.
    Scores,
    /// `topic Q0 document rank score tag`.
    Run,
    /// `topic iteration document grade`.
    Qrels,
    /// LETOR text, CSV, TSV or Parquet.
    Data,
    /// A model that Rankwise writes but does not read.
    Unreadable(Format),
    Empty,
    Unknown,
}

impl Content {
    /// What `head`, the first bytes of a file, belongs to.
    pub(crate) fn of(head: &[u8]) -> Content {
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        if head.starts_with(b"PAR1") {
            return Content::Data;
        }
        // Every JSON file is taken for a model: what else it may be, the reader of models reports.
        if head.trim_ascii_start().starts_with(b"{") {
            return Content::Model;
        }
        match Format::of_bytes(head) {
            Some(Format::LightGbm | Format::RankLib) => Content::Model,
            Some(other) => Content::Unreadable(other),
            None => String::from_utf8_lossy(head)
                .lines()
                .map(str::trim)
                .find(|line| !line.is_empty() && !line.starts_with('#'))
                .map_or(Content::Empty, of_line),
        }
    }

    /// Whether it ranks documents: a model, scores or a run.
    pub(crate) fn ranks(self) -> bool {
        matches!(self, Content::Model | Content::Scores | Content::Run)
    }

    /// With its article, after "is" or "holds".
    pub(crate) fn in_words(self) -> String {
        match self {
            Content::Model => "a model".into(),
            Content::Scores => "a score file".into(),
            Content::Run => "a TREC run".into(),
            Content::Qrels => "a file of TREC qrels".into(),
            Content::Data => "a data file".into(),
            Content::Unreadable(format) => {
                format!("a model in the format {}, which Rankwise writes but does not read", format.name())
            }
            Content::Empty => "empty".into(),
            Content::Unknown => "of an unknown format".into(),
        }
    }
}

/// What the first line that is neither blank nor a comment belongs to.
fn of_line(line: &str) -> Content {
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        [score] if is_number(score) => Content::Scores,
        [_, _, _, _, score, _] if is_number(score) && !line.contains(':') => Content::Run,
        // The header of a table may have four columns, too, the last with a number as its name.
        [_, iteration, _, grade] if grade.parse::<i64>().is_ok() && iteration != "qid" => Content::Qrels,
        [label, ref rest @ ..] if is_number(label) && rest.iter().any(|word| word.contains(':')) => {
            Content::Data
        }
        _ if line.contains([',', '\t']) => Content::Data,
        _ => Content::Unknown,
    }
}

/// A file that was opened to see what it holds, and not read further yet.
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    pub(crate) content: Content,
    pub(crate) file: Peeked,
}

impl Opened {
    pub(crate) fn new(path: &Path) -> Result<Opened> {
        let file = Peeked::open(path)?;
        Ok(Opened { path: path.to_path_buf(), content: Content::of(file.head()), file })
    }

    /// The model that the file holds.
    pub(crate) fn model(self) -> Result<Ranker> {
        // By its path where that can be read again: a compressed file that grows without end is refused there.
        if self.path.is_file() {
            return Ok(Ranker::load(&self.path)?);
        }
        Ranker::from_bytes(&self.file.bytes()?)
            .map_err(|reason| anyhow::anyhow!("{} cannot be used as a model: {reason}", self.path.display()))
    }
}

/// Opens several files. Standard input can be only one of them.
pub(crate) fn open_all(paths: &[&Path]) -> Result<Vec<Opened>> {
    if paths.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
        bail!("`-` is given twice, and standard input can be read only once");
    }
    paths.iter().map(|path| Opened::new(path)).collect()
}

/// Reads the model at `path`; if there is none, what the file holds instead is part of the error.
pub(crate) fn load_model(path: &Path) -> Result<Ranker> {
    Ranker::load(path).map_err(|error| {
        let content = match path.is_file() {
            true => Opened::new(path).map_or(Content::Unknown, |opened| opened.content),
            false => Content::Unknown,
        };
        match content {
            Content::Model | Content::Empty | Content::Unknown => error.into(),
            other => anyhow::anyhow!("{error}; it looks like {}", other.in_words()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_shows_what_a_file_holds() {
        for (head, expected) in [
            ("{\n\"format\": \"rankwise-model\"", Content::Model),
            ("{\"learner\": {}}", Content::Model),
            ("{L\0\0\0\0\0\0\0\x07learner{", Content::Model),
            ("tree\nversion=v4\n", Content::Model),
            ("## LambdaMART\n", Content::Model),
            ("## Coordinate Ascent\n", Content::Model),
            ("\u{8}\u{9}\u{12}\u{8}rankwise", Content::Unreadable(Format::Onnx)),
            ("0.5\n0.25\n", Content::Scores),
            ("-3\n", Content::Scores),
            ("NaN\n", Content::Scores),
            ("301 Q0 FR940202-2-00150 104 2.129133 STANDARD\n", Content::Run),
            ("301\tQ0\tdoc\t1\t-2.5e3\tbm25\n", Content::Run),
            ("301 0 FR940202-2-00150 1\n", Content::Qrels),
            ("301\t0\tdoc\t-1\n", Content::Qrels),
            ("2 qid:1 1:0.5 2:0.25 # doc\n", Content::Data),
            ("# a comment\n\n2 qid:1 1:0.5\n", Content::Data),
            ("1 qid:1 1:1 2:2 3:3 4:4\n", Content::Data),
            ("0 1:2\n", Content::Data),
            ("label,qid,bm25\n", Content::Data),
            ("label\tqid\t1\t2\n", Content::Data),
            ("PAR1\x15\x04", Content::Data),
            ("\u{feff}label,qid,bm25\n", Content::Data),
            ("", Content::Empty),
            ("\n# only a comment\n", Content::Empty),
            ("hello world\n", Content::Unknown),
        ] {
            assert_eq!(Content::of(head.as_bytes()), expected, "{head:?}");
        }
    }
}
