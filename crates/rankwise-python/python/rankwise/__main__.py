"""`python -m rankwise run`: experiment files on Ray, Dask or local processes.

Everything else is a command of the program `rankwise`.
"""

from __future__ import annotations

import argparse
import sys

import rankwise


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m rankwise", description="Rankwise with Python's engines.")
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run", help="run an experiment file: data sets × folds × learners × settings")
    run.add_argument("experiment", metavar="EXPERIMENT", help="experiment file, TOML")
    run.add_argument("-o", "--output", metavar="DIR", help="directory to write to; results/NAME when not given")
    run.add_argument("--keep-models", action="store_true", help="write the chosen model of every fold to DIR/models")
    run.add_argument("--fresh", action="store_true", help="start over, whatever the directory contains")
    run.add_argument("--engine", choices=["ray", "dask", "local"], help="who runs the jobs; this process when not given")
    run.add_argument("--address", help="address of a running Ray cluster or of a Dask scheduler")
    run.add_argument("--workers", type=int, help="number of processes, with --engine local")
    run.add_argument("--limit", type=float, default=60.0, help="seconds after which jobs that cannot run are an error")
    run.add_argument("--threads", type=int, help="number of threads; with an engine, of each job")
    return parser


def _client(engine: str | None, address: str | None) -> object:
    """Connects to the cluster. Returns Dask's client."""
    if engine == "ray":
        import ray

        ray.init(address=address)
    elif engine == "dask":
        from distributed import Client

        return Client(address)
    elif address is not None:
        raise ValueError("--address is for --engine ray and --engine dask")
    return None


def main() -> int:
    """Returns the exit code: 1 if a job failed or an expected figure was not met, 2 if the run could not end."""
    given = _parser().parse_args()
    try:
        result = rankwise.run(
            given.experiment,
            given.output,
            keep_models=given.keep_models,
            fresh=given.fresh,
            n_jobs=given.threads,
            engine=given.engine,
            client=_client(given.engine, given.address),
            workers=given.workers,
            limit=given.limit,
        )
    except (ImportError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; the same command continues from here", file=sys.stderr)
        return 130
    print(result)
    for failure in result.failures:
        print(failure, file=sys.stderr)
    return 0 if result.succeeded else 1


if __name__ == "__main__":
    sys.exit(main())
