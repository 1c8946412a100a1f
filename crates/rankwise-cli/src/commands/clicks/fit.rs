use crate::click_log::{LogArgs, SHOWN_RANKS, more_ranks, summary};
use crate::{output, table};
use anyhow::{Result, ensure};
use clap::Args;
use rankwise::clicks::SplitSessions;
use rankwise::clicks::models::{
    Browsing, ClickModel, ClickModelKind, FitOptions, FittedModel, ModelEvaluation,
};
use serde_json::json;
use std::path::PathBuf;

/// Fit a click model: its parameters, its perplexity by rank and its likelihood on held-out sessions.
#[derive(Args)]
#[command(
    after_help = "The models: pbm (position-based), cascade, dcm (dependent click), sdbn and dbn (simplified and full dynamic \
    Bayesian network), ubm (user browsing).\n\n\
    A perplexity of 1 foresees every click at a rank, 2 is as good as guessing. The parameters are those of the sessions \
    that are not held out; with --held-out 0, of all.\n\n\
    Examples:\n  rankwise clicks fit pbm log.jsonl\n  \
    rankwise clicks fit dbn log.jsonl --held-out 0 -o dbn.json"
)]
pub(crate) struct Fit {
    /// The model: pbm, cascade, dcm, sdbn, dbn or ubm
    model: String,

    #[command(flatten)]
    log: LogArgs,

    /// Write the parameters to this file, as JSON
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// The fraction of sessions to evaluate on, chosen by a hash of their ids
    #[arg(long, default_value_t = 0.1, value_name = "X")]
    held_out: f64,

    /// The largest number of iterations of expectation maximisation
    #[arg(long, default_value_t = FitOptions::default().iterations, value_name = "N")]
    iterations: usize,

