//! The tables at the end of an experiment, for a terminal of 80 columns.

use crate::output::count;
use crate::table::{self, Columns};
use rankwise::experiment::ComparisonOptions;
use rankwise::experiment::export::{
    Section, SystemRow, cut_short, four, probability, seconds, sections, tabulated, weighted,
};
use rankwise::experiment::findings::{Expectation, Findings, Times};
use rankwise::experiment::significance::ConfidenceInterval;

/// The maximum number of metrics in a table; fewer are shown if they do not fit. The files have all of them.
const MAX_METRICS: usize = 5;

/// All tables of the experiment with a caption, then expected figures and failures.
pub(crate) fn text(findings: &Findings, times: &Times) -> String {
    let sections = sections(findings, times);
    let (mut text, mut fewest) = (String::new(), usize::MAX);
    for section in &sections {
        let (table, shown) = systems(findings, section);
        fewest = fewest.min(shown);
        let queries = count(section.queries, "query", "queries");
        let folds = count(section.folds, "fold", "folds");
        text += &format!("{}\n{table}\n", table::wrap(&format!("{}: {queries}, {folds}", section.title())),);
    }
    let caption = caption(findings, times, &sections) + &dropped(findings, fewest);
    text += &format!("{}\n", table::wrap(&caption));
    text += &expectations(&findings.expectations);
    for failure in &findings.failures {
        text += &format!("\n{}\n", table::wrap(&format!("failed: {}", failure.replace('\n', " "))));
    }
    text
}

/// The numbers of the metrics to show, the selection metric first, and their columns in the rows of a section.
fn selection_first(findings: &Findings) -> (Vec<usize>, Vec<usize>) {
    let metrics = tabulated(findings);
    let mut columns: Vec<usize> = (0..metrics.len()).collect();
    columns.sort_by_key(|&column| findings.metrics[metrics[column]] != findings.selection);
    (metrics, columns)
}

/// A sentence with the metrics for which the narrowest table, with `shown` of them, has no room.
fn dropped(findings: &Findings, shown: usize) -> String {
    let (metrics, columns) = selection_first(findings);
    let names: Vec<&str> =
        columns.iter().skip(shown).map(|&column| &*findings.metrics[metrics[column]]).collect();
    match names.len() {
        0 => String::new(),
        _ => format!(" Not in every table for lack of room: {}; the files have them.", names.join(", ")),
    }
}

/// A table with as many metrics as fit, the selection metric first, and their number.
fn systems(findings: &Findings, section: &Section<'_>) -> (String, usize) {
    let (metrics, mut columns) = selection_first(findings);
    columns.truncate(MAX_METRICS);
    loop {
        let names: Vec<&str> = columns.iter().map(|&column| &*findings.metrics[metrics[column]]).collect();
        let lines = lines(section, &columns, &names);
        let unbroken = filled(&lines).unbounded().render();
        if unbroken.lines().all(|line| line.chars().count() <= usize::from(table::WIDTH)) {
            return (unbroken, columns.len());
        }
        if columns.len() <= 1 {
            return (filled(&lines).render(), columns.len());
        }
        columns.pop();
    }
}

/// The header and the rows, in the form that [`Columns`] expects.
fn lines(section: &Section<'_>, columns: &[usize], names: &[&str]) -> Vec<Vec<String>> {
    let has_seconds = section.rows.iter().any(|row| row.seconds.is_some());
    let right = |name: &str| format!(">{name}");
    let mut header = vec!["system".to_owned()];
    header.extend(names.first().map(|name| right(name)));
    header.push(format!(">{} % CI", percent()));
    header.push(right("p"));
    header.extend(names.iter().skip(1).map(|name| right(name)));
    header.extend(has_seconds.then(|| right("sec")));
    let line = |row: &SystemRow<'_>| {
        let mean = |&column: &usize| or_dash(row.means[column].map(four));
        let mut cells = vec![row.system.to_owned()];
        cells.extend(columns.first().map(mean));
        cells.push(if row.failed { "failed".into() } else { or_dash(row.interval.map(short_range)) });
        cells.push(or_dash(row.p.map(probability)));
        cells.extend(columns.iter().skip(1).map(mean));
        cells.extend(has_seconds.then(|| or_dash(row.seconds.map(seconds))));
        cells
    };
    std::iter::once(header).chain(section.rows.iter().map(line)).collect()
}

/// An interval with three decimals, which are precise enough and leave room for one more metric.
fn short_range(interval: ConfidenceInterval) -> String {
    format!("{:.3}…{:.3}", interval.low, interval.high)
}

/// The confidence of the intervals, in percent.
fn percent() -> f64 {
    100.0 * ComparisonOptions::default().confidence
}

fn or_dash(cell: Option<String>) -> String {
    cell.unwrap_or_else(|| "–".into())
}

fn filled(lines: &[Vec<String>]) -> Columns {
    let header: Vec<&str> = lines[0].iter().map(String::as_str).collect();
    let mut columns = Columns::new(&header).close();
    lines[1..].iter().for_each(|line| columns.row(line));
    columns
}

