"""Mechanisms in directors as port-Hamiltonian systems: plain and stabilised form."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from poinsot.bodies.rigid import RIGIDITY
from poinsot.errors import InputError
from poinsot.frames.parametrisations import Matrices
from poinsot.frames.places import frame_vectors
from poinsot.frames.twists import velocities
from poinsot.parts.rigid_strains import RigidStrains
from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Matrix, Vector, dense, diagonal, is_sparse
from poinsot.ph.ports import Port
from poinsot.ph.runner import Runner
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Newton, StageEquations
from poinsot.ph.system import State
from poinsot.systems.form import MechanismForm
from poinsot.systems.layout import Layout
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.slender import FLAT
from poinsot.systems.stabilised import StabilisedForm, StabilisedStages
from poinsot.systems.steps import DirectorStages
from poinsot.systems.views import DirectorView


@dataclass(frozen=True, eq=False)
class DirectorForm(MechanismForm):
    """What both forms share: x = (q, v, multipliers)."""

    by_construction = True

    def directors(self, x: Vector) -> Vector:
        """Return frames."""
        return self.mechanism.unknowns.full(x[: self.mechanism.n])

    def state_at(self, f: Vector, twists: Vector) -> Vector:
        """Return (q, v, 0)."""
        own = self.mechanism.unknowns
        motion = own.own(f), own.own(velocities(f, twists))
        return np.concatenate([*motion, np.zeros(self.n - 2 * own.n)])

    def rate_at(self, f: Vector, twists: Vector, accelerations: Vector) -> Vector:
        """Return (v, v', 0): directors have omega' x d + omega x (omega x d)."""
        own, rates = self.mechanism.unknowns, velocities(f, twists)
        omega = np.cross(twists.reshape(-1, 2, 3)[:, 1:], frame_vectors(rates)[:, 1:])
        turned = np.concatenate([np.zeros_like(omega[:, :1]), omega], axis=1).reshape(-1)
        motion = own.own(rates), own.own(velocities(f, accelerations) + turned)
        return np.concatenate([*motion, np.zeros(self.n - 2 * own.n)])

    @property
    def view(self) -> DirectorView:
        """Reads q and v."""
        of, own = self.mechanism, self.mechanism.unknowns
        return DirectorView(of.on_frames, (own, own.rates), 2 * own.n + of.rigid, Matrices())

    @property
    def mechanics(self) -> Mechanism:
        """The mechanism itself: velocities are the rates of q."""
        return self.mechanism

    # -- what a run asks of it ----------------------------------------------------------------

    def stage_equations(
        self, scheme: Scheme, t: float, x0: Vector, u: Vector, h: float
    ) -> StageEquations | None:
        """Return those of the midpoint rule; for all others the general ones."""
        if scheme.rule is Rule.MIDPOINT:
            if isinstance(self, StabilisedSystem):
                return StabilisedStages(scheme, t, x0, u, h, self)
            return DirectorStages(scheme, t, x0, u, h, self)
        if self.mechanism.drives:
            raise InputError(
                f"scheme '{scheme.name}' does not support {self.mechanism.driven_motion}; use "
                "'ph-mp'"
            )
        if self.mechanism.redundant:
            raise InputError(
                f"scheme '{scheme.name}' does not support redundant constraints "
                "(see model.check()); use 'ph-mp' or 'ph-mp-ggl'"
            )
        return None

    def runner(self, scheme: Scheme, x: Vector, h: float, options: Newton) -> Runner | None:
        """Return a runner for the midpoint rule; it stabilises joints on positions alone."""
        rigid = any(isinstance(place.joint, RigidStrains) for place in self.layout.joints)
        special = rigid or bool(self.mechanism.below)
        if scheme.rule is not Rule.MIDPOINT or (self.stabilised and special):
            return None
        if not self.mechanism.compiled:
            return None
        from poinsot.systems.compiled.runner import DirectorRunner  # imports this module

        return DirectorRunner(self, scheme, x, h, options)


@dataclass(frozen=True, eq=False)
class DirectorSystem(DirectorForm):
    r"""A mechanism in directors [LKB26, eq. (24)], x = (q, v, lambda).

    .. math::

        \begin{bmatrix} I & & \\ & M & \\ & & 0 \end{bmatrix} \dot x =
        \begin{bmatrix} 0 & I & 0 \\ -I & 0 & -G^\top \\ 0 & G & 0 \end{bmatrix}
        \begin{bmatrix} \nabla V \\ v \\ \lambda \end{bmatrix}
        + \begin{bmatrix} 0 \\ B \\ 0 \end{bmatrix} u

    G has the gradients of all constraints on positions, and below them the rows A(q) v = 0 of
    contacts that cannot slip.
    """

    def flow(self, x: Vector, z: Vector, u: Vector) -> Vector:
        """Return J z - r + B u without making J."""
        G, (force, v, lam) = self.mechanism.G(x[: self.mechanism.n]), self.parts(z)
        conduction = np.concatenate([v, -force - G.T @ lam, G @ v])
        return np.asarray(conduction - self.resistive(x, z) + self.B(x) @ u)


@dataclass(frozen=True, eq=False)
class StabilisedSystem(StabilisedForm, DirectorForm):
    """The same with velocity constraints [LKB26, eq. (61)]."""

    @property
    def mechanics(self) -> Mechanism:
        """The mechanism itself."""
        return self.mechanism

    @cached_property
    def mass(self) -> Matrix:
        """M, diagonal."""
        return diagonal(self.mechanism.mass)

    @cached_property
    def inverse_mass(self) -> Vector:
        """The diagonal of M^-1."""
        return 1 / self.mechanism.mass

    @property
    def own_steps_only(self) -> str:
        """Where bodies are flat: general steps divide by what they hardly have of inertia."""
        euler = self.mechanism.inertia[:, 1:]
        flat = euler.min(axis=1) <= FLAT * euler.max(axis=1)
        names = self.layout.among(flat & self.mechanism.unknowns.turns)
        shown = ", ".join(f"'{name}'" for name in names)
        return shown and (
            f"its general steps with velocity constraints divide by the inertia of flat bodies "
            f"({shown}) across their planes; give these a thickness, or use scheme 'ph-mp'"
        )

    def by_mass(self, A: Any) -> Any:
        """Return M^-1 A."""
        if is_sparse(A):
            return sp.csr_array(sp.diags_array(self.inverse_mass) @ A)
        return (self.inverse_mass * dense(A).T).T


def director_system(
    name: str,
    mechanism: Mechanism,
    layout: Layout,
    ports: Sequence[Port],
    q: Vector,
    motion: Vector,
    *,
    stabilised: bool = False,
) -> DirectorSystem | StabilisedSystem:
    """Return the system of a mechanism at frames q, with twists (v, omega) of every body."""
    own = mechanism.unknowns
    rigid = (State(f"{body}.rigidity", RIGIDITY) for body in layout.among(own.turns))
    multipliers = [*rigid, *layout.multipliers]
    states = [*layout.states({"q": own, "v": own}), *multipliers]
    kind: type[DirectorSystem] | type[StabilisedSystem] = DirectorSystem
    if stabilised:
        states += [replace(state, name=f"{state.name} (velocity)") for state in multipliers]
        kind = StabilisedSystem
    system = kind(
        name=name,
        states=tuple(states),
        ports=tuple(ports),
        mechanism=mechanism,
        layout=layout,
        initial=np.zeros(0),
    )
    return replace(system, initial=system.state_at(q, motion))
