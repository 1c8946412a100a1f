//! Reads RankLib's LambdaMART as RankLib does, to replay what was written for it: elements by their place, one a line.

use super::foreign::quoted;
use super::forest::{Engine, Grown, Node, Test};
use crate::error::{Error, Result};

/// What is known of a split whose element is still open.
#[derive(Default)]
struct Open {
    column: Option<usize>,
    threshold: Option<f32>,
    output: Option<f32>,
    left: Option<usize>,
    right: Option<usize>,
}

/// Reads a model whose first column is feature `first_id`.
pub(super) fn read(text: &str, first_id: u32) -> Result<Engine> {
    let mut lines = text.lines().map(str::trim);
    if lines.next() != Some("## LambdaMART") {
        return Err(Error::model("its first line is not that of RankLib's LambdaMART"));
    }
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with("##"));
    let first = lines.next();
    let trees = ensemble(first, &mut lines, first_id)?;
    match lines.next() {
        Some(line) => Err(unexpected(line)),
        None => Ok(Engine::Forest(trees)),
    }
}

/// The weighted trees of one ensemble, whose first line is `first`, to the end of its element.
pub(super) fn ensemble<'a>(
    first: Option<&str>,
    lines: &mut impl Iterator<Item = &'a str>,
    first_id: u32,
) -> Result<Vec<(f32, Grown)>> {
    if first != Some("<ensemble>") {
        return Err(Error::model("it does not begin with <ensemble>"));
    }
    let mut trees = Vec::new();
    loop {
        let line = lines.next().ok_or_else(cut_short)?;
        if line == "</ensemble>" {
            return Ok(trees);
        }
        let weight = line.strip_prefix("<tree id=\"").and_then(|rest| rest.split('"').nth(2));
        let weight = weight.ok_or_else(|| unexpected(line))?;
        trees.push((number(weight)?, tree(lines, first_id)?));
    }
}

/// One tree, to the end of its element; kept as a stack, since trees may be deep.
fn tree<'a>(lines: &mut impl Iterator<Item = &'a str>, first_id: u32) -> Result<Grown> {
    let (mut nodes, mut open): (Vec<Node>, Vec<(usize, Open)>) = (Vec::new(), Vec::new());
    loop {
        let line = lines.next().ok_or_else(cut_short)?;
        match (line, open.last_mut()) {
            ("</tree>", None) if !nodes.is_empty() => return Ok(Grown(nodes)),
            ("<split>", None) if nodes.is_empty() => {}
            ("<split pos=\"left\">", Some((_, parent))) if parent.left.is_none() => {
                parent.left = Some(nodes.len());
            }
            ("<split pos=\"right\">", Some((_, parent)))
                if parent.left.is_some() && parent.right.is_none() =>
            {
                parent.right = Some(nodes.len());
            }
            ("</split>", Some(_)) => {
                let (place, done) = open.pop().expect("there is an open element");
                nodes[place] = done.close()?;
                continue;
            }
            (_, Some((_, top))) => {
                top.take(line, first_id)?;
                continue;
            }
            _ => return Err(unexpected(line)),
        }
        open.push((nodes.len(), Open::default()));
        nodes.push(Node::Leaf(0.0));
    }
}

impl Open {
    fn take(&mut self, line: &str, first_id: u32) -> Result<()> {
        let inner = |name: &str| {
            let open = line.strip_prefix('<')?.strip_prefix(name)?.strip_prefix('>')?;
            Some(open.strip_suffix('>')?.strip_suffix(name)?.strip_suffix("</")?.trim())
        };
        if let Some(id) = inner("feature") {
            let column = id.parse::<u32>().ok().and_then(|id| id.checked_sub(first_id));
            self.column = Some(column.ok_or_else(|| unexpected(line))? as usize);
        } else if let Some(threshold) = inner("threshold") {
            self.threshold = Some(number(threshold)?);
        } else if let Some(output) = inner("output") {
            self.output = Some(number(output)?);
        } else {
            return Err(unexpected(line));
        }
        Ok(())
    }

    fn close(self) -> Result<Node> {
        match self {
            Open { output: Some(value), column: None, threshold: None, left: None, right: None } => {
                Ok(Node::Leaf(value))
            }
            Open {
                output: None,
                column: Some(column),
                threshold: Some(threshold),
                left: Some(left),
                right: Some(right),
            } => Ok(Node::Split { column, threshold, test: Test::AtMost, missing_left: None, left, right }),
            _ => Err(Error::model("one of its splits is neither a leaf nor a test with two branches")),
        }
    }
}

fn number(text: &str) -> Result<f32> {
    match text {
        "Infinity" => Ok(f32::INFINITY),
        "-Infinity" => Ok(f32::NEG_INFINITY),
        _ => text.parse().map_err(|_| Error::model(format!("{} in it is not a number", quoted(text)))),
    }
}

fn unexpected(line: &str) -> Error {
    Error::model(format!("its line {} does not stand where RankLib expects it", quoted(line)))
}

fn cut_short() -> Error {
    Error::model("it is cut short")
}