fn caption(findings: &Findings, times: &Times, sections: &[Section<'_>]) -> String {
    let mut caption = format!(
        "Means over test queries{}, with the {} % bootstrap CI of {metric}; preset {}; seed {}.",
        weighted(findings),
        percent(),
        findings.preset,
        findings.seed,
        metric = findings.selection
    );
    if findings.has_choices() {
        caption += &format!(" Parameters chosen by {} on validation queries.", findings.selection);
    }
    if findings.repeats > 1 {
        caption += &format!(" Every value is the mean of {} repeats.", findings.repeats);
    }
    if sections.iter().flat_map(|section| &section.rows).any(|row| row.p.is_some()) {
        caption += " p: paired randomisation test against the best system, adjusted by Holm's method for all pairs \
                    of systems.";
    }
    if !times.systems.is_empty() {
        caption += " sec: training time in seconds, all folds.";
        if !times.one_at_a_time {
            caption += " Jobs ran in parallel, so times are only roughly comparable.";
        }
    }
    if let Some(cut) = cut_short(findings) {
        caption += &format!(" {cut}");
    }
    caption
}

fn expectations(expectations: &[Expectation]) -> String {
    if expectations.is_empty() {
        return String::new();
    }
    let mut columns = Columns::new(&["system", "data", "metric", ">expected", ">found", ""]).close();
    for e in expectations {
        let met = if e.met { "met" } else { "not met" };
        let expected = format!("{}±{}", e.value, e.within);
        columns.row([&*e.system, &e.data, &e.metric, &expected, &or_dash(e.found.map(four)), met]);
    }
    let met = expectations.iter().filter(|e| e.met).count();
    let figures = count(expectations.len(), "figure", "figures");
    format!(
        "\n{}{met} of {figures} met. found: the mean over folds, as papers report it.\n",
        columns.render()
    )
}

#[cfg(test)]
#[path = "../../rankwise/tests/sample/mod.rs"]
mod sample;

#[cfg(test)]
mod tests {
    use super::{sample, text};
    use rankwise::experiment::findings::{Expectation, Times};

    const TEN: [&str; 10] = [
        "coordinate-ascent",
        "lambda-mart",
        "broken-forest",
        "svm-ndcg",
        "list-net",
        "regression",
        "rank-boost",
        "random-forest",
        "approx-ndcg",
        "boltz-rank",
    ];

    fn assert_narrow(text: &str) {
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
        }
    }

    #[test]
    fn ten_systems_on_two_data_sets_fit_a_terminal() {
        let mut findings = sample::findings(&TEN, &[("ohsumed", 40, 5), ("td2004", 25, 5)]);
        let expectation = Expectation {
            data: "ohsumed".into(),
            system: "coordinate-ascent".into(),
            metric: "precision@10".into(),
            value: 0.4423,
            within: 0.005,
            source: "LETOR 3.0".into(),
            found: Some(0.4399),
            met: true,
        };
        findings.expectations =
            vec![expectation.clone(), Expectation { found: None, met: false, ..expectation }];
        findings.failures = vec![
            "broken-forest on ohsumed, fold 2: the data have no feature that is not constant in every query"
                .into(),
        ];
        let text = text(&findings, &sample::times(&findings));
        assert_narrow(&text);
        for part in [
            "ohsumed: 40 queries, 5 folds",
            "all data sets together: 65 queries, 10 folds",
            "preset letor",
            "Holm's",
            "1 of 2 figures met.",
            "failed: broken-forest on ohsumed",
        ] {
            let unbroken = text.replace("\n  ", " ");
            assert!(unbroken.contains(part), "{part} is missing from\n{text}");
        }
        let first = text.lines().nth(1).unwrap().split_whitespace().collect::<Vec<_>>();
        assert_eq!(first[..7], ["system", "ndcg@10", "95", "%", "CI", "p", "map"]);
        for name in TEN {
            let rows = text.lines().filter(|line| line.trim_start().starts_with(name)).count();
            let expected = 3 + 2 * usize::from(name == "coordinate-ascent");
            assert_eq!(rows, expected, "one unbroken row for {name} in every table:\n{text}");
        }
    }

    #[test]
    fn a_failed_system_comes_last_and_the_best_has_no_p() {
        let findings = sample::findings(&["broken", "good", "fair"], &[("web", 30, 5)]);
        let text = text(&findings, &Times::default());
        let cells = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let rows: Vec<Vec<String>> = text.lines().skip(3).take(3).map(cells).collect();
        assert_eq!([&rows[0][0], &rows[1][0], &rows[2][0]], ["good", "fair", "broken"]);
        assert_eq!((&*rows[0][3], &*rows[1][3]), ("–", "<0.0001"));
        assert_eq!(rows[2][..4], ["broken", "–", "failed", "–"]);
        assert!(!text.contains(" sec"), "nothing was timed");
    }

    #[test]
    fn four_metrics_with_short_names_fit_beside_the_longest_learner() {
        let mut findings = sample::findings(&TEN, &[("ohsumed", 40, 5)]);
        findings.metrics[2..4].clone_from_slice(&["ndcg@5".into(), "p@10".into()]);
        let mut times = sample::times(&findings);
        times.systems.iter_mut().for_each(|t| t.train_seconds = Some(12_345.6));
        let text = text(&findings, &times);
        assert_narrow(&text);
        let header: Vec<&str> = text.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(header, ["system", "ndcg@10", "95", "%", "CI", "p", "map", "ndcg@5", "p@10", "sec"]);
        assert!(!text.contains("for lack of room"), "{text}");
    }

    #[test]
    fn long_names_leave_room_for_fewer_metrics() {
        let name = "lambda-mart-with-a-name-that-goes-on-and-on-and-on";
        let findings = sample::findings(&[name, "b"], &[("web", 30, 5)]);
        let text = text(&findings, &sample::times(&findings));
        assert_narrow(&text);
        let header = text.lines().nth(1).unwrap();
        assert!(header.contains("ndcg@10") && !header.contains("err@20"), "{header}");
        // The selection metric comes first, then the others as asked for.
        let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let kept =
            ["map", "precision@10", "err@20"].iter().take_while(|name| header.contains(**name)).count();
        let lacking = ["map", "precision@10", "err@20"][kept..].join(", ");
        assert!(said.contains(&format!("for lack of room: {lacking}; the files have them.")), "{text}");
    }
}
