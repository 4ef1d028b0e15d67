"""Assembly: move bodies by as little as possible until all joints are closed."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import hypot

import numpy as np

from poinsot.bodies.body import Body
from poinsot.errors import AssemblyError, NoEquilibriumError
from poinsot.frames.places import frame_vectors, local
from poinsot.parts.closing import Gap, gap, too_wide
from poinsot.parts.feedback import Inlet
from poinsot.parts.joint import Joint
from poinsot.ph.matrices import Array, Vector
from poinsot.so3 import nearest_rotation
from poinsot.systems.kinematics.closing import NEAR, WEAK, Closing
from poinsot.systems.kinematics.tethers import START, Tethered
from poinsot.systems.statics.search import find_rest

#: From how many places it is tried, with hints, and how far these are off the start [lengths, rad].
TRIALS, HINTED, OFF = 40, 6, (0.2, 3.0)
#: What hints weigh beside gaps where both cannot be met.
WISHES = 0.1, 1.0, 10.0, 100.0
#: Digits to which two ways to close differ from hints [rad, lengths].
DIGITS = 6
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
        ends = [at for joint in self.joints.values() for at in joint.origin]
        sizes = [hypot(*w[1:]) for at in ends for _, w in at.weights]
        sizes += [body.principal.radius for body in self.bodies]
        phi = frame_vectors(self.f)[:, 0]
        apart = float(np.max(np.linalg.norm(phi - phi[0], axis=1)))
        return max(sizes) or apart or 1.0  # points have no size

    def gaps(self, f: Vector) -> dict[str, Gap]:
        """Return by how much every joint is open."""
        frames = dict(enumerate(frame_vectors(f).tolist()))
        return {name: gap(joint, frames) for name, joint in self.joints.items()}

    def open(self, f: Vector) -> dict[str, str]:
        """Return the joints that are open, and by how much."""
        wide = {name: too_wide(self.joints[name], each) for name, each in self.gaps(f).items()}
        return {name: much for name, much in wide.items() if much}


@dataclass(frozen=True, eq=False)
class Found:
    """The nearest place with joints closed, iterations, and after how many trials it was found.

    `hinted`: all hints were met.
    """

    place: Tethered
    iterations: int
    trials: int
    hinted: bool = True


def assemble(task: Task, what: str) -> Found:
    """Return the nearest place with joints closed; refuse joints that do not close.

    Hints are met if joints close with them. If not, it is the place nearest to one where hints and
    joints together are met as nearly as can be.
    """
    start = task.place([*task.inlets, *task.hints])
    search = _Search(task, start, HINTED if task.hints else TRIALS)
    if search.closed is None and task.hints:
        search = _near_hints(task, start)
    found = search.closed
    if found is None:
        raise _failure(task, search.best.place, what)
    nearest = _nearest(found.place)
    hinted = search.start.u.size == start.u.size
    return replace(found, hinted=hinted, place=found.place if task.open(nearest.f) else nearest)


def _near_hints(task: Task, start: Tethered) -> "_Search":
    """Return the search that leads nearest to hints that cannot all be met.

    Hints and joints are met as nearly as can be, with hints of little weight and of much; from each
    of these places joints are closed without them.
    """
    searches = []
    for wish in WISHES:
        near = _Search(task, start, 1, wish).best.place
        there = replace(task.place(task.inlets).tied_to(near.f), turned=near.turned).at(near.f)
        searches.append(_Search(task, there, 1))
    places = {k: each.closed.place for k, each in enumerate(searches) if each.closed is not None}
    if not places:
        return replace(searches[0], trials=TRIALS)
    return searches[min(places, key=lambda k: round(_misfit(task, start, places[k]), DIGITS))]


def _misfit(task: Task, start: Tethered, place: Tethered) -> float:
    """Return how far a place is from the hints [rad, lengths of the mechanism]."""
    drives = replace(start, turned=place.turned).at(place.f).held.drives
    off = [
        driven.lacking(local(place.f, driven.bodies), START)
        / (1.0 if driven.rotates else task.length)
        for driven in drives[len(drives) - len(task.hints) :]
    ]
    return float(np.linalg.norm(off))


@dataclass(frozen=True, eq=False)
class _Search:
    """Steps towards closed joints from one place after the other."""

    task: Task
    start: Tethered
    trials: int
    wish: float = WEAK

    @cached_property
    def reached(self) -> list[tuple[float, Found]]:
        """Where steps lead to from every place, up to the first one at which joints close."""
        task, total, found = self.task, 0, list[tuple[float, Found]]()
        closing = Closing.of(list(task.joints.values()), len(task.bodies), task.length, self.wish)
        for trial, beginning in enumerate(self._beginnings(), start=1):
            there, left, count = closing.closed(beginning)
            total += count
            exact = there.closed(there.f) if left <= NEAR else None
            exact = None if exact is None else exact.polished()
            if exact is not None and not task.open(exact.f):
                return [*found, (0.0, Found(exact, total, trial))]
            found.append((left, Found(there, total, trial)))
        return found

    @property
    def closed(self) -> Found | None:
        """The place at which joints close; None: there is none."""
        left, last = self.reached[-1]
        return last if left == 0.0 else None

    @property
    def best(self) -> Found:
        """Where gaps are smallest."""
        return min(self.reached, key=lambda each: each[0])[1]

    def _beginnings(self) -> Iterator[Tethered]:
        """Yield the start, and places farther and farther from it."""
        start = self.start
        yield start
        random, k = np.random.default_rng(0), start.sizes.size
        for off in np.geomspace(*OFF, self.trials - 1).tolist():
            w = start.sizes * off * random.standard_normal(k) / np.sqrt(3)
            yield start.counting(start.step(w))


def _nearest(place: Tethered) -> Tethered:
    """Return the nearest place that the energy of tethers leads to, from a closed one on."""
    if not place.names:
        return place
    try:
        found = find_rest(place, stable=True, what="nearest place").place
    except NoEquilibriumError:
        return place  # it is closed, and moved a little more than it had to
    assert isinstance(found, Tethered)
    return found.polished()


def _failure(task: Task, best: Tethered, what: str) -> AssemblyError:
    """Return what is said of joints that do not close."""
    gaps, wide = task.gaps(best.f), task.open(best.f)
    widest = sorted(wide, key=lambda name: -max(gaps[name]))
    listed = [f"joint '{name}' by {wide[name]}" for name in widest]
    for driven in best.held.drives:
        behind = abs(driven.lacking(local(best.f, driven.bodies), START))
        if behind > NEAR * (1.0 if driven.rotates else task.length):
            listed.append(f"{driven.title} by {behind:.3g} {'rad' if driven.rotates else 'm'}")
    if len(listed) > LISTED:
        listed[LISTED:] = [f"and {len(listed) - LISTED} more"]
    named = ", ".join(map(repr, list(task.kept)[:LISTED]))
    held = f" with {named} kept where they are" if task.kept else ""
    return AssemblyError(
        f"{what}: the joints do not close{held}; the smallest gaps are: {', '.join(listed)}; "
        "correct lengths and axes of the bodies, keep fewer of them, or start closer to a position "
        "with closed joints",
        gaps={name: (each.distance, each.angle) for name, each in gaps.items()},
        places=poses(task.bodies, best.f),
    )


def poses(bodies: Sequence[Body], f: Vector) -> dict[str, tuple[Vector, Array]]:
    """Return position and rotation of bodies at frames f, by name."""
    found = {}
    for body, (phi, *d) in zip(bodies, frame_vectors(f), strict=True):
        R = nearest_rotation(np.column_stack(d) @ body.principal.R_BP.T)
        found[body.name] = phi.copy(), R if body.turns else np.eye(3)
    return found
