"""Inverse-square attraction: planets, satellites, charges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.bodies.body import Body, Ground, partner
from poinsot.errors import InputError
from poinsot.frames.forms import GROUND, half_square
from poinsot.frames.stacks import stack
from poinsot.inputs import number, vector3
from poinsot.kernels.algebra import (
    Array,
    Vec,
    add,
    add_tile,
    dot,
    outer,
    plus,
    scale,
    size,
    sub,
    times,
    vector,
)
from poinsot.kernels.kernel import inline, kernel
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.step import Step, measure, push
from poinsot.kernels.tables import Part, frame, twist
from poinsot.kernels.terms import NONE, UNIT
from poinsot.parts.family import Assembly, Family, Indices, Kernels, index, real
from poinsot.parts.forces import Force, Placed
from poinsot.parts.joint import Joint
from poinsot.parts.potentials import Potential
from poinsot.ph.matrices import Vector, dense

#: Newton's constant of gravitation [N m^2/kg^2], CODATA 2022.
NEWTON = 6.67430e-11


@dataclass(frozen=True, eq=False)
class Gravitation(Force):
    r"""Inverse-square attraction between two centres of mass, or one and a point of the ground.

    .. math:: V(r) = -\frac{k}{r}, \qquad F = \frac{k}{r^2}

    Over a step from distance r_0 to r_1, the force is

    .. math:: \frac{2 k}{r_0\, r_1\, (r_0 + r_1)}\; \frac{\mathbf r_0 + \mathbf r_1}{2},

    which conserves energy, momentum and angular momentum exactly.

    Parameters
    ----------
    a, b : Body or Ground
        The two bodies.
    strength : float
        k [N m^2]. Default: Newton's constant times both masses. Negative values repel, as for equal
        charges.
    centre : (3,)
        Centre of attraction on the ground [m], world axes.
    """

    a: Body | Ground
    b: Body | Ground
    strength: float | None = None
    centre: ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        """Check the bodies and the strength."""
        a, b = partner(self.a, "Gravitation: a"), partner(self.b, "Gravitation: b")
        if a is b or not self.bodies:
            raise InputError(f"Gravitation: '{a.name}' cannot attract itself; give two bodies")
        object.__setattr__(self, "centre", vector3(self.centre, "Gravitation: centre"))
        if self.strength is not None:
            number(self.strength, "Gravitation: strength")
        elif len(self.bodies) < 2:
            raise InputError("Gravitation: the ground has no mass; give a strength [N m^2]")
        if not np.linalg.norm(self._position(b) - self._position(a)) > 0:
            raise InputError(
                f"Gravitation: '{a.name}' and '{b.name}' are at the same position; move one of them"
            )

    def _position(self, end: Body | Ground) -> Vector:
        return np.asarray(self.centre if isinstance(end, Ground) else end.position, dtype=float)

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The attracted bodies."""
        return tuple(end for end in (self.a, self.b) if isinstance(end, Body))

    def place(self, name: str, joints: Mapping[str, Joint]) -> Placed:
        """Return its potential."""
        ends, bodies = (self.a, self.b), tuple(body.index for body in self.bodies)
        on_a, on_b = (end.on(self._position(end)) for end in ends)
        form = half_square(on_b - on_a).among(bodies)
        k = self.strength
        if k is None:
            k = NEWTON * self.bodies[0].mass * self.bodies[1].mass
        centre = self._position(self.a) if isinstance(self.a, Ground) else -self._position(self.b)
        offset = centre if len(bodies) < 2 else np.zeros(3)
        pair = self.a.index, self.b.index
        potential = Attraction(name, bodies, stack([form], len(bodies)), float(k), pair, offset)
        return [potential], []


@dataclass(frozen=True, eq=False)
class Attraction(Potential):
    """V(s) = -k / sqrt(2 s) of the form s = r·r/2.

    `ends` are the two bodies, `offset` (3,) is what the ground's point takes from r [m].
    """

    k: float
    ends: tuple[int, int]
    offset: Vector

    def energy(self, q: Vector) -> float:
        """Return V [J]."""
        return -self.k / sqrt(2 * self.forms(q)[0])

    def gradient(self, q: Vector) -> Vector:
        """Return dV/dq = k r^-3 ds/dq."""
        r = sqrt(2 * self.forms(q)[0])
        return np.asarray(self.k / r**3 * dense(self.forms.G(q))[0])

    def hessian(self, q: Vector) -> NDArray[np.float64]:
        """Return d^2V/dq^2."""
        r, G = sqrt(2 * self.forms(q)[0]), dense(self.forms.G(q))
        curvature = dense(self.forms.curvature(np.ones(1)))
        return np.asarray(self.k / r**3 * (curvature - 3 / r**2 * G.T @ G))

    def discrete(self, q0: Vector, q1: Vector) -> tuple[Vector, NDArray[np.float64]]:
        """Return the discrete gradient between q0 and q1, and its derivative with respect to q1."""
        r0, r1 = sqrt(2 * self.forms(q0)[0]), sqrt(2 * self.forms(q1)[0])
        f = 2 * self.k / (r0 * r1 * (r0 + r1))
        df = -f * (r0 + 2 * r1) / (r1**2 * (r0 + r1))
        G, G1 = dense(self.forms.G((q0 + q1) / 2)), dense(self.forms.G(q1))
        curvature = dense(self.forms.curvature(np.ones(1)))
        return f * G[0], np.asarray(df * G.T @ G1 + f / 2 * curvature)


