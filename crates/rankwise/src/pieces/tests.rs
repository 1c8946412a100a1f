use super::*;

/// Terms whose sum depends on the order of additions.
fn terms(count: usize) -> Vec<f64> {
    (0..count).map(|i| (i as f64 * 0.7).sin() * 10f64.powi(i as i32 % 17 - 8)).collect()
}

#[test]
fn any_owners_give_the_same_bits() {
    for pieces in [1, 2, 8, 64] {
        let terms = terms(pieces);
        let whole = branch_sum(0..pieces, &|piece| terms[piece]);
        for owners in 1..=9 {
            for group in [1, 4, pieces].map(|most: usize| most.min(pieces)) {
                let own = |owner: usize| owner * pieces / owners..(owner + 1) * pieces / owners;
                let mut known: BTreeMap<(usize, usize), f64> = (0..owners)
                    .flat_map(|owner| branches(own(owner), group))
                    .map(|branch| ((branch.start, branch.len()), branch_sum(branch, &|piece| terms[piece])))
                    .collect();
                assert_eq!(joined_sum(0..pieces, &mut known).to_bits(), whole.to_bits());
                assert!(known.is_empty());
            }
        }
    }
}

#[test]
fn pieces_are_whole_queries_with_about_the_same_number_of_documents() {
    let sizes = (0..5000).map(|q| 1 + q * q % 97);
    let bounds: Vec<usize> = std::iter::once(0)
        .chain(sizes.scan(0, |end, size| {
            *end += size;
            Some(*end)
        }))
        .collect();
    let firsts = cut(&bounds, 3);
    assert_eq!(firsts.len(), 1025);
    let documents = |piece: &[usize]| bounds[piece[1]] - bounds[piece[0]];
    let fair = bounds[5000] / 1024;
    assert!(firsts.windows(2).all(|piece| documents(piece).abs_diff(fair) <= 97));
    assert_eq!((cut(&[0], 3), cut(&[0, 7], 3), cut(&[0, 7, 8], 3)), (vec![0, 0], vec![0, 1], vec![0, 1, 2]));
}

/// A long query may leave nothing for the pieces after it.
#[test]
fn pieces_may_be_empty() {
    assert_eq!(cut(&[0, 100, 101, 102, 103], 3), [0, 1, 1, 1, 4]);
}

#[test]
fn there_are_fewer_pieces_where_a_sum_has_many_numbers() {
    let bounds: Vec<usize> = (0..=100_000).collect();
    let pieces = |width: usize| cut(&bounds, width).len() - 1;
    assert_eq!([0, 1000, 1025, 20_000, 10_000_000].map(pieces), [1024, 1024, 1024, 64, 16]);
}
