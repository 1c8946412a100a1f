//! What minimising over drawn rankings does to the objective over all of them (Dubey, Machchhar, Bhattacharyya and
//! Chakrabarti, ICDM 2009, Section 5.3.4). AUC has both.

use super::conditional::{Chosen, evaluated, metric_columns, task};
use super::iterates::iterates;
use super::table::brief;
use super::{Axis, Chart, Claim, Setup, Study, StudyEntry, StudyTable};
use crate::card::Card;
use crate::error::{Error, Result};
use crate::learners::conditional::{Conditional, sampled_risk};
use crate::losses::conditional::ExactAuc;
use crate::models::Model;
use crate::solvers::{LinearRisk, Objective, Regularized};
use crate::watch::Watch;
use std::time::Instant;

/// The study in the list.
pub(super) const ENTRY: StudyEntry = StudyEntry {
    card: Card {
        name: "exact-sampled",
        title: "Objectives over all rankings and over drawn ones",
        summary: "The exact objective of conditional models for AUC and the sampled one, after each step of minimising \
                  either.",
        citations: &["dubey2009conditional"],
    },
    learners: &["convex-loss", "l3"],
    varied: None,
    run,
};

const CLAIMS: [Claim; 1] = [Claim {
    citation: "dubey2009conditional",
    place: "Section 5.3.4",
    says: "the exact and the sampled objective are not close to each other, but each improves from step to step.",
}];

/// The steps of one minimisation.
struct Line {
    name: &'static str,
    title: &'static str,
    /// Which objective was minimised: `sampled` or `exact`.
    minimised: &'static str,
    points: Vec<Point>,
}

struct Point {
    exact: f64,
    sampled: f64,
    metrics: Vec<Option<f64>>,
}

fn run(setup: &Setup<'_>, watch: &mut dyn Watch) -> Result<Study> {
    let name = ENTRY.card.name;
    let models = Chosen::all(name, setup, &[("gain", "auc"), ("method", "sampled")])?;
    let (mut lines, mut times) = (Vec::new(), Vec::new());
    for model in models.into_iter().map(|m| m.by_default("samples", 200).by_default("rounds", 50)) {
        let begun = Instant::now();
        lines.extend(both(setup, &model, watch)?);
        times.push((model.name().to_owned(), begun.elapsed().as_secs_f64()));
    }
    if lines.is_empty() {
        return Err(Error::interrupted("stopped before the first step was made"));
    }
    Ok(Study {
        study: name,
        title: ENTRY.card.title.to_owned(),
        made: setup.in_words(),
        table: table(setup, &lines),
        charts: charts(setup),
        conclusion: lines.iter().flat_map(in_words).collect(),
        paper: CLAIMS.to_vec(),
        interrupted: watch.stop().requested(),
        times,
    })
}

/// Minimises over drawn rankings, then over all; a minimisation that makes no step is left out.
fn both(setup: &Setup<'_>, model: &Chosen, watch: &mut dyn Watch) -> Result<Vec<Line>> {
    let (parameters, optimisation) = model.parameters()?;
    let Conditional { kappa, threshold, .. } = parameters;
    let sampled =
        sampled_risk(&parameters, optimisation.linear.scale, model.form, &task(setup), watch.stop());
    if watch.stop().requested() {
        // An interrupted risk may lack queries.
        return Ok(Vec::new());
    }
    let exact = LinearRisk::new(setup.train, ExactAuc { form: model.form, kappa, threshold }, setup.seed);
    let exact = if optimisation.linear.scale { exact.scaled() } else { exact };
    let c = 0.5 * optimisation.linear.c;
    let (exact_sum, sampled_sum) = (Regularized { risk: &exact, c }, Regularized { risk: &sampled, c });
    let start = || vec![0.0; setup.train.width()];
    let point = |w: &Vec<f64>| {
        let weights = exact.in_data_units(w).into_owned();
        Ok(Point {
            exact: value(&exact_sum, w) / c,
            sampled: value(&sampled_sum, w) / c,
            metrics: evaluated(setup, &Model::linear(weights, 0.0))?,
        })
    };
    let mut lines = Vec::new();
    for minimised in ["sampled", "exact"] {
        let solver = optimisation.linear.lbfgs();
        let path = match minimised {
            "sampled" => iterates(&solver, &sampled_sum, start(), watch),
            _ => iterates(&solver, &exact_sum, start(), watch),
        };
        if path.len() > 1 {
            let points = path.iter().map(point).collect::<Result<_>>()?;
            lines.push(Line { name: model.name(), title: model.title(), minimised, points });
        }
    }
    Ok(lines)
}

