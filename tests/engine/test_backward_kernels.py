"""What parts add to a sweep backwards: the derivatives of their own residuals."""

import mechanisms
import numpy as np
import pytest

import poinsot as ps
from poinsot.engine.families import act, act_stabilised, backward, backward_stabilised, start
from poinsot.kernels import tables
from poinsot.kernels.step import Step
from poinsot.parts.resistance import COULOMB
from poinsot.parts.tensions import DAMPER, ROLE
from poinsot.ph.stages import Newton
from poinsot.schemes.records import find_scheme
from poinsot.systems.compiled.backward import DirectorSweep

H = 0.1
#: Weights of changes for a derivative of sixth order; the change; how many entries are looked at.
WEIGHTS = {1: 3 / 4, -1: -3 / 4, 2: -3 / 20, -2: 3 / 20, 3: 1 / 60, -3: -1 / 60}
CHANGE, ENTRIES = 1e-3, 60


def jointed(*kinds):
    """Two bodies on joints."""
    return mechanisms.tree(5, bodies=2, kinds=kinds).model()


def along_coordinates():
    """All that acts along lengths, displacements and angles, some of which are the same."""
    plan = mechanisms.tree(4, bodies=2, kinds=("Cylindrical", "Revolute"))
    model = plan.model()
    a, b = (model.body(name) for name in model.bodies)
    at = {"point_a": a.position + 0.3, "point_b": b.position + 0.1}
    model.add_force("linear", ps.Spring(a, b, **at, stiffness=3.0, damping=0.7))
    model.add_force("same", ps.Spring(a, b, **at, force=ps.Formula("sin(l) + l**3", "l")))
    square = {"point_a": (3, 1, 2), "point_b": at["point_b"], "rest_length": 0, "stiffness": 2.0}
    model.add_force("square", ps.Spring(model.ground, b, **square))
    servo = ps.Formula("-x - sin(v) + t", ("t", "x", "v"))
    for name, (kind, _) in plan.joints.items():
        for freedom in mechanisms.COORDINATES[kind]:
            on = {"joint": name, "freedom": freedom}
            parts = [
                ps.JointSpring(**on, stiffness=3.0, rest=0.2, damping=0.3),
                ps.JointFriction(**on, coulomb=0.5, viscous=0.1, quadratic=0.2, slip=0.3),
                ps.JointStop(**on, lower=-0.1, upper=0.05, stiffness=9.0, damping=0.4),
                ps.JointSpring(**on, potential=ps.Formula("cos(x)", "x")),
            ]
            for k, part in enumerate(parts):
                model.add_force(f"{name} {freedom} {k}", part)
            model.add_port(f"servo {name} {freedom}", ps.JointPort(**on, law=servo))
            model.add_port(f"motor {name} {freedom}", ps.JointPort(**on))
    return model


def loaded():
    """All that acts on single bodies: drag, loads in both axes, and by a law."""
    model = jointed("Spherical")
    a, b = (model.body(name) for name in model.bodies)
    rates = {"viscous": 0.3, "quadratic": 0.2}
    model.add_force("force", ps.Drag(a, point=a.position + 0.1, **rates))
    spins = {"angular_viscous": 0.1, "angular_quadratic": 0.3}
    model.add_force("torque", ps.Drag(b, **spins))

    def law(t, motion):
        spin = motion.angular_velocity * motion.rotation[:, 1]
        return motion.rotation[:, 0] - 3 * motion.position - 0.4 * motion.velocity - spin

    for axes in ("world", "body"):
        for k, given in enumerate(({}, {"law": law})):
            at = {"point": b.position + 0.3, "axes": axes, **given}
            model.add_port(f"force {axes} {k}", ps.ForcePort(b, **at))
            model.add_port(f"torque {axes} {k}", ps.TorquePort(a, axes=axes, **given))
    model.add_port("published", ps.TorquePort(b, published=True))
    return model


