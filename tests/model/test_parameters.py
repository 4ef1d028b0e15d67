"""Parameters of a model by the paths of its file."""

import mechanisms
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_model_files import writable

import poinsot as ps
from poinsot.gallery import spatial_slider_crank as crank
from poinsot.io.paths import known
from poinsot.io.reading import read_content
from poinsot.model.describe import describe
from poinsot.model.parameters import Parameters


def slider_crank(**changed):
    return crank.model(crank.SliderCrank(**changed))


def pendulum(length=1.0):
    model = ps.Model(gravity=(0, 0, -9.81), name="pendulum")
    tip = (0, length, 0)
    bob = model.add_body("bob", ps.Sphere(mass=2.0, radius=0.1), position=tip)
    model.add_joint("hinge", ps.Revolute(model.ground, bob, point=(0, 0, 0), axis=(1, 0, 0)))
    model.add_force("spring", ps.JointSpring("hinge", stiffness=3.0))
    model.add_port("motor", ps.JointPort("hinge"))
    return model


@given(st.integers(0, 2**32 - 1))
@mechanisms.laws(20)
def test_a_model_with_its_own_values_is_itself_bit_by_bit(seed):
    model = writable(seed).model()
    document = read_content(describe(model, None), name="model").document
    parameters = Parameters.of(model, known(document))
    stand = {path: each.place.value for path, each in parameters.items.items()}
    values = {path: value for path, value in stand.items() if value is not None}
    assert len(values) > 3 * len(model.bodies)
    assert parameters.model(values).to_yaml() == model.to_yaml()


@pytest.mark.parametrize(
    ("path", "value", "changed"),
    [
        ("bodies.rod.mass", 0.7, {"rod_mass": 0.7}),
        ("bodies.rod.rigid_body.mass", 0.7, {"rod_mass": 0.7}),
        ("bodies.rod.inertia", (1e-3, 3e-3, 2e-3), {"rod_inertia": (1e-3, 3e-3, 2e-3)}),
        ("bodies.rod.inertia.0", 5e-4, {"rod_inertia": (5e-4, 4e-3, 4e-3)}),
        ("gravity.z", -1.6, {"gravity": 1.6}),
        ("bodies.crank.angular_velocity", (3, 0, 0), {"crank_speed": 3.0}),
        ("initial.crank.angular_velocity.x", 3, {"crank_speed": 3.0}),
    ],
)
def test_a_value_by_its_path_is_that_of_the_model_that_has_it(path, value, changed):
    made = Parameters.of(slider_crank(), [path]).model({path: value})
    assert made.to_yaml() == slider_crank(**changed).to_yaml()


def test_a_point_of_a_joint_a_stiffness_and_an_input():
    paths = ["joints.hinge.point.z", "forces.spring.stiffness", "inputs.motor", "options.step"]
    parameters = Parameters.of(pendulum(), paths)
    given = {"joints.hinge.point.z": 0.25, "forces.spring.stiffness": 5.0, "inputs.motor": 0.5}
    made = parameters.model({**given, "options.step": 1e-3})
    assert made.joints["hinge"].point.tolist() == [0, 0, 0.25]
    assert made.forces["spring"].stiffness == 5.0
    assert made.ports["motor"].value == 0.5
    assert made.simulation.step == 1e-3
    assert parameters.values["inputs.motor"] is None


def test_a_mass_replaces_a_density():
    model = ps.Model()
    model.add_body("ball", ps.Sphere(density=1000.0, radius=0.1))
    parameters = Parameters.of(model, ["bodies.ball.mass"])
    assert parameters.values["bodies.ball.mass"] == pytest.approx(1000 * 4 / 3 * np.pi * 1e-3)
    assert parameters.model({"bodies.ball.mass": 2.0}).body("ball").mass == 2.0


def test_a_coordinate_at_the_start_moves_the_mechanism():
    parameters = Parameters.of(pendulum(), ["initial.hinge"])
    made = parameters.model({"initial.hinge": 0.3})
    assert np.allclose(made.start_places()["bob"][0], (0, np.cos(0.3), np.sin(0.3)), atol=1e-12)


def test_a_start_is_made_consistent():
    """Places are closed by the joints, and velocities projected onto them."""
    paths = ["initial.bob.position", "initial.bob.velocity"]
    parameters = Parameters.of(pendulum(), paths)
    made = parameters.model({"initial.bob.position": (0, 0.8, 0.7)})
    assert np.linalg.norm(made.start_places()["bob"][0]) == pytest.approx(1.0, abs=1e-12)
    made = parameters.model({"initial.bob.velocity": (0, 0.3, 0.4)})
    assert made.start_velocities()["bob"][0][1] == pytest.approx(0.0, abs=1e-14)
    assert made.start_velocities()["bob"][0][2] == pytest.approx(0.4, abs=1e-14)


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        (["bodies.rod.mas"], "no parameter 'bodies.rod.mas'; did you mean 'bodies.rod.mass'?"),
        (["joints.A.point.w"], "did you mean 'joints.A.point'"),
        (["joints.A.bodies"], "no parameter 'joints.A.bodies'"),
        (["initial.crank.angular_velocit"], "did you mean 'initial.crank.angular_velocity'"),
        (["inputs.motor"], "known: none"),
        (["gravity", "gravity.z"], "'gravity.z' and 'gravity' are the same"),
        ([3], "expected a path"),
    ],
)
def test_an_unknown_path_is_refused_with_the_nearest(paths, said):
    with pytest.raises(ps.InputError, match=r".") as error:
        Parameters.of(slider_crank(), paths)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (-1.0, "bodies.rod: RigidBody: mass is -1 kg; it must be positive"),
        ((1, 2), "'bodies.rod.mass' needs the shape (), but its value has (2,)"),
        (np.nan, "expected finite numbers"),
        ("heavy", "expected numbers"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(value, said):
    parameters = Parameters.of(slider_crank(), ["bodies.rod.mass"])
    with pytest.raises(ps.InputError) as error:
        parameters.model({"bodies.rod.mass": value})
    assert said in str(error.value)
    with pytest.raises(ps.InputError, match="no parameter 'gravity'"):
        parameters.model({"gravity": (0, 0, 0)})
