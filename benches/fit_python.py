"""Training and scoring from Python beside the command line: the same file, and the same rows as a NumPy array.

The child reads, trains, saves and scores in one process, and reports seconds and memory for each part.

Child process: fit_python.py --child FILE MODEL THREADS
"""

import argparse
import json
import pathlib
import resource
import subprocess
import sys
import time

import common

SETTINGS = {"iterations": 100, "learning_rate": 0.1, "num_leaves": 31}


def child(path, model, threads):
    """Trains on the file and on an array of its rows, and scores the array."""
    import numpy
    import rankwise

    result, recipe = {}, rankwise.Recipe("lambda-mart", **SETTINGS)

    def timed(name, work):
        start = time.perf_counter()
        found = work()
        result[name] = time.perf_counter() - start
        return found

    data = timed("read", lambda: rankwise.read(path))
    ranker = timed("fit", lambda: recipe.fit(data, n_jobs=threads))
    timed("save", lambda: ranker.save(model))
    order, bounds, _ = data.queries
    labels, sizes, shape = data.labels, numpy.diff(bounds), data.shape
    del data
    X = numpy.random.default_rng(1).random(shape, dtype=numpy.float32)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    timed("data", lambda: rankwise.Data(X, labels, group=sizes))
    result["copied"] = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / X.nbytes
    timed("predict", lambda: ranker.score(X, n_jobs=threads))
    print(json.dumps(result))


def command(program, arguments):
    start = time.perf_counter()
    subprocess.run([program, "-q", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    program = common.ROOT / "target" / "release" / "rankwise"
    parser.add_argument("--program", default=program, help="the program rankwise, built with the profile of the wheel")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has the package rankwise")
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--child", nargs=3, metavar=("FILE", "MODEL", "THREADS"))
    if "--child" in sys.argv:
        path, model, threads = sys.argv[sys.argv.index("--child") + 1 :]
        return child(path, model, int(threads))
    arguments = parser.parse_args()
    has_package = subprocess.run([arguments.python, "-c", "import rankwise"], stderr=subprocess.DEVNULL).returncode == 0
    if not (has_package and pathlib.Path(arguments.program).exists()):
        return print("skipped: needs the program, and an interpreter with the package (--python); both of profile release")
    directory = common.DATA / f"letor-{arguments.queries}"
    directory.mkdir(parents=True, exist_ok=True)
    data = directory / "train.txt"
    if not data.exists():
        command(arguments.program, ["synth", "--shape", "mslr", "--queries", arguments.queries, "-o", data])
    models = [directory / f"{name}.json" for name in ("command", "python")]
    settings = [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]
    runs = []
    for _ in range(arguments.repeats):
        train = ["--threads", arguments.threads, "train", "lambda-mart", "--train", data, "-o", models[0], *settings]
        total = command(arguments.program, train)
        found = subprocess.run(
            [arguments.python, __file__, "--child", data, models[1], str(arguments.threads)],
            check=True, capture_output=True, text=True,
        )
        runs.append(json.loads(found.stdout) | {"command": total})
        assert models[0].read_bytes() == models[1].read_bytes(), "the models differ"
    median = {name: sorted(run[name] for run in runs)[len(runs) // 2] for name in runs[0]}
    python = median["read"] + median["fit"] + median["save"]
    common.heading("Training from Python", ["numpy"], arguments.threads)
    common.table(
        ("", "seconds"),
        [
            ("command line: read, train, evaluate, write", f"{median['command']:.2f}"),
            ("Python: read + fit + save", f"{python:.2f}"),
            ("of which fit", f"{median['fit']:.2f}"),
            ("Data from a C-ordered array of single precision", f"{median['data']:.3f}"),
            ("memory that it adds, in parts of the array", f"{median['copied']:.3f}"),
            ("predict of the same array", f"{median['predict']:.2f}"),
        ],
    )
    print(f"\nMedians of {arguments.repeats} runs; {pathlib.Path(data).name} has {data.stat().st_size >> 20} MiB. The models are equal.")


if __name__ == "__main__":
    main()
