//! CSV for spreadsheets and notebooks: a header, then one row per observation. Folds and repeats count from 1. A cell
//! is empty where there is no value.

use super::super::findings::{DataFindings, Findings, SystemFindings, Times};
use super::value;
use crate::data::{push_f64, push_field};

/// CSV text, written cell by cell.
pub(in crate::experiment) struct Sheet(Vec<u8>);

impl Sheet {
    pub(in crate::experiment) fn new<'a>(header: impl IntoIterator<Item = &'a str>) -> Self {
        let mut sheet = Sheet(Vec::new());
        header.into_iter().for_each(|name| sheet.text(name));
        sheet.end_row();
        sheet
    }

    pub(in crate::experiment) fn text(&mut self, text: &str) {
        push_field(&mut self.0, text, b',');
        self.0.push(b',');
    }

    pub(in crate::experiment) fn number(&mut self, number: Option<f64>) {
        if let Some(number) = number {
            push_f64(&mut self.0, number);
        }
        self.0.push(b',');
    }

    fn count(&mut self, count: usize) {
        self.text(&count.to_string());
    }

    /// Every cell is followed by a comma; the last comma of a row becomes its line end.
    pub(in crate::experiment) fn end_row(&mut self) {
        if let Some(last) = self.0.last_mut() {
            *last = b'\n';
        }
    }

    pub(in crate::experiment) fn finish(self) -> String {
        String::from_utf8(self.0).expect("only whole strings and digits were written")
    }
}

/// The value of every metric for every system on every test query.
pub fn per_query_csv(findings: &Findings) -> String {
    let header = ["data", "fold", "query", "system"].into_iter();
    let mut sheet = Sheet::new(header.chain(findings.metrics.iter().map(String::as_str)));
    for data in &findings.data {
        for (query, (id, &fold)) in data.query_ids.iter().zip(&data.query_folds).enumerate() {
            for (number, system) in findings.systems.iter().enumerate() {
                sheet.text(&data.name);
                sheet.count(fold + 1);
                sheet.text(id);
                sheet.text(&system.name);
                (0..findings.metrics.len()).for_each(|m| sheet.number(value(data, number, m, query)));
                sheet.end_row();
            }
        }
    }
    sheet.finish()
}

/// Every setting that was tried, its parameters as `name=value`, separated by spaces.
pub fn trials_csv(findings: &Findings) -> String {
    let mut sheet = Sheet::new(["data", "fold", "repeat", "system", "fraction", "valid", "parameters"]);
    for (data, system, name) in each_system(findings) {
        for trial in &system.trials {
            sheet.text(&data.name);
            sheet.count(trial.fold + 1);
            sheet.count(trial.repeat + 1);
            sheet.text(name);
            sheet.number(Some(trial.fraction));
            sheet.number(trial.valid);
            sheet.text(&assignments(&trial.parameters));
            sheet.end_row();
        }
    }
    sheet.finish()
}

fn each_system(findings: &Findings) -> impl Iterator<Item = (&DataFindings, &SystemFindings, &str)> {
    findings.data.iter().flat_map(|data| {
        data.systems.iter().zip(&findings.systems).map(move |(found, system)| (data, found, &*system.name))
    })
}

/// `c=10 gain=exp2`, as typed on the command line.
fn assignments(parameters: &toml::Table) -> String {
    let plain = |value: &toml::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    parameters.iter().map(|(key, value)| format!("{key}={}", plain(value))).collect::<Vec<_>>().join(" ")
}

/// The seconds of each system on each data set.
pub fn times_csv(times: &Times) -> String {
    let mut sheet = Sheet::new(["data", "system", "search_seconds", "train_seconds", "score_seconds"]);
    for time in &times.systems {
        sheet.text(&time.data);
        sheet.text(&time.system);
        sheet.number(Some(time.search_seconds));
        sheet.number(time.train_seconds);
        sheet.number(time.score_seconds);
        sheet.end_row();
    }
    sheet.finish()
}
