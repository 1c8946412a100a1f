//! Which columns of a table hold the label, the query id and the other things that are not features.

use super::excerpt::quoted;
use crate::card;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many column names a message lists.
const NAMES_LISTED: usize = 12;

/// The columns of a table (CSV, TSV, Parquet) that are not features, by name, and those that hold categories. All other
/// columns are features with numbers.
///
/// A column that is named here must be in the table. For a role that is left out, the usual name is looked for:
///
/// | role | usual name | also |
/// |---|---|---|
/// | label | `label` | `relevance`, `rel`, `grade`, `target`, `y` |
/// | query | `qid` | `query_id`, `query`, `group`, `session_id` |
/// | document | `docid` | `doc_id`, `document_id` |
/// | weight | `weight` | `query_weight` |
/// | position | `position` | |
///
/// The names in the last column are used only if the usual one is absent, and a reading note reports it. If several
/// of them are present, reading fails and asks for the name. Label and query are required. For the other roles, an
/// empty name stands for no column: with `weight = ""`, a column called `weight` is a feature.
///
/// A first column without a name, and columns called `Unnamed: 0` or `__index_level_0__`, hold the row numbers that
/// pandas writes. They are left out, and a reading note reports it.
///
/// ```
/// use rankwise::data::ColumnRoles;
/// let roles: ColumnRoles = toml::from_str("label = 'clicks'\nqid = 'session'\nignore = ['url']").unwrap();
/// assert_eq!(roles.query.as_deref(), Some("session"));
/// assert_eq!(roles.document, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ColumnRoles {
    /// The column with the relevance label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The column with the query id.
    #[serde(alias = "qid", skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The column with the document id.
    #[serde(alias = "docid", skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// The column with the weight of the query, the same in all its rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,
    /// The column with the position at which the document was shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// Columns to leave out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// The features. If there are any, all columns without another role are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// Features that hold categories, as text or as whole numbers from 0. In LETOR text, the numbers of the features.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub categorical: Vec<String>,
}

impl ColumnRoles {
    /// The names of the columns of all roles but features, by the keys `label`, `qid`, `docid`, `weight` and
    /// `position`, as far as they are given.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &str)> {
        KNOWN.iter().filter_map(|known| Some((known.names[0], (known.named)(self)?)))
    }
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Label,
    Query,
    Document,
    Weight,
    Position,
    Feature,
    /// A feature that holds categories.
    Categorical,
    Ignored,
}

impl Role {
    pub(super) fn is_feature(self) -> bool {
        matches!(self, Role::Feature | Role::Categorical)
    }
}

/// How a role's column is found.
struct Known {
    role: Role,
    what: &'static str,
    required: bool,
    /// The usual name, then others that are common.
    names: &'static [&'static str],
    named: fn(&ColumnRoles) -> Option<&str>,
}

static KNOWN: [Known; 5] = [
    Known {
        role: Role::Label,
        what: "the label",
        required: true,
        names: &["label", "relevance", "rel", "grade", "target", "y"],
        named: |roles| roles.label.as_deref(),
    },
    Known {
        role: Role::Query,
        what: "the query id",
        required: true,
        names: &["qid", "query_id", "query", "group", "session_id"],
        named: |roles| roles.query.as_deref(),
    },
    Known {
        role: Role::Document,
        what: "the document id",
        required: false,
        names: &["docid", "doc_id", "document_id"],
        named: |roles| roles.document.as_deref(),
    },
    Known {
        role: Role::Weight,
        what: "the query weight",
        required: false,
        names: &["weight", "query_weight"],
        named: |roles| roles.weight.as_deref(),
    },
    Known {
        role: Role::Position,
        what: "the position",
        required: false,
        names: &["position"],
        named: |roles| roles.position.as_deref(),
    },
];

/// The usual name of a role's column; empty for features.
pub(super) fn usual_name(role: Role) -> &'static str {
    KNOWN.iter().find(|known| known.role == role).map_or("", |known| known.names[0])
}

