"""A DC motor drives a load through a gear: circuit, rotor and load joined at their ports.

    supply -> circuit =(gyrator K)= rotor =(transformer 1/n)= load -> work

Started from rest at a constant voltage; after a while the load is asked for work.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from poinsot import ph
from poinsot.gallery.appearance import about, travelled, turned, with_bodies
from poinsot.gallery.example import Check, Example, vanishing
from poinsot.result import Array, Piece, Result
from poinsot.run import simulate
from poinsot.viz import plot_balance
from poinsot.viz.style import COLOURS, Figure, drawing

FRAMES = 90
#: Which way rotor and load turn, and the ports whose outputs are their speeds.
PORTS = (1, "shaft"), (-1, "work")


@dataclass(frozen=True)
class Drive:
    """Parameters of the drive, SI units."""

    resistance: float = 1.2  # Ohm
    inductance: float = 2e-3  # H
    motor_constant: float = 0.05  # N m/A, the same number in V s/rad
    rotor_inertia: float = 2e-5  # kg m^2
    rotor_friction: float = 1e-5  # N m s/rad
    gear_ratio: float = 10.0  # turns of the rotor for one of the load
    load_inertia: float = 4e-3  # kg m^2
    load_friction: float = 2e-3  # N m s/rad
    voltage: float = 12.0  # V
    work_torque: float = 2.0  # N m, against the motion
    work_start: float = 0.15  # s

    @property
    def inertia(self) -> float:
        """Inertia seen by the rotor [kg m^2]."""
        return self.rotor_inertia + self.load_inertia / self.gear_ratio**2

    @property
    def friction(self) -> float:
        """Friction seen by the rotor [N m s/rad]."""
        return self.rotor_friction + self.load_friction / self.gear_ratio**2

    def work(self, t: float) -> float:
        """Torque on the load [N m] at time t [s]."""
        return -self.work_torque if t >= self.work_start else 0.0


def system(drive: Drive = Drive()) -> ph.PHSystem:
    """Build the drive from its three parts; the ports left are `supply` and `work`."""
    circuit = ph.linear(
        "circuit",
        states=[ph.State("flux", unit="Wb")],
        J=[[0.0]],
        R=[[drive.resistance]],
        Q=[[1 / drive.inductance]],
        B=[[1.0, 1.0]],
        ports=[ph.Port("supply", 1, "V", "A"), ph.Port("coil", 1, "V", "A")],
    )
    rotor = ph.linear(
        "rotor",
        states=[ph.State("rotor_momentum", unit="N m s")],
        J=[[0.0]],
        R=[[drive.rotor_friction]],
        Q=[[1 / drive.rotor_inertia]],
        B=[[1.0, 1.0]],
        ports=[ph.Port("magnet", 1, "N m", "rad/s"), ph.Port("shaft", 1, "N m", "rad/s")],
    )
    load = ph.linear(
        "load",
        states=[ph.State("load_momentum", unit="N m s")],
        J=[[0.0]],
        R=[[drive.load_friction]],
        Q=[[1 / drive.load_inertia]],
        B=[[1.0, 1.0]],
        ports=[ph.Port("gear", 1, "N m", "rad/s"), ph.Port("work", 1, "N m", "rad/s")],
    )
    joined = ph.interconnect(
        circuit,
        rotor,
        load,
        connections=[
            ph.Gyrator("coil", "magnet", C=drive.motor_constant, unit="N m/A"),
            ph.Transformer("shaft", "gear", C=1 / drive.gear_ratio),
        ],
        name="dc-motor",
    )
    return ph.feed(ph.feed(joined, "supply", drive.voltage), "work", drive.work)


def exact(drive: Drive, times: Array) -> Array:
    """Return current [A] and rotor speed [rad/s] in closed form, by the matrix exponential.

    The gear eliminated by hand: L i' = -R i - K w + U, I w' = K i - b w - work/n, both inputs
    constant on each side of `work_start`.
    """
    K, inertia = drive.motor_constant, drive.inertia
    A = np.array(
        [
            [-drive.resistance / drive.inductance, -K / drive.inductance],
            [K / inertia, -drive.friction / inertia],
        ]
    )

    def rest(t: float) -> Array:
        torque = drive.work(t) / drive.gear_ratio
        b = np.array([drive.voltage / drive.inductance, torque / inertia])
        return -np.linalg.solve(A, b)

    def advance(x: Array, span: float, t: float) -> Array:
        return rest(t) + scipy.linalg.expm(span * A) @ (x - rest(t))

    at_work = advance(np.zeros(2), drive.work_start, 0.0)
    return np.array(
        [
            advance(np.zeros(2), t, 0.0)
            if t < drive.work_start
            else advance(at_work, t - drive.work_start, t)
            for t in times
        ]
    )


#: The motor of the Control Tutorials for MATLAB and Simulink (University of Michigan), its rotor's
#: inertia and friction shared between rotor and geared load, at 1 V and without work.
TUTORIAL = Drive(
    resistance=1.0,
    inductance=0.5,
    motor_constant=0.01,
    rotor_inertia=0.006,
    rotor_friction=0.07,
    gear_ratio=2.0,
    load_inertia=4 * 0.004,
    load_friction=4 * 0.03,
    voltage=1.0,
    work_torque=0.0,
)


def settling_time(time: Array, values: Array, final: float) -> float:
    """Return when the values enter, for good, the band of 2 % around their final value [s]."""
    outside = np.flatnonzero(abs(values - final) > 0.02 * abs(final))
    return float(time[outside[-1] + 1])


def check(result: Result) -> list[Check]:
    """Compare with the closed form, and a second motor with published figures."""
    drive = Drive()
    ends = result["flux"][-1] / drive.inductance, result["rotor_momentum"][-1] / drive.rotor_inertia
    current, speed = exact(drive, result.time[-1:])[0]
    tutorial = simulate(system(TUTORIAL), h=0.005, t_end=5.0)
    tutorial_speed = tutorial["rotor_momentum"] / TUTORIAL.rotor_inertia
    final = float(tutorial_speed[-1])
    settled = settling_time(tutorial.time, tutorial_speed, final)
    source = "Control Tutorials for MATLAB and Simulink, DC Motor Speed: System Analysis"
    closed_form = "matrix exponential of the drive with its gear eliminated"
    return [
        Check("current at the end [A]", ends[0], current, 1e-4, closed_form),
        Check("rotor speed at the end [rad/s]", ends[1], speed, 1e-3, closed_form),
        vanishing("largest balance error [J]", result.stats.balance_error_max, 1e-12),
        Check("tutorial motor: final speed [rad/s]", final, 0.1, 5e-4, source),
        Check("tutorial motor: settling time [s]", settled, 2.07, 0.01, source),
    ]


def plot(result: Result) -> "Figure":
    """Plot the motion, the energy through every port, and the balance error."""
    supply, work = result.port("supply"), result.port("work")
    coil, gear = result.port("coil"), result.port("gear")
    with drawing(7, 8) as figure:
        motion, energy, balance = figure.subplots(3, 1, sharex=True, height_ratios=(2, 3, 1.4))
        motion.plot(supply.time, supply.y[:, 0], label="current [A]")
        motion.plot(work.time, work.y[:, 0], label="speed of the load [rad/s]")
        motion.set_title("A DC motor starts a geared load from rest")
        motion.legend()
        for label, values in (
            ("supplied by the battery", supply.energy),
            ("passed from coil to rotor", -coil.energy),
            ("passed from rotor to load", gear.energy),
            ("delivered as work", -work.energy),
            ("lost in resistor and friction", result.dissipated),
            ("stored", result.energy),
        ):
            energy.plot(result.time, values, label=label)
        energy.set(ylabel="energy [J]")
        energy.set_title("Where the energy goes, port by port")
        energy.legend()
        plot_balance(result, balance)
        balance.set_title("supplied - delivered - lost - stored: nothing is missing")
    return figure


def look(result: Result, drive: Drive = Drive()) -> Result:
    """Show rotor, gears and load on a stand, their shafts along x of a frame that is turned."""
    small, frame = 0.02, about(2, np.array(0.7))
    large, along, none = drive.gear_ratio * small, turned(1, np.pi / 2), (0.0, 0.0, 0.0)
    above = (0.0, 0.0, large + small)
    spins = [about(0, sign * travelled(result, port)) for sign, port in PORTS]
    poses = {
        "rotor": (none, frame @ spins[0]),
        "load": (above, frame @ spins[1]),
        "stand": (none, frame),
    }
    foot = -0.06
    pieces = [
        Piece("rotor", "cylinder", (0.03, 0.12), (-0.16, 0.0, 0.0), along),
        Piece("rotor", "cylinder", (0.007, 0.28), (-0.1, 0.0, 0.0), along),
        Piece("rotor", "cylinder", (small, 0.03), (0.0, 0.0, 0.0), along),
        Piece("load", "cylinder", (large, 0.02), none, along),
        Piece("load", "cylinder", (0.012, 0.3), (0.12, 0.0, 0.0), along),
        Piece("load", "cylinder", (0.1, 0.08), (0.22, 0.0, 0.0), along),
        Piece("load", "box", (0.02, 0.04, 0.5 * large), (0.02, 0.0, 0.1)),
        Piece("stand", "tube", (0.036, 0.05, 0.09), (-0.16, 0.0, 0.0), along),
        Piece("stand", "box", (0.09, 0.06, 0.05), (-0.16, 0.0, foot / 2 - 0.02)),
        Piece("stand", "box", (0.03, 0.06, above[2] - foot), (0.13, 0.0, (above[2] + foot) / 2)),
        Piece("stand", "box", (0.5, 0.2, 0.02), (0.02, 0.0, foot)),
    ]
    return with_bodies(result, poses, pieces)


def animate(result: Result, path: Path) -> None:
    """Draw motor, gear and energy account as an animated GIF."""
    from matplotlib.animation import PillowWriter

    supply, work, shaft = result.port("supply"), result.port("work"), result.port("shaft")
    h = float(result.time[1] - result.time[0])
    turned = {
        "rotor": np.concatenate([[0.0], np.cumsum(h * shaft.y[:, 0])]),
        "load": np.concatenate([[0.0], np.cumsum(h * work.y[:, 0])]),
    }
    accounts = {
        "supplied": supply.energy,
        "lost": result.dissipated,
        "stored": result.energy,
        "work": -work.energy,
    }
    with drawing(7, 3.4) as figure:
        gears, bars = figure.subplots(1, 2, width_ratios=(1.5, 1))
        gears.set(xlim=(-1.6, 2.0), ylim=(-1.7, 1.7), aspect="equal")
        gears.axis("off")
        # A few turns of the rotor are enough: at its true speed it would only flicker.
        slow = 2 * np.pi * 4 / turned["rotor"][-1]
        wheels = [
            (*gears.plot([], [], color=COLOURS[1]), 1.65, _wheel(0.15, 6), turned["rotor"] * slow),
            (*gears.plot([], [], color=COLOURS[0]), 0.0, _wheel(1.5, 60), -turned["load"] * slow),
        ]
        rectangles = bars.bar(list(accounts), [0.0] * 4, color=COLOURS[:4])
        bars.set(ylim=(0, 1.05 * max(v.max() for v in accounts.values())), ylabel="energy [J]")
        writer = PillowWriter(fps=25)
        with writer.saving(figure, str(path), dpi=150):
            for k in np.linspace(0, result.time.size - 1, FRAMES).astype(int):
                gears.set_title(f"t = {result.time[k]:.3f} s, motor slowed down")
                for line, centre, outline, angle in wheels:
                    points = centre + outline * np.exp(1j * angle[k])
                    line.set_data(points.real, points.imag)
                for rectangle, values in zip(rectangles, accounts.values(), strict=True):
                    rectangle.set_height(values[k])
                writer.grab_frame()


def _wheel(radius: float, teeth: int) -> NDArray[np.complex128]:
    """Return the outline of a gear wheel as complex numbers, with one spoke marked."""
    phi = np.linspace(0, 2 * np.pi, 24 * teeth + 1)
    rim = (radius + 0.04 * np.sign(np.sin(teeth * phi))) * np.exp(1j * phi)
    return np.concatenate([[0.0], rim])


EXAMPLE = Example(
    title="DC motor with a geared load",
    source="own parameters, closed form; Control Tutorials for MATLAB and Simulink",
    scheme="ph-mp",
    h=5e-4,
    t_end=0.3,
    model=system,
    check=check,
    plot=plot,
    animate=animate,
    look=look,
)
