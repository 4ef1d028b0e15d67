"""Balance of forces on a mechanism in a moving frame, and its derivatives."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from poinsot.analysis.steady_frames import SteadyFrame
from poinsot.frames.places import frame_vectors
from poinsot.frames.twists import spread, velocities
from poinsot.ph.matrices import Array, Vector, dense
from poinsot.so3 import skew
from poinsot.systems.statics.frames import FramePlace


@dataclass(frozen=True, eq=False)
class Turning:
    """A place with a frame that moves along, by its rates: what is looked for or given.

    It turns at a rate about an axis through a point, which moves with a velocity; bodies spin at
    rates s about body-fixed axes e (bodies, 3).
    """

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

    @property
    def Omega(self) -> Vector:
        """Angular velocity of the frame."""
        return self.frame.omega

    @cached_property
    def frame(self) -> SteadyFrame:
        """How frames move."""
        Omega = self.rate * self.axis
        start = self.velocity - np.cross(Omega, self.point)
        return SteadyFrame(start, Omega, self.spins[:, None] * self.axes)

    @cached_property
    def twists(self) -> Array:
        """Velocities and angular velocities of bodies; (bodies, 2, 3)."""
        twists = self.frame.twists(frame_vectors(self.place.f))
        twists[~self.place.turns, 1] = 0.0
        return twists

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

    def own(self, blocks: Array) -> Vector:
        """Return what blocks (bodies, 2, 3) are to motions; (k,)."""
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
        sizes = abs(self.rate) * np.linalg.norm(self.momenta, axis=2, keepdims=True)
        inertial = self.own(np.cross(self.Omega, self.momenta))
        terms = terms + self.own(np.broadcast_to(sizes, self.momenta.shape))
        return force + inertial, terms, dense(self.moving.rows())

    @cached_property
    def bent(self) -> Array:
        """What inertial forces change by with motions; (k, k)."""
        W, blocks = skew(self.Omega), np.zeros((len(self._phi), 6, 6))
        blocks[:, :3, :3] = self.place.held.masses[:, None, None] * (W @ W)
        # L turns with its body, less what follows from omega - s e = Omega.
        blocks[:, 3:, 3:] = W @ (self.inertia @ W - skew(self.momenta[:, 1]))
        return dense(self.place.twists.square(spread(blocks)))

    @property
    def kinetic(self) -> float:
        """What is subtracted from V for a potential that inertial forces have, too [J]."""
        p, L = np.swapaxes(self.momenta, 0, 1)
        spun = np.einsum("bij,bj->bi", self.inertia, self.spins[:, None] * self.e)
        moving = float(np.sum(p * self.twists[:, 0]))
        # With L = I (Omega + s e) that is Omega·I Omega / 2 + s Omega·I e.
        return (moving + float(np.sum((L + spun) @ self.Omega))) / 2

    def residual(self, lam: Vector) -> Vector:
        """Return what is left over: forces, gaps of joints, and velocities that do not suit."""
        F, _, K = self.equations
        gaps = self.place.held.constraints(self.place.f)
        return np.concatenate([F + K.T @ lam, gaps, K @ self.own(self.twists)])

    def sizes(self, lam: Vector) -> Vector:
        """Return the sizes of the terms in every row of the residual."""
        place, (_, terms, K) = self.place, self.equations
        _, body = np.unique(place.names, return_inverse=True)
        work, largest = place.sizes * (terms + abs(K).T @ abs(lam)), np.zeros(body.max() + 1)
        np.maximum.at(largest, body, work)
        forces = largest[body] / place.sizes
        gaps = place.held.gap_sizes(place.f)
        lengths = place.held.spans(place.f)
        moving, turning = np.linalg.norm(self.twists, axis=2).T
        speed = np.maximum(moving, lengths * turning)
        speed = np.where(speed > 0, speed, np.max(speed) or 1.0)
        speeds = abs(K) @ self.own(np.repeat(np.column_stack([speed, speed / lengths]), 3))
        return np.concatenate([np.where(forces > 0, forces, 1.0), gaps, speeds])

    def jacobian(self, lam: Vector, rates: list[int]) -> Array:
        """Return the derivative by motions, by the rates that are looked for, and by lam.

        Rate 0 is that of the frame, 1 + b the spin of body b.
        """
        place, held, k, m = self.moving, self.place.held, self.place.twists.n, lam.size
        P, K, bodies = dense(place.P), self.equations[2], len(self._phi)
        W, S = skew(self.Omega), skew(self.twists[:, 1])
        # Rates of frames: positions turn with the frame, directors with their body.
        turn = np.zeros((bodies, 4, 3, 6))
        turn[:, 0, :, :3] = W
        spin = self.spins[:, None, None] * skew(self.e)
        for i in range(3):
            D = skew(self._d[:, i])
            turn[:, 1 + i, :, 3:] = D @ spin - S @ D
        frames = dense(place.twists.by(spread(turn.reshape(bodies, 12, 6))))
        _, by_v = held.dloads(place.t, place.f, place.rates, place.inputs)
        pushed = sum((dense(by) for by in by_v), np.zeros((place.f.size, place.f.size)))
        stiffness = place.stiffness(lam)[0] + self.bent
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
            own = self.own(change)
            total[:k, column] = self.own(inertial) - P.T @ pushed @ (P @ own)
            total[k + rows :, column] = K @ own
        total[:k, k + len(rates) :] = K.T
        return total

    def later(self, time: float) -> "Turning":
        """Return where the motion leads to in a time [s]."""
        f = self.frame.moved(frame_vectors(self.place.f), time).reshape(-1)
        return replace(self, place=self.place.at(f))

    @property
    def pace(self) -> float:
        """How fast the motion is, in sizes of what moves a second [1/s]."""
        return float(np.max(abs(self.own(self.twists)) / self.place.sizes, initial=0.0))

    def after(self, w: Vector | None, rates: list[int], change: Vector) -> "Turning":
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


@dataclass(frozen=True, eq=False)
class TurningPlace(FramePlace):
    """A place in a frame that moves along, with inertial forces among those that act.

    Their potential is less than V by the kinetic energy of bodies that stand still in the frame:
    where it is least, a steady motion is stable.
    """

    frame: Turning

    @classmethod
    def along(cls, frame: Turning) -> "TurningPlace":
        """Return the place of a motion."""
        own = {name: getattr(frame.place, name) for name in FramePlace.__dataclass_fields__}
        return cls(**own, frame=frame)

    def at(self, f: Vector) -> Self:
        """Return the place of other frames, which move along."""
        place = self.frame.place.at(f)
        frame = replace(self.frame, place=place)
        own = {name: getattr(place, name) for name in FramePlace.__dataclass_fields__}
        return replace(self, **own | {"rates": frame.moving.rates, "frame": frame})

    def forces(self) -> tuple[Vector, Vector]:
        """Return those of the frame."""
        force, terms, _ = self.frame.equations
        return force, terms

    def stiffness(self, lam: Vector) -> tuple[Array, Array]:
        """Return that of the place, and what inertial forces change by."""
        stiffness, sizes = super().stiffness(lam)
        return stiffness + self.frame.bent, sizes + abs(self.frame.bent)

    def work(self, there: FramePlace, w: Vector) -> float:
        """Return what the amended potential grows by."""
        assert isinstance(there, TurningPlace)
        return super().work(there, w) - there.frame.kinetic + self.frame.kinetic
