"""Redundant constraints cost no exactness: every balance is round-off, in every formulation."""

from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from in_turn import in_turn
from test_repeated_constraints import bar

import poinsot as ps
from poinsot.ph.stages import Newton
from poinsot.ph.start import check_start
from poinsot.systems.compiled.runner import DirectorRunner, MechanismRunner

H = 0.01
FORMULATIONS = {
    "ph-mp": {"scheme": "ph-mp"},
    "ph-mp-ggl": {"scheme": "ph-mp-ggl"},
    "emh-mean": {"scheme": "emh-mean"},
    "rotations": {"scheme": "ph-mp", "coordinates": "rotations"},
}


every_formulation = pytest.mark.parametrize(
    "formulation", FORMULATIONS.values(), ids=FORMULATIONS.keys()
)


def run(model, formulation, *, engine="compiled", t_end=0.4, h=H):
    options = dict(formulation)
    coordinates = options.pop("coordinates", None)
    system = model if coordinates is None else model.compile(coordinates=coordinates)
    return ps.simulate(system, h=h, t_end=t_end, engine=engine, progress=False, **options)


def assert_exact(result, bound=1e-12, gap=1e-13):
    energy = max(abs(result.energy).max(), np.ptp(result.energy), 1.0)
    assert result.stats.balance_error_max < bound * energy
    assert result.constraint_error.max() < gap


def direction(random):
    along = random.standard_normal(3)
    return along / np.linalg.norm(along)


def locked_pair(seed):
    """Two free bodies, joined by a cylindrical joint and two planar ones: rank 5 or 6 of 10."""
    random = np.random.default_rng(seed)
    model, near = ps.Model(), lambda: 0.3 * random.standard_normal(3)
    twist = {
        "velocity": random.standard_normal(3),
        "angular_velocity": 2 * random.standard_normal(3),
    }
    first = model.add_body("a", ps.Box(mass=1, size=(0.3, 0.2, 0.5)), position=near(), **twist)
    second = model.add_body("b", ps.Box(mass=2, size=(0.1, 0.4, 0.3)), position=near())
    axis = direction(random)
    model.add_joint("C", ps.Cylindrical(first, second, point=near(), axis=axis))
    for name in "PQ":
        normal = axis if seed % 2 else direction(random)
        model.add_joint(name, ps.Planar(first, second, point=near(), normal=normal))
    return model


@every_formulation
@settings(max_examples=5)
@given(seed=st.integers(0, 2**31))
def test_pairs_that_are_locked_more_than_once_keep_energy_and_momenta(formulation, seed):
    result = run(locked_pair(seed), formulation)
    assert_exact(result)
    for momentum in (result.linear_momentum, result.angular_momentum):
        assert np.ptp(momentum, axis=0).max() < 1e-12 * (1 + abs(momentum).max())


def doubled(kind, prev, body, point, axis, times):
    """Yield the same joint several times, at points that lock the same directions."""
    across = np.cross(axis, direction(np.random.default_rng(0)))
    for k in range(times):
        if kind is ps.Spherical:
            yield kind(prev, body, point=point)
        elif kind is ps.Planar:
            yield kind(prev, body, point=point + 0.3 * k * across, normal=axis)
        else:
            yield kind(prev, body, point=point + 0.2 * k * axis, axis=axis)


@every_formulation
@settings(max_examples=5)
@given(seed=st.integers(0, 2**31))
def test_trees_of_joints_that_are_there_several_times_keep_their_energy(formulation, seed):
    random = np.random.default_rng(seed)
    model = ps.Model(gravity=5 * random.standard_normal(3))
    chain, point = [model.ground], np.zeros(3)
    for i in range(int(random.integers(2, 4))):
        size = 0.3 * np.exp(0.4 * random.standard_normal(3))
        box = ps.Box(mass=float(np.exp(random.standard_normal())), size=size)
        spin = {"angular_velocity": 3 * random.standard_normal(3)} if i == 0 else {}
        body = model.add_body(f"b{i}", box, position=point + 0.3 * direction(random), **spin)
        point = point + 0.3 * direction(random)
        kinds = [ps.Revolute, ps.Spherical, ps.Cylindrical, ps.Planar]
        kind, times = kinds[random.integers(4)], int(random.integers(1, 4))
        joints = doubled(kind, chain[-1], body, point, direction(random), times)
        for k, joint in enumerate(joints):
            model.add_joint(f"j{i}{k}", joint)
        chain.append(body)
    model.project_velocities()
    assert_exact(run(model, formulation))


