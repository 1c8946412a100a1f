//! Whether two machines compute the same.
//!
//! The same additions give the same bits everywhere. But `exp`, `ln` and their like come from the C library of each
//! machine, and libraries and processors differ in the last bit. A model then would depend on which worker computed what.
//! So a worker shows the results of these functions at fixed points when it joins, and a worker with other results is
//! refused.

use crate::sums::{dot, dots};
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::sync::OnceLock;
use xxhash_rust::xxh3::Xxh3Default;

/// The number of points at which every function is compared.
const POINTS: u64 = 3000;

/// Numbers in a vector whose products are summed.
const LENGTH: usize = 1003;

/// Who a worker is, and how it computes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Greeting {
    /// The version of the library.
    version: String,
    /// The functions that were compared, each with a hash of its results.
    results: Vec<(String, u64)>,
}

impl Greeting {
    /// That of this process, which does not change.
    pub(crate) fn own() -> Greeting {
        static OWN: OnceLock<Greeting> = OnceLock::new();
        OWN.get_or_init(Greeting::computed).clone()
    }

    fn computed() -> Greeting {
        let scalar = FUNCTIONS.iter().map(|(name, domain, function)| {
            let values = (0..POINTS).map(|point| function(black_box(domain.at(point))));
            (name.to_string(), hash(values))
        });
        let vectors = [("sums of products".to_string(), hash(products()))];
        Greeting { version: env!("CARGO_PKG_VERSION").into(), results: scalar.chain(vectors).collect() }
    }

    /// Why `worker`, which greets the driver like this, cannot take part.
    pub(super) fn refusal(&self, worker: usize, own: &Greeting) -> Option<String> {
        if self.version != own.version {
            return Some(format!(
                "worker {worker} has version {} of rankwise, and the driver has {}; install the same version on all \
                 machines",
                self.version, own.version
            ));
        }
        let name = self.difference(own)?;
        Some(format!(
            "worker {worker} computes {name} differently from the driver, so the model would depend on who computes \
             what; use machines with the same C library and the same family of processors"
        ))
    }

    /// The first function that two machines compute differently.
    pub(crate) fn difference<'a>(&self, own: &'a Greeting) -> Option<&'a str> {
        let other = self.results.iter().zip(&own.results).find(|(theirs, ours)| theirs != ours);
        other.map(|(_, (name, _))| name.as_str())
    }
}

/// Where a function is compared.
#[derive(Clone, Copy)]
enum Domain {
    /// Between -40 and 40, with many points near 0.
    Both,
    /// Above 0, of all magnitudes.
    Positive,
}

impl Domain {
    /// A point whose digits are those of a mixed-up number.
    fn at(self, point: u64) -> f64 {
        let mut bits = (point + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits ^= bits >> 31;
        let fraction = (bits >> 11) as f64 / (1_u64 << 53) as f64;
        // Powers of two are exact, whatever computes them.
        let magnitude = |range: u64| {
            let exponent = (point % range) as i64 - range as i64 / 2;
            f64::from_bits(((1023 + exponent) as u64) << 52)
        };
        match self {
            Domain::Both => (2.0 * fraction - 1.0) * 40.0 * magnitude(24).min(1.0),
            Domain::Positive => (0.5 + fraction) * magnitude(120),
        }
    }
}

type Function = (&'static str, Domain, fn(f64) -> f64);

/// The functions between data and model that are not plain arithmetic.
const FUNCTIONS: &[Function] = &[
    ("`exp`", Domain::Both, f64::exp),
    ("`exp2`", Domain::Both, f64::exp2),
    ("`exp_m1`", Domain::Both, f64::exp_m1),
    ("`ln`", Domain::Positive, f64::ln),
    ("`ln_1p`", Domain::Positive, f64::ln_1p),
    ("`log2`", Domain::Positive, f64::log2),
    ("`log10`", Domain::Positive, f64::log10),
    ("`sqrt`", Domain::Positive, f64::sqrt),
    ("`powi`", Domain::Both, |x| x.powi(black_box(7))),
    ("`powf`", Domain::Positive, |x| x.powf(black_box(0.37))),
    ("`tanh`", Domain::Both, f64::tanh),
    ("`sin`", Domain::Both, f64::sin),
    ("`cos`", Domain::Both, f64::cos),
    ("`atan2`", Domain::Both, |x| x.atan2(black_box(0.7))),
    ("`hypot`", Domain::Both, |x| x.hypot(black_box(0.7))),
    ("`mul_add`", Domain::Both, |x| x.mul_add(x, black_box(-0.3))),
    ("`tanh` of single precision", Domain::Both, |x| f64::from((x as f32).tanh())),
    ("`sqrt` of single precision", Domain::Positive, |x| f64::from((x as f32).sqrt())),
];

/// Sums that the compiler or the processor may take by vectors.
fn products() -> Vec<f64> {
    let vector = |start: u64| -> Vec<f64> {
        (start..start + LENGTH as u64).map(|point| black_box(Domain::Both.at(point))).collect()
    };
    let (a, b) = (vector(0), vector(7));
    let mut sums = vec![dot(&a, &b)];
    sums.extend(dots(&[&a, &b], &[&a, &b]).into_iter().flatten());
    sums
}

fn hash(values: impl IntoIterator<Item = f64>) -> u64 {
    let mut hash = Xxh3Default::new();
    values.into_iter().for_each(|value| hash.update(&value.to_bits().to_le_bytes()));
    hash.digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_agrees_with_itself() {
        assert_eq!(Greeting::computed().refusal(0, &Greeting::own()), None);
    }

    #[test]
    fn the_last_bit_of_one_result_is_noticed() {
        let values: Vec<f64> = (0..POINTS).map(|point| Domain::Both.at(point).exp()).collect();
        for place in [0, 1, POINTS as usize - 1] {
            let mut other = values.clone();
            other[place] = other[place].next_up();
            assert_ne!(hash(values.clone()), hash(other));
        }
    }

    #[test]
    fn points_are_different_finite_and_in_their_domain() {
        for domain in [Domain::Both, Domain::Positive] {
            let mut points: Vec<u64> = (0..POINTS).map(|point| domain.at(point).to_bits()).collect();
            assert!(points.iter().all(|&bits| f64::from_bits(bits).is_finite()));
            points.sort_unstable();
            points.dedup();
            assert!(points.len() as u64 > POINTS - 10);
        }
        assert!(
            (0..POINTS).all(|point| Domain::Positive.at(point) > 0.0 && Domain::Both.at(point).abs() <= 40.0)
        );
        assert!((0..POINTS).any(|point| Domain::Both.at(point) < -30.0));
    }

    #[test]
    fn a_stranger_is_refused_by_name() {
        let own = Greeting::own();
        let mut other = own.clone();
        other.results[0].1 ^= 1;
        let refusal = other.refusal(3, &own).unwrap();
        assert!(refusal.starts_with("worker 3 computes `exp` differently"), "{refusal}");
        let old = Greeting { version: "0.0.1".into(), ..own.clone() };
        let refusal = old.refusal(2, &own).unwrap();
        assert!(refusal.starts_with("worker 2 has version 0.0.1 of rankwise"), "{refusal}");
    }
}
