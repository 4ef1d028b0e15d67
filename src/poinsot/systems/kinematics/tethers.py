r"""Distances from given places as potentials of bodies.

The distance is the mean square displacement of matter, as a potential on frames,

.. math:: V(f) = \tfrac12 \int |x - x_0|^2\, dm
               = \tfrac12 \Bigl( m\, |\varphi - \varphi_0|^2 + \sum_i E_i\, |d_i - d_{i0}|^2 \Bigr),

whose mass matrix diag(m, E1, E2, E3) is that of the motion [LKB26, eq. (31)]: the nearest place
with
closed joints is an equilibrium of this potential.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.body import Body
from poinsot.bodies.unknowns import Unknowns
from poinsot.frames.charts import Angle
from poinsot.frames.places import WIDTH, frame_vectors, local
from poinsot.frames.stacks import Forms
from poinsot.frames.twists import block_diagonal
from poinsot.parts.feedback import Inlet
from poinsot.parts.joint import Joint
from poinsot.parts.potentials import Potential
from poinsot.ph.equations import shortest_solution
from poinsot.ph.matrices import Matrix, Vector
from poinsot.systems.layout import Layout
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.statics.frames import FramePlace

#: What an axis without inertia is taken for, as a part of mass and size of its body.
LIGHT = 1e-9
#: How often joints are closed further at most.
POLISH = 40
#: When drives are where they begin [s].
START = 0.0


@dataclass(frozen=True, eq=False)
class Tether(Potential):
    """V = (f - f0)·M (f - f0) / 2 of one body, M = diag(m, E1, E2, E3); `M` is (12,)."""

    M: Vector
    f0: Vector

    def energy(self, q: Vector) -> float:
        """Return V."""
        return float(self.M @ (q - self.f0) ** 2) / 2

    def gradient(self, q: Vector) -> Vector:
        """Return M (f - f0)."""
        return self.M * (q - self.f0)

    def hessian(self, q: Vector) -> NDArray[np.float64]:
        """Return M."""
        return np.diag(self.M)

    def inner(self, q: Vector) -> Vector:
        """Return M times the sizes of what moves: the radius of the body, and directors."""
        radius = np.sqrt(np.sum(self.M[3::3]) / self.M[0])
        return np.asarray(self.M * np.repeat([radius, 1.0], [3, 9]))

    def discrete(self, q0: Vector, q1: Vector) -> tuple[Vector, NDArray[np.float64]]:
        """Return the gradient at the middle, and half of M."""
        return self.gradient((q0 + q1) / 2), np.diag(self.M) / 2


@dataclass(frozen=True, eq=False)
class Tethered(FramePlace):
    """A place whose bodies are tied to where they were, but those that are `kept` there; (bodies,).

    `length` [m] is that of the mechanism.
    """

    kept: NDArray[np.bool_]
    length: float

    @classmethod
    def among(
        cls,
        bodies: Sequence[Body],
        joints: Mapping[str, Joint],
        inlets: Sequence[Inlet],
        f: Vector,
        kept: Collection[str],
        length: float,
    ) -> "Tethered":
        """Return the place f of bodies, with joints, and with transmissions and drives."""
        inertia = np.array([body.inertia for body in bodies])
        largest = inertia[:, 1:].max(axis=1, keepdims=True)
        least = np.where(largest > 0, largest, inertia[:, :1] * length**2)
        inertia[:, 1:] = np.maximum(inertia[:, 1:], LIGHT * least)
        tethers = tuple(
            Tether(body.name, (k,), Forms([], 1), np.repeat(M, 3), own)
            for k, (body, M, own) in enumerate(
                zip(bodies, inertia, f.reshape(-1, WIDTH), strict=True)
            )
            if M[0] > 0
        )
        mechanism = Mechanism.of(
            bodies,
            np.zeros(3),
            [joint.equations.forms for joint in joints.values()],
            inertia=inertia,
            potentials=tethers,
            inlets=tuple(inlets),
        )
        layout = Layout.of(bodies, joints)
        u = np.zeros(sum(inlet.size for inlet in inlets))
        turns = mechanism.unknowns.turns
        held = np.array([body.name in kept for body in bodies])
        rest, turned = np.zeros(f.size), layout.angles(f)
        place = cls(mechanism.held, layout, turns, f, rest, turned, START, u, held, length)
        return place.counting(f)

    def counting(self, f: Vector) -> "Tethered":
        """Return the place of other frames, angles counted anew, those led near their aims."""
        turned, names = self.layout.angles(f), self.layout.angle_names
        for driven in self.held.drives:
            chart = driven.terms[0].chart
            if isinstance(chart, Angle) and chart.name in names and not driven.transmits:
                k = names.index(chart.name)
                aim = float(driven.motion.positions(np.array([START]))[0])
                turned[k] += 2 * np.pi * np.round((aim - turned[k]) / (2 * np.pi))
        return replace(self, turned=turned).at(f)

    def tied_to(self, f: Vector) -> "Tethered":
        """Return the same with tethers to other frames."""
        tethers = [
            replace(p, f0=local(f, p.bodies)) if isinstance(p, Tether) else p
            for p in self.held.potentials
        ]
        return replace(self, held=replace(self.held, potentials=tuple(tethers)))

    @cached_property
    def twists(self) -> Unknowns:
        """Twists (v, omega) of the bodies that may move."""
        return Unknowns(self.turns, np.zeros(6), self.kept)

    @cached_property
    def sizes(self) -> Vector:
        """The length of the mechanism for positions, and 1 for turns."""
        sizes = np.tile(np.repeat([self.length, 1.0], 3), len(self.turns))
        return self.twists.own(sizes)

    @cached_property
    def roots(self) -> Matrix:
        """M^-1/2 of motions, in world axes, masses and lengths measured by all; (k, k)."""
        R = np.swapaxes(frame_vectors(self.f)[:, 1:], 1, 2)
        mass, moments, unit = self.held.masses, self.held.moments, float(np.sum(self.held.masses))
        # Places of elastic bodies have no mass of their own, and do not move.
        mass, moments = (np.where(each > 0, each, unit) for each in (mass, moments))
        blocks = np.zeros((len(R), 6, 6))
        blocks[:, :3, :3] = np.eye(3) * np.sqrt(unit / mass)[:, None, None] * self.length
        weights = np.sqrt(unit / moments)[:, None] * self.length
        blocks[:, 3:, 3:] = R * weights @ np.swapaxes(R, 1, 2)
        return self.twists.square(block_diagonal(blocks))

    def polished(self) -> "Tethered":
        """Return the same with joints closed to round-off, which takes long in singular places."""
        here, (g, J) = self, self.gaps()
        for _ in range(POLISH):
            there = here.at(here.step(here.shortest(here.twists.by(J), -g)))
            found, J = there.gaps()
            if not np.linalg.norm(found) < 0.9 * np.linalg.norm(g):
                break
            here, g = there, found
        return here

    def distance(self, one: Vector, other: Vector) -> float:
        """Return the root mean square of the way of all matter between frames [m]."""
        ways = frame_vectors(other - one) ** 2
        inertia = self.held.inertia
        return float(np.sqrt(np.sum(inertia[:, :, None] * ways) / np.sum(inertia[:, 0])))

    def shortest(self, K: Matrix, b: Vector) -> Vector:
        """Return the motion with K w = b that moves the least mass, for unit time."""
        return np.asarray(self.roots @ shortest_solution(K @ self.roots, b, width=6))
