"""The live view shows a result in a real browser, and follows a run that is going on."""

import builtins
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from browser import until
from runs import run

import poinsot as ps
from poinsot import viz


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def close():
    """Close a view beside the next tests: a server waits for its pages for seconds."""
    with ThreadPoolExecutor() as pool:
        closing = []
        yield lambda viewer: closing.append(pool.submit(viewer.close))
    for each in closing:
        each.result()


@pytest.fixture
def watched(close):
    """View a result, and close the view in the end."""
    viewers = []

    def open_view(start, *args, **options):
        viewers.append(start(*args, port=free_port(), open_browser=False, **options))
        return viewers[-1]

    yield open_view
    for viewer in viewers:
        close(viewer)


def test_a_view_opens_with_a_slider_and_without_errors(results, watched, chromium):
    viewer = watched(viz.view, results["evil"])
    tab = chromium.open(viewer.url, width=400, height=300)
    tab.wait("document.body.innerText.includes('Time [s]')")
    tab.wait("document.querySelectorAll('canvas').length > 0")
    errors = [c for c in tab.complaints if c.get("type", c.get("level")) != "warning"]
    assert errors == []
    local = (viewer.url, "data:", f"blob:{viewer.url}", viewer.url.replace("http", "ws"))
    assert [url for url in tab.requests if not url.startswith(local)] == []
    assert tab.evaluate("window.hit") is None
    tab.close()


def test_the_slider_moves_the_bodies(results, watched, chromium):
    viewer = watched(viz.view, results["slider-crank"])
    tab = chromium.open(viewer.url, width=700, height=420)
    tab.wait("document.body.innerText.includes('Time [s]')")

    def picture():
        return tab.screenshot()[100:, :420]

    def moved(before):
        return int(np.sum(np.abs(before - picture()).max(axis=2) > 24))

    until(lambda: len(np.unique(picture().reshape(-1, 3), axis=0)) > 50)
    until(lambda: moved(picture()) == 0)  # all of the scene has arrived
    start = picture()
    viewer.show(0.3)
    until(lambda: moved(start) > 300)
    tab.close()


@pytest.mark.parametrize(("kind", "k"), [("slider-crank", 50), ("one step", 1)])
def test_bodies_are_where_the_result_says(results, kind, k, watched):
    result = results[kind]
    viewer = watched(viz.view, result)
    viewer.show(result.time[k])
    until(lambda: np.allclose(viewer._scene.bodies["rod"].position, result.position("rod")[k]))
    quat = viewer._scene.bodies["rod"].wxyz
    rotation = ps.Rotation.from_quaternion(quat).matrix
    np.testing.assert_allclose(rotation, result.rotation("rod")[k], atol=1e-6)


def test_play_moves_on_and_stops_at_the_end(results, watched):
    viewer = watched(viz.view, results["slider-crank"])
    viewer._loop.value = False
    viewer._speed.value = 20.0
    viewer._playing.value = True
    until(lambda: not viewer._playing.value)
    assert viewer.time == pytest.approx(1.0)


def test_a_run_that_is_going_on_is_followed(watched):
    loads = [run("spatial-slider-crank", t_end=t) for t in (0.1, 0.2, 0.3)]
    left = [*loads[1:], OSError("being written"), loads[2]]

    def load():
        step = left.pop(0) if left else loads[2]
        if isinstance(step, OSError):
            raise step
        return step

    left.insert(0, loads[0])
    viewer = watched(viz.follow, load, every=0.05)
    viewer.show(0.1)  # who looks at the end stays there
    until(lambda: viewer.time == pytest.approx(0.3))
    until(lambda: not left)


def test_a_view_needs_viser_and_says_so(slider_crank, monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "viser":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ps.InputError, match=r"pip install 'poinsot\[viewer\]'"):
        viz.view(slider_crank)


def test_a_system_without_bodies_has_no_view(results):
    with pytest.raises(ps.InputError, match="no bodies to show"):
        viz.view(replace(results["motor"]))
