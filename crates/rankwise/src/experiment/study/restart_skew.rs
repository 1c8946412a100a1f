//! From which rankings walks should start (Dubey, Machchhar, Bhattacharyya and Chakrabarti, ICDM 2009, Figures 5
//! and 6).

use super::conditional::{Chosen, evaluated, evaluated_on, metric_columns};
use super::{Axis, Chart, Claim, Setup, Study, StudyEntry, StudyTable};
use crate::card::Card;
use crate::error::{Error, Result};
use crate::watch::Watch;
use std::time::Instant;
use toml::Value;

/// The study in the list.
pub(super) const ENTRY: StudyEntry = StudyEntry {
    card: Card {
        name: "restart-skew",
        title: "Conditional models by where their walks start",
        summary: "Accuracy of conditional models against the probability of starting at the best ranking, and against \
                  the k of a ladder of starts.",
        citations: &["dubey2009conditional"],
    },
    learners: &["convex-loss", "l3"],
    varied: None,
    run,
};

const CLAIMS: [Claim; 2] = [
    Claim {
        citation: "dubey2009conditional",
        place: "Figure 5",
        says: "of probabilities 0.1, 0.5 and 0.9 of starting at the best ranking, 0.9 generally gives the best \
               accuracy (ConvexLoss for NDCG on HP2004).",
    },
    Claim {
        citation: "dubey2009conditional",
        place: "Figure 6",
        says: "with starts drawn by exp(kΔ), MAP is .033, .089, .706, .774 and .827 for k = 5, 0, −5, −10 and −20: k \
               far below 0 is best.",
    },
];

/// Probabilities of the best ranking, from bad starts to good ones.
const BEST: [f64; 7] = [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0];
/// The k of the ladder, from bad starts to good ones: those of the paper's Figure 6.
const SKEW: [f64; 5] = [5.0, 0.0, -5.0, -10.0, -20.0];
/// Parameters that are tried, so they cannot be set.
const TRIED: [&str; 3] = ["restarts", "best", "skew"];

/// Where walks start.
#[derive(Clone, Copy, PartialEq)]
enum Starts {
    Ends(f64),
    Ladder(f64),
}

struct Point {
    name: &'static str,
    title: &'static str,
    starts: Starts,
    metrics: Vec<Option<f64>>,
}

fn run(setup: &Setup<'_>, watch: &mut dyn Watch) -> Result<Study> {
    let name = ENTRY.card.name;
    if let Some(key) = TRIED.iter().find(|key| setup.set.contains_key(**key)) {
        return Err(Error::parameter(format!("study {name} varies {key} itself, so it cannot be set")));
    }
    let models = Chosen::all(name, setup, &[("method", "sampled")])?;
    let (mut points, mut times) = (Vec::new(), Vec::new());
    for model in models.into_iter().map(|model| model.by_default("gain", "ndcg").by_default("samples", 200)) {
        let begun = Instant::now();
        for starts in BEST.map(Starts::Ends).into_iter().chain(SKEW.map(Starts::Ladder)) {
            let Some(fitted) = model.fit(setup, &starts.settings(), watch)? else { break };
            let metrics = evaluated(setup, &fitted.model)?;
            points.push(Point { name: model.name(), title: model.title(), starts, metrics });
        }
        times.push((model.name().to_owned(), begun.elapsed().as_secs_f64()));
    }
    if points.is_empty() {
        return Err(Error::interrupted("stopped before the first model was trained"));
    }
    Ok(Study {
        study: name,
        title: ENTRY.card.title.to_owned(),
        made: setup.in_words(),
        table: table(setup, &points),
        charts: charts(setup),
        conclusion: conclusion(setup, &points),
        paper: CLAIMS.to_vec(),
        interrupted: watch.stop().requested(),
        times,
    })
}

impl Starts {
    fn settings(self) -> [(&'static str, Value); 2] {
        match self {
            Starts::Ends(best) => [("restarts", "ends".into()), ("best", best.into())],
            Starts::Ladder(skew) => [("restarts", "ladder".into()), ("skew", skew.into())],
        }
    }

    fn in_words(self) -> String {
        match self {
            Starts::Ends(best) => format!("a probability of {best}"),
            Starts::Ladder(skew) => format!("k = {skew}"),
        }
    }
}

fn table(setup: &Setup<'_>, points: &[Point]) -> StudyTable {
    let fixed = [
        ("learner", "the learner"),
        ("restarts", "where walks start: at the ends or on a ladder of rankings"),
        ("best", "the probability of the best ranking, the other being the worst"),
        ("skew", "the k of the ladder's Pr ∝ exp(kΔ)"),
    ];
    let fixed = fixed.map(|(name, meaning)| (name.to_owned(), meaning.to_owned()));
    let mut table = StudyTable::new(fixed.into_iter().chain(metric_columns(setup)));
    for p in points {
        let (kind, best, skew) = match p.starts {
            Starts::Ends(best) => ("ends", Some(best), None),
            Starts::Ladder(skew) => ("ladder", None, Some(skew)),
        };
        let mut row = vec![p.name.into(), kind.into(), best.into(), skew.into()];
        row.extend(p.metrics.iter().map(|m| (*m).into()));
        table.rows.push(row);
    }
    table
}

fn charts(setup: &Setup<'_>) -> Vec<Chart> {
    let mut charts = Vec::new();
    for (name, meaning) in metric_columns(setup) {
        for (column, label) in [("best", "probability of the best ranking"), ("skew", "k of the ladder")] {
            let (x, y) = (Axis::linear(column, label), Axis::linear(&name, &name));
            charts.push(Chart::lines(&meaning, x, y, "learner"));
        }
    }
    charts
}

fn conclusion(setup: &Setup<'_>, points: &[Point]) -> Vec<String> {
    let mut found = Vec::new();
    for line in points.chunk_by(|a, b| a.name == b.name) {
        let (ends, ladder): (Vec<&Point>, Vec<&Point>) =
            line.iter().partition(|p| matches!(p.starts, Starts::Ends(_)));
        for (m, (_, meaning)) in metric_columns(setup).iter().enumerate() {
            found.extend(compared(&ends, m, meaning, "between the best ranking and the worst"));
            found.extend(compared(&ladder, m, meaning, "on the ladder"));
        }
    }
    if evaluated_on(setup).1 == "training" {
        found.push("There is no test data, so accuracy is on the training queries.".into());
    }
    found
}

/// Bad starts, good starts and the best of all; points go from bad starts to good ones.
fn compared(points: &[&Point], metric: usize, name: &str, how: &str) -> Option<String> {
    let valued: Vec<(&Point, f64)> = points.iter().filter_map(|p| Some((*p, p.metrics[metric]?))).collect();
    let [first, .., last] = valued.as_slice() else { return None };
    let best = valued.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let verdict = if last.1 > first.1 {
        "as in the paper, good starts do better"
    } else {
        "unlike in the paper, good starts do no better"
    };
    Some(format!(
        "{}, starting {how}: {name} goes from {:.4} at {} to {:.4} at {} and is highest, {:.4}, at {}; {verdict}.",
        first.0.title,
        first.1,
        first.0.starts.in_words(),
        last.1,
        last.0.starts.in_words(),
        best.1,
        best.0.starts.in_words()
    ))
}
