"""Takes runs in quaternions backwards in machine code, and those that are converted to these."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.quaternions_backward import WIDTH
from poinsot.engine.control_backward import Decisions
from poinsot.kernels import tables
from poinsot.parts.family import real
from poinsot.ph.matrices import Vector
from poinsot.systems.compiled.backward import LossSlopes, MechanismSweep, Tabulated
from poinsot.systems.compiled.motions import InBodyAxes, InQuaternions, Motions
from poinsot.systems.compiled.quaternions import QuaternionRunner
from poinsot.systems.compiled.rotations import RotationRunner
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.quaternions.systems import QuaternionForm
from poinsot.systems.rotations.system import RotationSystem

Array = NDArray[np.float64]


class TurningSweep(MechanismSweep):
    """Goes through steps with mean lever arms backwards.

    Parameters
    ----------
    runner : QuaternionRunner
        What has taken them.
    system : QuaternionForm or RotationSystem
        The system of the run.
    motions : Motions
        What its states are.
    """

    form = "quaternions_backward"

    def __init__(self, runner: QuaternionRunner, system: Tabulated, motions: Motions) -> None:
        super().__init__(runner, system)
        self.motions, self.places = motions, self.places.copy()
        self.places[:, 2] = motions.count * WIDTH + self.places[:, 2] - runner.turning.first

    @staticmethod
    def of_bodies(mechanism: Mechanism) -> Array:
        """Return 2 m, moments of inertia and the gradient of gravity."""
        return real(2 * mechanism.masses, mechanism.moments, mechanism.weight)

    def back(
        self,
        times: Vector,
        u: Array,
        x: Array,
        loss: LossSlopes,
        lam: Vector,
        by_u: Array,
        decisions: Decisions | None = None,
    ) -> int:
        """Make lam, the gradient by the last of states x, that by the first; return steps done."""
        by, motion = self.by_bodies, self.motions.of(x)
        own, seeds = np.zeros_like(motion), loss.by_states
        some = 1 + np.flatnonzero(np.any(seeds[1:] != 0, axis=1))
        if some.size:
            own[some] = self.motions.gradient(x[some], motion[some], seeds[some], by)
        inner = self.motions.gradient(x[-1:], motion[-1:], lam[None], by)[0]
        done = super().back(times, u, motion, LossSlopes(by_states=own), inner, by_u, decisions)
        lam[:] = self.motions.gradient_by_state(x[:1], motion[:1], inner[None], by)[0]
        return done


class QuaternionSweep(TurningSweep):
    """Goes through steps of a run in quaternions backwards.

    Auxiliary unknowns change nothing in steps, and do without nodes here.
    """

    forms = QuaternionForm

    def __init__(self, runner: QuaternionRunner) -> None:
        self.taken, own = runner, runner
        if runner.turning.auxiliary != tables.SHORTEST:
            scheme = replace(runner.scheme, condensation="null-space")
            own = QuaternionRunner(runner.system, scheme, runner.x, runner.h, runner.options)
        super().__init__(own, runner.system, InQuaternions(runner.system))

    def end(self, x: Vector, turned: Vector) -> None:
        """Go backwards from this state, with those constraints left out that the run left out."""
        super().end(x, turned)
        (node, slot), (there, at) = (places[:, :2].T for places in (self.places, self.taken.places))
        self.machine.repeated.out[node, slot] = self.taken.machine.repeated.out[there, at]


class RotationSweep(TurningSweep):
    """Goes through steps of a run with velocities in body axes backwards."""

    forms = RotationSystem

    def __init__(self, runner: RotationRunner) -> None:
        super().__init__(runner.inner, runner.system, InBodyAxes(runner.system))
