r"""A slider-crank with an elastic coupler at constant speed [BAPM21, sec. 6.2, fig. 8].

A rigid crank turns at 150 rad/s and drives a slider by a slender coupler, which is undeformed at
the start. In the frame of the simply supported coupler its deflection w follows

.. math::

    \rho A\, (\ddot w - \dot\varphi^2 w + \ddot\varphi\, x + a_n) + E I\, w'''' = 0, \qquad
    \varphi = -\arcsin\left(\tfrac{r}{L} \sin \omega t\right),

with :math:`a_n` the acceleration of the crank pin across the coupler: the motion of the frame is
that of rigid bodies, and twelve sine modes solve this to 1e-9 (`EXACT`).

With stiffening, the axial force N stretches and compresses the bent coupler as well, by
:math:`-(N w')'`. Two models are compared, each with its like. `GIVEN_FORCE` has the axial force of
rigid motion,

.. math:: N = -\frac{m_s a_s}{\cos\varphi} - \int_x^L \rho A\, a_t\, d\xi,

of the slider's inertia along the coupler and of the coupler's own, without what the rail pushes
along it and without the inertia of the bending: `with_given_force` puts this force into the same
elements. `WHOLE` is the whole mechanism with a coupler that bends and does not stretch, of
eight sine modes, whose ends come closer by :math:`\int w'^2 / 2`, so that slider and rail feel the
bending: that is what a `Beam` with stiffening is. The two differ by 3 % of the largest deflection.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from poinsot.bodies.beam import Beam
from poinsot.bodies.shapes import Box
from poinsot.elements.sections import CircularSection
from poinsot.gallery.example import Check, Example, vanishing
from poinsot.model import Model
from poinsot.parts.drives import Drive
from poinsot.parts.joints import PointOnPlane, Revolute
from poinsot.ph.matrices import dense
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
#: The same with the axial force of rigid motion, and of the whole mechanism with stiffening (1e-6).
GIVEN_FORCE = {1.0: 0.01349966, 2.0: 0.005539606, 5.0: -0.01230143, 6.0: -0.007371702}
WHOLE = {1.0: 0.0130024, 2.0: 0.0055700, 5.0: -0.0122386, 6.0: -0.0078960}
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
    """Return w/L at crank angles [rad]."""
    return _at_angles(result.time, deflection(result)[:, 1], angles)


def _at_angles(time: Array, across: Array, angles: Array) -> Array:
    """Return values at crank angles [rad], between steps by a cubic through four of them."""
    turned, found = SPEED * time, []
    for angle in angles:
        k = int(np.clip(np.searchsorted(turned, angle) - 2, 0, turned.size - 4))
        near = slice(k, k + 4)
        found.append(np.polyval(np.polyfit(turned[near] - angle, across[near], 3), 0.0))
    return np.array(found)


class RigidMotion(NamedTuple):
    """How the coupler moves and what pulls it, if nothing bends.

    Rate [rad/s] and its rate; the acceleration of the crank pin across the coupler [m/s^2]; and the
    axial force as a polynomial of x, by its coefficients.
    """

    turning: float
    turned: float
    across: float
    force: tuple[float, float, float]

    @classmethod
    def at(cls, t: float) -> "RigidMotion":
        """Return it at a time [s]."""
        r, L, sin, cos = CRANK, COUPLER, np.sin(SPEED * t), np.cos(SPEED * t)
        s = -r / L * sin
        c = np.sqrt(1 - s * s)
        turning = -r / L * SPEED * cos / c
        turned = (r / L * SPEED**2 * sin + turning**2 * s) / c
        along, across = (-r * SPEED**2 * x for x in (c * cos + s * sin, c * sin - s * cos))
        slider = c * (along - turning**2 * L) - s * (across + turned * L)
        mass = DENSITY * np.pi * RADIUS**2
        # N' = rho A a_t with a_t = along - turning^2 x, and N(L) = -m_s a_s / cos.
        grows = (mass * along, -mass * turning**2 / 2)
        end = -mass * L / 2 * slider / c
        return cls(turning, turned, across, (end - grows[0] * L - grows[1] * L**2, *grows))


def with_given_force(angles: Array, h: float = STEP) -> Array:
    """Return w/L at crank angles [rad] of the same elements under the force of rigid motion.

    M w'' + (K + N(t) - turning^2 M) w = -f(t) by the midpoint rule, in the frame of the coupler.
    """
    of = coupler().matrices
    bends = np.arange(of.n).reshape(-1, 6)[:, [1, 5]].reshape(-1)[[*range(1, of.n // 3 - 2), -1]]
    inside = np.ix_(bends, bends)
    M, K = (dense(matrix)[inside] for matrix in (of.M, of.K))
    powers: list[Callable[[Array], Array]] = [np.ones_like, np.asarray, np.square]
    pulls = [dense(of.geometric_stiffness(power))[inside] for power in powers]
    loads = np.asarray(of.M @ of.rigid[:, [1, 5]])[bends]
    time: Array = h * np.arange(int(np.ceil(max(angles) / SPEED / h)) + 3, dtype=float)
    u, v, middle = np.zeros(bends.size), np.zeros(bends.size), [0.0]
    at = int(np.flatnonzero(bends == 6 * (ELEMENTS // 2) + 1)[0])
    for t in time[:-1] + h / 2:
        now = RigidMotion.at(float(t))
        stiff = K - now.turning**2 * M
        stiff = stiff + sum(n * pull for n, pull in zip(now.force, pulls, strict=True))
        push = loads @ (now.across, now.turned)
        mean = np.linalg.solve(M + h**2 / 4 * stiff, M @ v - h / 2 * (stiff @ u + push))
        u, v = u + h * mean, 2 * mean - v
        middle.append(float(u[at]))
    return _at_angles(time, np.array(middle) / COUPLER, angles)


def check(result: Result) -> list[Check]:
    """Compare w/L with continua: without stiffening, with it, and with a given axial force."""
    stiffened = simulate(model(stiffening=True), h=result.h, t_end=result.time[-1])
    angles = np.array(list(GIVEN_FORCE))
    found = (
        ("", at_angles(result, np.array(list(EXACT))), EXACT, "modes of the continuum"),
        (", stiffened", at_angles(stiffened, angles), WHOLE, "modes of the mechanism"),
        (", given force", with_given_force(angles), GIVEN_FORCE, "modes, force of rigid motion"),
    )
    checks = [
        Check(f"w/L at {angle:g} rad{how}", float(own), other, 1e-3 * PEAK, source)
        for how, values, exact, source in found
        for own, (angle, other) in zip(values, exact.items(), strict=True)
    ]
    work = result.port("motor").energy
    gained = result.energy - result.energy[0]
    return [
        *checks,
        Check("largest w/L", float(deflection(result)[:, 1].max()), PEAK, 1e-3 * PEAK, "same"),
        vanishing("energy gained minus work of the motor [J]", gained - work, 1e-11),
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
            describe(ax, title, unit, xlabel="crank angle [rad]", room=0.3)
    return figure


EXAMPLE = Example(
    title="Slider-crank with an elastic coupler",
    source="[BAPM21, sec. 6.2, figs. 7 and 8]",
    scheme="ph-mp",
    h=STEP,
    t_end=np.ceil(LAST / SPEED / STEP) * STEP,
    model=model,
    check=check,
    plot=plot,
)
