//! Who minimises? Solvers that know objectives and vectors, and nothing of rankings.
