//! Writes a model as an ONNX graph from `features` (documents × columns) to `score` (documents × 1), in f32.
//!
//! ```text
//! linear   IsNaN, Where (missing is 0), Gemm
//! trees    TreeEnsembleRegressor of ai.onnx.ml 1: x ≤ t in f32, missing values by `missing_value_tracks_true`; sets of
//!          categories as chains of x = c, which runtimes know from other converters
//!          several outputs: Softmax or Sigmoid, and Gemm with the grades, as the model combines them
//! network  Sub and Mul in f64, as the model standardises; IsNaN, Where; then Gemm and Relu or Tanh for each layer
//! ```

use super::onnx::{
    Attribute, DOUBLE, Entry, FLOAT, Graph, ModelProto, Operation, OperatorSet, Tensor, ValueInfo,
};
use super::{Exported, in_single};
use crate::error::Result;
use crate::models::{Activation, Combine, NeuralNetwork, Ranker, TreeEnsemble};
use crate::trees::{Child, Tree};
use prost::Message;

const FEATURES: &str = "features";
const SCORE: &str = "score";

/// Operators of ONNX 1.8 (version 13, in files of version 7), which every runtime of the last years has.
const FILE_VERSION: i64 = 7;
const OPERATORS: i64 = 13;
const TREE_OPERATORS: &str = "ai.onnx.ml";

/// The model as ONNX.
pub(super) fn write(ranker: &Ranker, name: &str, out: &mut Exported) -> Result<Vec<u8>> {
    let mut graph = OnnxGraph::default();
    ranker.model.shape().write_onnx(&mut graph, &mut out.notes)?;
    Ok(graph.finish(ranker, name))
}

/// A graph under construction: operations in order, and the constants that they use.
#[derive(Default)]
pub(in crate::models) struct OnnxGraph {
    operations: Vec<Operation>,
    constants: Vec<Tensor>,
    uses_trees: bool,
}

impl OnnxGraph {
    /// An operation of `inputs` whose result is called `output`.
    fn put(&mut self, kind: &str, inputs: &[&str], output: &str, attribute: Vec<Attribute>) {
        self.operations.push(Operation {
            input: inputs.iter().map(|name| name.to_string()).collect(),
            output: vec![output.into()],
            op_type: kind.into(),
            attribute,
            domain: String::new(),
        });
    }

    fn constant(&mut self, name: &str, dims: &[usize], values: impl IntoIterator<Item = f32>) {
        self.constants.push(Tensor::floats(name, dims, values));
    }

    /// `output`: `input` with 0 where it is missing.
    fn zero_for_missing(&mut self, input: &str, output: &str) {
        self.constant("zero", &[], [0.0]);
        self.put("IsNaN", &[input], "is_missing", Vec::new());
        self.put("Where", &["is_missing", "zero", input], output, Vec::new());
    }

    /// A linear model.
    pub(in crate::models) fn linear(
        &mut self,
        weights: &[f64],
        bias: f64,
        notes: &mut Vec<String>,
    ) -> Result<()> {
        in_single("ONNX", weights.iter().chain([&bias]), notes)?;
        self.zero_for_missing(FEATURES, "present");
        self.constant("weights", &[weights.len(), 1], weights.iter().map(|&w| w as f32));
        self.constant("bias", &[1], [bias as f32]);
        self.put("Gemm", &["present", "weights", "bias"], SCORE, Vec::new());
        Ok(())
    }