def parallelogram(arms=1, plate=2, thickness=0.1):
    """Three parallel arms carry a plate; two of them are dependent wherever they are in line."""
    model = ps.Model(gravity=(0, -9.81, 0))
    feet, arm = np.array([(0, 0, 0), (1, 0.3, 0), (2, -0.2, 0)]), np.array([0.3, 0.5, 0])
    box = ps.Box(mass=plate, size=(2, 0.5, 0.1))
    plate = model.add_body("plate", box, position=feet[1] + arm)
    for i, foot in enumerate(feet):
        body = bar(model, f"arm{i}", foot, foot + arm, arms, thickness, angular_velocity=(0, 0, 3))
        hinges = (model.ground, body, foot), (body, plate, foot + arm)
        for k, (a, b, point) in enumerate(hinges):
            model.add_joint(f"h{i}{k}", ps.Revolute(a, b, point=point, axis=(0, 0, 1)))
    return model


@pytest.mark.parametrize(
    ("name", "engine"),
    [*in_turn(FORMULATIONS, ["compiled"]), *in_turn(("ph-mp", "emh-mean"), ["reference"])],
)
def test_three_parallel_arms_go_round_exactly(name, engine):
    h = H if engine == "compiled" else 3 * H
    result = run(parallelogram(), FORMULATIONS[name], engine=engine, t_end=3.0, h=h)
    assert abs(result.joint("h00").coordinates["angle"]).max() > 2 * np.pi
    # Where the arms lie flat round-off grows, the more the nearer a midpoint comes to that.
    assert_exact(result, 1e-13, gap=1e-13 if engine == "compiled" else 1e-12)


@every_formulation
@pytest.mark.parametrize("angle", [20, 40])
def test_a_cardan_shaft_with_redundant_bearings_keeps_its_energy(formulation, angle):
    model, along = ps.Model(), np.array([1.0, 0, 0])
    out = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle)), 0])
    across = np.cross((0, 0, 1), out)
    shaft = ps.Box(mass=1, size=(0.5, 0.1, 0.12))
    a = model.add_body("in", shaft, position=-0.25 * along, angular_velocity=60 * along)
    turned = np.column_stack([out, across, (0, 0, 1)])
    b = model.add_body("out", shaft, position=0.25 * out, rotation=turned)
    cross = model.add_body("cross", ps.Box(mass=0.1, size=(0.05, 0.1, 0.1)))
    model.add_joint("A", ps.Revolute(model.ground, a, point=-0.5 * along, axis=along))
    model.add_joint("B", ps.Revolute(model.ground, b, point=0.5 * out, axis=out))
    model.add_joint("C", ps.Revolute(a, cross, point=(0, 0, 0), axis=(0, 0, 1)))
    model.add_joint("D", ps.Revolute(cross, b, point=(0, 0, 0), axis=across))
    result = run(model, formulation, h=1e-3, t_end=1.0)
    assert result.stats.single_steps == 0
    assert_exact(result)


