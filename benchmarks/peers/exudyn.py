"""Exudyn: a constant step, modified Newton, one thread, nothing written.

A mechanism may be built in several ways, and solved by a dense or a sparse solver. All of them that
make sense are tried, and the fastest one is measured.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from benchmarks.mechanism import Mechanism
from benchmarks.peers.exudyn_bodies import build_bodies
from benchmarks.peers.exudyn_module import exu
from benchmarks.peers.exudyn_planar import build_planar
from benchmarks.peers.exudyn_tree import build_tree, fits_tree
from benchmarks.peers.simulation import Run, StoppedError, spent, time_of_steps

# What goes wrong arrives as an exception; the console belongs to the report.
exu.config.printToConsole = False
exu.config.suppressWarnings = True

#: Above so many bodies a dense solver cannot win with bodies in space, in the plane, in a tree.
DENSE_BODIES, DENSE_PLANAR, DENSE_TREE = 32, 32, 512
#: Above so many bodies only the variant that wins at any such size is built.
LARGE = 300
#: How often the variants are tried.
ROUNDS = 3
SOLVERS = {"dense": "EXUdense", "sparse": "EigenSparse"}
ROTATIONS = {"Euler parameters": "RotationEulerParameters", "Rxyz angles": "RotationRxyz"}


@dataclass(frozen=True)
class Variant:
    """A way to build and solve: `model` is planar, tree, or how rotations of bodies are written."""

    model: str
    solver: str

    def __str__(self) -> str:
        """As the report calls it."""
        return f"{self.model}, {self.solver}"


def variants(mechanism: Mechanism) -> list[Variant]:
    """Return the ways to build a mechanism that may be the fastest."""
    count = len(mechanism.bodies)
    if mechanism.planar:
        solvers = ["sparse", "dense"] if count <= DENSE_PLANAR else ["sparse"]
        return [Variant("planar bodies", solver) for solver in solvers]
    found = [Variant("Euler parameters", "sparse")]
    if count <= LARGE:
        found.append(Variant("Rxyz angles", "sparse"))
    if count <= DENSE_BODIES:
        found += [Variant(model, "dense") for model in ROTATIONS]
    if fits_tree(mechanism) and count <= DENSE_TREE:
        found.append(Variant("kinematic tree", "dense"))
    return found


class ExudynSimulation:
    """A mechanism in Exudyn."""

    def __init__(
        self,
        mechanism: Mechanism,
        h: float,
        scheme: str = "TrapezoidalIndex2",
        variant: Variant | None = None,
    ) -> None:
        variant = variant or variants(mechanism)[0]
        self.h, self.note = h, str(variant)
        self._container = exu.SystemContainer()
        self._system = self._container.AddSystem()
        match variant.model:
            case "planar bodies":
                self._positions = build_planar(self._system, mechanism)
            case "kinematic tree":
                self._positions = build_tree(self._system, mechanism)
            case rotations:
                self._positions = build_bodies(self._system, mechanism, ROTATIONS[rotations])
        self._system.Assemble()
        self._settings = _settings(scheme, variant.solver)

    def run(self, steps: int) -> Run:
        """Simulate without writing anything."""
        seconds = time_of_steps(lambda count: spent(lambda: self._solve(count)), steps)
        return Run(seconds, self._positions())

    def _solve(self, steps: int) -> None:
        integration = self._settings.timeIntegration
        integration.numberOfSteps = steps
        integration.endTime = steps * self.h
        try:
            exu.SolveDynamic(self._system, self._settings, showCausingItems=False)
        except exu.SolverError as error:
            raise StoppedError(str(error).splitlines()[0]) from error


def fastest(
    mechanism: Mechanism, h: float, steps: int, scheme: str = "TrapezoidalIndex2"
) -> ExudynSimulation:
    """Return the fastest way to run a mechanism in Exudyn, found by trying."""
    candidates = [ExudynSimulation(mechanism, h, scheme, each) for each in variants(mechanism)]
    if len(candidates) == 1:
        return candidates[0]

    best = [float("inf")] * len(candidates)
    for _ in range(ROUNDS):
        for i, simulation in enumerate(candidates):
            with suppress(StoppedError):
                best[i] = min(best[i], simulation.run(steps).seconds)
    return candidates[best.index(min(best))]


def _settings(scheme: str, solver: str) -> Any:
    settings = exu.SimulationSettings()
    settings.solution.file.write = False
    settings.solution.sensors.active = False
    settings.linearSolver.solverType = getattr(exu.LinearSolverType, SOLVERS[solver])
    settings.linearSolver.reuseAnalyzedPattern = solver == "sparse"
    settings.parallel.numberOfThreads = 1
    integration = settings.timeIntegration
    integration.verboseMode = 0
    integration.adaptiveStep = False
    integration.newton.useModifiedNewton = True
    integration.solverType = getattr(exu.DynamicSolverType, scheme)
    return settings
