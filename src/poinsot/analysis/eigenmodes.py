"""Modes: eigenvalues and mode shapes of linear systems with constraints."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from poinsot.analysis.elimination import eliminate, null_space, scales
from poinsot.analysis.linear import AnyLinear, labels, symmetric
from poinsot.analysis.linearisation import linearise
from poinsot.analysis.mode_motion import mode_motion, motion_of
from poinsot.analysis.slowest_modes import is_singular, slowest
from poinsot.analysis.steady_frames import frames, is_mechanism
from poinsot.errors import InputError, SingularPencilError, did_you_mean
from poinsot.inputs import count as checked_count
from poinsot.ph.derivatives import COEFFICIENTS, RELATIVE_STEP
from poinsot.ph.matrices import Array, large, nonzero
from poinsot.ph.system import PHSystem
from poinsot.result import Result

Complex = NDArray[np.complex128]
#: Systems of so many states have all of their modes computed; of larger ones so many by default.
DENSE, FEW = 1000, 20
#: Part of the largest entry of F, all states brought to one size, that is round-off.
NOISE = 1e-11
#: Part of the largest rate below which a singular value of F is zero.
ZERO = 1e-10
#: Displacements that differ by less than this part are the same.
SAME = 1e-6
#: A direction that has this part of a vector is called its direction.
MOSTLY = 0.95
#: Part of an eigenvalue up to which a real or imaginary part is round-off.
ROUND_OFF = 1e-9
#: The same of double eigenvalues, which are known to a root of round-off.
DOUBLE = 3e-7
#: Eigenvalues below this part of the largest are refined, so often, if that moves them by less.
SLOW, REFINEMENTS, NEAR = 1e-2, 3, 1e-2
#: Part of the fastest eigenvalue from which on its round-off is seen in slow ones.
WIDE = 1e-4
#: Part of the largest eigenvalue that no eigenvalue is known better than.
EXACT = 1e-14


@dataclass(frozen=True, eq=False)
class Modes:
    """Modes of a linear system, E Phi Lambda = A Phi, by ascending magnitude of the eigenvalues.

    A conjugate pair is represented by the eigenvalue with positive imaginary part. Rigid modes come
    first, with eigenvalues of exactly zero.

    Attributes
    ----------
    linear : LinearPHSystem or LinearDescriptor
        The linear system.
    eigenvalues : (modes,)
        Eigenvalues [1/s].
    shapes : (n, modes)
        Eigenvectors in the states of `linear`, scaled so that the largest entry is 1 in natural
        units.
    rigid : int
        Number of rigid modes: motions without restoring forces, with the eigenvalue zero.
    drifting : int
        Number of rigid modes with a double eigenvalue zero, which continue once set in motion.
    infinite : int or None
        Number of infinite eigenvalues, which belong to constraints; None: not counted.
    index : int or None
        Index of the descriptor system.
    constants : int or None
        Number of constants such as g(q), which velocity constraints leave; they are not modes.
    repeated : int
        Number of redundant equations.
    """

    linear: AnyLinear
    eigenvalues: Complex
    shapes: Complex
    rigid: int = 0
    drifting: int = 0
    infinite: int | None = None
    index: int | None = None
    constants: int | None = None
    repeated: int = 0

    def __len__(self) -> int:
        """How many modes there are."""
        return self.eigenvalues.size

    @property
    def frequencies(self) -> Array:
        """Undamped eigenfrequencies, magnitudes of the eigenvalues [rad/s]; (modes,)."""
        return np.asarray(np.abs(self.eigenvalues))

    @property
    def hertz(self) -> Array:
        """Undamped eigenfrequencies [Hz]; (modes,)."""
        return self.frequencies / (2 * np.pi)

    @property
    def damped_frequencies(self) -> Array:
        """Damped eigenfrequencies, imaginary parts of the eigenvalues [rad/s]; (modes,)."""
        return np.asarray(self.eigenvalues.imag)

    @property
    def damping_ratios(self) -> Array:
        """Damping ratios -Re(s) / abs(s) of the eigenvalues s; 0 for rigid modes; (modes,)."""
        size = self.frequencies
        ratios = np.divide(-self.eigenvalues.real, size, out=np.zeros(size.size), where=size > 0)
        return ratios + 0.0  # no minus before a zero

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kind of each mode: `"rigid"`, `"oscillation"`, `"decay"`, `"growth"` or `"flutter"`."""
        return tuple(_kind(value) for value in self.eigenvalues)

    @property
    def stable(self) -> bool:
        """Whether no eigenvalue has a positive real part."""
        return not any(kind in ("growth", "flutter") for kind in self.kinds)

    @cached_property
    def residual(self) -> float:
        """The largest of E Phi Lambda - A Phi, relative to the terms of its mode."""
        E, A = self.linear.matrix_E, self.linear.matrix_A
        rows, columns = scales(self.linear)
        Phi = self.shapes / columns[:, None]
        Phi = Phi / np.max(abs(Phi), axis=0, initial=np.finfo(float).tiny)
        moved, pushed = ((rows[:, None] * (M @ (columns[:, None] * Phi))) for M in (E, A))
        sizes = [np.max(abs(part), axis=0, initial=0.0) for part in (moved, pushed)]
        terms = sizes[0] * abs(self.eigenvalues) + sizes[1]
        gap = abs(moved * self.eigenvalues - pushed)
        # Of a rigid mode all terms vanish: it is compared with those of the whole.
        whole = np.max(terms, initial=0.0) or 1.0
        terms = np.where(self.eigenvalues == 0, whole, terms)
        return float(np.max(gap / np.where(terms > 0, terms, 1.0), initial=0.0))

    def checked(self, mode: int) -> int:
        """Return the index of a mode from 0; negative indices count from the end."""
        whole = isinstance(mode, int | np.integer) and not isinstance(mode, bool)
        if not whole or not -len(self) <= mode < len(self):
            raise InputError(f"modes: no mode {mode!r}; there are {len(self)}, counted from 0")
        return int(mode) % len(self)

    def shape(self, mode: int, state: str | None = None) -> Any:
        """Return a mode shape by names of states, or its part for one state; complex."""
        column = self.shapes[:, self.checked(mode)]
        blocks = self.linear.slices
        if state is None:
            return {name: column[at] for name, at in blocks.items()}
        if state not in blocks:
            raise InputError(f"modes: no state '{state}'; {did_you_mean(state, blocks)}")
        return column[blocks[state]]

    def bodies(self, mode: int) -> dict[str, tuple[Complex, Complex]]:
        """Return the motion of the bodies of a mechanism in a mode, by name.

        Translation of the centre of mass [m] and rotation vector [rad] of each body as complex
        amplitudes, in world axes, or relative to the moving frame for a steady motion. For elastic
        bodies, it is the motion of the floating frame; their nodes, such as `beam.end`, are
        included.
        """
        self._require_bodies()
        at: Any = self.linear.about
        change = np.asarray(at.T @ self.shapes[:, self.checked(mode)])
        moved = _frames_along(at.system, at.x, change.real) + 1j * _frames_along(
            at.system, at.x, change.imag
        )
        d = frames(at.system, at.x)[0][:, 1:]
        turned = np.cross(d, moved[:, 1:]).sum(axis=1) / 2
        names = at.system.layout.bodies
        return {name: (moved[k, 0], turned[k]) for k, name in enumerate(names)}

    def energies(self, mode: int) -> dict[str, tuple[float, float]]:
        """Return the distribution of the kinetic energy of a mode over the bodies, by name.

        For each body the fraction of its translation and that of its rotation, including the
        deformation of elastic bodies. The sum over all bodies is 1.
        """
        self._require_bodies()
        place, w = motion_of(self, self.checked(mode))
        M, names = place.masses(), np.array(place.names)
        p, parts = M @ w, dict[str, tuple[float, float]]()
        for name in dict.fromkeys(place.names):
            own = np.flatnonzero(names == name)
            slid = float(np.sum(abs(p[own[:3]]) ** 2) / M[own[0], own[0]])
            parts[name] = slid, float(np.real(np.vdot(w[own], p[own]))) - slid
        whole = float(np.sum(list(parts.values()))) or 1.0
        return {name: (a / whole, max(b, 0.0) / whole) for name, (a, b) in parts.items()}

    def _require_bodies(self) -> None:
        at = self.linear.about
        if at is None or not is_mechanism(at.system):
            raise InputError(f"modes: system '{self.linear.name}' has no bodies; see `shape`")

    def motion(self, mode: int, *, amplitude: float | None = None, frames: int = 61) -> Result:
        """Return one period of a mode as a result, to be played by `ps.viz.write_page`.

        Bodies rotate rigidly and joints stay closed. Decay and growth are left out; modes without
        oscillation move back and forth in one second. A steady motion is shown in its moving frame.

        Parameters
        ----------
        amplitude : float
            Largest displacement [m] or rotation [rad] of a body, or of coordinates if there are no
            bodies. Default: 0.2 rad, or a fifth of the size of what moves.
        frames : int
            Number of states, of which the first and the last are equal.
        """
        return mode_motion(self, mode, amplitude, frames)

    def largest(self, mode: int) -> str:
        """Return the name of the state with the largest entry, of displacements if there are any.

        States of different units are compared as numbers; for bodies, see `energies`.
        """
        moving = np.where(_moving(self.linear), abs(self.shapes[:, self.checked(mode)]), -1.0)
        return labels(self.linear.states)[int(np.argmax(moving))]

    def moves_most(self, mode: int) -> str:
        """Return the body with the most kinetic energy and its motion; without bodies, a state.

        For an elastic body, the node that moves most.
        """
        try:
            moved = self.bodies(mode)
        except InputError:  # a system without bodies
            return self.largest(mode)
        parts = self.energies(mode)
        name = max(parts, key=lambda body: sum(parts[body]))
        turns = bool(parts[name][1] > parts[name][0])
        at: Any = self.linear.about
        for body in at.system.mechanism.elastic:
            if at.system.layout.bodies[body.frame] == name:
                # It deforms, and moves most at one of its places.
                places = at.system.layout.bodies[body.first : body.first + len(body.data.points)]
                name = max(places, key=lambda place: float(np.linalg.norm(moved[place][0])))
                turns = False
                break
        size = np.abs(moved[name][int(turns)])
        k, verb = int(np.argmax(size)), "turns" if turns else "moves"
        if size[k] <= MOSTLY * np.linalg.norm(size):
            return f"{name} {verb}"
        return f"{name} {verb} {'about' if turns else 'along'} {'xyz'[k]}"

    def __str__(self) -> str:
        """A table of the modes."""
        lines = [f"{'mode':>4}  {'kind':<11} {'rad/s':>12} {'Hz':>12} {'damping':>10}"]
        for k, (kind, omega, zeta) in enumerate(
            zip(self.kinds, self.frequencies, self.damping_ratios, strict=True)
        ):
            lines.append(
                f"{k:>4}  {kind:<11} {omega:>12.6g} {omega / 2 / np.pi:>12.6g} {zeta:>10.4g}"
            )
        return "\n".join(lines)


