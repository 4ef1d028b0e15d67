"""A model and its file are the same, bit by bit."""

import os
from dataclasses import replace

import mechanisms
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import poinsot as ps
from poinsot.bodies.shapes import Composite
from poinsot.ph.matrices import dense

ELASTIC = [
    {"stiffness": 1 / 3, "damping": 0.7},
    {"potential": ps.Formula("x**4", "x"), "dpotential": ps.Formula("4*x**3", "x")},
    {"force": ps.Formula("5*sin(x)", "x"), "law": ps.Formula("v**3", "v"), "damping": 0.1},
    {"damping": 1e-3},
]


def any_shape(random):
    """A shape of any kind, composites of composites included."""
    a, b, c = random.uniform(0.3, 1.3, 3)
    R = mechanisms.rotation(random)
    mass = [{"mass": c}, {"density": 100 * c}][random.integers(2)]
    simple = [
        ps.Box(size=(a, b, c), **mass),
        ps.Cylinder(radius=a, length=b, **mass),
        ps.HollowCylinder(inner_radius=a / 3, outer_radius=a, length=b, **mass),
        ps.Sphere(radius=a, **mass),
        ps.Cone(radius=a, height=b, **mass),
        ps.Ellipsoid(semi_axes=(a, b, c), **mass),
        ps.ThinRod(mass=a, length=b),
        ps.Sphere(mass=a, radius=b).with_point_mass(c, (a, 0, 0)),
        ps.RigidBody(mass=a, inertia=(b + c, c + a, a + b), frame=R),
        ps.RigidBody(mass=a, inertia=R @ np.diag([a + b, b + c, c + a]) @ R.T),
    ]
    if random.integers(4) == 0:
        parts = [(any_shape(random), random.standard_normal(3), R), (simple[0], (0, 0, a), None)]
        return Composite(parts=parts)
    return simple[random.integers(len(simple))]


def signal(random, size):
    """An input that can be written: numbers, a formula, or a table."""
    values = random.standard_normal((3, size))
    if size == 1:
        inputs = [values[0], float(values[0, 0]), ps.Formula(f"{values[0, 0]}*sin(3*t)")]
        return [*inputs, ps.Table([0, 1 / 3, 1], values[:, 0]), None][random.integers(5)]
    formula = ps.Formula([f"{value}*t" for value in values[0]])
    return [values[0], formula, ps.Table([0, 1 / 3, 1], values), None][random.integers(4)]


def writable(seed):
    """A random mechanism with shapes, forces and ports of every kind that a file can hold."""
    random = np.random.default_rng(seed)
    plan = mechanisms.full(seed, bodies=int(random.integers(1, 5)), loops=int(random.integers(2)))
    bodies = {
        name: arguments | {"shape": any_shape(random)} for name, arguments in plan.bodies.items()
    }
    forces = {}
    for name, (kind, arguments) in plan.forces.items():
        kept = {k: v for k, v in arguments.items() if k in ("a", "b", "point_a", "point_b")}
        kept |= {k: v for k, v in arguments.items() if k in ("joint", "freedom")}
        forces[name] = kind, kept | ELASTIC[random.integers(4)]
    ports = {}
    for name, (kind, arguments) in plan.ports.items():
        fed = {"value": signal(random, 1 if kind == "JointPort" else 3)}
        if kind == "JointPort" and random.integers(2):
            fed = {"value": None, "law": ps.Formula("sin(t) - 10*x - v", "txv")}
        ports[name] = kind, arguments | fed
    return mechanisms.resistances(replace(plan, bodies=bodies, forces=forces, ports=ports), seed)


def assert_same(a, b):
    """Two models compile to the same numbers, bit by bit."""
    one, other = a.compile(), b.compile()
    x = mechanisms.random_state(one, 0)
    z = one.z(x)
    assert [s.name for s in one.states] == [s.name for s in other.states]
    assert [str(p) for p in one.ports] == [str(p) for p in other.ports]
    for values in zip(
        *(
            (
                system.start,
                system.mechanism.mass,
                system.mechanism.weight,
                system.z(x),
                np.array(system.H(x)),
                dense(system.J(x)),
                dense(system.R(x)),
                dense(system.B(x)),
                system.r(x, z),
                system.u(0.7),
            )
            for system in (one, other)
        ),
        strict=True,
    ):
        assert values[0].tobytes() == values[1].tobytes()


