"""Max-margin learners: seconds to a duality gap of 1e-3 at C = 1, and growth with the number of queries.

No other tool solves these problems, so this compares Rankwise with itself: five folds of OHSUMED, and synthetic data
of LETOR's .gov shape with 75 queries and 100 times as many.
"""

import argparse

import common

LEARNERS = ("svm-auc", "svm-map", "svm-ndcg", "svm-mrr", "min-perturb")


def folds(directory):
    """The training files of LETOR's five folds: three of five parts each."""
    for first in range(5):
        yield ",".join(str(directory / f"S{(first + i) % 5 + 1}.txt.zst") for i in range(3))


def gov(queries):
    return f"letor-gov:{queries}:1000:64"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learners", nargs="+", default=LEARNERS)
    parser.add_argument("--queries", type=int, default=75)
    parser.add_argument("--times", type=int, default=100, help="the last column has this many times the queries")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--profile", default="dist", help="Cargo profile of rankwise")
    arguments = parser.parse_args()

    bench = common.built("train_bench", arguments.profile)
    ohsumed = list(folds(common.PUBLIC / "ohsumed"))
    rows = []
    for learner in arguments.learners:
        command = lambda data: [bench, data, learner, "c=1", "gap=1e-3"]
        contenders = {data: command(data) for data in [*ohsumed, gov(arguments.queries)]}
        results = common.interleaved(contenders, arguments.repeats, arguments.threads)
        # One run is enough if it takes long.
        results |= common.interleaved({"large": command(gov(arguments.queries * arguments.times))}, 1, arguments.threads)
        assert all(r["outcome"] == "converged" for found in results.values() for r in found), learner
        five = sum(common.median(results[data], "seconds") for data in ohsumed)
        small, large = (common.median(results[name], "seconds") for name in (gov(arguments.queries), "large"))
        rounds = results[gov(arguments.queries)][0]["rounds"], results["large"][0]["rounds"]
        rows.append((
            learner, f"{five:.3f}", f"{small:.3f}", rounds[0], f"{large:.1f}", rounds[1],
            f"{large / small / arguments.times:.2f}",
        ))

    common.heading("Large-margin learners to a gap of 1e-3 at C = 1", [], arguments.threads)
    header = ("learner", "OHSUMED, 5 folds s", "gov s", "rounds", f"gov ×{arguments.times} s", "rounds", "growth")
    common.table(header, rows)
    print(f"\nMedians of {arguments.repeats}; reading or making the data is not included. gov: {arguments.queries} queries of about 1,000")
    print("documents with 64 features. growth: ratio of seconds by ratio of queries; 1 is linear.")


if __name__ == "__main__":
    main()
