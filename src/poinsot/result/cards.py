"""Self-contained HTML that notebooks show for models, systems and results."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape

#: A list that is longer than this is cut.
LONGEST = 200
CELL = "padding:0 1em 0 0;text-align:left;vertical-align:top"


def card(
    title: str,
    facts: Iterable[tuple[str, str]],
    lists: Mapping[str, Sequence[Sequence[str]]],
) -> str:
    """Return a title, a table of facts, and lists that open on a click; all text is escaped.

    `lists` are rows of texts by the heading of each; empty ones are left out.
    """
    parts = [f"<strong>{escape(title)}</strong>", _table(list(facts))]
    for heading, rows in lists.items():
        if rows:
            summary = f"<summary>{escape(heading)} ({len(rows)})</summary>"
            parts.append(
                f"<details>{summary}{_table(rows[:LONGEST], len(rows) - LONGEST)}</details>"
            )
    return f"<div>{''.join(parts)}</div>"


def _table(rows: Sequence[Sequence[str]], more: int = 0) -> str:
    lines = ["".join(f'<td style="{CELL}">{escape(text)}</td>' for text in row) for row in rows]
    if more > 0:
        lines.append(f'<td style="{CELL}">and {more} more</td>')
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>" if lines else ""
