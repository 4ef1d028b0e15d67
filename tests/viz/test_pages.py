"""A page plays a motion in a real browser: offline, faithful, safe, and quiet."""

import base64
import json
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from browser import Browser, until
from runs import EVIL, run

import poinsot as ps
from poinsot import viz
from poinsot.result import Counts, Observation

KINDS = (
    "slider-crank",
    "squeezer",
    "free body",
    "pendulum",
    "top",
    "pair",
    "quaternions",
    "one step",
    "evil",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture
def opened(chromium, folder, request):
    """Open the page of a result; it must not complain, whatever a test does to it."""
    tabs = []

    def open_page(result, **options):
        path = folder / f"{request.node.name.translate(str.maketrans('[]/ ', '____'))}.html"
        viz.write_page(result, path)
        tabs.append(chromium.open(path.as_uri(), **options))
        return tabs[-1]

    yield open_page
    for tab in tabs:
        assert tab.complaints == []
        assert all(url.startswith("file:") for url in tab.requests)
        tab.close()


def move_slider(tab, share):
    tab.evaluate(
        "(() => { const s = document.getElementById('time');"
        f"s.value = Number(s.min) + {share} * (s.max - s.min);"
        "s.dispatchEvent(new Event('input')); })()"
    )


def changed(before, after):
    """How many pixels are not the same, panels aside."""
    return int(np.sum(np.abs(before - after).max(axis=2)[100:500, 270:800] > 24))


def shown_time(tab):
    return float(tab.evaluate("document.getElementById('clock').textContent").split()[0])


def data(page):
    """What is in a page."""
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])


def unpack(text, kind, *shape):
    return np.frombuffer(base64.b64decode(text), dtype=kind).reshape(*shape)


# -- what is in a page -----------------------------------------------------------------------------


def test_a_page_holds_the_motion(slider_crank):
    film = data(viz.page(slider_crank))
    assert [body["name"] for body in film["bodies"]] == ["crank", "rod", "slider"]
    times = slider_crank.time.size
    position = unpack(film["position"], "<f4", times, 3, 3)
    quat = unpack(film["rotation"], "<i2", times, 3, 4) / 32767
    for k, name in enumerate(("crank", "rod", "slider")):
        np.testing.assert_allclose(position[:, k], slider_crank.position(name), atol=1e-7)
        rotation = ps.Rotation.from_quaternion(quat[-1, k] / np.linalg.norm(quat[-1, k])).matrix
        np.testing.assert_allclose(rotation, slider_crank.rotation(name)[-1], atol=2e-4)
    # No frame flips the sign of a quaternion: what lies between two frames is the short way.
    assert np.all(np.sum(quat[1:] * quat[:-1], axis=-1) > 0)


def test_a_page_of_a_run_in_quaternions_holds_its_motion(results):
    result = results["quaternions"]
    film = data(viz.page(result))
    position = unpack(film["position"], "<f4", result.time.size, 3, 3)
    np.testing.assert_allclose(position[:, 1], result.position("rod"), atol=1e-7)
    assert [joint["name"] for joint in film["joints"]] == ["A", "B", "C", "D"]


def test_a_page_of_the_slider_crank_is_small():
    page = viz.page(run("spatial-slider-crank"))
    assert len(page.encode()) < 250_000


def test_long_runs_are_thinned_to_their_first_and_last_time(slider_crank):
    page = viz.page(slider_crank, frames=17)
    assert "17 of 101 saved times are shown" in page
    time = unpack(data(page)["time"], "<f4", 17)
    np.testing.assert_allclose(time[[0, -1]], slider_crank.time[[0, -1]], rtol=1e-6)
    assert np.ptp(np.diff(time)) <= 1.01 * slider_crank.h


def test_a_few_bodies_can_be_chosen(slider_crank):
    film = data(viz.page(slider_crank, bodies=["crank", "rod"]))
    assert [body["name"] for body in film["bodies"]] == ["crank", "rod"]
    assert [joint["name"] for joint in film["joints"]] == ["A", "B"]
    with pytest.raises(ps.InputError, match="no body 'rot'; did you mean 'rod'"):
        viz.page(slider_crank, bodies=["rot"])


