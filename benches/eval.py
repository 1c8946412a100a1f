"""Evaluating rankings beside ranx and pytrec_eval: seconds, after their objects are built and compiled.

Child processes: eval.py --child ranx|pytrec_eval FILE
"""

import argparse
import json
import math
import sys
import time

import common

# The same metrics as Rankwise, ranx and trec_eval name them.
MEASURES = [("ndcg@10", "ndcg@10", "ndcg_cut_10"), ("map", "map", "map"), ("mrr", "mrr", "recip_rank")]
# As in eval_bench.rs, after one run to warm up.
RUNS = 5


def make_file(path, queries, documents):
    """Scores without ties and labels 0 to 4, most of them 0. Seeded: the same bytes everywhere."""
    import numpy

    random = numpy.random.Generator(numpy.random.PCG64(20261115))
    # Integers in random order stay distinct in single precision, in which trec_eval compares scores.
    scores = numpy.array([random.permutation(documents) for _ in range(queries)], dtype="<f8")
    grades = random.choice(5, (queries, documents), p=[0.7, 0.15, 0.1, 0.04, 0.01]).astype("<f4")
    path.write_bytes(scores.tobytes() + grades.tobytes())


def as_dictionaries(path, queries, documents):
    import numpy

    total = queries * documents
    scores = numpy.fromfile(path, "<f8", total).reshape(queries, documents).tolist()
    grades = numpy.fromfile(path, "<f4", total, offset=8 * total).astype(int).reshape(queries, documents).tolist()
    ids = [f"d{d}" for d in range(documents)]
    by_query = lambda rows: {f"q{q:06}": dict(zip(ids, row)) for q, row in enumerate(rows)}
    return by_query(grades), by_query(scores)


def child(tool, path, queries, documents, threads):
    """The fastest of several runs in seconds, and the mean of each metric."""
    grades, scores = as_dictionaries(path, queries, documents)
    if tool == "ranx":
        import ranx

        qrels, run = ranx.Qrels(grades), ranx.Run(scores)
        names = [names[1] for names in MEASURES]

        def evaluate():
            means = ranx.evaluate(qrels, run, names, threads=threads, save_results_in_run=False)
            return [float(means[name]) for name in names]
    else:
        import pytrec_eval

        evaluator = pytrec_eval.RelevanceEvaluator(grades, {"ndcg_cut.10", "map", "recip_rank"})

        def evaluate():
            found = evaluator.evaluate(scores).values()
            return [sum(values[names[2]] for values in found) / len(found) for names in MEASURES]

    evaluate()
    seconds = math.inf
    for _ in range(RUNS):
        start = time.perf_counter()
        means = evaluate()
        seconds = min(seconds, time.perf_counter() - start)
    print(json.dumps({"seconds": seconds, "means": means}))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--child", nargs=2, metavar=("TOOL", "FILE"))
    arguments = parser.parse_args()
    queries, documents, threads = arguments.queries, arguments.documents, arguments.threads
    if arguments.child:
        return child(*arguments.child, queries, documents, threads)

    common.DATA.mkdir(exist_ok=True)
    path = common.DATA / f"rankings-{queries}-{documents}.bin"
    make_file(path, queries, documents)
    shape = ["--queries", queries, "--documents", documents, "--threads", threads]
    other = lambda tool: [sys.executable, __file__, *shape, "--child", tool, path]
    ours = ",".join(names[0] for names in MEASURES)
    contenders = {
        "rankwise": [common.built("eval_bench"), path, queries, documents, ours],
        "ranx": other("ranx"),
        "pytrec_eval": other("pytrec_eval"),
    }
    results = common.interleaved(contenders, arguments.repeats, threads)
    expected = results["rankwise"][0]["means"]
    for found in (result for tool in results.values() for result in tool):
        agree = all(math.isclose(a, b, rel_tol=1e-9) for a, b in zip(found["means"], expected, strict=True))
        assert agree, f"the tools disagree: {found['means']}, {expected}"

    packages = ["ranx", "pytrec-eval-terrier"]
    common.heading(f"Evaluating {ours} of {queries} queries, {documents} documents each", packages, threads)
    least = common.median(results["rankwise"], "seconds")
    rows = []
    for tool, found in results.items():
        seconds = common.median(found, "seconds")
        rows.append((tool, f"{seconds:.4f}", f"{queries / seconds:.0f}", f"{seconds / least:.1f}"))
    common.table(("tool", "seconds", "queries/s", "time, ours=1"), rows)
    print(f"\nMedians of {arguments.repeats}, each the fastest of {RUNS} runs in one process; pytrec_eval has one thread.")


if __name__ == "__main__":
    main()
