"""Beams and rods in pictures: smooth tubes, deflections drawn larger, colours of stress."""

import base64
import json
import re

import numpy as np
import pytest
from PIL import Image

import poinsot as ps
from poinsot import viz
from poinsot.viz.stage import Stage
from poinsot.viz.tubes import Tube

STEEL = {"youngs_modulus": 2e11, "shear_modulus": 8e10, "density": 7800.0}


@pytest.fixture(scope="module")
def result():
    """A cantilever of rectangular section that is pushed at its end, and a round rod that is bent.

    Both ends are below where they began, and the rod is twisted.
    """
    model = ps.Model(name="slender")
    section = ps.RectangularSection(width=0.05, height=0.03)
    beam = ps.Beam(length=1.0, section=section, elements=3, **STEEL)
    body = model.add_body("beam", beam, position=(0.5, 0, 0))
    model.add_joint("clamp", ps.Weld(model.ground, body.start))
    model.add_port("push", ps.ForcePort(body.end, point=(1, 0, 0), value=(0, 0, -900.0)))
    curve = [(0, 1, 0), (1, 1, 0)]
    rod = ps.ElasticRod(curve, ps.CircularSection(radius=0.02), 6, **STEEL)
    line = model.add_body("rod", rod)
    model.add_joint("foot", ps.Weld(model.ground, line.start))
    model.add_port("pull", ps.ForcePort(line.end, point=(1, 1, 0), value=(0, 0, -900.0)))
    model.add_port("turn", ps.TorquePort(line.end, value=(60.0, 0, 0)))
    return ps.simulate(model, h=5e-4, t_end=0.01)


def data(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])


def arc(nodes, *, radius=2.0, angle=1.0, width=0.1, round_=True):
    """A tube along an arc in the plane of x and z, whose axis 1 is y."""
    phi = np.linspace(0, angle, nodes)
    position = radius * np.column_stack([np.sin(phi), 0 * phi, 1 - np.cos(phi)])
    rotation = np.zeros((nodes, 3, 3))
    rotation[:, :, 2] = np.column_stack([np.cos(phi), 0 * phi, np.sin(phi)])
    rotation[:, 1, 0] = 1.0
    rotation[:, :, 1] = np.cross(rotation[:, :, 2], rotation[:, :, 0])
    sizes = np.full((nodes, 2), width)
    tube = Tube("arc", np.arange(nodes), radius * phi, sizes, (0, 1, 2), round_, "#000000")
    return tube, position, rotation


def test_a_tube_is_smooth_through_few_nodes():
    """Middles of rings lie on the circle: a cubic is off by angle^4 / 384 of the radius."""
    tube, position, rotation = arc(3)
    middles = tube.surface(position, rotation)[0].mean(axis=1)
    off = np.linalg.norm(middles - (0, 0, 2.0), axis=1) - 2.0
    assert abs(off).max() < 2.0 * 0.5**4 / 300


@pytest.mark.parametrize("round_", [True, False])
def test_a_tube_is_closed_and_holds_its_volume(round_):
    tube, position, rotation = arc(5, round_=round_)
    vertices, normals = (part.reshape(-1, 3) for part in tube.surface(position, rotation))
    corners = vertices[tube.triangles()]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
    outward = normals[tube.triangles()].mean(axis=1)
    assert np.all(np.sum(area * outward, axis=1) >= 0)
    np.testing.assert_allclose(area.sum(axis=0), 0, atol=1e-13)
    volume = np.sum(corners.mean(axis=1) * area) / 3
    across = 0.1**2 * (16 / 2 * np.sin(2 * np.pi / 16) / 4 if round_ else 1.0)
    assert volume == pytest.approx(across * 2.0, rel=2e-3)


def test_deflections_are_drawn_larger_in_the_frame_of_the_beam(result):
    plain, large = (Stage.of(result, scale=scale).frames for scale in (1.0, 20.0))
    k = plain.places["beam.3"]
    assert plain.position[-1, k, 2] < -1e-3
    np.testing.assert_allclose(large.position[:, k, 2], 20 * plain.position[:, k, 2], atol=1e-12)
    angle = [np.arcsin(-film.rotation[-1, k, 2, 0]) for film in (plain, large)]
    assert angle[1] == pytest.approx(20 * angle[0], rel=1e-3)
    # Rods have no frame of their own: they are shown as they are.
    rod = plain.places["rod.6"]
    np.testing.assert_array_equal(large.position[:, rod], plain.position[:, rod])


