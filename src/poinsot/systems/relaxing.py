r"""Mechanisms with Maxwell elements: their strains e are states beside the velocities.

With w = (v, e), mass diag(M, S) and a skew coupling, these are mechanical systems like others,

.. math::

    M \dot v &= -\nabla V - B_\chi S\, e - G^\top \lambda + B u, \\
    S\, \dot e &= S B_\chi^\top v - S\, e / \tau ,

where the columns of B_chi are the gradients of the coordinates of connections.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from poinsot.errors import InputError
from poinsot.frames.forms import GROUND
from poinsot.frames.parametrisations import Matrices
from poinsot.frames.places import in_columns, in_rows, local, scatter
from poinsot.parts.relaxation import MaxwellElement, Relaxed
from poinsot.ph.gradients import Rule
from poinsot.ph.linear_steps import differences
from poinsot.ph.matrices import Matrix, Placed, Vector, assemble, dense, each_times, is_sparse
from poinsot.ph.ports import Port
from poinsot.ph.runner import Runner
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Newton, Slopes, Stage, StageEquations
from poinsot.ph.system import State
from poinsot.systems.directors import DirectorSystem, director_system
from poinsot.systems.layout import Layout
from poinsot.systems.mechanical import Inertial, Losses
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.steps import DirectorStages, massless_from_others
from poinsot.systems.views import Array, DirectorView


def _ranges(elements: tuple[MaxwellElement, ...]) -> Iterator[tuple[MaxwellElement, slice]]:
    """Return every element, and where its states are among all."""
    ends = pairwise(accumulate((element.size for element in elements), initial=0))
    return ((element, slice(*own)) for element, own in zip(elements, ends, strict=True))


def with_springs(mechanism: Mechanism, e: Vector, f0: Vector, h: float) -> Mechanism:
    """Return a mechanism over a step of size h [s] from strains e and frames f0.

    It has the spring for each Maxwell element that this is like.
    """
    springs = [element.over(e[own], f0, h) for element, own in _ranges(mechanism.relaxing)]
    return replace(mechanism, potentials=(*mechanism.potentials, *springs))


@dataclass(frozen=True, eq=False)
class Relaxing(Inertial):
    """What acts on a mechanism with Maxwell elements; w = (v, e)."""

    of: Mechanism

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.of.n

    @cached_property
    def size(self) -> int:
        """Number of strains e."""
        return sum(element.size for element in self.of.relaxing)

    @property
    def k(self) -> int:
        """Number of velocities and strains."""
        return self.n + self.size

    @property
    def m(self) -> int:
        """Number of constraints."""
        return self.of.m

    def _taller(self, A: Matrix | None) -> Matrix | None:
        """Return a matrix with a row of zeros for each strain."""
        return None if A is None else assemble((self.k, A.shape[1]), [(0, 0, A)])

    # -- energy -------------------------------------------------------------------------------

    def V(self, q: Vector) -> float:
        """Return the potential energy without that of Maxwell elements [J]."""
        return self.of.V(q)

    def dV(self, q: Vector) -> Vector:
        """Return its gradient."""
        return self.of.dV(q)

    def ddV(self, q: Vector) -> Matrix | None:
        """Return its Hessian."""
        return self.of.ddV(q)

    @cached_property
    def stiffness(self) -> Matrix:
        """S of all elements; (size, size)."""
        blocks: list[Placed] = [
            (own.start, own.start, element.stiffness) for element, own in _ranges(self.of.relaxing)
        ]
        return assemble((self.size, self.size), blocks)

    @cached_property
    def M(self) -> Matrix:
        """The mass matrix diag(M, S)."""
        blocks: list[Placed] = [(0, 0, self.of.M), (self.n, self.n, self.stiffness)]
        return assemble((self.k, self.k), blocks)

    @property
    def massless(self) -> NDArray[np.bool_]:
        """Velocities without mass; strains have all a stiffness."""
        return np.append(self.of.massless, np.zeros(self.size, dtype=bool))

    def T(self, w: Vector) -> float:
        """Return the energy of velocities and of strains [J]."""
        return self.of.T(w[: self.n]) + self.stored(w[self.n :])

    def stored(self, e: Vector) -> float:
        """Return the energy of strains [J]."""
        return float(e @ (self.stiffness @ e)) / 2

    # -- kinematics and constraints -----------------------------------------------------------

    def Z(self, q: Vector) -> Matrix:
        """Return (I, 0): coordinates have the velocities v."""
        return self._wider(self.of.Z(q))

    def _wider(self, A: Matrix) -> Matrix:
        """Return a matrix with a column of zeros for each strain."""
        return assemble((A.shape[0], self.k), [(0, 0, A)])

    def K(self, q: Vector) -> Matrix:
        """Return (G, 0)."""
        return self._wider(self.of.G(q))

    def curvature(self, q: Vector, lam: Vector) -> Matrix:
        """Return the derivative of K^T lam by q."""
        return assemble((self.k, self.n), [(0, 0, self.of.curvature(q, lam))])

    def slope(self, q: Vector, w: Vector) -> Matrix:
        """Return the derivative of K w by q."""
        return self.of.slope(q, w[: self.n])

    @property
    def imposed(self) -> Matrix | None:
        """What inputs add to the constraints."""
        return self.of.imposed

    # -- ports and dissipation ----------------------------------------------------------------

    def B(self, q: Vector) -> Matrix:
        """Return the port matrix; no port acts on strains."""
        B = self.of.B(q)
        return assemble((self.k, B.shape[1]), [(0, 0, B)])

    def dB(self, q: Vector, u: Vector) -> Matrix | None:
        """Return the derivative of B u by q."""
        return self._taller(self.of.dB(q, u))

    def dy(self, q: Vector, w: Vector) -> Matrix | None:
        """Return the derivative of B^T w by q."""
        return self.of.dy(q, w[: self.n])

    def feedback(self, t: float, q: Vector, w: Vector, u: Vector) -> Vector:
        """Return the inputs with those filled in that depend on the state."""
        return self.of.feedback(t, q, w[: self.n], u)

    def in_play(self, t: float, q: Vector, w: Vector, h: float) -> float:
        """Return the energy to a relative eps of which springs and laws are known in a step."""
        return self.of.in_play(t, q, w[: self.n], h)

    @property
    def lossless(self) -> bool:
        """Dashpots take energy."""
        return False

    @cached_property
    def dashpots(self) -> Matrix:
        """S / tau of all elements; (size, size)."""
        blocks: list[Placed] = [
            (own.start, own.start, element.stiffness / element.time)
            for element, own in _ranges(self.of.relaxing)
        ]
        return assemble((self.size, self.size), blocks)

    def damping(self, q: Vector, w: Vector) -> Vector:
        """Return the forces of dampers, and S e / tau."""
        return np.append(self.of.damping(q, w[: self.n]), self.dashpots @ w[self.n :])

    def ddamping(self, q: Vector, w: Vector) -> tuple[Matrix, Matrix]:
        """Return their derivatives by q and by w."""
        slopes, by_w = self.of.ddamping(q, w[: self.n]), [(self.n, self.n, self.dashpots)]
        if slopes is None:
            none = assemble((self.k, self.n), [])
            return none, assemble((self.k, self.k), by_w)
        by_q = assemble((self.k, self.n), [(0, 0, slopes[0])])
        return by_q, assemble((self.k, self.k), [(0, 0, slopes[1]), *by_w])

    def losses(self, q: Vector, w: Vector, lam: Vector) -> Losses | None:
        """Return friction in proportion to constraint forces."""
        losses = self.of.losses(q, w[: self.n], lam)
        if losses is None:
            return None
        columns = (self.n, self.k, lam.size)
        padded = (
            assemble((self.k, c), [(0, 0, M)]) for c, M in zip(columns, losses[1:], strict=True)
        )
        return Losses(np.append(losses.force, np.zeros(self.k - self.n)), *padded)

    # -- what couples velocities and strains --------------------------------------------------

    def coupling(self, q: Vector) -> Matrix:
        """Return B_chi S; (n, size)."""
        placed: list[Placed] = []
        f = self.of.unknowns.full(q)
        for element, own in _ranges(self.of.relaxing):
            block = element.B(local(f, element.bodies)) @ element.stiffness
            placed += in_rows(element.bodies, own.start, block)
        coupling: Matrix = self.of.unknowns.on(assemble((f.size, self.size), placed))
        return coupling

    def pull(self, q: Vector, e: Vector) -> Vector:
        """Return B_chi S e."""
        f = self.of.unknowns.full(q)
        total = np.zeros(f.size)
        for element, own in _ranges(self.of.relaxing):
            B = element.B(local(f, element.bodies))
            scatter(total, element.bodies, B @ (element.stiffness @ e[own]))
        return self.of.unknowns.own(total)

    def dcoupling(self, q: Vector, v: Vector, e: Vector) -> tuple[Matrix, Matrix]:
        """Return the derivatives of B_chi S e (n, n) and of S B_chi^T v (size, n) by q."""
        f, rate = self.of.unknowns.full(q), self.of.unknowns.rates.full(v)
        blocks, rows = [], list[Placed]()
        for element, own in _ranges(self.of.relaxing):
            q_, v_ = local(f, element.bodies), local(rate, element.bodies)
            blocks.append((element.bodies, element.dB(q_, element.stiffness @ e[own])))
            rows += in_columns(own.start, element.bodies, element.stiffness @ element.dy(q_, v_))
        return self.of.square(blocks), self.of.unknowns.by(assemble((self.size, f.size), rows))


@dataclass(frozen=True, eq=False)
class RelaxingView(DirectorView):
    """States in directors, x = (q, v, e, multipliers)."""

    @cached_property
    def _strains(self) -> Relaxing:
        return Relaxing(self.mechanism)

    @property
    def motion(self) -> int:
        """How many columns of x are those of motion and strains."""
        return super().motion + self._strains.size

    @property
    def stores(self) -> dict[str, Callable[[Array], Array]]:
        """The energy of Maxwell elements."""
        first, S = super().motion, self._strains.stiffness
        along = S if is_sparse(S) else sp.csr_array(dense(S))

        def stored(x: Array) -> Array:
            e = x[:, first:]
            return each_times(e * np.asarray(e @ along), np.full(e.shape[1], 0.5))

        return {"relaxation": stored}


@dataclass(frozen=True, eq=False)
class RelaxingSystem(DirectorSystem):
    """A mechanism in directors with Maxwell elements, x = (q, v, e, lambda)."""

    @cached_property
    def mechanics(self) -> Relaxing:  # type: ignore[override]
        """The mechanism with the strains of Maxwell elements."""
        return Relaxing(self.mechanism)

    @property
    def view(self) -> RelaxingView:
        """Reads q, v and e."""
        of, own = self.mechanism, self.mechanism.unknowns
        first = 2 * own.n + self.mechanics.size + of.rigid
        return RelaxingView(of.on_frames, (own, own.rates), first, Matrices())

    def gyration(self, x: Vector) -> Matrix:
        """Return what couples velocities and strains, [[0, B_chi S], [-S B_chi^T, 0]]."""
        n, k, C = self.mechanics.n, self.mechanics.k, self.mechanics.coupling(self.parts(x)[0])
        return assemble((k, k), [(0, n, C), (n, 0, -C.T)])

    def dgyration(self, x: Vector, a: Vector) -> tuple[Matrix, None]:
        """Return the derivative of its product with a by q."""
        n, k = self.mechanics.n, self.mechanics.k
        pull, rates = self.mechanics.dcoupling(self.parts(x)[0], a[:n], a[n:])
        return assemble((k, n), [(0, 0, pull), (n, 0, -rates)]), None

    def flow(self, x: Vector, z: Vector, u: Vector) -> Vector:
        """Return J z - r + B u."""
        return np.asarray(self.J(x) @ z - self.resistive(x, z) + self.B(x) @ u)

    # -- what a run asks of it ----------------------------------------------------------------

    def stage_equations(
        self, scheme: Scheme, t: float, x0: Vector, u: Vector, h: float
    ) -> StageEquations | None:
        """Return those of the midpoint rule."""
        if scheme.rule is not Rule.MIDPOINT:
            raise InputError(
                f"scheme '{scheme.name}' does not support Maxwell elements; use 'ph-mp'"
            )
        return RelaxingStages(scheme, t, x0, u, h, self)

    def runner(self, scheme: Scheme, x: Vector, h: float, options: Newton) -> Runner | None:
        """Return a runner for the midpoint rule."""
        if scheme.rule is not Rule.MIDPOINT or not self.mechanism.compiled:
            return None
        from poinsot.systems.compiled.runner import RelaxingRunner  # imports this module

        return RelaxingRunner(self, scheme, x, h, options)


@dataclass(frozen=True, eq=False)
class RelaxingStages(DirectorStages):
    """PH-MP with Maxwell elements: over a step these are springs, whose e at its end follows."""

    system: RelaxingSystem

    @property
    def _moving(self) -> tuple[Vector, Vector]:
        """Velocities and strains at the start."""
        w, n = self.system.parts(self.x0)[1], self.system.mechanism.n
        return w[:n], w[n:]

    @property
    def start(self) -> tuple[Vector, Vector]:
        """Velocities at the start, and the multipliers of the step before."""
        return self._moving[0], self.system.parts(self.x0)[2]

    @cached_property
    def held(self) -> Mechanism:
        """The mechanism over this step, with a spring for each Maxwell element."""
        mechanism = self.system.held.since(self.q0)
        return with_springs(mechanism, self._moving[1], mechanism.unknowns.full(self.q0), self.h)

    @property
    def ends_by_parameters(self) -> bool:
        """Strains at the end depend on stiffness and relaxation."""
        return True

    def slopes(self, w: Vector) -> Slopes:
        """Return exact derivatives; those of Maxwell elements are by differences."""
        found, mechanism = super().slopes(w), self.system.mechanism
        n, k, own = mechanism.n, mechanism.strains, mechanism.unknowns
        bodies = {body for each in mechanism.relaxing for body in each.bodies} - {GROUND}
        moved = own.columns(np.array(sorted(bodies), dtype=np.intp))
        strains, sizes = slice(2 * n, 2 * n + k), np.append(self._measures, np.ones(w.size))
        by_x, by_w = np.zeros(self.x0.size, dtype=bool), np.zeros(w.size, dtype=bool)
        by_x[moved], by_x[strains], by_w[moved] = True, True, True
        sizes_x = np.append(self._measures, np.ones(self.x0.size - n))

        def of_start(x: Vector) -> Vector:
            there = self.from_start(x)
            return np.concatenate([there.residual(w), there.finish(w)[0][strains]])

        X = differences(of_start, self.x0, sizes_x, by_x)
        W = differences(lambda w: self.finish(w)[0][strains], w, sizes[: w.size], by_w)
        found.F_x[:, by_x] = X[: w.size, by_x]
        found.M_x[strains], found.M_w[strains] = X[w.size :], W
        return found

    @property
    def labels(self) -> tuple[str, ...]:
        """Momentum equations and constraints."""
        labels, n, lam = self.system.labels, self.system.mechanism.n, self.system.held.m
        return (*labels[n : 2 * n], *self.combined_labels(labels[len(labels) - lam :]))

    def finish(self, w: Vector) -> tuple[Vector, Stage]:
        """Return q1 = q0 + h v_mid, v1 = 2 v_mid - v0, the strains and the multipliers."""
        mechanism, (v, mu), (v0, e0) = self.held, self.split(w), self._moving
        at, own = self.middle(v), mechanism.unknowns
        lam = mechanism.smallest(at.q, mu / self.h)
        v1 = massless_from_others(mechanism, at.q1, 2 * v - v0)
        f0, f1 = own.full(at.q0), own.full(at.q1)
        relaxed: list[Relaxed] = [
            element.relaxed(e0[piece], f0, f1, self.h)
            for element, piece in _ranges(mechanism.relaxing)
        ]
        middle, e1 = (np.concatenate(each) for each in list(zip(*relaxed, strict=True))[:2])
        dV, _ = self.system.mechanism.discrete_dV(at.q0, at.q1)
        x_mid = np.concatenate([at.q, v, middle, lam])
        z = np.concatenate([dV, v, middle, lam])
        u = mechanism.feedback(self.t, at.q, v, self.given)
        lost = mechanism.lost(at.q, v, lam) + sum(each.lost for each in relaxed)
        x1 = np.concatenate([at.q1, v1, e1, lam])
        return x1, Stage(x_mid, z, u, self.system.y(x_mid, z), lost=lost)


def relaxing_system(
    name: str,
    mechanism: Mechanism,
    layout: Layout,
    ports: Sequence[Port],
    q: Vector,
    motion: Vector,
) -> RelaxingSystem:
    """Return the system at frames q with twists (v, omega); Maxwell elements start relaxed."""
    plain = director_system(name, mechanism, layout, ports, q, motion)
    moving = len(layout.states(dict.fromkeys("qv", mechanism.unknowns)))
    counted: dict[str, int] = {}
    own = []
    for element in mechanism.relaxing:
        k = counted[element.name] = counted.get(element.name, -1) + 1
        own.append(State(f"{element.name}.relaxation.{k}", element.size))
    system = RelaxingSystem(
        name=name,
        states=(*plain.states[:moving], *own, *plain.states[moving:]),
        ports=plain.ports,
        mechanism=mechanism,
        layout=layout,
        initial=np.zeros(0),
    )
    return replace(system, initial=system.state_at(q, motion))
