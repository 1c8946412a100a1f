"""`rankwise.evaluate` in Python beside ranx and pytrec_eval, from the same dictionaries: seconds of the whole call, with what
each tool builds from them. Another line has labels and scores as arrays, which the others cannot take.

Child processes: eval_python.py --child rankwise|arrays|ranx|pytrec_eval
"""

import argparse
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import time

import common

# The same metrics as Rankwise, ranx and trec_eval name them.
MEASURES = [("ndcg@10", "ndcg@10", "ndcg_cut_10"), ("map", "map", "map"), ("mrr", "mrr", "recip_rank")]
OURS = ",".join(names[0] for names in MEASURES)
# Queries, documents retrieved per query, and documents judged per query.
SHAPES = {"deep": (1_000, 1_000, 100), "judged": (10_000, 100, 100), "small": (20_000, 20, 10)}
RUNS = 5


def package():
    """A folder with the Python package, built unless RANKWISE_PACKAGE names one."""
    given = os.environ.get("RANKWISE_PACKAGE")
    if given:
        return pathlib.Path(given)
    command = ["cargo", "build", "--quiet", "-p", "rankwise-python", "--profile", "dist"]
    subprocess.run(command, cwd=common.ROOT, check=True)
    folder = common.DATA / "package"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(common.ROOT / "crates/rankwise-python/python/rankwise", folder / "rankwise")
    shutil.copy(common.ROOT / "target/dist/lib_rankwise.so", folder / "rankwise/_rankwise.abi3.so")
    return folder


def dictionaries(queries, documents, judged):
    """Scores without ties; 70 % of the judged documents are retrieved. Every id is an object of its own, as after reading
    two files. Seeded: the same everywhere."""
    import numpy

    random = numpy.random.Generator(numpy.random.PCG64(20261116))
    qrels, run = {}, {}
    for query in range(queries):
        pool = random.permutation(2 * documents)
        found, kept = pool[:documents], 7 * judged // 10
        graded = numpy.concatenate([random.permutation(found)[:kept], pool[documents : documents + judged - kept]])
        grades = random.choice(5, judged, p=[0.5, 0.2, 0.15, 0.1, 0.05])
        qrels[f"q{query:06}"] = {f"d{d:06}": g for d, g in zip(graded.tolist(), grades.tolist())}
        # Integers in random order stay distinct in single precision, in which trec_eval compares scores.
        run[f"q{query:06}"] = {f"d{d:06}": float(s) for d, s in zip(found.tolist(), random.permutation(documents).tolist())}
    return qrels, run


def as_arrays(qrels, run):
    """The retrieved documents with their labels; unjudged ones count 0."""
    import numpy

    labels = [qrels[query].get(document, 0) for query, documents in run.items() for document in documents]
    scores = [score for documents in run.values() for score in documents.values()]
    sizes = [len(documents) for documents in run.values()]
    return numpy.array(labels, dtype="f4"), numpy.array(scores), numpy.array(sizes)


def evaluator(tool, qrels, run, threads):
    if tool == "rankwise":
        import rankwise

        return lambda: list(rankwise.evaluate(qrels, run, OURS, n_jobs=threads).mean.values())
    if tool == "arrays":
        import rankwise

        labels, scores, sizes = as_arrays(qrels, run)
        return lambda: list(rankwise.evaluate(labels, scores, OURS, group=sizes, n_jobs=threads).mean.values())
    if tool == "ranx":
        import ranx

        names = [names[1] for names in MEASURES]

        def evaluate():
            built = ranx.Qrels(qrels), ranx.Run(run)
            means = ranx.evaluate(*built, names, threads=threads, save_results_in_run=False)
            return [float(means[name]) for name in names]

        return evaluate
    import pytrec_eval

    def ask():
        found = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "map", "recip_rank"}).evaluate(run).values()
        return [sum(values[names[2]] for values in found) / len(found) for names in MEASURES]

    return ask


def child(tool, shape, threads):
    """The fastest of several runs in seconds, and the mean of each metric."""
    evaluate = evaluator(tool, *dictionaries(*SHAPES[shape]), threads)
    evaluate()
    seconds = math.inf
    for _ in range(RUNS):
        start = time.perf_counter()
        means = evaluate()
        seconds = min(seconds, time.perf_counter() - start)
    print(json.dumps({"seconds": seconds, "means": means}))


def measure(shape, arguments):
    queries, documents, judged = SHAPES[shape]
    options = ["--threads", arguments.threads, "--shapes", shape]
    contender = lambda tool: [sys.executable, __file__, *options, "--child", tool]
    contenders = {tool: contender(tool) for tool in ("rankwise", "arrays", "ranx", "pytrec_eval")}
    results = common.interleaved(contenders, arguments.repeats, arguments.threads)
    expected = results["rankwise"][0]["means"]
    for tool in ("rankwise", "ranx", "pytrec_eval"):
        for found in results[tool]:
            agree = all(math.isclose(a, b, rel_tol=1e-9) for a, b in zip(found["means"], expected, strict=True))
            assert agree, f"{tool} disagrees: {found['means']}, {expected}"
    title = f"Evaluating {OURS} of {queries} queries, {documents} documents each, {judged} judged"
    common.heading(title, ["ranx", "pytrec-eval-terrier"], arguments.threads)
    seconds = {tool: common.median(found, "seconds") for tool, found in results.items()}
    rows = [
        (tool, f"{taken:.4f}", f"{taken / seconds['rankwise']:.1f}", f"{taken / seconds['arrays']:.1f}")
        for tool, taken in seconds.items()
    ]
    common.table(("tool", "seconds", "dictionaries=1", "arrays=1"), rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=SHAPES)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--child", metavar="TOOL")
    arguments = parser.parse_args()
    if arguments.child:
        return child(arguments.child, arguments.shapes[0], arguments.threads)
    common.DATA.mkdir(exist_ok=True)
    os.environ["PYTHONPATH"] = str(package())
    for shape in arguments.shapes:
        measure(shape, arguments)
    print(f"\nMedians of {arguments.repeats}, each the fastest of {RUNS} runs in one process; pytrec_eval has one thread.")


if __name__ == "__main__":
    main()
