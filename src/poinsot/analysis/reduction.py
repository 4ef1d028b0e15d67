"""Model reduction of linear port-Hamiltonian systems, with error measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.analysis import norms
from poinsot.analysis.elimination import eliminate
from poinsot.analysis.linear import LinearPHSystem
from poinsot.analysis.linearisation import linearise
from poinsot.analysis.minimal_form import (
    MinimalForm,
    ProjectedForm,
    mechanical,
    minimal,
    projected,
)
from poinsot.analysis.moments import Pencil, about_points, over_band, pencil_of
from poinsot.analysis.parts_of_states import chosen, on_states
from poinsot.analysis.response import frequency_response
from poinsot.analysis.subspaces import craig_bampton, in_energy, irka, modal, positive_real
from poinsot.errors import InputError, StructureError, did_you_mean
from poinsot.inputs import count, numbers
from poinsot.ph.dirac import Defects
from poinsot.ph.matrices import Array, dense

Complex = NDArray[np.complex128]
METHODS = ("krylov", "irka", "prbt", "modal", "craig-bampton")
#: Frequencies that a band is looked at, next to those of poles.
GRID = 200
#: Where a band that begins at zero is looked at first, as a part of its end.
FIRST = 1e-3
#: Constraints of so many states are eliminated by dense matrices; norms over all frequencies are
#: computed of so many independent states.
DENSE, EXPLICIT = 3000, 600
#: Poles to the right of the imaginary axis by less than this part of the largest are on it.
STABLE = 1e-10


@dataclass(frozen=True, eq=False)
class Reduction:
    """A reduced system and its verified properties; result of `reduce`.

    Errors are relative to the norm of the full system over the same frequencies.

    Attributes
    ----------
    full : LinearPHSystem
        The full system.
    system : ProjectedForm
        The reduced system, with the same ports; its `V` is the projection, x = V xi. It is a
        `MinimalForm`, without constraints, unless some states were kept.
    method : str
        Method of reduction.
    matched : tuple of (complex, int)
        Points s [1/s], and the number of moments of the transfer function (value and derivatives)
        that are matched at each, at least.
    band : (2,) or None
        Frequency band of `band_error` [rad/s].
    """

    full: LinearPHSystem
    system: ProjectedForm
    method: str
    matched: tuple[tuple[complex, int], ...] = ()
    band: tuple[float, float] | None = None
    _sampled: tuple[Array, Complex] | None = field(default=None, repr=False)

    @property
    def order(self) -> int:
        """Number of states of the reduced system."""
        return self.system.n

    @property
    def projection(self) -> Array:
        """V of x = V xi, from reduced to full states; (n, order)."""
        assert self.system.V is not None
        return dense(self.system.V)

    @cached_property
    def h2_error(self) -> float:
        """H2 norm of the difference; infinite if motions that are not damped differ.

        NaN: the full system has too many states for norms over all frequencies.
        """
        return self._relative(norms.h2)

    @cached_property
    def h_infinity_error(self) -> float:
        """H-infinity norm of the difference; infinite if motions that are not damped differ.

        NaN: the full system has too many states for norms over all frequencies.
        """
        return self._relative(norms.h_infinity)

    @cached_property
    def band_error(self) -> float:
        """Largest gain of the difference in the band, over the largest one of the full system.

        NaN without a band. Infinite if it contains an undamped eigenfrequency that differs.
        """
        if self.band is None or self._sampled is None:
            return np.nan
        if self._full is not None and self._lasting_in_band():
            return np.inf
        omega, full = self._sampled
        with np.errstate(invalid="ignore"):
            gaps = np.array([self._gap(w, g) for w, g in zip(omega, full, strict=True)])
        finite = np.isfinite(gaps)
        k = int(np.argmax(np.where(finite, gaps, -1.0)))
        around = omega[max(k - 1, 0)], omega[min(k + 1, omega.size - 1)]
        largest = max(float(gaps[k]), self._refined(*around))
        sizes = np.linalg.norm(full[finite], 2, axis=(1, 2))
        return largest / (float(np.max(sizes, initial=0.0)) or 1.0)

    @cached_property
    def abscissa(self) -> float:
        """Largest real part of the poles of the reduced system [1/s]."""
        return float(np.max(self.poles.real, initial=-np.inf))

    @cached_property
    def poles(self) -> Complex:
        """Poles of the reduced system [1/s], except displacements that no port observes."""
        parts = norms.split(self._reduced)
        return np.append(parts.decaying.poles, parts.lasting.poles)

    @property
    def stable(self) -> bool:
        """Whether the reduced system is stable."""
        return self.abscissa <= STABLE * float(np.max(abs(self.poles), initial=0.0))

    @cached_property
    def passivity(self) -> float:
        """Lowest eigenvalue of (G + G^*) / 2 over all frequencies, relative to the largest gain.

        Below zero by more than round-off, the reduced system would supply power by itself. All
        frequencies: sign changes are imaginary eigenvalues of a Hamiltonian pencil.
        """
        return norms.passivity(self._reduced)

    @property
    def passive(self) -> bool:
        """Whether the reduced system is passive."""
        return self.stable and self.passivity >= -norms.PASSIVE

    @cached_property
    def structure(self) -> Defects:
        """Defects of the structure of the reduced system: J skew, R >= 0, E^T Q symmetric."""
        return self.system.defects(self.system.start)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Remarks on the errors and the stability."""
        if self._full is None:
            return (
                f"norms over all frequencies are not available for more than {EXPLICIT} states",
            )
        if self._difference[0].lasts(self._difference[1]):
            return (
                "H2 and H-infinity errors are infinite: undamped modes differ; add damping, or use "
                "a band without their frequencies",
            )
        return ()

    def __str__(self) -> str:
        """What was verified, a line each."""
        band = "" if self.band is None else f" from {self.band[0]:.4g} to {self.band[1]:.4g} rad/s"
        return "\n".join(
            [
                f"{self.full.name}: {self.full.n} states reduced to {self.order} ({self.method})",
                f"H-infinity error {self.h_infinity_error:.3g}, H2 error {self.h2_error:.3g}",
                *([f"error{band} {self.band_error:.3g}"] if band else []),
                f"stable: {self.stable}, largest real part of poles {self.abscissa:.3g} 1/s",
                f"passive: {self.passive}, lowest power {self.passivity:.3g}",
                *self.notes,
            ]
        )

    @cached_property
    def _reduced(self) -> norms.Explicit:
        return explicit(self.system)

    @cached_property
    def _full(self) -> norms.Explicit | None:
        if self.full.n > DENSE:
            return None
        found = explicit(self.full)
        return found if len(found.A) <= EXPLICIT else None

    @cached_property
    def _difference(self) -> tuple[norms.Split, norms.Split]:
        assert self._full is not None
        full = norms.split(self._full)
        return full.minus(norms.split(self._reduced)), full

    def _relative(self, norm: Any) -> float:
        if self._full is None:
            return np.nan
        difference, full = self._difference
        if difference.lasts(full):
            return np.inf
        return float(norm(difference.decaying) / (norm(full.decaying) or 1.0))

    def _lasting_in_band(self) -> bool:
        assert self.band is not None
        difference, full = self._difference
        at = abs(difference.lasting.poles.imag)
        inside = any(self.band[0] <= w <= self.band[1] for w in at)
        return inside and difference.lasts(full)

    def _gap(self, omega: float, full: Complex) -> float:
        value = full - self._reduced(1j * omega)
        return float(np.linalg.norm(value, 2)) if np.all(np.isfinite(value)) else np.nan

    def _refined(self, low: float, high: float) -> float:
        """Return the largest gap between two neighbours of the largest one known."""
        from scipy.optimize import minimize_scalar

        if not low < high:
            return 0.0

        def minus(omega: float) -> float:
            if self._full is not None:
                return -float(np.linalg.norm(self._difference[0](1j * omega), 2))
            return -self._gap(omega, frequency_response(self.full, [omega]).values[0])

        found = minimize_scalar(minus, bounds=(low, high), method="bounded")
        return 0.0 if np.isnan(found.fun) else -float(found.fun)