@mechanisms.laws(25)
@given(st.integers(0, 2**32 - 1))
def test_the_file_of_a_model_is_the_same_model_to_the_last_bit(seed):
    model = writable(seed).model()
    text = model.to_yaml()
    read = ps.Model.from_yaml_text(text)
    assert read.to_yaml() == text
    assert_same(model, read)


@mechanisms.laws(10)
@given(st.integers(0, 2**32 - 1))
def test_a_file_starts_where_its_model_starts_without_projection(seed):
    plan = writable(seed)
    still = {
        name: {k: v for k, v in body.items() if "velocity" not in k}
        for name, body in plan.bodies.items()
    }
    model = replace(plan, bodies=still).model(project=False)
    assert "project_velocities" not in model.to_yaml()
    assert_same(model, ps.Model.from_yaml_text(model.to_yaml()))


def test_velocities_projected_before_the_last_joint_are_written_as_numbers():
    model = mechanisms.tree(3, bodies=2).model()
    first = next(iter(model.bodies.values()))
    model.add_joint("late", ps.PointOnLine(model.ground, first, point=(0, 0, 0), axis=(1, 0, 0)))
    model.project_velocities()
    model.add_joint("later", ps.Rod(model.ground, first, point_a=(9, 0, 0), point_b=(9, 0, 1)))
    text = model.to_yaml()
    assert "project_velocities" not in text


def test_every_joint_of_the_table_can_be_written():
    for kind in mechanisms.KINDS:
        model = mechanisms.pair(kind, 1).model()
        assert type(ps.Model.from_yaml_text(model.to_yaml()).joints["J"]).__name__ == kind


def test_quaternions_off_by_round_off_are_written_exactly():
    random = np.random.default_rng(0)
    for _ in range(200):
        quaternion = random.standard_normal(4)
        quaternion *= (1 + 3e-15 * random.uniform(-1, 1)) / np.linalg.norm(quaternion)
        model = ps.Model()
        model.add_body("a", ps.Sphere(mass=1, radius=1), rotation=quaternion)
        read = ps.Model.from_yaml_text(model.to_yaml())
        assert read.bodies["a"].R_WB.tobytes() == model.bodies["a"].R_WB.tobytes()


def test_minus_zero_stays_minus_zero():
    model = ps.Model(gravity=(0.0, -0.0, -9.81))
    turn = np.array([[1, -0.0, 0], [0, 1, -0.0], [-0.0, 0, 1]])
    model.add_body("a", ps.Sphere(mass=1, radius=1), position=(-0.0, 0, 0), rotation=turn)
    read = ps.Model.from_yaml_text(model.to_yaml())
    assert read.gravity.tobytes() == model.gravity.tobytes()
    assert read.bodies["a"].position.tobytes() == model.bodies["a"].position.tobytes()
    assert read.bodies["a"].R_WB.tobytes() == turn.tobytes()


def test_names_markers_and_the_run_are_kept(tmp_path):
    model = ps.Model(name="Räder: 1, {2}")
    body = model.add_body("a: b", ps.Sphere(mass=1, radius=1))
    model.add_marker("tip [1]", body, position=(1, 2, 3), rotation=(0.5, 0.5, 0.5, 0.5))
    newton = ps.Newton(rtol=1e-12)
    model.simulation = ps.Simulation(step=1e-3, t_end=2, scheme="ph-mp-ggl", newton=newton)
    assert model.to_yaml(tmp_path / "a.yaml") == (tmp_path / "a.yaml").read_text(encoding="utf-8")
    read = ps.Model.from_yaml(tmp_path / "a.yaml")
    assert read.name == model.name
    assert read.simulation == model.simulation
    np.testing.assert_array_equal(read.markers["tip [1]"].R_WM, model.markers["tip [1]"].R_WM)


def test_a_file_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(ps.InputError, match=r"cannot write '.*': No such file or directory"):
        ps.Model().to_yaml(tmp_path / "none" / "a.yaml")


