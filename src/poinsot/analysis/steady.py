r"""Steady motions as relative equilibria: what moves looks the same from a frame that moves along.

The frame turns at the rate :math:`\Omega = \dot\vartheta\, a` about an axis through a point c, and
moves with a velocity V. Bodies stand still in it, but for spins about axes of symmetry of their own:

.. math::

    v = V + \Omega \times (r - c), \qquad \omega = \Omega + s\, e, \qquad
    \dot p = \Omega \times p, \qquad \dot L = \Omega \times L .

With these, what acts on bodies is in balance, Z^T grad V + K^T lambda + (p', L') = B u, and
velocities suit the joints and contacts, K t = 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.analysis.equilibria import as_system
from poinsot.errors import InputError, NoEquilibriumError, did_you_mean
from poinsot.frames.places import frame_vectors
from poinsot.frames.twists import velocities
from poinsot.inputs import number, unit3, vector3
from poinsot.model import Model
from poinsot.ph.interconnect import feed
from poinsot.ph.matrices import Array, Vector, dense
from poinsot.ph.signals import Signal
from poinsot.so3 import skew
from poinsot.systems.form import MechanismForm
from poinsot.systems.quaternions.systems import QuaternionForm
from poinsot.systems.statics.equilibrium import Balanced, framed, with_multipliers
from poinsot.systems.statics.frames import Framed, FramePlace
from poinsot.systems.statics.rest import movers

#: Moments of inertia are the same up to this part of them.
SAME = 1e-9
#: Largest change of a configuration in an iteration; how small the last one is; what may be left.
STRIDE, SMALL, TOLERANCE = 0.3, 1e-12, 1e-8
ITERATIONS, HALVINGS, SWEEPS = 200, 30, 8
#: Singular values of the equations that count as zero: motions along the symmetry itself.
CUT = 1e-10

Spin: TypeAlias = "float | ArrayLike | None"


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
        spins = [f"'{name}' spins at {np.linalg.norm(s):.6g} rad/s" for name, s in self.spins.items()]
        moving = np.linalg.norm(self.velocity)
        parts = [f"turns at {self.rate:.6g} rad/s"] if self.rate or not moving else []
        parts += [f"moves at {moving:.6g} m/s"] if moving else []
        told = ", ".join([*parts, *spins, f"residual {self.residual:.1e}"])
        return f"<SteadyMotion of '{self.system.name}': {told}>"


@dataclass(frozen=True, eq=False)
class _Turning:
    """A place with a frame that moves along; spins s about body-fixed axes e (bodies, 3)."""

    place: FramePlace
    axis: Vector
    point: Vector
    velocity: Vector
    rate: float
    spins: Vector
    axes: Array

    @cached_property
    def e(self) -> Array:
        """Axes of the spins in world axes; (bodies, 3)."""
        return np.asarray(np.einsum("bi,bij->bj", self.axes, self._d))

    @property
    def _d(self) -> Array:
        return frame_vectors(self.place.f)[:, 1:]

    @property
    def _phi(self) -> Array:
        return frame_vectors(self.place.f)[:, 0]

    @cached_property
    def Omega(self) -> Vector:
        """Angular velocity of the frame."""
        return self.rate * self.axis

    @cached_property
    def twists(self) -> Array:
        """Velocities and angular velocities of bodies; (bodies, 2, 3)."""
        v = self.velocity + np.cross(self.Omega, self._phi - self.point)
        omega = self.Omega + self.spins[:, None] * self.e
        return np.stack([v, np.where(self.place.turns[:, None], omega, 0.0)], axis=1)

    @cached_property
    def inertia(self) -> Array:
        """Moments of inertia in world axes; (bodies, 3, 3)."""
        R, held = np.swapaxes(self._d, 1, 2), self.place.held
        return np.asarray(R * held.moments[:, None] @ np.swapaxes(R, 1, 2))

    @cached_property
    def moving(self) -> FramePlace:
        """The place with these rates of its frames."""
        return replace(self.place, rates=velocities(self.place.f, self.twists.reshape(-1)))

    @cached_property
    def accelerations(self) -> Vector:
        """Omega x v and Omega x omega; (6 bodies,)."""
        return np.asarray(np.cross(self.Omega, self.twists).reshape(-1))

    def _own(self, blocks: Array) -> Vector:
        return self.place.twists.own(np.asarray(blocks, dtype=float).reshape(-1))

    @cached_property
    def momenta(self) -> Array:
        """Momenta and angular momenta about centres; (bodies, 2, 3)."""
        p = self.place.held.masses[:, None] * self.twists[:, 0]
        return np.stack([p, np.einsum("bij,bj->bi", self.inertia, self.twists[:, 1])], axis=1)

    @cached_property
    def equations(self) -> tuple[Vector, Vector, Array]:
        """Forces without those of joints, the sizes of their terms, and K; (k,), (k,), (m, k)."""
        force, terms = self.moving.forces()
        inertial = self._own(np.cross(self.Omega, self.momenta))
        return force + inertial, terms + abs(inertial), dense(self.moving.rows())

    def residual(self, lam: Vector) -> Vector:
        """Return what is left over: forces, gaps of joints, and velocities that do not suit."""
        F, _, K = self.equations
        gaps = self.place.held.constraints(self.place.f)
        return np.concatenate([F + K.T @ lam, gaps, K @ self._own(self.twists)])

    def jacobian(self, lam: Vector, rates: list[int]) -> Array:
        """Return the derivative by motions, by the rates that are looked for, and by lam.

        Rate 0 is that of the frame, 1 + b the spin of body b.
        """
        place, held, k, m = self.moving, self.place.held, self.place.twists.n, lam.size
        P, K, bodies = dense(place.P), self.equations[2], len(self._phi)
        W, S = skew(self.Omega), skew(self.twists[:, 1])
        # Inertial forces: L turns with its body, less what follows from omega - s e = Omega.
        bent = np.zeros((bodies, 6, 6))
        bent[:, :3, :3] = held.masses[:, None, None] * (W @ W)
        bent[:, 3:, 3:] = W @ (self.inertia @ W - skew(self.momenta[:, 1]))
        # Rates of frames: positions turn with the frame, directors with their body.
        turn = np.zeros((bodies, 4, 3, 6))
        turn[:, 0, :, :3] = W
        spin = self.spins[:, None, None] * skew(self.e)
        for i in range(3):
            D = skew(self._d[:, i])
            turn[:, 1 + i, :, 3:] = D @ spin - S @ D
        frames, twisting = dense(place.twists.by(_spread(turn.reshape(bodies, 12, 6)))), place.twists
        _, by_v = held.dloads(place.t, place.f, place.rates, place.inputs)
        pushed = sum((dense(by) for by in by_v), np.zeros((place.f.size, place.f.size)))
        stiffness = place.stiffness(lam)[0] + dense(twisting.square(_spread(bent)))
        slope, G = dense(held.slope(place.f, place.rates)), dense(held.G(place.f))
        rows = held.constraints.m
        total = np.zeros((k + rows + m, k + len(rates) + m))
        total[:k, :k] = stiffness - P.T @ pushed @ frames
        total[k : k + rows, :k] = K[:rows]
        total[k + rows :, :k] = slope @ P + G @ frames
        for j, rate in enumerate(rates):
            change, column = np.zeros((bodies, 2, 3)), k + j
            if rate == 0:
                change[:, 0] = np.cross(self.axis, self._phi - self.point)
                change[:, 1] = np.where(self.place.turns[:, None], self.axis, 0.0)
            else:
                change[rate - 1, 1] = self.e[rate - 1]
            p = held.masses[:, None] * change[:, 0]
            L = np.einsum("bij,bj->bi", self.inertia, change[:, 1])
            inertial = np.cross(self.Omega, np.stack([p, L], axis=1))
            if rate == 0:
                inertial = inertial + np.cross(self.axis, self.momenta)
            own = self._own(change)
            total[:k, column] = self._own(inertial) - P.T @ pushed @ (P @ own)
            total[k + rows :, column] = K @ own
        total[:k, k + len(rates) :] = K.T
        return total

    def after(self, w: Vector | None, rates: list[int], change: Vector) -> "_Turning":
        """Return the same after a motion w (k,), if any, and changes of rates."""
        place = self.place
        if w is not None:
            place = place.at(place.step(w))
        rate, spins = self.rate, self.spins.copy()
        for which, by in zip(rates, change, strict=True):
            if which == 0:
                rate += float(by)
            else:
                spins[which - 1] += by
        return replace(self, place=place, rate=rate, spins=spins)


def _spread(blocks: Array) -> Array:
    """Return blocks (bodies, rows, columns) along a diagonal."""
    count, rows, columns = blocks.shape
    total = np.zeros((count, rows, count, columns))
    total[np.arange(count), :, np.arange(count)] = blocks
    return total.reshape(count * rows, count * columns)


def steady_motion(
    model: Model | Framed,
    *,
    axis: ArrayLike = (0.0, 0.0, 1.0),
    point: ArrayLike = (0.0, 0.0, 0.0),
    rate: float | None = 0.0,
    velocity: ArrayLike = (0.0, 0.0, 0.0),
    spins: Mapping[str, Spin] | None = None,
    guess: float = 1.0,
    coordinates: str | None = None,
    x0: ArrayLike | Mapping[str, ArrayLike] | None = None,
    inputs: Mapping[str, Signal | ArrayLike] | None = None,
    t: float = 0.0,
) -> SteadyMotion:
    """Return a steady motion of a mechanism: it turns about an axis, moves along, and spins.

    If all rates are given, the configuration is found, from the start on. Rates that are None are
    found instead, and the configuration stays as it is.

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
    place = framed(system, system.state({} if x0 is None else x0), t)
    number(guess, "guess")
    unknown = [0] if rate is None else []
    amounts, axes = np.zeros(len(system.layout.bodies)), np.zeros((len(system.layout.bodies), 3))
    for name, spin in (spins or {}).items():
        if name not in system.layout.bodies:
            raise InputError(f"spins: no body '{name}'; {did_you_mean(name, system.layout.bodies)}")
        body = system.layout.bodies.index(name)
        amounts[body], axes[body] = _spin(system, body, name, guess if spin is None else spin)
        unknown += [1 + body] if spin is None else []
    frame = _Turning(
        place,
        unit3(axis, "axis"),
        vector3(point, "point"),
        vector3(velocity, "velocity"),
        guess if rate is None else number(rate, "rate"),
        amounts,
        axes,
    )
    found, lam, residual = _solve(frame, unknown, f"steady motion of system '{system.name}'")
    near, at, twists = system.near(found.place.turned), found.moving, found.twists.reshape(-1)
    assert isinstance(near, MechanismForm | QuaternionForm)
    change = near.rate_at(at.f, twists, found.accelerations)
    x = near.state_at(at.f, twists)
    x = with_multipliers(near, x, change, t, at.held.smallest(at.f, lam))
    named = {name: amounts_ for name, amounts_ in zip(system.layout.bodies, found.spins[:, None] * found.e, strict=True) if name in (spins or {})}
    angles = system.layout.counted(found.place.turned)
    return SteadyMotion(
        system, x, at.inputs, residual, angles, found.axis, found.point, found.rate,
        found.velocity, named, change,
    )


