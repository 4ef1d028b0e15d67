"""Places by coordinates of joints, and Jacobians: differences of places, velocities of runs."""

import mechanisms
import numpy as np
import pytest
from arms import G, four_bar, two_link_arm
from hypothesis import given
from scipy.spatial.transform import Rotation
from strategies import seeds

import poinsot as ps

STEP = 1e-5


def differences(model, at, frame, relative_to="ground"):
    """The Jacobian by central differences of places, world axes."""
    here = model.configuration(at)
    r_a, R_a = (
        (np.zeros(3), np.eye(3))
        if relative_to == "ground"
        else (here.position(relative_to), here.rotation(relative_to))
    )

    def seen(values):
        there = model.configuration(values)
        r, R = there.position(frame), there.rotation(frame)
        if relative_to != "ground":
            origin, axes = there.position(relative_to), there.rotation(relative_to)
            r, R = r_a + R_a @ axes.T @ (r - origin), R_a @ axes.T @ R
        return r, R

    columns = []
    for name in at:
        (r0, R0), (r1, R1) = (seen({**at, name: at[name] + side * STEP}) for side in (-1, 1))
        turn = Rotation.from_matrix(R1 @ R0.T).as_rotvec()
        columns.append(np.concatenate([r1 - r0, turn]) / (2 * STEP))
    return np.array(columns).T


@given(seed=seeds)
@mechanisms.laws(4)
def test_jacobians_of_trees_are_differences_of_places(seed):
    kinds = ("Revolute", "Prismatic", "Cylindrical", "Planar", "Universal")
    plan = mechanisms.tree(seed, bodies=3, kinds=kinds)
    model, random = plan.model(), np.random.default_rng(seed)
    names = model.configuration().names
    at = dict(zip(names, random.uniform(-0.5, 0.5, len(names)), strict=True))
    first, *_, last = plan.bodies
    here = model.configuration(at)
    for frame, other in ((last, "ground"), (last, first)):
        J = here.jacobian(frame, relative_to=other)
        assert pytest.approx(differences(model, at, frame, other), abs=2e-8) == J


@pytest.mark.parametrize("name", ["hinge 0", "hinge 3"])
@pytest.mark.parametrize("relative_to", ["ground", "bar 0"])
def test_jacobians_of_a_loop_are_differences_of_places(name, relative_to):
    model, at = four_bar(), {name: 0.1}
    here = model.configuration(at)
    J = here.jacobian("coupler", relative_to=relative_to)
    assert pytest.approx(differences(model, at, "coupler", relative_to), abs=1e-8) == J
    turned = here.jacobian("coupler", relative_to=relative_to, axes="bar 2")
    R = here.rotation("bar 2")
    assert np.vstack([R @ turned[:3], R @ turned[3:]]) == pytest.approx(J)


def test_jacobians_make_velocities_of_runs_from_rates_of_joints():
    """In a run by GGL, whose velocities suit the joints at the ends of steps."""
    model = four_bar()
    model.add_port("push", ps.JointPort("hinge 0", value=4.0))
    run = ps.simulate(model, h=0.01, t_end=0.5, scheme="ph-mp-ggl")
    for k in (10, 50):
        angle, rate = (
            values["angle"][k]
            for values in (run.joint("hinge 0").coordinates, run.joint("hinge 0").rates)
        )
        here = model.configuration({"hinge 0": angle})
        J = here.jacobian("coupler")
        assert here.position("coupler") == pytest.approx(run.position("coupler")[k], abs=1e-10)
        assert J[:3, 0] * rate == pytest.approx(run.velocity("coupler")[k], abs=1e-9)
        assert J[3:, 0] * rate == pytest.approx(run.angular_velocity("coupler")[k], abs=1e-9)
        raised = sum(m * G * run.position(f"bar {j}")[k, 2] for j, m in enumerate((1.0, 2.0, 1.5)))
        kinetic = here.mass_matrix()[0, 0] * rate**2 / 2
        assert kinetic + raised == pytest.approx(run.energy[k], rel=1e-10)


def test_the_arm_has_the_jacobian_and_the_mass_matrix_of_the_textbook():
    here = two_link_arm().configuration({"shoulder": 0.3, "elbow": 7.0})
    a, b = 0.3, 7.3
    near, far = 0.8 * np.array((-np.sin(a), np.cos(a))), 0.6 * np.array((-np.sin(b), np.cos(b)))
    J = here.jacobian("tip")
    assert J[[0, 2]] == pytest.approx(np.column_stack([near + far, far]))
    assert J[3:] == pytest.approx(np.array([[0, 0], [-1, -1], [0, 0]]), abs=1e-14)
    assert here.coordinates("elbow")["angle"] == pytest.approx(7.0)
    I1, I2 = 3 * (0.8**2 + 0.05**2) / 12, 2 * (0.6**2 + 0.05**2) / 12
    M12 = I2 + 2 * (0.3**2 + 0.8 * 0.3 * np.cos(7.0))
    M11 = I1 + 3 * 0.4**2 + 2 * 0.8**2 + 2 * 0.8 * 0.3 * np.cos(7.0) * 2 / 2 + M12
    assert here.mass_matrix() == pytest.approx(np.array([[M11, M12], [M12, I2 + 2 * 0.3**2]]))


def test_jacobians_may_be_by_other_coordinates_than_those_given():
    here = four_bar().configuration({"hinge 0": 0.2}, coordinates=["hinge 3"])
    other = four_bar().configuration({"hinge 0": 0.2})
    ratio = here.jacobian("coupler")[0, 0] / other.jacobian("coupler")[0, 0]
    assert here.jacobian("coupler") == pytest.approx(other.jacobian("coupler") * ratio)
    assert here.position("coupler") == pytest.approx(other.position("coupler"))


def test_what_cannot_be_asked_for_is_refused_by_name():
    with pytest.raises(ps.InputError, match=r"4 coordinates are given.*of which 1 are independent"):
        four_bar().configuration()
    with pytest.raises(ps.InputError, match=r"no body or marker 'tips'.*'tip'"):
        two_link_arm().configuration().jacobian("tips")
    with pytest.raises(ps.InputError, match="no joint 'knee'"):
        two_link_arm().configuration({"knee": 1.0})
    with pytest.raises(ps.InputError, match="exceeds the range of a loop"):
        four_bar().configuration({"hinge 3": 2.5})
    ball = ps.Model()
    body = ball.add_body("ball", ps.Sphere(mass=1.0, radius=0.1))
    ball.add_joint("socket", ps.Spherical(ball.ground, body, point=(0, 0, 0)))
    with pytest.raises(ps.InputError, match="leave 3 degrees of freedom"):
        ball.configuration()
