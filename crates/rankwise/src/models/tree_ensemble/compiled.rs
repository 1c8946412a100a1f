//! An ensemble arranged for speed, with the same scores to the last bit.
//!
//! A block of documents goes through a tree together. Its feature values are replaced by their ranks among the
//! thresholds of the ensemble, a byte each, so that one instruction tests as many documents as a register has bytes:
//! see [`ranks`](self::ranks) and [`lanes`](self::lanes). Trees of very many leaves are walked one step at a time,
//! several documents at once, and so are the trees of a document or two: see [`walk`](self::walk).

mod lanes;
mod ranks;
#[cfg(test)]
mod tests;
mod walk;

use super::{Combine, TreeEnsemble};
use crate::data::{Features, Row};
use lanes::LaneTrees;
use pulp::{Arch, Simd, WithSimd};
use ranks::{RankBlock, Ranks};
use std::ops::Range;
use walk::Walk;

/// Documents of a block, and of one for the few that are left.
const BLOCK: usize = 64;
const SMALL_BLOCK: usize = 32;

/// Fewer documents than this are walked tree by tree, since a block of them would be mostly empty.
const FEW: usize = 4;

/// The compiled form of an ensemble.
pub(super) struct Compiled {
    ranks: Ranks,
    lanes: LaneTrees,
    walk: Walk,
    /// The vector instructions of this machine, found once.
    arch: Arch,
}

/// Rows of a data set that are scored in one go.
#[derive(Clone)]
pub(super) struct Rows<'a> {
    pub(super) features: &'a Features,
    pub(super) range: Range<usize>,
}

impl<'a> Rows<'a> {
    fn iter(&self) -> impl ExactSizeIterator<Item = Row<'a>> {
        let features = self.features;
        self.range.clone().map(move |row| features.row(row))
    }

    /// The first `count` rows, which it no longer has afterwards.
    fn take(&mut self, count: usize) -> Rows<'a> {
        let end = self.range.start + count;
        let range = self.range.start..end;
        self.range.start = end;
        Rows { features: self.features, range }
    }
}

/// The call of [`Compiled::score`]: what it calls is inlined, and so made for every set of vector instructions.
struct Scoring<'a> {
    compiled: &'a Compiled,
    rows: Rows<'a>,
    ensemble: &'a TreeEnsemble,
    out: &'a mut [f64],
}

impl WithSimd for Scoring<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.compiled.score_blocks(simd, self.rows, self.ensemble, self.out);
    }
}

impl Compiled {
    pub(super) fn new(ensemble: &TreeEnsemble) -> Compiled {
        let trees = ensemble.trees();
        let ranks = Ranks::new(trees.iter().filter(|tree| lanes::fits(tree)));
        Compiled { lanes: LaneTrees::new(trees, &ranks), ranks, walk: Walk::new(trees), arch: Arch::new() }
    }

    /// Scores the rows into `out`.
    pub(super) fn score(&self, rows: Rows<'_>, ensemble: &TreeEnsemble, out: &mut [f64]) {
        self.arch.dispatch(Scoring { compiled: self, rows, ensemble, out });
    }

    #[inline(always)]
    fn score_blocks<S: Simd>(
        &self,
        simd: S,
        mut rows: Rows<'_>,
        ensemble: &TreeEnsemble,
        mut out: &mut [f64],
    ) {
        if rows.range.len() > SMALL_BLOCK {
            let mut scratch = Scratch::<BLOCK>::new(self, ensemble);
            while rows.range.len() > SMALL_BLOCK {
                let count = rows.range.len().min(BLOCK);
                self.score_block(simd, &rows.take(count), ensemble, &mut scratch, take(&mut out, count));
            }
        }
        if rows.range.len() >= FEW {
            let count = rows.range.len();
            let mut scratch = Scratch::<SMALL_BLOCK>::new(self, ensemble);
            self.score_block(simd, &rows.take(count), ensemble, &mut scratch, take(&mut out, count));
        }
        self.walk.score(&rows, ensemble, out);
    }

    #[inline(always)]
    fn score_block<S: Simd, const N: usize>(
        &self,
        simd: S,
        rows: &Rows<'_>,
        ensemble: &TreeEnsemble,
        scratch: &mut Scratch<N>,
        out: &mut [f64],
    ) {
        self.ranks.fill(simd, rows, &mut scratch.ranks);
        if self.lanes.leaves_some_out() {
            self.walk.gather(rows, &mut scratch.values);
        }
        for (sums, &base) in scratch.sums.iter_mut().zip(ensemble.base()) {
            *sums = [base; N];
        }
        let mut output = 0;
        for tree in 0..self.lanes.len() {
            if !self.lanes.add(simd, tree, &scratch.ranks, &mut scratch.sums[output]) {
                self.walk.add(tree, &scratch.values, &mut scratch.sums[output][..out.len()]);
            }
            output = if output + 1 == scratch.sums.len() { 0 } else { output + 1 };
        }
        combine(ensemble.combine(), &scratch.sums, out);
    }
}

/// What a block of `N` documents needs while it is scored.
struct Scratch<const N: usize> {
    ranks: RankBlock<N>,
    /// The values of each document that trees of very many leaves test, row after row.
    values: Vec<f32>,
    /// The outputs.
    sums: Vec<[f64; N]>,
}

impl<const N: usize> Scratch<N> {
    fn new(compiled: &Compiled, ensemble: &TreeEnsemble) -> Self {
        Scratch {
            ranks: RankBlock::new(&compiled.ranks),
            values: Vec::new(),
            sums: vec![[0.0; N]; ensemble.base().len()],
        }
    }
}

fn combine<const N: usize>(combine: &Combine, sums: &[[f64; N]], out: &mut [f64]) {
    if let Combine::Sum = combine {
        out.copy_from_slice(&sums[0][..out.len()]);
        return;
    }
    let mut outputs = vec![0.0; sums.len()];
    for (i, score) in out.iter_mut().enumerate() {
        for (output, sums) in outputs.iter_mut().zip(sums) {
            *output = sums[i];
        }
        *score = combine.score(&outputs);
    }
}

/// The first `count` elements, which `slice` no longer has afterwards.
fn take<'a>(slice: &mut &'a mut [f64], count: usize) -> &'a mut [f64] {
    slice.split_off_mut(..count).expect("as many scores as documents")
}
