"""Random mechanisms as data: a `Case` is a few plain numbers, and says all about one.

A case that failed is kept by copying what Hypothesis prints of it to `kept.py`.
"""

from dataclasses import dataclass, replace
from itertools import compress, pairwise

import mechanisms
import numpy as np
from hypothesis import strategies as st
from units import Units, scaled

import poinsot as ps

#: What may act on a mechanism, each of it or not.
ACTING = ("gravity", "springs", "resistances", "attraction", "field", "ports")
#: Those of them that reach out to the ground or to a medium at rest.
OUTSIDE = ("springs", "resistances", "attraction", "field")


@dataclass(frozen=True)
class Case:
    """A random mechanism, the unit that it is measured in, and the step."""

    seed: int
    form: str = "tree"
    bodies: int = 2
    loops: int = 0
    ground: bool = True
    doubled: int = 0
    bulk: str = "solid"
    points: bool = False
    contact: str = ""
    acting: tuple[str, ...] = ()
    ratio: int = 0
    length: int = 0
    mass: int = 0
    time: int = 0
    step: float = 0.01

    @property
    def units(self):
        return Units(10.0**self.length, 10.0**self.mass, 10.0**self.time)

    @property
    def h(self):
        """The step [s]."""
        return self.step * self.units.time

    @property
    def weights(self):
        """Masses of bodies relative to what they were: two of them are the extremes."""
        names = list(_whole(self).bodies)
        powers = np.random.default_rng(self.seed + 5).uniform(-self.ratio, 0, len(names))
        powers[[0, -1]] = (-self.ratio, 0) if self.seed % 2 else (0, -self.ratio)
        return dict(zip(names, 10.0**powers, strict=True)) if self.ratio else {}

    def plan(self):
        """Return the mechanism."""
        return scaled(_whole(self), self.units, self.weights)

    def at_ease(self):
        """Return the same, to be left alone for long: nothing falls for ever, or into a centre.

        Laws that are functions of Python would take most of the time.
        """
        holds = self.ground and not self.contact
        kept = ("gravity", "resistances") if holds else ("resistances",)
        return replace(self, acting=tuple(part for part in self.acting if part in kept))

    def in_si(self):
        """Return the same mechanism, about a metre and a kilogram, and a second long."""
        return replace(self, length=0, mass=0, time=0)


def cases(ranges):
    """Draw cases of these ranges."""

    def powers(limits):
        # Often the usual unit: what differs from it is then seen alone, and shrinks to it.
        return st.just(0) | st.integers(*limits) if limits != (0, 0) else st.just(0)

    return st.builds(
        Case,
        seed=st.integers(0, 10**6),
        form=st.sampled_from(ranges.forms),
        bodies=st.integers(*ranges.bodies),
        loops=st.integers(*ranges.loops),
        ground=st.booleans(),
        doubled=st.integers(*ranges.doubled),
        bulk=st.sampled_from(ranges.bulks),
        points=st.booleans(),
        contact=st.sampled_from(ranges.contacts),
        acting=st.tuples(*[st.booleans()] * len(ACTING)).map(
            lambda chosen: tuple(compress(ACTING, chosen))
        ),
        ratio=powers(ranges.ratio),
        length=powers(ranges.length),
        mass=powers(ranges.mass),
        time=powers(ranges.time),
        step=st.sampled_from(ranges.steps),
    )


def _whole(case):
    """Return the mechanism in metres, kilograms and seconds, with equal masses."""
    random = np.random.default_rng(case.seed)
    gravity = "gravity" in case.acting
    # What rolls is on the ground by that, and would hardly move if it were held there besides.
    ground = case.ground and not case.contact
    if case.form == "tree":
        count = {"bodies": case.bodies, "loops": case.loops}
        plan = mechanisms.tree(case.seed, ground=ground, gravity=gravity, **count)
    else:
        plan = (polygon if case.form == "polygon" else shaft)(random, ground, gravity)
    plan = reshaped(plan, case.bulk, random)
    # These attach to any point of a body; point masses, which have one only, come later.
    if "springs" in case.acting:
        plan = mechanisms.springs(plan, case.seed + 2)
    if "resistances" in case.acting:
        plan = mechanisms.resistances(plan, case.seed + 3)
    if "field" in case.acting:
        plan = in_field(plan, random)
    if "ports" in case.acting:
        plan = mechanisms.ports(plan, case.seed + 4)
    if case.contact:
        plan = in_contact(plan, case.contact, random)
    plan = doubled(plan, case.doubled, random)
    if case.points:
        plan = mechanisms.with_points(plan, case.seed + 1, ground=case.ground)
    if "attraction" in case.acting:
        plan = attracted(plan, random)
    return plan


def bars(random, corners, speed=0.7):
    """Bodies along a closed line."""
    ends = list(zip(corners, np.roll(corners, -1, axis=0), strict=True))
    return {
        f"bar{i}": {
            "shape": mechanisms.shape(random),
            "position": (a + b) / 2 + 0.1 * random.standard_normal(3),
            "rotation": mechanisms.rotation(random),
            "velocity": speed * random.standard_normal(3),
            "angular_velocity": speed * random.standard_normal(3),
        }
        for i, (a, b) in enumerate(ends)
    }


