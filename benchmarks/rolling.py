"""The rolling coin in Poinsot and in Exudyn: microseconds a step, and the error.

`python -m benchmarks.rolling` prints a table. Exudyn rolls by `ObjectJointRollingDisc`, with Euler
parameters, TrapezoidalIndex2 and modified Newton; both take turns on one core. The error is that
of the centre after one second, against Newton's and Euler's equations by DOP853.
"""

from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.environment import pin

#: Step [s], steps of a timed run, and runs.
H, STEPS, REPEATS = 1e-3, 5000, 11
COORDINATES = ("directors", "quaternions", "rotations")


def poinsot(coordinates: str) -> Callable[[int], Any]:
    """Return what rolls the coin for so many steps and returns where its centre is [m]."""
    import poinsot as ps
    from poinsot.gallery.rolling_coin import model

    coin = model()

    def roll(steps: int) -> Any:
        options: dict[str, Any] = {"coordinates": coordinates, "save_every": steps}
        result = ps.simulate(coin, h=H, t_end=steps * H, progress=False, **options)
        return result.position("coin")[-1]

    return roll


def exudyn() -> Callable[[int], Any]:
    """Return the same by Exudyn."""
    import numpy as np

    from benchmarks.peers.exudyn_module import exu
    from poinsot.gallery.rolling_coin import Coin, model
    from poinsot.so3 import matrix_to_quat

    exu.config.printToConsole = False
    coin, body = Coin(), model().bodies["coin"]
    v, omega = model().start_velocities()["coin"]
    w, x, y, z = quat = matrix_to_quat(body.R_WB)
    turn = np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]]) / 2
    (J_a, J_t), item = coin.inertia, exu.itemInterface
    system = exu.SystemContainer().AddSystem()
    node = system.AddNode(
        item.NodeRigidBodyEP(
            referenceCoordinates=[*body.position, *quat],
            initialVelocities=[*v, *(turn @ body.R_WB.T @ omega)],
        )
    )
    inertia = [J_t, J_t, J_a, 0, 0, 0]
    disc = system.AddObject(item.ObjectRigidBody(mass=coin.mass, inertia=inertia, nodeNumber=node))
    ground = system.AddObject(item.ObjectGround())
    ends = [system.AddMarker(item.MarkerBodyRigid(bodyNumber=each)) for each in (ground, disc)]
    weight = system.AddMarker(item.MarkerBodyMass(bodyNumber=disc))
    system.AddLoad(item.LoadMassProportional(markerNumber=weight, loadVector=[0, 0, -coin.gravity]))
    system.AddObject(
        item.ObjectJointRollingDisc(
            markerNumbers=ends, discRadius=coin.radius, discAxis=[0, 0, 1], planeNormal=[0, 0, 1]
        )
    )
    system.Assemble()
    settings = exu.SimulationSettings()
    settings.solution.file.write = False
    settings.solution.sensors.active = False
    settings.linearSolver.solverType = exu.LinearSolverType.EXUdense
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.newton.useModifiedNewton = True
    trapezoidal = exu.DynamicSolverType.TrapezoidalIndex2

    def roll(steps: int) -> Any:
        settings.timeIntegration.numberOfSteps = steps
        settings.timeIntegration.endTime = steps * H
        exu.SolveDynamic(system, settings, solverType=trapezoidal, showCausingItems=False)
        return system.GetObjectOutputBody(disc, exu.OutputVariableType.Position, [0, 0, 0])

    return roll


def main() -> None:
    """Measure on one core, and print."""
    pin()  # before anything numerical is imported
    import numpy as np

    from poinsot.gallery.rolling_coin import AFTER_ONE_SECOND

    entrants = {f"Poinsot, {each}": poinsot(each) for each in COORDINATES}
    entrants["Exudyn"] = exudyn()
    errors = {
        name: np.max(abs(roll(round(1 / H)) - AFTER_ONE_SECOND[:3]))
        for name, roll in entrants.items()
    }
    times: dict[str, list[float]] = {name: [] for name in entrants}
    for _ in range(REPEATS):
        for name, roll in entrants.items():
            begin = perf_counter()
            roll(STEPS)
            times[name].append(1e6 * (perf_counter() - begin) / STEPS)
    slowest = median(times["Exudyn"])
    print("| | microseconds a step | Exudyn / it | error after 1 s [m] |")
    print("| :--- | ---: | ---: | ---: |")
    for name, each in times.items():
        time = median(each)
        print(f"| {name} | {time:.2f} | {slowest / time:.1f} | {errors[name]:.1e} |")


if __name__ == "__main__":
    main()
