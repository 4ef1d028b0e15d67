"""Coordinates along which forces and motors act: distances, angles and displacements."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from poinsot.bodies.body import Body, Ground
from poinsot.errors import InputError, did_you_mean
from poinsot.frames.charts import Angle, Chart, Length
from poinsot.frames.directions import Charted
from poinsot.frames.forms import half_square
from poinsot.frames.stacks import Forms, stack
from poinsot.parts.joint import Freedom, Joint


@dataclass(frozen=True, eq=False)
class Coordinate:
    """A length, an angle or a displacement, on the bodies that it depends on.

    `scale` is what laws of it change by much over: an angle of 1, or a length of the mechanism.
    """

    bodies: tuple[int, ...]
    forms: Forms
    chart: Chart
    start: float
    scale: float
    unit: str

    @property
    def direction(self) -> Charted:
        """The generalised direction along this coordinate."""
        return Charted(self.bodies, self.forms, self.chart)


def _touched(*partners: Body | Ground) -> tuple[int, ...]:
    return tuple(partner.index for partner in partners if isinstance(partner, Body))


def distance(
    a: Body | Ground, b: Body | Ground, point_a: ArrayLike, point_b: ArrayLike
) -> Coordinate:
    """Return the distance of two points as a coordinate."""
    world_a, world_b = np.asarray(point_a, dtype=float), np.asarray(point_b, dtype=float)
    bodies = _touched(a, b)
    forms = stack([half_square(b.on(world_b) - a.on(world_a)).among(bodies)], len(bodies))
    length = float(np.linalg.norm(world_b - world_a))
    return Coordinate(bodies, forms, Length(), length, length or 1.0, "m")


def of_joint(name: str, joints: Mapping[str, Joint], freedom: str | None, what: str) -> Coordinate:
    """Return a free direction of a joint as a coordinate."""
    if not isinstance(name, str):
        raise InputError(f"{what}: give the name of a joint, got {name!r}")
    if name not in joints:
        raise InputError(f"{what}: no joint '{name}'; {did_you_mean(name, joints)}")
    joint = joints[name]
    free: dict[str, Freedom] = {f.label: f for f in joint.freedoms()}
    if not free:
        raise InputError(
            f"{what}: joint '{name}' ({joint.kind}) has no coordinate to act on; use a force or "
            "port on its bodies"
        )
    if freedom is None:
        if len(free) != 1:
            raise InputError(
                f"{what}: joint '{name}' ({joint.kind}) has {len(free)} coordinates; choose one by "
                f"freedom=... ({', '.join(free)})"
            )
        freedom = next(iter(free))
    if freedom not in free:
        hint = did_you_mean(freedom, free)
        raise InputError(f"{what}: joint '{name}' has no coordinate '{freedom}'; {hint}")
    chosen, bodies = free[freedom], _touched(*joint.bodies)
    forms = stack([form.among(bodies) for form in chosen.forms], len(bodies))
    chart = chosen.chart
    if isinstance(chart, Angle):
        chart = replace(chart, name=f"{name}.{freedom}")
        return Coordinate(bodies, forms, chart, 0.0, 1.0, "rad")
    return Coordinate(bodies, forms, chart, 0.0, joint.size or 1.0, "m")