def test_too_many_bodies_are_refused_with_advice(slider_crank):
    crowd = dict.fromkeys((f"body {k}" for k in range(10_000)), slider_crank.body("rod"))
    large = replace(slider_crank, observation=Observation(bodies=crowd))
    with pytest.raises(ps.InputError, match=r"10000 bodies.*at most 2000.*bodies=\["):
        viz.page(large)
    film = data(viz.page(large, bodies=list(crowd)[:500]))
    assert len(film["bodies"]) == 500


def test_a_system_without_bodies_has_no_page(results):
    with pytest.raises(ps.InputError, match=r"no bodies to show; plot_overview"):
        viz.page(results["motor"])


def test_a_mechanism_is_counted(results):
    assert results["slider-crank"].observation.counts == Counts(3, 4, 17, 0, 1)
    assert results["squeezer"].observation.counts == Counts(7, 10, 50, 9, 1)
    assert results["motor"].observation.counts == Counts()


# -- what is seen ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_opens_without_complaints_and_asks_for_nothing(results, kind, opened):
    tab = opened(results[kind])
    empty = tab.screenshot()[300:500, 300:700]
    assert len(np.unique(empty.reshape(-1, 3), axis=0)) > 50  # something is drawn
    assert len(tab.requests) == 1


def test_the_slider_moves_the_bodies(slider_crank, opened):
    tab = opened(slider_crank)
    start = tab.screenshot()
    move_slider(tab, 0.3)
    assert shown_time(tab) == pytest.approx(0.3)
    assert changed(start, tab.screenshot()) > 500
    move_slider(tab, 0)
    assert changed(start, tab.screenshot()) < 20


def test_play_runs_and_pause_stops(slider_crank, opened):
    tab = opened(slider_crank)
    tab.evaluate("document.getElementById('play').click()")
    tab.wait("parseFloat(document.getElementById('clock').textContent) > 0.05")
    tab.evaluate("document.getElementById('play').click()")
    stopped = shown_time(tab)
    tab.settle()
    assert shown_time(tab) == stopped
    assert tab.evaluate("document.getElementById('play').getAttribute('aria-label')") == "Play"


def test_a_film_that_is_not_looped_stops_at_its_end(results, opened):
    tab = opened(results["squeezer"])
    tab.evaluate("document.getElementById('loop').click()")
    move_slider(tab, 0.97)
    tab.evaluate("document.getElementById('play').click()")
    tab.wait("document.getElementById('play').getAttribute('aria-label') === 'Play'")
    assert shown_time(tab) == pytest.approx(4e-3)


def test_keys_play_step_turn_and_reset(slider_crank, opened):
    tab = opened(slider_crank)
    start = tab.screenshot()
    tab.press("ArrowRight")
    assert shown_time(tab) == pytest.approx(slider_crank.h)
    tab.press("ArrowRight")
    tab.press("ArrowLeft")
    assert shown_time(tab) == pytest.approx(slider_crank.h)
    tab.press("End")
    assert shown_time(tab) == pytest.approx(1.0)
    tab.press("Home")
    tab.press("ArrowLeft", modifiers=8)  # shift: turn
    assert changed(start, tab.screenshot()) > 500
    tab.press("r")
    assert changed(start, tab.screenshot()) < 20
    tab.press(" ")
    tab.wait("parseFloat(document.getElementById('clock').textContent) > 0.02")


def test_every_choice_changes_the_picture_and_back(slider_crank, opened):
    tab = opened(slider_crank)
    move_slider(tab, 0.5)
    before = tab.screenshot()
    for name in ("traces", "joints", "inertia", "reactions", "axes", "names", "grid"):
        tab.evaluate(f"document.getElementById('show-{name}').click()")
        assert changed(before, tab.screenshot()) > 100, name
        tab.evaluate(f"document.getElementById('show-{name}').click()")
    assert changed(before, tab.screenshot()) < 20


def test_a_click_on_a_name_fades_its_body_another_hides_it_a_third_shows_it(slider_crank, opened):
    tab = opened(slider_crank)
    click = "document.querySelectorAll('#legend button')[1].click()"
    pictures = [tab.screenshot()]
    for said in ("faded", "hidden", "shown"):
        tab.evaluate(click)
        label = "document.querySelectorAll('#legend button')[1].getAttribute('aria-label')"
        assert tab.evaluate(label) == f"rod: {said}"
        pictures.append(tab.screenshot())
    assert min(changed(a, b) for a, b in pairwise(pictures)) > 100
    assert changed(pictures[0], pictures[-1]) < 20