def _frames_along(system: PHSystem, x: Array, change: Array) -> Array:
    """Return the derivative of all frames (bodies, 4, 3) along a change of the state."""
    size = float(np.max(abs(change), initial=0.0)) or 1.0
    step, total = RELATIVE_STEP / size, np.zeros(frames(system, x)[0].shape)
    for k, c in enumerate(COEFFICIENTS, start=1):
        there, back = (frames(system, x + side * k * step * change)[0] for side in (1, -1))
        total += c * (there - back) / step
    return total


def _kind(value: complex) -> str:
    if value == 0:
        return "rigid"
    if value.imag == 0:
        return "growth" if value.real > 0 else "decay"
    return "flutter" if value.real > 0 else "oscillation"


def modes(
    system: Any, count: int | None = None, at: Any = "start", *, coordinates: str | None = None
) -> Modes:
    """Return the modes of a linear system, or of a system linearised at an operating point.

    Parameters
    ----------
    system : Model, PHSystem, LinearPHSystem or LinearDescriptor
        Nonlinear systems are linearised first.
    count : int
        Number of modes, slowest first. Default: all for small systems, 20 for large ones.
    at, coordinates
        See `linearise`.
    """
    if count is not None:
        checked_count(count, "modes: count", 1)
    linear = linearise(system, at, coordinates=coordinates)
    if large(linear.n) and (count is not None or linear.n > DENSE):
        return _slow_modes(linear, count or FEW)
    return _all_modes(linear, count)


