"""Four-bar, rotor and car against closed forms, in all coordinates and for other parameters."""

from dataclasses import replace

import numpy as np
import pytest

from poinsot.analysis import equilibrium, modes
from poinsot.gallery import find_example, four_bar_modes, ride, rotor_campbell
from poinsot.gallery.four_bar_modes import FourBar
from poinsot.gallery.ride import Car
from poinsot.gallery.rotor_campbell import Rotor

COORDINATES = [
    "directors",
    "quaternions",
    "rotations",
    "rotations-quaternion",
    "rotations-euler",
]


@pytest.mark.parametrize("name", ["four-bar-modes", "rotor-campbell", "ride"])
def test_the_figure_is_drawn(name):
    example = find_example(name)
    assert len(example.plot(example.run()).axes) == 4


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_four_bar_under_gravity_oscillates_at_rest_as_in_one_coordinate(coordinates):
    bars = FourBar(gravity=9.81, angle=4.0, stiffnesses=(9.0, 2.0, 1.0, 3.0))
    rest = equilibrium(four_bar_modes.model(bars), coordinates=coordinates)
    phi = bars.rest()
    assert bars.angle + rest.coordinates("crank pivot")["angle"] == pytest.approx(phi, rel=1e-8)
    found = modes(rest)
    assert found.frequencies == pytest.approx([float(bars.frequency(phi))], rel=1e-8)


def test_the_one_coordinate_has_the_derivatives_it_says():
    """V'' is the slope of V', and M that of the kinetic energy: by differences."""
    bars, phi, h = FourBar(gravity=9.81), np.linspace(0.1, 6.0, 9), 1e-5
    ahead, back = bars.slopes(phi + h)[0], bars.slopes(phi - h)[0]
    np.testing.assert_allclose(bars.slopes(phi)[1], (ahead - back) / (2 * h), rtol=1e-6)
    for angle, later, before in zip(
        bars.angles(phi), bars.angles(phi + h), bars.angles(phi - h), strict=True
    ):
        np.testing.assert_allclose(angle.first, (later.value - before.value) / (2 * h), rtol=1e-6)


@pytest.mark.parametrize("coordinates", COORDINATES[:3])
@pytest.mark.parametrize("size", [1e-3, 1.0, 50.0])
def test_a_rotor_of_any_size_whirls_as_its_quartic_says(size, coordinates):
    rotor = Rotor(
        mass=8 * size**3,
        radius=0.3 * size,
        thickness=0.02 * size,
        bearings=(-0.2 * size, 0.5 * size),
        stiffnesses=(3e6 * size, 1e6 * size),
        speed=900 / size,
        push=0.0,
    )
    found = modes(rotor_campbell.model(rotor), coordinates=coordinates)
    assert found.rigid == 1
    whirls = np.sort(abs(rotor.whirls()))
    np.testing.assert_allclose(found.frequencies[1:], whirls, rtol=1e-9)


def test_the_critical_speed_is_where_the_rotor_whirls_once_a_turn():
    for rotor in (Rotor(push=0.0), Rotor(thickness=0.6, push=0.0)):
        for speed in rotor.critical_speeds():
            found = modes(rotor_campbell.model(replace(rotor, speed=float(speed))))
            assert min(abs(found.frequencies / speed - 1)) < 1e-9


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_a_car_rides_with_the_eigenvalues_of_seven_coordinates(coordinates):
    car = Car(mass=900.0, front=1.0, rear=1.7, stiffnesses=(15e3, 30e3), dampings=(900.0, 2.5e3))
    found = modes(ride.model(car), coordinates=coordinates)
    exact = car.eigenvalues()
    np.testing.assert_allclose(np.sort(found.frequencies), np.sort(abs(exact)), rtol=1e-9)
    ratios = -exact.real / abs(exact)
    np.testing.assert_allclose(np.sort(found.damping_ratios), np.sort(ratios), rtol=1e-8)
