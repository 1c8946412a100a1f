//! How many rankings a conditional model must draw (Dubey, Machchhar, Bhattacharyya and Chakrabarti, ICDM 2009,
//! Figure 4).

use super::conditional::{Chosen, evaluated, evaluated_on, figure, metric_columns, task};
use super::table::brief;
use super::{Axis, Chart, Claim, Setup, Study, StudyEntry, StudyTable, Varied};
use crate::card::Card;
use crate::error::{Error, Result};
use crate::learners::conditional::{Conditional, sampled_risk};
use crate::models::{LinearModel, Model, Ranker};
use crate::solvers::Objective;
use crate::watch::{Stop, Watch};
use std::time::Instant;

/// The study in the list.
pub(super) const ENTRY: StudyEntry = StudyEntry {
    card: Card {
        name: "sample-size",
        title: "Conditional models by the rankings they draw",
        summary: "Accuracy and objective of conditional models against the number of rankings drawn for each query.",
        citations: &["dubey2009conditional"],
    },
    learners: &["convex-loss", "l3", "exp-gain"],
    varied: Some(Varied {
        name: "samples",
        values: || vec![2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0],
    }),
    run,
};

const CLAIMS: [Claim; 1] = [Claim {
    citation: "dubey2009conditional",
    place: "Figure 4",
    says: "the accuracy of ConvexLoss for NDCG on HP2004 grows with the sample, and is close to its limit at the \
           sizes shown.",
}];

/// A metric counts as equal to that of the largest sample within this difference.
const NEAR: f64 = 0.005;

struct Point {
    name: &'static str,
    title: &'static str,
    samples: f64,
    objective: f64,
    /// The objective of these weights over the largest sample of all.
    over_largest: Option<f64>,
    norm: f64,
    steps: f64,
    metrics: Vec<Option<f64>>,
}

