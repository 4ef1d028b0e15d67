"""Mechanisms in unit quaternions as port-Hamiltonian systems, in Livens' form and in Hamilton's."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError
from poinsot.frames.parametrisations import BODY, WHOLE, WORLD, world
from poinsot.frames.places import frame_vectors
from poinsot.parts.port_rows import closes
from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Vector
from poinsot.ph.network import Attached
from poinsot.ph.ports import Port
from poinsot.ph.runner import Runner
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Newton
from poinsot.ph.system import State
from poinsot.result.observer import Observer
from poinsot.so3 import matrix_to_quat
from poinsot.systems.departure import require_one_way
from poinsot.systems.driving import require_driven
from poinsot.systems.layout import Layout
from poinsot.systems.livens.lagrangian import Interval
from poinsot.systems.livens.systems import HamiltonianSystem, LivensSystem, MomentumForm
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.observer import MechanismObserver
from poinsot.systems.quaternions.mechanism import QuaternionMechanism
from poinsot.systems.sizes import size
from poinsot.systems.stiffness import fastest
from poinsot.systems.views import Indices, View, blocks

Array = NDArray[np.float64]

#: Turns of directors in a step are compared with no less than this [rad].
SLOW = 1e-4
#: Spins of no more than this part of others need not be looked at.
ASIDE = 0.01
#: Of more bodies it would take too long to see what constraints take up; of more steps of a run,
#: those are looked at in which most is to be expected, and as many others.
MOST, FEW = 200, 16


@dataclass(frozen=True, eq=False)
class QuaternionView(View):
    """States (q, v, p, multipliers) of Livens' form, or (q, p, multipliers) of Hamilton's."""

    lagrangian: QuaternionMechanism

    def rates(self, x: Array, bodies: Indices) -> Array:
        """Return D(q) v."""
        q, v, _ = self._motion(x, bodies)
        turning = np.einsum("tnka,tna->tnk", self.parametrisation.slopes(q[:, :, 3:]), v[:, :, 3:])
        return blocks(v[:, :, :3], turning)

    def _motion(self, x: Array, bodies: Indices) -> tuple[Array, Array, Array]:
        """Return q, v and p; without v in the state it is M^-1 p with the augmented mass."""
        q, *v, p = self.split(x, bodies)
        if v:
            return q, v[0], p
        y = np.einsum("iab,tna,tnb->tni", WHOLE, q[:, :, 3:], p[:, :, 3:])
        y = self.lagrangian.augmented[bodies] * y
        rates = np.einsum("iab,tna,tni->tnb", WHOLE, q[:, :, 3:], y)
        velocity = p[:, :, :3] / self.lagrangian.mass[bodies, None]
        return q, np.concatenate([velocity, rates], axis=2), p

    def momenta(self, x: Array) -> tuple[Array, Array]:
        """Return those of p."""
        q, _, p = self._motion(x, self.bodies)
        turning = np.einsum("iab,tna,tnb->tni", WORLD, q[:, :, 3:], p[:, :, 3:]) / 2
        return p[:, :, :3], turning

    def kinetic(self, x: Array) -> Array:
        """Return the generalised kinetic energy p·v - T(q, v)."""
        q, v, p = self._motion(x, self.bodies)
        spin = 2 * np.einsum("iab,tna,tnb->tni", BODY, q[:, :, 3:], v[:, :, 3:])
        twice = np.einsum("n,tni->t", self.lagrangian.mass, v[:, :, :3] ** 2)
        twice = twice + np.einsum("ni,tni->t", self.lagrangian.inertia, spin**2)
        return np.asarray(np.sum(p * v, axis=(1, 2)) - twice / 2)

    def own_errors(self, x: Array) -> tuple[Array, Array]:
        """Return (q·q - 1) / 2 and q·q' of quaternions."""
        q, v, _ = (part[:, :, 3:] for part in self._motion(x, self.bodies))
        return (np.sum(q**2, axis=2) - 1) / 2, np.sum(q * v, axis=2)


