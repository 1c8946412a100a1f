//! An entry in the list of learners: its card, its parameters as data, and how they become a trainable
//! learner.

use super::boosting::fit_gradients;
use super::loss::{CustomGradients, CustomLoss, LossLearner, LossSource};
use super::parameters::{Parameter, aliases_of, by_canonical_name, described, overlaid, table_of};
use super::scorers::{LinearParameters, LossScorer, NetworkParameters, ScorerKind, TreesParameters};
use super::{Fitted, LEARNERS, Learner, LossKind, RegularizationPath, Task};
use crate::card::{self, Card};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::watch::Watch;
use toml::{Table, Value};

/// The parameter that names the scorer.
const SCORER: &str = "scorer";

/// An entry in the list of learners. Parameters go in and out as a TOML table, so that the command line,
/// experiment files, model files and Python share one path.
pub struct LearnerEntry {
    /// Name, title, meaning and source.
    pub card: Card,
    variants: Variants,
}

/// The ways in which a learner can be trained.
enum Variants {
    /// A method of its own.
    Method(Variant),
    /// A loss with each scorer, and the default scorer.
    Scorers([Variant; 3], ScorerKind),
}

/// A learner with one scorer, or with its own method.
struct Variant {
    scorer: Option<ScorerKind>,
    parameters: fn() -> Vec<Parameter>,
    configure: fn(&Table) -> Result<Configured>,
}

/// A learner whose parameters are complete and have been checked.
pub(crate) struct Configured {
    /// All parameters, defaults included, by their canonical names.
    pub(crate) parameters: Table,
    /// The scorer, for learners that are a loss.
    pub(crate) scorer: Option<ScorerKind>,
    /// Whether it can start from a model and keep a checkpoint.
    pub(crate) continues: bool,
    /// Whether it learns from categorical features.
    pub(crate) takes_categories: bool,
    /// Whether it can be trained on data that is divided among workers.
    pub(crate) distributes: bool,
    /// Whether labels may be weighted clicks.
    pub(crate) takes_clicks: bool,
    trainer: Box<dyn Train>,
    /// Makes the same learner with other parameters; it takes all of them.
    reconfigure: Option<fn(&Table) -> Result<Configured>>,
}

impl Configured {
    /// Trains on data that has queries and features.
    pub(crate) fn train(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        self.trainer.train(task, watch)
    }

    /// The same with another value of a parameter; `None` for a caller's own loss.
    pub(crate) fn with(&self, name: &str, value: Value) -> Option<Result<Configured>> {
        let mut parameters = self.parameters.clone();
        parameters.remove(SCORER);
        parameters.insert(name.into(), value);
        self.reconfigure.map(|reconfigure| reconfigure(&parameters))
    }

    /// Trains one model per C of `cs` in turn; `None` if there is no regularization path.
    pub(crate) fn path(
        &self,
        cs: &[f64],
        task: &Task<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Option<RegularizationPath>> {
        self.trainer.path(cs, task, watch)
    }

    /// Whether there is a regularization path along C: a linear scorer with a max-margin loss has one.
    pub(crate) fn has_path(&self) -> bool {
        let tiny = Dataset::dense(vec![1.0, 0.0], 1, vec![1.0, 0.0], &[2]).expect("two documents");
        self.scorer == Some(ScorerKind::Linear) && matches!(self.loss(&tiny), Ok(Some(LossKind::Convex(_))))
    }

    /// The loss that is minimised, for learners that are a loss.
    pub(crate) fn loss(&self, train: &Dataset) -> Result<Option<LossKind>> {
        self.trainer.loss(train)
    }

    /// About how many elementary steps training takes, for a method of its own ([`Learner::steps`]).
    pub(crate) fn steps(&self, train: &Dataset) -> f64 {
        self.trainer.steps(train)
    }

    /// Whether these steps are for comparing the documents of a query with each other.
    pub(crate) fn compares_documents(&self) -> bool {
        self.trainer.compares_documents()
    }
}

/// A learner with its parameters, of any type.
trait Train: Send + Sync {
    fn train(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted>;

    fn path(&self, _: &[f64], _: &Task<'_>, _: &mut dyn Watch) -> Result<Option<RegularizationPath>> {
        Ok(None)
    }

    fn loss(&self, _: &Dataset) -> Result<Option<LossKind>> {
        Ok(None)
    }

    fn steps(&self, _: &Dataset) -> f64 {
        0.0
    }

    fn compares_documents(&self) -> bool {
        true
    }
}

/// A method of its own.
struct Method<L>(L);

impl<L: Learner> Train for Method<L> {
    fn train(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        self.0.fit(task, watch)
    }

