"""Who takes part: each code with its schemes."""

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.mechanism import Mechanism
from benchmarks.peers.exudyn import fastest
from benchmarks.peers.mujoco import MujocoSimulation
from benchmarks.peers.poinsot import ENGINE, PoinsotSimulation
from benchmarks.peers.simulation import Simulation

#: Builds a mechanism for a step [s]; a code that can choose how may try so many steps.
Builder = Callable[[Mechanism, float, int], Simulation]


@dataclass(frozen=True)
class Entrant:
    """A code and one of its schemes."""

    code: str
    scheme: str
    build: Builder

    @property
    def name(self) -> str:
        """As tables and figures call it."""
        return f"{self.code} {self.scheme}"


def poinsot(engine: str = ENGINE, scheme: str = "PH-MP") -> Entrant:
    """Return Poinsot with its default scheme, or another one."""
    return Entrant(
        "Poinsot", scheme, lambda m, h, _: PoinsotSimulation(m, h, scheme.lower(), engine=engine)
    )


def exudyn(scheme: str = "TrapezoidalIndex2") -> Entrant:
    """Return Exudyn with an implicit scheme, as fast as it can be built."""
    return Entrant("Exudyn", scheme, lambda m, h, steps: fastest(m, h, steps, scheme))


def mujoco(integrator: str = "RK4") -> Entrant:
    """Return MuJoCo with one of its integrators."""
    return Entrant("MuJoCo", integrator, lambda m, h, _: MujocoSimulation(m, h, integrator))


def field(engine: str = ENGINE) -> list[Entrant]:
    """Return everyone who takes part in the comparison of single steps."""
    return [
        poinsot(engine),
        exudyn(),
        mujoco("RK4"),
        mujoco("implicitfast"),
        mujoco("Euler"),
    ]
