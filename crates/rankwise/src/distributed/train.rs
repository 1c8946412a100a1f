//! The program that the driver and every worker run: from files to a model.

use super::plan::{self, Plan, Verdict};
use super::sources::{Kept, Readers, Source, changed, scan};
use super::trained::Trained;
use crate::data::{Dataset, Features, Format, Shard, code_of, read_part, shared_queries_note};
use crate::error::{Error, Result};
use crate::exchange::{self, Exchange};
use crate::learners::boosting::Checkpoint;
use crate::metrics::mean_of_all;
use crate::recipe::{Recipe, Start, Trainer, TrainingTime, WrittenRecipe};
use crate::watch::Watch;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::panic::Location;
use std::sync::Arc;

/// What is to be trained, from which files, by how many workers.
///
/// ```
/// use rankwise::Recipe;
/// use rankwise::distributed::{Source, TrainJob};
/// let recipe = Recipe::new("lambda-mart").set("iterations", 100).seed(7);
/// let job = TrainJob::new(&recipe, Source::new(["a.parquet", "b.parquet"]), None, 2)?;
/// assert_eq!(TrainJob::from_json(&job.to_json())?, job);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainJob {
    recipe: WrittenRecipe,
    /// The training data.
    pub train: Source,
    /// Validation data for early stopping and model selection.
    pub valid: Option<Source>,
    /// The number of workers.
    pub workers: usize,
    /// The number of threads of each worker; as many as it has cores if `None`.
    pub threads: Option<usize>,
}

impl TrainJob {
    /// Fails if the recipe is not made of names and values, or has no number of workers.
    pub fn new(recipe: &Recipe, train: Source, valid: Option<Source>, workers: usize) -> Result<TrainJob> {
        if workers == 0 {
            return Err(Error::parameter("training needs at least 1 worker"));
        }
        Ok(TrainJob { recipe: recipe.written()?, train, valid, workers, threads: None })
    }

    /// The job as text.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a job is plain data")
    }

    /// The job that [`to_json`](TrainJob::to_json) wrote.
    pub fn from_json(text: &str) -> Result<TrainJob> {
        serde_json::from_str(text)
            .map_err(|error| Error::malformed(format!("this is not a training job: {error}")))
    }

    /// What to know before a training whose workers have to read the same files.
    pub fn forecast(&self) -> Option<String> {
        let (files, workers) = (self.train.files.len(), self.workers);
        let count = if files == 1 { "1 file".into() } else { format!("{files} files") };
        (files < workers).then(|| {
            format!(
                "the training data is {count} for {workers} workers, and a worker holds a whole file in memory while it \
                 reads it; divide large data into at least {workers} files"
            )
        })
    }

    /// Checks all that can be checked without the data.
    pub(crate) fn check(&self) -> Result<Trainer> {
        let trainer = self.recipe.read()?.check()?;
        trainer.check_distributes()?;
        self.sources().iter().try_for_each(|source| source.format().map(drop))?;
        Ok(trainer)
    }

    fn sources(&self) -> Vec<&Source> {
        std::iter::once(&self.train).chain(&self.valid).collect()
    }
}

/// Trains: the same model for the driver and for every worker. What is wrong with the data is the same error for all.
/// `note` gets what the user should know before it begins, a sentence each.
pub(super) fn train(
    job: &TrainJob,
    checkpoint: Option<&Checkpoint>,
    exchange: Arc<dyn Exchange>,
    watch: &mut dyn Watch,
    note: &dyn Fn(&str),
) -> Result<Trained> {
    let trainer = job.check()?;
    let (data, mut notes) = load(job, &trainer, &exchange)?;
    let mut data = data.into_iter();
    let (train, valid) = (data.next().expect("there is training data"), data.next());
    notes.extend(valid.as_ref().and_then(|valid| shared_note(&train, valid, &*exchange)));
    notes.extend(forecast(&trainer, &train, &*exchange));
    notes.iter().for_each(|sentence| note(sentence));
    let start = Start { ranker: None, checkpoint };
    let ranker = trainer.fit_prepared(&train, valid.as_ref(), start, watch)?;
    let mean = |data: &Dataset| mean_of_all(data, &ranker.model.scores(data)?, trainer.metric());
    let (train, valid) = (mean(&train)?, valid.as_ref().map(mean).transpose()?.flatten());
    Ok(Trained { ranker, train, valid })
}

