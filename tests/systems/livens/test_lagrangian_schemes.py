"""What the schemes of [KB24] promise, on Lagrangians of one's own."""

from functools import cache

import numpy as np
import pytest
from lagrangians import (
    ALL,
    CASES,
    EXACT,
    LIVENS,
    REGULAR,
    SPHERICAL_START,
    bead,
    euler_lagrange,
    run,
    spherical,
)
from numerics import observed_orders

#: EML stands for REML: both are proven to be the same.
PAIRS = [(name, s) for name in CASES for s in (ALL if name in REGULAR else LIVENS) if s != "reml"]
EXACT_PAIRS = [(name, s) for name, s in PAIRS if s in EXACT]
STEPS = 0.02, 0.01
END = 0.4


@pytest.fixture(scope="module")
def exact():
    return {name: euler_lagrange(make(), start, END) for name, (make, start) in CASES.items()}


@cache
def moved(name, scheme, h):
    make, start = CASES[name]
    return run(make(), start, scheme, h, END)


@pytest.mark.parametrize(("name", "scheme"), PAIRS)
def test_the_order_is_two_against_dop853(name, scheme, exact):
    ends = [moved(name, scheme, h)["q"][-1] for h in STEPS]
    errors = [np.linalg.norm(end - exact[name][0]) for end in ends]
    np.testing.assert_allclose(observed_orders(STEPS, errors), 2.0, atol=0.1)
    assert errors[-1] < 1e-2


@pytest.mark.parametrize(("name", "scheme"), EXACT_PAIRS)
def test_the_generalised_energy_is_constant(name, scheme):
    make, start = CASES[name]
    result = run(make(), start, scheme, 0.05, 2.0)
    assert result.stats.balance_error_max < 1e-11 * max(1.0, abs(result.energy[0]))
    assert result.stats.steps == 40


@pytest.mark.parametrize("scheme", ALL)
def test_constraints_are_exact_even_if_they_are_not_quadratic(scheme):
    _, start = CASES["bead"]
    result = run(bead(), start, scheme, 0.05, 1.0)
    assert result.constraint_error.max() < 1e-14


@pytest.mark.parametrize("name", CASES)
def test_eml_and_reml_are_the_same(name):
    make, start = CASES[name]
    full, reduced = (run(make(), start, scheme, 0.05, 1.0) for scheme in ("eml", "reml"))
    for state in ("q", "v", "p"):
        np.testing.assert_allclose(full[state], reduced[state], rtol=0, atol=1e-11)
    assert reduced.stats.newton_iterations > 0


@pytest.mark.parametrize("name", CASES)
def test_all_forms_converge_to_the_same_motion(name, exact):
    q, v = exact[name]
    for scheme in ("eml", "ph-dg", "ph-mp", *(["emh"] if name in REGULAR else [])):
        runs = [moved(name, scheme, h) for h in STEPS]
        limit = (4 * runs[1]["q"][-1] - runs[0]["q"][-1]) / 3
        np.testing.assert_allclose(limit, q, rtol=0, atol=1e-4)
        if scheme == "eml":
            limit = (4 * runs[1]["v"][-1] - runs[0]["v"][-1]) / 3
            np.testing.assert_allclose(limit, v, rtol=0, atol=1e-3)


@pytest.mark.parametrize("scheme", ALL)
def test_the_momentum_of_a_cyclic_coordinate_is_constant(scheme):
    result = run(spherical(), SPHERICAL_START, scheme, 0.02, 1.0)
    assert np.ptp(result["p"][:, 2]) < 1e-12


def test_as_published_it_is_not():
    result = run(spherical(published=True), SPHERICAL_START, "eml", 0.02, 2.0)
    assert np.ptp(result["p"][:, 2]) > 1e-6
    assert result.stats.balance_error_max < 1e-12


def test_total_energy_is_near_the_generalised_one_with_order_two():
    system, gaps = spherical(), []
    for h in STEPS:
        result = run(system, SPHERICAL_START, "eml", h, END)
        gaps.append(abs(system.total_energy(result["q"], result["v"]) - result.energy).max())
    np.testing.assert_allclose(observed_orders(STEPS, gaps), 2.0, atol=0.1)


def test_total_energy_is_the_generalised_one_with_constant_mass():
    make, start = CASES["masses"]
    result = run(make(), start, "eml", 0.1, 5.0)
    total = make().total_energy(result["q"], result["v"])
    np.testing.assert_allclose(total, result.energy, rtol=0, atol=1e-12)


@pytest.mark.parametrize("scheme", [*EXACT, "ph-dg"])
def test_energy_supplied_through_a_port_is_stored(scheme):
    _, start = CASES["bead"]
    result = run(bead(), start, scheme, 0.02, 1.0, inputs={"push": lambda t: 3 * np.cos(5 * t)})
    supplied = result.port("push").energy
    np.testing.assert_allclose(result.energy - result.energy[0], supplied, rtol=0, atol=1e-12)
    assert abs(supplied).max() > 0.1


@pytest.mark.parametrize("scheme", ["eml", "emh", "mpl"])
def test_a_port_drives_the_motion_of_the_euler_lagrange_equations(scheme):
    _, start = CASES["bead"]

    def force(t):
        return 3 * np.cos(5 * t)

    q, _ = euler_lagrange(bead(), start, END, force)
    ends = [run(bead(), start, scheme, h, END, inputs={"push": force})["q"][-1] for h in STEPS]
    errors = [np.linalg.norm(end - q) for end in ends]
    np.testing.assert_allclose(observed_orders(STEPS, errors), 2.0, atol=0.1)


def test_a_body_at_rest_stays_at_rest():
    result = run(spherical(), {"q": (1.02454, 0.0001, 0.0), "v": (0, 0, 0)}, "eml", 0.01, 0.05)
    still = run(CASES["masses"][0](), {"q": (0, 1.1, 0), "v": (0, 0, 0)}, "eml", 0.1, 1.0)
    assert np.all(np.isfinite(result["q"]))
    np.testing.assert_array_equal(still["q"], [(0, 1.1, 0)] * 11)
