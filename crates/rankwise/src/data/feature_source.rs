//! How the features of data were computed from documents.

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

/// How features were computed: the definitions of a feature set, and the analyzers of the fields it reads.
///
/// It goes from data to the models that learn from it, so that a search can compute the same features. Here it is plain
/// text that nothing in this crate interprets but for its name, the names of its features, `analyzers`, and that there is
/// a `retrieval`.
///
/// ```
/// use rankwise::data::FeatureSource;
/// let source = FeatureSource::parse("
///     name = 'titles'
///     features = [{ name = 'bm25.title', kind = 'bm25', field = 'title' }]
///     analyzers = { title = 'english 5f0c' }
/// ")?;
/// assert_eq!(source.name(), "titles");
/// assert_eq!(source.feature_names(), ["bm25.title"]);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FeatureSource {
    /// TOML in one form, so that equal sources are equal texts.
    text: String,
}

impl FeatureSource {
    /// Reads a feature set in TOML. Comments and the order of lines are not kept.
    pub fn parse(text: &str) -> Result<FeatureSource> {
        let table: Table = toml::from_str(text).map_err(|e| {
            let line = e.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
            Error::malformed(format!("the feature set is not valid TOML, line {line}: {}", e.message()))
        })?;
        FeatureSource::new(&table)
    }

    fn new(table: &Table) -> Result<FeatureSource> {
        let names = names_in(table).ok_or_else(|| {
            Error::malformed("a feature set has a `name` and `features`, each of them with a `name`")
        })?;
        let mut seen = std::collections::HashSet::new();
        match names.iter().find(|name| !seen.insert(**name)) {
            Some(name) => Err(Error::malformed(format!("the feature set has two features called `{name}`"))),
            None => Ok(FeatureSource { text: one_feature_per_line(table) }),
        }
    }

    /// The name of the feature set.
    pub fn name(&self) -> String {
        text_of(&self.table(), "name").unwrap_or_default().to_owned()
    }

    /// The names of the features, in their order.
    pub fn feature_names(&self) -> Vec<String> {
        names_in(&self.table()).unwrap_or_default().into_iter().map(String::from).collect()
    }

    /// The fields with their analyzers.
    pub fn analyzers(&self) -> Vec<(String, String)> {
        let table = self.table();
        let analyzers = table.get("analyzers").and_then(Value::as_table).into_iter().flatten();
        analyzers.filter_map(|(field, value)| Some((field.clone(), value.as_str()?.to_owned()))).collect()
    }

    /// How candidates were found, as TOML, if it says that.
    pub fn retrieval(&self) -> Option<String> {
        self.table().get("retrieval").map(Value::to_string)
    }

    /// All of it as TOML.
    pub fn as_toml(&self) -> &str {
        &self.text
    }

    /// The same for these features, in their order. Features that it does not define are left out; `None` if it defines
    /// none.
    pub fn of_features(&self, names: &[String]) -> Option<FeatureSource> {
        let mut table = self.table();
        let chosen: Vec<Value> = names.iter().filter_map(|name| definition(&table, name).cloned()).collect();
        if chosen.is_empty() {
            return None;
        }
        table.insert("features".into(), Value::Array(chosen));
        FeatureSource::new(&table).ok()
    }

    /// Fails if `other` computes one of these features in another way.
    pub(crate) fn check_same(&self, other: &FeatureSource, names: &[String]) -> Result<()> {
        if self == other {
            return Ok(());
        }
        let (mine, theirs) = (self.table(), other.table());
        if let Some(name) = names.iter().find(|name| definition(&mine, name) != definition(&theirs, name)) {
            return Err(Error::data(format!(
                "the feature `{name}` was computed in different ways, by the feature sets `{}` and `{}`; compute the \
                 features of all data with the same feature set",
                self.name(),
                other.name()
            )));
        }
        match mine.get("analyzers") == theirs.get("analyzers") {
            true => Ok(()),
            false => Err(Error::data(
                "the features were computed from indexes with different analyzers; compute the features of all data from \
                 the same index",
            )),
        }
    }

    fn table(&self) -> Table {
        toml::from_str(&self.text).unwrap_or_default()
    }
}

impl TryFrom<String> for FeatureSource {
    type Error = Error;

    fn try_from(text: String) -> Result<FeatureSource> {
        FeatureSource::parse(&text)
    }
}