@every_formulation
@settings(max_examples=1)
@given(seed=st.integers(0, 2**31), ratio=st.sampled_from([1e-4, 1.0, 1e4]))
@example(seed=0, ratio=1e4)
def test_bodies_that_slide_far_away_on_a_doubled_plane_keep_their_balances(
    formulation, seed, ratio
):
    """Lever arms grow a thousandfold, and what makes the equations regular grows with them."""
    random = np.random.default_rng(seed)
    model, normal, shape = ps.Model(), direction(random), ps.Box(mass=1, size=(0.3, 0.2, 0.5))
    away = np.cross(normal, direction(random))
    away *= 20 / np.linalg.norm(away)
    twist = {"velocity": away, "angular_velocity": random.standard_normal(3)}
    first = model.add_body("a", shape, position=0.3 * direction(random), **twist)
    box = ps.Box(mass=ratio, size=(0.1, 0.4, 0.3))
    second = model.add_body("b", box, position=0.3 * direction(random))
    for name in "PQ":
        model.add_joint(name, ps.Planar(first, second, point=(0, 0, 0), normal=normal))
    result = run(model, formulation, h=0.1, t_end=25)
    assert np.linalg.norm(result.position("a")[-1] - result.position("b")[-1]) > 300
    assert result.status == "done"
    assert result.stats.balance_error_max < 1e-12 * result.energy[0]


@every_formulation
@pytest.mark.parametrize("ratio", [1e4, 1e8, 1e12])
def test_light_links_with_doubled_hinges_carry_heavy_ones_in_compiled_steps(formulation, ratio):
    model = ps.Model(gravity=(0, 0, -9.81))
    chain, axis = [model.ground], np.array([0.0, 1, 0])
    for k, mass in enumerate((1 / ratio, 1.0)):
        bar = ps.Box(mass=mass, size=(1, 0.1, 0.1))
        body = model.add_body(f"bar{k}", bar, position=(k + 0.5, 0, 0))
        for name in "PQ":
            hinge = ps.Revolute(chain[-1], body, point=(k, 0, 0), axis=axis)
            model.add_joint(f"{name}{k}", hinge)
        chain.append(body)
    result = run(model, formulation)
    assert result.stats.single_steps == 0
    assert_exact(result)


def loop_of_bars(masses):
    """Return a four-bar: crank, coupler and rocker."""
    model, corners = ps.Model(gravity=(0, -9.81, 0)), [(0, 0, 0), (0.2, 0.9, 0), (1.7, 1.3, 0)]
    corners.append((1.5, 0, 0))
    chain = [model.ground]
    for i, mass in enumerate(masses):
        spin = {"angular_velocity": (0, 0, 1)} if i == 0 else {}
        chain.append(bar(model, f"bar{i}", *corners[i : i + 2], mass, **spin))
    for i, (a, b) in enumerate(pairwise([*chain, model.ground])):
        model.add_joint(f"hinge{i}", ps.Revolute(a, b, point=corners[i], axis=(0, 0, 1)))
    return model


@every_formulation
@pytest.mark.parametrize("ratio", [1e8, 1e12])
@pytest.mark.parametrize("heavy", ["coupler", "crank and rocker", "plate"])
def test_loops_of_heavy_and_light_bodies_run_in_compiled_steps(formulation, ratio, heavy):
    """Elimination finds velocities of light bodies from small differences of large forces."""
    light = 1 / ratio
    model = {
        "coupler": lambda: loop_of_bars([light, 1, light]),
        "crank and rocker": lambda: loop_of_bars([1, light, 1]),
        "plate": lambda: parallelogram(arms=light),
    }[heavy]()
    result = run(model, formulation)
    assert result.status == "done"
    # Three arms in parallel leave elimination hardly a digit at 1e12, and a first step may fail.
    assert result.stats.single_steps <= (heavy == "plate" and ratio == 1e12)
    assert_exact(result)


def test_others_are_left_out_where_those_come_in_with_large_coefficients():
    """Two arms of three are in line twice in a turn, and their hinges repeat each other there."""
    system = parallelogram().compile()
    runner = DirectorRunner(system, ps.SCHEMES["ph-mp"], system.state({}), H, Newton())
    choices = set()

    def remember(self, kept):
        kept = list(kept)
        choices.add(tuple(tuple(rows.tolist()) for rows in kept))
        return leave_out(self, kept)

    leave_out = MechanismRunner._leave_out
    with patch.object(MechanismRunner, "_leave_out", remember):
        result = ps.simulate(system, h=H, t_end=3.0, engine="compiled")
    assert runner.machine.repeated.out.sum() == system.mechanism.repeated
    assert len(choices) > 1
    assert result.stats.single_steps == 0


