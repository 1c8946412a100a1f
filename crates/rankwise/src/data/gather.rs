//! Rows with one query id each, gathered by query.

use std::collections::HashMap;
use std::hash::Hash;

/// Which rows belong to which query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gathered {
    /// Where each query starts once `order` is applied, and the number of rows.
    pub bounds: Vec<usize>,
    /// The first row of each query, by its number before.
    pub first_rows: Vec<usize>,
    /// The numbers of the rows in their new order; `None` if it does not change.
    pub order: Option<Vec<usize>>,
}

/// Gathers rows by their query ids. Queries are in the order in which they begin, and rows of a query keep their order.
///
/// ```
/// use rankwise::data::gather;
/// let gathered = gather(&["b", "a", "b"]);
/// assert_eq!((gathered.bounds, gathered.order), (vec![0, 2, 3], Some(vec![0, 2, 1])));
/// assert_eq!(gather(&[7, 7, 3]).order, None);
/// ```
pub fn gather<T: Eq + Hash>(ids: &[T]) -> Gathered {
    let (mut queries, mut query_of_row) = (HashMap::new(), Vec::with_capacity(ids.len()));
    let (mut sizes, mut first_rows, mut adjacent) = (Vec::new(), Vec::new(), true);
    for (row, id) in ids.iter().enumerate() {
        let query = match row.checked_sub(1) {
            Some(before) if ids[before] == *id => query_of_row[before],
            _ => {
                let query = *queries.entry(id).or_insert(sizes.len());
                if query == sizes.len() {
                    sizes.push(0);
                    first_rows.push(row);
                } else {
                    adjacent = false;
                }
                query
            }
        };
        sizes[query] += 1;
        query_of_row.push(query);
    }
    let mut bounds = vec![0];
    bounds.extend(sizes.iter().scan(0, |end, size| {
        *end += size;
        Some(*end)
    }));
    let order = (!adjacent).then(|| {
        let (mut next, mut order) = (bounds.clone(), vec![0; ids.len()]);
        for (row, &query) in query_of_row.iter().enumerate() {
            order[next[query]] = row;
            next[query] += 1;
        }
        order
    });
    Gathered { bounds, first_rows, order }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_gathered_stably() {
        let gathered = gather(&[5, 5, 2, 5, 9, 2]);
        assert_eq!(gathered.bounds, [0, 3, 5, 6]);
        assert_eq!(gathered.first_rows, [0, 2, 4]);
        assert_eq!(gathered.order.unwrap(), [0, 1, 3, 2, 5, 4]);
        assert_eq!(gather::<u8>(&[]), Gathered { bounds: vec![0], first_rows: vec![], order: None });
    }
}
