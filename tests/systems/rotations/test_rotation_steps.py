"""Steps with velocities in body axes: the motion of `emh-mean` in quaternions, and its laws."""

from dataclasses import replace
from functools import cache

import loads
import mechanisms
import numpy as np
import pytest
from balance import turnover
from hypothesis import assume, given
from hypothesis import strategies as st
from mechanisms import KINDS, laws
from numerics import observed_orders

import poinsot as ps
from poinsot.ph.general_stages import GeneralStages
from poinsot.ph.newton import solve
from poinsot.ph.start import check_start
from poinsot.schemes.step import take_step

H = 0.01
COORDINATES = ("rotations", "rotations-quaternion", "rotations-euler")
seeds = st.integers(0, 10**6)


def run(model, coordinates, steps=6, h=H, **options):
    options = {"engine": "reference", **options}
    return ps.simulate(model, coordinates=coordinates, h=h, t_end=steps * h, **options)


def motions(result):
    """Positions, rotations, velocities and angular velocities of all bodies, in world axes."""
    records = [result.body(name) for name in result.observation.bodies]
    kinds = ("position", "rotation", "velocity", "angular_velocity")
    return [np.array([getattr(record, kind) for record in records]) for kind in kinds]


def gaps(one, other):
    return np.array([abs(a - b).max() for a, b in zip(motions(one), motions(other), strict=True)])


def everything(seed, bodies, loops):
    plan = mechanisms.full(seed, bodies=bodies, loops=loops)
    assume(plan.model().check().freedoms > 0)
    return plan.model()


@laws(3)
@given(seed=seeds, bodies=st.integers(1, 3), loops=st.integers(0, 1))
def test_all_coordinates_give_the_motion_of_quaternions_with_mean_lever_arms(seed, bodies, loops):
    model = everything(seed, bodies, loops)
    expected = run(model, "quaternions")
    for coordinates in COORDINATES:
        result = run(model, coordinates)
        assert result.scheme == "ph-mp"
        assert gaps(result, expected).max() < 1e-9 * (1 + abs(motions(expected)[3]).max())
        for joint in expected.observation.joints:
            force, other = result.reaction(joint), expected.reaction(joint)
            size = 1e-7 * (1 + abs(other.force).max() + abs(other.torque).max())
            np.testing.assert_allclose(force.force, other.force, atol=size)
            np.testing.assert_allclose(force.torque, other.torque, atol=size)
        for port in expected.ports:
            np.testing.assert_allclose(result.port(port).y, expected.port(port).y, atol=1e-8)


@pytest.mark.parametrize("coordinates", COORDINATES)
@laws(3)
@given(seed=seeds, bodies=st.integers(1, 2), loops=st.integers(0, 1), by_law=st.booleans())
def test_every_energy_balance_is_exact_and_every_joint_closed(
    coordinates, seed, bodies, loops, by_law
):
    model = loads.loaded(seed, bodies=bodies) if by_law else everything(seed, bodies, loops)
    result = run(model, coordinates)
    assert abs(result.balance_error).max() < 1e-12 * turnover(result)
    assert np.diff(result.dissipated).min() >= 0
    assert result.constraint_error.max() < 1e-11


@pytest.mark.parametrize("coordinates", COORDINATES)
@laws(3)
@given(seed=seeds, bodies=st.integers(2, 3))
def test_a_mechanism_left_alone_keeps_energy_and_momenta(coordinates, seed, bodies):
    plan = mechanisms.tree(seed, bodies=bodies, ground=False, gravity=False, loops=1)
    inner = {
        name: force
        for name, force in mechanisms.springs(plan, seed).forces.items()
        if "ground" not in (force[1].get("a"), force[1].get("b"))
    }
    result = run(replace(plan, forces=inner).model(), coordinates, steps=12)
    balance = result.energy + result.dissipated
    for values in (result.linear_momentum, result.angular_momentum, balance[:, None]):
        size = 1 + np.linalg.norm(values[0])
        np.testing.assert_allclose(values, values[:1].repeat(13, axis=0), atol=1e-12 * size)


