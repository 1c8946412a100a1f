//! Propensities against Newton's method, against exact expectations, and in simulations.

use super::paired::{PairTerm, maximize, terms};
use super::*;
use crate::clicks::simulate::{Randomization, SimulatedRanker, SimulatedUser, Simulation};
use crate::clicks::{Click, Session};
use crate::data::Synth;
use crate::rng;
use rand::RngExt;

/// Sessions with one document at one rank, as many as are needed to have these counts; `q` and `d` name the document.
fn shown_at(log: &mut Vec<Session>, d: usize, rank: usize, shown: usize, clicks: usize) {
    for number in 0..shown {
        let mut documents: Vec<String> =
            (1..rank).map(|above| format!("x{}-{d}-{rank}-{number}-{above}", log.len())).collect();
        documents.push(format!("d{d}"));
        let clicked = (number < clicks).then(|| Click { doc: format!("d{d}"), time: None });
        log.push(Session {
            query: "q".into(),
            shown: documents,
            clicks: clicked.into_iter().collect(),
            ..Session::default()
        });
    }
}

/// Newton's method with dense matrices and halved steps, from another formula: the probabilities of both ranks.
fn by_newton(terms: &[PairTerm], ranks: usize, smoothing: f64) -> Vec<f64> {
    let value = |u: &[f64]| {
        let of_term = |t: &PairTerm| {
            let (a, b) = (u[t.ranks.0].exp() * t.log_ratio.exp(), u[t.ranks.1].exp());
            t.clicks.0 * (a / (a + b)).ln() + t.clicks.1 * (b / (a + b)).ln()
        };
        let bends: f64 = u.windows(3).map(|w| (w[0] - 2.0 * w[1] + w[2]).powi(2)).sum();
        terms.iter().map(of_term).sum::<f64>() - 0.5 * smoothing * bends
    };
    let mut u = vec![0.0_f64; ranks];
    for _ in 0..200 {
        let (mut gradient, mut hessian) = (vec![0.0; ranks], vec![vec![0.0; ranks]; ranks]);
        let mut add = |places: &[usize], direction: &[f64], slope: f64, bend: f64| {
            for (&i, &di) in places.iter().zip(direction) {
                gradient[i] += slope * di;
                places.iter().zip(direction).for_each(|(&j, &dj)| hessian[i][j] += bend * di * dj);
            }
        };
        for t in terms {
            let (a, b) = (u[t.ranks.0].exp() * t.log_ratio.exp(), u[t.ranks.1].exp());
            let p = a / (a + b);
            let all = t.clicks.0 + t.clicks.1;
            add(&[t.ranks.0, t.ranks.1], &[1.0, -1.0], t.clicks.0 - all * p, -all * p * (1.0 - p));
        }
        for r in 1..ranks.max(2) - 1 {
            let bend = u[r - 1] - 2.0 * u[r] + u[r + 1];
            add(&[r - 1, r, r + 1], &[1.0, -2.0, 1.0], -smoothing * bend, -smoothing);
        }
        // Gaussian elimination without the first rank, whose u is 0.
        let n = ranks - 1;
        let mut rows: Vec<Vec<f64>> =
            (1..ranks).map(|i| hessian[i][1..].iter().copied().chain([-gradient[i]]).collect()).collect();
        for i in 0..n {
            let best = (i..n).max_by(|&a, &b| rows[a][i].abs().total_cmp(&rows[b][i].abs())).unwrap();
            rows.swap(i, best);
            for j in (0..n).filter(|&j| j != i) {
                let factor = rows[j][i] / rows[i][i];
                (i..=n).for_each(|k| rows[j][k] -= factor * rows[i][k]);
            }
        }
        let before = value(&u);
        let mut length = 1.0;
        loop {
            let next: Vec<f64> = (0..ranks)
                .map(|r| if r == 0 { 0.0 } else { u[r] + length * rows[r - 1][n] / rows[r - 1][r - 1] })
                .collect();
            if value(&next) >= before || length < 1e-9 {
                u = next;
                break;
            }
            length /= 2.0;
        }
    }
    u.into_iter().map(f64::exp).collect()
}

