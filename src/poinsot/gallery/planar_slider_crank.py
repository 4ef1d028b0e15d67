"""A slider-crank in the plane, its crank and rod joined at ports [BHRS25, sec. 7.3].

The crank turns about A, the slider and the rod are one body about B, and both meet at C. They are
tied by the velocities of C, as interconnection does it, or by its positions [BHRS25, rem. 4].
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from poinsot.bodies.shapes import RigidBody
from poinsot.gallery.appearance import about, turned, with_bodies
from poinsot.gallery.example import Check, Example, compare, vanishing
from poinsot.gallery.extrapolation import extrapolate, order
from poinsot.model import Model
from poinsot.parts.joints import PointOnPlane, Revolute
from poinsot.parts.loads import JointPort
from poinsot.ph import PHSystem, Port, feed
from poinsot.result import Array, Piece, Result
from poinsot.run import simulate
from poinsot.systems.redundant import RedundantSystem
from poinsot.viz.axes import describe
from poinsot.viz.style import COLOURS, Axes, Figure, drawing

TORQUE = 0.02  # N m at the crank
START = (0.5, 10.0)  # rad, rad/s of the crank
#: Steps [s] whose limit is compared with exact numbers.
STEPS = (2.5e-3, 1.25e-3, 6.25e-4)
#: What `EXACT` lists.
NAMES = (
    *("phi_1 [rad]", "omega_1 [rad/s]"),
    *("x_B [m]", "v_B [m/s]"),
    *("phi_2 [rad]", "omega_2 [rad/s]"),
)
#: Time [s] -> the motion without error of integration, 13 digits; phi_2 in (-pi, pi].
EXACT = {
    0.1: (
        *(1.26920163010408e00, 6.85462927433198e00),
        *(3.63907839894445e-01, -1.11876640779452e00),
        *(2.71998546421187e00, -9.56370663341838e-01),
    ),
    0.5: (
        *(5.22723853540584e00, 7.59177150161721e00),
        *(3.98599537832077e-01, 1.21657564255285e00),
        *(-2.75933691572368e00, -1.72671832740625e00),
    ),
    1.0: (
        *(1.08237044172667e01, 8.89717462049296e00),
        *(2.91612885019407e-01, 1.20859137235726e00),
        *(-2.70565874078087e00, 7.19413354137294e-01),
    ),
    2.0: (
        *(2.29213738719482e01, 1.34439528510485e01),
        *(2.39041460821495e-01, 1.17583708894056e00),
        *(-2.79083532928355e00, 3.66675441363397e00),
    ),
    5.0: (
        *(6.96452450723550e01, 1.88788730708058e01),
        *(4.71086161403506e-01, -1.97446799774690e00),
        *(2.92312539229188e00, -7.15003004962472e00),
    ),
}


@dataclass(frozen=True)
class Mechanism:
    """Parameters, SI units; [BHRS25] gives no numbers."""

    crank: float = 0.15  # l_1, A to C
    rod: float = 0.35  # l_2, B to C
    crank_inertia: float = 0.002  # I_1A, about A
    mass: float = 0.8  # m_2, of rod and slider
    centre: float = 0.12  # r_2, B to the centre of mass
    rod_inertia: float = 0.01  # I_2B, about B
    friction: float = 0.0  # N m s/rad, of the crank at A

    @property
    def own_inertia(self) -> float:
        """Moment of inertia of the rod about its centre of mass [kg m^2]."""
        return self.rod_inertia - self.mass * self.centre**2


#: The numbers of `EXACT` belong to I_2B < m_2 r_2^2, which no real body has; this one is real.
REAL = Mechanism(rod_inertia=0.02)


@cache
def crank(mechanism: Mechanism = Mechanism()) -> RedundantSystem:
    """Return the crank, about its fixed point A."""
    import sympy
    from sympy import cos, sin

    (phi, omega), length = sympy.symbols("phi_1 omega_1"), mechanism.crank
    return RedundantSystem.symbolic(
        "crank",
        zeta=[phi],
        w=[omega],
        M=[[mechanism.crank_inertia]],
        B=[[1, -length * sin(phi), length * cos(phi)]],
        ports=[Port("motor", 1, "N m", "rad/s"), Port("C", 2, "N", "m/s")],
        positions={"C": [length * cos(phi), length * sin(phi)]},
        dissipation=[mechanism.friction * omega],
    )


@cache
def rod(mechanism: Mechanism = Mechanism()) -> RedundantSystem:
    """Return rod and slider about B, velocities along the rod's own axes; B stays on the x axis."""
    import sympy
    from sympy import cos, sin

    x, y, phi = sympy.symbols("x_B y_B phi_2")
    m, length, arm = mechanism.mass, mechanism.rod, mechanism.mass * mechanism.centre

    def momenta(Gamma: Any) -> list[list[Any]]:
        return [[0, 0, -Gamma[1]], [0, 0, Gamma[0]], [Gamma[1], -Gamma[0], 0]]

    return RedundantSystem.symbolic(
        "rod",
        zeta=[x, y, phi],
        w=sympy.symbols("v_x v_y omega_2"),
        M=[[m, 0, 0], [0, m, arm], [0, arm, mechanism.rod_inertia]],
        Z=[[cos(phi), -sin(phi), 0], [sin(phi), cos(phi), 0], [0, 0, 1]],
        G=momenta,
        c=[y],
        B=[
            [cos(phi), cos(phi), sin(phi)],
            [-sin(phi), -sin(phi), cos(phi)],
            [0, -length * sin(phi), length * cos(phi)],
        ],
        ports=[Port("slider", 1, "N", "m/s"), Port("C", 2, "N", "m/s")],
        positions={"slider": [x], "C": [x + length * cos(phi), y + length * sin(phi)]},
    )


