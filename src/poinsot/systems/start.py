"""Velocities at the start: missing ones are computed, inconsistent ones refused."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from poinsot.bodies.body import Body
from poinsot.frames.twists import block_diagonal, lever_arms
from poinsot.ph.equations import shortest_solution
from poinsot.ph.matrices import Matrix, Vector

#: What a joint's equation may be violated by, as a part of the velocities of its bodies, and of
#: those of the fastest body.
TOLERANCE, ROUND_OFF = 1e-8, 1e-12
#: Solutions of the joints' equations: masses of very different sizes enlarge the round-off of the
#: first one, which the second takes back.
PASSES = 2
EPS = float(np.finfo(float).eps)
#: What an axis without inertia is taken for, as a part of mass and size of the body.
LIGHT = 1e-9


def given_twists(bodies: Sequence[Body]) -> tuple[Vector, NDArray[np.bool_]]:
    """Return the twists that the user gave, zero where none, and which entries are given."""
    twists = np.zeros((len(bodies), 2, 3))
    given = np.zeros((len(bodies), 2, 3), dtype=bool)
    for k, body in enumerate(bodies):
        for j, value in enumerate((body.velocity, body.angular_velocity)):
            if value is not None:
                twists[k, j], given[k, j] = value, True
    return twists.reshape(-1), given.reshape(-1)


def complete(
    jacobian: Matrix,
    bodies: Sequence[Body],
    twists: Vector,
    given: NDArray[np.bool_],
    rates: Vector | float = 0.0,
) -> Vector:
    """Return the twists with the entries that are not given changed to satisfy the joints.

    Of all choices that solve J t = rates (or come nearest to it), the one whose change has the
    least kinetic energy. Entries of zero are completed that way, and all of them projected.
    """
    if not (np.any(twists) or np.any(rates)) or given.all():
        return twists
    root = _free_root(jacobian, bodies, given)
    A = jacobian @ root
    completed = twists
    for _ in range(PASSES):
        completed = completed + root @ shortest_solution(A, rates - jacobian @ completed, width=6)
    before, after = (kinetic_energy(bodies, each) for each in (twists, completed))
    # If nothing can move, what is left of the velocities is round-off.
    if after <= ROUND_OFF**2 * before and not np.any(rates):
        return np.zeros_like(twists)
    # So is what is left of those of a body that is held fast, where others move.
    speeds = _speeds(sizes_of(jacobian, bodies), completed)
    held = np.repeat(speeds <= EPS * np.max(speeds), 6)
    return np.where(held & ~given, 0.0, completed)


@dataclass(frozen=True, eq=False)
class MatrixSlopes:
    """Derivatives of the entries of a matrix, each by one of `count` parameters.

    Parameters
    ----------
    values, parameters, rows, columns : (k,)
        Derivatives, by which parameter, and where.
    shape : tuple
        That of the matrix.
    count : int
        Number of parameters.
    """

    values: Vector
    parameters: NDArray[np.intp]
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    shape: tuple[int, int]
    count: int

    @classmethod
    def of(
        cls,
        parameters: NDArray[np.intp],
        values: Vector,
        rows: NDArray[np.intp],
        columns: NDArray[np.intp],
        shape: tuple[int, int],
        count: int,
    ) -> Self:
        """Return those that are not zero."""
        some = np.flatnonzero(values)
        return cls(values[some], parameters[some], rows[some], columns[some], shape, count)

    def __matmul__(self, x: Vector) -> NDArray[np.float64]:
        """Return dA x, a column for each parameter."""
        return self._summed(self.rows, self.values * x[self.columns], self.shape[0])

    def transposed(self, y: Vector) -> NDArray[np.float64]:
        """Return dA^T y, a column for each parameter."""
        return self._summed(self.columns, self.values * y[self.rows], self.shape[1])

    def _summed(self, at: NDArray[np.intp], terms: Vector, size: int) -> NDArray[np.float64]:
        places = self.parameters * size + at
        found = np.bincount(places, terms, self.count * size).reshape(self.count, size)
        return np.asarray(found.T, dtype=float)


class CompletedSlopes:
    r"""Derivatives of completed twists t by what they depend on.

    With the known twists k, the free entries of M (t - k) are those of J^T eta, and J t = r. So

    .. math:: M\,(dt - dk) = J^\top d\eta + dJ^\top \eta - dM\,(t - k), \qquad
              J\,dt = dr - dJ\,t .

    Parameters
    ----------
    jacobian, bodies, twists, given
        As to `complete`.
    completed : (6 bodies,)
        What this returned.
    """

    def __init__(
        self,
        jacobian: Matrix,
        bodies: Sequence[Body],
        twists: Vector,
        given: NDArray[np.bool_],
        completed: Vector,
    ) -> None:
        self.jacobian, self.completed = jacobian, completed
        self.change = completed - twists
        self.root = _free_root(jacobian, bodies, given)
        self.A = jacobian @ self.root
        M = block_diagonal(mass_blocks(jacobian, bodies))
        self.eta = shortest_solution(self.A.T, self.root.T @ (M @ self.change))

    def __call__(
        self,
        dJ: MatrixSlopes,
        dM: MatrixSlopes,
        twists: NDArray[np.float64],
        rates: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return dt by those of J, M, the known twists and the rates; (6 bodies, parameters)."""
        pushed = dJ.transposed(self.eta) - dM @ self.change
        free = twists + self.root @ (self.root.T @ pushed)
        lacking = rates - dJ @ self.completed - self.jacobian @ free
        return np.asarray(free + self.root @ shortest_solution(self.A, lacking, width=6))


