"""What users of LightGBM, XGBoost, CatBoost, pandas and polars do first works, or gets a message that helps."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import make

import rankwise as rw

pytest.importorskip("sklearn")
from rankwise.sklearn import LambdaMART  # noqa: E402

SMALL = make()
X, Y, QID = SMALL.X, SMALL.y, SMALL.qid
NAMES = [f"f{column}" for column in range(X.shape[1])]
TEXT_IDS = [f"q{query:02}" for query in QID]


def model(**parameters) -> LambdaMART:
    return LambdaMART(n_estimators=5, min_data_in_leaf=3, **parameters)


def scores(X=X, y=Y, *, on=X, **arguments) -> np.ndarray:
    """The scores of a model trained on these containers."""
    return model().fit(X, y, **(arguments or {"qid": QID})).predict(on)


EXPECTED = model().fit(X, Y, qid=QID).predict(X)


def assert_same(found: np.ndarray) -> None:
    np.testing.assert_array_equal(found, EXPECTED)


def pandas_frame():
    pd = pytest.importorskip("pandas")
    return pd, pd.DataFrame(X, columns=NAMES)


def polars_frame():
    pl = pytest.importorskip("polars")
    return pl, pl.DataFrame({name: X[:, column] for column, name in enumerate(NAMES)})


# Queries


def test_sizes_as_lightgbm_takes_them():
    pd, _ = pandas_frame()
    assert_same(scores(group=[8] * 12))
    assert_same(scores(group=np.full(12, 8, dtype=np.int32)))
    assert_same(scores(group=pd.Series(QID).groupby(QID).size()))


def test_sizes_of_validation_queries_in_a_list_or_not():
    flat = model().fit(X, Y, group=[8] * 12, eval_set=(X, Y), eval_group=[8] * 12)
    nested = model().fit(X, Y, group=[8] * 12, eval_set=[(X, Y)], eval_group=[[8] * 12])
    np.testing.assert_array_equal(flat.predict(X), nested.predict(X))
    assert flat.best_iteration_ is not None


def test_shuffled_queries_give_the_same_model():
    order = np.concatenate([np.flatnonzero(QID == query) for query in np.random.default_rng(0).permutation(12) + 1])
    assert not (np.diff(QID[order]) >= 0).all()
    assert_same(scores(X[order], Y[order], qid=QID[order]))


def test_shuffled_rows_give_scores_in_their_order():
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = model().fit(X[order], Y[order], qid=QID[order])
    np.testing.assert_array_equal(shuffled.predict(X[order]), shuffled.predict(X)[order])
    assert shuffled.score(X[order], Y[order], qid=QID[order]) == pytest.approx(shuffled.score(X, Y, qid=QID))


@pytest.mark.parametrize("kind", ["list", "numpy", "pandas", "pandas category", "polars", "polars category", "pyarrow"])
def test_ids_of_text(kind):
    pd, _ = pandas_frame()
    pl, _ = polars_frame()
    pa = pytest.importorskip("pyarrow")
    made = {
        "list": lambda: TEXT_IDS,
        "numpy": lambda: np.array(TEXT_IDS),
        "pandas": lambda: pd.Series(TEXT_IDS, index=range(500, 500 + len(X))),
        "pandas category": lambda: pd.Categorical(TEXT_IDS),
        "polars": lambda: pl.Series(TEXT_IDS),
        "polars category": lambda: pl.Series(TEXT_IDS).cast(pl.Categorical),
        "pyarrow": lambda: pa.array(TEXT_IDS),
    }
    assert_same(scores(qid=made[kind]()))


@pytest.mark.parametrize("kind", ["int8", "uint64", "float64", "nullable", "arrow-backed", "large"])
def test_ids_of_numbers(kind):
    pd, _ = pandas_frame()
    made = {
        "nullable": lambda: pd.Series(QID, dtype="Int64"),
        "arrow-backed": lambda: pd.Series(QID).astype("int64[pyarrow]"),
        "large": lambda: QID + 2**62,
    }
    assert_same(scores(qid=made[kind]() if kind in made else QID.astype(kind)))


@pytest.mark.parametrize("kind", ["float", "pandas", "pandas text", "polars", "pyarrow"])
def test_a_missing_id_is_named(kind):
    pd, _ = pandas_frame()
    pl, _ = polars_frame()
    pa = pytest.importorskip("pyarrow")
    rest = QID[1:].tolist()
    made = {
        "float": lambda: np.array([np.nan, *rest]),
        "pandas": lambda: pd.Series([None, *rest], dtype="Int64"),
        "pandas text": lambda: pd.Series([None, *TEXT_IDS[1:]]),
        "polars": lambda: pl.Series([None, *rest]),
        "pyarrow": lambda: pa.array([None, *rest]),
    }
    with pytest.raises(ValueError, match="qid has a missing value"):
        rw.Data(X, Y, qid=made[kind]())


def test_the_name_of_a_column_is_no_column():
    _, frame = pandas_frame()
    with pytest.raises(ValueError, match=r"qid is the text 'query'.*frame\['query'\]"):
        model().fit(frame.assign(query=QID), Y, qid="query")


def test_validation_data_without_queries_is_refused():
    with pytest.raises(ValueError, match="give eval_qid or eval_group"):
        model().fit(X, Y, qid=QID, eval_set=[(X, Y)])
    with pytest.raises(ValueError, match="there is no eval_set"):
        model().fit(X, Y, qid=QID, eval_qid=[QID])


def test_features_that_are_normalised_per_query_need_queries():
    fitted = model(normalize="log,z-score").fit(X, Y, qid=QID)
    with pytest.raises(ValueError, match="normalised per query.*give qid"):
        fitted.predict(X)
    order = np.random.default_rng(0).permutation(len(X))
    np.testing.assert_allclose(fitted.predict(X[order], qid=QID[order]), fitted.predict(X, qid=QID)[order], atol=1e-12)
    assert model(normalize="log").fit(X, Y, qid=QID).predict(X).shape == Y.shape


# Frames


def test_an_index_does_not_matter():
    pd, frame = pandas_frame()
    backwards = range(len(X))[::-1]
    assert_same(scores(frame.set_axis(range(1000, 1000 + len(X))), pd.Series(Y, index=backwards), on=frame))


def test_a_column_as_labels():
    pd, frame = pandas_frame()
    pl, polars = polars_frame()
    labels = frame.assign(label=Y)["label"]
    assert_same(scores(frame, labels, on=frame))
    for column in (pd.DataFrame({"label": Y}), pl.DataFrame({"label": Y}), Y[:, None]):
        with pytest.warns(UserWarning, match="column-vector"):
            assert_same(scores(frame, column, on=frame))
        assert rw.Data(X, column, qid=QID).fingerprint == rw.Data(X, Y, qid=QID).fingerprint


def test_nullable_labels():
    pd, frame = pandas_frame()
    assert_same(scores(frame, pd.Series(Y.astype(int), dtype="Int64"), on=frame))
    with pytest.raises(ValueError, match="the label of document 1 is NaN"):
        rw.Data(frame, pd.Series([None, *Y[1:].astype(int)], dtype="Int64"), qid=QID)


def test_booleans_are_0_and_1():
    _, frame = pandas_frame()
    as_numbers = frame.assign(cheap=(X[:, 2] > 0).astype(np.float32))
    as_booleans = frame.assign(cheap=X[:, 2] > 0)
    assert rw.Data(as_booleans, Y, qid=QID).fingerprint == rw.Data(as_numbers, Y, qid=QID).fingerprint
    assert rw.Data(X > 0, Y, qid=QID).fingerprint == rw.Data((X > 0).astype(np.float32), Y, qid=QID).fingerprint


@pytest.mark.parametrize("kind", ["Int64", "Float64", "boolean", "double[pyarrow]", "object"])
def test_missing_values_of_pandas_types(kind):
    pd, frame = pandas_frame()
    some = np.where(np.arange(len(X)) % 3, X[:, 1] > 0, np.nan)
    column = pd.Series(some).astype("boolean" if kind == "boolean" else "Float64").astype(kind)
    assert column.isna().sum() == 32
    found = rw.Data(frame.assign(extra=column), Y, qid=QID)
    assert found.fingerprint == rw.Data(frame.assign(extra=some.astype(np.float32)), Y, qid=QID).fingerprint


def test_lazy_frames_of_polars_are_collected():
    _, frame = polars_frame()
    assert_same(scores(frame.lazy(), on=frame.lazy()))
    assert rw.Data(frame.lazy(), Y, qid=QID).feature_names == NAMES


def test_arrays_of_arrow():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({name: X[:, column] for column, name in enumerate(NAMES)})
    assert_same(scores(table, pa.array(Y), qid=pa.array(QID), on=table))
    assert_same(scores(table, pa.chunked_array([Y[:9], Y[9:]]), qid=pa.chunked_array([QID]), on=table))


def test_columns_by_number_and_in_another_order():
    pd, frame = pandas_frame()
    assert_same(scores(pd.DataFrame(X), on=pd.DataFrame(X)))
    ranker = model().fit(frame, Y, qid=QID).ranker_
    assert_same(ranker.score(frame[NAMES[::-1]]))
    with pytest.raises(ValueError, match="same order"):
        model().fit(frame, Y, qid=QID).predict(frame[NAMES[::-1]])


@pytest.mark.parametrize("column", [["red"] * 96, np.full(96, "2026-01-01", dtype="datetime64[D]")])
def test_columns_that_are_no_numbers_are_named(column):
    _, frame = pandas_frame()
    with pytest.raises(ValueError, match="column 'colour' has values of type.*leave it out"):
        model().fit(frame.assign(colour=column), Y, qid=QID)


# Arrays


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["f4", "f8", ">f4", "longdouble"])
def test_any_floats_in_any_order(kind, order):
    assert_same(scores(X.astype(kind, order=order)))


def test_half_precision():
    half = X.astype(np.float16)
    assert rw.Data(half, Y, qid=QID).fingerprint == rw.Data(half.astype(np.float32), Y, qid=QID).fingerprint


def test_views_lists_and_sparse_matrices():
    sparse = pytest.importorskip("scipy.sparse")
    assert_same(scores(np.repeat(X, 2, axis=1)[:, ::2]))
    assert_same(scores(X[::-1][::-1], Y[::-1][::-1]))
    assert_same(scores(X.tolist(), Y.tolist(), qid=QID.tolist(), on=X.tolist()))
    assert_same(scores(sparse.coo_array(X), on=sparse.csc_array(X)))


def test_read_only_and_memory_mapped_arrays(tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert not mapped.flags.writeable
    assert_same(scores(mapped, on=mapped))
    y, qid = Y.copy(), QID.copy()
    y.flags.writeable = qid.flags.writeable = False
    assert_same(scores(mapped, y, qid=qid))


def test_masked_values_are_missing():
    mask = X > 1
    masked, missing = np.ma.masked_array(X, mask), np.where(mask, np.nan, X)
    assert rw.Data(masked, Y, qid=QID).fingerprint == rw.Data(missing, Y, qid=QID).fingerprint
    np.testing.assert_array_equal(scores(masked, on=masked), scores(missing, on=missing))


def test_no_documents():
    _, frame = pandas_frame()
    for empty in (X[:0], frame[:0]):
        with pytest.raises(ValueError, match="0 sample"):
            model().fit(empty, Y[:0], qid=QID[:0])
        assert model().fit(X, Y, qid=QID).ranker_.score(X[:0]).shape == (0,)
    with pytest.raises(ValueError, match="no features|0 feature"):
        model().fit(frame[[]], Y, qid=QID)


def test_one_document_and_one_query():
    assert model().fit(X[:1], Y[:1], qid=[7]).predict(X[:1]).shape == (1,)
    assert np.unique(model().fit(X, Y).predict(X)).size > 1
    assert model().fit(X, Y, qid=QID).score(X[:1], [1], qid=[7]) == 1.0


def test_huge_values():
    assert_same(scores(X.astype(float) * 2.0**100, on=X.astype(float) * 2.0**100))
    _, frame = pandas_frame()
    with pytest.raises(ValueError, match="X has a number beyond 3.4e38"):
        model().fit(X.astype(float) * 1e300, Y, qid=QID)
    with pytest.raises(ValueError, match="column 'f1' has a number beyond 3.4e38"):
        rw.Data(frame.assign(f1=1e300), Y, qid=QID)
    for kind in ("Float64", "double[pyarrow]", object):
        with pytest.raises(ValueError, match="column 'f1' has a number beyond 3.4e38"):
            rw.Data(frame.assign(f1=1e300).astype({"f1": kind}), Y, qid=QID)
    with pytest.raises(ValueError, match="infinit"):
        rw.Data(np.where(X > 1, np.inf, X), Y, qid=QID)


# Calls


def test_names_of_other_tools():
    theirs = LambdaMART(num_iterations=5, eta=0.3, max_leaves=6, min_child_samples=3, reg_lambda=0.5)
    ours = LambdaMART(iterations=5, learning_rate=0.3, num_leaves=6, min_data_in_leaf=3, l2=0.5)
    assert theirs.get_params() == ours.get_params()


def test_what_lightgbm_takes_and_we_do_not():
    with pytest.raises(TypeError, match="objective is 'lambdarank'.*XeNdcg for rank_xendcg"):
        model(objective="lambdarank").fit(X, Y, qid=QID)
    with pytest.raises(TypeError, match="metric is .*one name or a function"):
        model(metric=["ndcg@5", "map"]).fit(X, Y, qid=QID)
    with pytest.raises(ValueError, match="give one set of validation queries"):
        model().fit(X, Y, qid=QID, eval_set=[(X, Y), (X, Y)], eval_qid=[QID, QID])
    with pytest.raises(TypeError, match="verbose"):
        LambdaMART(verbose=-1)


def test_a_path_is_no_matrix(tmp_path):
    for path in ("train.txt", tmp_path / "train.txt"):
        with pytest.raises(TypeError, match="use rankwise.read"):
            rw.Data(path)


def test_a_fitted_estimator_is_a_system():
    data, fitted = rw.Data(X, Y, qid=QID), model().fit(X, Y, qid=QID)
    assert rw.evaluate(data, fitted)["ndcg@10"] == fitted.score(X, Y, qid=QID)
    assert dict(rw.evaluate(data, fitted, "map,mrr")).keys() == {"map", "mrr"}
    assert "nDCG@10" in rw.evaluate(data, fitted) and "map" not in rw.evaluate(data, fitted)
