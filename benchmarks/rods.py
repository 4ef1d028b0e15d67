"""A rod that is pushed at its end and flies, in Poinsot and in Exudyn: microseconds a step.

`python -m benchmarks rods` prints a table. The rod is that of the flying spaghetti of Simo and
Vu-Quoc with less rotary inertia, under a constant force at one end. Exudyn's cable
(`ObjectANCFCable`) bends without shear and torsion, its geometrically exact beam has all of them;
both are integrated by its generalised-alpha method with modified Newton and a sparse solver. All
take turns on one core, and CPU time counts. How far their ends are apart after 2.5 s tells whether
they mean the same.

The step is the same for all, and of second order: in time all are off by less than 1e-4 m. In space
they are not alike: the cable's curve is cubic and its mass consistent, that of our nodes is lumped.
So that the time to the same error in the end, each against its own rod of very many elements, says
something else than the time of a step: it is measured, too, under the same force, by which the rod
hardly bends, and under one that bends it far.
"""

from collections.abc import Callable
from itertools import pairwise
from statistics import median
from time import process_time
from typing import Any

#: Step [s], times [s] of a short and a long run, whose difference counts; elements. Ours goes on
#: for longer: its steps of two seconds take less time than what its preparation varies by.
H, T, OURS, ELEMENTS = 1e-3, (0.5, 2.5), (0.5, 20.5), 32
LENGTH, MASS, INERTIA, FORCE = 10.0, 1.0, 0.05, (0.5, 2.0, 1.0)
SHEAR, AXIAL, BENDING = 1e4, 1e4, 500.0


#: Forces in multiples of `FORCE`, the error in the end at which times are compared [m], in as many
#: multiples, and how many elements each rod has; the last two numbers are those of its converged
#: solution.
FORCES, TARGET = (1, 10), 1e-3
NUMBERS = {
    "Poinsot": (8, 16, 32, 64, 128, 256, 512),
    "Exudyn, cable": (2, 4, 8, 16, 32, 48),
    "Exudyn, geometrically exact beam": (8, 16, 32, 64, 96, 128),
}


def entrant(name: str, elements: int = ELEMENTS, times: float = 1) -> Callable[[float], Any]:
    """Return what simulates a rod up to a time and returns where its end is [m]."""
    force = tuple(times * component for component in FORCE)
    if name == "Poinsot":
        return poinsot(elements, force)
    return exudyn(name.split()[-1], elements, force)


def poinsot(elements: int, force: tuple[float, ...]) -> Callable[[float], Any]:
    """Return what simulates our rod."""
    import poinsot as ps

    stiffness = (SHEAR, SHEAR, AXIAL, BENDING, BENDING, BENDING)
    section = ps.SectionLaw(stiffness=stiffness, mass=MASS, inertia=(INERTIA, INERTIA))
    model = ps.Model()
    shape = ps.ElasticRod([(0, 0, 0), (LENGTH, 0, 0)], section, elements)
    rod = model.add_body("rod", shape, velocity=(0, 0, 0), angular_velocity=(0, 0, 0))
    model.add_port("push", ps.ForcePort(rod.end, value=force))

    def fly(t_end: float) -> Any:
        options: dict[str, Any] = {"save_every": round(t_end / H), "engine": "compiled"}
        result = ps.simulate(model, h=H, t_end=t_end, progress=False, **options)
        return result.position(rod.end.name)[-1]

    return fly


