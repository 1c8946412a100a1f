//! Which segments become one.

use tantivy::index::SegmentId;

/// A segment of the last commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) id: SegmentId,
    pub(crate) live: u64,
    pub(crate) deleted: u64,
}

/// A segment is merged with all smaller ones when they have together this part of its documents. So many additions at
/// once end in one segment, and many commits of few documents in a number of segments that grows with its logarithm.
const WORTH_MERGING: u64 = 4;

/// And it is written anew when this part of it was deleted.
const WORTH_CLEANING: u64 = 5;

/// The segments to merge into one.
pub(crate) fn worth_merging(mut segments: Vec<Segment>) -> Vec<SegmentId> {
    segments.sort_by_key(|segment| std::cmp::Reverse(segment.live));
    let mut smaller: u64 = segments.iter().map(|segment| segment.live).sum();
    let mut first = segments.len();
    for (at, segment) in segments.iter().enumerate() {
        smaller -= segment.live;
        if at + 1 < segments.len() && smaller >= segment.live.div_ceil(WORTH_MERGING) {
            first = at;
            break;
        }
    }
    let chosen = segments.iter().enumerate().filter(|&(at, segment)| {
        at >= first || segment.deleted > (segment.live + segment.deleted) / WORTH_CLEANING
    });
    chosen.map(|(_, segment)| segment.id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(sizes: &[(u64, u64)]) -> Vec<Segment> {
        let segment = |(at, &(live, deleted)): (usize, &(u64, u64))| Segment {
            id: SegmentId::from_uuid_string(&format!("{at:032x}")).unwrap(),
            live,
            deleted,
        };
        sizes.iter().enumerate().map(segment).collect()
    }

    fn merged(sizes: &[(u64, u64)]) -> Vec<u64> {
        let segments = segments(sizes);
        let chosen = worth_merging(segments.clone());
        let mut left: Vec<u64> =
            segments.iter().filter(|s| !chosen.contains(&s.id)).map(|s| s.live).collect();
        left.push(segments.iter().filter(|s| chosen.contains(&s.id)).map(|s| s.live).sum());
        left.retain(|&live| live > 0);
        left
    }

    #[test]
    fn additions_at_once_become_one_segment() {
        assert_eq!(merged(&[(100, 0), (100, 0), (100, 0), (1, 0)]), [301]);
        assert_eq!(merged(&[(1000, 0), (100, 0), (90, 0)]), [1000, 190]);
        assert_eq!(merged(&[(7, 0)]), [7]);
        assert!(merged(&[]).is_empty());
    }

    #[test]
    fn segments_with_many_deletions_are_cleaned() {
        assert!(worth_merging(segments(&[(80, 20)])).is_empty());
        assert_eq!(worth_merging(segments(&[(79, 21)])).len(), 1);
    }

    #[test]
    fn commits_of_one_document_leave_few_segments_and_write_few_documents_twice() {
        let (mut sizes, mut written): (Vec<u64>, u64) = (Vec::new(), 0);
        for _ in 0..10_000 {
            sizes.push(1);
            let before = sizes.clone();
            sizes = merged(&sizes.iter().map(|&live| (live, 0)).collect::<Vec<_>>());
            if sizes.len() < before.len() {
                written += sizes.last().unwrap();
            }
            assert!(sizes.len() <= 10, "{sizes:?}");
        }
        assert!(written < 10_000 * 40, "{written}");
    }
}
