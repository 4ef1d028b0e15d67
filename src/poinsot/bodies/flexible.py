"""Elastic bodies of a model: a floating frame, and the attached frames on which parts act."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from poinsot.bodies.body import Vector3
from poinsot.bodies.flexibility import Flexibility
from poinsot.bodies.rigid import Rigid
from poinsot.bodies.shapes import Elasticity
from poinsot.errors import InputError
from poinsot.frames.forms import VectorForm

#: How far along the body something may be from a place it is attached to, as a part of its length.
NEAR = 1e-8


class Elastic(NamedTuple):
    """Numbers of an elastic body, its floating frame, and the first of those that it carries."""

    frame: int
    first: int
    data: Flexibility


@dataclass(frozen=True, eq=False, repr=False)
class Place(Rigid):
    """A frame at a place of an elastic body, such as `beam.end`; it has no mass of its own."""

    carried: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Nothing to refuse."""

    def __repr__(self) -> str:
        """Its name."""
        return f"<Place '{self.name}'>"

    @property
    def inertia(self) -> tuple[float, float, float, float]:
        """None: it belongs to the elastic body."""
        return 0.0, 0.0, 0.0, 0.0


@dataclass(frozen=True, eq=False, repr=False)
class Flexible(Rigid):
    """An elastic body; what attaches to it does so at one of its `places`."""

    turns: ClassVar[bool] = True
    deforms: ClassVar[bool] = True
    places: list[Place] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Make the frames at its places, which follow it in the model."""
        shape = self.shape
        assert isinstance(shape, Elasticity)
        named = zip(shape.places, shape.flexibility.points, strict=True)
        for k, (name, X) in enumerate(named):
            place = Place(
                name=f"{self.name}.{name}",
                index=self.index + 1 + k,
                shape=shape,
                principal=self.principal,
                position=self.position + self.R_WP @ X,
                R_WB=self.R_WB,
                velocity=None,
                angular_velocity=None,
            )
            self.places.append(place)

    @cached_property
    def elastic(self) -> Elastic:
        """Its numbers."""
        shape = self.shape
        assert isinstance(shape, Elasticity)
        return Elastic(self.index, self.index + 1, shape.flexibility)

    @property
    def start(self) -> Place:
        """The first of its places."""
        return self.places[0]

    @property
    def end(self) -> Place:
        """The last of its places."""
        return self.places[-1]

    def __getitem__(self, k: int) -> Place:
        """Return one of its places; negative numbers count from the end."""
        count = len(self.places)
        if not isinstance(k, int | np.integer) or not -count <= k < count:
            raise InputError(
                f"body '{self.name}' has no place {k!r}; its places are 0 to {count - 1}"
            )
        return self.places[k]

    def __iter__(self) -> Iterator[Place]:
        """Go through its places."""
        return iter(self.places)

    def at(self, world: ArrayLike | None) -> Place:
        """Return the place whose section holds a point, given in world axes at the start."""
        if world is None:
            self._refuse("name one of its places")
        shape, data = self.shape, self.elastic.data
        assert isinstance(shape, Elasticity)
        off = shape.off(self.R_WP.T @ (np.asarray(world, dtype=float) - self.position))
        k, length = int(np.argmin(off)), float(np.max(np.ptp(data.points, axis=0)))
        if off[k] > NEAR * (length or self.principal.radius):
            x = ", ".join(f"{x:.6g}" for x in np.asarray(world, dtype=float))
            self._refuse(
                f"there is none at ({x}), the nearest is '{self.places[k].name}', {off[k]:.3g} m "
                "away; add a node or an interface there, or give the name of a place"
            )
        return self.places[k]

    def _refuse(self, remedy: str) -> NoReturn:
        names = [place.name for place in self.places]
        listed = names if len(names) < 4 else [names[0], names[1], "...", names[-1]]
        raise InputError(
            f"body '{self.name}' is elastic; parts attach to its places "
            f"{', '.join(listed)}: {remedy}"
        )

    def local_point(self, world: Vector3) -> Vector3:
        """Refuse: points are those of places."""
        self._refuse("name one of them")

    def local_direction(self, world: Vector3) -> Vector3:
        """Refuse: directions are those of places."""
        self._refuse("name one of them")

    def on(self, world: ArrayLike) -> VectorForm:
        """Return the point of the place that is there in the world at the start."""
        return self.at(world).on(world)

    def along(self, world: ArrayLike) -> VectorForm:
        """Refuse: directions are those of places."""
        self._refuse("name one of them")
