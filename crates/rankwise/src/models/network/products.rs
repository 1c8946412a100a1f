//! The matrix products of a network, in f32.
//!
//! Every number that comes out is one chain of fused multiply-adds in the order of the inner index:
//!
//! ```text
//! c_ij = fma(a_iK, b_Kj, … fma(a_i1, b_1j, start_j))
//! ```
//! It is therefore the same to the last bit in a block of any shape, for vectors of any width, on any number of
//! threads. A network is worth little if it is slow, and its sums are short: it is the one place where sums are not in
//! f64.
//!
//! Columns lie in panels of [`PANEL`], so that the inner loop reads both matrices from start to end; what is beyond the
//! width of a matrix is filled up with zeros.

use pulp::{Arch, Simd, WithSimd};

/// Columns that are worked out together.
pub(crate) const PANEL: usize = 16;

/// Rows that are worked out together: with two vectors a row they fill the sixteen registers of AVX2.
const TILE: usize = 6;

/// How long a row of `width` numbers is when it is filled up to whole panels.
pub(crate) fn padded(width: usize) -> usize {
    width.next_multiple_of(PANEL)
}

/// A matrix as the right side of a product: panel after panel, each with all rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Panels {
    depth: usize,
    columns: usize,
    values: Vec<f32>,
}

impl Panels {
    /// Makes it the matrix whose row `k` has `entry(k, c)` in column `c`.
    pub(crate) fn fill(&mut self, depth: usize, width: usize, entry: impl Fn(usize, usize) -> f32) {
        (self.depth, self.columns) = (depth, padded(width));
        self.values.clear();
        self.values.resize(depth * self.columns, 0.0);
        for (panel, values) in self.values.chunks_exact_mut(depth * PANEL).enumerate() {
            let first = panel * PANEL;
            for (k, row) in values.chunks_exact_mut(PANEL).enumerate() {
                for (c, value) in row.iter_mut().take(width - first).enumerate() {
                    *value = entry(k, first + c);
                }
            }
        }
    }

    /// Makes it the matrix whose rows, filled up to `columns`, stand one after the other.
    pub(crate) fn fill_from_rows(&mut self, rows: &[f32], columns: usize) {
        (self.depth, self.columns) = (rows.len() / columns, columns);
        self.values.clear();
        for first in (0..columns).step_by(PANEL) {
            for row in rows.chunks_exact(columns) {
                self.values.extend_from_slice(&row[first..first + PANEL]);
            }
        }
    }

    /// Columns, filled up to whole panels.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }
}

/// `out = start + rows·panels`, where each row has `stride` numbers, of which the first ones, as many as the panels are
/// deep, count; `start` is one number a column.
pub(crate) fn multiply(rows: &[f32], stride: usize, panels: &Panels, start: &[f32], out: &mut [f32]) {
    assert!(panels.depth <= stride && start.len() == panels.columns);
    assert_eq!(rows.len() / stride * panels.columns, out.len());
    Arch::new().dispatch(Multiply { rows, stride, panels, start, out });
}

/// `sums += leftᵀ·right`, where the rows of `left` have `stride` numbers, of which the first `width` count; `sums` has
/// `width` rows of the panels' columns. `scratch` is there to be used again.
pub(crate) fn add_transposed(
    left: &[f32],
    (stride, width): (usize, usize),
    right: &Panels,
    sums: &mut [f32],
    scratch: &mut Vec<f32>,
) {
    assert!(width <= stride && left.len() == right.depth * stride);
    assert_eq!(sums.len(), width * right.columns);
    scratch.resize(right.depth * TILE, 0.0);
    Arch::new().dispatch(AddTransposed { left, stride, width, right, sums, scratch });
}

struct Multiply<'a> {
    rows: &'a [f32],
    stride: usize,
    panels: &'a Panels,
    start: &'a [f32],
    out: &'a mut [f32],
}

impl WithSimd for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // A constant, so that only the one arm is compiled.
        match const { PANEL / S::F32_LANES } {
            1 => self.run::<S, 1>(simd),
            2 => self.run::<S, 2>(simd),
            4 => self.run::<S, 4>(simd),
            _ => self.run::<S, 16>(simd),
        }
    }
}

