"""Explanations of scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Explanation:
    """What each feature contributes to each score. The base and the contributions of a row sum to its score.

    >>> import numpy as np
    >>> from rankwise._explanation import Explanation
    >>> explanation = Explanation(np.array([[0.5, -0.2]]), 1.0, ["bm25", "price"])
    >>> round(float(explanation.base + explanation.values[0].sum()), 4)
    1.3
    """

    values: np.ndarray
    base: float
    feature_names: list[str]

    def plot(self, top: int = 20, ax: Any = None) -> Any:
        """Draws the features with the largest mean contribution, by absolute value."""
        from rankwise import plots

        return plots.bars(np.abs(self.values).mean(axis=0), self.feature_names, "mean |contribution|", top, ax)
