//! What is asked of every study, and what the path along C must satisfy whatever the data.

use rankwise::ErrorKind;
use rankwise::data::{Dataset, Synth, SyntheticShape};
use rankwise::experiment::study::{
    Cell, STUDIES, Setup, Study, StudyEntry, check_directory, file_names, find, write,
};
use rankwise::learners::{self, LEARNERS};
use rankwise::metrics::{Conventions, Metric, parse_list};
use rankwise::models::Record;
use rankwise::recipe::{Recipe, Start};
use rankwise::watch::{Progress, Silent, Stop, Watch};
use std::fs;

fn data(seed: u64) -> Dataset {
    let shape = SyntheticShape::named("ohsumed").unwrap();
    let small = Synth { queries: Some(15), documents: Some(20), features: Some(8), ..Synth::new(shape) };
    Synth { seed, ..small }.generate().unwrap()
}

fn metrics() -> Vec<Box<dyn Metric>> {
    parse_list("ndcg@10,map", &Conventions::default()).unwrap()
}

fn setup<'a>(train: &'a Dataset, test: &'a Dataset, metrics: &'a [Box<dyn Metric>]) -> Setup<'a> {
    Setup {
        data: "made-up".into(),
        train,
        test: Some(test),
        metrics,
        learners: Vec::new(),
        set: toml::Table::new(),
        values: Vec::new(),
        seed: 3,
    }
}

fn run(entry: &StudyEntry, seed: u64) -> Study {
    let (train, test, metrics) = (data(seed), data(seed + 100), metrics());
    entry.run(setup(&train, &test, &metrics), &mut Silent::default()).unwrap()
}

#[test]
fn every_study_fills_its_table_its_charts_and_its_conclusion() {
    let bibliography = concat!(env!("CARGO_MANIFEST_DIR"), "/references.bib");
    let bibliography = fs::read_to_string(bibliography).unwrap();
    for entry in STUDIES {
        let name = entry.card.name;
        let study = run(entry, 1);
        assert_eq!(study.study, name);
        assert!(!study.interrupted && !study.table.rows.is_empty(), "{name}");
        assert!(study.table.rows.iter().all(|row| row.len() == study.table.columns.len()), "{name}");
        assert!(study.table.columns.iter().all(|c| !c.meaning.is_empty()), "{name}");
        for chart in &study.charts {
            for axis in [&chart.x, &chart.y] {
                let place = study.table.index(&axis.column);
                assert!(study.table.rows.iter().any(|row| row[place].number().is_some()), "{}", axis.column);
            }
            let names: Vec<&str> = study.table.columns.iter().map(|c| c.name.as_str()).collect();
            assert!(chart.by.as_deref().is_none_or(|by| names.contains(&by)), "{name}: {:?}", chart.by);
        }
        assert!(
            !study.charts.is_empty() && !study.paper.is_empty() && !study.conclusion.is_empty(),
            "{name}"
        );
        let cited =
            study.paper.iter().map(|claim| claim.citation).chain(entry.card.citations.iter().copied());
        for key in cited {
            assert!(bibliography.contains(&format!("{{{key},")), "{name} cites {key}, which is not there");
        }
        let other = run(entry, 2);
        assert_ne!(study.conclusion, other.conclusion, "{name} concludes the same from other numbers");
    }
}

#[test]
fn every_study_leaves_the_same_files_at_any_number_of_threads() {
    for entry in STUDIES {
        let written = |threads: usize| {
            let directory = tempfile::tempdir().unwrap();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| write(directory.path(), &run(entry, 1))).unwrap();
            let files = file_names(entry.card.name);
            assert_eq!(fs::read_dir(directory.path()).unwrap().count(), files.len());
            files.map(|name| fs::read_to_string(directory.path().join(name)).unwrap())
        };
        let one = written(1);
        assert!(one == written(2) && one == written(5), "{}", entry.card.name);
        let svg = &one[2];
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
        assert!(!svg.contains("NaN") && !svg.contains("href") && svg.contains("prefers-color-scheme:dark"));
    }
}

