r"""Moving frames of steady motions of mechanisms.

A top in precession, a spinning rotor and a mechanism that rotates as a whole move steadily:
nothing changes in frames that move by

.. math:: \dot\varphi = V + \omega \times \varphi, \qquad
          \dot R = \hat\omega\, R + R\, \sigma\, \hat a ,

a screw motion of the world, and a spin sigma of each body that is symmetric about an axis a of its
own. In states it is a vector field with the derivative X, and the linearisation about x(t) has
constant coefficients in the moving frame,

.. math:: E\,\dot\eta = (A - E X)\,\eta .
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from poinsot.frames.twists import spread
from poinsot.ph.derivatives import COEFFICIENTS, RELATIVE_STEP
from poinsot.ph.matrices import Array, Matrix, Vector, assemble, dense
from poinsot.ph.system import PHSystem
from poinsot.so3 import exp, skew
from poinsot.systems.directors import DirectorForm
from poinsot.systems.floating.system import FloatingSystem
from poinsot.systems.quaternions.systems import QuaternionForm
from poinsot.systems.rotations.form import BodyAxesForm

#: (a x b)_c = CROSS[a, b, c] a_a b_b.
CROSS: Array = -np.transpose(skew(np.eye(3)), (1, 2, 0))
#: Velocities, accelerations and moments of inertia that differ by less than this part are the same.
SAME = 1e-8


@dataclass(frozen=True, eq=False)
class SteadyFrame:
    """A screw motion of the world, V [m/s] and omega [rad/s], and spins of bodies.

    `spins` are sigma a of every body in its principal axes [rad/s]; (bodies, 3).
    """

    velocity: Vector
    omega: Vector
    spins: Array

    def twists(self, q: Array) -> Array:
        """Return (v, omega) of bodies at frames (bodies, 4, 3); (bodies, 2, 3)."""
        velocity = self.velocity + np.cross(self.omega, q[:, 0])
        spin = self.omega + np.einsum("bij,bi->bj", q[:, 1:], self.spins)
        return np.stack([velocity, spin], axis=1)

    def moved(self, q: Array, time: float) -> Array:
        """Return frames (bodies, 4, 3) after a time [s]."""
        screw = np.zeros((4, 4))
        screw[:3, :3], screw[:3, 3] = skew(self.omega), self.velocity
        shift = scipy.linalg.expm(time * screw)
        turned = np.array([exp(time * spin) for spin in self.spins])
        # Directors are rows of q: R exp(sigma a) has the columns turned_ji d_j.
        d = np.einsum("bji,bjk,lk->bil", turned, q[:, 1:], shift[:3, :3])
        phi = q[:, 0] @ shift[:3, :3].T + shift[:3, 3]
        return np.concatenate([phi[:, None], d], axis=1)


def is_mechanism(system: PHSystem) -> bool:
    """Return whether a system has bodies whose motion may be steady."""
    plain = isinstance(system, DirectorForm) and not system.stabilised
    return plain or isinstance(system, BodyAxesForm | QuaternionForm)


def frames(system: Any, x: Vector) -> tuple[Array, Array]:
    """Return frames (bodies, 4, 3) and twists (bodies, 2, 3) of a state."""
    q = system.directors(x).reshape(-1, 4, 3)
    if isinstance(system, DirectorForm):
        n, own = system.mechanism.n, system.mechanism.unknowns.rates
        rates = own.full(x[n : 2 * n]).reshape(-1, 4, 3)
    else:
        rates = system.view.rates(x[None], system.view.bodies)[0]
    return q, np.stack([rates[:, 0], _turning(q, rates)], axis=1)


def _turning(q: Array, rates: Array) -> Array:
    """Return the sum of d_i x d_i' / 2 of frames (bodies, 4, 3) and their rates; (bodies, 3)."""
    return np.asarray(np.einsum("abc,nia,nib->nc", CROSS, q[:, 1:], rates[:, 1:]) / 2)


