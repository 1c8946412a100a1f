"""Search logs: statistics, click models, propensities, preferences, counterfactual estimates, interleaving, simulation.

>>> from rankwise import clicks
>>> log = clicks.Log([
...     {"id": 1, "query": "q", "shown": ["a", "b"], "clicks": ["a"]},
...     {"id": 2, "query": "q", "shown": ["b", "a"], "clicks": ["b", "a"]},
... ])
>>> log.stats()["clicked_sessions"]
2
>>> theta = log.propensities(smoothing=0)
>>> theta.theta.round(3)
array([1. , 0.5])
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rankwise import _frames, _rankwise
from rankwise._evaluate import scores_of
from rankwise._runs import as_dictionaries, column_of, is_missing, name_of, named_columns
from rankwise._rankwise import Data

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "ClickModel",
    "Counterfactual",
    "InterleavedList",
    "Interleaving",
    "Log",
    "Propensities",
    "interleave",
    "simulate",
]

_Path = str | os.PathLike[str]

_SESSION = ("session", "session_id", "id")
_QUERY = ("query", "query_id", "qid")
_DOCUMENT = ("document", "document_id", "doc_id", "docid", "doc")
_RANK = ("rank", "position")
_CLICKED = ("clicked", "click", "clicks")
_RANKER = ("ranker",)


class Log:
    """A log of sessions: for each, the documents shown for a query, and the clicks on them.

    Files are read again for every question, one session at a time, so a log may be of any length. What is wrong with a log is
    in `report`, and goes to `logging` under the name `rankwise`.

    Args:
        sessions: The path of a file of JSON lines, or a list of paths; dictionaries with the keys of such lines, `id`, `query`,
            `shown` and `clicks` (documents, or dictionaries with `doc` and `time`); or a frame with one row per document
            shown and the columns session, query, document and clicked (0 and 1, or booleans), and perhaps rank and ranker.

    >>> from rankwise import clicks
    >>> log = clicks.Log({"session": [1, 1, 2], "query": ["q"] * 3, "document": ["a", "b", "b"], "clicked": [0, 1, 0]})
    >>> list(log)[0]["clicks"]
    [{'doc': 'b'}]
    >>> log.report["sessions"]
    2
    """

    def __init__(self, sessions: _Path | Iterable[_Path] | Iterable[Mapping[str, Any]] | Any) -> None:
        if isinstance(sessions, (str, os.PathLike)):
            sessions = [sessions]
        if hasattr(sessions, "columns") or isinstance(sessions, Mapping):
            sessions = _sessions_of(sessions)
        given = list(sessions)
        paths = [os.fspath(item) for item in given if isinstance(item, (str, os.PathLike))]
        if not given:
            raise ValueError("there are no sessions")
        if len(paths) == len(given):
            self._log = _rankwise.ClickLog.of_files(paths)
        else:
            dictionaries = [dict(item) if isinstance(item, Mapping) else item for item in given]
            self._log = _rankwise.ClickLog.of_dictionaries(dictionaries)

    @classmethod
    def from_metarank(cls, events: _Path, query_field: str = "query", types: Sequence[str] = ("click",)) -> Log:
        """The log of Metarank's events, JSON lines: rankings, and the interactions that name them as clicks.

        Args:
            events: The file; it may end in `.gz` or `.zst`.
            query_field: The field of a ranking that holds the query.
            types: The types of interactions that count as clicks.
        """
        return cls._of(_rankwise.ClickLog.of_metarank(events, query_field, list(types)))

    @classmethod
    def _of(cls, log: _rankwise.ClickLog) -> Log:
        made = cls.__new__(cls)
        made._log = log
        return made

    @property
    def report(self) -> dict[str, Any]:
        """How many lines, sessions and clicks there are, and what is wrong with them: kinds of problems with their numbers
        and examples."""
        return self._log.report()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._log.dictionaries())

    def __repr__(self) -> str:
        report = self.report
        return f"<rankwise.clicks.Log: {report['sessions']:,} sessions, {report['clicks']:,} clicks>"

    def save(self, path: _Path) -> None:
        """Writes the log as JSON lines; `.gz` and `.zst` compress it."""
        self._log.write(path)

    def stats(self) -> dict[str, Any]:
        """Sessions, queries, documents and click-through by rank, and how far documents move between ranks.

        >>> from rankwise import clicks
        >>> log = clicks.Log([{"id": 1, "query": "q", "shown": ["a", "b"], "clicks": ["b"]}])
        >>> stats = log.stats()
        >>> [rank["click_through"] for rank in stats["ranks"]], stats["movement"]["groups"]
        ([0.0, 1.0], [[1], [2]])
        """
        return self._log.stats()

    def fit(
        self, model: str, *, held_out: float = 0.1, iterations: int = 1000, tolerance: float = 1e-9
    ) -> ClickModel:
        """Fits a click model.

        Args:
            model: `pbm` (position-based), `cascade`, `dcm` (dependent click), `sdbn`, `dbn` (dynamic Bayesian networks) or `ubm`
                (user browsing).
            held_out: The fraction of sessions to evaluate on, chosen by a hash of their ids; 0 for none.
            iterations: The largest number of iterations of expectation maximisation.
            tolerance: Stop when an iteration improves the objective by less than this fraction.

        >>> from rankwise import clicks
        >>> sessions = [{"id": i, "query": "q", "shown": ["a", "b"], "clicks": ["a"] if i % 2 else []} for i in range(100)]
        >>> model = clicks.Log(sessions).fit("pbm")
        >>> model.predict("q", ["a", "b"]).round(1)
        array([0.5, 0. ])
        >>> model.held_out["perplexity"] < 2
        True
        """
        return ClickModel(*self._log.fit(model, held_out, iterations, tolerance))

    def propensities(
        self,
        by: str = "paired-ranks",
        *,
        depth: int | None = None,
        smoothing: float = 1.0,
        iterations: int = 1000,
    ) -> Propensities:
        """Estimates how likely users are to look at each rank. Fails where documents do not move between ranks, because then
        propensities cannot be told from relevance.

        Args:
            by: `paired-ranks`, `em` (the position-based model) or `swap` (swap experiments).
            depth: Leave out ranks below this one; not for `swap`.
            smoothing: Of `paired-ranks`, how smooth the logarithms of propensities are.
            iterations: Of `em`, the largest number of iterations.

        >>> from rankwise import clicks
        >>> log = clicks.Log([{"id": 1, "query": "q", "shown": ["a", "b"], "clicks": ["b"]}])
        >>> log.propensities()
        Traceback (most recent call last):
            ...
        ValueError: documents do not move between these groups of ranks: {1}, {2}. A rank that is looked at less ...
        """
        return Propensities._of(self._log.propensities(by, depth, smoothing, iterations))

    def preferences(self, rule: str = "skip-above") -> Any:
        """A frame of preferences between documents of a query: query, better, worse, and in how many sessions.

        Args:
            rule: A clicked document is better than each one above it that was not clicked (`skip-above`, or `last-click` for the
                one clicked last), each one clicked before (`earlier-click`), or its neighbour that was not clicked
                (`skip-previous`, `no-click-next`).

        >>> from rankwise import clicks
        >>> log = clicks.Log([{"id": 1, "query": "q", "shown": ["a", "b"], "clicks": ["b"]}])
        >>> pairs = log.preferences()
        >>> pairs["better"][0], pairs["worse"][0]
        ('b', 'a')
        """
        rows = self._log.preferences(rule)
        columns = list(zip(*rows)) if rows else [(), (), (), ()]
        return _frames.frame(dict(zip(("query", "better", "worse", "sessions"), map(list, columns))))

    def evaluate(
        self,
        run: Any,
        propensities: Propensities | Sequence[float],
        metric: str = "dcg@10",
        *,
        clip: float = 0.1,
        resamples: int = 1000,
        confidence: float = 0.95,
        seed: int = 1,
        n_jobs: int | None = None,
    ) -> Counterfactual:
        """Estimates what a ranker would have been worth, although it was never shown. What is left out is counted in the
        result, and goes to `logging`.

        Args:
            run: The rankings of the new ranker, in any form that `rankwise.evaluate` takes: `{query: {document: score}}`, a
                frame, the path of a TREC run.
            propensities: The propensity of each rank, estimated or known.
            metric: The value of a rank: `dcg@K`, `p@K` or `reciprocal`.
            clip: The smallest propensity that the clipped estimate divides by.
            resamples: Resamples of queries for the intervals.
            confidence: The level of the intervals.
            seed: The seed of the resamples.
            n_jobs: The number of threads; all cores by default.

        >>> from rankwise import clicks
        >>> log = clicks.Log([{"id": 1, "query": "q", "shown": ["a", "b"], "clicks": ["b"]}])
        >>> found = log.evaluate({"q": {"b": 1.0, "a": 0.5}}, [1.0, 0.5], "reciprocal")
        >>> found.ips, found.shown, found.interval("ips")
        (2.0, 1.0, None)
        """
        theta = propensities if isinstance(propensities, Propensities) else Propensities(propensities)
        rankings = as_dictionaries(run, "run")
        found = self._log.evaluate(
            rankings, theta._propensities, metric, clip, resamples, confidence, seed, n_jobs
        )
        return Counterfactual(*found, metric, clip, confidence)

    def training_data(
        self,
        features: Data | None = None,
        *,
        propensities: Propensities | Sequence[float] | None = None,
        clip: float = 0.0,
        fill_in: Any = None,
        by_session: bool = False,
    ) -> Data:
        """Training data whose labels are clicks, each weighted by how likely its rank is looked at. Recipes know such data:
        every loss takes each click as an example with one relevant document.

        Args:
            features: The features of the documents, with ids of queries and documents; without them, the sessions have
                `features`. Labels in it are not looked at.
            propensities: The propensity of each rank, estimated or known. Without them, clicks count as they are.
            clip: The smallest propensity to divide by.
            fill_in: A ranker that predicts how often users who look at a document click on it, such as one trained by
                `regression` on the same clicks: it fills in what `clip` leaves out (doubly robust labels).
            by_session: One query per session, with the position of each document and its click as it is: for
                `lambda-mart` with `position_bias`, which learns from these.

        >>> import rankwise as rw
        >>> from rankwise import clicks
        >>> session = {"id": 1, "query": "q", "shown": ["a", "b"], "features": [[0.5], [0.9]], "clicks": ["b"]}
        >>> data = clicks.Log([session]).training_data(propensities=[1.0, 0.5])
        >>> data.docid, data.labels.tolist()
        (['a', 'b'], [0.0, 2.0])
        >>> ranker = rw.Recipe("list-net").fit(data)
        """
        theta = propensities
        if theta is not None and not isinstance(theta, Propensities):
            theta = Propensities(theta)
        if by_session and (theta is not None or fill_in is not None):
            raise ValueError(
                "by_session keeps clicks as they are, and propensities and fill_in change them; use one of the two"
            )
        if fill_in is not None and (theta is None or clip <= 0.0):
            raise ValueError("fill_in fills in what clip leaves out; give propensities, and a clip above 0")
        known = None if theta is None else theta._propensities
        return self._log.training_data(features, known, clip, by_session, getattr(fill_in, "ranker_", fill_in))

    def interleaving(self, confidence: float = 0.95) -> list[Interleaving]:
        """Which of two rankers wins more of the interleaved sessions, for every two rankers.

        >>> from rankwise import clicks
        >>> shown = clicks.interleave(["a", "b", "c"], ["c", "a", "b"], session="s1")
        >>> session = {"id": "s1", "query": "q", "shown": shown.shown, "clicks": ["a"]}
        >>> session["interleaved"] = {"rankers": ["old", "new"], "credit": shown.credit}
        >>> [result] = clicks.Log([session]).interleaving()
        >>> result.rankers, sum(result.wins) + result.ties
        (['new', 'old'], 1)
        """
        results, _ = self._log.interleaving(confidence)
        return [Interleaving(result, confidence) for result in results]


class ClickModel:
    """A click model: its parameters, and what it says about the clicks on a list. `Log.fit` makes it.

    >>> import pathlib, tempfile
    >>> from rankwise import clicks
    >>> model = clicks.Log([{"id": 1, "query": "q", "shown": ["a", "b"], "clicks": ["b"]}]).fit("sdbn", held_out=0)
    >>> model.attractiveness["q"]
    {'a': 0.3333333333333333, 'b': 0.6666666666666666}
    >>> path = pathlib.Path(tempfile.mkdtemp(), "sdbn.json")
    >>> model.save(path)
    >>> clicks.ClickModel.load(path).predict("q", ["a", "b"]).round(3)
    array([0.333, 0.556])
    """

    #: Of a model that was fitted here: iterations, and whether expectation maximisation converged.
    iterations: int | None
    converged: bool | None
    #: On the sessions that it was fitted to, and on those held out: `log_likelihood` per session, `perplexity`,
    #: `perplexity_by_rank`, `sessions`, `impossible` and `unknown_documents`.
    fitted: dict[str, Any] | None
    held_out: dict[str, Any] | None

    def __init__(self, model: _rankwise.ClickModel, record: Mapping[str, Any]) -> None:
        self._model = model
        self.iterations = record.get("iterations")
        self.converged = record.get("converged")
        self.fitted = record.get("fitted")
        self.held_out = record.get("held_out")

    @classmethod
    def load(cls, path: _Path) -> ClickModel:
        """Reads a model that was saved, here or by `rankwise clicks fit`."""
        return cls(_rankwise.ClickModel.read(path), {})

    def save(self, path: _Path) -> None:
        """Writes the parameters as JSON."""
        self._model.write(path)

    @property
    def kind(self) -> str:
        """`pbm`, `cascade`, `dcm`, `sdbn`, `dbn` or `ubm`."""
        return self._model.kind

    @property
    def attractiveness(self) -> dict[str, dict[str, float]]:
        """For each query, the probability of a click on each document that is looked at."""
        found: dict[str, dict[str, float]] = self._model.attractiveness()["values"]
        return found

    @property
    def parameters(self) -> dict[str, Any]:
        """Everything but attractiveness: `examination` by rank, `continuation` or `satisfaction`."""
        return {name: value for name, value in self._model.browsing().items() if name != "model"}

    def predict(
        self, query: object, shown: Sequence[object], clicked: Sequence[bool] | None = None
    ) -> NDArray[np.float64]:
        """The probability of a click on each document of a list; with `clicked`, given the clicks above it."""
        documents = [str(document) for document in shown]
        if clicked is None:
            return self._model.probabilities(str(query), documents)
        return self._model.conditional(str(query), documents, [bool(click) for click in clicked])

    def evaluate(self, log: Log) -> dict[str, Any]:
        """How well the model foresees the clicks of a log: `log_likelihood` per session, `perplexity` and more."""
        return self._model.evaluate(log._log)

    def __repr__(self) -> str:
        documents = sum(map(len, self.attractiveness.values()))
        return f"<rankwise.clicks.ClickModel: {self.kind}, {documents:,} documents of queries>"


class Propensities:
    """How likely users are to look at each rank, relative to rank 1.

    Args:
        theta: Known values by rank, above 0; they are divided by the first.

    >>> from rankwise import clicks
    >>> theta = clicks.Propensities([2, 1, 0.1])
    >>> theta.theta, theta.weights(clip=0.1)
    (array([1.  , 0.5 , 0.05]), array([ 1.,  2., 10.]))
    """

    def __init__(self, theta: Iterable[float]) -> None:
        self._propensities = _rankwise.Propensities.given([float(value) for value in theta])

    @classmethod
    def _of(cls, propensities: _rankwise.Propensities) -> Propensities:
        made = cls.__new__(cls)
        made._propensities = propensities
        return made

    @classmethod
    def load(cls, path: _Path) -> Propensities:
        """Reads propensities that were saved, here or by `rankwise clicks propensity`."""
        return cls._of(_rankwise.Propensities.read(path))

    def save(self, path: _Path) -> None:
        """Writes the propensities as JSON."""
        self._propensities.write(path)

    @property
    def theta(self) -> NDArray[np.float64]:
        """The propensity of each rank, from 1; the first is 1."""
        return self._propensities.theta

    @property
    def interpolated(self) -> list[int]:
        """The ranks at which nothing was shown. Their propensities lie between those of the nearest ranks that were shown."""
        return self._propensities.interpolated

    @property
    def method(self) -> str:
        """How they were estimated: `paired-ranks`, `em`, `swap` or `given`."""
        return self._propensities.method

    @property
    def converged(self) -> bool:
        """Whether the estimation came to an end."""
        return self._propensities.converged

    def weights(self, clip: float = 0.0) -> NDArray[np.float64]:
        """What a click at each rank counts for: 1/max(θ, clip)."""
        import numpy as np

        weights: NDArray[np.float64] = 1.0 / np.maximum(self.theta, clip)
        return weights

    def __len__(self) -> int:
        return len(self.theta)

    def __repr__(self) -> str:
        shown = ", ".join(f"{value:.3f}" for value in self.theta[:10])
        return f"<rankwise.clicks.Propensities by {self.method}: {shown}{', …' if len(self) > 10 else ''}>"


class Counterfactual:
    """The estimated worth of a ranker that was never shown. Each estimate has an interval of the same name.

    >>> from rankwise import clicks
    >>> log = clicks.Log([{"id": i, "query": i % 5, "shown": ["a", "b"], "clicks": ["b"]} for i in range(20)])
    >>> found = log.evaluate({str(q): {"b": 1, "a": 0} for q in range(5)}, [1.0, 0.5], "p@1")
    >>> found.ips, found.interval("ips")
    (2.0, (2.0, 2.0))
    """

    #: The value per session by inverse propensities; the same with clipped propensities.
    ips: float
    clipped: float
    #: The same for the lists that were shown in these sessions, and how much more the new ranker is worth.
    shown: float
    difference: float
    #: The mean value of the rank of a relevant document; `None` without clicks.
    snips: float | None
    #: Queries and sessions that were used.
    queries: int
    sessions: int
    #: What the new ranker does not rank: sessions left out, and clicks that count for nothing.
    unranked_sessions: int
    unranked_clicks: int
    #: Clicks at ranks with propensities below the limit of `clipped`, and at ranks without one, which have that of the last.
    clipped_clicks: int
    deep_clicks: int

    def __init__(
        self, found: dict[str, Any], clipped: dict[str, Any], metric: str, clip: float, confidence: float
    ) -> None:
        self.metric, self.clip, self.confidence = metric, clip, confidence
        for name in ("ips", "shown", "difference", "snips", "queries", "sessions"):
            setattr(self, name, found[name])
        self.unranked_sessions = found["unranked_sessions"]
        self.unranked_clicks = found["unranked_clicks"]
        self.deep_clicks = found["deep_clicks"]
        self.clipped = clipped["ips"]
        self.clipped_clicks = clipped["clipped_clicks"]
        self._intervals = {name: found[f"{name}_interval"] for name in ("ips", "shown", "difference", "snips")}
        self._intervals["clipped"] = clipped["ips_interval"]

    def interval(self, estimate: str = "ips") -> tuple[float, float] | None:
        """The confidence interval of an estimate: `ips`, `clipped`, `shown`, `difference` or `snips`. `None` if all sessions
        are of one query, since queries are resampled."""
        if estimate not in self._intervals:
            raise KeyError(f"there is no estimate {estimate}; there are {', '.join(self._intervals)}")
        interval = self._intervals[estimate]
        return None if interval is None else (interval["low"], interval["high"])

    def to_frame(self) -> Any:
        """A frame with one row per estimate: its value and its interval."""
        rows = []
        for name in _ESTIMATES:
            low, high = self.interval(name) or (None, None)
            rows.append({"estimate": name, "value": getattr(self, name), "low": low, "high": high})
        return _frames.of_rows(rows, ("estimate", "value", "low", "high"))

    def _rows(self) -> list[list[str]]:
        rows = []
        for name, shown in _ESTIMATES.items():
            interval = self.interval(name)
            ends = "–" if interval is None else f"{interval[0]:.4f} to {interval[1]:.4f}"
            rows.append([shown.format(self.clip), _frames.number(getattr(self, name)), ends])
        return rows

    def _header(self) -> list[str]:
        return ["estimate", self.metric, f"{100 * self.confidence:g} % CI"]

    def _caption(self) -> str:
        return f"{self.sessions:,} sessions of {self.queries:,} quer{'y' if self.queries == 1 else 'ies'}"

    def __repr__(self) -> str:
        return f"{_frames.text_table(self._header(), self._rows())}\n\n{self._caption()}"

    def _repr_html_(self) -> str:
        return _frames.html_table(self._header(), self._rows(), self._caption())


_ESTIMATES = {
    "ips": "IPS",
    "shown": "  as shown",
    "difference": "  difference",
    "clipped": "IPS, clipped at {:g}",
    "snips": "SNIPS",
}


class Interleaving:
    """Which of two rankers wins more interleaved sessions.

    >>> from rankwise import clicks
    >>> sessions = [{"id": i, "query": "q", "shown": ["a", "b"], "clicks": ["a"]} for i in range(8)]
    >>> for session in sessions:
    ...     session["interleaved"] = {"rankers": ["new", "old"], "credit": [1, 0]}
    >>> clicks.Log(sessions).interleaving()
    [new 8 wins, old 0 wins, 0 ties; new wins 100.0 % (67.6 to 100.0), p = 0.0078]
    """

    #: The rankers, in the order of their names.
    rankers: list[str]
    #: Interleaved sessions of these two.
    sessions: int
    #: Sessions in which the first, or the second, has more credit, and those without a winner.
    wins: list[int]
    ties: int
    #: The credit of each for all documents that were clicked.
    credit: list[float]
    #: Wins of the first among sessions that are no ties, and the interval of that.
    win_rate: float
    interval: tuple[float, float]
    #: Two-sided p of the sign test, exact.
    p: float

    def __init__(self, found: dict[str, Any], confidence: float) -> None:
        self.confidence = confidence
        for name in ("rankers", "sessions", "wins", "ties", "credit", "win_rate", "p"):
            setattr(self, name, found[name])
        self.interval = (found["interval"]["low"], found["interval"]["high"])

    def __repr__(self) -> str:
        first, second = self.rankers
        low, high = (f"{100 * end:.1f}" for end in self.interval)
        return (
            f"{first} {self.wins[0]:,} wins, {second} {self.wins[1]:,} wins, {self.ties:,} ties; "
            f"{first} wins {100 * self.win_rate:.1f} % ({low} to {high}), p {_frames.p_value(self.p)}"
        )


class InterleavedList(NamedTuple):
    """An interleaved list: the documents, and the first ranker's share of the credit for each.

    >>> from rankwise import clicks
    >>> shown, credit = clicks.interleave(["a"], ["a"])
    >>> shown, len(credit)
    (['a'], 1)
    """

    #: The documents, the first rank first.
    shown: list[Any]
    #: For each document, the share of a click's credit that goes to the first ranker.
    credit: list[float]


def interleave(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    *,
    how: str = "team-draft",
    depth: int = 10,
    seed: int = 1,
    session: object = "",
    steepness: float | None = None,
) -> InterleavedList:
    """Makes one list of two rankings, so that clicks on it compare them. Equal seeds and sessions give equal lists.

    Args:
        first: The documents of one ranker, best first.
        second: Those of the other.
        how: `team-draft` or `probabilistic`.
        depth: How many documents to show.
        seed: The random seed.
        session: The id of the session, without which all lists of the same rankings are the same.
        steepness: Of `probabilistic`, how much higher ranks are favoured; 3 by default.

    >>> from rankwise import clicks
    >>> both = clicks.interleave(["a", "b", "c"], ["c", "a", "d"], depth=3, session="s1")
    >>> len(both.shown), set(both.credit) <= {0.0, 1.0}
    (3, True)
    """
    numbers: dict[Hashable, int] = {}
    ranked = [[numbers.setdefault(document, len(numbers)) for document in ranking] for ranking in (first, second)]
    shown, credit = _rankwise.interleave_lists(ranked[0], ranked[1], how, steepness, depth, seed, str(session))
    documents = list(numbers)
    return InterleavedList([documents[number] for number in shown], credit)


def simulate(
    data: Data,
    rankers: Mapping[str, Any] | Any,
    *,
    user: str = "pbm:eta=1",
    noise: float = 0.1,
    sessions: int = 100,
    depth: int = 10,
    randomize: str = "none",
    interleave: str | None = None,
    features: bool = False,
    seed: int = 1,
    n_jobs: int | None = None,
) -> Log:
    """Simulates users who click on rankings of labelled data. A document with label y attracts a user who looks at it with
    probability ε + (1 − ε)(2^y − 1)/(2^max − 1), where ε is the noise.

    Args:
        data: Labelled data. A document without an id is called `QID-N`.
        rankers: Whose rankings are shown: a ranker, an estimator or an array of scores; or a dictionary of several with their
            names. Each session shows one of them, at random.
        user: `pbm:eta=1` looks at rank r with probability (1/r)^eta, `cascade` reads down to the first click, and
            `dcm:continue=0.6` goes on after a click with that probability.
        noise: ε.
        sessions: Sessions per query.
        depth: How many documents are shown at most.
        randomize: What is random about the lists: `none`, `swap` (the first document and another one) or `shuffle`.
        interleave: Interleave two rankers: `team-draft` or `probabilistic`.
        features: Log the features of the documents.
        seed: The random seed.
        n_jobs: The number of threads that score; all cores by default.

    >>> import rankwise as rw
    >>> from rankwise import clicks
    >>> data = rw.Data([[0.1], [0.9], [0.5]] * 4, y=[0, 2, 1] * 4, qid=[1] * 3 + [2] * 3 + [3] * 3 + [4] * 3)
    >>> clicks.simulate(data, {"best": [0, 2, 1] * 4}, sessions=50).report["sessions"]
    200
    """
    named = rankers if isinstance(rankers, Mapping) else {"ranker": rankers}
    options = {
        "user": user,
        "noise": noise,
        "sessions": sessions,
        "depth": depth,
        "randomize": randomize,
        "interleave": interleave,
        "features": features,
        "seed": seed,
    }
    scores = [scores_of(ranker, data, n_jobs) for ranker in named.values()]
    return Log._of(_rankwise.simulate_clicks(data, [str(name) for name in named], scores, options))


def _sessions_of(frame: Any) -> list[dict[str, Any]]:
    """The sessions of a frame with one row per document shown."""
    names = named_columns(frame)

    def complete(wanted: tuple[str, ...]) -> list[Any]:
        return _complete(column_of(frame, names, wanted, "a log"), name_of(names, wanted, "a log"))

    ids, queries, documents = (complete(wanted) for wanted in (_SESSION, _QUERY, _DOCUMENT))
    clicked = _are_clicks(complete(_CLICKED), name_of(names, _CLICKED, "a log"))
    ranks = complete(_RANK) if any(name in names for name in _RANK) else None
    rankers = column_of(frame, names, _RANKER, "a log") if _RANKER[0] in names else None
    rows: dict[Any, list[int]] = {}
    for row, session in enumerate(ids):
        rows.setdefault(session, []).append(row)
    sessions = []
    for session, places in rows.items():
        first = places[0]
        if any(queries[row] != queries[first] for row in places):
            raise ValueError(f"the rows of session {session!r} have different queries")
        if ranks is not None:
            places.sort(key=ranks.__getitem__)
        made = {
            "id": session,
            "query": queries[first],
            "shown": [documents[row] for row in places],
            "clicks": [documents[row] for row in places if clicked[row]],
        }
        if ranks is not None:
            made["positions"] = [int(ranks[row]) for row in places]
        if rankers is not None and not is_missing(rankers[first]):
            made["ranker"] = rankers[first]
        sessions.append(made)
    return sessions


def _complete(column: list[Any], name: str) -> list[Any]:
    """The column, if no value is missing."""
    missing = [row for row, value in enumerate(column, 1) if is_missing(value)]
    if missing:
        raise ValueError(
            f"{len(missing)} of {len(column)} rows of the log have no value in the column {name}, the first of them row "
            f"{missing[0]}; leave these rows out, or fill in what is missing"
        )
    return column


def _are_clicks(column: list[Any], name: str) -> list[bool]:
    for row, value in enumerate(column, 1):
        if isinstance(value, (str, bytes)) or value not in (0, 1):
            raise ValueError(
                f"the column {name} has {value!r} in row {row}; it must have 0 and 1, or False and True, for each document shown"
            )
    return [bool(value) for value in column]
