//! Sums over queries with a term for each column.

use crate::pieces::Term;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A term for each of some columns. A query has terms of the columns that vary in it, which in sparse data are few.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ColumnSums<T> {
    /// Ascending.
    columns: Vec<u32>,
    terms: Vec<T>,
}

impl<T: Term + Clone> ColumnSums<T> {
    pub(super) fn new() -> Self {
        ColumnSums { columns: Vec::new(), terms: Vec::new() }
    }

    /// Appends the term of a column after all others.
    pub(super) fn push(&mut self, column: usize, term: T) {
        self.columns.push(column as u32);
        self.terms.push(term);
    }

    /// The columns and their terms.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.columns.iter().map(|&column| column as usize).zip(&self.terms)
    }

    /// The same columns with other terms.
    pub(super) fn map(&self, term: impl Fn(&T) -> T) -> Self {
        ColumnSums { columns: self.columns.clone(), terms: self.terms.iter().map(term).collect() }
    }

    /// The sum over adjacent queries. Halves are added first, so that sparse terms are merged few times.
    pub(super) fn over(queries: Range<usize>, of: &impl Fn(usize) -> Self) -> Self {
        match queries.len() {
            0 => ColumnSums::new(),
            1 => of(queries.start),
            count => {
                let middle = queries.start + count / 2;
                let mut sum = ColumnSums::over(queries.start..middle, of);
                sum.add(&ColumnSums::over(middle..queries.end, of));
                sum
            }
        }
    }
}

impl<T: Term + Clone> Term for ColumnSums<T> {
    fn add(&mut self, other: &Self) {
        if self.columns == other.columns {
            return self.terms.add(&other.terms);
        }
        let mut sum = ColumnSums::new();
        let (mut own, mut others) = (self.iter().peekable(), other.iter().peekable());
        while let (Some(&(a, term)), Some(&(b, other_term))) = (own.peek(), others.peek()) {
            let mut term = if a <= b { term.clone() } else { other_term.clone() };
            if a == b {
                term.add(other_term);
            }
            sum.push(a.min(b), term);
            own.next_if(|_| a <= b);
            others.next_if(|_| b <= a);
        }
        own.chain(others).for_each(|(column, term)| sum.push(column, term.clone()));
        *self = sum;
    }
}

#[test]
fn sums_of_sparse_terms_are_those_of_each_column() {
    let terms = [vec![0, 2, 5], vec![], vec![2, 3], vec![0, 2, 5], vec![7]];
    let of = |q: usize| {
        let mut sums = ColumnSums::new();
        terms[q].iter().for_each(|&column| sums.push(column, (column + 10 * q) as u64));
        sums
    };
    let sum = ColumnSums::over(0..5, &of);
    let found: Vec<(usize, u64)> = sum.iter().map(|(column, sum)| (column, *sum)).collect();
    assert_eq!(found, [(0, 30), (2, 2 + 22 + 32), (3, 23), (5, 40), (7, 47)]);
    assert_eq!(ColumnSums::over(3..3, &of), ColumnSums::new());
}
