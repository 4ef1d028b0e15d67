"""Every example of the gallery has its page, its figure and its stored numbers, up to date."""

import importlib.util
from pathlib import Path

import pytest

from poinsot.gallery import MODULES, find_example

DOCS = Path(__file__).parents[2] / "docs"


def extension():
    """Load the Sphinx extension of the documentation."""
    spec = importlib.util.spec_from_file_location("gallery", DOCS / "_ext" / "gallery.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GALLERY = extension()


def test_every_module_of_the_gallery_with_an_example_is_listed():
    folder = Path(find_example.__code__.co_filename).parent
    holding = {path.stem for path in folder.glob("*.py") if "\nEXAMPLE = " in path.read_text()}
    assert holding == set(MODULES.values())


@pytest.mark.parametrize("name", MODULES)
def test_every_example_has_a_page_with_its_figure_and_its_check(name):
    page = (DOCS / "gallery" / f"{name}.md").read_text()
    assert f"](../images/{name}.png)" in page
    assert f"```{{example}} {name}\n" in page
    assert GALLERY.image_of(name).stat().st_size > 10_000
    assert f"\n{name}\n" in (DOCS / "gallery" / "index.md").read_text()


def test_stored_numbers_are_of_these_examples():
    assert list(GALLERY.read_checks()) == list(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_stored_numbers_are_up_to_date(name):
    stored, computed = GALLERY.read_checks()[name], GALLERY.run_checks(name)
    update = "run: python docs/_ext/gallery.py"
    assert len(stored) == len(computed), update
    for before, now in zip(stored, computed, strict=True):
        assert now.passed
        assert (before.what, before.source) == (now.what, now.source), update
        assert before.theirs == pytest.approx(now.theirs, rel=1e-9), update
        assert before.tolerance == now.tolerance, update
        assert abs(before.ours - now.ours) <= now.tolerance, update


@pytest.mark.parametrize("name", MODULES)
def test_the_check_is_shown_with_as_many_digits_as_it_has(name):
    text = GALLERY.facts(name)
    assert f"$ poinsot run {name} --plot {name}.png" in text
    for check in GALLERY.read_checks()[name]:
        ours, theirs = GALLERY.shown(check)
        assert abs(float(ours) - check.ours) <= max(check.tolerance, 1e-12)
        assert abs(float(theirs) - check.theirs) <= max(check.tolerance, 1e-12)


def test_figures_that_pages_draw_are_there():
    for page, images in GALLERY.DRAWN_BY_PAGES.items():
        text = (DOCS / page).read_text()
        for saved, image in images.items():
            assert f'"{saved}"' in text
            assert f"images/{image})" in text
            assert (DOCS / "images" / image).is_file()
