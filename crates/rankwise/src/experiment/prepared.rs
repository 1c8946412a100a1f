//! The data of an experiment: read, normalized, cleaned, and divided into folds.
//!
//! Features are normalized before cleaning, as in the papers: cleaning compares the features that are learned from. A
//! model's normalizer then gives the same features for queries that were not cleaned.

use super::findings::DataSummary;
use super::spec::{DataSpec, FoldSpec, SynthSpec};
use crate::data::{
    Cleaner, Dataset, Features, Folds, Normalizer, Query, ReadOptions, SplitOrder, Synth, SyntheticShape,
    distribution, read_all, rotation,
};
use crate::error::{Error, ErrorKind, Result};
use crate::metrics::{Metric, check_relevance};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};

/// One data set, ready for training fold by fold.
pub(super) struct PreparedData {
    pub(super) name: String,
    pub(super) summary: DataSummary,
    /// The normalizer that was applied.
    pub(super) normalizer: Option<Normalizer>,
    splits: Vec<Split>,
    folds: Vec<FoldSplits>,
}

/// Queries that stay together in every fold: those of one file, or of one part of a divided data set.
struct Split {
    data: Dataset,
    /// The number of the first feature and the number of features as they were read, before columns were aligned.
    read_columns: (u32, usize),
}

/// The splits that a fold uses, by number.
struct FoldSplits {
    train: Vec<usize>,
    valid: Vec<usize>,
    test: Vec<usize>,
}

/// The data of one fold. Without validation queries `valid` is `None`, and no parameter can be chosen.
pub(super) struct FoldData<'a> {
    pub(super) train: Cow<'a, Dataset>,
    pub(super) valid: Option<Cow<'a, Dataset>>,
    pub(super) test: Cow<'a, Dataset>,
}

impl PreparedData {
    /// Reads, normalizes, cleans and divides. Every file is parsed once, however many folds use it.
    pub(super) fn load(spec: &DataSpec, seed: u64) -> Result<PreparedData> {
        let within = |e: Error| Error::data(format!("data set `{}`: {e}", spec.name));
        let absent = |e: Error| match &spec.source {
            Some(source) if e.kind() == ErrorKind::Io => {
                Error::data(format!("data set `{}`: {e}. {source}", spec.name))
            }
            _ => within(e),
        };
        let Divided { splits, folds, notes } = divided(spec, seed).map_err(absent)?;
        let read_columns: Vec<_> = splits.iter().map(|s| (s.columns().first_id, s.width())).collect();
        let (mut splits, mut preparation) = (splits, Vec::new());
        let normalizer = spec.normalize.as_deref().map(Normalizer::parse).transpose()?;
        if let Some(normalizer) = &normalizer {
            splits =
                splits.into_iter().map(|s| normalizer.apply(s)).collect::<Result<_>>().map_err(within)?;
            preparation.push(format!("features normalized within each query by {normalizer}"));
        }
        if let Some(text) = &spec.clean {
            let cleaner = Cleaner::parse(text)?;
            let mut dropped = 0;
            for split in &mut splits {
                let (cleaned, report) = cleaner.clean(split.clone()).map_err(within)?;
                dropped += report.documents_before - report.documents_after;
                *split = cleaned;
            }
            preparation.push(format!("cleaned by {cleaner}: {dropped} documents removed"));
        }
        if splits.iter().any(|s| s.parts().query_weights.is_some()) {
            preparation.push(
                "queries have weights, which count in training, in choosing parameters, and in all means and tests"
                    .into(),
            );
        }
        let splits = Dataset::align_columns(splits).map_err(within)?;
        let splits: Vec<Split> = splits
            .into_iter()
            .zip(read_columns)
            .map(|(data, read_columns)| Split { data, read_columns })
            .collect();
        check_disjoint(&splits, &folds).map_err(within)?;
        let summary = summary(&splits, preparation, notes);
        Ok(PreparedData { name: spec.name.clone(), summary, normalizer, splits, folds })
    }

    /// Number of folds.
    pub(super) fn folds(&self) -> usize {
        self.folds.len()
    }

