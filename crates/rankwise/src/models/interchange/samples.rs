//! Models made by hand for the tests of this room.

use crate::data::{Categories, Columns};
use crate::models::{Model, Ranker, TreeEnsemble};
use crate::trees::Tree;

/// Feature 0 at 1.5; to the right, feature 2 at −2. Missing goes right, then left.
pub(super) fn tree() -> Tree {
    Tree {
        features: vec![0, 2],
        thresholds: vec![1.5, -2.0],
        missing_left: vec![false, true],
        left: vec![!0, !1],
        right: vec![1, !2],
        gains: vec![3.0, 1.0],
        values: vec![10.0, 20.0, 30.0],
        covers: vec![5.0, 3.0, 2.0],
        ..Tree::default()
    }
}

/// Two trees and a constant, over three features without names.
pub(super) fn ranker() -> Ranker {
    let mut second = tree();
    second.features = vec![1, 0];
    second.scale(-0.125);
    let trees = vec![tree(), second, Tree::constant(0.25, 10.0)];
    let model = Model::Trees(TreeEnsemble::sum(3, 0.5, trees).unwrap());
    Ranker::of_model(model, Columns::default()).unwrap()
}

/// The same where the first feature has categories, with texts, and the last one categories that are numbers.
pub(super) fn ranker_of_categories() -> Ranker {
    let mut first = tree();
    first.thresholds = vec![0.0; 2];
    first.categories = vec![vec![0, 2], vec![5, 33, 200_000]];
    first.missing_left = vec![false; 2];
    let model = Model::Trees(TreeEnsemble::sum(3, 0.5, vec![first, Tree::constant(0.25, 10.0)]).unwrap());
    let categories = Categories::default().with(0, ["a", "b", "é \""]).unwrap().with_numbers([2]);
    let names = Some(["brand", "bm25", "shop"].map(String::from).to_vec());
    Ranker::of_model(model, Columns { names, categories, ..Columns::default() }).unwrap()
}