@cache
def pair(kind, coordinates, steps):
    model = mechanisms.ports(mechanisms.pair(kind, 7, gravity=True, speed=1.5), 8).model()
    return run(model, coordinates, steps, 0.16 / steps, engine="auto")


@pytest.mark.parametrize("kind", KINDS)
def test_the_difference_to_directors_is_of_order_two(kind):
    found = []
    for steps in (8, 16):
        here, there = (motions(pair(kind, c, steps)) for c in ("rotations", "directors"))
        found.append(max(abs(a - b).max() for a, b in zip(here[:2], there[:2], strict=True)))
    assert found[0] > 1e-6
    (order,) = observed_orders([0.02, 0.01], found)
    assert order == pytest.approx(2.0, abs=0.1), found


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_steps_integrate_the_equations_of_the_system(coordinates):
    """The general midpoint step knows nothing but E, J, B, z; both differ by order three a step.

    But for velocities on joints, which are off by order two at the ends, in either step.
    """
    model = mechanisms.full(11, bodies=2, kinds=("Spherical", "Universal")).model()
    system, method, found = model.compile(coordinates), ps.SCHEMES["ph-mp"], []
    x0 = check_start(system, system.start, 0.0)
    for h in (4e-3, 2e-3):
        general = GeneralStages(method, h / 2, x0, system.u(h / 2), h, system)
        one = solve(general.evaluate, general.guess, ps.Newton(), general.labels).x
        other = take_step(system, method, h / 2, x0, h, ps.Newton())[0].x
        zeta, w, _ = system.parts(abs(one - other))
        found.append([zeta.max(), w.max()])
    assert np.min(found) > 1e-9
    orders = [observed_orders([4e-3, 2e-3], column)[0] for column in np.transpose(found)]
    np.testing.assert_allclose(orders, [3, 2], atol=0.2)


def test_repeated_constraints_get_the_smallest_multipliers():
    """A four-bar of hinges about y has three equations too many; gravity acts in its plane."""
    model = ps.Model(gravity=(0, 0, -9.81))
    corners = np.array([(0, 0, 0), (0.3, 0, 1), (2, 0, 1), (2, 0, 0)])
    last = model.ground
    for k in range(3):
        middle, size = (corners[k] + corners[k + 1]) / 2, (0.2, 0.1, 0.3)
        bar = model.add_body(f"bar {k}", ps.Box(mass=1, size=size), position=middle)
        model.add_joint(f"pin {k}", ps.Revolute(last, bar, point=corners[k], axis=(0, 1, 0)))
        last = bar
    model.add_joint("pin 3", ps.Revolute(last, model.ground, point=corners[3], axis=(0, 1, 0)))
    result, directors = run(model, "rotations"), run(model, "directors")
    assert result.stats.balance_error_max < 1e-12
    assert result.constraint_error.max() < 1e-13
    for name in result.observation.joints:
        found, expected = result.reaction(name), directors.reaction(name)
        np.testing.assert_allclose(found.force, expected.force, atol=2e-2)
        assert abs(found.force[:, 1]).max() < 1e-9
        assert not found.complete


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_rotations_stay_rotations_and_states_are_in_body_axes(coordinates):
    model = mechanisms.tree(3, bodies=1, ground=False).model()
    system, result = model.compile(coordinates), run(model, coordinates, 50)
    zeta, w = result["body0.zeta"], result["body0.w"].reshape(-1, 2, 3)
    R = system.bodies.rotations(zeta)[:, 0]
    np.testing.assert_allclose(np.swapaxes(R, 1, 2) @ R, np.eye(3)[None].repeat(51, 0), atol=1e-14)
    np.testing.assert_allclose(zeta[:, :3], result.position("body0"), atol=1e-14)
    velocity = np.einsum("tij,tj->ti", R, w[:, 0])
    np.testing.assert_allclose(velocity, result.velocity("body0"), atol=1e-12)
    spin = np.einsum("tij,tj->ti", R, w[:, 1])
    np.testing.assert_allclose(spin, result.angular_velocity("body0"), atol=1e-12)


