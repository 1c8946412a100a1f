"""Conditional models over sampled rankings: seconds by rankings per query and by queries.

No other tool has these, so this compares Rankwise with itself, at a fixed number of steps, on synthetic data of
OHSUMED's shape: 150 documents per query, 45 features. The time to sample the rankings is included.
"""

import argparse

import common


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learner", default="convex-loss")
    parser.add_argument("--samples", type=int, nargs="+", default=[500, 1000, 2000, 4000])
    parser.add_argument("--queries", type=int, nargs="+", default=[60, 120, 240, 480])
    parser.add_argument("--steps", type=int, default=50, help="steps of the optimiser")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--profile", default="dist", help="Cargo profile of rankwise")
    arguments = parser.parse_args()

    bench = common.built("train_bench", arguments.profile)
    fewest, least = arguments.queries[0], 1000
    cases = [(fewest, samples) for samples in arguments.samples] + [(q, least) for q in arguments.queries]
    settings = [f"rounds={arguments.steps}", "tolerance=1e-12"]
    command = lambda queries, samples: [
        bench, f"ohsumed:{queries}:150:45", arguments.learner, f"samples={samples}", *settings,
    ]
    results = common.interleaved({case: command(*case) for case in cases}, arguments.repeats, arguments.threads)
    rows = []
    for queries, samples in cases:
        found = results[queries, samples]
        seconds = common.median(found, "seconds")
        rows.append((
            queries, samples, f"{seconds:.3f}", f"{1e9 * seconds / (queries * samples * found[0]['rounds']):.1f}",
            f"{common.median(found, 'peak_bytes') / 1e6:.0f}",
        ))

    common.heading(f"{arguments.learner} over sampled rankings", [], arguments.threads)
    common.table(("queries", "rankings a query", "seconds", "ns a ranking and step", "peak MB"), rows)
    print(f"\nMedians of {arguments.repeats}. Growth is linear if all rows have the same time per ranking and step.")


if __name__ == "__main__":
    main()
