//! How much inverse propensity weighting helps: users are simulated, rankers are trained from their clicks, and judged by
//! labels that they never saw.
//!
//! Without arguments a small data set is used. `unbiased_from_clicks DIRECTORY [SEEDS]` reads five parts `S1.txt` …
//! `S5.txt` (`.zst` works too) and tests on each in turn; `unbiased_from_clicks synth:QUERIES [SEEDS]` makes data with the
//! shape of MSLR-WEB. Each line of the result is a fold and a seed, and the last lines are means.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use rankwise::Recipe;
use rankwise::clicks::propensity::{PairedRanks, Propensities};
use rankwise::clicks::simulate::{SimulatedRanker, SimulatedUser, Simulation};
use rankwise::clicks::{ClickCounts, ClickWeights, Movement};
use rankwise::data::{
    ClickLabels, Dataset, Normalizer, ReadOptions, Synth, SyntheticShape, read_all, split_queries,
};
use rankwise::data::{Parts, SplitOrder};
use rankwise::metrics::{Conventions, evaluate, parse};
use rankwise::models::Ranker;
use rankwise::recipe::Start;
use rankwise::watch::Silent;
use std::env;
use std::path::{Path, PathBuf};

/// The probability of a click on a document without relevance, once it is looked at.
const NOISE: f64 = 0.1;
/// Rankers whose lists are shown.
const RANKERS: u64 = 3;
/// Queries that each of them was trained on.
const FEW_QUERIES: usize = 4;
/// The smallest propensity to divide by.
const CLIP: f64 = 0.003;
/// Ranks whose propensities are compared.
const RANKS: usize = 10;

const METHODS: [&str; 5] = ["naive clicks", "true propensities", "paired ranks", "EM", "full labels"];

/// NDCG@10 of each method, and the error of estimated propensities.
#[derive(Default, Clone, Copy)]
struct Outcome {
    production: f64,
    ndcg: [f64; 5],
    /// Mean relative error of θ at ranks 1 to 10: paired ranks, EM.
    theta: [f64; 2],
}

fn main() -> rankwise::Result<()> {
    let mut arguments = env::args().skip(1);
    let source = arguments.next();
    let seeds: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1);
    let sessions: usize =
        env::var("SESSIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(match source {
            Some(_) => 500,
            None => 50,
        });
    let folds = folds(source.as_deref())?;
    println!("fold  seed  production  {}  error of θ: paired ranks, EM", METHODS.join("  "));
    let mut outcomes = Vec::new();
    for seed in 1..=seeds {
        for (fold, (train, test)) in folds.iter().enumerate() {
            let outcome = experiment(train, test, seed, sessions)?;
            println!("{:>4}  {seed:>4}  {}", fold + 1, line(&outcome));
            outcomes.push(outcome);
        }
    }
    let mean = mean(&outcomes);
    println!("mean        {}", line(&mean));
    let gap = mean.ndcg[4] - mean.ndcg[0];
    let closed: Vec<String> =
        mean.ndcg.iter().map(|x| format!("{:.0} %", 100.0 * (x - mean.ndcg[0]) / gap)).collect();
    println!("closed part of the gap between naive clicks and full labels: {}", closed.join("  "));
    Ok(())
}

/// Training and test data.
fn folds(source: Option<&str>) -> rankwise::Result<Vec<(Dataset, Dataset)>> {
    if let Some(directory) = source.filter(|source| !source.starts_with("synth:")) {
        return (0..5).map(|fold| read_fold(Path::new(directory), fold)).collect();
    }
    let queries = source.and_then(|source| source["synth:".len()..].parse().ok()).unwrap_or(60);
    let documents = if source.is_some() { None } else { Some(20) };
    let shape = SyntheticShape::named("mslr")?;
    let data = Synth { queries: Some(queries), documents, ..Synth::new(shape) }.generate()?;
    let parts = split_queries(data.query_count(), &[0.7, 0.3], SplitOrder::Shuffled(1))?;
    Ok(vec![(data.select_queries(&parts[0]), data.select_queries(&parts[1]))])
}

/// Three parts to train on and one to test on, as is usual for LETOR data.
fn read_fold(directory: &Path, fold: usize) -> rankwise::Result<(Dataset, Dataset)> {
    let path = |part: usize| {
        let plain = directory.join(format!("S{}.txt", (fold + part) % 5 + 1));
        if plain.exists() { plain } else { plain.with_extension("txt.zst") }
    };
    let read = |paths: &[PathBuf]| Ok::<_, rankwise::Error>(read_all(paths, &ReadOptions::default())?.data);
    let both = vec![read(&[path(0), path(1), path(2)])?, read(&[path(4)])?];
    let mut aligned = Dataset::align_columns(both)?.into_iter();
    Ok(aligned.next().zip(aligned.next()).expect("as many as were given"))
}