def reduce(
    system: Any,
    order: int | None = None,
    method: str = "krylov",
    *,
    points: Sequence[complex] | None = None,
    band: Sequence[float] | None = None,
    states: str | Sequence[str] | None = None,
    at: Any = "start",
    coordinates: str | None = None,
) -> Reduction:
    """Return a reduced port-Hamiltonian system with the same ports.

    Parameters
    ----------
    system : Model, PHSystem or LinearPHSystem
        Nonlinear systems are linearised first.
    order : int
        Number of states of the reduced system; even for mechanical systems with `"krylov"`,
        `"modal"` and `"craig-bampton"`, which keep displacements and velocities in pairs. Default
        with points: one moment at each.
    method : str
        `"krylov"`: match moments of the transfer function at points [BAPM21, eq. (46)]; sparse.
        `"irka"`: pH-IRKA, with H2-optimal points. `"prbt"`: positive-real balanced truncation; the
        energy of the reduced system is the available storage of the full one. `"modal"`: the
        slowest undamped modes that the ports excite. `"craig-bampton"`: displacements of ports as
        coordinates, and the slowest modes with fixed ports. `"irka"` and `"prbt"` need pyMOR, the
        extra `poinsot[analysis]`.
    points : sequence of complex
        Points s [1/s] for `"krylov"`; their conjugates are matched, too. Default: the frequencies
        of largest error in the band, one after the other.
    band : (2,)
        Lowest and highest frequency [rad/s] for the error.
    states : str or sequence of str
        Names of the states that `"krylov"` reduces to `order`, such as those of one flexible body.
        All others are kept, with all constraints [BAPM21, eq. (46)]. Default: all states are
        reduced, and constraints eliminated. In mechanical systems displacements are reduced with
        their velocities.
    at, coordinates
        See `linearise`.

    Raises
    ------
    InputError
        If the order exceeds that of the system, a point is a pole, or the system has no ports.
    StructureError
        If the system has no port-Hamiltonian form, or no positive energy where a method needs it.
    """
    linear = linearise(system, at, coordinates=coordinates)
    if not isinstance(linear, LinearPHSystem):
        raise StructureError(
            f"system '{linear.name}' is not port-Hamiltonian at this operating point: {linear.why}"
        )
    if method not in METHODS:
        raise InputError(f"reduce: no method '{method}'; {did_you_mean(str(method), METHODS)}")
    if not linear.m:
        raise InputError(
            f"system '{linear.name}' has no ports, whose response a reduction preserves; add a port"
        )
    places, limits = _places(points, method), _band(band)
    if states is not None and method != "krylov":
        raise InputError(
            f"reduce: the method '{method}' reduces all states; use 'krylov' to reduce some"
        )
    base = _base(linear) if states is None else linear
    pencil = pencil_of(base)
    picked, pairs = (None, 1 if pencil.freedoms is None else 2)
    if states is None:
        _require_order(pencil, order, method, places)
    else:
        picked, pairs = chosen(base, states)
        _require_part(base, order, pairs * picked.size, pairs, places)
    room = None if order is None else order // pairs
    sampled, nearest = None, None
    if limits is not None:
        omega = _frequencies(base, limits)
        nearest, values = over_band(pencil, omega, room or 1)
        sampled = omega, values
    matched: tuple[tuple[complex, int], ...] = ()
    if method != "krylov":
        assert order is not None
        small = _from_minimal(base, pencil, order, method)
    elif places is not None:
        basis, matched = about_points(pencil, places, room)
        small = _on(pencil, basis, picked, room)
    elif nearest is not None:
        small = _on(pencil, nearest, picked, room)
    else:
        raise InputError("reduce: 'krylov' needs points, or a band and an order")
    if isinstance(base, MinimalForm) and base is not linear:
        small = _lifted(base, small)
    return Reduction(linear, small, method, matched, limits, sampled)