    /// The test queries of a fold, in order.
    pub(super) fn test_queries(&self, fold: usize) -> impl Iterator<Item = Query<'_>> {
        self.folds[fold].test.iter().flat_map(move |&split| self.splits[split].data.queries())
    }

    /// Refuses metrics that find no relevant document among the test queries because labels are not grades.
    pub(super) fn check_relevance(&self, metrics: &[Box<dyn Metric>]) -> Result<()> {
        (0..self.folds()).try_for_each(|fold| {
            let labels: Vec<&[f32]> = self.test_queries(fold).map(|query| query.labels()).collect();
            check_relevance(&labels, metrics.iter().map(|metric| &**metric))
                .map_err(|e| Error::data(format!("data set `{}`: {e}", self.name)))
        })
    }

    /// The test queries of a fold as one data set.
    pub(super) fn test(&self, fold: usize) -> Result<Cow<'_, Dataset>> {
        self.together(&self.folds[fold].test)
    }

    /// The data of a fold.
    pub(super) fn fold(&self, fold: usize) -> Result<FoldData<'_>> {
        let FoldSplits { train, valid, test } = &self.folds[fold];
        Ok(FoldData {
            train: self.together(train)?,
            valid: if valid.is_empty() { None } else { Some(self.together(valid)?) },
            test: self.together(test)?,
        })
    }

    fn together(&self, splits: &[usize]) -> Result<Cow<'_, Dataset>> {
        match splits {
            [one] => Ok(Cow::Borrowed(&self.splits[*one].data)),
            several => {
                let sets: Vec<&Dataset> = several.iter().map(|&split| &self.splits[split].data).collect();
                Dataset::concat(&sets).map(Cow::Owned)
            }
        }
    }

    /// Whether queries have weights.
    pub(super) fn has_query_weights(&self) -> bool {
        self.splits.iter().any(|split| split.data.parts().query_weights.is_some())
    }

    /// Whether every fold has validation queries.
    pub(super) fn has_validation(&self) -> bool {
        self.folds.iter().all(|fold| !fold.valid.is_empty())
    }

    /// The number of the first feature, where reading the training and validation files of `fold` alone would not
    /// find it. An error, in a sentence, where these files alone do not give the columns and the layout of the fold.
    pub(super) fn first_id_for_reading(&self, fold: usize) -> std::result::Result<Option<u32>, String> {
        let FoldSplits { train, valid, .. } = &self.folds[fold];
        let used: Vec<&Split> = train.iter().chain(valid).map(|&split| &self.splits[split]).collect();
        let data = &used[0].data;
        let first_id = data.columns().first_id;
        let width = used.iter().map(|s| (s.read_columns.0 - first_id) as usize + s.read_columns.1).max();
        if data.columns().names.is_none() && width != Some(data.width()) {
            return Err("files of other folds have more features than the files of this one".into());
        }
        let is_sparse =
            |&split: &usize| matches!(self.splits[split].data.parts().features, Features::Sparse { .. });
        if [train, valid].into_iter().any(|group| group.iter().any(is_sparse) && !group.iter().all(is_sparse))
        {
            return Err("some files of this fold are sparse and others are dense".into());
        }
        Ok(used.iter().all(|split| split.read_columns.0 != first_id).then_some(first_id))
    }
}

/// A data set divided into splits, and the folds made of them.
struct Divided {
    splits: Vec<Dataset>,
    folds: Vec<FoldSplits>,
    notes: Vec<String>,
}

