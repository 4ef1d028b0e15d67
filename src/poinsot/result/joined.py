"""Records of interconnected systems: those of all members."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial, reduce
from typing import Any, TypeVar

import numpy as np

from poinsot.result.history import History
from poinsot.result.observer import Observer, Poses, Rows
from poinsot.result.records import Array, Counts, Lazy, Observation
from poinsot.result.scene import Scene

Record = TypeVar("Record")

#: How arrays of several mechanisms make one of all; others are errors, of which the largest counts.
SUMS = ("linear_momentum", "angular_momentum")


@dataclass(frozen=True, eq=False)
class Member:
    """A member of joined systems: its name, what looks at it, and how it stores energy [J].

    `states` and `angles` are its own among those of all.
    """

    name: str
    observer: Observer
    energies: Callable[[Array], Array]
    states: slice
    angles: slice

    def history(self, history: History) -> History:
        """Return its own history."""
        return history.of_part(self.states.start, self.angles)


@dataclass(frozen=True, eq=False)
class JoinedObserver(Observer):
    """Looks at every member; names that repeat get that of the member before them."""

    members: tuple[Member, ...]

    @property
    def undetermined(self) -> Sequence[str]:
        """Those of all members."""
        found = [(m.name, name) for m in self.members for name in m.observer.undetermined]
        return unique_names(found)

    @property
    def remarks(self) -> Sequence[str]:
        """Those of all members, each once."""
        return list(dict.fromkeys(text for m in self.members for text in m.observer.remarks))

    def of_general_steps(self) -> Observer:
        """Return what looks at all members so."""
        members = [replace(m, observer=m.observer.of_general_steps()) for m in self.members]
        return replace(self, members=tuple(members))

    def observe(self, history: History) -> Observation:
        """Return what all members show; what takes time, when it is asked for."""
        return self._joined(history, [m.observer.observe(m.history(history)) for m in self.members])

    def survey(self, history: History) -> Observation:
        """Return the same, all of it computed at once."""
        return self._joined(history, [m.observer.survey(m.history(history)) for m in self.members])

    def poses(self, x: Array) -> Poses | None:
        """Return where the bodies of all members are."""
        seen = [m.observer.poses(x[:, m.states]) for m in self.members]
        known = [poses for poses in seen if poses is not None]
        if not known:
            return None
        position, rotation = zip(*known, strict=True)
        return Poses(np.concatenate(position, axis=1), np.concatenate(rotation, axis=1))

    def constraints(self, ends: Array, means: Array, h: Array) -> dict[str, Rows]:
        """Return the rows of all members."""
        found: dict[str, list[Rows]] = {}
        for m in self.members:
            rows = m.observer.constraints(ends[:, m.states], means[:, m.states], h)
            for name, each in rows.items():
                found.setdefault(name, []).append(each)
        return {name: reduce(_both, each) for name, each in found.items()}

    def _joined(self, history: History, seen: Sequence[Observation]) -> Observation:
        shown = [each for each in seen if each.bodies]
        one = shown[0] if len(shown) == 1 else self._several(seen)
        systems = [m.name for m, each in zip(self.members, seen, strict=True) if not each.bodies]
        return replace(one, energies=self._energies(history, seen), systems=tuple(systems))

    def _energies(self, history: History, seen: Sequence[Observation]) -> Mapping[str, Array]:
        """Return energies by kind, summed over mechanisms; of other members under their names."""
        kinds: dict[str, list[Callable[[], Array]]] = {}
        for m, each in zip(self.members, seen, strict=True):
            for kind in each.energies:
                kinds.setdefault(kind, []).append(partial(each.energies.__getitem__, kind))
            if not each.energies and not each.bodies:
                kinds.setdefault(m.name, []).append(partial(_stored, m, history))
        return Lazy(kinds, lambda kind: np.sum([look() for look in kinds[kind]], axis=0))

    def _several(self, seen: Sequence[Observation]) -> Observation:
        """Return what several mechanisms show, or none."""
        names = [m.name for m in self.members]
        bodies, taken = _merged(names, [each.bodies for each in seen])
        joints, pins = _merged(names, [each.joints for each in seen])
        whole: dict[str, list[Mapping[str, Array]]] = {}
        for each in seen:
            for name in each.whole:
                whole.setdefault(name, []).append(each.whole)

        def all_of(name: str) -> Array:
            arrays = [each[name] for each in whole[name]]
            return np.asarray(np.sum(arrays, axis=0) if name in SUMS else np.max(arrays, axis=0))

        def scene(k: int) -> Scene:
            renamed: Scene = _renamed(
                seen[k].scene, lambda name: taken.get((k, name), pins.get((k, name), name))
            )
            return renamed

        scenes = [scene(k) for k in range(len(seen))]
        counts = [each.counts for each in seen]
        return Observation(
            bodies=bodies,
            joints=joints,
            markers=_merged(names, [each.markers for each in seen])[0],
            stresses=_merged(names, [each.stresses for each in seen])[0],
            whole=Lazy(whole, all_of),
            scene=Scene(
                *(sum((getattr(s, f.name) for s in scenes), start=()) for f in fields(Scene))
            ),
            counts=Counts(*(sum(getattr(c, f.name) for c in counts) for f in fields(Counts))),
        )


def unique_names(named: Sequence[tuple[str, str]]) -> list[str]:
    """Return names of members' parts, given as (member, name), each once."""
    often = Counter(name for _, name in named)
    return [f"{member}.{name}" if often[name] > 1 else name for member, name in named]


