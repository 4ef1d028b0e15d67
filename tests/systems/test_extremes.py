"""Numbers and models at their extremes: each runs with its balances, or is refused with the reason.

See tests/attack for random mechanisms over such ranges.
"""

import numpy as np
import pytest

import poinsot as ps

RUNS = [
    ("ph-mp", "directors"),
    ("ph-mp-ggl", "directors"),
    ("ph-mp", "rotations"),
    ("emh-mean", "quaternions"),
    ("eml", "quaternions"),
]
ENGINES = ("compiled", "reference")
EPS = np.finfo(float).eps
STEPS = 8
#: Round-offs of all energies in play, or of the size of the mechanism.
FEW = 200


def chain(mass=1.0, length=1.0, ratio=1.0, spring=None):
    """Two bars that fall about as fast as they are long, and may be bent by a spring."""
    model, previous = ps.Model(gravity=(0, 0, -9.81 * length)), None
    for k, m in enumerate((mass, ratio * mass)):
        shape = ps.Box(mass=m, size=(length, 0.1 * length, 0.1 * length))
        bar = model.add_body(f"bar{k}", shape, position=((k + 0.5) * length, 0, 0))
        ends = previous or model.ground, bar
        hinge = ps.Revolute(*ends, point=(k * length, 0, 0), axis=(0, 1, 0))
        model.add_joint(f"hinge{k}", hinge)
        previous = bar
    if spring:
        model.add_force("spring", ps.JointSpring("hinge0", stiffness=spring, rest=0.1))
    return model


def top(spin):
    """A top on a ball joint, a metre high, tilted."""
    model, tilt = ps.Model(gravity=(0, 0, -9.81)), ps.Rotation.from_axis_angle((0, 1, 0), 0.3)
    disc = ps.Cylinder(mass=1, radius=0.5, length=0.1)
    up = tilt.matrix[:, 2]
    motion = {"rotation": tilt, "angular_velocity": spin * up}
    body = model.add_body("top", disc, position=up, **motion)
    model.add_joint("tip", ps.Spherical(model.ground, body, point=(0, 0, 0)))
    return model


#: A model, its step [s], an energy in play [J], and its size [m].
CASES = {
    "1e-9 kg": (lambda: chain(mass=1e-9), 0.01, 1e-8, 1.0),
    "1e9 kg": (lambda: chain(mass=1e9), 0.01, 1e10, 1.0),
    "1 to 1e12": (lambda: chain(mass=1e-3, ratio=1e12), 0.01, 1e10, 1.0),
    "1e12 to 1": (lambda: chain(mass=1e9, ratio=1e-12), 0.01, 1e10, 1.0),
    "1e-6 m": (lambda: chain(length=1e-6), 0.01, 1e-11, 1e-6),
    "1e6 m": (lambda: chain(length=1e6), 0.01, 1e13, 1e6),
    "1e12 N m/rad": (lambda: chain(spring=1e12), 1e-7, 5e9, 1.0),
    "1e5 rad/s": (lambda: top(1e5), 1e-6, 6e8, 1.0),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("scheme", "coordinates"), RUNS)
@pytest.mark.parametrize(("make", "h", "energy", "size"), CASES.values(), ids=CASES)
def test_extremes_run_with_their_balances(make, h, energy, size, scheme, coordinates, engine):
    options = {"scheme": scheme, "coordinates": coordinates, "engine": engine}
    result = ps.simulate(make(), h=h, t_end=STEPS * h, **options)
    assert result.status == "done"
    assert result.stats.balance_error_max <= FEW * EPS * energy
    assert result.constraint_error.max() <= FEW * EPS * max(size, 1.0)
    assert abs(result.velocity(next(iter(result.observation.bodies)))[-1]).max() > 0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("scheme", "coordinates"), RUNS)
@pytest.mark.parametrize("make", [lambda: chain(spring=1e12), lambda: top(1e5)], ids=["k", "spin"])
def test_what_turns_many_times_in_a_step_is_exact_or_refused(make, scheme, coordinates, engine):
    """At a step of 0.01 s: 1e4 rad of a stiff spring, 1e3 rad of a fast top."""
    options = {"scheme": scheme, "coordinates": coordinates, "engine": engine}
    try:
        result = ps.simulate(make(), h=0.01, t_end=0.05, **options)
    except ps.SimulationError as error:
        result = error.result
    assert result.status == "done" or result.message or result.warnings
    if result.status != "warned":
        assert result.stats.balance_error_max <= FEW * EPS * 5e9


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("scheme", "coordinates"), RUNS)
def test_a_body_without_joints_flies_on(scheme, coordinates, engine):
    model = ps.Model()
    box = ps.Box(mass=1, size=(1, 2, 3))
    model.add_body("alone", box, position=(0, 0, 0), velocity=(1, 0, 0), angular_velocity=(1, 2, 3))
    options = {"scheme": scheme, "coordinates": coordinates, "engine": engine}
    result = ps.simulate(model, h=0.01, t_end=0.1, **options)
    np.testing.assert_allclose(result.position("alone")[-1], (0.1, 0, 0), atol=1e-14)
    L = result.angular_momentum
    assert abs(L - L[0]).max() <= FEW * EPS * abs(L).max()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("scheme", "coordinates"), RUNS)
