//! Running the jobs of an experiment as tasks of an engine: other processes of this machine, Ray, Dask, or anything else
//! that calls a function with a text elsewhere and brings back another text.
//!
//! ```text
//! here                                          elsewhere, any number of times at once
//! Experiment::run_on                            run_task(text) -> text
//!   submits every job that is ready       ->      reads and prepares the data set of the job, once per process,
//!   writes what comes back to the journal <-      trains and evaluates
//! ```
//!
//! Tasks end in any order. A task may get lost with its process and is then submitted again. The results of a job depend
//! on the experiment and its data alone, and they are put together in the order of the experiment. So the findings are the
//! same bytes as those of [`Experiment::run`], and a run that was killed continues with any engine or without one.
//!
//! Every ready job of all folds is submitted at once, unless the experiment asks for one at a time.

use super::findings::{Findings, Times};
use super::journal::{JobResult, TrialResult};
use super::plan::{Job, JobKind, JobPlace, Plan};
use super::prepared::{PreparedData, checksums};
use super::results::{DataResults, FoldResults, RunResults, SystemRun};
use super::run::{Experiment, Observer, Performed, RunInProgress, RunOptions, stopped};
use super::search::{Choice, SearchInProgress};
use super::spec::Spec;
use crate::distributed::Greeting;
use crate::error::{Error, ErrorKind, Result};
use crate::watch::Stop;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How often a task may be lost before the run ends.
const ATTEMPTS: usize = 3;

/// How long to wait for a task before looking whether the run is to stop.
const WAIT: Duration = Duration::from_millis(100);

/// Calls [`run_task`] elsewhere.
pub trait TaskEngine {
    /// Hands over a task. It need not start at once. `name` is that of its job, for messages.
    fn submit(&mut self, number: usize, name: &str, task: &str) -> Result<()>;

    /// The next task that ended, in any order; none if none ends within `limit`. A task that was reported before, or that
    /// was never submitted, is ignored.
    ///
    /// A run asks for as long as tasks are open, since a job may take days. It is the engine that knows of no process that
    /// could run them, and then returns an error, which ends the run.
    fn next(&mut self, limit: Duration) -> Result<Option<TaskEnd>>;
}

/// A task that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskEnd {
    /// The number that it was submitted with.
    pub number: usize,
    /// The answer of [`run_task`], or why there is none: its error, or what is known of the process that was lost.
    pub answer: std::result::Result<String, String>,
}

/// Everything that a job needs.
#[derive(Debug, Serialize, Deserialize)]
struct Task {
    /// The build of the driver.
    program: String,
    /// How the driver's machine computes.
    machine: Greeting,
    /// The experiment file, with absolute paths.
    experiment: String,
    /// The checksums of the files of the job's data set.
    checksums: Vec<String>,
    job: Job,
    keep_model: bool,
}

/// What became of a job.
#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    /// The job's name: an answer to another task is refused.
    job: String,
    outcome: Outcome,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Outcome {
    /// It finished; with the text of the model's file, where models are kept.
    Finished { result: JobResult, model: Option<String> },
    /// It failed, and would fail everywhere.
    Failed { kind: FailureKind, message: String },
}

/// The kinds of error that a job itself can end with.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FailureKind {
    Parse,
    Parameter,
    Data,
    Model,
}

impl FailureKind {
    /// The kind of an error of the job; none for errors of the process that ran it.
    fn of(error: &Error) -> Option<FailureKind> {
        match error.kind() {
            ErrorKind::Io | ErrorKind::ReaderGone | ErrorKind::Interrupted => None,
            ErrorKind::Parse => Some(FailureKind::Parse),
            ErrorKind::Parameter => Some(FailureKind::Parameter),
            ErrorKind::Data => Some(FailureKind::Data),
            ErrorKind::Model => Some(FailureKind::Model),
        }
    }

    fn error(self, message: String) -> Error {
        match self {
            FailureKind::Parse => Error::malformed(message),
            FailureKind::Parameter => Error::parameter(message),
            FailureKind::Data => Error::data(message),
            FailureKind::Model => Error::model(message),
        }
    }
}

