//! The data of an experiment: read, cleaned, scaled, and divided into folds.

use super::findings::DataSummary;
use super::spec::{DataSpec, FoldSpec, SynthSpec};
use crate::data::{
    Cleaner, ColumnRoles, Dataset, Folds, Normalizer, ReadOptions, SplitOrder, Synth, SyntheticShape,
    read_all, rotation,
};
use crate::error::{Error, Result};
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::PathBuf;

/// One data set, ready to be learned from fold by fold.
pub(super) struct Material {
    pub(super) name: String,
    pub(super) summary: DataSummary,
    parts: Vec<Dataset>,
    uses: Vec<Use>,
}

/// Which parts a fold uses, by number.
struct Use {
    train: Vec<usize>,
    valid: Option<usize>,
    test: usize,
}

/// One fold's data. Without validation queries `valid` is `None`, and no parameter can be chosen.
pub(super) struct FoldData {
    pub(super) train: Dataset,
    pub(super) valid: Option<Dataset>,
    pub(super) test: Dataset,
}

impl Material {
    /// Reads, cleans, scales and divides.
    pub(super) fn load(spec: &DataSpec, seed: u64) -> Result<Material> {
        let within = |e: Error| Error::data(format!("data set `{}`: {e}", spec.name));
        let (mut parts, uses) = divided(spec, seed).map_err(within)?;
        let mut preparation = Vec::new();
        if let Some(text) = &spec.clean {
            let cleaner = Cleaner::parse(text)?;
            let mut dropped = 0;
            for part in &mut parts {
                let (cleaned, report) = cleaner.clean(part.clone()).map_err(within)?;
                dropped += report.documents_before - report.documents_after;
                *part = cleaned;
            }
            preparation.push(format!("cleaned by {cleaner}: {dropped} documents went"));
        }
        if let Some(text) = &spec.normalize {
            let normalizer = Normalizer::parse(text)?;
            parts = parts.into_iter().map(|p| normalizer.apply(p)).collect::<Result<_>>().map_err(within)?;
            preparation.push(format!("scaled within each query by {normalizer}"));
        }
        if parts.iter().any(|p| p.parts().query_weights.is_some()) {
            preparation.push("query weights count in training and choosing, not in the means shown".into());
        }
        let parts = alike(parts).map_err(within)?;
        check_apart(&parts, &uses).map_err(within)?;
        let summary = summary(&parts, preparation);
        Ok(Material { name: spec.name.clone(), summary, parts, uses })
    }

    /// Number of folds.
    pub(super) fn folds(&self) -> usize {
        self.uses.len()
    }

    /// The test queries of a fold.
    pub(super) fn test(&self, fold: usize) -> &Dataset {
        &self.parts[self.uses[fold].test]
    }

    /// The data of a fold, put together.
    pub(super) fn fold(&self, fold: usize) -> Result<FoldData> {
        let uses = &self.uses[fold];
        let train: Vec<&Dataset> = uses.train.iter().map(|&p| &self.parts[p]).collect();
        Ok(FoldData {
            train: Dataset::concat(&train)?,
            valid: uses.valid.map(|p| self.parts[p].clone()),
            test: self.parts[uses.test].clone(),
        })
    }

    /// Whether every fold has validation queries.
    pub(super) fn can_choose(&self) -> bool {
        self.uses.iter().all(|u| u.valid.is_some())
    }
}

fn divided(spec: &DataSpec, seed: u64) -> Result<(Vec<Dataset>, Vec<Use>)> {
    if !spec.parts.is_empty() {
        let parts = read_alike(spec.parts.iter().map(std::slice::from_ref), spec)?;
        return rotated(parts);
    }
    if spec.folds.is_empty() && spec.train.is_empty() {
        let whole = match &spec.synth {
            Some(synth) => made(synth)?,
            None => read_alike([&spec.files[..]].into_iter(), spec)?.remove(0),
        };
        let k = spec.k.unwrap_or(5);
        let folds = Folds::new(whole.query_count(), k, SplitOrder::Shuffled(seed))?;
        return rotated(folds.subsets().iter().map(|queries| whole.select_queries(queries)).collect());
    }
    let one = FoldSpec { train: spec.train.clone(), valid: spec.valid.clone(), test: spec.test.clone() };
    let folds = if spec.folds.is_empty() { vec![one] } else { spec.folds.clone() };
    let groups =
        folds.iter().flat_map(|f| [&f.train[..], &f.valid[..], &f.test[..]]).filter(|g| !g.is_empty());
    let parts = read_alike(groups, spec)?;
    let mut next = 0..;
    let mut number = || next.next().unwrap_or_default();
    let uses = folds
        .iter()
        .map(|f| Use {
            train: vec![number()],
            valid: (!f.valid.is_empty()).then(&mut number),
            test: number(),
        })
        .collect();
    Ok((parts, uses))
}

