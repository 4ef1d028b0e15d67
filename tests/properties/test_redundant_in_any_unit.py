"""Redundant constraints are solved in compiled steps, whatever a metre, a kilogram and a second."""

import mechanisms
import numpy as np
import pytest
from hypothesis import example, given
from in_turn import in_turn
from scaled_units import Units
from test_change_of_units import EXTREME, FORMS, UNITS, four_bar

import poinsot as ps

STEPS = 40
#: Guesses differ by round-off, and may cost a correction more or less.
MORE = 1.15

X, Z = np.eye(3)[[0, 2]]


def hinge(a, b, point, axis=Z):
    return "Revolute", {"a": a, "b": b, "point": np.asarray(point, float), "axis": axis}


def along(x):
    """Axes of which the first has a direction in the plane."""
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(Z, x), Z])


def shafts():
    """Two shafts that meet at an angle, each in a hinge of its own."""
    turned, shape = along(np.array([0.8, 0.6, 0])), ps.Box(mass=1.0, size=(0.5, 0.1, 0.12))
    out = turned[:, 0]
    bodies = {
        "in": {"shape": shape, "position": -0.25 * X, "angular_velocity": 6 * X},
        "out": {"shape": shape, "position": 0.25 * out, "rotation": turned},
    }
    bearings = hinge("ground", "in", -0.5 * X, X), hinge("ground", "out", 0.5 * out, out)
    return bodies, dict(zip("AB", bearings, strict=True))


def cardan_shaft():
    """A universal joint closes the loop of two shafts."""
    bodies, joints = shafts()
    across = bodies["out"]["rotation"][:, 1]
    ends = {"a": "in", "b": "out", "point": np.zeros(3)}
    joints["C"] = ("Universal", {**ends, "axis_a": Z, "axis_b": across})
    return mechanisms.Plan(bodies=bodies, joints=joints)


def cardan_shaft_with_a_cross():
    """The same, with the cross as a body between two hinges."""
    bodies, joints = shafts()
    bodies["cross"] = {"shape": ps.Box(mass=0.1, size=(0.05, 0.1, 0.1)), "position": np.zeros(3)}
    joints["C"] = hinge("in", "cross", np.zeros(3))
    joints["D"] = hinge("cross", "out", np.zeros(3), bodies["out"]["rotation"][:, 1])
    return mechanisms.Plan(bodies=bodies, joints=joints)


def parallelogram():
    """Three parallel arms carry a plate."""
    feet, arm = np.array([(0, 0, 0), (1, 0.3, 0), (2, -0.2, 0)]), np.array([0.3, 0.5, 0])
    shape = ps.Box(mass=1.0, size=(np.linalg.norm(arm), 0.1, 0.1))
    bodies = {"plate": {"shape": ps.Box(mass=2.0, size=(2, 0.5, 0.1)), "position": feet[1] + arm}}
    joints = {}
    for i, foot in enumerate(feet):
        bodies[f"arm{i}"] = {
            "shape": shape,
            "position": foot + arm / 2,
            "rotation": along(arm),
            "angular_velocity": 3 * Z,
        }
        joints[f"foot{i}"] = hinge("ground", f"arm{i}", foot)
        joints[f"tip{i}"] = hinge(f"arm{i}", "plate", foot + arm)
    return mechanisms.Plan(gravity=np.array([0, -9.81, 0]), bodies=bodies, joints=joints)


def locked_pair():
    """Two free bodies in a cylindrical joint and two planar ones."""
    bodies = {
        "a": {
            "shape": ps.Box(mass=1.0, size=(0.3, 0.2, 0.5)),
            "position": np.zeros(3),
            "velocity": np.array([0.3, -1.0, 0.2]),
            "angular_velocity": np.array([1.0, 2.0, -1.5]),
        },
        "b": {"shape": ps.Box(mass=2.0, size=(0.1, 0.4, 0.3)), "position": 0.4 * X},
    }
    ends, axis = {"a": "a", "b": "b"}, np.array([0.6, 0, 0.8])
    places = np.array([(0.1, 0.2, 0), (-0.1, 0.3, 0.2)])
    joints = {"C": ("Cylindrical", {**ends, "point": 0.2 * X, "axis": axis})}
    for name, place in zip("PQ", places, strict=True):
        joints[name] = "Planar", {**ends, "point": place, "normal": axis}
    return mechanisms.Plan(bodies=bodies, joints=joints)


def doubled_four_bar():
    """Four parallel hinges, each of them twice."""
    plan = four_bar()
    plan.joints.update({f"{name} again": joint for name, joint in list(plan.joints.items())})
    return plan


PLANS = (
    cardan_shaft,
    cardan_shaft_with_a_cross,
    parallelogram,
    locked_pair,
    four_bar,
    doubled_four_bar,
)


def stats(plan, units, form):
    scheme, coordinates = form
    model, h = units.plan(plan).model(project=False), 0.01 * units.time
    options = {"scheme": scheme, "coordinates": coordinates, "engine": "compiled"}
    return ps.simulate(model, h=h, t_end=STEPS * h, **options).stats


@pytest.mark.parametrize(("make", "form"), in_turn(PLANS, FORMS, times=2))
@mechanisms.laws(2)
@example(units=Units(length=2.0**13))
@example(units=EXTREME[1])
@example(units=EXTREME[2])
@given(units=UNITS)
def test_steps_of_redundant_mechanisms_are_compiled_ones_in_all_units(make, form, units):
    plan = make()
    here, there = stats(plan, Units(), form), stats(plan, units, form)
    assert here.single_steps == there.single_steps == 0
    assert there.newton_iterations < MORE * here.newton_iterations
