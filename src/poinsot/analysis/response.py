"""Frequency response, poles and zeros of linear systems, and power spectra of runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from poinsot.analysis.conversion import port_labels
from poinsot.analysis.eigenmodes import eigen
from poinsot.analysis.elimination import CUT, eliminate, null_space, require_determined, scales
from poinsot.analysis.linear import AnyLinear, sparse
from poinsot.analysis.linearisation import linearise
from poinsot.analysis.slowest_modes import independent_parts
from poinsot.errors import InputError, NoEffectError, did_you_mean
from poinsot.inputs import numbers
from poinsot.ph.matrices import Array, dense, is_sparse
from poinsot.result import Result

Complex = NDArray[np.complex128]
#: Part of what a response is the sum of that is round-off.
ROUND_OFF = 1e-13
#: Pivots of a pencil below this part of the largest are zero; what is left of its equations then.
SINGULAR, ACCURATE = 1e-13, 1e-7


@dataclass(frozen=True, eq=False)
class FrequencyResponse:
    """Frequency response of a linear system, outputs over inputs at i omega.

    Attributes
    ----------
    name : str
        Name of the system.
    frequencies : (points,)
        omega [rad/s].
    values : (points, outputs, inputs)
        Y / U, complex; infinite at undamped eigenfrequencies.
    outputs, inputs : tuple of str
        Their names, with SI units if known.
    """

    name: str
    frequencies: Array
    values: Complex
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    output_units: tuple[str | None, ...]
    input_units: tuple[str | None, ...]

    @property
    def hertz(self) -> Array:
        """Frequencies [Hz]; (points,)."""
        return self.frequencies / (2 * np.pi)

    @property
    def magnitude(self) -> Array:
        """Magnitude abs(Y / U); (points, outputs, inputs)."""
        return np.asarray(abs(self.values))

    @property
    def decibels(self) -> Array:
        """Magnitude [dB], 20 log10 abs(Y / U); (points, outputs, inputs)."""
        with np.errstate(divide="ignore"):
            return np.asarray(20 * np.log10(self.magnitude))

    @property
    def phase(self) -> Array:
        """Phase [rad], unwrapped over frequency; (points, outputs, inputs)."""
        return np.unwrap(np.angle(self.values), axis=0)

    def between(self, output: str, input: str) -> Complex:
        """Return the response of one output to one input, by name; (points,)."""
        places = []
        for what, name, known in (
            ("output", output, self.outputs),
            ("input", input, self.inputs),
        ):
            if name not in known:
                raise InputError(
                    f"frequency response: no {what} '{name}'; {did_you_mean(name, known)}"
                )
            places.append(known.index(name))
        return np.asarray(self.values[:, places[0], places[1]])


def frequency_response(
    system: Any,
    frequencies: ArrayLike,
    *,
    inputs: str | Sequence[str] | None = None,
    outputs: str | Sequence[str] | None = None,
    at: Any = "start",
    coordinates: str | None = None,
) -> FrequencyResponse:
    """Return y = C (i omega E - A)^-1 B u between ports, by one sparse solution per frequency.

    Parameters
    ----------
    system : Model, PHSystem, LinearPHSystem or LinearDescriptor
        Nonlinear systems are linearised first.
    frequencies : (points,)
        omega [rad/s].
    inputs, outputs : str or sequence of str
        Ports, or components of them such as `"tip[2]"`. Default: all.
    at, coordinates
        See `linearise`.

    Raises
    ------
    NoEffectError
        If an input has no effect, or an output is not affected, at any of the frequencies.
    """
    linear = linearise(system, at, coordinates=coordinates)
    require_determined(linear)
    omega = np.atleast_1d(numbers(frequencies, "frequency_response: frequencies")).reshape(-1)
    if not omega.size or not np.isfinite(omega).all():
        raise InputError(
            f"frequency_response: frequencies: expected finite numbers [rad/s], got {frequencies!r}"
        )
    columns, rows = _chosen(linear, inputs, "inputs"), _chosen(linear, outputs, "outputs")
    labels = port_labels(linear.ports)
    B, C = dense(linear.matrix_B)[:, columns], dense(linear.matrix_C)[rows]
    _require_effect(linear, [labels[k] for k in columns], [labels[k] for k in rows], B, C)
    solve, values, reach = _Solver(linear), [], np.zeros((rows.size, columns.size))
    moved = np.zeros(columns.size)
    for w in omega:
        x, part = solve(w, B)
        moved = np.maximum(moved, part)
        with np.errstate(invalid="ignore"):
            values.append(C @ x)
            largest = np.max((abs(x) / solve.columns[:, None])[solve.moving], axis=0)
            reach = np.fmax(reach, np.max(abs(C) * solve.columns, axis=1)[:, None] * largest)
    for k in np.flatnonzero(moved <= ROUND_OFF):
        raise NoEffectError(
            f"system '{linear.name}': input '{labels[columns[k]]}' has no effect: constraints "
            "balance it completely"
        )
    found = np.array(values).reshape(omega.size, rows.size, columns.size)
    found[np.isnan(found)] = np.inf
    y_units = [port.y_unit for port in linear.ports for _ in range(port.size)]
    u_units = [port.u_unit for port in linear.ports for _ in range(port.size)]
    return FrequencyResponse(
        name=linear.name,
        frequencies=omega,
        values=np.where(abs(found) <= ROUND_OFF * reach, 0.0, found),
        outputs=tuple(labels[k] for k in rows),
        inputs=tuple(labels[k] for k in columns),
        output_units=tuple(y_units[k] for k in rows),
        input_units=tuple(u_units[k] for k in columns),
    )


def _chosen(linear: AnyLinear, given: str | Sequence[str] | None, what: str) -> NDArray[np.intp]:
    """Return the indices of inputs or outputs, by names of ports or of their components."""
    if not linear.ports:
        raise InputError(
            f"system '{linear.name}' has no ports; add one, e.g. "
            "model.add_port('motor', ps.JointPort('hinge'))"
        )
    if given is None:
        return np.arange(linear.m)
    labels, found = port_labels(linear.ports), list[int]()
    for name in [given] if isinstance(given, str) else given:
        if name in linear.port_slices:
            at = linear.port_slices[name]
            found += range(at.start, at.stop)
        elif name in labels:
            found.append(labels.index(name))
        else:
            known = dict.fromkeys([*linear.port_slices, *labels])
            raise InputError(
                f"system '{linear.name}': {what}: no port '{name}'; {did_you_mean(name, known)}"
            )
    return np.array(found, dtype=np.intp)


def _require_effect(
    linear: AnyLinear,
    inputs: Iterable[str],
    outputs: Iterable[str],
    B: Array,
    C: Array,
) -> None:
    """Refuse inputs without an effect and outputs that nothing affects."""
    for k, name in enumerate(inputs):
        if not B[:, k].any():
            raise NoEffectError(
                f"system '{linear.name}': input '{name}' has no effect at this operating point: "
                "its column of B is zero"
            )
    for k, name in enumerate(outputs):
        if not C[k].any():
            raise NoEffectError(
                f"system '{linear.name}': nothing has an effect on output '{name}' at this "
                "operating point: its row of C is zero"
            )


class _Solver:
    """Solves (i omega E - A) x = B u, without redundant equations."""

    def __init__(self, linear: AnyLinear) -> None:
        E, A = linear.matrix_E, linear.matrix_A
        rows, columns = scales(linear)
        self._linear, self._rows, self.columns = linear, rows, columns
        self.moving = ~np.asarray(linear.algebraic)
        left, right = sp.diags_array(rows), sp.diags_array(columns)
        self._E: Any = sp.csr_array(left @ sparse(E) @ right)
        self._A: Any = sp.csr_array(left @ sparse(A) @ right)
        self._sparse = is_sparse(E) or is_sparse(A)
        if not self._sparse:
            self._E, self._A = self._E.toarray(), self._A.toarray()
        self._kept = np.arange(rows.size), np.arange(rows.size)

    def __call__(self, omega: float, B: Array) -> tuple[Complex, Array]:
        """Return x, NaN at an eigenfrequency, and which part of it each input moves."""
        pencil, right = 1j * omega * self._E - self._A, self._rows[:, None] * B
        x = self._sparsely(pencil, right) if self._sparse else _densely(pencil, right)
        with np.errstate(invalid="ignore"):
            whole = np.max(abs(x), axis=0, initial=0.0)
            part = np.max(abs(x[self.moving]), axis=0, initial=0.0) / np.where(whole > 0, whole, 1)
        part = np.where(np.isfinite(part), part, 1.0)
        return np.asarray(self.columns[:, None] * x), part

    def _sparsely(self, pencil: Any, right: Array) -> Complex:
        found = self._by_lu(pencil, right)
        if found is None and self._kept[0].size == right.shape[0]:
            self._kept = independent_parts(self._linear, self._E, self._A)
            if self._kept[0].size < right.shape[0]:
                found = self._by_lu(pencil, right)
        return np.full(right.shape, np.nan, dtype=complex) if found is None else found

    def _by_lu(self, pencil: Any, right: Array) -> Complex | None:
        from scipy.sparse.linalg import splu

        rows, columns = self._kept
        part = sp.csc_array(pencil[rows][:, columns])
        try:
            lu = splu(part)
        except RuntimeError:  # exactly singular
            return None
        found = lu.solve(right[rows].astype(complex))
        change = lu.solve(right[rows] - part @ found)
        if not _settled(change, found):
            return None
        found = found + change
        x = np.zeros(right.shape, dtype=complex)
        x[columns] = found
        return x


def _densely(pencil: Complex, right: Array) -> Complex:
    """Return the shortest solution, since multipliers of redundant constraints are not unique.

    NaN if there is none.
    """
    lu, pivots, singular = scipy.linalg.lapack.zgetrf(pencil)
    if not singular:
        found = scipy.linalg.lapack.zgetrs(lu, pivots, right.astype(complex))[0]
        change = scipy.linalg.lapack.zgetrs(lu, pivots, right - pencil @ found)[0]
        if _settled(change, found):
            return np.asarray(found + change)
    found = scipy.linalg.lstsq(
        pencil, right.astype(complex), cond=SINGULAR, lapack_driver="gelsy", check_finite=False
    )[0]
    for k in range(right.shape[1]):
        if _gap(pencil @ found[:, k] - right[:, k], right[:, k]) > ACCURATE:
            found[:, k] = np.nan
    return np.asarray(found)


def _settled(change: Any, found: Any) -> bool:
    """Return whether a solution is known: where it is none, a correction is as large as itself."""
    return bool(np.max(abs(change), initial=0.0) <= ACCURATE * np.max(abs(found), initial=0.0))


def _gap(residual: Any, right: Array) -> float:
    return float(np.max(abs(residual), initial=0.0) / (np.max(abs(right), initial=0.0) or 1.0))


def poles(system: Any, *, at: Any = "start", coordinates: str | None = None) -> Complex:
    """Return all finite eigenvalues of a small system [1/s], including multiple zeros."""
    part = eliminate(linearise(system, at, coordinates=coordinates))
    values = eigen(part.F)[0]
    # Of a double zero there is one eigenvector.
    return np.append(np.zeros(part.F.shape[0] - values.size), values)


def zeros(
    system: Any,
    *,
    inputs: str | Sequence[str] | None = None,
    outputs: str | Sequence[str] | None = None,
    at: Any = "start",
    coordinates: str | None = None,
) -> Complex:
    """Return the transmission zeros between ports [1/s].

    These are the finite values at which the Rosenbrock pencil [[A - s E, B], [C, D]] loses rank.
    The numbers of inputs and outputs must be equal.
    """
    linear = linearise(system, at, coordinates=coordinates)
    columns, rows = _chosen(linear, inputs, "inputs"), _chosen(linear, outputs, "outputs")
    if columns.size != rows.size:
        raise InputError(
            f"zeros: {columns.size} inputs and {rows.size} outputs; choose equal numbers"
        )
    part, m = eliminate(linear), columns.size
    if len(part.feedthrough) > 1:
        raise InputError(
            f"system '{linear.name}': outputs depend on derivatives of inputs; exchange input and "
            "output of the port"
        )
    D = part.feedthrough[0][np.ix_(rows, columns)] if part.feedthrough else np.zeros((m, m))
    F, G, C = part.F, part.G[:, columns], part.C[rows]
    return _invariant_zeros(linear.name, F, G, C, D)


def _invariant_zeros(name: str, F: Array, G: Array, C: Array, D: Array) -> Complex:
    """Return the eigenvalues on the largest space of states that inputs can keep unseen.

    V with F V in V + G u and C V + D u = 0 (Wonham; Basile and Marro): what moves in it is seen at
    no output, and moves by the zeros.
    """
    size = np.max(abs(F), initial=0.0) or 1.0
    F, V = F / size, np.eye(len(F))
    G, C = G / (np.linalg.norm(G) or 1.0), C / (np.linalg.norm(C) or 1.0)
    while True:
        P = null_space(V.T) if V.shape[1] < len(F) else np.zeros((len(F), 0))
        rows = np.block([[P.T @ F @ V, P.T @ G], [C @ V, D]])
        inside = null_space(rows, CUT, 1.0)[: V.shape[1]]
        kept = scipy.linalg.orth(inside, rcond=CUT) if inside.size else inside
        if kept.shape[1] == V.shape[1]:
            break
        V = V @ kept
    r, m = V.shape[1], G.shape[1]
    both = np.block([[V, -G], [np.zeros((len(C), r)), -D]])
    if np.linalg.matrix_rank(both, tol=CUT) < r + m:
        raise NoEffectError(
            f"system '{name}': some input has no effect on these outputs at any frequency, so that "
            "zeros are not defined; choose other ports"
        )
    found = np.linalg.lstsq(both, np.vstack([F @ V, C @ V]), rcond=None)[0][:r]
    values = size * eigen(found)[0] if r else np.zeros(0, dtype=complex)
    return np.append(np.zeros(r - values.size), values)


def power_spectrum(
    result: Result, values: str | ArrayLike, *, window: str = "hann"
) -> tuple[Array, Array]:
    """Return frequencies [rad/s] and the one-sided power spectral density of a run.

    Parameters
    ----------
    result : Result
        A run with evenly spaced saved times.
    values : str or (times,) or (times, size)
        Name of a state, or any values at the saved times.
    window : str
        Window of `scipy.signal`.

    Returns
    -------
    frequencies : (points,)
        omega [rad/s].
    density : (points,) or (points, size)
        Power per rad/s: its integral over frequencies is the variance of the values.
    """
    from scipy.signal import periodogram

    data = result[values] if isinstance(values, str) else numbers(values, "power_spectrum: values")
    time = np.asarray(result.time)
    if len(data) != time.size:
        raise InputError(
            f"power_spectrum: {len(data)} values at {time.size} saved times of the result"
        )
    if time.size < 4:
        raise InputError(f"power_spectrum: {time.size} saved times are too few; save more steps")
    steps = np.diff(time)
    if np.ptp(steps) > 1e-6 * np.mean(steps):
        raise InputError(
            "power_spectrum: the saved times of the result are not evenly spaced; simulate with a "
            "constant step size"
        )
    rate = 1 / float(np.mean(steps))
    hertz, density = periodogram(data, rate, window=window, detrend="constant", axis=0)
    return 2 * np.pi * hertz, density / (2 * np.pi)
