r"""Steady motions as relative equilibria: motions that are constant in a moving frame.

The frame rotates at the rate :math:`\Omega = \dot\vartheta\, a` about an axis through a point c,
and moves with a velocity V. Bodies are at rest in it, except for spins about axes of symmetry:

.. math::

    v = V + \Omega \times (r - c), \qquad \omega = \Omega + s\, e, \qquad
    \dot p = \Omega \times p, \qquad \dot L = \Omega \times L .

Forces are then in balance, Z^T grad V + K^T lambda + (p', L') = B u, and velocities satisfy the
constraints, K t = 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from poinsot.analysis.equilibria import as_system
from poinsot.analysis.relative import Field, Fields, Relative, Screw, require_possible
from poinsot.analysis.steady_frames import SteadyFrame
from poinsot.analysis.turning import Turning, TurningPlace
from poinsot.errors import InputError, NoEquilibriumError, did_you_mean
from poinsot.frames.places import frame_vectors
from poinsot.inputs import named, number, numbers, unit3, vector3
from poinsot.model import Model
from poinsot.ph.interconnect import feed
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.signals import Signal
from poinsot.ph.system import PHSystem
from poinsot.systems.form import MechanismForm
from poinsot.systems.livens import LagrangianSystem
from poinsot.systems.mechanical import MechanicalForm
from poinsot.systems.quaternions.systems import QuaternionForm
from poinsot.systems.statics.coordinates import CoordinatePlace
from poinsot.systems.statics.equilibrium import Balanced, with_multipliers
from poinsot.systems.statics.floating import FloatingPlace
from poinsot.systems.statics.frames import Framed
from poinsot.systems.statics.places import closed_place, require_undriven
from poinsot.systems.statics.search import find_rest, movers

#: Moments of inertia are the same up to this part of them.
SAME = 1e-9
#: Largest change of a configuration in an iteration; what is left at best, and at most.
STRIDE, SMALL, TOLERANCE = 0.3, 3e-15, 1e-8
ITERATIONS, HALVINGS = 100, 25
#: A motion is looked at again after this part of its size; forces that change by less stay.
LATER, CHANGED = 0.7, 1e-6
#: Singular values of the equations that count as zero: motions along the symmetry itself.
CUT = 1e-10

#: What is looked for.
Moving = TypeVar("Moving", Turning, Relative)


@dataclass(frozen=True, eq=False)
class SteadyMotion(Balanced):
    """A motion that is constant in a moving frame; result of `steady_motion`.

    `ps.simulate(s.system, x0=s.x, angles=s.angles, inputs=...)` follows it.

    Attributes
    ----------
    axis, point : (3,)
        Axis of rotation of the frame: direction and a point [m], world axes.
    rate : float
        Rate of rotation [rad/s].
    velocity : (3,)
        Velocity of the point [m/s].
    spins : mapping
        Body -> spin relative to the frame [rad/s], world axes; (3,).
    rates : mapping
        Coordinate or field -> rate, for systems in generalised coordinates.
    x_rate : (n,)
        Rate of the state x.
    symmetry : Fields
        Symmetry fields of such a system.
    """

    axis: Vector = field(default_factory=lambda: np.zeros(3))
    point: Vector = field(default_factory=lambda: np.zeros(3))
    rate: float = 0.0
    velocity: Vector = field(default_factory=lambda: np.zeros(3))
    spins: Mapping[str, Vector] = field(default_factory=dict)
    rates: Mapping[str, float] = field(default_factory=dict)
    x_rate: Vector = field(default_factory=lambda: np.zeros(0))
    symmetry: Fields | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        """Return one line of text."""
        spins = [
            f"'{name}' spins at {np.linalg.norm(s):.6g} rad/s" for name, s in self.spins.items()
        ]
        spins += [f"'{name}' moves at {rate:.6g}/s" for name, rate in self.rates.items()]
        moving = np.linalg.norm(self.velocity)
        turns = self.rate or not (moving or self.rates)
        parts = [f"turns at {self.rate:.6g} rad/s"] if turns else []
        parts += [f"moves at {moving:.6g} m/s"] if moving else []
        told = ", ".join([*parts, *spins, f"residual {self.residual:.1e}"])
        return f"<SteadyMotion of '{self.system.name}': {told}>"


def steady_motion(
    model: Model | LagrangianSystem | PHSystem,
    *,
    axis: ArrayLike = (0.0, 0.0, 1.0),
    point: ArrayLike = (0.0, 0.0, 0.0),
    rate: float | None = 0.0,
    velocity: ArrayLike = (0.0, 0.0, 0.0),
    spins: Mapping[str, float | ArrayLike | None] | None = None,
    rates: Mapping[str, Any] | None = None,
    guess: float = 1.0,
    coordinates: str | None = None,
    x0: ArrayLike | Mapping[str, ArrayLike] | None = None,
    inputs: Mapping[str, Signal | ArrayLike] | None = None,
    t: float = 0.0,
    stable: bool = True,
) -> SteadyMotion:
    """Return a steady motion, which is constant in a moving frame.

    A mechanism rotates about an axis, translates and spins, with constant deformations of elastic
    bodies. A Lagrangian or redundant system moves along cyclic coordinates.

    If all rates are given, the configuration is computed, beginning from the start. If some rates
    are None, these rates are computed for the configuration of the start. Without spins and
    contacts, inertial forces have a potential: the configuration is then a minimum, as for an
    equilibrium, so that the motion is stable. Otherwise it is the nearest one in balance.

    Parameters
    ----------
    model : Model, LagrangianSystem or PHSystem
        A mechanism, or a mechanical system in generalised coordinates.
    axis, point : (3,)
        Axis of rotation: direction and a point [m], world axes.
    rate : float or None
        Rate of rotation [rad/s].
    velocity : (3,)
        Velocity of the point [m/s].
    spins : mapping
        Body -> additional rate about the axis of symmetry of its inertia [rad/s], with the sense of
        the nearest axis of its shape; None: to be computed. For a sphere, give a vector (3,) in its
        own axes.
    rates : mapping
        For systems in generalised coordinates: coordinate -> its constant rate, or None: to be
        computed; or any name -> (field, rate), which moves several coordinates, such as those of a
        rotation matrix, by a matrix (n, n) or a function zeta -> (n,). All others are constant.
    guess : float
        Initial guess of rates that are computed [rad/s]; there may be several solutions.
    coordinates : str
        Coordinates of the state, see `Model.compile`.
    x0 : array or mapping
        State with the initial configuration; its velocities are ignored.
    inputs : mapping
        Port name -> constant, or function that is evaluated at time t [s].
    stable : bool
        Without spins and contacts, True: find a stable motion. False: take the nearest one.

    Raises
    ------
    NoEquilibriumError
        If none is found. It has the remaining force and names the bodies that it moves.
    """
    system = as_system(model, coordinates)
    if not isinstance(system, MechanicalForm):
        raise InputError(
            f"steady_motion: system '{system.name}' is not mechanical; give a Model, its compiled "
            "system, a LagrangianSystem or a RedundantSystem"
        )
    for port, signal in named(inputs, "inputs", "{'motor': 2.0}").items():
        system = feed(system, port, signal)
    assert isinstance(system, MechanicalForm)
    bodies = isinstance(system, MechanismForm | QuaternionForm)
    if bodies == bool(rates) and (rates is None) != bodies:
        raise InputError(
            "steady_motion: "
            + (
                "rates of coordinates are for systems in coordinates of their own; a model has "
                "an axis, a rate and spins"
                if bodies
                else f"system '{system.name}' has no bodies; give the rates of the coordinates "
                "that move, as in rates={'phi': 3.0}"
            )
        )
    require_undriven(system)
    _require_no_transmissions(system)
    place = closed_place(system, system.state({} if x0 is None else x0), t)
    guess = float(number(guess, "guess"))
    what = f"steady motion of system '{system.name}'"
    if not isinstance(system, MechanismForm | QuaternionForm):
        assert isinstance(place, CoordinatePlace)
        fields, unknown = _fields(place, rates or {}, guess)
        return _relative(Relative(place, fields), unknown, what, tuple(rates or {}))
    unknown = [0] if rate is None else []
    amounts, axes = np.zeros(len(system.layout.bodies)), np.zeros((len(system.layout.bodies), 3))
    for name, spin in (spins or {}).items():
        if name not in system.layout.bodies:
            raise InputError(f"spins: no body '{name}'; {did_you_mean(name, system.layout.bodies)}")
        body = system.layout.bodies.index(name)
        amounts[body], axes[body] = _spin(system, body, name, guess if spin is None else spin)
        unknown += [1 + body] if spin is None else []
    line = unit3(axis, "axis"), vector3(point, "point"), vector3(velocity, "velocity")
    first = guess if rate is None else number(rate, "rate")
    if isinstance(place, CoordinatePlace):
        screw = Screw(np.append(first, amounts), *line, axes)
        return _relative(Relative(place, screw), unknown, what, tuple(spins or {}))
    frame = Turning(place, *line, first, amounts, axes)
    if stable and not unknown and not spins and place.held.holonomic:
        frame = _lowest(frame, what)
    found, lam, residual = _solve(frame, unknown, what)
    near, at, twists = system.near(found.place.turned), found.moving, found.twists.reshape(-1)
    assert isinstance(near, MechanismForm | QuaternionForm)
    change = near.rate_at(at.f, twists, found.accelerations)
    x = near.state_at(at.f, twists)
    x = with_multipliers(near, x, change, t, at.held.smallest(at.f, lam))
    turning = found.frame
    return SteadyMotion(
        system,
        x,
        at.inputs,
        residual,
        found.place.angles,
        found.axis,
        found.point,
        found.rate,
        found.velocity,
        _named(system, frame_vectors(at.f), turning, spins or {}),
        x_rate=change,
    )


def _require_no_transmissions(system: MechanicalForm) -> None:
    """Refuse transmissions, whose angles increase in a steady motion."""
    if not isinstance(system, MechanismForm | QuaternionForm):
        return
    for driven in system.mechanism.drives:
        raise InputError(
            f"system '{system.name}': steady motions are not available for models with "
            f"transmissions ('{driven.name}'); simulate it, or use ps.analysis.periodic_motion"
        )


def _named(system: Framed, q: Array, frame: SteadyFrame, spins: Iterable[str]) -> dict[str, Vector]:
    """Return spins of bodies in world axes, by name."""
    amounts = np.einsum("bi,bij->bj", frame.spins, q[:, 1:])
    return {name: amounts[system.layout.bodies.index(name)] for name in spins}


def _fields(
    place: CoordinatePlace, rates: Mapping[str, Any], guess: float
) -> tuple[Fields, list[int]]:
    """Return the fields that a user gives with their rates, and which rates are looked for."""
    n, fields, amounts, unknown = place.zeta.size, list[Field](), list[float](), list[int]()
    labels = list(place.coordinates)
    for name, given in rates.items():
        field, amount = given if isinstance(given, tuple) and len(given) == 2 else (None, given)
        if field is None:
            if name not in labels:
                raise InputError(
                    f"rates: system '{place.system.name}' has no coordinate '{name}'; "
                    f"{did_you_mean(name, labels)}, or give a pair (field, rate)"
                )
            along = np.eye(n)[labels.index(name)]
            fields.append(Field(partial(_constant, along), np.zeros((n, n))))
        elif callable(field):
            fields.append(Field(field))
        else:
            matrix = numbers(field, f"rates: the field '{name}'")
            if matrix.shape != (n, n):
                raise InputError(
                    f"rates: the field '{name}' has shape {matrix.shape}, expected {(n, n)}: what "
                    "rates of coordinates are of these"
                )
            fields.append(Field(partial(np.matmul, matrix), matrix))
        moves = numbers(fields[-1].value(place.zeta), f"rates: the field '{name}'").reshape(-1)
        if moves.size != n:
            raise InputError(
                f"rates: the field '{name}' returns {moves.size} numbers, expected {n}"
            )
        require_possible(place, name, moves)
        unknown += [len(amounts)] if amount is None else []
        amounts.append(guess if amount is None else number(amount, f"rates: '{name}'"))
    return Fields(np.array(amounts, dtype=float), tuple(fields)), unknown


def _constant(along: Vector, zeta: Vector) -> Vector:
    return along


def _relative(
    start: Relative, unknown: list[int], what: str, names: tuple[str, ...]
) -> SteadyMotion:
    """Return a steady motion in coordinates of the system's own."""
    found, lam, residual = _solve(start, unknown, what)
    place, symmetry, (x, rate) = found.place, found.symmetry, found.moving
    x[x.size - lam.size :] = place.smallest(lam)
    known = start.place.system, x, found.inputs, residual, place.angles
    if isinstance(symmetry, Fields):
        own = dict(zip(names, symmetry.rates.tolist(), strict=True))
        return SteadyMotion(*known, rates=own, x_rate=rate, symmetry=symmetry)
    assert isinstance(symmetry, Screw)
    assert isinstance(place, FloatingPlace)
    q = frame_vectors(place.system.bodies.directors(place.zeta))
    return SteadyMotion(
        *known,
        symmetry.axis,
        symmetry.point,
        float(symmetry.rates[0]),
        symmetry.velocity,
        _named(place.system, q, symmetry.frame, names),
        x_rate=rate,
    )


