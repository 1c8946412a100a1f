//! Parameters as data: plain structs that go in and out as TOML tables, with their help and aliases.

use crate::error::{Error, Result};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// A plain struct of parameters: serde in and out, defaults, and one doc line per field that becomes its
/// help.
pub trait Parameters:
    Default + Clone + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static
{
}

impl<P> Parameters for P where
    P: Default + Clone + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static
{
}

/// One parameter, for help and tables.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Parameter {
    /// Its name, as typed in `name=value`.
    pub name: String,
    /// The default value.
    pub default: Value,
    /// Meaning and range.
    pub meaning: String,
    /// Other names that are accepted: our earlier ones, and those of LightGBM, XGBoost, CatBoost and RankLib.
    pub aliases: &'static [&'static str],
    /// Whether it belongs to the scorer, not to the loss or method.
    pub of_scorer: bool,
}

impl Parameter {
    /// Its name, then its other names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.aliases.iter().copied())
    }

    /// Whether `name` is its name or one of its other names.
    pub fn is_called(&self, name: &str) -> bool {
        self.names().any(|own| own == name)
    }
}

/// Aliases of parameters. The first column is the canonical name.
const ALIASES: &[(&str, &[&str])] = &[
    (
        "iterations",
        &[
            "rounds",
            "num_iterations",
            "num_iteration",
            "n_iter",
            "num_tree",
            "num_trees",
            "num_round",
            "num_rounds",
            "nrounds",
            "num_boost_round",
            "n_estimators",
            "max_iter",
            "max_iterations",
            "tree",
            "round",
        ],
    ),
    ("num_trees", &["trees", "num_iterations", "n_estimators", "iterations", "num_boost_round", "bag"]),
    ("learning_rate", &["rate", "eta", "shrinkage_rate", "shrinkage", "lr", "learning_rate_init"]),
    ("num_leaves", &["leaves", "num_leaf", "max_leaves", "max_leaf", "max_leaf_nodes", "leaf"]),
    ("max_depth", &["depth"]),
    ("growth_policy", &["order", "grow_policy"]),
    ("max_bin", &["bins", "max_bins", "border_count", "tc"]),
    (
        "min_data_in_leaf",
        &["min_rows", "min_data", "min_data_per_leaf", "min_child_samples", "min_samples_leaf", "mls"],
    ),
    (
        "min_child_weight",
        &[
            "min_weight",
            "min_sum_hessian_in_leaf",
            "min_sum_hessian_per_leaf",
            "min_sum_hessian",
            "min_hessian",
        ],
    ),
    ("min_split_gain", &["min_gain", "min_gain_to_split", "gamma", "min_split_loss"]),
    ("l1", &["lambda_l1", "reg_alpha", "alpha", "l1_regularization"]),
    ("l2", &["lambda_l2", "reg_lambda", "lambda", "l2_leaf_reg", "l2_regularization"]),
    ("bagging_fraction", &["bagging", "bagging_freq_fraction", "subsample", "sub_row", "srate"]),
    ("feature_fraction", &["tree_features", "sub_feature", "colsample_bytree", "frate"]),
    (
        "feature_fraction_per_split",
        &["split_features", "feature_fraction_bynode", "sub_feature_bynode", "colsample_bynode", "rsm"],
    ),
    ("max_onehot_categories", &["max_cat_to_onehot", "one_hot_max_size"]),
    ("max_categories", &["max_cat_threshold"]),
    ("category_smoothing", &["cat_smooth"]),
    ("category_l2", &["cat_l2"]),
    ("min_data_per_category_group", &["min_data_per_group"]),
    ("dropout", &["drop", "drop_rate", "rate_drop"]),
    (
        "early_stopping_rounds",
        &["patience", "early_stopping_round", "early_stopping", "n_iter_no_change", "od_wait", "estop"],
    ),
    ("c", &["cost"]),
    ("tolerance", &["gap", "tol"]),
    ("scale", &["standardize", "standardise"]),
    ("lambda_metric", &["metric", "measure", "lambdarank_metric"]),
    ("metrics", &["measures"]),
    ("k", &["truncation", "truncation_level", "lambdarank_truncation_level"]),
    ("sigma", &["sigmoid"]),
    ("position_bias_regularization", &["lambdarank_position_bias_regularization"]),
    ("lambda_norm", &["normalize", "lambdarank_norm", "lambdarank_normalization", "norm"]),
    ("layers", &["hidden_layer_sizes", "hidden_layers", "hidden_units", "hidden"]),
    ("batch_size", &["batch"]),
    ("epochs", &["epoch", "max_epochs"]),
    ("optimizer", &["solver", "optimiser"]),
    ("clip", &["clip_norm", "max_grad_norm"]),
    ("thresholds", &["tc"]),
    ("reorderings", &["orders"]),
    ("restarts", &["r", "num_restarts"]),
    ("passes", &["i", "num_passes", "max_passes"]),
    ("max_repeats", &["repeats", "max"]),
];