def _merged(
    members: Sequence[str], each: Sequence[Mapping[str, Record]]
) -> tuple[Mapping[str, Record], dict[tuple[int, str], str]]:
    """Return the records of all members by unique names, and these names by member and name."""
    places = [(k, name) for k, records in enumerate(each) for name in records]
    unique = unique_names([(members[k], name) for k, name in places])
    where = dict(zip(unique, places, strict=True))

    def record(name: str) -> Record:
        k, own = where[name]
        found: Any = each[k][own]
        renamed: Record = found if own == name else replace(found, name=name)
        return renamed

    return Lazy(unique, record), dict(zip(places, unique, strict=True))


def _renamed(scene: Any, rename: Callable[[str], str]) -> Any:
    """Return a scene, or a part of one, in which bodies and joints have other names."""
    if isinstance(scene, tuple):
        return tuple(_renamed(each, rename) for each in scene)
    if not hasattr(scene, "__dataclass_fields__"):
        return scene
    named = ("body", "joint", "name", "nodes")
    changed = {}
    for f in fields(scene):
        value = getattr(scene, f.name)
        if f.name in named:
            changed[f.name] = tuple(map(rename, value)) if f.name == "nodes" else rename(value)
        else:
            changed[f.name] = _renamed(value, rename)
    return replace(scene, **changed)


def _stored(member: Member, history: History) -> Array:
    """Return the energy of a member at the saved times [J]."""

    def look(x: Array) -> tuple[Array, ...]:
        return (np.array([float(np.sum(member.energies(row))) for row in x]),)

    return history.over_times(look, member.states)[0]


def _both(a: Rows, b: Rows) -> Rows:
    """Return the rows of two members."""

    def side_by_side(one: Array, other: Array) -> Array:
        shape = max(one.ndim, other.ndim)
        rows = max((each.shape[0] for each in (one, other) if each.ndim == shape), default=1)
        wide = [each if each.ndim == shape else np.tile(each, (rows, 1)) for each in (one, other)]
        return np.concatenate(wide, axis=-1)

    return Rows(
        side_by_side(a.error, b.error),
        side_by_side(a.size, b.size),
        side_by_side(a.noisy, b.noisy),
        [*a.names, *b.names] if a.names and b.names else (),
        a.energy + b.energy,
    )