def test_python_functions_are_refused_with_the_names_of_their_parts():
    model = ps.Model(name="free")
    a = model.add_body("a", ps.Sphere(mass=1, radius=1))
    model.add_joint("J", ps.Revolute(model.ground, a, point=(0, 0, 0), axis=(0, 0, 1)))
    model.add_force("field", ps.Field(lambda p, d: 0.0, points=[(a, (0, 0, 0))]))
    model.add_force("spring", ps.JointSpring("J", force=np.sin))
    model.add_force("other", ps.JointSpring("J", force=ps.Formula("5*t")))
    model.add_port("load", ps.ForcePort(a, law=lambda t, motion: (0, 0, 0)))
    model.add_port("motor", ps.JointPort("J", value=lambda t: t))
    with pytest.raises(ps.InputError) as caught:
        model.to_yaml()
    assert str(caught.value) == (
        "model 'free' cannot be written to a file: "
        "force 'field': a Field cannot be represented in a model file; "
        "force 'spring': force is a Python function; "
        "force 'other': force is a formula of t; write it in x; "
        "port 'load': law is a function of the motion of the body, which model files cannot "
        "represent; "
        "port 'motor': value is a Python function; "
        "replace Python functions by poinsot.Formula or poinsot.Table"
    )


def test_a_very_long_table_is_refused():
    model = pendulum()
    times = np.arange(100_001.0)
    model.add_port("long", ps.JointPort("hinge", value=ps.Table(times, times)))
    with pytest.raises(ps.InputError, match="port 'long': value is a table of more than 100000"):
        model.to_yaml()


# -- results ---------------------------------------------------------------------------------------


