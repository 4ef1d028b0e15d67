"""Base class of joints: constraint rows, free coordinates, and checks of the start position.

Points and axes are given in world axes for the places at which bodies are added. Between two
markers they are given in marker axes, which coincide where coordinates are zero.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from math import hypot
from typing import ClassVar, NamedTuple

from numpy.typing import ArrayLike

from poinsot.bodies.body import Body, Ground, Marker, partner
from poinsot.errors import InputError
from poinsot.frames.charts import Angle, Chart
from poinsot.frames.forms import Form, Vector3, VectorForm, dot, half_square
from poinsot.frames.stacks import Packed, pack
from poinsot.inputs import vector3
from poinsot.parts.contacts import Contact

#: What a joint may be open by at the start, as a part of its size, and of how far away it is.
GAP, GAP_ROUND_OFF = 1e-8, 1e-14
#: A point or an axis that was not given.
LEFT_OUT: ArrayLike = ()


@dataclass(frozen=True)
class Row:
    """One constraint equation a·b = 0, or (a·a - length^2)/2 = 0, and a label of what it locks."""

    label: str
    a: VectorForm
    b: VectorForm
    length: float | None = None

    @property
    def form(self) -> Form:
        """The equation as a quadratic form."""
        return dot(self.a, self.b) if self.length is None else half_square(self.a, self.length)

    @property
    def places(self) -> bool:
        """Whether the gap of the equation is a length [m]; otherwise it is a direction cosine."""
        return any(w[0] != 0 for vector in (self.a, self.b) for _, w in vector.weights)


@dataclass(frozen=True)
class Freedom:
    """A free coordinate of a joint: a displacement [m] or an angle [rad].

    It is zero where bodies were added, or where both markers coincide.
    """

    label: str
    chart: Chart
    forms: tuple[Form, ...]

    @property
    def rotates(self) -> bool:
        """Whether it is an angle."""
        return isinstance(self.chart, Angle)


class Equations(NamedTuple):
    """Constraint equations as plain numbers, and their gaps at the start [m or 1]."""

    forms: Packed
    gaps: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Joint(ABC):
    """Base class of joints between two bodies, a body and the ground, or two markers."""

    a: Body | Ground | Marker
    b: Body | Ground | Marker
    #: What points and axes are between markers unless they are given.
    IN_MARKERS: ClassVar[Mapping[str, Vector3]] = {}

    def __post_init__(self) -> None:
        """Check the bodies, and copy points and axes."""
        a, b = mount(self.a, f"{self.kind}: a"), mount(self.b, f"{self.kind}: b")
        one, other = (end.body if isinstance(end, Marker) else end for end in (a, b))
        if one is other or (isinstance(one, Ground) and isinstance(other, Ground)):
            raise InputError(f"{self.kind}: connects '{one.name}' to itself; give two bodies")
        if isinstance(a, Marker) is not isinstance(b, Marker):
            raise InputError(
                f"{self.kind}: '{a.name}' and '{b.name}' are a marker and a body; join two "
                "markers, by model.add_marker(...) on the body or the ground, or two bodies"
            )
        for name, usual in self.IN_MARKERS.items():
            if getattr(self, name) is not LEFT_OUT:
                continue
            if not self.between_markers:
                raise InputError(
                    f"{self.kind}: {name} is missing; it can be left out only between markers"
                )
            object.__setattr__(self, name, usual)
        optional = {field.name for field in fields(self) if field.default is None}
        for name in self._vectors():
            value = getattr(self, name)
            if value is not None or name not in optional:
                object.__setattr__(self, name, vector3(value, f"{self.kind}: {name}"))
        for end, body, place in zip("ab", (a, b), self._places(), strict=True):
            object.__setattr__(self, end, body.at(place))

    def _vectors(self) -> list[str]:
        """Return the names of its point and axis parameters."""
        return [field.name for field in fields(self) if field.name not in ("a", "b")]

    @cached_property
    def between_markers(self) -> bool:
        """Whether it connects markers."""
        return isinstance(self.a, Marker)

    @cached_property
    def may_be_open(self) -> bool:
        """Whether it may be open where bodies are added."""
        return self.between_markers

    @cached_property
    def bodies(self) -> tuple[Body | Ground, Body | Ground]:
        """The two bodies, or attachment points of elastic ones.

        For markers, the bodies that carry them.
        """
        a, b = (end.body if isinstance(end, Marker) else end for end in (self.a, self.b))
        return a, b

    def _places(self) -> tuple[ArrayLike | None, ArrayLike | None]:
        """Return its points on both bodies at the start, world axes; None: not given."""
        return None, None

    def _same(self, *axes: ArrayLike) -> tuple[tuple[VectorForm, VectorForm], ...]:
        return tuple((self.a.along(axis), self.b.along(axis)) for axis in axes)

    @property
    def kind(self) -> str:
        """Name of its kind."""
        return type(self).__name__

    @abstractmethod
    def rows(self) -> tuple[Row, ...]:
        """Return the constraint equations."""

    def freedoms(self) -> tuple[Freedom, ...]:
        """Return the free coordinates; none by default."""
        return ()

    def aligned(self) -> tuple[tuple[VectorForm, VectorForm], ...]:
        """Return directions that stay identical, not just parallel, on both bodies.

        None by default.
        """
        return ()

    @cached_property
    def equations(self) -> Equations:
        """The constraint equations as plain numbers, computed once."""
        frames = {end.index: end.frame for end in self.bodies if isinstance(end, Body)}
        rows = self.rows()
        forms = [row.form for row in rows]
        sizes = [row.length or 1.0 for row in rows]
        gaps = [abs(form.at(frames)) / size for form, size in zip(forms, sizes, strict=True)]
        return Equations(pack(forms), tuple(gaps))

    @property
    def size(self) -> float:
        """Characteristic length [m], of the smaller body about the joint; 0: none."""
        ends = zip(self.bodies, self.origin, strict=True)
        sizes = [
            max(hypot(*w[1:]), end.principal.radius)
            for end, at in ends
            if isinstance(end, Body)
            for _, w in at.weights
        ]
        return min((size for size in sizes if size > 0), default=0.0)

    def allowed_gaps(self) -> list[float]:
        """Return the tolerance of each equation at the start [m or 1].

        Lengths are relative to the size of the joint; far from the origin round-off is added.
        """
        far = max(hypot(*self.a.position), hypot(*self.b.position))
        size = self.size
        lengths = [row.length or size if row.places else 1.0 for row in self.rows()]
        return [GAP * length + GAP_ROUND_OFF * max(far, length) for length in lengths]

    def contact(self) -> Contact | None:
        """Return additional velocity constraints; None: all constraints are in `rows`."""
        return None

    @property
    def remedy(self) -> str:
        """Advice in the message for bodies that do not fit the joint."""
        return "correct its axes (those of a universal joint must be perpendicular) or its points"

    @property
    @abstractmethod
    def origin(self) -> tuple[VectorForm, VectorForm]:
        """The point of the joint on each body; reactions refer to it."""


def mount(value: object, what: str) -> Body | Ground | Marker:
    """Return a body, marker or the ground; raise `InputError` for anything else."""
    return value if isinstance(value, Marker) else partner(value, what)