def _spin(system: Framed, body: int, name: str, spin: Spin) -> tuple[float, Vector]:
    """Return how fast a body spins, and about which of its principal axes (3,)."""
    J, R_BP = system.mechanism.held.moments[body], system.layout.R_BP[body]
    if not system.mechanism.unknowns.turns[body]:
        raise InputError(f"spins: body '{name}' is a point and does not turn")
    same = [
        k for k in range(3) if abs(np.diff(np.delete(J, k))[0]) <= SAME * J.max()
    ]
    if np.ndim(spin):
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
    what = "no axis of symmetry that it could spin about" if not same else (
        "many axes of symmetry; give its spin as a vector in its own axes"
    )
    raise InputError(f"spins: body '{name}' has {what}; its moments are {J.tolist()} kg m^2")


def _scaled(A: Array, b: Vector) -> Vector:
    """Return the solution of A y = b, the shortest in units that suit rows and columns."""
    rows, columns = np.ones(A.shape[0]), np.ones(A.shape[1])
    for _ in range(SWEEPS):
        size = abs(A) / rows[:, None] / columns
        for scale, axis in ((rows, 1), (columns, 0)):
            largest = np.max(size, axis=axis, initial=0.0)
            scale *= np.sqrt(np.where(largest > 0, largest, 1.0))
    return np.asarray(np.linalg.lstsq(A / rows[:, None] / columns, b / rows, rcond=CUT)[0] / columns)