fn run(setup: &Setup<'_>, watch: &mut dyn Watch) -> Result<Study> {
    if let Some(wrong) = setup.values.iter().find(|v| !(**v >= 2.0 && **v <= 1e9 && v.fract() == 0.0)) {
        return Err(Error::parameter(format!("samples is {wrong}; it must be a whole number of at least 2")));
    }
    let models = Chosen::all(ENTRY.card.name, setup, &[("method", "sampled")])?;
    let (mut points, mut times) = (Vec::new(), Vec::new());
    for model in models.into_iter().map(|model| model.by_default("gain", "ndcg")) {
        let begun = Instant::now();
        points.extend(along(setup, &model, watch)?);
        times.push((model.name().to_owned(), begun.elapsed().as_secs_f64()));
    }
    if points.is_empty() {
        return Err(Error::interrupted("stopped before the first model was trained"));
    }
    Ok(Study {
        study: ENTRY.card.name,
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

/// One learner along its samples. Those of one seed contain each other.
fn along(setup: &Setup<'_>, model: &Chosen, watch: &mut dyn Watch) -> Result<Vec<Point>> {
    let mut fits = Vec::new();
    for &samples in &setup.values {
        match model.fit(setup, &[("samples", (samples as i64).into())], watch)? {
            Some(fitted) => fits.push((samples, fitted)),
            None => break,
        }
    }
    let largest = setup.values.last().map_or(2, |v| *v as usize);
    // Models have weights of unscaled features.
    let (parameters, optimisation) = model.parameters()?;
    let parameters = Conditional { samples: largest, ..parameters };
    if fits.is_empty() {
        return Ok(Vec::new());
    }
    // Not stopped: finished models are compared by it.
    let risk = sampled_risk(&parameters, false, model.form, &task(setup), &Stop::default());
    let point = |(samples, fitted): (f64, Ranker)| {
        let norm = figure(&fitted, "norm of the weights");
        let over_largest = match &fitted.model {
            Model::Linear(LinearModel { weights, .. }) => {
                let loss = risk.value_and_gradient(weights, &mut vec![0.0; weights.len()]);
                Some(norm * norm / optimisation.linear.c + loss)
            }
            _ => None,
        };
        Ok(Point {
            name: model.name(),
            title: model.title(),
            samples,
            objective: figure(&fitted, "objective"),
            over_largest,
            norm,
            steps: fitted.record.rounds as f64,
            metrics: evaluated(setup, &fitted.model)?,
        })
    };
    fits.into_iter().map(point).collect()
}

fn table(setup: &Setup<'_>, points: &[Point]) -> StudyTable {
    let fixed = [
        ("learner", "the learner"),
        ("samples", "rankings drawn for each query"),
        ("objective", "the objective over these rankings; its sums grow with them"),
        ("objective_over_largest", "the objective of the same weights over the largest sample"),
        ("norm", "the length of w, in units of the features' standard deviations unless scale = false"),
        ("steps", "steps of the optimiser"),
    ];
    let fixed = fixed.map(|(name, meaning)| (name.to_owned(), meaning.to_owned()));
    let mut table = StudyTable::new(fixed.into_iter().chain(metric_columns(setup)));
    for p in points {
        let mut row = vec![p.name.into(), p.samples.into(), p.objective.into(), p.over_largest.into()];
        row.extend([p.norm.into(), p.steps.into()]);
        row.extend(p.metrics.iter().map(|m| (*m).into()));
        table.rows.push(row);
    }
    table
}

fn charts(setup: &Setup<'_>) -> Vec<Chart> {
    let size = || Axis::log("samples", "rankings drawn for each query");
    let evaluated = metric_columns(setup).into_iter();
    let mut charts: Vec<Chart> = evaluated
        .map(|(name, meaning)| Chart::lines(meaning, size(), Axis::linear(&name, &name), "learner"))
        .collect();
    for (title, column) in [
        ("Objective over the rankings drawn", "objective"),
        ("Objective over the largest sample", "objective_over_largest"),
    ] {
        charts.push(Chart::lines(title, size(), Axis::linear(column, "objective"), "learner"));
    }
    charts
}

fn conclusion(setup: &Setup<'_>, points: &[Point]) -> Vec<String> {
    let mut found = Vec::new();
    for line in points.chunk_by(|a, b| a.name == b.name) {
        for (m, (_, meaning)) in metric_columns(setup).iter().enumerate() {
            found.extend(saturation(line, m, meaning));
        }
        found.extend(objectives(line));
    }
    if evaluated_on(setup).1 == "training" {
        found.push("There is no test data, so accuracy is on the training queries.".into());
    }
    found
}

/// From which sample on more rankings change nothing that matters.
fn saturation(line: &[Point], metric: usize, name: &str) -> Option<String> {
    let of = |p: &Point| p.metrics[metric];
    let (first, last) = (line.first()?, line.last()?);
    let limit = of(last)?;
    let far = line.iter().rposition(|p| of(p).is_none_or(|value| (value - limit).abs() > NEAR));
    let from = &line[far.map_or(0, |i| i + 1)];
    let settled = if from.samples == last.samples {
        "no smaller sample comes to stay".to_owned()
    } else {
        format!("from {} on it stays", from.samples)
    };
    Some(format!(
        "{}: {name} goes from {:.4} with {} rankings to {limit:.4} with {}; {settled} within {NEAR} of the latter.",
        first.title,
        of(first)?,
        first.samples,
        last.samples
    ))
}

/// How good the weights of small samples are by the objective of the largest.
fn objectives(line: &[Point]) -> Option<String> {
    let (first, last) = (line.first()?, line.last()?);
    Some(format!(
        "{}: over the largest sample, the weights learned from {} rankings have an objective of {}, those from {} one \
         of {}.",
        first.title,
        first.samples,
        brief(first.over_largest?),
        last.samples,
        brief(last.over_largest?)
    ))
}
