"""Answers of SciPy and statsmodels that crates/rankwise/tests/significance.rs compares with.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install scipy statsmodels
    /tmp/venv/bin/python testdata/significance/generate.py > testdata/significance/answers.json
"""

import json
import sys

import numpy as np
import scipy
import statsmodels
from scipy.stats import permutation_test, ttest_rel
from statsmodels.stats.multitest import multipletests

random = np.random.default_rng(20070723)


def pair(n, shift, decimals):
    a = np.clip(random.normal(0.45 + shift, 0.2, n), 0, 1).round(decimals)
    b = np.clip(0.5 * a + random.normal(0.2, 0.12, n), 0, 1).round(decimals)
    return a, b


def mean_difference(a, b, axis):
    return np.mean(a - b, axis=axis)


def case(n, shift, decimals):
    a, b = pair(n, shift, decimals)
    permutation = None
    if n <= 12:
        permutation = permutation_test(
            (a, b), mean_difference, permutation_type="samples", n_resamples=np.inf, vectorized=True
        ).pvalue
    t = ttest_rel(a, b)
    return {"a": a.tolist(), "b": b.tolist(), "t_p": t.pvalue, "permutation_p": permutation}


cases = [case(n, shift, 4) for n in (2, 3, 5, 8, 12, 40, 150) for shift in (-0.1, 0.0, 0.15)]
# One decimal, as in P@10, gives many ties among differences and among sums.
cases += [case(n, shift, 1) for n in (6, 9, 12, 40) for shift in (-0.1, 0.0, 0.15)]


def holm(n):
    p = random.beta(0.4, 3, n).round(5)
    return {"p": p.tolist(), "adjusted": multipletests(p, method="holm")[1].tolist()}


answers = {
    "origin": f"scipy {scipy.__version__}, statsmodels {statsmodels.__version__}",
    "cases": cases,
    "holm": [holm(n) for n in (1, 2, 3, 6, 15, 45)],
}
json.dump(answers, sys.stdout, separators=(",", ":"))
print()
