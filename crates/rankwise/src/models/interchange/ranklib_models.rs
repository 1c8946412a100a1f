//! Reads RankLib's models of all its algorithms. The first line names the algorithm; lines that begin with `##` are
//! comments.
//!
//! ```text
//! ## LambdaMART           MART, LambdaMART: one <ensemble> of weighted trees; Random Forests: the mean of several
//! ## Coordinate Ascent    1:0.25 2:0.75 …           also AdaRank, where a feature may come more than once
//! ## Linear Regression    0:0.5 1:0.25 …            0 is the constant
//! ## RankBoost            3:0.5:0.2 …               adds 0.2 where feature 3 is above 0.5
//! ## RankNet              1 2 3 ⏎ 1 ⏎ 10 ⏎ …        features, hidden layers, units of each, and `layer unit weights…`
//! ```
//!
//! Missing features are 0 everywhere, and ids start at 1. A file has only the features that the model uses, so data may
//! have more. Trees are read by [`ranklib_reader`].

use super::foreign::{Foreign, at_or_below, plain, quoted, with_finite};
use super::forest::{Grown, Node};
use super::ranklib_reader;
use crate::data::Columns;
use crate::error::{Error, Result};
use crate::models::{Activation, Layer, Model, NeuralNetwork, Numbering, Ranker, TreeEnsemble};
use crate::trees::{Child, Tree};
use std::collections::HashMap;

/// Highest id that a file may use, unless it uses more than one in [`SPREAD`] of those below.
const COMMON_IDS: usize = 1 << 20;

/// Weights are kept for all features up to the last, so a file must not ask for many more than it has.
const SPREAD: usize = 64;

/// An algorithm by the name in its files.
struct Algorithm {
    name: &'static str,
    citation: &'static str,
    read: fn(&[&str]) -> Result<Parts>,
}

/// What was read, and how many trees, rules or weights it has.
struct Parts {
    model: Model,
    rounds: usize,
    note: Option<&'static str>,
}

const ALGORITHMS: [Algorithm; 10] = [
    Algorithm { name: "MART", citation: "friedman2001greedy", read: one_ensemble },
    Algorithm { name: "LambdaMART", citation: "wu2010adapting", read: one_ensemble },
    Algorithm { name: "Random Forests", citation: "breiman2001random", read: mean_of_ensembles },
    Algorithm { name: "RankBoost", citation: "freund2003efficient", read: rules },
    Algorithm { name: "Coordinate Ascent", citation: "metzler2007linear", read: weights },
    Algorithm { name: "AdaRank", citation: "xu2007adarank", read: weights },
    Algorithm { name: "Linear Regression", citation: "cossock2006subset", read: regression },
    Algorithm { name: "RankNet", citation: "burges2005ranknet", read: network },
    Algorithm { name: "LambdaRank", citation: "burges2006lambdarank", read: network },
    Algorithm { name: "ListNet", citation: "cao2007learning", read: network },
];

/// Whether the first line of `bytes` names one of RankLib's algorithms.
pub(super) fn looks_like(bytes: &[u8]) -> bool {
    algorithm(bytes).is_some()
}

fn algorithm(bytes: &[u8]) -> Option<&'static Algorithm> {
    let line = bytes.strip_prefix(b"##")?.split(|&b| b == b'\n').next()?.trim_ascii();
    ALGORITHMS.iter().find(|algorithm| line.eq_ignore_ascii_case(algorithm.name.as_bytes()))
}

