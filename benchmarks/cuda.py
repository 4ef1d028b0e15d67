"""Steps a second on a graphics processor: `python -m benchmarks.cuda`, on a machine that has one.

Prints the tables of docs/howto/gpu.md. All runs start differently; the balance is the largest of
all of them, and the first ones are compared with those of the compiled engine on processors.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.environment import pin

pin()

import numpy as np  # noqa: E402

import poinsot as ps  # noqa: E402
from poinsot.engine import cuda, job  # noqa: E402
from poinsot.engine.launches import Launches  # noqa: E402
from poinsot.gallery.spatial_slider_crank import model as slider_crank  # noqa: E402
from poinsot.model.parameters import Parameters  # noqa: E402
from poinsot.studies.batch import Arena  # noqa: E402
from poinsot.studies.cases import Cases  # noqa: E402
from poinsot.studies.numbers import Numbers  # noqa: E402
from poinsot.studies.on_device import OnDevice  # noqa: E402

STEP = 1e-3  # s
#: Runs that are compared.
COMPARED = 64
#: As many runs as an H200 takes at once, twice.
RUNS = 67_584


def chain(count: int) -> ps.Model:
    """Return bars on ball joints, level at the start, that turn about the vertical."""
    model = ps.Model(gravity=(0, 0, -9.81))
    last = model.ground
    for k in range(count):
        bar = ps.Box(mass=1.0, size=(1.0, 0.1, 0.1))
        body = model.add_body(f"bar{k}", bar, position=(k + 0.5, 0, 0), angular_velocity=(0, 0, 1))
        model.add_joint(f"joint{k}", ps.Spherical(last, body, point=(k, 0, 0)))
        last = body
    return model


def damped() -> ps.Model:
    """Return the slider-crank with a spring at the crank and dry friction at the slider."""
    model = slider_crank()
    model.add_force("spring", ps.JointSpring("A", stiffness=0.3, damping=0.02))
    model.add_force("friction", ps.JointFriction("D", coulomb=0.5, viscous=0.1))
    return model


@dataclass(frozen=True)
class Prepared:
    """Runs from different starts: their kernel, their arrays, and the ends that they should have.

    Parameters
    ----------
    launches : Launches
        Takes them.
    own : mapping
        Arrays in which they differ, `COMPARED` runs each.
    ends : array
        Their states at the end, by the compiled engine.
    """

    launches: Launches
    own: Mapping[str, Any]
    ends: np.ndarray[Any, Any]

    @property
    def steps(self) -> int:
        """How many steps a run takes."""
        return self.launches.job.times.size - 1


@dataclass(frozen=True)
class Mechanism:
    """A mechanism, the speed that differs from run to run, and how many steps are taken."""

    model: ps.Model
    speed: str
    span: tuple[float, float]
    steps: int

    def prepare(self) -> Prepared:
        """Return runs of it."""
        values = np.linspace(*self.span, COMPARED)[:, None]
        parameters = Parameters.of(self.model, {self.speed: values[:, 0]})
        options = {"step": STEP, "t_end": STEP * self.steps, "save_every": self.steps}
        cases = Cases(parameters, {self.speed: ()}, {**options, "engine": "compiled"})
        numbers = Numbers.of(cases.opening, values)
        varied, device = numbers.at(values), OnDevice(numbers)
        ends = np.array([end.reached.copy() for end in Arena(numbers).ends(varied)])
        return Prepared(device.launches, device.own(varied), ends)


def mechanisms() -> dict[str, Mechanism]:
    """Return all mechanisms by name."""
    steps = {1: 1000, 3: 500, 6: 300, 10: 200, 20: 100}
    spin, turn = ("initial.bar0.angular_velocity.z", (0.5, 1.5)), "initial.crank.angular_velocity.x"
    chains = {f"chain of {n}": Mechanism(chain(n), *spin, steps[n]) for n in steps}
    return {
        **chains,
        "spatial slider-crank": Mechanism(slider_crank(), turn, (3.0, 9.0), 300),
        "the same with spring and dry friction": Mechanism(damped(), turn, (3.0, 9.0), 300),
    }


def measure(prepared: Prepared, runs: int, times: int = 3) -> tuple[float, float, float]:
    """Return steps/s, the largest balance error and the largest difference to processors."""
    own = {name: np.resize(array, (runs, *array.shape[1:])) for name, array in prepared.own.items()}
    found = min(
        (prepared.launches.take(own, runs) for _ in range(times)),
        key=lambda each: float(each["seconds"]),
    )
    assert np.all(found["returned"][:, 0] == prepared.steps), "some runs stopped"
    motion = found["ahead" if prepared.steps % 2 else "state"][:COMPARED]
    difference = float(np.abs(motion - prepared.ends[: len(motion)]).max())
    balance = float(found["sums"][:, job.ERROR].max())
    return runs * prepared.steps / float(found["seconds"]), balance, difference


def tables(prepared: Mapping[str, Prepared]) -> None:
    """Print both tables."""
    print(f"{cuda.device().name}, {RUNS} runs\n")
    print("| mechanism | steps/s | balance error [J] | difference to the CPU |")
    print("| --- | ---: | ---: | ---: |")
    for name, each in prepared.items():
        speed, balance, difference = measure(each, RUNS)
        print(f"| {name} | {speed:.1e} | {balance:.0e} | {difference:.0e} |", flush=True)
    grown = [name for name in ("chain of 3", "spatial slider-crank") if name in prepared]
    print(f"\n| runs | {' | '.join(grown)} |\n| ---: |{' ---: |' * len(grown)}")
    for runs in (2**k for k in range(10, 21, 2)):
        speeds = [f"{measure(prepared[name], runs, 1)[0]:.1e}" for name in grown]
        print(f"| {runs} | {' | '.join(speeds)} |", flush=True)


def main() -> None:
    """Measure all mechanisms."""
    tables({name: each.prepare() for name, each in mechanisms().items()})


if __name__ == "__main__":
    main()
