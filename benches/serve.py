"""Serving beside a FastAPI service with LightGBM: latencies and requests per second, one core for the server, one for the client.

Both score with the same 100 trees, which LightGBM trained on synthetic data of MSLR's shape (136 features). `/rank` computes the features of
100 documents of a synthetic index and orders them with 100 trees of LambdaMART.

Latencies count from when a request was due, so a slow server cannot slow down the clock; p99 (s) counts from when it was sent.

serve.py [--seconds N] [--only NAME,…] [--plot FILE]
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import textwrap
import time
import urllib.request

import common
import numpy

FEATURES, ROWS, TREES, LEAVES = 136, 100, 100, 31
DOCUMENTS, WORDS = 20_000, 5_000
SERVER_CORE, CLIENT_CORE = "0", "1"
# So many connections that requests do not wait for one when the server is slow.
CROWD = 128
WORK = common.DATA / "serve"

# What people would write instead: thirty lines.
FASTAPI = '''
import lightgbm
import numpy
from fastapi import FastAPI
from pydantic import BaseModel

app = FastAPI()
model = lightgbm.Booster(model_file="MODEL")


class Body(BaseModel):
    rows: list[list[float | None]]


@app.get("/health")
def health():
    return {"status": "ok"}


@app.post("/score")
def score(body: Body):
    rows = numpy.array(body.rows, dtype=numpy.float32)
    return {"scores": model.predict(rows, num_threads=1).tolist()}
'''


def program(name, package, profile):
    """A program of this repository, built if need be."""
    if (common.PACKED / name).exists():
        return common.PACKED / name
    kind = ["--bin", name] if name == "rankwise" else ["--example", name]
    subprocess.run(["cargo", "build", "--quiet", "-p", package, "--profile", profile, *kind], cwd=common.ROOT, check=True)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", common.ROOT / "target"))
    return target / profile / (name if name == "rankwise" else f"examples/{name}")


def make_model(path):
    """100 trees of LightGBM, which both servers read."""
    import lightgbm

    numbers = numpy.random.default_rng(1)
    values = numbers.normal(size=(20_000, FEATURES)).astype(numpy.float32)
    labels = numpy.clip(values[:, :8].sum(axis=1) / 2 + numbers.normal(size=len(values)), 0, 4).round().astype(int)
    data = lightgbm.Dataset(values, labels, group=[100] * 200)
    options = {"objective": "lambdarank", "num_leaves": LEAVES, "verbosity": -1, "num_threads": 2, "seed": 1}
    lightgbm.train(options, data, num_boost_round=TREES).save_model(path)


def make_index(rankwise, directory):
    """An index of synthetic documents and a model of 100 trees on its features."""
    words = [f"{a}{b}{c}" for a in "bdfglmnprst" for b in ("a", "ei", "o", "u", "ia") for c in ("ck", "lan", "mor", "n", "rd", "st", "vel")]
    numbers = random.Random(1)
    words = [first + second for first in words for second in words[:20]][:WORDS]
    weights = [1 / (rank + 1) for rank in range(len(words))]
    with open(directory / "docs.jsonl", "w") as file:
        for number in range(DOCUMENTS):
            title = " ".join(numbers.choices(words, weights, k=6))
            body = " ".join(numbers.choices(words, weights, k=numbers.randint(40, 200)))
            file.write(json.dumps({"id": f"d{number}", "title": title, "body": body}) + "\n")
    queries = [" ".join(numbers.sample(words[20:2000], 2)) for _ in range(200)]
    (directory / "q.tsv").write_text("".join(f"q{number}\t{query}\n" for number, query in enumerate(queries)))

    def run(*arguments):
        subprocess.run([rankwise, *map(str, arguments)], cwd=directory, check=True, stdout=subprocess.DEVNULL)

    run("index", "docs.jsonl", "-o", "docs.idx", "--fields", "title,body")
    run("search", "docs.idx", "--queries", "q.tsv", "-k", 100, "-o", "bm25.run")
    lines = [line.split() for line in (directory / "bm25.run").read_text().splitlines()]
    # Relevance that BM25 alone does not know.
    qrels = [f"{query} 0 {document} {(int(document[1:]) * 7919 + int(rank) // 8) % 3}\n" for query, _, document, rank, *_ in lines]
    (directory / "qrels.txt").write_text("".join(qrels))
    run("features", "docs.idx", "--queries", "q.tsv", "--qrels", "qrels.txt", "-o", "train.csv")
    run("train", "lambda-mart", "--train", "train.csv", "-o", "rank.json", "--set", f"iterations={TREES}")
    first = [line[2] for line in lines if line[0] == "q0"]
    body = {"query": queries[0], "ids": first[:ROWS]}
    (directory / "rank.body").write_text(json.dumps(body))


def prepare(rankwise):
    WORK.mkdir(parents=True, exist_ok=True)
    if not (WORK / "trees.txt").exists():
        make_model(WORK / "trees.txt")
    if not (WORK / "rank.json").exists():
        make_index(rankwise, WORK)
    rows = numpy.random.default_rng(2).normal(size=(ROWS, FEATURES)).astype("<f4")
    (WORK / "rows.f32").write_bytes(rows.tobytes())
    (WORK / "rows.json").write_text(json.dumps({"rows": [[float(f"{value:.6g}") for value in row] for row in rows]}))
    (WORK / "service.py").write_text(FASTAPI.replace("MODEL", str(WORK / "trees.txt")))


@contextlib.contextmanager
def running(command, port):
    """A server on its core, until it is no longer needed."""
    process = subprocess.Popen(["taskset", "-c", SERVER_CORE, *map(str, command)], cwd=WORK, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1).read()
                break
            time.sleep(0.1)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def resident(process):
    """Memory of a process in MB."""
    lines = pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


class Client:
    def __init__(self, program, seconds):
        self.program, self.seconds = program, seconds

    def load(self, url, rate, connections, body, kind="application/json", seconds=None):
        """Latencies in microseconds at a rate; 0 sends as fast as answers come."""
        command = ["taskset", "-c", CLIENT_CORE, self.program, url, "--rate", rate, "--seconds", seconds or self.seconds]
        command += ["--connections", connections, "--body", WORK / body, "--header", f"content-type: {kind}"]
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=True)
        return json.loads(done.stdout)


def shown(name, found):
    latency = found["accepted_us"] or {"p50": 0, "p99": 0, "p999": 0}
    columns = [f"{found['rate']:>6.0f}" if found["rate"] else "     –", f"{found['per_second']:>7.0f}"]
    served = found["served_us"] or latency
    columns += [f"{latency[key] / 1000:>7.2f}" for key in ("p50", "p99", "p999")]
    columns += [f"{served['p99'] / 1000:>7.2f}", f"{found['refused']:>7}", f"{found['failed']:>6}"]
    print(f"{name:<28} {' '.join(columns)}", flush=True)


def measure(rankwise, client, only):
    binary, port = "application/octet-stream", 7797
    results = {}

    def run(name, *arguments, **options):
        if not only or any(name.startswith(part) for part in only):
            results[name] = client.load(*arguments, **options)
            shown(name, results[name])

    print(f"{'':<28} {'asked':>6} {'per s':>7} {'p50 ms':>7} {'p99 ms':>7} {'99.9 %':>7} {'p99 (s)':>7} {'refused':>7} {'failed':>6}")
    address = f"127.0.0.1:{port}"
    command = [rankwise, "--threads", 1, "serve", WORK / "docs.idx", "--model", f"m={WORK / 'rank.json'}", "--listen", address]
    with running(command, port):
        url = f"http://{address}/v1/rank"
        client.load(url, 0, 4, "rank.body", seconds=1)
        for rate in (250, 500, 1000, 2000):
            run(f"rank {rate}", url, rate, 16, "rank.body")
        run("rank, as fast as it can", url, 0, 8, "rank.body")
        for rate in (3000, 10_000):
            run(f"rank, overload {rate}", url, rate, CROWD, "rank.body")
    command = [rankwise, "--threads", 1, "serve", "--model", f"m={WORK / 'trees.txt'}", "--listen", address]
    with running(command, port) as server:
        url = f"http://{address}/v1/score"
        raw = f"{url}?features={FEATURES}"
        client.load(raw, 0, 4, "rows.f32", kind=binary, seconds=1)
        before = resident(server)
        for rate in (1000, 2500, 5000):
            run(f"raw {rate}", raw, rate, 16, "rows.f32", kind=binary)
        run("raw, as fast as it can", raw, 0, 8, "rows.f32", kind=binary)
        run("raw, overload 15000", raw, 15_000, CROWD, "rows.f32", kind=binary)
        for rate in (500, 1000, 2000):
            run(f"json {rate}", url, rate, 16, "rows.json")
        run("json, as fast as it can", url, 0, 8, "rows.json")
        for rate in (6000, 10_000):
            run(f"json, overload {rate}", url, rate, CROWD, "rows.json")
        print(f"memory: {before:.0f} MB before, {resident(server):.0f} MB after")
    command = [sys.executable, "-m", "uvicorn", "service:app", "--port", port, "--workers", 1, "--log-level", "error", "--no-access-log"]
    with running(command, port):
        url = f"http://127.0.0.1:{port}/score"
        client.load(url, 0, 4, "rows.json", seconds=1)
        for rate in (25, 50, 75):
            run(f"FastAPI {rate}", url, rate, 8, "rows.json")
        run("FastAPI, as fast as it can", url, 0, 8, "rows.json")
    return results


def plot(results, path):
    """Median and 99th percentile by the rate, on logarithmic axes, as SVG."""
    series = {"/rank of 100 ids": "rank ", "/score, bytes": "raw ", "/score, JSON": "json ", "FastAPI + LightGBM, JSON": "FastAPI "}
    colours = ["#0072b2", "#009e73", "#d55e00", "#777777"]
    import math

    x = lambda rate: 60 + 560 * (math.log10(rate) - 1) / 3
    y = lambda ms: 320 - 280 * (math.log10(ms) + 1) / 4
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 380" font-family="system-ui, sans-serif" font-size="13">']
    parts.append('<rect width="860" height="380" fill="white"/>')
    for rate in (10, 100, 1000, 10_000):
        parts.append(f'<path d="M{x(rate):.0f} 40V320" stroke="#ddd"/><text x="{x(rate):.0f}" y="340" text-anchor="middle">{rate:,}</text>')
    for ms in (0.1, 1, 10, 100, 1000):
        parts.append(f'<path d="M60 {y(ms):.0f}H620" stroke="#ddd"/><text x="52" y="{y(ms) + 4:.0f}" text-anchor="end">{ms:g}</text>')
    parts.append('<text x="340" y="366" text-anchor="middle">requests per second</text><text x="60" y="26">latency in ms: line 99th percentile, dashes median</text>')
    for (title, prefix), colour, place in zip(series.items(), colours, range(4)):
        points = [(found["rate"], found["accepted_us"]) for name, found in results.items() if name.startswith(prefix) and found["rate"] and "overload" not in name and found["accepted_us"]]
        for key, dashes in (("p99", ""), ("p50", ' stroke-dasharray="5 4"')):
            line = " ".join(f"{x(rate):.1f},{y(latency[key] / 1000):.1f}" for rate, latency in points)
            parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
        parts.append(f'<path d="M640 {60 + 24 * place}h24" stroke="{colour}" stroke-width="3"/><text x="672" y="{64 + 24 * place}">{title}</text>')
    path.write_text("\n".join(parts) + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--profile", default="dist")
    parser.add_argument("--only", type=lambda text: text.split(","), help="names of measurements, or how they begin")
    parser.add_argument("--plot", type=pathlib.Path)
    arguments = parser.parse_args()
    rankwise = program("rankwise", "rankwise-cli", arguments.profile)
    client = Client(program("load_bench", "rankwise-server", arguments.profile), arguments.seconds)
    prepare(rankwise)
    results = measure(rankwise, client, arguments.only)
    (WORK / "results.json").write_text(json.dumps(results, indent=1))
    if arguments.plot:
        plot(results, arguments.plot)


if __name__ == "__main__":
    main()