    fn steps(&self, train: &Dataset) -> f64 {
        self.0.steps(train)
    }

    fn compares_documents(&self) -> bool {
        L::COMPARES_DOCUMENTS
    }
}

/// A loss and the scorer that minimises it.
struct Minimized<L, S> {
    loss: L,
    scorer: S,
}

impl<L: LossLearner, S: LossScorer<L>> Train for Minimized<L, S> {
    fn train(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        let mut fitted = self.scorer.fit(&self.loss, task, watch)?;
        fitted.record.notes.extend(self.loss.notes(task));
        Ok(fitted)
    }

    fn path(&self, cs: &[f64], task: &Task<'_>, watch: &mut dyn Watch) -> Result<Option<RegularizationPath>> {
        self.scorer.path(&self.loss, cs, task, watch)
    }

    fn loss(&self, train: &Dataset) -> Result<Option<LossKind>> {
        self.loss.make_loss(train).map(Some)
    }
}

impl<S: LossScorer<CustomLoss>> Train for Minimized<CustomLoss, S> {
    fn train(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        self.scorer.fit(&self.loss, task, watch)
    }
}

/// A caller's own gradients and the trees that follow them.
struct Followed {
    gradients: CustomGradients,
    trees: TreesParameters,
}

impl Train for Followed {
    fn train(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        fit_gradients(&self.gradients, &self.trees, task, watch)
    }
}

impl LearnerEntry {
    /// The entry of a learner that is a method of its own.
    pub const fn of<L: Learner>() -> LearnerEntry {
        let variant = Variant {
            scorer: None,
            parameters: || described(&L::default(), false),
            configure: configure_method::<L>,
        };
        LearnerEntry { card: L::CARD, variants: Variants::Method(variant) }
    }

    /// The entry of a learner that is a loss, which every scorer can minimise.
    pub const fn of_loss<L: LossLearner>() -> LearnerEntry {
        let variants = [
            Variant::of::<L, L::Linear>(
                || parameters::<L, _>(L::linear()),
                |g| configure::<L, _>(L::linear(), g),
            ),
            Variant::of::<L, TreesParameters>(
                || parameters::<L, _>(L::trees()),
                |g| configure::<L, _>(L::trees(), g),
            ),
            Variant::of::<L, NetworkParameters>(
                || parameters::<L, _>(L::network()),
                |g| configure::<L, _>(L::network(), g),
            ),
        ];
        LearnerEntry { card: L::CARD, variants: Variants::Scorers(variants, L::SCORER) }
    }

    /// Its parameters with its default scorer: first those of the loss, then those of the scorer.
    pub fn parameters(&self) -> Vec<Parameter> {
        (self.default_variant().parameters)()
    }

    /// Its parameters with another scorer.
    pub fn parameters_with(&self, scorer: &str) -> Result<Vec<Parameter>> {
        Ok((self.variant(Some(ScorerKind::named(scorer)?))?.parameters)())
    }

    /// The scorers that can minimise it, the default first; empty for a method of its own.
    pub fn scorers(&self) -> Vec<ScorerKind> {
        match &self.variants {
            Variants::Method(_) => Vec::new(),
            Variants::Scorers(_, default) => {
                let others = ScorerKind::ALL.into_iter().filter(|kind| kind != default);
                std::iter::once(*default).chain(others).collect()
            }
        }
    }

    /// The loss with its default parameters, for learners that are a loss.
    pub fn loss(&self, train: &Dataset) -> Result<Option<LossKind>> {
        self.configure(&Table::new())?.loss(train)
    }

    /// Checks the given parameters and fills in the rest.
    pub(crate) fn configure(&self, given: &Table) -> Result<Configured> {
        let mut rest = given.clone();
        let variant = self.variant(take_scorer(&mut rest)?)?;
        let configured = (variant.configure)(&rest);
        configured.map_err(|error| self.hint_at_scorer(error, variant, &rest))
    }

    fn variant(&self, scorer: Option<ScorerKind>) -> Result<&Variant> {
        match (&self.variants, scorer) {
            (Variants::Method(_), Some(_)) => Err(Error::parameter(format!(
                "`{}` does not accept `scorer`; it has a model of its own kind",
                self.card.name
            ))),
            (_, None) => Ok(self.default_variant()),
            (Variants::Scorers(variants, _), scorer) => {
                Ok(variants.iter().find(|v| v.scorer == scorer).expect("a variant per scorer"))
            }
        }
    }

