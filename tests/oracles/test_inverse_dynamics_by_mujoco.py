"""Torques of a spatial arm, compared with those of MuJoCo's inverse dynamics."""

import mujoco
import numpy as np
import pytest

import poinsot as ps

#: Kind of joint, axis, place of the joint, place of the body, mass, moments about its axes.
LINKS = [
    ("hinge", (0, 0, 1), (0, 0, 0), (0.1, 0.0, 0.3), 4.0, (0.1, 0.12, 0.05)),
    ("hinge", (0.0, 1.0, 0.0), (0.1, 0.05, 0.5), (0.4, 0.1, 0.6), 2.5, (0.02, 0.09, 0.1)),
    ("slide", (1.0, 0.5, 0.2), (0.7, 0.1, 0.7), (0.9, 0.2, 0.7), 1.5, (0.01, 0.02, 0.025)),
    ("hinge", (0.3, -0.4, 1.0), (1.0, 0.2, 0.8), (1.1, 0.1, 1.0), 0.8, (0.004, 0.005, 0.006)),
]
AMPLITUDES, PACES = (1.1, 0.7, 0.2, 2.0), (1.3, 2.1, 1.7, 3.1)


def by_mujoco(q, rate, acceleration):
    text, origin = "", np.zeros(3)
    for kind, axis, point, place, mass, inertia in LINKS:
        at, arm = np.subtract(point, origin), np.subtract(place, point)
        numbers = [" ".join(map(repr, map(float, v))) for v in (at, arm, axis, inertia)]
        text += (
            f'<body pos="{numbers[0]}"><inertial pos="{numbers[1]}" mass="{mass}" '
            f'diaginertia="{numbers[3]}"/><joint type="{kind}" axis="{numbers[2]}"/>'
        )
        origin = np.array(point)
    text += "</body>" * len(LINKS)
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option gravity="0 0 -9.81"/><worldbody>{text}</worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qacc[:] = q, rate, acceleration
    mujoco.mj_inverse(model, data)
    return data.qfrc_inverse.copy()


def test_forces_of_a_spatial_arm_are_those_of_mujoco():
    model = ps.Model(gravity=(0, 0, -9.81))
    parent = model.ground
    for k, (kind, axis, point, place, mass, inertia) in enumerate(LINKS):
        shape = ps.RigidBody(mass=mass, inertia=inertia)
        body = model.add_body(f"link {k}", shape, position=place)
        joint = ps.Revolute if kind == "hinge" else ps.Prismatic
        model.add_joint(f"joint {k}", joint(parent, body, point=point, axis=axis))
        parent = body
    motion = {
        f"joint {k}": f"{a!r}*sin({w!r}*t)"
        for k, (a, w) in enumerate(zip(AMPLITUDES, PACES, strict=True))
    }
    times = np.linspace(0.1, 2.0, 5)
    found = model.inverse_dynamics(motion, times=times)
    a, w = np.array(AMPLITUDES), np.array(PACES)
    for k, t in enumerate(times):
        sine, cosine = np.sin(w * t), np.cos(w * t)
        expected = by_mujoco(a * sine, a * w * cosine, -a * w**2 * sine)
        forces = [found.force(f"joint {j}")[k] for j in range(4)]
        assert forces == pytest.approx(expected, rel=1e-10, abs=1e-9)
