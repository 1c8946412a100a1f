//! A solution of `min_w ½‖w‖² + C·R(w)` with a certificate of its quality.

/// The best weights found, with a certificate of their quality.
#[derive(Debug, Clone, PartialEq)]
pub struct CertifiedFit {
    /// The weights.
    pub weights: Vec<f64>,
    /// Their objective `½‖w‖² + C·R(w)`.
    pub primal: f64,
    /// A lower bound on the objective of any weights.
    pub dual: f64,
    /// The number of rounds.
    pub rounds: u64,
    /// Whether the requested gap was reached.
    pub converged: bool,
}

impl CertifiedFit {
    /// The relative duality gap: `(primal − dual) / primal`.
    pub fn gap(&self) -> f64 {
        if self.primal > 0.0 { (self.primal - self.dual).max(0.0) / self.primal } else { 0.0 }
    }
}