/// Reads a model.
pub(super) fn read(bytes: &[u8]) -> Result<Ranker> {
    let text = std::str::from_utf8(bytes)
        .map_err(|e| Error::model(format!("it looks like RankLib's and is not UTF-8: {}", plain(e))))?;
    let algorithm = algorithm(bytes)
        .ok_or_else(|| Error::model("its first line does not name an algorithm of RankLib"))?;
    let lines: Vec<&str> =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("##")).collect();
    let Parts { model, rounds, note } = (algorithm.read)(&lines)?;
    let missing = "RankLib takes missing values as 0, and so does this model";
    Foreign {
        tool: "RankLib",
        citations: std::slice::from_ref(&algorithm.citation),
        version: String::new(),
        objective: algorithm.name.into(),
        columns: Columns::default(),
        numbering: Numbering::OpenEnded,
        model,
        rounds,
        notes: note.into_iter().chain([missing]).map(String::from).collect(),
    }
    .into_ranker()
}

fn one_ensemble(lines: &[&str]) -> Result<Parts> {
    let mut rest = lines.iter().copied();
    let trees = ranklib_reader::ensemble(rest.next(), &mut rest, 1)?;
    match rest.next() {
        Some(line) => Err(Error::model(format!("{} comes after its ensemble", quoted(line)))),
        None => sum_of(trees.into_iter().map(|(weight, grown)| into_tree(grown, weight.into())).collect()),
    }
}

fn mean_of_ensembles(lines: &[&str]) -> Result<Parts> {
    let (mut rest, mut trees, mut count) = (lines.iter().copied(), Vec::new(), 0);
    while let Some(first) = rest.next() {
        trees.extend(ranklib_reader::ensemble(Some(first), &mut rest, 1)?);
        count += 1;
    }
    let share = 1.0 / f64::from(count.max(1));
    sum_of(trees.into_iter().map(|(weight, grown)| into_tree(grown, share * f64::from(weight))).collect())
}

fn sum_of(trees: Vec<Tree>) -> Result<Parts> {
    if trees.is_empty() {
        return Err(Error::model("it is a RankLib model without trees or rules"));
    }
    let tests = trees.iter().map(|tree| tree.features.len()).sum();
    let last = trees.iter().flat_map(|tree| &tree.features).map(|&feature| feature as usize + 1).max();
    let width = check_width(last.unwrap_or(1), tests)?;
    let rounds = trees.len();
    Ok(Parts { model: Model::Trees(TreeEnsemble::sum(width, 0.0, trees)?), rounds, note: None })
}

/// Refuses a last feature that is out of proportion to the file.
fn check_width(last: usize, used: usize) -> Result<usize> {
    match last > COMMON_IDS.max(SPREAD.saturating_mul(used)) {
        true => Err(Error::model(format!(
            "it uses feature {last} and has only {used} weights or tests; such high numbers are not read"
        ))),
        false => Ok(last),
    }
}

/// A tree whose values are multiplied by `weight`.
fn into_tree(grown: Grown, weight: f64) -> Tree {
    let mut codes = Vec::with_capacity(grown.0.len());
    let (mut nodes, mut leaves) = (0, 0);
    for node in &grown.0 {
        let count = if matches!(node, Node::Leaf(_)) { &mut leaves } else { &mut nodes };
        codes.push(match node {
            Node::Leaf(_) => Child::Leaf(*count),
            Node::Split { .. } => Child::Node(*count),
        });
        *count += 1;
    }
    let mut tree = Tree::default();
    for node in grown.0 {
        match node {
            Node::Leaf(value) => {
                tree.values.push(f64::from(value) * weight);
                tree.covers.push(0.0);
            }
            Node::Split { column, threshold, left, right, .. } => {
                add_test(&mut tree, column, threshold, codes[left], codes[right]);
            }
        }
    }
    tree
}

/// Adds the test `x ≤ threshold`, for which what is missing is 0.
fn add_test(tree: &mut Tree, column: usize, threshold: f32, left: Child, right: Child) {
    let (threshold, swapped) = with_finite(threshold);
    let children = if swapped { [right, left] } else { [left, right] };
    tree.features.push(column as u32);
    tree.thresholds.push(threshold);
    tree.missing_left.push(0.0 <= threshold);
    tree.left.push(children[0].code());
    tree.right.push(children[1].code());
    tree.gains.push(0.0);
}