def connected():
    """Frames that pull and resist each other: more than a group of them."""
    random = np.random.default_rng(2)
    model = jointed("Spherical")
    a, b = (model.body(name) for name in model.bodies)
    for k, ends in enumerate(((a, b), (model.ground, a), (b, a), (b, model.ground), (a, b))):
        A = random.standard_normal((6, 6))
        law = {"stiffness": A @ A.T, "damping": 0.1 * A @ A.T + 0.1 * np.eye(6)}
        model.add_force(f"{k}", ps.Bushing(*ends, point=a.position + 0.1 * k, **law))
    return model


MODELS = {
    "points": lambda: jointed("Spherical", "Universal"),
    "lines": lambda: jointed("Cylindrical", "Rod"),
    "planes": lambda: jointed("Prismatic", "PointOnPlane"),
    "coordinates": along_coordinates,
    "loads": loaded,
    "connections": connected,
}


@pytest.mark.parametrize("scheme", ["ph-mp", "ph-mp-ggl"])
@pytest.mark.parametrize("name", MODELS)
def test_they_are_derivatives_by_frames_by_numbers_and_by_inputs_at_any_state(name, scheme):
    system = MODELS[name]().compile(stabilised=scheme == "ph-mp-ggl")
    runner = system.runner(find_scheme(scheme), system.start, H, Newton())
    sweep, random = DirectorSweep(runner), np.random.default_rng(1)
    parts, nodes, bodies = sweep.machine.parts, len(sweep.room["mu"]), runner.bodies
    state, stage, frames = sweep.room["state"], sweep.stage, sweep.room["frames"]
    mu, u = random.standard_normal((nodes, 4)), random.standard_normal(system.m)
    stage[:-1] = 0.3 * random.standard_normal((bodies, stage.shape[1]))
    stage[:-1, : tables.VELOCITY] += system.directors(system.start).reshape(bodies, -1)
    state[:-1, tables.VELOCITY :] = random.standard_normal(state[:-1, tables.VELOCITY :].shape)
    mu[-1] = 0
    acts = parts.Struts.acts  # without dry friction, its coefficient has a derivative to one side
    acts.numbers[acts.places[:, ROLE] == DAMPER, COULOMB] += 0.1
    x, by_u = np.zeros((nodes, 4)), np.zeros(system.m)
    multiplier, room = random.standard_normal((nodes, 3)), (np.zeros(80), np.zeros(80))
    speeds, gap = np.zeros((nodes, 3)), np.zeros((nodes, 3))
    step = Step(
        *(0.0, H, sweep.machine.length, speeds, 0.0, tables.DIRECTORS, False, u, 0 * u),
        *(state, stage, multiplier, sweep.machine.bodies.places, gap, x, np.zeros(12), *room),
    )

    def begin():
        """Set the start of the step, from which the motion leads to its middle."""
        half, v = stage[:, tables.HALF : tables.V], stage[:, tables.V : tables.W]
        state[:, :3] = stage[:, :3] - H / 2 * v
        for at in range(tables.DIRECTORS, tables.VELOCITY, 3):
            d = stage[:, at : at + 3]
            state[:, at : at + 3] = d - np.cross(half, d)
        start(parts, state)

    def product():
        begin()
        x[:] = 0
        (act_stabilised if system.stabilised else act)(parts, step, None)
        return np.sum(x[:-1] * mu[:-1])

    def agree(array, slopes, sign):
        """Compare derivatives by some entries of an array with differences."""
        places = list(np.ndindex(array.shape))
        for i in random.permutation(len(places))[:ENTRIES]:
            place, expected = places[i], 0.0
            value = array[place]
            for k, weight in WEIGHTS.items():
                array[place] = value + k * CHANGE
                expected += weight / CHANGE * product()
            array[place] = value
            assert sign * slopes[place] == pytest.approx(expected, rel=1e-7, abs=1e-7)

    begin()
    go_back = backward_stabilised if system.stabilised else backward
    go_back(parts, sweep.by_parts, step, mu, frames, by_u)
    if not system.stabilised:
        agree(stage[:-1, : tables.VELOCITY], frames, 1)
    for k, known in enumerate(sweep.by_hand):
        if known:
            numbers, by = (sweep._known(each, k) for each in (parts, sweep.by_parts))
            for each, slopes in zip(numbers, by, strict=True):
                agree(each, slopes, -1)
    agree(u, by_u, -1)