def pendulum():
    model = ps.Model(gravity=(0, 0, -9.81), name="pendulum")
    bar = model.add_body("bar", ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.add_joint("hinge", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_port("motor", ps.JointPort("hinge"))
    return model


def run(model, **options):
    return ps.simulate(model, h=0.01, t_end=0.05, engine="reference", **options)


def test_a_result_holds_the_file_that_repeats_its_run():
    result = run(pendulum(), inputs={"motor": ps.Formula("3*sin(t)")}, save_every=2)
    model = ps.Model.from_yaml_text(result.document)
    again = ps.simulate(model, **model.simulation.options())
    assert again.document == result.document
    assert again.engine == "reference"
    np.testing.assert_array_equal(again.time, result.time)
    np.testing.assert_array_equal(again.position("bar"), result.position("bar"))
    np.testing.assert_array_equal(again.port("motor").u, result.port("motor").u)


def test_a_result_of_what_cannot_be_written_holds_no_file():
    assert run(pendulum(), inputs={"motor": np.sin}).document == ""
    assert run(pendulum(), x0=pendulum().compile().start).document == ""
    assert run(pendulum().compile()).document == ""


def test_inputs_of_a_run_come_before_those_of_the_model():
    model = pendulum()
    model.add_port("law", ps.JointPort("hinge", law=ps.Formula("-x", "txv")))
    result = run(model, inputs={"motor": [2.0]})
    assert "motor: {joint: {joint: hinge, value: 2}}" in result.document
    assert 'law: {joint: {joint: hinge, law: "-x"}}' in result.document


def test_a_stopped_run_holds_its_file():
    model = pendulum()
    model.add_port(
        "bad", ps.ForcePort(model.bodies["bar"], value=ps.Formula(["0", "0", "log(0.02-t)"]))
    )
    with pytest.raises(ps.SimulationError, match=r"port 'bad': the input at t = 0.025 s") as caught:
        run(model)
    assert "log(0.02-t)" in caught.value.result.document


def test_nothing_in_a_file_touches_other_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = pendulum().to_yaml().replace("name: pendulum", 'name: "../../etc/x"')
    ps.Model.from_yaml_text(text)
    assert os.listdir(tmp_path) == []


# -- simulation ------------------------------------------------------------------------------------


def test_options_of_a_run_come_before_those_of_the_file():
    simulation = ps.Simulation(scheme="ph-mp", step=0.01, t_end=5.0)
    options = simulation.options(step=0.1, scheme=None, save_every=3)
    assert (options["h"], options["t_end"], options["scheme"]) == (0.1, 5.0, "ph-mp")
    assert options["save_every"] == 3


def test_a_scheme_of_a_run_brings_its_coordinates_along():
    simulation = ps.Simulation(coordinates="directors", step=0.01, t_end=5.0)
    options = simulation.options(scheme="eml")
    assert (options["scheme"], options["coordinates"]) == ("eml", None)


def test_coordinates_of_a_run_keep_the_scheme_only_if_it_fits():
    simulation = ps.Simulation(scheme="emh-mean", step=0.01, t_end=5.0)
    options = simulation.options(coordinates="quaternions")
    assert (options["scheme"], options["coordinates"]) == ("emh-mean", "quaternions")
    options = simulation.options(coordinates="directors")
    assert (options["scheme"], options["coordinates"]) == (None, "directors")
    with pytest.raises(ps.InputError, match="'eml' runs in quaternions, not in directors"):
        simulation.options(coordinates="directors", scheme="eml")


@pytest.mark.parametrize(
    "coordinates",
    ["directors", "quaternions", "rotations", "rotations-quaternion", "rotations-euler", None],
)
def test_files_keep_the_coordinates(coordinates):
    model = mechanisms.pair("Spherical", 1).model()
    model.simulation = ps.Simulation(coordinates=coordinates, step=0.01, t_end=0.02)
    again = ps.Model.from_yaml_text(model.to_yaml())
    assert again.simulation == model.simulation
    result = ps.simulate(again, **again.simulation.options(engine="reference"))
    assert result.scheme == ("emh-mean" if coordinates == "quaternions" else "ph-mp")


def test_coordinates_choose_the_scheme_and_must_not_contradict_it():
    model = mechanisms.pair("Spherical", 1).model()
    run = {"h": 0.01, "t_end": 0.01, "engine": "reference"}
    assert ps.simulate(model, coordinates="quaternions", **run).scheme == "emh-mean"
    assert ps.simulate(model, coordinates="directors", **run).scheme == "ph-mp"
    assert ps.simulate(model, coordinates="quaternions", scheme="mph", **run).scheme == "mph"
    with pytest.raises(ps.InputError, match="no coordinates 'quaternion'; did you mean 'quatern"):
        ps.simulate(model, coordinates="quaternion", **run)
    with pytest.raises(ps.InputError, match=r"'ph-mp' runs in directors.* such as 'emh-mean'"):
        ps.simulate(model, coordinates="quaternions", scheme="ph-mp", **run)
    with pytest.raises(ps.InputError, match=r"'eml' runs in quaternions.* such as 'ph-mp'"):
        ps.simulate(model, coordinates="directors", scheme="eml", **run)
    with pytest.raises(ps.InputError, match="system 'model' has its own; give a Model"):
        ps.simulate(model.compile(), coordinates="directors", **run)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheme": "ph-mpp"}, "no scheme 'ph-mpp'; did you mean 'ph-mp'"),
        ({"engine": "steam"}, "no engine 'steam'"),
        ({"coordinates": "euler"}, "no coordinates 'euler'"),
        ({"coordinates": 3}, "coordinates: expected one of directors, quaternions"),
        ({"coordinates": "quaternions", "scheme": "ph-mp"}, "'ph-mp' runs in directors, not in q"),
        ({"coordinates": "directors", "scheme": "emh"}, "'emh' runs in quaternions, not in dir"),
        ({"step": 0.0}, "the step is 0 s; it must be positive"),
        ({"step": float("nan")}, "step is nan"),
        ({"t_end": -1.0}, "t_end = -1 s is not after t_start = 0 s"),
        ({"save_every": 0}, "save_every is 0"),
    ],
)
def test_a_simulation_that_cannot_run_is_refused(options, message):
    with pytest.raises(ps.InputError, match=message):
        ps.Simulation(**options)


def test_what_a_run_lacks_is_named():
    with pytest.raises(ps.InputError, match=r"no step is given; .* simulation: {step: ...}"):
        ps.Simulation(t_end=1.0).options()
    with pytest.raises(ps.InputError, match="no t_end is given"):
        ps.Simulation().options(step=1.0)
    with pytest.raises(ps.InputError, match="a simulation has no option 'stepp'"):
        ps.Simulation().options(stepp=1.0)
