"""Laws from Python functions; derivatives that are not given are found by differences."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from poinsot.errors import InputError
from poinsot.inputs import count, function, numbers
from poinsot.ph.matrices import Vector
from poinsot.ph.ports import Port
from poinsot.systems.livens.functions import OfCoordinates, smooth
from poinsot.systems.livens.smooth import Smooth
from poinsot.systems.redundant.checks import require_mass
from poinsot.systems.redundant.fields import Field, of
from poinsot.systems.redundant.laws import Laws

#: (zeta, w) -> array.
OfBoth: TypeAlias = Callable[[Vector, Vector], ArrayLike]
#: A law: constant, or a function of zeta (G: of the momenta).
Law: TypeAlias = ArrayLike | OfCoordinates


@dataclass(frozen=True)
class Places:
    """Positions of ports and their derivatives, by the names of the ports."""

    ports: Sequence[Port]
    value: Mapping[str, OfCoordinates]
    first: Mapping[str, OfCoordinates]
    second: Mapping[str, Law]

    def read(self, name: str, n: int, missing: list[str]) -> dict[str, Smooth]:
        """Return the positions as functions of n coordinates; adds derivatives that are missing."""
        sizes, found = {port.name: port.size for port in self.ports}, {}
        for port, value in self.value.items():
            found[port], lost = smooth(
                f"system '{name}': position of '{port}'",
                (sizes.get(port, 0),),
                n,
                value,
                (f"dpositions['{port}']", self.first.get(port)),
                (f"ddpositions['{port}']", self.second.get(port)),
                along=np.ones(n),
            )
            missing.extend(lost)
        return found


def read(
    name: str,
    sizes: tuple[int, int, int, int],
    inputs: int,
    laws: Mapping[str, Law | None],
    slopes: Mapping[str, Law | None],
    dissipation: tuple[OfBoth | None, OfBoth | None, OfBoth | None],
    names: tuple[Sequence[str] | None, Sequence[str] | None],
    places: Places,
    domain: Mapping[str, OfCoordinates],
) -> tuple[Laws, list[str]]:
    """Return the laws, and the names of the derivatives that are missing.

    `sizes` are those of zeta, w, c and A; `dissipation` comes with derivatives by zeta and by w.
    """
    n, k, n_c, n_A = sizes
    for what, size, least in zip(("n_zeta", "n_w", "n_c", "n_A"), sizes, (1, 1, 0, 0), strict=True):
        count(size, f"system '{name}': {what}", least)
    for what, rows in (("c", n_c), ("A", n_A)):
        if (laws[what] is None) != (rows == 0):
            raise InputError(
                f"system '{name}': give {what} and its number n_{what} together, or none of them"
            )
    if laws["Z"] is None and n != k:
        raise InputError(f"system '{name}': {n} coordinates and {k} velocities need Z ({n}, {k})")
    missing: list[str] = []

    def law(what: str, shape: tuple[int, ...], size: int, default: ArrayLike) -> Smooth:
        given, label = laws[what], f"system '{name}': {what}"
        first = f"d{what}", slopes[f"d{what}"]
        second = (f"dd{what}", slopes[f"dd{what}"]) if f"dd{what}" in slopes else ("", None)
        value = default if given is None else given
        made, lost = smooth(label, shape, size, value, first, second, along=np.ones(size))
        missing.extend(lost)
        return made

    def field(what: str, shape: tuple[int, int], size: int, default: ArrayLike) -> Field:
        return of(law(what, shape, size, default), shape)

    for what, given in zip(("coordinates", "velocities"), names, strict=True):
        if isinstance(given, str) or not isinstance(given, Sequence | None):
            raise InputError(f"system '{name}': {what} is {given!r}; give a list of names")
    labels = [
        [f"{letter}[{i}]" for i in range(size)] if given is None else list(given)
        for letter, size, given in zip(("zeta", "w"), (n, k), names, strict=True)
    ]
    for what, size, given in zip(("coordinates", "velocities"), (n, k), labels, strict=True):
        if len(given) != size:
            raise InputError(f"system '{name}': {len(given)} names of {size} {what}")
    M = numbers(laws["M"], f"system '{name}': M")
    if M.shape != (k, k):
        raise InputError(f"system '{name}': M has shape {M.shape}, expected {(k, k)}")
    made = Laws(
        coordinates=labels[0],
        velocities=labels[1],
        M=M,
        potentials=[law("V", (), n, 0.0)],
        constraints=[law("c", (n_c,), n, np.zeros(n_c))] if n_c else [],
        Z=field("Z", (n, k), n, np.eye(n)[:, :k]),
        G=field("G", (k, k), k, np.zeros((k, k))),
        A=field("A", (n_A, k), n, np.zeros((n_A, k))),
        B=field("B", (k, inputs), n, np.zeros((k, inputs))),
        dissipation=_dissipation(name, n, k, dissipation, missing),
        skew=not callable(laws["G"]),
        names_c=[f"c[{i}]" for i in range(n_c)],
        names_A=[f"A[{i}]" for i in range(n_A)],
        positions=places.read(name, n, missing),
        domain={
            edge: smooth(f"system '{name}': domain '{edge}'", (), n, inside, along=np.ones(n))[0]
            for edge, inside in domain.items()
        },
    )
    require_mass(name, made)
    return made, missing


def _dissipation(
    name: str,
    n: int,
    k: int,
    given: tuple[OfBoth | None, OfBoth | None, OfBoth | None],
    missing: list[str],
) -> Field:
    """Return tau_d as a function of one vector (zeta, w)."""
    label, (tau_d, by_zeta, by_w) = f"system '{name}': dissipation", given
    for what, part in zip(("", "_dzeta", "_dw"), given, strict=True):
        if part is not None:
            function(part, f"{label}{what}")

    def joined(*parts: OfBoth) -> OfCoordinates:
        return lambda both: np.hstack([part(both[:n], both[n:]) for part in parts])

    slopes = None if by_zeta is None or by_w is None else joined(by_zeta, by_w)
    value = np.zeros(k) if tau_d is None else joined(tau_d)
    made, _ = smooth(label, (k,), n + k, value, ("derivatives", slopes), along=np.ones(n + k))
    if tau_d is not None:
        for what, slope in (("dissipation_dzeta", by_zeta), ("dissipation_dw", by_w)):
            missing.extend([] if slope is not None else [what])
    return of(made, (k, 1))