    /// A neural network.
    pub(in crate::models) fn network(&mut self, network: &NeuralNetwork) {
        let doubles = |values: &[f32]| values.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
        for (name, values) in [("means", network.means()), ("factors", network.factors())] {
            self.constants.push(Tensor::doubles(name, &[values.len()], doubles(values)));
        }
        let to = |kind: i32| vec![Attribute::integer("to", kind.into())];
        self.put("Cast", &[FEATURES], "features_double", to(DOUBLE));
        self.put("Sub", &["features_double", "means"], "centred", Vec::new());
        self.put("Mul", &["centred", "factors"], "scaled_double", Vec::new());
        self.put("Cast", &["scaled_double"], "scaled", to(FLOAT));
        self.zero_for_missing("scaled", "layer_0");
        let (mut input, mut inputs) = ("layer_0".to_string(), network.width());
        for (number, layer) in (1..).zip(network.layers()) {
            let [weights, biases, sums] =
                ["weights", "biases", "sums"].map(|part| format!("{part}_{number}"));
            self.constant(&weights, &[layer.outputs, inputs], layer.weights.iter().copied());
            self.constant(&biases, &[layer.outputs], layer.biases.iter().copied());
            let last = number == network.layers().len();
            let sums = if last { SCORE.to_string() } else { sums };
            let by_rows = vec![Attribute::integer("transB", 1)];
            self.put("Gemm", &[&input, &weights, &biases], &sums, by_rows);
            if !last {
                let kind = match network.activation() {
                    Activation::Relu => "Relu",
                    Activation::Tanh => "Tanh",
                };
                let output = format!("layer_{number}");
                self.put(kind, &[&sums], &output, Vec::new());
                input = output;
            }
            inputs = layer.outputs;
        }
    }

    /// Trees, and how their outputs are combined.
    pub(in crate::models) fn trees(
        &mut self,
        ensemble: &TreeEnsemble,
        notes: &mut Vec<String>,
    ) -> Result<()> {
        let values = ensemble.trees().iter().flat_map(|tree| &tree.values);
        in_single("ONNX", values.chain(ensemble.base()), notes)?;
        let sums = if *ensemble.combine() == Combine::Sum { SCORE } else { "outputs" };
        let trees = TreeTable::of(ensemble);
        self.uses_trees = true;
        self.put("TreeEnsembleRegressor", &[FEATURES], sums, trees.attributes(ensemble));
        if let Some(operation) = self.operations.last_mut() {
            operation.domain = TREE_OPERATORS.into();
        }
        match ensemble.combine() {
            Combine::Sum => {}
            Combine::Softmax { grades } => {
                self.put("Softmax", &[sums], "odds", vec![Attribute::integer("axis", 1)]);
                self.expected_grade(grades.clone(), 0.0);
            }
            Combine::Ordinal { grades } => {
                self.put("Sigmoid", &[sums], "odds", Vec::new());
                self.expected_grade(grades.windows(2).map(|g| g[1] - g[0]).collect(), grades[0]);
            }
        }
        Ok(())
    }

    /// `least + Σ odds·steps`.
    fn expected_grade(&mut self, steps: Vec<f32>, least: f32) {
        self.constant("steps", &[steps.len(), 1], steps);
        self.constant("least", &[1], [least]);
        self.put("Gemm", &["odds", "steps", "least"], SCORE, Vec::new());
    }

    fn finish(self, ranker: &Ranker, name: &str) -> Vec<u8> {
        let width = ranker.model.width();
        let mut operators = vec![OperatorSet { domain: String::new(), version: OPERATORS }];
        if self.uses_trees {
            operators.push(OperatorSet { domain: TREE_OPERATORS.into(), version: 1 });
        }
        let names = ranker.columns.names.iter().map(|names| Entry {
            key: FEATURES.into(),
            value: serde_json::Value::from(names.as_slice()).to_string(),
        });
        let graph = Graph {
            node: self.operations,
            name: name.into(),
            initializer: self.constants,
            input: vec![ValueInfo::rows(FEATURES, width)],
            output: vec![ValueInfo::rows(SCORE, 1)],
        };
        ModelProto {
            ir_version: FILE_VERSION,
            producer_name: "rankwise".into(),
            graph: Some(graph),
            opset_import: operators,
            metadata_props: names.collect(),
        }
        .encode_to_vec()
    }
}

/// The nodes of all trees as ONNX has them: one row a node, inner nodes of a tree first and then its leaves.
#[derive(Default)]
struct TreeTable {
    trees: Vec<i64>,
    nodes: Vec<i64>,
    columns: Vec<i64>,
    thresholds: Vec<f32>,
    modes: Vec<&'static str>,
    yes: Vec<i64>,
    no: Vec<i64>,
    missing_yes: Vec<i64>,
    leaf_trees: Vec<i64>,
    leaf_nodes: Vec<i64>,
    leaf_outputs: Vec<i64>,
    leaf_values: Vec<f32>,
}

