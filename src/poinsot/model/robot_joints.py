"""From the steps of a robot's joint (hinges and slides in sequence) to joints of a model.

Steps that together form one joint of the table become that joint: two slides and a hinge across
them are a planar joint, two perpendicular hinges through one point a universal joint.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from poinsot.parts.joint import Joint
from poinsot.parts.joints import (
    Cartesian,
    Cylindrical,
    Planar,
    PointOnPlane,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from poinsot.robots.description import Array, Step

#: Cosine or relative distance that counts as none.
NONE = 1e-10
#: Free directions of joints that have several, in their order.
ORDER = (
    *("angle a", "angle b"),
    *("displacement 1", "displacement 2"),
    *("displacement x", "displacement y", "displacement z"),
    *("angle", "displacement"),
)
#: Makes a joint between two bodies.
Make: TypeAlias = Callable[[Any, Any], Joint]


@dataclass(frozen=True, eq=False)
class Segment:
    """Steps that are one joint; what keeps it in its plane, if two slides alone are all.

    `freedoms` are the names of free directions, step by step; None: the only one, or none.
    """

    steps: tuple[Step, ...]
    joints: tuple[Make, ...]
    freedoms: tuple[str | None, ...]

    @property
    def name(self) -> str:
        """The names of its steps, in the order of the free directions of the joint."""
        places = [0 if label is None else ORDER.index(label) for label in self.freedoms]
        order = sorted(range(len(self.steps)), key=lambda k: places[k])
        return "+".join(self.steps[k].name for k in order)


def segments(steps: Sequence[Step]) -> list[Segment]:
    """Return the joints that steps are, each as many of them as it can be."""
    found, rest = list[Segment](), tuple(steps)
    while rest:
        segment = next(s for rule in RULES for s in (rule(rest),) if s is not None)
        found.append(segment)
        rest = rest[len(segment.steps) :]
    return found


def _across(*axes: Array) -> bool:
    """Return whether axes are perpendicular to each other."""
    return all(abs(a @ b) < NONE for k, a in enumerate(axes) for b in axes[:k])


def _kinds(steps: Sequence[Step]) -> tuple[str, ...]:
    return tuple(step.kind for step in steps)


def _stage(rest: Sequence[Step]) -> Segment | None:
    """Three slides along perpendicular axes."""
    steps = tuple(rest[:3])
    if _kinds(steps) != ("slide",) * 3 or not _across(*(step.axis for step in steps)):
        return None
    x, y, z = (step.axis for step in steps)
    labels = ["displacement x", "displacement y", "displacement z"]
    if np.cross(x, y) @ z < 0:
        x, y = y, x
        labels[:2] = labels[1], labels[0]
    point = steps[-1].point
    make = partial(Cartesian, point=point, x=x, y=y)
    return Segment(steps, (make,), tuple(labels))


def _plate(rest: Sequence[Step]) -> Segment | None:
    """Two slides and a hinge across both."""
    steps = tuple(rest[:3])
    if _kinds(steps) != ("slide", "slide", "hinge") or not _across(*(s.axis for s in steps)):
        return None
    x, y, normal = (step.axis for step in steps)
    labels = ["displacement 1", "displacement 2", "angle"]
    if np.cross(normal, x) @ y < 0:
        x = y
        labels[:2] = labels[1], labels[0]
    point = steps[2].point
    make = partial(Planar, point=point, normal=normal, x=x)
    return Segment(steps, (make,), tuple(labels))


def _table(rest: Sequence[Step]) -> Segment | None:
    """Two slides at right angles: a stage whose third slide is locked."""
    steps = tuple(rest[:2])
    if _kinds(steps) != ("slide", "slide") or not _across(*(step.axis for step in steps)):
        return None
    (x, y), point = (step.axis for step in steps), steps[-1].point
    stage = partial(Cartesian, point=point, x=x, y=y)
    lock = partial(PointOnPlane, point=point, normal=np.cross(x, y))
    return Segment(steps, (stage, lock), ("displacement x", "displacement y"))


def _shaft(rest: Sequence[Step]) -> Segment | None:
    """A slide and a hinge along one axis."""
    steps = tuple(rest[:2])
    if set(_kinds(steps)) != {"slide", "hinge"} or steps[0].axis @ steps[1].axis < 1 - NONE:
        return None
    hinge = next(step for step in steps if step.turns)
    make = partial(Cylindrical, point=hinge.point, axis=hinge.axis)
    labels = tuple("angle" if step.turns else "displacement" for step in steps)
    return Segment(steps, (make,), labels)


def _cross(rest: Sequence[Step]) -> Segment | None:
    """Two hinges at right angles through one point."""
    steps = tuple(rest[:2])
    if _kinds(steps) != ("hinge", "hinge") or not _across(*(step.axis for step in steps)):
        return None
    first, second = steps
    point = meeting_point(steps)
    if point is None:
        return None
    make = partial(Universal, point=point, axis_a=first.axis, axis_b=second.axis)
    return Segment(steps, (make,), ("angle a", "angle b"))


def _single(rest: Sequence[Step]) -> Segment:
    """One step."""
    step = rest[0]
    make: Make
    if step.kind == "hinge":
        make = partial(Revolute, point=step.point, axis=step.axis)
    elif step.kind == "slide":
        make = partial(Prismatic, point=step.point, axis=step.axis)
    else:
        make = partial(Spherical, point=step.point)
    return Segment((step,), (make,), (None,))


RULES: tuple[Callable[[Sequence[Step]], Segment | None], ...] = (
    _stage,
    _plate,
    _table,
    _shaft,
    _cross,
    _single,
)


def meeting_point(steps: Sequence[Step]) -> Array | None:
    """Return a point that all of these hinges and balls leave where it is; None: there is none."""
    if any(not step.turns for step in steps):
        return None
    balls = [step.point for step in steps if step.kind == "ball"]
    hinges = [step for step in steps if step.kind == "hinge"]
    if balls:
        point = balls[0]
    else:
        # The point nearest to all axes.
        across = [np.eye(3) - np.outer(step.axis, step.axis) for step in hinges]
        right = sum(
            P @ (step.point - hinges[0].point) for P, step in zip(across, hinges, strict=True)
        )
        point = hinges[0].point + np.linalg.lstsq(sum(across), right, rcond=1e-9)[0]
    size = max(float(np.linalg.norm(point - step.point)) for step in steps)
    size = max(size, float(np.linalg.norm(point)), 1e-3)
    off = [np.linalg.norm(point - ball) for ball in balls]
    off += [np.linalg.norm(np.cross(point - step.point, step.axis)) for step in hinges]
    return np.asarray(point) if max(off) <= NONE * size else None
