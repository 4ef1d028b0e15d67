"""Gaps of open joints, and equations that close them from far away.

The equations of the joint table also hold if a hinge is mounted the wrong way round: a·b = 0 does
not distinguish b from -b. From far away, directions are compared instead: b - a = 0, three
equations for two or, with three directions, nine for three. Their sum of squares, 2 - 2 cos(angle)
each, has no minimum except where they coincide.
"""

from collections.abc import Iterator, Mapping
from math import asin, hypot
from typing import NamedTuple

import numpy as np

from poinsot.frames.forms import Form, Frame, components
from poinsot.parts.joint import GAP, Joint


class Gap(NamedTuple):
    """By how much a joint is open: a distance [m] and an angle [rad]."""

    distance: float
    angle: float


def gap(joint: Joint, frames: Mapping[int, Frame]) -> Gap:
    """Return by how much a joint is open where bodies have these frames."""
    distances, angle = [], 0.0
    for row in joint.rows():
        if row.length is not None and row.a == row.b:
            distances.append(hypot(*row.a.at(frames)) - row.length)
        elif row.places:
            distances.append(row.form.at(frames) / (row.length or 1.0))
        elif not joint.aligned():
            angle = max(angle, asin(min(1.0, abs(row.form.at(frames)))))
    pairs = [np.subtract(b.at(frames), a.at(frames)) for a, b in joint.aligned()]
    chords = [float(np.linalg.norm(pair)) for pair in pairs]
    if len(chords) == 1:
        angle = 2 * asin(min(1.0, chords[0] / 2))
    elif chords:  # sum of |b - a|^2 = 2 (3 - trace) = 8 sin^2(angle/2)
        angle = 2 * asin(min(1.0, float(np.linalg.norm(chords)) / np.sqrt(8)))
    return Gap(hypot(*distances), angle)


def too_wide(joint: Joint, found: Gap) -> str:
    """Return what a start may not have of a gap, such as "0.1 m and 0.3 rad"; "": nothing."""
    rows = zip(joint.rows(), joint.allowed_gaps(), strict=True)
    allowed = max((allowed for row, allowed in rows if row.places), default=0.0)
    parts = [f"{found.distance:.3g} m"] if found.distance > 2 * allowed else []
    return " and ".join([*parts, *([f"{found.angle:.3g} rad"] if found.angle > 2 * GAP else [])])


def closing_forms(joint: Joint, length: float) -> Iterator[tuple[Form, float]]:
    """Yield equations that close a joint from far away, with what each is measured by.

    Those of points by the `length` of the mechanism [m], and squares by their own length, too.
    """
    for row in joint.rows():
        if row.places:
            yield row.form, length * (row.length or 1.0)
        elif not joint.aligned():
            yield row.form, 1.0
    for a, b in joint.aligned():
        for form in components(b - a):
            yield form, 1.0
