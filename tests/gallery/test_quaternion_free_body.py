"""The free body in quaternions against an independent code of the schemes of [KB24, sec. 5.3]."""

import numpy as np
import pytest
from numerics import observed_orders

import poinsot as ps
from poinsot.gallery.example import as_far_as_it_goes
from poinsot.gallery.free_body import Tumbling, body_rates, model
from poinsot.gallery.quaternion_free_body import EXAMPLE, along, errors, quaternion, total_energy

ENERGY_MOMENTUM = ("eml", "reml", "null-eml", "emh", "eml-mean", "emh-mean")
#: Quaternion at 1 s and 2 s, h = 0.05 s.
REFERENCE = {
    "eml": (
        (0.938286635008, 0.194617964485, -0.109662593980, 0.264038167593),
        (0.889310327386, 0.344864877298, 0.009778803070, -0.300166175678),
    ),
    "mpl": (
        (0.622884172428, 0.052827345961, 0.771684029503, 0.117167989939),
        (-0.159512557569, -0.149444246534, 0.895819299418, 0.386949536692),
    ),
    "emh": (
        (0.578479817471, -0.409291256687, -0.704492692923, 0.039138390325),
        (-0.344511500370, -0.390513519792, -0.853137677295, 0.031098561905),
    ),
}


@pytest.mark.parametrize("scheme", ["eml", "null-eml"])
def test_the_check_of_the_published_case_passes(scheme):
    failed = [str(check) for check in EXAMPLE.check(EXAMPLE.run(scheme=scheme)) if not check.passed]
    assert not failed


@pytest.mark.parametrize("scheme", REFERENCE)
def test_quaternions_are_those_of_an_independent_code(scheme):
    ours = quaternion(EXAMPLE.run(scheme=scheme), "body")
    np.testing.assert_allclose(ours[[20, 40]], REFERENCE[scheme], rtol=0, atol=2e-12)


@pytest.mark.parametrize("scheme", ["reml", "null-eml"])
def test_fewer_unknowns_give_the_same_motion(scheme):
    full, reduced = EXAMPLE.run(), EXAMPLE.run(scheme=scheme)
    for state in ("body.q", "body.v", "body.p"):
        np.testing.assert_allclose(reduced[state], full[state], rtol=0, atol=1e-9)


@pytest.mark.parametrize("scheme", ENERGY_MOMENTUM)
def test_generalised_energy_and_angular_momentum_are_conserved(scheme):
    result = EXAMPLE.run(scheme=scheme)
    np.testing.assert_allclose(result.energy, 2500.0, rtol=1e-13)
    np.testing.assert_allclose(result.angular_momentum, [(60, 160, 60)] * 41, rtol=1e-13)
    assert result.constraint_error.max() < 1e-14


def test_the_total_energy_is_not_conserved_by_eml_and_is_by_emh():
    energy = total_energy(EXAMPLE.run())
    assert energy.min() == pytest.approx(2254.981656731, abs=1e-8)
    assert energy.max() == pytest.approx(2812.110044173, abs=1e-8)
    np.testing.assert_allclose(total_energy(EXAMPLE.run(scheme="emh")), 2500.0, rtol=1e-12)


@pytest.mark.parametrize("scheme", ["eml", "emh", "mpl", "mph", "eml-mean", "emh-mean"])
def test_rates_and_rotation_converge_to_the_elliptic_functions_with_order_two(scheme):
    steps = (5e-3, 2.5e-3)
    runs = [ps.simulate(model(), scheme=scheme, h=h, t_end=0.25) for h in steps]
    for error in errors(runs):
        np.testing.assert_allclose(observed_orders(steps, error), 2.0, atol=0.1)


def test_what_of_v_lies_along_q_obeys_its_own_equation_until_no_step_has_a_solution():
    """(s1 + s0) (1 - h (s1 - s0) / 4) = h (|Omega1|^2 - |Omega0|^2) / 16, s = q·v."""
    h = 0.05
    run = as_far_as_it_goes(model(), scheme="eml", h=h, t_end=10.0)
    assert run.status == "failed"
    assert run.time[-1] == pytest.approx(8.2, abs=0.11)
    s, spin = along(run, "body"), np.sum(body_rates(run) ** 2, axis=1)
    left = (s[1:] + s[:-1]) * (1 - h / 4 * np.diff(s))
    np.testing.assert_allclose(left, h / 16 * np.diff(spin), rtol=0, atol=1e-11)
    assert 25 < abs(s).max() < 2 / h


def test_it_begins_with_order_two_in_the_step():
    steps = (0.02, 0.01, 0.005)
    begun = [abs(along(EXAMPLE.run(h=h, t_end=1.0), "body")).max() for h in steps]
    np.testing.assert_allclose(observed_orders(steps, begun), 2.0, atol=0.1)


@pytest.mark.parametrize("scheme", ["emh", "emh-mean"])
def test_hamilton_s_form_keeps_momenta_normal_to_quaternions(scheme):
    run = as_far_as_it_goes(model(), scheme=scheme, h=0.05, t_end=20.0)
    assert run.status == "done"
    L = float(np.linalg.norm(Tumbling().momentum))
    assert abs(along(run, "body")).max() < 1e-12 * L


def test_the_figure_is_drawn():
    assert len(EXAMPLE.plot(EXAMPLE.run(t_end=0.5)).axes) == 11