impl From<FeatureSource> for String {
    fn from(source: FeatureSource) -> String {
        source.text
    }
}

fn text_of<'a>(table: &'a Table, key: &str) -> Option<&'a str> {
    table.get(key)?.as_str()
}

/// The names of the features, if they all have one and the set has one.
fn names_in(table: &Table) -> Option<Vec<&str>> {
    text_of(table, "name")?;
    let features = table.get("features")?.as_array()?;
    features.iter().map(|feature| text_of(feature.as_table()?, "name")).collect()
}

fn definition<'a>(table: &'a Table, name: &str) -> Option<&'a Value> {
    let mut features = table.get("features")?.as_array()?.iter();
    features.find(|feature| feature.get("name").and_then(Value::as_str) == Some(name))
}

/// TOML that people can read and change, with a line for each feature.
fn one_feature_per_line(table: &Table) -> String {
    let is_plain = |value: &Value| !matches!(value, Value::Table(_) | Value::Array(_));
    let others = table.clone().into_iter().filter(|(key, _)| key != "features");
    let (first, last): (Table, Table) = others.partition(|(_, value)| is_plain(value));
    let features = table.get("features").and_then(Value::as_array).into_iter().flatten();
    let lines: String = features.map(|feature| format!("    {feature},\n")).collect();
    format!("{first}features = [\n{lines}]\n{}{last}", if last.is_empty() { "" } else { "\n" })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# by hand\nname = 'mine'\nversion = 1\nfeatures = [\n  {name='a', kind='x', \"odd key\"=1.5},\n  \
                        {name='b', kind='y'},\n  {kind='z', name='c'}]\n[analyzers]\ntitle = 'english 1'\n";

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn it_is_read_back_from_its_own_text() {
        let source = FeatureSource::parse(TEXT).unwrap();
        assert_eq!((source.name(), source.feature_names()), ("mine".into(), names(&["a", "b", "c"])));
        assert_eq!(source.analyzers(), [("title".to_owned(), "english 1".to_owned())]);
        assert_eq!(source.retrieval(), None);
        let text = format!("retrieval = {{ depth = 7 }}\n{TEXT}");
        assert_eq!(FeatureSource::parse(&text).unwrap().retrieval().unwrap(), "{ depth = 7 }");
        assert_eq!(FeatureSource::parse(source.as_toml()).unwrap(), source);
        assert_eq!(
            toml::from_str::<Table>(source.as_toml()).unwrap(),
            toml::from_str::<Table>(TEXT).unwrap()
        );
        assert!(source.as_toml().contains("\n    { name = \"b\", kind = \"y\" },\n"), "{}", source.as_toml());
        let json = serde_json::to_string(&source).unwrap();
        assert_eq!(serde_json::from_str::<FeatureSource>(&json).unwrap(), source);
    }

    #[test]
    fn features_are_chosen_in_any_order() {
        let source = FeatureSource::parse(TEXT).unwrap();
        let chosen = source.of_features(&names(&["c", "own", "a"])).unwrap();
        assert_eq!(chosen.feature_names(), ["c", "a"]);
        assert_eq!(chosen.analyzers(), source.analyzers());
        assert_eq!(source.of_features(&names(&["own"])), None);
    }

    #[test]
    fn only_the_features_in_use_must_be_the_same() {
        let source = FeatureSource::parse(TEXT).unwrap();
        let other = FeatureSource::parse(&TEXT.replace("kind='y'", "kind='other'")).unwrap();
        source.check_same(&other, &names(&["a", "c"])).unwrap();
        let error = source.check_same(&other, &names(&["a", "b"])).unwrap_err().to_string();
        assert!(error.contains("feature `b`"), "{error}");
        let other = FeatureSource::parse(&TEXT.replace("english 1", "english 2")).unwrap();
        assert!(source.check_same(&other, &[]).unwrap_err().to_string().contains("analyzers"));
    }

    #[test]
    fn what_has_no_names_is_refused() {
        for (text, part) in [
            ("name = 'x'\nfeatures = 3", "`features`"),
            ("features = []", "has a `name`"),
            ("name = 'x'\nfeatures = [{kind='a'}]", "each of them with a `name`"),
            ("name = 'x'\nfeatures = [{name='a'}, {name='a'}]", "two features called `a`"),
            ("name = 'x'\nfeatures = [", "line 2"),
        ] {
            let error = FeatureSource::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
