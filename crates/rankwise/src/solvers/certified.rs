//! A solution of `min_w ½‖w‖² + C·R(w)` with the proof of how good it is.

/// The best weights found, with the certificate of how good they are.
#[derive(Debug, Clone, PartialEq)]
pub struct CertifiedFit {
    /// The weights.
    pub weights: Vec<f64>,
    /// Their value `½‖w‖² + C·R(w)`.
    pub primal: f64,
    /// A value that no weights go below.
    pub dual: f64,
    /// Rounds made.
    pub rounds: u64,
    /// Whether the gap was reached.
    pub converged: bool,
}

impl CertifiedFit {
    /// The gap between the value and its lower bound, relative to the value.
    pub fn gap(&self) -> f64 {
        if self.primal > 0.0 { (self.primal - self.dual).max(0.0) / self.primal } else { 0.0 }
    }
}