fn divided(spec: &DataSpec, seed: u64) -> Result<Divided> {
    if !spec.splits.is_empty() {
        let read = read_groups(&[&spec.splits], spec)?;
        return rotated(read.sets, &read.groups[0], read.notes);
    }
    if spec.folds.is_empty() && spec.train.is_empty() {
        let (whole, notes) = match &spec.synth {
            Some(synth) => (synthetic(synth)?, Vec::new()),
            None => {
                let loaded = read_all(&spec.files, &read_options(spec))?;
                let files: Vec<&Path> = spec.files.iter().map(PathBuf::as_path).collect();
                let notes = loaded.notes.iter().map(|note| noted(&files, note)).collect();
                (loaded.data, notes)
            }
        };
        let k = spec.k.unwrap_or(5);
        let folds = Folds::new(whole.query_count(), k, SplitOrder::Shuffled(seed))?;
        let splits: Vec<Dataset> =
            folds.subsets().iter().map(|queries| whole.select_queries(queries)).collect();
        let numbers: Vec<usize> = (0..splits.len()).collect();
        return rotated(splits, &numbers, notes);
    }
    let one = FoldSpec { train: spec.train.clone(), valid: spec.valid.clone(), test: spec.test.clone() };
    let folds = if spec.folds.is_empty() { vec![one] } else { spec.folds.clone() };
    let groups: Vec<&[PathBuf]> =
        folds.iter().flat_map(|f| [&f.train[..], &f.valid[..], &f.test[..]]).collect();
    let ReadGroups { sets: splits, groups, notes } = read_groups(&groups, spec)?;
    let folds = groups.chunks_exact(3).map(|of_fold| {
        let [train, valid, test] = [0, 1, 2].map(|i| of_fold[i].clone());
        FoldSplits { train, valid, test }
    });
    Ok(Divided { splits, folds: folds.collect(), notes })
}

/// Folds in which each of `numbers`, which are numbers of splits, is the test split once.
fn rotated(splits: Vec<Dataset>, numbers: &[usize], notes: Vec<String>) -> Result<Divided> {
    let one = |fold: usize| {
        let rotation = rotation(numbers.len(), fold)?;
        Ok(FoldSplits {
            train: rotation.train.iter().map(|&place| numbers[place]).collect(),
            valid: vec![numbers[rotation.valid]],
            test: vec![numbers[rotation.test]],
        })
    };
    let folds = (0..numbers.len()).map(one).collect::<Result<_>>()?;
    Ok(Divided { splits, folds, notes })
}

fn synthetic(synth: &SynthSpec) -> Result<Dataset> {
    let &SynthSpec { queries, documents, features, seed, .. } = synth;
    Synth { queries, documents, features, seed, ..Synth::new(SyntheticShape::named(&synth.shape)?) }
        .generate()
}

fn read_options(spec: &DataSpec) -> ReadOptions {
    let default = ReadOptions::default();
    let limit = |gibibytes: f64| (gibibytes * f64::from(1 << 30)) as u64;
    ReadOptions {
        group: spec.group,
        first_id: spec.first_id,
        columns: spec.column_roles(),
        memory_limit: spec.memory_limit.map_or(default.memory_limit, limit),
        ..default
    }
}

/// The data of several groups of files.
struct ReadGroups {
    sets: Vec<Dataset>,
    /// For each group, the numbers of its data sets.
    groups: Vec<Vec<usize>>,
    notes: Vec<String>,
}

/// Reads the files of all groups, each file once.
///
/// With `group`, the rows of a query may be in several files of one group, which are then read together.
fn read_groups(groups: &[&[PathBuf]], spec: &DataSpec) -> Result<ReadGroups> {
    let (mut units, mut numbers) = (Vec::<Vec<&Path>>::new(), Vec::new());
    for group in groups {
        let files: Vec<&Path> = group.iter().map(PathBuf::as_path).collect();
        let read_together = spec.group && files.len() > 1 && spec.splits.is_empty();
        let of_group =
            if read_together { vec![files] } else { files.into_iter().map(|file| vec![file]).collect() };
        let mut of_units = Vec::new();
        for unit in of_group {
            let number = units.iter().position(|known| *known == unit).unwrap_or(units.len());
            if number == units.len() {
                units.push(unit);
            }
            of_units.push(number);
        }
        numbers.push(of_units);
    }
    let options = read_options(spec);
    let (mut sets, mut notes) = (Vec::new(), Vec::<(String, Vec<&Path>)>::new());
    for unit in &units {
        let paths: Vec<PathBuf> = unit.iter().map(|path| path.to_path_buf()).collect();
        let loaded = read_all(&paths, &options)?;
        for note in loaded.notes {
            match notes.iter_mut().find(|(text, _)| *text == note) {
                Some((_, files)) => files.extend(unit),
                None => notes.push((note, unit.clone())),
            }
        }
        sets.push(loaded.data);
    }
    let notes = notes.iter().map(|(note, files)| noted(files, note)).collect();
    Ok(ReadGroups { sets, groups: numbers, notes })
}

