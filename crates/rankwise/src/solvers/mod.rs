//! Solvers: minimisation over the weights of a linear model. They are independent of ranking.

mod ascent;
mod block;
mod bundle;
mod certified;
mod conjugate_gradient;
mod fixed_order_risk;
mod lbfgs;
mod least_squares;
mod line_search;
mod moments;
mod newton_cg;
mod objective;
mod planes;
mod positive;
mod sampled_risk;
mod slope;
mod threshold_risk;
mod units;

pub use ascent::{BlockAscent, QueryPlanes};
pub use bundle::Bundle;
pub use certified::CertifiedFit;
pub use conjugate_gradient::conjugate_gradient;
pub use fixed_order_risk::FixedOrderRisk;
pub use lbfgs::{Lbfgs, LbfgsFit, Termination};
pub use least_squares::{RidgeFit, ridge};
pub use line_search::LineSearch;
pub use newton_cg::NewtonCg;
pub use objective::{Curvature, LinearRisk, Objective, Regularized};
pub use planes::CuttingPlanes;
pub use sampled_risk::{DrawnRankings, SampledObjective, SampledRisk};
pub use threshold_risk::ThresholdRisk;
pub use units::FeatureUnits;