@dataclass(frozen=True, eq=False)
class QuaternionForm(MomentumForm):
    """What both forms of a mechanism in quaternions share."""

    lagrangian: QuaternionMechanism
    hosts = True

    def in_form(self, formulation: str) -> "QuaternionForm":
        """Return the system in Livens' or Hamilton's form."""
        if formulation == self.formulation:
            return self
        forms: dict[str, tuple[type[QuaternionForm], str]] = {
            "livens": (QuaternionSystem, "qvp"),
            "hamiltonian": (QuaternionHamiltonian, "qp"),
        }
        if formulation not in forms:
            raise InputError(
                f"system '{self.name}' is in quaternions and needs a scheme of [KB24]: eml, reml, "
                "null-eml, emh, mpl, mph, eml-mean, emh-mean; for other schemes use "
                "model.compile('directors')"
            )
        (kind, parts), x = forms[formulation], self.start
        # By the augmented mass; rates of unit quaternions are normal to these, so p is the same.
        known = {"q": self.q(x), "v": self.velocity(x), "p": self.p(x)}
        initial = np.concatenate([*(known[part] for part in parts), self.lam(x)])
        states = _states(self.lagrangian, parts)
        return kind(self.name, states, self.ports, self.lagrangian, initial)

    def with_mechanism(self, mechanism: Mechanism, layout: Layout) -> Self:
        """Return the system of another mechanism with as many states."""
        return replace(self, lagrangian=QuaternionMechanism(mechanism, layout))

    def runner(self, scheme: Scheme, x: Vector, h: float, options: Newton) -> Runner | None:
        """Return a runner for the energy-momentum schemes.

        Repeated constraints leave a share of the multipliers open. It does nothing with mean lever
        arms; with others the motion depends on it, and the reference engine chooses. Constraints on
        velocities alone act on mean lever arms only.
        """
        by_mean = self.mechanism.redundant or not self.mechanism.holonomic
        if scheme.rule is Rule.MIDPOINT or (by_mean and not scheme.mean_lever_arms):
            return None
        if not self.mechanism.compiled:
            return None
        from poinsot.systems.compiled.quaternions import QuaternionRunner  # imports this module

        return QuaternionRunner(self, scheme, x, h, options)

    @property
    def uncompiled(self) -> str:
        """Constraints that schemes with mean lever arms alone run compiled."""
        if self.mechanism.holonomic and not self.mechanism.redundant:
            return ""
        what = "repeat each other" if self.mechanism.redundant else "are on velocities alone"
        return f", whose constraints {what}; 'eml-mean' and 'emh-mean' do, and 'ph-mp' in directors"

    def require_rule(self, scheme: Scheme) -> None:
        """Refuse derivatives at midpoints of quaternions for drives, too."""
        super().require_rule(scheme)
        if scheme.rule is Rule.MIDPOINT and self.mechanism.drives:
            raise InputError(
                f"scheme '{scheme.name}' does not support {self.mechanism.driven_motion}; use "
                "'emh-mean', or 'ph-mp' in directors"
            )

    def astray(
        self, scheme: Scheme, steps: Sequence[tuple[Vector, Vector, float]]
    ) -> tuple[float, str]:
        """Return what lever arms add to spins, as a part of the largest, and the name of the body.

        That grows with constraint forces and with the square of the angle of a step: steps are
        looked at in which these are largest, and others here and there. More than `MOST` bodies are
        not looked at.
        """
        if scheme.mean_lever_arms or self.lagrangian.count > MOST:
            return 0.0, ""
        sizes = self.lagrangian.held.gap_sizes(self.directors(self.start))

        def urge(step: tuple[Vector, Vector, float]) -> float:
            x_mid, x1, _ = step
            turned = self.lagrangian.theta(self.q(x1) - self.q(x_mid))
            forces = self.lam(x_mid)[self.lagrangian.units :][: sizes.size]
            return float(np.max(abs(turned), initial=0.0) ** 2 * np.linalg.norm(sizes * forces))

        chosen = [*sorted(steps, key=urge)[-FEW:], *steps[:: -(-len(steps) // FEW)]]
        return max(self._astray(scheme, *step) for step in chosen)

    def _astray(self, scheme: Scheme, x_mid: Vector, x1: Vector, h: float) -> tuple[float, str]:
        """Return the same of one step; angles below `SLOW` count as that."""
        q0, q1 = 2 * self.q(x_mid) - self.q(x1), self.q(x1)
        moved = frame_vectors(self.lagrangian.directors(q1) - self.lagrangian.directors(q0))
        turned = np.linalg.norm(moved[:, 1:], axis=2)
        spin = max(float(np.max(turned)), SLOW) / h
        step = Interval(0.0, h, q0, q1, np.zeros(0))
        added = self.lagrangian.astray(scheme.rule, step, h * self.lam(x_mid), ASIDE * spin)
        worst = int(np.argmax(added))
        return float(added[worst]) / spin, self.layout.bodies[worst]

    def check_start(self, x: Vector, t: float) -> None:
        """Refuse rest in a singular position out of which forces push, too."""
        super().check_start(x, t)
        rates = self.view.rates(x[None], self.view.bodies).reshape(-1)
        require_driven(self.lagrangian.held, self.directors(x), rates, t)
        require_one_way(self.lagrangian.held, self.directors(x), rates, t, self.u(t))

    def fastest(self, x: Vector) -> tuple[str, float] | None:
        """Return the force that vibrates fastest, and its period [s]."""
        return fastest(self.mechanism, self.directors(x))

    def diagnose(self, t0: float, x0: Vector, h: float) -> str:
        """Return what is the matter with contacts or joints, too."""
        rates = self.view.rates(x0[None], self.view.bodies).reshape(-1)
        joints = self.layout.diagnose(self.lagrangian.held, self.directors(x0), rates, h)
        return joints + super().diagnose(t0, x0, h)

    def check_step(self, t0: float, x0: Vector, x1: Vector, x_mid: Vector, h: float) -> None:
        """Refuse a step that leaves its branch of the motion, too."""
        super().check_step(t0, x0, x1, x_mid, h)
        rates = self.view.rates(x0[None], self.view.bodies).reshape(-1)
        q0, q1 = self.directors(x0), self.directors(x1)
        for loop in self.layout.closed:
            loop.require_same_branch(self.lagrangian.held, q0, rates, q1, h)

    @property
    def mechanism(self) -> Mechanism:
        """The same in directors."""
        return self.lagrangian.mechanism

    @property
    def layout(self) -> Layout:
        """Names."""
        return self.lagrangian.layout

    def directors(self, x: Vector) -> Vector:
        """Return the frames of a state; shape (12 bodies,)."""
        return self.lagrangian.directors(self.q(x))

    def state_at(self, f: Vector, twists: Vector) -> Vector:
        """Return (q, v, p, 0), or (q, p, 0), of frames f (12 bodies,) with twists (v, omega)."""
        frames, motion, own = frame_vectors(f), twists.reshape(-1, 2, 3), self.lagrangian
        quat = matrix_to_quat(np.swapaxes(frames[:, 1:], 1, 2))
        rate = np.einsum("nia,ni->na", world(quat), motion[:, 1]) / 2
        q, v = own.vector(frames[:, 0], quat), own.vector(motion[:, 0], rate)
        there = [v] if self.momentum_row > own.n else []
        return np.concatenate([q, *there, own.momentum(q, v), np.zeros(own.m)])

    def rate_at(self, f: Vector, twists: Vector, accelerations: Vector) -> Vector:
        """Return the rate of that state, with accelerations (v', omega'), multipliers constant."""
        x, own = self.state_at(f, twists), self.lagrangian
        q, v = self.q(x), self.velocity(x)
        (_, omega), (a, domega) = (
            np.swapaxes(part.reshape(-1, 2, 3), 0, 1) for part in (twists, accelerations)
        )
        quat, rate = own.theta(q), own.rates(v)[1]
        bent = np.einsum("nia,ni->na", world(rate), omega)
        bent = (bent + np.einsum("nia,ni->na", world(quat), domega)) / 2
        dv, T = own.vector(a, bent), own.ddT(q, v)
        there = [dv] if self.momentum_row > own.n else []
        return np.concatenate([v, *there, T.qs.T @ v + T.ss @ dv, np.zeros(own.m)])

    @property
    def view(self) -> QuaternionView:
        """Reads q, p, and v where it is in the state."""
        own, q = self.lagrangian, self.lagrangian.unknowns
        parts = q, *[q.rates] * (self.momentum_row // own.n)
        joints = self.n - own.held.m
        return QuaternionView(own.held, parts, joints, own.parametrisation, own)

    @property
    def angle_names(self) -> tuple[str, ...]:
        """Those of the joints."""
        return self.layout.angle_names

    def coordinate_sizes(self, x: Vector) -> Vector:
        """Return lengths of the mechanism for positions, and 1 for quaternions."""
        return self.view.sizes(self.mechanism.spans(self.directors(x)))

    def error_sizes(self, x: Vector) -> Vector:
        """Return sizes in which every position counts as the whole mechanism."""
        sizes, f = self.sizes(x), self.directors(x)
        own = self.view.sizes(np.full(len(self.mechanism.inertia), size(self.mechanism, f)))
        sizes[: own.size] = own
        return sizes

    def angles(self, x: Vector) -> Vector:
        """Return the angles of the joints."""
        return self.layout.angles(self.directors(x))

    def near(self, turned: Vector) -> Self:
        """Return the system near angles counted over turns."""
        lagrangian = self.lagrangian.near(self.layout.counted(turned))
        return self if lagrangian is self.lagrangian else replace(self, lagrangian=lagrangian)

    def closed_by(self, networks: Sequence[Attached]) -> Self:
        """Return the system with ports closed by the laws of networks."""
        mechanism = replace(self.mechanism, networks=tuple(networks))
        return replace(self, lagrangian=replace(self.lagrangian, mechanism=mechanism))

    def closes(self, inputs: NDArray[np.intp]) -> bool:
        """Return whether networks may close these inputs in the compiled engine, too."""
        return closes(self.mechanism.inlets, inputs)

    def observer(self) -> Observer:
        """Return what looks at bodies and joints."""
        return MechanismObserver(self.layout, self.view)


@dataclass(frozen=True, eq=False)
class QuaternionSystem(QuaternionForm, LivensSystem):
    """A mechanism in quaternions in Livens' form, x = (q, v, p, lambda) [KB24, eq. (47)].

    q = (phi, quat) of every body that turns: the centre of mass in world axes [m], and the unit
    quaternion, scalar first, of the principal axes of inertia. The multipliers are those of unit
    quaternions, then those of the joints.
    """

    lagrangian: QuaternionMechanism


@dataclass(frozen=True, eq=False)
class QuaternionHamiltonian(QuaternionForm, HamiltonianSystem):
    """A mechanism in quaternions in Hamilton's form, x = (q, p, lambda) [KB24, eq. (143)].

    The mass of rotations is augmented by tr(J)/2 along the quaternion, which makes it regular and
    changes nothing while rates of quaternions are normal to these.
    """

    lagrangian: QuaternionMechanism


def _states(lagrangian: QuaternionMechanism, parts: str) -> tuple[State, ...]:
    own, layout = lagrangian.unknowns, lagrangian.layout
    units = [State(f"{name}.unit") for name in layout.among(own.turns)]
    return *layout.states(dict.fromkeys(parts, own)), *units, *layout.multipliers


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
    system = QuaternionSystem(name, _states(lagrangian, "qvp"), tuple(ports), lagrangian)
    return replace(system, initial=system.state_at(q, twists))
