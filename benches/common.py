"""Shared by all benchmarks: tools run in their own processes, interleaved; results are tables of 80 columns."""

import importlib.metadata
import json
import os
import pathlib
import platform
import shlex
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
DATA = HERE / ".data"
# What `benches/pack` has put together for a machine without Rust and without registries.
PACKED = HERE / ".packed"
# Public data sets; docs/data.md says how to put them there.
PUBLIC = ROOT / "data"
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "RAYON_NUM_THREADS")


def built(example, profile="dist"):
    """The path of an example program of the library, which is built unless it was packed."""
    if (PACKED / example).exists():
        return PACKED / example
    command = ["cargo", "build", "--quiet", "-p", "rankwise", "--profile", profile, "--example", example]
    subprocess.run(command, cwd=ROOT, check=True)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / profile / "examples" / example


def run_json(command, threads):
    """Runs one tool alone on `threads` cores and threads; the last line it prints is its result as JSON."""
    environment = dict(os.environ, **{name: str(threads) for name in THREAD_VARIABLES})
    cores = ",".join(str(core) for core in sorted(os.sched_getaffinity(0))[:threads])
    pinned = ["taskset", "-c", cores, *map(str, command)]
    done = subprocess.run(pinned, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def interleaved(contenders, repeats, threads):
    """Results of each tool, `{name: [result, …]}`. Every round runs all tools once, so that other load on the machine
    affects them equally."""
    results = {name: [] for name in contenders}
    for round_number in range(repeats):
        for name, command in contenders.items():
            print(f"round {round_number + 1}/{repeats}: {name}", file=sys.stderr)
            results[name].append(run_json(command, threads))
    return results


def median(results, key):
    """The median of one figure over the repeats."""
    return statistics.median(result[key] for result in results)


def memory(field):
    """A field of /proc/self/status in bytes: VmRSS is the current size, VmHWM the peak."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def forget_peak_memory():
    """Resets VmHWM to the current size."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")


def revision():
    """The commit that is measured."""
    if (PACKED / "revision").exists():
        return (PACKED / "revision").read_text().strip()
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.strip()


def version(package):
    """The version of a package, which may be its smaller build for processors only."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return importlib.metadata.version(package + "-cpu")


def heading(title, packages, threads):
    """Prints what was measured, where, with which versions and which command."""
    model = platform.processor() or platform.machine()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = [f"{package} {version(package)}" for package in packages]
    print(f"\n{title}")
    print(f"machine:  {model}, {os.cpu_count()} cores, {gigabytes:.0f} GiB, {platform.system()}")
    print(f"versions: {', '.join([f'rankwise {revision()}', *versions])}, Python {platform.python_version()}")
    print(f"command:  benches/run {pathlib.Path(sys.argv[0]).name} -- {shlex.join(sys.argv[1:])}".rstrip(" -"))
    print(f"threads:  {threads}\n")


def table(header, rows):
    """Prints rows under a header: the first column to the left, the others to the right."""
    cells = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    for number, row in enumerate(cells):
        first = row[0].ljust(widths[0])
        print("  ".join([first, *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]))
        if number == 0:
            print("  ".join("-" * width for width in widths))
