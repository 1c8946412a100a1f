//! Reads a model as Solr's setters do, to replay what was written for it.

use super::foreign::{plain, quoted};
use super::forest::{DenseLayer, Engine, Grown, Names, Node, Norm, Test};
use super::nested::{Nested, ROOT};
use super::solr::{LINEAR, NETWORK, NORMALIZER, TREES};
use super::solr_slack::SLACK;
use crate::data::Columns;
use crate::error::{Error, Result};
use std::collections::HashSet;

/// Reads a model for a ranker with these columns.
pub(super) fn read(bytes: &[u8], columns: &Columns, width: usize) -> Result<Engine> {
    let document = Nested::read(bytes)
        .map_err(|e| Error::model(format!("it is not as a model for Solr should be: {}", plain(e))))?;
    let reader = Reader { document: &document, names: Names::of(columns, width) };
    let features = reader.features()?;
    let parameters = reader.needed(ROOT, "params")?;
    match reader.text(ROOT, "class")? {
        LINEAR => {
            let engine = reader.linear(parameters, &features)?;
            reader.normalised(&features, 0.0, engine)
        }
        TREES => {
            let null_is_zero = reader.null_is_zero(parameters)?;
            let engine = reader.forest(parameters, &features, null_is_zero)?;
            reader.normalised(&features, if null_is_zero { 0.0 } else { f32::NAN }, engine)
        }
        NETWORK => {
            let engine = reader.network(parameters, &features)?;
            reader.normalised(&features, 0.0, engine)
        }
        class => Err(Error::model(format!("its class is {}", quoted(class)))),
    }
}

/// A feature that the model lists.
struct Feature<'a> {
    name: &'a str,
    /// The average and deviation of its normalizer.
    norm: Option<(f32, f32)>,
}

struct Reader<'a> {
    document: &'a Nested,
    names: Names,
}

impl<'a> Reader<'a> {
    fn needed(&self, at: usize, key: &str) -> Result<usize> {
        self.document.field(at, key).ok_or_else(|| Error::model(format!("it lacks `{key}`")))
    }