pub(super) fn aliases_of(name: &str) -> &'static [&'static str] {
    ALIASES.iter().find(|(canonical, _)| *canonical == name).map_or(&[], |(_, aliases)| aliases)
}

/// The given parameters under the canonical names in `known`. Unknown names stay as they are.
pub(super) fn by_canonical_name(given: &Table, known: &[&str]) -> Result<Table> {
    let mut table = Table::new();
    for (typed, value) in given {
        let plain = typed.replace('-', "_").to_lowercase();
        let canonical = known
            .iter()
            .find(|name| **name == typed || **name == plain)
            .or_else(|| known.iter().find(|name| aliases_of(name).contains(&plain.as_str())));
        let name = canonical.map_or(typed.as_str(), |name| name);
        if table.insert(name.to_owned(), value.clone()).is_some() {
            return Err(Error::parameter(format!(
                "`{name}` is given twice: `{typed}` is another name for it"
            )));
        }
    }
    Ok(table)
}

/// `defaults` with the values of `given` in their place; `owner` names whose parameters they are in errors.
/// All names of `given` must be known.
pub(super) fn overlaid<P: Parameters>(defaults: &P, given: &Table, owner: &str) -> Result<P> {
    let defaults = table_of(defaults);
    let read = |table: Table| -> std::result::Result<P, toml::de::Error> { Value::Table(table).try_into() };
    let check = |table: Table| read(table).err();
    read(joined(&defaults, given)).map_err(|error| explained(error, &defaults, given, owner, &check))
}

/// `defaults` with the values of `given` in their place.
fn joined(defaults: &Table, given: &Table) -> Table {
    let mut table = defaults.clone();
    table.extend(given.clone());
    table
}

/// The error of reading all parameters as that of the one to blame, which `check` finds by reading each alone.
fn explained(
    error: toml::de::Error,
    defaults: &Table,
    given: &Table,
    owner: &str,
    check: &dyn Fn(Table) -> Option<toml::de::Error>,
) -> Error {
    for (name, value) in given {
        let alone = Table::from_iter([(name.clone(), value.clone())]);
        if let Some(error) = check(joined(defaults, &alone)) {
            return mistyped(name, value, &defaults[name], &error, owner);
        }
    }
    Error::parameter(format!("the parameters of {owner} do not fit together: {}", error.message()))
}

/// The error for a value of the wrong type, without Rust's type names.
fn mistyped(name: &str, value: &Value, default: &Value, error: &toml::de::Error, owner: &str) -> Error {
    let expected = match default {
        Value::Integer(_) => "a whole number that is not negative",
        Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Array(_) => "a list",
        _ => {
            let message = error
                .message()
                .replace("unknown variant", "unknown value")
                .replace("expected one of", "it must be one of");
            return Error::parameter(format!("parameter `{name}` of {owner}: {message}"));
        }
    };
    Error::parameter(format!("parameter `{name}` of {owner} is {value}; it must be {expected}"))
}

/// Plain parameters as a table.
pub(crate) fn table_of<P: Serialize>(parameters: &P) -> Table {
    Table::try_from(parameters).expect("parameters are a plain table")
}

/// Names, defaults and doc lines, the latter from the schema that `JsonSchema` derives.
pub(super) fn described<P: Parameters>(defaults: &P, of_scorer: bool) -> Vec<Parameter> {
    described_by(&schemars::schema_for!(P).to_value(), table_of(defaults), of_scorer)
}

