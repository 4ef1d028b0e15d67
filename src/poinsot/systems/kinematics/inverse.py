r"""Inverse dynamics: forces of ports and joints for a given motion of joint coordinates.

With the motions P that joints allow,

.. math:: P^\top \bigl(M \ddot f + \nabla V + d(f, \dot f)\bigr) + K^\top \lambda
          = P^\top B\, u + P^\top B_a\, \tau

is solved for the forces tau of the actuators and the multipliers lambda of joints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poinsot.errors import InputError, did_you_mean
from poinsot.parts.coordinates import Coordinate
from poinsot.parts.feedback import Inlet
from poinsot.ph.dependence import row_lengths
from poinsot.ph.matrices import Array, Vector, dense
from poinsot.ph.ports import Port
from poinsot.ph.signals import Table as Signal
from poinsot.result import BodyRecord, JointRecord, Observation
from poinsot.result.history import History
from poinsot.result.records import Coordinates
from poinsot.result.store import Column, Table
from poinsot.systems.directors import DirectorSystem
from poinsot.systems.kinematics.driving import LISTED, Driving, null_space
from poinsot.systems.kinematics.rotors import Rotor
from poinsot.systems.kinematics.trajectories import trajectory
from poinsot.systems.statics.equilibrium import Reaction
from poinsot.systems.statics.rest import REPEATED
from poinsot.systems.statics.search import movers

#: Force that ports cannot balance, as a part of the terms, which is too much.
TOLERANCE = 1e-8
#: How often the friction of transmissions follows from their loads at most, and what is settled.
ROUNDS, SETTLED = 50, 1e-13


@dataclass(frozen=True, eq=False)
class InverseDynamics:
    """Result of `Model.inverse_dynamics`: forces of ports, joint forces, and motions of all bodies.

    Attributes
    ----------
    system : DirectorSystem
        The mechanism.
    time : (n,)
        The requested times [s].
    forces : mapping
        Port or joint -> torque [N m] or force [N]; (n,), or (n, size) for vector ports. Drives and
        transmissions of the model are included.
    powers : mapping
        Port or joint -> power supplied [W]; (n,).
    unique : bool
        False: there are more actuators than degrees of freedom, and these are the smallest forces.
    states, turned : (n, ...), (n, angles)
        States of the system with the multipliers of joints, and angles over full turns [rad].
    """

    system: DirectorSystem
    time: Vector
    forces: Mapping[str, Array]
    powers: Mapping[str, Vector]
    unique: bool
    states: Array
    turned: Array

    def __repr__(self) -> str:
        """Return one line of text."""
        return (
            f"<InverseDynamics of '{self.system.name}': {self.time.size} times, "
            f"{', '.join(map(repr, self.forces))}>"
        )

    def _named(self, name: str, known: Mapping[str, Any], what: str) -> Any:
        if name not in known:
            raise InputError(f"no {what} '{name}'; {did_you_mean(name, known)}")
        return known[name]

    def force(self, name: str) -> Array:
        """Return the torque [N m] or force [N] of a port or joint; (n,) or (n, size)."""
        found: Array = self._named(name, self.forces, "port or joint that acts")
        return found

    def power(self, name: str) -> Vector:
        """Return the power supplied by a port or joint [W]; (n,)."""
        found: Vector = self._named(name, self.powers, "port or joint that acts")
        return found

    def signal(self, name: str) -> Signal:
        """Return a force as an input for `simulate`, linear between the times."""
        return Signal(self.time, self.force(name))

    @cached_property
    def _observed(self) -> Observation:
        """Records of steps of length zero, one at each time."""
        n, turned = self.states.shape[1], self.turned.shape[1]
        shapes = {"x": (n,), "stage_x": (n,), "turned": (turned,), "time": (), "stage_time": ()}
        table = Table({name: Column(shape) for name, shape in shapes.items()}, 2 * self.time.size)
        for k, (x, angles) in enumerate(zip(self.states, self.turned, strict=True)):
            row = {"x": x, "stage_x": x, "turned": angles}
            table.append({**row, "time": 2.0 * k, "stage_time": 2.0 * k - 0.5})
            table.append({**row, "time": 2.0 * k + 1, "stage_time": 2.0 * k + 0.5})
        history = History(table, 2 * self.time.size, origin=self.system.start)
        return self.system.observer().observe(history)

    def _body(self, name: str) -> BodyRecord:
        known = {**self._observed.markers, **self._observed.bodies}
        found: BodyRecord = self._named(name, known, "body or marker")
        return found

    def position(self, body: str) -> Array:
        """Return the position of a body or marker [m], world axes; (n, 3)."""
        return np.asarray(self._body(body).position[1::2])

    def rotation(self, body: str) -> Array:
        """Return the rotation matrix R_WB of a body or marker; (n, 3, 3)."""
        return np.asarray(self._body(body).rotation[1::2])

    def velocity(self, body: str) -> Array:
        """Return the velocity of a body or marker [m/s], world axes; (n, 3)."""
        return np.asarray(self._body(body).velocity[1::2])

    def angular_velocity(self, body: str) -> Array:
        """Return the angular velocity of a body or marker [rad/s], world axes; (n, 3)."""
        return np.asarray(self._body(body).angular_velocity[1::2])

    def joint(self, name: str) -> JointRecord:
        """Return coordinates, rates and reactions of a joint at the requested times."""
        seen: JointRecord = self._named(name, self._observed.joints, "joint")

        def at_times(of: Mapping[str, Array]) -> Coordinates:
            return Coordinates(name, {label: values[1::2] for label, values in of.items()})

        return replace(
            seen,
            time=self.time,
            midpoint=self.time,
            coordinates=at_times(seen.coordinates),
            rates=at_times(seen.rates),
            rotation=seen.rotation[1::2],
            force=seen.force[::2],
            torque=seen.torque[::2],
            force_a=seen.force_a[::2],
            torque_a=seen.torque_a[::2],
        )

    def reaction(self, joint: str) -> Reaction:
        """Return force [N] and torque [N m] of a joint at its point, world axes; (n, 3) each."""
        seen = self.joint(joint)
        return Reaction(seen.force, seen.torque, seen.force_a, seen.torque_a, seen.complete)


@dataclass(frozen=True, eq=False)
class Actuators:
    """Acting ports by name, and their places among all inputs."""

    ranges: Mapping[str, slice]

    @property
    def columns(self) -> list[int]:
        """Their inputs, one after the other."""
        return [k for own in self.ranges.values() for k in range(own.start, own.stop)]

    def split(self, values: Array) -> dict[str, Array]:
        """Return columns (n, inputs) by name; (n,) of ports of size one."""
        found, first = {}, 0
        for name, own in self.ranges.items():
            last = first + own.stop - own.start
            found[name] = values[:, first] if last == first + 1 else values[:, first:last]
            first = last
        return found


def inverse_dynamics(
    system: DirectorSystem,
    coordinates: Mapping[str, Coordinate],
    motion: Mapping[str, Any],
    times: ArrayLike,
    acting: Mapping[str, tuple[Port, Inlet] | None],
    others: Sequence[str],
    rotors: Sequence[Rotor] = (),
) -> InverseDynamics:
    """Return forces and joint forces of a motion; see `Model.inverse_dynamics`.

    `acting` names the acting ports, with port and inlet of those that the system does not have;
    `others` are all existing coordinates, `rotors` are those on joint coordinates.
    """
    what = "inverse_dynamics"
    time = np.atleast_1d(np.asarray(times, dtype=float))
    if time.ndim != 1 or not time.size or not np.all(np.isfinite(time)):
        raise InputError(f"{what}: times must be a number or a list of numbers, got {times!r}")
    span = float(np.ptp(time)) or 1.0
    extra = {name: placed for name, placed in acting.items() if placed is not None}
    ranges, first = dict(system.port_slices), sum(port.size for port in system.ports)
    for name, (port, _) in extra.items():
        ranges[name] = slice(first, first + port.size)
        first += port.size
    actuators = Actuators({name: ranges[name] for name in acting})
    inlets = [inlet for _, inlet in extra.values()]
    driving = Driving.of(system, coordinates, what, inlets)
    driving.require_determined(others)
    motions = {name: trajectory(motion[name], span, f"{what}: '{name}'") for name in motion}
    driving = driving.along(motions, span)
    known, found = np.zeros(driving.place.u.size), []
    for t in time.tolist():
        u = system.u(t)
        known[: u.size] = u
        driving = driving.at(t, known.copy())
        found.append(_required(driving, actuators, system, rotors))
    states, turned, forces, powers, held = (np.array(each) for each in zip(*found, strict=True))
    freedoms, drives = int(driving.free.shape[1]), system.mechanism.drives
    names = [driven.name for driven in drives]
    by_drives = dict(zip(names, held[:, 0].T, strict=True))
    put_in = {
        name: each.reshape(time.size, -1).sum(axis=1)
        for name, each in actuators.split(powers).items()
    }
    return InverseDynamics(
        system,
        time,
        {**actuators.split(forces), **by_drives},
        {**put_in, **dict(zip(names, held[:, 1].T, strict=True))},
        len(actuators.columns) <= freedoms,
        states,
        turned,
    )


def _required(
    driving: Driving, actuators: Actuators, system: DirectorSystem, rotors: Sequence[Rotor]
) -> tuple[Vector, Vector, Vector, Vector, Array]:
    """Return state and angles at a place, forces of ports, their power, and both of drives."""
    at, held, D = driving.moving, driving.place.held, driving.place.sizes
    acceleration = driving.accelerations[1]
    P, (left, terms) = at.P, at.forces()
    inertial = P.T @ (held.mass * acceleration)
    for rotor in rotors:
        inertial += rotor.inertia * rotor.acceleration(at, acceleration) * rotor.row(at)
    force, terms = (left + inertial) * D, (terms + abs(inertial)) * D
    B = dense(P.T @ held.B(at.f))[:, actuators.columns] * D[:, None]
    m = held.m - len(driving.names)
    # Rows of the given motion have ports instead of multipliers.
    K = dense(at.rows())[:m] * D
    lam, loss, by_lam = np.zeros(held.m), np.zeros(D.size), np.zeros((D.size, m))
    for _ in range(ROUNDS):
        columns = K.T + by_lam
        tau, mu = _split(columns, B, force + loss - by_lam @ lam[:m], terms, driving)
        settled = np.max(abs(mu - lam[:m]), initial=0.0) <= SETTLED * np.max(abs(mu), initial=0.0)
        lam[:m] = mu
        losses = held.losses(at.f, at.rates, lam)
        if losses is None or settled:
            break
        loss = (P.T @ losses.force) * D
        by_lam = dense(P.T @ losses.by_lam)[:, :m] * D[:, None]
    x = system.state_at(at.f, at.twists.full(driving.twists))
    x[x.size - m :] = held.smallest(at.f, lam)[:m]
    rates = (driving.twists / D) @ B
    pulls = -lam[m - len(system.mechanism.drives) : m]
    drawn = pulls * driving.rates[: pulls.size]
    return x, at.turned, tau, tau * rates, np.array([pulls, drawn])


def _split(
    columns: Array, B: Array, force: Vector, terms: Vector, driving: Driving
) -> tuple[Vector, Vector]:
    """Return forces of ports and multipliers with force + columns lam = B tau."""
    lengths = row_lengths(columns.T)
    lengths[lengths == 0] = 1.0
    A = columns / lengths
    Z = null_space(A.T)
    on, wanted = Z.T @ B, Z.T @ force
    sizes = np.linalg.norm(B, axis=0)
    sizes[sizes == 0] = 1.0
    tau = np.linalg.lstsq(on / sizes, wanted, rcond=REPEATED)[0] / sizes
    short = wanted - on @ tau
    largest = float(np.max(terms, initial=0.0)) + float(np.max(abs(B) @ abs(tau), initial=0.0))
    if np.max(abs(short), initial=0.0) > TOLERANCE * largest:
        moving = movers(driving.place, Z @ short)
        names = ", ".join(map(repr, moving[:LISTED]))
        raise InputError(
            f"{driving.what}: the actuators cannot produce this motion at t = "
            f"{driving.place.t:g} s: no force balances {names}; add an actuator there by by=[...], "
            "or avoid dead centres"
        )
    lam = np.linalg.lstsq(A, B @ tau - force, rcond=REPEATED)[0] / lengths
    return tau, lam
