//! Options for reading data, shared by all commands.

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use rankwise::data::{ColumnRoles, Dataset, Format, Layout, Loaded, Peeked, ReadOptions, read_all};
use rankwise::models::{Numbering, Ranker};
use std::path::{Path, PathBuf};

/// How to read data.
#[derive(Args, Clone)]
#[command(next_help_heading = "Reading data")]
pub(crate) struct Input {
    /// Format of the data. Default: by the file's extension
    #[arg(long, value_name = "FORMAT")]
    input_format: Option<InputFormat>,

    /// Group the rows by query where they are not in order
    #[arg(long)]
    group: bool,

    /// Number of the first feature, 0 or 1, in LETOR text and in models of other tools without feature names. Default:
    /// detected
    #[arg(long, value_name = "ID", value_parser = clap::value_parser!(u32).range(0..=1))]
    first_id: Option<u32>,

    /// How to store the features in memory
    #[arg(long, value_name = "LAYOUT", default_value = "auto")]
    layout: InputLayout,

    /// Most memory for empty columns and the zeros of dense rows, in GiB
    #[arg(long, value_name = "GIB", default_value_t = 1.0, value_parser = gibibytes)]
    memory_limit: f64,

    /// Column with the label in tables (CSV, TSV, Parquet). Default: `label` or a common name
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,

    /// Column with the query id in tables. Default: `qid` or a common name
    #[arg(long, value_name = "COLUMN")]
    qid: Option<String>,

    /// Column with the document id in tables. Default: `docid`, if there is one; '' for none
    #[arg(long, value_name = "COLUMN")]
    docid: Option<String>,

    /// Column with the query weight in tables. Default: `weight`, if there is one; '' for none
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,

    /// Column with the shown position in tables. Default: `position`, if there is one; '' for none
    #[arg(long, value_name = "COLUMN")]
    position: Option<String>,

    /// Columns of tables to leave out, separated by commas
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    ignore: Vec<String>,

    /// Columns of tables to use as features, separated by commas; others without a role are left out
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    only: Vec<String>,

    /// Features with categories, as text or as whole numbers from 0, separated by commas: columns of tables by name,
    /// features of LETOR text by number
    #[arg(long, value_name = "FEATURES", value_delimiter = ',')]
    categorical: Vec<String>,

    /// Whether tables may have no label: for data that is only scored.
    #[arg(skip)]
    unlabelled: bool,
}

/// A size of memory as it was typed.
fn gibibytes(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(size) if size > 0.0 && size <= 1e6 => Ok(size),
        _ => Err("give a number of gibibytes above 0 and up to 1e6".to_owned()),
    }
}

#[derive(ValueEnum, Clone, Copy)]
enum InputFormat {
    Letor,
    Csv,
    Tsv,
    Parquet,
}

impl From<InputFormat> for Format {
    fn from(format: InputFormat) -> Format {
        match format {
            InputFormat::Letor => Format::Letor,
            InputFormat::Csv => Format::Csv,
            InputFormat::Tsv => Format::Tsv,
            InputFormat::Parquet => Format::Parquet,
        }
    }
}

#[derive(ValueEnum, Clone, Copy)]
enum InputLayout {
    Auto,
    Dense,
    Sparse,
}

impl Input {
    /// One file. With `--group`, its rows may be in another order than in the file.
    pub(crate) fn read(&self, path: &Path) -> Result<Dataset> {
        self.read_opened(Peeked::open(path)?)
    }

    /// One file with its rows in the order of the file, so that one score per row fits them.
    pub(crate) fn read_in_order(&self, path: &Path) -> Result<Dataset> {
        self.read_opened_in_order(path, Peeked::open(path)?)
    }

    /// Like [`read`](Self::read), for a file that is open already.
    pub(crate) fn read_opened(&self, file: Peeked) -> Result<Dataset> {
        with_notes(file.data(&self.options()))
    }

