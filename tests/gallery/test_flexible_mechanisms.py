"""Mechanisms with beams [BAPM21, sec. 6] against continua and rigid bodies, computed apart."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import poinsot as ps
from poinsot.gallery import flexible_crank_slider as crank_slider
from poinsot.gallery import flexible_four_bar as four_bar
from poinsot.gallery import hinged_beam

# -- four-bar --------------------------------------------------------------------------------------


@pytest.mark.parametrize("degrees", four_bar.EXACT)
def test_the_dynamic_stiffness_gives_the_known_frequencies(degrees):
    np.testing.assert_allclose(four_bar.exact(degrees), four_bar.EXACT[degrees], rtol=1e-9)


@pytest.mark.parametrize(
    ("degrees", "elements", "near"), [(17, 4, 3e-4), (287, 4, 3e-4), (211, 12, 1e-5)]
)
def test_frequencies_are_right_at_any_crank_angle(degrees, elements, near):
    found = four_bar.frequencies(degrees, elements)
    np.testing.assert_allclose(found, four_bar.exact(degrees), rtol=near)


# -- slider-crank ----------------------------------------------------------------------------------


def at_the_middle(rates, angles, k, **tolerances):
    """Return w/L there, of sine modes with the wave numbers k, from rest."""
    times, start = np.array(angles) / crank_slider.SPEED, np.zeros(2 * k.size)
    found = solve_ivp(rates, (0, times[-1]), start, method="DOP853", t_eval=times, **tolerances)
    return np.sin(k * crank_slider.COUPLER / 2) @ found.y[: k.size] / crank_slider.COUPLER


def by_sine_modes(angles, modes=6):
    """Return w/L of the coupler whose frame moves as rigid bodies do, at crank angles [rad]."""
    r, L, speed = crank_slider.CRANK, crank_slider.COUPLER, crank_slider.SPEED
    A = np.pi * crank_slider.RADIUS**2
    EI = crank_slider.YOUNGS_MODULUS * A * crank_slider.RADIUS**2 / 4
    n = np.arange(1, modes + 1)
    k = n * np.pi / L
    # Shares of a uniform and of a linear load in sine n: 2/L times integrals over the beam.
    uniform = 2 * (1 - (-1.0) ** n) / (n * np.pi)
    linear = -2 * L * (-1.0) ** n / (n * np.pi)

    def rates(t, y):
        theta = speed * t
        s = -r / L * np.sin(theta)
        c = np.sqrt(1 - s * s)
        turning = -r / L * speed * np.cos(theta) / c
        turned = (r / L * speed**2 * np.sin(theta) + turning**2 * s) / c
        across = -r * speed**2 * (c * np.sin(theta) - s * np.cos(theta))
        load = -(turned * linear + across * uniform)
        q, v = np.split(y, 2)
        pull = (turning**2 - EI / (crank_slider.DENSITY * A) * k**4) * q
        return np.concatenate([v, load + pull])

    return at_the_middle(rates, angles, k, rtol=1e-9, atol=1e-12)


def test_sine_modes_give_the_numbers_of_the_check():
    angles = [0.5, 1.0, 2.0, 3.0]
    expected = [crank_slider.EXACT[angle] for angle in angles]
    np.testing.assert_allclose(by_sine_modes(angles), expected, atol=1e-6)


def test_the_coupler_bends_as_its_own_equation_says():
    result = ps.simulate(crank_slider.model(), h=4e-5, t_end=0.0136)
    angles = np.array([0.25, 0.75, 1.25, 1.75])
    found = crank_slider.at_angles(result, angles)
    np.testing.assert_allclose(found, by_sine_modes(angles), atol=1e-3 * crank_slider.PEAK)
    gained = result.energy - result.energy[0] - result.port("motor").energy
    assert abs(gained).max() < 1e-11
    assert result.constraint_error.max() < 1e-14


def of_the_whole_mechanism(angles, modes=3, points=16):
    """Return w/L of a coupler that bends and does not stretch, by d'Alembert's principle.

    Points of the coupler are at (x - s, w) in the frame through its ends, with the shortening
    s = 1/2 int w'^2, and the end, with the slider, is on the rail.
    """
    r, L, speed = crank_slider.CRANK, crank_slider.COUPLER, crank_slider.SPEED
    line = crank_slider.DENSITY * np.pi * crank_slider.RADIUS**2
    EI = crank_slider.YOUNGS_MODULUS * np.pi * crank_slider.RADIUS**4 / 4
    k = np.arange(1, modes + 1) * np.pi / L
    xi, weight = np.polynomial.legendre.leggauss(points)
    x, mass = np.append((1 + xi) / 2 * L, L), np.append(line * weight * L / 2, line * L / 2)
    shape, (a, b) = np.sin(np.outer(x, k)), np.meshgrid(k, k)
    apart = np.where(a == b, 1.0, a - b)
    shortening = np.array(
        [
            a * b * (np.where(a == b, X, np.sin(apart * X) / apart) + np.sin((a + b) * X) / (a + b))
            for X in x
        ]
    )

    def places(q, t):
        w, s = q @ shape.T, np.einsum("...i,pij,...j->...p", q, shortening, q) / 4
        pin = r * np.stack([np.cos(speed * t), np.sin(speed * t)], axis=-1)
        sine = -pin[..., 1] / (L - s[..., -1])
        cosine, sine = np.sqrt(1 - sine**2)[..., None], sine[..., None]
        moved = np.stack([cosine * (x - s) - sine * w, sine * (x - s) + cosine * w], axis=-1)
        return (pin[..., None, :] + moved).reshape(*np.shape(t), -1)

    near = 1e-5 * np.arange(-2, 3)
    second = np.array([-1, 16, -30, 16, -1]) / (12 * 1e-10)

    def rates(t, y):
        q, v = np.split(y, 2)
        by_q = places(q + 1e-30j * np.eye(modes), np.full(modes, t)).imag / 1e-30
        convected = second @ places(q + near[:, None] * v, t + near)
        heavy = by_q * np.repeat(mass, 2)
        push = heavy @ convected + EI * k**4 * L / 2 * q
        return np.concatenate([v, -np.linalg.solve(heavy @ by_q.T, push)])

    return at_the_middle(rates, angles, k, rtol=1e-7, atol=1e-10)


def test_a_stiffened_coupler_bends_as_in_the_whole_mechanism():
    angles = np.array([0.5, 1.0, 1.5, 2.0])
    expected = of_the_whole_mechanism(angles)
    given = [crank_slider.WHOLE[angle] for angle in (1.0, 2.0)]
    np.testing.assert_allclose(expected[[1, 3]], given, atol=4e-6)
    result = ps.simulate(crank_slider.model(stiffening=True), h=4e-5, t_end=0.0136)
    found = crank_slider.at_angles(result, angles)
    np.testing.assert_allclose(found, expected, atol=1e-3 * crank_slider.PEAK)


def test_the_same_elements_under_the_force_of_rigid_motion_give_the_numbers_of_others():
    angles = np.array(list(crank_slider.GIVEN_FORCE))
    expected = list(crank_slider.GIVEN_FORCE.values())
    found = crank_slider.with_given_force(angles)
    np.testing.assert_allclose(found, expected, atol=2e-4 * crank_slider.PEAK)
    # What that force leaves out is thirty times more than what elements and steps do.
    apart = abs(np.subtract(expected, list(crank_slider.WHOLE.values())))
    assert apart.max() == pytest.approx(0.028 * crank_slider.PEAK, rel=0.05)


# -- hinged beam -----------------------------------------------------------------------------------


def test_the_first_frequency_is_that_of_a_pinned_beam():
    found = ps.analysis.modes(hinged_beam.model())
    assert found.rigid == 3
    np.testing.assert_allclose(found.frequencies[3:5], hinged_beam.FREQUENCY, rtol=1e-3)


def test_a_stiff_beam_turns_as_a_rigid_one():
    """omega = M t / J about the vertical until 10 s, but for the ramps."""
    result = ps.simulate(hinged_beam.model(elements=1, stiffer=1e4), h=0.05, t_end=10.2)
    assert hinged_beam.rate(result)[-1] == pytest.approx(hinged_beam.RIGID_RATE, rel=1e-5)
    work = result.port("torque").energy
    np.testing.assert_allclose(result.energy, work, atol=1e-10)
