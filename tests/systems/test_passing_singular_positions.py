"""Through singular positions: a mechanism stays on its branch, or stops and says where."""

from itertools import product

import numpy as np
import pytest

import poinsot as ps

RUNS = [
    ("ph-mp", "directors"),
    ("ph-mp-ggl", "directors"),
    ("ph-mp", "rotations"),
    ("ph-mp", "rotations-quaternion"),
    ("emh-mean", "quaternions"),
    ("eml-mean", "quaternions"),
]
#: Where a step ends there, energy is known to fewer digits, and the run says so.
pytestmark = pytest.mark.filterwarnings("ignore::poinsot.InexactRunWarning")
ENGINES = ("compiled", "reference")
Z = np.array([0.0, 0.0, 1.0])


def bar(model, name, p, q, rate, v):
    """A bar from p to q in the plane, that turns at a rate while its point p moves at v."""
    p, q = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    along = q - p
    return model.add_body(
        name,
        ps.Box(mass=1, size=(np.linalg.norm(along), 0.1, 0.1)),
        position=(p + q) / 2,
        rotation=ps.Rotation.from_axis_angle(Z, np.arctan2(along[1], along[0])),
        velocity=v + np.cross(rate * Z, along / 2),
        angular_velocity=rate * Z,
    )


def parallelogram(angle, rate, length=2.0, gravity=(0, 0, 0)):
    """Cranks of 1 m, that turn together."""
    model, base = ps.Model(gravity=gravity), np.array([length, 0.0, 0.0])
    u = np.array([np.cos(angle), np.sin(angle), 0.0])
    v = np.cross(rate * Z, u)
    left = bar(model, "left", 0 * u, u, rate, 0 * u)
    right = bar(model, "right", base, base + u, rate, 0 * u)
    coupler = bar(model, "coupler", u, base + u, 0.0, v)
    ends = {"A": (model.ground, left, 0 * u), "B": (left, coupler, u)}
    ends |= {"C": (right, coupler, base + u), "D": (model.ground, right, base)}
    for name, (a, b, at) in ends.items():
        model.add_joint(name, ps.Revolute(a, b, point=at, axis=Z))
    return model


def slider_crank(angle, rate, gravity=(0, 0, 0)):
    """Crank and rod of 1 m: with the slider at the crank's hinge, both may turn as one."""
    model = ps.Model(gravity=gravity)
    u = np.array([np.cos(angle), np.sin(angle), 0.0])
    e, v = np.array([2 * u[0], 0.0, 0.0]), np.cross(rate * Z, u)
    crank = bar(model, "crank", 0 * u, u, rate, 0 * u)
    rod = bar(model, "rod", u, e, -rate, v)
    block = ps.Box(mass=1, size=(0.2, 0.2, 0.2))
    slider = model.add_body("slider", block, position=e, velocity=(-2 * rate * u[1], 0, 0))
    model.add_joint("A", ps.Revolute(model.ground, crank, point=0 * u, axis=Z))
    model.add_joint("B", ps.Revolute(crank, rod, point=u, axis=Z))
    model.add_joint("C", ps.Revolute(rod, slider, point=e, axis=Z))
    model.add_joint("D", ps.Prismatic(model.ground, slider, point=e, axis=(1, 0, 0)))
    return model


def bricard(rate, gravity):
    """Six bars along edges of a cube, each hinge perpendicular to both of its bars."""
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1), (0, 1, 1), (0, 0, 1)]
    corners = np.array(corners, dtype=float)
    edges = np.roll(corners, -1, axis=0) - corners
    axes = np.cross(np.roll(edges, 1, axis=0), edges)
    model = ps.Model(gravity=gravity)
    bodies = [model.ground]
    for k in range(1, 6):
        size = np.where(abs(edges[k]) > 0.5, 1.0, 0.1)
        omega = {"angular_velocity": rate * axes[1]} if k == 1 else {}
        place = corners[k] + edges[k] / 2
        bodies.append(model.add_body(f"bar{k}", ps.Box(mass=1, size=size), position=place, **omega))
    for k in range(6):
        hinge = ps.Revolute(bodies[k - 1], bodies[k], point=corners[k], axis=axes[k])
        model.add_joint(f"J{k}", hinge)
    return model, edges