def _lowest(frame: Turning, what: str) -> Turning:
    """Return where the potential is least; as it was if it has no end, as that of a free body."""
    try:
        rest = find_rest(TurningPlace.along(frame).at(frame.place.f), stable=True, what=what)
    except NoEquilibriumError:
        return frame
    assert isinstance(rest.place, TurningPlace)
    return rest.place.frame


def _spin(system: Framed, body: int, name: str, spin: float | ArrayLike) -> tuple[float, Vector]:
    """Return how fast a body spins, and about which of its principal axes (3,)."""
    J, R_BP = system.mechanism.held.moments[body], system.layout.R_BP[body]
    if not system.mechanism.unknowns.turns[body]:
        raise InputError(
            f"spins: body '{name}' is a point mass, which has no rotation; leave it out"
        )
    for elastic in system.mechanism.elastic:
        if elastic.frame <= body < elastic.first + len(elastic.data.points):
            raise InputError(
                f"spins: body '{name}' is elastic and has no axis of symmetry to spin about; use "
                "rate to rotate the whole mechanism"
            )
    same = [k for k in range(3) if abs(np.diff(np.delete(J, k))[0]) <= SAME * J.max()]
    if not isinstance(spin, float | int):
        vector = R_BP.T @ vector3(spin, f"spins: '{name}'")
        amount = float(np.linalg.norm(vector))
        e = vector / amount if amount else np.eye(3)[2]
        if np.linalg.norm(np.cross(e, J * e)) <= SAME * J.max() and (
            len(same) == 3 or any(abs(e[k]) > 1 - SAME for k in same)
        ):
            return amount, e
    elif len(same) == 1:
        (k,) = same
        column = R_BP[:, k]
        sign = np.sign(column[np.argmax(abs(column))])
        return number(spin, f"spins: '{name}'"), sign * np.eye(3)[k]
    what = (
        "no axis of symmetry that it could spin about"
        if not same
        else ("many axes of symmetry; give its spin as a vector in its own axes")
    )
    raise InputError(f"spins: body '{name}' has {what}; its moments are {J.tolist()} kg m^2")


