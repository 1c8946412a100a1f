//! How max-margin rankers depend on C: mean loss, objective and norm of the weights (Chakrabarti, Khanna, Sawant and
//! Bhattacharyya, KDD 2008, Figures 4 to 6), and what a warm start from the previous C saves.

use super::table::brief;
use super::{Axis, Chart, Claim, Setup, Study, StudyEntry, StudyTable, Varied, log_spaced};
use crate::card::Card;
use crate::error::{Error, Result};
use crate::learners::{Fitted, LearnerEntry};
use crate::metrics::evaluate;
use crate::models::Outcome;
use crate::recipe::{Recipe, Trainer};
use crate::watch::Watch;
use std::time::Instant;

/// The study in the list.
pub(super) const ENTRY: StudyEntry = StudyEntry {
    card: Card {
        name: "c-path",
        title: "Max-margin rankers along C",
        summary: "Mean loss, objective and norm of the weights of max-margin rankers against C; rounds with and \
                  without a warm start.",
        citations: &["chakrabarti2008structured"],
    },
    learners: &["svm-auc", "svm-map", "svm-mrr", "svm-ndcg"],
    varied: Some(Varied { name: "c", values: || log_spaced(1e-2, 1e4, 13).expect("a range above 0") }),
    run,
};

const CLAIMS: [Claim; 2] = [
    Claim {
        citation: "chakrabarti2008structured",
        place: "Figure 4",
        says: "as C grows, the mean slack falls most reliably with SVM-AUC, and with DORM and SVM-MRR, which there \
               have feature maps of their own; SVM-MAP and SVM-NDCG have a harder time.",
    },
    Claim {
        citation: "chakrabarti2008structured",
        place: "Figures 5 and 6",
        says: "relative to w = 0, the objective of DORM, SVM-AUC and SVM-MRR adapts best to C; SVM-MAP and SVM-NDCG \
               stay close to w = 0, though not quite at it.",
    },
];

/// In the paper, these adapt to C …
const ADAPTING: [&str; 3] = ["svm-auc", "svm-mrr", "dorm"];
/// … better than these.
const RELUCTANT: [&str; 2] = ["svm-map", "svm-ndcg"];

/// One learner along its C.
struct Line {
    name: &'static str,
    title: &'static str,
    points: Vec<Point>,
}

struct Point {
    c: f64,
    /// The mean loss, and that of `w = 0`.
    slack: f64,
    slack_of_zero: f64,
    objective: f64,
    dual: f64,
    gap: f64,
    norm: f64,
    rounds: u64,
    /// The objective and the rounds of a start from `w = 0`; none where that was interrupted.
    scratch: Option<(f64, u64)>,
    outcome: Outcome,
    metrics: Vec<Option<f64>>,
}

fn run(setup: &Setup<'_>, watch: &mut dyn Watch) -> Result<Study> {
    for learner in &setup.learners {
        // Checked before the first learner runs, which may take an hour.
        Recipe::new(learner.card.name).check()?.check_path(&setup.values)?;
    }
    let (mut lines, mut times) = (Vec::new(), Vec::new());
    for learner in &setup.learners {
        if watch.stop().requested() {
            break;
        }
        lines.extend(follow(setup, learner, watch, &mut times)?);
    }
    if lines.is_empty() {
        return Err(Error::interrupted("stopped before the first C was done"));
    }
    let metrics: Vec<String> = match setup.test {
        Some(_) => setup.metrics.iter().map(|m| m.name()).collect(),
        None => Vec::new(),
    };
    Ok(Study {
        study: ENTRY.card.name,
        title: ENTRY.card.title.to_owned(),
        made: setup.in_words(),
        table: table(&lines, &metrics),
        charts: charts(&metrics),
        conclusion: conclusion(&lines, &metrics),
        paper: CLAIMS.to_vec(),
        interrupted: watch.stop().requested(),
        times,
    })
}

/// The path of one learner, and every point of it again from scratch; none where no point was finished.
fn follow(
    setup: &Setup<'_>,
    learner: &'static LearnerEntry,
    watch: &mut dyn Watch,
    times: &mut Vec<(String, f64)>,
) -> Result<Option<Line>> {
    let settings = setup.settings_of(learner);
    let trainer = Recipe::new(learner.card.name).set_all(settings).seed(setup.seed).check()?;
    let (name, title) = (learner.card.name, learner.card.title);
    let begun = Instant::now();
    let path = trainer.path(&setup.values, setup.train, watch)?;
    times.push((format!("{name}, each C from the previous one"), begun.elapsed().as_secs_f64()));
    let mut points = Vec::new();
    let mut seconds = 0.0;
    let finished = path.fits.into_iter().filter(|f| f.record.outcome != Outcome::Interrupted);
    for (fitted, &c) in finished.zip(&setup.values) {
        let begun = Instant::now();
        let scratch = from_scratch(&trainer, c, setup, watch)?;
        seconds += begun.elapsed().as_secs_f64();
        points.push(point(c, path.loss_of_zero, &fitted, scratch, evaluated(setup, &fitted)?));
    }
    times.push((format!("{name}, each C from scratch"), seconds));
    Ok((!points.is_empty()).then_some(Line { name, title, points }))
}

