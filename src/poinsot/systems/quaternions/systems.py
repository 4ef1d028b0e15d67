"""Mechanisms in unit quaternions as port-Hamiltonian systems, in Livens' form and in Hamilton's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from poinsot.errors import InputError
from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Vector
from poinsot.ph.ports import Port
from poinsot.ph.runner import Runner
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Newton
from poinsot.ph.system import State
from poinsot.result.observer import Observer
from poinsot.so3 import matrix_to_quat
from poinsot.systems.layout import Layout
from poinsot.systems.livens.systems import HamiltonianSystem, LivensSystem, MomentumForm
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.observer import MechanismObserver
from poinsot.systems.quaternions.bodies import SEVEN
from poinsot.systems.quaternions.mechanism import QuaternionMechanism
from poinsot.systems.quaternions.products import world
from poinsot.systems.quaternions.reading import QuaternionView


@dataclass(frozen=True, eq=False)
class QuaternionForm(MomentumForm):
    """What both forms of a mechanism in quaternions share."""

    lagrangian: QuaternionMechanism

    def runner(self, scheme: Scheme, x: Vector, h: float, options: Newton) -> Runner | None:
        """Return a runner for the energy-momentum schemes.

        Repeated constraints leave a share of the multipliers open. It does nothing with mean
        levers; with others the motion depends on it, and the reference engine chooses. Constraints
        on velocities alone act on mean levers only.
        """
        mechanism = self.lagrangian.mechanism
        by_mean = mechanism.redundant or not mechanism.holonomic
        if scheme.rule is Rule.MIDPOINT or (by_mean and not scheme.mean_levers):
            return None
        from poinsot.systems.compiled.quaternions import QuaternionRunner  # imports this module

        return QuaternionRunner(self, scheme, x, h, options)

    def angles(self, x: Vector) -> Vector:
        """Return the angles of the joints."""
        return self.lagrangian.layout.angles(self.lagrangian.directors(self.q(x)))

    def observer(self) -> Observer:
        """Return what looks at bodies and joints."""
        parts = self.momentum_row // self.lagrangian.n + 1
        return MechanismObserver(self.lagrangian.layout, QuaternionView.of(self.lagrangian, parts))


@dataclass(frozen=True, eq=False)
class QuaternionSystem(QuaternionForm, LivensSystem):
    """A mechanism in quaternions in Livens' form, x = (q, v, p, lambda) [KB24, eq. (47)].

    q = (phi, quat) of every body: the centre of mass in world axes [m], and the unit quaternion,
    scalar first, of the principal axes of inertia. The multipliers are those of the unit
    constraints, then those of the joints.
    """

    lagrangian: QuaternionMechanism

    def in_form(self, formulation: str) -> "QuaternionForm":
        """Return the system in Livens' or Hamilton's form."""
        if formulation == self.formulation:
            return self
        _require_hamiltonian(self.name, formulation)
        q, lam = self.q(self.initial), self.lam(self.initial)
        # By the augmented mass; rates of unit quaternions are normal to these, so p is the same.
        initial = np.concatenate([q, self.p(self.initial), lam])
        states = [state for state in self.states if not state.name.endswith(".v")]
        return QuaternionHamiltonian(self.name, tuple(states), self.ports, self.lagrangian, initial)


@dataclass(frozen=True, eq=False)
class QuaternionHamiltonian(QuaternionForm, HamiltonianSystem):
    """A mechanism in quaternions in Hamilton's form, x = (q, p, lambda) [KB24, eq. (143)].

    The mass of rotations is augmented by tr(J)/2 along the quaternion, which makes it regular and
    changes nothing while rates of quaternions are normal to these.
    """

    lagrangian: QuaternionMechanism

    def in_form(self, formulation: str) -> "QuaternionForm":
        """Return the system in Livens' or Hamilton's form."""
        if formulation == self.formulation:
            return self
        if formulation != "livens":
            _require_hamiltonian(self.name, formulation)
        q, p, lam = self.q(self.initial), self.p(self.initial), self.lam(self.initial)
        initial = np.concatenate([q, self.velocity(self.initial), p, lam])
        names = self.lagrangian.layout.bodies
        states = _states(names, self.lagrangian.layout)
        return QuaternionSystem(self.name, states, self.ports, self.lagrangian, initial)

    def state(self, values: ArrayLike | Mapping[str, ArrayLike]) -> Vector:
        """Make a state; velocities `body.v` may be given instead of momenta."""
        names = self.lagrangian.layout.bodies
        if not isinstance(values, Mapping) or not any(f"{name}.v" in values for name in names):
            return super().state(values)
        if any(f"{name}.p" in values for name in names):
            raise InputError(f"system '{self.name}': give velocities v or momenta p, not both")
        livens = self.in_form("livens")
        x = livens.state(values)
        return np.concatenate([livens.q(x), livens.p(x), livens.lam(x)])


def _require_hamiltonian(name: str, formulation: str) -> None:
    if formulation != "hamiltonian":
        raise InputError(
            f"system '{name}' is in quaternions, which schemes of [KB24] integrate: eml, reml, "
            "null-eml, emh, mpl, mph, eml-mean, emh-mean; the others run model.compile('directors')"
        )


def _states(names: Sequence[str], layout: Layout) -> tuple[State, ...]:
    return (
        *(State(f"{name}.q", SEVEN) for name in names),
        *(State(f"{name}.v", SEVEN) for name in names),
        *(State(f"{name}.p", SEVEN) for name in names),
        *(State(f"{name}.unit") for name in names),
        *layout.multipliers,
    )


def quaternion_system(
    name: str,
    mechanism: Mechanism,
    layout: Layout,
    ports: Sequence[Port],
    q: Vector,
    twists: Vector,
) -> QuaternionSystem:
    """Return the system of a mechanism at director coordinates q, with twists (v, omega)."""
    lagrangian = QuaternionMechanism(mechanism, layout)
    blocks, motion = q.reshape(-1, 4, 3), twists.reshape(-1, 2, 3)
    quat = matrix_to_quat(np.swapaxes(blocks[:, 1:], 1, 2))
    rate = np.einsum("nia,ni->na", world(quat), motion[:, 1]) / 2
    coordinates = np.hstack([blocks[:, 0], quat]).reshape(-1)
    v = np.hstack([motion[:, 0], rate]).reshape(-1)
    p, zeros = lagrangian.momentum(coordinates, v), np.zeros(lagrangian.m)
    return QuaternionSystem(
        name=name,
        states=_states(layout.bodies, layout),
        ports=tuple(ports),
        lagrangian=lagrangian,
        initial=np.concatenate([coordinates, v, p, zeros]),
    )