def _sizes(frame: _Turning, lam: Vector) -> Vector:
    """Return the sizes of the terms in every row of the residual."""
    place, (_, terms, K) = frame.place, frame.equations
    _, body = np.unique(place.names, return_inverse=True)
    work, largest = place.sizes * (terms + abs(K).T @ abs(lam)), np.zeros(body.max() + 1)
    np.maximum.at(largest, body, work)
    forces = largest[body] / place.sizes
    gaps = place.held.gap_sizes(place.f)
    speeds = abs(K) @ abs(frame._own(frame.twists)) + np.finfo(float).tiny
    fastest = np.max(abs(frame.twists)) if frame.twists.size else 0.0
    speeds = np.maximum(speeds, SMALL * fastest * np.sum(abs(K), axis=1))
    return np.concatenate([np.where(forces > 0, forces, 1.0), gaps, speeds])


def _solve(frame: _Turning, rates: list[int], what: str) -> tuple[_Turning, Vector, float]:
    """Return the motion in which all is in balance, its multipliers, and what is left over.

    Gauss-Newton: of the many solutions that differ by the symmetry, the nearest one.
    """
    held, k = bool(rates), frame.place.twists.n
    F, _, K = frame.equations
    lam = _scaled(K.T, -F) if K.size else np.zeros(K.shape[0])

    def norm(of: _Turning, multipliers: Vector, sizes: Vector) -> float:
        return float(np.linalg.norm(of.residual(multipliers) / sizes))

    for _ in range(ITERATIONS):
        residual, sizes, D = frame.residual(lam), _sizes(frame, lam), frame.place.sizes
        A = frame.jacobian(lam, rates) / sizes[:, None]
        A[:, :k] *= 0.0 if held else D
        step = _scaled(A, -residual / sizes)
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
