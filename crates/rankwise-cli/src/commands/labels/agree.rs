use super::JudgmentArgs;
use crate::{output, table};
use anyhow::Result;
use clap::Args;
use rankwise::labels::{Agreement, AgreementOptions, Estimate, Estimates, QueryAgreement};
use serde_json::json;

/// Show how well judges agree: percentage, Cohen's and Fleiss's κ, Krippendorff's α.
#[derive(Args)]
#[command(
    after_help = "κ and α are 1 where judges agree and 0 where they agree no more than by chance. Weighted κ, and α for \
    ordinal and interval grades, count near grades as half right. Intervals are of resampled documents.\n\n\
    Examples:\n  rankwise labels agree judgments.csv\n  \
    rankwise labels agree a.csv b.csv --judge annotator --per-query\n  \
    rankwise labels agree judgments.csv --json | jq .estimates.alpha_ordinal"
)]
pub(crate) struct Agree {
    #[command(flatten)]
    judgments: JudgmentArgs,

    /// Show the agreement on every query
    #[arg(long)]
    per_query: bool,

    /// Show the agreement of every two judges
    #[arg(long)]
    per_pair: bool,

    /// Level of the intervals
    #[arg(long, default_value_t = 0.95, value_name = "X")]
    confidence: f64,

    /// Resamples of documents for the intervals
    #[arg(long, default_value_t = 1000, value_name = "N")]
    resamples: usize,

    /// Random seed
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Agree {
    pub(crate) fn run(self) -> Result<()> {
        let judgments = self.judgments.read()?;
        let options =
            AgreementOptions { resamples: self.resamples, confidence: self.confidence, seed: self.seed };
        let found = Agreement::new(&judgments, &options)?;
        if self.json {
            let mut value = serde_json::to_value(&found)?;
            value["queries"] = json!(QueryAgreement::all(&judgments, &options)?);
            value["confidence"] = json!(self.confidence);
            return output::print_json(&value);
        }
        let mut text = format!("{}\n{}\n{}", sizes(&found), self.overall(&found), self.by_judge(&found));
        if self.per_pair {
            text += &format!("\n{}", by_pair(&found));
        }
        if self.per_query {
            text += &format!("\n{}", self.by_query(&QueryAgreement::all(&judgments, &options)?));
        }
        output::print(&text)
    }

    fn interval_header(&self) -> String {
        format!(">{} % CI", (1e4 * self.confidence).round() / 100.0)
    }

    fn overall(&self, found: &Agreement) -> String {
        let mut table = table::Columns::new(&["coefficient", ">value", &self.interval_header()]);
        for (name, estimate) in named(&found.estimates) {
            table.row([name, &value(estimate), &interval(estimate)]);
        }
        table.render()
    }

    fn by_judge(&self, found: &Agreement) -> String {
        let header =
            ["judge", ">judgments", ">mean", ">equal", ">Cohen's κ", &self.interval_header(), ">weighted"];
        let mut table = table::Columns::new(&header).close();
        for judge in &found.judges {
            table.row([
                judge.judge.clone(),
                output::thousands(judge.judgments),
                format!("{:.2}", judge.mean_grade),
                value(judge.percentage),
                value(judge.cohen),
                interval(judge.cohen),
                value(judge.cohen_quadratic),
            ]);
        }
        format!(
            "{}{}",
            table.render(),
            table::wrap("Each judge with all others; weighted: Cohen's κ with quadratic weights.\n")
        )
    }

    fn by_query(&self, queries: &[QueryAgreement]) -> String {
        let header = [
            "query",
            ">documents",
            ">equal",
            ">Cohen's κ",
            ">Fleiss's κ",
            ">α ordinal",
            &self.interval_header(),
        ];
        let mut table = table::Columns::new(&header).close();
        for query in queries {
            let Estimates { percentage, cohen, fleiss, alpha_ordinal, .. } = query.estimates;
            let mut cells = vec![query.query.clone(), output::thousands(query.documents)];
            cells.extend([percentage, cohen, fleiss, alpha_ordinal].map(value));
            cells.push(interval(alpha_ordinal));
            table.row(cells);
        }
        table.render()
    }
}

fn sizes(found: &Agreement) -> String {
    let grades = match &found.grades[..] {
        [first, .., last] if found.grades.len() > 20 => {
            format!("{}, from {first} to {last}", output::thousands(found.grades.len()))
        }
        few => few.iter().map(f64::to_string).collect::<Vec<_>>().join(", "),
    };
    crate::click_log::summary([
        ("judgments", output::thousands(found.judgments)),
        ("documents", output::thousands(found.documents)),
        ("  judged by two or more", output::thousands(found.judged_twice)),
        ("judges", output::thousands(found.judges.len())),
        ("queries", output::thousands(found.queries)),
        ("grades", grades),
    ])
}

fn named(estimates: &Estimates) -> [(&'static str, Option<Estimate>); 8] {
    [
        ("equal judgments", estimates.percentage),
        ("Cohen's κ", estimates.cohen),
        ("  linear weights", estimates.cohen_linear),
        ("  quadratic weights", estimates.cohen_quadratic),
        ("Fleiss's κ", estimates.fleiss),
        ("Krippendorff's α, nominal", estimates.alpha_nominal),
        ("  ordinal", estimates.alpha_ordinal),
        ("  interval", estimates.alpha_interval),
    ]
}

fn by_pair(found: &Agreement) -> String {
    let mut table = table::Columns::new(&[
        "judge",
        "judge",
        ">documents",
        ">equal",
        ">Cohen's κ",
        ">linear",
        ">quadratic",
    ]);
    for pair in &found.pairs {
        let [a, b] = &pair.judges;
        table.row([
            a.clone(),
            b.clone(),
            output::thousands(pair.documents as usize),
            number(pair.percentage),
            number(pair.cohen),
            number(pair.cohen_linear),
            number(pair.cohen_quadratic),
        ]);
    }
    table.render()
}

/// A value, or a dash where it is not defined.
fn number(value: Option<f64>) -> String {
    value.map_or("–".into(), |value| format!("{value:.3}"))
}

fn value(estimate: Option<Estimate>) -> String {
    number(estimate.map(|estimate| estimate.value))
}

fn interval(estimate: Option<Estimate>) -> String {
    let interval = estimate.and_then(|estimate| estimate.interval);
    interval.map_or("–".into(), |ci| format!("{:.3} to {:.3}", ci.low, ci.high))
}
