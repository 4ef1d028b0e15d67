"""A change of units changes nothing: no length, mass or time of the world is built in.

Factors are powers of two, so that a mechanism in other units has the same digits.
"""

import math
from dataclasses import replace
from itertools import pairwise

import mechanisms
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from in_turn import in_turn
from scaled_units import Units

import poinsot as ps

#: Lengths of 1e-8 to 1e8 m, masses of 1e-12 to 1e12 kg, times of 1e-6 to 1e6 s.
UNITS = st.builds(
    lambda l, m, t: Units(2.0**l, 2.0**m, 2.0**t),
    st.integers(-26, 26),
    st.integers(-40, 40),
    st.integers(-20, 20),
)
#: The same, in which square roots of masses have the same digits as well.
EVEN = UNITS.filter(lambda units: math.log2(units.mass) % 2 == 0)
SEEDS = st.integers(0, 10**6)
EXTREME = (
    Units(2.0**-26, 2.0**-40, 2.0**-20),
    Units(2.0**26, 2.0**40, 2.0**20),
    Units(2.0**-26, 2.0**40, 2.0**20),
    Units(2.0**26, 2.0**-40, 2.0**-20),
)
FORMS = (
    ("ph-mp", "directors"),
    ("ph-mp-ggl", "directors"),
    ("emh-mean", "quaternions"),
    ("ph-mp", "rotations"),
)
#: Every way in which the reference engine forms the equations of a step.
STAGES = (
    *FORMS,
    *((name, "quaternions") for name in ("mph", "emh", "mpl", "eml", "reml", "null-eml")),
)
H, STEPS = 0.01, 3


def loops(seed, bodies=3):
    """A random mechanism of trees and loops, with springs and friction on it."""
    plan = mechanisms.tree(seed, bodies=bodies, loops=seed % 3, ground=bool(seed % 2))
    return mechanisms.resistances(mechanisms.springs(plan, seed), seed)


def four_bar(*, spin=2.0, last="Revolute"):
    """Four parallel hinges, three directions locked twice."""
    corners = np.array([(0, 0, 0), (0, 1, 0), (2.5, 1.8, 0), (2, 0, 0)], float)
    bodies, chain = {}, ["ground", "bar0", "bar1", "bar2", "ground"]
    for i in range(3):
        start, end = corners[i : i + 2]
        length = float(np.linalg.norm(end - start))
        along = (end - start) / length
        bodies[f"bar{i}"] = {
            "shape": ps.Box(mass=1.0, size=(length, 0.1, 0.2)),
            "position": (start + end) / 2,
            "rotation": np.column_stack([along, np.cross([0, 0, 1], along), [0, 0, 1]]),
        }
    bodies["bar0"]["angular_velocity"] = np.array([0, 0, spin])
    joints = {
        f"J{i}": (
            last if i == 3 else "Revolute",
            {"a": a, "b": b, "point": corners[i], "axis": np.array([0, 0, 1.0])},
        )
        for i, (a, b) in enumerate(pairwise(chain))
    }
    return mechanisms.Plan(gravity=np.array([0, -9.81, 0]), bodies=bodies, joints=joints)


def run(plan, units, form, engine, *, project=True):
    scheme, coordinates = form
    model, h = units.plan(plan).model(project=project), H * units.time
    options = {"scheme": scheme, "coordinates": coordinates, "engine": engine}
    return units.motion(ps.simulate(model, h=h, t_end=STEPS * h, **options), plan.bodies)


# -- the start ------------------------------------------------------------------------------------


@mechanisms.laws(25)
@given(SEEDS, UNITS)
def test_degrees_of_freedom_and_repeated_constraints_are_the_same_in_all_units(seed, units):
    plan = mechanisms.tree(seed, bodies=4, loops=2)
    there, here = units.plan(plan).model().check(), plan.model().check()
    assert replace(there, notes=()) == here  # of a gravity that looks like one of millimetres


@pytest.mark.parametrize("units", EXTREME)
def test_a_redundant_four_bar_repeats_three_directions_in_all_units(units):
    check = units.plan(four_bar()).model(project=False).check()
    assert (check.freedoms, check.repeated) == (1, ("J3: point z", "J3: tilt 1", "J3: tilt 2"))


@mechanisms.laws(25)
@given(SEEDS, UNITS)
def test_projected_velocities_are_the_same_in_all_units(seed, units):
    plan = mechanisms.tree(seed, bodies=4, loops=2)
    here, there = plan.model(), units.plan(plan).model()
    for name, (v, omega) in there.start_velocities().items():
        same_v, same_omega = here.start_velocities()[name]
        np.testing.assert_allclose(v * units.time / units.length, same_v, atol=1e-13)
        np.testing.assert_allclose(omega * units.time, same_omega, atol=1e-13)


