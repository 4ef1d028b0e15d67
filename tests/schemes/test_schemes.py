"""Every promise that a scheme declares; its order is proven in oracles/test_order.py."""

import numpy as np
import pytest
from balance import step_errors, turnover
from parts import cartesian_pendulum, nonlinear, oscillator, polar_particle
from schemes import COMPOSED, GENERAL

import poinsot as ps
from poinsot import ph

#: Energies by how hard they are to keep: a scheme that promises one keeps those before it too.
LADDER = ("quadratic", "polynomial", "any")
SYSTEMS = {
    "quadratic": [lambda: oscillator(d=0.1)],
    "polynomial": [lambda: nonlinear("quartic", 0.1)],
    "any": [lambda: nonlinear("exponential", 0.1), lambda: nonlinear("coupled", 0.1)],
}


def relative_error(system, scheme):
    fed = ph.feed(system, system.ports[0].name, np.cos)
    result = ps.simulate(fed, h=0.5, t_end=8.0, x0=[1.5, 1.0], scheme=scheme)
    return np.abs(step_errors(result)).max() / turnover(result)


@pytest.mark.parametrize("energy", LADDER)
@pytest.mark.parametrize("scheme", GENERAL)
def test_energy_is_exact_where_declared_and_only_there(scheme, energy):
    promised = LADDER.index(energy) <= LADDER.index(ps.SCHEMES[scheme].exact_energy)
    error = max(relative_error(make(), scheme) for make in SYSTEMS[energy])
    assert (error <= 1e-13) if promised else (error >= 1e-11)


@pytest.mark.parametrize("scheme", GENERAL)
def test_a_state_dependent_E_is_taken_or_refused_as_declared(scheme):
    x0 = {"q": [1.2, 0.3], "v": [0.1, 0.5]}
    if ps.SCHEMES[scheme].constant_E:
        with pytest.raises(ps.PoinsotError, match="E depends on the state; use 'ph-dg'"):
            ps.simulate(polar_particle(), h=0.1, t_end=1, x0=x0, scheme=scheme)
    else:
        assert ps.simulate(polar_particle(), h=0.1, t_end=1, x0=x0, scheme=scheme).status == "done"


def test_a_scheme_that_needs_a_constant_E_says_so_before_it_starts():
    with pytest.raises(ps.InputError, match="E depends on the state"):
        ps.simulate(polar_particle(), h=0.1, t_end=1, x0={"q": [1, 0]}, scheme="ph-avf")


@pytest.mark.parametrize("scheme", ps.SCHEMES)
def test_every_scheme_declares_itself(scheme):
    method = ps.SCHEMES[scheme]
    assert method.name == scheme
    assert method.order == (int(scheme[-1]) if scheme in COMPOSED else 2)
    assert method.exact_energy in LADDER
    assert method.citations


@pytest.mark.parametrize("scheme", GENERAL)
def test_a_quadratic_constraint_is_kept_exactly(scheme):
    # [LKB26, sec. 5.3]: x^2 + y^2 - 1, with the velocity constraint at the midpoint only.
    result = ps.simulate(
        cartesian_pendulum(), h=0.02, t_end=2, x0={"q": [0.6, -0.8], "v": [0.8, 0.6]}, scheme=scheme
    )
    assert np.abs(np.sum(result["q"] ** 2, axis=1) - 1).max() <= 1e-13


@pytest.mark.parametrize("scheme", GENERAL)
def test_schemes_are_symmetric_in_time(scheme):
    # Forwards, momentum reversed, forwards again: back at the start.
    system = nonlinear("coupled")
    there = ps.simulate(system, h=0.1, t_end=2, x0=[1.0, 0.5], scheme=scheme)
    q, p = there["body.q"][-1], there["body.p"][-1]
    back = ps.simulate(system, h=0.1, t_end=2, x0=[q, -p], scheme=scheme)
    assert back["body.q"][-1] == pytest.approx(1.0, abs=1e-12)
    assert back["body.p"][-1] == pytest.approx(-0.5, abs=1e-12)


@pytest.mark.parametrize("scheme", GENERAL)
def test_one_step_of_an_oscillator_is_the_cayley_transform(scheme):
    m, k, h = 2.0, 3.0, 0.3
    A = np.array([[0, 1 / m], [-k, 0]])
    x0 = np.array([0.4, -0.7])
    expected = np.linalg.solve(np.eye(2) - h / 2 * A, (np.eye(2) + h / 2 * A) @ x0)
    result = ps.simulate(oscillator(m=m, k=k), h=h, t_end=h, x0=x0, scheme=scheme)
    end = [result["oscillator.q"][-1], result["oscillator.p"][-1]]
    assert np.allclose(end, expected, rtol=1e-14, atol=1e-15)


def test_a_scheme_of_ones_own_can_be_passed():
    scheme = ps.Scheme("two nodes", ph.MeanValue(nodes=2), 2, "polynomial", constant_E=True)
    result = ps.simulate(nonlinear("quartic"), h=0.2, t_end=1, x0=[1, 0], scheme=scheme)
    assert result.scheme == "two nodes"
    assert result.stats.balance_error_max <= 1e-14


def test_an_unknown_scheme_gets_a_suggestion():
    with pytest.raises(ps.InputError, match="no scheme 'ph-pm'; did you mean 'ph-"):
        ps.simulate(oscillator(), h=0.1, t_end=1, scheme="ph-pm")
