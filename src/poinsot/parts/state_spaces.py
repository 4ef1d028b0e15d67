r"""State spaces: linear laws with states, and port-Hamiltonian systems as such laws.

.. math:: \dot x = A x + B y, \quad u = C x + D y
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import expm

from poinsot.errors import InputError
from poinsot.inputs import number
from poinsot.ph.general_stages import stage_equations
from poinsot.ph.matrices import Array, Vector, as_matrix, dense
from poinsot.ph.network import RULE
from poinsot.ph.newton import solve
from poinsot.ph.stages import Newton
from poinsot.ph.system import PHSystem

#: Sampling times that differ by no more than this are the same.
SAME = 1e-9
#: E of a system with a larger condition number than this cannot be inverted.
CONDITION = 1e12


@runtime_checkable
class GivenStateSpace(Protocol):
    """A state space of SciPy or python-control; `dt` is None or 0 of continuous ones."""

    A: Any
    B: Any
    C: Any
    D: Any
    dt: Any


@runtime_checkable
class Convertible(Protocol):
    """A transfer function of SciPy."""

    def to_ss(self) -> GivenStateSpace: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class StateSpace:
    """A linear law from y to u: x' = A x + B y, or x_next = A x + B y after every dt [s].

    `dt` is None in continuous time, and 0 if the time between samples is that of who samples.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    dt: float | None = None

    @classmethod
    def of(cls, law: Any, what: str) -> "StateSpace | None":
        """Return the state space that a law is; None if it is something else."""
        if isinstance(law, cls):
            return law
        if isinstance(law, PHSystem):
            return _of_system(law, what)
        if isinstance(law, Convertible) and not isinstance(law, GivenStateSpace):
            law = law.to_ss()
        if not isinstance(law, GivenStateSpace):
            return None
        # python-control: 0 is continuous, True discrete with any time.
        dt = None if law.dt is None else 0.0 if law.dt is True else float(law.dt) or None
        return cls.made(law.A, law.B, law.C, law.D, dt, what)

    @classmethod
    def made(
        cls,
        A: ArrayLike,
        B: ArrayLike,
        C: ArrayLike,
        D: ArrayLike | None,
        dt: float | None,
        what: str,
    ) -> "StateSpace":
        """Return a state space of matrices, or say which of them does not fit."""
        n = np.shape(A)[0] if np.ndim(A) else 1
        p, m = np.shape(np.atleast_2d(C))[0], np.shape(np.atleast_2d(B))[1]
        D = np.zeros((p, m)) if D is None else np.atleast_2d(D)
        p, m = np.shape(D)
        shapes = (n, n), (n, m), (p, n), (p, m)
        A, B, C, D = (
            dense(as_matrix(np.zeros(shape) if not np.size(M) else M, shape, f"{what}: {letter}"))
            for letter, M, shape in zip("ABCD", (A, B, C, D), shapes, strict=True)
        )
        if dt is not None and number(dt, f"{what}: dt") < 0:
            raise InputError(f"{what}: dt is {dt:g} s; the sampling time must be positive")
        return cls(A, B, C, D, dt)

    @property
    def states(self) -> int:
        """Number of states."""
        return len(self.A)

    @property
    def measured(self) -> int:
        """Number of inputs."""
        return int(self.D.shape[1])

    @property
    def outputs(self) -> int:
        """Number of outputs."""
        return int(self.D.shape[0])

    def sampled(self, every: float) -> "StateSpace":
        r"""Return it for samples that are held for so long [s]; exact.

        .. math:: \exp\left(T \begin{bmatrix} A & B \\ 0 & 0 \end{bmatrix}\right)
            = \begin{bmatrix} A_d & B_d \\ 0 & I \end{bmatrix}
        """
        if self.dt is None:
            n = self.states
            whole = np.zeros((n + self.measured, n + self.measured))
            whole[:n] = np.hstack([self.A, self.B])
            grown = expm(every * whole)
            return StateSpace(grown[:n, :n], grown[:n, n:], self.C, self.D, every)
        if self.dt and abs(self.dt - every) > SAME * every:
            raise InputError(
                f"its state space is in discrete time with a sampling time of {self.dt:g} s, but "
                f"every is {every:g} s; use the same, or a continuous state space"
            )
        return self

    def __call__(self, t: float, y: Vector, x: Vector) -> tuple[Vector, Vector]:
        """Return u, and x' or x at the next sample."""
        return self.C @ x + self.D @ y, self.A @ x + self.B @ y


def _of_system(system: PHSystem, what: str) -> StateSpace | None:
    """Return a linear system as a state space from the inputs of its ports to -y; else None."""
    if not system.linear:
        return None
    x = np.zeros(system.n)
    E, Q, B = dense(system.E(x)), dense(system.dz(x)), dense(system.B(x))
    if np.linalg.cond(E) > CONDITION:
        raise InputError(
            f"{what}: system '{system.name}' has states without a derivative (E is singular); join "
            "it by model.add_system and model.connect instead"
        )
    flows = np.hstack([dense(system.dflow_dz(x, x)) @ Q, B])
    solved: Array = np.linalg.solve(E, flows).astype(float)
    zero = np.zeros((system.m, system.m))
    return StateSpace(solved[:, : system.n], solved[:, system.n :], -B.T @ Q, zero)


def sampled_system(
    system: PHSystem, every: float
) -> Callable[[float, Vector, Vector], tuple[Vector, Vector]]:
    """Return a system as a law of samples: u = -y(x), and x after one step with y held."""

    def law(t: float, y: Vector, x: Vector) -> tuple[Vector, Vector]:
        equations = stage_equations(system.remembering(), RULE, t + every / 2, x, y, every)
        found = solve(equations.evaluate, equations.guess, Newton(), equations.labels)
        return -system.y(x, system.z(x)), equations.finish(found.x)[0]

    return law
