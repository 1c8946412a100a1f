//! Grades as numbers without gaps, and weights of pairs by them.

use crate::rank::grade;

/// Whole grades below this are their own numbers; others are sorted first.
const COUNTED_GRADES: usize = 32;

/// What a pair of documents counts by its two grades.
#[derive(Debug, Clone, PartialEq)]
pub struct GradeWeights {
    /// Ascending.
    grades: Vec<f32>,
    /// `better·n + worse` holds the weight of that pair of grade numbers; 0 unless better is above worse.
    table: Vec<f64>,
}

impl GradeWeights {
    /// Weights from `weight(better, worse)`, finite and never negative, for any two of the grades given.
    ///
    /// A grade between two of them counts as the lower, one below all of them as the lowest.
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

    /// What a pair of these grades counts.
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

    /// Whether some pair counts among so many documents of each grade number.
    pub(super) fn count_some(&self, counts: &[u32]) -> bool {
        let there = |&g: &usize| counts[g] > 0;
        let all = 0..self.grades.len();
        all.clone()
            .filter(there)
            .any(|better| all.clone().filter(there).any(|worse| self.by_number(better, worse) > 0.0))
    }
}

/// A query's documents with their grades as numbers from 0 that ascend as grades do.
pub(super) struct Numbered {
    /// One per document.
    pub numbers: Vec<u32>,
    /// Documents of each number.
    pub counts: Vec<u32>,
}

impl Numbered {
    pub fn new(labels: &[f32], weights: Option<&GradeWeights>) -> Numbered {
        let mut numbered = match weights {
            Some(weights) => {
                let numbers = labels.iter().map(|&l| weights.number(l) as u32).collect();
                Numbered { numbers, counts: vec![0; weights.grades.len().max(1)] }
            }
            None => whole_grades(labels).unwrap_or_else(|| sorted_grades(labels)),
        };
        for &number in &numbered.numbers {
            numbered.counts[number as usize] += 1;
        }
        numbered
    }

    /// How many pairs of documents are of different grade.
    pub fn pairs(&self) -> f64 {
        let alike: f64 = self.counts.iter().map(|&c| f64::from(c) * f64::from(c)).sum();
        let n = self.numbers.len() as f64;
        0.5 * (n * n - alike)
    }
}

/// Small whole grades as they are, with no counts yet; `None` where some grade is none.
fn whole_grades(labels: &[f32]) -> Option<Numbered> {
    let mut highest = 0;
    let number = |&label: &f32| {
        let label = grade(label);
        let whole = label as usize;
        highest = highest.max(whole);
        (whole as f32 == label && whole < COUNTED_GRADES).then_some(whole as u32)
    };
    let numbers = labels.iter().map(number).collect::<Option<Vec<u32>>>()?;
    Some(Numbered { numbers, counts: vec![0; highest + 1] })
}

/// Any grades by their place among the distinct ones, with no counts yet.
fn sorted_grades(labels: &[f32]) -> Numbered {
    let mut distinct: Vec<f32> = labels.iter().map(|&l| grade(l)).collect();
    distinct.sort_by(f32::total_cmp);
    distinct.dedup_by(|a, b| a == b);
    let number = |&label: &f32| (distinct.partition_point(|g| *g <= grade(label)) - 1) as u32;
    Numbered { numbers: labels.iter().map(number).collect(), counts: vec![0; distinct.len()] }
}