/// RankLib's models, laid out as it writes them, and the scores of two rows of five features by hand: `RANKLIB_ROWS`.
pub(super) const RANKLIB: [(&str, [f64; 2]); 8] = [
    // Tree 1: 0.6 ≤ 0.5 is false, and 0 (missing) ≤ −1 is false: 8; 0.5 ≤ 0.5: −2. Half of that, and a tenth of 10.
    (
        "## LambdaMART\n## No. of trees = 2\n## No. of leaves = 10\n## No. of threshold candidates = 256\n\
         ## Learning rate = 0.1\n## Stop early = 100\n\n<ensemble>\n\t<tree id=\"1\" weight=\"0.5\">\n\t\t<split>\n\
         \t\t\t<feature>2 </feature>\n\t\t\t<threshold> 0.5 </threshold>\n\t\t\t<split pos=\"left\">\n\
         \t\t\t\t<output>-2.0 </output>\n\t\t\t</split>\n\t\t\t<split pos=\"right\">\n\t\t\t\t<feature>5 </feature>\n\
         \t\t\t\t<threshold> -1.0 </threshold>\n\t\t\t\t<split pos=\"left\">\n\t\t\t\t\t<output>4.0 </output>\n\
         \t\t\t\t</split>\n\t\t\t\t<split pos=\"right\">\n\t\t\t\t\t<output>8.0 </output>\n\t\t\t\t</split>\n\
         \t\t\t</split>\n\t\t</split>\n\t</tree>\n\t<tree id=\"2\" weight=\"0.25\">\n\t\t<split>\n\
         \t\t\t<output>10.0 </output>\n\t\t</split>\n\t</tree>\n</ensemble>\n",
        [6.5, 1.5],
    ),
    // One ensemble gives 3 where feature 1 is at most 2, else 1, and the other 7: their mean.
    (
        "## Random Forests\n## No. of bags = 2\n## Sub-sampling = 1.0\n## Feature-sampling = 0.3\n## No. of trees = 1\n\n\
         <ensemble>\n\t<tree id=\"1\" weight=\"0.5\">\n\t\t<split>\n\t\t\t<feature>1 </feature>\n\
         \t\t\t<threshold> 2.0 </threshold>\n\t\t\t<split pos=\"left\">\n\t\t\t\t<output>6.0 </output>\n\t\t\t</split>\n\
         \t\t\t<split pos=\"right\">\n\t\t\t\t<output>2.0 </output>\n\t\t\t</split>\n\t\t</split>\n\t</tree>\n</ensemble>\n\n\
         <ensemble>\n\t<tree id=\"1\" weight=\"1.0\">\n\t\t<split>\n\t\t\t<output>7.0 </output>\n\t\t</split>\n\t</tree>\n\
         </ensemble>\n\n",
        [5.0, 4.0],
    ),
    // 0.5·1 + 2·0.6 and 0.5·4 + 2·0.5.
    (
        "## Coordinate Ascent\n## Restart = 5\n## MaxIteration = 25\n## StepBase = 0.05\n## StepScale = 2.0\n\
         ## Tolerance = 0.001\n## Regularized = false\n## Slack = 0.001\n1:0.5 2:2.0 4:0.0",
        [1.7, 3.0],
    ),
    // Feature 1 came twice: 0.25 + 0.5.
    (
        "## AdaRank\n## Iteration = 500\n## Train with enqueue: Yes\n## Tolerance = 0.002\n\
         ## Max consecutive selection count = 5\n1:0.25 3:-1.0 1:0.5",
        [0.75 - 3.0, 3.0],
    ),
    // The constant, 1.5, and 1.5·1 or 1.5·4.
    ("## Linear Regression\n## Lambda = 1.0E-10\n0:1.5 1:1.5 2:0.0 ", [3.0, 7.5]),
    // 2 where feature 2 is above 0.5; −1 where feature 5, missing or 7, is above −3; 4 where feature 1 is above 1.
    (
        "## RankBoost\n## Iteration = 300\n## No. of threshold candidates = 10\n2:0.5:2.0 5:-3.0:-1.0 1:1.0:4.0",
        [1.0, 3.0],
    ),
    // −1·1 + 3·3 + 0.5 and −1·4 + 0 + 0.5: the links of features 1 and 3, and the bias.
    (
        "## ListNet\n## Epochs = 1500\n## No. of features = 2\n1 3\n0\n0 0 -1.0\n0 1 3.0\n0 2 0.5\n",
        [8.5, -3.5],
    ),
    // Two hidden units: σ(2x₁ − x₂ + 0.1) and σ(−x₁ + 0.3); then 1.5 and −2 of them, and 0.25.
    (
        "## RankNet\n## Epochs = 100\n## No. of features = 2\n## No. of hidden layers = 1\n## Layer 1: 2 neurons\n1 2\n1\n2\n\
         0 0 2.0 -1.0\n0 1 -1.0 0.0\n0 2 0.1 0.3 0.25\n1 0 1.5\n1 1 -2.0\n",
        // σ(1.5) = 0.817574476193644, σ(−0.7) = 0.331812227831834; σ(7.6) = 0.999499798892920, σ(−3.7) = 0.024127021417669.
        [
            1.5 * 0.817_574_476_193_644 - 2.0 * 0.331_812_227_831_834 + 0.25,
            1.5 * 0.999_499_798_892_920 - 2.0 * 0.024_127_021_417_669 + 0.25,
        ],
    ),
];

/// The second lacks nothing, the first its last feature.
pub(super) const RANKLIB_ROWS: [[f32; 5]; 2] = [[1.0, 0.6, 3.0, 9.0, f32::NAN], [4.0, 0.5, 0.0, 9.0, 7.0]];

/// CatBoost's models: an oblivious tree of two tests, and a tree of another kind.
pub(super) const CATBOOST: [&str; 2] = [
    r#"{"features_info":{"float_features":[
{"borders":[0.5],"feature_id":"","feature_index":0,"flat_feature_index":0,"has_nans":false,"nan_value_treatment":"AsIs"},
{"borders":[-1],"feature_id":"","feature_index":1,"flat_feature_index":1,"has_nans":true,"nan_value_treatment":"AsTrue"}]},
"model_info":{"params":{"loss_function":{"type":"YetiRank","params":{}}}},
"oblivious_trees":[{"leaf_values":[1,2,3,4],"leaf_weights":[5,6,7,8],"splits":[
{"border":0.5,"float_feature_index":0,"split_index":0,"split_type":"FloatFeature"},
{"border":-1,"float_feature_index":1,"split_index":1,"split_type":"FloatFeature"}]}],
"scale_and_bias":[2,[0.25]]}"#,
    r#"{"features_info":{"float_features":[
{"borders":[0.5],"feature_id":"a","feature_index":0,"flat_feature_index":0,"has_nans":false,"nan_value_treatment":"AsFalse"}]},
"scale_and_bias":[1,[0]],
"trees":[{"left":{"value":1,"weight":2},"right":{"left":{"value":3,"weight":1},"right":{"value":5,"weight":1},
"split":{"border":2.5,"float_feature_index":0,"split_type":"FloatFeature"}},
"split":{"border":0.5,"float_feature_index":0,"split_type":"FloatFeature"}}]}"#,
];
