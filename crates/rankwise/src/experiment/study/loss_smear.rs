//! How the losses of drawn rankings spread from where walks start (Dubey, Machchhar, Bhattacharyya and Chakrabarti,
//! ICDM 2009, Figure 7).

use super::conditional::Chosen;
use super::table::brief;
use super::{Axis, Chart, Claim, Setup, Study, StudyEntry, StudyTable};
use crate::card::Card;
use crate::data::Query;
use crate::error::{Error, Result};
use crate::learners::conditional::Conditional;
use crate::losses::conditional::{RankingSampler, Restarts};
use crate::losses::structured::is_relevant;
use crate::parallel;
use crate::rng;
use crate::watch::{Progress, Stop, Watch};
use std::time::Instant;

/// The study in the list.
pub(super) const ENTRY: StudyEntry = StudyEntry {
    card: Card {
        name: "loss-smear",
        title: "The losses of rankings drawn from different starts",
        summary: "Density of the loss Δ in the samples of conditional models, by where walks start.",
        citations: &["dubey2009conditional"],
    },
    learners: &["convex-loss"],
    varied: None,
    run,
};

const CLAIMS: [Claim; 1] = [Claim {
    citation: "dubey2009conditional",
    place: "Figure 7",
    says: "the losses drawn from starts at Δ = 1 are spread much less than those from starts at Δ = 0; where relevant documents \
           are few, some losses cannot occur at all.",
}];

/// Bars of the histogram, from a loss of 0 to 1.
const BINS: usize = 20;
/// Parameters that are tried, so they cannot be set.
const TRIED: [&str; 3] = ["restarts", "best", "skew"];

/// The losses drawn by one way of starting walks.
struct Smear {
    starts: String,
    /// The fraction of rankings in each bar.
    fractions: Vec<f64>,
    mean: f64,
    /// The standard deviation within a query, averaged over queries.
    spread: f64,
}

fn run(setup: &Setup<'_>, watch: &mut dyn Watch) -> Result<Study> {
    let name = ENTRY.card.name;
    if let Some(key) = TRIED.iter().find(|key| setup.set.contains_key(**key)) {
        return Err(Error::parameter(format!("study {name} varies {key} itself, so it cannot be set")));
    }
    let model = Chosen::only(name, setup, &[])?.by_default("gain", "ndcg").by_default("samples", 200);
    let (parameters, _) = model.parameters()?;
    let schemes = schemes(&parameters);
    let (mut smears, mut times) = (Vec::new(), Vec::new());
    for (i, (starts, restarts)) in schemes.iter().enumerate() {
        let begun = Instant::now();
        let losses = drawn(setup, &parameters, *restarts, watch.stop());
        if watch.stop().requested() {
            break;
        }
        let smear = Smear::of(starts, &losses)
            .ok_or_else(|| Error::data("no training query has both relevant and non-relevant documents"))?;
        times.push((starts.clone(), begun.elapsed().as_secs_f64()));
        let total = Some(schemes.len() as u64);
        watch.step(Progress { done: i as u64 + 1, total, what: "mean loss", value: smear.mean });
        smears.push(smear);
    }
    if smears.is_empty() {
        return Err(Error::interrupted("stopped before the first rankings were drawn"));
    }
    let (mut made, gain) = (setup.in_words(), model.settings["gain"].to_string());
    made.push(format!(
        "For each query, {} rankings by walks of {} flips of which every {} is kept; Δ = 1 − {gain}.",
        parameters.samples - 1,
        parameters.steps,
        ordinal(parameters.thinning)
    ));
    Ok(Study {
        study: name,
        title: ENTRY.card.title.to_owned(),
        made,
        table: table(&smears),
        charts: vec![Chart::lines(
            "Density of the loss",
            Axis::linear("loss", "Δ"),
            Axis::linear("density", "density"),
            "starts",
        )],
        conclusion: conclusion(&smears),
        paper: CLAIMS.to_vec(),
        interrupted: watch.stop().requested(),
        times,
    })
}

/// Ways of starting walks, the best ranking alone first and the worst alone next.
fn schemes(parameters: &Conditional) -> Vec<(String, Restarts)> {
    let ends = |best: f64| Restarts::Ends { best };
    let ladder =
        |skew: f64| (format!("ladder, k = {skew}"), Restarts::Ladder { rungs: parameters.rungs, skew });
    vec![
        ("best".to_owned(), ends(1.0)),
        ("worst".to_owned(), ends(0.0)),
        ("best with 0.9".to_owned(), ends(0.9)),
        ("best with 0.5".to_owned(), ends(0.5)),
        ladder(-20.0),
        ladder(-5.0),
        ladder(0.0),
    ]
}

