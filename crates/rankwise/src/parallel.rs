//! Work on all threads.
//!
//! Results come in the order of the items, whatever the number of threads. All calls share one instance of rayon's
//! machinery, because an instance for each of a hundred calls was a fifth of the code that the compiler had to generate
//! for this crate. Only the inner loops of tree growing, which run for microseconds, use rayon directly.

use rayon::prelude::*;
use std::sync::Mutex;

/// Blocks of items per thread: more than one, so that a slow block does not hold up the others.
const BLOCKS_PER_THREAD: usize = 64;

/// Calls `work` for every item.
pub(crate) fn for_each<X: Send>(items: impl IntoIterator<Item = X>, work: impl Fn(X) + Sync) {
    map(items, work);
}

/// The results of `work` for every item, in order.
pub(crate) fn map<X: Send, T: Send>(
    items: impl IntoIterator<Item = X>,
    work: impl Fn(X) -> T + Sync,
) -> Vec<T> {
    map_with(items, || (), |(), item| work(item))
}

/// The results of `work`, which are lists, one after the other.
pub(crate) fn flat_map<X: Send, L: IntoIterator<Item = T>, T: Send>(
    items: impl IntoIterator<Item = X>,
    work: impl Fn(X) -> L + Sync,
) -> Vec<T> {
    let lists = map(items, |item| work(item).into_iter().collect::<Vec<T>>());
    lists.into_iter().flatten().collect()
}

/// The results of `work` for every item, in order. Items that are worked through one after the other share a scratch
/// value; no result may depend on what is left in it.
pub(crate) fn map_with<S, X: Send, T: Send>(
    items: impl IntoIterator<Item = X>,
    scratch: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, X) -> T + Sync,
) -> Vec<T> {
    let items: Vec<X> = items.into_iter().collect();
    let worked = |items: Vec<X>| {
        let mut scratch = scratch();
        items.into_iter().map(|item| work(&mut scratch, item)).collect::<Vec<T>>()
    };
    let threads = rayon::current_num_threads();
    if threads == 1 || items.len() < 2 {
        return worked(items);
    }
    let blocks: Vec<Mutex<Block<X, T>>> = in_blocks(items, threads * BLOCKS_PER_THREAD);
    run(blocks.len(), &|place| {
        let items = match &mut *lock(&blocks[place]) {
            Block::Waiting(items) => std::mem::take(items),
            Block::Done(_) => return,
        };
        let results = worked(items);
        *lock(&blocks[place]) = Block::Done(results);
    });
    let results = blocks.into_iter().map(|block| match block.into_inner() {
        Ok(Block::Done(results)) => results,
        _ => unreachable!("every block was worked through"),
    });
    results.flatten().collect()
}

/// Consecutive items: before and after their work.
enum Block<X, T> {
    Waiting(Vec<X>),
    Done(Vec<T>),
}

/// At most `most` blocks of equal size, the last one perhaps shorter.
fn in_blocks<X, T>(items: Vec<X>, most: usize) -> Vec<Mutex<Block<X, T>>> {
    let size = items.len().div_ceil(most);
    let mut items = items.into_iter();
    let mut blocks = Vec::with_capacity(most);
    loop {
        let block: Vec<X> = items.by_ref().take(size).collect();
        if block.is_empty() {
            return blocks;
        }
        blocks.push(Mutex::new(Block::Waiting(block)));
    }
}

/// A panic in a worker reaches the caller through rayon; until then, other workers go on.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The only place where work is spread over threads.
fn run(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().with_max_len(1).for_each(work);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
    }

    #[test]
    fn results_come_in_order_for_any_number_of_items_and_threads() {
        for threads in [1, 2, 3, 8] {
            for count in [0, 1, 2, 31, 32, 33, 1000] {
                let squares = with_threads(threads, || map(0..count, |i: usize| i * i));
                assert_eq!(squares, (0..count).map(|i| i * i).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn every_item_is_worked_through_once_and_may_be_changed() {
        let mut values = vec![0u32; 10_007];
        with_threads(4, || {
            for_each(values.chunks_mut(10).enumerate(), |(i, chunk)| chunk.fill(i as u32 + 1))
        });
        assert!(values.iter().enumerate().all(|(i, &v)| v == i as u32 / 10 + 1));
    }

    #[test]
    fn lists_are_joined_in_order() {
        let joined = with_threads(4, || flat_map(0..100usize, |i| vec![i; i % 3]));
        assert_eq!(joined, (0..100).flat_map(|i| vec![i; i % 3]).collect::<Vec<_>>());
    }

    #[test]
    #[should_panic(expected = "item 77")]
    fn a_panic_reaches_the_caller() {
        with_threads(2, || map(0..100, |i| assert!(i != 77, "item {i}")));
    }
}