/// The role that a feature of a written table would be read as by its name, if the table has columns of the roles
/// `present`: by the usual name always, by the other names if the role has no column.
pub(super) fn role_by_name(name: &str, present: &[Role]) -> Option<Role> {
    let is_read_as = |known: &&Known| match present.contains(&known.role) {
        true => known.names[0] == name,
        false => known.names.contains(&name),
    };
    KNOWN.iter().find(is_read_as).map(|known| known.role)
}

/// Finds the role of every column. On success, also sentences on what was guessed. With `unlabelled`, there may be no label.
pub(super) fn assign(
    names: &[String],
    roles: &ColumnRoles,
    unlabelled: bool,
) -> Result<(Vec<Role>, Vec<String>), String> {
    let is_required = |known: &Known| known.required && !(unlabelled && known.role == Role::Label);
    let mut found: Vec<Option<Role>> = vec![None; names.len()];
    let mut set = |name: &str, role: Role, purpose: &str| {
        let column = position(names, name).ok_or_else(|| missing(names, name, purpose))?;
        match found[column].replace(role) {
            None => Ok(()),
            Some(_) => {
                Err(format!("the column {} is named for two roles; name another for one", shown(name)))
            }
        }
    };
    roles.ignore.iter().try_for_each(|name| set(name, Role::Ignored, "to ignore"))?;
    roles
        .categorical
        .iter()
        .try_for_each(|name| set(name, Role::Categorical, "for a categorical feature"))?;
    let numbers = roles.only.iter().filter(|name| !roles.categorical.contains(name));
    numbers.into_iter().try_for_each(|name| set(name, Role::Feature, "for a feature"))?;
    for known in &KNOWN {
        match (known.named)(roles) {
            Some("") if is_required(known) => {
                return Err(format!("every table needs {}; name the column that holds it", known.what));
            }
            Some("") | None => {}
            Some(name) => set(name, known.role, &format!("for {}", known.what))?,
        }
    }
    let mut notes = Vec::new();
    for known in KNOWN.iter().filter(|known| (known.named)(roles).is_none()) {
        let free: Vec<usize> = (0..names.len()).filter(|&c| found[c].is_none()).collect();
        let Some((column, note)) = guess(names, &free, known, is_required(known))? else { continue };
        found[column] = Some(known.role);
        notes.extend(note);
    }
    notes.extend(leave_out_row_numbers(names, &mut found));
    let rest = if roles.only.is_empty() { Role::Feature } else { Role::Ignored };
    let found: Vec<Role> = found.into_iter().map(|role| role.unwrap_or(rest)).collect();
    notes.extend(suspicious_features(names, &found));
    Ok((found, notes))
}

/// Leaves out the row numbers that pandas writes. Returns a note if there are any.
fn leave_out_row_numbers(names: &[String], found: &mut [Option<Role>]) -> Option<String> {
    let is_index = |(column, name): (usize, &String)| match &**name {
        "" => column == 0,
        name => name == "Unnamed: 0" || name == "__index_level_0__",
    };
    let column = names.iter().enumerate().position(|named| is_index(named) && found[named.0].is_none())?;
    found[column] = Some(Role::Ignored);
    Some(match &*names[column] {
        "" => "the first column has no name; it is taken for row numbers and left out".to_owned(),
        name => format!("the column {} is taken for row numbers and left out", shown(name)),
    })
}

/// The column of a role that was not named, with a note where it does not have the usual name.
fn guess(
    names: &[String],
    free: &[usize],
    known: &Known,
    required: bool,
) -> Result<Option<(usize, Option<String>)>, String> {
    let usual = known.names[0];
    if let Some(&column) = free.iter().find(|&&c| names[c] == usual) {
        return Ok(Some((column, None)));
    }
    let is_common = |name: &str| {
        known.names.iter().any(|c| name == *c || (known.required && name.eq_ignore_ascii_case(c)))
    };
    let candidates: Vec<usize> = free.iter().copied().filter(|&c| is_common(&names[c])).collect();
    match candidates[..] {
        [] if required => Err(missing(names, usual, &format!("for {}", known.what))),
        [] => Ok(None),
        [column] => {
            let note = format!(
                "there is no column {}; the column {} is read as {}",
                shown(usual),
                shown(&names[column]),
                known.what
            );
            Ok(Some((column, Some(note))))
        }
        _ => {
            let several: Vec<String> = candidates.iter().map(|&c| names[c].clone()).collect();
            Err(format!(
                "there is no column {} for {}, and it could be any of {}; name the one that holds it",
                shown(usual),
                known.what,
                listed(&several)
            ))
        }
    }
}