def test_a_page_says_how_much_larger_deformations_are(result):
    assert "20 times as large" in viz.page(result, scale=20)
    assert "times as large" not in viz.page(result)
    with pytest.raises(ps.InputError, match="scale is -1"):
        viz.page(result, scale=-1)


@pytest.mark.parametrize(
    ("colour", "low", "unit"),
    [("axial", -1, "N"), ("shear", 0, "N"), ("torsion", -1, "N m"), ("bending", 0, "N m")],
)
def test_colours_are_those_of_the_stress(result, colour, low, unit):
    film = data(viz.page(result, colour=colour))
    scale = film["colours"]
    assert scale["unit"] == unit
    assert scale["low"] == low * scale["high"]
    (rod,) = (tube for tube in film["tubes"] if tube["name"] == "rod")
    shown = np.frombuffer(base64.b64decode(rod["shades"]), dtype="<u1").reshape(-1, 7) / 255
    values = scale["low"] + shown * (scale["high"] - scale["low"])
    own = getattr(result.stress("rod"), colour)
    own = np.linalg.norm(own, axis=2) if own.ndim == 3 else own
    near = (scale["high"] - scale["low"]) / 255
    np.testing.assert_allclose(values[:, 0], own[:, 0], atol=near)
    np.testing.assert_allclose(values[:, 3], own[:, 2:4].mean(axis=1), atol=near)


def test_the_largest_bending_moment_is_the_end_of_the_scale(result):
    scale = data(viz.page(result, colour="bending"))["colours"]
    beam = np.linalg.norm(result.stress("beam").bending, axis=2).max()
    rod = np.linalg.norm(result.stress("rod").bending, axis=2).max()
    assert scale["high"] == pytest.approx(max(beam, rod))


def test_what_has_no_stress_has_no_colours(slider_crank, result):
    with pytest.raises(ps.InputError, match=r"no stress resultants.*no beams or rods"):
        viz.page(slider_crank, colour="bending")
    with pytest.raises(ps.InputError, match="did you mean 'bending'"):
        viz.page(result, colour="bendin")


def test_a_rod_is_chosen_by_its_name(result):
    film = data(viz.page(result, bodies=["rod"]))
    assert [body["name"] for body in film["bodies"]] == [f"rod.{k}" for k in range(7)]
    assert [tube["name"] for tube in film["tubes"]] == ["rod"]


def test_a_browser_shows_tubes_their_colours_and_what_these_mean(result, chromium, tmp_path):
    pictures = {}
    for name, options in (("plain", {}), ("coloured", {"scale": 20, "colour": "bending"})):
        path = tmp_path / f"{name}.html"
        viz.write_page(result, path, **options)
        tab = chromium.open(path.as_uri())
        tab.press("End")
        pictures[name] = tab.screenshot()
        bar = tab.evaluate("document.getElementById('colours').innerText")
        listed = tab.evaluate("document.querySelector('#legend ul').innerText").split()
        assert tab.complaints == []
        tab.close()
        assert listed == ["beam", "rod"]
        assert ("bending moment [N m]" in bar) == (name == "coloured")

    def share_of(picture, red, green, blue):
        seen = picture[120:620, 270:800].reshape(-1, 3)
        strong = seen.max(axis=1) - seen.min(axis=1) > 60
        near = abs(np.sign(seen - seen.mean(axis=1)[:, None]) - (red, green, blue)).sum(axis=1) == 0
        return np.count_nonzero(strong & near)

    # Blue is the beam; with colours, yellow is where it is clamped and bends most.
    assert share_of(pictures["plain"], -1, 1, 1) + share_of(pictures["plain"], -1, -1, 1) > 300
    assert share_of(pictures["coloured"], 1, 1, -1) > share_of(pictures["plain"], 1, 1, -1)


def test_pictures_and_films_show_the_scale(result, tmp_path):
    figure = viz.picture(result, time=0.01, scale=20, colour="axial")
    assert figure.axes[1].get_ylabel() == "axial force [N]"
    viz.animate(result, tmp_path / "film.gif", frames=2, colour="bending")
    with Image.open(tmp_path / "film.gif") as film:
        assert film.n_frames == 2
