//! What may surprise about a data set, in sentences.

use super::Stats;
use crate::data::Dataset;

/// Grades above this overflow an exponential gain long before they mean anything.
const GREATEST_GRADE: f32 = 30.0;
/// A feature that spreads further than this drowns the others in a linear model.
const WIDEST_SPREAD: f64 = 1e6;
/// How many features a sentence names before it only counts them.
const NAMED: usize = 5;

pub(super) fn sentences(data: &Dataset, stats: &Stats) -> Vec<String> {
    [labels(stats), queries(data, stats), documents(stats), features(data, stats)].concat()
}

fn labels(stats: &Stats) -> Vec<String> {
    let count = |odd: fn(f32) -> bool| -> usize {
        stats.grades.iter().filter(|g| odd(g.grade)).map(|g| g.documents).sum()
    };
    let mut said = Vec::new();
    let (negative, broken) = (count(|g| g < 0.0), count(|g| g.fract() != 0.0));
    if negative > 0 {
        said.push(format!("{} a negative grade.", have(negative, "document")));
    }
    if broken > 0 {
        said.push(format!("{} a grade that is not a whole number.", have(broken, "document")));
    }
    let great = count(|g| g > GREATEST_GRADE);
    if great > 0 {
        said.push(format!(
            "{} a grade above {GREATEST_GRADE}; an exponential gain of 2^grade is useless there, use a linear one.",
            have(great, "document")
        ));
    }
    if stats.grades.len() == 1 {
        said.push(format!(
            "All documents have the grade {}; there is nothing to learn.",
            stats.grades[0].grade
        ));
    }
    said
}

fn queries(data: &Dataset, stats: &Stats) -> Vec<String> {
    let mut said = Vec::new();
    if stats.queries_without_relevant > 0 {
        said.push(format!("{} no relevant document.", have(stats.queries_without_relevant, "query")));
    }
    if stats.queries_of_one_grade > 0 {
        said.push(format!("{} only documents of one grade.", have(stats.queries_of_one_grade, "query")));
    }
    if stats.queries_of_one_document > 0 {
        said.push(format!("{} a single document.", have(stats.queries_of_one_document, "query")));
    }
    let numbers: Option<Vec<u64>> = data.queries().map(|q| q.id().parse().ok()).collect();
    if numbers.is_some_and(|ids| !ids.is_sorted()) {
        said.push("The query ids are numbers that do not ascend.".to_string());
    }
    if data.queries().any(|q| q.weight() == 0.0) {
        said.push("Some queries have weight 0 and count for nothing.".to_string());
    }
    said
}

fn documents(stats: &Stats) -> Vec<String> {
    let mut said = Vec::new();
    if stats.zero_documents > 0 {
        said.push(format!("{} nothing but zeros for features.", have(stats.zero_documents, "document")));
    }
    if stats.conflicting_documents > 0 {
        said.push(format!(
            "{} the same features as another of the query with another grade.",
            have(stats.conflicting_documents, "document")
        ));
    }
    said
}

fn features(data: &Dataset, stats: &Stats) -> Vec<String> {
    let mut said = Vec::new();
    let mut say = |columns: Vec<usize>, what: &str| {
        if !columns.is_empty() {
            said.push(format!("{} {what}", named_have(data, &columns)));
        }
    };
    let odd = |is: &dyn Fn(&super::FeatureStats) -> bool| -> Vec<usize> {
        (0..stats.features).filter(|&c| is(&stats.feature_stats[c])).collect()
    };
    say(
        odd(&|f| f64::from(f.max) - f64::from(f.min) > WIDEST_SPREAD),
        "a spread of more than a million; take logarithms or scale before learning a linear model.",
    );
    say(odd(&|f| f.missing_share == 1.0), "no value at all.");
    let repeated: usize = stats.duplicate_features.iter().map(|g| g.len() - 1).sum();
    if repeated > 0 {
        said.push(format!("{} equal to an earlier one.", are(repeated, "feature")));
    }
    said
}

fn have(count: usize, what: &str) -> String {
    match (count, what) {
        (1, _) => format!("1 {what} has"),
        (_, "query") => format!("{count} queries have"),
        _ => format!("{count} {what}s have"),
    }
}

fn are(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what} is") } else { format!("{count} {what}s are") }
}

/// `Feature 3 has`, or `Features 3, 5, 9 have`, or with `and 12 more`.
fn named_have(data: &Dataset, columns: &[usize]) -> String {
    let names: Vec<String> = columns.iter().take(NAMED).map(|&c| data.columns().name(c)).collect();
    let rest = match columns.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match columns.len() {
        1 => format!("Feature {} has", names[0]),
        _ => format!("Features {}{rest} have", names.join(", ")),
    }
}