def test_applied_loads_have_arrows_and_a_scale(opened):
    model = ps.Model(name="loads")
    bar = model.add_body("bar", ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.add_joint("hinge", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 0, 1)))
    model.add_port("push", ps.ForcePort(bar, point=(1, 0, 0), axes="body", value=(0, 3, 0)))
    model.add_port("motor", ps.JointPort("hinge", value=2.0))
    result = ps.simulate(model, h=0.01, t_end=0.5)
    film = data(viz.page(result))
    assert [load["kind"] for load in film["loads"]] == ["force", "torque"]
    applied = unpack(film["applied"], "<i2", result.time.size, 2, 3) * film["appliedUnit"]
    turned = result.rotation("bar")[:, :, 1]
    np.testing.assert_allclose(applied[:, 0], 3 * turned, atol=1e-3)
    np.testing.assert_allclose(applied[:, 1], np.tile((0, 0, 2), (result.time.size, 1)), atol=1e-3)
    tab = opened(result)
    before = tab.screenshot()
    assert re.search(r"\d N", tab.evaluate("document.getElementById('scale').innerText"))
    assert "N m" in tab.evaluate("document.getElementById('scale').innerText")
    tab.evaluate("document.getElementById('show-applied').click()")
    assert changed(before, tab.screenshot()) > 100
    assert tab.evaluate("document.getElementById('scale').hidden")


def test_mouse_turns_moves_and_zooms(slider_crank, opened):
    tab = opened(slider_crank)
    pictures = [tab.screenshot()]
    tab.drag((400, 300), (480, 330))
    pictures.append(tab.screenshot())
    tab.drag((400, 300), (430, 280), button="right")
    pictures.append(tab.screenshot())
    tab.call("Input.dispatchMouseEvent", type="mouseWheel", x=400, y=300, deltaX=0, deltaY=-120)
    pictures.append(tab.screenshot())
    for before, after in pairwise(pictures):
        assert changed(before, after) > 500


def test_fingers_turn_and_zoom(slider_crank, opened):
    tab = opened(slider_crank)
    tab.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)

    def touch(*moments):
        for kind, moment in zip(("touchStart", "touchMove"), moments, strict=True):
            points = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(moment)]
            tab.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)
        tab.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    start = tab.screenshot()
    touch([(400, 300)], [(470, 320)])
    turned = tab.screenshot()
    assert changed(start, turned) > 500
    touch([(400, 300), (500, 300)], [(370, 300), (530, 300)])
    assert changed(turned, tab.screenshot()) > 500


def test_a_mechanism_that_flies_away_is_followed(opened):
    tab = opened(run("closed-loop", t_end=8.0))
    assert tab.evaluate("document.getElementById('follow').checked")
    tab.evaluate("document.getElementById('show-grid').click()")
    tab.evaluate("document.getElementById('show-traces').click()")
    sky = tab.screenshot()
    move_slider(tab, 1)
    assert changed(sky, tab.screenshot()) > 500
    tab.evaluate("document.getElementById('follow').click()")  # it is hundreds of metres away
    far = tab.screenshot()[150:450, 300:780]
    assert np.ptp(far.reshape(-1, 3), axis=0).max() < 30


SLOW = """(() => {
    const canvas = document.getElementById('picture');
    const ask = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (tick) => setTimeout(() => ask(tick), %s);
    document.getElementById('play').click();
})()"""
SHARP = (
    "document.getElementById('picture').width === document.getElementById('picture').clientWidth"
)


def test_late_pictures_are_less_fine_until_the_motion_is_paused(slider_crank, opened):
    tab = opened(slider_crank)
    move_slider(tab, 0.5)
    before = tab.screenshot()
    tab.evaluate(SLOW % "canvas.width > 0.6 * canvas.clientWidth ? 70 : 0")
    tab.wait(f"!({SHARP})")
    tab.evaluate("document.getElementById('play').click()")
    tab.wait(SHARP)
    move_slider(tab, 0.5)
    until(lambda: changed(before, tab.screenshot()) < 20)


def test_pictures_stay_sharp_where_less_is_not_faster(slider_crank, opened):
    tab = opened(slider_crank)
    tab.evaluate(SLOW % "400")
    tab.wait(f"!({SHARP})")
    tab.wait(SHARP)
    paused = "document.getElementById('play').getAttribute('aria-label') === 'Play'"
    assert not tab.evaluate(paused)