def kinetic_energy(bodies: Sequence[Body], twists: Vector) -> float:
    """Return the kinetic energy of bodies at their places at the start [J]."""
    energy = 0.0
    for body, (v, omega) in zip(bodies, twists.reshape(-1, 2, 3), strict=True):
        energy += (body.mass * v @ v + body.principal.inertia @ (body.R_WP.T @ omega) ** 2) / 2
    return energy


def allowed_rates(jacobian: Matrix, lengths: Vector, twists: Vector) -> Vector:
    """Return by how much each equation of the joints may be violated at these twists; one each.

    With the sizes of bodies [m]: these move as fast as their centres, or as points that far away.
    """
    speed = _speeds(lengths, twists)
    speed = TOLERANCE * speed + ROUND_OFF * np.max(speed, initial=0.0)
    return np.asarray(abs(jacobian) @ np.repeat(np.column_stack([speed, speed / lengths]), 3))


def _speeds(lengths: Vector, twists: Vector) -> Vector:
    """Return how fast bodies move: their centres, or points as far away as they are large [m/s]."""
    moving, turning = np.linalg.norm(twists.reshape(-1, 2, 3), axis=2).T
    return np.asarray(np.maximum(moving, lengths * turning))


def sizes_of(jacobian: Matrix, bodies: Sequence[Body]) -> Vector:
    """Return how large bodies are [m], from their joints or across; 1 for a point; (bodies,)."""
    radii = np.array([body.principal.radius for body in bodies])
    lengths = np.maximum(lever_arms(jacobian), radii)
    return np.where(lengths > 0, lengths, 1.0)


def mass_blocks(
    jacobian: Matrix, bodies: Sequence[Body], exponent: float = 1.0
) -> NDArray[np.float64]:
    """Return M of each body in world axes, or a power of it; (bodies, 6, 6).

    An axis without inertia counts as a light one.
    """
    inertia = np.array([body.principal.inertia for body in bodies])
    mass = np.array([[body.mass] for body in bodies])
    largest, size = inertia.max(axis=1, keepdims=True), sizes_of(jacobian, bodies)[:, None]
    inertia = np.maximum(inertia, LIGHT * np.where(largest > 0, largest, mass * size**2))
    R = np.array([body.R_WP for body in bodies])
    blocks = np.zeros((len(bodies), 6, 6))
    blocks[:, :3, :3] = np.eye(3) * mass[:, None] ** exponent
    blocks[:, 3:, 3:] = R * inertia[:, None] ** exponent @ np.swapaxes(R, 1, 2)
    return blocks


def _free_root(jacobian: Matrix, bodies: Sequence[Body], given: NDArray[np.bool_]) -> sp.csr_array:
    """Return M^-1/2 with rows of zeros for entries of twists that are given.

    A body's velocity is free, or its angular velocity, or both: M is not divided.
    """
    root = block_diagonal(mass_blocks(jacobian, bodies, -0.5))
    return sp.csr_array(sp.diags_array((~given).astype(float)) @ root)
