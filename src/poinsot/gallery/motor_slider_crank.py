r"""A DC motor that drives a slider-crank through a gear: one model of two domains, port by port.

With the crank's angle x, the gear's ratio n, the motor's constant k and the inertia J(x) of all
that moves with the crank, x' = w,

    L i' = V - R i - n k w,        J w' + J'(x) w^2 / 2 = n k i,

where a slider-crank of crank a and rod b has its slider at a cos x + sqrt(b^2 - a^2 sin^2 x).
"""

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

from poinsot import ph
from poinsot.bodies.shapes import Box, Cylinder
from poinsot.gallery.example import Check, Example, vanishing
from poinsot.gallery.extrapolation import extrapolate
from poinsot.model import Model
from poinsot.parts.joints import Prismatic, Revolute
from poinsot.parts.transmissions import Gear
from poinsot.result import Array, Result
from poinsot.run import simulate
from poinsot.so3 import Rotation
from poinsot.viz import plot_balance
from poinsot.viz.axes import describe
from poinsot.viz.style import Figure, drawing


@dataclass(frozen=True)
class Machine:
    """A slider-crank in the plane x, z and its motor; SI units."""

    crank: float = 0.1  # a
    rod: float = 0.3  # b
    crank_mass: float = 0.5
    rod_mass: float = 0.8
    slider_mass: float = 1.0
    thickness: float = 0.02
    rotor_mass: float = 0.4
    rotor_radius: float = 0.03
    ratio: float = 5.0  # n
    constant: float = 0.1  # k
    resistance: float = 0.5  # R
    inductance: float = 5e-3  # L
    voltage: float = 12.0  # V

    def _bar(self, mass: float, length: float) -> float:
        """Return the inertia of a bar about its centre, across it."""
        return mass * (length**2 + self.thickness**2) / 12

    def inertia(self, x: float) -> tuple[float, float]:
        """Return J(x) and J'(x), by the motion of crank, rod, slider and rotor with w = 1."""
        a, b = self.crank, self.rod
        s, c = np.sin(x), np.cos(x)
        lean = np.sqrt(b**2 - a**2 * s**2)  # b times the cosine of the rod's angle
        turn = -a * c / lean  # of the rod, and how that changes
        dturn = a * s / lean - a**3 * s * c**2 / lean**3
        speed = -a * s - a**2 * s * c / lean
        dspeed = -a * c - a**2 * (c**2 - s**2) / lean - a**4 * s**2 * c**2 / lean**3
        middle = np.array([(speed - a * s) / 2, a * c / 2])
        dmiddle = np.array([(dspeed - a * c) / 2, -a * s / 2])
        rotor = self.rotor_mass * self.rotor_radius**2 / 2 * self.ratio**2
        crank = self._bar(self.crank_mass, a) + self.crank_mass * a**2 / 4
        own = self._bar(self.rod_mass, b)
        J = rotor + crank + own * turn**2
        J += self.rod_mass * middle @ middle + self.slider_mass * speed**2
        dJ = own * turn * dturn + self.rod_mass * middle @ dmiddle
        dJ += self.slider_mass * speed * dspeed
        return float(J), float(2 * dJ)

    def motion(self, t_end: float) -> Array:
        """Return angle, rate of the crank and current at that time, by SciPy."""
        kn = self.constant * self.ratio

        def rates(t: float, z: Array) -> list[float]:
            J, dJ = self.inertia(z[0])
            di = (self.voltage - self.resistance * z[2] - kn * z[1]) / self.inductance
            return [z[1], (kn * z[2] - dJ * z[1] ** 2 / 2) / J, di]

        start = [np.pi / 2, 0.0, 0.0]
        found = solve_ivp(rates, (0, t_end), start, "DOP853", rtol=1e-11, atol=1e-12)
        return np.asarray(found.y[:, -1])


def motor(case: Machine) -> ph.PHSystem:
    """Return the coil: the flux is its state, `supply` and `shaft` are its ports."""
    return ph.linear(
        "motor",
        states=[ph.State("flux", 1, "Wb")],
        J=[[0.0]],
        R=[[case.resistance]],
        Q=[[1 / case.inductance]],
        B=[[1.0, 1.0]],
        ports=[ph.Port("supply", 1, "V", "A"), ph.Port("shaft", 1, "V", "A")],
    )


