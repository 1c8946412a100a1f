"""How much inverse propensity weighting helps: writes docs/clicks.svg and prints the table of docs/clicks-training.md.

    cargo build --release -p rankwise --example unbiased_from_clicks
    python experiments/clicks.py target/release/examples/unbiased_from_clicks data/clueweb09 [SEEDS]

Users are simulated on ClueWeb09 (docs/data.md says how to get it) and on synthetic data with the shape of MSLR-WEB.
"""

import pathlib
import statistics
import subprocess
import sys

METHODS = ["naive clicks", "true propensities", "paired ranks", "EM", "full labels"]
# The 97.5 % quantile of Student's t for so many values.
STUDENT = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}
COLOURS = ["#c0504d", "#1f4e79", "#2e75b6", "#9dc3e6", "#7f7f7f"]


def outcomes(program, source, seeds):
    """Rows of fold, seed, NDCG@10 of production, of the methods, and errors of propensities."""
    text = subprocess.run([program, source, str(seeds)], check=True, capture_output=True, text=True).stdout
    rows = [line.replace("%", " ").split() for line in text.splitlines()]
    return [[float(cell) for cell in row] for row in rows if row and row[0].isdigit()]


def interval(values):
    """The mean and half of its 95 % interval, by Student's t."""
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return statistics.mean(values), STUDENT.get(len(values), 1.96) * error


def by_seed(rows, column):
    """The mean over folds for each seed: seeds are independent, folds share queries."""
    seeds = sorted({row[1] for row in rows})
    return [statistics.mean(row[column] for row in rows if row[1] == seed) for seed in seeds]


def table(name, rows):
    means = [statistics.mean(by_seed(rows, 3 + method)) for method in range(len(METHODS))]
    gap = means[-1] - means[0]
    for method, mean in zip(METHODS, means):
        closed = 100 * (mean - means[0]) / gap
        half = interval(by_seed(rows, 3 + METHODS.index(method)))[1]
        print(f"| {name} | {method} | {mean:.4f} ± {half:.4f} | {closed:.0f} % |")
    paired, em = (statistics.mean(row[column] for row in rows) for column in (8, 9))
    production = statistics.mean(row[2] for row in rows)
    print(f"{name}: rankers shown {production:.4f}; error of θ at ranks 1–10: {paired:.1f} % paired ranks, {em:.1f} % EM")


def chart(results):
    width, height, left, bottom = 720, 300, 46, 250
    highest = max(interval(by_seed(rows, 3 + m))[0] for _, rows in results for m in range(len(METHODS)))
    scale = 200 / (1.1 * highest)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">']
    parts.append(f'<rect width="{width}" height="{height}" fill="white"/>')
    step = 0.05 if highest < 0.4 else 0.1
    for tick in range(int(1.1 * highest / step) + 1):
        y = bottom - tick * step * scale
        parts.append(f'<path d="M{left} {y:.1f}H{width - 10}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{tick * step:.2f}</text>')
    group = (width - left - 10) / len(results)
    for place, (name, rows) in enumerate(results):
        start = left + place * group
        bar = (group - 40) / len(METHODS)
        parts.append(f'<text x="{start + group / 2:.1f}" y="{bottom + 18}" text-anchor="middle">{name}</text>')
        for method, colour in enumerate(COLOURS):
            mean, half = interval(by_seed(rows, 3 + method))
            x, y = start + 20 + method * bar, bottom - mean * scale
            parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{bar - 6:.1f}" height="{mean * scale:.1f}" fill="{colour}"/>')
            middle = x + (bar - 6) / 2
            parts.append(f'<path d="M{middle:.1f} {y - half * scale:.1f}v{2 * half * scale:.1f}" stroke="black"/>')
            parts.append(f'<text x="{middle:.1f}" y="{y - half * scale - 4:.1f}" text-anchor="middle">{mean:.3f}</text>')
    for method, (name, colour) in enumerate(zip(METHODS, COLOURS)):
        x = left + 130 * method
        parts.append(f'<rect x="{x}" y="{bottom + 30}" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{x + 14}" y="{bottom + 39}">{name}</text>')
    parts.append(f'<text x="{left}" y="18">NDCG@10 on judged test queries, mean and 95 % CI over seeds</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    program, directory = sys.argv[1:3]
    seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    sources = [("ClueWeb09", directory), ("synthetic, MSLR's shape", "synth:1000")]
    results = [(name, outcomes(program, source, seeds)) for name, source in sources]
    print("| data | labels | NDCG@10 | closed |\n|---|---|---|---|")
    for name, rows in results:
        table(name, rows)
    place = pathlib.Path(__file__).parent.parent / "docs" / "clicks.svg"
    place.write_text(chart(results))
