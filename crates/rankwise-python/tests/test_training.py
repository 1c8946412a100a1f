"""Training from Python gives the bytes of the command line, stays responsive and fails cleanly."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, make

import rankwise as rw

LEARNERS = [learner["name"] for learner in rw.learners()]


def program() -> Path:
    """The command line, built from the same sources."""
    for folder in (os.environ.get("CARGO_TARGET_DIR"), ROOT / "target"):
        if folder and (Path(folder) / "debug" / "rankwise").exists():
            return Path(folder) / "debug" / "rankwise"
    pytest.skip("the program `rankwise` is not built: cargo build -p rankwise-cli")


def write_letor(path: Path, data) -> None:
    lines = []
    for row, label, query in zip(data.X, data.y, data.qid):
        values = " ".join(f"{column}:{value}" for column, value in enumerate(row.tolist(), 1))
        lines.append(f"{label:g} qid:{query} {values}\n")
    path.write_text("".join(lines))


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_model_equals_that_of_the_command_line(learner, tmp_path, small, valid):
    write_letor(tmp_path / "train.txt", small)
    write_letor(tmp_path / "valid.txt", valid)
    model = tmp_path / "model.json"
    subprocess.run(
        [program(), "train", learner, "--train", tmp_path / "train.txt", "--valid", tmp_path / "valid.txt", "-o", model],
        check=True,
        capture_output=True,
    )
    data = rw.Data(small.X, small.y, qid=small.qid)
    ranker = rw.Recipe(learner).fit(data, rw.Data(valid.X, valid.y, qid=valid.qid))
    assert ranker.to_bytes() == model.read_bytes()
    assert rw.load(model).to_bytes() == ranker.to_bytes()


def test_the_number_of_threads_and_unsorted_rows_change_no_byte(small):
    order = np.random.default_rng(5).permutation(len(small.y))
    # Documents of a query keep their order; only queries are mixed.
    order = order[np.lexsort((order, np.random.default_rng(6).permutation(13)[small.qid[order]]))]
    models = {
        rw.Recipe("lambda-mart", iterations=10, min_data_in_leaf=3).fit(data, n_jobs=n_jobs).to_bytes()
        for data in (
            rw.Data(small.X, small.y, qid=small.qid),
            rw.Data(small.X[order], small.y[order], qid=small.qid[order]),
        )
        for n_jobs in (1, 2, 3, None, -1)
    }
    assert len(models) == 1


def test_callbacks_see_every_iteration_and_can_end_training(small, valid):
    data, held_out = (rw.Data(part.X, part.y, qid=part.qid) for part in (small, valid))
    steps = []
    recipe = rw.Recipe("lambda-mart", iterations=9, min_data_in_leaf=3)
    ranker = recipe.fit(data, held_out, callbacks=[steps.append])
    assert [step.iteration for step in steps] == list(range(1, 10))
    assert {step.name for step in steps} == {"ndcg@10 (valid)"} and {step.total for step in steps} == {9}
    assert ranker.history == {"ndcg@10 (valid)": [step.value for step in steps]}
    short = recipe.fit(data, held_out, callbacks=[lambda step: step.iteration == 4])
    assert (short.record["iterations"], short.record["outcome"]) == (4, "interrupted")


def test_an_exception_of_a_callback_reaches_the_caller(small):
    class Pruned(Exception):
        pass

    def prune(step):
        raise Pruned(f"at {step.iteration}")

    with pytest.raises(Pruned, match="at 1"):
        rw.Recipe("lambda-mart", min_data_in_leaf=3).fit(rw.Data(small.X, small.y, qid=small.qid), callbacks=[prune])


def squared(scores, labels, bounds):
    return scores - labels, np.ones_like(scores)


def test_an_objective_of_squared_errors_gives_the_trees_of_mart(small):
    data = rw.Data(small.X, small.y - small.y.mean(), qid=small.qid)
    settings = dict(iterations=12, learning_rate=0.1, num_leaves=8, min_data_in_leaf=3)
    own = rw.Recipe(objective=squared, **settings).fit(data)
    mart = rw.Recipe("mart", **settings).fit(data)
    np.testing.assert_allclose(own.score(data), mart.score(data), atol=1e-5)
    assert own.learner == "squared"


def test_a_metric_of_the_callers_own_chooses_as_the_librarys_does(small, valid):
    def first_label(scores, labels, bounds):
        tops = [s + int(np.argmax(scores[s:e])) for s, e in zip(bounds[:-1], bounds[1:])]
        return labels[tops]

    data, held_out = (rw.Data(part.X, part.y, qid=part.qid) for part in (small, valid))
    ranker = rw.Recipe("lambda-mart", metric=first_label, iterations=6, min_data_in_leaf=3).fit(data, held_out)
    assert ranker.metric == "first_label"
    values = ranker.history["first_label (valid)"]
    best = int(np.argmax(values)) + 1
    assert ranker.record["figures"]["best round"] == best
    order, bounds, _ = held_out.queries
    assert first_label(ranker.score(held_out), held_out.labels, bounds).mean() == pytest.approx(max(values))


@pytest.mark.parametrize(
    ("objective", "error", "message"),
    [
        (lambda s, l, b: 1 / 0, ZeroDivisionError, "division"),
        (lambda s, l, b: s, ValueError, "two arrays"),
        (lambda s, l, b: (s[:3], s), ValueError, "gradient of 3 values for 96 documents"),
        (lambda s, l, b: (s + np.nan, s + 1), ValueError, "must be finite"),
        (lambda s, l, b: (s, s - 1), ValueError, "curvature"),
    ],
)
def test_an_objective_that_fails_raises_its_own_exception(small, objective, error, message):
    with pytest.raises(error, match=message):
        rw.Recipe(objective=objective, min_data_in_leaf=3).fit(rw.Data(small.X, small.y, qid=small.qid))


def test_a_metric_that_fails_raises_its_own_exception(small):
    data = rw.Data(small.X, small.y, qid=small.qid)
    for metric, error in ((lambda s, l, b: 1 / 0, ZeroDivisionError), (lambda s, l, b: [0.5], ValueError)):
        with pytest.raises(error):
            rw.Recipe("lambda-mart", metric=metric, min_data_in_leaf=3).fit(data, data)


@pytest.mark.parametrize(
    ("make_recipe", "message"),
    [
        (lambda: rw.Recipe("lambdamart"), "did you mean `lambda-mart`"),
        (lambda: rw.Recipe("lambda-mart", learning_rat=1), "learning_rate"),
        (lambda: rw.Recipe("lambda-mart", learning_rate=-1), "learning_rate"),
        (lambda: rw.Recipe("lambda-mart", metric="ndgc"), "ndcg"),
        (lambda: rw.Recipe("prank", scorer="trees"), "does not accept `scorer`"),
        (lambda: rw.Recipe(), "a learner's name or an objective"),
        (lambda: rw.Recipe("mart", objective=squared), "a learner's name or an objective"),
        (lambda: rw.Recipe(objective=squared, scorer="linear"), "only boosted trees"),
    ],
)
def test_recipes_that_make_no_sense_are_refused(make_recipe, message):
    with pytest.raises(ValueError, match=message):
        make_recipe()


@pytest.mark.parametrize(
    ("make_recipe", "message"),
    [
        (lambda: rw.Recipe(objective="lambdarank"), "an objective is a function"),
        (lambda: rw.Recipe("lambda-mart", metric=["ndcg@10", "map"]), "the name of one metric"),
    ],
)
def test_recipes_of_other_types_are_refused(make_recipe, message):
    with pytest.raises(TypeError, match=message):
        make_recipe()


def test_numpy_scalars_and_none_are_parameters():
    recipe = rw.Recipe("lambda-mart", learning_rate=np.float32(0.5), iterations=np.int64(7), num_leaves=None)
    assert (recipe.parameters["learning_rate"], recipe.parameters["iterations"]) == (0.5, 7)
    assert recipe.parameters["num_leaves"] == 16
    with pytest.raises(ValueError, match="`learning_rate` of lambda-mart is {}; it must be a number"):
        rw.Recipe("lambda-mart", learning_rate={})
    with pytest.raises(TypeError, match="learning_rate is a value of type object"):
        rw.Recipe("lambda-mart", learning_rate=object())


def test_a_model_that_scales_within_queries_needs_them_to_score(small):
    data = rw.Data(small.X, small.y, qid=small.qid)
    ranker = rw.Recipe("list-net", normalize="min-max").fit(data)
    assert ranker.scales_within_queries
    for score in (ranker.score, ranker.contributions):
        with pytest.raises(ValueError, match="within each query"):
            score(small.X)
    np.testing.assert_array_equal(ranker.score(small.X, qid=small.qid), ranker.score(data))
    by_value = rw.Recipe("list-net", normalize="log").fit(data)
    np.testing.assert_array_equal(by_value.score(small.X), by_value.score(data))


def test_notes_go_to_logging(small, caplog):
    y = small.y.copy()
    y[:8] = 0
    with caplog.at_level(logging.WARNING, logger="rankwise"):
        ranker = rw.Recipe("lambda-mart", min_data_in_leaf=3).fit(rw.Data(small.X, y, qid=small.qid))
    assert [record.getMessage() for record in caplog.records] == ranker.record["notes"] != []


def test_models_are_pickled_saved_and_exported(small, tmp_path):
    data = rw.Data(small.X, small.y, qid=small.qid)
    ranker = rw.Recipe("lambda-mart", iterations=5, min_data_in_leaf=3).fit(data)
    assert pickle.loads(pickle.dumps(ranker)).to_bytes() == ranker.to_bytes()
    ranker.save(tmp_path / "m.json.zst")
    assert rw.load(tmp_path / "m.json.zst").to_bytes() == ranker.to_bytes()
    for name in ("m.txt", "m.ubj"):
        ranker.export(tmp_path / name)
        np.testing.assert_allclose(rw.load(tmp_path / name).score(small.X), ranker.score(small.X), atol=1e-5)
    with pytest.raises(ValueError, match="cannot be used as a model"):
        (tmp_path / "broken.json").write_bytes(ranker.to_bytes()[:-200])
        rw.load(tmp_path / "broken.json")
    with pytest.raises(OSError):
        ranker.save(tmp_path / "no" / "such" / "folder.json")


def test_a_model_of_lightgbm_is_read(small, tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    settings = dict(objective="lambdarank", min_data_in_leaf=3, num_leaves=8, verbose=-1)
    booster = lightgbm.train(settings, lightgbm.Dataset(small.X, small.y, group=[8] * 12), 5)
    booster.save_model(tmp_path / "lightgbm.txt")
    found = rw.load(tmp_path / "lightgbm.txt").score(small.X)
    np.testing.assert_allclose(found, booster.predict(small.X), atol=1e-9)
    # The columns of an array are the model's features in their order, from whatever number the model counts them.
    np.testing.assert_allclose(
        rw.load(tmp_path / "lightgbm.txt", first_id=0).score(small.X), booster.predict(small.X), atol=1e-9
    )


# What runs in an interpreter of its own: signals and forks.
# Ctrl-C is ignored in programs that a shell starts in the background, and the tests may be one.
LONG = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np, rankwise as rw, sys, time
rng = np.random.default_rng(0)
X = rng.normal(size=(20000, 60)).astype(np.float32)
data = rw.Data(X, rng.integers(0, 3, len(X)), group=[20] * 1000)
"""