def model(
    mechanism: Mechanism = Mechanism(),
    *,
    level: str = "position",
    torque: float | Callable[[float], float] = TORQUE,
) -> PHSystem:
    """Join both at C, by velocities or by positions, with a torque [N m] at the crank."""
    whole = crank(mechanism).joined(
        rod(mechanism), {"C": "C"}, level=level, name="planar-slider-crank"
    )
    return feed(whole, "motor", torque)


def start(mechanism: Mechanism = Mechanism()) -> Mapping[str, list[float]]:
    """Return the state for the angle and rate of the crank in `START`, slider to the right."""
    phi1, omega1 = START
    phi2 = np.pi - np.arcsin(mechanism.crank / mechanism.rod * np.sin(phi1))
    omega2 = mechanism.crank * np.cos(phi1) * omega1 / (mechanism.rod * np.cos(phi2))
    x = mechanism.crank * np.cos(phi1) - mechanism.rod * np.cos(phi2)
    v = -mechanism.crank * np.sin(phi1) * omega1 + mechanism.rod * np.sin(phi2) * omega2
    return {
        "zeta": [phi1, x, 0.0, phi2],
        "w": [omega1, v * np.cos(phi2), -v * np.sin(phi2), omega2],
    }


def motion(result: Result) -> Array:
    """Return the columns of `NAMES`; shape (times, 6)."""
    phi1, x, _, phi2 = result["zeta"].T
    omega1, v_x, v_y, omega2 = result["w"].T
    v = np.cos(phi2) * v_x - np.sin(phi2) * v_y
    turned = np.pi - (np.pi - phi2) % (2 * np.pi)
    return np.column_stack([phi1, omega1, x, v, turned, omega2])


def gap(result: Result, mechanism: Mechanism = Mechanism()) -> Array:
    """Return how far the two points C are apart [m]; shape (times,)."""
    phi1, x, y, phi2 = result["zeta"].T
    here = mechanism.crank * np.array([np.cos(phi1), np.sin(phi1)])
    there = np.array([x, y]) + mechanism.rod * np.array([np.cos(phi2), np.sin(phi2)])
    return np.asarray(np.linalg.norm(here - there, axis=0))