def _base(linear: LinearPHSystem) -> LinearPHSystem:
    """Return what is reduced: constraints that are not those of a mechanism are eliminated."""
    algebraic = bool(np.any(linear.algebraic)) and mechanical(linear) is None
    return minimal(linear) if algebraic and linear.n <= DENSE else linear


def _on(pencil: Pencil, basis: Array, picked: Any, room: int | None) -> ProjectedForm:
    """Project on a space of displacements, or of states; all of them or some."""
    if picked is not None:
        return on_states(pencil.system, picked, basis, room or basis.shape[1])
    if pencil.freedoms is None:
        return in_energy(pencil.system, basis)
    return projected(pencil.system, pencil.used, basis)


def _from_minimal(base: LinearPHSystem, pencil: Pencil, order: int, method: str) -> ProjectedForm:
    """Reduce by a method that works on the explicit form."""
    small = minimal(base)
    if method in ("irka", "prbt"):
        return _lifted(small, (irka if method == "irka" else positive_real)(small, order))
    T = (modal if method == "modal" else craig_bampton)(small, order)
    if pencil.freedoms is None:
        return _lifted(small, in_energy(small, T))
    assert small.V is not None
    return projected(base, pencil.used, dense(small.V)[: pencil.used, : small.freedoms] @ T)


