"""A neural network of 256-128-64 units beside PyTorch: seconds per epoch and NDCG at equal settings.

Data of MSLR's shape (136 features, about 120 documents per query), features standardised, relu, Adam at 0.001, batches of
100 queries. The loss of a batch is the mean over its queries: half the sum of squares (regression), or the cross-entropy
of softmaxes (list-net). Both get the values as 32-bit floats in memory; standardising is included. PyTorch gets each batch as
one matrix, and the softmax over queries as one over a padded matrix of scores.
"""

import argparse
import pathlib
import subprocess
import sys
import time

import common
import numpy as np
from trees import data_in, ndcg

HIDDEN = (256, 128, 64)


def squared(scores, labels, rows, count):
    return 0.5 * ((scores - labels) ** 2).sum() / count


def list_net(scores, labels, rows, count):
    """Cross-entropy of softmax(labels) and softmax(scores); `rows` are (query, position) of each document."""
    import torch

    padded = torch.full((count, int(rows[1].max()) + 1), -torch.inf)
    targets = padded.index_put(rows, labels).softmax(1)
    logs = padded.index_put(rows, scores).log_softmax(1)
    return -(targets * logs.masked_fill(targets == 0, 0)).sum() / count


def contend(directory, queries, epochs, batch, learner, threads, out):
    """PyTorch in this process."""
    import torch

    torch.set_num_threads(threads)
    torch.manual_seed(1)
    values, labels, sizes = data_in(directory)
    bounds = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    train = torch.from_numpy(values[:bounds[queries]].copy())
    targets = torch.from_numpy(labels[:bounds[queries]].copy())
    loss = {"regression": squared, "list-net": list_net}[learner]
    sizes_of = [torch.arange(int(n)) for n in sizes[:queries]]
    start = time.perf_counter()
    mean, deviation = train.mean(0), train.std(0, unbiased=False)
    factor = torch.where(deviation > 0, 1 / deviation, 0)
    x = (train - mean) * factor
    units = [train.shape[1], *HIDDEN, 1]
    layers = []
    for inputs, outputs in zip(units, units[1:]):
        layers += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers[:-1])
    solver = torch.optim.Adam(model.parameters(), lr=0.001)
    for _ in range(epochs):
        order = np.random.default_rng(1).permutation(queries)
        for first in range(0, queries, batch):
            chosen = order[first:first + batch]
            index = torch.from_numpy(np.concatenate([np.arange(bounds[q], bounds[q + 1]) for q in chosen]))
            rows = None
            if learner == "list-net":
                lengths = torch.from_numpy(sizes[chosen].astype(np.int64))
                rows = (torch.arange(len(chosen)).repeat_interleave(lengths), torch.cat([sizes_of[q] for q in chosen]))
            solver.zero_grad()
            loss(model(x[index]).squeeze(1), targets[index], rows, len(chosen)).backward()
            solver.step()
    seconds = time.perf_counter() - start
    with torch.no_grad():
        scores = model((torch.from_numpy(values[bounds[queries]:].copy()) - mean) * factor).squeeze(1)
    scores.numpy().astype(np.float64).tofile(out)
    common.json.dump({"seconds": seconds}, sys.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--test-queries", type=int, default=500)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--learners", nargs="+", default=["regression"], choices=["regression", "list-net"])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--profile", default="dist", help="Cargo profile of rankwise")
    parser.add_argument("--contend", nargs=7, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.contend:
        directory, queries, epochs, batch, learner, threads, out = arguments.contend
        return contend(pathlib.Path(directory), int(queries), int(epochs), int(batch), learner, int(threads), out)

    bench = common.built("boost_bench", arguments.profile)
    total = arguments.queries + arguments.test_queries
    directory = common.DATA / f"mslr-{total}"
    if not (directory / "sizes.u32").exists():
        subprocess.run([bench, "make", f"mslr:{total}", directory], check=True)
    _, labels, sizes = data_in(directory)
    rows = int(sizes[:arguments.queries].sum())
    scores = lambda name: common.DATA / f"scores-{name}.f64"

    for learner in arguments.learners:
        for threads in arguments.threads:
            theirs = [directory, arguments.queries, arguments.epochs, arguments.batch, learner, threads, scores("torch")]
            ours = ["scorer=mlp", "layers=256-128-64", f"epochs={arguments.epochs}", f"batch={arguments.batch}"]
            results = common.interleaved({
                "torch": [sys.executable, __file__, "--contend", *theirs],
                "rankwise": [bench, "train", directory, arguments.queries, scores("rankwise"), learner, *ours],
            }, arguments.repeats, threads)
            own = common.median(results["rankwise"], "seconds")
            lines = []
            for name, found in results.items():
                seconds = common.median(found, "seconds")
                value = ndcg(np.fromfile(scores(name), np.float64), labels[rows:], sizes[arguments.queries:])
                lines.append((name, f"{seconds / arguments.epochs:.2f}", f"{seconds / own:.2f}", f"{value:.4f}"))
            common.heading(
                f"{learner} by a network, {rows:,} × 136, {arguments.epochs} epochs", ["torch"], threads
            )
            common.table(("", "seconds an epoch", "× rankwise", "NDCG@10"), lines)
    print(f"\nMedians of {arguments.repeats}, without reading; NDCG@10 on {arguments.test_queries} other queries.")


if __name__ == "__main__":
    main()