def bodies(mechanism: Mechanism = REAL) -> Model:
    """Build the same mechanism of rigid bodies and joints; the rod must be a real body."""
    phi1, x, _, phi2 = start(mechanism)["zeta"]
    omega1 = start(mechanism)["w"][0]
    e1, e2 = (np.array([np.cos(phi), np.sin(phi), 0.0]) for phi in (phi1, phi2))
    B, axis = np.array([x, 0.0, 0.0]), (0.0, 0.0, 1.0)
    model = Model(name="planar-slider-crank")

    def disc(inertia: float) -> tuple[float, float, float]:
        return inertia / 2, inertia / 2, inertia

    wheel = model.add_body(
        "crank",
        RigidBody(mass=1.0, inertia=disc(mechanism.crank_inertia)),
        position=(0.0, 0.0, 0.0),
        angular_velocity=(0.0, 0.0, omega1),
    )
    bar = model.add_body(
        "rod",
        RigidBody(mass=mechanism.mass, inertia=disc(mechanism.own_inertia)),
        position=B + mechanism.centre * e2,
    )
    ground = model.ground
    model.add_joint("A", Revolute(ground, wheel, point=(0.0, 0.0, 0.0), axis=axis))
    model.add_joint("C", Revolute(wheel, bar, point=mechanism.crank * e1, axis=axis))
    model.add_joint("B", PointOnPlane(ground, bar, point=B, normal=(0.0, 1.0, 0.0)))
    model.add_port("motor", JointPort("A"))
    return model


def check(result: Result) -> list[Check]:
    """Compare both ways to join with the exact motion, and with a mechanism of bodies."""
    source, theory, exact = "exact motion", "theory", EXACT[0.1]
    tied, loose = (
        [simulate(model(level=level), h=h, t_end=0.1, x0=start()) for h in STEPS]
        for level in ("position", "velocity")
    )
    ends, others = ([motion(run)[-1] for run in runs] for runs in (tied, loose))
    names = [f"{name.replace(' [', ' at 0.1 s [')}, h -> 0" for name in NAMES]
    apart, gaps = extrapolate(others) - exact, [gap(run)[-1] for run in loose]
    return [
        vanishing("largest energy error [J]", result.stats.balance_error_max, 1e-11),
        *compare(names, extrapolate(ends), exact, 1e-8, source),
        vanishing("connected velocities: largest difference at 0.1 s, h -> 0", apart, 1e-8, source),
        Check("order, connected positions", order(ends, exact), 2.0, 0.1, theory),
        Check("order, connected velocities", order(others, exact), 2.0, 0.1, theory),
        vanishing("gap at C, connected positions [m]", gap(result), 1e-14, "[BHRS25, rem. 4]"),
        Check("order of the gap at C, connected velocities", order(gaps, 0.0), 2.0, 0.1, theory),
        vanishing(
            "difference from bodies and joints, h -> 0 [rad]",
            apart_from_bodies(0.1),
            1e-8,
            "ps.Model",
        ),
    ]


def apart_from_bodies(t_end: float) -> float:
    """Return how far the angles of both bodies are from those of a `Model` up to a time [s]."""
    ours, theirs = [], []
    for k, h in enumerate(STEPS):
        joined = simulate(model(REAL), h=h, t_end=t_end, x0=start(REAL))
        built = simulate(bodies(REAL), h=h, t_end=t_end, inputs={"motor": TORQUE})
        phi1, _, _, phi2 = joined["zeta"].T
        ours.append(np.column_stack([phi1 - phi1[0], phi2 - phi2[0]])[:: 2**k])
        turns = [built.rotation(name)[:: 2**k] for name in ("crank", "rod")]
        theirs.append(
            np.column_stack([np.unwrap(np.arctan2(R[:, 1, 0], R[:, 0, 0])) for R in turns])
        )
    return float(np.max(abs(extrapolate(ours) - extrapolate(theirs))))


