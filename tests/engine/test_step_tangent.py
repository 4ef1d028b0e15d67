"""The Newton matrix of a step is the derivative of its residual, and its solution is exact."""

import mechanisms
import numpy as np
import pytest
from engines import add_every_part, add_hinge, finished
from in_turn import in_turn
from kernels import newton, residual
from mechanisms import SCHEMES
from numerics import jacobian

import poinsot as ps
from poinsot.bodies.in_directors import begin_bodies
from poinsot.engine import DRIFT
from poinsot.engine.families import begin
from poinsot.kernels import tables
from poinsot.kernels.step import Step as Record
from poinsot.parts.rigid_strains import RigidStrains

H, T = 0.02, 0.3


class Step:
    """A step of a mechanism at any guess of its unknowns: (nodes, 3) numbers, like its residual."""

    def __init__(self, model, scheme, seed):
        system = model.compile_for(ps.SCHEMES[scheme])
        runner = system.runner(ps.SCHEMES[scheme], system.start, H, ps.Newton())
        made = runner.tables()
        self.machine = made.machine(system.directors(system.start))
        self.runner, self.tiles = runner, made.tiles
        self.work = runner.work._replace(tiles=np.zeros((self.tiles.count + 1, 12)))
        self.condensed = [made.graph.motion(int(b))[0] for b in np.flatnonzero(made.condensed)]
        self.filled = np.ones((made.graph.nodes, 3), dtype=bool)
        self.filled[made.graph.first_joint :] = False
        self.filled[tuple(runner.places[:, :2].T)] = True
        random = np.random.default_rng(seed)
        # Drives have two numbers more: the mean rate, and the coordinate at the start.
        self.u = random.standard_normal(system.m + 2 * len(system.mechanism.drives))
        self.work.gap[:] = 1e-3 * random.standard_normal(self.work.gap.shape)
        self.guess = self.unknowns + 0.3 * random.standard_normal(self.filled.shape) * self.filled

    @property
    def columns(self):
        """Where the unknowns of bodies are: (node, body, column of the stage)."""
        places = self.machine.bodies.places[:-1]
        pairs = [(tables.T, tables.V), (tables.R, tables.W)]
        if self.machine.stabilised is not None:
            pairs = [(tables.KT, tables.V), (tables.KR, tables.W), (tables.T, tables.V1)]
            pairs += [(tables.R, tables.W1)]
        found = [(row[node], b, at) for b, row in enumerate(places) for node, at in pairs]
        auxiliary = [(1 + k, tables.AUXILIARY + 3 * k) for k in range(self.machine.auxiliary)]
        found += [(r[tables.R] + k, b, at) for b, r in enumerate(places) for k, at in auxiliary]
        # A body that does not turn has the ground's node, which is no unknown.
        return [place for place in found if place[0] < len(self.filled)]

    @property
    def unknowns(self):
        found = self.runner.carried.multiplier[:-1].copy()
        for node, body, at in self.columns:
            found[node] = self.runner.carried.stage[body, at : at + 3]
        return found

    def at(self, kernel, unknowns):
        """Return what a kernel finds where the unknowns are."""
        run, carried = self.runner, self.runner.carried
        carried.multiplier[:-1] = unknowns
        for node, body, at in self.columns:
            carried.stage[body, at : at + 3] = unknowns[node]
        if self.machine.stabilised is None and self.machine.spins is None:
            begin_bodies(run.state, carried.stage)
        # Slopes of dry friction are exact where nothing is remembered.
        begin(self.machine.parts, run.state)
        work, machine = self.work, self.machine
        step = Record(
            t=T,
            h=H,
            length=machine.length,
            speeds=machine.speeds,
            drift=DRIFT / H,
            arms_at=machine.arms_at,
            quaternions=machine.spins is not None,
            u=self.u.copy(),
            y=np.zeros_like(self.u),
            state=run.state,
            stage=carried.stage,
            multiplier=carried.multiplier,
            bodies=machine.bodies.places,
            gap=work.gap,
            x=work.x,
            sizes=work.sizes,
            given=work.given,
            found=work.found,
        )
        return kernel(machine, step, work.tiles)

    @property
    def derivative(self):
        """The derivative of the residual by finite differences; (3 nodes, 3 nodes)."""

        def F(x):
            return self.at(residual, x.reshape(-1, 3))[:-1].reshape(-1)

        D = jacobian(F, self.guess.reshape(-1), order=4)
        idle = np.flatnonzero(~self.filled.reshape(-1))
        assert not D[idle].any()
        assert not D[:, idle].any()
        D[idle, idle] = 1.0  # multipliers that have no equation stay what they are
        return D

    @property
    def matrix(self):
        """The tiles as a matrix; the translations of condensed bodies are left out of it."""
        matrices, _ = self.at(newton, self.guess)
        M = np.zeros((*self.filled.shape, *self.filled.shape))
        places = self.tiles.at(*np.indices((len(M), len(M))))
        for i, j in np.argwhere(places < self.tiles.count):
            M[i, :, j] = matrices[places[i, j]]
        return M.reshape(self.filled.size, -1)


