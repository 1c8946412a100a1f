"""Every container gives the same data; what cannot be used is refused with a clear exception."""

from __future__ import annotations

import numpy as np
import pytest

import rankwise as rw

NAMES = ["title", "body", "age", "clicks", "price"]


def containers(X):
    yield "float64", X.astype(np.float64)
    yield "Fortran order", np.asfortranarray(X)
    yield "strided", np.repeat(X, 2, axis=0)[::2]
    yield "list", X.tolist()
    yield "object array", X.astype(object)


def frames(X):
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    frame = pd.DataFrame(X, columns=NAMES)
    yield "pandas", frame
    yield "pandas, nullable", frame.astype("Float64")
    yield "polars", pl.DataFrame({name: X[:, i] for i, name in enumerate(NAMES)})
    yield "polars, double", pl.DataFrame({name: X[:, i].astype(float) for i, name in enumerate(NAMES)})
    yield "pyarrow", pa.Table.from_pandas(frame)


def test_arrays_and_sparse_matrices_give_the_same_data(small):
    sparse = pytest.importorskip("scipy.sparse")
    X = small.X.copy()
    X[X < 0] = 0
    expected = rw.Data(X, small.y, qid=small.qid).fingerprint
    for name, container in [*containers(X), ("CSR", sparse.csr_matrix(X)), ("COO", sparse.coo_array(X))]:
        assert rw.Data(container, small.y, qid=small.qid).fingerprint == expected, name


def test_frames_give_the_same_data_and_their_names(small):
    expected = rw.Data(small.X, small.y, qid=small.qid, names=NAMES).fingerprint
    for name, frame in frames(small.X):
        data = rw.Data(frame, small.y, qid=small.qid)
        assert (data.fingerprint, data.feature_names) == (expected, NAMES), name


def test_labels_and_ids_come_from_any_container(small):
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    expected = rw.Data(small.X, small.y, qid=small.qid).fingerprint
    for convert in (list, pd.Series, pl.Series, pa.array, lambda values: np.asarray(values).reshape(-1, 1)):
        assert rw.Data(small.X, convert(small.y), qid=convert(small.qid)).fingerprint == expected, convert
    texts = [f"q{q:02}" for q in small.qid]
    assert rw.Data(small.X, small.y, qid=texts).qid == texts
    assert rw.Data(small.X, small.y, qid=small.qid.astype(float)).fingerprint == expected


def test_missing_values_are_missing_in_every_container(small):
    X = small.X.copy()
    X[3, 2] = np.nan
    expected = rw.Data(X, small.y, qid=small.qid).fingerprint
    assert rw.Data(small.X, small.y, qid=small.qid).fingerprint != expected
    pl = pytest.importorskip("polars")
    columns = {name: [None if np.isnan(x) else float(x) for x in X[:, i]] for i, name in enumerate(NAMES)}
    frames_with_missing = [frame for name, frame in frames(X) if name == "pandas, nullable"] + [pl.DataFrame(columns)]
    for frame in frames_with_missing:
        assert rw.Data(frame, small.y, qid=small.qid).fingerprint == expected


def test_categories_are_the_same_from_pandas_polars_arrow_and_files(small, tmp_path):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    brands = np.array(["zenith", "acme", "orbit"])[np.arange(len(small.y)) % 3]
    frame = pd.DataFrame(small.X, columns=NAMES).assign(brand=pd.Categorical(brands))
    columns = {name: small.X[:, i] for i, name in enumerate(NAMES)}
    models = set()
    for container in (
        frame,
        frame.assign(brand=pd.Categorical(brands, categories=["orbit", "zenith", "unused", "acme"])),
        pl.DataFrame(columns | {"brand": brands}).with_columns(pl.col("brand").cast(pl.Categorical)),
        pl.DataFrame(columns | {"brand": brands}).with_columns(pl.col("brand").cast(pl.Enum(sorted(set(brands))))),
    ):
        data = rw.Data(container, small.y, qid=small.qid)
        models.add(rw.Recipe("lambda-mart", iterations=5, min_data_in_leaf=3).fit(data).to_bytes())
    path = tmp_path / "train.csv"
    frame.assign(label=small.y, qid=small.qid).to_csv(path, index=False)
    data = rw.read(path, categorical=["brand"])
    models.add(rw.Recipe("lambda-mart", iterations=5, min_data_in_leaf=3).fit(data).to_bytes())
    assert len(models) == 1


def test_unsorted_queries_are_gathered_and_scores_come_back_in_the_order_of_the_rows(small):
    order = np.random.default_rng(3).permutation(len(small.y))
    shuffled = rw.Data(small.X[order], small.y[order], qid=small.qid[order])
    assert shuffled.n_queries == 12
    np.testing.assert_array_equal(shuffled.labels, small.y[order])
    assert shuffled.qid == [str(q) for q in small.qid[order]]
    ranker = rw.Recipe("list-net").fit(rw.Data(small.X, small.y, qid=small.qid))
    np.testing.assert_array_equal(ranker.score(shuffled), ranker.score(small.X)[order])
    values, base = ranker.contributions(shuffled)
    np.testing.assert_allclose(values.sum(axis=1) + base, ranker.score(small.X)[order])