/// Runs the job of a task in this process, on the current thread pool, and returns what [`Experiment::run_on`] takes.
/// `program` names the build of this process as [`Experiment::load`] was given that of the driver.
///
/// The data set of the job is read and prepared once per process, and kept until a task of another experiment comes. A job
/// that fails is an answer too. An error means that this process cannot run it: its build, its machine or its files differ
/// from the driver's, or it was asked to stop.
pub fn run_task(task: &str, program: &str, stop: &Stop) -> Result<String> {
    let task: Task = serde_json::from_str(task)
        .map_err(|e| Error::malformed(format!("this is no task of an experiment: {e}")))?;
    if task.program != program {
        return Err(Error::data(format!(
            "this process runs the build `{program}`, and the driver runs `{}`; install the same on all machines",
            task.program
        )));
    }
    if let Some(function) = task.machine.difference(&Greeting::own()) {
        return Err(Error::data(format!(
            "this machine computes {function} differently from the driver's, so the findings would depend on who \
             computes what; use machines with the same C library and the same family of processors"
        )));
    }
    let prepared = Prepared::of(&task)?;
    let Prepared { plan, data, .. } = &*prepared;
    let job = plan.job_name(&task.job);
    let outcome = match plan.perform(&task.job, data, &data.fold(task.job.at.fold)?, stop) {
        Ok((result, ranker)) => {
            let bytes = ranker.filter(|_| task.keep_model).map(|ranker| ranker.to_bytes());
            let model = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            Outcome::Finished { result, model }
        }
        Err(error) => match FailureKind::of(&error) {
            Some(kind) => Outcome::Failed { kind, message: error.to_string() },
            None => return Err(error),
        },
    };
    text(&Answer { job, outcome })
}

fn text(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|e| Error::data(format!("a job cannot be sent: {e}")))
}

/// A data set in the memory of a process that runs tasks, and what is done with it.
struct Prepared {
    experiment: String,
    checksums: Vec<String>,
    number: usize,
    plan: Plan,
    data: PreparedData,
}

impl Prepared {
    /// The data set of a task. It is read by the first task that needs it; others wait for that.
    fn of(task: &Task) -> Result<Arc<Prepared>> {
        static PREPARED: Mutex<Vec<Arc<Prepared>>> = Mutex::new(Vec::new());
        let mut kept = PREPARED.lock().unwrap_or_else(|e| e.into_inner());
        kept.retain(|prepared| prepared.experiment == task.experiment);
        let number = task.job.at.data;
        let is_its_data = |p: &&Arc<Prepared>| p.number == number && p.checksums == task.checksums;
        if let Some(prepared) = kept.iter().find(is_its_data) {
            return Ok(prepared.clone());
        }
        kept.retain(|prepared| prepared.number != number);
        let prepared = Arc::new(Prepared::load(task)?);
        kept.push(prepared.clone());
        Ok(prepared)
    }

    fn load(task: &Task) -> Result<Prepared> {
        let plan = Plan::new(Spec::parse(&task.experiment, "the experiment")?)?;
        let number = task.job.at.data;
        let spec = plan
            .spec
            .data
            .get(number)
            .ok_or_else(|| Error::malformed(format!("the experiment has no data set number {number}")))?;
        let files = checksums(spec)?;
        let differs = files.iter().zip(&task.checksums).find(|((_, own), drivers)| own != *drivers);
        if let Some(((path, _), _)) = differs {
            return Err(Error::data(format!(
                "{} differs from the file that the driver has read; all machines need the same files",
                path.display()
            )));
        }
        let data = PreparedData::load(spec, plan.spec.seed)?;
        let (experiment, checksums) = (task.experiment.clone(), task.checksums.clone());
        Ok(Prepared { experiment, checksums, number, plan, data })
    }
}

impl Experiment {
    /// Like [`run`](Experiment::run), with every job as a task of `engine`.
    ///
    /// A task that is lost is submitted again; the third loss ends the run with an error that names the job. After an
    /// error or a request to stop, tasks may be open still: the engine is to drop them.
    pub fn run_on(
        &self,
        engine: &mut dyn TaskEngine,
        options: &RunOptions<'_>,
        observer: &Observer<'_>,
    ) -> Result<(Findings, Times)> {
        let run = self.start(options, observer)?;
        let mut tasks = Tasks::new(&run, engine)?;
        tasks.run()?;
        let results = tasks.results();
        self.assemble(&results)
    }
}

/// One learner on one fold in one repeat.
struct SystemInProgress<'a> {
    at: JobPlace,
    stage: Stage<'a>,
}

enum Stage<'a> {
    /// A round of the search, with the results so far.
    Search { search: SearchInProgress<'a>, results: Vec<Option<Result<TrialResult>>> },
    /// The test of the chosen setting.
    Test(Choice),
    /// The end.
    Done(Result<Box<SystemRun>>),
}

