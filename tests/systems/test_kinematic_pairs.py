"""A joint as a power-preserving interconnection of two bodies [LKB26, sec. 4.3]."""

import mechanisms
import numpy as np
import pytest
from mechanisms import COORDINATES, KINDS
from numerics import jacobian, subspace_gap

import poinsot as ps
from poinsot import ph
from poinsot.systems.pairs import KinematicPair, external_ports, free_body, internal_ports

GRAVITY = np.array([0.5, -1.0, -9.0])


def setting(kind, seed):
    """A joint, its constraints as a function of q, and any q near the start."""
    model = mechanisms.pair(kind, seed).model()
    system = model.compile()
    random = np.random.default_rng(seed)
    q = system.start[:24] + 0.1 * random.standard_normal(24)
    joint = model.joints["J"]
    return joint, lambda x: system.mechanism.constraints(x)[12:], q, random


def null_space(A):
    _, s, Vt = np.linalg.svd(A)
    return Vt[int(np.sum(s > 1e-9)) :].T


@pytest.mark.parametrize("kind", KINDS)
def test_internal_ports_leave_the_null_space_of_the_constraints(kind):
    """[LKB26, eq. (48)]."""
    joint, g, q, _ = setting(kind, 1)
    B_A, B_B = internal_ports(joint, q[:12], q[12:])
    ports, constraint = np.hstack([-B_A.T, B_B.T]), jacobian(g, q)
    assert subspace_gap(null_space(ports), null_space(constraint)) < 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_internal_power_vanishes_for_velocities_that_the_joint_allows(kind):
    """[LKB26, eq. (43)]: u_A·y_A + u_B·y_B = 0 with u_A = -u_B = lambda."""
    joint, g, q, random = setting(kind, 2)
    B_A, B_B = internal_ports(joint, q[:12], q[12:])
    free = null_space(jacobian(g, q))
    v = free @ random.standard_normal(free.shape[1])
    lam = random.standard_normal(B_A.shape[1])
    power_a, power_b = lam @ B_A.T @ v[:12], -lam @ B_B.T @ v[12:]
    assert power_a + power_b == pytest.approx(0, abs=1e-9)
    if kind != "Weld":
        assert np.linalg.norm(v) > 0.1


@pytest.mark.parametrize("kind", [k for k in KINDS if COORDINATES[k]])
def test_external_ports_see_the_rate_of_the_joint_coordinates(kind):
    joint, _, q, random = setting(kind, 3)
    v = random.standard_normal(24)
    B_A, B_B = external_ports(joint, q[:12], q[12:])
    rates = -B_A.T @ v[:12] + B_B.T @ v[12:]
    for rate, freedom in zip(rates, joint.freedoms(), strict=True):

        def coordinate(s, freedom=freedom):
            frames = dict(enumerate((q + s[0] * v).reshape(-1, 4, 3)))
            return freedom.chart.value(np.array([form.at(frames) for form in freedom.forms]))

        assert rate == pytest.approx(jacobian(coordinate, np.zeros(1))[0], abs=1e-9)


def interconnected(model):
    bodies = list(model.bodies.values())
    return ph.interconnect(
        *(free_body(body, gravity=model.gravity) for body in bodies),
        connections=KinematicPair(model.joints["J"], *(f"{b.name}.wrench" for b in bodies)),
    )


@pytest.mark.parametrize("kind", KINDS)
def test_interconnected_bodies_move_like_the_joint_in_a_model(kind):
    model = mechanisms.pair(kind, 4, gravity=True).model()
    joined = ps.simulate(model, scheme="ph-mp", h=0.01, t_end=0.1)
    system = interconnected(model)
    x0 = {f"{b}.{s}": joined[f"{b}.{s}"][0] for b in model.bodies for s in "qv"}
    paired = ps.simulate(system, scheme="ph-mp", h=0.01, t_end=0.1, x0=x0)
    for name in x0:
        np.testing.assert_allclose(paired[name], joined[name], rtol=1e-10, atol=1e-11)
    between = paired["lambda(body0.wrench, body1.wrench)"].reshape(11, -1)
    scale = abs(joined["J"]).max()
    np.testing.assert_allclose(between[1:], joined["J"].reshape(11, -1)[1:], atol=1e-8 * scale)


@pytest.mark.parametrize("kind", KINDS)
def test_the_interconnection_is_port_hamiltonian(kind):
    system = interconnected(mechanisms.pair(kind, 5).model())
    defects = system.defects(mechanisms.random_state(system, 6))
    assert defects.holds(1e-7), str(defects)


def test_a_pair_needs_two_bodies_and_their_ports():
    model = mechanisms.pair("Revolute", 1, ground=True).model()
    with pytest.raises(ps.InputError, match="Revolute: an interconnection joins two bodies"):
        internal_ports(model.joints["J"], np.zeros(12), np.zeros(12))
    model = mechanisms.pair("Revolute", 1).model()
    mass = ph.linear("m", states=["p"], J=[[0]], Q=[[1]], B=[[1]], ports=[ph.Port("m.force")])
    with pytest.raises(ps.InputError, match=r"Revolute: port 'm.force' .* is not that of a body"):
        ph.interconnect(
            mass,
            free_body(model.bodies["body0"]),
            connections=KinematicPair(model.joints["J"], "m.force", "body0.wrench"),
        )