    /// Stop when an iteration improves the objective by less than this fraction
    #[arg(long, default_value_t = FitOptions::default().tolerance, value_name = "X")]
    tolerance: f64,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Fit {
    pub(crate) fn run(self) -> Result<()> {
        let kind = ClickModelKind::named(&self.model)?;
        if let Some(out) = &self.output {
            output::prepare_to_write(out, &self.log.read())?;
        }
        let mut split = SplitSessions::new(self.held_out)?;
        let report = self.log.each(|session| split.add(session))?;
        ensure!(split.fitted.sessions() > 0, "all sessions are held out; give a smaller --held-out");
        let options =
            FitOptions { iterations: self.iterations, tolerance: self.tolerance, ..FitOptions::default() };
        let fitted = ClickModel::fit(kind, &split.fitted, &options)?;
        if let Some(out) = &self.output {
            fitted.model.write(out)?;
        }
        let on_fitted = fitted.model.evaluate(&split.fitted)?;
        let on_held_out = match split.held_out.sessions() {
            0 => None,
            _ => Some(fitted.model.evaluate(&split.held_out)?),
        };
        if self.held_out > 0.0 && on_held_out.is_none() {
            output::note("the log is so short that no session is held out");
        }
        note_doubts(&fitted, &on_fitted, on_held_out.as_ref());
        if self.json {
            let mut value = json!({
                "model": kind,
                "iterations": fitted.iterations,
                "converged": fitted.converged,
                "fitted": on_fitted,
                "held_out": on_held_out,
                "log": report,
            });
            match &fitted.model.browsing {
                Browsing::Pbm { examination } => value["examination"] = json!(examination),
                Browsing::Ubm { examination } => value["examination"] = json!(examination),
                Browsing::Dcm { continuation } => value["continuation"] = json!(continuation),
                Browsing::Dbn { continuation, .. } => value["continuation"] = json!(continuation),
                Browsing::Cascade | Browsing::Sdbn { .. } => {}
            }
            return output::print_json(&value);
        }
        let text = as_text(&fitted, &on_fitted, on_held_out.as_ref());
        output::print(&text)
    }
}

fn note_doubts(fitted: &FittedModel, on_fitted: &ModelEvaluation, on_held_out: Option<&ModelEvaluation>) {
    if !fitted.converged {
        let iterations = output::count(fitted.iterations, "iteration", "iterations");
        output::note(format!("the model has not converged after {iterations}; give more --iterations"));
    }
    let impossible = on_fitted.impossible + on_held_out.map_or(0, |found| found.impossible);
    if impossible > 0 {
        let sessions = output::count(impossible as usize, "session has", "sessions have");
        output::note(format!(
            "{sessions} clicks that the model rules out, such as a second click; they are left out of the likelihood"
        ));
    }
    let unknown = on_held_out.map_or(0, |found| found.unknown_documents);
    if unknown > 0 {
        let times = output::count(unknown as usize, "time", "times");
        output::note(format!(
            "in held-out sessions, a document that the model does not know was shown {times}"
        ));
    }
}

fn as_text(
    fitted: &FittedModel,
    on_fitted: &ModelEvaluation,
    on_held_out: Option<&ModelEvaluation>,
) -> String {
    let mut lines = table::Columns::new(&["", ">fitted to", ">held out"]);
    let held_out = |of: &dyn Fn(&ModelEvaluation) -> String| on_held_out.map_or("–".to_owned(), of);
    for (what, of) in [
        ("sessions", &sessions as &dyn Fn(&ModelEvaluation) -> String),
        ("log-likelihood per session", &|found| format!("{:.4}", found.log_likelihood)),
        ("perplexity, mean of ranks", &|found| format!("{:.4}", found.perplexity)),
    ] {
        lines.row([what, &of(on_fitted), &held_out(of)]);
    }
    format!("{}\n{}\n{}", parameters(fitted), lines.render(), by_rank(fitted, on_fitted, on_held_out))
}

fn sessions(found: &ModelEvaluation) -> String {
    output::thousands((found.sessions + found.impossible) as usize)
}

fn parameters(fitted: &FittedModel) -> String {
    let iterations = match fitted.iterations {
        0 => "–, the model is counted".to_owned(),
        n if fitted.converged => format!("{n}, converged"),
        n => format!("{n}, not converged"),
    };
    let continuation = match fitted.model.browsing {
        Browsing::Dbn { continuation, .. } => format!("{continuation:.4}"),
        _ => "–".to_owned(),
    };
    let documents: usize = fitted.model.attractiveness.values.values().map(|of_query| of_query.len()).sum();
    summary([
        ("model", fitted.model.kind().name().to_owned()),
        ("documents of queries", output::thousands(documents)),
        ("iterations", iterations),
        ("continuation", continuation),
    ])
}

/// What the model says about a rank: the name of the column, and a probability per rank.
fn rank_parameter(browsing: &Browsing) -> Option<(&'static str, Vec<f64>)> {
    match browsing {
        Browsing::Pbm { examination } => Some((">examination", examination.clone())),
        Browsing::Dcm { continuation } => Some((">continuation", continuation.clone())),
        Browsing::Ubm { examination } => {
            let before_a_click = |by_last: &Vec<f64>| by_last.first().copied().unwrap_or(f64::NAN);
            Some((">examination before a click", examination.iter().map(before_a_click).collect()))
        }
        Browsing::Cascade | Browsing::Sdbn { .. } | Browsing::Dbn { .. } => None,
    }
}

fn by_rank(
    fitted: &FittedModel,
    on_fitted: &ModelEvaluation,
    on_held_out: Option<&ModelEvaluation>,
) -> String {
    let parameter = rank_parameter(&fitted.model.browsing);
    let mut header = vec![">rank"];
    header.extend(parameter.as_ref().map(|(name, _)| *name));
    header.extend([">perplexity", ">held out"]);
    let mut lines = table::Columns::new(&header);
    let number = |value: Option<&f64>| match value {
        Some(value) if !value.is_nan() => table::four(*value),
        _ => "–".to_owned(),
    };
    let ranks = on_fitted.perplexity_by_rank.len();
    for place in 0..ranks.min(SHOWN_RANKS) {
        let mut cells = vec![(place + 1).to_string()];
        // A rank at which nothing was shown has the mean of the prior, which says nothing.
        let is_shown = !on_fitted.perplexity_by_rank[place].is_nan();
        cells.extend(parameter.as_ref().map(|(_, values)| number(values.get(place).filter(|_| is_shown))));
        cells.push(number(on_fitted.perplexity_by_rank.get(place)));
        cells.push(number(on_held_out.and_then(|found| found.perplexity_by_rank.get(place))));
        lines.row(cells);
    }
    format!("{}{}", lines.render(), more_ranks(ranks))
}