/// Counts steps, and asks to stop after some.
struct After {
    done: u32,
    most: u32,
    stop: Stop,
}

impl After {
    fn new(most: u32) -> After {
        After { done: 0, most, stop: Stop::default() }
    }
}

impl Watch for After {
    fn step(&mut self, _: Progress<'_>) {
        self.done += 1;
        if self.done >= self.most {
            self.stop.request();
        }
    }

    fn stop(&self) -> &Stop {
        &self.stop
    }
}

#[test]
fn a_study_that_is_stopped_keeps_what_is_finished() {
    let (train, test, metrics) = (data(1), data(2), metrics());
    for entry in STUDIES {
        let mut count = After::new(u32::MAX);
        let whole = entry.run(setup(&train, &test, &metrics), &mut count).unwrap();
        let stopped = Silent::default();
        stopped.0.request();
        let nothing = entry.run(setup(&train, &test, &metrics), &mut { stopped });
        assert_eq!(nothing.unwrap_err().kind(), ErrorKind::Interrupted, "{}", entry.card.name);
        let mut watch = After::new(count.done / 2);
        let part = entry.run(setup(&train, &test, &metrics), &mut watch).unwrap();
        assert!(part.interrupted && part.table.rows.len() < whole.table.rows.len(), "{}", entry.card.name);
    }
}

#[test]
fn files_of_others_are_never_overwritten() {
    for entry in STUDIES {
        let study = run(entry, 1);
        let directory = tempfile::tempdir().unwrap();
        write(directory.path(), &study).unwrap();
        write(directory.path(), &study).unwrap();
        for (name, text) in file_names(entry.card.name).iter().zip(["{\"study\": \"mine\"}", "a", "b", "c"]) {
            let directory = tempfile::tempdir().unwrap();
            fs::write(directory.path().join(name), text).unwrap();
            let error = write(directory.path(), &study).unwrap_err().to_string();
            assert!(error.contains(name.as_str()) && error.contains("another directory"), "{error}");
            assert!(check_directory(directory.path(), entry).is_err());
            assert_eq!(fs::read_to_string(directory.path().join(name)).unwrap(), text);
            assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        }
    }
}

#[test]
fn a_study_refuses_what_it_cannot_run() {
    let (train, test, metrics) = (data(1), data(2), metrics());
    let refused = |change: &dyn Fn(&mut Setup<'_>)| {
        let mut setup = setup(&train, &test, &metrics);
        change(&mut setup);
        find("c-path").unwrap().run(setup, &mut Silent::default()).unwrap_err().to_string()
    };
    let regression = learners::find("regression").unwrap();
    let svm = learners::find("svm-auc").unwrap();
    assert!(refused(&|s| s.learners = vec![svm, regression]).contains("regression has no path along C"));
    assert!(refused(&|s| s.learners = vec![svm, svm]).contains("svm-auc is named twice"));
    assert!(refused(&|s| s.values = vec![1.0, -1.0]).contains("c is -1"));
    assert!(refused(&|s| s.set = toml::toml! { c = 1.0 }).contains("study c-path varies c"));
    assert!(refused(&|s| s.set = toml::toml! { gapp = 0.1 }).contains("did you mean"));
    assert!(refused(&|s| s.set = toml::toml! { gap = 7.0 }).contains("tolerance is 7"));
}

