"""A report is one file that holds a run: numbers, plots, the mechanism, what to cite."""

import time
from dataclasses import replace

import numpy as np
import pytest

import poinsot as ps
from poinsot import viz
from poinsot.viz.citations import CITATIONS, REFERENCES

#: Those that are opened in the browser, and those that are only read.
OPENED = ("slider-crank", "motor", "one step", "evil")
READ = ("squeezer", "free body", "quaternions")


@pytest.fixture(scope="module")
def reports(results, tmp_path_factory):
    """The report of a result of every kind, written once."""
    folder, paths = tmp_path_factory.mktemp("reports"), {}

    def write(kind):
        if kind not in paths:
            paths[kind] = folder / f"{kind}.html"
            viz.write_report(results[kind], paths[kind])
        return paths[kind]

    return write


@pytest.mark.parametrize("kind", READ)
def test_a_report_holds_the_energy_at_the_end(results, reports, kind):
    assert f"{results[kind].energy[-1]:.9g} J" in reports(kind).read_text()


@pytest.mark.parametrize("kind", OPENED)
def test_a_report_opens_without_complaints_and_asks_for_nothing(results, reports, kind, chromium):
    tab = chromium.open(reports(kind).as_uri(), height=1600)
    tab.settle()
    assert tab.complaints == []
    assert all(url.startswith(("file:", "data:")) for url in tab.requests)
    text = tab.evaluate("document.body.innerText")
    assert f"{results[kind].energy[-1]:.9g} J" in text
    assert tab.evaluate("window.hit") is None
    assert tab.evaluate("document.querySelector('h1').textContent") == results[kind].model
    broken = "[...document.images].filter((i) => !i.complete || !i.naturalWidth).length"
    assert tab.evaluate(broken) == 0
    tab.close()


def test_the_mechanism_in_a_report_can_be_seen(reports, chromium):
    tab = chromium.open(reports("slider-crank").as_uri(), height=900)
    time.sleep(0.5)
    picture = tab.screenshot()[230:650, 150:850]
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 100
    tab.close()


def test_a_report_counts_and_accounts(reports):
    text = reports("squeezer").read_text()
    for piece in ("degrees of freedom</th><td>1<", "redundant among them</th><td>9<"):
        assert piece in text
    assert "supplied by &#x27;motor&#x27;" in text
    assert "Not unique" in text
    assert "[LKB26]" in text


def test_a_report_of_a_run_in_quaternions_cites_its_scheme(reports):
    text = reports("quaternions").read_text()
    assert "emh-mean" in text
    assert "[KB24]" in text
    assert "[BS09]" in text
    assert "degrees of freedom</th><td>1<" in text


def test_a_run_that_failed_says_so_and_shows_its_model_file(results):
    failed = replace(results["motor"], status="failed", message="no solution at <1 s")
    text = viz.report(replace(failed, document="poinsot: 1\nbodies: {<b>: 1}\n"))
    assert "The run is failed: no solution at &lt;1 s" in text
    assert "<pre>poinsot: 1\nbodies: {&lt;b&gt;: 1}\n</pre>" in text


def test_schemes_are_cited_as_they_declare():
    assert {name: scheme.citations for name, scheme in ps.SCHEMES.items()} == CITATIONS
    assert {key for keys in CITATIONS.values() for key in keys} == set(REFERENCES)
