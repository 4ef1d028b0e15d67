r"""Krylov spaces of descriptor systems, for matching moments of the transfer function.

For a polynomial pencil :math:`P(s) = P_0 + s P_1 + s^2 P_2`, the moments about a point s are

.. math:: P(s)\,x_0 = B, \qquad P(s)\,x_j = -P'(s)\,x_{j-1} - P_2\,x_{j-2} .

For mechanical systems P is the pencil of displacements and multipliers, so that displacements in
the space satisfy all constraints and velocities are in the same space [BAPM21, eq. (46)]:

.. math::

    P(s) = \begin{bmatrix} s^2 M + s (R - J) + K & G^\top \\ G & 0 \end{bmatrix} .

For other systems it is s E - A.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from poinsot.analysis.elimination import CUT, null_space, scales
from poinsot.analysis.linear import LinearPHSystem, sparse
from poinsot.analysis.minimal_form import mechanical
from poinsot.errors import InputError, StructureError
from poinsot.ph.dependence import spanning_rows, unit_rows
from poinsot.ph.equations import independent
from poinsot.ph.matrices import Array, dense

Complex = NDArray[np.complex128]
#: Gain of a pencil's inverse, entries brought to one size, from which on a point is a pole.
POLE = 1e12
#: Rigid motions, which take dense matrices, are looked for among so many displacements.
DENSE = 2000
#: After so many moments in turn that add nothing, a space is complete.
IDLE = 3
#: Part of a vector outside a space below which it is in it.
INSIDE = 1e-9


@dataclass(frozen=True, eq=False)
class Pencil:
    """P(s) x = B of a linear system, and what its solutions are measured by.

    Parameters
    ----------
    system : LinearPHSystem
        Whose pencil it is.
    P : three matrices
        P_0, P_1, P_2.
    B : (n, m)
        Inputs.
    used : int
        How many of the unknowns come first and span the space; the others are multipliers.
    product : matrix (used, used)
        Mass, or the energy of states.
    freedoms : int or None
        Degrees of freedom of a mechanical system.
    """

    system: LinearPHSystem
    P: tuple[Any, Any, Any]
    B: Array
    used: int
    product: Any
    freedoms: int | None

    @cached_property
    def _sizes(self) -> tuple[Array, Array]:
        """Factors of rows and columns that bring entries to one size."""
        if self.freedoms is None:
            return scales(self.system)
        mass = self.product.diagonal()
        heavy = mass > 0
        d = np.where(heavy, 1 / np.sqrt(np.where(heavy, mass, 1.0)), 1.0)
        pull = sp.diags_array(d) @ self.P[0][: self.used, : self.used] @ sp.diags_array(d)
        rest = np.full(len(self.B) - self.used, float(abs(pull).max()) or 1.0)
        G = self.P[0][self.used :, : self.used] @ sp.diags_array(d)
        rest /= np.maximum(np.asarray(abs(G).max(axis=1).todense()).reshape(-1), 1e-300)
        d = np.append(d, rest)
        return d, d

    def output(self, expansion: "Expansion") -> Complex:
        """Return the transfer function at the point of an expansion."""
        x = expansion.moment(0)
        if self.freedoms is None:
            return np.asarray(self.system.matrix_C @ x)
        return np.asarray(expansion.s * (self.B.T @ x))

    def rigid(self) -> Array:
        """Return displacements that nothing brings back and that ports see; (used, number).

        They are poles at zero: without them no reduced system is near at low frequencies.
        """
        none = np.zeros((self.used, 0))
        if self.freedoms is None or len(self.B) > DENSE:
            return none
        try:
            self.at(0.0)
        except InputError:
            d = self._sizes[0]
            scaled = d[:, None] * dense(self.P[0]) * d
            found = d[: self.used, None] * null_space(scaled / np.max(abs(scaled)))[: self.used]
            return np.asarray(found @ _directions(found.T @ self.B[: self.used]))
        return none

    def at(self, s: complex) -> "Expansion":
        """Return the solutions about a point; refuse poles."""
        from scipy.sparse.linalg import splu

        rows, columns = (sp.diags_array(d) for d in self._sizes)
        s = complex(s)
        P = self.P[0] + s * self.P[1] + s * s * self.P[2] if s else self.P[0]
        P = P.real if not s.imag else P
        scaled = sp.csc_array(rows @ P @ columns)
        pole = InputError(
            f"system '{self.system.name}': s = {s:.6g} is a pole, so that there are no moments "
            "about it; choose another point"
        )
        try:
            solve = splu(scaled).solve
        except RuntimeError:  # exactly singular
            raise pole from None
        expansion = Expansion(self, s, lambda b: columns @ solve((rows @ b).astype(scaled.dtype)))
        x = expansion.moment(0) / self._sizes[1][:, None]
        right = np.max(abs(self._sizes[0][:, None] * self.B), initial=0.0) or 1.0
        gain = np.max(abs(x), initial=0.0) * np.max(abs(scaled).sum(axis=1)) / right
        if not np.isfinite(gain) or gain > POLE:
            raise pole
        return expansion


def _directions(seen: Array) -> Array:
    """Return the combinations of rows that are not zero."""
    U, sizes, _ = np.linalg.svd(seen, full_matrices=False)
    return np.asarray(U[:, sizes > INSIDE * np.max(sizes, initial=0.0)])


@dataclass(frozen=True, eq=False)
class Expansion:
    """Solutions x_0 + x_1 (s - s_0) + ... about a point; solve is P(s_0)^-1."""

    pencil: Pencil
    s: complex
    solve: Any

    @cached_property
    def _found(self) -> list[Complex]:
        return []

    def moment(self, j: int) -> Complex:
        """Return x_j; (n, m)."""
        P, x = self.pencil.P, self._found
        while len(x) <= j:
            if not x:
                right = self.pencil.B
            else:
                right = -(P[1] + 2 * self.s * P[2]) @ x[-1] - (P[2] @ x[-2] if x[1:] else 0)
            if not self.s.imag:
                right = right.real
            x.append(self.solve(right))
        return x[j]

    def columns(self, j: int) -> Array:
        """Return what x_j adds to a real space."""
        x = self.moment(j)[: self.pencil.used]
        return np.asarray(np.hstack([x.real, x.imag]) if self.s.imag else x.real)


def pencil_of(system: LinearPHSystem) -> Pencil:
    """Return the pencil of a linear system, in displacements of a mechanical one."""
    found = mechanical(system)
    E, A, B = sparse(system.matrix_E), sparse(system.matrix_A), dense(system.matrix_B)
    if found is None:
        energy = sparse(system.matrix_Q).T @ E
        return Pencil(system, (-A, E, sp.csr_array(E.shape)), B, system.n, energy, None)
    k, G = found
    v = slice(k, 2 * k)
    M, D, K = E[v, v], -sparse(system.conduction)[v, v], sparse(system.matrix_Q)[:k, :k]
    G = sparse(G)
    if G.shape[0] and not independent(G, CUT):
        G = G[spanning_rows(sparse(unit_rows(G)[0]), CUT)]
    g = G.shape[0]
    rest = sp.csr_array((g, g))
    P0 = sparse(sp.block_array([[K, G.T], [G, rest]]) if g else K)
    P1, P2 = (sparse(sp.block_diag([a, rest]) if g else a) for a in (D, M))
    right = np.vstack([B[v], np.zeros((g, system.m))])
    return Pencil(system, (P0, P1, P2), right, k, M, k - g)


class Space:
    """An orthonormal basis that grows; what is in it already is left out."""

    def __init__(self, pencil: Pencil, limit: int) -> None:
        self._pencil, self._limit = pencil, limit
        self.basis = np.zeros((pencil.used, 0))
        self.add(pencil.rigid())

    @property
    def full(self) -> bool:
        """Whether there is no room for more."""
        return self.basis.shape[1] >= self._limit

    def add(self, columns: Array) -> tuple[int, bool]:
        """Add vectors; return how many were new, and whether there was room for all of them."""
        new, product = 0, self._pencil.product
        for column in columns.T:
            size = _length(product, column)
            if size == 0:
                if np.any(column):
                    raise StructureError(
                        f"system '{self._pencil.system.name}': a state without stored energy can "
                        "move, so that the reduced system has no energy; use analysis.minimal "
                        "first"
                    )
                continue
            w = column / size
            for _ in range(2):
                w = w - self.basis @ (self.basis.T @ (product @ w))
            rest = _length(product, w)
            if rest <= INSIDE:
                continue
            if self.full:
                return new, False
            self.basis = np.hstack([self.basis, (w / rest)[:, None]])
            new += 1
        return new, True


def _length(product: Any, x: Array) -> float:
    return float(np.sqrt(max(0.0, x @ (product @ x))))


def about_points(
    pencil: Pencil, points: Any, limit: int | None
) -> tuple[Array, tuple[tuple[complex, int], ...]]:
    """Return a space with moments about given points, and how many of each are matched.

    As many moments about each as there is room for; without a limit, one.
    """
    space = Space(pencil, pencil.used if limit is None else limit)
    expansions, matched = [pencil.at(s) for s in points], dict.fromkeys(points, 0)
    idle = 0
    for j in _rounds(limit is None):
        news = 0
        for s, expansion in zip(points, expansions, strict=True):
            new, all_in = space.add(expansion.columns(j))
            news += new
            matched[s] += all_in and matched[s] == j
        # With damping like stiffness, or none, every other moment about zero is nothing new.
        idle = 0 if news else idle + 1
        if space.full or idle == IDLE:
            break
    return space.basis, tuple(matched.items())


def _rounds(once: bool) -> Iterator[int]:
    j = 0
    while j == 0 or not once:
        yield j
        j += 1


def over_band(pencil: Pencil, frequencies: Array, limit: int) -> tuple[Array, Complex]:
    """Return the space nearest to all solutions at frequencies [rad/s], and the responses there.

    The strongest directions of the Krylov space about all of them, by singular values in the
    measure of velocities, or of states. A response at an eigenfrequency is infinite.
    """
    values, columns = list[Complex](), list[Array]()
    for omega in frequencies:
        try:
            expansion = pencil.at(1j * omega)
        except InputError:  # an eigenfrequency
            values.append(np.full((pencil.system.m,) * 2, np.inf + 0j))
            continue
        values.append(pencil.output(expansion))
        rate = omega if pencil.freedoms is not None and omega else 1.0
        columns.append(rate * expansion.columns(0))
    S = np.hstack(columns)
    weights = np.sqrt(np.maximum(pencil.product.diagonal(), 0.0))
    _, sizes, parts = np.linalg.svd(weights[:, None] * S, full_matrices=False)
    kept = min(limit, int(np.count_nonzero(sizes > INSIDE * np.max(sizes, initial=0.0))))
    space = Space(pencil, limit)
    space.add(S @ (parts[:kept] / sizes[:kept, None]).T)
    return space.basis, np.array(values)