fn value(objective: &impl Objective, w: &[f64]) -> f64 {
    objective.value_and_gradient(w, &mut vec![0.0; w.len()])
}

fn table(setup: &Setup<'_>, lines: &[Line]) -> StudyTable {
    let fixed = [
        ("run", "the learner and the objective minimised"),
        ("learner", "the learner"),
        ("minimised", "the objective that was minimised"),
        ("step", "steps made"),
        ("exact", "‖w‖²/C + the mean over queries of the form over all rankings"),
        ("sampled", "the same over the rankings drawn"),
        ("exact_ratio", "the exact objective, relative to that of w = 0"),
        ("sampled_ratio", "the sampled objective, relative to that of w = 0"),
    ];
    let fixed = fixed.map(|(name, meaning)| (name.to_owned(), meaning.to_owned()));
    let mut table = StudyTable::new(fixed.into_iter().chain(metric_columns(setup)));
    for line in lines {
        let (run, zero) = (format!("{}, {} minimised", line.title, line.minimised), &line.points[0]);
        for (step, p) in line.points.iter().enumerate() {
            let mut row = vec![run.as_str().into(), line.name.into(), line.minimised.into()];
            let ratios = [p.exact / zero.exact, p.sampled / zero.sampled];
            row.extend([step as f64, p.exact, p.sampled].map(Into::into));
            row.extend(ratios.map(Into::into));
            row.extend(p.metrics.iter().map(|m| (*m).into()));
            table.rows.push(row);
        }
    }
    table
}

fn charts(setup: &Setup<'_>) -> Vec<Chart> {
    let step = || Axis::linear("step", "steps of L-BFGS");
    let relative = |column: &str| Axis::linear(column, "relative to w = 0");
    let mut charts = vec![
        Chart::lines("Objective over all rankings", step(), relative("exact_ratio"), "run"),
        Chart::lines("Objective over drawn rankings", step(), relative("sampled_ratio"), "run"),
    ];
    let evaluated = metric_columns(setup).into_iter();
    charts.extend(
        evaluated.map(|(name, meaning)| Chart::lines(meaning, step(), Axis::linear(&name, &name), "run")),
    );
    charts
}

/// How far both objectives came, and how often the other one followed.
fn in_words(line: &Line) -> Vec<String> {
    let (first, last) = (&line.points[0], &line.points[line.points.len() - 1]);
    let steps = line.points.len() - 1;
    type Of = fn(&Point) -> f64;
    let (exact, sampled): (Of, Of) = (|p| p.exact, |p| p.sampled);
    let (name, other) = if line.minimised == "sampled" { ("exact", exact) } else { ("sampled", sampled) };
    let falls = line.points.windows(2).filter(|pair| other(&pair[1]) < other(&pair[0])).count();
    let least = (0..=steps).min_by(|&a, &b| other(&line.points[a]).total_cmp(&other(&line.points[b])));
    let (how, paper) =
        if other(last) < other(first) { ("improves", "as") } else { ("does not improve", "unlike") };
    vec![
        format!(
            "{}, minimising the {} objective for {steps} steps: the exact objective goes from {} to {}, the sampled \
             one from {} to {}.",
            line.title,
            line.minimised,
            brief(first.exact),
            brief(last.exact),
            brief(first.sampled),
            brief(last.sampled)
        ),
        format!(
            "There the {name} objective, which is not the one minimised, {how} overall, {paper} in the paper; it falls \
             in {falls} of {steps} steps and is least after {}.",
            least.unwrap_or_default()
        ),
    ]
}
