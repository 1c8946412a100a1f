"""Puts the results of experiments into the documents.

    results.py RESULTS METHODS LEADERBOARD…

writes the first table of each leaderboard between the markers of RESULTS, and each learner's figures under its heading in METHODS.
"""

import pathlib
import re
import sys

BEGIN, END = "<!-- results: made by experiments/results -->", "<!-- end of results -->"
MEASURED = "*Measured:* "


def title_and_table(path):
    """The title of an experiment and its first table."""
    text = path.read_text()
    title = re.search(r"^# (.+)$", text, re.MULTILINE).group(1)
    return title, re.search(r"(^\|.*\n)+", text, re.MULTILINE).group(0)


def first_figures(table):
    """The first metric of each system; a label such as `l3 auc` stands for its learner."""
    rows = [[cell.strip(" *") for cell in line.split("|")[1:3]] for line in table.splitlines()[2:]]
    return {system.split()[0]: value for system, value in rows}


def with_figures(methods, tables):
    """The text of METHODS with a new line of figures under each learner's heading."""
    lines = []
    for line in methods.splitlines():
        if line.startswith(MEASURED):
            continue
        lines.append(line)
        if line.startswith("### "):
            learner = line.removeprefix("### ")
            figures = [f"{figures[learner]} on {title.split(' (')[0]}" for title, figures in tables if learner in figures]
            lines.append(f"{MEASURED}{', '.join(figures) or 'not measured'}.")
    return "\n".join(lines) + "\n"


def main():
    results, methods, *leaderboards = map(pathlib.Path, sys.argv[1:])
    found = list(map(title_and_table, leaderboards))
    before, rest = results.read_text().split(BEGIN)
    after = rest.split(END)[1]
    tables = "\n".join(f"**{title}**\n\n{table}" for title, table in found)
    results.write_text(f"{before}{BEGIN}\n{tables}{END}{after}")
    figures = [(title, first_figures(table)) for title, table in found]
    methods.write_text(with_figures(methods.read_text(), figures))


if __name__ == "__main__":
    main()
