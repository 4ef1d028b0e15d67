r"""Norms of transfer functions, passivity and stability of explicit linear systems.

.. math:: G(s) = C\,(s - A)^{-1} B + D

The H2 norm is computed by a Gramian; the H-infinity norm by level sets of the largest singular
value, whose crossings are imaginary eigenvalues of a Hamiltonian matrix (Bruinsma and Steinbuch,
Systems & Control Letters 14, 1990); passivity, G + G^* >= 0 on the imaginary axis, by those of

.. math::

    \begin{bmatrix} A & 0 & B \\ 0 & -A^* & -C^* \\ C & B^* & D + D^* \end{bmatrix}
    - s \begin{bmatrix} I & & \\ & I & \\ & & 0 \end{bmatrix} .
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from poinsot.analysis.elimination import null_space

Complex = NDArray[np.complex128]
#: Real parts of poles below this part of the largest are zero.
MARGINAL = 1e-11
#: Singular values of A and C below this part of the largest are zero.
UNSEEN = 1e-12
#: Part of a response that poles on the imaginary axis may leave by round-off.
CANCELLED = 1e-8
#: Distance from a pole at which its part is compared with the rest, as a part of the largest pole.
NEAR = 1e-3
#: H-infinity norms are known to this part.
LEVEL = 1e-6
#: Real parts of eigenvalues of Hamiltonian matrices below this part of the largest are zero.
IMAGINARY = 1e-8
#: Power that a passive system may seem to supply, as a part of the largest gain, by round-off.
PASSIVE = 1e-8
#: Shift to the right of poles on the imaginary axis, as a part of the largest.
SHIFT = 1e-6


@dataclass(frozen=True, eq=False)
class Explicit:
    """x' = A x + B u, y = C x + D u."""

    A: Any
    B: Any
    C: Any
    D: Any

    @cached_property
    def triangular(self) -> bool:
        """Whether A is an upper triangle, as after Schur's decomposition."""
        return not np.any(np.tril(self.A, -1))

    @cached_property
    def poles(self) -> Complex:
        """Eigenvalues of A [1/s]."""
        values = np.diagonal(self.A) if self.triangular else np.linalg.eigvals(self.A)
        return np.asarray(values, dtype=complex)

    def __call__(self, s: complex) -> Complex:
        """Return the transfer function at s."""
        A = s * np.eye(self.A.shape[0]) - self.A
        solve = scipy.linalg.solve_triangular if self.triangular else np.linalg.solve
        return np.asarray(self.C @ solve(A, self.B) + self.D)

    def gain(self, omega: float) -> float:
        """Return the largest singular value at i omega."""
        try:
            return float(np.linalg.norm(self(1j * omega), 2))
        except np.linalg.LinAlgError:
            return np.inf

    def minus(self, other: "Explicit") -> "Explicit":
        """Return the difference of two systems with the same ports."""
        return Explicit(
            scipy.linalg.block_diag(self.A, other.A),
            np.vstack([self.B, other.B]),
            np.hstack([self.C, -other.C]),
            self.D - other.D,
        )


@dataclass(frozen=True, eq=False)
class Split:
    """A system as the sum of a part that decays and one with poles on the imaginary axis.

    Poles to the right of it are in the second part.
    """

    decaying: Explicit
    lasting: Explicit

    def minus(self, other: "Split") -> "Split":
        """Return the difference of two systems."""
        return Split(self.decaying.minus(other.decaying), self.lasting.minus(other.lasting))

    def __call__(self, s: complex) -> Complex:
        """Return the transfer function at s."""
        return self.decaying(s) + self.lasting(s)

    def lasts(self, reference: "Split") -> bool:
        """Return whether poles that do not decay are seen at ports, next to a reference."""
        poles = self.lasting.poles
        if not poles.size:
            return False
        size = max(_largest(part.poles) for part in (reference.decaying, reference.lasting))
        # Near each of them, to the right, where nothing is infinite.
        places = [pole + NEAR * size for pole in poles]
        return any(
            np.linalg.norm(self.lasting(s)) > CANCELLED * np.linalg.norm(reference(s))
            for s in places
        )


def split(system: Explicit) -> Split:
    """Split off poles on the imaginary axis, and to the right of it."""
    system = _seen(system)
    A = np.asarray(system.A, complex)
    n, bound = len(A), -MARGINAL * _largest(system.poles)
    if not n:
        return Split(system, Explicit(A, system.B, system.C, 0.0 * system.D))
    left: Any = lambda s: s.real < bound  # noqa: E731 - SciPy's types know real ones only
    T, Z, r = scipy.linalg.schur(A, output="complex", sort=left)
    B, C = Z.conj().T @ system.B, system.C @ Z
    X = np.zeros((r, n - r))
    if 0 < r < n:
        X = scipy.linalg.solve_sylvester(T[:r, :r], -T[r:, r:], -T[:r, r:])
    decaying = Explicit(T[:r, :r], B[:r] - X @ B[r:], C[:, :r], system.D)
    lasting = Explicit(T[r:, r:], B[r:], C[:, :r] @ X + C[:, r:], 0.0 * system.D)
    return Split(decaying, lasting)


