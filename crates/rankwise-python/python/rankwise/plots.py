"""Charts with matplotlib. Each function draws on `ax`, or on a new figure, and returns the axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def _axes(ax: Any, width: float = 6.4, height: float = 4.0) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as missing:
        raise ImportError("plots need matplotlib: pip install 'rankwise[plot]'") from missing
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def bars(values: np.ndarray, names: Sequence[str], label: str, top: int = 20, ax: Any = None) -> Any:
    """The largest values as horizontal bars, the largest at the top.

    >>> import numpy as np
    >>> from rankwise import plots
    >>> axes = plots.bars(np.array([3.0, 1.0]), ["bm25", "price"], "gain")
    >>> [text.get_text() for text in axes.get_yticklabels()]
    ['price', 'bm25']
    """
    order = np.argsort(-np.abs(values), kind="stable")[:top][::-1]
    ax = _axes(ax, height=1.2 + 0.25 * len(order))
    ax.barh([str(names[i]) for i in order], np.asarray(values)[order])
    ax.set_xlabel(label)
    ax.margins(y=0.01)
    return ax


def importance(model: Any, top: int = 20, ax: Any = None) -> Any:
    """The importance of features in a model: total gain in trees, absolute weight in a linear model.

    >>> import rankwise as rw
    >>> from rankwise import plots
    >>> X, y, qid = [[0.2, 3], [0.9, 1], [0.4, 2], [0.1, 2]], [0, 2, 1, 0], [1, 1, 2, 2]
    >>> data = rw.Data(X, y, qid=qid, names=["bm25", "price"])
    >>> plots.importance(rw.Recipe("list-net").fit(data)).get_xlabel()
    'absolute weight'
    """
    ranker = getattr(model, "ranker_", model)
    values = ranker.feature_importances
    if values is None:
        raise ValueError("a neural network has no feature importances of its own; use permutation_importance")
    names = ranker.feature_names or [f"x{column}" for column in range(ranker.n_features)]
    return bars(values, names, "absolute weight" if ranker.weights is not None else "total gain", top, ax)


def history(model: Any, ax: Any = None) -> Any:
    """The values of each iteration of training; a dot marks the best one on validation queries.

    >>> import rankwise as rw
    >>> from rankwise import plots
    >>> X, y, qid = [[0.2, 3], [0.9, 1], [0.4, 2], [0.1, 2]], [0, 2, 1, 0], [1, 1, 2, 2]
    >>> data = rw.Data(X, y, qid=qid, names=["bm25", "price"])
    >>> ranker = rw.Recipe("lambda-mart", iterations=5, min_data_in_leaf=1).fit(data, valid=data)
    >>> plots.history(ranker).get_ylabel()
    'ndcg@10 (valid)'
    """
    values = getattr(model, "history_", None) or getattr(model, "history", None)
    if not values:
        raise ValueError("the model has no history; it is kept by training, and not in a model file")
    ax = _axes(ax)
    for name, curve in values.items():
        iterations = np.arange(1, len(curve) + 1)
        (line,) = ax.plot(iterations, curve, label=name)
        if name.endswith("(valid)"):
            best = int(np.argmax(curve))
            ax.plot(iterations[best], curve[best], "o", color=line.get_color())
    ax.set_xlabel("iteration")
    ax.set_ylabel(" / ".join(values))
    if len(values) > 1:
        ax.legend()
    return ax


def contributions(explanation: Any, row: int, top: int = 12, ax: Any = None) -> Any:
    """What the features contribute to the score of one row: to the right what raises it, to the left what lowers it.

    >>> import rankwise as rw
    >>> from rankwise import plots
    >>> X, y, qid = [[0.2, 3], [0.9, 1], [0.4, 2], [0.1, 2]], [0, 2, 1, 0], [1, 1, 2, 2]
    >>> data = rw.Data(X, y, qid=qid, names=["bm25", "price"])
    >>> from rankwise.sklearn import ListNet
    >>> plots.contributions(ListNet().fit(X, y, qid=qid).explain(X), row=1).get_xlabel()
    'contribution to the score'
    """
    values = explanation.values[row]
    ax = bars(values, explanation.feature_names, "contribution to the score", top, ax)
    ax.axvline(0, color="0.5", linewidth=0.8)
    ax.set_title(f"score {explanation.base + values.sum():.4g}, of which the base is {explanation.base:.4g}", fontsize=9)
    return ax


def ndcg_at_k(data: Any, systems: Mapping[str, Any], depths: Sequence[int] = tuple(range(1, 21)), ax: Any = None) -> Any:
    """Mean NDCG@k of systems, given as scores of a `Data`, as rankers or as fitted estimators, against k.

    >>> import rankwise as rw
    >>> from rankwise import plots
    >>> X, y, qid = [[0.2, 3], [0.9, 1], [0.4, 2], [0.1, 2]], [0, 2, 1, 0], [1, 1, 2, 2]
    >>> data = rw.Data(X, y, qid=qid, names=["bm25", "price"])
    >>> axes = plots.ndcg_at_k(data, {"price": [-3, -1, -2, -2], "learned": rw.Recipe("list-net").fit(data)}, range(1, 4))
    >>> [text.get_text() for text in axes.get_legend().get_texts()]
    ['price', 'learned']
    """
    import rankwise as rw

    ax = _axes(ax)
    metrics = [f"ndcg@{k}" for k in depths]
    for name, system in systems.items():
        mean = rw.evaluate(data, system, metrics).mean
        ax.plot(depths, [mean[metric] for metric in metrics], marker=".", label=name)
    ax.set_xlabel("k")
    ax.set_ylabel("NDCG@k")
    ax.legend()
    return ax