def run_python(code: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, **options)


@pytest.mark.parametrize(
    "recipe",
    [
        "'lambda-mart', iterations=10**6",
        "'svm-map', scorer='trees', iterations=10**6",
        "'svm-map', tolerance=1e-9",
        "'coordinate-ascent'",
        "'list-net', scorer='network', epochs=10**6",
    ],
)
def test_ctrl_c_ends_training_at_once(recipe):
    code = LONG + f"""
print("ready", flush=True)
try:
    rw.Recipe({recipe}).fit(data)
    print("done", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.3)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    answer = process.stdout.readline()
    took = time.monotonic() - start
    process.kill()
    process.wait()
    process.stdout.close()
    # It takes less than half a second on an idle machine; a loaded one may take longer, and training would take hours.
    assert answer == "interrupted\n" and took < 10, (answer, took)


def test_a_forked_child_trains_and_scores():
    code = LONG + """
import os
rw.Recipe("list-net", max_iterations=3).fit(data).score(data)
child = os.fork()
if child == 0:
    rw.Recipe("list-net", max_iterations=3).fit(data).score(data)
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    finished = run_python("import warnings; warnings.simplefilter('ignore')\n" + code)
    assert finished.stdout.strip() == "7", finished.stderr


def test_two_threads_train_at_once_with_the_same_result(small):
    data = rw.Data(small.X, small.y, qid=small.qid)
    expected = rw.Recipe("lambda-mart", min_data_in_leaf=3).fit(data).to_bytes()
    found = [b"", b"", b""]

    def train(place):
        found[place] = rw.Recipe("lambda-mart", min_data_in_leaf=3).fit(data).to_bytes()

    threads = [threading.Thread(target=train, args=(place,)) for place in range(3)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert found == [expected] * 3


def test_a_thousand_fits_leak_nothing():
    code = """
import numpy as np, rankwise as rw, resource
rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 4)).astype(np.float32), rng.integers(0, 3, 60)
def fits(count):
    for _ in range(count):
        ranker = rw.Recipe("list-net").fit(rw.Data(X, y, group=[6] * 10), callbacks=[lambda step: None])
        ranker.score(X); ranker.to_bytes()
def used():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
fits(300)
before = used()
fits(1000)
print(used() - before)
"""
    if not Path("/proc/self/statm").exists():
        pytest.skip("memory is read from /proc")
    finished = run_python(code)
    assert finished.returncode == 0, finished.stderr
    assert int(finished.stdout) < 4 << 20, finished.stdout


def test_importing_loads_nothing_large():
    large = {"numpy", "pandas", "polars", "pyarrow", "scipy", "sklearn", "matplotlib", "tqdm", "optuna"}
    finished = run_python("import sys, rankwise; print(*{name.split('.')[0] for name in sys.modules})")
    assert not large & set(finished.stdout.split()), finished.stderr


def test_the_example_data_is_learned():
    data = make(queries=60)
    ranker = rw.Recipe("lambda-mart", iterations=30).fit(rw.Data(data.X, data.y, qid=data.qid))
    test = make(queries=60, seed=9)
    held_out = rw.Data(test.X, test.y, qid=test.qid)
    learned = ranker.evaluate(held_out, ranker.score(held_out))
    chance = ranker.evaluate(held_out, np.zeros(len(held_out)))
    assert learned > chance + 0.15
