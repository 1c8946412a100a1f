//! Linear assignment by shortest augmenting paths, with an optional warm start.
//!
//! ```text
//! min Σ_r cost(r, column_r) ,    each row has its own column
//! ```
//!
//! Potentials `u`, `v` with `u_r + v_c ≤ cost(r, c)` prove that an assignment is optimal if equality holds for all of
//! its pairs. Each row takes its cheapest column under the given potentials `v`. Rows whose column is taken follow
//! one by one along a shortest path (Dijkstra over `cost − u − v`) to a free column. With good potentials there are
//! no such rows, and each pair is visited once. The worst case is O(rows²·columns).

/// Marks a column without a row, or a row without a column.
const NONE: usize = usize::MAX;

/// The column of each row. There must be at least as many columns as rows; with more, all `potentials` must be 0.
pub(super) fn assign(rows: usize, potentials: Vec<f64>, cost: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    let columns = potentials.len();
    let mut state = Assignment {
        cost,
        row_potentials: vec![0.0; rows],
        column_potentials: potentials,
        column_of: vec![NONE; rows],
        row_of: vec![NONE; columns],
        distance: vec![0.0; columns],
        reached_from: vec![NONE; columns],
        open: Vec::with_capacity(columns),
        closed: Vec::with_capacity(rows),
    };
    let late: Vec<usize> = (0..rows).filter(|&row| !state.take_cheapest(row)).collect();
    for row in late {
        state.augment(row);
    }
    state.column_of
}

struct Assignment<C> {
    cost: C,
    row_potentials: Vec<f64>,
    column_potentials: Vec<f64>,
    column_of: Vec<usize>,
    row_of: Vec<usize>,
    /// The length of the shortest path to each column, the row it comes from, and which columns are open and closed.
    distance: Vec<f64>,
    reached_from: Vec<usize>,
    open: Vec<usize>,
    closed: Vec<usize>,
}

impl<C: Fn(usize, usize) -> f64> Assignment<C> {
    /// Sets the potential of a row and assigns its cheapest column if that is free.
    fn take_cheapest(&mut self, row: usize) -> bool {
        let (mut least, mut cheapest) = (f64::INFINITY, 0);
        for (column, potential) in self.column_potentials.iter().enumerate() {
            let reduced = (self.cost)(row, column) - potential;
            if reduced < least || (reduced == least && self.row_of[cheapest] != NONE) {
                (least, cheapest) = (reduced, column);
            }
        }
        self.row_potentials[row] = least;
        let free = self.row_of[cheapest] == NONE;
        if free {
            self.row_of[cheapest] = row;
            self.column_of[row] = cheapest;
        }
        free
    }

    /// Finds a column for an unassigned row, and reassigns others if that is cheapest.
    fn augment(&mut self, start: usize) {
        self.distance.fill(f64::INFINITY);
        self.open.clear();
        self.open.extend(0..self.column_potentials.len());
        self.closed.clear();
        let (mut row, mut length) = (start, 0.0);
        let end = loop {
            let nearest = self.reach(row, length);
            let column = self.open.swap_remove(nearest);
            length = self.distance[column];
            if self.row_of[column] == NONE {
                break column;
            }
            self.closed.push(column);
            row = self.row_of[column];
        };
        self.row_potentials[start] += length;
        for &column in &self.closed {
            let ahead = length - self.distance[column];
            self.column_potentials[column] -= ahead;
            self.row_potentials[self.row_of[column]] += ahead;
        }
        let mut column = end;
        loop {
            let row = self.reached_from[column];
            self.row_of[column] = row;
            let left = std::mem::replace(&mut self.column_of[row], column);
            if row == start {
                return;
            }
            column = left;
        }
    }

    /// Updates the paths to open columns with those through `row`. Returns the index in `open` of the nearest column,
    /// preferring free ones.
    fn reach(&mut self, row: usize, length: f64) -> usize {
        let origin = length - self.row_potentials[row];
        let (mut least, mut nearest) = (f64::INFINITY, 0);
        for (place, &column) in self.open.iter().enumerate() {
            let through = origin + (self.cost)(row, column) - self.column_potentials[column];
            let distance = &mut self.distance[column];
            if through < *distance {
                *distance = through;
                self.reached_from[column] = row;
            }
            if *distance < least || (*distance == least && self.row_of[column] == NONE) {
                (least, nearest) = (*distance, place);
            }
        }
        nearest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;
    use rand::RngExt;

    /// The minimum cost of rows `row..` with the remaining columns.
    fn least(costs: &[Vec<f64>], row: usize, taken: &mut Vec<usize>) -> f64 {
        if row == costs.len() {
            return 0.0;
        }
        let mut best = f64::INFINITY;
        for column in 0..costs[row].len() {
            if !taken.contains(&column) {
                taken.push(column);
                best = best.min(costs[row][column] + least(costs, row + 1, taken));
                taken.pop();
            }
        }
        best
    }

    /// Square problems with any potentials, and problems with more columns than rows without; integer costs, so ties
    /// are frequent.
    #[test]
    fn agrees_with_all_assignments() {
        for seed in 0..2000 {
            let mut random = rng::stream(seed, &[]);
            let rows = random.random_range(1..6);
            let columns = rows + random.random_range(0..3);
            let costs: Vec<Vec<f64>> = (0..rows)
                .map(|_| (0..columns).map(|_| f64::from(random.random_range(-4..5))).collect())
                .collect();
            let mut potentials = vec![0.0; columns];
            if rows == columns {
                potentials.fill_with(|| f64::from(random.random_range(-3..4)));
            }
            let chosen = assign(rows, potentials, |r, c| costs[r][c]);
            assert!((0..rows).all(|r| !chosen[..r].contains(&chosen[r])), "{chosen:?}");
            let total: f64 = (0..rows).map(|r| costs[r][chosen[r]]).sum();
            assert_eq!(total, least(&costs, 0, &mut Vec::new()), "{costs:?}");
        }
    }
}
