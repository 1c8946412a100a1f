//! Files and tables of an experiment, read back.

mod sample;

use rankwise::experiment::export::{latex, markdown, per_query_csv, sections, times_csv, trials_csv};
use rankwise::experiment::findings::{Expectation, Findings, Times, Trial};

/// Names that mean something in every format.
const AWKWARD: &str = "a_b & \"c\", 50% {x}\\y | *z* [1] <t>\n--#$^~";

fn two_sets() -> Findings {
    let mut findings = sample::findings(&["first", "broken", "third"], &[("web", 30, 5), ("books", 12, 3)]);
    findings.systems[2].name = AWKWARD.into();
    findings.data[1].name = "books, \"old\"".into();
    findings.data[0].query_ids[4] = "q,5\n\"x\"".into();
    findings
}

fn records(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

#[test]
fn every_value_reads_back_from_csv_exactly() {
    let mut findings = two_sets();
    findings.data[0].systems[0].values.set(3, 0, Some(1e-300));
    findings.data[0].systems[0].values.set(3, 1, Some(1.0 / 3.0));
    findings.data[0].systems[0].values.set(3, 2, Some(1.0));
    let rows = records(&per_query_csv(&findings));
    assert_eq!(rows[0][..5], ["data", "fold", "query", "system", "map"].map(String::from));
    assert_eq!(rows[0][4..], findings.metrics);
    assert_eq!(rows.len(), 1 + 42 * 3);
    let mut rows = rows[1..].iter();
    for data in &findings.data {
        for (query, id) in data.query_ids.iter().enumerate() {
            for (system, info) in findings.systems.iter().enumerate() {
                let row = rows.next().unwrap();
                let fold = (data.query_folds[query] + 1).to_string();
                assert_eq!(row[..4], [&data.name, &fold, id, &info.name].map(String::clone));
                for (metric, cell) in row[4..].iter().enumerate() {
                    let value = data.systems[system].values.get(metric, query);
                    let read = (!cell.is_empty()).then(|| cell.parse::<f64>().unwrap());
                    assert_eq!(read.map(f64::to_bits), value.map(f64::to_bits));
                }
            }
        }
    }
}

#[test]
fn trials_and_times_read_back() {
    let mut findings = two_sets();
    let parameters = toml::from_str("c = 0.5\ngain = 'exp2'\ndepths = [1, 2]").unwrap();
    let trial = Trial { fold: 4, repeat: 1, parameters, fraction: 0.25, valid: None };
    findings.data[0].systems[2].trials =
        vec![trial.clone(), Trial { fraction: 1.0, valid: Some(0.1), ..trial }];
    let rows = records(&trials_csv(&findings));
    assert_eq!(rows[0].join(" "), "data fold repeat system fraction valid parameters");
    let parameters = "c=0.5 gain=exp2 depths=[1, 2]";
    assert_eq!(rows[1], ["web", "5", "2", AWKWARD, "0.25", "", parameters]);
    assert_eq!(rows[2][4..6], ["1", "0.1"]);
    assert_eq!(rows.len(), 3);
    let rows = records(&times_csv(&sample::times(&findings)));
    assert_eq!(rows[3], ["web", AWKWARD, "10.25", "4.5", ""]);
    assert_eq!(rows.len(), 1 + 2 * 3);
}

/// A line's cells: what stands between the pipes that no backslash hides.
fn cells(line: &str) -> Vec<String> {
    let hidden = line.replace("\\\\", "\u{1}").replace("\\|", "\u{2}");
    let cells: Vec<String> = hidden.split('|').map(|cell| cell.trim().to_owned()).collect();
    assert!(cells.first().is_some_and(String::is_empty) && cells.last().is_some_and(String::is_empty));
    cells[1..cells.len() - 1].to_vec()
}

#[test]
fn markdown_tables_are_whole() {
    let mut findings = two_sets();
    let expected = Expectation {
        data: "web".into(),
        system: "a|b".into(),
        metric: "map".into(),
        value: 0.5,
        within: 0.001,
        source: "Table 2".into(),
        found: Some(0.52),
        met: false,
    };
    findings.expectations = vec![expected.clone(), Expectation { found: None, ..expected }];
    findings.failures = vec!["`broken` failed:\nno memory".into()];
    let text = markdown(&findings, &sample::times(&findings));
    let tables: Vec<Vec<Vec<String>>> = text
        .split("\n\n")
        .filter(|block| block.starts_with('|'))
        .map(|block| block.lines().map(cells).collect())
        .collect();
    assert_eq!(tables.iter().map(Vec::len).collect::<Vec<_>>(), [5, 5, 5, 4]);
    for table in &tables {
        assert!(table.iter().all(|row| row.len() == table[0].len()), "{table:?}");
    }
    let head = ["system", "map", "ndcg@10", "precision@10", "err@20", "95 % CI", "p", "seconds"];
    assert_eq!(tables[0][0], head);
    assert_eq!(tables[0][2][0], "first");
    assert!(tables[0][2][1..5].iter().all(|cell| cell.starts_with("**0.") && cell.len() == 10));
    assert_eq!(tables[0][2][6..], ["–", "0.50"]);
    assert!(!tables[0][3].join("").contains("**"));
    assert_eq!(tables[0][3][6..], ["\\<0.0001", "4.50"]);
    assert_eq!(tables[0][4][0], "broken (failed)");
    assert_eq!(tables[2][2][7], "1.00", "the seconds on both data sets");
    assert_eq!(tables[3][2], ["web", "a\u{2}b", "map", "Table 2", "0.5 ± 0.001", "0.5200", "no"]);
    assert!(text.contains("\n- \\`broken\\` failed: no memory\n"));
    assert!(text.contains("100000 random sign assignments") && text.contains("preset letor (gain=exp2"));
}

#[test]
fn tables_show_the_selection_metric_and_no_empty_column_of_seconds() {
    let mut findings = sample::findings(&["only"], &[("web", 6, 2)]);
    findings.selection = "ndcg@1".into();
    let text = markdown(&findings, &Times::default());
    let header = text.lines().find(|line| line.starts_with('|')).unwrap();
    assert_eq!(
        cells(header),
        ["system", "ndcg@1", "map", "ndcg@10", "precision@10", "err@20", "95 % CI", "p"]
    );
    assert!(!text.contains("p: ") && !text.contains("Seconds"), "nothing was compared or timed");
}

#[test]
fn a_time_limit_is_mentioned() {
    let mut findings = sample::findings(&["slow", "fast"], &[("web", 6, 2)]);
    assert!(!markdown(&findings, &Times::default()).contains("time limit"));
    findings.data[0].systems[0].cut_short = true;
    assert!(markdown(&findings, &Times::default()).contains("slow on web."));
}

#[test]
fn latex_tables_are_whole_and_escaped() {
    let findings = two_sets();
    let text = latex(&findings, &sample::times(&findings));
    let body: String = text.lines().filter(|line| !line.starts_with('%')).map(|l| format!("{l}\n")).collect();
    let plain = body.replace("\\{", "").replace("\\}", "");
    assert_eq!(plain.matches('{').count(), plain.matches('}').count());
    for environment in ["table", "tabular"] {
        for edge in ["begin", "end"] {
            assert_eq!(
                body.matches(&format!("\\{edge}{{{environment}}}")).count(),
                3,
                "{edge} {environment}"
            );
        }
    }
    assert_eq!(body.matches("\\begin{tabular}{lrrrrr}").count(), 3);
    let rows: Vec<&str> = body.lines().filter(|line| line.ends_with("\\\\")).collect();
    assert_eq!(rows.len(), 3 * 4);
    for row in &rows {
        assert_eq!(row.replace("\\&", "").matches('&').count(), 5, "{row}");
        assert!(!row.trim_start().starts_with(['[', '*']));
    }
    let escaped = r#"a\_b \& "c", 50\% \{x\}\textbackslash{}y \textbar{} {*}z{*} {[}1{]} \textless{}t\textgreater{} -{}-\#\$\textasciicircum{}\textasciitilde{}"#;
    assert!(rows[2].trim_start().starts_with(escaped), "{}", rows[2]);
    assert!(text.contains("\\label{tab:sample-books---old-}") && text.contains("\\label{tab:sample-all}"));
}

#[test]
fn daggers_mark_what_is_worse_beyond_chance_and_bold_what_is_best() {
    let findings = sample::findings(&["first", "second"], &[("web", 30, 5)]);
    let text = latex(&findings, &Times::default());
    let row = |name: &str| text.lines().find(|l| l.trim_start().starts_with(name)).unwrap().to_owned();
    assert_eq!(row("first").matches("\\textbf{").count(), 4);
    assert!(!row("first").contains("dagger") && row("second").matches("dagger").count() == 1);
    assert!(row("second").split(" & ").nth(2).unwrap().ends_with("$^\\dagger$"), "only ndcg@10 was tested");
    // With four queries no difference reaches 0.05: at least 2 of 16 sign assignments are as far out.
    let few = latex(&sample::findings(&["first", "second"], &[("web", 4, 2)]), &Times::default());
    assert!(!few.contains("dagger"));
}

/// Each of four systems is worse than the one before on all of seven queries, so every p is 2/128. Holm's correction for
/// all six pairs makes it 6/64; one for the three pairs with the best alone would be below the level.
#[test]
fn every_table_corrects_for_all_pairs() {
    let findings = sample::findings(&["a", "b", "c", "d"], &[("web", 7, 1)]);
    let all = findings.data[0].standing.all_pairs.as_ref().unwrap();
    assert!(all.pairs.iter().all(|p| p.p_permutation == 2.0 / 128.0 && p.p_permutation_holm == 6.0 / 64.0));
    let rows = sections(&findings, &Times::default()).remove(0).rows;
    assert_eq!(
        rows.iter().map(|row| row.p).collect::<Vec<_>>(),
        [None, Some(6.0 / 64.0), Some(6.0 / 64.0), Some(6.0 / 64.0)]
    );
    let (latex, markdown) = (latex(&findings, &Times::default()), markdown(&findings, &Times::default()));
    assert!(!latex.contains("dagger"), "{latex}");
    assert_eq!(markdown.matches("0.0938").count(), 3, "{markdown}");
    assert!(
        latex.contains("Holm's correction for all pairs")
            && markdown.contains("Holm's correction for all pairs")
    );
}

#[test]
fn sections_hold_every_system_once_and_the_folds_of_all_data_sets() {
    let findings = two_sets();
    let sections = sections(&findings, &Times::default());
    assert_eq!(
        sections.iter().map(|s| (s.queries, s.folds)).collect::<Vec<_>>(),
        [(30, 5), (12, 3), (42, 8)]
    );
    for section in &sections {
        let names: Vec<&str> = section.rows.iter().map(|row| row.system).collect();
        assert_eq!(names, ["first", AWKWARD, "broken"]);
        assert_eq!(section.rows.iter().map(|row| row.failed).collect::<Vec<_>>(), [false, false, true]);
    }
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_holds_what_csv_holds() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    use rankwise::experiment::export::write_per_query_parquet;
    let findings = two_sets();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("values.parquet");
    write_per_query_parquet(&findings, &path).unwrap();
    let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
    let mut rows = records(&per_query_csv(&findings)).into_iter();
    let header = rows.next().unwrap();
    for row in reader.get_row_iter(None).unwrap() {
        let expected = rows.next().unwrap();
        for (column, (name, field)) in row.unwrap().get_column_iter().enumerate() {
            assert_eq!(*name, header[column]);
            match field {
                Field::Str(text) => assert_eq!(*text, expected[column]),
                Field::UInt(number) => assert_eq!(number.to_string(), expected[column]),
                Field::Double(number) => assert_eq!(*number, expected[column].parse::<f64>().unwrap()),
                Field::Null => assert_eq!("", expected[column]),
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(rows.next(), None);
}