def plot(result: Result) -> "Figure":
    """Draw the mechanism, speeds, energy, and the gap at C for both ways to join."""
    loose = simulate(model(level="velocity"), h=result.h, t_end=result.time[-1], x0=start())
    time, moved = result.time, motion(result)
    with drawing(10, 7) as figure:
        (path, rates), (energy, apart) = figure.subplots(2, 2)
        _plot_mechanism(moved, Mechanism(), path)
        rates.plot(time, moved[:, 1], color=COLOURS[0], label=r"crank $\omega_1$ [rad/s]")
        rates.plot(time, moved[:, 5], color=COLOURS[1], label=r"rod $\omega_2$ [rad/s]")
        rates.plot(time, moved[:, 3], color=COLOURS[2], label=r"slider $v_B$ [m/s]")
        describe(rates, "A constant torque speeds it up", "rates", ylim=(-16, 24))
        rates.legend(loc="lower center", ncols=3)
        supplied, gained = result.port("motor").energy, result.energy - result.energy[0]
        energy.plot(time, supplied, color=COLOURS[4], linewidth=4, label="supplied at the crank")
        energy.plot(time, gained, color=COLOURS[6], label="kinetic, since the start")
        describe(energy, "What is supplied is kinetic energy, to round-off", "energy [J]")
        for name, run, k in (("positions", result, 0), ("velocities", loose, 3)):
            size = np.maximum(gap(run), 1e-17)
            apart.semilogy(time, size, color=COLOURS[k], label=f"tied by {name}")
        describe(apart, "What keeps the two together", "gap at C [m]", ylim=(1e-17, 1e-3))
        apart.legend(loc="center right")
    return figure


def _plot_mechanism(motion: Array, mechanism: Mechanism, ax: "Axes") -> None:
    """Plot crank, rod and slider in a few positions of the first turn."""
    end = int(np.searchsorted(motion[:, 0], motion[0, 0] + 2 * np.pi))
    for k in np.linspace(0, end, 7).astype(int)[:-1]:
        phi1, _, x, *_ = motion[min(k, len(motion) - 1)]
        pin = mechanism.crank * np.array([np.cos(phi1), np.sin(phi1)])
        strength = 1.0 if k == 0 else 0.35
        ax.plot([0, pin[0]], [0, pin[1]], color=COLOURS[1], linewidth=4, alpha=strength)
        ax.plot([pin[0], x], [pin[1], 0], color=COLOURS[0], linewidth=2.5, alpha=strength)
        ax.plot([x], [0], "s", color=COLOURS[6], markersize=9, alpha=strength)
    turn = np.linspace(0, 2 * np.pi, 100)
    ax.plot(
        mechanism.crank * np.cos(turn),
        mechanism.crank * np.sin(turn),
        color=COLOURS[6],
        linewidth=0.6,
        linestyle=":",
    )
    describe(ax, "Crank and rod meet at C; the first turn", "y [m]", xlabel="x [m]", aspect="equal")


def look(result: Result, mechanism: Mechanism = Mechanism()) -> Result:
    """Show crank, rod and slider, with the plane of the mechanism upright."""
    phi1, x, _, phi2 = result["zeta"].T
    crank, rod, thick = mechanism.crank, mechanism.rod, 0.03
    pin = np.column_stack([x, np.zeros_like(x), np.zeros_like(x)])
    axle = (0.5 * thick, 1.4 * thick)
    across = turned(0, np.pi / 2)
    poses: dict[str, Any] = {
        "crank": ((0.0, -thick, 0.0), about(1, -phi1)),
        "rod": (pin, about(1, -phi2)),
        "slider": (pin, np.eye(3)),
    }
    pieces = [
        Piece("crank", "box", (crank, 0.8 * thick, thick), (crank / 2, 0.0, 0.0)),
        Piece("crank", "cylinder", axle, (0.0, 0.0, 0.0), across),
        Piece("rod", "box", (rod, 0.8 * thick, 0.7 * thick), (rod / 2, 0.0, 0.0)),
        Piece("rod", "cylinder", (axle[0], 3 * thick), (rod, -0.5 * thick, 0.0), across),
        Piece("slider", "box", (0.09, 2 * thick, 0.06), (0.0, 1.6 * thick, 0.0)),
        Piece("slider", "cylinder", axle, (0.0, 0.0, 0.0), across),
        Piece("ground", "box", (2.6 * crank, 2 * thick, 0.2 * thick), (rod, 1.6 * thick, -0.033)),
        Piece("ground", "box", (thick, thick, 4 * thick), (0.0, 0.0, -1.5 * thick)),
    ]
    return with_bodies(result, poses, pieces)


EXAMPLE = Example(
    title="Slider-crank as two connected systems",
    source="[BHRS25, sec. 7.3]",
    scheme="ph-dg",
    h=STEPS[0],
    t_end=1.0,
    model=model,
    check=check,
    plot=plot,
    x0=start(),
    look=look,
)
