use crate::content::load_model;
use crate::input::{Input, note_width};
use crate::output;
use crate::progress::SessionCount;
use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use rankwise::clicks::LogWriter;
use rankwise::clicks::interleave::Interleaving;
use rankwise::clicks::simulate::{Randomization, SimulatedRanker, SimulatedUser, Simulation};
use rankwise::data::Dataset;
use rankwise::models::Ranker;
use std::path::PathBuf;

/// Simulate a log: users click on rankings of labelled data.
#[derive(Args)]
#[command(
    after_help = "A document with label y attracts a user who looks at it with probability ε + (1 − ε)(2^y − 1)/(2^max − 1), where ε is \
    the noise. Users: pbm:eta=1 looks at rank r with probability (1/r)^eta; cascade reads down to the first click; \
    dcm:continue=0.6 goes on after a click with that probability.\n\n\
    The same seed gives the same log. With several models, each session shows one of them, at random.\n\n\
    Examples:\n  rankwise clicks simulate train.txt --model weak.json -o log.jsonl\n  \
    rankwise clicks simulate train.txt --model a.json --model b.json \\\n      --user pbm:eta=1 --noise 0.1 --sessions 500 -o log.jsonl.zst\n  \
    rankwise clicks simulate train.txt --model prod=a.json --model next=b.json \\\n      --interleave team-draft -o interleaved.jsonl"
)]
pub(crate) struct Simulate {
    /// The labelled data
    file: PathBuf,

    /// A model whose rankings are shown, perhaps with its name in the log; may be repeated
    #[arg(long = "model", required = true, value_name = "[NAME=]MODEL")]
    models: Vec<String>,

    /// The log to write; .gz and .zst compress it, and - is standard output
    #[arg(short, long, value_name = "LOG")]
    output: PathBuf,

    /// How users look at a list: pbm:eta=X, cascade or dcm:continue=X
    #[arg(long, alias = "law", default_value = "pbm:eta=1", value_name = "USER", value_parser = SimulatedUser::parse)]
    user: SimulatedUser,

    /// The probability of a click on a document without relevance that is looked at
    #[arg(long, default_value_t = 0.1, value_name = "X")]
    noise: f64,

    /// Sessions per query
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    sessions: u32,

    /// How many documents are shown at most
    #[arg(long, default_value_t = 10, value_name = "N")]
    depth: usize,

    /// What is random about the lists: nothing, a swap of the first document with another, or everything
    #[arg(long, default_value = "none", value_name = "WHAT")]
    randomize: Randomize,

    /// Interleave two models: team-draft or probabilistic
    #[arg(long, value_name = "HOW", value_parser = Interleaving::named)]
    interleave: Option<Interleaving>,

    /// Log the features of the documents shown
    #[arg(long)]
    features: bool,

    /// Random seed
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,

    #[command(flatten)]
    reading: Input,
}

#[derive(ValueEnum, Clone, Copy)]
enum Randomize {
    None,
    Swap,
    Shuffle,
}

impl Simulate {
    pub(crate) fn run(self) -> Result<()> {
        output::prepare_to_write(&self.output, &[("the data", &self.file)])?;
        let (data, rankers) = self.rankers()?;
        let simulation = Simulation {
            user: self.user,
            noise: self.noise,
            sessions: self.sessions as usize,
            depth: self.depth,
            randomization: match self.randomize {
                Randomize::None => Randomization::None,
                Randomize::Swap => Randomization::Swap,
                Randomize::Shuffle => Randomization::Shuffle,
            },
            interleaving: self.interleave,
            features: self.features,
            seed: self.seed,
        };
        let sessions = simulation.sessions(&data, &rankers)?;
        let mut log = LogWriter::create(&self.output)?;
        let mut bar = SessionCount::new();
        let mut clicks = 0;
        for session in sessions {
            clicks += session.clicks.len();
            log.put(&session)?;
            bar.add();
        }
        let written = bar.count();
        drop(bar);
        log.commit()?;
        output::note(format!(
            "{}, {}",
            output::count(written as usize, "session", "sessions"),
            output::count(clicks, "click", "clicks")
        ));
        Ok(())
    }

    /// The data, and the models with their scores of it.
    fn rankers(&self) -> Result<(Dataset, Vec<SimulatedRanker>)> {
        let mut models: Vec<(String, Ranker)> = Vec::new();
        for argument in &self.models {
            let (name, path) = named(argument);
            ensure!(
                models.iter().all(|(other, _)| *other != name),
                "two models are called {name}; name one with NAME=MODEL"
            );
            models.push((name, self.reading.number(load_model(&path)?)?));
        }
        let reading =
            models.iter().fold(self.reading.clone(), |reading, (_, ranker)| reading.for_model(ranker));
        let data = reading.read(&self.file)?;
        let mut rankers = Vec::new();
        for (name, ranker) in models {
            note_width(&ranker, &data);
            let scores = ranker.score(&data).with_context(|| format!("cannot score with {name}"))?;
            rankers.push(SimulatedRanker { name, scores });
        }
        Ok((data, rankers))
    }
}

/// `NAME=MODEL`, or a path whose file name without extensions is the name.
fn named(argument: &str) -> (String, PathBuf) {
    if let Some((name, path)) = argument.split_once('=')
        && !name.is_empty()
        && !name.contains(['/', '\\'])
    {
        return (name.to_owned(), PathBuf::from(path));
    }
    let path = PathBuf::from(argument);
    let file = path.file_name().map_or(argument.to_owned(), |name| name.to_string_lossy().into_owned());
    let stem = file.split_once('.').map_or(file.as_str(), |(stem, _)| stem);
    (if stem.is_empty() { file.clone() } else { stem.to_owned() }, path)
}