fn experiment(train: &Dataset, test: &Dataset, seed: u64, sessions: usize) -> rankwise::Result<Outcome> {
    let full = full_labels(train)?;
    let production = production(&full, seed)?;
    let rankers = production.iter().enumerate().map(|(number, ranker)| {
        Ok(SimulatedRanker { name: format!("ranker {number}"), scores: ranker.score(train)? })
    });
    let rankers: Vec<SimulatedRanker> = rankers.collect::<rankwise::Result<_>>()?;
    let deepest = train.queries().map(|query| query.len()).max().unwrap_or(0);
    let depth = env::var("DEPTH").ok().and_then(|text| text.parse().ok()).unwrap_or(deepest);
    let user = SimulatedUser::PositionBased { eta: 1.0 };
    let simulation = Simulation { user, noise: NOISE, sessions, depth, seed, ..Simulation::default() };
    let counts = ClickCounts::of(simulation.sessions(train, &rankers)?.map(Ok))?;
    let truth = Propensities::given((1..=depth).map(|rank| 1.0 / rank as f64).collect())?;
    // The last ranks, of the longest lists only, may have no documents in common with others.
    let depths = std::iter::successors(Some(depth as u32), |depth| Some(depth * 9 / 10));
    let depth =
        depths.take_while(|depth| *depth > 1).find(|depth| Movement::of(&counts, *depth).is_connected());
    let depth = depth.unwrap_or(1);
    let paired = PairedRanks { depth, ..PairedRanks::default() }.estimate(&counts)?;
    let em = Propensities::by_em(&counts, depth, &Default::default())?;
    let mut outcome = Outcome { theta: [error(&paired, &truth), error(&em, &truth)], ..Outcome::default() };
    let from_clicks = |propensities: Option<Propensities>| -> rankwise::Result<f64> {
        let data = ClickWeights { propensities, clip: CLIP }.of_counts(&counts, train)?.data;
        ndcg(&fit(&data, 0.1)?, test)
    };
    if env::var_os("SHOW").is_some() {
        for rank in [1, 2, 5, 10, 20, 50, 100, 200, 400] {
            eprintln!("{rank}: {:.5} {:.5} {:.5}", truth.at(rank), paired.at(rank), em.at(rank));
        }
        eprintln!("estimated to {depth}");
    }
    outcome.ndcg = [
        from_clicks(None)?,
        from_clicks(Some(truth))?,
        from_clicks(Some(paired))?,
        from_clicks(Some(em))?,
        ndcg(&fit(&full, 0.1)?, test)?,
    ];
    outcome.production =
        production.iter().map(|ranker| ndcg(ranker, test)).sum::<rankwise::Result<f64>>()? / RANKERS as f64;
    Ok(outcome)
}

/// Rankers of which each was trained on a few queries: what a search may start with.
fn production(full: &Dataset, seed: u64) -> rankwise::Result<Vec<Ranker>> {
    let one = |number: u64| {
        let chosen = split_queries(
            full.query_count(),
            &[FEW_QUERIES as f64, (full.query_count() - FEW_QUERIES) as f64]
                .map(|n| n / full.query_count() as f64),
            SplitOrder::Shuffled(100 * seed + number),
        )?;
        fit(&full.select_queries(&chosen[0]), 0.01)
    };
    (0..RANKERS).map(one).collect()
}

/// Labels that users would give if they looked at everything, without noise.
fn full_labels(train: &Dataset) -> rankwise::Result<Dataset> {
    let gain = |label: f32| label.exp2() - 1.0;
    let highest = train.labels().iter().copied().fold(0.0, f32::max);
    let labels = train.labels().iter().map(|label| gain(*label) / gain(highest)).collect();
    Dataset::new(Parts { labels, ..train.clone().into_parts() })?.with_click_labels(ClickLabels::default())
}

/// A linear model of the features, relative to the other documents of the query.
fn fit(data: &Dataset, c: f64) -> rankwise::Result<Ranker> {
    let recipe = Recipe::new("list-net").set("c", c).normalizer(Some(Normalizer::parse("z-score")?));
    recipe.fit(data, None, Start::default(), &mut Silent::default())
}

fn ndcg(ranker: &Ranker, test: &Dataset) -> rankwise::Result<f64> {
    let metric = [parse("ndcg@10", &Conventions::default())?];
    Ok(evaluate(test, &ranker.score(test)?, &metric)?.mean(0).unwrap_or(0.0))
}

/// The mean relative error at the first ranks.
fn error(estimate: &Propensities, truth: &Propensities) -> f64 {
    let ranks = 1..=RANKS as u32;
    ranks.map(|rank| (estimate.at(rank) / truth.at(rank) - 1.0).abs()).sum::<f64>() / RANKS as f64
}

fn mean(outcomes: &[Outcome]) -> Outcome {
    let mut mean = Outcome::default();
    for outcome in outcomes {
        let share = 1.0 / outcomes.len() as f64;
        mean.production += share * outcome.production;
        (0..5).for_each(|i| mean.ndcg[i] += share * outcome.ndcg[i]);
        (0..2).for_each(|i| mean.theta[i] += share * outcome.theta[i]);
    }
    mean
}

fn line(outcome: &Outcome) -> String {
    let mut cells = vec![format!("{:.4}", outcome.production)];
    cells.extend(outcome.ndcg.iter().map(|value| format!("{value:.4}")));
    cells.extend(outcome.theta.iter().map(|error| format!("{:.1} %", 100.0 * error)));
    cells.join("  ")
}