impl TreeTable {
    fn of(ensemble: &TreeEnsemble) -> TreeTable {
        let mut table = TreeTable::default();
        let nothing = [Tree::constant(0.0, 0.0)];
        // Runtimes want a tree, if only one that adds nothing.
        let trees = if ensemble.trees().is_empty() { &nothing } else { ensemble.trees() };
        for (t, tree) in trees.iter().enumerate() {
            table.put_tree(t as i64, tree, (t % ensemble.base().len()) as i64);
        }
        table
    }

    fn put_tree(&mut self, t: i64, tree: &Tree, output: i64) {
        let inner = tree.features.len();
        let id = |code: i32| match Child::of(code) {
            Child::Node(node) => node as i64,
            Child::Leaf(leaf) => (inner + leaf) as i64,
        };
        // The nodes of a chain, behind the first, come after all others.
        let mut next = inner + tree.values.len();
        for node in 0..inner {
            let children = [id(tree.left[node]), id(tree.right[node])];
            let (column, missing_left) = (tree.features[node].into(), tree.missing_left[node]);
            match tree.category_set(node) {
                None => {
                    let test = (column, tree.thresholds[node], missing_left);
                    self.put_node(t, node, "BRANCH_LEQ", test, children);
                }
                Some(set) => {
                    self.put_set(t, node, set, (column, missing_left), children, next);
                    next += set.len() - 1;
                }
            }
        }
        for (leaf, value) in tree.values.iter().enumerate() {
            self.put_node(t, inner + leaf, "LEAF", (0, 0.0, false), [0, 0]);
            self.leaf_trees.push(t);
            self.leaf_nodes.push((inner + leaf) as i64);
            self.leaf_outputs.push(output);
            self.leaf_values.push(*value as f32);
        }
    }

    /// A test of categories as a chain of nodes, one for each category: where it is the one, the chain goes left, and
    /// behind the last one right. Nodes after `node` are numbered from `next`.
    fn put_set(
        &mut self,
        tree: i64,
        node: usize,
        set: &[u32],
        (column, missing_left): (i64, bool),
        [left, right]: [i64; 2],
        next: usize,
    ) {
        for (i, &code) in set.iter().enumerate() {
            let this = if i == 0 { node } else { next + i - 1 };
            let otherwise = if i + 1 == set.len() { right } else { (next + i) as i64 };
            let test = (column, code as f32, missing_left && i == 0);
            self.put_node(tree, this, "BRANCH_EQ", test, [left, otherwise]);
        }
    }

    fn put_node(
        &mut self,
        tree: i64,
        node: usize,
        mode: &'static str,
        (column, threshold, missing_left): (i64, f32, bool),
        [yes, no]: [i64; 2],
    ) {
        self.trees.push(tree);
        self.nodes.push(node as i64);
        self.modes.push(mode);
        self.columns.push(column);
        self.thresholds.push(threshold);
        self.missing_yes.push(missing_left.into());
        self.yes.push(yes);
        self.no.push(no);
    }

    fn attributes(self, ensemble: &TreeEnsemble) -> Vec<Attribute> {
        vec![
            Attribute::text("aggregate_function", "SUM"),
            Attribute::floats("base_values", ensemble.base().iter().map(|&b| b as f32).collect()),
            Attribute::integer("n_targets", ensemble.base().len() as i64),
            Attribute::integers("nodes_falsenodeids", self.no),
            Attribute::integers("nodes_featureids", self.columns),
            Attribute::integers("nodes_missing_value_tracks_true", self.missing_yes),
            Attribute::texts("nodes_modes", &self.modes),
            Attribute::integers("nodes_nodeids", self.nodes),
            Attribute::integers("nodes_treeids", self.trees),
            Attribute::integers("nodes_truenodeids", self.yes),
            Attribute::floats("nodes_values", self.thresholds),
            Attribute::text("post_transform", "NONE"),
            Attribute::integers("target_ids", self.leaf_outputs),
            Attribute::integers("target_nodeids", self.leaf_nodes),
            Attribute::integers("target_treeids", self.leaf_trees),
            Attribute::floats("target_weights", self.leaf_values),
        ]
    }
}
