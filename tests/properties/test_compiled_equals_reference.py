"""The compiled engine computes what the reference engine computes, to round-off."""

from dataclasses import replace

import mechanisms
import numpy as np
import pytest
from engines import add_hinge, assert_same, both, finished
from in_turn import in_turn
from mechanisms import COORDINATES, KINDS, SCHEMES

import poinsot as ps

SEEDS = range(8)


def size(seed):
    """How many bodies and loops, grounded or not."""
    random = np.random.default_rng(seed)
    return {
        "bodies": int(random.integers(1, 5)),
        "loops": int(random.integers(0, 3)),
        "ground": bool(random.integers(2)),
    }


# -- random mechanisms ------------------------------------------------------------------------


@pytest.mark.parametrize(("seed", "scheme"), in_turn(SEEDS, SCHEMES))
def test_a_random_mechanism_with_everything_moves_alike(seed, scheme):
    h = (0.002, 0.01, 0.03)[seed % 3]
    model = finished(mechanisms.full(seed, **size(seed)))
    assert_same(*both(model, scheme=scheme, h=h, t_end=5 * h))


@pytest.mark.parametrize(("seed", "scheme"), in_turn(SEEDS, reversed(SCHEMES)))
def test_a_random_mechanism_of_joints_alone_moves_alike(seed, scheme):
    h = (0.002, 0.01, 0.03)[seed % 3]
    model = finished(mechanisms.tree(100 + seed, **size(seed)), add_hinge)
    assert_same(*both(model, scheme=scheme, h=h, t_end=6 * h))


# -- joints -----------------------------------------------------------------------------------


def joined(kind):
    """Two bodies joined, and a third joined to the ground as second body; all freedoms used."""
    free = mechanisms.pair(kind, 3, gravity=True)
    held = mechanisms.pair(kind, 4, ground=True)
    (_, at), body = held.joints["J"], held.bodies["body1"]
    turned = (kind, {**at, "a": "body2", "b": "ground"})
    joints = {**free.joints, "K": turned}
    forces, ports = {}, {}
    for name in joints:
        for freedom in COORDINATES[kind]:
            at = {"joint": name, "freedom": freedom}
            spring = {"stiffness": 3.0, "rest": 0.2, "damping": 0.4}
            forces[f"{name} spring {freedom}"] = ("JointSpring", {**at, **spring})
            ports[f"{name} motor {freedom}"] = ("JointPort", {**at, "value": np.cos})
    bodies = {**free.bodies, "body2": body}
    return replace(free, bodies=bodies, joints=joints, forces=forces, ports=ports)


@pytest.mark.parametrize(("kind", "scheme"), in_turn(KINDS, SCHEMES))
def test_every_joint_moves_alike(kind, scheme):
    assert_same(*both(finished(joined(kind)), scheme=scheme, h=0.02, t_end=0.08))


# -- bodies -----------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
def test_free_bodies_move_alike(scheme):
    model = ps.Model(gravity=(1, -2, -9.81))
    for i, shape in enumerate([ps.Box(mass=2, size=(1, 2, 3)), ps.Sphere(mass=0.3, radius=0.5)]):
        model.add_body(f"body{i}", shape, velocity=(i, 1, 2), angular_velocity=(3, 1 - i, 0.2))
    add_hinge(model)
    assert_same(*both(model, scheme=scheme, h=0.01, t_end=0.4))


@pytest.mark.parametrize("thin", [0, 1, 2])
def test_a_flat_plate_moves_alike_whichever_way_it_lies(thin):
    """One Euler value is zero: that director has no mass, and the others carry it along."""
    inertia = np.roll([3.0, 1.0, 2.0], thin)
    model = ps.Model(gravity=(0, 0, -9.81))
    plate = model.add_body(
        "plate",
        ps.RigidBody(mass=2, inertia=inertia),
        velocity=(1, 0, 0),
        angular_velocity=(1, 2, 3),
    )
    assert plate.inertia.count(0.0) == 1
    other = model.add_body("other", ps.RigidBody(mass=1, inertia=inertia), position=(1, 1, 0))
    model.add_joint("pin", ps.Spherical(plate, other, point=(0.5, 0.5, 0)))
    add_hinge(model)
    assert_same(*both(model, h=0.01, t_end=0.3))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_thin_rods_move_alike(scheme):
    model = ps.Model(gravity=(0, 0, -9.81))
    last, x = model.ground, 0.0
    for i in range(3):
        rod = model.add_body(
            f"rod{i}",
            ps.ThinRod(mass=0.7, length=1.2),
            position=(x + 0.6, 0, 0),
            rotation=ps.Rotation.from_axis_angle((0, 1, 0), np.pi / 2),
        )
        model.add_joint(f"hinge{i}", ps.Revolute(last, rod, point=(x, 0, 0), axis=(0, 1, 0)))
        last, x = rod, x + 1.2
    assert_same(*both(model, scheme=scheme, h=0.01, t_end=0.3))


# -- many bodies ------------------------------------------------------------------------------


def bar(model, name, where):
    return model.add_body(name, ps.Box(mass=1, size=(0.8, 0.1, 0.1)), position=where)


def star(count):
    """A hub with many arms on hinges and ball joints."""
    model = ps.Model(gravity=(0, 0, -9.81))
    hub = model.add_body(
        "hub", ps.Sphere(mass=5, radius=0.5), position=(0, 0, 0), angular_velocity=(0, 0, 1)
    )
    for i in range(count):
        out = np.array([np.cos(i), np.sin(i), 0.1 * (i % 3)])
        arm = bar(model, f"arm{i}", out)
        kind = ps.Spherical(hub, arm, point=0.5 * out)
        if i % 2:
            kind = ps.Revolute(hub, arm, point=0.5 * out, axis=np.cross(out, (0, 0, 1)))
        model.add_joint(f"joint{i}", kind)
    return model


def tree(count):
    """Every body carries two others."""
    model = ps.Model(gravity=(0, 0, -9.81))
    bodies, places = [model.ground], [np.zeros(3)]
    for i in range(1, count + 1):
        parent = i // 2
        where = places[parent] + [1, 1.0 if i % 2 else -1.0, 0.3 * (i % 5)]
        body, point = bar(model, f"bar{i}", where), (where + places[parent]) / 2
        if i % 3:
            joint = ps.Universal(bodies[parent], body, point, axis_a=(1, 0, 0), axis_b=(0, 1, 0))
        else:
            joint = ps.Cylindrical(bodies[parent], body, point, axis=(0, 1, 1))
        model.add_joint(f"joint{i}", joint)
        bodies.append(body)
        places.append(where)
    return model


def chain(count):
    model = ps.Model(gravity=(0, 0, -9.81))
    last = model.ground
    for i in range(count):
        link = bar(model, f"link{i}", (i + 0.5, 0, 0))
        joint = ps.Revolute(last, link, point=(i, 0, 0), axis=(0, 1, 0.3 * (i % 3)))
        model.add_joint(f"hinge{i}", joint)
        last = link
    return model


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("mechanism", [star(16), tree(24)], ids=["star of 16", "tree of 24"])
def test_many_bodies_move_alike(mechanism, scheme):
    assert_same(*both(mechanism, scheme=scheme, h=0.01, t_end=0.03))


def test_a_chain_of_two_hundred_moves_alike():
    assert_same(*both(chain(200), h=0.01, t_end=0.01))
