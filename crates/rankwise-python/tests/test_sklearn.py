"""The estimators keep every contract of scikit-learn, and cross-validation never splits a query."""

from __future__ import annotations

import contextlib
import inspect
import pickle
import unittest

import numpy as np
import pytest
from conftest import make

import rankwise as rw

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict, cross_validate  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import estimator_checks_generator  # noqa: E402

from rankwise import sklearn as rws  # noqa: E402
from rankwise.sklearn import LambdaMART, ListNet, SvmMap, Trees  # noqa: E402

CLASSES = {learner["name"]: getattr(rws, rws._class_name(learner["name"])) for learner in rw.learners()}

# Small trees, so that the few documents of the checks can be split.
FAST = {"min_data_in_leaf": 3, "iterations": 10}


def quick(cls):
    """A small version of an estimator, for scikit-learn's many checks."""
    known = inspect.signature(cls).parameters
    return cls(**{name: value for name, value in FAST.items() if name in known})


@pytest.fixture(autouse=True)
def routing():
    with sklearn.config_context(enable_metadata_routing=False):
        yield


@pytest.fixture
def routed():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("learner", CLASSES)
def test_every_class_passes_scikit_learns_checks(learner):
    run = 0
    for estimator, check in estimator_checks_generator(quick(CLASSES[learner])):
        # Some checks skip themselves, for packages that are not installed.
        with contextlib.suppress(unittest.SkipTest):
            check(estimator)
            run += 1
    assert run >= 40


@pytest.mark.parametrize("learner", CLASSES)
def test_every_class_gives_the_model_of_its_recipe(learner, small):
    model = CLASSES[learner]().fit(small.X, small.y, qid=small.qid)
    recipe = rw.Recipe(learner).fit(rw.Data(small.X, small.y, qid=small.qid))
    assert model.ranker_.to_bytes() == recipe.to_bytes()
    np.testing.assert_array_equal(model.predict(small.X), recipe.score(small.X))


def test_there_is_a_class_for_every_learner_with_its_defaults_and_documentation():
    assert len(CLASSES) == len(rw.learners()) == 38
    for learner in rw.learners():
        cls = CLASSES[learner["name"]]
        signature = inspect.signature(cls)
        for parameter in learner["parameters"]:
            default = signature.parameters[parameter["name"]].default
            assert (list(default) if isinstance(default, tuple) else default) == parameter["default"]
            assert parameter["meaning"] in cls.__doc__
        assert all(p.kind is p.KEYWORD_ONLY for p in signature.parameters.values())
        assert learner["summary"] in cls.__doc__


def test_parameters_go_by_the_names_of_other_tools(small):
    model = LambdaMART(n_estimators=7, eta=0.2, min_child_samples=3)
    assert (model.iterations, model.learning_rate, model.min_data_in_leaf) == (7, 0.2, 3)
    assert model.set_params(num_iterations=9).iterations == 9
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_estimator'"):
        LambdaMART(n_estimator=7)
    with pytest.raises(TypeError, match="'iterations' twice"):
        LambdaMART(n_estimators=7, iterations=8)
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(n_estimator=7)


def test_any_loss_trains_any_scorer(small):
    model = SvmMap(scorer=Trees(iterations=5, min_data_in_leaf=3, eta=0.3)).fit(small.X, small.y, qid=small.qid)
    recipe = rw.Recipe("svm-map", scorer="trees", iterations=5, min_data_in_leaf=3, learning_rate=0.3)
    assert model.ranker_.to_bytes() == recipe.fit(rw.Data(small.X, small.y, qid=small.qid)).to_bytes()
    assert model.get_params()["scorer__iterations"] == 5
    by_name = LambdaMART(scorer="linear").fit(small.X, small.y, qid=small.qid)
    expected = rw.Recipe("lambda-mart", scorer="linear").fit(rw.Data(small.X, small.y, qid=small.qid))
    assert by_name.ranker_.to_bytes() == expected.to_bytes()
    with pytest.raises(ValueError, match="num_leaves belongs to the scorer 'trees'"):
        LambdaMART(scorer="linear", num_leaves=4).fit(small.X, small.y, qid=small.qid)


def test_cross_validation_equals_a_loop_written_by_hand(small, routed):
    model = LambdaMART(**FAST)
    pipeline = make_pipeline(StandardScaler(), model)
    found = cross_validate(pipeline, small.X, small.y, cv=GroupKFold(4), params={"groups": small.qid})["test_score"]
    expected = []
    for train, test in GroupKFold(4).split(small.X, small.y, small.qid):
        assert not set(small.qid[train]) & set(small.qid[test])
        scaler = StandardScaler().fit(small.X[train])
        fitted = clone(model).fit(scaler.transform(small.X[train]), small.y[train], qid=small.qid[train])
        scores = fitted.predict(scaler.transform(small.X[test]))
        data = rw.Data(small.X[test], small.y[test], qid=small.qid[test])
        expected.append(fitted.ranker_.evaluate(data, scores))
    np.testing.assert_array_equal(found, expected)
    assert len(set(expected)) > 1


def test_grid_search_by_queries_and_by_other_names(small, routed):
    grid = GridSearchCV(LambdaMART(**FAST), {"n_estimators": [1, 15]}, cv=GroupKFold(3))
    grid.fit(small.X, small.y, groups=small.qid)
    assert grid.best_params_["n_estimators"] in (1, 15)
    assert grid.best_estimator_.has_queries_
    predicted = cross_val_predict(ListNet(), small.X, small.y, cv=GroupKFold(3), params={"groups": small.qid})
    assert predicted.shape == small.y.shape