/// A note on validation queries that are also training queries.
fn shared_note(train: &Dataset, valid: &Dataset, exchange: &dyn Exchange) -> Option<String> {
    let own = || [train, valid].map(Dataset::query_fingerprints);
    let (shared, all) = exchange::ask(exchange, Location::caller(), own, |sets: Vec<[Vec<u64>; 2]>| {
        let known: HashSet<u64> = sets.iter().flat_map(|[train, _]| train).copied().collect();
        let valid = || sets.iter().flat_map(|[_, valid]| valid);
        (valid().filter(|query| known.contains(query)).count(), valid().count())
    });
    shared_queries_note(shared, all)
}

/// A sentence if training may take very long for the worker that has most to do.
fn forecast(trainer: &Trainer, train: &Dataset, exchange: &dyn Exchange) -> Option<String> {
    // What is wrong with the data is found by the training, which has the same error for all.
    let time = trainer.time(train).ok();
    let longest = |times: Vec<Option<TrainingTime>>| {
        let longest = times.into_iter().flatten().max_by(|a, b| a.seconds.total_cmp(&b.seconds))?;
        trainer.forecast_of(&longest)
    };
    exchange::ask(exchange, Location::caller(), || time, longest)
}

/// The training and validation queries of this worker, none for the driver, and what the user should know about the files.
fn load(
    job: &TrainJob,
    trainer: &Trainer,
    exchange: &Arc<dyn Exchange>,
) -> Result<(Vec<Dataset>, Vec<String>)> {
    let sources = job.sources();
    let formats = sources.iter().map(|source| source.format()).collect::<Result<Vec<_>>>()?;
    let typed: Vec<(&Source, Format)> = sources.iter().copied().zip(formats).collect();
    let mut kept = Kept::new();
    let (plans, notes) = plan(&typed, &**exchange, &mut kept)?;
    let worker = exchange.worker();
    let load = |kept: &mut Kept| {
        let sets = plans.iter().enumerate().map(|(number, plan)| {
            let data = match worker {
                Some(worker) => collected((number, typed[number]), plan, worker, kept)?,
                None => plan.assembly.collect(std::iter::empty(), |_| {})?,
            };
            trainer.prepare(data)
        });
        sets.collect::<Result<Vec<Dataset>>>()
    };
    let mut loaded = None;
    let own = || {
        let (outcome, sets) = match load(&mut kept) {
            Ok(sets) => (Ok(()), Some(sets)),
            Err(error) => (Err(error), None),
        };
        loaded = sets;
        outcome
    };
    let decide = |outcomes: Vec<Result<()>>| outcomes.into_iter().collect::<Result<()>>();
    exchange::ask(&**exchange, Location::caller(), own, decide)?;
    // The driver contributes nothing, nor does a worker in the place of one that was lost.
    let sets = loaded.map_or_else(|| load(&mut Kept::new()), Ok)?;
    let shard = |(data, plan): (Dataset, &Plan)| {
        let width = data.width();
        data.with_shard(Shard::new(&plan.bounds(), width, plan.own_pieces(worker), exchange.clone()))
    };
    Ok((sets.into_iter().zip(&plans).map(shard).collect(), notes))
}

