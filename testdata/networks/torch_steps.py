"""Makes steps.json: small networks before and after a few steps of PyTorch.

    pip install torch numpy; python testdata/networks/torch_steps.py > testdata/networks/steps.json

The loss of a batch is the mean over its queries of half the sum of squared differences of score and label. Weights decay,
biases do not, by param groups; AdamW decays as in its paper; for SGD the decay is applied by hand before each step.
"""

import json

import numpy as np
import torch

WIDTH, SIZES, HIDDEN, STEPS = 5, [4, 7, 3, 6], [6, 3], 8
BATCHES = [[0, 1], [2, 3], [1, 3], [2, 0]] * 2
CASES = [
    dict(solver="adam", activation="relu", rate=0.02, decay=0.0, clip=0.0, schedule="constant", momentum=0.0),
    dict(solver="adam", activation="tanh", rate=0.05, decay=0.1, clip=0.5, schedule="cosine", momentum=0.0),
    dict(solver="sgd", activation="tanh", rate=0.01, decay=0.0, clip=0.0, schedule="linear", momentum=0.9),
    dict(solver="sgd", activation="relu", rate=0.03, decay=0.2, clip=1.5, schedule="constant", momentum=0.5),
]


def run(case, values, labels):
    x = torch.from_numpy((values - values.mean(0)) / values.std(0)).float()
    y = torch.from_numpy(labels).float()
    units = [WIDTH, *HIDDEN, 1]
    linear = [torch.nn.Linear(a, b) for a, b in zip(units, units[1:])]
    activation = {"relu": torch.relu, "tanh": torch.tanh}[case["activation"]]
    numbers = lambda: [{"weights": l.weight.detach().flatten().tolist(), "biases": l.bias.detach().tolist()} for l in linear]
    before = numbers()
    weights, biases = [l.weight for l in linear], [l.bias for l in linear]
    if case["solver"] == "adam":
        groups = [{"params": weights, "weight_decay": case["decay"]}, {"params": biases, "weight_decay": 0.0}]
        solver = torch.optim.AdamW(groups, lr=case["rate"])
    else:
        solver = torch.optim.SGD(weights + biases, lr=case["rate"], momentum=case["momentum"])
    shares = {
        "constant": lambda t: 1.0,
        "linear": lambda t: 1.0 - t / STEPS,
        "cosine": lambda t: 0.5 * (1.0 + np.cos(np.pi * t / STEPS)),
    }
    schedule = torch.optim.lr_scheduler.LambdaLR(solver, shares[case["schedule"]])
    bounds = np.concatenate(([0], np.cumsum(SIZES)))
    for batch in BATCHES:
        loss = 0.0
        for q in batch:
            h = x[bounds[q]:bounds[q + 1]]
            for layer in linear[:-1]:
                h = activation(layer(h))
            loss = loss + 0.5 * ((linear[-1](h).squeeze(1) - y[bounds[q]:bounds[q + 1]]) ** 2).sum() / len(batch)
        solver.zero_grad()
        loss.backward()
        if case["clip"] > 0:
            torch.nn.utils.clip_grad_norm_(weights + biases, case["clip"])
        if case["solver"] == "sgd":
            with torch.no_grad():
                for w in weights:
                    w *= 1 - schedule.get_last_lr()[0] * case["decay"]
        solver.step()
        schedule.step()
    return {**case, "before": before, "after": numbers()}


def main():
    torch.manual_seed(5)
    random = np.random.default_rng(5)
    values = np.round(random.normal(size=(sum(SIZES), WIDTH)) * [1, 10, 0.1, 3, 100] + [0, 5, 1, -2, 30], 3)
    labels = random.integers(0, 4, sum(SIZES)).astype(np.float64)
    data = {"values": values.flatten().tolist(), "labels": labels.tolist(), "sizes": SIZES, "width": WIDTH}
    cases = [run(case, values.astype(np.float32).astype(np.float64), labels) for case in CASES]
    print(json.dumps({"torch": torch.__version__, **data, "hidden": HIDDEN, "batches": BATCHES, "cases": cases}))


if __name__ == "__main__":
    main()
