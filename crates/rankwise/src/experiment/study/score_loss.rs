//! Whether the model's score of a ranking or its loss decides (Dubey, Machchhar, Bhattacharyya and Chakrabarti, ICDM
//! 2009, Figure 8).

use super::conditional::{Chosen, median, task};
use super::iterates::iterates;
use super::table::brief;
use super::{Axis, Chart, Claim, Setup, Study, StudyEntry, StudyTable};
use crate::card::Card;
use crate::data::Query;
use crate::error::{Error, Result};
use crate::learners::conditional::{Conditional, sampled_risk};
use crate::losses::conditional::{RankingSample, RankingSampler, RankingState, Restarts};
use crate::losses::structured::is_relevant;
use crate::rng;
use crate::solvers::Regularized;
use crate::watch::Watch;
use std::time::Instant;

/// The study in the list.
pub(super) const ENTRY: StudyEntry = StudyEntry {
    card: Card {
        name: "score-loss",
        title: "Scores of rankings against their losses",
        summary: "w·φ of rankings against their loss Δ, early in learning a conditional model and at its end.",
        citations: &["dubey2009conditional"],
    },
    learners: &["convex-loss"],
    varied: None,
    run,
};

const CLAIMS: [Claim; 1] = [Claim {
    citation: "dubey2009conditional",
    place: "Figure 8",
    says: "over 10 rankings of each of 10 queries, Δ is always quite small compared with w·φ averaged over the first \
           10 steps; only at w = 0 it is not.",
}];

/// Queries looked at, evenly over all.
const QUERIES: usize = 10;
/// Rankings of each.
const RANKINGS: usize = 10;
/// Steps after which to look; and at the end.
const AFTER: [usize; 2] = [1, 10];

/// The rankings of a query.
struct Drawn {
    query: usize,
    goods: Vec<usize>,
    bads: Vec<usize>,
    sample: RankingSample,
    losses: Vec<f64>,
}

/// The model's scores after some steps.
struct Look {
    after: String,
    points: Vec<Point>,
}

struct Point {
    query: String,
    loss: f64,
    score: f64,
    /// By how much the perfect ranking scores more: w·δφ.
    behind: f64,
}

fn run(setup: &Setup<'_>, watch: &mut dyn Watch) -> Result<Study> {
    let name = ENTRY.card.name;
    let model = Chosen::only(name, setup, &[("method", "sampled")])?
        .by_default("gain", "ndcg")
        .by_default("samples", 200);
    let ((parameters, optimisation), begun) = (model.parameters()?, Instant::now());
    let risk = sampled_risk(&parameters, optimisation.linear.scale, model.form, &task(setup), watch.stop());
    let stopped = || Error::interrupted("stopped before the first step was made");
    if watch.stop().requested() {
        return Err(stopped());
    }
    let objective = Regularized { risk: &risk, c: 0.5 * optimisation.linear.c };
    let path = iterates(&optimisation.linear.lbfgs(), &objective, vec![0.0; setup.train.width()], watch);
    let drawn = drawn(setup, &parameters);
    if drawn.is_empty() {
        return Err(Error::data("no training query has both relevant and non-relevant documents"));
    }
    let steps = path.len() - 1;
    let mut looks = Vec::new();
    for after in AFTER.into_iter().filter(|after| *after < path.len()) {
        let words = if after == 1 { "after 1 step".to_owned() } else { format!("after {after} steps") };
        looks.push(look(setup, &parameters, words, &risk.in_data_units(&path[after]), &drawn));
    }
    if !watch.stop().requested() && !AFTER.contains(&steps) {
        looks.push(look(setup, &parameters, "at the end".into(), &risk.in_data_units(&path[steps]), &drawn));
    }
    if looks.is_empty() {
        return Err(stopped());
    }
    let mut made = setup.in_words();
    made.push(format!(
        "{} was learned in {steps} steps. Looked at are {} queries with {RANKINGS} rankings each, by walks from a \
         ladder of losses.",
        model.title(),
        drawn.len()
    ));
    Ok(Study {
        study: name,
        title: ENTRY.card.title.to_owned(),
        made,
        table: table(&looks),
        charts: charts(),
        conclusion: looks.iter().filter_map(in_words).collect(),
        paper: CLAIMS.to_vec(),
        interrupted: watch.stop().requested(),
        times: vec![(model.name().to_owned(), begun.elapsed().as_secs_f64())],
    })
}