fn from_scratch(
    trainer: &Trainer,
    c: f64,
    setup: &Setup<'_>,
    watch: &mut dyn Watch,
) -> Result<Option<(f64, u64)>> {
    let fits = trainer.path(&[c], setup.train, watch)?.fits;
    let finished = fits.iter().find(|f| f.record.outcome != Outcome::Interrupted);
    Ok(finished.map(|f| (figure(f, "primal objective"), f.record.rounds)))
}

fn evaluated(setup: &Setup<'_>, fitted: &Fitted) -> Result<Vec<Option<f64>>> {
    let Some(test) = setup.test else { return Ok(Vec::new()) };
    let values = evaluate(test, &fitted.model.scores(test)?, setup.metrics)?;
    Ok((0..setup.metrics.len()).map(|m| values.mean(m)).collect())
}

fn point(
    c: f64,
    slack_of_zero: f64,
    fitted: &Fitted,
    scratch: Option<(f64, u64)>,
    metrics: Vec<Option<f64>>,
) -> Point {
    let [slack, objective, dual, gap, norm] =
        ["mean loss", "primal objective", "dual objective", "relative duality gap", "norm of the"]
            .map(|name| figure(fitted, name));
    let (rounds, outcome) = (fitted.record.rounds, fitted.record.outcome);
    Point { c, slack, slack_of_zero, objective, dual, gap, norm, rounds, scratch, outcome, metrics }
}

fn figure(fitted: &Fitted, name: &str) -> f64 {
    let found = fitted.record.figures.iter().find(|(n, _)| n.starts_with(name));
    found.unwrap_or_else(|| panic!("a max-margin learner's record has no {name}")).1
}

impl Point {
    /// The mean loss as a fraction of the mean loss of `w = 0`.
    fn slack_ratio(&self) -> f64 {
        fraction(self.slack, self.slack_of_zero)
    }

    /// The objective as a fraction of the objective of `w = 0`.
    fn objective_ratio(&self) -> f64 {
        fraction(self.objective, self.c * self.slack_of_zero)
    }
}

/// `value / whole`, or 1 where `whole` is 0.
fn fraction(value: f64, whole: f64) -> f64 {
    if whole > 0.0 { value / whole } else { 1.0 }
}

fn table(lines: &[Line], metrics: &[String]) -> StudyTable {
    let fixed = [
        ("learner", "the learner"),
        ("c", "the weight of the mean loss"),
        ("slack", "the mean loss over training queries, an upper bound of 1 − the metric"),
        ("slack_ratio", "the slack, relative to that of w = 0"),
        ("objective", "½·norm² + c·slack"),
        ("objective_ratio", "the objective, relative to that of w = 0"),
        ("dual", "a lower bound of the objective"),
        ("gap", "(objective − dual) / objective"),
        ("norm", "the length of w, in units of the features' standard deviations unless scale = false"),
        ("rounds", "rounds, starting from the planes of the previous C"),
        ("rounds_from_scratch", "rounds, starting from w = 0"),
        ("objective_from_scratch", "the objective found from w = 0"),
        ("outcome", "how the path's fit ended"),
    ];
    let fixed = fixed.map(|(name, meaning)| (name.to_owned(), meaning.to_owned()));
    let evaluated = metrics.iter().map(|m| (m.clone(), format!("{m} on the test queries")));
    let mut table = StudyTable::new(fixed.into_iter().chain(evaluated));
    for (line, p) in lines.iter().flat_map(|line| line.points.iter().map(move |p| (line, p))) {
        let mut row = vec![line.name.into()];
        let numbers =
            [p.c, p.slack, p.slack_ratio(), p.objective, p.objective_ratio(), p.dual, p.gap, p.norm];
        row.extend(numbers.map(Into::into));
        row.push((p.rounds as f64).into());
        row.push(p.scratch.map(|(_, rounds)| rounds as f64).into());
        row.push(p.scratch.map(|(objective, _)| objective).into());
        row.push(p.outcome.in_words().into());
        row.extend(p.metrics.iter().map(|m| (*m).into()));
        table.rows.push(row);
    }
    table
}

fn charts(metrics: &[String]) -> Vec<Chart> {
    let against_c = |title: &str, y: Axis| Chart::lines(title, Axis::log("c", "C"), y, "learner");
    let mut charts = vec![
        against_c("Mean loss", Axis::linear("slack_ratio", "relative to w = 0")),
        against_c("Objective", Axis::linear("objective_ratio", "relative to w = 0")),
        against_c("Norm of the weights", Axis::log("norm", "‖w‖")),
        against_c("Rounds, from the previous C", Axis::log("rounds", "rounds")),
        against_c("Rounds, from scratch", Axis::log("rounds_from_scratch", "rounds")),
    ];
    charts.extend(metrics.iter().map(|m| against_c(&format!("{m} on the test queries"), Axis::linear(m, m))));
    charts
}