#[test]
fn studies_of_conditional_models_refuse_what_they_cannot_run() {
    let (train, test, metrics) = (data(1), data(2), metrics());
    let refused = |name: &str, change: &dyn Fn(&mut Setup<'_>)| {
        let mut setup = setup(&train, &test, &metrics);
        change(&mut setup);
        find(name).unwrap().run(setup, &mut Silent::default()).unwrap_err().to_string()
    };
    let [svm, mle, l3] = ["svm-auc", "mle", "l3"].map(|name| learners::find(name).unwrap());
    for name in ["sample-size", "restart-skew", "loss-smear", "exact-sampled", "score-loss"] {
        assert!(refused(name, &|s| s.learners = vec![svm]).contains("svm-auc is not a conditional model"));
        assert!(refused(name, &|s| s.set = toml::toml! { c = 0.0 }).contains("c is 0"));
    }
    assert!(refused("sample-size", &|s| s.values = vec![2.5]).contains("samples is 2.5"));
    let adaptive = |s: &mut Setup<'_>| s.set = toml::toml! { method = "adaptive" };
    assert!(refused("score-loss", &adaptive).contains("it must be sampled"));
    assert!(refused("exact-sampled", &|s| s.set = toml::toml! { gain = "map" }).contains("it must be auc"));
    assert!(refused("restart-skew", &|s| s.set = toml::toml! { best = 0.5 }).contains("varies best itself"));
    assert!(refused("loss-smear", &|s| s.values = vec![1.0]).contains("no varied parameter"));
    assert!(refused("score-loss", &|s| s.learners = vec![mle, l3]).contains("one learner at a time"));
}

/// What every conditional study's table must satisfy, whatever the data.
#[test]
fn tables_of_conditional_models_hold_together() {
    let column = |study: &Study, name: &str| -> Vec<f64> {
        let place = study.table.index(name);
        study.table.rows.iter().map(|row| row[place].number().unwrap()).collect()
    };
    // Each convex objective over the largest sample is least for the weights learned from it.
    let sizes = run(find("sample-size").unwrap(), 1);
    let (own, largest) = (column(&sizes, "objective"), column(&sizes, "objective_over_largest"));
    let convex = sizes.table.rows.iter().filter(|row| row[0].shown() == "convex-loss").count();
    assert_eq!(convex, 9);
    assert!((own[convex - 1] - largest[convex - 1]).abs() < 1e-6 * own[convex - 1]);
    assert!(largest[..convex].iter().all(|value| *value >= largest[convex - 1] * (1.0 - 1e-6)));
    // The bars of each histogram are a whole, and better starts give smaller losses.
    let smear = run(find("loss-smear").unwrap(), 1);
    let (fractions, means) = (column(&smear, "fraction"), column(&smear, "mean"));
    assert!(fractions.chunks(20).all(|bars| (bars.iter().sum::<f64>() - 1.0).abs() < 1e-9));
    let mean = |scheme: usize| means[20 * scheme];
    assert!(mean(0) < mean(2) && mean(2) < mean(3) && mean(3) < mean(1));
    assert!(mean(4) < mean(5) && mean(5) < mean(6));
    // What is minimised falls from step to step.
    let dynamics = run(find("exact-sampled").unwrap(), 1);
    let (exact, sampled) = (column(&dynamics, "exact"), column(&dynamics, "sampled"));
    let minimised = dynamics.table.index("minimised");
    let mut falls = 0;
    for i in 1..exact.len() {
        if dynamics.table.rows[i][0] != dynamics.table.rows[i - 1][0] {
            continue;
        }
        let by = if dynamics.table.rows[i][minimised].shown() == "exact" { &exact } else { &sampled };
        assert!(by[i] < by[i - 1], "row {i}");
        falls += 1;
    }
    assert!(falls > 20, "hardly any step was made");
    // A ranking without loss is the perfect one up to order within a class.
    let scores = run(find("score-loss").unwrap(), 1);
    let (losses, behind) = (column(&scores, "loss"), column(&scores, "behind"));
    assert!(losses.iter().zip(&behind).all(|(loss, behind)| *loss > 0.0 || *behind == 0.0));
}

/// A point of a path.
struct Point {
    learner: String,
    c: f64,
    primal: f64,
    dual: f64,
    loss: f64,
    norm: f64,
}

