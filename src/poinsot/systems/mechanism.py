"""A mechanism in director coordinates, as numbers: what systems and time steps are written in."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from poinsot.bodies.body import RIGIDITY
from poinsot.errors import InputError
from poinsot.frames import twists
from poinsot.frames.forms import WIDTH, Forms
from poinsot.parts.contacts import Contact
from poinsot.parts.feedback import Inlet
from poinsot.parts.potentials import Potential
from poinsot.parts.resistance import Damper
from poinsot.ph.equations import shortest_solution
from poinsot.ph.matrices import Matrix, Placed, Vector, add, assemble, diagonal, large
from poinsot.systems.mechanical import Mechanics
from poinsot.systems.redundancy import Loop

#: Least moment of inertia, as a part of the greatest one of the body. That of a thin rod about its
#: axis is none, while Newton's method divides by it.
THIN = 1e-5


@dataclass(frozen=True, eq=False)
class Mechanism(Mechanics):
    """Masses, constraints, potentials, dampers and ports of a mechanism.

    Parameters
    ----------
    mass : (n,)
        The diagonal of M = diag(m, E1, E2, E3) of every body [LKB26, eq. (31)].
    constraints : Forms
        g(q), m of them: rigidity of every body, then the joints.
    weight : (n,)
        Gradient of the potential of gravity, which is linear in q.
    loops
        Those loops of joints in which constraints repeat each other.
    contacts
        Constraints on velocities alone, A(q) v = 0: rows of G below those of g, which have no
        position equation. Their multipliers follow those of g.
    jointed
        Whether rigidity is left out, for coordinates in which bodies are rigid by themselves.
    """

    mass: Vector
    constraints: Forms
    weight: Vector
    potentials: tuple[Potential, ...] = ()
    dampers: tuple[Damper, ...] = ()
    inlets: tuple[Inlet, ...] = ()
    loops: tuple[Loop, ...] = ()
    contacts: tuple[Contact, ...] = ()
    jointed: bool = False

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.mass.size

    @property
    def masses(self) -> Vector:
        """Mass of every body [kg]; (bodies,)."""
        return self.mass.reshape(-1, 4, 3)[:, 0, 0]

    @property
    def moments(self) -> NDArray[np.float64]:
        """Principal moments of inertia [kg m^2], none below `THIN`; (bodies, 3)."""
        euler = self.mass.reshape(-1, 4, 3)[:, 1:, 0]
        inertia = euler.sum(axis=1, keepdims=True) - euler
        return np.asarray(np.maximum(inertia, THIN * inertia.max(axis=1, keepdims=True)))

    @property
    def m(self) -> int:
        """Number of constraints: rows of G."""
        return self.constraints.m + sum(contact.size for contact in self.contacts)

    @property
    def holonomic(self) -> bool:
        """Whether every constraint has a position equation."""
        return not self.contacts

    @property
    def rigid(self) -> int:
        """Number of constraints of rigidity, which come first."""
        return 0 if self.jointed else RIGIDITY * (self.n // WIDTH)

    def held(self) -> "Mechanism":
        """Return the mechanism without rigidity: joints and contacts."""
        forms = self.constraints.take(np.arange(self.rigid, self.constraints.m))
        loops = tuple(replace(loop, rows=loop.rows - self.rigid) for loop in self.loops)
        return replace(self, constraints=forms, loops=loops, jointed=True)

    @property
    def redundant(self) -> bool:
        """Whether some constraints repeat others."""
        return bool(self.loops)

    @property
    def repeated(self) -> int:
        """How many constraints repeat others."""
        return sum(int(loop.repeated.sum()) for loop in self.loops)

    @cached_property
    def looped(self) -> NDArray[np.intp]:
        """Rows of joints in loops with repeated constraints."""
        return np.concatenate([np.zeros(0, dtype=np.intp), *(loop.rows for loop in self.loops)])

    def independent(self, q: Vector) -> Matrix | None:
        """Return T, whose rows take independent constraints out of all; None: all are.

        T G has full rank near q. The rows that are left out are the same everywhere, unless others
        are much better conditioned at q.
        """
        if not self.redundant:
            return None
        kept = np.ones(self.m, dtype=bool)
        for loop in self.loops:
            kept[loop.rows] = loop.independent(q)
        if not large(self.m):
            return np.eye(self.m)[kept]
        return sp.eye_array(self.m, format="csr")[kept]

    def smallest(self, q: Vector, lam: Vector) -> Vector:
        """Return the smallest multipliers (m,) of joints that move bodies like `lam` does at q.

        The multipliers of rigidity make up for the difference, so that G^T lam stays the same.
        """
        if not self.redundant:
            return lam
        change = np.zeros(self.m)
        for loop in self.loops:
            change[loop.rows] = -loop.idle(q, lam[loop.rows])
        if not self.jointed:
            change[: self.rigid] += self.rigidity(q, self._pull(q, change))
        return lam + change

    def smallest_pair(
        self, q: Vector, v: Vector, lam: Vector, gam: Vector
    ) -> tuple[Vector, Vector]:
        """Return the smallest multipliers of positions and velocities that move bodies alike.

        What gam loses does nothing by G^T, but W^T of it does, W = dG v/dq; lam makes up for that.
        """
        if not self.redundant:
            return lam, gam
        smaller = self.smallest(q, gam)
        push = self.constraints.slope(v).T @ (gam - smaller)
        blocks, pushes = q.reshape(-1, 4, 3), push.reshape(-1, 4, 3)
        torque = np.cross(blocks[:, 1:], pushes[:, 1:]).sum(axis=1)
        wrench = np.hstack([pushes[:, 0], torque]).reshape(-1)
        J = twists.joint_matrix(self.constraints.take(self.looped), q)
        change = np.zeros(self.m)
        change[self.looped] = shortest_solution(J.T, wrench)
        pull = self._pull(q, change)
        change[: self.rigid] += self.rigidity(q, pull - push)
        return self.smallest(q, lam + change), smaller

    def _pull(self, q: Vector, lam: Vector) -> Vector:
        """Return G^T lam; shape (n,)."""
        return np.asarray(self.G(q).T @ lam)

    def rigidity(self, q: Vector, push: Vector) -> Vector:
        """Return multipliers of rigidity that balance a push (n,) without torque on bodies at q.

        For director i, push_i = -sum_j Lambda_ij d_j with a symmetric Lambda = -P D^-1.
        """
        D, P = (a.reshape(-1, 4, 3)[:, 1:] for a in (q, push))
        Lambda = -np.linalg.solve(np.swapaxes(D, 1, 2), np.swapaxes(P, 1, 2))
        pairs = (Lambda + np.swapaxes(Lambda, 1, 2)) / 2
        return np.asarray(pairs[:, [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]].reshape(-1))

    # -- constraints --------------------------------------------------------------------------

    def gap(self, q: Vector) -> Vector:
        """Return g(q), and nothing for constraints without a position equation; shape (m,)."""
        gap = np.zeros(self.m)
        gap[: self.constraints.m] = self.constraints(q)
        return gap

    def G(self, q: Vector) -> Matrix:
        """Return the constraints on velocities, G v = 0: dg/dq and A; shape (m, n)."""
        rows = [contact.B(local(q, contact.bodies)).T for contact in self.contacts]
        return self._below(self.constraints.G(q), rows)

    def slope(self, q: Vector, v: Vector) -> Matrix:
        """Return the derivative of G(q) v by q; shape (m, n)."""
        rows = [c.dy(local(q, c.bodies), local(v, c.bodies)) for c in self.contacts]
        return self._below(self.constraints.slope(v), rows)

    def _below(self, rows: Matrix, own: list[NDArray[np.float64]]) -> Matrix:
        """Return rows of g, and below them those of each contact on its body; shape (m, n)."""
        if not own:
            return rows
        placed, first = [(0, 0, rows)], self.constraints.m
        for contact, block in zip(self.contacts, own, strict=True):
            (body,) = contact.bodies
            placed.append((first, WIDTH * body, block))
            first += contact.size
        return assemble((self.m, self.n), placed)

    def curvature(self, q: Vector, lam: Vector) -> Matrix:
        """Return the derivative of G(q)^T lam by q; shape (n, n)."""
        split = self.constraints.m
        curvature, blocks = self.constraints.curvature(lam[:split]), []
        for contact in self.contacts:
            mu = lam[split : split + contact.size]
            blocks.append((contact.bodies, contact.dB(local(q, contact.bodies), mu)))
            split += contact.size
        return add(curvature, self._square(blocks)) if blocks else curvature

    # -- constraints of many states, (states, n) each -----------------------------------------

    def gaps(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return g(q); (states, rows with a position equation)."""
        return self.constraints.values(q)

    def rates(self, q: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return G(q) v; (states, m)."""
        return np.hstack([self.constraints.rates(q, v), self.contact_rates(q, v)])

    def contact_rates(self, q: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return A(q) v, the rows without a position equation."""
        rates = [np.zeros((len(q), 0))]
        for contact in self.contacts:
            (body,) = contact.bodies
            own = slice(WIDTH * body, WIDTH * (body + 1))
            rates.append(contact.rates(q[:, own], v[:, own]))
        return np.hstack(rates)

    def K(self, q: Vector) -> Matrix:
        """Return G: velocities are the rates of q."""
        return self.G(q)

    # -- kinetic energy -----------------------------------------------------------------------

    @property
    def M(self) -> Matrix:
        """The mass matrix; (n, n)."""
        return diagonal(self.mass)

    @property
    def massless(self) -> NDArray[np.bool_]:
        """Velocities without mass: those of directors of thin bodies; (n,)."""
        return np.asarray(self.mass == 0)

    def T(self, v: Vector) -> float:
        """Return the kinetic energy [J]."""
        return float((self.mass * v) @ v) / 2

    # -- potential energy ---------------------------------------------------------------------

    def V(self, q: Vector) -> float:
        """Return the potential energy [J]."""
        return float(self.weight @ q) + self.stored(q)

    def stored(self, q: Vector) -> float:
        """Return the energy of springs and fields [J]."""
        return float(sum(p.energy(local(q, p.bodies)) for p in self.potentials))

    def dV(self, q: Vector) -> Vector:
        """Return the gradient of V; shape (n,)."""
        total = self.weight.copy()
        for p in self.potentials:
            scatter(total, p.bodies, p.gradient(local(q, p.bodies)))
        return total

    def ddV(self, q: Vector) -> Matrix | None:
        """Return the Hessian of V; None if there is only gravity."""
        blocks = [(p.bodies, p.hessian(local(q, p.bodies))) for p in self.potentials]
        return self._square(blocks) if blocks else None

    def discrete_dV(self, q0: Vector, q1: Vector) -> tuple[Vector, Matrix | None]:
        """Return the discrete gradient of V and its derivative with respect to q1."""
        total, blocks = self.weight.copy(), []
        for p in self.potentials:
            gradient, tangent = p.discrete(local(q0, p.bodies), local(q1, p.bodies))
            scatter(total, p.bodies, gradient)
            blocks.append((p.bodies, tangent))
        return total, self._square(blocks) if blocks else None

    def require_continuous(self, q0: Vector, q1: Vector) -> None:
        """Refuse a step in which the law of a joint's spring jumped by a whole turn."""
        for p in self.potentials:
            if p.jumps(local(q0, p.bodies), local(q1, p.bodies)):
                raise InputError(
                    f"force '{p.name}': its angle passed half a turn, where its law jumps; give it "
                    "a potential of period 2 pi, or a rest angle further away"
                )

    # -- dissipation --------------------------------------------------------------------------

    @property
    def lossless(self) -> bool:
        """Whether there are no dampers."""
        return not self.dampers

    def damping(self, q: Vector, v: Vector) -> Vector:
        """Return the generalised damping force B f(B^T v), against the motion; shape (n,)."""
        total = np.zeros(self.n)
        for d in self.dampers:
            B = d.direction.B(local(q, d.direction.bodies))
            f = d.law(B.T @ local(v, d.direction.bodies))
            scatter(total, d.direction.bodies, B @ f)
        return total

    def ddamping(self, q: Vector, v: Vector) -> tuple[Matrix, Matrix] | None:
        """Return the derivatives of `damping` with respect to q and v; None without dampers."""
        by_q, by_v = [], []
        for d in self.dampers:
            bodies = d.direction.bodies
            q_, v_ = local(q, bodies), local(v, bodies)
            B = d.direction.B(q_)
            y = B.T @ v_
            slope = d.law.slope(y)
            by_q.append((bodies, d.direction.dB(q_, d.law(y)) + B @ slope @ d.direction.dy(q_, v_)))
            by_v.append((bodies, B @ slope @ B.T))
        return (self._square(by_q), self._square(by_v)) if by_q else None

    def remembering(self) -> "Mechanism":
        """Return the mechanism for one run of Newton's method: dry friction has slopes for it."""
        laws = [d.law.remembering() for d in self.dampers]
        if all(law is d.law for law, d in zip(laws, self.dampers, strict=True)):
            return self
        dampers = [replace(d, law=law) for law, d in zip(laws, self.dampers, strict=True)]
        return replace(self, dampers=tuple(dampers))

    # -- ports --------------------------------------------------------------------------------

    def B(self, q: Vector) -> Matrix:
        """Return the port matrix on the momentum equations; shape (n, inputs)."""
        placed: list[Placed] = []
        column = 0
        for inlet in self.inlets:
            B = inlet.direction.B(local(q, inlet.direction.bodies))
            for k, body in enumerate(inlet.direction.bodies):
                placed.append((WIDTH * body, column, B[WIDTH * k : WIDTH * (k + 1)]))
            column += inlet.size
        return assemble((self.n, column), placed)

    def dB(self, q: Vector, u: Vector) -> Matrix | None:
        """Return the derivative of B(q) u with respect to q; None without ports."""
        blocks, start = [], 0
        for inlet in self.inlets:
            u_ = u[start : start + inlet.size]
            bodies = inlet.direction.bodies
            blocks.append((bodies, inlet.direction.dB(local(q, bodies), u_)))
            start += inlet.size
        return self._square(blocks) if blocks else None

    def dy(self, q: Vector, v: Vector) -> Matrix | None:
        """Return the derivative of B(q)^T v with respect to q; None without ports."""
        placed: list[Placed] = []
        row = 0
        for inlet in self.inlets:
            bodies = inlet.direction.bodies
            block = inlet.direction.dy(local(q, bodies), local(v, bodies))
            for k, body in enumerate(bodies):
                placed.append((row, WIDTH * body, block[:, WIDTH * k : WIDTH * (k + 1)]))
            row += inlet.size
        return assemble((row, self.n), placed) if placed else None

    def feedback(self, t: float, q: Vector, v: Vector, u: Vector) -> Vector:
        """Return the inputs with the state-dependent ones filled in."""
        if not any(inlet.law for inlet in self.inlets):
            return u
        total, start = u.copy(), 0
        for inlet in self.inlets:
            bodies = inlet.direction.bodies
            if inlet.law is not None:
                total[start : start + inlet.size] = inlet.law(t, local(q, bodies), local(v, bodies))
            start += inlet.size
        return total

    def dfeedback(self, t: float, q: Vector, v: Vector) -> tuple[Matrix, Matrix] | None:
        """Return B du/dq and B du/dv of state-dependent inputs."""
        by_q, by_v = [], []
        for inlet in self.inlets:
            law, bodies = inlet.law, inlet.direction.bodies
            if law is not None:
                q_, v_ = local(q, bodies), local(v, bodies)
                B = inlet.direction.B(q_)
                du_dq, du_dv = law.slopes(t, q_, v_)
                by_q.append((bodies, B @ du_dq))
                by_v.append((bodies, B @ du_dv))
        return (self._square(by_q), self._square(by_v)) if by_q else None

    def _square(self, blocks: list[tuple[tuple[int, ...], NDArray[np.float64]]]) -> Matrix:
        return assemble((self.n, self.n), [p for bodies, M in blocks for p in _tiles(bodies, M)])


def local(x: Vector, bodies: tuple[int, ...]) -> Vector:
    """Return the coordinates of a few bodies, one after the other."""
    return x.reshape(-1, WIDTH)[list(bodies)].reshape(-1)


def scatter(total: Vector, bodies: tuple[int, ...], values: Vector) -> None:
    """Add the values of a few bodies to the vector of all."""
    for k, body in enumerate(bodies):
        total[WIDTH * body : WIDTH * (body + 1)] += values[WIDTH * k : WIDTH * (k + 1)]


def _tiles(bodies: tuple[int, ...], M: NDArray[np.float64]) -> Iterator[Placed]:
    for k, row in enumerate(bodies):
        for j, column in enumerate(bodies):
            tile = M[WIDTH * k : WIDTH * (k + 1), WIDTH * j : WIDTH * (j + 1)]
            yield WIDTH * row, WIDTH * column, tile
