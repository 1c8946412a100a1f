//! Labels as consecutive grade numbers, and weights of pairs by them.

use crate::rank::grade;

/// Integer labels below this are used as grade numbers directly; otherwise the distinct labels are sorted.
const COUNTED_GRADES: usize = 32;

/// The weight of a pair of documents by its two labels.
#[derive(Debug, Clone, PartialEq)]
pub struct GradeWeights {
    /// The grades, in ascending order.
    grades: Vec<f32>,
    /// `better·n + worse` holds the weight of that pair of grade numbers; 0 unless better is above worse.
    table: Vec<f64>,
}

impl GradeWeights {
    /// Creates the weights `weight(better, worse)` of any two of the given grades. They must be finite and not
    /// negative.
    ///
    /// A label between two grades counts as the lower one, and a label below all grades as the lowest.
    pub fn new(mut grades: Vec<f32>, weight: impl Fn(f32, f32) -> f64) -> GradeWeights {
        grades.sort_by(f32::total_cmp);
        grades.dedup_by(|a, b| a == b);
        let n = grades.len();
        let mut table = vec![0.0; n * n];
        for better in 0..n {
            for worse in 0..better {
                let weight = weight(grades[better], grades[worse]);
                assert!(weight >= 0.0 && weight.is_finite(), "the weight of a pair is {weight}");
                table[better * n + worse] = weight;
            }
        }
        GradeWeights { grades, table }
    }

    /// The weight of a pair with these labels.
    pub fn of(&self, better: f32, worse: f32) -> f64 {
        if self.grades.is_empty() {
            return 0.0;
        }
        self.by_number(self.number(better), self.number(worse))
    }

    pub(super) fn by_number(&self, better: usize, worse: usize) -> f64 {
        self.table[better * self.grades.len() + worse]
    }

    fn number(&self, label: f32) -> usize {
        let label = grade(label);
        self.grades.partition_point(|g| *g <= label).saturating_sub(1)
    }

    /// Whether any pair has a positive weight, given the number of documents of each grade number.
    pub(super) fn count_some(&self, counts: &[u32]) -> bool {
        let there = |&g: &usize| counts[g] > 0;
        let all = 0..self.grades.len();
        all.clone()
            .filter(there)
            .any(|better| all.clone().filter(there).any(|worse| self.by_number(better, worse) > 0.0))
    }
}

/// The documents of a query with their labels as grade numbers: consecutive integers from 0, in ascending order of
/// the labels.
pub(super) struct GradedDocuments {
    /// The grade number of each document.
    pub numbers: Vec<u32>,
    /// The number of documents of each grade number.
    pub counts: Vec<u32>,
}

impl GradedDocuments {
    pub(super) fn new(labels: &[f32], weights: Option<&GradeWeights>) -> GradedDocuments {
        let mut numbered = match weights {
            Some(weights) => {
                let numbers = labels.iter().map(|&l| weights.number(l) as u32).collect();
                GradedDocuments { numbers, counts: vec![0; weights.grades.len().max(1)] }
            }
            None => whole_grades(labels).unwrap_or_else(|| sorted_grades(labels)),
        };
        for &number in &numbered.numbers {
            numbered.counts[number as usize] += 1;
        }
        numbered
    }

    /// The number of pairs of documents with different labels.
    pub(super) fn pairs(&self) -> f64 {
        let alike: f64 = self.counts.iter().map(|&c| f64::from(c) * f64::from(c)).sum();
        let n = self.numbers.len() as f64;
        0.5 * (n * n - alike)
    }
}

/// Small integer labels as grade numbers, without counts; `None` if a label is not a small integer.
fn whole_grades(labels: &[f32]) -> Option<GradedDocuments> {
    let mut highest = 0;
    let number = |&label: &f32| {
        let label = grade(label);
        let whole = label as usize;
        highest = highest.max(whole);
        (whole as f32 == label && whole < COUNTED_GRADES).then_some(whole as u32)
    };
    let numbers = labels.iter().map(number).collect::<Option<Vec<u32>>>()?;
    Some(GradedDocuments { numbers, counts: vec![0; highest + 1] })
}

/// Any labels as grade numbers, by their rank among the distinct labels, without counts.
fn sorted_grades(labels: &[f32]) -> GradedDocuments {
    let mut distinct: Vec<f32> = labels.iter().map(|&l| grade(l)).collect();
    distinct.sort_by(f32::total_cmp);
    distinct.dedup_by(|a, b| a == b);
    let number = |&label: &f32| (distinct.partition_point(|g| *g <= grade(label)) - 1) as u32;
    GradedDocuments { numbers: labels.iter().map(number).collect(), counts: vec![0; distinct.len()] }
}
