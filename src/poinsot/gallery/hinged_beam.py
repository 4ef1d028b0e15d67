r"""A beam on a spherical joint, turned by a torque and struck at its tip [BAPM21, sec. 6.3].

As in fig. 10: a torque about the beam's own z axis acts at the joint for 10.2 s, and a short force
in z at the tip from 15 s on. The beam bends in two planes and twists; units are kg, mm and s. A
rigid beam with the same inertia is the limit for a large Young's modulus, and its motion is known
without error of integration (`RIGID_TIP`).
"""

import numpy as np

from poinsot.analysis import modes
from poinsot.bodies.beam import Beam
from poinsot.elements.sections import Section
from poinsot.gallery.example import Check, Example, compare, vanishing
from poinsot.model import Model
from poinsot.parts.joints import Spherical
from poinsot.parts.loads import ForcePort, TorquePort
from poinsot.ph.signals import Table
from poinsot.result import Array, Result
from poinsot.run import simulate
from poinsot.viz.axes import describe
from poinsot.viz.style import Figure, drawing

#: [BAPM21, table 2], read in kg, mm and s: as printed, the numbers make no sense in SI units.
LENGTH, AREA, MOMENT = 141.42, 9.0, 6.75  # mm, mm^2, mm^4
DENSITY, YOUNGS_MODULUS = 7.8e-3, 2.1e6  # kg/mm^3, kg/(mm s^2)
TORQUE, FORCE = 200.0, 100.0  # kg mm^2/s^2, kg mm/s^2
#: The first frequency of a pinned-free beam, (3.92660/L)^2 sqrt(EI/(rho A)) [rad/s].
FREQUENCY = 10.95481752
#: Tip of the rigid beam at 20 s [mm], energy [kg mm^2/s^2] and rate about the vertical [rad/s].
RIGID_TIP = (124.549979669, 60.5220625895, 28.7053811067)
RIGID_ENERGY, RIGID_RATE = 90.65534894928, 3.021910791181e-2
#: Read off fig. 10: energy after the torque and at the end, largest and least rate.
FIGURE = {"energy": (30.3, 126.01), "rate": (0.08958, -0.02956)}
#: How many times stiffer beams are that come near the rigid one, and their step [s].
STIFFER, STEP = (100.0, 400.0), 0.05


def model(*, elements: int = 4, stiffer: float = 1.0) -> Model:
    """Build the beam along x, hinged at the origin, with its two loads."""
    beam = Beam(
        length=LENGTH,
        section=Section(area=AREA, I1=MOMENT, I2=MOMENT, J=2 * MOMENT),
        density=DENSITY,
        youngs_modulus=YOUNGS_MODULUS * stiffer,
        elements=elements,
    )
    hinged = Model(name="hinged-beam")
    body = hinged.add_body("beam", beam, position=(LENGTH / 2, 0, 0))
    hinged.add_joint("hinge", Spherical(hinged.ground, body, point=(0, 0, 0)))
    start, tip = hinged.body("beam.start"), hinged.body("beam.end")
    twist = Table((0, 0.2, 10, 10.2), ((0, 0, 0), (0, 0, TORQUE), (0, 0, TORQUE), (0, 0, 0)))
    pulse = Table((15, 15.2, 15.4), ((0, 0, 0), (0, 0, FORCE), (0, 0, 0)))
    hinged.add_port("torque", TorquePort(start, axes="body", value=twist))
    hinged.add_port("force", ForcePort(tip, point=(LENGTH, 0, 0), value=pulse))
    return hinged


def rate(result: Result) -> Array:
    """Return the angular velocity of the joint's end about the vertical [rad/s]; (times,)."""
    return result.angular_velocity("beam")[:, 2]


def stiff_runs() -> list[Result]:
    """Return runs of stiffer and stiffer beams to 20 s."""
    return [simulate(model(elements=1, stiffer=s), h=STEP, t_end=20.0) for s in STIFFER]


def check(result: Result) -> list[Check]:
    """Compare the frequency, the rigid limit, and what fig. 10 shows."""
    found = modes(model())
    runs = stiff_runs()
    tip = runs[-1].position("beam.end")[-1]
    bent = np.array([abs(run["beam.u"]).max() for run in runs])
    names = [f"tip at 20 s, {STIFFER[-1]:g} times stiffer, {axis} [mm]" for axis in "xyz"]
    turned = result.time >= 10.2
    start, end = result.energy[turned][0], result.energy[-1]
    rates, figure = rate(result), "fig. 10, digitised"
    supplied = sum(result.port(name).energy for name in ("torque", "force"))
    oscillating = found.frequencies[found.rigid :]
    return [
        Check(
            "first frequency [rad/s]", float(oscillating[0]), FREQUENCY, 1e-3 * FREQUENCY, "theory"
        ),
        *compare(names, tip, RIGID_TIP, 1e-4, "rigid body"),
        Check("order of the largest deflection in 1/E", _order(bent), 1.0, 0.01, "theory"),
        Check("energy after the torque [µJ]", float(start), FIGURE["energy"][0], 0.1, figure),
        Check("energy at the end [µJ]", float(end), FIGURE["energy"][1], 0.4, figure),
        Check("largest rate [rad/s]", float(rates.max()), FIGURE["rate"][0], 1.5e-3, figure),
        Check("smallest rate [rad/s]", float(rates.min()), FIGURE["rate"][1], 5e-4, figure),
        vanishing("energy minus work of the loads [µJ]", result.energy - supplied, 1e-10),
    ]


def _order(errors: Array) -> float:
    return float(np.log(errors[0] / errors[1]) / np.log(STIFFER[1] / STIFFER[0]))


def plot(result: Result) -> "Figure":
    """Plot energy and angular velocity as in fig. 10, and the path of the tip."""
    tip = result.position("beam.end")
    kinetic = result.observation.energies["kinetic"]
    with drawing(11, 3.6) as figure:
        energy, turning, path = figure.subplots(1, 3)
        energy.plot(result.time, result.energy, label="total")
        energy.plot(result.time, kinetic, label="kinetic", linewidth=0.8)
        turning.plot(result.time, rate(result))
        path.plot(result.time, tip, label=["x", "y", "z"])
        for ax, title, unit in (
            (energy, "Energy, fig. 10 left", "energy [µJ]"),
            (turning, "About the vertical, fig. 10 right", "angular velocity [rad/s]"),
            (path, "Tip", "position [mm]"),
        ):
            describe(ax, title, unit, ncols=3, room=0.2)
    return figure


EXAMPLE = Example(
    title="Beam on a ball joint",
    source="[BAPM21, sec. 6.3, table 2, figs. 9 and 10]",
    scheme="ph-mp",
    h=2.5e-3,
    t_end=50.0,
    model=model,
    check=check,
    plot=plot,
)
