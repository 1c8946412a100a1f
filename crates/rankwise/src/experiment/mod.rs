//! Folds, grids and tables: comparing systems and telling differences from noise.
