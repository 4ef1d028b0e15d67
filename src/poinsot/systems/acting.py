r"""Forces on the bodies of a mechanism: gravity, springs and fields, dampers, ports.

All are defined on frames; with f = F q + f0, the equations of the unknowns q contain

.. math:: \nabla V = F^\top \nabla_f V, \qquad B = F^\top B_f .
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.unknowns import Unknowns
from poinsot.errors import LargeStepError
from poinsot.frames.places import in_both, in_columns, in_rows, local, scatter
from poinsot.parts.feedback import Inlet
from poinsot.parts.potentials import Potential
from poinsot.parts.resistance import Damper
from poinsot.ph.matrices import Matrix, Placed, Vector, alike, assemble
from poinsot.ph.network import Attached
from poinsot.systems.mechanical import Mechanics


@dataclass(frozen=True, eq=False, kw_only=True)
class Acting(Mechanics):
    """Potentials, dampers and ports of a mechanism.

    Parameters
    ----------
    unknowns : Unknowns
        The unknowns of bodies, and how frames follow from them.
    weight : (bodies, 3)
        Gradient of the potential of gravity, which is linear in positions.
    potentials, dampers, inlets
        Springs and fields; what takes energy away; ports, and laws that drive them.
    networks
        What is joined to the ports: over a step, laws of several ports at once.
    """

    unknowns: Unknowns
    weight: NDArray[np.float64]
    potentials: tuple[Potential, ...] = ()
    dampers: tuple[Damper, ...] = ()
    inlets: tuple[Inlet, ...] = ()
    networks: tuple[Attached, ...] = ()

    # -- potential energy ---------------------------------------------------------------------

    @cached_property
    def gravity(self) -> Vector:
        """The gradient of the potential of gravity by the numbers of frames."""
        gradient = np.zeros((len(self.weight), 4, 3))
        gradient[:, 0] = self.weight
        return gradient.reshape(-1)

    def V(self, q: Vector) -> float:
        """Return the potential energy [J]."""
        return float(self.gravity @ self.unknowns.full(q)) + self.stored(q)

    def stored(self, q: Vector, angles: Mapping[str, float] | None = None) -> float:
        """Return the energy of springs and fields [J], near angles of joints if given by name."""
        f, near = self.unknowns.full(q), angles or {}
        return float(sum(p.near(near).energy(local(f, p.bodies)) for p in self.potentials))

    def dV(self, q: Vector) -> Vector:
        """Return the gradient of V; shape (n,)."""
        total, f = self.gravity.copy(), self.unknowns.full(q)
        for p in self.potentials:
            scatter(total, p.bodies, p.gradient(local(f, p.bodies)))
        return self.unknowns.own(total)

    def ddV(self, q: Vector) -> Matrix | None:
        """Return the Hessian of V; None if there is only gravity."""
        f = self.unknowns.full(q)
        blocks = [(p.bodies, p.hessian(local(f, p.bodies))) for p in self.potentials]
        return self.square(blocks) if blocks else None

    def discrete_dV(self, q0: Vector, q1: Vector) -> tuple[Vector, Matrix | None]:
        """Return the discrete gradient of V and its derivative with respect to q1."""
        total, blocks = self.gravity.copy(), []
        f0, f1 = self.unknowns.full(q0), self.unknowns.full(q1)
        for p in self.potentials:
            gradient, tangent = p.discrete(local(f0, p.bodies), local(f1, p.bodies))
            scatter(total, p.bodies, gradient)
            blocks.append((p.bodies, tangent))
        return self.unknowns.own(total), self.square(blocks) if blocks else None

    # -- angles over turns --------------------------------------------------------------------

    def near(self, angles: Mapping[str, float]) -> Self:
        """Return the mechanism near angles of joints [rad] counted over turns, by name.

        Its springs and laws take those angles that are within half a turn of these.
        """
        names = "potentials", "dampers", "inlets"
        near = {name: tuple(part.near(angles) for part in getattr(self, name)) for name in names}
        return self._with(**near)

    def require_followed(self, f0: Vector, f_mid: Vector) -> None:
        """Refuse a step in which an angle that something depends on is lost.

        By frames at its start, and at its midpoint up to positive factors of a body's directors.
        """
        acting = [(f"force '{p.name}'", p.bodies, p.loses) for p in self.potentials]
        for inlet in self.inlets:
            if inlet.law is not None:
                what = f"port '{inlet.law.name}'"
                acting.append((what, inlet.direction.bodies, inlet.law.loses))
            acting += [(each.title, each.bodies, each.loses) for each in inlet.drives]
        for what, bodies, loses in acting:
            if loses(local(f0, bodies), local(f_mid, bodies)):
                raise LargeStepError(
                    f"{what}: the angle of its joint changes by half a turn or more in one step, "
                    "which is ambiguous; use a smaller step"
                )

    # -- dissipation --------------------------------------------------------------------------

    @property
    def lossless(self) -> bool:
        """Whether nothing takes energy away."""
        return not self.dampers

    def damping(self, q: Vector, v: Vector) -> Vector:
        """Return the generalised damping force B f(B^T v), against the motion; shape (n,)."""
        total, (f, rate) = np.zeros(self.gravity.size), self._motion(q, v)
        for d in self.dampers:
            bodies = d.direction.bodies
            B = d.direction.B(local(f, bodies))
            law = d.at(local(f, bodies))
            scatter(total, bodies, B @ law(B.T @ local(rate, bodies)))
        return self.unknowns.own(total)

    def ddamping(self, q: Vector, v: Vector) -> tuple[Matrix, Matrix] | None:
        """Return the derivatives of `damping` with respect to q and v; None without dampers."""
        by_q, by_v, (f, rate) = [], [], self._motion(q, v)
        for d in self.dampers:
            bodies = d.direction.bodies
            q_, v_ = local(f, bodies), local(rate, bodies)
            B = d.direction.B(q_)
            y, law, by_place = B.T @ v_, d.at(q_), d.by_place(q_, B.T @ v_)
            slope = law.slope(y)
            by_q.append((bodies, d.direction.dB(q_, law(y)) + B @ slope @ d.direction.dy(q_, v_)))
            if by_place is not None:
                by_q.append((bodies, B @ by_place))
            by_v.append((bodies, B @ slope @ B.T))
        return (self.square(by_q), self.square(by_v)) if by_q else None

    def _motion(self, q: Vector, v: Vector) -> tuple[Vector, Vector]:
        """Return frames and their rates."""
        return self.unknowns.full(q), self.unknowns.rates.full(v)

    def remembering(self) -> Self:
        """Return the mechanism for one run of Newton's method: dry friction has slopes for it."""
        dampers = tuple(damper.remembering() for damper in self.dampers)
        inlets = tuple(inlet.remembering() for inlet in self.inlets)
        return self._with(dampers=dampers, inlets=inlets)

    def _with(self, **parts: Any) -> Self:
        """Return the mechanism with other parts; itself if they are the same."""
        pairs = [zip(new, getattr(self, name), strict=True) for name, new in parts.items()]
        if all(new is old for pair in pairs for new, old in pair):
            return self
        return replace(self, **parts)

    # -- ports --------------------------------------------------------------------------------

    @cached_property
    def _inputs(self) -> list[tuple[Inlet, tuple[int, ...], slice]]:
        """Every inlet of forces, its bodies, and where its inputs are among all."""
        return [
            (inlet, inlet.direction.bodies, slice(*own))
            for inlet, own in zip(self.inlets, self._ranges, strict=True)
            if inlet.driven is None
        ]

    @property
    def _ranges(self) -> Iterator[tuple[int, int]]:
        """The first input of every inlet, and the one after its last."""
        return pairwise(accumulate((inlet.size for inlet in self.inlets), initial=0))

    def B(self, q: Vector) -> Matrix:
        """Return the port matrix on the momentum equations; shape (n, inputs)."""
        placed: list[Placed] = []
        f, inputs = self.unknowns.full(q), sum(inlet.size for inlet in self.inlets)
        for inlet, bodies, own in self._inputs:
            placed += in_rows(bodies, own.start, inlet.direction.B(local(f, bodies)))
        B: Matrix = self.unknowns.on(assemble((self.gravity.size, inputs), placed))
        return B

    def dB(self, q: Vector, u: Vector) -> Matrix | None:
        """Return the derivative of B(q) u with respect to q; None without ports."""
        f = self.unknowns.full(q)
        blocks = [
            (bodies, inlet.direction.dB(local(f, bodies), u[own]))
            for inlet, bodies, own in self._inputs
        ]
        return self.square(blocks) if blocks else None

    def dy(self, q: Vector, v: Vector) -> Matrix | None:
        """Return the derivative of B(q)^T v with respect to q; None without ports."""
        placed: list[Placed] = []
        (f, rate), inputs = self._motion(q, v), sum(inlet.size for inlet in self.inlets)
        for inlet, bodies, own in self._inputs:
            block = inlet.direction.dy(local(f, bodies), local(rate, bodies))
            placed += in_columns(own.start, bodies, block)
        return self.unknowns.by(assemble((inputs, self.gravity.size), placed)) if placed else None

    def feedback(self, t: float, q: Vector, v: Vector, u: Vector) -> Vector:
        """Return the inputs with the state-dependent ones filled in."""
        if not any(inlet.law for inlet in self.inlets) and not self.networks:
            return u
        filled, (f, rate) = u.copy(), self._motion(q, v)
        for inlet, bodies, own in self._inputs:
            if inlet.law is not None:
                filled[own] = inlet.law(t, local(f, bodies), local(rate, bodies))
        for inputs, given, _ in self._through_networks(q, v):
            filled[inputs] = given
        return filled

    def _through_networks(
        self, q: Vector, v: Vector
    ) -> Iterator[tuple[NDArray[np.intp], Vector, NDArray[np.float64]]]:
        """Yield of every network which inputs it closes, their values, and slopes by outputs."""
        steps = [(each.network.inputs, each.step) for each in self.networks if each.step]
        if steps:
            outputs = np.asarray(self.B(q).T @ v)
            for inputs, step in steps:
                yield inputs, *step(outputs[inputs])

    def dloads(
        self, t: float, q: Vector, v: Vector, u: Vector
    ) -> tuple[list[Matrix], list[Matrix]]:
        """Return the terms of the derivatives of B u - damping by q and by v, with feedback."""
        fed_q, fed_v, (f, rate) = [], [], self._motion(q, v)
        for inlet, bodies, _ in self._inputs:
            if inlet.law is not None:
                q_, v_ = local(f, bodies), local(rate, bodies)
                B, (du_dq, du_dv) = inlet.direction.B(q_), inlet.law.slopes(t, q_, v_)
                fed_q.append((bodies, B @ du_dq))
                fed_v.append((bodies, B @ du_dv))
        dB, slopes = self.dB(q, u), self.ddamping(q, v)
        by_q, by_v = [] if dB is None else [dB], []
        if fed_q:
            by_q.append(self.square(fed_q))
            by_v.append(self.square(fed_v))
        if slopes is not None:
            by_q.append(-slopes[0])
            by_v.append(-slopes[1])
        for inputs, _, S in self._through_networks(q, v):
            B, dy = self.B(q)[:, inputs], self.dy(q, v)
            BS = B @ alike(S, B)
            by_v.append(BS @ B.T)
            if dy is not None:
                by_q.append(BS @ dy[inputs])
        return by_q, by_v

    def inner(self, t: float, q: Vector, v: Vector, u: Vector) -> Vector:
        """Return the sizes of what cancels inside of dV/dq - B u + damping; shape (n,)."""
        total, (f, rate) = np.zeros(self.gravity.size), self._motion(q, v)
        for p in self.potentials:
            scatter(total, p.bodies, p.inner(local(f, p.bodies)))
        for inlet, bodies, _ in self._inputs:
            if inlet.law is not None:
                q_, v_ = local(f, bodies), local(rate, bodies)
                scatter(total, bodies, abs(inlet.direction.B(q_)) @ inlet.law.inner(t, q_, v_))
        by_q, by_v = self.dloads(t, q, v, u)
        forces = [abs(slope) @ abs(q) for slope in by_q] + [abs(slope) @ abs(v) for slope in by_v]
        return sum(forces, self.unknowns.own(total))

    def in_play(self, t: float, q: Vector, v: Vector, h: float) -> float:
        """Return the energy to a relative eps of which springs and laws are known in a step."""
        f, rate = self._motion(q, v)
        energy = sum(p.in_play(local(f, p.bodies)) for p in self.potentials)
        for inlet, bodies, _ in self._inputs:
            if inlet.law is not None:
                q_, v_ = local(f, bodies), local(rate, bodies)
                y = inlet.direction.B(q_).T @ v_
                energy += h * float(inlet.law.inner(t, q_, v_) @ abs(y))
        return float(energy)

    def square(self, blocks: list[tuple[tuple[int, ...], NDArray[np.float64]]]) -> Matrix:
        """Return matrices on the frames of a few bodies as one on all unknowns."""
        n, placed = self.gravity.size, [p for bodies, M in blocks for p in in_both(bodies, M)]
        return self.unknowns.square(assemble((n, n), placed))
