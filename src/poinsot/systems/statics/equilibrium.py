"""Equilibria of systems: their state, their reactions, and their stability."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg
from numpy.typing import ArrayLike

from poinsot.errors import InputError, did_you_mean
from poinsot.inputs import flag, named, number
from poinsot.ph.interconnect import feed
from poinsot.ph.matrices import Vector
from poinsot.ph.signals import Signal
from poinsot.ph.system import PHSystem
from poinsot.result import BodyRecord, JointRecord, Observation
from poinsot.result.history import History
from poinsot.result.store import Column, Table
from poinsot.systems.form import MechanismForm
from poinsot.systems.mechanical import MechanicalForm
from poinsot.systems.quaternions.systems import QuaternionForm
from poinsot.systems.statics.coordinates import CoordinatePlace
from poinsot.systems.statics.frames import Framed, FramePlace
from poinsot.systems.statics.places import closed_place, state_at
from poinsot.systems.statics.rest import FLAT, Place, Rest
from poinsot.systems.statics.search import find_rest, movers
from poinsot.systems.statics.settling import settle

#: Names of what moves in each of some motions.
Motions: TypeAlias = tuple[tuple[str, ...], ...]
#: Part of an eigenvalue that is imaginary where forces without an energy make a system flutter.
FLUTTER = 1e-6


@dataclass(frozen=True, eq=False)
class Reaction:
    """Reaction of a joint at rest or in a steady motion, at its point, world axes.

    `force` [N] and `torque` [N m] act on its second body, `force_a` and `torque_a` on its first;
    (3,). `complete` is False for redundant constraints: this is the smallest possible reaction.
    """

    force: Vector
    torque: Vector
    force_a: Vector
    torque_a: Vector
    complete: bool


@dataclass(frozen=True, eq=False)
class Balanced:
    """A state in which a system rests or moves steadily, as its bodies and joints show it.

    Parameters
    ----------
    system : PHSystem
        The system, with its inputs fed.
    x : (n,), u : (m,)
        State, with its multipliers, and inputs of all ports, those filled in that laws give.
    residual : float
        The largest force that is left over, as a part of the forces on its body.
    angles : mapping
        Angles of joints, counted over turns [rad], which a state does not tell.
    """

    system: PHSystem
    x: Vector
    u: Vector
    residual: float
    angles: Mapping[str, float]

    @cached_property
    def _observed(self) -> Observation:
        """What there is to see, of a step that stays where it is."""
        turned, n = np.array(list(self.angles.values())), self.system.n
        shapes = {"x": (n,), "stage_x": (n,), "turned": turned.shape, "time": (), "stage_time": ()}
        table = Table({name: Column(shape) for name, shape in shapes.items()}, 2)
        row = {"x": self.x, "stage_x": self.x, "turned": turned}
        table.append({**row, "time": 0.0, "stage_time": 0.0})
        table.append({**row, "time": 1.0, "stage_time": 0.5})
        return self.system.observer().observe(History(table, 2, origin=self.system.start))

    def _body(self, name: str) -> BodyRecord:
        found = {**self._observed.markers, **self._observed.bodies} if name else {}
        if name not in found:
            raise InputError(f"no body or marker '{name}'; {did_you_mean(name, found)}")
        return found[name]

    def _joint(self, name: str) -> JointRecord:
        found = self._observed.joints
        if name not in found:
            raise InputError(f"no joint '{name}'; {did_you_mean(name, found)}")
        return found[name]

    def position(self, body: str) -> Vector:
        """Return the position of a body or marker [m], world axes; (3,)."""
        return np.asarray(self._body(body).position[-1])

    def rotation(self, body: str) -> Vector:
        """Return the rotation R_WB of a body or marker; (3, 3)."""
        return np.asarray(self._body(body).rotation[-1])

    def coordinates(self, joint: str) -> dict[str, float]:
        """Return angles [rad] and displacements [m] of a joint by name, zero at the start."""
        return {name: float(all_[-1]) for name, all_ in self._joint(joint).coordinates.items()}

    def reaction(self, joint: str) -> Reaction:
        """Return force and torque of a joint."""
        seen = self._joint(joint)
        on_a, on_b = (seen.force_a[-1], seen.torque_a[-1]), (seen.force[-1], seen.torque[-1])
        return Reaction(*on_b, *on_a, complete=seen.complete)

    def state(self, name: str) -> Vector:
        """Return a named state."""
        if name not in self.system.slices:
            raise InputError(f"no state '{name}'; {did_you_mean(name, self.system.slices)}")
        return self.x[self.system.slices[name]]

    @property
    def energy(self) -> float:
        """Stored energy [J]."""
        return self.system.near(np.array(list(self.angles.values()))).H(self.x)


@dataclass(frozen=True, eq=False)
class Equilibrium(Balanced):
    """An equilibrium; `ps.simulate(e.system, x0=e.x, angles=e.angles, ...)` starts there.

    It is `"stable"` if the potential energy has a strict minimum on the motions that constraints
    allow, `"unstable"` if its second variation is negative along some, and `"neutral"` if it
    vanishes along some. Dampers do not change this. If inputs or contacts have no energy,
    eigenvalues decide.

    Attributes
    ----------
    stability : {"stable", "neutral", "unstable"}
        Stability under small perturbations.
    unstable_motions, neutral_motions : tuple of tuples of str
        What moves in each unstable and in each neutral motion, by name.
    """

    stability: str = "stable"
    unstable_motions: Motions = ()
    neutral_motions: Motions = ()

    def __repr__(self) -> str:
        """One line."""
        kinds = (("unstable", self.unstable_motions), ("neutral", self.neutral_motions))
        along = [f"{len(motions)} {kind}" for kind, motions in kinds if motions]
        counts = f" ({', '.join(along)} motions)" if along else ""
        return (
            f"<Equilibrium of '{self.system.name}': {self.stability}{counts}, "
            f"residual {self.residual:.1e}>"
        )


def find_equilibrium(
    system: PHSystem,
    *,
    x0: ArrayLike | Mapping[str, ArrayLike] | None = None,
    inputs: Mapping[str, Signal | ArrayLike] | None = None,
    t: float = 0.0,
    stable: bool = True,
) -> Equilibrium:
    """Return where a system rests, from its start or from a state x0; see `Model.equilibrium`."""
    for port, signal in named(inputs, "inputs", "{'motor': 2.0}").items():
        system = feed(system, port, signal)
    x, what = system.state({} if x0 is None else x0), f"equilibrium of system '{system.name}'"
    t, stable = number(t, "t"), flag(stable, "stable")
    if isinstance(system, MechanicalForm):
        rest = find_rest(closed_place(system, x, t), stable=stable, what=what)
        found = rest.place
        assert isinstance(found, FramePlace | CoordinatePlace)
        there = state_at(system, found, np.zeros(found.sizes.size))
        if isinstance(found, CoordinatePlace):
            there[system.n - rest.lam.size :] = found.smallest(rest.lam)
        else:
            assert isinstance(system, MechanismForm | QuaternionForm)
            lam, near = found.held.smallest(found.f, rest.lam), system.near(found.turned)
            there = with_multipliers(near, there, np.zeros(system.n), t, lam)
        return Equilibrium(system, there, found.inputs, rest.residual, found.angles, *_judged(rest))
    settled = settle(system, x, t, stable=stable, what=what)
    return Equilibrium(
        system,
        settled.x,
        settled.u,
        settled.residual,
        dict(zip(system.angle_names, settled.turned.tolist(), strict=True)),
        settled.stability,
        settled.unstable,
        settled.neutral,
    )


def with_multipliers(system: Framed, x: Vector, rate: Vector, t: float, held: Vector) -> Vector:
    """Return a state whose rate is known with its multipliers; those of joints are given.

    What is left are those that keep bodies rigid and quaternions of unit length.
    """
    z, (w, lam) = system.z(x), (system.momentum_row, system.n - system.parts(x)[2].size)
    flow = system.flow(x, z, system.feedback(t, x, z, system.u(t)))
    K = system.mechanics.K(system.parts(x)[0])
    left = (flow - system.E(x) @ rate)[w : w + system.mechanics.k]
    own = K.shape[0] - held.size
    there = x.copy()
    there[lam + own : lam + own + held.size] = held
    if own:
        # Rows of different bodies have nothing in common, and those of one are well conditioned.
        N, rest = sp.csr_array(K[:own]), left - K[own:].T @ held
        there[lam : lam + own] = scipy.sparse.linalg.spsolve(sp.csc_array(N @ N.T), N @ rest)
    return there


def _judged(rest: Rest) -> tuple[str, Motions, Motions]:
    """Return what a small push does, and what moves in motions that fall or cost nothing."""
    place, kappa, motions = rest.place, rest.curvatures, rest.motions
    if rest.one_sided:
        kappa, motions = _without_energy(rest)
    falling = _names(place, motions[:, kappa < -FLAT].T)
    idle = _names(place, motions[:, abs(kappa) <= FLAT].T)
    return "unstable" if falling else "neutral" if idle else "stable", falling, idle


def _without_energy(rest: Rest) -> tuple[Vector, Vector]:
    """Return eigenvalues of stiffness and mass, those that oscillate with growth as negative.

    M w'' + K w = 0 has solutions exp(s t) with -s^2 an eigenvalue: where it is complex, one of
    them grows.
    """
    (H, S), D = rest.variation, rest.place.sizes
    M = rest.free.T @ (D[:, None] * rest.place.masses() * D) @ rest.free
    M = M + FLAT * np.max(abs(np.diag(M)), initial=0.0) * np.eye(len(M))
    values, vectors = scipy.linalg.eig(H, M)
    scale = np.real(np.diag(np.linalg.solve(M, S))).max()
    kappa = np.real(values) / scale
    kappa[abs(np.imag(values)) > FLUTTER * scale] = -1.0
    return kappa, rest.free @ np.real(vectors)


def _names(place: Place, motions: Vector) -> Motions:
    return tuple(movers(place, motion) for motion in motions)
