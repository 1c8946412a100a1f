//! Features with few codes share a byte: the codes of a bundle stand for all combinations of its features' codes.
//!
//! ```text
//! code of a bundle = c₁ + n₁·(c₂ + n₂·(c₃ + …)) ,   n₁·n₂·n₃·… ≤ 256
//! ```
//! A histogram then adds a document once per bundle. The bins of one feature are sums over the codes of the others,
//! and equal those of its own histogram because sums of gradients are exact.

/// The number of values of a byte.
const BYTE: usize = 256;

/// Features whose codes are stored as one.
#[derive(Debug)]
pub(super) struct Bundle {
    /// The number of its codes.
    pub(super) codes: usize,
    pub(super) parts: Vec<Part>,
}

/// A feature of a bundle.
#[derive(Debug)]
pub(super) struct Part {
    /// The index of the feature among those that can split.
    pub(super) feature: usize,
    /// The difference of the bundle's codes where this feature's codes differ by one.
    pub(super) unit: usize,
    /// The feature's code for each code of the bundle.
    pub(super) code_of: Vec<u8>,
}

/// All features in bundles.
#[derive(Debug)]
pub(super) struct Bundles {
    pub(super) list: Vec<Bundle>,
    /// The bundle of each feature that is in one, and its place there.
    homes: Vec<Option<(usize, usize)>>,
}

impl Bundles {
    /// Bundles features by their numbers of codes, except for those whose codes do not fit a byte. A feature joins the fullest bundle that has room for it, and those
    /// with many codes choose first.
    pub(super) fn of(codes: &[usize]) -> Bundles {
        let mut order: Vec<usize> = (0..codes.len()).filter(|&feature| codes[feature] <= BYTE).collect();
        order.sort_by_key(|&feature| std::cmp::Reverse(codes[feature]));
        // Bundles by the number of codes of a feature that they still have room for.
        let mut with_room: Vec<Vec<Vec<usize>>> = vec![Vec::new(); BYTE + 1];
        for feature in order {
            let open = (codes[feature]..=BYTE).find_map(|room| with_room[room].pop()).unwrap_or_default();
            let members: Vec<usize> = open.into_iter().chain([feature]).collect();
            let room = BYTE / members.iter().map(|&member| codes[member]).product::<usize>();
            with_room[room].push(members);
        }
        let mut members: Vec<Vec<usize>> = with_room.into_iter().flatten().collect();
        members.iter_mut().for_each(|features| features.sort_unstable());
        members.sort_unstable();
        let list: Vec<Bundle> = members.iter().map(|features| Bundle::of(features, codes)).collect();
        let mut homes = vec![None; codes.len()];
        for (at, features) in members.iter().enumerate() {
            features.iter().enumerate().for_each(|(place, &feature)| homes[feature] = Some((at, place)));
        }
        Bundles { list, homes }
    }

    /// The index of a feature's bundle, and its part there; `None` if its codes do not fit a byte.
    pub(super) fn home(&self, feature: usize) -> Option<(usize, &Part)> {
        let (at, place) = self.homes[feature]?;
        Some((at, &self.list[at].parts[place]))
    }
}

impl Bundle {
    fn of(features: &[usize], codes: &[usize]) -> Bundle {
        let all: usize = features.iter().map(|&feature| codes[feature]).product();
        let mut unit = 1;
        let part = |&feature: &usize| {
            let own = unit;
            unit *= codes[feature];
            let code_of = (0..all).map(|code| (code / own % codes[feature]) as u8).collect();
            Part { feature, unit: own, code_of }
        };
        Bundle { codes: all, parts: features.iter().map(part).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_share_bytes_as_far_as_their_combinations_fit() {
        let members = |codes: &[usize]| -> Vec<Vec<usize>> {
            let bundles = Bundles::of(codes);
            bundles.list.iter().map(|b| b.parts.iter().map(|p| p.feature).collect()).collect()
        };
        assert_eq!(members(&[2; 17]), [(0..8).collect(), (8..16).collect(), vec![16]]);
        assert_eq!(members(&[256, 129, 128, 2, 2]), [vec![0], vec![1], vec![2, 3], vec![4]]);
        // 51·5 = 255 fits and 52·5 does not.
        assert_eq!(members(&[5, 52]), [vec![0], vec![1]]);
        assert_eq!(members(&[5, 51]), [vec![0, 1]]);
        assert_eq!(members(&[257, 3]), [vec![1]]);
        assert_eq!(members(&[]), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn every_combination_has_its_own_code() {
        let codes = [3, 7, 2, 200, 5, 255, 16];
        let bundles = Bundles::of(&codes);
        for (at, bundle) in bundles.list.iter().enumerate() {
            assert!(bundle.codes <= 256);
            for code in 0..bundle.codes {
                let back: usize = bundle.parts.iter().map(|p| p.unit * usize::from(p.code_of[code])).sum();
                assert_eq!(back, code);
            }
            for part in &bundle.parts {
                assert!(part.code_of.iter().all(|&c| usize::from(c) < codes[part.feature]));
                let (home, found) = bundles.home(part.feature).unwrap();
                assert_eq!((home, found.feature), (at, part.feature));
            }
        }
        assert_eq!(bundles.list.iter().map(|b| b.parts.len()).sum::<usize>(), codes.len());
    }
}
