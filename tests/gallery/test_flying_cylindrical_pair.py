"""The flying pair against published numbers and an independent code of PH-MP [LKB26, sec. 7.1]."""

import numpy as np
import pytest
from numerics import observed_orders

import poinsot as ps
from poinsot.gallery.flying_cylindrical_pair import AS_PRINTED, EXAMPLE, Pair, model, rms_errors

SCHEMES = ("ph-mp", "ph-mp-ggl")


@pytest.fixture(scope="module", params=SCHEMES)
def flight(request):
    return EXAMPLE.run(scheme=request.param)


def test_inertia_is_that_of_solid_and_hollow_cylinder():
    bodies = model().bodies
    np.testing.assert_allclose(bodies["shaft"].principal.inertia, (304, 304, 8), rtol=1e-14)
    np.testing.assert_allclose(bodies["shaft"].principal.euler, (4, 4, 300), rtol=1e-14)
    np.testing.assert_allclose(bodies["ring"].principal.inertia, (18.75, 18.75, 19.5), rtol=1e-14)
    np.testing.assert_allclose(bodies["ring"].principal.euler, (9.75, 9.75, 9), rtol=1e-14)


def test_eight_degrees_of_freedom():
    check = model().check()
    assert (check.constraints, check.freedoms, check.repeated) == (4, 8, ())


@pytest.mark.parametrize(
    ("pair", "v_B", "omega_B", "H", "L"),
    [
        (Pair(), (16.5, 39, 35.5), (-1, -1.5, 100), 107604.71875, (964.25, -1028.625, 1950)),
        (AS_PRINTED, (-16.5, 61, 35.5), (1, 1.5, -100), 110904.71875, (2335.75, 1028.625, -1950)),
    ],
    ids=["published results", "as printed"],
)
def test_invariants_of_both_sign_readings(pair, v_B, omega_B, H, L):
    start = ps.simulate(model(pair), h=1e-3, t_end=1e-3)
    np.testing.assert_allclose(start.velocity("ring")[0], v_B, rtol=1e-14)
    np.testing.assert_allclose(start.angular_velocity("ring")[0], omega_B, rtol=1e-14)
    np.testing.assert_allclose(start.energy, H, rtol=1e-13)
    np.testing.assert_allclose(start.angular_momentum[0], L, rtol=1e-13)


def test_positions_after_700_steps():
    result = EXAMPLE.run()
    assert result.stats.steps == 700
    shaft, ring = (result.position(body)[-1] for body in ("shaft", "ring"))
    np.testing.assert_allclose(shaft, (5.098580503, 34.443640854, 3.259360036), rtol=0, atol=1e-9)
    np.testing.assert_allclose(ring, (4.751892662, 28.041812195, 9.504186619), rtol=0, atol=1e-9)


def test_positions_of_the_published_run_which_took_699_steps():
    result = EXAMPLE.run(h=0.7 / 699)
    shaft, ring = result.position("shaft"), result.position("ring")
    assert result.stats.steps == 699
    np.testing.assert_allclose(shaft[-1], (5.098581868, 34.44364201, 3.2593599), rtol=1e-8)
    np.testing.assert_allclose(ring[-1], (4.751890842, 28.04181065, 9.5041868), rtol=1e-8)
    # The authors' result data at t = 0.008011445; their Newton stopped at 1e-9.
    assert result.time[8] == pytest.approx(0.008011445, abs=1e-9)
    np.testing.assert_allclose(shaft[8], (0.000359078, 0.399134569, 5.35e-6), rtol=0, atol=3e-8)
    np.testing.assert_allclose(ring[8], (0.131710071, 0.314363255, -10.71560083), rtol=0, atol=3e-8)


def test_final_positions_of_ggl():
    result = EXAMPLE.run(scheme="ph-mp-ggl")
    shaft, ring = (result.position(body)[-1] for body in ("shaft", "ring"))
    np.testing.assert_allclose(shaft, (5.0985794683, 34.443639968938, 3.259360115985), rtol=1e-10)
    np.testing.assert_allclose(ring, (4.751894042267, 28.041813374749, 9.50418651202), rtol=1e-10)


