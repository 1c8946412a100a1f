use crate::input::Input;
use crate::metric_args::MetricArgs;
use crate::progress::ProgressBar;
use crate::train_args::settings;
use crate::{interrupt, output, table};
use anyhow::{Context, Result};
use clap::Args;
use rankwise::data::{Dataset, Normalizer, SplitOrder, Synth, split};
use rankwise::experiment::study::{
    STUDIES, Setup, Study as Found, StudyEntry, check_directory, file_names, find, log_spaced, write,
};
use rankwise::learners;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Reproduce a study from the literature, with numbers, charts and conclusions; or list the studies.
#[derive(Args)]
#[command(
    after_help = "Writes NAME.csv, NAME.json, NAME.svg and NAME.md, and replaces those of an earlier run.\n\
    Ctrl-C stops the study and keeps what is finished; a second Ctrl-C ends the program.\n\n\
    Examples:\n  rankwise study\n  rankwise study c-path -o results/c-path\n  \
    rankwise study c-path --train S1.txt S2.txt S3.txt --test S5.txt \\\n      \
    --metrics map --learner svm-auc --learner svm-map \\\n      \
    --from 0.01 --to 1000 --steps 11"
)]
pub(crate) struct Study {
    /// Name of the study. Without it, all studies are listed
    name: Option<String>,

    /// The directory to write to. Default: results/NAME
    #[arg(short, long, value_name = "DIR", requires = "name")]
    output: Option<PathBuf>,

    /// Training data. Default: embedded synthetic data
    #[arg(long, num_args = 1.., value_name = "FILE", requires = "name")]
    train: Vec<PathBuf>,

    /// Test data
    #[arg(long, num_args = 1.., value_name = "FILE", requires = "train")]
    test: Vec<PathBuf>,

    /// The metrics on the test data, separated by commas
    #[arg(long, alias = "metric", default_value = "ndcg@10,map", value_name = "METRICS")]
    metrics: String,

    /// Run this learner instead of the study's own; may be repeated
    #[arg(long = "learner", value_name = "NAME", requires = "name")]
    learners: Vec<String>,

    /// Set a parameter of the learners that have it; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "name")]
    settings: Vec<String>,

    /// Values of the parameter that is varied, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "LIST", conflicts_with = "from", requires = "name")]
    values: Vec<f64>,

    /// The first of several values, evenly spaced on a logarithmic scale
    #[arg(long, value_name = "X", requires = "to", requires = "name")]
    from: Option<f64>,

    /// The last of these values
    #[arg(long, value_name = "X", requires = "from")]
    to: Option<f64>,

    /// The number of these values
    #[arg(long, value_name = "N", requires = "from", default_value_t = 13)]
    steps: usize,

    /// Scale the features within each query: min-max, z-score, log, or several separated by commas
    #[arg(long, value_name = "HOW")]
    normalize: Option<String>,

    /// Random seed
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    metric_args: MetricArgs,

    #[command(flatten)]
    reading: Input,
}

impl Study {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let Some(name) = &self.name else {
            list(self.json)?;
            return Ok(ExitCode::SUCCESS);
        };
        let study = find(name)?;
        let directory = self.output.clone().unwrap_or_else(|| Path::new("results").join(name));
        check_directory(&directory, study)?;
        let found = self.find_out(study)?;
        std::fs::create_dir_all(&directory)
            .with_context(|| format!("cannot create the directory {}", directory.display()))?;
        file_names(name).iter().for_each(|file| interrupt::will_write(&directory.join(file)));
        write(&directory, &found)?;
        if self.json {
            output::print_json(&serde_json::to_value(&found)?)?;
        } else {
            output::print(&in_words(&found, &directory))?;
        }
        let interrupted = found.interrupted;
        Ok(if interrupted { ExitCode::from(interrupt::INTERRUPTED) } else { ExitCode::SUCCESS })
    }

    fn find_out(&self, study: &StudyEntry) -> Result<Found> {
        let learners = self.learners.iter().map(|name| learners::find(name)).collect::<Result<_, _>>()?;
        let values = match (self.from, self.to) {
            (Some(from), Some(to)) => log_spaced(from, to, self.steps)?,
            _ => self.values.clone(),
        };
        let (set, metrics) = (settings(&self.settings)?, self.metric_args.metrics(&self.metrics)?);
        let (data, train, test) = self.data()?;
        let setup = Setup {
            data,
            train: &train,
            test: test.as_ref(),
            metrics: &metrics,
            learners,
            set,
            values,
            seed: self.seed,
        };
        let name = study.card.name;
        Ok(interrupt::stoppable(|stop| study.run(setup, &mut ProgressBar::new(name, stop)))?)
    }

    /// A name for the data, the training queries and the test queries.
    fn data(&self) -> Result<(String, Dataset, Option<Dataset>)> {
        let normalizer = self.normalize.as_deref().map(Normalizer::parse).transpose()?;
        let (name, train, test) = match (&*self.train, &*self.test) {
            ([], _) => {
                let whole = Synth { seed: self.seed, ..Synth::demo() }.generate()?;
                let mut parts = split(&whole, &[0.75, 0.25], SplitOrder::InOrder)?.into_iter();
                let train = parts.next().context("no training queries")?;
                ("embedded synthetic queries".to_owned(), train, parts.next())
            }
            (train, []) => (names(train), self.reading.read_all(train)?, None),
            (train, test) => {
                let (first, second) = self.reading.read_pair(train, test)?;
                (format!("{}; test: {}", names(train), names(test)), first, Some(second))
            }
        };
        let scaled = |data: Dataset| match &normalizer {
            Some(normalizer) => normalizer.apply(data),
            None => Ok(data),
        };
        let name = match &self.normalize {
            Some(how) => format!("{name}; each query's features scaled by {how}"),
            None => name,
        };
        Ok((name, scaled(train)?, test.map(scaled).transpose()?))
    }
}

/// File names without their folders, which mean nothing on other machines.
fn names(paths: &[PathBuf]) -> String {
    let name = |path: &PathBuf| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    paths.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn list(json: bool) -> Result<()> {
    if json {
        let cards: Vec<_> = STUDIES.iter().map(|study| study.card).collect();
        return output::print_json(&serde_json::to_value(cards)?);
    }
    let mut table = table::Columns::new(&["study", "what it shows", "reference"]);
    for StudyEntry { card, .. } in STUDIES {
        table.row([card.name, card.summary, &table::citations(card.citations)]);
    }
    output::print(&format!("{}\n`rankwise study NAME -o DIR` runs one.\n", table.render()))
}

fn in_words(found: &Found, directory: &Path) -> String {
    let stopped = if found.interrupted { " (stopped before it was complete)" } else { "" };
    let mut text = format!("{}{stopped}\n\n", found.title);
    found.conclusion.iter().for_each(|sentence| text += &table::bullet(sentence));
    text += "\nIn the paper:\n";
    for claim in &found.paper {
        text += &table::bullet(&format!(
            "{} ({}): {}",
            rankwise::card::citation(claim.citation),
            claim.place,
            claim.says
        ));
    }
    let mut times = table::Columns::new(&["", ">seconds"]);
    for (what, seconds) in &found.times {
        times.row([what.clone(), format!("{seconds:.2}")]);
    }
    let [json, csv, svg, md] = file_names(found.study);
    text + &format!("\n{}\nwrote {csv}, {json}, {svg} and {md} to {}\n", times.render(), directory.display())
}