/// The words of the one line that models of weights and rules have, without the comment at its end.
fn words<'a>(lines: &[&'a str]) -> Result<Vec<&'a str>> {
    let line = lines.first().ok_or_else(|| Error::model("it is a RankLib model without its weights"))?;
    let line = line.rsplit_once('#').map_or(*line, |(before, _)| before);
    Ok(line.split_ascii_whitespace().collect())
}

/// The column of a feature's id, which starts at 1.
fn column(id: &str) -> Result<usize> {
    let column = id.parse::<u32>().ok().and_then(|id| id.checked_sub(1));
    let column = column.ok_or_else(|| Error::model(format!("{} in it is not a feature id", quoted(id))))?;
    Ok(column as usize)
}

fn number(text: &str) -> Result<f64> {
    let number = text.parse::<f64>().ok().filter(|x| x.is_finite());
    number.ok_or_else(|| Error::model(format!("{} in it is not a finite number", quoted(text))))
}

fn pair(word: &str) -> Result<(&str, &str)> {
    word.split_once(':')
        .ok_or_else(|| Error::model(format!("{} in it is not a feature id and a weight", quoted(word))))
}

fn weights(lines: &[&str]) -> Result<Parts> {
    linear(&words(lines)?, 0.0, None)
}

/// RankLib writes the weight of the first feature as the constant, too, and reads it so: scores have it, and their order
/// does not depend on it.
fn regression(lines: &[&str]) -> Result<Parts> {
    let (mut constant, mut others) = (0.0, Vec::new());
    for word in words(lines)? {
        match pair(word)? {
            ("0", value) => constant = number(value)?,
            _ => others.push(word),
        }
    }
    linear(
        &others,
        constant,
        Some("the constant is as it stands in the file, which is how RankLib itself reads it"),
    )
}

fn linear(words: &[&str], bias: f64, note: Option<&'static str>) -> Result<Parts> {
    let mut pairs = Vec::with_capacity(words.len());
    for word in words {
        let (id, weight) = pair(word)?;
        pairs.push((column(id)?, number(weight)?));
    }
    let last = pairs.iter().map(|(column, _)| column + 1).max();
    let last = last.ok_or_else(|| Error::model("it is a RankLib model without weights"))?;
    let mut weights = vec![0.0; check_width(last, pairs.len())?];
    pairs.iter().for_each(|&(column, weight)| weights[column] += weight);
    match weights.iter().all(|weight| weight.is_finite()) {
        true => Ok(Parts { rounds: pairs.len(), model: Model::linear(weights, bias), note }),
        false => Err(Error::model("the sum of its weights of one feature is not finite")),
    }
}

fn rules(lines: &[&str]) -> Result<Parts> {
    let rule = |word: &&str| {
        let (id, rest) = pair(word)?;
        let (threshold, weight) = pair(rest)?;
        let mut tree = Tree { values: vec![0.0, number(weight)?], covers: vec![0.0; 2], ..Tree::default() };
        let threshold = at_or_below(number(threshold)?);
        add_test(&mut tree, column(id)?, threshold, Child::Leaf(0), Child::Leaf(1));
        Ok(tree)
    };
    sum_of(words(lines)?.iter().map(rule).collect::<Result<_>>()?)
}

/// The links of a unit of the layer before to all units of a layer, by layer and unit.
type Links = HashMap<(usize, usize), Vec<f64>>;