def without(D, nodes):
    """The matrix that is left when some nodes are eliminated, and which rows it keeps."""
    out = np.zeros(D.shape[0], dtype=bool)
    out.reshape(-1, 3)[nodes] = True
    left = D[~out][:, ~out]
    return left - D[~out][:, out] @ np.linalg.solve(D[out][:, out], D[out][:, ~out]), ~out


def with_laws(seed):
    """Loads and motors by laws of the motion."""
    model = mechanisms.tree(seed, bodies=2, kinds=("Universal", "Cylindrical")).model(project=False)
    body, joint = model.bodies["body1"], next(iter(model.joints))
    freedom = model.joints[joint].freedoms()[0].label

    def force(t, motion):
        turned = motion.rotation[:, 0] + np.cross(motion.angular_velocity, motion.position)
        return t * turned - motion.velocity * np.linalg.norm(motion.velocity)

    def torque(t, motion):
        turned = np.cross(motion.rotation[:, 1], motion.angular_velocity)
        return turned + motion.velocity * motion.position - motion.angular_velocity

    for axes in ("world", "body"):
        force_port = ps.ForcePort(body, point=body.position + 0.3, axes=axes, law=force)
        model.add_port(f"force, {axes}", force_port)
        model.add_port(f"torque, {axes}", ps.TorquePort(body, axes=axes, law=torque))
    model.add_port("published", ps.TorquePort(body, published=True, law=torque))
    motor = ps.JointPort(joint, freedom=freedom, law=lambda t, a, w: np.sin(a * w) - a - t * w)
    model.add_port("motor", motor)
    add_every_part(model)
    model.project_velocities()
    return model


def with_drives(seed):
    """Angles and displacements that are driven, of bodies on the ground and of others."""
    kinds = ("Cylindrical", "Universal", "Planar")
    model = mechanisms.tree(seed, bodies=3, kinds=kinds).model(project=False)
    free = [(name, f.label) for name, joint in model.joints.items() for f in joint.freedoms()]
    for k, (name, freedom) in enumerate(free[1:]):
        model.add_port(f"drive{k}", ps.Drive(name, "t", freedom))
    add_every_part(model)
    model.project_velocities()
    return model


def with_held_strains():
    """Sections of a rod, turned and apart, that cannot shear or stretch."""
    model, random = ps.Model(gravity=(0, 0, -9.81)), np.random.default_rng(5)
    sections = [
        model.add_body(
            f"section{k}",
            ps.RigidBody(mass=1.0 + k, inertia=(0.1, 0.2, 0.25)),
            position=(0.1, 0.2 * k, k),
            rotation=ps.Rotation.from_axis_angle((1, k, 2), 0.3 + 0.4 * k),
            angular_velocity=random.standard_normal(3),
        )
        for k in range(3)
    ]
    for k, held in enumerate([(0, 1, 2), (2,)]):
        u = random.standard_normal(3)
        model.add_joint(f"element{k}", RigidStrains(*sections[k : k + 2], u, held))
    add_every_part(model)
    model.project_velocities()
    return model


MODELS = {
    "held strains": with_held_strains,
    "everything": lambda: finished(mechanisms.full(1, bodies=3, loops=1)),
    "everything, afloat": lambda: finished(mechanisms.full(5, bodies=3, loops=2, ground=False)),
    "joints alone": lambda: finished(mechanisms.tree(104, bodies=4, loops=1)),
    "condensed bodies": lambda: finished(
        mechanisms.tree(2, bodies=4, kinds=("Spherical", "Universal", "Revolute"))
    ),
    "laws": lambda: with_laws(7),
    "drives": lambda: with_drives(8),
    "point masses": lambda: finished(
        mechanisms.push_points(mechanisms.with_points(mechanisms.tree(6, bodies=2), 7))
    ),
    "friction and drag": lambda: finished(
        mechanisms.resistances(mechanisms.tree(3, bodies=3, kinds=("Revolute", "Cylindrical")), 4)
    ),
}


#: Those whose matrix is exact; the others of quaternions leave the turn of arms_at out of it.
EXACT = (*SCHEMES, "emh-mean", "eml-mean")


#: Rows that the stabilised form of the engine does not have.
PLAIN = ("drives", "held strains")
CASES = [
    (scheme, model)
    for model, scheme in in_turn(MODELS, EXACT, times=2)
    if not (scheme == "ph-mp-ggl" and model in PLAIN)
]


@pytest.fixture(params=CASES, ids=" of ".join, scope="module")
def step(request):
    scheme, model = request.param
    return Step(MODELS[model](), scheme, seed=3)


@pytest.fixture(scope="module")
def derivative(step):
    return step.derivative


