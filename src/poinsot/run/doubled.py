r"""What a run is off, estimated by the same run in steps of twice the size.

With p the order of the scheme, positions of both runs differ by

.. math:: |x^{2h} - x^{h}| = (2^p - 1) |x^{h} - x| + O(h^{p+1})

so that a part :math:`1/(2^p - 1)` of the difference is the error of the run itself, as long as
steps are small enough for errors to fall with h^p. Where they are not, both runs are wrong, and the
difference is about as large as the motion: then the estimate warns.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, log2
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from poinsot.errors import InputError
from poinsot.ph.matrices import Array
from poinsot.result import Result
from poinsot.result.observer import Observer, Poses
from poinsot.run.exactness import Sample

if TYPE_CHECKING:
    from poinsot.run.run import Run

#: Runs that differ by this part of the motion, or by this angle [rad], have errors of no order.
APART, TURNED = 0.1, 0.3
#: What moves by less than this part of the largest coordinate is at rest, but for round-off.
RESTS = 1e-13
#: Times are the same if they differ by less than this part of a step.
SAME = 1e-6


class Estimate(NamedTuple):
    """What a run is off at most: positions [m], rotations [rad], and what to say of it."""

    position: float
    rotation: float
    note: str
    warning: str


@dataclass(frozen=True, eq=False)
class Doubled:
    """Where bodies are at some times of a run in steps of twice the size.

    Parameters
    ----------
    h : float
        Step of the run that is judged [s].
    order : int
        Order of its scheme.
    times : (k,)
        Times [s].
    poses : Poses or None
        Positions and rotations then; None: there are none, for the reason `why`.
    """

    h: float
    order: int
    times: Array
    poses: Poses | None
    why: str = ""

    def judged(
        self, result: Result, rows: Sequence[Mapping[str, Array]], observer: Observer
    ) -> Result:
        """Return the result of the run with the estimate in it, from some of its saved steps."""
        found = self.estimate(rows, observer)
        stats = replace(result.stats, position_error=found.position, rotation_error=found.rotation)
        notes = (*result.notes, found.note) if found.note else result.notes
        warnings = (*result.warnings, found.warning) if found.warning else result.warnings
        status = "warned" if found.warning and result.status == "done" else result.status
        return replace(result, stats=stats, notes=notes, warnings=warnings, status=status)

    def estimate(self, rows: Sequence[Mapping[str, Array]], observer: Observer) -> Estimate:
        """Return what the run is off at the times that both have."""
        nothing = Estimate(np.inf, np.inf, "", "")
        if self.poses is None:
            return nothing._replace(note=f"no estimate of the error: {self.why}")
        times = np.array([row["time"] for row in rows])
        near = np.clip(np.searchsorted(times, self.times - SAME * self.h), 0, len(times) - 1)
        common = abs(times[near] - self.times) <= SAME * self.h
        fine = (
            observer.poses(np.array([rows[k]["x"] for k in near[common]])) if any(common) else None
        )
        if fine is None:
            return nothing._replace(note="no estimate of the error: no saved times to compare")
        coarse = Poses(*(array[common] for array in self.poses))
        moved = float(np.max(np.ptp(coarse.position, axis=0), initial=0.0))
        gap = float(np.max(np.linalg.norm(fine.position - coarse.position, axis=2)))
        chord = np.linalg.norm(fine.rotation - coarse.rotation, axis=(2, 3)) / np.sqrt(8)
        turned = float(2 * np.arcsin(np.clip(np.max(chord), 0, 1)))
        part = 1 / (2.0**self.order - 1)
        position, rotation = part * gap, part * turned
        extent = float(np.max(abs(coarse.position), initial=0.0))
        # What moves by less than round-off rests: at an unstable equilibrium, say.
        if gap > APART * moved > RESTS * extent or turned > TURNED:
            return Estimate(
                position,
                rotation,
                note="",
                warning=f"steps of {self.h:g} s and of {2 * self.h:g} s lead {gap:.2g} m and "
                f"{turned:.2g} rad apart: the step is too large, or the motion is chaotic; do not "
                "trust the positions",
            )
        better = 10.0**-self.order
        note = f"a step of {self.h / 10:.2g} s would leave a position error of about"
        return Estimate(position, rotation, f"{note} {better * position:.1e} m", "")


def doubled(run: "Run", of: Callable[[float, int], "Run"]) -> Doubled:
    """Take a run in steps of twice the size, and return where it leads.

    `of` returns the same run with another step [s], and with every so many steps saved.
    """
    order, h = run.problem.scheme.order, run.plan.h
    try:
        again = of(2 * h, _save_every(run))
        result = again.loop.run(again.problem.clock, False)
    except Exception as error:  # whatever it is, it costs the estimate and not the run
        why = f"steps of {2 * h:g} s fail: {error}"
        return Doubled(h, order, np.zeros(0), None, why)
    recorder = again.loop.recorder
    rows = recorder.sample.rows
    if result.status == "interrupted":
        raise KeyboardInterrupt
    return Doubled(h, order, *_places(rows, recorder.observer))


def _places(
    rows: Sequence[Mapping[str, Array]], observer: Observer
) -> tuple[Array, Poses | None, str]:
    if not rows:
        return np.zeros(0), None, "the run is too short"
    times = np.array([row["time"] for row in rows])
    poses = observer.poses(np.array([row["x"] for row in rows]))
    return times, poses, "" if poses is not None else "its events change the model"


def _save_every(run: "Run") -> int:
    """Return which steps of twice the size are saved: as few as both runs have in common."""
    recorder = run.loop.recorder
    saved = recorder.steps / recorder.save_every
    strides = ceil(log2(max(saved / Sample(recorder.system.n).most, 1.0)))
    return int(run.plan.save_every * 2 ** max(strides - 1, 0))


def require_bodies(run: "Run") -> None:
    """Refuse an estimate of what has no bodies, or has a tolerance of its own."""
    if run.plan.tolerance is not None:
        raise InputError(
            "estimate_error needs a constant step size; leave out estimate_error or tolerance"
        )
    if run.loop.recorder.observer.poses(run.problem.x[None]) is None:
        raise InputError(
            "estimate_error compares positions of bodies, which this system does not have or its "
            "events change; compare runs with h and h/2 instead"
        )