fn described_by(schema: &serde_json::Value, defaults: Table, of_scorer: bool) -> Vec<Parameter> {
    let meaning = |name: &str| {
        schema["properties"][name]["description"].as_str().unwrap_or_default().replace('\n', " ")
    };
    let described = |(name, default): (String, Value)| Parameter {
        meaning: meaning(&name),
        aliases: aliases_of(&name),
        name,
        default,
        of_scorer,
    };
    defaults.into_iter().map(described).collect()
}

/// Reads `key=value` as typed on a command line; a value that is not TOML is taken as a string.
pub fn parse_setting(text: &str) -> Result<(String, Value)> {
    let (key, value) = text
        .split_once('=')
        .ok_or_else(|| Error::parameter(format!("`{text}` is not of the form key=value")))?;
    let (key, value) = (key.trim().replace('-', "_"), value.trim());
    let typed = match format!("value = {value}").parse::<Table>() {
        Ok(mut table) if table.len() == 1 => table.remove("value"),
        // What starts like a list, a table or a quoted text is not meant as a plain word.
        Err(error) if value.starts_with(['[', '{', '"', '\'']) => {
            let why = error.message().lines().next().unwrap_or_default();
            return Err(Error::parameter(format!(
                "the value of `{key}`, `{value}`, has a syntax error: {why}"
            )));
        }
        _ => None,
    };
    Ok((key, typed.unwrap_or_else(|| Value::String(value.into()))))
}

/// Rejects a parameter that is not finite and above 0.
pub(super) fn check_above_zero(name: &str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::parameter(format!("{name} is {value}; it must be finite and above 0")))
}

/// Rejects a parameter that is not finite and at least 0.
pub(super) fn check_not_negative(name: &str, value: f64) -> Result<()> {
    if value >= 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::parameter(format!("{name} is {value}; it must be finite and at least 0")))
}

/// Rejects a parameter that is not above 0 and below 1.
pub(super) fn check_inside_unit(name: &str, value: f64) -> Result<()> {
    if value > 0.0 && value < 1.0 {
        return Ok(());
    }
    Err(Error::parameter(format!("{name} is {value}; it must be above 0 and below 1")))
}

/// Rejects a count below `least`.
pub(super) fn check_at_least(name: &str, count: u64, least: u64) -> Result<()> {
    if count >= least {
        return Ok(());
    }
    Err(Error::parameter(format!("{name} is {count}; it must be at least {least}")))
}

/// Rejects sizes of random subsets that no loss can learn from.
pub(super) fn check_sets(documents: usize, draws: usize) -> Result<()> {
    if documents == 1 {
        return Err(Error::parameter("documents is 1; it must be at least 2, or 0 for all"));
    }
    check_at_least("draws", draws as u64, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_toml_or_strings() {
        assert_eq!(parse_setting("c=10").unwrap(), ("c".into(), Value::Integer(10)));
        assert_eq!(parse_setting("rate = 0.5").unwrap(), ("rate".into(), Value::Float(0.5)));
        assert_eq!(parse_setting("gain=ndcg@10").unwrap(), ("gain".into(), Value::String("ndcg@10".into())));
        assert_eq!(parse_setting("max-passes=true").unwrap(), ("max_passes".into(), Value::Boolean(true)));
        let injected = parse_setting("c=1\nd=2").unwrap();
        assert_eq!(injected, ("c".into(), Value::String("1\nd=2".into())));
        assert!(parse_setting("c").is_err());
    }

    #[test]
    fn aliases_become_canonical_names_and_duplicates_are_rejected() {
        let known = ["iterations", "learning_rate", "c"];
        let given: Table = "n_estimators = 5\neta = 0.3\nC = 2".parse().unwrap();
        let canonical = by_canonical_name(&given, &known).unwrap();
        assert_eq!(canonical, "iterations = 5\nlearning_rate = 0.3\nc = 2".parse().unwrap());
        let twice: Table = "eta = 0.3\nlearning_rate = 0.2".parse().unwrap();
        assert!(by_canonical_name(&twice, &known).unwrap_err().to_string().contains("given twice"));
        // A forest has trees where boosting has iterations.
        let forest = by_canonical_name(&given, &["num_trees"]).unwrap();
        assert_eq!(forest["num_trees"].as_integer(), Some(5));
    }
}