def test_a_thin_rod_swings_as_in_quaternions():
    model = ps.Model(gravity=(0, 0, -9.81))
    rod = ps.ThinRod(mass=1, length=1)
    body = model.add_body("rod", rod, position=(0, 0, 0.5), angular_velocity=(0, 1, 0))
    model.add_joint("ball", ps.Spherical(model.ground, body, point=(0, 0, 0)))
    one, other = (run(model, c, 20) for c in ("rotations", "quaternions"))
    assert gaps(one, other).max() < 1e-11


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_what_is_written_as_a_run_goes_is_what_it_returns(coordinates, tmp_path):
    model = mechanisms.tree(5, bodies=2).model()
    kept, written = (run(model, coordinates, output=to) for to in (None, tmp_path / "run.nc"))
    read = ps.load(tmp_path / "run.nc")
    for result in (written, read):
        for a, b in zip(motions(result), motions(kept), strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-13)
        for name in kept.observation.joints:
            a, b = result.reaction(name).force, kept.reaction(name).force
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(result.angular_momentum, kept.angular_momentum)


STARTS = {
    "no rotation matrix": ("rotations", [0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1], "is off by 3"),
    "a reflection": ("rotations", [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, -1], "rotation matrix is off"),
    "a long quaternion": ("rotations-quaternion", [0, 0, 0, 1, 1, 0, 0], "off by 0.414; divide"),
    "gimbal lock": ("rotations-euler", [0, 0, 0, 0, np.pi / 2, 0], r"gimbal lock.*90 degrees"),
    "angles beyond": ("rotations-euler", [0, 0, 0, 0, 2, 0], r"the same rotation"),
    "an open joint": ("rotations", [0.1, 0, 0, *np.eye(3).ravel()], r"'ball\[0\]' by 0.1"),
}


@pytest.mark.parametrize("what", STARTS)
def test_a_wrong_start_is_refused(what):
    coordinates, zeta, message = STARTS[what]
    model = ps.Model(name="pendulum")
    box = model.add_body("box", ps.Box(mass=1, size=(1, 2, 3)))
    model.add_joint("ball", ps.Spherical(model.ground, box, point=(1, 0, 0)))
    with pytest.raises(ps.InputError, match=message):
        run(model, coordinates, x0={"box.zeta": zeta})


def test_velocities_against_a_joint_are_refused():
    model = ps.Model(name="pendulum")
    box = model.add_body("box", ps.Box(mass=1, size=(1, 2, 3)))
    model.add_joint("ball", ps.Spherical(model.ground, box, point=(1, 0, 0)))
    with pytest.raises(ps.PoinsotError, match=r"algebraic equation 'ball\[0\]'"):
        run(model, "rotations", x0={"box.w": [1, 0, 0, 0, 0, 0]})


def test_schemes_and_options_that_do_not_fit_are_refused():
    model = mechanisms.pair("Spherical", 1).model()
    for scheme in ("ph-mp-ggl", "ph-dg", "eml"):
        with pytest.raises(ps.InputError, match=r"not in rotations; .* such as 'ph-mp'"):
            run(model, "rotations", scheme=scheme)
    with pytest.raises(ps.InputError, match="need coordinates 'directors'"):
        model.compile("rotations", stabilised=True)
    with pytest.raises(ps.PoinsotError, match="does not support velocities in body axes"):
        ps.simulate(model.compile("rotations"), scheme="ph-dg", h=H, t_end=H)


@pytest.mark.parametrize("coordinates", COORDINATES[:2])
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_a_step_by_half_a_turn_is_no_result(coordinates, engine):
    """From there an angular velocity may have any size, and had where Newton's method failed."""
    model = ps.Model()
    shape = ps.Box(mass=1, size=(0.3, 0.2, 0.1))
    model.add_body("top", shape, angular_velocity=(6e8, 1e8, 8e8))
    options = {"coordinates": coordinates, "engine": engine, "h": 0.01, "t_end": 0.05}
    with pytest.raises(
        ps.SimulationError, match="'top' rotates by half a turn in one step"
    ) as told:
        ps.simulate(model, **options)
    assert told.value.result.time.size == 1
