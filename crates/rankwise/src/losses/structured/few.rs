//! The search of DORM for up to three documents: all rankings are tried. Losses over random subsets of documents solve a
//! hundred such problems per query, in which the lists of [`Placing`](super::placing::Placing) would take most of the
//! time.

use super::placing::score_order;
use crate::losses::ScoredQuery;

/// The largest number of documents whose rankings are tried.
pub(super) const FEW: usize = 3;

/// All orders of up to [`FEW`] documents; those of fewer come first and leave the others in place.
const ORDERS: [[usize; FEW]; 6] = [[0, 1, 2], [1, 0, 2], [0, 2, 1], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// The order of the documents that maximises `Σ A·s − D·g`, with the weights `A` and `D` of each position. Of several, it
/// is one in which documents of equal gain are by decreasing score, ties in input order.
pub(super) fn best_order(
    query: ScoredQuery<'_>,
    gains: &[f64],
    pull: impl Fn(usize) -> f64,
    discount: impl Fn(usize) -> f64,
) -> Vec<u32> {
    let n = gains.len();
    let mut documents: [u32; FEW] = std::array::from_fn(|d| d as u32);
    score_order(&mut documents[..n], query.scores);
    let highest = query.scores[documents[0] as usize];
    let weights: [(f64, f64); FEW] =
        std::array::from_fn(|place| if place < n { (pull(place), discount(place)) } else { (0.0, 0.0) });
    let value = |order: &[usize; FEW]| -> f64 {
        let document = |place: usize| documents[order[place]] as usize;
        let term = |place: usize| {
            let (pull, discount) = weights[place];
            pull * (query.scores[document(place)] - highest) - discount * gains[document(place)]
        };
        (0..n).map(term).sum()
    };
    let orders = &ORDERS[..[1, 1, 2, 6][n]];
    let mut best = (&orders[0], value(&orders[0]));
    for order in &orders[1..] {
        let value = value(order);
        if value > best.1 {
            best = (order, value);
        }
    }
    best.0[..n].iter().map(|&i| documents[i]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::losses::structured::placing::Placing;
    use crate::rng;
    use rand::RngExt;

    /// Small whole numbers, so that ties are frequent and sums exact.
    #[test]
    fn orders_are_those_of_the_search_for_any_number_of_documents() {
        let mut random = rng::stream(3, &[]);
        for _ in 0..3000 {
            let n = random.random_range(1..=FEW);
            let mut draw = |n: usize, most: i32| -> Vec<f64> {
                (0..n).map(|_| f64::from(random.random_range(-most..=most))).collect()
            };
            let (scores, gains) = (draw(n, 3), draw(n, 1).iter().map(|g| g + 1.0).collect::<Vec<f64>>());
            let query = ScoredQuery { labels: &[0.0; FEW][..n], scores: &scores, seed: 1 };
            let falling = |length: usize| (0..length).map(|place| 4.0 - place as f64).collect::<Vec<f64>>();
            let (pull, discounts) =
                (falling(random.random_range(1..=n)), falling(random.random_range(1..=n)));
            let weight = |weights: &[f64], place: usize| weights.get(place).copied().unwrap_or(0.0);
            let value = |order: &[u32]| -> f64 {
                let term = |(place, &d): (usize, &u32)| {
                    weight(&pull, place) * scores[d as usize] - weight(&discounts, place) * gains[d as usize]
                };
                order.iter().enumerate().map(term).sum()
            };
            let few = best_order(query, &gains, |p| weight(&pull, p), |p| weight(&discounts, p));
            let any = Placing::new(query, &gains, pull.clone(), discounts.clone()).solve();
            assert_eq!(value(&few), value(&any), "{scores:?} {gains:?}");
            let mut sorted = few.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..n as u32).collect::<Vec<u32>>());
            for (at, &a) in few.iter().enumerate() {
                let later = few[at + 1..].iter().filter(|&&b| gains[b as usize] == gains[a as usize]);
                let is_ahead = |&b: &u32| scores[a as usize] >= scores[b as usize];
                assert!(
                    later.copied().all(|b| is_ahead(&b) || weight(&pull, at) == 0.0),
                    "{few:?} {scores:?} {gains:?}"
                );
            }
        }
    }
}
