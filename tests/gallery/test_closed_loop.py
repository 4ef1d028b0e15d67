"""The closed loop against published numbers and an independent code of PH-MP [LKB26, sec. 7.2]."""

import numpy as np
import pytest

import poinsot as ps
from poinsot.gallery.closed_loop import EXACT, EXAMPLE, Loop, model


def run(*, scheme="ph-mp", h=0.1, t_end=10.0, loop=EXACT):
    return ps.simulate(model(loop), scheme=scheme, h=h, t_end=t_end)


@pytest.fixture(scope="module")
def published():
    return EXAMPLE.run()


def test_twelve_degrees_of_freedom():
    check = model().check()
    assert (check.bodies, check.constraints, check.freedoms) == (4, 12, 12)


def test_energy_of_the_published_run(published):
    H = published.energy
    assert H[1] == pytest.approx(0.880081744, abs=1e-9)
    assert H[5] == pytest.approx(538.5818811, abs=1e-7)
    np.testing.assert_allclose(H[10:], 2095.376896920, rtol=0, atol=1e-8)


def test_angular_momentum_of_the_published_run(published):
    np.testing.assert_allclose(
        published.angular_momentum[10:], [(299.7453593, 0, 0)] * 91, rtol=0, atol=1e-7
    )


def test_place_of_the_published_run(published):
    bar_0, bar_1 = published.position("bar 0")[-1], published.position("bar 1")[-1]
    np.testing.assert_allclose(bar_0, (99.90860439, 0, 0), rtol=0, atol=1e-8)
    np.testing.assert_allclose(bar_1, (95, 2.347642014, -4.310797377), rtol=0, atol=1e-9)
    d2 = published.rotation("bar 0")[-1, :, 1]
    np.testing.assert_allclose(d2, (0, 0.302381440, -0.953187004), rtol=0, atol=1e-9)


def test_a_smaller_step_of_the_published_torque():
    result = EXAMPLE.run(h=0.01)
    assert result.energy[-1] == pytest.approx(2096.159827, abs=1e-6)
    assert result.angular_momentum[-1, 0] == pytest.approx(299.9973924, abs=1e-7)


def test_ggl_numbers():
    result = EXAMPLE.run(scheme="ph-mp-ggl")
    assert result.energy[1] == pytest.approx(0.8800816803017, rel=1e-10)
    assert result.energy[5] == pytest.approx(538.5810291355, rel=1e-11)
    assert result.energy[-1] == pytest.approx(2095.376886669, rel=1e-11)
    assert result.angular_momentum[-1, 0] == pytest.approx(299.7453488445, rel=1e-11)
    place = (95, 2.347644754724, -4.310790598081)
    np.testing.assert_allclose(result.position("bar 1")[-1], place, rtol=1e-10)
    assert result.velocity_constraint_error.max() < 2e-14


@pytest.mark.parametrize("scheme", ["ph-mp", "ph-mp-ggl"])
@pytest.mark.parametrize("h", [0.1, 0.05])
def test_the_exact_torque_gives_the_whole_angular_impulse(scheme, h):
    """L = (6, 0, 0) and P = (8, 0, 0) times the integral of f, at any step."""
    result = run(scheme=scheme, h=h, t_end=1.0)
    np.testing.assert_allclose(result.angular_momentum[-1], (300, 0, 0), rtol=0, atol=1e-10)
    np.testing.assert_allclose(result.linear_momentum[-1], (400, 0, 0), rtol=0, atol=1e-11)


def test_the_torque_of_eq_32_loses_angular_momentum_in_second_order():
    lost = [300 - run(h=h, t_end=1.0, loop=Loop()).angular_momentum[-1, 0] for h in (0.1, 0.05)]
    assert lost[0] == pytest.approx(300 - 299.7453593, abs=1e-7)
    assert np.log2(lost[0] / lost[1]) == pytest.approx(2, abs=0.1)


def test_extrapolation_meets_the_exact_motion():
    """Order 2, extrapolated from h = 0.02, 0.01, against a solution in extended precision."""
    coarse, fine = run(h=0.02), run(h=0.01)

    def limit(a, b):
        return (4 * b - a) / 3

    x = [result.position("bar 0")[:, 0] for result in (coarse, fine)]
    assert limit(x[0][50], x[1][100]) == pytest.approx(9.82036914115, abs=1e-7)
    assert limit(x[0][-1], x[1][-1]) == pytest.approx(99.9155185081, abs=1e-6)
    assert limit(coarse.energy[-1], fine.energy[-1]) == pytest.approx(2096.167842267, abs=1e-5)
    np.testing.assert_allclose(fine.angular_momentum[-1], (300, 0, 0), rtol=0, atol=1e-9)


def test_constraints_and_energy_balance_hold_to_round_off(published):
    assert published.constraint_error.max() < 5e-13
    assert published.stats.balance_error_max < 5e-12
    supplied = published.port("force").energy[-1] + published.port("torque").energy[-1]
    assert published.energy[-1] == pytest.approx(supplied, rel=1e-14)
    assert published.velocity_constraint_error.max() == pytest.approx(2.72e-3, abs=1e-5)
