//! Tree ensembles as text: their size, the features they use, and single trees.

use crate::insight::{number, shown, signed};
use crate::{output, table};
use anyhow::{Result, ensure};
use rankwise::models::insight::{depth, node_covers, outline, splits};
use rankwise::models::{Ranker, TreeEnsemble};
use rankwise::trees::{Child, Tree};
use std::borrow::Cow;

/// The width of the column with tests and leaf values.
const TEST_WIDTH: usize = 51;

/// The maximum indentation; the first column has the exact level.
const MAX_INDENT: usize = 14;

/// The size of the ensemble, which has `width` features in its file, and the `top` features by gain; 0 stands for all.
pub(crate) fn describe(ensemble: &TreeEnsemble, ranker: &Ranker, width: usize, top: usize) -> String {
    let size = outline(ensemble);
    let mut lines = table::Columns::new(&["", ""]).headless();
    lines.row(["trees", &output::thousands(size.trees)]);
    lines.row(["leaves", &output::thousands(size.leaves)]);
    lines.row(["depth", &size.depth.to_string()]);
    lines.row(["features used", &format!("{} of {width}", size.features_used)]);
    format!("{}\n{}", lines.render(), importance(ranker, top))
}

fn importance(ranker: &Ranker, top: usize) -> String {
    let splits = splits(&ranker.model).unwrap_or_default();
    let total: f64 = splits.iter().map(|s| s.gain).sum();
    let mut order: Vec<usize> = (0..splits.len()).filter(|&column| splits[column].count > 0).collect();
    order.sort_by(|&a, &b| {
        splits[b].gain.total_cmp(&splits[a].gain).then(splits[b].count.cmp(&splits[a].count))
    });
    let shown = shown(top, order.len());
    let mut table = table::Columns::new(&["feature", ">gain", ">of total", ">splits"]);
    for &column in &order[..shown] {
        let found = splits[column];
        let fraction =
            if total > 0.0 { format!("{:.1} %", 100.0 * found.gain / total) } else { "–".into() };
        let count = output::thousands(found.count as usize);
        table.row([ranker.columns.name(column), table::six(found.gain), fraction, count]);
    }
    let rest = match order.len() - shown {
        0 => String::new(),
        n => format!("and {}: --top 0 shows all\n", output::count(n, "more feature", "more features")),
    };
    format!("{}{rest}", table.render())
}

/// The tree with the given number, from 1.
pub(crate) fn tree(ensemble: &TreeEnsemble, number: usize) -> Result<&Tree> {
    let trees = ensemble.trees();
    ensure!(
        (1..=trees.len()).contains(&number),
        "there is no tree {number}: the model has {}, counted from 1",
        output::count(trees.len(), "tree", "trees")
    );
    Ok(&trees[number - 1])
}

/// A tree as text: one line per test, per `else` and per leaf.
pub(crate) fn tree_text(tree: &Tree, ranker: &Ranker) -> String {
    let covers = node_covers(tree);
    let step = if 2 * depth(tree) <= MAX_INDENT { 2 } else { 1 };
    let mut lines = vec![line("level", 0, "test or leaf value", "gain", "documents")];
    // A stack of what is still to be printed.
    let mut open = vec![(Printed::Child(tree.root()), 0)];
    while let Some((next, level)) = open.pop() {
        let indent = (step * level).min(MAX_INDENT);
        let put = |text: &str, gain: &str, cover: f64| {
            line(&level.to_string(), indent, text, gain, &documents(cover))
        };
        lines.push(match next {
            Printed::Child(Child::Node(node)) => {
                open.push((Printed::Child(Child::of(tree.right[node])), level + 1));
                open.push((Printed::Else(node), level));
                open.push((Printed::Child(Child::of(tree.left[node])), level + 1));
                let gain = tree.gains[node];
                let gain = if gain == 0.0 { String::new() } else { table::six(gain.into()) };
                put(&test(tree, node, ranker, TEST_WIDTH - indent), &gain, covers[node])
            }
            Printed::Child(Child::Leaf(leaf)) => {
                put(&signed(tree.values[leaf]), "", tree.covers[leaf].into())
            }
            Printed::Else(node) => put(&format!("else{}", or_missing(!tree.missing_left[node])), "", 0.0),
        });
    }
    lines.concat()
}

enum Printed {
    Child(Child),
    /// The line before the right child of a node.
    Else(usize),
}

/// The test of a node. A feature name that does not fit is shortened.
fn test(tree: &Tree, node: usize, ranker: &Ranker, room: usize) -> String {
    let missing = or_missing(tree.missing_left[node]);
    let name = ranker.columns.name(tree.features[node] as usize);
    let room = room.saturating_sub("if ".len());
    let after = match tree.category_set(node) {
        None => format!(" ≤ {}{missing}", number(tree.thresholds[node])),
        Some(set) => {
            let column = tree.features[node] as usize;
            let names = set.iter().map(|&code| ranker.columns.categories.name(column, code));
            let around = name.chars().count() + " in {}".len() + missing.len();
            let listed = listed(&names.collect::<Vec<_>>(), room.saturating_sub(around));
            format!(" in {{{listed}}}{missing}")
        }
    };
    let room = room.saturating_sub(after.chars().count()).max(1);
    if name.chars().count() <= room {
        return format!("if {name}{after}");
    }
    let short: String = name.chars().take(room - 1).collect();
    format!("if {short}…{after}")
}

/// As many of `names` as there is room for, at least one, and how many there are besides.
fn listed(names: &[Cow<'_, str>], room: usize) -> String {
    let text = |count: usize| match names.len() - count {
        0 => names.join(", "),
        more => format!("{}, +{more}", names[..count].join(", ")),
    };
    (1..=names.len()).rev().map(text).find(|text| text.chars().count() <= room).unwrap_or_else(|| text(1))
}

fn or_missing(here: bool) -> &'static str {
    if here { " or missing" } else { "" }
}

/// The number of training documents that reached a node; empty if unknown.
fn documents(cover: f64) -> String {
    match cover {
        0.0 => String::new(),
        _ if cover.fract() == 0.0 && cover < 1e9 => output::thousands(cover as usize),
        _ => format!("{cover:.2}"),
    }
}

fn line(level: &str, indent: usize, text: &str, gain: &str, documents: &str) -> String {
    let text = format!("{:indent$}{text}", "");
    let line = format!("{level:>5} {text:<TEST_WIDTH$} {gain:>11} {documents:>10}");
    format!("{}\n", line.trim_end())
}