#[test]
fn paired_ranks_are_the_optimum_that_newtons_method_finds() {
    let mut random = rng::stream(1, &[]);
    for case in 0..12 {
        let ranks = 2 + case % 6;
        let mut log = Vec::new();
        for d in 0..15 {
            for rank in 1..=ranks {
                let shown = random.random_range(1..9);
                shown_at(&mut log, d, rank, shown, random.random_range(0..=shown));
            }
        }
        let counts: ClickCounts = log.iter().collect();
        let terms = terms(&counts, &counts.shown_ranks(u32::MAX));
        for smoothing in [0.0, 1.0, 30.0] {
            let found = PairedRanks { smoothing, ..PairedRanks::default() }.estimate(&counts).unwrap();
            assert!(found.converged && found.theta[0] == 1.0);
            let expected = by_newton(&terms, ranks, smoothing);
            let close = found.theta.iter().zip(&expected).all(|(f, e)| (f / e - 1.0).abs() < 1e-6);
            assert!(close, "{ranks} {smoothing}: {:?} {expected:?}", found.theta);
        }
    }
}

/// With clicks in exactly the expected numbers, the propensities are found exactly.
#[test]
fn expected_clicks_give_the_true_propensities() {
    let truth = [1.0, 0.5, 0.25, 0.2];
    let mut log = Vec::new();
    for (d, relevance) in [1.0, 0.5, 0.25].into_iter().enumerate() {
        for (rank, theta) in (1..).zip(truth) {
            let shown = 80 * (1 + (d + rank) % 3);
            shown_at(&mut log, d, rank, shown, (shown as f64 * theta * relevance) as usize);
        }
    }
    let counts: ClickCounts = log.iter().collect();
    let paired = PairedRanks { smoothing: 0.0, ..PairedRanks::default() }.estimate(&counts).unwrap();
    assert!(paired.theta.iter().zip(truth).all(|(f, e)| (f - e).abs() < 1e-6), "{paired:?}");
    let options = FitOptions {
        iterations: 20_000,
        tolerance: 1e-15,
        prior: crate::clicks::models::Prior { clicks: 0.0, views: 0.0 },
        ..FitOptions::default()
    };
    let em = Propensities::by_em(&counts, u32::MAX, &options).unwrap();
    // The documents that only fill the ranks above were never clicked, which EM explains without propensities.
    assert!(em.theta.iter().zip(truth).all(|(f, e)| (f - e).abs() < 0.02), "{em:?}");
    let top = PairedRanks { smoothing: 0.0, depth: 2 }.estimate(&counts).unwrap();
    assert!((top.theta[1] - 0.5).abs() < 1e-6 && top.theta.len() == 2);
}

#[test]
fn swap_experiments_give_ratios_of_clicks() {
    let swap = |ranks: [u32; 2], clicks: &[&str], count: usize| {
        let shown = ["a", "b", "c"].map(str::to_owned).into();
        let clicks = clicks.iter().map(|doc| Click { doc: (*doc).to_owned(), time: None }).collect();
        vec![Session { query: "q".into(), shown, clicks, swap: Some(ranks), ..Session::default() }; count]
    };
    let log = [
        swap([1, 2], &["a"], 40),
        swap([2, 1], &["b"], 30),
        swap([1, 3], &["a"], 20),
        swap([1, 3], &["c"], 5),
    ]
    .concat();
    let found = Propensities::by_swap(&log.iter().collect()).unwrap();
    assert!((found.theta[1] - 0.75).abs() < 1e-6 && (found.theta[2] - 0.25).abs() < 1e-6, "{found:?}");
    let apart = [swap([2, 3], &["b"], 4), swap([2, 3], &["c"], 4)].concat();
    let refused = Propensities::by_swap(&apart.iter().collect()).unwrap_err().to_string();
    assert!(refused.contains("{1}, {2–3}"), "{refused}");
    let refused = Propensities::by_swap(&swap([1, 2], &["a"], 4).iter().collect()).unwrap_err().to_string();
    assert!(refused.contains("clicked only at one of two ranks"), "{refused}");
    assert!(Propensities::by_swap(&ClickCounts::default()).is_err());
}