    fn text(&self, at: usize, key: &str) -> Result<&'a str> {
        let place = self.needed(at, key)?;
        self.document.text(place).ok_or_else(|| not_a(key, "a text"))
    }

    fn list(&self, at: usize, key: &str) -> Result<&'a [usize]> {
        let place = self.needed(at, key)?;
        self.document.list(place).ok_or_else(|| not_a(key, "a list"))
    }

    /// A number that stands as a text, as Java's `Float.parseFloat` reads it.
    fn single(&self, at: usize, key: &str) -> Result<f32> {
        match self.text(at, key)? {
            "Infinity" => Ok(f32::INFINITY),
            "-Infinity" => Ok(f32::NEG_INFINITY),
            text => text
                .parse()
                .ok()
                .filter(|x: &f32| x.is_finite())
                .ok_or_else(|| Error::model(format!("{} in it is not a number", quoted(text)))),
        }
    }

    /// Refuses an object with a key that Solr has no setter for.
    fn only(&self, at: usize, known: &[&str]) -> Result<()> {
        let fields =
            self.document.fields(at).ok_or_else(|| Error::model("it has a value where an object belongs"))?;
        match fields.iter().find(|(key, _)| !known.contains(&key.as_str())) {
            Some((key, _)) => Err(Error::model(format!("Solr knows no {} there", quoted(key)))),
            None => Ok(()),
        }
    }

    fn features(&self) -> Result<Vec<Feature<'a>>> {
        let (mut features, mut seen) = (Vec::new(), HashSet::new());
        for &at in self.list(ROOT, "features")? {
            let name = self.text(at, "name")?;
            if !seen.insert(name) {
                return Err(Error::model(format!("it lists the feature {} twice", quoted(name))));
            }
            let norm = match self.document.field(at, "norm") {
                Some(norm) => Some(self.norm(norm)?),
                None => None,
            };
            features.push(Feature { name, norm });
        }
        if features.is_empty() {
            return Err(Error::model("it has no features"));
        }
        Ok(features)
    }

    fn norm(&self, at: usize) -> Result<(f32, f32)> {
        let class = self.text(at, "class")?;
        if class != NORMALIZER {
            return Err(Error::model(format!("its normalizer {} is not known here", quoted(class))));
        }
        let parameters = self.needed(at, "params")?;
        self.only(parameters, &["avg", "std"])?;
        let (average, deviation) = (self.single(parameters, "avg")?, self.single(parameters, "std")?);
        if deviation <= 0.0 {
            return Err(Error::model("the deviation of one of its normalizers is not above 0"));
        }
        Ok((average, deviation))
    }

    /// The engine with the features' normalizers before it.
    fn normalised(&self, features: &[Feature<'_>], missing: f32, engine: Engine) -> Result<Engine> {
        let mut norms = Vec::new();
        for feature in features {
            if let Some((average, deviation)) = feature.norm {
                let column = self.names.column(feature.name)?;
                norms.push(Norm { column, average, deviation, missing });
            }
        }
        Ok(if norms.is_empty() { engine } else { Engine::Normalised(norms, Box::new(engine)) })
    }

    fn linear(&self, parameters: usize, features: &[Feature<'_>]) -> Result<Engine> {
        self.only(parameters, &["weights"])?;
        let weights = self.needed(parameters, "weights")?;
        let weight = |feature: &Feature<'_>| {
            let place = self.document.field(weights, feature.name);
            match place.and_then(|place| self.document.double(place)) {
                Some(weight) => Ok((self.names.column(feature.name)?, weight as f32)),
                None => Err(Error::model(format!(
                    "its weight of {} is not a number with a fraction, as Solr takes it",
                    quoted(feature.name)
                ))),
            }
        };
        Ok(Engine::Linear(features.iter().map(weight).collect::<Result<_>>()?))
    }

    /// Whether missing values are 0. The setter takes a boolean, and Solr refuses a model with a text here.
    fn null_is_zero(&self, parameters: usize) -> Result<bool> {
        match self.document.field(parameters, "isNullSameAsZero") {
            None => Ok(true),
            Some(place) => {
                self.document.flag(place).ok_or_else(|| not_a("isNullSameAsZero", "true or false"))
            }
        }
    }

    fn forest(&self, parameters: usize, features: &[Feature<'_>], null_is_zero: bool) -> Result<Engine> {
        self.only(parameters, &["trees", "isNullSameAsZero"])?;
        let listed: HashSet<&str> = features.iter().map(|feature| feature.name).collect();
        let mut trees = Vec::new();
        for &tree in self.list(parameters, "trees")? {
            self.only(tree, &["weight", "root"])?;
            let root = self.needed(tree, "root")?;
            trees.push((self.single(tree, "weight")?, self.grown(root, &listed, null_is_zero)?));
        }
        Ok(Engine::Forest(trees))
    }

    /// A tree; kept as a stack, since trees may be deep.
    fn grown(&self, root: usize, listed: &HashSet<&str>, null_is_zero: bool) -> Result<Grown> {
        let mut nodes = vec![Node::Leaf(0.0)];
        let mut waiting = vec![(root, 0)];
        while let Some((at, place)) = waiting.pop() {
            self.only(at, &["value", "feature", "threshold", "missing", "left", "right"])?;
            if self.document.field(at, "feature").is_none() {
                nodes[place] = self.leaf(at)?;
                continue;
            }
            let (name, [low, high]) = (self.text(at, "feature")?, self.branches(at)?);
            let (threshold, missing_left) =
                (self.single(at, "threshold")? + SLACK, self.missing_left(at, null_is_zero)?);
            // Solr ends the tree with 0 at a feature that is not listed.
            if !listed.contains(name) {
                continue;
            }
            let (column, left, right) = (self.names.column(name)?, nodes.len(), nodes.len() + 1);
            nodes.extend([Node::Leaf(0.0), Node::Leaf(0.0)]);
            nodes[place] = Node::Split { column, threshold, test: Test::AtMost, missing_left, left, right };
            waiting.extend([(high, right), (low, left)]);
        }
        Ok(Grown(nodes))
    }

    fn leaf(&self, at: usize) -> Result<Node> {
        if ["left", "right"].iter().any(|side| self.document.field(at, side).is_some()) {
            return Err(Error::model("a leaf of it has branches"));
        }
        let has_value = self.document.field(at, "value").is_some();
        Ok(Node::Leaf(if has_value { self.single(at, "value")? } else { 0.0 }))
    }

    /// The two branches of a test.
    fn branches(&self, at: usize) -> Result<[usize; 2]> {
        let field = |key: &str| self.document.field(at, key);
        match (field("threshold"), field("left"), field("right")) {
            (Some(_), Some(left), Some(right)) => Ok([left, right]),
            _ => Err(Error::model("a test in it lacks its threshold or a branch")),
        }
    }

    /// Where a test sends missing values; `None` where they are 0.
    fn missing_left(&self, at: usize, null_is_zero: bool) -> Result<Option<bool>> {
        if null_is_zero {
            return Ok(None);
        }
        match self.text(at, "missing")? {
            "left" => Ok(Some(true)),
            "right" => Ok(Some(false)),
            side => Err(Error::model(format!("a test in it sends missing values to {}", quoted(side)))),
        }
    }

    fn network(&self, parameters: usize, features: &[Feature<'_>]) -> Result<Engine> {
        self.only(parameters, &["layers"])?;
        let columns: Vec<usize> =
            features.iter().map(|feature| self.names.column(feature.name)).collect::<Result<_>>()?;
        let (mut layers, mut inputs) = (Vec::new(), columns.len());
        for &at in self.list(parameters, "layers")? {
            let layer = self.layer(at, inputs)?;
            inputs = layer.biases.len();
            layers.push(layer);
        }
        if inputs != 1 {
            return Err(Error::model("its last layer has not one unit"));
        }
        Ok(Engine::Network(columns, layers))
    }

    fn layer(&self, at: usize, inputs: usize) -> Result<DenseLayer> {
        self.only(at, &["matrix", "bias", "activation"])?;
        let weights = self
            .list(at, "matrix")?
            .iter()
            .map(|&row| {
                self.numbers(self.document.list(row).ok_or_else(|| not_a("matrix", "a list of lists"))?)
            })
            .collect::<Result<Vec<Vec<f32>>>>()?;
        let biases = self.numbers(self.list(at, "bias")?)?;
        let activation: fn(f32) -> f32 = match self.text(at, "activation")? {
            "identity" => |x| x,
            "relu" => |x| if x < 0.0 { 0.0 } else { x },
            "leakyrelu" => |x| if x < 0.0 { 0.01 * x } else { x },
            "tanh" => |x| f64::from(x).tanh() as f32,
            "sigmoid" => |x| (1.0 / (1.0 + f64::from(-x).exp())) as f32,
            other => return Err(Error::model(format!("Solr knows no activation {}", quoted(other)))),
        };
        if weights.len() != biases.len() || weights.iter().any(|row| row.len() != inputs) {
            return Err(Error::model(format!("one of its layers does not fit {inputs} inputs")));
        }
        Ok(DenseLayer { weights, biases, activation })
    }

    fn numbers(&self, places: &[usize]) -> Result<Vec<f32>> {
        let number = |&place: &usize| self.document.double(place).map(|x| x as f32);
        let refusal = || Error::model("a weight in it is not a number with a fraction, as Solr takes it");
        places.iter().map(|place| number(place).ok_or_else(refusal)).collect()
    }
}

fn not_a(key: &str, wanted: &str) -> Error {
    Error::model(format!("its `{key}` is not {wanted}, as Solr takes it"))
}