def candidates(system: Any, x: Vector, rate: Vector) -> Iterator[SteadyFrame]:
    """Yield frames in which velocities and accelerations are steady, those that turn least first.

    A rotor is looked at from the ground, where its bearings are, rather than from itself. Bodies
    move as (v, omega) = (V + omega x phi, omega + sigma R a), and these change by omega x alone.
    """
    q, twists = frames(system, x)
    if not np.any(twists) or not _stiff(system, x, rate):
        return
    mechanism, count = system.mechanism, len(q)
    # A length of the whole, to compare velocities with angular ones.
    mass, *euler = mechanism.inertia.T
    across = np.sqrt(np.divide(sum(euler), mass, out=np.zeros_like(mass), where=mass > 0))
    length = float(np.max([np.linalg.norm(q[:, 0], axis=1), across])) or 1.0
    turning = float(np.max(abs(twists) / [[[length], [1.0]]]))
    accelerations = _accelerations(system, x, rate, turning)
    # Both change by omega x themselves, so that their lengths stay.
    faster = np.max(abs(np.sum(twists * accelerations, axis=2)), axis=0, initial=0.0)
    if np.any(faster > SAME * turning**3 * np.array([length**2, 1.0])):
        return
    axes, turns = _axes(mechanism), mechanism.unknowns.turns
    # Of every body the velocity, length times angular velocity, and the same of accelerations.
    rows = np.zeros((count, 4, 3, 6 + len(axes)))
    rows[:, 0, :, :3] = np.eye(3)
    rows[:, 0, :, 3:6] = -skew(q[:, 0])
    rows[:, 1, :, 3:6] = length * np.eye(3) * turns[:, None, None]
    rows[:, 2, :, 3:6] = -skew(twists[:, 0]) / turning
    rows[:, 3, :, 3:6] = -length * skew(twists[:, 1]) / turning
    for k, (body, axis) in enumerate(axes, start=6):
        rows[body, 1, :, k] = length * q[body, 1 + axis]
    scale = np.array([1.0, length])[:, None]
    wanted = np.concatenate([twists * scale, accelerations * scale / turning], axis=1)
    wanted[~turns, 1::2] = 0.0
    table, wanted = rows.reshape(12 * count, -1), wanted.reshape(-1)
    own = list(range(6, table.shape[1]))

    def fitted(used: list[int]) -> Vector | None:
        found = np.zeros(table.shape[1])
        if used:
            found[used] = np.linalg.lstsq(table[:, used], wanted, rcond=1e-10)[0]
        fits = np.max(abs(table @ found - wanted)) <= SAME * length * turning
        return found if fits else None

    # If all together do not fit, none of them does.
    if fitted([*range(6), *own]) is None:
        return
    for used in (own, [0, 1, 2, *own], [3, 4, 5, *own], list(range(6)), [*range(6), *own]):
        found = fitted(used)
        if found is not None:
            spins = np.zeros((count, 3))
            for k, (body, axis) in enumerate(axes, start=6):
                spins[body, axis] = found[k]
            yield SteadyFrame(found[:3], found[3:6], spins)


def _accelerations(system: Any, x: Vector, rate: Vector, turning: float) -> Array:
    """Return the rates of twists (bodies, 2, 3).

    Directors have them among their states, d_i x d_i'' / 2; of other coordinates they are found by
    sixth-order differences along the motion.
    """
    if isinstance(system, DirectorForm):
        n, own = system.mechanism.n, system.mechanism.unknowns.rates
        q, a = (part.reshape(-1, 4, 3) for part in (system.directors(x), own.full(rate[n : 2 * n])))
        return np.stack([a[:, 0], _turning(q, a)], axis=1)
    step, total = RELATIVE_STEP / turning, np.zeros((len(system.mechanism.inertia), 2, 3))
    for k, c in enumerate(COEFFICIENTS, start=1):
        there, back = (frames(system, x + side * k * step * rate)[1] for side in (1, -1))
        total += c * (there - back) / step
    return total


def _stiff(system: Any, x: Vector, rate: Vector) -> bool:
    """Return whether deformations stay as they are."""
    if not isinstance(system, FloatingSystem):
        return True
    rigid, (_, w, _) = system.rigid, system.parts(x)
    speeds, changes = w[rigid.k :], system.parts(rate)[1][rigid.k :]
    scale = system.bodies.sizes(system.mechanism.spans(system.directors(x)))[rigid.k :]
    turning = float(np.max(abs(w[: rigid.k][~rigid.velocities.translate]), initial=0.0)) or 1.0
    still = np.max(abs(speeds) / scale, initial=0.0) <= SAME * turning
    return bool(still and np.max(abs(changes) / scale, initial=0.0) <= SAME * turning**2)


def _axes(mechanism: Any) -> list[tuple[int, int]]:
    """Return bodies and those of their principal axes that their inertia is symmetric about.

    Elastic bodies, and frames on them, have none: they deform.
    """
    turns, J = mechanism.unknowns.own_turns, mechanism.moments
    turns[[body.frame for body in mechanism.elastic]] = False
    alike = abs(np.roll(J, 1, axis=1) - np.roll(J, 2, axis=1)) <= SAME * J.max(axis=1)[:, None]
    return [(int(body), int(axis)) for body, axis in np.argwhere(alike & turns[:, None])]


