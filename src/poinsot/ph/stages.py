"""Stage equations: the equations of a time step, and the state at its end.

A scheme declares which it needs, a system forms them, and one solver solves all of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError
from poinsot.inputs import count, number
from poinsot.ph.matrices import Array, Matrix, Placed, Vector, assemble, dense
from poinsot.ph.scheme import Scheme

EPS = float(np.finfo(float).eps)
#: Residuals this small beside the terms that they are made of are round-off. In both engines.
ROUND_OFF = 1e-14
#: A correction that reduces the residual by less than this does not help any more. In both engines.
STALLED = 0.5
#: Iterations of a step.
MOST = 10_000
#: A step is halved no more often than this: its pieces are exact parts of it.
MOST_HALVINGS = 30
#: Of so many layouts of a vector it is remembered where the blocks are.
LAYOUTS = 16


@dataclass(frozen=True)
class Newton:
    """Tolerances of Newton's method.

    A step is accepted when `abs(F[i]) <= atol + rtol * s[i]` for every equation, where s is the
    magnitude of its terms. Iteration then continues as long as the residual decreases by a digit,
    down to round-off, because the energy balance is only as good as the equations. The tolerance of
    an equation is never below its round-off, which is estimated from the terms before cancellation:
    for a stiff spring k (l - l0), from k l and k l0.

    Parameters
    ----------
    atol, rtol : float
        Absolute and relative tolerance of the residual.
    max_iterations : int
        Largest number of iterations.
    halvings : int
        A step without a solution is repeated with smaller steps, halved at most this many times.
    """

    atol: float = 0.0
    rtol: float = 1e-10
    max_iterations: int = 25
    halvings: int = 10

    def __post_init__(self) -> None:
        """Raise `InputError` for tolerances that cannot be met."""
        number(self.atol, "Newton: atol", minimum=0.0)
        number(self.rtol, "Newton: rtol", minimum=EPS)
        for name, least, most in (("max_iterations", 1, MOST), ("halvings", 0, MOST_HALVINGS)):
            if count(value := getattr(self, name), f"Newton: {name}", least) > most:
                raise InputError(f"Newton: {name} is {value}; it must be at most {most}")


def require_newton(options: Any) -> Newton:
    """Return options of Newton's method; refuse anything else."""
    if not isinstance(options, Newton):
        raise InputError(f"newton: expected poinsot.Newton(...), got {options!r}")
    return options


@dataclass(frozen=True)
class Tangent:
    """dF/dx = T + U V^T; U and V have few columns, and T may be sparse."""

    T: Matrix
    U: Array
    V: Array

    @classmethod
    def of(cls, size: int, placed: Sequence[Placed]) -> "Tangent":
        """Return a square tangent made of blocks."""
        none = np.zeros((size, 0))
        return cls(assemble((size, size), placed), none, none)

    @property
    def whole(self) -> Matrix:
        """The matrix itself."""
        return self.T if not self.U.shape[1] else dense(self.T) + self.U @ self.V.T


@dataclass(frozen=True)
class Evaluation:
    """The residual F at a point, the size of the terms that F is the sum of, and the tangent.

    `inner` are the sizes of what cancels inside of these terms; None: nothing does but unknowns.
    `measures` are natural sizes of the unknowns; None: they are alike.
    """

    F: Vector
    sizes: Vector
    tangent: Callable[[], Tangent]
    inner: Callable[[], Vector] | None = None
    measures: Vector | None = None

    @property
    def finite(self) -> bool:
        """Whether no entry is NaN or infinite."""
        return bool(np.all(np.isfinite(self.F)))

    def before_cancelling(self, x: Vector) -> Vector:
        """Return the sizes of all that is rounded at the unknowns x: F is known to EPS of them."""
        rounded: Vector = abs(self.tangent().T) @ abs(x)
        return rounded if self.inner is None else rounded + self.inner()

    def relative(self, sizes: Vector) -> Vector:
        """Return the residual over the size of its terms."""
        nothing = np.where(self.F == 0, 0.0, np.inf)
        return np.divide(abs(self.F), sizes, out=nothing, where=sizes > 0)


@dataclass(frozen=True)
class Stage:
    """What a step passes through: midpoint state, discrete costate, input, output.

    `lost` is the power dissipated [W], if it is not that of the system at x and z; `connected` are
    (u, y) of all connected ports, if they are not those of the system there.
    """

    x: Vector
    z: Vector
    u: Vector
    y: Vector
    lost: float | None = None
    connected: Sequence[tuple[Vector, Vector]] | None = None


@dataclass(frozen=True)
class Slopes:
    """The derivatives of the residual F(w; x0) of a step and of its end x1 = M(w; x0)."""

    F_w: Matrix
    F_x: Array
    M_w: Array
    M_x: Array


