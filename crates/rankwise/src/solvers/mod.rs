//! Who minimises? Solvers that know matrices and vectors, and nothing of rankings.

mod bundle;
mod certified;
mod conjugate_gradient;
mod held_risk;
mod lbfgs;
mod least_squares;
mod line_search;
mod moments;
mod newton_cg;
mod objective;
mod planes;
mod positive;
mod sampled_risk;
mod threshold_risk;
mod units;
mod vectors;

pub use bundle::Bundle;
pub use certified::CertifiedFit;
pub use conjugate_gradient::conjugate_gradient;
pub use held_risk::HeldRisk;
pub use lbfgs::{Ending, Lbfgs, LbfgsFit};
pub use least_squares::{RidgeFit, ridge};
pub use line_search::LineSearch;
pub use newton_cg::NewtonCg;
pub use objective::{Curvature, LinearRisk, Objective, Regularized};
pub use planes::Planes;
pub use sampled_risk::{DrawnRankings, SampledLaw, SampledRisk};
pub use threshold_risk::ThresholdRisk;
pub use units::Units;
