//! Neural networks as text: their layers, and the features with the largest weights.

use crate::insight::shown;
use crate::{output, table};
use rankwise::models::{Activation, NeuralNetwork, Ranker};

/// The size of the network, and the `top` features with the largest weights in its first layer; 0 stands for all.
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
    format!("{}\n{}", lines.render(), largest(mlp, ranker, top))
}

/// The features by the norm of their weights, which apply to standardised features.
fn largest(mlp: &NeuralNetwork, ranker: &Ranker, top: usize) -> String {
    let mut squares = vec![0.0; mlp.width()];
    for unit in mlp.layers()[0].weights.chunks_exact(mlp.width()) {
        squares.iter_mut().zip(unit).for_each(|(sum, &w)| *sum += f64::from(w).powi(2));
    }
    // A factor of 0 removes a feature, whatever its weights are.
    let used = (0..mlp.width()).filter(|&column| mlp.factors()[column] != 0.0);
    let mut order: Vec<usize> = used.collect();
    order.sort_by(|&a, &b| squares[b].total_cmp(&squares[a]));
    let shown = shown(top, order.len());
    let mut table = table::Columns::new(&["feature", ">weight norm", ">mean", ">std dev"]);
    for &column in &order[..shown] {
        let (mean, factor) = (f64::from(mlp.means()[column]), f64::from(mlp.factors()[column]));
        let norm = table::six(squares[column].sqrt());
        table.row([ranker.columns.name(column), norm, table::six(mean), table::six(1.0 / factor)]);
    }
    let rest = match order.len() - shown {
        0 => String::new(),
        n => format!("and {}: --top 0 shows all\n", output::count(n, "more feature", "more features")),
    };
    format!("{}{rest}", table.render())
}
