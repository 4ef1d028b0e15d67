"""The spatial slider-crank against an independent code of PH-MP and GGL [LKB26, sec. 7.3]."""

import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline
from scipy.optimize import brentq

import poinsot as ps
from poinsot.gallery.extrapolation import extrapolate
from poinsot.gallery.spatial_slider_crank import EXAMPLE, model

TIMES = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0)
POSITIONS = {
    ("ph-mp", 0.01): (0.184964975, 0.212738091, 0.288031054, 0.226214860, 0.186272638, 0.249905930),
    ("ph-mp", 0.001): (
        0.184952678,
        0.211731409,
        0.289077200,
        0.228466567,
        0.188214316,
        0.240780218,
    ),
    ("ph-mp-ggl", 0.01): (
        *(0.184964310, 0.212683630, 0.288192197),
        *(0.226706251, 0.186746152, 0.246735031),
    ),
    ("ph-mp-ggl", 0.001): (
        *(0.184952678, 0.211731407, 0.289077202),
        *(0.228466572, 0.188214320, 0.240780202),
    ),
}
SPEEDS = {
    ("ph-mp", 0.01): -0.610632993,
    ("ph-mp", 0.001): -0.596105145,
    ("ph-mp-ggl", 0.01): -0.606477307,
}
#: Largest |G v| of PH-MP, which does not keep velocity constraints.
VIOLATIONS = {0.01: 1.23, 0.001: 4.4e-3, 0.02: 11.5}
EXACT = (
    *(0.1849526297778026, 0.2117216613934438, 0.2890851970671418),
    *(0.2284848136979287, 0.1882304755815622, 0.2407195737296153),
)


def run(scheme, h, t_end=5.0):
    return ps.simulate(model(), scheme=scheme, h=h, t_end=t_end)


def slider(result, times=TIMES):
    return result.position("slider")[[round(t / result.h) for t in times], 0]


def assert_promises(result):
    assert abs(result.energy - result.energy[0]).max() < 2e-13
    assert result.constraint_error.max() < 1e-14
    violation = result.velocity_constraint_error.max()
    if result.scheme == "ph-mp-ggl":
        assert violation < 2e-13
    else:
        assert violation == pytest.approx(VIOLATIONS[result.h], rel=0.012)


def test_one_degree_of_freedom():
    check = model().check()
    assert (check.constraints, check.freedoms, check.repeated) == (17, 1, ())


def test_velocities_at_the_start_follow_from_the_crank():
    start = run("ph-mp", 0.01, 0.01)
    assert start.energy[0] == pytest.approx(0.76643568, abs=1e-14)
    np.testing.assert_allclose(start.velocity("slider")[0], (0.24, 0, 0), rtol=0, atol=1e-14)
    omega = (1.92, -0.96, 0.48)
    np.testing.assert_allclose(start.angular_velocity("rod")[0], omega, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("scheme", "h"), POSITIONS)
def test_slider_positions(scheme, h):
    result = run(scheme, h)
    np.testing.assert_allclose(slider(result), POSITIONS[scheme, h], rtol=0, atol=6e-10)
    if (scheme, h) in SPEEDS:
        speed = result.velocity("slider")[-1, 0]
        assert speed == pytest.approx(SPEEDS[scheme, h], abs=6e-10)
    assert_promises(result)


def test_extrapolation_meets_the_exact_motion():
    """Orders 2 and 4 removed, from h = 0.004, 0.002, 0.001."""
    results = [run("ph-mp", h) for h in (0.004, 0.002, 0.001)]
    np.testing.assert_allclose(extrapolate([slider(r) for r in results]), EXACT, rtol=0, atol=3e-9)
    speed = extrapolate([r.velocity("slider")[-1, 0] for r in results])
    assert speed == pytest.approx(-0.5959844120449362, abs=1e-7)


def test_time_of_a_revolution():
    """Where the crank's angle reaches 2 pi; order 2 removed."""

    def period(h):
        result = run("ph-mp-ggl", h, 0.6)
        angle = result.joint("A").coordinates["angle"]
        omega = result.angular_velocity("crank")[:, 0]
        turn = CubicHermiteSpline(result.time, angle, omega)
        return brentq(lambda t: turn(t) - 2 * np.pi, 0.5, 0.6, xtol=1e-15)

    limit = extrapolate([period(h) for h in (0.002, 0.001, 0.0005)])
    assert limit == pytest.approx(0.578897439600710, abs=1e-10)


def test_both_schemes_reach_the_end_with_a_step_of_0_02():
    ph_mp, ggl = run("ph-mp", 0.02), run("ph-mp-ggl", 0.02)
    assert ph_mp.status == ggl.status == "done"
    assert_promises(ph_mp)
    assert_promises(ggl)
    assert ggl.position("slider")[-1, 0] == pytest.approx(0.2640831207085795, abs=1e-12)
    assert ggl.velocity("slider")[-1, 0] == pytest.approx(-0.6145251104794, abs=1e-11)


def test_animation_is_small_and_moves(tmp_path):
    from PIL import Image

    path = tmp_path / "slider-crank.gif"
    EXAMPLE.animate(EXAMPLE.run(h=0.02, t_end=0.12), path)
    with Image.open(path) as film:
        assert film.n_frames == 7
    assert path.stat().st_size < 7 / 31 * 2e6  # 31 frames are a turn