/// A feature whose name suggests a label or a query id may give the answer away.
fn suspicious_features(names: &[String], found: &[Role]) -> Option<String> {
    let common = |role: Role| KNOWN.iter().filter(move |k| k.role == role).flat_map(|k| k.names);
    let suspicious: Vec<String> = names
        .iter()
        .zip(found)
        .filter(|(_, role)| **role == Role::Feature)
        .map(|(name, _)| name.clone())
        .filter(|name| {
            common(Role::Label)
                .chain(common(Role::Query))
                .any(|c| c.len() > 1 && name.eq_ignore_ascii_case(c))
        })
        .collect();
    (!suspicious.is_empty()).then(|| {
        format!(
            "read as features, although their names suggest labels or query ids: {}; ignore them if they are not \
             features",
            listed(&suspicious)
        )
    })
}

pub(super) fn position(names: &[String], name: &str) -> Option<usize> {
    names.iter().position(|n| n == name)
}

pub(super) fn missing(names: &[String], name: &str, purpose: &str) -> String {
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let near = match card::nearest(name, &known) {
        Some(near) => format!("; did you mean {}?", shown(near)),
        None => "; name the column that holds it.".to_owned(),
    };
    format!("there is no column {} {purpose}{near} The columns are {}", shown(name), listed(names))
}

fn shown(name: &str) -> String {
    quoted(name.as_bytes())
}