def _slow_modes(linear: AnyLinear, count: int) -> Modes:
    """Return the slowest modes of a large system from its sparse pencil."""
    values, shapes, rigid, drifting = slowest(linear, count)
    values, shapes = _one_of_each_pair(values, shapes, lossless(linear))
    chosen = slice(count)
    shapes = normalised(linear, shapes[:, chosen])
    return Modes(linear, values[chosen], shapes, min(rigid, count), min(drifting, count))


def _all_modes(linear: AnyLinear, count: int | None) -> Modes:
    """Return modes of a small system from its explicit form."""
    part = eliminate(linear)
    values, vectors, rigid, drifting = eigen(part.F)
    shapes = part.V @ vectors
    values, shapes = _one_of_each_pair(values, shapes, lossless(linear))
    values, shapes, rigid, drifting = _told_apart(linear, values, shapes, rigid, drifting)
    chosen = slice(count)
    return Modes(
        linear=linear,
        eigenvalues=values[chosen],
        shapes=normalised(linear, shapes[:, chosen]),
        rigid=min(rigid, values[chosen].size),
        drifting=drifting,
        infinite=part.infinite,
        index=part.index,
        constants=part.constants,
        repeated=part.repeated,
    )


def _told_apart(
    linear: AnyLinear, values: Complex, shapes: Complex, rigid: int, drifting: int
) -> tuple[Complex, Complex, int, int]:
    """Return the same with slow modes far below fast ones from the sparse pencil.

    In the explicit form the round-off of the fastest hides them: they may even look rigid.
    """
    size = abs(values)
    fastest = np.max(size, initial=0.0)
    wide = np.min(size[size > 0], initial=np.inf) < WIDE * fastest
    if not wide and (not rigid or not fastest or is_singular(linear)):
        return values, shapes, rigid, drifting
    # Between two modes that are far from each other, nobody doubts on which side one is.
    steps = size[1:] / np.where(size[:-1] > 0, size[:-1], fastest)
    near = np.flatnonzero((size[1:] > WIDE * fastest) & (size[:-1] < SLOW * fastest))
    split = int(near[np.argmax(steps[near])])
    border = np.sqrt(size[split] * size[split + 1]) if size[split] else size[split + 1] / 2
    try:
        found, their_shapes, fixed, going = slowest(linear, split + 2 + rigid)
    except SingularPencilError:  # constraints repeat others all but exactly
        return values, shapes, rigid, drifting
    if fixed > rigid:  # constants of constraints that are none of displacements
        return values, shapes, rigid, drifting
    found, their_shapes = _one_of_each_pair(found, their_shapes, lossless(linear))
    below, above = abs(found) < border, size >= border
    merged = np.append(found[below], values[above])
    return merged, np.hstack([their_shapes[:, below], shapes[:, above]]), fixed, going


