//! What is unusual about a data set, in sentences.

use super::Stats;
use crate::data::{Dataset, separating_threshold};

/// Above this label, an exponential gain is meaningless.
const MAX_LABEL: f32 = 30.0;
/// A feature with a larger range dominates the others in a linear model.
const MAX_RANGE: f64 = 1e6;
/// How many features a sentence names.
const NAMED: usize = 5;

pub(super) fn sentences(data: &Dataset, stats: &Stats) -> Vec<String> {
    [labels(data, stats), queries(data, stats), documents(stats), features(data, stats)].concat()
}

fn labels(data: &Dataset, stats: &Stats) -> Vec<String> {
    let count = |odd: fn(f32) -> bool| data.labels().iter().filter(|label| odd(**label)).count();
    let mut sentences = Vec::new();
    let (negative, broken) = (count(|g| g < 0.0), count(|g| g.fract() != 0.0));
    if negative > 0 {
        sentences.push(format!("{} a negative label.", have(negative, "document")));
    }
    if broken > 0 {
        sentences.push(format!("{} a label that is not a whole number.", have(broken, "document")));
    }
    let highest = data.labels().iter().copied().fold(0.0, f32::max);
    if highest > 0.0
        && highest < 1.0
        && let Some(threshold) = separating_threshold(data.queries().map(|query| query.labels()))
    {
        sentences.push(format!(
            "No label reaches 1, from which on documents count as relevant; a threshold of {threshold} separates the \
             most pairs."
        ));
    }
    let great = count(|g| g > MAX_LABEL);
    if great > 0 {
        sentences.push(format!(
            "{} a label above {MAX_LABEL}, for which the exponential gain 2^label − 1 is too large; use a linear gain.",
            have(great, "document")
        ));
    }
    if stats.distinct_labels == 1 {
        sentences.push(format!(
            "All documents have the label {}, so there is nothing to learn.",
            stats.grades[0].grade
        ));
    }
    sentences
}

fn queries(data: &Dataset, stats: &Stats) -> Vec<String> {
    let mut sentences = Vec::new();
    if stats.queries_without_relevant > 0 {
        sentences.push(format!("{} no relevant documents.", have(stats.queries_without_relevant, "query")));
    }
    if stats.queries_of_one_grade > 0 {
        sentences
            .push(format!("{} the same label on all documents.", have(stats.queries_of_one_grade, "query")));
    }
    if stats.queries_of_one_document > 0 {
        sentences.push(format!("{} only one document.", have(stats.queries_of_one_document, "query")));
    }
    let numbers: Option<Vec<u64>> = data.queries().map(|q| q.id().parse().ok()).collect();
    if numbers.is_some_and(|ids| !ids.is_sorted()) {
        sentences.push("The query ids are numbers but do not ascend.".to_string());
    }
    if data.queries().any(|q| q.weight() == 0.0) {
        sentences.push("Some queries have weight 0 and are not counted.".to_string());
    }
    sentences
}

fn documents(stats: &Stats) -> Vec<String> {
    let mut sentences = Vec::new();
    if stats.zero_documents > 0 {
        sentences.push(format!("{} only zeros as features.", have(stats.zero_documents, "document")));
    }
    if stats.conflicting_documents > 0 {
        sentences.push(format!(
            "{} the same features as another document of the query but a different label.",
            have(stats.conflicting_documents, "document")
        ));
    }
    sentences
}

fn features(data: &Dataset, stats: &Stats) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut report = |columns: Vec<usize>, what: &str| {
        if !columns.is_empty() {
            sentences.push(format!("{} {what}", named_have(data, &columns)));
        }
    };
    let odd = |is: &dyn Fn(&super::FeatureStats) -> bool| -> Vec<usize> {
        (0..stats.features).filter(|&c| is(&stats.feature_stats[c])).collect()
    };
    report(
        odd(&|f| f64::from(f.max) - f64::from(f.min) > MAX_RANGE),
        "a range of more than a million; normalise it or take logarithms before training a linear model.",
    );
    report(odd(&|f| f.missing_fraction == 1.0), "no values.");
    let repeated: usize = stats.duplicate_features.iter().map(|g| g.len() - 1).sum();
    if repeated > 0 {
        sentences.push(format!("{} an earlier one.", equal(repeated, "feature")));
    }
    sentences
}

fn have(count: usize, what: &str) -> String {
    match (count, what) {
        (1, _) => format!("1 {what} has"),
        (_, "query") => format!("{count} queries have"),
        _ => format!("{count} {what}s have"),
    }
}

fn equal(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what} equals") } else { format!("{count} {what}s equal") }
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
