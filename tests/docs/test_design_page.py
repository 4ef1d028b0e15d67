"""The page about the design tells of the packages that there are, and of the layers they form."""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "poinsot"
PAGE = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")


def extension():
    """Load the Sphinx extension that draws the packages."""
    spec = importlib.util.spec_from_file_location("packages", ROOT / "docs/_ext/packages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PACKAGES = extension()


def rows():
    """Return name and remark of every row of the table."""
    section = PAGE.split("\n## Packages\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \|.*\| (\w*) ?\|$", section, re.MULTILINE)


def test_the_table_has_the_packages_in_the_order_of_the_import_contract():
    listed = [f"({name})" if remark == "planned" else name for name, remark in rows()]
    assert listed == [name for layer in PACKAGES.layers() for name in layer]


def test_every_package_stands_in_the_table():
    folders = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    modules = {path.stem for path in SOURCE.glob("*.py")} - {"__init__"}
    assert folders | modules == {name for name, remark in rows() if not remark}


def test_no_package_imports_from_its_own_layer_or_from_one_above_it():
    depth = {name: k for k, layer in enumerate(PACKAGES.layers()) for name in layer}
    edges = PACKAGES.edges()
    assert edges["run", "schemes"] > 0
    assert [(a, b) for a, b in edges if depth[a] >= depth[b]] == []


def test_the_picture_is_the_same_whenever_it_is_drawn(tmp_path):
    one, other = tmp_path / "one.svg", tmp_path / "other.svg"
    for path in (one, other):
        PACKAGES.draw(path)
    assert one.read_bytes() == other.read_bytes()


def test_files_that_the_page_names_are_there():
    files = re.findall(r"`([\w/]+\.py)`", PAGE)
    assert len(files) > 20
    assert [file for file in files if not (SOURCE / file).is_file()] == []
