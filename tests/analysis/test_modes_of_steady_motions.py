import linear_models as known
import numpy as np
import pytest

import poinsot as ps
from poinsot.gallery.heavy_top import Top
from poinsot.gallery.rolling_coin import Coin
from poinsot.gallery.rolling_coin import model as coin_model

modes = ps.analysis.modes


@pytest.mark.parametrize("coordinates", known.COORDINATES[:4])
@pytest.mark.parametrize("part", [0.5, 0.99, 1.01, 2.0])
def test_a_sleeping_top_has_the_roots_of_its_equation(part, coordinates):
    limit = known.top(1.0)[2]
    model, exact, _ = known.top(part * limit)
    found = modes(model, coordinates=coordinates)
    assert found.linear.about.steady
    assert isinstance(found.linear, ps.analysis.LinearPHSystem)
    values = found.eigenvalues[found.rigid :]
    exact = np.where(abs(exact.real) < 1e-9 * abs(exact), 1j * exact.imag, exact)
    assert np.max(abs(np.sort_complex(values) - np.sort_complex(exact))) < 1e-10 * np.max(
        abs(exact)
    )


@pytest.mark.parametrize("coordinates", known.COORDINATES[:4])
def test_a_sleeping_top_is_stable_just_above_its_limit_and_not_below(coordinates):
    limit = known.top(1.0)[2]
    assert not modes(known.top(limit * (1 - 1e-6))[0], coordinates=coordinates).stable
    assert modes(known.top(limit * (1 + 1e-6))[0], coordinates=coordinates).stable


@pytest.mark.parametrize("coordinates", known.COORDINATES)
def test_a_precessing_top_nods_with_the_frequency_of_its_closed_form(coordinates):
    top = Top()
    (J1, J3), theta, arm = top.inertia, top.inclination, top.arm
    R = ps.Rotation.from_axis_angle((1, 0, 0), theta).matrix
    model = ps.Model(gravity=(0, 0, -top.gravity))
    centre = J1 - top.mass * arm**2
    body = model.add_body(
        "top",
        ps.RigidBody(mass=top.mass, inertia=(centre, centre, J3)),
        position=arm * R[:, 2],
        rotation=R,
        angular_velocity=np.array([0, 0, top.precession]) + top.spin * R[:, 2],
    )
    model.add_joint("tip", ps.Spherical(model.ground, body, point=(0, 0, 0)))
    found = modes(model, coordinates=coordinates)
    # Of the potential of the inclination, at constant momenta about both axes.
    c, s = np.cos(theta), np.sin(theta)
    p3 = J3 * (top.spin + top.precession * c)
    w = top.precession
    weight = top.mass * top.gravity * arm
    # J1 f^2 = d/dtheta of -J1 w^2 s c + p3 w s - weight s with J1 dw/dtheta = (p3 - 2 J1 w c) / s.
    dw = (p3 - 2 * J1 * w * c) / (J1 * s)
    slope = (p3 * w - weight) * c - J1 * w**2 * (c**2 - s**2) + (p3 - 2 * J1 * w * c) * s * dw
    assert found.frequencies[-1] == pytest.approx(np.sqrt(slope / J1), rel=1e-9)
    assert found.rigid == 2


@pytest.mark.parametrize("coordinates", known.COORDINATES)
@pytest.mark.parametrize("speed", [0.0, 300.0])
def test_a_rotor_whirls_with_the_frequencies_of_its_closed_form(speed, coordinates):
    model, exact = known.rotor(speed)
    found = modes(model, coordinates=coordinates)
    assert found.rigid == 2
    assert np.max(abs(found.frequencies[2:] / exact - 1)) < 1e-9


def test_a_campbell_diagram_follows_every_mode_over_speed():
    speeds = np.linspace(0, 600, 7)
    diagram = ps.analysis.campbell(
        lambda speed: known.rotor(speed)[0], speeds, coordinates="rotations"
    )
    exact = np.array([known.rotor(speed)[1] for speed in speeds])
    assert np.max(abs(np.sort(diagram.frequencies, axis=1) / exact - 1)) < 1e-9
    assert np.all(np.diff(diagram.frequencies[:, -1]) > 0)
    critical = diagram.critical_speeds()
    assert critical.size >= 3
    figure = ps.viz.plot_campbell(diagram)
    assert len(figure.axes[0].lines) == 5
    with pytest.raises(ps.InputError, match="function of the speed"):
        ps.analysis.campbell(3, speeds)


@pytest.mark.parametrize("coordinates", known.COORDINATES)
@pytest.mark.parametrize("spin", [2.0, 10.0])
def test_a_rolling_coin_wobbles_or_falls_as_its_closed_form_says(spin, coordinates):
    coin = Coin(tilt=0.0, spin=spin, turn=0.0)
    square = 12 / 5 * spin**2 - 4 / 5 * coin.gravity / coin.radius
    found = modes(coin_model(coin), coordinates=coordinates)
    assert found.linear.about.steady
    assert found.frequencies[-1] == pytest.approx(np.sqrt(abs(square)), rel=1e-9)
    assert found.stable == (square > 0)


def test_a_mechanism_that_turns_as_a_whole_is_seen_from_its_own_frame():
    # Two masses on a spring that turn about each other: centrifugal force stretches it.
    k, rest, omega, m = 100.0, 1.0, 5.0, 2.0
    length = rest / (1 - m / 2 * omega**2 / k)
    model = ps.Model()
    ends = []
    for side in (-1, 1):
        place = (side * length / 2, 0, 0)
        velocity = (0, side * length / 2 * omega, 0)
        ends.append(
            model.add_body(f"m{side}", ps.PointMass(mass=m), position=place, velocity=velocity)
        )
    points = {"point_a": (-length / 2, 0, 0), "point_b": (length / 2, 0, 0)}
    model.add_force("spring", ps.Spring(*ends, stiffness=k, rest_length=rest, **points))
    found = modes(model)
    assert found.linear.about.steady
    # Radially, with angular momentum constant: f^2 = k / mu + 3 omega^2.
    exact = np.sqrt(k / (m / 2) + 3 * omega**2)
    assert np.min(abs(found.frequencies / exact - 1)) < 1e-10


@pytest.mark.parametrize("coordinates", known.COORDINATES[:4])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_free_body_spins_stably_about_its_outer_axes_only(axis, coordinates):
    J, speed = (1.0, 2.0, 2.5), 4.0
    omega = np.zeros(3)
    omega[axis] = speed
    model = ps.Model()
    model.add_body("body", ps.RigidBody(mass=1.0, inertia=J), angular_velocity=omega)
    found = modes(model, coordinates=coordinates)
    j, k = J[axis - 1], J[axis - 2]
    rate = speed * np.sqrt(abs((J[axis] - j) * (J[axis] - k)) / (j * k))
    assert np.min(abs(found.frequencies / rate - 1)) < 1e-11
    assert found.stable == (axis != 1)


def test_a_motion_that_is_not_steady_is_linearised_as_it_is_at_that_moment():
    model, *_ = known.pendulum()
    system = model.compile("rotations")
    linear = ps.analysis.linearise(system, at={"rod.w": (0, 1.0, 0, 2.0, 0, 0)})
    assert isinstance(linear, ps.analysis.LinearDescriptor)
    assert not linear.about.steady
