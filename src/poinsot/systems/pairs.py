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

from poinsot.bodies.body import Body, director_mass, rigidity
from poinsot.errors import InputError
from poinsot.frames.directions import Charted, Generalised
from poinsot.frames.forms import WIDTH, Forms, stack
from poinsot.frames.twists import coordinates, velocities
from poinsot.parts.feedback import Inlet
from poinsot.parts.joints import Joint
from poinsot.ph.connections import Connection
from poinsot.ph.matrices import Vector, dense
from poinsot.ph.ports import Port
from poinsot.ph.system import State
from poinsot.systems.directors import DirectorSystem
from poinsot.systems.layout import Layout
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.start import given_twists


def free_body(body: Body, *, gravity: ArrayLike = (0.0, 0.0, 0.0)) -> DirectorSystem:
    """Return one body by itself as a system with the port `<name>.wrench` for all its forces.

    It starts where the body does, at the velocities given for it (zero where none are).
    """
    weight = np.zeros(WIDTH)
    weight[:3] = -body.mass * np.asarray(gravity, dtype=float)
    twist, _ = given_twists([body])
    q = coordinates(body.position[None], body.R_WP[None])
    return DirectorSystem(
        name=body.name,
        states=(
            State(f"{body.name}.q", WIDTH),
            State(f"{body.name}.v", WIDTH),
            State(f"{body.name}.rigidity", 6),
        ),
        ports=(Port(f"{body.name}.wrench", WIDTH),),
        mechanism=Mechanism(
            mass=director_mass([body]),
            constraints=Forms([rigidity(1)], 1),
            weight=weight,
            inlets=(Inlet(Generalised((0,)), WIDTH),),
        ),
        layout=Layout.of([body], {}),
        initial=np.concatenate([q, velocities(q, twist), np.zeros(6)]),
    )


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
    G = dense(_forms(joint).G(np.concatenate([q_a, q_b])))
    return -G[:, :WIDTH].T, G[:, WIDTH:].T


def external_ports(
    joint: Joint, q_a: Vector, q_b: Vector
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return B_A and B_B of the free directions: rate = -B_A^T v_A + B_B^T v_B; (12, freedoms)."""
    bodies = (joint.a.index, joint.b.index)
    columns = [
        Charted((0, 1), stack([f.among(bodies) for f in free.forms], 2), free.chart).B(
            np.concatenate([q_a, q_b])
        )
        for free in joint.freedoms()
    ]
    B = np.hstack(columns) if columns else np.zeros((2 * WIDTH, 0))
    return -B[:WIDTH], B[WIDTH:]


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
            if port.size != WIDTH:
                raise InputError(f"{self.joint.kind}: port {port} is not that of a body, size 12")

    def _q(self, xs: Sequence[Vector]) -> Vector:
        return np.concatenate([xs[0][:WIDTH], xs[1][:WIDTH]])

    def coupling(self, sizes: Sequence[int], xs: Sequence[Vector]) -> NDArray[np.float64]:
        """Return G^T at the two bodies' coordinates."""
        return dense(_forms(self.joint).G(self._q(xs))).T

    def coupling_tangent(self, sizes: Sequence[int], xs: Sequence[Vector]) -> NDArray[np.float64]:
        """Return the derivative of G^T with respect to both states."""
        forms = _forms(self.joint)
        slopes = np.stack([dense(forms.slope(unit)) for unit in np.eye(2 * WIDTH)], axis=2)
        tangent = np.zeros((2 * WIDTH, forms.m, xs[0].size + xs[1].size))
        # A is symmetric: d(G_ki)/dq_j = A_kij = (A_k e_j)_i.
        tangent[:, :, :WIDTH] = np.swapaxes(slopes[:, :, :WIDTH], 0, 1)
        tangent[:, :, xs[0].size : xs[0].size + WIDTH] = np.swapaxes(slopes[:, :, WIDTH:], 0, 1)
        return tangent

    @property
    def multipliers(self) -> int:
        """Number of locked directions."""
        return len(self.joint.rows())

    def matrices(
        self, C: NDArray[np.float64] | None, sizes: Sequence[int]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return K = 0 and N = -G^T."""
        N = np.zeros((2 * WIDTH, self.multipliers)) if C is None else -C
        return np.zeros((2 * WIDTH, 2 * WIDTH)), N