def test_group_sizes_are_queries_and_ids_in_their_place_get_a_hint(small):
    by_size = rw.Data(small.X, small.y, group=[8] * 12)
    assert by_size.fingerprint == rw.Data(small.X, small.y, qid=small.qid).fingerprint
    with pytest.raises(ValueError, match="for one id per row use qid="):
        rw.Data(small.X, small.y, group=small.qid)
    with pytest.raises(ValueError, match="not the size of a query"):
        rw.Data(small.X, small.y, group=[-1, 97])
    with pytest.raises(ValueError, match="give one of them"):
        rw.Data(small.X, small.y, qid=small.qid, group=[8] * 12)


def test_without_queries_all_documents_are_one(small):
    assert rw.Data(small.X, small.y).n_queries == 1


def test_weights_are_per_query_or_the_same_within_a_query(small):
    weights = np.arange(1, 13, dtype=float)
    per_query = rw.Data(small.X, small.y, qid=small.qid, query_weight=weights)
    per_row = rw.Data(small.X, small.y, qid=small.qid, query_weight=np.repeat(weights, 8))
    assert per_query.fingerprint == per_row.fingerprint
    with pytest.raises(ValueError, match="differ within a query"):
        rw.Data(small.X, small.y, qid=small.qid, query_weight=np.arange(96))
    with pytest.raises(ValueError, match="one per query \\(12\\), or one per row \\(96\\)"):
        rw.Data(small.X, small.y, qid=small.qid, query_weight=[1.0, 2.0])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (dict(y=[1.0]), ValueError, "y has 1 values, and X has 96 rows"),
        (dict(y=np.full(96, np.nan)), ValueError, "label of document 1 is NaN"),
        (dict(y=["relevant"] * 96), ValueError, "give numbers"),
        (dict(qid=[1]), ValueError, "qid has 1 values"),
        (dict(qid=[1.5] * 96), ValueError, "not a whole number"),
        (dict(qid=[None] * 96), ValueError, "missing value"),
        (dict(names=["a"]), ValueError, "1 feature names"),
        (dict(categorical=["a"]), ValueError, "no such column"),
    ],
)
def test_what_does_not_fit_is_refused(small, arguments, error, message):
    with pytest.raises(error, match=message):
        rw.Data(small.X, **({"y": small.y} | arguments))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros(3), "X has 1 dimension,"),
        (np.zeros((2, 2, 2)), "X has 3 dimensions"),
        (np.full((2, 1), np.inf), "infinite"),
        (np.full((2, 1), 1e300), "beyond 3.4e38"),
        (np.array([["a"], ["b"]]), "give numbers"),
        (np.zeros((2, 1), dtype=complex), "Complex"),
    ],
)
def test_features_that_are_no_matrix_of_numbers_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        rw.Data(X)


def test_columns_of_text_are_refused_by_name():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    with pytest.raises(ValueError, match="column 'brand' has values of type"):
        rw.Data(pd.DataFrame({"price": [1.0], "brand": ["acme"]}))
    with pytest.raises(ValueError, match="column `brand`: it holds text"):
        rw.Data(pl.DataFrame({"price": [1.0], "brand": ["acme"]}))
    with pytest.raises(ValueError, match="column 'day' has values of type datetime64"):
        rw.Data(pd.DataFrame({"day": pd.to_datetime(["2026-01-01"])}))


def test_data_without_labels_scores_and_does_not_train(small):
    data = rw.Data(small.X)
    with pytest.raises(ValueError, match="no labels"):
        rw.Recipe("list-net").fit(data)
    with pytest.raises(ValueError, match="no labels"):
        data.labels


def test_empty_data_does_not_train():
    with pytest.raises(ValueError, match="no training documents"):
        rw.Recipe("list-net").fit(rw.Data(np.zeros((0, 3)), []))
    with pytest.raises(ValueError, match="no features"):
        rw.Recipe("list-net").fit(rw.Data(np.zeros((3, 0)), [0, 1, 0]))


def test_a_matrix_in_c_order_and_single_precision_is_not_copied():
    resource = pytest.importorskip("resource")
    X = np.zeros((200_000, 100), dtype=np.float32)
    X[:] = 1.0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    data = rw.Data(X, np.zeros(len(X)), group=[100] * 2000)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert data.shape == X.shape
    assert grown * 1024 < X.nbytes / 4, f"{grown} KiB more for {X.nbytes // 1024} KiB of features"


def test_files_that_are_missing_or_malformed_raise_what_python_users_expect(tmp_path):
    with pytest.raises(FileNotFoundError, match="cannot open"):
        rw.read(tmp_path / "none.txt")
    broken = tmp_path / "broken.txt"
    broken.write_text("1 qid:1 1:0.5\nnot a line\n")
    with pytest.raises(ValueError, match="broken.txt:2"):
        rw.read(broken)