/// A network of logistic units, the last of which gives the score. Its order is that of the sum which the last unit
/// gets, and that is the score here.
fn network(lines: &[&str]) -> Result<Parts> {
    let bad = |what: &str| Error::model(format!("it is a RankLib network whose {what}"));
    let count = |line: Option<&&str>| line.and_then(|line| line.parse::<usize>().ok());
    let ids: Vec<&str> =
        lines.first().map(|line| line.split_ascii_whitespace().collect()).unwrap_or_default();
    let columns = ids.iter().map(|id| column(id)).collect::<Result<Vec<usize>>>()?;
    let hidden = count(lines.get(1)).filter(|&hidden| hidden < lines.len());
    let hidden = hidden.ok_or_else(|| bad("number of hidden layers is not valid"))?;
    let sizes = (0..hidden).map(|layer| count(lines.get(2 + layer)).filter(|&units| units > 0));
    let sizes: Option<Vec<usize>> = sizes.collect();
    let mut sizes = sizes.ok_or_else(|| bad("numbers of units are not valid"))?;
    sizes.push(1);
    let links = links(&lines[2 + hidden..], &columns, &sizes)?;
    let note = "scores are the sums that RankLib's last unit gets, before its logistic function: their order is the same";
    if hidden == 0 {
        let pairs = ids.iter().enumerate().map(|(i, id)| format!("{id}:{}", links[&(0, i)][0]));
        let pairs: Vec<String> = pairs.collect();
        let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
        return linear(&pairs, links[&(0, ids.len())][0], Some(note));
    }
    let last = columns.iter().max().map_or(1, |column| column + 1);
    let width = check_width(last, columns.len())?;
    let (kept, given) = (width.saturating_mul(sizes[0]), columns.len().saturating_mul(sizes[0]));
    if kept > COMMON_IDS.max(SPREAD.saturating_mul(given)) {
        return Err(bad("first layer is too large for the features that it uses"));
    }
    let layers = layers(&links, &columns, &sizes, width);
    let network = NeuralNetwork::new(vec![0.0; width], vec![1.0; width], Activation::Tanh, layers)?;
    Ok(Parts { model: Model::Network(network), rounds: sizes.len(), note: Some(note) })
}

/// The lines `layer unit weights…`. Layer 0 is the features and, as its last unit, the bias of all units.
fn links(lines: &[&str], columns: &[usize], sizes: &[usize]) -> Result<Links> {
    let all_units = sizes.iter().fold(0usize, |sum, &units| sum.saturating_add(units));
    let mut links = Links::new();
    for line in lines {
        let mut words = line.split_ascii_whitespace();
        let mut index = || words.next().and_then(|word| word.parse::<usize>().ok());
        let place = index().zip(index());
        let weights = words.map(number).collect::<Result<Vec<f64>>>()?;
        let needed = match place {
            Some((0, unit)) if unit < columns.len() => sizes[0],
            Some((0, unit)) if unit == columns.len() => all_units,
            Some((layer, unit)) if layer > 0 && layer < sizes.len() && unit < sizes[layer - 1] => {
                sizes[layer]
            }
            _ => usize::MAX,
        };
        match place {
            Some(place) if weights.len() == needed && !links.contains_key(&place) => {
                links.insert(place, weights)
            }
            _ => return Err(Error::model(format!("its line {} does not fit its network", quoted(line)))),
        };
    }
    let needed =
        sizes[..sizes.len() - 1].iter().fold(columns.len() + 1, |sum, &units| sum.saturating_add(units));
    match links.len() == needed {
        true => Ok(links),
        false => Err(Error::model(format!("its network has {} units with links, not {needed}", links.len()))),
    }
}