def test_the_newton_matrix_is_the_derivative_of_the_residual(step, derivative):
    expected, kept = without(derivative, step.condensed)
    found = step.matrix[kept][:, kept]
    np.testing.assert_allclose(found, expected, atol=1e-8 * abs(expected).max())


def test_nothing_but_slim_bodies_is_left_out_of_the_newton_matrix(step):
    rows = step.matrix.any(axis=1).reshape(-1, 3).all(axis=1)
    assert np.flatnonzero(~rows).tolist() == sorted(step.condensed)


def test_newtons_correction_solves_the_linearised_equations(step, derivative):
    F = step.at(residual, step.guess)[:-1]
    correction = step.at(newton, step.guess)[1][:-1]
    expected = np.linalg.solve(derivative, F.reshape(-1)).reshape(-1, 3)
    np.testing.assert_allclose(correction, expected, atol=1e-6 * abs(expected).max())


def bent_rod(spin):
    """Bent by a tenth of its length and stretched by a hundredth, and turning."""
    angles = np.linspace(0, 0.4, 4)
    points = np.column_stack([np.sin(angles), 1 - np.cos(angles), 0.1 * angles])
    straight = 0.4 * np.linspace([0, 0, 0], [0.99, 0, 0], 4)
    section = ps.SectionLaw(stiffness=(1e3, 1e3, 1e3, 5, 6, 7), mass=1, inertia=(0.05, 0.06))
    model, rod = ps.Model(), ps.ElasticRod(points, section, natural=straight)
    model.add_body("rod", rod, velocity=(0.1, 0.2, 0.3), angular_velocity=spin)
    return model


def offset_bushing(spin):
    model, box = ps.Model(), ps.Box(mass=1, size=(1, 0.5, 0.3))
    arm = np.array([1.2, 0.1, 0.2])
    one = model.add_body("one", box, angular_velocity=spin)
    other = model.add_body(
        "other", box, position=arm, velocity=np.cross(spin, arm), angular_velocity=spin
    )
    stiffness, damping = np.diag([1e3, 2e3, 3e3, 50, 60, 70]), np.diag([1, 2, 3, 0.5, 0.6, 0.7])
    part = ps.Bushing(one, other, point=(0.55, 0.1, 0.1), stiffness=stiffness, damping=damping)
    model.add_force("bushing", part)
    return model


@pytest.mark.parametrize("scheme", ["ph-mp", "ph-mp-ggl"])
@pytest.mark.parametrize(("model", "slow"), [(bent_rod, 0.02), (offset_bushing, 2e-3)])
def test_the_matrix_of_connections_lacks_what_hardly_slows_newtons_method(model, slow, scheme):
    """It is exact at rest; a correction leaves but a small part of the error on the way."""
    for spin in ((0, 0, 0), (1, 2, 3)):
        step = Step(model(spin), scheme, seed=3)
        step.work.gap[:] = 0
        step.guess = step.unknowns
        left = np.eye(step.guess.size) - np.linalg.solve(step.matrix, step.derivative)
        assert max(abs(np.linalg.eigvals(left))) < slow
    at_rest = Step(offset_bushing((0, 0, 0)), scheme, seed=3)
    at_rest.work.gap[:], at_rest.guess = 0, at_rest.unknowns
    expected = at_rest.derivative
    np.testing.assert_allclose(at_rest.matrix, expected, atol=1e-8 * abs(expected).max())


def condensed_bodies(kind, scheme):
    model = ps.Model()
    last = model.ground
    for i in range(4):
        bar = model.add_body(f"bar{i}", ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(i, 0, 0))
        model.add_joint(f"joint{i}", kind(last, bar, point=(i - 0.5, 0, 0)))
        last = bar
    add_hinge(model)
    return Step(model, scheme, seed=0).condensed


def test_bodies_on_points_of_joints_are_slim_unless_stabilised():
    assert len(condensed_bodies(ps.Spherical, "ph-mp")) == 5
    assert condensed_bodies(ps.Spherical, "ph-mp-ggl") == []


def free_bodies():
    model = ps.Model(gravity=(0, 0, -9.81))
    for k in range(2):
        body = ps.RigidBody(mass=1 + k, inertia=(6, 8, 3))
        model.add_body(f"body{k}", body, angular_velocity=(1, 2 + k, 3), velocity=(k, 0, 1))
    return model


@pytest.mark.parametrize("scheme", ["eml", "reml", "null-eml", "emh"])
def test_the_newton_matrix_of_free_quaternions_is_exact_with_all_unknowns(scheme):
    step = Step(free_bodies(), scheme, seed=1)
    assert step.machine.exact
    expected = step.derivative
    pads = np.flatnonzero(~expected.any(axis=1))
    expected[pads, pads] = 1.0  # REML has one unknown in a node of three
    expected, kept = without(expected, step.condensed)
    found = step.matrix[kept][:, kept]
    np.testing.assert_allclose(found, expected, atol=1e-8 * abs(expected).max())