    fn default_variant(&self) -> &Variant {
        match &self.variants {
            Variants::Method(variant) => variant,
            Variants::Scorers(variants, default) => {
                variants.iter().find(|v| v.scorer == Some(*default)).expect("a variant per scorer")
            }
        }
    }

    /// If an unknown parameter belongs to another scorer, the error names that scorer.
    fn hint_at_scorer(&self, error: Error, used: &Variant, given: &Table) -> Error {
        let Variants::Scorers(variants, _) = &self.variants else { return error };
        let knows = |variant: &Variant, name: &str| {
            let known = (variant.parameters)();
            known.iter().any(|p| p.name == name || p.aliases.contains(&name))
        };
        let Some(name) = given.keys().find(|name| !knows(used, name)) else { return error };
        let others: Vec<&str> = variants
            .iter()
            .filter(|variant| knows(variant, name))
            .filter_map(|variant| variant.scorer.map(ScorerKind::name))
            .collect();
        let (Some(scorer), false) = (used.scorer, others.is_empty()) else { return error };
        Error::parameter(format!(
            "`{name}` is not a parameter of {} with scorer {}, but with scorer {}",
            self.card.name,
            scorer.name(),
            others.join(" or ")
        ))
    }
}

impl Variant {
    const fn of<L: LossLearner, S: LossScorer<L>>(
        parameters: fn() -> Vec<Parameter>,
        configure: fn(&Table) -> Result<Configured>,
    ) -> Variant {
        Variant { scorer: Some(S::KIND), parameters, configure }
    }
}

/// Takes the scorer out of the given parameters, where it is named.
pub(crate) fn take_scorer(given: &mut Table) -> Result<Option<ScorerKind>> {
    match given.remove(SCORER) {
        None => Ok(None),
        Some(Value::String(name)) => ScorerKind::named(&name).map(Some),
        Some(other) => Err(Error::parameter(format!("scorer is {other}; it must be a name"))),
    }
}

/// The parameters of the loss, then those of the scorer.
fn parameters<L: LossLearner, S: LossScorer<L>>(defaults: S) -> Vec<Parameter> {
    let mut parameters = described(&L::default_for(S::KIND), false);
    parameters.extend(described(&defaults, true));
    parameters
}

fn configure_method<L: Learner>(given: &Table) -> Result<Configured> {
    let defaults = L::default();
    let known = table_of(&defaults);
    let given = canonical(given, &[&known], L::CARD.name)?;
    let learner = overlaid(&defaults, &given, L::CARD.name)?;
    learner.check()?;
    Ok(Configured {
        parameters: table_of(&learner),
        scorer: None,
        continues: L::CONTINUES,
        takes_categories: L::TAKES_CATEGORIES,
        distributes: L::DISTRIBUTES,
        takes_clicks: L::TAKES_CLICKS,
        trainer: Box::new(Method(learner)),
        reconfigure: Some(configure_method::<L>),
    })
}

fn configure<L: LossLearner, S: LossScorer<L>>(defaults: S, given: &Table) -> Result<Configured> {
    let of_loss = L::default_for(S::KIND);
    let owner = format!("{} with scorer {}", L::CARD.name, S::KIND.name());
    let given = divided(given, &table_of(&of_loss), &table_of(&defaults), &owner)?;
    let loss: L = overlaid(&of_loss, &given.of_loss, L::CARD.name)?;
    loss.check(S::KIND)?;
    let scorer = overlaid(&defaults, &given.of_scorer, L::CARD.name)?;
    scorer.check(&loss)?;
    Ok(Configured {
        parameters: with_scorer(S::KIND, [table_of(&loss), table_of(&scorer)]),
        scorer: Some(S::KIND),
        continues: S::CONTINUES,
        takes_categories: S::TAKES_CATEGORIES,
        distributes: S::DISTRIBUTES,
        takes_clicks: S::TAKES_CLICKS,
        trainer: Box::new(Minimized { loss, scorer }),
        reconfigure: Some(|all| configure::<L, S>(S::default(), all)),
    })
}

/// All parameters, the name of the scorer first.
fn with_scorer(kind: ScorerKind, tables: impl IntoIterator<Item = Table>) -> Table {
    let mut parameters = Table::from_iter([(SCORER.to_string(), Value::from(kind.name()))]);
    tables.into_iter().for_each(|table| parameters.extend(table));
    parameters
}

/// The given parameters of a loss and of its scorer.
struct Divided {
    of_loss: Table,
    of_scorer: Table,
}

/// The given parameters under their canonical names, divided by whose they are.
fn divided(given: &Table, of_loss: &Table, of_scorer: &Table, owner: &str) -> Result<Divided> {
    let given = canonical(given, &[of_loss, of_scorer], owner)?;
    let (of_loss, of_scorer) = given.into_iter().partition(|(name, _)| of_loss.contains_key(name));
    Ok(Divided { of_loss, of_scorer })
}

/// The given parameters under their canonical names; an error where one is unknown.
fn canonical(given: &Table, known: &[&Table], owner: &str) -> Result<Table> {
    let names: Vec<&str> = known.iter().flat_map(|table| table.keys()).map(String::as_str).collect();
    let given = by_canonical_name(given, &names)?;
    match given.keys().find(|name| !names.contains(&name.as_str())) {
        Some(name) => Err(unknown_parameter(name, &names, owner)),
        None => Ok(given),
    }
}

/// Suggests the nearest name, or the nearest of the other names that are accepted.
fn unknown_parameter(name: &str, known: &[&str], owner: &str) -> Error {
    let what = format!("parameter of {owner}");
    let others: Vec<&str> = known.iter().flat_map(|name| aliases_of(name)).copied().collect();
    match card::nearest(name, &others).filter(|_| card::nearest(name, known).is_none()) {
        Some(_) => card::unknown(&what, name, &others),
        None => card::unknown(&what, name, known),
    }
}

impl CustomLoss {
    /// Checks the given parameters of the scorer and fills in the rest.
    pub(crate) fn configure(&self, scorer: ScorerKind, given: &Table) -> Result<Configured> {
        match scorer {
            ScorerKind::Linear => self.configure_with(LinearParameters::smooth(1.0), given),
            ScorerKind::Trees => self.configure_with(TreesParameters::default(), given),
            ScorerKind::Network => self.configure_with(NetworkParameters::default(), given),
        }
    }

