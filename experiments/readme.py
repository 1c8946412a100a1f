"""Puts the first table of each leaderboard between the markers of README: readme.py README LEADERBOARD…"""

import pathlib
import re
import sys

BEGIN, END = "<!-- results: made by experiments/readme -->", "<!-- end of results -->"


def first_table(path):
    """The experiment's title and its first table."""
    text = path.read_text()
    title = re.search(r"^# (.+)$", text, re.MULTILINE).group(1)
    table = re.search(r"(^\|.*\n)+", text, re.MULTILINE).group(0)
    return f"**{title}**\n\n{table}"


def main():
    readme, *leaderboards = map(pathlib.Path, sys.argv[1:])
    before, rest = readme.read_text().split(BEGIN)
    after = rest.split(END)[1]
    tables = "\n".join(map(first_table, leaderboards))
    readme.write_text(f"{before}{BEGIN}\n{tables}{END}{after}")


if __name__ == "__main__":
    main()
