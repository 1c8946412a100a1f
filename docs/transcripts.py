#!/usr/bin/env python3
"""Renews the command output shown in the documents; `git diff` then shows what changed.

    docs/transcripts.py RANKWISE DOCUMENT…

A block marked `console` holds commands (lines that start with `$ `, continued by lines that start with `> `) and their output.
All commands of a document run in order, in one empty directory, with the program at RANKWISE first on the path and 80 columns. The
directory has a link to `experiments`.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands(block):
    """The commands of a block, each as its lines."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append([line])
        elif line.startswith(">") and found:
            found[-1].append(line)
    return found


def output(lines, directory, path):
    """What a command prints, without blanks at the ends of lines."""
    command = "\n".join(line[2:] for line in lines)
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=directory,
        env={**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PATH": path},
        encoding="utf-8",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode != 0:
        sys.exit(f"`{command}` failed:\n{done.stdout}")
    return "".join(line.rstrip() + "\n" for line in done.stdout.strip("\n").splitlines())


def renewed(text, path):
    with tempfile.TemporaryDirectory() as directory:
        os.symlink(ROOT / "experiments", pathlib.Path(directory) / "experiments")

        def again(match):
            blocks = ["\n".join(lines) + "\n" + output(lines, directory, path) for lines in commands(match[1])]
            return "```console\n" + "".join(blocks) + "```"

        return BLOCK.sub(again, text)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program = shutil.which(sys.argv[1])
    if program is None:
        sys.exit(f"there is no program {sys.argv[1]}")
    path = f"{pathlib.Path(program).resolve().parent}{os.pathsep}{os.environ['PATH']}"
    for document in map(pathlib.Path, sys.argv[2:]):
        document.write_text(renewed(document.read_text(), path))


if __name__ == "__main__":
    main()
