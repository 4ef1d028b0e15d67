"""Functions of the coordinates from Python; missing derivatives by differences."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from poinsot.errors import InputError
from poinsot.inputs import numbers
from poinsot.ph.derivatives import jacobian as differences
from poinsot.ph.matrices import Array, Vector
from poinsot.systems.livens.smooth import Smooth

#: q -> array.
OfCoordinates: TypeAlias = Callable[[Vector], ArrayLike]


@dataclass(frozen=True)
class Reader:
    """Reads what a user gives for a system, and remembers the derivatives that are `missing`."""

    name: str
    missing: list[str] = field(default_factory=list)

    def names(self, what: str, letter: str, given: Any, size: int) -> list[str]:
        """Return names of so many coordinates or velocities; default: `"q[0]"`, `"q[1]"`, ..."""
        if isinstance(given, str) or not isinstance(given, Sequence | None):
            raise InputError(f"system '{self.name}': {what} is {given!r}; give a list of names")
        names = [f"{letter}[{i}]" for i in range(size)] if given is None else list(given)
        if len(names) != size:
            raise InputError(f"system '{self.name}': {len(names)} names of {size} {what}")
        return names

    def quadratic(self, what: str, n: int, given: Sequence[ArrayLike]) -> Smooth:
        """Return the values q·A q of given matrices (n, n), and b·q of vectors (n,)."""
        second, first = np.zeros((len(given), n, n)), np.zeros((len(given), n))
        for k, form in enumerate(given):
            array = numbers(form, f"system '{self.name}': {what}[{k}]")
            if array.shape == (n, n):
                second[k] = array + array.T
            elif array.shape == (n,):
                first[k] = array
            else:
                raise InputError(
                    f"system '{self.name}': {what}[{k}] has shape {array.shape}, expected "
                    f"{(n, n)} or {(n,)}"
                )
        return Smooth(
            shape=(len(given),),
            value=lambda q: second @ q @ q / 2 + first @ q,
            jacobian=lambda q: second @ q + first,
            curvature=lambda q, w: np.tensordot(w, second, axes=1),
            quadratic=np.ones(len(given), dtype=bool),
            depends=np.ones(n),
        )

    def smooth(
        self,
        what: str,
        shape: tuple[int, ...],
        value: ArrayLike | OfCoordinates,
        first: tuple[str, Any] = ("", None),
        second: tuple[str, Any] = ("", None),
        *,
        depends: Vector,
        kept: tuple[int, ...] | None = None,
    ) -> Smooth:
        """Return a function of as many coordinates as `depends` has entries, see `Smooth`.

        `first` and `second` are name and function of the derivatives: arrays whose last one or two
        indices are those of the coordinates. Without a name they are not missed. Values are kept
        as arrays of the shape `kept`; one number as an array (1,).
        """
        label, n, size = f"system '{self.name}': {what}", depends.size, int(np.prod(shape))
        kept = kept or shape or (1,)

        def checked(given: Any, q: Vector, derivative: str, *indices: int) -> Array:
            array = np.asarray(given(q) if callable(given) else given, dtype=float)
            if array.shape != (*shape, *indices):
                expected = f"expected {(*shape, *indices)}"
                raise InputError(f"{label}{derivative} has shape {array.shape}, {expected}")
            return array

        if not callable(value):
            nowhere, nothing, flat = np.zeros(n), np.zeros((*kept, n)), np.zeros((n, n))
            fixed = checked(numbers(value, label), nowhere, "").reshape(kept)
            return Smooth(
                shape=kept,
                value=lambda q: fixed,
                jacobian=lambda q: nothing,
                curvature=lambda q, w: flat,
                quadratic=np.ones(size, dtype=bool),
                depends=nowhere,
                constant=True,
            )

        def values(q: Vector) -> Array:
            return checked(value, q, "").reshape(kept)

        def slopes(q: Vector) -> Array:
            if first[1] is None:
                return differences(lambda at: values(at).reshape(-1), q).reshape(*kept, n)
            return checked(first[1], q, f" ({first[0]})", n).reshape(*kept, n)

        def curvature(q: Vector, w: Vector) -> Array:
            if second[1] is None:
                return differences(lambda at: w @ slopes(at).reshape(size, n), q)
            tensor = checked(second[1], q, f" ({second[0]})", n, n)
            return np.asarray(np.tensordot(w, tensor.reshape(size, n, n), axes=1))

        self.missing.extend(name for name, slope in (first, second) if name and slope is None)
        return Smooth(
            shape=kept,
            value=values,
            jacobian=slopes,
            curvature=curvature,
            quadratic=np.zeros(size, dtype=bool),
            depends=depends,
            exact=first[1] is not None,
        )
