"""Keeps what a run computes: saved steps, and balances summed over every step."""

import time as clock
from dataclasses import dataclass

import numpy as np

from poinsot.errors import StructureError
from poinsot.integrate.newton import Solution
from poinsot.integrate.observe import angles, observe
from poinsot.integrate.schemes import Scheme
from poinsot.integrate.step import Stage
from poinsot.ph.matrices import Vector
from poinsot.ph.system import PHSystem
from poinsot.result import PortRecord, Result, StateRecord, Stats, Status


@dataclass(frozen=True)
class Pending:
    """A step that was taken and may have to be saved."""

    t_mid: float
    t1: float
    solution: Solution
    stage: Stage
    values: list[tuple[Vector, Vector]]
    energy: float
    error: float
    lost: float
    supplied: Vector
    turn: Vector


class Recorder:
    """Preallocated arrays for the saved steps; a result can be made of them at any moment."""

    def __init__(
        self, system: PHSystem, x0: Vector, t0: float, steps: int, save_every: int
    ) -> None:
        saves = -(-steps // save_every) + 1
        self.system, self.steps, self.save_every = system, steps, save_every
        self.ports = (*system.ports, *system.connected)
        self.time = np.zeros(saves)
        self.x = np.zeros((saves, system.n))
        self.energy = np.zeros(saves)
        self.dissipated = np.zeros(saves)
        self.balance_error = np.zeros(saves)
        self.port_energy = np.zeros((saves, len(self.ports)))
        self.stage_time = np.zeros(saves - 1)
        self.u = [np.zeros((saves - 1, port.size)) for port in self.ports]
        self.y = [np.zeros((saves - 1, port.size)) for port in self.ports]
        self.stage_x = np.zeros((saves - 1, system.n))
        self.angle = angles(system, x0)
        self.turn = self.angle.copy()
        self.turned = np.zeros((saves, self.turn.size))
        self.turned[0] = self.turn
        self.iterations = np.zeros(saves - 1, dtype=np.intp)
        self.time[0], self.x[0], self.energy[0] = t0, x0, system.H(x0)
        self.saved, self.done, self.reached = 1, 0, t0
        self.pending: Pending | None = None
        self.total_iterations, self.residual_max = 0, 0.0
        self.lost, self.supplied = 0.0, np.zeros(len(self.ports))
        self.balance_error_max, self.dissipation_min = 0.0, 0.0
        self.started = clock.perf_counter()

    def add(self, t_mid: float, t1: float, h: float, solution: Solution, stage: Stage) -> None:
        """Account for one step, and save it if it is due. A step counts only when complete."""
        system = self.system
        effort = system.resistive(stage.x, stage.z)
        dissipation = float(stage.z @ effort)
        if dissipation < -1e-10 * np.linalg.norm(stage.z) * np.linalg.norm(effort):
            raise StructureError(
                f"the dissipation creates energy at t = {t_mid:g} s: its power is "
                f"{dissipation:.3g} W; R must be positive semi-definite and z·r(x, z) >= 0"
            )
        values = [
            (stage.u[piece], stage.y[piece]) for piece in system.port_slices.values()
        ] + system.connected_values(stage.x, stage.z, stage.u)
        lost = self.lost + h * dissipation
        supplied = self.supplied + [h * float(u @ y) for u, y in values]
        energy = system.H(solution.x)
        outer = float(supplied[: len(system.ports)].sum())
        error = energy - self.energy[0] - outer + lost
        angle = angles(system, solution.x)
        change = angle - self.angle
        self.turn = self.turn + change - 2 * np.pi * np.round(change / (2 * np.pi))
        self.angle = angle
        self.lost, self.supplied = lost, supplied
        self.total_iterations += solution.iterations
        self.residual_max = max(self.residual_max, solution.residual)
        self.balance_error_max = max(self.balance_error_max, abs(error))
        self.dissipation_min = min(self.dissipation_min, dissipation)
        self.done, self.reached = self.done + 1, t1
        self.pending = Pending(
            t_mid, t1, solution, stage, values, energy, error, lost, supplied, self.turn
        )
        if self.done % self.save_every == 0 or self.done == self.steps:
            self._save()

    def _save(self) -> None:
        """Keep the last step, if it is not kept already."""
        if self.pending is None:
            return
        k, step = self.saved, self.pending
        self.time[k], self.x[k], self.energy[k] = step.t1, step.solution.x, step.energy
        self.dissipated[k], self.port_energy[k] = step.lost, step.supplied
        self.balance_error[k] = step.error
        self.stage_time[k - 1], self.iterations[k - 1] = step.t_mid, step.solution.iterations
        self.stage_x[k - 1], self.turned[k] = step.stage.x, step.turn
        for i, (u, y) in enumerate(step.values):
            self.u[i][k - 1], self.y[i][k - 1] = u, y
        self.saved, self.pending = k + 1, None

    def result(
        self,
        scheme: Scheme,
        engine: str,
        h: float,
        t_end: float,
        status: Status,
        message: str = "",
    ) -> Result:
        """Return everything saved so far, and the last step in any case."""
        self._save()
        k, system = self.saved, self.system
        outer = len(system.ports)
        return Result(
            model=system.name,
            scheme=scheme.name,
            engine=engine,
            h=h,
            t_end=t_end,
            time=self.time[:k],
            states={
                state.name: StateRecord(state.name, state.unit, self.x[:k, piece])
                for state, piece in zip(system.states, system.slices.values(), strict=True)
            },
            ports={
                port.name: PortRecord(
                    name=port.name,
                    u_unit=port.u_unit,
                    y_unit=port.y_unit,
                    connected=i >= outer,
                    time=self.stage_time[: k - 1],
                    u=self.u[i][: k - 1],
                    y=self.y[i][: k - 1],
                    power=np.sum(self.u[i][: k - 1] * self.y[i][: k - 1], axis=1),
                    energy=self.port_energy[:k, i],
                )
                for i, port in enumerate(self.ports)
            },
            energy=self.energy[:k],
            dissipated=self.dissipated[:k],
            balance_error=self.balance_error[:k],
            stats=Stats(
                steps=self.done,
                newton_iterations=self.total_iterations,
                iterations=self.iterations[: k - 1],
                residual_max=self.residual_max,
                balance_error_max=self.balance_error_max,
                dissipation_min=self.dissipation_min,
                wall_time=clock.perf_counter() - self.started,
            ),
            status=status,
            message=message,
            observation=observe(
                system,
                self.x[:k],
                self.stage_time[: k - 1],
                self.stage_x[: k - 1],
                self.turned[:k],
            ),
        )