def test_nothing_is_painted_while_nothing_changes(slider_crank, opened):
    tab = opened(slider_crank)
    tab.screenshot()
    count = (
        "window.painted = 0; const kind = WebGL2RenderingContext.prototype, own = kind.drawArrays;"
        "kind.drawArrays = function (...given) { window.painted++; own.apply(this, given); };"
    )
    tab.evaluate(f"(() => {{ {count} }})()")
    tab.settle()
    assert tab.evaluate("window.painted") == 0
    move_slider(tab, 0.5)
    tab.settle()
    assert tab.evaluate("window.painted") == 1


def test_a_crowd_is_painted_in_a_few_calls_and_in_any_order(opened):
    """More solids than a row of the texture has, and a mesh copies."""
    count = (
        "window.calls = 0; const kind = WebGL2RenderingContext.prototype;"
        "const own = kind.drawElementsInstanced;"
        "kind.drawElementsInstanced = function (...g) { window.calls++; own.apply(this, g); };"
    )
    covered = []
    for order in (range(400), reversed(range(400))):
        model = ps.Model(name="crowd")
        for k in order:
            place = (2.0 * (k % 20), 2.0 * (k // 20), 0.0)
            model.add_body(f"box {k}", ps.Box(mass=1, size=(1.6, 1.6, 0.4)), position=place)
        tab = opened(ps.simulate(model, h=0.1, t_end=0.1))
        tab.evaluate(f"(() => {{ {count} }})()")
        move_slider(tab, 0.5)
        covered.append(np.ptp(tab.screenshot()[:, :780], axis=2) > 30)  # by something coloured
        assert 0 < tab.evaluate("window.calls") <= 4
    assert covered[0].sum() > 20_000
    assert np.sum(covered[0] != covered[1]) < 0.25 * covered[0].sum()  # dark sides have less colour


def test_dark_and_light_both_fit(slider_crank, opened):
    assert opened(slider_crank, dark=True).screenshot()[50:90, 400:600].mean() < 60
    assert opened(slider_crank).screenshot()[50:90, 400:600].mean() > 230


def test_a_small_window_keeps_its_controls(slider_crank, opened):
    tab = opened(slider_crank, width=380, height=420)
    for name in ("play", "time", "clock", "speed", "loop"):
        inside = (
            f"(() => {{ const r = document.getElementById('{name}').getBoundingClientRect();"
            "return r.left >= 0 && r.right <= 380 && r.bottom <= 420 && r.width > 0; })()"
        )
        assert tab.evaluate(inside), name


def test_every_control_has_a_name(slider_crank, opened):
    tab = opened(slider_crank)
    controls = (
        "[...document.querySelectorAll('button, input, select, canvas')].filter((c) =>"
        "!(c.getAttribute('aria-label') || c.textContent.trim() || c.labels?.length))"
        ".map((c) => c.id)"
    )
    assert tab.evaluate(controls) == []


def test_names_do_no_harm(results, opened):
    tab = opened(results["evil"])
    tab.evaluate("document.getElementById('show-names').click()")
    tab.settle()
    assert tab.evaluate("window.hit") is None
    assert tab.evaluate("document.querySelector('h1').textContent") == f"{EVIL}</title>"
    assert tab.evaluate("document.querySelector('#legend li').textContent") == EVIL
    assert tab.evaluate("document.querySelectorAll('img, h1 *, #labels span *').length") == 0


def test_a_browser_without_webgl_is_told_so(slider_crank, folder, chromium):
    path = folder / "blind.html"
    viz.write_page(slider_crank, path)
    with Browser("--disable-3d-apis") as blind:
        tab = blind.open(path.as_uri())
        assert "WebGL 2 is missing" in tab.evaluate("document.getElementById('trouble').innerText")
        move_slider(tab, 0.5)
        assert shown_time(tab) == pytest.approx(0.5)


def test_a_notebook_shows_a_page_in_place(results, folder, chromium):
    inline = viz.show(results["evil"], height=400)
    path = folder / "notebook.html"
    path.write_text(f"<!doctype html><meta charset=utf-8>{inline._repr_html_()}")
    tab = chromium.open(path.as_uri())
    tab.settle()
    until(lambda: len(np.unique(tab.screenshot()[50:350, 50:900].reshape(-1, 3), axis=0)) > 50)
    assert tab.evaluate("window.hit") is None
    assert tab.complaints == []
    tab.close()
