"""Pages and public docstrings use the terms of the field.

A term is listed here if it was used by mistake more than once; the list stays short.
"""

import inspect
import json
import re
from pathlib import Path

import pytest

import poinsot as ps
from poinsot import gallery

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "NOTATION.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")),
]
MODULES = ps, ps.ph, ps.analysis, ps.flexible, ps.viz, gallery, ps.errors
COUNTED = "µs|microseconds|milliseconds|iterations|unknowns|numbers|coordinates|tiles|corrections"
#: What is not written, and what is written instead.
TERMS = {
    r"freedoms": "degrees of freedom, free coordinates",
    r"repeated constraints?|said twice": "redundant constraints",
    rf"(?:{COUNTED}) an? (?:step|body|element|run)": "per step, per body",
    r"dearer|cost dear": "more expensive",
    r"knows? nothing of": "is independent of",
    r"by the processor's clock|by the clock": "CPU time, wall time",
}


def prose(text):
    """Leave out code, formulas, shapes of arrays, addresses of links and generated tables.

    Lines stay where they are.
    """

    def blank(match):
        return "\n" * match[0].count("\n")

    code = r"^```.*?^```", r"`[^`\n]+`", r"^\$\$.*?^\$\$", r"\$[^$\n]+\$"
    for outside in (
        *code,
        r"\(\d+, \w+\)",
        r"\]\([^)]*\)",
        r"<!-- results: begin.*?results: end -->",
    ):
        text = re.sub(outside, blank, text, flags=re.DOTALL | re.MULTILINE)
    return text


def found(text, where):
    """Return what is to be written otherwise, with its line."""
    return [
        f"{where}:{text.count(chr(10), 0, match.start()) + 1}: "
        f"'{' '.join(match[0].split())}'; write {instead}"
        for term, instead in TERMS.items()
        for match in re.finditer(rf"\b(?:{term})\b".replace(" ", r"\s+"), text, re.IGNORECASE)
    ]


def read(page):
    """Return the prose of a page, or that of the cells of a notebook."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return prose(text)


def docstrings(thing, name):
    """Yield names and prose of the docstrings of a public object and of its public members."""
    members = vars(thing) if inspect.isclass(thing) else {}
    public = {f"{name}.{k}": value for k, value in members.items() if not k.startswith("_")}
    for where, documented in {name: thing, **public}.items():
        text = prose(inspect.getdoc(documented) or "")
        yield where, re.sub(r"^ *\w+ : .*$", "", text, flags=re.MULTILINE)  # names of parameters


def test_pages_use_the_terms_of_the_field():
    words = [said for page in PAGES for said in found(read(page), page.relative_to(ROOT))]
    assert not words, "\n".join(words)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_public_docstrings_use_the_terms_of_the_field(module):
    things = {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}
    words = [
        said
        for name, thing in things.items()
        if inspect.isclass(thing) or inspect.isfunction(thing)
        for where, text in docstrings(thing, name)
        for said in found(text, where)
    ]
    assert not words, "\n".join(words)


def test_a_term_is_found_in_prose_across_lines_and_not_in_code():
    page = "Two\nmicroseconds a\nstep, `check.freedoms`.\n\n```python\nx.freedoms\n```\nFreedoms.\n"
    assert found(prose(page), "page.md") == [
        "page.md:8: 'Freedoms'; write degrees of freedom, free coordinates",
        "page.md:2: 'microseconds a step'; write per step, per body",
    ]