/// The losses of the rankings drawn for each query with both relevant and non-relevant documents. Samples begin with
/// the perfect ranking, which is not drawn and therefore left out.
fn drawn(setup: &Setup<'_>, parameters: &Conditional, restarts: Restarts, stop: &Stop) -> Vec<Vec<f64>> {
    let sampler = RankingSampler { restarts, ..parameters.sampler() };
    let of_query = |query: Query<'_>| {
        let goods = query.labels().iter().filter(|l| is_relevant(**l, parameters.threshold)).count();
        let bads = query.len() - goods;
        if goods == 0 || bads == 0 || stop.requested() {
            return None;
        }
        let loss = parameters.ranking_loss().of(goods, bads);
        let seed = rng::derive(setup.seed, &[query.index() as u64]);
        let sample = sampler.draw(goods, bads, |state| loss.at(state.places()), seed);
        Some((1..sample.len()).map(|i| loss.at(sample.state(i).places())).collect())
    };
    let queries: Vec<usize> = (0..setup.train.query_count()).collect();
    parallel::flat_map(queries, |q| of_query(setup.train.query(q)))
}

impl Smear {
    /// Summarises the losses of each query; none where there are no losses.
    fn of(starts: &str, queries: &[Vec<f64>]) -> Option<Smear> {
        let count: usize = queries.iter().map(Vec::len).sum();
        if count == 0 {
            return None;
        }
        let mut fractions = vec![0.0; BINS];
        queries.iter().flatten().for_each(|loss| fractions[bin(*loss)] += 1.0 / count as f64);
        let mean = queries.iter().flatten().sum::<f64>() / count as f64;
        let spread = queries.iter().map(|q| deviation(q)).sum::<f64>() / queries.len() as f64;
        Some(Smear { starts: starts.to_owned(), fractions, mean, spread })
    }
}

/// The bar of a loss from 0 to 1; the last has both its ends.
fn bin(loss: f64) -> usize {
    ((loss * BINS as f64) as usize).min(BINS - 1)
}

fn deviation(values: &[f64]) -> f64 {
    let size = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / size;
    (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / size).sqrt()
}

fn table(smears: &[Smear]) -> StudyTable {
    let mut table = StudyTable::new([
        ("starts", "where walks start"),
        ("loss", "the middle of a bar of losses"),
        ("fraction", "the fraction of rankings with a loss in this bar"),
        ("density", "the fraction divided by the width of the bar"),
        ("mean", "the mean loss of all rankings"),
        ("spread", "the standard deviation of the loss within a query, averaged over queries"),
    ]);
    for smear in smears {
        for (i, fraction) in smear.fractions.iter().enumerate() {
            let numbers =
                [(i as f64 + 0.5) / BINS as f64, *fraction, fraction * BINS as f64, smear.mean, smear.spread];
            let mut row = vec![smear.starts.as_str().into()];
            row.extend(numbers.map(Into::into));
            table.rows.push(row);
        }
    }
    table
}

fn conclusion(smears: &[Smear]) -> Vec<String> {
    let in_words = |s: &Smear| {
        let filled = s.fractions.iter().filter(|fraction| **fraction > 0.0).count();
        format!(
            "Starts {}: the mean loss is {}, its spread within a query {}; {filled} of {BINS} bars are filled.",
            s.starts,
            brief(s.mean),
            brief(s.spread)
        )
    };
    let mut found: Vec<String> = smears.iter().map(in_words).collect();
    if let [best, worst, ..] = smears {
        let (than, paper) = if worst.spread < best.spread { ("less", "as") } else { ("no less", "unlike") };
        found.push(format!(
            "Losses from starts at the worst ranking are spread {than} than those from starts at the best ({} against \
             {}), {paper} in the paper.",
            brief(worst.spread),
            brief(best.spread)
        ));
    }
    found
}

fn ordinal(n: usize) -> String {
    let ending = match (n % 10, n % 100) {
        (1, rest) if rest != 11 => "st",
        (2, rest) if rest != 12 => "nd",
        (3, rest) if rest != 13 => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smear_by_hand() {
        let smear = Smear::of("x", &[vec![0.0, 0.04, 1.0, 1.0], vec![0.5, 0.5]]).unwrap();
        assert_eq!(smear.fractions.iter().filter(|s| **s > 0.0).count(), 3);
        for (bar, fraction) in [(0, 2.0), (10, 2.0), (19, 2.0)] {
            assert!((smear.fractions[bar] - fraction / 6.0).abs() < 1e-12);
        }
        assert!((smear.mean - 3.04 / 6.0).abs() < 1e-12);
        // The squares from 0.51: 0.2601 + 0.2209 + 2·0.2401 = 0.9612; the second query has no spread.
        assert!((smear.spread - 0.5 * (0.9612f64 / 4.0).sqrt()).abs() < 1e-12);
        assert!(Smear::of("x", &[]).is_none());
    }
}