#[test]
fn where_documents_do_not_move_estimation_is_refused_with_the_reason() {
    let mut log = Vec::new();
    for (d, rank) in [(0, 1), (0, 2), (1, 3), (1, 4), (2, 4), (2, 5)] {
        shown_at(&mut log, d, rank, 4, 2);
    }
    let counts: ClickCounts = log.iter().collect();
    let refused = [
        PairedRanks::default().estimate(&counts).unwrap_err().to_string(),
        Propensities::by_em(&counts, u32::MAX, &FitOptions::default()).unwrap_err().to_string(),
    ];
    for refused in refused {
        assert!(refused.contains("{1–2}, {3–5}"), "{refused}");
    }
    assert_eq!(PairedRanks { depth: 2, ..PairedRanks::default() }.estimate(&counts).unwrap().theta.len(), 2);
    // A document that moved without ever being clicked connects nothing.
    shown_at(&mut log, 3, 2, 3, 0);
    shown_at(&mut log, 3, 3, 3, 0);
    assert!(PairedRanks::default().estimate(&log.iter().collect()).is_err());
    shown_at(&mut log, 3, 3, 1, 1);
    assert!(PairedRanks::default().estimate(&log.iter().collect()).is_ok());
    let never_below = |smoothing| {
        let mut log = Vec::new();
        shown_at(&mut log, 0, 1, 4, 2);
        shown_at(&mut log, 0, 2, 4, 0);
        PairedRanks { smoothing, ..PairedRanks::default() }
            .estimate(&log.iter().collect())
            .unwrap_err()
            .to_string()
    };
    assert!(never_below(1.0).contains("none was clicked at its lower rank"));
    assert!(never_below(0.0).contains("clicked only at one of two ranks"));
    assert!(PairedRanks::default().estimate(&ClickCounts::default()).is_err());
    assert!(maximize(&[], &[1], 0.0).is_ok());
}

#[test]
fn simulated_propensities_are_found_again() {
    let data = Synth { queries: Some(40), documents: Some(15), ..Synth::demo() }.generate().unwrap();
    let rankers: Vec<SimulatedRanker> = (0..3)
        .map(|column| SimulatedRanker {
            name: format!("f{column}"),
            scores: (0..data.len()).map(|i| f64::from(data.row(i).get(column))).collect(),
        })
        .collect();
    let simulation = |eta, randomization| Simulation {
        user: SimulatedUser::PositionBased { eta },
        sessions: 400,
        randomization,
        ..Simulation::default()
    };
    let counts = |simulation: Simulation| -> ClickCounts {
        ClickCounts::of(simulation.sessions(&data, &rankers).unwrap().map(Ok)).unwrap()
    };
    let mean_error = |found: &Propensities, eta: f64| {
        assert_eq!((found.theta.len(), found.theta[0]), (10, 1.0));
        let error = |(rank, theta): (usize, &f64)| (theta * ((rank + 1) as f64).powf(eta) - 1.0).abs();
        found.theta.iter().enumerate().map(error).sum::<f64>() / 10.0
    };
    for eta in [0.5, 1.0] {
        let moved = counts(simulation(eta, Randomization::None));
        let paired = PairedRanks::default().estimate(&moved).unwrap();
        assert!(mean_error(&paired, eta) < 0.15, "{eta} {paired:?}");
        let em = Propensities::by_em(&moved, 10, &FitOptions::default()).unwrap();
        assert!(mean_error(&em, eta) < 0.3, "{eta} {em:?}");
        let swap = Propensities::by_swap(&counts(simulation(eta, Randomization::Swap))).unwrap();
        assert!(mean_error(&swap, eta) < 0.15, "{eta} {swap:?}");
    }
}

#[test]
fn propensities_are_written_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("theta.json");
    let theta = Propensities::given(vec![1.0, 0.3]).unwrap();
    theta.write(&path).unwrap();
    assert_eq!(Propensities::read(&path).unwrap(), theta);
    std::fs::write(&path, r#"{"method": "em", "theta": [1, -1], "converged": true}"#).unwrap();
    assert!(Propensities::read(&path).unwrap_err().to_string().contains("rank 2 is -1"));
    assert!(Propensities::given(Vec::new()).is_err());
    // Known propensities may be written by hand.
    for text in [" [2, 1]", r#"{"theta": [1, 0.5]}"#] {
        std::fs::write(&path, text).unwrap();
        assert_eq!(Propensities::read(&path).unwrap(), Propensities::given(vec![1.0, 0.5]).unwrap());
    }
    for text in ["[]", "[1, 0]", "[1, \"x\"]", "{\"ranks\": [1]}"] {
        std::fs::write(&path, text).unwrap();
        let refused = Propensities::read(&path).unwrap_err().to_string();
        assert!(refused.contains("theta.json holds no propensities: "), "{refused}");
    }
}

/// Documents at the ranks 1, 2 and `last`, where every document was clicked in proportion to the propensities.
fn with_gap(last: u32) -> ClickCounts {
    let mut log = Vec::new();
    for (document, positions) in [("a", [1, 2, last]), ("b", [2, last, 1]), ("c", [last, 1, 2])] {
        for (rank, clicks) in positions.map(|rank| (rank, if rank == last { 10 } else { 80 / rank as usize }))
        {
            for number in 0..160 {
                let click = Click { doc: document.to_owned(), time: None };
                log.push(Session {
                    query: "q".into(),
                    shown: vec![document.to_owned()],
                    positions: Some(vec![rank]),
                    clicks: (number < clicks).then_some(click).into_iter().collect(),
                    ..Session::default()
                });
            }
        }
    }
    log.iter().collect()
}