@pytest.mark.parametrize("gap", [1e-10, 1e-9])
def test_a_loop_that_does_not_quite_close_runs_in_compiled_steps(gap):
    """Redundant constraints contradict each other a little from its start on."""
    model, corners = ps.Model(gravity=(0, -9.81, 0)), [(0, 0, 0), (0.2, 0.9, 0), (1.7, 1.3, 0)]
    corners.append((1.5, 0, 0))
    chain = [model.ground, *(bar(model, f"bar{i}", *corners[i : i + 2]) for i in range(3))]
    for i, (a, b) in enumerate(pairwise([*chain, model.ground])):
        tilted = np.array([gap, -gap, 1.0]) if i == 2 else np.array([0, 0, 1.0])
        model.add_joint(f"hinge{i}", ps.Revolute(a, b, point=corners[i], axis=tilted))
    result = run(model, {"scheme": "ph-mp"})
    assert result.stats.single_steps == 0
    assert result.constraint_error.max() < 10 * gap


@pytest.mark.parametrize("ratio", [3e9, 1e10, 3e10])
def test_stabilised_starts_are_completed_where_light_arms_hold_a_heavy_plate(ratio):
    """Small equations are solved as exactly as large ones, or the start would be refused."""
    model = parallelogram(arms=1 / ratio, plate=1, thickness=0.05)
    system = model.compile(stabilised=True)
    x = check_start(system, system.state({}), 0.0)
    held = model.compile().state({})
    np.testing.assert_array_equal(x[: 2 * system.mechanism.n], held[: 2 * system.mechanism.n])


#: A bar of 3 nm beside one of a metre: what is new in its equations is about as small as that.
SHORT = 3e-9


def four_bar_of_a_metre_and_nanometres():
    A, C, z = np.zeros(3), np.array([0.9, 0.8, 0.0]), np.array([0.0, 0.0, 1.0])
    B, D = A + SHORT * np.array([0.8, 0.6, 0]), C + SHORT * np.array([0.3, -1, 0])
    model = ps.Model(gravity=(0, -9.81, 0))
    bodies = [model.ground]
    for name, start, end in (("crank", A, B), ("coupler", B, C), ("rocker", C, D)):
        length = np.linalg.norm(end - start)
        x = (end - start) / length
        bodies.append(
            model.add_body(
                name,
                ps.RigidBody(mass=length, inertia=length**3 * np.array([0.01, 0.08, 0.085])),
                position=(start + end) / 2,
                rotation=np.column_stack([x, np.cross(z, x), z]),
            )
        )
    ends = zip("ABCD", bodies, [*bodies[1:], bodies[0]], (A, B, C, D), strict=True)
    for name, a, b, point in ends:
        model.add_joint(name, ps.Revolute(a, b, point=point, axis=z))
    return model


def test_a_loop_with_bars_too_short_for_it_is_refused_naming_lengths():
    few = Newton(halvings=1)
    with pytest.raises(ps.SimulationError, match="lengths that are many orders of magnitude apart"):
        ps.simulate(
            four_bar_of_a_metre_and_nanometres(), h=1e-3, t_end=1e-3, engine="reference", newton=few
        )


def test_a_loop_that_opens_by_the_length_of_a_bar_warns():
    with pytest.warns(ps.InexactRunWarning, match="position constraints are off"):
        result = ps.simulate(
            four_bar_of_a_metre_and_nanometres(),
            scheme="ph-mp-ggl",
            h=1e-3,
            t_end=1e-3,
            engine="reference",
        )
    assert result.status == "warned"
    assert result.constraint_error.max() < 10 * SHORT