fn conclusion(lines: &[Line], metrics: &[String]) -> Vec<String> {
    let mut found: Vec<String> = lines.iter().map(along).collect();
    found.extend(order(lines));
    found.extend(beside_the_paper(lines));
    found.extend(saved(lines));
    found.extend(metrics.iter().enumerate().filter_map(|(m, name)| best_on_test(lines, m, name)));
    found.extend(unfinished(lines));
    found
}

/// How one learner depends on C.
fn along(line: &Line) -> String {
    let (first, last) = (&line.points[0], &line.points[line.points.len() - 1]);
    if line.points.iter().all(|p| p.norm == 0.0) {
        return format!(
            "{} stays at w = 0 from C = {} to {}: no weights lower the objective by more than the gap.",
            line.title, first.c, last.c
        );
    }
    format!(
        "{}: from C = {} to {}, the mean loss goes from {} to {} of that of w = 0, the objective from {} to {}, and \
         the norm of the weights from {} to {}.",
        line.title,
        first.c,
        last.c,
        percent(first.slack_ratio()),
        percent(last.slack_ratio()),
        percent(first.objective_ratio()),
        percent(last.objective_ratio()),
        brief(first.norm),
        brief(last.norm)
    )
}

/// The learners by how far their loss has fallen at the largest C.
fn order(lines: &[Line]) -> Option<String> {
    let mut last: Vec<(&str, f64)> =
        lines.iter().filter_map(|l| Some((l.title, l.points.last()?.slack_ratio()))).collect();
    last.sort_by(|a, b| a.1.total_cmp(&b.1));
    let list: Vec<String> =
        last.iter().map(|(title, ratio)| format!("{title} ({})", percent(*ratio))).collect();
    (list.len() > 1)
        .then(|| format!("Mean loss that remains at the largest C, lowest first: {}.", list.join(", ")))
}

/// Whether the learners that adapt to C in the paper adapt better than the others, by the objective at the largest C.
fn beside_the_paper(lines: &[Line]) -> Option<String> {
    let among = |names: &[&str]| -> Vec<(&str, f64)> {
        let named = lines.iter().filter(|l| names.contains(&l.name));
        named.filter_map(|l| Some((l.title, l.points.last()?.objective_ratio()))).collect()
    };
    let (adapting, reluctant) = (among(&ADAPTING), among(&RELUCTANT));
    let worst = adapting.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let best = reluctant.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let names = |of: &[(&str, f64)]| of.iter().map(|(title, _)| *title).collect::<Vec<_>>().join(" and ");
    let (adapting, reluctant) = (names(&adapting), names(&reluctant));
    let numbers = format!(
        "at the largest C, {} keeps {} of the objective of w = 0 and {} {}",
        worst.0,
        percent(worst.1),
        best.0,
        percent(best.1)
    );
    Some(if worst.1 < best.1 {
        format!("As in the paper, {adapting} adapt to C better than {reluctant}: {numbers}.")
    } else {
        format!("Unlike in the paper, {adapting} do not all adapt to C better than {reluctant}: {numbers}.")
    })
}

/// What a warm start saves.
fn saved(lines: &[Line]) -> Option<String> {
    let both = lines.iter().flat_map(|l| &l.points).filter_map(|p| Some((p.rounds, p.scratch?.1)));
    let (warm, cold) = both.fold((0, 0), |(warm, cold), (w, c)| (warm + w, cold + c));
    let fewer = 1.0 - fraction(warm as f64, cold as f64);
    let than = if fewer < 0.0 { "more" } else { "fewer" };
    (cold > 0).then(|| {
        format!(
            "Starting each C from the planes of the previous one took {warm} rounds in total, and {cold} from scratch: {} {than}.",
            percent(fewer.abs())
        )
    })
}

fn best_on_test(lines: &[Line], metric: usize, name: &str) -> Option<String> {
    let all = lines.iter().flat_map(|l| l.points.iter().map(move |p| (l.title, p)));
    let valued = all.filter_map(|(title, p)| Some((title, p.c, p.metrics[metric]?)));
    // The first of equals: the smallest C.
    let best = valued.reduce(|best, next| if next.2 > best.2 { next } else { best })?;
    Some(format!("The best {name} on the test queries is {:.4}, of {} at C = {}.", best.2, best.0, best.1))
}

fn unfinished(lines: &[Line]) -> Option<String> {
    let points = || lines.iter().flat_map(|l| &l.points);
    let open = || points().filter(|p| p.outcome != Outcome::Converged);
    let widest = open().map(|p| p.gap).fold(0.0, f64::max);
    let (count, all) = (open().count(), points().count());
    (count > 0).then(|| {
        format!(
            "{count} of {all} fits along the path used up their rounds, with a gap of up to {}.",
            brief(widest)
        )
    })
}

fn percent(fraction: f64) -> String {
    format!("{:.1} %", 100.0 * fraction)
}