def test_energy_and_angular_momentum_are_conserved(flight):
    assert np.ptp(flight.energy) < 2e-8  # of 1e5 J
    assert np.ptp(flight.angular_momentum, axis=0).max() < 2e-10  # of 2.4e3 J s
    assert np.ptp(flight.linear_momentum, axis=0).max() < 1e-11


def test_position_constraints_hold_to_round_off(flight):
    assert flight.constraint_error.max() < 8.5e-14


def test_velocity_constraints_hold_with_ggl_only():
    errors = {s: EXAMPLE.run(scheme=s).velocity_constraint_error.max() for s in SCHEMES}
    assert errors["ph-mp"] == pytest.approx(1.05e-2, abs=5e-5)
    assert errors["ph-mp-ggl"] < 2e-12


def test_the_ring_slides_and_turns_as_the_joint_says(flight):
    displacement = flight.joint("bush").coordinates["displacement"]
    assert displacement[-1] + Pair().ring_place == pytest.approx(8.9491459615485, abs=1e-3)
    axis = flight.rotation("shaft")[-1, :, 2]
    np.testing.assert_allclose(axis, flight.rotation("ring")[-1, :, 2], atol=1e-12)


@pytest.mark.parametrize(
    ("pair", "shaft", "ring"),
    [
        (
            Pair(),
            (5.0981022185707, 34.443233723600, 3.2594051075953),
            (4.7525303752391, 28.042355035200, 9.5041265232062),
        ),
        (
            AS_PRINTED,
            (-2.4747466468966, 39.491799633911, 3.2594051075953),
            (-8.2503378041379, 36.710933821452, 9.5041265232062),
        ),
    ],
    ids=["published results", "as printed"],
)
def test_extrapolation_meets_the_exact_flight(pair, shaft, ring):
    """Order 2, extrapolated from h = 1e-3, 5e-4, against a solution in extended precision."""
    coarse, fine = (ps.simulate(model(pair), h=h, t_end=0.7) for h in (1e-3, 5e-4))
    for body, exact in (("shaft", shaft), ("ring", ring)):
        ours = (4 * fine.position(body)[-1] - coarse.position(body)[-1]) / 3
        np.testing.assert_allclose(ours, exact, rtol=0, atol=2e-6)
        assert abs(coarse.position(body)[-1] - exact).max() > 1e-4


@pytest.mark.parametrize("scheme", SCHEMES)
def test_rms_errors_and_orders(scheme):
    """At t = 0.02 against h = 1e-5, as the paper does; order 2 in q and v, 1 in lambda."""
    steps = (1e-2, 1e-3, 1e-4)
    errors = rms_errors(steps, scheme=scheme)
    # Both schemes agree to the digits printed, but for the third one at the coarsest step.
    rtol = [1e-3, 2e-4, 2e-4]
    assert np.all(abs(errors["q"] / (4.197e-2, 4.806e-4, 4.766e-6) - 1) < rtol)
    assert np.all(abs(errors["v"] / (4.198, 4.807e-2, 4.766e-4) - 1) < rtol)
    np.testing.assert_allclose(observed_orders(steps, errors["q"]), 2, atol=0.07)
    np.testing.assert_allclose(observed_orders(steps, errors["v"]), 2, atol=0.07)
    np.testing.assert_allclose(observed_orders(steps, errors["lambda"]), 1, atol=0.1)


def test_multipliers_are_of_second_order_at_the_midpoints_of_two_steps():
    """A step's multiplier belongs to its midpoint, the mean of two to the time between them."""

    def mean(h):
        n = round(0.02 / h)
        result = ps.simulate(model(), h=h, t_end=0.02 + h)
        parts = [result[name][n : n + 2] for name in ("shaft.rigidity", "ring.rigidity", "bush")]
        return np.concatenate(parts, axis=1).mean(axis=0)

    exact = mean(1e-5)
    steps = (1e-3, 5e-4, 1e-4)
    errors = [np.sqrt(np.mean((mean(h) - exact) ** 2)) for h in steps]
    np.testing.assert_allclose(observed_orders(steps, errors), 2, atol=0.02)