def eigen(F: Array) -> tuple[Complex, Complex, int, int]:
    """Return eigenvalues and vectors of F, those of zero first and exact; their number and pairs.

    Zero is split off by rank before the others are asked for: double zeros of rigid motions are
    defective, and round-off would move them by its square root.
    """
    # Round-off in the place of a zero would make balancing scale a rigid motion away.
    plain = np.where(abs(F) > NOISE * np.max(abs(F), initial=0.0), F, 0.0)
    balanced, (scale, _) = scipy.linalg.matrix_balance(plain, permute=False, separate=True)
    basis, kernels, core = np.eye(len(F)), [], balanced
    bottom = np.max(np.linalg.norm(balanced, axis=0), initial=0.0)
    while core.size:
        null = _kernel(np.asarray(core, float), ZERO * bottom)
        if not null.shape[1]:
            break
        rest = null_space(null.T)
        turn = np.hstack([null, rest])
        kept = basis.shape[1] - core.shape[0]
        basis = np.hstack([basis[:, :kept], basis[:, kept:] @ turn])
        kernels.append(null.shape[1])
        core = rest.T @ core @ rest
    zeros = sum(kernels)
    values, vectors = np.linalg.eig(core) if core.size else (np.zeros(0), np.zeros((0, 0)))
    turned = basis.T @ balanced @ basis
    upper, above = turned[:zeros, :zeros], turned[:zeros, zeros:]
    whole = np.zeros((len(F), values.size), dtype=complex)
    whole[zeros:] = vectors
    for k, value in enumerate(values):
        # (upper - value) x + above v = 0, where upper is nilpotent.
        whole[:zeros, k] = np.linalg.solve(value * np.eye(zeros) - upper, above @ vectors[:, k])
    rigid = kernels[0] if kernels else 0
    first = basis[:, :rigid].astype(complex)
    rough = values.astype(complex), np.asarray(basis @ whole, dtype=complex)
    values, moving = _refined(F * scale / scale[:, None], *rough)
    found = np.hstack([first, moving]) * scale[:, None]
    order = np.argsort(abs(values), kind="stable")
    values, found[:, rigid:] = values[order], found[:, rigid:][:, order]
    all_values = np.append(np.zeros(rigid), values).astype(complex)
    return all_values, found.astype(complex), rigid, sum(kernels[1:2])


