r"""A mechanism as numbers: what systems and time steps are written in.

Joints, forces, contacts and ports are written on frames f, twelve numbers each; the unknowns q are
those of the bodies. The one becomes the other here, and in `acting`, and nowhere else: with
f = F q + f0,

.. math:: G = G_f F .
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from poinsot.bodies.body import Body
from poinsot.bodies.flexible import Elastic, Flexible
from poinsot.bodies.rigid import RIGIDITY, rigidity
from poinsot.bodies.unknowns import Unknowns
from poinsot.engine import DRIFT
from poinsot.frames import twists
from poinsot.frames.places import (
    AT_REST,
    frame_vectors,
    in_columns,
    in_rows,
    local,
    of_frame,
    scatter,
)
from poinsot.frames.stacks import Forms, Packed
from poinsot.parts.contacts import Contact
from poinsot.parts.driven import Driven
from poinsot.parts.relaxation import MaxwellElement
from poinsot.ph.dependence import row_lengths
from poinsot.ph.equations import shortest_solution
from poinsot.ph.matrices import Matrix, Placed, Vector, add, assemble, diagonal, large
from poinsot.ph.stages import largest_of_kind
from poinsot.systems.acting import Acting
from poinsot.systems.branches import Branching
from poinsot.systems.mechanical import Losses
from poinsot.systems.redundancy import Loop


@dataclass(frozen=True, eq=False, kw_only=True)
class Mechanism(Acting):
    """Masses and constraints of a mechanism, with what acts on it.

    Parameters
    ----------
    inertia : (bodies, 4)
        m, E1, E2, E3 of every body, M = diag(m, E1, E2, E3) [LKB26, eq. (31)].
    constraints : Forms
        g on frames, m of them: rigidity of every body, then the joints.
    rigid
        How many of them are those of rigidity, which come first.
    loops
        Those loops of joints in which constraints repeat each other.
    contacts
        Constraints on velocities alone, A(q) v = 0: rows of G below those of g, which have no
        position equation. Their multipliers follow those of g. Rows of driven coordinates, whose
        rates are inputs, come last.
    singular
        Loops of joints that are in a singular position at the start.
    least : (bodies,)
        Least moment of each body, as a part of its greatest one, in coordinates that have moments.
    elastic
        Elastic bodies, and where the frames are that they carry.
    relaxing
        Maxwell elements, which have states of their own.
    """

    inertia: NDArray[np.float64]
    constraints: Forms
    rigid: int
    loops: tuple[Loop, ...] = ()
    contacts: tuple[Contact, ...] = ()
    singular: tuple[Branching, ...] = ()
    least: Vector | None = None
    elastic: tuple[Elastic, ...] = ()
    relaxing: tuple[MaxwellElement, ...] = ()

    @classmethod
    def of(
        cls,
        bodies: Sequence[Body],
        gravity: ArrayLike,
        joints: Sequence[Packed] = (),
        loops: Sequence[Loop] = (),
        *,
        inertia: NDArray[np.float64] | None = None,
        **acting: Any,
    ) -> "Mechanism":
        """Return the mechanism of bodies and the constraints of joints; loops count only these.

        `inertia` is their own unless it is given.
        """
        if inertia is None:
            inertia = np.array([body.inertia for body in bodies])
        turns = np.array([body.turns for body in bodies])
        carried = np.array([body.carried for body in bodies])
        turning = np.flatnonzero(turns & ~carried).tolist()
        rigid = RIGIDITY * len(turning)
        return cls(
            inertia=inertia,
            weight=_weight(inertia, gravity),
            unknowns=Unknowns(turns, AT_REST, carried),
            constraints=Forms([rigidity(turning), *joints], len(bodies)),
            rigid=rigid,
            loops=tuple(replace(loop, rows=rigid + loop.rows) for loop in loops),
            elastic=tuple(
                body.elastic for body in bodies if body.deforms and isinstance(body, Flexible)
            ),
            **acting,
        )

    def weighing(self, inertia: NDArray[np.float64], gravity: ArrayLike) -> "Mechanism":
        """Return the same with other inertia of bodies, and other gravity."""
        return replace(self, inertia=inertia, weight=_weight(inertia, gravity))

    @property
    def n(self) -> int:
        """Number of unknowns."""
        return self.unknowns.n

    @cached_property
    def mass(self) -> Vector:
        """The diagonal of M; (n,)."""
        return self.unknowns.own(np.repeat(self.inertia.reshape(-1), 3))

    @property
    def masses(self) -> Vector:
        """Mass of every body [kg]; (bodies,)."""
        return self.inertia[:, 0]

    @property
    def moments(self) -> NDArray[np.float64]:
        """Principal moments of inertia [kg m^2], none below `least`; (bodies, 3)."""
        E1, E2, E3 = self.inertia[:, 1:].T
        moments = np.column_stack([E2 + E3, E3 + E1, E1 + E2])
        if self.least is not None:
            least = self.least[:, None] * moments.max(axis=1, keepdims=True)
            moments = np.maximum(moments, least)
        # What does not turn has any: it is multiplied by zero.
        return np.where(self.unknowns.turns[:, None], moments, 1.0)

    @property
    def m(self) -> int:
        """Number of constraints: rows of G."""
        return self.constraints.m + sum(row.size for row in self.below)

    @property
    def holonomic(self) -> bool:
        """Whether every constraint of joints has a position equation."""
        return not self.contacts

    @property
    def below(self) -> tuple[Contact | Driven, ...]:
        """What has rows of G below those of g: contacts, then drives."""
        return *self.contacts, *self.drives

    @property
    def compiled(self) -> bool:
        """Whether the compiled engine knows all ports."""
        return all(inlet.direction.compiled for inlet in self.inlets)

    # -- drives -------------------------------------------------------------------------------

    @cached_property
    def drives(self) -> tuple[Driven, ...]:
        """The relations whose motion is prescribed, those of transmissions among them."""
        return tuple(driven for inlet in self.inlets for driven in inlet.drives)

    @property
    def driven_motion(self) -> str:
        """The first drive or transmission in words, for schemes that support joints only."""
        driven = self.drives[0]
        kept = "transmissions" if driven.transmits else "drives"
        return f"{kept} ('{driven.name}')"

    @cached_property
    def _driven(self) -> list[int]:
        """The input of every drive."""
        pairs = zip(self.inlets, self._ranges, strict=True)
        return [first + k for inlet, (first, _) in pairs for k in range(len(inlet.drives))]

    @cached_property
    def imposed(self) -> Matrix | None:
        """What inputs add to the rows of G, G v = N u; None without drives; (m, inputs)."""
        if not self.drives:
            return None
        blocks = [
            (self.m - len(self._driven) + k, j, np.eye(1)) for k, j in enumerate(self._driven)
        ]
        return assemble((self.m, sum(inlet.size for inlet in self.inlets)), blocks)

    def since(self, q: Vector) -> "Mechanism":
        """Return the mechanism for a step from q: coordinates in drives change by secants."""
        if not self.drives:
            return self
        f, inlets = self.unknowns.full(q), list(self.inlets)
        for k, inlet in enumerate(inlets):
            if inlet.driven is not None:
                line = inlet.driven.since(local(f, inlet.driven.bodies))
                inlets[k] = replace(inlet, direction=line)
        return replace(self, inlets=tuple(inlets))

    def asked(self, u: Vector, t: float, h: float, q: Vector) -> Vector:
        """Return the inputs of a step of size h [s] that begins at time t and at q.

        Drives are asked for a little more where they are behind their motions: what round-off left.
        """
        f, asked = self.unknowns.full(q), u.copy()
        for j, driven in zip(self._driven, self.drives, strict=True):
            driven.require_followed(h * u[j])
            asked[j] += DRIFT / h * driven.lacking(local(f, driven.bodies), t)
        return asked

    def with_targets(self, u: NDArray[np.float64], times: Vector) -> NDArray[np.float64]:
        """Return inputs (steps, inputs) with two columns more for each drive.

        They are its mean rate, and its coordinate at the start of the step, which times [s] tell.
        """
        targets = [
            np.column_stack([u[:, j], driven.motion.positions(times)])
            for j, driven in zip(self._driven, self.drives, strict=True)
        ]
        return np.hstack([u, *targets]) if targets else u

    @property
    def lossless(self) -> bool:
        """Whether there are no dampers, and transmissions lose nothing."""
        return super().lossless and all(driven.lossless for driven in self.drives)

    def losses(self, q: Vector, v: Vector, lam: Vector) -> Losses | None:
        """Return the friction of transmissions under their loads; None if they lose nothing."""
        if all(driven.lossless for driven in self.drives):
            return None
        f, rate = self.unknowns.full(q), self.unknowns.rates.full(v)
        force, by_q, by_v = np.zeros(f.size), [], []
        by_lam: list[Placed] = []
        for k, driven in enumerate(self.drives, start=self.m - len(self.drives)):
            if not driven.lossless:
                own, bodies = local(f, driven.bodies), driven.bodies
                loss = driven.loss(own, local(rate, bodies), float(lam[k]))
                scatter(force, bodies, loss.force)
                by_q.append((bodies, loss.by_q))
                by_v.append((bodies, loss.by_v))
                by_lam += in_rows(bodies, k, loss.by_lam[:, None])
        by_loads = self.unknowns.on(assemble((f.size, self.m), by_lam))
        return Losses(self.unknowns.own(force), self.square(by_q), self.square(by_v), by_loads)

    def lost(self, q: Vector, v: Vector, lam: Vector) -> float:
        """Return the power that dampers and transmissions take [W]."""
        losses = self.losses(q, v, lam)
        return float(v @ self.damping(q, v)) + (0.0 if losses is None else float(v @ losses.force))

    def y(self, q: Vector, v: Vector, lam: Vector) -> Vector:
        """Return the outputs: B^T v, and of drives their forces, -N^T lam; (inputs,)."""
        N, y = self.imposed, np.asarray(self.B(q).T @ v)
        return y if N is None else y - N.T @ lam

    @cached_property
    def on_frames(self) -> "Mechanism":
        """The same, with the numbers of frames as unknowns."""
        if self.unknowns.every:
            return self
        every = np.ones_like(self.unknowns.turns)
        return replace(self, unknowns=replace(self.unknowns, turns=every, carried=~every))

    @cached_property
    def held(self) -> "Mechanism":
        """Joints and contacts on frames, for coordinates in which bodies are rigid."""
        forms = self.constraints.take(np.arange(self.rigid, self.constraints.m))
        loops = tuple(replace(loop, rows=loop.rows - self.rigid) for loop in self.loops)
        return replace(self.on_frames, constraints=forms, loops=loops, rigid=0)

    @property
    def strains(self) -> int:
        """How many states Maxwell elements have."""
        return sum(element.size for element in self.relaxing)

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

    def alike(self, sizes: Vector) -> Vector:
        """Raise sizes of numbers like q to the largest of their kind: positions, or directors."""
        return largest_of_kind(sizes, self.unknowns.translate)

    def independent(self, q: Vector) -> Matrix | None:
        """Return T, whose rows take independent constraints out of all; None: all are.

        T G has full rank near q. The rows that are left out are the same everywhere, unless others
        are much better conditioned at q.
        """
        if not self.redundant:
            return None
        kept = np.ones(self.m, dtype=bool)
        for loop in self.loops:
            kept[loop.rows] = loop.independent(self.unknowns.full(q))
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
            change[loop.rows] = -loop.idle(self.unknowns.full(q), lam[loop.rows])
        if self.rigid:
            change[: self.rigid] += self.rigidity(q, self.G(q).T @ change)
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
        push, f = self.slope(q, v).T @ (gam - smaller), self.unknowns.full(q)
        blocks, pushes = frame_vectors(f), frame_vectors(self.unknowns.rates.full(push))
        torque = np.cross(blocks[:, 1:], pushes[:, 1:]).sum(axis=1)
        wrench = np.hstack([pushes[:, 0], torque]).reshape(-1)
        J = twists.joint_matrix(self.constraints.take(self.looped), f)
        sizes = row_lengths(twists.in_lengths(J, max(loop.length for loop in self.loops)))
        change = np.zeros(self.m)
        change[self.looped] = shortest_solution(J.T * (1 / sizes), wrench) / sizes
        change[: self.rigid] += self.rigidity(q, self.G(q).T @ change - push)
        return self.smallest(q, lam + change), smaller

    def rigidity(self, q: Vector, push: Vector) -> Vector:
        """Return multipliers of rigidity that balance a push (n,) without torque on bodies at q.

        For director i, push_i = -sum_j Lambda_ij d_j with a symmetric Lambda = -P D^-1.
        """
        f, pushes = self.unknowns.full(q), self.unknowns.rates.full(push)
        D, P = (frame_vectors(a)[self.unknowns.turns, 1:] for a in (f, pushes))
        Lambda = -np.linalg.solve(np.swapaxes(D, 1, 2), np.swapaxes(P, 1, 2))
        pairs = (Lambda + np.swapaxes(Lambda, 1, 2)) / 2
        return np.asarray(pairs[:, [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]].reshape(-1))

    # -- sizes --------------------------------------------------------------------------------

    def extent(self, f: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the largest length [m] of many states, the numbers of all frames in each row.

        Of distances from the origin, arms of joints and radii of gyration; (states,).
        """
        far = np.linalg.norm(frame_vectors(f)[:, :, 0], axis=2).max(axis=1, initial=0.0)
        return np.asarray(np.maximum(far, self._own_extent))

    @cached_property
    def _own_extent(self) -> float:
        """The same wherever it is."""
        mass, largest = self.inertia[:, 0], self.inertia[:, 1:].max(axis=1)
        radii = np.sqrt(np.divide(largest, mass, out=np.zeros_like(mass), where=mass > 0))
        return max(self.constraints.reach, float(radii.max(initial=0.0)))

    def length(self, q: Vector) -> float:
        """Return the extent at one state [m]."""
        return float(self.extent(self.unknowns.full(q)[None])[0])

    def measures(self, q: Vector) -> Vector:
        """Return what numbers like q are measured by: positions by the extent; (n,)."""
        return np.where(self.unknowns.translate, self.length(q), 1.0)

    def lengths(self, f: Vector) -> Vector:
        """Return how large bodies are [m], from their joints or across; 0: a point; (bodies,)."""
        return self._lengths(twists.joint_matrix(self.held.constraints, f))

    def lever_arms(self, f: Vector) -> Vector:
        """Return the longest lever arm of joints on each body [m]; (bodies,)."""
        return twists.lever_arms(twists.joint_matrix(self.held.constraints, f))

    def _lengths(self, J: Matrix) -> Vector:
        """Return the same by the matrix of the joints."""
        mass, *euler = self.inertia.T
        arms = twists.lever_arms(J)
        across = np.divide(sum(euler), mass, out=np.zeros_like(mass), where=mass > 0)
        return np.asarray(np.maximum(arms, np.sqrt(across)))

    def spans(self, f: Vector) -> Vector:
        """Return over how much energies of bodies change [m]: springs, or their own sizes."""
        spans = np.full(len(self.inertia), np.inf)
        for p in self.potentials:
            least = p.forms.spans(local(f, p.bodies))
            spans[list(p.bodies)] = np.minimum(spans[list(p.bodies)], least)
        spans = np.where(np.isfinite(spans), spans, self.lengths(f))
        return np.where(spans > 0, spans, np.max(spans, initial=0.0) or 1.0)

    def gap_sizes(self, f: Vector) -> Vector:
        """Return what gaps of the constraints on positions are measured by: 1 for rigidity."""
        joints = self.held.constraints
        J = twists.joint_matrix(joints, f)
        return np.append(np.ones(self.rigid), twists.gap_sizes(joints, f, J, self._lengths(J)))

    def speeds(self, f: Vector) -> tuple[float, Vector]:
        """Return the longest lever arm [m], and what makes rates of constraints speeds; (rows,).

        Rates of lengths, angles and squares are compared as the velocities of points: those of
        angles are multiplied by that lever arm.
        """
        length = float(np.max(self.lengths(f), initial=0.0)) or 1.0
        return length, scales_of_rates(length, *self.rate_squares(f))

    def rate_squares(self, f: Vector) -> tuple[Vector, Vector]:
        """Return the squares of rows on twists: of velocities, and of spins; (rows,) each."""
        moved, turned = twists.squares(twists.of_twists(self.held.G(f), f))
        return np.asarray(moved.sum(axis=1)).reshape(-1), np.asarray(turned.sum(axis=1)).reshape(-1)

    # -- constraints --------------------------------------------------------------------------

    @property
    def positions(self) -> int:
        """How many constraints have a position equation: the first ones."""
        return self.constraints.m

    def gap(self, q: Vector) -> Vector:
        """Return g(q), and nothing for constraints without a position equation; shape (m,)."""
        gap = np.zeros(self.m)
        gap[: self.constraints.m] = self.constraints(self.unknowns.full(q))
        return gap

    def G(self, q: Vector) -> Matrix:
        """Return the constraints on velocities, G v = 0: dg/dq and A; shape (m, n)."""
        f = self.unknowns.full(q)
        rows = [row.B(local(f, row.bodies)).T for row in self.below]
        return self._below(self.constraints.G(f), rows)

    def slope(self, q: Vector, v: Vector) -> Matrix:
        """Return the derivative of G(q) v by q; shape (m, n)."""
        f, rate = self.unknowns.full(q), self.unknowns.rates.full(v)
        rows = [c.dy(local(f, c.bodies), local(rate, c.bodies)) for c in self.below]
        return self._below(self.constraints.slope(rate), rows)

    def _below(self, rows: Matrix, own: list[NDArray[np.float64]]) -> Matrix:
        """Return rows of g, and those that are below them on their bodies; shape (m, n)."""
        if not own:
            return self.unknowns.by(rows)
        placed, first = [(0, 0, rows)], self.constraints.m
        for row, block in zip(self.below, own, strict=True):
            placed += in_columns(first, row.bodies, block)
            first += row.size
        return self.unknowns.by(assemble((self.m, self.constraints.n), placed))

    def curvature(self, q: Vector, lam: Vector) -> Matrix:
        """Return the derivative of G(q)^T lam by q; shape (n, n)."""
        split, f = self.constraints.m, self.unknowns.full(q)
        curvature, blocks = self.unknowns.square(self.constraints.curvature(lam[:split])), []
        for row in self.below:
            mu = lam[split : split + row.size]
            blocks.append((row.bodies, row.dB(local(f, row.bodies), mu)))
            split += row.size
        return add(curvature, self.square(blocks)) if blocks else curvature

    # -- constraints of many states, the numbers of all frames in each row --------------------

    def rates(self, f: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return G v but for the rows of drives; (states, rows)."""
        return np.hstack([self.constraints.rates(f, v), self.contact_rates(f, v)])

    def contact_rates(self, f: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return A v, the rows without a position equation."""
        rates = [np.zeros((len(f), 0))]
        for contact in self.contacts:
            (body,) = contact.bodies
            rates.append(contact.rates(of_frame(f, body), of_frame(v, body)))
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


def _weight(inertia: NDArray[np.float64], gravity: ArrayLike) -> NDArray[np.float64]:
    """Return the gradient of the potential of gravity; (bodies, 3)."""
    return np.asarray(-inertia[:, :1] * np.asarray(gravity, dtype=float))


def scales_of_rates(length: ArrayLike, moved: Vector, turned: Vector) -> Vector:
    """Return what makes rates of constraints speeds, for a lever arm or many [m]; (..., rows)."""
    arm = np.asarray(length)[..., None]
    rows = np.sqrt(arm**2 * moved + turned)
    arm = np.broadcast_to(arm, rows.shape)
    return np.asarray(np.divide(arm, rows, out=np.ones_like(rows), where=rows > 0))
