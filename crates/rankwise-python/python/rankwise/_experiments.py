"""Experiments: `run`, `cross_validate` and `tune`, and their results."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rankwise import _frames, _rankwise
from rankwise._evaluate import Evaluation, _as_dict, _or_nan, metric_list
from rankwise._rankwise import Data, Progress, Ranker, Recipe

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from rankwise._engines import Engine

Callback = Callable[[Progress], Any]


class ExperimentResult:
    """What an experiment found: tables as frames, and the report.

    >>> import rankwise as rw, tempfile
    >>> synth = {"shape": "mslr", "queries": 12, "documents": 8, "features": 4}
    >>> experiment = {
    ...     "name": "small", "data": [{"name": "made", "synth": synth, "k": 3}], "learner": [{"name": "regression"}]
    ... }
    >>> result = rw.run(experiment, tempfile.mkdtemp())
    >>> result.metrics, result.failures, result.report.name
    (['ndcg@10', 'map', 'mrr'], [], 'report.html')
    """

    #: Everything that was found, as in `findings.json`.
    findings: dict[str, Any]
    #: Seconds of training and scoring, as in `times.json`.
    times: dict[str, Any]
    #: The directory with all files.
    directory: Path
    #: The HTML report.
    report: Path

    def __init__(self, found: dict[str, Any]) -> None:
        from pathlib import Path

        self.findings = found["findings"]
        self.times = found["times"]
        self.directory = Path(found["directory"])
        self.report = Path(found["report"])

    @property
    def metrics(self) -> list[str]:
        """The metrics that were asked for; the first is not always the one that parameters were chosen by."""
        return list(self.findings["metrics"][: self.findings["shown"]])

    @property
    def failures(self) -> list[str]:
        """Jobs that failed, a sentence each."""
        return list(self.findings["failures"])

    @property
    def succeeded(self) -> bool:
        """Whether no job failed and all expected figures were met."""
        return not self.failures and all(expected["met"] for expected in self.findings["expectations"])

    @property
    def leaderboard(self) -> Any:
        """A frame with one row per data set and system, best first: means, and the interval of the selection metric."""
        rows = self._leaderboard()
        return _frames.frame({name: [row[name] for row in rows] for name in (rows[0] if rows else ())})

    def _leaderboard(self) -> list[dict[str, Any]]:
        rows = []
        systems = [system["name"] for system in self.findings["systems"]]
        for data in self.findings["data"]:
            standing = data["standing"]
            pairs = (standing["all_pairs"] or {}).get("pairs", [])
            for place, system in enumerate(standing["order"]):
                interval = standing["intervals"][system] or {}
                row = {"data": data["name"], "system": systems[system]}
                means = standing["means"][system]
                row.update((name, _or_nan(means[i])) for i, name in enumerate(self.metrics))
                row["low"], row["high"] = (_or_nan(interval.get(end)) for end in ("low", "high"))
                row["p_to_best"] = next(
                    (p["p_permutation_holm"] for p in pairs if p["system"] == place and p["against"] == 0), float("nan")
                )
                rows.append(row)
        return rows

    @property
    def per_query(self) -> Any:
        """A frame with one row per data set, system and test query: its fold and the value of each metric."""
        columns: dict[str, list[Any]] = {name: [] for name in ("data", "system", "query_id", "fold", *self.metrics)}
        for data in self.findings["data"]:
            count = len(data["query_ids"])
            for info, system in zip(self.findings["systems"], data["systems"]):
                columns["data"] += [data["name"]] * count
                columns["system"] += [info["name"]] * count
                columns["query_id"] += data["query_ids"]
                columns["fold"] += data["query_folds"]
                for metric, values in zip(self.metrics, system["values"]):
                    columns[metric] += [_or_nan(value) for value in values]
        return _frames.frame(columns)

    @property
    def comparisons(self) -> Any:
        """A frame with one row per data set and pair of systems, by the selection metric."""
        names = ("data", "system", "against", "difference", "low", "high", "wins", "ties", "losses", "p", "p_holm")
        columns: dict[str, list[Any]] = {name: [] for name in names}
        for data in self.findings["data"]:
            compared = data["standing"]["all_pairs"]
            for pair in compared["pairs"] if compared else ():
                row = dict(pair, data=data["name"], **pair["interval"])
                row["system"], row["against"] = (compared["systems"][pair[i]]["name"] for i in ("system", "against"))
                row["p"], row["p_holm"] = pair["p_permutation"], pair["p_permutation_holm"]
                for name, values in columns.items():
                    values.append(row[name])
        return _frames.frame(columns)

    @property
    def trials(self) -> Any:
        """A frame with one row per setting tried: data set, system, fold, repeat, parameters, and its value."""
        names = ("data", "system", "fold", "repeat", "parameters", "fraction", "valid")
        columns: dict[str, list[Any]] = {name: [] for name in names}
        for data in self.findings["data"]:
            for info, system in zip(self.findings["systems"], data["systems"]):
                for trial in system["trials"]:
                    row = dict(trial, data=data["name"], system=info["name"], valid=_or_nan(trial["valid"]))
                    for name, values in columns.items():
                        values.append(row[name])
        return _frames.frame(columns)

    def _table(self) -> tuple[list[str], list[list[str]]]:
        several = len(self.findings["data"]) > 1
        rows = []
        for row in self._leaderboard():
            name = f"{row['data']}: {row['system']}" if several else row["system"]
            best = row["p_to_best"]
            p = "–" if best != best else _frames.probability(best)
            rows.append([name, *(_frames.number(row[metric]) for metric in self.metrics[:5]), p])
        return ["system", *self.metrics[:5], "p"], rows

    def _caption(self) -> str:
        data = self.findings["data"]
        queries = sum(len(entry["query_ids"]) for entry in data)
        failed = f"; {len(self.failures)} jobs failed" if self.failures else ""
        return (
            f"{self.findings['title']}: {queries:,} test queries; preset {self.findings['preset']}; p against the best by "
            f"{self.findings['selection']}, paired randomisation test with Holm's correction{failed}"
        )

    def __repr__(self) -> str:
        table, caption = _frames.text_table(*self._table()), _frames.wrapped(self._caption())
        return f"{table}\n\n{caption}\nreport: {self.report}"

    def _repr_html_(self) -> str:
        from html import escape

        link = f'<p>report: <a href="{escape(str(self.report))}">{escape(str(self.report))}</a></p>'
        return _frames.html_table(*self._table(), caption=self._caption()) + link


def run(
    experiment: str | os.PathLike[str] | Mapping[str, Any],
    out: str | os.PathLike[str] | None = None,
    *,
    keep_models: bool = False,
    fresh: bool = False,
    n_jobs: int | None = None,
    callbacks: Iterable[Callback] = (),
    engine: str | Engine | None = None,
    client: Any = None,
    workers: int | None = None,
    limit: float = 60.0,
) -> ExperimentResult:
    """Runs an experiment: data sets × folds × learners × settings.

    Finished jobs are kept in a journal, so that the same call resumes after an interruption. All files are those of
    `rankwise run`, and the findings have the same bytes.

    With an engine, each job is a task in another process. Every machine needs the same build of Rankwise and the data
    files under the same paths. The findings are still the same bytes, and a run continues with any engine or without one.

    Args:
        experiment: The path of an experiment file, or a dictionary with its keys. Paths in a file are relative to it,
            those in a dictionary to the working directory.
        out: The directory to write to; `results/NAME` by default.
        keep_models: Write the chosen model of every fold to `out/models`.
        fresh: Start over, whatever the directory contains.
        n_jobs: The number of threads; all cores by default. With an engine, the number of threads of each task; 1 by
            default.
        callbacks: Called after each job with a `Progress`.
        engine: Who runs the jobs: this process by default; `"ray"`, `"dask"`, `"local"` for processes of this machine, or
            an executor of `concurrent.futures`. A job whose task is lost three times ends the run.
        client: With `engine="dask"`, the client; the current one by default.
        workers: With `engine="local"`, the number of processes; as many as the cores have room for by default.
        limit: With an engine: after so many seconds in which no job has ended, a warning in the log names those that are
            waited for. If Ray or Dask has no process that could run them, it is an error.

    >>> import rankwise as rw, tempfile
    >>> experiment = {
    ...     "name": "small",
    ...     "data": [{"name": "made", "synth": {"shape": "mslr", "queries": 12, "documents": 8, "features": 4}, "k": 3}],
    ...     "learner": [{"name": "regression"}, {"name": "prank"}],
    ... }
    >>> result = rw.run(experiment, tempfile.mkdtemp())
    >>> result.succeeded
    True
    """
    path, keys = (None, dict(experiment)) if isinstance(experiment, Mapping) else (os.fspath(experiment), None)
    to = None if out is None else os.fspath(out)
    start = functools.partial(
        _rankwise.run_experiment, path, keys, to, keep_models, fresh, _rankwise.__file__, n_jobs, list(callbacks)
    )
    if engine is None:
        if client is not None or workers is not None:
            raise ValueError("client and workers are for engines; give engine='dask' or engine='local'")
        return ExperimentResult(start(None))
    from rankwise import _engines

    threads = 1 if n_jobs is None else n_jobs
    if threads < 1:
        raise ValueError(f"n_jobs is {n_jobs}; with an engine, give the number of threads of each task")
    runner = _engines.engine(engine, client=client, workers=workers, threads=threads)
    try:
        return ExperimentResult(start(_engines.Tasks(runner, functools.partial(_run_task, threads), limit)))
    finally:
        # The caller's own executor stays as it is.
        if runner is not engine:
            runner.close()


def _run_task(threads: int, task: str) -> str:
    """Runs one job of an experiment; called by engines, in other processes."""
    return _rankwise.run_task(task, _rankwise.__file__, threads)


class CrossValidation:
    """The result of a cross-validation: every query is scored by a model that did not see it.

    >>> import numpy as np, rankwise as rw
    >>> random = np.random.default_rng(1)
    >>> data = rw.Data(random.random((60, 3)), y=random.integers(0, 3, 60), qid=np.repeat(np.arange(10), 6))
    >>> found = rw.cross_validate("regression", data, cv=5, metrics="map,mrr")
    >>> found.metrics, found["map"] == found.mean["map"]
    (['map', 'mrr'], True)
    """

    #: The metrics on the test queries of all folds.
    evaluation: Evaluation
    #: One score per document, in the order in which the documents were given; NaN where no fold tested its query.
    scores: NDArray[np.float64]
    #: The model of each fold.
    rankers: list[Ranker]

    def __init__(self, found: dict[str, Any], preset: str) -> None:
        self.evaluation = Evaluation(found["evaluation"], preset)
        self.scores = found["scores"]
        self.rankers = found["rankers"]
        self._fold: list[int] = found["fold"]
        self._means: list[list[float | None]] = found["means"]

    @property
    def metrics(self) -> list[str]:
        """The metrics, by their canonical names."""
        return self.evaluation.metrics

    @property
    def mean(self) -> dict[str, float]:
        """The mean of each metric over all test queries."""
        return self.evaluation.mean

    def __getitem__(self, metric: str) -> float:
        return self.evaluation[metric]

    @property
    def folds(self) -> Any:
        """A frame with one row per fold and the mean of each metric on its test queries."""
        columns: dict[str, list[Any]] = {"fold": list(range(len(self._means)))}
        for place, metric in enumerate(self.metrics):
            columns[metric] = [_or_nan(means[place]) for means in self._means]
        return _frames.frame(columns)

    @property
    def per_query(self) -> Any:
        """A frame with one row per test query: its id, its fold and the value of each metric."""
        columns: dict[str, Any] = {"query_id": self.evaluation.query_ids, "fold": self._fold}
        columns.update((name, self.evaluation.values[:, place]) for place, name in enumerate(self.metrics))
        return _frames.frame(columns)

    def to_frame(self) -> Any:
        """The same as `folds`."""
        return self.folds

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = [[str(fold), *map(_frames.number, means)] for fold, means in enumerate(self._means)]
        rows.append(["all", *(_frames.number(self.mean[metric]) for metric in self.metrics)])
        return ["fold", *self.metrics], rows

    def __repr__(self) -> str:
        return f"{_frames.text_table(*self._table())}\n\n{self.evaluation._caption()}"

    def _repr_html_(self) -> str:
        return _frames.html_table(*self._table(), caption=self.evaluation._caption())


def _recipe(given: Any) -> Recipe:
    if isinstance(given, str):
        return Recipe(given)
    if hasattr(given, "to_recipe"):
        given = given.to_recipe()
    if isinstance(given, Recipe):
        return given
    raise TypeError(
        f"a value of type {type(given).__name__} is no recipe; give a Recipe, an estimator or the name of a learner"
    )


def _data(X: Any, y: Any, qid: Any) -> Data:
    if not isinstance(X, Data):
        return Data(X, y, qid=qid)
    if y is not None or qid is not None:
        raise ValueError("a Data has labels and queries already; y and qid are for plain features")
    return X


def _division(cv: Any, data: Data, X: Any, y: Any, qid: Any) -> Any:
    """A number of folds, or the rows of each fold."""
    if isinstance(cv, int):
        return cv
    if hasattr(cv, "split"):
        import numpy as np

        rows = np.zeros((len(data), 1)) if isinstance(X, Data) else X
        cv = cv.split(rows, y, data.qid if qid is None else qid)
    return [([int(row) for row in train], [int(row) for row in test]) for train, test in cv]


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    qid: Any = None,
    cv: Any = 5,
    metrics: str | Iterable[str] | None = None,
    preset: str = "default",
    conventions: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    callbacks: Iterable[Callback] = (),
) -> CrossValidation:
    """Trains and tests one model per fold, divided by query.

    Training sees no test query, not even for early stopping.

    Args:
        estimator: A `Recipe`, an estimator, or the name of a learner.
        X: The features, or a `Data`.
        y: The labels.
        qid: The query of each document.
        cv: The number of folds, shuffled by the estimator's seed; or a splitter of scikit-learn such as `GroupKFold`, or
            the rows to train and to test on for each fold.
        metrics: The metrics to test by; the estimator's own metric by default.
        preset: Whose conventions to follow.
        conventions: Changes to the preset.
        n_jobs: The number of threads; all cores by default.
        callbacks: Called after each fold with a `Progress`.

    >>> import numpy as np, rankwise as rw
    >>> random = np.random.default_rng(1)
    >>> X, qid = random.random((60, 3), dtype=np.float32), np.repeat(np.arange(10), 6)
    >>> found = rw.cross_validate(rw.Recipe("regression"), X, (3 * X[:, 0]).round(), qid=qid, cv=5)
    >>> len(found.rankers), len(found.scores)
    (5, 60)
    """
    recipe, data = _recipe(estimator), _data(X, y, qid)
    named = None if metrics is None else metric_list(metrics)
    found = _rankwise.cross_validate(
        recipe, data, _division(cv, data, X, y, qid), named, preset, _as_dict(conventions), n_jobs, list(callbacks)
    )
    return CrossValidation(found, preset)


class Tuned:
    """The settings tried and the model of the best.

    >>> import numpy as np, rankwise as rw
    >>> random = np.random.default_rng(1)
    >>> data = rw.Data(random.random((60, 3)), y=random.integers(0, 3, 60), qid=np.repeat(np.arange(10), 6))
    >>> found = rw.tune("regression", data, grid={"ridge": [0.1, 10.0]}, cv=3)
    >>> found.metric, found.n_folds, found.ranker.parameters["ridge"] in (0.1, 10.0)
    ('ndcg@10', 3, True)
    """

    #: The model of the best setting.
    ranker: Ranker
    #: The value of the best setting on the validation queries.
    value: float
    #: The metric that settings were compared by.
    metric: str
    #: The number of folds, in cross-validation.
    n_folds: int | None
    #: The iterations of the final training, where cross-validation found them.
    iterations: dict[str, Any] | None
    #: Settings that failed, a sentence each.
    failures: list[str]

    def __init__(self, found: dict[str, Any]) -> None:
        self.ranker = found["ranker"]
        self.value = _or_nan(found["value"])
        self.metric = found["metric"]
        self.n_folds = found["folds"]
        self.iterations = found["iterations"]
        self.failures = found["failures"]
        self._trials: list[dict[str, Any]] = found["trials"]

    @property
    def parameters(self) -> dict[str, Any]:
        """All parameters of the best setting."""
        return dict(self.ranker.parameters)

    @property
    def trials(self) -> Any:
        """A frame with one row per setting tried: the parameters searched, the fraction of queries used, the value."""
        names = list(dict.fromkeys(name for trial in self._trials for name in trial["parameters"]))
        columns: dict[str, list[Any]] = {
            name: [trial["parameters"].get(name) for trial in self._trials] for name in names
        }
        columns["fraction"] = [trial["fraction"] for trial in self._trials]
        columns[self.metric] = [_or_nan(trial["valid"]) for trial in self._trials]
        return _frames.frame(columns)

    def to_frame(self) -> Any:
        """The same as `trials`."""
        return self.trials

    def _table(self) -> tuple[list[str], list[list[str]]]:
        order = sorted(self._trials, key=lambda trial: (-trial["fraction"], -(trial["valid"] or float("-inf"))))
        rows = []
        for trial in order:
            setting = " ".join(f"{name}={value}" for name, value in trial["parameters"].items())
            value = "failed" if trial["valid"] is None else _frames.number(trial["valid"])
            rows.append([setting, f"{100 * trial['fraction']:.0f} %", value])
        on = "valid" if self.n_folds is None else f"{self.n_folds} folds"
        return ["setting", "queries used", f"{self.metric} ({on})"], rows

    def __repr__(self) -> str:
        return _frames.text_table(*self._table())

    def _repr_html_(self) -> str:
        return _frames.html_table(*self._table())


def tune(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    grid: Mapping[str, Any],
    qid: Any = None,
    valid: Data | None = None,
    cv: int = 5,
    method: str = "grid",
    draws: int = 20,
    n_jobs: int | None = None,
    callbacks: Iterable[Callback] = (),
) -> Tuned:
    """Searches the parameters of a learner and trains the best setting.

    Args:
        estimator: A `Recipe`, an estimator, or the name of a learner, with the metric to choose by.
        X: The features, or a `Data`.
        y: The labels.
        grid: The values to try of each parameter: a list, or a range such as `{"from": 1e-3, "to": 1e3, "log": True}`.
        qid: The query of each document.
        valid: Validation data to compare settings on. Without it, they are compared by cross-validation, and the best
            one is trained again on all queries.
        cv: The number of folds when there is no validation data.
        method: `"grid"` for all combinations, `"random"` for random draws, `"halving"` for draws halved on growing
            fractions of the queries.
        draws: The settings to draw, for random and halving.
        n_jobs: The number of threads; all cores by default.
        callbacks: Called after each setting with a `Progress`.

    >>> import numpy as np, rankwise as rw
    >>> random = np.random.default_rng(1)
    >>> X, qid = random.random((60, 3), dtype=np.float32), np.repeat(np.arange(10), 6)
    >>> found = rw.tune("regression", X, (3 * X[:, 0]).round(), qid=qid, grid={"ridge": [1e-6, 1.0]}, cv=3)
    >>> len(found.trials), found.ranker.learner
    (2, 'regression')
    """
    recipe, data = _recipe(estimator), _data(X, y, qid)
    if valid is not None and not isinstance(valid, Data):
        raise TypeError(f"valid is a value of type {type(valid).__name__}; give a Data")
    found = _rankwise.tune(recipe, data, dict(grid), valid, cv, method, draws, n_jobs, list(callbacks))
    return Tuned(found)