    /// Like [`read_in_order`](Self::read_in_order), for a file that is open already.
    pub(crate) fn read_opened_in_order(&self, path: &Path, file: Peeked) -> Result<Dataset> {
        let loaded = file.data(&self.options())?;
        ensure!(
            !loaded.moved,
            "the rows of {} are not grouped by query, so its rows and their scores would be in different orders; \
             group them first with `rankwise convert --group`",
            path.display()
        );
        with_notes(Ok(loaded))
    }

    /// Several files, concatenated into one data set.
    pub(crate) fn read_all(&self, paths: &[PathBuf]) -> Result<Dataset> {
        with_notes(read_all(paths, &self.options()))
    }

    /// The same options for data that `ranker` is to score. Text without a feature 0 counts from 0 if the model does,
    /// and columns that are categorical in the model are so in the data.
    pub(crate) fn for_model(&self, ranker: &Ranker) -> Input {
        let from_zero = ranker.numbering != Numbering::Undecided && ranker.columns.first_id == 0;
        let mut categorical = self.categorical.clone();
        if let Some(names) = &ranker.columns.names {
            let of_model = ranker.columns.categories.columns().map(|column| names[column].clone());
            categorical.extend(of_model.filter(|name| !self.categorical.contains(name)));
        }
        Input { first_id: self.first_id.or(from_zero.then_some(0)), categorical, ..self.clone() }
    }

    /// The same options for data without labels.
    pub(crate) fn unlabelled(self) -> Input {
        Input { unlabelled: true, ..self }
    }

    /// The model with its first feature as the user gave it, where its file does not decide that.
    pub(crate) fn number(&self, ranker: Ranker) -> Result<Ranker> {
        match (self.first_id, ranker.numbering) {
            (Some(first_id), Numbering::Undecided) => Ok(ranker.with_first_id(first_id)?),
            _ => Ok(ranker),
        }
    }

    /// The number of the first feature, if the user gave it.
    pub(crate) fn first_id(&self) -> Option<u32> {
        self.first_id
    }

    /// Training and validation data with the same columns: numbered features are matched by number, and the narrower
    /// data is filled up with zeros; named features must be the same.
    pub(crate) fn read_pair(&self, train: &[PathBuf], valid: &[PathBuf]) -> Result<(Dataset, Dataset)> {
        let both = vec![self.read_all(train)?, self.read_all(valid)?];
        let mut aligned = Dataset::align_columns(both)?.into_iter();
        Ok(aligned.next().zip(aligned.next()).expect("as many as were given"))
    }

    /// The options as the library has them.
    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.input_format.map(Format::from),
            group: self.group,
            first_id: self.first_id,
            layout: match self.layout {
                InputLayout::Auto => Layout::Auto,
                InputLayout::Dense => Layout::Dense,
                InputLayout::Sparse => Layout::Sparse,
            },
            columns: ColumnRoles {
                label: self.label.clone(),
                query: self.qid.clone(),
                document: self.docid.clone(),
                weight: self.weight.clone(),
                position: self.position.clone(),
                ignore: self.ignore.clone(),
                only: self.only.clone(),
                categorical: self.categorical.clone(),
            },
            unlabelled: self.unlabelled,
            memory_limit: (self.memory_limit * f64::from(1 << 30)) as u64,
        }
    }
}

/// The data, once the notes of its reader are printed.
fn with_notes(loaded: rankwise::Result<Loaded>) -> Result<Dataset> {
    let loaded = loaded?;
    crate::output::notes(&loaded.notes);
    Ok(loaded.data)
}

/// Prints a note if the data lacks features of the model: they count as 0.
pub(crate) fn note_width(ranker: &Ranker, data: &Dataset) {
    let (known, found) = (ranker.model.width(), data.width());
    if found < known && ranker.columns.names.is_none() {
        crate::output::note(format!(
            "the model has {} and the data has {found}; missing features count as 0",
            crate::output::count(known, "feature", "features")
        ));
    }
}
