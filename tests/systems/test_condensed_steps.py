"""Steps solved for fewer unknowns give the trajectory of the general step, to round-off."""

from dataclasses import replace

import mechanisms
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import SCHEMES, laws
from numerics import jacobian

import poinsot as ps
from poinsot.ph.general_stages import stage_equations
from poinsot.ph.matrices import dense

#: Same method, other name: the general step on the whole state is taken.
GENERAL = {
    name: replace(ps.SCHEMES[name], name=f"general {name}") for name in ("ph-mp", "ph-mp-ggl")
}


def quadratic(seed, bodies):
    """Everything but potentials that the midpoint rule does not integrate exactly."""
    plan = mechanisms.full(seed, bodies=bodies, loops=1)
    name = f"Cylindrical{len(plan.joints)}"
    random = np.random.default_rng(seed)
    extra = {"shape": mechanisms.shape(random), "position": np.array([3.0, 0, 0])}
    extra["angular_velocity"] = np.array([1.0, 2.0, 3.0])
    axis = mechanisms.unit(random)
    slide = ("Cylindrical", {"a": "ground", "b": "slider", "point": np.zeros(3), "axis": axis})
    dampers = {
        force: (kind, {k: v for k, v in at.items() if k not in ("stiffness", "rest")})
        for force, (kind, at) in plan.forces.items()
        if "potential" not in at and "force" not in at
    }
    spring = ("JointSpring", {"joint": name, "freedom": "displacement", "stiffness": 20.0})
    return replace(
        plan,
        bodies={**plan.bodies, "slider": extra},
        joints={**plan.joints, name: slide},
        forces={**dampers, "spring": spring},
    )


@pytest.mark.parametrize("scheme", GENERAL)
@laws(8)
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 2))
def test_condensed_and_general_steps_agree(scheme, seed, bodies):
    model = quadratic(seed, bodies).model()
    lean = ps.simulate(model, scheme=scheme, h=0.01, t_end=0.06)
    whole = ps.simulate(model, scheme=GENERAL[scheme], h=0.01, t_end=0.06)
    for name in lean.states:
        a, b = lean[name][1:], whole[name][1:]
        if name.endswith((".q", ".v")):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(lean.energy, whole.energy, rtol=1e-10, atol=1e-10)
    for name in lean.ports:
        np.testing.assert_allclose(lean.port(name).y, whole.port(name).y, atol=1e-8)


@pytest.mark.parametrize("scheme", GENERAL)
def test_reactions_of_condensed_and_general_steps_agree(scheme):
    model = quadratic(4, 2).model()
    lean = ps.simulate(model, scheme=scheme, h=0.01, t_end=0.06)
    whole = ps.simulate(model, scheme=GENERAL[scheme], h=0.01, t_end=0.06)
    for joint in model.joints:
        for part in ("force", "torque", "force_a", "torque_a"):
            a, b = (getattr(r.reaction(joint), part) for r in (lean, whole))
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_tangent_of_a_condensed_step_is_the_derivative_of_its_residual(scheme):
    """With every spring, damper, port and a law that feeds back, far from the solution."""
    model = mechanisms.full(2, bodies=2, loops=1).model()
    law = lambda t, motion: np.sin(motion.position) - motion.velocity**3  # noqa: E731
    model.add_port("law", ps.ForcePort(model.bodies["body0"], law=law))
    system = model.compile(stabilised=scheme == "ph-mp-ggl")
    random = np.random.default_rng(1)
    x0 = mechanisms.random_state(system, 2)
    u, h = random.standard_normal(system.m), 0.1
    problem = stage_equations(system, ps.SCHEMES[scheme], 0.3, x0, u, h)
    w = problem.guess + 0.1 * random.standard_normal(problem.guess.size)
    tangent = dense(problem.evaluate(w).tangent().T)
    for _ in range(5):
        a = random.standard_normal(w.size)
        along = jacobian(lambda s, a=a: problem.evaluate(w + s[0] * a).F, np.zeros(1))[:, 0]
        np.testing.assert_allclose(tangent @ a, along, atol=1e-5 * (1 + abs(along).max()))
