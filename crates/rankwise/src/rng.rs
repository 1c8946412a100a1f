//! Random streams named by seed and purpose.
//!
//! Every purpose has its own stream, named by the user's seed and a path such as `(query, round)`. Results therefore do
//! not depend on the number of threads or on the order of work. The generator is ChaCha8: named, portable and stable
//! across versions.

use chacha20::ChaCha8Rng;
use rand::SeedableRng;

/// The random number generator of this library.
pub type Random = ChaCha8Rng;

/// The stream for one purpose: the user's `seed`, and the `path` that names the purpose.
pub fn stream(seed: u64, path: &[u64]) -> Random {
    Random::seed_from_u64(derive(seed, path))
}

/// A seed for one purpose, to be passed on to code that names its own streams.
pub fn derive(seed: u64, path: &[u64]) -> u64 {
    let start = mix(seed ^ 0x5261_6e6b_7769_7365);
    path.iter().fold(start, |state, part| mix(state ^ mix(part.wrapping_add(0x9e37_79b9_7f4a_7c15))))
}

/// The finaliser of SplitMix64: a bijection that spreads every bit.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, RngExt};

    /// The published first bytes for a key of zeros: 3e00ef2f 895f40d6 7f5bb8e8 1f09a5a1.
    #[test]
    fn the_generator_is_chacha_with_eight_rounds() {
        let mut random = Random::from_seed([0; 32]);
        let words = [0x3e00_ef2f_u32, 0x895f_40d6, 0x7f5b_b8e8, 0x1f09_a5a1];
        words.iter().for_each(|word| assert_eq!(random.next_u32(), word.swap_bytes()));
    }

    #[test]
    fn streams_repeat_and_differ_by_seed_and_path() {
        let draw = |seed, path: &[u64]| stream(seed, path).random::<u64>();
        assert_eq!(draw(1, &[2, 3]), draw(1, &[2, 3]));
        let all = [draw(1, &[2, 3]), draw(1, &[3, 2]), draw(2, &[2, 3]), draw(1, &[2]), draw(1, &[])];
        for (i, a) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|b| a != b));
        }
    }
}
