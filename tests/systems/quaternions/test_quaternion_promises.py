"""Every promise that a scheme of quaternions declares, kept where it is made and only there."""

from functools import cache

import mechanisms
import numpy as np
import pytest
from balance import turnover
from in_turn import in_turn
from mechanisms import KINDS
from numerics import observed_orders
from schemes import QUATERNIONS

import poinsot as ps

#: Round-off, relative; and far above it.
SMALL, LARGE = 1e-12, 1e-9


def run(model, scheme, h=0.02, t_end=0.2):
    return ps.simulate(model, scheme=scheme, h=h, t_end=t_end)


def sliding():
    """A body that does not turn, in quadratic potentials: the energy is quadratic."""
    model = ps.Model(gravity=(0, 0, -9.81))
    cart = model.add_body("cart", ps.Box(mass=2, size=(1, 2, 3)), velocity=(1, 0, 0))
    model.add_joint("rail", ps.Prismatic(model.ground, cart, point=(0, 0, 0), axis=(1, 0, 0.5)))
    pull = ps.Field(lambda p, d: 5 * float(p[0] @ p[0]), points=[(cart, (0, 0, 0))])
    model.add_force("pull", pull)
    model.project_velocities()
    return model


def swinging():
    """A body that turns: the energy is not quadratic in quaternions."""
    return mechanisms.pair("Revolute", 3, gravity=True, ground=True).model()


def tumbling():
    model = ps.Model()
    model.add_body("body", ps.Box(mass=2, size=(1, 2, 3)), angular_velocity=(1, 2, 3))
    return model


def jointed(kind="Spherical"):
    return mechanisms.pair(kind, 3, speed=1.5).model()


def energy_error(result):
    return abs(result.balance_error).max() / turnover(result)


def momentum_error(result):
    L = result.angular_momentum
    return np.linalg.norm(L - L[0], axis=1).max() / np.linalg.norm(L[0])


@pytest.mark.parametrize("scheme", QUATERNIONS)
@pytest.mark.parametrize(("build", "energy"), [(sliding, "quadratic"), (swinging, "any")])
def test_energy_is_exact_where_it_is_promised_and_only_there(build, energy, scheme):
    error = energy_error(run(build(), scheme))
    if energy == "quadratic" or ps.SCHEMES[scheme].exact_energy == "any":
        assert error < SMALL
    else:
        assert error > LARGE


@pytest.mark.parametrize("scheme", QUATERNIONS)
@pytest.mark.parametrize(("build", "bodies"), [(tumbling, "free"), (jointed, "any")])
def test_angular_momentum_is_exact_where_it_is_promised_and_only_there(build, bodies, scheme):
    promised, error = ps.SCHEMES[scheme].exact_momentum, momentum_error(run(build(), scheme))
    if promised == "any" or promised == bodies:
        assert error < SMALL
    else:
        assert error > LARGE


NOT_EXACT = [s for s in QUATERNIONS if ps.SCHEMES[s].exact_momentum != "any"]


@pytest.mark.parametrize("scheme", NOT_EXACT)
def test_the_angular_momentum_of_jointed_bodies_drifts_by_a_term_of_order_two(scheme):
    """Against [KB24, sec. 5.5]: the lever arms at q_m are not the means of the ends."""
    steps = np.array([0.01, 0.005])
    found = [momentum_error(run(jointed(), scheme, h=h, t_end=0.2)) for h in steps]
    assert observed_orders(steps, found)[-1] == pytest.approx(2.0, abs=0.2), found


@pytest.mark.parametrize(
    ("kind", "scheme"), in_turn(KINDS, [s for s in QUATERNIONS if s not in NOT_EXACT])
)
def test_mean_lever_arms_keep_energy_and_momenta_of_every_joint(kind, scheme):
    result = run(jointed(kind), scheme, t_end=0.1)
    assert max(energy_error(result), momentum_error(result)) < SMALL
    P = result.linear_momentum
    np.testing.assert_allclose(P, [P[0]] * len(P), atol=1e-12)


@pytest.mark.parametrize(("kind", "scheme"), in_turn(KINDS, QUATERNIONS, times=2))
def test_joints_stay_closed_and_quaternions_unit(kind, scheme):
    result = run(mechanisms.pair(kind, 5, gravity=True).model(), scheme, t_end=0.1)
    assert result.constraint_error.max() < SMALL
    for body in ("body0", "body1"):
        np.testing.assert_allclose(
            np.linalg.norm(result[f"{body}.q"][:, 3:], axis=1), 1, rtol=1e-14
        )


@cache
def swung(scheme, h):
    model = mechanisms.pair("Universal", 4, gravity=True, speed=1.5).model()
    return run(model, scheme, h=h, t_end=0.16)


@pytest.mark.parametrize("scheme", QUATERNIONS)
def test_the_order_is_as_declared(scheme):
    """Against the limit that two finer runs of another scheme point to."""
    fine, finer = (swung("ph-mp", h).rotation("body1")[-1] for h in (0.002, 0.001))
    limit, steps = (4 * finer - fine) / 3, np.array([0.02, 0.01])
    found = [abs(swung(scheme, h).rotation("body1")[-1] - limit).max() for h in steps]
    assert observed_orders(steps, found)[0] == pytest.approx(ps.SCHEMES[scheme].order, abs=0.1)


def slender():
    """A rod on a ball, a hundred times lighter to turn about its axis than across it."""
    model = ps.Model(gravity=(0, 0, -9.81))
    rod = model.add_body(
        "rod",
        ps.RigidBody(mass=1, inertia=(1 / 12, 1 / 12, 1e-2 / 12)),
        position=(0.5, 0, 0),
        rotation=ps.Rotation.from_axis_angle((0, 1, 0), np.pi / 2),
        angular_velocity=(0, 0.5, 1),
    )
    model.add_joint("ball", ps.Spherical(model.ground, rod, point=(0, 0, 0)))
    return model


@pytest.mark.parametrize("scheme", ["eml", "eml-mean", "emh", "emh-mean"])
def test_velocities_of_slender_bodies_blow_up_in_livens_form_only(scheme):
    """v is remembered there besides p, v1 = 2 v_m - v0, and what it alternates by feeds itself.

    It starts at order h^2 and grows with time, faster the more slender a body is. Hamilton's form
    has no v of its own.
    """
    here, there = (
        run(slender(), s, h=0.01, t_end=0.4).angular_velocity("rod") for s in (scheme, "ph-mp")
    )
    error = abs(here - there).max()
    assert error > 0.1 if ps.SCHEMES[scheme].formulation == "livens" else error < 1e-3


@pytest.mark.parametrize("scheme", ["eml", "null-eml"])
def test_a_run_that_ends_in_such_velocities_says_so(scheme):
    with pytest.raises(ps.SimulationError, match=r"velocities and momenta differ .* 'emh-mean'"):
        run(slender(), scheme, h=0.01, t_end=1.0)