/// Column names for a message.
pub(super) fn listed(names: &[String]) -> String {
    let listed: Vec<String> = names.iter().take(NAMES_LISTED).map(|n| shown(n)).collect();
    let more = names.len().saturating_sub(NAMES_LISTED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", listed.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assign(names: &[String], roles: &ColumnRoles) -> Result<(Vec<Role>, Vec<String>), String> {
        super::assign(names, roles, false)
    }

    fn names(header: &str) -> Vec<String> {
        header.split(',').map(str::to_owned).collect()
    }

    fn by_default(header: &str) -> Result<(Vec<Role>, Vec<String>), String> {
        assign(&names(header), &ColumnRoles::default())
    }

    #[test]
    fn usual_names_are_found_without_a_note() {
        use Role::{Document, Feature, Label, Position, Query, Weight};
        let (roles, notes) = by_default("label,qid,docid,weight,position,bm25").unwrap();
        assert_eq!(roles, [Label, Query, Document, Weight, Position, Feature]);
        assert!(notes.is_empty(), "{notes:?}");
    }

    #[test]
    fn common_names_are_found_with_a_note() {
        for known in &KNOWN {
            for name in &known.names[1..] {
                let usual =
                    |role| if role == known.role { (*name).to_owned() } else { usual_name(role).to_owned() };
                let header: Vec<String> =
                    KNOWN.iter().map(|k| usual(k.role)).chain(["bm25".to_owned()]).collect();
                let (roles, notes) = assign(&header, &ColumnRoles::default()).unwrap();
                assert!(roles.contains(&known.role));
                let expected = format!("the column `{name}` is read as {}", known.what);
                assert!(notes.len() == 1 && notes[0].contains(&expected), "{notes:?}");
            }
        }
        assert!(by_default("Label,QID,a").unwrap().1[0].contains("`Label` is read as the label"));
    }

    #[test]
    fn a_guess_that_could_be_wrong_is_refused_or_reported() {
        let several = by_default("rel,grade,qid,a").unwrap_err();
        assert!(several.contains("any of `rel`, `grade`; name the one"), "{several}");
        let (roles, notes) = by_default("label,qid,grade,a").unwrap();
        assert_eq!(roles[2], Role::Feature);
        assert!(notes[0].contains("suggest labels or query ids: `grade`"), "{notes:?}");
        let roles = ColumnRoles { ignore: vec!["grade".into()], ..ColumnRoles::default() };
        let (found, notes) = assign(&names("label,qid,grade,a"), &roles).unwrap();
        assert!(found[2] == Role::Ignored && notes.is_empty());
    }

    #[test]
    fn columns_that_are_named_must_be_there_and_have_one_role() {
        let named = |roles: ColumnRoles| assign(&names("label,qid,url,a"), &roles);
        let document = |name: &str| ColumnRoles { document: Some(name.into()), ..ColumnRoles::default() };
        assert_eq!(named(document("url")).unwrap().0[2], Role::Document);
        let wrong = named(document("uri")).unwrap_err();
        assert!(wrong.contains("no column `uri` for the document id; did you mean `url`?"), "{wrong}");
        let twice = ColumnRoles { ignore: vec!["url".into()], ..document("url") };
        assert!(named(twice).unwrap_err().contains("named for two roles"));
        let ignored = ColumnRoles { ignore: vec!["b".into()], ..ColumnRoles::default() };
        assert!(named(ignored).unwrap_err().contains("no column `b` to ignore"));
        assert!(toml::from_str::<ColumnRoles>("lable = 'x'").is_err());
    }

    #[test]
    fn features_can_be_chosen_and_reserved_names_given_back() {
        use Role::{Feature, Ignored, Label, Query};
        let header = names("label,qid,weight,date,bm25");
        let only = ColumnRoles { only: vec!["bm25".into(), "weight".into()], ..ColumnRoles::default() };
        assert_eq!(assign(&header, &only).unwrap().0, [Label, Query, Feature, Ignored, Feature]);
        let no_weight = ColumnRoles { weight: Some(String::new()), ..ColumnRoles::default() };
        assert_eq!(assign(&header, &no_weight).unwrap().0[2], Feature);
        let no_label = ColumnRoles { label: Some(String::new()), ..ColumnRoles::default() };
        assert!(assign(&header, &no_label).unwrap_err().contains("every table needs the label"));
        let both = ColumnRoles {
            only: vec!["bm25".into()],
            categorical: vec!["date".into()],
            ..ColumnRoles::default()
        };
        use Role::{Categorical, Weight};
        assert_eq!(assign(&header, &both).unwrap().0, [Label, Query, Weight, Categorical, Feature]);
        let also = ColumnRoles { categorical: vec!["bm25".into()], ..both };
        assert_eq!(assign(&header, &also).unwrap().0[3..], [Ignored, Categorical]);
        let label = ColumnRoles { categorical: vec!["label".into()], label: Some("label".into()), ..also };
        assert!(assign(&header, &label).unwrap_err().contains("named for two roles"));
        let absent = ColumnRoles { only: vec!["bm26".into()], ..ColumnRoles::default() };
        let refused = assign(&header, &absent).unwrap_err();
        assert!(refused.contains("no column `bm26` for a feature; did you mean `bm25`?"), "{refused}");
    }

    #[test]
    fn row_numbers_of_pandas_are_left_out() {
        for name in ["", "Unnamed: 0", "__index_level_0__"] {
            let (roles, notes) = by_default(&format!("{name},label,qid,a")).unwrap();
            assert_eq!(roles[0], Role::Ignored);
            assert!(notes.len() == 1 && notes[0].contains("row numbers and left out"), "{notes:?}");
        }
        let named = ColumnRoles { document: Some("Unnamed: 0".into()), ..ColumnRoles::default() };
        let (roles, notes) = assign(&names("Unnamed: 0,label,qid,a"), &named).unwrap();
        assert!(roles[0] == Role::Document && notes.is_empty());
    }

    #[test]
    fn data_that_is_only_scored_needs_no_label() {
        use Role::{Feature, Label, Query};
        let unlabelled = |header: &str| super::assign(&names(header), &ColumnRoles::default(), true);
        assert_eq!(unlabelled("qid,a").unwrap().0, [Query, Feature]);
        assert_eq!(unlabelled("label,qid,a").unwrap().0, [Label, Query, Feature]);
        assert!(unlabelled("a,b").unwrap_err().contains("for the query id"));
    }
}