@dataclass(frozen=True, eq=False)
class StageEquations(ABC):
    """The equations of one step of size h [s] from x0; t and the input u are at its midpoint."""

    scheme: Scheme
    t: float
    x0: Vector
    u: Vector
    h: float

    @property
    @abstractmethod
    def guess(self) -> Vector:
        """Where Newton's method starts."""

    @abstractmethod
    def evaluate(self, w: Vector) -> Evaluation:
        """Return the residual at the unknowns w."""

    def residual(self, w: Vector) -> Vector:
        """Return the residual alone."""
        return self.evaluate(w).F

    @abstractmethod
    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return the state at the end of the step, and what it passed through."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """The name of every equation."""

    # -- the step as a map of its start -------------------------------------------------------

    @property
    def ends_by_parameters(self) -> bool:
        """Whether `finish` depends on parameters of the system besides x0 and w."""
        return True

    def guess_of(self, x1: Vector) -> Vector:
        """Return where Newton's method starts if the end of the step is known to be near x1."""
        return self.guess

    def slopes(self, w: Vector) -> Slopes | None:
        """Return exact derivatives by w and by x0, at a solution; None: there are none."""
        return None

    def output_slopes(self, w: Vector) -> tuple[Array, Array] | None:
        """Return exact derivatives of the outputs of the stage by w and by x0; None: unknown."""
        return None

    def from_start(self, x0: Vector) -> Self:
        """Return the same equations from another start nearby."""
        return replace(self, x0=x0)

    def with_inputs(self, u: Vector) -> Self:
        """Return the same equations with other inputs."""
        return replace(self, u=u).alike(self)

    def alike(self, other: Self) -> Self:
        """Return the equations with the same choices as another, of which there are some."""
        return self


@dataclass(frozen=True, eq=False)
class ConstrainedStages(StageEquations):
    """Stage equations with multipliers of constraints, of which some may repeat others.

    Constraints are combined to independent ones, T g = 0 with multipliers lambda = T^T mu.
    """

    @abstractmethod
    def combination(self) -> Matrix | None:
        """Return T at the start of the step; None: all constraints are independent."""

    @cached_property
    def T(self) -> Matrix | None:
        """What combines the constraints to independent ones."""
        return self.combination()

    def from_start(self, x0: Vector) -> Self:
        """Return the same equations from another start, with the same combination."""
        return replace(self, x0=x0).alike(self)

    def alike(self, other: Self) -> Self:
        """Return the equations with the constraints combined as by another."""
        vars(self)["T"] = other.T
        return self

    def combined(self, rows: Any) -> Any:
        """Return T rows, of a vector or a matrix."""
        return rows if self.T is None else self.T @ rows

    def sizes_of(self, rows: Vector) -> Vector:
        """Return the sizes of T rows by those of the rows."""
        return rows if self.T is None else np.asarray(abs(self.T) @ rows)

    def spread(self, mu: Vector) -> Vector:
        """Return the multipliers of all constraints, T^T mu."""
        return mu if self.T is None else np.asarray(self.T.T @ mu)

    def pull(self, G: Matrix) -> Matrix:
        """Return what independent multipliers do, G^T T^T."""
        spread: Matrix = G.T if self.T is None else G.T @ self.T.T
        return spread

    def combined_labels(self, names: Sequence[str]) -> Sequence[str]:
        """Return the names of independent constraints; a combination is called a loop."""
        if self.T is None:
            return names
        T: Any = self.T
        row, column = T.nonzero()
        _, first, count = np.unique(row, return_index=True, return_counts=True)
        single = zip(column[first], count == 1, strict=True)
        return [names[k] if alone else "loop" for k, alone in single]


# -- sizes of equations: one that vanishes is measured by others of its kind -----------------------


def largest(sizes: Vector, count: int | None = None) -> Vector:
    """Return the largest size, as often as there are some, or so many times."""
    return np.full(sizes.size if count is None else count, sizes.max(initial=0.0))


def in_proportion(rows: Matrix, measures: Vector, numbers: Vector) -> Vector:
    """Return the sizes of rows times numbers, all raised to the largest as they are measured."""
    own, sizes = (abs(rows) @ np.array([measures, numbers]).T).T
    known = own > 0
    largest = np.divide(sizes, own, out=np.zeros(own.size), where=known).max(initial=0.0)
    return np.asarray(np.where(known, own * largest, sizes.max(initial=0.0)))


def over(energy: float, sizes: Vector) -> Vector:
    """Return what does this much over sizes; nothing where these vanish."""
    return np.divide(energy, sizes, out=np.zeros(sizes.size), where=sizes > 0)


def in_rows(count: int, first: int, sizes: Vector) -> Vector:
    """Return so many sizes, zero but for these from the first row on."""
    rows = np.zeros(count)
    rows[first : first + sizes.size] = sizes
    return rows


def largest_of_each(sizes: Vector, blocks: Sequence[int]) -> Vector:
    """Return the sizes with every entry raised to the largest of its block.

    The entries of a vector are of one kind, and one that vanishes is measured by the others.
    """
    starts, owners = _layout(tuple(blocks))
    return np.maximum.reduceat(sizes, starts)[owners]


def largest_of_kind(sizes: Vector, translate: NDArray[np.bool_]) -> Vector:
    """Raise sizes to the largest of their kind, translation or rotation, over all bodies."""
    of_force, of_torque = (sizes[kind].max(initial=0.0) for kind in (translate, ~translate))
    return np.asarray(np.where(translate, of_force, of_torque))


@lru_cache(LAYOUTS)
def _layout(blocks: tuple[int, ...]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where each block begins, and the block of each entry."""
    return np.cumsum([0, *blocks[:-1]]), np.repeat(np.arange(len(blocks)), blocks)
