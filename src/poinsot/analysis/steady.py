r"""Steady motions as relative equilibria: what moves looks the same from a frame that moves along.

The frame turns at the rate :math:`\Omega = \dot\vartheta\, a` about an axis through a point c, and
moves with a velocity V. Bodies stand still in it, but for spins about their axes of symmetry:

.. math::

    v = V + \Omega \times (r - c), \qquad \omega = \Omega + s\, e, \qquad
    \dot p = \Omega \times p, \qquad \dot L = \Omega \times L .

With these, what acts on bodies is in balance, Z^T grad V + K^T lambda + (p', L') = B u, and
velocities suit the joints and contacts, K t = 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from poinsot.analysis.equilibria import as_system
from poinsot.analysis.turning import Turning, TurningPlace
from poinsot.errors import InputError, NoEquilibriumError, did_you_mean
from poinsot.inputs import number, unit3, vector3
from poinsot.model import Model
from poinsot.ph.interconnect import feed
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.signals import Signal
from poinsot.systems.form import MechanismForm
from poinsot.systems.quaternions.systems import QuaternionForm
from poinsot.systems.statics.equilibrium import Balanced, with_multipliers
from poinsot.systems.statics.frames import Framed, FramePlace
from poinsot.systems.statics.places import closed_place
from poinsot.systems.statics.search import find_rest, movers

#: Moments of inertia are the same up to this part of them.
SAME = 1e-9
#: Largest change of a configuration in an iteration; what is left at best, and at most.
STRIDE, SMALL, TOLERANCE = 0.3, 3e-15, 1e-8
ITERATIONS, HALVINGS = 100, 25
#: Singular values of the equations that count as zero: motions along the symmetry itself.
CUT = 1e-10


@dataclass(frozen=True, eq=False)
class SteadyMotion(Balanced):
    """A motion that looks the same at all times from a frame that moves along.

    `ps.simulate(s.system, x0=s.x, angles=s.angles, inputs=...)` follows it.

    Parameters
    ----------
    axis, point : (3,)
        What the frame turns about, world axes [m].
    rate : float
        How fast it turns [rad/s].
    velocity : (3,)
        How fast the point moves [m/s].
    spins : mapping
        Body -> spin relative to the frame (3,) [rad/s], world axes.
    x_rate : (n,)
        The rate of the state x.
    """

    axis: Vector = field(default_factory=lambda: np.zeros(3))
    point: Vector = field(default_factory=lambda: np.zeros(3))
    rate: float = 0.0
    velocity: Vector = field(default_factory=lambda: np.zeros(3))
    spins: Mapping[str, Vector] = field(default_factory=dict)
    x_rate: Vector = field(default_factory=lambda: np.zeros(0))

    def __repr__(self) -> str:
        """One line."""
        spins = [
            f"'{name}' spins at {np.linalg.norm(s):.6g} rad/s" for name, s in self.spins.items()
        ]
        moving = np.linalg.norm(self.velocity)
        parts = [f"turns at {self.rate:.6g} rad/s"] if self.rate or not moving else []
        parts += [f"moves at {moving:.6g} m/s"] if moving else []
        told = ", ".join([*parts, *spins, f"residual {self.residual:.1e}"])
        return f"<SteadyMotion of '{self.system.name}': {told}>"


def steady_motion(
    model: Model | Framed,
    *,
    axis: ArrayLike = (0.0, 0.0, 1.0),
    point: ArrayLike = (0.0, 0.0, 0.0),
    rate: float | None = 0.0,
    velocity: ArrayLike = (0.0, 0.0, 0.0),
    spins: Mapping[str, float | ArrayLike | None] | None = None,
    guess: float = 1.0,
    coordinates: str | None = None,
    x0: ArrayLike | Mapping[str, ArrayLike] | None = None,
    inputs: Mapping[str, Signal | ArrayLike] | None = None,
    t: float = 0.0,
    stable: bool = True,
) -> SteadyMotion:
    """Return a steady motion of a mechanism: it turns about an axis, moves along, and spins.

    If all rates are given, the configuration is found, from the start on. Rates that are None are
    found instead, and the configuration stays as it is.

    Without spins and contacts, inertial forces have a potential as well: then the configuration
    goes down to where it is least, like an equilibrium, so that the motion is stable. Otherwise it
    is the nearest one in balance.

    Parameters
    ----------
    model : Model or system of one
        The mechanism.
    axis, point : (3,)
        What everything turns about: a direction, and a point [m] of it, world axes.
    rate : float or None
        How fast [rad/s].
    velocity : (3,)
        What the point moves with [m/s].
    spins : mapping
        Body -> rate at which it spins besides [rad/s], about the axis of symmetry of its inertia,
        in the sense of the axis of its shape that this is nearest to; None: to be found. A sphere
        has many such axes: give a vector (3,) in its own axes.
    guess : float
        What rates that are looked for are guessed to be [rad/s]; there may be several.
    coordinates : str
        Those of the state, see `Model.compile`.
    x0 : array or mapping
        State whose configuration is the start; its velocities do not matter.
    inputs : mapping
        Port name -> constant, or function whose value at time t [s] counts.
    stable : bool
        Without spins and contacts: leave a motion that is not stable. False: take the nearest.

    Raises
    ------
    NoEquilibriumError
        If there is none near: says what is left over and which bodies it moves.
    """
    system = as_system(model, coordinates)
    if not isinstance(system, MechanismForm | QuaternionForm):
        raise InputError(
            f"steady_motion: system '{system.name}' has no bodies; give a Model, or what it "
            "compiles to"
        )
    for port, signal in (inputs or {}).items():
        system = feed(system, port, signal)
    assert isinstance(system, MechanismForm | QuaternionForm)
    place = closed_place(system, system.state({} if x0 is None else x0), t)
    assert isinstance(place, FramePlace)
    number(guess, "guess")
    unknown = [0] if rate is None else []
    amounts, axes = np.zeros(len(system.layout.bodies)), np.zeros((len(system.layout.bodies), 3))
    for name, spin in (spins or {}).items():
        if name not in system.layout.bodies:
            raise InputError(f"spins: no body '{name}'; {did_you_mean(name, system.layout.bodies)}")
        body = system.layout.bodies.index(name)
        amounts[body], axes[body] = _spin(system, body, name, guess if spin is None else spin)
        unknown += [1 + body] if spin is None else []
    frame = Turning(
        place,
        unit3(axis, "axis"),
        vector3(point, "point"),
        vector3(velocity, "velocity"),
        guess if rate is None else number(rate, "rate"),
        amounts,
        axes,
    )
    what = f"steady motion of system '{system.name}'"
    if stable and not unknown and not spins and place.held.holonomic:
        frame = _lowest(frame, what)
    found, lam, residual = _solve(frame, unknown, what)
    near, at, twists = system.near(found.place.turned), found.moving, found.twists.reshape(-1)
    assert isinstance(near, MechanismForm | QuaternionForm)
    change = near.rate_at(at.f, twists, found.accelerations)
    x = near.state_at(at.f, twists)
    x = with_multipliers(near, x, change, t, at.held.smallest(at.f, lam))
    named = {
        name: amounts_
        for name, amounts_ in zip(system.layout.bodies, found.spins[:, None] * found.e, strict=True)
        if name in (spins or {})
    }
    angles = system.layout.counted(found.place.turned)
    return SteadyMotion(
        system,
        x,
        at.inputs,
        residual,
        angles,
        found.axis,
        found.point,
        found.rate,
        found.velocity,
        named,
        change,
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
        raise InputError(f"spins: body '{name}' is a point and does not turn")
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


def _sizes(frame: Turning, lam: Vector) -> Vector:
    """Return the sizes of the terms in every row of the residual."""
    place, (_, terms, K) = frame.place, frame.equations
    _, body = np.unique(place.names, return_inverse=True)
    work, largest = place.sizes * (terms + abs(K).T @ abs(lam)), np.zeros(body.max() + 1)
    np.maximum.at(largest, body, work)
    forces = largest[body] / place.sizes
    gaps = place.held.gap_sizes(place.f)
    lengths = place.held.spans(place.f)
    moving, turning = np.linalg.norm(frame.twists, axis=2).T
    speed = np.maximum(moving, lengths * turning)
    speed = np.where(speed > 0, speed, np.max(speed) or 1.0)
    speeds = abs(K) @ frame.own(np.repeat(np.column_stack([speed, speed / lengths]), 3))
    return np.concatenate([np.where(forces > 0, forces, 1.0), gaps, speeds])


def _solve(frame: Turning, rates: list[int], what: str) -> tuple[Turning, Vector, float]:
    """Return the motion in which all is in balance, its multipliers, and what is left over.

    Gauss-Newton: of the many solutions that differ by the symmetry, the nearest one.
    """
    held, k = bool(rates), frame.place.twists.n
    F, _, K = frame.equations
    lam = _shortest(frame.place.sizes[:, None] * K.T, -frame.place.sizes * F)

    def norm(of: Turning, multipliers: Vector, sizes: Vector) -> float:
        return float(np.linalg.norm(of.residual(multipliers) / sizes))

    for _ in range(ITERATIONS):
        residual, sizes, D = frame.residual(lam), _sizes(frame, lam), frame.place.sizes
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
    worst = frame.residual(lam) / _sizes(frame, lam)
    left = float(np.max(abs(worst), initial=0.0))
    if not left <= TOLERANCE:
        names = movers(frame.place, worst[:k])
        rest = ", ".join(f"'{name}'" for name in names[:6])
        raise NoEquilibriumError(
            f"no {what} found: forces, joints or velocities stay unbalanced by {left:.3g} of their "
            f"size, most at {rest}; give other rates, or start nearer to the motion you look for",
            residual=left,
            moving=names,
        )
    return frame, lam, left