def _shortest(A: Array, b: Vector) -> Vector:
    """Return the least-squares solution of A y = b, the shortest in units that suit columns."""
    columns = np.linalg.norm(A, axis=0)
    columns[columns == 0] = 1.0
    return np.asarray(np.linalg.lstsq(A / columns, b, rcond=CUT)[0] / columns)


def _solve(frame: Moving, rates: list[int], what: str) -> tuple[Moving, Vector, float]:
    """Return the motion in which all is in balance, its multipliers, and what is left over.

    Gauss-Newton: of the many solutions that differ by the symmetry, the nearest one.
    """
    held, k = bool(rates) and not isinstance(frame.place, FloatingPlace), frame.place.sizes.size
    lam = _balancing(frame)

    def norm(of: Moving, multipliers: Vector, sizes: Vector) -> float:
        return float(np.linalg.norm(of.residual(multipliers) / sizes))

    for _ in range(ITERATIONS):
        residual, sizes, D = frame.residual(lam), frame.sizes(lam), frame.place.sizes
        if np.max(abs(residual) / sizes, initial=0.0) <= SMALL:
            break
        A = frame.jacobian(lam, rates) / sizes[:, None]
        A[:, :k] *= 0.0 if held else D
        step = _shortest(A, -residual / sizes)
        w, change, dlam = np.split(step, [k, k + len(rates)])
        longest = np.max(abs(w), initial=0.0)
        scale, before = min(1.0, STRIDE / longest) if longest else 1.0, norm(frame, lam, sizes)
        for _ in range(HALVINGS):
            motion = None if held else scale * D * w
            there = frame.after(motion, rates, scale * change)
            if norm(there, lam + scale * dlam, sizes) <= (1 - 1e-4 * scale) * before:
                break
            scale /= 2
        else:
            break
        frame, lam = there, lam + scale * dlam
    worst = frame.residual(lam) / frame.sizes(lam)
    left = float(np.max(abs(worst), initial=0.0))
    if not left <= TOLERANCE:
        names = movers(frame.place, worst[:k])
        rest = ", ".join(f"'{name}'" for name in names[:6])
        raise NoEquilibriumError(
            f"no {what} found: forces, joints or velocities stay unbalanced by {left:.3g} of their "
            f"magnitude, most at {rest}; give other rates, or start closer to the desired motion",
            residual=left,
            moving=names,
        )
    _require_lasting(frame, what)
    return frame, lam, left


def _balancing(frame: Turning | Relative) -> Vector:
    """Return the multipliers that balance forces best; (m,)."""
    (F, _, K), D = frame.equations, frame.place.sizes
    return _shortest(D[:, None] * K.T, -D * F)


def _require_lasting(frame: Turning | Relative, what: str) -> None:
    """Refuse a motion that is in balance now, and not after it has moved on."""
    if not frame.pace:
        return
    later = frame.later(LATER / frame.pace)
    lam = _balancing(later)
    worst = later.residual(lam) / later.sizes(lam)
    left = float(np.max(abs(worst), initial=0.0))
    if left > CHANGED:
        names = movers(frame.place, worst[: frame.place.sizes.size])
        raise NoEquilibriumError(
            f"no {what} found: it is in balance at its present position, but not along its motion: "
            f"the force on '{names[0]}' changes by {left:.3g} of its magnitude; gravity, inputs "
            "and supports must be constant along the motion",
            residual=left,
            moving=names,
        )
