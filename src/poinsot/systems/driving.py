"""Consistent starts of drives: coordinates and velocities must match the prescribed motions."""

from math import tau

import numpy as np

from poinsot.errors import InconsistentStartError
from poinsot.frames.charts import Angle
from poinsot.frames.places import frame_vectors, local
from poinsot.parts.driven import Driven
from poinsot.ph.matrices import Vector
from poinsot.systems.mechanism import Mechanism

#: What a start may be off by, as a part of the motion and of the size of the mechanism.
TOLERANCE = 1e-8


def require_driven(held: Mechanism, f: Vector, rates: Vector, t: float) -> None:
    """Refuse a start at time t [s] in which a drive is not where its motion is, nor as fast.

    `f` and `rates` are those of frames, which `held` is on.
    """
    if not held.drives:
        return
    length = max(float(np.max(held.lengths(f))), float(np.max(abs(frame_vectors(f)[:, 0]))))
    for driven in held.drives:
        rotates, q = driven.rotates, local(f, driven.bodies)
        unit, size = ("rad", 1.0) if rotates else ("m", length)
        behind, here = driven.lacking(q, t), driven.value(q)
        what = driven.title
        if not abs(behind) <= TOLERANCE * (size + abs(here)):
            if driven.transmits:
                raise InconsistentStartError(
                    f"{what}: its joints are {behind:.9g} {unit} apart at the start, in terms of "
                    "its first coordinate; coordinates count from the start of the model, angles "
                    f"over full turns: give them by simulate(..., angles={{'joint.angle': ...}})"
                )
            if driven.of:
                raise InconsistentStartError(
                    f"{what}: at t = {t:g} s its {driven.of} is {behind:.9g} {unit} ahead of the "
                    "body; change the motion to start at the body, or move the body"
                )
            raise InconsistentStartError(
                f"{what}: its motion is at {here + behind:.9g} {unit} at t = {t:g} s, while the "
                f"joint is at {here:.9g} {unit}{_remedy(driven, behind)}"
            )
        along, v, wanted = driven.B(q)[:, 0], local(rates, driven.bodies), driven.motion(t)[0]
        rate, speed = float(along @ v), float(np.linalg.norm(along) * np.max(abs(rates)))
        if not abs(rate - wanted) <= TOLERANCE * (speed + abs(wanted)):
            if driven.transmits:
                raise InconsistentStartError(
                    f"{what}: the velocities at the start move its joints apart by {rate:.9g} "
                    f"{unit}/s; give consistent velocities, or use "
                    "poinsot.ph.consistent_state(system, x0, t)"
                )
            raise InconsistentStartError(
                f"{what}: its motion has a rate of {wanted:.9g} {unit}/s at t = {t:g} s, while the "
                f"velocities at the start have {rate:.9g} {unit}/s; give velocities with that "
                "rate, or use poinsot.ph.consistent_state(system, x0, t)"
            )


def _remedy(driven: Driven, behind: float) -> str:
    """Return what to do about a coordinate that is behind."""
    chart = driven.terms[0].chart
    if isinstance(chart, Angle) and abs(behind - tau * round(behind / tau)) <= TOLERANCE:
        name = chart.name
        return f", whole turns away; count them by simulate(..., angles={{'{name}': ...}})"
    return "; add a constant to the motion, or put the joint there by model.assemble()"