def polygon(random, ground, gravity, count=None):
    """Four or five bodies in a ring of parallel hinges, which lock three directions twice."""
    count = count or int(random.integers(4, 6))
    angles = np.sort(2 * np.pi * (np.arange(count) + random.uniform(-0.3, 0.3, count)) / count)
    flat = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(count)])
    R = mechanisms.rotation(random)
    corners = flat * random.uniform(0.8, 1.4, (count, 1)) @ R.T
    bodies = bars(random, corners)
    names = list(bodies)
    if ground:
        del bodies[names[-1]]
        names[-1] = "ground"
    joints = {
        f"hinge{i}": ("Revolute", {"a": a, "b": b, "point": corner, "axis": R[:, 2]})
        for i, (a, b, corner) in enumerate(
            zip(np.roll(names, 1).tolist(), names, corners, strict=True)
        )
    }
    return mechanisms.Plan(_weight(random, gravity), bodies, joints)


def shaft(random, ground, gravity):
    """Two bodies, or three in a row, held together several times along one axis."""
    bodies = bars(random, random.standard_normal((3, 3)))
    names = list(bodies)
    if ground:
        del bodies[names[0]]
        names[0] = "ground"
    n, where = mechanisms.unit(random), random.standard_normal(3)
    holds = [
        [("Cylindrical", "axis"), ("Planar", "normal"), ("Planar", "normal")],
        [("Revolute", "axis"), ("Revolute", "axis")],
        [("Cylindrical", "axis"), ("Cylindrical", "axis"), ("PointOnPlane", "normal")],
        [("Prismatic", "axis"), ("Cylindrical", "axis")],
        [("Planar", "normal"), ("PointOnLine", "axis"), ("PointOnLine", "axis")],
    ]
    joints = {}
    for a, b in pairwise(names):
        for k, (kind, direction) in enumerate(holds[random.integers(len(holds))]):
            # Along the shaft, or a plane across it: all of them allow its rotation.
            at = where + random.uniform(-1, 1) * n
            joints[f"{kind} {a} {b} {k}"] = (kind, {"a": a, "b": b, "point": at, direction: n})
    return mechanisms.Plan(_weight(random, gravity), bodies, joints)


def _weight(random, gravity):
    return 9.0 * mechanisms.unit(random) if gravity else np.zeros(3)


def in_contact(plan, kind, random):
    """Let the last body roll, or slide on an edge."""
    name = list(plan.bodies)[-1]
    N, centre = mechanisms.unit(random), plan.bodies[name]["position"]
    centre = centre + 0.1 * random.standard_normal(3)
    ends = {"a": "ground", "b": name}
    if kind == "KnifeEdge":
        at = {"point": centre, "along": mechanisms.unit(random), "normal": N}
    else:
        axis, height = mechanisms.unit(random), 0.4
        at = {"radius": 0.4, "centre": centre, "normal": N}
        if kind == "RollingDisc":
            axis = np.cross(N, axis) + 0.4 * random.uniform(-1, 1) * N
            axis /= np.linalg.norm(axis)
            at["axis"], height = axis, 0.4 * np.sqrt(1 - (N @ axis) ** 2)
        at["point"] = centre - height * N
    return replace(plan, joints={**plan.joints, "contact": (kind, {**ends, **at})})


def doubled(plan, count, random):
    """Add some joints once more; contacts are told apart by what they forbid, and are not."""
    holding = [name for name, (kind, _) in plan.joints.items() if kind in mechanisms.KINDS]
    chosen = random.choice(holding, min(count, len(holding)), replace=False) if holding else ()
    again = {f"{name} again": plan.joints[name] for name in chosen}
    return replace(plan, joints={**plan.joints, **again})


def reshaped(plan, bulk, random):
    """Make some bodies flat or slender."""
    if bulk == "solid":
        return plan
    bodies = dict(plan.bodies)
    names = [name for name in bodies if random.integers(2)] or [next(iter(bodies))]
    for name in names:
        mass, (a, b) = bodies[name]["shape"].mass, random.uniform(0.4, 1.2, 2)
        flat = [
            ps.Cylinder(mass=mass, radius=a / 2, length=0.0),
            ps.Box(mass=mass, size=(a, 0.0, b)),
            ps.RigidBody(mass=mass, inertia=mass * np.array([a * a, b * b, a * a + b * b])),
        ]
        slender = [ps.ThinRod(mass=mass, length=a), ps.Box(mass=mass, size=(a, 0.0, 0.0))]
        shapes = flat if bulk == "flat" else slender
        bodies[name] = {**bodies[name], "shape": shapes[random.integers(len(shapes))]}
    return replace(plan, bodies=bodies)


def attracted(plan, random):
    """Pull a body to a point, and two bodies to each other."""
    first, *_, last = (*plan.bodies, *plan.bodies)
    centre = plan.bodies[first]["position"] + 2 * mechanisms.unit(random)
    sun = {"a": "ground", "b": first, "centre": centre, "strength": 3.0}
    forces = {**plan.forces, "sun": ("Gravitation", sun)}
    if first != last:
        forces["moon"] = ("Gravitation", {"a": first, "b": last, "strength": 0.5})
    return replace(plan, forces=forces)


def in_field(plan, random):
    """Put a point and a direction of a body in a field."""
    name = next(iter(plan.bodies))
    at, along = random.standard_normal(3), mechanisms.unit(random)
    field = {
        "potential": lambda p, d: float(np.sum((p - at) ** 4)) / 4 + float(d[0] @ p[0]) / 2,
        "gradient": lambda p, d: ((p - at) ** 3 + d / 2, p / 2),
        "points": [(name, plan.bodies[name]["position"] + 0.3 * along)],
        "directions": [(name, along)],
    }
    return replace(plan, forces={**plan.forces, "field": ("Field", field)})
