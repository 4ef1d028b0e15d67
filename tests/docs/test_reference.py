"""The reference names everything public, once, and everything public has a docstring."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[2] / "docs" / "api").glob("*.md"))
PUBLIC = ("poinsot", "poinsot.analysis", "poinsot.flexible", "poinsot.ph", "poinsot.viz")
#: Not things to look up: the version, and packages that have sections of their own.
ASIDE = {"poinsot": {"__version__", "analysis", "errors", "flexible", "ph", "so3", "viz"}}


def documented():
    """Return the full names that docs/api has, in order; a module stands for its __all__."""
    module, names = "", []
    for kind, name in re.findall(
        r"^\.\. (currentmodule|auto\w+|py:data):: (\S+)",
        "\n".join(page.read_text() for page in PAGES),
        re.MULTILINE,
    ):
        if kind == "currentmodule":
            module = name
        elif kind == "automodule":
            names += [
                f"{name}.{public}"
                for public in getattr(importlib.import_module(name), "__all__", ())
            ]
        else:
            names.append(name if name.startswith("poinsot.") else f"{module}.{name}")
    return names


@pytest.mark.parametrize("package", PUBLIC)
def test_every_public_name_is_in_the_reference(package):
    public = set(importlib.import_module(package).__all__) - ASIDE.get(package, set())
    missing = public - {name.removeprefix(f"{package}.") for name in documented()}
    assert not missing, f"add to a page of docs/api: {sorted(missing)}"


def test_no_name_is_in_the_reference_twice():
    names = documented()
    assert len(names) == len(set(names))


def test_everything_in_the_reference_exists():
    for name in documented():
        package, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(package), attribute), name


@pytest.mark.parametrize("package", PUBLIC)
def test_everything_public_has_a_docstring(package):
    module = importlib.import_module(package)
    for name in set(module.__all__) - ASIDE.get(package, set()):
        public = getattr(module, name)
        if inspect.isclass(public) or callable(public):
            assert inspect.getdoc(public), f"{package}.{name}"
