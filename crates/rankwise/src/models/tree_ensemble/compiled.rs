//! An ensemble arranged for speed, with the same scores to the last bit.
//!
//! A block of documents goes through a tree together. Its feature values are replaced by their ranks among the
//! thresholds of the ensemble, a byte each, so that one instruction tests as many documents as a register has bytes:
//! see [`ranks`](self::ranks), [`sets`](self::sets) and [`lanes`](self::lanes). Trees of very many leaves are walked one step at a time,
//! several documents at once, and so are the trees of a few documents: see [`walk`](self::walk).

mod lanes;
mod ranks;
mod sets;
#[cfg(test)]
mod tests;
mod walk;

use super::{Combine, TreeEnsemble};
use crate::data::Rows;
use lanes::LaneTrees;
use pulp::{Arch, Simd, WithSimd};
use ranks::{RankBlock, Ranks};
use walk::Walk;

/// Documents of a block, and of one for the few that are left.
const BLOCK: usize = 64;
const SMALL_BLOCK: usize = 32;

/// Fewer documents than this are walked tree by tree, since a block of them would be mostly empty.
const FEW: usize = 6;

/// The compiled form of an ensemble.
pub(super) struct Compiled {
    ranks: Ranks,
    lanes: LaneTrees,
    walk: Walk,
    /// The vector instructions of this machine, found once.
    arch: Arch,
}

/// Buffers for scoring, made as they are needed and kept from one call to the next.
#[derive(Default)]
pub(super) struct Scratch {
    large: Option<Block<BLOCK>>,
    small: Option<Block<SMALL_BLOCK>>,
    /// The values that walks look at, row after row.
    pub(super) values: Vec<f32>,
    /// The outputs of one document.
    pub(super) outputs: Vec<f64>,
}

/// The call of [`Compiled::score`]: what it calls is inlined, and so made for every set of vector instructions.
struct Scoring<'a> {
    compiled: &'a Compiled,
    rows: Rows<'a>,
    ensemble: &'a TreeEnsemble,
    scratch: &'a mut Scratch,
    out: &'a mut [f64],
}

impl WithSimd for Scoring<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        self.compiled.score_blocks(simd, self.rows, self.ensemble, self.scratch, self.out);
    }
}

impl Compiled {
    pub(super) fn new(ensemble: &TreeEnsemble) -> Compiled {
        let trees = ensemble.trees();
        let ranks = Ranks::new(|| trees.iter().filter(|tree| lanes::fits(tree)));
        Compiled { lanes: LaneTrees::new(trees, &ranks), ranks, walk: Walk::new(trees), arch: Arch::new() }
    }

    /// Scores the rows into `out`.
    pub(super) fn score(
        &self,
        rows: Rows<'_>,
        ensemble: &TreeEnsemble,
        scratch: &mut Scratch,
        out: &mut [f64],
    ) {
        self.arch.dispatch(Scoring { compiled: self, rows, ensemble, scratch, out });
    }

    #[inline(always)]
    fn score_blocks<S: Simd>(
        &self,
        simd: S,
        rows: Rows<'_>,
        ensemble: &TreeEnsemble,
        scratch: &mut Scratch,
        out: &mut [f64],
    ) {
        let Scratch { large, small, values, outputs } = scratch;
        outputs.resize(ensemble.base().len(), 0.0);
        let mut done = 0;
        if rows.len() > SMALL_BLOCK {
            let block = large.get_or_insert_with(|| Block::new(self, ensemble));
            while rows.len() - done > SMALL_BLOCK {
                let range = done..rows.len().min(done + BLOCK);
                done = range.end;
                let out = &mut out[range.clone()];
                self.score_block(simd, rows.slice(range), ensemble, block, outputs, out);
            }
        }
        if rows.len() - done >= FEW {
            let block = small.get_or_insert_with(|| Block::new(self, ensemble));
            self.score_block(simd, rows.slice(done..rows.len()), ensemble, block, outputs, &mut out[done..]);
            done = rows.len();
        }
        if done < rows.len() {
            let rest = rows.slice(done..rows.len());
            self.walk.score(rest, ensemble, values, outputs, &mut out[done..]);
        }
    }

    #[inline(always)]
    fn score_block<S: Simd, const N: usize>(
        &self,
        simd: S,
        rows: Rows<'_>,
        ensemble: &TreeEnsemble,
        block: &mut Block<N>,
        outputs: &mut [f64],
        out: &mut [f64],
    ) {
        self.ranks.fill(simd, rows, &mut block.ranks);
        if self.lanes.leaves_some_out() {
            self.walk.gather(rows, &mut block.values);
        }
        for (sums, &base) in block.sums.iter_mut().zip(ensemble.base()) {
            *sums = [base; N];
        }
        let mut output = 0;
        for tree in 0..self.lanes.len() {
            if !self.lanes.add(simd, tree, &block.ranks, &mut block.sums[output]) {
                self.walk.add(tree, &block.values, &mut block.sums[output][..out.len()]);
            }
            output = if output + 1 == block.sums.len() { 0 } else { output + 1 };
        }
        combine(ensemble.combine(), &block.sums, outputs, out);
    }
}

/// What a block of `N` documents needs while it is scored.
struct Block<const N: usize> {
    ranks: RankBlock<N>,
    /// The values of each document that trees of very many leaves test, row after row.
    values: Vec<f32>,
    /// The outputs.
    sums: Vec<[f64; N]>,
}

impl<const N: usize> Block<N> {
    fn new(compiled: &Compiled, ensemble: &TreeEnsemble) -> Self {
        Block {
            ranks: RankBlock::new(&compiled.ranks),
            values: Vec::new(),
            sums: vec![[0.0; N]; ensemble.base().len()],
        }
    }
}

/// The scores of the block, where `outputs` has room for those of one document.
fn combine<const N: usize>(combine: &Combine, sums: &[[f64; N]], outputs: &mut [f64], out: &mut [f64]) {
    if let Combine::Sum = combine {
        out.copy_from_slice(&sums[0][..out.len()]);
        return;
    }
    for (i, score) in out.iter_mut().enumerate() {
        for (output, sums) in outputs.iter_mut().zip(sums) {
            *output = sums[i];
        }
        *score = combine.score(outputs);
    }
}
