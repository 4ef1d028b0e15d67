r"""A slider-crank with an elastic coupler at constant speed [BAPM21, sec. 6.2, fig. 8].

A rigid crank turns at 150 rad/s and drives a slider by a slender coupler, which is undeformed at
the start. In the frame of the simply supported coupler its deflection w follows

.. math::

    \rho A\, (\ddot w - \dot\varphi^2 w + \ddot\varphi\, x + a_n) + E I\, w'''' = 0, \qquad
    \varphi = -\arcsin\left(\tfrac{r}{L} \sin \omega t\right),

with :math:`a_n` the acceleration of the crank pin across the coupler: the motion of the frame is
that of rigid bodies, and twelve sine modes solve this to 1e-9 (`EXACT`). With stiffening, the axial
force stretches and compresses the bent coupler as well. `STIFFENED` takes that of the inertia of
coupler and slider in rigid motion; it leaves out that the rail pushes the slider sideways, with a
force that also the bending changes, and is off by up to 3 % of the largest deflection.
"""

import numpy as np

from poinsot.bodies.beam import Beam
from poinsot.bodies.shapes import Box
from poinsot.elements.sections import CircularSection
from poinsot.gallery.example import Check, Example, vanishing
from poinsot.model import Model
from poinsot.parts.drives import Drive
from poinsot.parts.joints import PointOnPlane, Revolute
from poinsot.result import Array, Result
from poinsot.run import simulate
from poinsot.viz.axes import describe
from poinsot.viz.style import COLOURS, Figure, drawing

CRANK, COUPLER, RADIUS = 0.15, 0.3, 3e-3  # m
SPEED = 150.0  # rad/s
DENSITY, YOUNGS_MODULUS = 7870.0, 2e11
ELEMENTS = 6
#: Crank angle [rad] -> w/L in the middle of the coupler, with 1e-9.
EXACT = {
    0.5: 0.00957594722,
    1.0: 0.01654196739,
    2.0: 0.007142076221,
    3.0: 0.003568742317,
    4.0: -0.002007039148,
    5.0: -0.01226383246,
    6.0: -0.01148059791,
    7.0: 0.0102595534,
    8.0: 0.002912463797,
}
#: The same with the axial force of the rigid motion, without that of the rail.
STIFFENED = {1.0: 0.01349966, 2.0: 0.005539606, 5.0: -0.01230143, 6.0: -0.007371702}
#: The largest w/L.
PEAK = 0.018762454
#: Crank angle at the end of a run [rad], and step [s].
LAST, STEP = 8.0, 2e-5


def coupler(*, elements: int = ELEMENTS, stiffening: bool = False) -> Beam:
    """Return the coupler, simply supported in its frame, with the slider as a mass at its end."""
    return Beam(
        length=COUPLER,
        section=CircularSection(radius=RADIUS),
        density=DENSITY,
        youngs_modulus=YOUNGS_MODULUS,
        elements=elements,
        held="simply supported",
        stiffening=stiffening,
        planar=True,
        end_mass=DENSITY * np.pi * RADIUS**2 * COUPLER / 2,
    )


def model(*, elements: int = ELEMENTS, stiffening: bool = False) -> Model:
    """Build the mechanism in the plane of x and y, stretched out along x at the start."""
    mechanism = Model(name="flexible-crank-slider")
    beam, axis, far = coupler(elements=elements, stiffening=stiffening), (0, 0, 1), CRANK + COUPLER
    crank = mechanism.add_body(
        "crank", Box(density=DENSITY, size=(CRANK, 0.02, 0.01)), position=(CRANK / 2, 0, 0)
    )
    rod = mechanism.add_body("coupler", beam, position=(CRANK + COUPLER / 2, 0, 0))
    ground = mechanism.ground
    mechanism.add_joint("A", Revolute(ground, crank, point=(0, 0, 0), axis=axis))
    mechanism.add_joint("B", Revolute(crank, rod, point=(CRANK, 0, 0), axis=axis))
    mechanism.add_joint("rail", PointOnPlane(ground, rod, point=(far, 0, 0), normal=(0, 1, 0)))
    mechanism.add_port("motor", Drive("A", rate=SPEED))
    return mechanism


def deflection(result: Result, elements: int = ELEMENTS) -> Array:
    """Return the displacement of the middle over L, along and across the coupler; (times, 2)."""
    moved = result.position(f"coupler.{elements // 2}") - result.position("coupler")
    across = np.einsum("tji,tj->ti", result.rotation("coupler"), moved)
    return np.asarray(across[:, :2] / COUPLER)


def at_angles(result: Result, angles: Array) -> Array:
    """Return w/L at crank angles [rad], between steps by a cubic through four of them."""
    turned, across = SPEED * result.time, deflection(result)[:, 1]
    found = []
    for angle in angles:
        k = int(np.clip(np.searchsorted(turned, angle) - 2, 0, turned.size - 4))
        near = slice(k, k + 4)
        found.append(np.polyval(np.polyfit(turned[near] - angle, across[near], 3), 0.0))
    return np.array(found)


def check(result: Result) -> list[Check]:
    """Compare w/L with the continuum, without and with stiffening."""
    stiffened = simulate(model(stiffening=True), h=result.h, t_end=result.time[-1])
    runs = (
        (result, EXACT, 1e-3, "", "modes of the continuum"),
        (stiffened, STIFFENED, 3e-2, ", stiffened", "modes, without the force of the rail"),
    )
    checks = [
        Check(f"w/L at {angle:g} rad{how}", float(own), other, near * PEAK, source)
        for run, exact, near, how, source in runs
        for own, (angle, other) in zip(
            at_angles(run, np.array(list(exact))), exact.items(), strict=True
        )
    ]
    work = result.port("motor").energy
    gained = result.energy - result.energy[0]
    return [
        *checks,
        Check("largest w/L", float(deflection(result)[:, 1].max()), PEAK, 1e-3 * PEAK, "same"),
        vanishing("energy gained less work of the motor [J]", gained - work, 1e-11),
        vanishing("largest gap of a joint [m]", result.constraint_error, 1e-14),
    ]


def plot(result: Result) -> "Figure":
    """Plot both panels of fig. 8, and what the motor does."""
    stiffened = simulate(model(stiffening=True), h=result.h, t_end=result.time[-1])
    turned = SPEED * result.time
    with drawing(11, 3.6) as figure:
        along, across, power = figure.subplots(1, 3)
        for run, name in ((result, "as published"), (stiffened, "with stiffening")):
            moved = deflection(run)
            along.plot(turned, moved[:, 0], label=name, linewidth=0.8)
            across.plot(turned, moved[:, 1], label=name)
        across.plot(list(EXACT), list(EXACT.values()), "o", color=COLOURS[2], label="exact")
        power.plot(turned, result.energy - result.energy[0], label="energy gained")
        power.plot(turned, result.port("motor").energy, "--", label="work of the motor")
        for ax, title, unit in (
            (along, "Along the coupler, fig. 8 left", "$u_x(L/2) / L$"),
            (across, "Across the coupler, fig. 8 right", "$u_y(L/2) / L$"),
            (power, "Energy", "energy [J]"),
        ):
            describe(ax, title, unit, xlabel="crank angle [rad]")
    return figure


EXAMPLE = Example(
    title="A slider-crank with an elastic coupler",
    source="[BAPM21, sec. 6.2, figs. 7 and 8]",
    scheme="ph-mp",
    h=STEP,
    t_end=np.ceil(LAST / SPEED / STEP) * STEP,
    model=model,
    check=check,
    plot=plot,
)