/// The layers with `tanh` in place of the logistic function: `σ(z) = ½ + ½·tanh(z/2)`. Hidden units have half their sum,
/// and what comes from them is halved, with half the sum of its weights added to the bias.
fn layers(links: &Links, columns: &[usize], sizes: &[usize], width: usize) -> Vec<Layer> {
    let biases = &links[&(0, columns.len())];
    let mut first_bias = 0;
    let mut layer = |index: usize, &units: &usize| {
        let inputs = if index == 0 { width } else { sizes[index - 1] };
        let half = |is: bool| if is { 0.5 } else { 1.0 };
        let scale = half(index + 1 < sizes.len());
        let mut out = Layer { outputs: units, weights: vec![0.0; inputs * units], biases: Vec::new() };
        for unit in 0..units {
            let mut bias = biases[first_bias + unit];
            let sources = if index == 0 { columns.len() } else { inputs };
            for source in 0..sources {
                let weight = half(index > 0) * links[&(index, source)][unit];
                let place = if index == 0 { columns[source] } else { source };
                out.weights[unit * inputs + place] += (scale * weight) as f32;
                bias += if index > 0 { weight } else { 0.0 };
            }
            out.biases.push((scale * bias) as f32);
        }
        first_bias += units;
        out
    };
    sizes.iter().enumerate().map(|(index, units)| layer(index, units)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::models::interchange::samples::{RANKLIB, RANKLIB_ROWS};

    fn refusal(text: &str) -> String {
        read(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn every_algorithm_scores_as_by_hand() {
        // One feature more than any of the models uses.
        let values: Vec<f32> = RANKLIB_ROWS.iter().flat_map(|row| row.iter().copied().chain([3.0])).collect();
        let data = Dataset::dense(values, 6, vec![0.0; 2], &[2]).unwrap();
        for (text, expected) in RANKLIB {
            let ranker = read(text.as_bytes()).unwrap();
            let scores = ranker.score(&data).unwrap();
            let near = scores.iter().zip(expected).all(|(score, by_hand)| (score - by_hand).abs() < 1e-6);
            assert!(near, "{}: {scores:?}, not {expected:?}", ranker.learner.title);
            assert_eq!(ranker.learner.citations.len(), 1);
            assert_eq!(Ranker::from_bytes(&ranker.to_bytes()).unwrap(), ranker);
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_its_reason() {
        let (trees, ascent, net) = (RANKLIB[0].0, RANKLIB[2].0, RANKLIB[7].0);
        for (text, reason) in [
            (trees.replace("</ensemble>", ""), "cut short"),
            (trees.replace(">2 </feature>", ">0 </feature>"), "does not stand where RankLib expects it"),
            (format!("{trees}<ensemble>\n</ensemble>\n"), "comes after its ensemble"),
            ("## Random Forests\n".into(), "without trees"),
            (ascent.replace("1:0.5", "0:0.5"), "`0` in it is not a feature id"),
            (ascent.replace("1:0.5", "1:NaN"), "`NaN` in it is not a finite number"),
            (ascent.replace("1:0.5", "16777216:0.5"), "uses feature 16777216 and has only 3 weights"),
            (trees.replace(">5 </feature>", ">9999999 </feature>"), "uses feature 9999999 and has only 2"),
            ("## AdaRank\n".into(), "without its weights"),
            (net.replace("1 1 -2.0\n", ""), "4 units with links, not 5"),
            (net.replace("0 0 2.0 -1.0", "0 0 2.0"), "does not fit its network"),
            (net.replace("1 2\n1\n2\n", "1 2\n7\n2\n"), "not valid"),
            (net.replace("1 2\n1\n2\n", "1 2\n1\n4000000000000\n"), "does not fit its network"),
        ] {
            assert!(refusal(&text).contains(reason), "{reason}: {}", refusal(&text));
        }
        assert!(!looks_like(b"## ZeroRank\n1:2"));
        assert!(looks_like(b"## mart\r\n"));
    }

    /// Thresholds that every value passes, or none.
    #[test]
    fn infinite_thresholds_are_tests_that_all_pass_or_none() {
        for (shown, first) in [("Infinity", true), ("-Infinity", false)] {
            let text = RANKLIB[1].0.replace("<threshold> 2.0 ", &format!("<threshold> {shown} "));
            let ranker = read(text.as_bytes()).unwrap();
            let data = Dataset::dense(vec![1e38, f32::NAN, -1e38], 1, vec![0.0; 3], &[3]).unwrap();
            let expected = if first { 5.0 } else { 4.0 };
            assert_eq!(ranker.score(&data).unwrap(), [expected; 3]);
        }
    }
}