    fn configure_with<S: LossScorer<CustomLoss>>(&self, defaults: S, given: &Table) -> Result<Configured> {
        let given = canonical(given, &[&table_of(&defaults)], &self.name)?;
        let scorer = overlaid(&defaults, &given, &self.name)?;
        scorer.check(self)?;
        Ok(Configured {
            parameters: with_scorer(S::KIND, [table_of(&scorer)]),
            scorer: Some(S::KIND),
            continues: S::CONTINUES,
            takes_categories: S::TAKES_CATEGORIES,
            distributes: S::DISTRIBUTES,
            takes_clicks: S::TAKES_CLICKS,
            trainer: Box::new(Minimized { loss: self.clone(), scorer }),
            reconfigure: None,
        })
    }
}

impl CustomGradients {
    /// Checks the given parameters of boosted trees and fills in the rest.
    pub(crate) fn configure(&self, scorer: Option<ScorerKind>, given: &Table) -> Result<Configured> {
        if let Some(other) = scorer.filter(|kind| *kind != ScorerKind::Trees) {
            return Err(Error::parameter(format!(
                "`{}` gives gradients, which only boosted trees can follow; the scorer {} needs a loss",
                self.name,
                other.name()
            )));
        }
        let defaults = TreesParameters::default();
        let given = canonical(given, &[&table_of(&defaults)], &self.name)?;
        let trees: TreesParameters = overlaid(&defaults, &given, &self.name)?;
        trees.check()?;
        Ok(Configured {
            parameters: with_scorer(ScorerKind::Trees, [table_of(&trees)]),
            scorer: Some(ScorerKind::Trees),
            continues: true,
            takes_categories: true,
            // The caller's function sees all queries at once.
            distributes: false,
            takes_clicks: false,
            trainer: Box::new(Followed { gradients: self.clone(), trees }),
            reconfigure: None,
        })
    }
}

/// The learners whose linear models have a regularization path along C: those of max-margin losses.
pub(crate) fn names_with_path() -> Vec<&'static str> {
    let able = |entry: &&LearnerEntry| entry.configure(&Table::new()).is_ok_and(|c| c.has_path());
    LEARNERS.iter().filter(able).map(|entry| entry.card.name).collect()
}
