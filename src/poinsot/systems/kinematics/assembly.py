"""Assembly: bodies move by as little as possible until all joints close."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from poinsot.bodies.body import Body
from poinsot.errors import AssemblyError, NoEquilibriumError
from poinsot.frames.places import frame_vectors
from poinsot.frames.twists import joint_matrix, lever_arms
from poinsot.parts.closing import Gap, gap, is_closed
from poinsot.parts.driven import Driven
from poinsot.parts.feedback import Inlet
from poinsot.parts.joints import Joint
from poinsot.ph.matrices import Array, Vector
from poinsot.so3 import exp
from poinsot.systems.kinematics.closing import NEAR, Closing, closed
from poinsot.systems.kinematics.tethers import Tethered
from poinsot.systems.statics.search import find_rest

#: From how many places it is tried, and how far these are off at least and at most [lengths, rad].
TRIALS, OFF = 40, (0.2, 3.0)
#: How many joints a message names.
LISTED = 6


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be assembled: bodies where they are, joints, transmissions and drives.

    `hints` are coordinates that are to be near a value.
    """

    bodies: Sequence[Body]
    joints: Mapping[str, Joint]
    inlets: Sequence[Inlet]
    hints: Sequence[Inlet]
    kept: Collection[str]
    f: Vector

    def place(self, inlets: Sequence[Inlet]) -> Tethered:
        """Return where it begins."""
        return Tethered.among(self.bodies, self.joints, inlets, self.f, self.kept, self.length)

    @property
    def length(self) -> float:
        """How large bodies are, from their centres to joints or across [m]."""
        arms = [np.zeros(1)]
        for joint in self.joints.values():
            for at, end in zip(joint.origin, joint.bodies, strict=True):
                if isinstance(end, Body):
                    arms += [np.array([w[1:]]) for _, w in at.weights]
        reach = max(float(np.max(np.linalg.norm(np.atleast_2d(arm), axis=1))) for arm in arms)
        return max(reach, *(body.principal.radius for body in self.bodies)) or self._apart

    @property
    def _apart(self) -> float:
        """How far points are from each other [m]."""
        phi = frame_vectors(self.f)[:, 0]
        return float(np.max(np.linalg.norm(phi - phi[0], axis=1), initial=0.0)) or 1.0

    def gaps(self, f: Vector) -> dict[str, Gap]:
        """Return by how much every joint is open."""
        frames = dict(enumerate(frame_vectors(f).tolist()))
        return {name: gap(joint, frames) for name, joint in self.joints.items()}

    def open(self, f: Vector) -> dict[str, Gap]:
        """Return the joints that are open."""
        found = self.gaps(f)
        return {name: each for name, each in found.items() if not is_closed(self.joints[name], each)}


@dataclass(frozen=True, eq=False)
class Assembled:
    """Where bodies are once joints close: frames f, iterations, and from which trial on."""

    place: Tethered
    iterations: int
    trial: int
    nearest: bool
    hinted: bool


def assemble(task: Task) -> Assembled:
    """Return the nearest place with joints closed; refuse what does not close.

    With hints first, which are kept if joints close with them; otherwise it is the place nearest to
    where they come nearest.
    """
    if task.hints:
        found, iterations, trial = _search(task, task.place([*task.inlets, *task.hints]))
        if found is not None:
            return _nearest(found, iterations, trial, hinted=True)
        raise NotImplementedError
    found, iterations, trial = _search(task, task.place(task.inlets))
    if found is None:
        raise NotImplementedError
    return _nearest(found, iterations, trial, hinted=True)


def _search(task: Task, start: Tethered) -> tuple[Tethered | None, int, int]:
    """Return a place with joints closed, from one of many places on; None: it was not found."""
    closing = Closing.of(list(task.joints.values()), len(task.bodies), task.length)
    total, best = 0, (np.inf, start)
    for trial, beginning in enumerate(_trials(start)):
        there, left, count = closed(closing, beginning)
        total += count
        if left <= NEAR:
            exact = there.closed(there.f)
            if exact is not None and not task.open(exact.f):
                return exact, total, trial
        if left < best[0]:
            best = left, there
    return None, total, TRIALS


def _trials(start: Tethered) -> Iterator[Tethered]:
    """Yield the start, and places farther and farther from it."""
    yield start
    random, k = np.random.default_rng(0), start.sizes.size
    for off in np.geomspace(*OFF, TRIALS - 1).tolist():
        yield start.counting(start.step(start.sizes * off * random.standard_normal(k) / np.sqrt(3)))


def _nearest(place: Tethered, iterations: int, trial: int, *, hinted: bool) -> Assembled:
    """Return the nearest place on the way down."""
    if not place.names:
        return Assembled(place, iterations, trial, True, hinted)
    try:
        rest = find_rest(place, stable=True, what="nearest place")
    except NoEquilibriumError as error:
        print("NOT NEAREST", error)
        return Assembled(place, iterations, trial, False, hinted)
    assert isinstance(rest.place, Tethered)
    return Assembled(rest.place, iterations, trial, True, hinted)