fn rotated(parts: Vec<Dataset>) -> Result<(Vec<Dataset>, Vec<Use>)> {
    let uses = (0..parts.len())
        .map(|f| rotation(parts.len(), f).map(|r| Use { train: r.train, valid: Some(r.valid), test: r.test }))
        .collect::<Result<_>>()?;
    Ok((parts, uses))
}

fn made(synth: &SynthSpec) -> Result<Dataset> {
    let &SynthSpec { queries, documents, features, seed, .. } = synth;
    Synth { queries, documents, features, seed, ..Synth::new(SyntheticShape::named(&synth.shape)?) }
        .generate()
}

/// Reads groups of files, each as one data set. Features that count from 0 in one group do so in all.
fn read_alike<'a>(groups: impl Iterator<Item = &'a [PathBuf]>, spec: &DataSpec) -> Result<Vec<Dataset>> {
    let groups: Vec<&[PathBuf]> = groups.collect();
    let mut options = ReadOptions {
        group: spec.group,
        first_id: spec.first_id,
        // Named, so that no column is guessed: the notes that report a guess are not kept here.
        columns: ColumnRoles {
            label: Some(spec.label.clone().unwrap_or_else(|| "label".to_owned())),
            query: Some(spec.qid.clone().unwrap_or_else(|| "qid".to_owned())),
            ..ColumnRoles::default()
        },
        ..ReadOptions::default()
    };
    let read = |options: &ReadOptions| -> Result<Vec<Dataset>> {
        groups.iter().map(|paths| Ok(read_all(paths, options)?.data)).collect()
    };
    let sets = read(&options)?;
    if sets.iter().all(|s| s.columns().first_id == sets[0].columns().first_id) {
        return Ok(sets);
    }
    options.first_id = Some(0);
    read(&options)
}

/// The parts with the same columns, as many as the widest has.
fn alike(parts: Vec<Dataset>) -> Result<Vec<Dataset>> {
    if parts.iter().any(|p| p.columns() != parts[0].columns()) {
        return Err(Error::data("its files do not have the same feature columns in the same order"));
    }
    let width = parts.iter().map(Dataset::width).max().unwrap_or(0);
    parts.into_iter().map(|p| p.widened(width)).collect()
}

/// Refuses a query that is learned from or chosen on and tested on, and one that is tested on twice.
fn check_apart(parts: &[Dataset], uses: &[Use]) -> Result<()> {
    let ids = |part: usize| parts[part].parts().query_ids.iter();
    let mut tested: HashMap<&str, usize> = HashMap::new();
    for (fold, uses) in uses.iter().enumerate() {
        let mut seen = HashSet::new();
        for id in uses.train.iter().chain(&uses.valid).chain([&uses.test]).flat_map(|&p| ids(p)) {
            if !seen.insert(id) {
                let fold = fold + 1;
                return Err(Error::data(format!(
                    "query `{id}` is in two of train, valid and test in fold {fold}"
                )));
            }
        }
        for id in ids(uses.test) {
            if let Some(other) = tested.insert(id, fold) {
                let (a, b) = (other + 1, fold + 1);
                return Err(Error::data(format!(
                    "query `{id}` is tested on in fold {a} and again in fold {b}"
                )));
            }
        }
    }
    Ok(())
}

/// What is in the parts, a query that is in several counted once.
fn summary(parts: &[Dataset], preparation: Vec<String>) -> DataSummary {
    let mut seen = HashSet::new();
    let (mut sizes, mut grades, mut without_relevant) = (Vec::new(), Vec::<(f32, usize)>::new(), 0);
    for query in parts.iter().flat_map(Dataset::queries).filter(|q| seen.insert(q.id())) {
        sizes.push(query.len());
        without_relevant += usize::from(query.labels().iter().all(|&l| l < 1.0));
        for &label in query.labels() {
            match grades.iter_mut().find(|(g, _)| *g == label) {
                Some((_, n)) => *n += 1,
                None => grades.push((label, 1)),
            }
        }
    }
    grades.sort_by(|a, b| a.0.total_cmp(&b.0));
    sizes.sort_unstable();
    let middle = |i: usize| sizes[i] as f64;
    DataSummary {
        queries: sizes.len(),
        documents: sizes.iter().sum(),
        features: parts.iter().map(Dataset::width).max().unwrap_or(0),
        grades,
        documents_per_query: (
            sizes[0],
            (middle((sizes.len() - 1) / 2) + middle(sizes.len() / 2)) / 2.0,
            sizes[sizes.len() - 1],
        ),
        queries_without_relevant: without_relevant,
        preparation,
    }
}

/// A checksum of every file of a data set, for the manifest; empty for synthetic ones.
pub(super) fn checksums(spec: &DataSpec) -> Result<Vec<(PathBuf, String)>> {
    let folds = spec.folds.iter().flat_map(|f| [&f.train, &f.valid, &f.test]);
    let files =
        [&spec.parts, &spec.files, &spec.train, &spec.valid, &spec.test].into_iter().chain(folds).flatten();
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
