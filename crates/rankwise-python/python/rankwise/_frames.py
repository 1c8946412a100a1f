"""Tables: frames of pandas or polars, whichever is there, and small tables as text and HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

WIDTH = 80


def frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    """A pandas frame, else a polars frame, else a dictionary of lists."""
    for name in ("pandas", "polars"):
        try:
            return import_module(name).DataFrame(dict(columns))
        except ImportError:
            continue
    return {name: list(values) for name, values in columns.items()}


def of_rows(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Any:
    """A frame with these columns of dictionaries."""
    return frame({name: [row[name] for row in rows] for name in names})


def number(value: Any) -> str:
    """A value of a metric with four decimals; a dash where there is none."""
    return "–" if value is None or value != value else f"{value:.4f}"


def signed(value: Any) -> str:
    return "–" if value is None or value != value else f"{value:+.4f}"


def probability(value: float) -> str:
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def p_value(value: float) -> str:
    """A p-value for a sentence: `= 0.0123`, or `< 0.0001`."""
    shown = probability(value)
    return f"< {shown[1:]}" if shown.startswith("<") else f"= {shown}"


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns aligned by spaces: the first to the left, the others to the right; at most 80 columns wide."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    others = sum(widths[1:]) + 2 * (len(widths) - 1)
    widths[0] = min(widths[0], max(8, WIDTH - others))
    lines = [_line(header, widths), "  ".join("─" * width for width in widths)]
    lines += [_line(row, widths) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = cells[0] if len(cells[0]) <= widths[0] else cells[0][: widths[0] - 1] + "…"
    return "  ".join([first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells[1:], widths[1:]))])


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    """A table for notebooks, in the style that they give to tables."""
    from html import escape

    left, right = ' style="text-align:left"', ' style="text-align:right"'

    def cells(row: Sequence[str], tag: str) -> str:
        made = (f"<{tag}{left if i == 0 else right}>{escape(cell)}</{tag}>" for i, cell in enumerate(row))
        return f"<tr>{''.join(made)}</tr>"

    body = "".join(cells(row, "td") for row in rows)
    below = f"<p>{escape(caption)}</p>" if caption else ""
    head = cells(header, "th")
    return f'<table border="0" class="dataframe"><thead>{head}</thead><tbody>{body}</tbody></table>{below}'


def wrapped(text: str) -> str:
    from textwrap import fill

    return fill(text, WIDTH)
