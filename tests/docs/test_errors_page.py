"""The page about errors has every error and warning there is, and no other."""

import inspect
import re
from pathlib import Path

import pytest

import poinsot as ps

PAGE = (Path(__file__).parents[2] / "docs" / "errors.md").read_text(encoding="utf-8")


def raised():
    """Names of all public exceptions."""
    modules = (ps.errors, ps)
    found = {
        name: thing
        for module in modules
        for name in dir(module)
        if inspect.isclass(thing := getattr(module, name)) and issubclass(thing, Exception)
    }
    return {name for name, thing in found.items() if thing.__module__.startswith("poinsot")}


def listed(section):
    """Names in the first column of the table of a section."""
    text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \| \S.* \| \S.* \|$", text, re.MULTILINE)


def test_every_exception_is_on_the_page_once_with_meaning_and_remedy():
    names = [*listed("Errors"), *listed("Warnings")]
    assert sorted(names) == sorted(raised())


@pytest.mark.parametrize("name", sorted(raised()))
def test_every_exception_is_public_and_has_the_base_that_the_page_says(name):
    thing = getattr(ps, name)
    base = Warning if name in listed("Warnings") else ps.PoinsotError
    assert issubclass(thing, base)
    assert thing.__doc__
