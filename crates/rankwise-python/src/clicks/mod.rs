//! Search logs: `rankwise.clicks`.

mod interleave;
mod log;
mod model;
mod propensities;
mod session;
mod simulate;

pub(crate) use interleave::interleave_lists;
pub(crate) use log::ClickLog;
pub(crate) use model::ClickModel;
pub(crate) use propensities::Propensities;
pub(crate) use simulate::simulate_clicks;