def _seen(system: Explicit) -> Explicit:
    """Leave out displacements of rigid motions, A n = 0 and C n = 0.

    They make zero a double eigenvalue, which round-off splits by its root.
    """
    A, B, C = system.A, system.B, system.C
    while len(A):
        rows = np.vstack([A / (_largest(A) or 1.0), C / (_largest(C) or 1.0)])
        still = null_space(rows, UNSEEN)
        if not still.shape[1]:
            break
        P = null_space(still.T)
        A, B, C = P.T @ A @ P, P.T @ B, C @ P
    return Explicit(A, B, C, system.D)


def _largest(a: Any) -> float:
    return float(np.max(abs(a), initial=0.0))


def h2(system: Explicit) -> float:
    """Return the H2 norm of a system that decays, from its Gramian; infinite with feed-through."""
    if _largest(system.D):
        return np.inf
    if not len(system.A):
        return 0.0
    P = scipy.linalg.solve_continuous_lyapunov(system.A, -system.B @ system.B.conj().T)
    return float(np.sqrt(max(0.0, np.trace(system.C @ P @ system.C.conj().T).real)))


def h_infinity(system: Explicit) -> float:
    """Return the H-infinity norm of a system that decays."""
    if not len(system.A):
        return float(np.linalg.norm(system.D, 2)) if system.D.size else 0.0
    poles = system.poles
    places = np.concatenate([[0.0], abs(poles), abs(poles.imag)])
    lower = max([float(np.linalg.norm(system.D, 2)), *(system.gain(w) for w in places)])
    while lower > 0:
        level = (1 + 2 * LEVEL) * lower
        crossings = _crossings(np.linalg.eigvals(_hamiltonian(system, level)))
        middles = (crossings[1:] + crossings[:-1]) / 2
        higher = max((system.gain(w) for w in middles), default=0.0)
        if higher <= level:
            break
        lower = higher
    return lower


def _hamiltonian(system: Explicit, level: float) -> Complex:
    A, C, D = system.A, system.C / level, system.D / level
    B, one = system.B, np.eye(D.shape[1])
    inverse = np.linalg.inv(one - D.conj().T @ D)
    A = A + B @ inverse @ D.conj().T @ C
    right = B @ inverse @ B.conj().T
    left = C.conj().T @ (one + D @ inverse @ D.conj().T) @ C
    return np.block([[A, right], [-left, -A.conj().T]])


def _crossings(eigenvalues: Any) -> Any:
    """Return frequencies of imaginary eigenvalues, in ascending order."""
    finite = eigenvalues[np.isfinite(eigenvalues)]
    on_axis = abs(finite.real) <= IMAGINARY * _largest(finite)
    return np.sort(finite[on_axis].imag)


def passivity(system: Explicit) -> float:
    """Return the lowest eigenvalue of (G + G^*) / 2 at all frequencies, over the largest gain.

    Below -`PASSIVE` a system supplies power by itself. Zero is what any system without feed-through
    comes to at infinite frequency. With poles on the imaginary axis, the axis is shifted to
    the right of them.
    """
    n = len(system.A)
    if not n or not _largest(system.B):
        return 0.0
    system = _seen(system)
    n, A, poles = len(system.A), system.A, system.poles
    radius = _largest(poles)
    if np.max(poles.real) > -SHIFT * radius:
        A = A - SHIFT * (radius or 1.0) * np.eye(n)
    size = max(Explicit(A, system.B, system.C, system.D).gain(w) for w in [0.0, *abs(poles)])
    scale = np.sqrt(size) or 1.0
    G = Explicit(A, system.B / scale, system.C / scale, system.D / (size or 1.0))
    m, none = G.D.shape[0], np.zeros((n, n))
    pencil = np.block(
        [
            [G.A, none, G.B],
            [none, -G.A.T, -G.C.T],
            [G.C, G.B.T, G.D + G.D.T + PASSIVE * np.eye(m)],
        ]
    )
    mass = scipy.linalg.block_diag(np.eye(2 * n), np.zeros((m, m)))
    with np.errstate(divide="ignore", invalid="ignore"):
        crossings = _crossings(scipy.linalg.eigvals(pencil, mass))
    places = [0.0, *abs(poles), *((crossings[1:] + crossings[:-1]) / 2), *crossings]
    values = (G(1j * w) for w in places)
    return min(float(np.linalg.eigvalsh((g + g.conj().T) / 2)[0]) for g in values)