fn points(study: &Study) -> Vec<Point> {
    let number = |row: &[Cell], name: &str| row[study.table.index(name)].number().unwrap();
    let point = |row: &Vec<Cell>| Point {
        learner: row[0].shown(),
        c: number(row, "c"),
        primal: number(row, "objective"),
        dual: number(row, "dual"),
        loss: number(row, "slack"),
        norm: number(row, "norm"),
    };
    study.table.rows.iter().map(point).collect()
}

/// Two exact optima have `R₂ ≤ R₁` and `‖w₂‖ ≥ ‖w₁‖` for `C₂ > C₁`. Within e₁ and e₂ of them, adding up that each is
/// better than the other at its own C gives
/// `(C₂ − C₁)(R₂ − R₁) ≤ e₁ + e₂` and `(1/C₁ − 1/C₂)·½(‖w₁‖² − ‖w₂‖²) ≤ e₁/C₁ + e₂/C₂`.
#[test]
fn the_loss_falls_and_the_norm_grows_along_c() {
    let points = points(&run(find("c-path").unwrap(), 1));
    let half = |p: &Point| 0.5 * p.norm * p.norm;
    let mut falls = 0;
    for pair in points.windows(2).filter(|pair| pair[0].learner == pair[1].learner) {
        let (one, two) = (&pair[0], &pair[1]);
        let [e1, e2] = [one, two].map(|p| p.primal - p.dual);
        let tiny = 1e-12 * two.primal;
        assert!(one.c < two.c);
        assert!((two.c - one.c) * (two.loss - one.loss) <= e1 + e2 + tiny, "{} at {}", one.learner, two.c);
        let shrinks = (1.0 / one.c - 1.0 / two.c) * (half(one) - half(two));
        assert!(shrinks <= e1 / one.c + e2 / two.c + tiny, "{} at {}", one.learner, two.c);
        assert!((one.primal - half(one) - one.c * one.loss).abs() <= 1e-12 * one.primal);
        falls += u32::from(two.loss < one.loss && two.norm > one.norm);
    }
    assert!(falls > 10, "hardly anything changes with C, so this shows nothing");
}

/// A start from the planes of another C ends at the optimum that a start from nothing finds.
#[test]
fn every_path_ends_where_a_single_fit_does() {
    let train = data(5);
    let cs = [0.05, 1.0, 40.0];
    let gap = 1e-6;
    let mut followed = 0;
    for entry in LEARNERS {
        let recipe = Recipe::new(entry.card.name);
        if recipe.check().unwrap().check_path(&cs).is_err() {
            continue;
        }
        let recipe = recipe.set("tolerance", gap);
        let path = recipe.check().unwrap().path(&cs, &train, &mut Silent::default()).unwrap();
        assert_eq!(path.fits.len(), cs.len());
        for (warm, c) in path.fits.iter().zip(cs) {
            let cold = recipe.clone().set("c", c).fit(&train, None, Start::default(), &mut Silent::default());
            let (warm, cold) = (&warm.record, &cold.unwrap().record);
            let value = |record: &Record, name: &str| record.figures.iter().find(|x| x.0 == name).unwrap().1;
            let [warm_value, cold_value] = [warm, cold].map(|record| value(record, "primal objective"));
            let name = entry.card.name;
            // Two values within the gap of one optimum.
            let (low, high) = (warm_value.min(cold_value), warm_value.max(cold_value));
            assert!(high - low <= gap * high, "{name} at {c}: {warm_value} and {cold_value}");
            let dual = value(warm, "dual objective").max(value(cold, "dual objective"));
            // Two bounds of one optimum: neither may pass a value, but for rounding.
            assert!(dual <= low * (1.0 + 1e-12), "{name} at {c}: a bound of {dual}, a value of {low}");
            assert!(warm_value <= c * path.loss_of_zero * (1.0 + 1e-12), "{name} at {c}");
        }
        followed += 1;
    }
    assert!(followed >= 5, "only {followed} learners have a path");
}
