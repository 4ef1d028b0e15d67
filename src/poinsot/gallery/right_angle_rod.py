"""A right-angled cantilever that swings out of its plane, bends and twists [SV88].

A force across the plane acts on the elbow for two seconds; the free vibrations after that are as
large as the frame itself.
"""

from dataclasses import dataclass

import numpy as np

from poinsot.elements.sections import SectionLaw
from poinsot.gallery.example import Check, Example, compare, vanishing
from poinsot.gallery.extrapolation import extrapolate
from poinsot.gallery.flying_rod import coloured, shape, smooth
from poinsot.model import Model
from poinsot.model.rods import ElasticRod
from poinsot.parts.joints import Weld
from poinsot.parts.loads import ForcePort
from poinsot.result import Array, Result
from poinsot.run import simulate
from poinsot.viz import plot_balance, plot_energy_kinds
from poinsot.viz.axes import describe, panels
from poinsot.viz.style import COLOURS, Figure, drawing


@dataclass(frozen=True)
class RightAngle:
    """Parameters of [SV88], SI units; the polar inertia of a section is twice `inertia`."""

    leg: float = 10.0
    axial: float = 1e6  # EA = GA
    bending: float = 1e3  # EI = GJ
    mass: float = 1.0  # rho A
    inertia: float = 10.0  # rho I
    force: float = 50.0  # at 1 s; it grows from 0 s and is gone at 2 s
    elements: int = 10  # of each leg


def model(frame: RightAngle = RightAngle()) -> Model:
    """Build the rods `leg`, clamped at the origin, and `arm`, with the port `force` between."""
    section = SectionLaw(
        stiffness=3 * (frame.axial,) + 3 * (frame.bending,),
        mass=frame.mass,
        inertia=(frame.inertia, frame.inertia),
    )
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0)]) * frame.leg
    bent = Model(name="right-angle-rod")
    leg, arm = (
        bent.add_body(name, ElasticRod(ends, section, frame.elements, normal=(0, 0, 1)))
        for name, ends in (("leg", corners[:2]), ("arm", corners[1:]))
    )
    bent.add_joint("clamp", Weld(bent.ground, leg.start))
    bent.add_joint("elbow", Weld(leg.end, arm.start))
    push = ForcePort(leg.end, value=lambda t: (0, 0, frame.force * max(0.0, min(t, 2 - t))))
    bent.add_port("force", push)
    return bent


#: Time [s] and displacement across the plane [m] of the elbow and of the tip at extremes of the
#: curves of [SV88], read off for AeroBeams.jl by L. Pancini (test/referenceData/elbowFrame).
PUBLISHED = {
    "leg.end": ((3.05, 5.50), (10.82, -3.87), (25.16, 6.11)),
    "arm.end": ((7.67, 8.29), (15.99, -9.67), (26.08, 6.98)),
}
#: Elbow and tip at 2 s [m] by spectral elements of degree 8 for each leg and DOP853 with a
#: tolerance of 1e-6; degree 6 differs by up to 1.5e-3.
AT_2_S = np.array([(8.988858, 0.267356, 4.115121), (10.106254, 9.307821, 0.069202)])


def extreme(result: Result, body: str, near: float) -> float:
    """Return the largest displacement across the plane within a second of a time [m]."""
    z = result.position(body)[abs(result.time - near) <= 1.0, 2]
    return float(z[np.argmax(abs(z))])


def refined(steps: tuple[tuple[int, float], ...] = ((5, 0.02), (10, 0.01), (20, 0.005))) -> Array:
    """Return elbow and tip at 2 s in the limit of small elements and steps [m]; shape (2, 3)."""
    runs = [
        simulate(model(RightAngle(elements=n)), h=h, t_end=2.0, progress=False) for n, h in steps
    ]
    return extrapolate([[run.position(body)[-1] for body in PUBLISHED] for run in runs])


def check(result: Result) -> list[Check]:
    """Compare extremes with the published curves, a limit with spectral elements, and energy."""
    places = {"leg.end": "elbow", "arm.end": "tip"}
    marks = [(body, t, z) for body, curve in PUBLISHED.items() for t, z in curve]
    names = [f"{places[body]}, extreme near {t:.0f} s [m]" for body, t, _ in marks]
    found = [extreme(result, body, t) for body, t, _ in marks]
    free = result.energy[result.time > 2.0]
    return [
        *compare(names, found, [z for *_, z in marks], 0.25, "[SV88], digitised curves"),
        vanishing(
            "error at 2 s, h, l -> 0 [m]", refined() - AT_2_S, 5e-4, "spectral elements, DOP853"
        ),
        vanishing("change of energy after the load, relative", free / free[0] - 1, 1e-11),
        vanishing("largest energy error [J]", result.stats.balance_error_max, 1e-11),
    ]


def plot(result: Result) -> "Figure":
    """Plot shapes, displacements with the published extremes, energies and their balance."""
    with drawing(10, 8) as figure:
        space, across, energy, balance = panels(figure, (1.3, 1))
        for t, colour in coloured(np.arange(0.0, 8.1, 1.0)):
            axis = np.vstack([smooth(shape(result, t, rod)) for rod in ("leg", "arm")])
            space.plot(*axis.T, color=colour, linewidth=2.0)
        space.set(
            xlim=(0, 11), ylim=(-1, 10), zlim=(0, 8.5), zlabel="z [m]", zticks=(0, 2, 4, 6, 8)
        )
        space.set_box_aspect((1.1, 1.1, 0.85), zoom=0.85)
        space.view_init(elev=20, azim=-60)
        describe(space, "The frame every second", "y [m]", xlabel="x [m]")
        for body, label, colour in (("leg.end", "elbow", 0), ("arm.end", "tip", 1)):
            look = {"color": COLOURS[colour]}
            across.plot(result.time, result.position(body)[:, 2], label=label, **look)
            across.plot(*np.transpose(PUBLISHED[body]), "o", **look)
        describe(across, "Across the plane; dots are published", "z [m]")
        plot_energy_kinds(result, energy, title="Energy", ylim=(-5, 165))
        energy.legend(ncols=2, loc="upper right")
        plot_balance(result, balance, title="Energy is what the force has put in")
    return figure


EXAMPLE = Example(
    title="Right-angled cantilever",
    source="[SV88]",
    scheme="ph-mp",
    h=0.025,
    t_end=30.0,
    model=model,
    check=check,
    plot=plot,
)