def test_score_without_queries_after_a_fit_with_queries_refuses(small):
    model = ListNet().fit(small.X, small.y, qid=small.qid)
    with pytest.raises(ValueError, match="fitted with queries"):
        model.score(small.X, small.y)
    by_query = model.score(small.X, small.y, qid=small.qid)
    assert by_query == model.score(small.X, small.y, group=[8] * 12)
    assert by_query != ListNet().fit(small.X, small.y).score(small.X, small.y)


def test_pipelines_pass_queries_by_step(small):
    pipeline = make_pipeline(StandardScaler(), ListNet()).fit(small.X, small.y, listnet__qid=small.qid)
    direct = ListNet().fit(StandardScaler().fit_transform(small.X), small.y, qid=small.qid)
    np.testing.assert_array_equal(pipeline.predict(small.X), direct.predict(StandardScaler().fit_transform(small.X)))


def test_validation_queries_stop_early_and_the_call_of_pyterrier_works(small, valid):
    by_ids = LambdaMART(iterations=60, early_stopping_rounds=5, min_data_in_leaf=3)
    by_ids.fit(small.X, small.y, qid=small.qid, eval_set=[(valid.X, valid.y)], eval_qid=[valid.qid])
    by_sizes = clone(by_ids)
    by_sizes.fit(small.X, small.y, group=[8] * 12, eval_set=[(valid.X, valid.y)], eval_group=[[8] * 12])
    assert by_ids.ranker_.to_bytes() == by_sizes.ranker_.to_bytes()
    values = by_ids.history_["ndcg@10 (valid)"]
    assert by_ids.best_iteration_ == int(np.argmax(values)) + 1 and len(values) == by_ids.n_iter_
    score = by_ids.score(valid.X, valid.y, qid=valid.qid)
    assert score == pytest.approx(max(values))
    with pytest.raises(ValueError, match="eval_set has 2 sets"):
        by_ids.fit(small.X, small.y, qid=small.qid, eval_set=[(valid.X, valid.y)] * 2, eval_qid=[valid.qid] * 2)


def test_frames_names_and_positions(small):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(small.X, columns=list("abcde"))
    named = ListNet().fit(frame, small.y, qid=small.qid)
    assert list(named.feature_names_in_) == list("abcde")
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_array_equal(named.predict(small.X), named.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        named.predict(frame.rename(columns={"a": "z"}))
    positional = ListNet().fit(small.X, small.y, qid=small.qid)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        np.testing.assert_array_equal(positional.predict(frame), positional.predict(small.X))


def test_frames_with_categories_train_and_score(small):
    pd = pytest.importorskip("pandas")
    brands = pd.Categorical(np.array(["x", "y", "z"])[np.arange(len(small.y)) % 3])
    frame = pd.DataFrame(small.X, columns=list("abcde")).assign(brand=brands)
    model = LambdaMART(**FAST).fit(frame, small.y, qid=small.qid)
    unseen = frame.assign(brand=pd.Categorical(["new"] * len(frame)))
    assert model.predict(frame).shape == model.predict(unseen).shape == small.y.shape
    with pytest.raises(ValueError, match="does not learn from categorical features"):
        ListNet().fit(frame, small.y, qid=small.qid)


def test_importances_coefficients_explanations_and_history(small, tmp_path):
    trees = LambdaMART(**FAST).fit(small.X, small.y, qid=small.qid)
    assert trees.feature_importances_.argmax() in (0, 1)
    explained = trees.explain(small.X)
    np.testing.assert_allclose(explained.values.sum(axis=1) + explained.base, trees.predict(small.X))
    linear = ListNet().fit(small.X, small.y, qid=small.qid)
    np.testing.assert_array_equal(np.abs(linear.coef_), linear.feature_importances_)
    assert not hasattr(trees, "coef_")
    trees.save(tmp_path / "m.json")
    assert rw.load(tmp_path / "m.json").to_bytes() == trees.ranker_.to_bytes()
    trees.export(tmp_path / "m.onnx")
    assert (tmp_path / "m.onnx").stat().st_size > 100


def test_functions_of_the_callers_own(small, valid):
    def squared(scores, labels, bounds):
        return scores - labels, np.ones_like(scores)

    def top(scores, labels, bounds):
        return [labels[s + int(np.argmax(scores[s:e]))] for s, e in zip(bounds[:-1], bounds[1:])]

    model = LambdaMART(objective=squared, metric=top, **FAST)
    model.fit(small.X, small.y, qid=small.qid, eval_set=[(valid.X, valid.y)], eval_qid=[valid.qid])
    assert model.score(valid.X, valid.y, qid=valid.qid) == pytest.approx(max(model.history_["top (valid)"]))


def test_estimators_are_pickled_with_their_models(small):
    model = LambdaMART(**FAST).fit(small.X, small.y, qid=small.qid)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(small.X), model.predict(small.X))
    assert again.history_ == model.history_


def test_joblib_processes_give_the_same_scores(small, routed):
    pytest.importorskip("joblib")
    arguments = dict(cv=GroupKFold(3), params={"groups": small.qid})
    alone = cross_validate(ListNet(), small.X, small.y, n_jobs=1, **arguments)["test_score"]
    together = cross_validate(ListNet(n_jobs=1), small.X, small.y, n_jobs=2, **arguments)["test_score"]
    np.testing.assert_array_equal(alone, together)


def test_the_seed_decides_and_none_is_the_usual_one():
    data = make(queries=40)
    settings = dict(bagging_fraction=0.5, **FAST)
    bytes_of = [
        LambdaMART(random_state=state, **settings).fit(data.X, data.y, qid=data.qid).ranker_.to_bytes()
        for state in (1, None, 2, np.random.RandomState(0), np.random.RandomState(0))
    ]
    assert bytes_of[0] == bytes_of[1] != bytes_of[2] and bytes_of[3] == bytes_of[4]