/// Rankings of all kinds of losses, each by a walk of its own, for some queries with both relevant and non-relevant documents.
fn drawn(setup: &Setup<'_>, parameters: &Conditional) -> Vec<Drawn> {
    let is_relevant = |query: &Query<'_>, i: &usize| is_relevant(query.labels()[*i], parameters.threshold);
    let classes = |query: Query<'_>| {
        let (goods, bads): (Vec<usize>, Vec<usize>) = (0..query.len()).partition(|i| is_relevant(&query, i));
        (!goods.is_empty() && !bads.is_empty()).then(|| (query.index(), goods, bads))
    };
    let all: Vec<_> = setup.train.queries().filter_map(classes).collect();
    let restarts = Restarts::Ladder { rungs: parameters.rungs, skew: 0.0 };
    let steps = parameters.steps;
    let sampler = RankingSampler { size: RANKINGS + 1, steps, thinning: steps, restarts };
    let draw = |(query, goods, bads): &(usize, Vec<usize>, Vec<usize>)| {
        let loss = parameters.ranking_loss().of(goods.len(), bads.len());
        let of_state = |state: &RankingState<'_>| loss.at(state.places());
        let seed = rng::derive(setup.seed, &[u64::MAX, *query as u64]);
        let sample = sampler.draw(goods.len(), bads.len(), of_state, seed);
        let losses = (0..sample.len()).map(|i| of_state(&sample.state(i))).collect();
        Drawn { query: *query, goods: goods.clone(), bads: bads.clone(), sample, losses }
    };
    let (count, kept) = (all.len(), all.len().min(QUERIES));
    (0..kept).map(|i| draw(&all[i * count / kept])).collect()
}

/// All rankings but the perfect one that samples begin with.
fn look(
    setup: &Setup<'_>,
    parameters: &Conditional,
    after: String,
    weights: &[f64],
    drawn: &[Drawn],
) -> Look {
    let mut points = Vec::new();
    for d in drawn {
        let query = setup.train.query(d.query);
        let scores = |class: &[usize]| class.iter().map(|&i| query.row(i).dot(weights)).collect::<Vec<f64>>();
        let (goods, bads) = (scores(&d.goods), scores(&d.bads));
        let kappa = parameters.kappa.of(goods.len(), bads.len());
        let score = |i: usize| kappa * map_score(&goods, &bads, &d.sample.state(i));
        let perfect = score(0);
        points.extend((1..d.sample.len()).map(|i| Point {
            query: query.id().to_owned(),
            loss: d.losses[i],
            score: score(i),
            behind: perfect - score(i),
        }));
    }
    Look { after, points }
}

/// `Σ y_gb (s_g − s_b)`: a good counts once for each bad that it beats and less once for each that is ahead, and a bad
/// the other way round.
fn map_score(goods: &[f64], bads: &[f64], state: &RankingState<'_>) -> f64 {
    let sum = |scores: &[f64], wrong: &[u32], others: usize| {
        scores.iter().zip(wrong).map(|(s, w)| s * (others as f64 - 2.0 * f64::from(*w))).sum::<f64>()
    };
    sum(goods, state.non_relevant_ahead(), bads.len()) - sum(bads, state.relevant_behind(), goods.len())
}

fn table(looks: &[Look]) -> StudyTable {
    let mut table = StudyTable::new([
        ("after", "how far the model was learned"),
        ("query", "a training query"),
        ("loss", "Δ of one of its rankings"),
        ("score", "w·φ of that ranking"),
        ("behind", "by how much the perfect ranking scores more: w·δφ"),
    ]);
    for look in looks {
        for p in &look.points {
            let mut row = vec![look.after.as_str().into(), p.query.as_str().into()];
            row.extend([p.loss, p.score, p.behind].map(Into::into));
            table.rows.push(row);
        }
    }
    table
}

