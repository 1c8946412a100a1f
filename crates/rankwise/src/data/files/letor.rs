//! LETOR and SVMlight text: `label qid:ID id:value … # comment`, one document per line.
//!
//! One pipeline serves every source: text is split into blocks of whole lines, threads parse the blocks in parallel, and
//! the results are joined in the order of the text. The result depends neither on the size of a block nor on the number
//! of threads. Files are not memory-mapped: truncating a mapped file would kill the process, and mapped pages count as
//! memory used.

mod assembly;
mod blocks;
mod fast_path;
mod fragment;
#[cfg(test)]
mod fuzz;
mod line;
mod rows;
#[cfg(test)]
mod tests;

use super::source::Source;
use super::{Loaded, ReadOptions};
use crate::error::{Error, Result};
use crate::parallel;
use assembly::Assembly;
pub(super) use assembly::{numbered_categories, too_many_columns};
use blocks::{Block, Blocks};
use fragment::Fragment;
use line::Ids;
use rows::MatrixShape;
pub(super) use rows::MatrixSize;

/// Small enough that a block and its parsed values stay in the cache of a core.
const BLOCK_BYTES: usize = 1 << 18;

/// Enough to balance blocks that take longer than others.
const BLOCKS_PER_THREAD: usize = 4;

/// Reads the sources, in order, as one data set.
pub(super) fn read(sources: impl Iterator<Item = Result<Source>>, options: &ReadOptions) -> Result<Loaded> {
    read_in_blocks(sources, options, BLOCK_BYTES)
}

fn read_in_blocks(
    sources: impl Iterator<Item = Result<Source>>,
    options: &ReadOptions,
    block_bytes: usize,
) -> Result<Loaded> {
    let ids = Ids::starting_at(options.first_id);
    let mut assembly = Assembly::new(options.first_id);
    let mut any = false;
    for source in sources {
        let read = source.and_then(|source| read_source(source, ids, &mut assembly, block_bytes));
        if let Err(error) = read {
            return Err(assembly.earliest_error(error, options.group));
        }
        any = true;
    }
    match any {
        true => assembly.finish(options),
        false => Err(Error::parameter("there are no files to read")),
    }
}

/// Reads one source in waves of blocks: while one wave is fetched, the wave before is parsed and the one before that is
/// appended.
fn read_source(source: Source, ids: Ids, assembly: &mut Assembly, block_bytes: usize) -> Result<()> {
    let mut blocks = Blocks::new(source, block_bytes);
    assembly.enter_file(blocks.name());
    let (mut fetched, mut parsed, mut placed) = (Wave::new(), Wave::new(), Wave::new());
    let mut fetching = Ok(());
    loop {
        let shape = assembly.shape();
        let (fetch, (place, ())) = rayon::join(
            || match &fetching {
                Ok(()) => fetched.fetch(&mut blocks),
                Err(_) => Ok(()),
            },
            || rayon::join(|| placed.place(assembly), || parsed.parse(ids, shape)),
        );
        place?;
        fetching = fetching.and(fetch);
        // The fetched wave is parsed next, the parsed wave is appended, and the appended wave is reused.
        std::mem::swap(&mut placed, &mut parsed);
        std::mem::swap(&mut parsed, &mut fetched);
        fetched.used = 0;
        if parsed.used == 0 && placed.used == 0 {
            fetching?;
            return assembly.leave_file();
        }
    }
}

/// Blocks that are processed together. Their memory is reused.
struct Wave {
    slots: Vec<(Block, Fragment)>,
    used: usize,
}

impl Wave {
    fn new() -> Self {
        Wave { slots: Vec::new(), used: 0 }
    }

    /// Fills the wave with the next blocks; it stays empty at the end of the text.
    fn fetch(&mut self, blocks: &mut Blocks) -> Result<()> {
        self.used = 0;
        while self.used < BLOCKS_PER_THREAD * rayon::current_num_threads() {
            if self.used == self.slots.len() {
                self.slots.push((Block::default(), Fragment::new()));
            }
            if !blocks.next(&mut self.slots[self.used].0)? {
                break;
            }
            self.used += 1;
        }
        Ok(())
    }

    fn parse(&mut self, ids: Ids, shape: MatrixShape) {
        parallel::for_each(&mut self.slots[..self.used], |(block, fragment)| {
            fragment.read(block.text(), ids, shape);
        });
    }

    fn place(&self, assembly: &mut Assembly) -> Result<()> {
        self.slots[..self.used].iter().try_for_each(|(_, fragment)| assembly.append(fragment))
    }
}