def landing(h, steps):
    """The angle from which so many steps of h [s] at 1 rad/s lead to zero, to round-off."""
    return 2 * np.arctan(h / 2) * steps


def off_branch(model, gap, joints, **options):
    """Return how far a run is from its branch; None if it stopped at a singular position."""
    try:
        return gap(ps.simulate(model, **options))
    except ps.SimulationError as stop:
        told = str(stop)
    assert "singular position" in told, told
    assert "rank" in told
    assert all(f"'{name}'" in told for name in joints), told
    return None


def tilt(result):
    return abs(result.rotation("coupler")[:, 0, 1]).max()


def ahead(result):
    return abs(result.position("slider")[:, 0] - 2 * result.rotation("crank")[:, 0, 0]).max()


@pytest.mark.parametrize(("scheme", "coordinates"), RUNS)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_parallelogram_passes_its_flat_position_or_stops_there(scheme, coordinates, engine):
    """Steps end in it exactly, or nearly; the other branch tilts the coupler."""
    trials = list(product((0.1, 0.03, 0.001), (2, 2.5), (0.0, 1e-14), (2.0, 1.3)))
    passed, stopped = 0, 0
    for h, steps, eps, length in trials[:: 1 if engine == "compiled" else 5]:
        model = parallelogram(landing(h, steps) + eps, -1.0, length)
        options = {"scheme": scheme, "coordinates": coordinates, "engine": engine}
        found = off_branch(model, tilt, "ABCD", h=h, t_end=5 * h, **options)
        assert found is None or found < 1e-6, (h, steps, eps, length)
        passed, stopped = passed + (found is not None), stopped + (found is None)
    assert passed > stopped


@pytest.mark.parametrize(("scheme", "coordinates"), RUNS)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_slider_crank_passes_where_its_rod_could_turn_with_the_crank(scheme, coordinates, engine):
    trials = list(product((0.1, 0.01), (2, 2.5), (0.0, 1e-10), ((0, 0, 0), (0, -5, 0))))
    for h, steps, eps, gravity in trials[:: 1 if engine == "compiled" else 5]:
        model = slider_crank(np.pi / 2 - landing(h, steps) + eps, 1.0, gravity)
        options = {"scheme": scheme, "coordinates": coordinates, "engine": engine}
        found = off_branch(model, ahead, "ABCD", h=h, t_end=6 * h, **options)
        assert found is None or found < 1e-6, (h, steps, eps, gravity)


@pytest.mark.parametrize("gravity", [(1.0, -5.0, 0), (-1.5, 3.1, 0)])
@pytest.mark.parametrize("h", [0.025, 0.07])
def test_the_first_step_of_all_stays_on_its_branch(h, gravity):
    """It has no steps before it to tell where the motion leads; nor do velocities flutter after."""
    model = slider_crank(np.pi / 2 - landing(h, 1), 1.0, gravity)
    result = ps.simulate(model, h=h, t_end=6 * h, engine="compiled")
    assert ahead(result) < 1e-9
    rate = result.angular_velocity("rod")[:, 2]
    assert abs(np.diff(rate, 2)).max() < 10 * h**2


def row_of_slider_cranks(count, angle, rate, gravity, seed=0):
    """Slider-cranks of random lengths beside each other, with all cranks welded to one shaft."""
    random, shaft = np.random.default_rng(seed), ps.Model(gravity=gravity)
    block, lengths = ps.Box(mass=1, size=(0.2, 0.2, 0.2)), random.uniform(0.7, 1.3, count)
    for k, length in enumerate(lengths):
        base, u = k * Z, length * np.array([np.cos(angle), np.sin(angle), 0.0])
        e, v = np.array([2 * u[0], 0.0, 0.0]), np.cross(rate * Z, u)
        crank = bar(shaft, f"crank{k}", base, base + u, rate, 0 * u)
        rod = bar(shaft, f"rod{k}", base + u, base + e, -rate, v)
        at = {"position": base + e, "velocity": (-2 * rate * u[1], 0, 0)}
        slider = shaft.add_body(f"slider{k}", block, **at)
        shaft.add_joint(f"A{k}", ps.Revolute(shaft.ground, crank, point=base, axis=Z))
        shaft.add_joint(f"B{k}", ps.Revolute(crank, rod, point=base + u, axis=Z))
        shaft.add_joint(f"C{k}", ps.Revolute(rod, slider, point=base + e, axis=Z))
        rail = ps.Prismatic(shaft.ground, slider, point=base + e, axis=(1, 0, 0))
        shaft.add_joint(f"D{k}", rail)
        if k:
            shaft.add_joint(f"E{k}", ps.Weld(shaft.body(f"crank{k - 1}"), crank))
    return shaft, lengths