/// A job that is ready or was submitted.
struct OpenJob {
    job: Job,
    /// Whose job it is.
    system: usize,
    /// Its place in the round of its system.
    place: usize,
    /// How often its task was lost.
    losses: usize,
}

/// All jobs of a run, as tasks.
struct Tasks<'a> {
    run: &'a RunInProgress<'a>,
    engine: &'a mut dyn TaskEngine,
    experiment: String,
    systems: Vec<SystemInProgress<'a>>,
    ready: VecDeque<OpenJob>,
    /// Tasks by number.
    submitted: HashMap<usize, OpenJob>,
    /// The number of the next task.
    number: usize,
}

impl<'a> Tasks<'a> {
    fn new(run: &'a RunInProgress<'a>, engine: &'a mut dyn TaskEngine) -> Result<Tasks<'a>> {
        let Experiment { plan, data, .. } = run.experiment;
        let folds =
            data.iter().enumerate().flat_map(|(d, data)| (0..data.folds()).map(move |fold| (d, fold)));
        let places = folds.flat_map(|(data, fold)| run.places(data, fold));
        let systems = places.map(|at| SystemInProgress { at, stage: Stage::first(plan, at) }).collect();
        let experiment = plan.spec.self_contained()?;
        let (ready, submitted) = (VecDeque::new(), HashMap::new());
        Ok(Tasks { run, engine, experiment, systems, ready, submitted, number: 0 })
    }

    fn run(&mut self) -> Result<()> {
        (0..self.systems.len()).try_for_each(|system| self.open_jobs(system))?;
        loop {
            if self.run.observer.stop.requested() {
                return Err(stopped());
            }
            self.submit_ready()?;
            if self.submitted.is_empty() {
                return Ok(());
            }
            if let Some(end) = self.engine.next(WAIT)? {
                self.ended(end)?;
            }
        }
    }

    /// Makes the jobs of a system's stage ready, or takes their results from the journal.
    fn open_jobs(&mut self, system: usize) -> Result<()> {
        let jobs = self.systems[system].jobs();
        for (place, job) in jobs.into_iter().enumerate() {
            let open = OpenJob { job, system, place, losses: 0 };
            match self.run.finished_before(&job).transpose() {
                None => self.ready.push_back(open),
                Some(result) => self.take(&open, result)?,
            }
        }
        Ok(())
    }

    fn submit_ready(&mut self) -> Result<()> {
        let Plan { spec, .. } = &self.run.experiment.plan;
        let limit = if spec.one_at_a_time { 1 } else { usize::MAX };
        while self.submitted.len() < limit
            && let Some(open) = self.ready.pop_front()
        {
            let task = self.task(&open.job)?;
            let name = self.run.experiment.plan.job_name(&open.job);
            self.engine.submit(self.number, &name, &task)?;
            self.submitted.insert(self.number, open);
            self.number += 1;
        }
        Ok(())
    }

    fn task(&self, job: &Job) -> Result<String> {
        let experiment = self.run.experiment;
        text(&Task {
            program: experiment.manifest().program.clone(),
            machine: Greeting::own(),
            experiment: self.experiment.clone(),
            checksums: experiment.checksums(job.at.data).to_vec(),
            job: *job,
            keep_model: self.run.keeps_models() && job.kind == JobKind::Test,
        })
    }

    fn ended(&mut self, end: TaskEnd) -> Result<()> {
        let Some(open) = self.submitted.remove(&end.number) else { return Ok(()) };
        match end.answer.and_then(|answer| self.outcome(&open.job, &answer)) {
            Ok(performed) => {
                let result = self.run.finish(&open.job, performed);
                self.take(&open, result)
            }
            Err(reason) => self.lost(open, reason),
        }
    }

    /// What an answer says of a job; an error, in words, where it is no answer to it.
    fn outcome(&self, job: &Job, answer: &str) -> std::result::Result<Result<Performed>, String> {
        let Answer { job: name, outcome } =
            serde_json::from_str(answer).map_err(|e| format!("its answer is damaged: {e}"))?;
        if name != self.run.experiment.plan.job_name(job) {
            return Err(format!("the answer of another job came back: {name}"));
        }
        let (result, model) = match outcome {
            Outcome::Failed { kind, message } => return Ok(Err(kind.error(message))),
            Outcome::Finished { result, model } => (result, model),
        };
        let values = self.run.valid_values(job);
        match (&result, job.kind) {
            (JobResult::Trial(tried), JobKind::Trial { .. }) => values.check_selection(tried.valid)?,
            (JobResult::Test(tested), JobKind::Test) => values.check_test(tested)?,
            _ => return Err("its answer is that of another kind of job".into()),
        }
        if self.run.keeps_models() && job.kind == JobKind::Test && model.is_none() {
            return Err("its answer has no model".into());
        }
        Ok(Ok(Performed { result, model: model.map(String::into_bytes) }))
    }

    fn lost(&mut self, mut open: OpenJob, reason: String) -> Result<()> {
        open.losses += 1;
        if open.losses < ATTEMPTS {
            self.ready.push_front(open);
            return Ok(());
        }
        let name = self.run.experiment.plan.job_name(&open.job);
        let reason = format!(
            "its task was lost {ATTEMPTS} times, the last time because of this: {reason}. Finished jobs are in the \
             journal, and the same command continues from there"
        );
        Err(Error::io("run the job", name, io::Error::other(reason)))
    }

    /// Takes the result of a job. The last one of a stage opens the jobs of the next.
    fn take(&mut self, open: &OpenJob, result: Result<JobResult>) -> Result<()> {
        let run = self.run;
        let SystemInProgress { at, stage } = &mut self.systems[open.system];
        // A result that cannot be written to the journal, or read from it, ends the run.
        if let Err(error) = &result
            && error.kind() == ErrorKind::Io
        {
            return result.map(|_| ());
        }
        if let Stage::Search { results, .. } = stage {
            results[open.place] = Some(result.and_then(JobResult::trial));
            if results.iter().any(Option::is_none) {
                return Ok(());
            }
            stage.next_round();
        } else if let Stage::Test(choice) = std::mem::replace(stage, Stage::Done(Err(stopped()))) {
            let tested = result.and_then(JobResult::test);
            *stage = Stage::Done(tested.map(|tested| Box::new(run.system_run(*at, choice, tested))));
        }
        self.open_jobs(open.system)
    }

    /// The results of all systems, in the order of the experiment.
    fn results(self) -> RunResults {
        let Experiment { plan, data, .. } = self.run.experiment;
        let per_fold = plan.systems.len() * plan.spec.repeats;
        let mut runs = self.systems.into_iter().map(|system| match system.stage {
            Stage::Done(run) => run.map(|run| *run),
            _ => Err(stopped()),
        });
        let mut fold = || FoldResults::new(plan.spec.repeats, runs.by_ref().take(per_fold).collect());
        let data = data.iter().map(|data| DataResults { folds: (0..data.folds()).map(|_| fold()).collect() });
        RunResults { data: data.collect() }
    }
}

impl SystemInProgress<'_> {
    /// The jobs of its stage.
    fn jobs(&self) -> Vec<Job> {
        let at = self.at;
        match &self.stage {
            Stage::Search { search, .. } => {
                let (settings, fraction) = search.round().unwrap_or((&[], 1.0));
                let job = |&setting: &usize| Job { at, setting, kind: JobKind::Trial { fraction } };
                settings.iter().map(job).collect()
            }
            Stage::Test(choice) => vec![Job { at, setting: choice.winner, kind: JobKind::Test }],
            Stage::Done(_) => Vec::new(),
        }
    }
}

impl<'a> Stage<'a> {
    /// A search, or the test of the only setting.
    fn first(plan: &'a Plan, at: JobPlace) -> Stage<'a> {
        let system = &plan.systems[at.system];
        match system.is_searched() {
            true => Stage::of(SearchInProgress::new(&system.candidates)),
            false => Stage::Test(Choice::only()),
        }
    }

    /// The next round of a search, or the test of what it chose.
    fn of(search: SearchInProgress<'a>) -> Stage<'a> {
        match search.round().map(|(settings, _)| settings.len()) {
            Some(count) => Stage::Search { search, results: (0..count).map(|_| None).collect() },
            None => Stage::Test(search.choice()),
        }
    }

    /// Goes on after a round whose results are all there.
    fn next_round(&mut self) {
        *self = match std::mem::replace(self, Stage::Done(Err(stopped()))) {
            Stage::Search { mut search, results } => {
                match search.take(results.into_iter().flatten().collect()) {
                    Ok(()) => Stage::of(search),
                    Err(error) => Stage::Done(Err(error)),
                }
            }
            other => other,
        };
    }
}