@pytest.mark.parametrize("units", EXTREME)
@pytest.mark.parametrize(("part", "accepted"), [(1e-12, True), (1e-3, False)])
def test_velocities_may_contradict_joints_by_round_off_and_no_more_in_all_units(
    units, part, accepted
):
    plan = units.plan(four_bar())
    model = plan.model(project=False)
    (v, omega), rates = model.start_velocities()["bar2"], {}
    for name, (velocity, spin) in model.start_velocities().items():
        rates[name] = {"velocity": velocity, "angular_velocity": spin}
    rates["bar2"] = {"velocity": (1 + part) * v, "angular_velocity": omega}
    bodies = {name: {**given, **rates[name]} for name, given in plan.bodies.items()}
    stated = replace(plan, bodies=bodies).model(project=False)
    if accepted:
        stated.check()
    else:
        with pytest.raises(ps.InconsistentStartError, match="violate the joints"):
            stated.check()


@pytest.mark.parametrize("radius", [1e-8, 1e-7, 1.0, 1e8])
@pytest.mark.parametrize(("part", "accepted"), [(1e-12, True), (1e-3, False)])
def test_a_ball_may_float_by_round_off_and_no_more_at_every_size(radius, part, accepted):
    model = ps.Model()
    height = (0, 0, radius * (1 + part))
    ball = model.add_body("ball", ps.Sphere(mass=1.0, radius=radius), position=height)
    contact = ps.RollingSphere(model.ground, ball, radius=radius)
    if accepted:
        model.add_joint("contact", contact)
    else:
        with pytest.raises(ps.InconsistentStartError, match="violated"):
            model.add_joint("contact", contact)


@pytest.mark.parametrize(("units", "form"), in_turn(EXTREME, FORMS, times=2))
@pytest.mark.parametrize(("part", "accepted"), [(1e-12, True), (1e-3, False)])
def test_joints_of_a_given_state_may_be_open_by_round_off_and_no_more_in_all_units(
    units, form, part, accepted
):
    scheme, coordinates = form
    model = units.plan(four_bar()).model(project=False)
    system = model.compile(coordinates)
    name = next(state.name for state in system.states if state.name.startswith("bar2."))
    place = system.start[system.slices[name]].copy()
    place[:3] += part * units.length * np.array([0, 1, 0])
    h = H * units.time
    options = {"scheme": scheme, "coordinates": coordinates, "x0": {name: place}}
    if accepted:
        assert ps.simulate(model, h=h, t_end=h, **options).status == "done"
    else:
        with pytest.raises(ps.InconsistentStartError, match="violates the constraint"):
            ps.simulate(model, h=h, t_end=h, **options)


# -- the motion -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("form", "engine"), in_turn(FORMS, ["compiled", "reference"]))
@mechanisms.laws(2)
@given(SEEDS, UNITS)
def test_a_random_mechanism_moves_the_same_in_all_units(form, engine, seed, units):
    plan = loops(seed)
    here, there = run(plan, Units(), form, engine), run(plan, units, form, engine)
    np.testing.assert_allclose(there, here, atol=1e-10)


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize(("form", "units"), in_turn(FORMS, EXTREME[:2]))
def test_a_redundant_four_bar_moves_the_same_in_all_units(form, engine, units):
    plan = four_bar()
    here, there = (run(plan, u, form, engine, project=False) for u in (Units(), units))
    np.testing.assert_allclose(there, here, atol=1e-11)


@pytest.mark.parametrize("scheme", ["eml", "reml", "null-eml"])
@pytest.mark.parametrize("length", [1e-8])
def test_a_redundant_four_bar_in_quaternions_keeps_its_energy_at_every_size(scheme, length):
    """Rows of metres are not measured by quaternions: the four-bar of 1e-8 m fell apart."""
    plan = replace(Units(length).plan(four_bar(spin=3.0)), gravity=np.zeros(3))
    options = {"scheme": scheme, "coordinates": "quaternions", "h": H, "t_end": 6 * H}
    result = ps.simulate(plan.model(project=False), **options)
    assert result.status == "done"
    assert result.stats.balance_error_max < 1e-13 * result.energy[0]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("length", [1e-6, 1e-3, 1.0, 1e6])
def test_a_pendulum_on_a_spring_starts_at_every_size(form, length):
    scheme, coordinates = form
    period = np.sqrt(length / 9.81)
    model = ps.Model(gravity=(0, 0, -9.81))
    shape = ps.Sphere(mass=1e-9, radius=length / 5)
    bob = model.add_body("bob", shape, position=(length, 0, 0))
    ends = {"point_a": (0, 0, 0), "point_b": (length, 0, 0)}
    model.add_force("spring", ps.Spring(model.ground, bob, **ends, stiffness=1e-8 / length))
    h = period / 100
    result = ps.simulate(model, scheme=scheme, coordinates=coordinates, h=h, t_end=10 * h)
    assert result.status == "done"