def test_the_first_step_of_a_large_loop_stays_on_its_branch():
    """With hundreds of equations, whose matrix is sparse; each rod could turn with its crank."""
    h = 0.07
    model, lengths = row_of_slider_cranks(12, np.pi / 2 - landing(h, 1), 1.0, (-1.5, 3.1, 0))
    assert model.compile().layout.closed[0].rows.size > 300
    result = ps.simulate(model, h=h, t_end=4 * h, engine="compiled")
    turned = result.rotation("crank0")[:, 0, 0]
    for k, length in enumerate(lengths):
        x = result.position(f"slider{k}")[:, 0]
        np.testing.assert_allclose(x, 2 * length * turned, atol=1e-9)


@pytest.mark.parametrize(("scheme", "coordinates"), RUNS)
def test_bricards_mechanism_keeps_its_two_angles(scheme, coordinates):
    """On its branch every second angle is the same, whatever pulls."""
    model, edges = bricard(-3.0, (3, -2, -5))
    result = ps.simulate(model, scheme=scheme, coordinates=coordinates, h=0.01, t_end=5.0)
    bars = [np.broadcast_to(edges[0], (result.time.size, 3))]
    bars += [result.rotation(f"bar{k}") @ edges[k] for k in range(1, 6)]
    angles = np.array([np.sum(bars[k - 1] * bars[k], axis=1) for k in range(6)])
    for k in range(4):
        np.testing.assert_allclose(angles[k], angles[k + 2], atol=1e-7)


@pytest.mark.parametrize(("scheme", "coordinates"), RUNS)
def test_a_step_that_changes_branches_is_refused(scheme, coordinates):
    """From the flat position, with the rates of one branch, to where the other one leads."""
    h, ends = 0.01, []
    for rates in ((1.0, 0.0, 1.0), (1.0, -2.0, -3.0)):
        model = flat(rates)
        options = {"scheme": scheme, "coordinates": coordinates, "engine": "reference"}
        result = ps.simulate(model, h=h, t_end=h, **options)
        system = model.compile_for(ps.SCHEMES[scheme], coordinates)
        ends.append([system.state({n: result[n][k] for n in result.states}) for k in (0, 1)])
    told = "'A', 'B', 'C', 'D' pass a singular position, .* rank 16 instead of 17"
    for one, other in ((0, 1), (1, 0)):
        x0, x1, x2 = ends[one][0], ends[one][1], ends[other][1]
        system.check_step(0.0, x0, x1, (x0 + x1) / 2, h)
        with pytest.raises(ps.SingularPositionError, match=told):
            system.check_step(0.0, x0, x2, (x0 + x2) / 2, h)


def flat(rates):
    """A parallelogram with all hinges on one line: rates of crank, coupler and rocker."""
    model, at = ps.Model(), [np.array([x, 0.0, 0.0]) for x in (0.0, 1.0, 3.0, 2.0)]
    v = np.cross(rates[0] * Z, at[1])
    left = bar(model, "left", at[0], at[1], rates[0], 0 * v)
    coupler = bar(model, "coupler", at[1], at[2], rates[1], v)
    right = bar(model, "right", at[3], at[2], rates[2], 0 * v)
    ends = [(model.ground, left), (left, coupler), (coupler, right), (model.ground, right)]
    for name, pair, place in zip("ABCD", ends, at, strict=True):
        model.add_joint(name, ps.Revolute(*pair, point=place, axis=Z))
    return model