def model(case: Machine = Machine()) -> Model:
    """Build crank, rod, slider and rotor; the crank stands up at the start, at x = pi/2."""
    table = Model(name="motor-slider-crank")
    a, b, d = case.crank, case.rod, case.thickness
    reach = np.sqrt(b**2 - a**2)
    crank = table.add_body(
        "crank", Box(mass=case.crank_mass, size=(d, d, a)), position=(0, 0, a / 2)
    )
    rod = table.add_body(
        "rod",
        Box(mass=case.rod_mass, size=(b, d, d)),
        position=(reach / 2, 0, a / 2),
        rotation=Rotation.from_axis_angle((0, 1, 0), np.arcsin(a / b)),
    )
    slider = table.add_body(
        "slider", Box(mass=case.slider_mass, size=(0.06, 0.04, 0.04)), position=(reach, 0, 0)
    )
    rotor = table.add_body(
        "rotor",
        Cylinder(mass=case.rotor_mass, radius=case.rotor_radius, length=0.05),
        position=(0, 0.1, -0.1),
        rotation=Rotation.from_axis_angle((1, 0, 0), np.pi / 2),
    )
    ground, y = table.ground, (0, -1, 0)
    table.add_joint("bearing", Revolute(ground, crank, point=(0, 0, 0), axis=y))
    table.add_joint("pin", Revolute(crank, rod, point=(0, 0, a), axis=y))
    table.add_joint("wrist", Revolute(rod, slider, point=(reach, 0, 0), axis=y))
    table.add_joint("guide", Prismatic(ground, slider, point=(reach, 0, 0), axis=(1, 0, 0)))
    table.add_joint("shaft", Revolute(ground, rotor, point=(0, 0.1, -0.1), axis=y))
    table.add_transmission("gear", Gear("shaft", "bearing", ratio=case.ratio))
    table.add_system("motor", ph.feed(motor(case), "supply", case.voltage))
    table.connect(ph.Gyrator("motor.shaft", "shaft", C=case.constant, unit="V s/rad"))
    return table


def measured(result: Result, case: Machine = Machine()) -> Array:
    """Return angle and rate of the crank, and the current, at the end."""
    bearing = result.joint("bearing")
    angle = np.pi / 2 + bearing.coordinates["angle"][-1]
    current = result["motor.flux"][-1] / case.inductance
    return np.array([angle, bearing.rates["angle"][-1], float(np.squeeze(current))])


def check(result: Result) -> list[Check]:
    """Compare with the equations of one angle and one current; add up what ports exchange."""
    case = Machine()
    runs = [simulate(model(), h=h, t_end=0.5) for h in (1e-3, 5e-4, 2.5e-4)]
    error = extrapolate([measured(run) for run in runs]) - case.motion(0.5)
    shafts = result.port("motor.shaft").energy + result.port("shaft").energy
    magnetic = np.square(result["motor.flux"].reshape(-1)) / (2 * case.inductance)
    stored = result.energy - magnetic
    mechanical = stored - stored[0] - result.port("shaft").energy
    return [
        vanishing("largest balance error [J]", result.stats.balance_error_max, 1e-11),
        vanishing("energy lost between coil and shaft [J]", shafts, 1e-11),
        vanishing("mechanical energy minus work of the shaft [J]", mechanical, 1e-11),
        vanishing("error of angle, rate and current at 0.5 s", error, 1e-5, "SciPy, h -> 0"),
    ]


def plot(result: Result) -> "Figure":
    """Plot current and rate, energies of both domains, the slider and the balance."""
    case = Machine()
    current = result["motor.flux"].reshape(-1) / case.inductance
    magnetic = case.inductance * current**2 / 2
    with drawing(9, 6) as figure:
        (motion, energy), (slider, balance) = figure.subplots(2, 2)
        motion.plot(result.time, current, label="current [A]")
        motion.plot(result.time, result.joint("bearing").rates["angle"], label="crank [rad/s]")
        describe(motion, "The motor runs up", "current, rate")
        for name, values in (
            ("supply", result.port("motor.supply").energy),
            ("shaft", result.port("shaft").energy),
            ("heat", result.dissipated),
            ("coil", magnetic),
        ):
            energy.plot(result.time, values, label=name)
        describe(energy, "What goes through ports", "energy [J]")
        slider.plot(result.time, result.joint("guide").coordinates["displacement"])
        describe(slider, "The slider", "displacement [m]")
        plot_balance(result, balance, title="Nothing gets lost")
    return figure


EXAMPLE = Example(
    title="Slider-crank with motor and gear",
    source="our own case; SciPy on the equations of one angle",
    scheme="ph-mp",
    h=0.001,
    t_end=2.0,
    model=model,
    check=check,
    plot=plot,
)