V = "(z/{L})**4 + (x/{L})**2*a + sin(y/{L})*c"


def of_field(law, length):
    """A top in a field of one of its points and a direction."""
    model = ps.Model()
    shape = ps.Box(mass=1.0, size=length * np.array([0.3, 0.2, 0.5]))
    spin = {"velocity": length * np.array([1.0, 2, 3]), "angular_velocity": (3, -2, 1)}
    body = model.add_body("top", shape, position=length * np.array([0.2, 0.1, 0.4]), **spin)
    at = {"points": [(body, length * np.array([0.3, 0, 0.5]))], "directions": [(body, (0, 0, 1))]}

    def potential(points, directions):
        (x, y, z), (a, _, c) = points[0] / length, directions[0]
        return length**2 * (z**4 + x**2 * a + np.sin(y) * c)

    def gradient(points, directions):
        (x, y, z), (a, _, c) = points[0] / length, directions[0]
        by_point = np.array([[2 * x * a, np.cos(y) * c, 4 * z**3]])
        return length * by_point, length**2 * np.array([[x**2, 0, np.sin(y)]])

    text = f"{length**2!r}*({V.format(L=repr(length))})"
    laws = {
        "formula": {"potential": ps.Formula(text, ("x", "y", "z", "a", "b", "c"))},
        "gradient": {"potential": potential, "gradient": gradient},
        "differences": {"potential": potential},
    }
    model.add_force("field", ps.Field(**at, **laws[law]))
    return model


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize("law", ["formula", "gradient", "differences"])
@pytest.mark.parametrize("length", [2.0**-10, 2.0**10])
def test_a_field_of_points_and_directions_acts_the_same_at_every_size(law, engine, length):
    """Its discrete gradient measures a way of points and directions: not metres beside numbers."""
    here, there = (
        ps.simulate(of_field(law, size), h=0.05, t_end=0.5, engine=engine) for size in (1.0, length)
    )
    assert there.stats.balance_error_max < 1e-12 * abs(there.energy[0])
    np.testing.assert_allclose(there.rotation("top"), here.rotation("top"), atol=1e-9)


# -- Newton's method ------------------------------------------------------------------------------


def effort(plan, units, form, *, project=True):
    """What Newton's method took, and left, in the reference engine."""
    scheme, coordinates = form
    model, h = units.plan(plan).model(project=project), H * units.time
    options = {"scheme": scheme, "coordinates": coordinates, "engine": "reference"}
    result = ps.simulate(model, h=h, t_end=STEPS * h, **options)
    return result.status, result.stats.newton_iterations, result.stats.residual_max


@pytest.mark.parametrize("form", STAGES, ids="-".join)
@mechanisms.laws(3)
@given(SEEDS, EVEN)
def test_newtons_method_takes_the_same_steps_in_all_units(form, seed, units):
    """To the last digit: no pivot, and no end of iterations, is chosen by the sizes of numbers."""
    plan = loops(seed)
    assert effort(plan, units, form) == effort(plan, Units(), form)


@pytest.mark.parametrize(("form", "units"), in_turn(STAGES, EXTREME))
def test_newtons_method_takes_the_same_steps_on_redundant_loops_in_all_units(form, units):
    found = [effort(four_bar(), u, form, project=False) for u in (units, Units())]
    assert found[0] == found[1]
    assert found[0][0] == "done"


# -- mass ratios ----------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["ph-mp", "ph-mp-ggl"])
@pytest.mark.parametrize("spin", [0.0, 100.0])
@pytest.mark.parametrize("ratio", [1e-12, 1e12])
def test_a_pendulum_of_two_masses_starts_whatever_their_ratio(scheme, spin, ratio):
    model = ps.Model(gravity=(0, 0, -9.81))
    before = model.ground
    for i, mass in enumerate((1.0, ratio)):
        shape = ps.Box(mass=mass, size=(1, 0.1, 0.1))
        turning = {} if i else {"angular_velocity": (0, spin, 0)}
        body = model.add_body(f"bar{i}", shape, position=(i + 0.5, 0, 0), **turning)
        model.add_joint(f"J{i}", ps.Revolute(before, body, point=(i, 0, 0), axis=(0, 1, 0)))
        before = body
    assert ps.simulate(model, scheme=scheme, h=1e-3, t_end=1e-3).status == "done"
