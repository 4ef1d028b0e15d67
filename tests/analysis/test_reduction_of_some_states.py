"""Reduction of some states of a system, the others and all constraints kept [BAPM21, eq. (46)]."""

import numpy as np
import pytest
from linear_models import chain

import poinsot as ps
from poinsot import ph

FLEXIBLE = 40


def arm():
    """The form (45) of [BAPM21]: two rigid masses, a flexible rod between them, one constraint."""
    n, size = FLEXIBLE, 2 * FLEXIBLE + 3
    v, stress, lam = slice(2, 2 + n), slice(2 + n, 2 + 2 * n), size - 1
    E, J, R, B = np.eye(size), np.zeros((size, size)), np.zeros((size, size)), np.eye(size, 1)
    E[0, 0], E[1, 1], E[lam, lam] = 3.0, 2.0, 0.0
    E[v, v] *= 0.1
    E[stress, stress] /= 50
    E[0, 2] = E[2, 0] = 0.05  # M_rf
    D = np.eye(n) - np.eye(n, k=1)
    J[v, stress], J[stress, v] = -D, D.T
    G = np.zeros(size)
    G[1], G[1 + n] = 1.0, -1.0  # the second mass is fixed to the tip
    J[:, lam], J[lam] = -G, G
    R[0, 0], R[v, v] = 0.5, 0.02 * np.eye(n)
    names = {"rigid": 2, "velocity": n, "stress": n, "lam": 1}
    return ph.linear(
        "arm",
        states=[ph.State(name, count) for name, count in names.items()],
        E=E,
        J=J,
        R=R,
        Q=np.eye(size),
        B=B,
        ports=[ph.Port("hand", 1, "N", "m/s")],
    )


def test_rigid_states_and_constraints_stay_and_moments_are_matched():
    full = arm()
    found = ps.analysis.reduce(full, 8, points=[0.5j, 2j], states=["velocity", "stress"])
    assert [(s.name, s.size) for s in found.system.states] == [
        ("reduced", 8),
        ("rigid", 2),
        ("lam", 1),
    ]
    assert found.structure.holds(1e-10)
    assert found.passive
    omega = [0.5, 2.0]
    exact, matched = (ps.analysis.frequency_response(a, omega).values for a in (full, found.system))
    np.testing.assert_allclose(matched, exact, rtol=1e-10)
    # The rigid part of the energy is the one that it was.
    np.testing.assert_allclose(np.diagonal(found.system.matrix_E)[-3:], [3.0, 2.0, 0.0])


def test_the_error_in_a_band_is_small():
    found = ps.analysis.reduce(arm(), 10, band=(0.1, 3.0), states=["velocity", "stress"])
    assert found.order == 13
    assert found.band_error < 1e-6
    assert found.passive


def test_the_reduced_system_takes_the_place_of_the_full_one_in_a_run():
    runs = []
    found = ps.analysis.reduce(arm(), 12, band=(0.05, 4.0), states=["velocity", "stress"])
    for system in (arm(), found.system):
        push = {"hand": lambda t: np.sin(1.5 * t)}
        runs.append(ps.simulate(system, h=0.02, t_end=4.0, inputs=push, scheme="ph-mp"))
        assert np.max(abs(runs[-1].balance_error)) < 1e-12
    np.testing.assert_allclose(runs[1]["rigid"], runs[0]["rigid"], atol=2e-3)


def test_bodies_of_a_mechanism_are_reduced_between_others_that_stay():
    model, _ = chain(12)
    model.add_port("push", ps.JointPort("j11"))
    full = ps.analysis.linearise(model)
    inner = [f"b{k}.q" for k in range(2, 11)]
    found = ps.analysis.reduce(full, 8, points=[0, 1j], states=inner)
    kept = {state.name for state in found.system.states}
    assert {"b0.q", "b11.q", "b11.v", "j11"} <= kept
    assert not kept & set(inner)
    values = [ps.analysis.frequency_response(a, [1.0]).values for a in (full, found.system)]
    np.testing.assert_allclose(*values, rtol=1e-10)
    assert found.passive


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"states": "nix", "order": 2}, "no state 'nix'"),
        ({"states": "lam", "order": 1}, "multipliers cannot be reduced"),
        ({"states": "velocity", "order": 41}, "order 41 does not match"),
        ({"states": [], "order": 2}, "states is empty"),
        (
            {"states": "velocity", "order": 2, "method": "modal", "points": None},
            "reduces all states",
        ),
    ],
)
def test_what_cannot_be_reduced_is_refused(arguments, message):
    with pytest.raises(ps.InputError, match=message):
        ps.analysis.reduce(arm(), **{"points": [1j], **arguments})