@pytest.mark.parametrize("axes", [[(0, 1, 0), (0, 1, 0)], [(0, 1, 0), (0, 0, 1)]])
def test_two_joints_between_the_same_bodies(axes, scheme, coordinates, engine):
    """Two hinges on one axis are one hinge, twice; on two axes nothing moves."""
    model = ps.Model(gravity=(0, 0, -9.81))
    bar = model.add_body("bar", ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(0.5, 0, 0))
    for k, axis in enumerate(axes):
        hinge = ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=axis)
        model.add_joint(f"hinge{k}", hinge)
    if engine == "compiled" and scheme == "eml":
        engine = "reference"
    options = {"scheme": scheme, "coordinates": coordinates, "engine": engine}
    result = ps.simulate(model, h=0.01, t_end=0.1, **options)
    assert result.stats.balance_error_max <= FEW * EPS * 9.81
    moved = abs(result.position("bar")[-1] - result.position("bar")[0]).max()
    assert (moved > 0.01) == (axes[0] == axes[1])
    assert any("not unique" in note for note in result.notes)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_loop_of_two_bars_between_two_hinges_is_held(engine):
    """The smallest loop there is: a bar with both ends on the ground."""
    model = ps.Model(gravity=(0, 0, -9.81))
    bar = model.add_body("bar", ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(0.5, 0, 0))
    for name, x in (("left", 0), ("right", 1)):
        hinge = ps.Revolute(model.ground, bar, point=(x, 0, 0), axis=(0, 1, 0))
        model.add_joint(name, hinge)
    assert model.check().freedoms == 0
    result = ps.simulate(model, h=0.01, t_end=0.1, engine=engine)
    assert abs(result.position("bar") - (0.5, 0, 0)).max() < 1e-14
    force = sum(result.reaction(name).force[-1] for name in ("left", "right"))
    np.testing.assert_allclose(force, (0, 0, 9.81), atol=1e-9)


def test_a_model_of_nothing_is_refused():
    with pytest.raises(ps.InputError, match=r"model 'model' has no bodies; add one by"):
        ps.simulate(ps.Model(), h=0.01, t_end=0.1)


@pytest.mark.parametrize("kind", ["Revolute", "Spherical", "Weld", "Rod"])
def test_a_body_joined_to_itself_is_refused(kind):
    model = ps.Model()
    bar = model.add_body("bar", ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(0.5, 0, 0))
    where = {
        "Revolute": {"point": (0, 0, 0), "axis": (0, 1, 0)},
        "Spherical": {"point": (0, 0, 0)},
        "Weld": {},
        "Rod": {"point_a": (0, 0, 0), "point_b": (1, 0, 0)},
    }
    with pytest.raises(ps.InputError, match="bar"):
        model.add_joint("self", getattr(ps, kind)(bar, bar, **where[kind]))


def test_the_ground_joined_to_itself_is_refused():
    model = ps.Model()
    with pytest.raises(ps.InputError, match="ground"):
        ps.Revolute(model.ground, model.ground, point=(0, 0, 0), axis=(0, 1, 0))


def test_ten_thousand_bodies_keep_their_energy():
    """Pendulums side by side, all of which swing alike."""
    model, ball = ps.Model(gravity=(0, 0, -9.81)), ps.Sphere(mass=1, radius=0.1)
    for k in range(10_000):
        body = model.add_body(f"ball{k}", ball, position=(0.5, k, 0))
        hinge = ps.Revolute(model.ground, body, point=(0, k, 0), axis=(0, 1, 0))
        model.add_joint(f"hinge{k}", hinge)
    result = ps.simulate(model, h=0.01, t_end=0.05, engine="compiled")
    assert result.stats.balance_error_max <= FEW * EPS * 1e5
    first, last = (result.position(f"ball{k}")[-1] for k in (0, 9_999))
    np.testing.assert_allclose(first, last - (0, 9_999, 0), atol=1e-9)
    assert first[2] < -0.01