def carried(system: Any, frame: SteadyFrame, x: Vector, time: float) -> Vector:
    """Return the state that a frame carries a state to in a time [s]."""
    q = frame.moved(frames(system, x)[0], time)
    later = system.state_at(q.reshape(-1), frame.twists(q).reshape(-1))
    if isinstance(system, FloatingSystem):
        bent = slice(system.rigid.n, system.mechanics.n)
        later[bent] = x[bent]
    return np.asarray(later)


def derivative(system: Any, frame: SteadyFrame, x: Vector) -> tuple[Matrix, Vector]:
    """Return the derivative X of the motion of the frame by the state, and the motion there."""
    if isinstance(system, BodyAxesForm):
        return _of_rotations(system, frame, x)
    if isinstance(system, QuaternionForm):
        blocks = np.zeros((len(frame.spins), 7, 7))
        blocks[:, 3:, 3:] = [
            _by_quaternion(frame.omega, 1.0) + _by_quaternion(spin, -1.0) for spin in frame.spins
        ]
        own, parts = system.lagrangian.unknowns, 1 + system.momentum_row // system.mechanics.n
    else:
        blocks = np.zeros((len(frame.spins), 12, 12))
        for i in range(1, 4):
            at = slice(3 * i, 3 * i + 3)
            blocks[:, at, at] = skew(frame.omega)
        for k, spin in enumerate(frame.spins):
            # d_i' = R (sigma a x e_i): column i of skew(sigma a) in the basis of directors.
            blocks[k, 3:, 3:] += np.kron(skew(spin).T, np.eye(3))
        own, parts = system.mechanism.unknowns, 2
    blocks[:, :3, :3] = skew(frame.omega)
    one, n = own.square(spread(blocks)), own.n
    X = assemble((system.n, system.n), [(k * n, k * n, one) for k in range(parts)])
    motion = np.asarray(X @ x)
    shift = np.zeros((len(frame.spins), blocks.shape[1]))
    shift[:, :3] = frame.velocity
    motion[:n] += own.own(shift.reshape(-1))
    return X, motion


def _by_quaternion(omega: Vector, side: float) -> Array:
    """Return what multiplication by (0, omega / 2) from the left (1) or right (-1) does."""
    block = np.zeros((4, 4))
    block[0, 1:], block[1:, 0], block[1:, 1:] = -omega, omega, side * skew(omega)
    return block / 2


def _of_rotations(system: BodyAxesForm, frame: SteadyFrame, x: Vector) -> tuple[Matrix, Vector]:
    """Return X and the motion for zeta = (phi, theta), and for velocities in body axes.

    Deformations stay as they are.
    """
    bodies = system.rigid
    zeta, w = system.parts(x)[0][: bodies.n], system.parts(x)[1][: bodies.k]
    theta, way = bodies.theta(zeta), bodies.parametrisation
    size, count = way.size, len(frame.spins)
    slopes, Z = way.slopes(theta).reshape(count, 3, 3, size), way.Z(theta)
    d = way.directors(theta).reshape(count, 3, 3)
    spin = np.einsum("bij,j->bi", d, frame.omega) + frame.spins
    first = np.zeros((count, 3 + size, 3 + size))
    first[:, :3, :3] = skew(frame.omega)
    first[:, 3:, 3:] = np.einsum("bajl,bj->bal", way.dZ(theta), spin)
    first[:, 3:, 3:] += np.einsum("baj,bjkl,k->bal", Z, slopes, frame.omega)
    second = np.zeros((count, 6, 6))
    second[:, :3, :3] = second[:, 3:, 3:] = -skew(frame.spins)
    n = system.mechanics.n
    X_zeta = bodies.unknowns.square(spread(first))
    X_w = bodies.velocities.square(spread(second))
    X = assemble((system.n, system.n), [(0, 0, X_zeta), (n, n, X_w)])
    motion, moved = np.zeros(system.n), np.zeros((count, 3 + size))
    phi = bodies.unknowns.full(zeta).reshape(count, -1)[:, :3]
    moved[:, :3] = frame.velocity + np.cross(frame.omega, phi)
    moved[:, 3:] = np.einsum("baj,bj->ba", Z, spin)
    motion[: bodies.n] = bodies.unknowns.own(moved.reshape(-1))
    motion[n : n + w.size] = X_w @ w
    return X, motion


def trace(E: Matrix, A: Matrix, s: complex) -> complex:
    """Return the sum of 1 / (s - eigenvalue) over all finite eigenvalues of a pencil."""
    pencil, right = s * dense(E) - dense(A), dense(E).astype(complex)
    # Rows and unknowns of size 1: the sum stays, and no unit of length decides what is round-off.
    for axis in (1, 0, 1):
        size = np.max(abs(pencil), axis=axis, keepdims=True)
        size[size == 0] = 1.0
        pencil, right = pencil / size, right / size
    return complex(np.trace(np.linalg.lstsq(pencil, right, rcond=1e-13)[0]))
