"""Networks of linear systems by their matrices."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poinsot.ph.matrices import Array, Vector, assemble, dense
from poinsot.ph.regulators import Bound

if TYPE_CHECKING:
    from poinsot.ph.network import Network


@dataclass(frozen=True, eq=False)
class LinearNetwork:
    r"""A network of linear systems by its matrices, with s = (\xi, w), w = (y, inputs left open).

    .. math::

        2 E (\xi - x_0) = h (M \xi + B w), \quad
        (u, u_p, y_p) = O s, \quad \text{power lost} = s^\top P s, \quad H = \tfrac12 x^\top Q x

    \xi are the states behind the terminals at the midpoint of a step, u the inputs of the host,
    (u_p, y_p) those of all ports of its members, `through` numbers each: first of those used up,
    then of those left open.
    """

    E: Array
    M: Array
    B: Array
    O: Array
    P: Array
    Q: Array
    through: int
    algebraic: NDArray[np.bool_]
    regulators: tuple[Bound, ...] = ()
    direct: int = 0
    _known: dict[float, tuple[Array, Array]] = field(default_factory=dict)
    _regulated: dict[float, "LinearNetwork"] = field(default_factory=dict)

    def over(self, h: float) -> "LinearNetwork":
        r"""Return its matrices for steps of size h [s], with what regulators feed filled in.

        Their laws u = K m make s = \Theta s' of s' = (\xi, y, inputs of members).
        """
        if not self.direct and not self.regulators:
            return self
        if h not in self._regulated:
            self._regulated.clear()
            self._regulated[h] = self._filled(h)
        return self._regulated[h]

    def _filled(self, h: float) -> "LinearNetwork":
        n, k = len(self.E), self.O.shape[0] - 2 * self.through
        inputs = self.B.shape[1] - k
        theta = np.delete(np.eye(n + k + inputs), np.s_[n + k : n + k + self.direct], axis=1)
        x, u = np.zeros(k + n), np.zeros(inputs)
        for each in self.regulators:
            gains = each.regulator.law.gains
            assert gains is not None
            by_x = gains @ each.dmeasured(x, u, h, np.zeros((inputs, x.size)))
            row = gains @ each.dstart(inputs) @ theta[n + k :]
            row[:, : n + k] += np.hstack([by_x[:, k:], by_x[:, :k]])
            theta[n + k + each.drives] = row
        flows = np.hstack([self.M, self.B]) @ theta
        return LinearNetwork(
            E=self.E,
            M=flows[:, :n],
            B=flows[:, n:],
            O=self.O @ theta,
            P=theta.T @ self.P @ theta,
            Q=self.Q,
            through=self.through,
            algebraic=self.algebraic,
        )

    def solved(self, h: float) -> tuple[Array, Array]:
        """Return (2 E - h M)^-1 and S = du/dy for steps of size h [s]; the last are known."""
        if h not in self._known:
            n, k = len(self.E), self.O.shape[0] - 2 * self.through
            inverse = np.linalg.inv(2 * self.E - h * self.M)
            S = self.O[:k, :n] @ inverse @ (h * self.B[:, :k]) + self.O[:k, n : n + k]
            self._known.clear()
            self._known[h] = np.asarray(inverse, dtype=float), S
        return self._known[h]

    def solution(self, x0: Vector, w: Vector, h: float) -> tuple[Vector, Vector]:
        """Return xi over a step of size h [s] from x0, refined once, and O s."""
        inverse, _ = self.solved(h)
        xi = x0
        for _ in range(2):
            residual = 2 * self.E @ (x0 - xi) + h * (self.M @ xi + self.B @ w)
            xi = xi + inverse @ residual
        return xi, self.O @ np.concatenate([xi, w])

    @classmethod
    def of(cls, network: "Network") -> "LinearNetwork":
        """Return the matrices of a network all of whose members are linear."""
        system, k = network.system, network.size
        x = np.zeros(system.n)
        dz, B, E = dense(system.dz(x)), dense(system.B(x)), dense(system.E(x))
        A = dense(system.dflow_dz(x, x)) @ dz
        # From (y, xi, inputs) to (xi, y, inputs).
        order = np.concatenate(
            [np.arange(k, system.n), np.arange(k), system.n + np.arange(system.m)]
        )
        flows, R = np.hstack([A, B]), dz.T @ dense(system.R(x)) @ dz
        lost = dense(assemble((order.size, order.size), [(0, 0, R)]))

        def ports(s: Vector) -> Vector:
            x, u = s[: system.n], s[system.n :]
            z = dz @ x
            left = slice(network.direct, None)
            values = [*network.port_values(x, z, u), (u[left], (B.T @ z)[left])]
            return np.concatenate([pair[side] for side in (0, 1) for pair in values])

        unit = np.eye(order.size)
        through = np.stack([ports(column) for column in unit], axis=1)
        return cls(
            E=E[k:, k:],
            M=A[k:, k:],
            B=flows[k:][:, order[system.n - k :]],
            O=np.vstack([flows[:k], through])[:, order],
            P=lost[np.ix_(order, order)],
            Q=E[k:, k:].T @ dz[k:, k:],
            through=len(through) // 2,
            algebraic=system.algebraic[k:],
            regulators=network.regulators,
            direct=network.direct,
        )
