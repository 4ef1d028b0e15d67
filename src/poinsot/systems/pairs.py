"""A joint as a power-preserving interconnection of two bodies [LKB26, sec. 4.3].

A free body is a port-Hamiltonian system with one port for all its generalised forces: input f in
R^12, output v. A joint ties two such ports by the transformer-like law

    f_A = B_A lambda,   f_B = -B_B lambda,   -B_A^T v_A + B_B^T v_B = 0,

whose port matrices of the locked directions come from the joint's table: G = (-B_A^T, B_B^T).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.bodies.body import Body
from poinsot.errors import InputError
from poinsot.frames.directions import Charted, Generalised
from poinsot.frames.places import of_frame
from poinsot.frames.stacks import Forms, stack
from poinsot.frames.twists import coordinates
from poinsot.parts.feedback import Inlet
from poinsot.parts.joints import Joint
from poinsot.ph.connections import Connection
from poinsot.ph.matrices import Vector, dense
from poinsot.ph.ports import Port
from poinsot.systems.directors import DirectorSystem, director_system
from poinsot.systems.layout import Layout
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.slender import with_spins
from poinsot.systems.start import given_twists


def free_body(body: Body, *, gravity: ArrayLike = (0.0, 0.0, 0.0)) -> DirectorSystem:
    """Return one body by itself as a system with the port `<name>.wrench` for all its forces.

    It starts where the body does, at the velocities given for it (zero where none are).
    """
    if not body.turns:
        raise InputError(f"{body!r} has no port for forces on directors; add it to a model")
    port = Generalised((0,))
    inertia = with_spins(np.array([body.inertia]))
    inlets = (Inlet(port, port.size),)
    mechanism = Mechanism.of([body], gravity, inertia=inertia, inlets=inlets)
    ports = (Port(f"{body.name}.wrench", port.size),)
    twist, _ = given_twists([body])
    q = coordinates(body.position[None], body.R_WP[None])
    system = director_system(body.name, mechanism, Layout.of([body], {}), ports, q, twist)
    assert isinstance(system, DirectorSystem)
    return system


def _forms(joint: Joint) -> Forms:
    """Return the joint's constraints on the coordinates of its two bodies."""
    if not (isinstance(joint.a, Body) and isinstance(joint.b, Body)):
        raise InputError(f"{joint.kind}: an interconnection joins two bodies, not the ground")
    bodies = (joint.a.index, joint.b.index)
    return stack([row.form.among(bodies) for row in joint.rows()], 2)


def internal_ports(
    joint: Joint, q_a: Vector, q_b: Vector
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return B_A and B_B of the locked directions, G = (-B_A^T, B_B^T); shapes (12, rows)."""
    G_a, G_b = np.hsplit(dense(_forms(joint).G(np.concatenate([q_a, q_b]))), 2)
    return -G_a.T, G_b.T


def external_ports(
    joint: Joint, q_a: Vector, q_b: Vector
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return B_A and B_B of the free directions: rate = -B_A^T v_A + B_B^T v_B; (12, freedoms)."""
    bodies = (joint.a.index, joint.b.index)
    columns = [np.zeros((q_a.size + q_b.size, 0))]
    for free in joint.freedoms():
        along = Charted((0, 1), stack([f.among(bodies) for f in free.forms], 2), free.chart)
        columns.append(along.B(np.concatenate([q_a, q_b])))
    B_a, B_b = np.vsplit(np.hstack(columns), 2)
    return -B_a, B_b


@dataclass(frozen=True, eq=False)
class KinematicPair(Connection):
    """A joint as a connection of the ports `port_a` and `port_b` of two free bodies.

    The states of the two systems must begin with the body's coordinates q.
    """

    joint: Joint
    port_a: str
    port_b: str

    @property
    def ports(self) -> tuple[str, ...]:
        """The two ports."""
        return self.port_a, self.port_b

    def check(self, ports: Sequence[Port]) -> None:
        """Refuse ports that are not those of free bodies."""
        for port in ports:
            if port.size != Generalised.size:
                raise InputError(f"{self.joint.kind}: port {port} is not that of a body, size 12")

    def _q(self, xs: Sequence[Vector]) -> Vector:
        return np.concatenate([of_frame(x, 0) for x in xs])

    def coupling(self, sizes: Sequence[int], xs: Sequence[Vector]) -> NDArray[np.float64]:
        """Return G^T at the two bodies' coordinates."""
        return dense(_forms(self.joint).G(self._q(xs))).T

    def coupling_tangent(self, sizes: Sequence[int], xs: Sequence[Vector]) -> NDArray[np.float64]:
        """Return the derivative of G^T with respect to both states."""
        forms = _forms(self.joint)
        slopes = np.stack([dense(forms.slope(unit)).T for unit in np.eye(forms.n)], axis=2)
        tangent = np.zeros((forms.n, forms.m, xs[0].size + xs[1].size))
        # A is symmetric: d(G_ki)/dq_j = A_kij = (A_k e_j)_i.
        for k, first in enumerate((0, xs[0].size)):
            of_frame(tangent[:, :, first:], 0)[:] = of_frame(slopes, k)
        return tangent

    @property
    def multipliers(self) -> int:
        """Number of locked directions."""
        return len(self.joint.rows())

    def matrices(
        self, C: NDArray[np.float64] | None, sizes: Sequence[int]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return K = 0 and N = -G^T."""
        n = sum(sizes)
        return np.zeros((n, n)), np.zeros((n, self.multipliers)) if C is None else -C
