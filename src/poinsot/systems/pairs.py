r"""A joint as a power-preserving interconnection of bodies [LKB26, sec. 4.3].

A free body is a port-Hamiltonian system with ports for all its generalised forces: input f in
R^12, output v. A joint ties two such ports by the transformer-like law [LKB26, eqs. (41)-(44)]

.. math:: f_A = B_A \lambda + B^{ext}_A e, \quad f_B = -B_B \lambda + B^{ext}_B e, \quad
          -B_A^\top v_A + B_B^\top v_B = 0

whose port matrices of the locked directions come from the joint's table: G = (-B_A^T, B_B^T). Its
free directions stay open as a port with inputs e, the outputs of which are the rates of the joint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.bodies.body import Body
from poinsot.errors import InputError
from poinsot.frames.directions import Charted, Direction, Generalised, RelativeTorque, Wrench
from poinsot.frames.places import WIDTH, of_frame
from poinsot.frames.stacks import Forms, stack
from poinsot.frames.twists import coordinates
from poinsot.parts.feedback import Inlet
from poinsot.parts.joint import Joint
from poinsot.parts.loads import ForcePort, TorquePort
from poinsot.ph.connections import Connection
from poinsot.ph.matrices import Vector, dense
from poinsot.ph.ports import Port
from poinsot.systems.directors import DirectorSystem, director_system
from poinsot.systems.layout import Layout
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.slender import with_spins
from poinsot.systems.start import given_twists


def free_body(
    body: Body,
    *,
    gravity: ArrayLike = (0.0, 0.0, 0.0),
    ports: Sequence[str] = ("wrench",),
    loads: Mapping[str, ArrayLike | None] | None = None,
    published: bool = False,
) -> DirectorSystem:
    """Return a single body as a system with ports for all its generalised forces.

    It starts at the position and velocities given for the body; missing velocities are zero.

    Parameters
    ----------
    body : Body
        A body of a model.
    gravity : (3,)
        Acceleration of gravity [m/s^2].
    ports : sequence of str
        Names of ports `<body>.<name>` with twelve inputs; every joint of the body needs one.
    loads : mapping
        Name -> point at the start [m], world axes (None: the centre of mass), of ports
        `<body>.<name>` with six inputs u = (F, tau): a force at the point [N] and a torque [N m] in
        world axes. Their outputs are the velocity of the point and the angular velocity.
    published : bool
        Whether loads act as in [LKB26, eq. (32)], see `ForcePort`.
    """
    if not body.turns:
        raise InputError(f"{body!r} has no port for generalised forces; add it to a Model instead")
    own = Generalised((0,))
    opened = [Port(f"{body.name}.{name}", own.size) for name in ports]
    inlets = [Inlet(own, own.size) for _ in opened]
    for name, point in (loads or {}).items():
        label = f"{body.name}.{name}"
        force = ForcePort(body, point, published=published).place(label, {})[1]
        torque = TorquePort(body, published=published).place(label, {})[1]
        line = Wrench((0,), force.direction, torque.direction)
        opened.append(Port(label, line.size))
        inlets.append(Inlet(line, line.size))
    inertia = with_spins(np.array([body.inertia]))
    mechanism = Mechanism.of([body], gravity, inertia=inertia, inlets=tuple(inlets))
    twist, _ = given_twists([body])
    q = coordinates(body.position[None], body.R_WP[None])
    system = director_system(body.name, mechanism, Layout.of([body], {}), tuple(opened), q, twist)
    assert isinstance(system, DirectorSystem)
    return system


def _bodies(joint: Joint) -> tuple[Body, ...]:
    """Return the bodies that a joint connects: one, if the other is the ground."""
    if joint.contact() is not None:
        raise InputError(
            f"{joint.kind}: contacts are not available as kinematic pairs; use a Model instead"
        )
    return tuple(end for end in joint.bodies if isinstance(end, Body))


def _forms(joint: Joint) -> Forms:
    """Return the joint's constraints on the coordinates of its bodies."""
    bodies = tuple(body.index for body in _bodies(joint))
    return stack([row.form.among(bodies) for row in joint.rows()], len(bodies))


def _free(joint: Joint) -> list[Direction]:
    """Return the free directions on the coordinates of its bodies.

    These are the coordinates of the joint and, if the relative rotation is entirely free, its three
    components.
    """
    bodies, freedoms = _bodies(joint), joint.freedoms()
    indices, own = tuple(body.index for body in bodies), tuple(range(len(bodies)))
    found: list[Direction] = [
        Charted(own, stack([f.among(indices) for f in free.forms], len(bodies)), free.chart)
        for free in freedoms
    ]
    turns = all(row.places for row in joint.rows()) and not any(f.rotates for f in freedoms)
    if turns:
        signs = tuple(1.0 if body is joint.bodies[1] else -1.0 for body in bodies)
        found.append(RelativeTorque(own, signs))
    return found


