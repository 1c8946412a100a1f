//! Data that is divided among threads, to prove that a program gives the same on any number of workers.

use super::Shard;
use crate::data::Dataset;
use crate::exchange::threads::with_exchange;
use crate::pieces;

/// Runs `work` in a driver and `workers` workers that divide the data among them. Returns the result of the driver, and
/// those of the workers.
pub(crate) fn with_workers<T: Send>(
    train: &Dataset,
    valid: Option<&Dataset>,
    workers: usize,
    work: impl Fn(&Dataset, Option<&Dataset>) -> T + Sync,
) -> (T, Vec<T>) {
    with_exchange(workers, |exchange| {
        let shard = |data: &Dataset| {
            let pieces = pieces::cut(data.bounds(), data.width()).len() - 1;
            let own = exchange.worker().map_or(0..0, |w| w * pieces / workers..(w + 1) * pieces / workers);
            Shard::cut_from(data, own, exchange.clone())
        };
        work(&shard(train), valid.map(shard).as_ref())
    })
}

#[test]
fn the_driver_and_every_worker_get_the_sums_of_one_machine() {
    let sizes: Vec<usize> = (0..300).map(|q| 1 + q % 7).collect();
    let documents = sizes.iter().sum::<usize>();
    let values: Vec<f32> = (0..documents).map(|i| (i as f32 * 0.37).sin()).collect();
    let data = Dataset::dense(values, 1, vec![0.0; documents], &sizes).unwrap();
    let sums = |data: &Dataset| {
        let of = |queries: std::ops::Range<usize>| {
            let rows = queries.flat_map(|q| data.query(q).rows());
            rows.map(|row| f64::from(row.get(0)).exp()).sum::<f64>()
        };
        let numbers = data.gather(|| {
            let first = data.whole().first_query as u64;
            (0..data.query_count() as u64).map(|q| first + q).collect()
        });
        (data.total(of), data.totals_of_groups(4, of), numbers)
    };
    let alone = sums(&data);
    assert_eq!(alone.2, (0..300).collect::<Vec<u64>>());
    let odd = data.keep_queries(&(0..150).map(|q| 2 * q + 1).collect::<Vec<_>>());
    let alone_odd = sums(&odd);
    for workers in [1, 2, 3, 7, 20] {
        let (driver, others) = with_workers(&data, None, workers, |data, _| {
            let whole = data.whole();
            let odd: Vec<usize> =
                (0..data.query_count()).filter(|q| (whole.first_query + q) % 2 == 1).collect();
            (sums(data), sums(&data.keep_queries(&odd)))
        });
        for both in others.iter().chain([&driver]) {
            assert!(both.0 == alone && both.1.0 == alone_odd.0 && both.1.1 == alone_odd.1, "{workers}");
        }
    }
}
