use crate::input::Input;
use crate::measuring::Measuring;
use crate::{output, table};
use anyhow::{Context, Result, bail};
use clap::Args;
use rankwise::data::{Dataset, read_scores};
use rankwise::experiment::{Comparison, ComparisonOptions, SystemValues};
use rankwise::metrics::evaluate;
use rankwise::models::Ranker;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Compare models or score files on the same data: differences, p-values, wins and losses.
#[derive(Args)]
#[command(
    after_help = "Every other system is compared with the first, or with --baseline; --all-pairs compares all.\n\
    p is of the paired randomisation test, adjusted by Holm's method for the pairs shown.\n\n\
    Examples:\n  rankwise compare test.txt production.json candidate.json\n  \
    rankwise compare test.txt a.txt b.txt c.json --metric map --all-pairs"
)]
pub(crate) struct Compare {
    /// The judged data
    file: PathBuf,

    /// Models or files with one score per document; two or more
    #[arg(required = true, num_args = 2.., value_name = "SYSTEM")]
    systems: Vec<PathBuf>,

    /// The measure
    #[arg(long, default_value = "ndcg@10", value_name = "MEASURE")]
    metric: String,

    /// The system to compare the others with, as it was typed; the first when not given
    #[arg(long, value_name = "SYSTEM", conflicts_with = "all_pairs")]
    baseline: Option<PathBuf>,

    /// Compare every pair
    #[arg(long)]
    all_pairs: bool,

    /// The seed of the randomisation test and the bootstrap
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,

    /// Random sign assignments, where there are too many to enumerate
    #[arg(long, default_value_t = 100_000, value_name = "N")]
    permutations: u64,

    /// For machines
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    measuring: Measuring,

    #[command(flatten)]
    reading: Input,
}

/// What is to be compared: a model, or scores that are there already.
enum Contender {
    Model(Box<Ranker>),
    Scores(PathBuf),
}

impl Compare {
    pub(crate) fn run(self) -> Result<()> {
        let metrics = [self.measuring.metric(&self.metric)?];
        let contenders = self.systems.iter().map(|p| contender(p)).collect::<Result<Vec<_>>>()?;
        let data = self.read_for(&contenders)?;
        if data.parts().query_weights.is_some() {
            output::note("query weights are not used in comparisons: every query counts alike");
        }
        let mut systems = Vec::new();
        for (path, contender) in self.systems.iter().zip(&contenders) {
            let scores = match contender {
                Contender::Model(ranker) => {
                    ranker.score(&data).with_context(|| format!("cannot score with {}", path.display()))?
                }
                Contender::Scores(path) => read_scores(path, data.len())?,
            };
            let mut evaluation = evaluate(&data, &scores, &metrics)?;
            for note in evaluation.notes() {
                output::note(format!("{}: {note}", path.display()));
            }
            systems
                .push(SystemValues { name: path.display().to_string(), values: evaluation.values.remove(0) });
        }
        let options = ComparisonOptions {
            baseline: self.baseline()?,
            seed: self.seed,
            permutations: self.permutations,
            ..ComparisonOptions::default()
        };
        let comparison = Comparison::new(&systems, &data.parts().query_ids, &options)?;
        if self.json {
            let mut value = serde_json::to_value(&comparison)?;
            value["metric"] = metrics[0].name().into();
            value["conventions"] = serde_json::to_value(metrics[0].conventions())?;
            return output::print_json(&value);
        }
        output::print(&as_text(&comparison, &metrics[0].name(), &self.measuring.describe()))
    }

    fn baseline(&self) -> Result<Option<usize>> {
        match &self.baseline {
            _ if self.all_pairs => Ok(None),
            None => Ok(Some(0)),
            Some(name) => match self.systems.iter().position(|s| s == name) {
                Some(place) => Ok(Some(place)),
                None => bail!("the baseline {} is not among the systems", name.display()),
            },
        }
    }

    /// The data, its features counted as the models do; they must agree.
    fn read_for(&self, contenders: &[Contender]) -> Result<Dataset> {
        let first_id = contenders.iter().find_map(|c| match c {
            Contender::Model(ranker) => Some(ranker.columns.first_id),
            Contender::Scores(_) => None,
        });
        match first_id {
            Some(first_id) => self.reading.counting_from(first_id).read_unmoved(&self.file),
            None => self.reading.read_unmoved(&self.file),
        }
    }
}

/// A file that begins with `{` or, as LightGBM's models do, with `tree`, or that is named .json or .ubj, is a model; any
/// other holds scores. A pipe is judged by its name alone, as what is read from it is gone.
fn contender(path: &Path) -> Result<Contender> {
    let metadata = std::fs::metadata(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut first = [0u8; 4];
    if metadata.is_file() {
        let opened = std::fs::File::open(path).and_then(|mut f| f.read(&mut first));
        opened.with_context(|| format!("cannot read {}", path.display()))?;
    }
    let named = [".json", ".ubj"].iter().any(|ending| path.to_string_lossy().contains(ending));
    Ok(if first[0] == b'{' || first == *b"tree" || named {
        Contender::Model(Box::new(Ranker::load(path)?))
    } else {
        Contender::Scores(path.to_path_buf())
    })
}

fn as_text(comparison: &Comparison, metric: &str, conventions: &str) -> String {
    let percent = 100.0 * comparison.confidence;
    let interval = format!(">{percent}% interval");
    let mut systems = table::Columns::new(&["system", &format!(">{metric}"), &interval]);
    for system in &comparison.systems {
        systems.row([
            system.name.clone(),
            table::four(system.mean),
            range(system.interval.low, system.interval.high),
        ]);
    }
    let names = short_names(comparison);
    let mut pairs =
        table::Columns::new(&["compared", ">diff", &interval, ">w/t/l", ">effect", ">p", ">t-test p"]);
    for pair in &comparison.pairs {
        pairs.row([
            format!("{} − {}", names[pair.system], names[pair.against]),
            format!("{:+.4}", pair.difference),
            range(pair.interval.low, pair.interval.high),
            format!("{}/{}/{}", pair.wins, pair.ties, pair.losses),
            pair.effect_size.map_or("–".into(), |d| format!("{d:+.2}")),
            table::probability(pair.p_permutation_holm),
            table::probability(pair.p_t_holm),
        ]);
    }
    let skipped = match comparison.skipped.len() {
        0 => String::new(),
        n => format!(", {} left out as undefined", output::count(n, "query", "queries")),
    };
    let caption = format!(
        "{}{skipped}; {conventions}. p by the paired randomisation test, and by the paired t-test; both adjusted by \
         Holm's method for {}. w/t/l: queries won, tied, lost. Effect: mean over deviation of the differences.",
        output::count(comparison.queries, "query", "queries"),
        output::count(comparison.pairs.len(), "pair", "pairs")
    );
    format!("{}\n{}\n{}\n", systems.render(), pairs.render(), table::wrap(&caption))
}

fn range(low: f64, high: f64) -> String {
    format!("{low:.4}…{high:.4}")
}

/// The files' names alone, which fit a narrow column, unless two are alike.
fn short_names(comparison: &Comparison) -> Vec<String> {
    let full: Vec<String> = comparison.systems.iter().map(|s| s.name.clone()).collect();
    let stem = |name: &String| Path::new(name).file_stem().map(|s| s.to_string_lossy().into_owned());
    let short: Vec<String> = full.iter().map(|n| stem(n).unwrap_or_else(|| n.clone())).collect();
    let alike = short.iter().enumerate().any(|(i, name)| short[..i].contains(name));
    if alike { full } else { short }
}