def _refined(F: Array, values: Complex, vectors: Complex) -> tuple[Complex, Complex]:
    """Improve slow eigenvalues beside fast ones, whose round-off is large: inverse iteration.

    (F - value) y = x makes y longer than x by 1 / error. What would change an eigenvalue much, as
    in a double one with a single vector, is not done.
    """
    values, vectors, one = values.astype(complex), vectors.astype(complex), np.eye(len(F))
    slow = (abs(values) < SLOW * np.max(abs(values), initial=0.0)) & (values.imag >= 0)
    for k in np.flatnonzero(slow).tolist():
        value, x = values[k], vectors[:, k] / np.linalg.norm(vectors[:, k])
        for _ in range(REFINEMENTS):
            try:
                y = np.linalg.solve(F - value * one, x)
            except np.linalg.LinAlgError:  # it is an eigenvalue to the last bit
                break
            change = 1 / complex(np.vdot(x, y))
            if not abs(change) < NEAR * abs(value):
                break
            value, x = value + change, y / np.linalg.norm(y)
        paired = k + 1 < values.size and values[k + 1] == values[k].conjugate() != values[k]
        values[k], vectors[:, k] = value, x
        if paired:
            values[k + 1], vectors[:, k + 1] = value.conjugate(), x.conj()
    return values, vectors


def _kernel(a: Array, cut: float) -> Array:
    _, s, Vt = scipy.linalg.svd(a, check_finite=False)
    return np.asarray(Vt[int(np.count_nonzero(s > cut)) :].T)


def lossless(linear: AnyLinear) -> bool:
    """Tell whether nothing dissipates: J - R is skew."""
    return not nonzero(symmetric(linear.conduction))


def _one_of_each_pair(values: Complex, shapes: Complex, lossless: bool) -> tuple[Complex, Complex]:
    """Return one eigenvalue of each conjugate pair, round-off beside an axis taken away."""
    clean, size = values.copy(), abs(values)
    real = abs(values.imag) <= ROUND_OFF * size
    clean[real] = clean[real].real
    # Eigenvalues of a system without losses lie on an axis, or in fours off it.
    quiet = DOUBLE * size if lossless else EXACT * np.max(size, initial=0.0)
    imaginary = ~real & (abs(values.real) <= quiet)
    clean[imaginary] = 1j * clean[imaginary].imag
    kept = np.flatnonzero(clean.imag >= 0)
    # By size, those of one size by how they decay; sizes that differ by round-off are the same.
    rough = np.array([float(f"{abs(value):.9e}") for value in clean[kept]])
    order = kept[np.lexsort([clean[kept].real, rough])]
    return clean[order], shapes[:, order]


def normalised(linear: AnyLinear, shapes: Complex) -> Complex:
    """Return shapes whose largest displacement is 1, or largest state with a derivative.

    Of displacements of nearly one size the first is taken, so that round-off decides nothing.
    """
    weighed = np.where(_moving(linear)[:, None], abs(shapes), 0.0)
    most = np.max(weighed, axis=0, initial=0.0)
    first = np.argmax(weighed >= (1 - SAME) * most, axis=0)
    peak = shapes[first, np.arange(shapes.shape[1])]
    return np.asarray(shapes / np.where(most > 0, peak, 1.0))


def _moving(linear: AnyLinear) -> NDArray[np.bool_]:
    """Tell which states are displacements; of other systems, which have a derivative."""
    moving = ~np.asarray(linear.algebraic)
    k = None if linear.about is None else linear.about.freedoms
    if k is not None and linear.about is not None and linear.about.sizes.size == linear.n:
        moving = moving & (np.arange(linear.n) < k)
    return moving