impl Multiply<'_> {
    /// With `N` vectors a panel. A panel stays in the first-level cache while all rows pass it.
    #[inline(always)]
    fn run<S: Simd, const N: usize>(mut self, simd: S) {
        let depth = self.panels.depth;
        let count = self.rows.len() / self.stride;
        for first in (0..self.panels.columns).step_by(PANEL) {
            let panel = &self.panels.values[first * depth..(first + PANEL) * depth];
            let start = load::<S, N>(&self.start[first..first + PANEL]);
            let mut row = 0;
            while row + TILE <= count {
                self.tile::<S, N, TILE>(simd, (row, first), panel, start);
                row += TILE;
            }
            match count - row {
                1 => self.tile::<S, N, 1>(simd, (row, first), panel, start),
                2 => self.tile::<S, N, 2>(simd, (row, first), panel, start),
                3 => self.tile::<S, N, 3>(simd, (row, first), panel, start),
                4 => self.tile::<S, N, 4>(simd, (row, first), panel, start),
                5 => self.tile::<S, N, 5>(simd, (row, first), panel, start),
                _ => {}
            }
        }
    }

    #[inline(always)]
    fn tile<S: Simd, const N: usize, const M: usize>(
        &mut self,
        simd: S,
        (row, first): (usize, usize),
        panel: &[f32],
        start: [S::f32s; N],
    ) {
        let (stride, depth, columns) = (self.stride, self.panels.depth, self.panels.columns);
        let mut left: [&[f32]; M] = [&[]; M];
        for (i, left) in left.iter_mut().enumerate() {
            *left = &self.rows[(row + i) * stride..][..depth];
        }
        let mut sums = [start; M];
        let (vectors, _) = S::as_simd_f32s(panel);
        let vectors = &vectors.as_chunks::<N>().0[..depth];
        for k in 0..depth {
            let right = &vectors[k];
            for i in 0..M {
                let x = simd.splat_f32s(left[i][k]);
                for j in 0..N {
                    sums[i][j] = simd.mul_add_f32s(x, right[j], sums[i][j]);
                }
            }
        }
        for (i, sums) in sums.iter().enumerate() {
            let out = &mut self.out[(row + i) * columns + first..][..PANEL];
            S::as_mut_simd_f32s(out).0.as_chunks_mut::<N>().0[0] = *sums;
        }
    }
}

struct AddTransposed<'a> {
    left: &'a [f32],
    stride: usize,
    width: usize,
    right: &'a Panels,
    sums: &'a mut [f32],
    scratch: &'a mut [f32],
}

impl WithSimd for AddTransposed<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // A constant, so that only the one arm is compiled.
        match const { PANEL / S::F32_LANES } {
            1 => self.run::<S, 1>(simd),
            2 => self.run::<S, 2>(simd),
            4 => self.run::<S, 4>(simd),
            _ => self.run::<S, 16>(simd),
        }
    }
}

impl AddTransposed<'_> {
    #[inline(always)]
    fn run<S: Simd, const N: usize>(mut self, simd: S) {
        let mut row = 0;
        while row + TILE <= self.width {
            self.strip::<S, N, TILE>(simd, row);
            row += TILE;
        }
        match self.width - row {
            1 => self.strip::<S, N, 1>(simd, row),
            2 => self.strip::<S, N, 2>(simd, row),
            3 => self.strip::<S, N, 3>(simd, row),
            4 => self.strip::<S, N, 4>(simd, row),
            5 => self.strip::<S, N, 5>(simd, row),
            _ => {}
        }
    }

    /// `M` rows of the sums. The columns of `left` that they need are gathered first: they lie far apart.
    #[inline(always)]
    fn strip<S: Simd, const N: usize, const M: usize>(&mut self, simd: S, row: usize) {
        let (depth, columns) = (self.right.depth, self.right.columns);
        let gathered = &mut self.scratch.as_chunks_mut::<M>().0[..depth];
        for (k, gathered) in gathered.iter_mut().enumerate() {
            *gathered = self.left[k * self.stride + row..].as_chunks::<M>().0[0];
        }
        for first in (0..columns).step_by(PANEL) {
            let panel = &self.right.values[first * depth..(first + PANEL) * depth];
            let (vectors, _) = S::as_simd_f32s(panel);
            let mut sums = [[simd.splat_f32s(0.0); N]; M];
            let vectors = &vectors.as_chunks::<N>().0[..depth];
            for k in 0..depth {
                let (left, right) = (&gathered[k], &vectors[k]);
                for i in 0..M {
                    let x = simd.splat_f32s(left[i]);
                    for j in 0..N {
                        sums[i][j] = simd.mul_add_f32s(x, right[j], sums[i][j]);
                    }
                }
            }
            for (i, sums) in sums.iter().enumerate() {
                let out = &mut self.sums[(row + i) * columns + first..][..PANEL];
                let out = S::as_mut_simd_f32s(out).0;
                for j in 0..N {
                    out[j] = simd.add_f32s(out[j], sums[j]);
                }
            }
        }
    }
}

#[inline(always)]
fn load<S: Simd, const N: usize>(values: &[f32]) -> [S::f32s; N] {
    S::as_simd_f32s(values).0.as_chunks::<N>().0[0]
}
