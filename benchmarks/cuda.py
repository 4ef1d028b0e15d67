"""Steps a second on a graphics processor: `python -m benchmarks.cuda`, on a machine that has one.

Chains of bars on ball joints and the spatial slider-crank, from starts that all differ. Prints the
table of docs/howto/gpu.md: the balance is that of all runs, and the first ones are compared with
those of the compiled engine on this machine's processors.
"""

import argparse

from benchmarks.environment import pin

pin()

import numpy as np  # noqa: E402

import poinsot as ps  # noqa: E402
from poinsot.engine import job  # noqa: E402
from poinsot.gallery.spatial_slider_crank import model as slider_crank  # noqa: E402
from poinsot.model.parameters import Parameters  # noqa: E402
from poinsot.studies.batch import Arena  # noqa: E402
from poinsot.studies.cases import Cases  # noqa: E402
from poinsot.studies.numbers import Numbers  # noqa: E402
from poinsot.studies.on_device import OnDevice  # noqa: E402

STEP = 1e-3  # s
#: Runs that are compared.
COMPARED = 64


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


def measure(model: ps.Model, path: str, span: tuple[float, float], steps: int, runs: int) -> str:
    """Return steps/s, the largest balance error and the difference to processors, as cells."""
    values = np.linspace(*span, COMPARED)[:, None]
    parameters = Parameters.of(model, {path: values[:, 0]})
    options = {"step": STEP, "t_end": STEP * steps, "save_every": steps, "engine": "compiled"}
    cases = Cases(parameters, {path: ()}, options)
    numbers = Numbers.of(cases.opening, values)
    varied = numbers.at(np.resize(values, (runs, 1)))
    device = OnDevice(numbers)
    own = device.own(varied)
    found = min(
        (device.launches.take(own, runs) for _ in range(3)), key=lambda each: each["seconds"]
    )
    assert np.all(found["returned"][:, 0] == steps), "some runs stopped"
    motion = found["ahead" if steps % 2 else "state"]
    ends = Arena(numbers).ends(varied[:COMPARED])
    difference = max(float(np.abs(motion[k] - end.reached).max()) for k, end in enumerate(ends))
    balance = float(found["sums"][:, job.ERROR].max())
    return f"{runs * steps / float(found['seconds']):.1e} | {balance:.0e} | {difference:.0e}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cuda", description=__doc__)
    parser.add_argument("--runs", type=int, default=2**16, help="at a time")
    runs = parser.parse_args().runs
    print("| mechanism | steps/s | balance error [J] | difference |")
    print("| --- | ---: | ---: | ---: |")
    for count, steps in ((1, 1000), (3, 500), (6, 300), (10, 200)):
        spin = "initial.bar0.angular_velocity.z", (0.5, 1.5)
        cells = measure(chain(count), *spin, steps, runs)
        print(f"| chain of {count} | {cells} |", flush=True)
    crank = "initial.crank.angular_velocity.x", (3.0, 9.0)
    print(f"| slider-crank | {measure(slider_crank(), *crank, 300, runs)} |")


if __name__ == "__main__":
    main()
