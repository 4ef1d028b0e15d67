"""Simulate mechanisms with elastic bodies in the compiled engine.

They run as mechanisms in quaternions, whose bodies include the frames carried by elastic bodies and
their elastic coordinates in groups of three. States are converted at input and when they are saved.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.unknowns import Unknowns
from poinsot.frames.parametrisations import BODY, Matrices, directors
from poinsot.frames.places import frame_vectors
from poinsot.parts.elastic_bodies import groups_of
from poinsot.ph.matrices import Matrix, Vector, diagonal
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Newton
from poinsot.result.history import Saved
from poinsot.so3 import matrix_to_quat
from poinsot.systems.compiled.quaternions import QuaternionRunner
from poinsot.systems.compiled.rotations import RotationRunner
from poinsot.systems.compiled.runner import recover
from poinsot.systems.floating.bodies import FloatingBodies
from poinsot.systems.floating.redundancy import Redundancy
from poinsot.systems.floating.steps import FloatingStages
from poinsot.systems.floating.system import FloatingSystem
from poinsot.systems.quaternions.systems import QuaternionForm, quaternion_system
from poinsot.systems.redundancy import Loop

Array = NDArray[np.float64]


class _Inner(QuaternionRunner):
    """The same in quaternions; floating frames have their velocities in body axes."""

    def _fill(self, x: Vector) -> Array:
        twists = super()._fill(x)
        D = frame_vectors(self.system.directors(x))[:, 1:]
        for body in self.system.mechanism.elastic:
            twists[body.frame, :3] = twists[body.frame, :3] @ D[body.frame]
        return twists


class FloatingRunner(RotationRunner):
    """A mechanism with elastic bodies, whose rotations are matrices or quaternions."""

    system: FloatingSystem  # type: ignore[assignment]

    def __init__(
        self, system: FloatingSystem, scheme: Scheme, x: Vector, h: float, options: Newton
    ) -> None:
        self.system, self.scheme = system, scheme
        self.there, mean = _in_quaternions(system), replace(scheme, mean_lever_arms=True)
        self.inner = _Inner(self.there, mean, self._there(x), h, options)

    def _there(self, x: Vector) -> Vector:
        """Return a state as (q, p, multipliers) in quaternions, of all bodies and groups."""
        system, own = self.system, self.system.bodies
        zeta, w, lam = system.parts(x)
        frames = frame_vectors(own.directors(zeta))
        R = np.swapaxes(frames[:, 1:], 1, 2)
        quat, pairs = matrix_to_quat(R), own.rigid.pairs(w[: own.rigid.k]).copy()
        p = own.mass[:, None] * np.einsum("nij,nj->ni", R, pairs[:, 0])
        Pi = own.inertia * pairs[:, 1]
        for body in own.elastic:
            p[body.frame], Pi[body.frame] = pairs[body.frame]
            carried = slice(body.first, body.first + len(body.data.points))
            p[carried], Pi[carried] = 0.0, 0.0
        push = 2 * np.einsum("iab,na,ni->nb", BODY, quat, Pi)
        groups = groups_of(own.elastic)
        u, v = np.zeros((sum(groups), 3)), np.zeros((sum(groups), 3))
        first = 0
        pieces = zip(own.elastic, own.deformations(zeta), own.own(w[own.rigid.k :]), strict=True)
        for (body, u_b, v_b), count in zip(pieces, groups, strict=True):
            there = body.data.groups >= 0
            u[first : first + count][there] = u_b[body.data.groups[there]]
            v[first : first + count][there] = v_b[body.data.groups[there]]
            first += count
        none = np.tile([1.0, 0.0, 0.0, 0.0], (len(u), 1))
        there_ = self.there.lagrangian
        q = there_.vector(np.vstack([frames[:, 0], u]), np.vstack([quat, none]))
        p = there_.vector(np.vstack([p, v]), np.vstack([push, 0 * none]))
        return np.concatenate([q, p, np.zeros(there_.units), lam])

    def _here(self, rows: Array, theta: Array | None = None) -> Array:
        """Return states of the engine as (zeta, w, multipliers); (states, n)."""
        own, states, m = self.system.bodies, len(rows), self.system.held.m
        rigid, count = own.rigid, own.count
        q, p = self._parts(rows)
        quat = q[:, :count, 3:]
        d = directors(quat)
        mass = np.where(own.mass > 0, own.mass, 1.0)[:, None]
        inertia = np.where(own.inertia > 0, own.inertia, 1.0)
        v = np.einsum("tnij,tnj->tni", d.reshape(states, count, 3, 3), p[:, :count, :3]) / mass
        Omega = np.einsum("iab,tna,tnb->tni", BODY, quat, p[:, :count, 3:]) / 2 / inertia
        for body in own.elastic:
            v[:, body.frame] = p[:, body.frame, :3]
            Omega[:, body.frame] *= inertia[body.frame]
        w = np.concatenate([v, Omega], axis=2).reshape(states, 6 * count)
        zeta = _zeta(own, q[:, :, :3], quat, d)
        pieces = zeta, rigid.velocities.own(w), _elastic(own, p[:, count:, :3])
        return np.hstack([*pieces, rows[:, rows.shape[1] - m :]])

    @property
    def recovered(self) -> frozenset[str]:
        """The multipliers of joints where some repeat others."""
        names = {joint.name for joint in self.system.layout.joints}
        return frozenset(names if self.system.redundancy.repeated.any() else ())

    def recover(self, saved: Saved) -> tuple[Array, Array]:
        """Return x and stage_x with the smallest multipliers of joints that do the same."""
        system = self.system
        own, n = system.bodies, system.mechanics.n

        def smallest(h: float, end: Vector, middle: Vector, u: Vector, turned: Vector) -> Vector:
            start, lam = 2 * middle - end, system.parts(end)[2]
            frames = [frame_vectors(own.rigid.directors(x[: own.rigid.n])) for x in (start, end)]
            (r0, R0), (r1, R1) = ((f[:, 0], np.swapaxes(f[:, 1:], 1, 2)) for f in frames)
            turn = (R1 - R0) @ np.linalg.inv((R0 + R1) / 2) / h
            twists = np.hstack([(r1 - r0) / h, turn[:, [2, 0, 1], [1, 2, 0]]])
            moved = (end - start)[own.rigid.n : n] / h
            w = np.concatenate([own.rigid.velocities.own(twists.reshape(-1)), moved])
            stages = FloatingStages(self.scheme, 0.0, start, u, h, system)
            at = stages.middle(w)
            return system.redundancy.smallest(stages.held.G(at.q) @ at.S, lam)

        return recover(saved, smallest)


def _zeta(own: FloatingBodies, positions: Array, quat: Array, d: Array) -> Array:
    """Return zeta of frames and groups; positions (states, frames + groups, 3)."""
    count = own.count
    theta = d if isinstance(own.parametrisation, Matrices) else quat
    zeta = np.concatenate([positions[:, :count], theta], axis=2)
    zeta = own.rigid.unknowns.own(zeta.reshape(len(zeta), count * zeta.shape[2]))
    return np.hstack([zeta, _elastic(own, positions[:, count:])])


def _elastic(own: FloatingBodies, groups: Array) -> Array:
    """Return elastic coordinates of all bodies, of groups (states, groups, 3)."""
    found, first = [], 0
    for body in own.elastic:
        of = body.data.groups
        values, there = np.zeros((len(groups), body.data.n)), of >= 0
        values[:, of[there]] = groups[:, first : first + len(of)][:, there]
        found.append(values)
        first += len(of)
    return np.hstack(found)


@dataclass(frozen=True, eq=False)
class _Repeated(Loop):
    """All constraints of a mechanism of elastic bodies, some of which repeat others."""

    redundancy: Redundancy

    def jacobian(self, q: Vector) -> Matrix:
        """Return what motions violate, those of elastic coordinates included."""
        own, frames = self.redundancy.bodies, frame_vectors(q)
        d = frames[: own.count, 1:]
        quat = matrix_to_quat(np.swapaxes(d, 1, 2))
        zeta = _zeta(own, frames[None, :, 0], quat[None], d.reshape(1, own.count, 9))
        K: Matrix = own.K(zeta[0]) @ diagonal(self.redundancy.sizes)
        return K


def _loops(system: FloatingSystem) -> tuple[Loop, ...]:
    """Return the constraints as one loop, if some of them repeat others."""
    redundancy, forms = system.redundancy, system.mechanism.constraints
    if not redundancy.repeated.any():
        return ()
    rows = system.mechanism.rigid + np.arange(redundancy.repeated.size)
    bodies, length = np.arange(system.bodies.count), float(np.max(redundancy.sizes))
    return (_Repeated(rows, bodies, forms, redundancy.repeated, length, redundancy),)


def _in_quaternions(system: FloatingSystem) -> QuaternionForm:
    """Return the mechanism in quaternions, with groups of elastic coordinates as bodies.

    What has no inertia of its own is given a nominal one: momenta are then velocities.
    """
    mechanism, layout, bodies = system.mechanism, system.layout, system.bodies
    groups = groups_of(mechanism.elastic)
    names = [
        f"{layout.bodies[body.frame]}.u{k}"
        for body, count in zip(mechanism.elastic, groups, strict=True)
        for k in range(count)
    ]
    inertia = np.vstack([mechanism.inertia, np.tile([1.0, 0.5, 0.5, 0.5], (len(names), 1))])
    for body in mechanism.elastic:
        inertia[body.frame : body.first + len(body.data.points)] = 1.0, 0.5, 0.5, 0.5
    turns = np.append(mechanism.unknowns.turns, np.zeros(len(names), dtype=bool))
    count = len(turns)
    unknowns = Unknowns(turns, mechanism.unknowns.rest, np.zeros(count, dtype=bool))
    whole = replace(
        mechanism,
        inertia=inertia,
        weight=np.vstack([mechanism.weight, np.zeros((len(names), 3))]),
        unknowns=unknowns,
        constraints=replace(mechanism.constraints, bodies=count),
        least=None,
        loops=_loops(system),
    )
    axes = np.tile(np.eye(3), (len(names), 1, 1))
    named = replace(
        layout, bodies=(*layout.bodies, *names), R_BP=np.concatenate([layout.R_BP, axes])
    )
    f = bodies.directors(system.parts(system.start)[0])
    rest = np.tile(np.concatenate([np.zeros(3), np.eye(3).reshape(-1)]), len(names))
    q = np.concatenate([f, rest])
    still = np.zeros(6 * count)
    return quaternion_system(system.name, whole, named, system.ports, q, still).in_form(
        "hamiltonian"
    )
