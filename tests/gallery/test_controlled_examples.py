"""Swing-up, satellite, motor with slider-crank: figures, files, and what was built for them."""

import numpy as np
import pytest

from poinsot.gallery import find_example
from poinsot.gallery.motor_slider_crank import Machine
from poinsot.gallery.satellite import Satellite, model


@pytest.mark.parametrize("name", ["swing-up", "satellite", "motor-slider-crank"])
def test_the_figure_is_drawn(name):
    example = find_example(name)
    assert example.plot(example.run(t_end=100 * example.h)).axes


def test_the_film_of_the_satellite_is_small_and_its_hull_turns(tmp_path):
    from PIL import Image

    example, path = find_example("satellite"), tmp_path / "satellite.gif"
    example.animate(example.run(h=0.1, t_end=0.5), path)
    with Image.open(path) as film:
        assert film.n_frames == 6
    assert path.stat().st_size < 6 * 40e3


def test_the_inertia_of_a_slider_crank_has_the_slope_that_is_told():
    machine = Machine()
    for x in np.linspace(0.1, 6.0, 7):
        slope = (machine.inertia(x + 1e-6)[0] - machine.inertia(x - 1e-6)[0]) / 2e-6
        assert slope == pytest.approx(machine.inertia(x)[1], abs=1e-9)


def test_the_inertia_that_wheels_turn_is_that_of_the_bodies():
    case, bodies = Satellite(), model().bodies
    masses = np.array([body.shape.mass for body in bodies.values()])
    places = np.array([body.position for body in bodies.values()])
    centre = masses @ places / masses.sum()
    whole = -case.wheel * case.radius**2 / 2 * np.eye(3)
    for mass, body in zip(masses, bodies.values(), strict=True):
        r, inertia = (
            body.position - centre,
            body.R_WB @ np.asarray(body.shape.inertia_B) @ body.R_WB.T,
        )
        whole += inertia + mass * (r @ r * np.eye(3) - np.outer(r, r))
    np.testing.assert_allclose(case.J, whole, rtol=0, atol=1e-12)
