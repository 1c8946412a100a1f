//! Values that versions of XGBoost write in different ways.

use super::foreign::quoted;
use crate::error::{Error, Result};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

/// XGBoost writes numbers as text, some versions as numbers.
pub(super) struct Loose(pub String);

impl Loose {
    /// The number that it is.
    pub(super) fn number<T: std::str::FromStr>(&self, key: &str) -> Result<T> {
        self.0.trim().parse().map_err(|_| Error::model(format!("it has {} as {key}", quoted(&self.0))))
    }
}

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Loose;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a number")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<Loose, E> {
                Ok(Loose(text.into()))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> std::result::Result<Loose, E> {
                Ok(Loose(number.to_string()))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> std::result::Result<Loose, E> {
                Ok(Loose(number.to_string()))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> std::result::Result<Loose, E> {
                Ok(Loose(number.to_string()))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// A flag: 0 or 1, before XGBoost 1.6 false or true.
pub(super) struct Flag(pub bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = Flag;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("0, 1, false or true")
            }

            fn visit_bool<E: de::Error>(self, flag: bool) -> std::result::Result<Flag, E> {
                Ok(Flag(flag))
            }

            fn visit_u64<E: de::Error>(self, flag: u64) -> std::result::Result<Flag, E> {
                Ok(Flag(flag != 0))
            }

            fn visit_i64<E: de::Error>(self, flag: i64) -> std::result::Result<Flag, E> {
                Ok(Flag(flag != 0))
            }
        }
        deserializer.deserialize_any(Either)
    }
}
