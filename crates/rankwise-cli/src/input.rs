//! The options for reading data that every command shares.

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use rankwise::data::{ColumnRoles, Dataset, Format, Layout, ReadOptions, read, read_all};
use rankwise::models::Ranker;
use std::path::{Path, PathBuf};

/// How to read data.
#[derive(Args, Clone)]
#[command(next_help_heading = "Reading data")]
pub(crate) struct Input {
    /// The format; by the file's name when not given
    #[arg(long, value_name = "FORMAT")]
    input_format: Option<InputFormat>,

    /// Gather the rows of a query that do not stand together
    #[arg(long)]
    group: bool,

    /// The number of the first feature in LETOR text, 0 or 1; detected when not given
    #[arg(long, value_name = "ID", value_parser = clap::value_parser!(u32).range(0..=1))]
    first_id: Option<u32>,

    /// How to keep the features in memory
    #[arg(long, value_name = "LAYOUT", default_value = "auto")]
    layout: InputLayout,

    /// The column with the label, in CSV, TSV and Parquet; `label` or a common name when not given
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,

    /// The column with the query id, in CSV, TSV and Parquet; `qid` or a common name when not given
    #[arg(long, value_name = "COLUMN")]
    qid: Option<String>,
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
    /// One file, as it is.
    pub(crate) fn read(&self, path: &Path) -> Result<Dataset> {
        self.told(read(path, &self.options()))
    }

    /// One file whose rows stand as they do in the file, so that scores by row fit them.
    pub(crate) fn read_unmoved(&self, path: &Path) -> Result<Dataset> {
        let loaded = read(path, &self.options())?;
        ensure!(
            !loaded.moved,
            "the rows of {} had to be moved to gather their queries, so scores by row would not fit it; gather them \
             first with `rankwise convert --group`",
            path.display()
        );
        self.told(Ok(loaded))
    }

    /// Several files as one data set.
    pub(crate) fn read_all(&self, paths: &[PathBuf]) -> Result<Dataset> {
        self.told(read_all(paths, &self.options()))
    }

    /// The same, for data that goes with a model or with other data whose features start at `first_id`, unless the
    /// user says otherwise.
    pub(crate) fn counting_from(&self, first_id: u32) -> Input {
        Input { first_id: self.first_id.or(Some(first_id)), ..self.clone() }
    }

    /// The number of the first feature, where the user says it.
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

    fn told(&self, loaded: rankwise::Result<rankwise::data::Loaded>) -> Result<Dataset> {
        let loaded = loaded?;
        crate::output::notes(&loaded.notes);
        Ok(loaded.data)
    }

    fn options(&self) -> ReadOptions {
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
                ..ColumnRoles::default()
            },
        }
    }
}

/// Says so when data lacks features that a model knows: they count as 0.
pub(crate) fn note_width(ranker: &Ranker, data: &Dataset) {
    let (known, found) = (ranker.model.width(), data.width());
    if found < known && ranker.columns.names.is_none() {
        crate::output::note(format!(
            "the model knows {known} features and the data has {found}; the rest count as 0"
        ));
    }
}