/// Reads all files, each by one worker, and lets the driver decide who gets which queries.
fn plan(
    sources: &[(&Source, Format)],
    exchange: &dyn Exchange,
    kept: &mut Kept,
) -> Result<(Vec<Plan>, Vec<String>)> {
    let files: Vec<&Source> = sources.iter().map(|(source, _)| *source).collect();
    let readers = Readers::agree(&files, exchange);
    let own = || exchange.worker().map_or_else(Vec::new, |worker| scan(sources, &readers, worker, kept));
    let verdict = exchange::ask(exchange, Location::caller(), own, |scanned| plan::decide(&files, scanned));
    match verdict {
        Verdict::Load { plans, notes } => Ok((plans, notes)),
        Verdict::Refuse(error) => Err(error),
        Verdict::Between { source, files: numbers } => {
            let first = exchange.worker() == Some(0);
            let own = || first.then(|| files[source].error_between(&numbers));
            let decide = |errors: Vec<Option<Error>>| errors.into_iter().flatten().next();
            let error = exchange::ask(exchange, Location::caller(), own, decide);
            Err(error.unwrap_or_else(|| changed(&files[source].files[numbers[0]].display().to_string())))
        }
    }
}

/// The queries of a worker: from the files that it keeps, and from others, which it reads.
fn collected(
    (number, (source, format)): (usize, (&Source, Format)),
    plan: &Plan,
    worker: usize,
    kept: &mut Kept,
) -> Result<Dataset> {
    let takes = &plan.takes[worker];
    let needed: BTreeSet<usize> = takes.iter().map(|take| take.file).collect();
    kept.retain(|&(of, file), _| of != number || needed.contains(&file));
    let mut parts = BTreeMap::new();
    for file in needed {
        let path = &source.files[file];
        let data = match kept.remove(&(number, file)) {
            Some(data) => data,
            None => read_part(path, format, &source.options)?.data,
        };
        if (data.query_count(), data.len()) != plan.files[file] {
            return Err(changed(&path.display().to_string()));
        }
        let mut queries: Vec<usize> = takes
            .iter()
            .filter(|take| take.file == file)
            .flat_map(|take| take.first..take.first + take.count)
            .collect();
        queries.sort_unstable();
        // A file of which little is needed is not kept in memory as a whole.
        let data = if queries.len() < data.query_count() { data.select_queries(&queries) } else { data };
        parts.insert(file, (in_common_codes(data, plan)?, queries));
    }
    let queries = takes.iter().flat_map(|take| {
        let (data, numbers) = &parts[&take.file];
        let first = numbers.partition_point(|&query| query < take.first);
        (first..first + take.count).map(|query| data.query(query))
    });
    plan.assembly.collect(queries, |features| {
        if format == Format::Letor {
            code_numbers(features, plan);
        }
    })
}

/// The categories of a table's file, which are numbered as they come in it, with their final codes.
fn in_common_codes(data: Dataset, plan: &Plan) -> Result<Dataset> {
    if !data.has_categories() {
        return Ok(data);
    }
    let mut parts = data.into_parts();
    let own = std::mem::take(&mut parts.columns.categories);
    let shift = (parts.columns.first_id - plan.assembly.first_id) as usize;
    for column in own.columns() {
        let codes = codes_of(plan, column + shift);
        let new: Vec<f32> = own
            .texts(column)
            .unwrap_or_default()
            .iter()
            .map(|text| codes.get(text.as_str()).map_or(f32::NAN, |code| *code as f32))
            .collect();
        parts.features.change_column(column, |x| if x.is_nan() { x } else { new[x as usize] });
    }
    Dataset::new(parts)
}

/// The categories of LETOR text, which are numbers, with their final codes.
fn code_numbers(features: &mut Features, plan: &Plan) {
    for (column, codes) in &plan.codes {
        let is_own = |(text, code): &(String, u32)| *text == code.to_string();
        if codes.iter().all(is_own) {
            continue;
        }
        let codes = codes_of(plan, *column);
        let new = |x: f32| codes.get(code_of(x)?.to_string().as_str()).map(|code| *code as f32);
        features.change_column(*column, |x| new(x).unwrap_or(x));
    }
}

fn codes_of(plan: &Plan, column: usize) -> HashMap<&str, u32> {
    let codes = plan.codes.iter().filter(|(of, _)| *of == column).flat_map(|(_, codes)| codes);
    codes.map(|(text, code)| (text.as_str(), *code)).collect()
}

#[cfg(test)]
mod tests;