fn charts() -> Vec<Chart> {
    let loss = || Axis::linear("loss", "Δ");
    vec![
        Chart::points("Score of the ranking", loss(), Axis::linear("score", "w·φ"), "after"),
        Chart::points("Behind the perfect ranking", loss(), Axis::linear("behind", "w·δφ"), "after"),
    ]
}

/// How large scores are beside losses, and whether worse rankings score less.
fn in_words(look: &Look) -> Option<String> {
    let of = |value: fn(&Point) -> f64| look.points.iter().map(value).collect::<Vec<f64>>();
    let (losses, scores) = (of(|p| p.loss), of(|p| p.score));
    let all = look.points.len();
    let larger = look.points.iter().filter(|p| p.score.abs() > p.loss).count();
    let paper = if larger == all { "as in the paper" } else { "in the paper for all" };
    Some(format!(
        "Rankings {}: the median of |w·φ| is {}, that of Δ {}; |w·φ| is the larger for {larger} of {all} rankings, {paper}. \
         The correlation of w·δφ with Δ within a \
         query is {:.3} on average.",
        look.after,
        brief(median(scores.iter().map(|s| s.abs()).collect())?),
        brief(median(losses)?),
        within_queries(&look.points)
    ))
}

/// The mean over queries of the correlation of w·δφ with Δ; scores of different queries have different sizes.
fn within_queries(points: &[Point]) -> f64 {
    let of = |points: &[Point], value: fn(&Point) -> f64| points.iter().map(value).collect::<Vec<f64>>();
    let queries = points.chunk_by(|a, b| a.query == b.query);
    let each: Vec<f64> = queries.map(|q| correlation(&of(q, |p| p.behind), &of(q, |p| p.loss))).collect();
    each.iter().sum::<f64>() / each.len().max(1) as f64
}

/// Pearson's correlation; 0 where one of the two does not vary.
fn correlation(x: &[f64], y: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (mx, my) = (mean(x), mean(y));
    let sum = |f: &dyn Fn(f64, f64) -> f64| x.iter().zip(y).map(|(x, y)| f(x - mx, y - my)).sum::<f64>();
    let sizes = (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt();
    if sizes > 0.0 { sum(&|x, y| x * y) / sizes } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With one good, or one bad, the counts tell each pair: `y = −1` where the count is 1.
    #[test]
    fn a_score_is_the_sum_over_pairs() {
        let draw = |goods: usize, bads: usize| {
            let restarts = Restarts::Ends { best: 0.5 };
            RankingSampler { size: 40, steps: 3, thinning: 1, restarts }.draw(goods, bads, |_| 0.0, 1)
        };
        let (one, many) = (0.5, [2.0, 0.25, -3.0]);
        let sign = |count: &u32| if *count == 1 { -1.0 } else { 1.0 };
        let (one_good, one_bad) = (draw(1, 3), draw(3, 1));
        let mut seen = 0;
        for i in 0..40 {
            let state = one_good.state(i);
            let pairs: f64 = many.iter().zip(state.relevant_behind()).map(|(b, c)| sign(c) * (one - b)).sum();
            assert!((map_score(&[one], &many, &state) - pairs).abs() < 1e-12);
            seen |= 1 << state.non_relevant_ahead()[0];
            let state = one_bad.state(i);
            let pairs: f64 =
                many.iter().zip(state.non_relevant_ahead()).map(|(g, c)| sign(c) * (g - one)).sum();
            assert!((map_score(&many, &[one], &state) - pairs).abs() < 1e-12);
        }
        assert_eq!(seen, 0b1111, "not every place of the good was tried");
    }

    #[test]
    fn correlations_by_hand() {
        assert!((correlation(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]) - 1.0).abs() < 1e-12);
        assert!((correlation(&[1.0, 2.0, 3.0], &[1.0, 0.0, 1.0])).abs() < 1e-12);
        assert_eq!(correlation(&[1.0, 1.0], &[0.0, 3.0]), 0.0);
    }
}