# -- in the compiled engine ------------------------------------------------------------------------

#: Columns of numbers: k, and the offset. Of places: bodies A and B, tiles of (T_A, T_B) with each
#: other.
STRENGTH, OFFSET = 0, 1
FIRST, SECOND, PAIR = 0, 1, 2


@kernel
def attract(attractions: Part, step: Step, tiles: Array) -> None:
    """Add residuals, and tiles unless None."""
    numbers, places = attractions
    h, stage = step.h, step.stage
    for k in range(numbers.shape[0]):
        first, second = places[k, FIRST], places[k, SECOND]
        (v_A, _), (v_B, _) = twist(stage, first), twist(stage, second)
        r, dr = _between(attractions, k, stage), scale(0.5 * h, sub(v_B, v_A))
        r0, r1 = sub(r, dr), add(r, dr)
        l0, l1 = sqrt(dot(r0, r0)), sqrt(dot(r1, r1))
        f = 2.0 * h * numbers[k, STRENGTH] / (l0 * l1 * (l0 + l1))
        push(step, first, scale(-f, r), NONE)
        push(step, second, scale(f, r), NONE)
        measure(step, abs(f) * size(r), 0.0)
        if tiles is not None:
            # r changes by h/2 dv, r1 by h dv; f with l1.
            df = -h * f * (l0 + 2.0 * l1) / (l1 * l1 * (l0 + l1))
            slope = plus(times(0.5 * h * f, UNIT), outer(r, scale(df, r1)))
            add_tile(tiles, places[k, PAIR], slope)
            add_tile(tiles, places[k, PAIR + 1], times(-1.0, slope))
            add_tile(tiles, places[k, PAIR + 2], times(-1.0, slope))
            add_tile(tiles, places[k, PAIR + 3], slope)


@kernel
def attraction_energy(attractions: Part, state: Array, step: Step) -> float:
    """Return the energy of all [J]."""
    total = 0.0
    for k in range(attractions.numbers.shape[0]):
        r = _between(attractions, k, state)
        total -= attractions.numbers[k, STRENGTH] / sqrt(dot(r, r))
    return total


@inline
def _between(attractions: Part, k: int, motion: Array) -> Vec:
    """Return r."""
    at = attractions.places[k]
    (r_A, _), (r_B, _) = frame(motion, at[FIRST]), frame(motion, at[SECOND])
    return sub(sub(r_B, r_A), vector(attractions.numbers, k, OFFSET))


class Attractions(Family):
    """Attractions of centres of mass."""

    Table: ClassVar = Part
    kernels: ClassVar = Kernels(attract, attract, energy=attraction_energy)

    def __init__(self, assembly: Assembly) -> None:
        self.found = [p for p in assembly.potentials if isinstance(p, Attraction)]
        self.ends = np.array([p.ends for p in self.found], dtype=np.intp).reshape(-1, 2)

    def __len__(self) -> int:
        """Return their number."""
        return len(self.found)

    @property
    def moved(self) -> Indices:
        """Their bodies."""
        return np.asarray(self.ends[self.ends != GROUND])

    def meet(self, graph: Graph) -> None:
        """Join the translations of both bodies."""
        graph.meet(graph.motion(self.ends)[:, :, 0], graph.momentum(self.ends)[:, :, 0])

    def table(self, graph: Graph, tiles: Tiles) -> Part:
        """Return strengths and offsets; bodies and tiles."""
        numbers = [[p.k, *p.offset] for p in self.found]
        T, KT = graph.momentum(self.ends)[:, :, 0], graph.motion(self.ends)[:, :, 0]
        places = index(graph.ends(self.ends), tiles.table(T, KT))
        return Part(real(np.reshape(numbers, (-1, 4))), places)