def _split(joint: Joint, B: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the rows of either body; of the ground they are zero."""
    parts = iter(np.vsplit(B, len(B) // WIDTH))
    a, b = (
        next(parts) if isinstance(end, Body) else np.zeros((WIDTH, B.shape[1]))
        for end in joint.bodies
    )
    return -a, b


def _coordinates(joint: Joint, q_a: Vector, q_b: Vector) -> Vector:
    there = zip(joint.bodies, (q_a, q_b), strict=True)
    return np.concatenate([q for end, q in there if isinstance(end, Body)])


def internal_ports(
    joint: Joint, q_a: Vector, q_b: Vector
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return B_A and B_B of the locked directions, G = (-B_A^T, B_B^T); shapes (12, rows)."""
    return _split(joint, dense(_forms(joint).G(_coordinates(joint, q_a, q_b))).T)


def external_ports(
    joint: Joint, q_a: Vector, q_b: Vector
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return B_A and B_B of the free directions: rate = -B_A^T v_A + B_B^T v_B; (12, freedoms)."""
    q = _coordinates(joint, q_a, q_b)
    return _split(joint, np.hstack([np.zeros((q.size, 0)), *(line.B(q) for line in _free(joint))]))


@dataclass(frozen=True, eq=False)
class KinematicPair(Connection):
    """A joint as an interconnection of free bodies, at ports with twelve inputs [LKB26, eq. (44)].

    A joint with the ground has one port. The free directions form an open port `name`, by default
    `free(<port>, ...)`: the coordinates of the joint in order, then the components of the relative
    rotation in world axes if it is entirely free. The states of the systems must begin with the
    coordinates q of the body.
    """

    joint: Joint
    port_a: str
    port_b: str | None = None
    name: str | None = None

    @property
    def ports(self) -> tuple[str, ...]:
        """The connected ports."""
        return (self.port_a,) if self.port_b is None else (self.port_a, self.port_b)

    def between(self, ports: Sequence[str]) -> Self:
        """Return the same joint between other ports."""
        return replace(self, port_a=ports[0], port_b=ports[1] if len(ports) > 1 else None)

    def check(self, ports: Sequence[Port]) -> None:
        """Raise `InputError` for ports that are not those of free bodies."""
        bodies = _bodies(self.joint)
        if len(ports) != len(bodies):
            raise InputError(
                f"{self.joint.kind} of {', '.join(body.name for body in bodies)}: {len(ports)} "
                f"ports for {len(bodies)} bodies; give one for each"
            )
        for port in ports:
            if port.size != Generalised.size:
                raise InputError(
                    f"{self.joint.kind}: port {port} is not that of a free body, with size 12"
                )

    def _q(self, xs: Sequence[Vector]) -> Vector:
        return np.concatenate([of_frame(x, 0) for x in xs])

    @cached_property
    def _locked(self) -> Forms:
        return _forms(self.joint)

    @cached_property
    def _left(self) -> list[Direction]:
        return _free(self.joint)

    @property
    def linear(self) -> bool:
        """False: it rotates with the bodies."""
        return False

    @property
    def modulated(self) -> bool:
        """True: it rotates with the bodies."""
        return True

    def coupling(self, sizes: Sequence[int], xs: Sequence[Vector]) -> NDArray[np.float64]:
        """Return G^T at the bodies' coordinates."""
        return dense(self._locked.G(self._q(xs))).T

    def coupling_tangent(self, sizes: Sequence[int], xs: Sequence[Vector]) -> NDArray[np.float64]:
        """Return the derivative of G^T with respect to the states."""
        forms = self._locked
        # A is symmetric: d(G_ki)/dq_j = A_kij = (A_k e_j)_i.
        slopes = np.stack([dense(forms.slope(unit)).T for unit in np.eye(forms.n)], axis=2)
        return self._by_states(slopes, xs)

    def _by_states(self, by_q: NDArray[np.float64], xs: Sequence[Vector]) -> NDArray[np.float64]:
        """Return a derivative by coordinates as one by states, which begin with these."""
        firsts = np.cumsum([0, *(x.size for x in xs)])
        total = np.zeros((*by_q.shape[:2], firsts[-1]))
        for k, first in enumerate(firsts[:-1]):
            of_frame(total[:, :, first:], 0)[:] = of_frame(by_q, k)
        return total

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

    def left_open(self, ports: Sequence[Port]) -> Port | None:
        """Return the port of the free directions; None: there are none."""
        size = sum(line.B(self._start).shape[1] for line in self._left)
        if not size:
            return None
        return Port(self.name or f"free({', '.join(self.ports)})", size)

    @property
    def _start(self) -> Vector:
        bodies = _bodies(self.joint)
        places = np.array([body.position for body in bodies])
        return coordinates(places, np.array([body.R_WP for body in bodies]))

    def opening(self, sizes: Sequence[int], xs: Sequence[Vector]) -> NDArray[np.float64]:
        """Return (-B_A; B_B) of the free directions."""
        return np.hstack([line.B(self._q(xs)) for line in self._left])

    def opening_tangent(self, sizes: Sequence[int], xs: Sequence[Vector]) -> NDArray[np.float64]:
        """Return its derivative with respect to the states."""
        q = self._q(xs)
        columns = [line.dB(q, unit) for line in self._left for unit in np.eye(line.B(q).shape[1])]
        return self._by_states(np.stack(columns, axis=1), xs)
