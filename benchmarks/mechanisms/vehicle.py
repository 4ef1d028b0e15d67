"""A vehicle on a test rig: chassis, four double wishbones, springs, dampers and spinning wheels.

A corner has a lower and an upper arm on hinges, an upright between their balls, a massless tie rod
against steering, and a wheel. A spring-damper stands between lower arm and chassis, bushings in the
hinges of the arms are torsion springs, and three springs to the ground stand for the tyre. The
vehicle drops onto its springs, turning a little, with its wheels at 30 rad/s.
"""

from dataclasses import replace

import numpy as np

from benchmarks.mechanism import (
    GROUND,
    Array,
    Body,
    Joint,
    Mechanism,
    Spring,
    TorsionSpring,
    box_inertia,
    frame_along,
    spun,
)

DROP = np.array([0.3, 0.2, -1.0])  # m/s
TURN = np.array([0.2, 0.1, 0.3])  # rad/s, about the origin
WHEEL_SPEED = 30.0  # rad/s
WEIGHT = 1200 * 9.81 / 4  # N, the chassis on one corner
X, Y, Z = np.eye(3)


def vehicle() -> Mechanism:
    """Return the vehicle: 17 bodies, 14 degrees of freedom."""
    mass = 1200.0
    bodies = [Body("chassis", mass, box_inertia(mass, (3.5, 1.2, 0.6)), np.array([0, 0, 0.55]))]
    joints: list[Joint] = []
    springs: list[Spring] = []
    bushings: list[TorsionSpring] = []
    for name, front, left in (("fl", 1, 1), ("fr", 1, -1), ("rl", -1, 1), ("rr", -1, -1)):
        corner = _corner(name, 1.3 * front, left)
        bodies += corner[0]
        joints += corner[1]
        springs += corner[2]
        bushings += corner[3]
    moving = [
        replace(
            body,
            velocity=body.velocity + DROP,
            angular_velocity=body.angular_velocity
            + WHEEL_SPEED * Y * body.name.startswith("wheel"),
        )
        for body in spun(bodies, TURN)
    ]
    return Mechanism("vehicle", tuple(moving), tuple(joints), tuple(springs), tuple(bushings))


def _corner(
    name: str, x: float, left: int
) -> tuple[list[Body], list[Joint], list[Spring], list[TorsionSpring]]:
    """Return one corner at x [m], on the left (1) or right (-1)."""

    def at(y: float, z: float, dx: float = 0.0) -> Array:
        return np.array([x + dx, left * y, z])

    lower, upper, upright, wheel = (
        f"{part}_{name}" for part in ("lower", "upper", "upright", "wheel")
    )
    hub, low, high = at(0.75, 0.3), (at(0.35, 0.2), at(0.7, 0.2)), (at(0.4, 0.45), at(0.68, 0.45))
    bodies = [
        _arm(lower, 5.0, *low),
        _arm(upper, 3.0, *high),
        Body(upright, 10.0, (0.1, 0.1, 0.05), at(0.7, 0.32)),
        Body(wheel, 20.0, (0.6, 1.0, 0.6), hub),
    ]
    joints = [
        Joint(f"hinge_{lower}", "revolute", "chassis", lower, low[0], axis=X),
        Joint(f"hinge_{upper}", "revolute", "chassis", upper, high[0], axis=X),
        Joint(f"ball_{lower}", "spherical", lower, upright, low[1]),
        Joint(f"axle_{name}", "revolute", upright, wheel, hub, axis=Y),
        Joint(f"ball_{upper}", "spherical", upper, upright, high[1]),
        Joint(
            name=f"tie_{name}",
            kind="rod",
            a="chassis",
            b=upright,
            point=at(0.37, 0.25, -0.12),
            point_b=at(0.7, 0.25, -0.12),
        ),
    ]
    foot, head = at(0.55, 0.2), at(0.45, 0.65)
    strut = Spring(
        name=f"strut_{name}",
        a="chassis",
        b=lower,
        point_a=head,
        point_b=foot,
        stiffness=4e4,
        damping=2500.0,
        rest_length=float(np.linalg.norm(head - foot)) + 1.75 * WEIGHT / 4e4,
    )
    tyre = [
        Spring(
            name=f"tyre_{axis}_{name}",
            a=GROUND,
            b=wheel,
            point_a=hub + away,
            point_b=hub,
            stiffness=stiffness,
            damping=500.0,
            rest_length=1.0 + load / stiffness,
        )
        for axis, away, stiffness, load in (
            ("x", X, 1e5, 0.0),
            ("y", left * Y, 1e5, 0.0),
            ("z", -Z, 2e5, WEIGHT + 38 * 9.81),
        )
    ]
    bushings = [
        TorsionSpring(f"bushing_{arm}", f"hinge_{arm}", stiffness=300.0, damping=3.0)
        for arm in (lower, upper)
    ]
    return bodies, joints, [strut, *tyre], bushings


def _arm(name: str, mass: float, inner: Array, outer: Array) -> Body:
    """Return a wishbone as a bar between its hinge and its ball."""
    size = (float(np.linalg.norm(outer - inner)), 0.3, 0.04)
    return Body(
        name=name,
        mass=mass,
        inertia=box_inertia(mass, size),
        position=(inner + outer) / 2,
        rotation=frame_along(outer - inner),
    )
