//! Networks for people: their layers, and the features they listen to.

use crate::insight::shown;
use crate::{output, table};
use rankwise::models::{Activation, NeuralNetwork, Ranker};

/// How large the network is, and the features with the largest weights in its first layer: `top` of them, or for 0 all.
pub(crate) fn describe(mlp: &NeuralNetwork, ranker: &Ranker, top: usize) -> String {
    let activation = match mlp.activation() {
        Activation::Relu => "relu",
        Activation::Tanh => "tanh",
        _ => "another",
    };
    let numbers: usize = mlp.layers().iter().map(|l| l.weights.len() + l.biases.len()).sum();
    let mut lines = table::Columns::new(&["", ""]).headless();
    let units: Vec<String> = mlp.layers().iter().map(|l| l.outputs.to_string()).collect();
    lines.row(["layers", &format!("{}-{}", mlp.width(), units.join("-"))]);
    lines.row(["activation", activation]);
    lines.row(["weights and biases", &output::thousands(numbers)]);
    format!("{}\n{}", lines.render(), loudest(mlp, ranker, top))
}

/// The features by the norm of their weights, which are in units of the standardised features.
fn loudest(mlp: &NeuralNetwork, ranker: &Ranker, top: usize) -> String {
    let mut squares = vec![0.0; mlp.width()];
    for unit in mlp.layers()[0].weights.chunks_exact(mlp.width()) {
        squares.iter_mut().zip(unit).for_each(|(sum, &w)| *sum += f64::from(w).powi(2));
    }
    // A factor of 0 keeps a feature out whatever its weights are.
    let heard = (0..mlp.width()).filter(|&column| mlp.factors()[column] != 0.0);
    let mut order: Vec<usize> = heard.collect();
    order.sort_by(|&a, &b| squares[b].total_cmp(&squares[a]));
    let shown = shown(top, order.len());
    let mut table = table::Columns::new(&["feature", ">norm of its weights", ">mean", ">deviation"]);
    for &column in &order[..shown] {
        let (mean, factor) = (f64::from(mlp.means()[column]), f64::from(mlp.factors()[column]));
        let norm = table::six(squares[column].sqrt());
        table.row([ranker.columns.name(column), norm, table::six(mean), table::six(1.0 / factor)]);
    }
    let rest = match order.len() - shown {
        0 => String::new(),
        n => format!("and {}: --top 0 shows all\n", output::count(n, "other feature", "other features")),
    };
    format!("{}{rest}", table.render())
}
