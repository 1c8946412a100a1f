//! Which model answers whom.

use crate::catalogue::{Catalogue, Served};
use crate::problem::Answer;
use crate::settings::{Settings, Traffic};
use crate::tokens::{hex, random_bytes};
use rankwise::rng::{Random, stream};
use rankwise::{Error, Result};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// Names the use of hashes and random streams, so that users are divided for interleaving in another way than for a split.
const SPLIT: u64 = 1;
const INTERLEAVE: u64 = 2;

/// Which models answer a search.
pub(crate) enum Chosen {
    /// One.
    One(Arc<Served>),
    /// Two, whose rankings are interleaved.
    Two([Arc<Served>; 2]),
}

impl Chosen {
    /// The name of the model, or of both.
    pub(crate) fn name(&self) -> String {
        match self {
            Chosen::One(served) => served.name.clone(),
            Chosen::Two([first, second]) => format!("{}+{}", first.name, second.name),
        }
    }

    /// The ranker of a list, which is one version of a model, or of two.
    pub(crate) fn ranker(&self) -> String {
        match self {
            Chosen::One(served) => served.label(),
            Chosen::Two([first, second]) => format!("{}+{}", first.label(), second.label()),
        }
    }

    /// The model with this number, from 0.
    pub(crate) fn served(&self, number: usize) -> Option<&Arc<Served>> {
        match self {
            Chosen::One(served) => [served].get(number).copied(),
            Chosen::Two(served) => served.get(number),
        }
    }

    /// The model that is named first.
    pub(crate) fn first(&self) -> &Arc<Served> {
        match self {
            Chosen::One(served) | Chosen::Two([served, _]) => served,
        }
    }
}

/// The models that traffic goes to, other than the default.
pub(crate) fn names(settings: &Settings) -> impl Iterator<Item = &String> {
    let named: Vec<&String> = match &settings.traffic {
        Traffic::Default => Vec::new(),
        Traffic::Split(portions) => portions.iter().map(|(name, _)| name).collect(),
        Traffic::Interleave(names) => names.iter().collect(),
    };
    named.into_iter().chain(&settings.shadow)
}

/// Rejects traffic to models that do not exist, what needs an index without one, and portions that are not percentages.
pub(crate) fn check(settings: &Settings, catalogue: &Catalogue) -> Result<()> {
    let of_searches = matches!(settings.traffic, Traffic::Interleave(_)) || settings.shadow.is_some();
    if of_searches && catalogue.index.is_none() {
        return Err(Error::parameter(
            "only searches are interleaved and followed by a shadow model, and a server without an index does not search; \
             give it an index, or divide users with --split",
        ));
    }
    for name in names(settings) {
        catalogue.get(name).map_err(|problem| Error::parameter(problem.detail))?;
    }
    match &settings.traffic {
        Traffic::Interleave([first, second]) if first == second => {
            Err(Error::parameter(format!("`{first}` cannot be interleaved with itself; name two models")))
        }
        Traffic::Split(portions) => {
            let total: f64 = portions.iter().map(|(_, percent)| percent).sum();
            match portions.iter().all(|(_, percent)| *percent > 0.0) && (total - 100.0).abs() < 1e-6 {
                true => Ok(()),
                false => Err(Error::parameter(format!(
                    "the portions of the models are {total} % together; they must be above 0 and 100 % together"
                ))),
            }
        }
        _ => Ok(()),
    }
}

/// What is the same for all requests of a user, and different for requests without one.
pub(crate) fn key_of(user: Option<&str>) -> Answer<String> {
    match user {
        Some(user) => Ok(user.to_owned()),
        None => Ok(hex(&random_bytes::<16>()?)),
    }
}

/// The models that answer a search. A user, or another key that is the same for all requests of a user, keeps the model.
pub(crate) fn choose(
    traffic: &Traffic,
    catalogue: &Catalogue,
    model: Option<&str>,
    key: &str,
) -> Answer<Chosen> {
    match (model, traffic) {
        (None, Traffic::Interleave([first, second])) => {
            Ok(Chosen::Two([catalogue.get(first)?, catalogue.get(second)?]))
        }
        _ => choose_one(traffic, catalogue, model, key).map(Chosen::One),
    }
}

/// The model that answers where lists cannot be interleaved.
pub(crate) fn choose_one(
    traffic: &Traffic,
    catalogue: &Catalogue,
    model: Option<&str>,
    key: &str,
) -> Answer<Arc<Served>> {
    match (model, traffic) {
        (Some(name), _) => catalogue.get(name),
        (None, Traffic::Split(portions)) => catalogue.get(portion_of(portions, key)),
        _ => catalogue.default(),
    }
}

/// The model of a user: a place between 0 and 100 that follows from the key alone, in the portions one after the other.
fn portion_of<'a>(portions: &'a [(String, f64)], key: &str) -> &'a str {
    let place = rankwise::rng::derive(xxh3_64(key.as_bytes()), &[SPLIT]) as f64 / 2f64.powi(64) * 100.0;
    let mut end = 0.0;
    let mut names = portions.iter().filter(|(_, percent)| {
        end += percent;
        place < end
    });
    // Rounding may leave the place beyond the last portion.
    names.next().or(portions.last()).map_or("", |(name, _)| name)
}

/// The random numbers of an interleaved list: the same for a user and a query, so that further pages continue it.
pub(crate) fn interleaving_of(key: &str, query: &str) -> Random {
    stream(xxh3_64(key.as_bytes()), &[INTERLEAVE, xxh3_64(query.as_bytes())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_divided_in_proportion_and_keep_their_model() {
        let portions = [("a".to_owned(), 90.0), ("b".to_owned(), 10.0)];
        let of = |user: usize| portion_of(&portions, &format!("user {user}"));
        let count = (0..100_000).filter(|user| of(*user) == "b").count();
        // Four standard deviations of a binomial distribution.
        assert!((9_620..=10_380).contains(&count), "{count}");
        assert!((0..100).all(|user| of(user) == of(user)));
    }
}