def exudyn(kind: str, elements: int, force: tuple[float, ...]) -> Callable[[float], Any]:
    """Return what simulates a rod of Exudyn, a `cable` or a `beam`."""
    from benchmarks.peers.exudyn_module import exu

    exu.config.printToConsole = False
    item, length = exu.itemInterface, LENGTH / elements
    system = exu.SystemContainer().AddSystem()
    places = [k * length for k in range(elements + 1)]
    if kind == "cable":
        nodes = [
            system.AddNode(item.NodePointSlope1(referenceCoordinates=[x, 0, 0, 1, 0, 0]))
            for x in places
        ]
        for pair in pairwise(nodes):
            cable = item.ObjectANCFCable(
                nodeNumbers=list(pair),
                length=length,
                massPerLength=MASS,
                bendingStiffness=BENDING,
                axialStiffness=AXIAL,
            )
            system.AddObject(cable)
        marker = system.AddMarker(item.MarkerNodePosition(nodeNumber=nodes[-1]))
    else:
        section = exu.BeamSection()
        section.massPerLength = MASS
        section.inertia = [[2 * INERTIA, 0, 0], [0, INERTIA, 0], [0, 0, INERTIA]]
        diagonal = (AXIAL, SHEAR, SHEAR, BENDING, BENDING, BENDING)
        section.stiffnessMatrix = [
            [value if i == j else 0.0 for j in range(6)] for i, value in enumerate(diagonal)
        ]
        nodes = [
            system.AddNode(item.NodeRigidBodyRotVecLG(referenceCoordinates=[x, 0, 0, 0, 0, 0]))
            for x in places
        ]
        for pair in pairwise(nodes):
            beam = item.ObjectBeamGeometricallyExact(
                nodeNumbers=list(pair), length=length, sectionData=section
            )
            system.AddObject(beam)
        marker = system.AddMarker(item.MarkerNodeRigid(nodeNumber=nodes[-1]))
    system.AddLoad(item.LoadForceVector(markerNumber=marker, loadVector=list(force)))
    system.Assemble()
    settings = exu.SimulationSettings()
    settings.solution.file.write = False
    settings.solution.sensors.active = False
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9

    def fly(t_end: float) -> Any:
        settings.timeIntegration.numberOfSteps = round(t_end / H)
        settings.timeIntegration.endTime = t_end
        solver = exu.DynamicSolverType.GeneralizedAlpha
        exu.SolveDynamic(system, settings, solverType=solver, showCausingItems=False)
        return system.GetNodeOutput(nodes[-1], exu.OutputVariableType.Position)

    return fly


def rods(repeats: int) -> dict[str, Any]:
    """Return the time of a step of each [s], and how far its end is from ours [m]."""
    import numpy as np

    entrants = {name: entrant(name) for name in NUMBERS}
    ends = {name: np.asarray(fly(T[1])) for name, fly in entrants.items()}
    times: dict[str, list[float]] = {name: [] for name in entrants}
    for _ in range(repeats):
        for name, fly in entrants.items():
            clock, ends_at = [process_time()], OURS if name == "Poinsot" else T
            for t_end in ends_at:
                fly(t_end)
                clock.append(process_time())
            start, short, long = clock
            steps = (ends_at[1] - ends_at[0]) / H
            times[name].append(((long - short) - (short - start)) / steps)
    return {
        "elements": ELEMENTS,
        "t_end": T[1],
        "rows": [
            {
                "name": name,
                "seconds": median(each),
                "apart": float(np.max(abs(ends[name] - ends["Poinsot"]))),
            }
            for name, each in times.items()
        ],
        "contests": [contest(force) for force in FORCES],
    }


def contest(times: float) -> dict[str, Any]:
    """Return the time to the same error of each [s], under so many times the force."""
    return {"times": times, "seconds": {name: _to_target(name, times) for name in NUMBERS}}


def _to_target(name: str, times: float) -> float | None:
    import numpy as np

    from benchmarks.work_precision import time_to

    rods = [entrant(name, elements, times) for elements in NUMBERS[name]]
    *ends, coarse, fine = (np.asarray(fly(T[1])) for fly in rods)
    ratio = (NUMBERS[name][-1] / NUMBERS[name][-2]) ** 2
    solution = fine + (fine - coarse) / (ratio - 1)
    points = []
    for end, fly in zip(ends, rods, strict=False):
        start = process_time()
        fly(5 * T[1])
        middle = process_time()
        fly(T[1])
        seconds = ((middle - start) - (process_time() - middle)) / 4
        if seconds > 0:  # a rod of a few elements may take less than its preparation varies by
            points.append({"error": float(np.max(abs(end - solution))), "seconds": seconds})
    return time_to(times * TARGET, points)