/// A note of the reader with the names of the files it is about; their directories differ between machines.
fn noted(files: &[&Path], note: &str) -> String {
    let name = |file: &&Path| file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
    let mut names: Vec<String> = files.iter().take(4).map(name).collect();
    if files.len() > names.len() {
        names.push(format!("and {} more", files.len() - names.len()));
    }
    format!("{}: {note}", names.join(", "))
}

/// Rejects a query that is in two of train, valid and test of one fold, and one that is tested in two folds.
fn check_disjoint(splits: &[Split], folds: &[FoldSplits]) -> Result<()> {
    let ids = |split: usize| splits[split].data.parts().query_ids.iter();
    let mut tested: HashMap<&str, usize> = HashMap::new();
    for (fold, used) in folds.iter().enumerate() {
        let mut seen = HashSet::new();
        for id in used.train.iter().chain(&used.valid).chain(&used.test).flat_map(|&split| ids(split)) {
            if !seen.insert(id) {
                let fold = fold + 1;
                return Err(Error::data(format!(
                    "query `{id}` occurs twice in the train, valid and test files of fold {fold}"
                )));
            }
        }
        for id in used.test.iter().flat_map(|&split| ids(split)) {
            if let Some(other) = tested.insert(id, fold) {
                let (a, b) = (other + 1, fold + 1);
                return Err(Error::data(format!(
                    "query `{id}` is a test query of both fold {a} and fold {b}"
                )));
            }
        }
    }
    Ok(())
}

/// Sizes and labels of all splits; a query that occurs in several counts once.
fn summary(splits: &[Split], preparation: Vec<String>, notes: Vec<String>) -> DataSummary {
    let mut seen = HashSet::new();
    let (mut sizes, mut labels, mut without_relevant) = (Vec::new(), Vec::new(), 0);
    for query in splits.iter().flat_map(|split| split.data.queries()).filter(|q| seen.insert(q.id())) {
        sizes.push(query.len());
        without_relevant += usize::from(query.labels().iter().all(|&l| l < 1.0));
        labels.extend_from_slice(query.labels());
    }
    let (_, grades) = distribution(labels.into_iter());
    sizes.sort_unstable();
    let middle = |i: usize| sizes[i] as f64;
    DataSummary {
        queries: sizes.len(),
        documents: sizes.iter().sum(),
        features: splits.iter().map(|split| split.data.width()).max().unwrap_or(0),
        binned: grades.iter().any(|grade| grade.up_to.is_some()),
        grades: grades.into_iter().map(|grade| (grade.grade, grade.documents)).collect(),
        documents_per_query: (
            sizes[0],
            (middle((sizes.len() - 1) / 2) + middle(sizes.len() / 2)) / 2.0,
            sizes[sizes.len() - 1],
        ),
        queries_without_relevant: without_relevant,
        preparation,
        notes,
    }
}

/// A checksum of every file of a data set, for the manifest; empty for synthetic ones.
pub(super) fn checksums(spec: &DataSpec) -> Result<Vec<(PathBuf, String)>> {
    let folds = spec.folds.iter().flat_map(|f| [&f.train, &f.valid, &f.test]);
    let files =
        [&spec.splits, &spec.files, &spec.train, &spec.valid, &spec.test].into_iter().chain(folds).flatten();
    let mut sums: Vec<(PathBuf, String)> = Vec::new();
    for path in files {
        if !sums.iter().any(|(p, _)| p == path) {
            sums.push((path.clone(), checksum(path)?));
        }
    }
    Ok(sums)
}

fn checksum(path: &PathBuf) -> Result<String> {
    let refused = |e| Error::io("read", path, e);
    let mut file = std::fs::File::open(path).map_err(refused)?;
    let (mut hash, mut buffer) = (xxhash_rust::xxh3::Xxh3::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer).map_err(refused)? {
            0 => return Ok(format!("xxh3:{:016x}", hash.digest())),
            n => hash.update(&buffer[..n]),
        }
    }
}