#[test]
fn ranks_that_were_never_shown_are_interpolated_with_a_note() {
    let counts = with_gap(5);
    let em = Propensities::by_em(&counts, u32::MAX, &FitOptions::default()).unwrap();
    let paired = |smoothing| PairedRanks { smoothing, ..PairedRanks::default() }.estimate(&counts).unwrap();
    for found in [em, paired(0.0), paired(1.0)] {
        assert_eq!((found.theta.len(), &found.interpolated[..]), (5, &[3, 4][..]));
        let ln: Vec<f64> = found.theta.iter().map(|theta| theta.ln()).collect();
        assert!((ln[1] - ln[2] - (ln[4] - ln[1]) / -3.0).abs() < 1e-12, "{found:?}");
        assert!(found.theta.is_sorted_by(|a, b| a > b), "{found:?}");
        let note = "nothing was shown at ranks 3–4; propensities there are interpolated between those of the nearest ranks";
        assert_eq!(found.notes(), [note]);
    }
    // Without smoothing, other ranks are as if there was no gap.
    let (apart, adjacent) = (paired(0.0), PairedRanks { smoothing: 0.0, ..PairedRanks::default() });
    let adjacent = adjacent.estimate(&with_gap(3)).unwrap();
    assert!((apart.theta[4] - adjacent.theta[2]).abs() < 1e-9 && adjacent.notes().is_empty());
    // It is kept in the file.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("theta.json");
    apart.write(&path).unwrap();
    assert_eq!(Propensities::read(&path).unwrap().interpolated, [3, 4]);
}

/// The penalty of a gap is the least that any values of the ranks between would cost, as they lie on a line, but for the
/// weight of a bend between gaps.
#[test]
fn smoothing_knows_how_far_apart_ranks_are() {
    // Clicks that fit a straight line of ln θ exactly, at ranks 1, 2 and 5: no smoothing bends it.
    let cell = |clicks: f64| Cell { shown: 1_000_000, clicks: clicks as u64 };
    let theta = |rank: u32| 400_000.0 * (-0.3 * f64::from(rank - 1)).exp();
    let ranks = [1, 2, 5];
    let cells = ranks.map(|rank| cell(theta(rank)));
    let pairs = [(0, 1), (1, 2), (0, 2)];
    let terms = pairs.map(|(a, b)| PairTerm::new((a, cells[a]), (b, cells[b])));
    for smoothing in [0.0, 1.0, 1e9] {
        let (found, converged) = maximize(&terms, &ranks, smoothing).unwrap();
        assert!(converged);
        let close = found.iter().zip(ranks).all(|(f, rank)| (f / theta(rank) * theta(1) - 1.0).abs() < 1e-4);
        assert!(close, "{smoothing}: {found:?}");
    }
}

#[test]
fn one_session_with_a_rank_far_down_costs_nothing() {
    let mut log = Vec::new();
    for (number, shown) in [["a", "b"], ["b", "a"]].iter().cycle().take(60).enumerate() {
        let clicks = if number % 3 == 0 { &shown[..2] } else { &shown[..1] };
        log.push(Session {
            query: "q".into(),
            shown: shown.map(str::to_owned).into(),
            clicks: clicks.iter().map(|doc| Click { doc: (*doc).to_owned(), time: None }).collect(),
            positions: (number == 0).then(|| vec![1, 9999]),
            ..Session::default()
        });
    }
    let counts: ClickCounts = log.iter().collect();
    let found = PairedRanks::default().estimate(&counts).unwrap();
    assert!(found.converged && found.theta.len() == 9999 && found.interpolated.len() == 9996, "{found:?}");
    let table: crate::clicks::SessionTable = log.iter().collect();
    let ubm = crate::clicks::models::ClickModelKind::Ubm;
    let fitted = crate::clicks::models::ClickModel::fit(ubm, &table, &FitOptions::default()).unwrap();
    let crate::clicks::models::Browsing::Ubm { examination } = fitted.model.browsing else { unreachable!() };
    let lengths: usize = examination.iter().map(Vec::len).sum();
    assert_eq!((examination.len(), lengths), (9999, 1 + 2 + 9999));
}