def _lifted(before: MinimalForm, small: ProjectedForm) -> ProjectedForm:
    """Write the projection in the states of the system that was there before a minimal form."""
    assert before.V is not None
    assert small.V is not None
    return replace(small, V=before.V @ small.V)


def explicit(linear: LinearPHSystem) -> norms.Explicit:
    """Return x' = A x + B u, y = C x + D u of a linear system."""
    part = eliminate(linear)
    if len(part.feedthrough) > 1:
        raise InputError(
            f"system '{linear.name}': its outputs depend on derivatives of its inputs; exchange "
            "input and output of the port"
        )
    D = part.feedthrough[0] if part.feedthrough else np.zeros((linear.m, linear.m))
    return norms.Explicit(part.F, part.G, part.C, D)


def _places(points: Sequence[complex] | None, method: str) -> tuple[complex, ...] | None:
    """Return points of expansion, of conjugate ones the upper."""
    if points is None:
        return None
    if method != "krylov":
        raise InputError(
            f"reduce: the method '{method}' does not use points; leave them out, or use 'krylov'"
        )
    try:
        found = np.atleast_1d(np.asarray(points, dtype=complex)).reshape(-1)
    except (TypeError, ValueError):
        raise InputError(f"reduce: points: expected complex numbers, got {points!r}") from None
    if not found.size or not np.all(np.isfinite(found)):
        raise InputError(f"reduce: points: expected finite complex numbers, got {points!r}")
    return tuple(dict.fromkeys(complex(s.real, abs(s.imag)) for s in found))


def _band(band: Sequence[float] | None) -> tuple[float, float] | None:
    if band is None:
        return None
    ends = numbers(band, "reduce: band")
    if ends.shape != (2,) or not 0 <= ends[0] < ends[1]:
        raise InputError(f"reduce: band: expected two ascending frequencies [rad/s], got {band!r}")
    return float(ends[0]), float(ends[1])


def _require_order(pencil: Pencil, order: int | None, method: str, points: Any) -> None:
    """Refuse orders that are too large, or odd where states come in pairs."""
    name, paired = pencil.system.name, pencil.freedoms is not None
    if order is None:
        if points is None:
            raise InputError("reduce: give the order, the number of states to keep")
        return
    count(order, "reduce: order", 1)
    states = 2 * pencil.freedoms if pencil.freedoms is not None else pencil.system.n
    if order > states or (order == states and method in ("irka", "prbt")):
        raise InputError(
            f"reduce: order {order} is not less than the {states} independent states of system "
            f"'{name}'"
        )
    if paired and method not in ("irka", "prbt") and order % 2:
        near = f"{order - 1} or {order + 1}" if order > 1 else "2"
        raise InputError(
            f"reduce: order {order} is odd, and the method '{method}' keeps displacements and "
            f"velocities of system '{name}' in pairs; choose {near}"
        )


def _require_part(system: Any, order: int | None, own: int, pairs: int, points: Any) -> None:
    """Refuse orders that are larger than the states to be reduced, or odd where these are pairs."""
    if order is None:
        if points is None:
            raise InputError("reduce: give the order, the number of states to keep")
        return
    count(order, "reduce: order", pairs)
    if order > own or order % pairs:
        raise InputError(
            f"reduce: order {order} does not match the {own} states of system '{system.name}' "
            f"to reduce; choose {'an even' if pairs == 2 else 'a'} number up to {own}"
        )


def _frequencies(linear: LinearPHSystem, band: tuple[float, float]) -> Array:
    """Return frequencies in a band, those of poles included."""
    low, high = band
    omega = np.geomspace(low or FIRST * high, high, GRID)
    if not low:
        omega = np.append(0.0, omega)
    if linear.n <= DENSE:
        poles = np.linalg.eigvals(eliminate(linear).F)
        more = np.concatenate([abs(poles), abs(poles.imag)])
        omega = np.unique(np.append(omega, more[(more > low) & (more < high)]))
    return omega
