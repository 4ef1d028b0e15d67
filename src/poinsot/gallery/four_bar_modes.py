r"""A four-bar with springs in its hinges: its eigenfrequency over the crank angle.

Crank, coupler and rocker at the angles phi, beta and gamma; lengths a, b, c, and d between the
pivots on the ground. From the loop and its two derivatives by phi,

    a e^{i phi} + b e^{i beta} = d + c e^{i gamma},

follow beta, gamma and their first and second derivatives, so that the mechanism has one coordinate:
the kinetic energy M(phi) phi'^2 / 2 and the potential V(phi). It oscillates with

    f^2 = V'' / M        where V' = 0.

Springs that are relaxed where the mechanism stands have V'' = sum k (d angle / d phi)^2. With
gravity it stands where V' = 0, and V'' has second derivatives of the angles in it: in the
mechanism, these are joint forces times the curvature of constraints.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from poinsot.analysis import equilibrium, modes
from poinsot.bodies.shapes import Box
from poinsot.gallery.example import Check, Example, compare, vanishing
from poinsot.model import Model
from poinsot.parts.forces import JointSpring
from poinsot.parts.joints import Revolute
from poinsot.result import Array, Result
from poinsot.so3 import Rotation
from poinsot.viz.axes import describe
from poinsot.viz.style import COLOURS, Axes, Figure, drawing

#: Crank angles of the check [rad].
ANGLES = np.linspace(0.0, 2 * np.pi, 18, endpoint=False)
BARS = ("crank", "coupler", "rocker")
HINGES = ("crank pivot", "crank pin", "rocker pin", "rocker pivot")


class Curve(NamedTuple):
    """A quantity over the crank angle and its two derivatives by it, complex or real."""

    value: Array
    first: Array
    second: Array


@dataclass(frozen=True)
class FourBar:
    """A crank-rocker of slender bars in a vertical plane, SI units; springs relaxed at `angle`."""

    lengths: tuple[float, float, float] = (0.12, 0.35, 0.25)  # a, b, c
    ground: float = 0.3  # d
    thickness: float = 0.02
    masses: tuple[float, float, float] = (0.4, 1.1, 0.8)
    stiffnesses: tuple[float, float, float, float] = (6.0, 1.0, 2.0, 4.0)  # as HINGES
    damping: float = 0.02  # of the crank pivot
    gravity: float = 0.0
    angle: float = 1.0  # of the crank
    push: float = 0.0  # angular velocity of the crank

    def angles(self, phi: Array) -> tuple[Curve, Curve, Curve]:
        """Return phi, beta and gamma with their derivatives, by the open branch of the loop."""
        (a, b, c), d = self.lengths, self.ground
        crank = a * np.exp(1j * np.asarray(phi))
        # From the crank pin to the rocker pivot, and the angle of the triangle at the pin.
        diagonal = d - crank
        size = abs(diagonal)
        inner = np.arccos((b**2 + size**2 - c**2) / (2 * b * size))
        beta = np.angle(diagonal) + inner
        rod = b * np.exp(1j * beta)
        rocker = crank + rod - d
        gamma = np.angle(rocker)
        beta1, gamma1 = _split(rod, rocker, -crank)
        beta2, gamma2 = _split(rod, rocker, -1j * (crank + beta1**2 * rod - gamma1**2 * rocker))
        one, zero = np.ones(np.shape(phi)), np.zeros(np.shape(phi))
        angle = Curve(np.asarray(phi), one, zero)
        return angle, Curve(beta, beta1, beta2), Curve(gamma, gamma1, gamma2)

    def centres(self, phi: Array) -> tuple[Curve, ...]:
        """Return the centres of the bars as complex numbers, with their derivatives."""
        crank, rod, rocker = (
            _bar(length, angle)
            for length, angle in zip(self.lengths, self.angles(phi), strict=True)
        )
        half = [Curve(*(0.5 * part for part in bar)) for bar in (crank, rod, rocker)]
        ground = Curve(np.asarray(self.ground + 0j), np.asarray(0j), np.asarray(0j))
        return half[0], _sum(crank, half[1]), _sum(ground, half[2])

    def inertia(self, phi: Array) -> Array:
        """Return M(phi) [kg m^2]."""
        total = np.zeros(np.shape(phi))
        rows = zip(self.masses, self.lengths, self.centres(phi), self.angles(phi), strict=True)
        for m, length, centre, angle in rows:
            J = m * (length**2 + self.thickness**2) / 12
            total = total + m * abs(centre.first) ** 2 + J * angle.first**2
        return total

    def hinges(self, phi: Array) -> tuple[Curve, ...]:
        """Return the angles of the hinges, as HINGES."""
        crank, rod, rocker = self.angles(phi)
        minus = [Curve(*(-part for part in angle)) for angle in (crank, rod)]
        return crank, _sum(rod, minus[0]), _sum(rocker, minus[1]), rocker

    def slopes(self, phi: Array) -> tuple[Array, Array]:
        """Return V' and V'' [N m] at crank angles phi, springs relaxed at `angle`."""
        first, second = np.zeros(np.shape(phi)), np.zeros(np.shape(phi))
        relaxed = self.hinges(np.asarray(self.angle))
        for k, now, rest in zip(self.stiffnesses, self.hinges(phi), relaxed, strict=True):
            wound = np.angle(np.exp(1j * (now.value - rest.value)))
            first = first + k * wound * now.first
            second = second + k * (now.first**2 + wound * now.second)
        for m, centre in zip(self.masses, self.centres(phi), strict=True):
            first = first + m * self.gravity * centre.first.imag
            second = second + m * self.gravity * centre.second.imag
        return first, second

    def frequency(self, phi: Array) -> Array:
        """Return sqrt(V'' / M) [rad/s], undamped."""
        return np.asarray(np.sqrt(self.slopes(phi)[1] / self.inertia(phi)))

    def rest(self) -> float:
        """Return the crank angle [rad] where V' = 0, near the relaxed springs."""
        phi = self.angle
        for _ in range(50):
            slope, curvature = self.slopes(np.asarray(phi))
            phi -= float(slope / curvature)
        return phi


def _split(rod: Array, rocker: Array, right: Array) -> tuple[Array, Array]:
    """Return the real x and y of x rod - y rocker = right, complex numbers."""
    area = (np.conj(rod) * rocker).imag
    return (np.conj(right) * rocker).imag / area, (np.conj(right) * rod).imag / area


def _bar(length: float, angle: Curve) -> Curve:
    """Return length e^{i angle} with its derivatives."""
    bar = length * np.exp(1j * angle.value)
    return Curve(bar, 1j * angle.first * bar, (1j * angle.second - angle.first**2) * bar)


def _sum(a: Curve, b: Curve) -> Curve:
    return Curve(*(x + y for x, y in zip(a, b, strict=True)))


def model(bars: FourBar = FourBar()) -> Model:
    """Build the mechanism in the plane of x and z; hinges along -y, as angles from x to z are."""
    loop = Model(gravity=(0, 0, -bars.gravity), name="four-bar-modes")
    phi = np.asarray(bars.angle)
    angles, centres = bars.angles(phi), bars.centres(phi)
    bodies = []
    for k, name in enumerate(BARS):
        bodies.append(
            loop.add_body(
                name,
                Box(mass=bars.masses[k], size=(bars.lengths[k], bars.thickness, bars.thickness)),
                position=_point(centres[k].value),
                rotation=Rotation.from_axis_angle((0, -1, 0), float(angles[k].value)),
                velocity=bars.push * _point(centres[k].first),
                angular_velocity=(0, -bars.push * float(angles[k].first), 0),
            )
        )
    crank, coupler, rocker = bodies
    ground, pin = loop.ground, _bar(bars.lengths[0], angles[0]).value
    joined = pin + _bar(bars.lengths[1], angles[1]).value
    axis = (0, -1, 0)
    hinges = (
        Revolute(ground, crank, point=(0, 0, 0), axis=axis),
        Revolute(crank, coupler, point=_point(pin), axis=axis),
        Revolute(coupler, rocker, point=_point(joined), axis=axis),
        Revolute(ground, rocker, point=(bars.ground, 0, 0), axis=axis),
    )
    for name, hinge, stiffness in zip(HINGES, hinges, bars.stiffnesses, strict=True):
        loop.add_joint(name, hinge)
        damping = bars.damping if name == "crank pivot" else 0.0
        loop.add_force(f"spring of {name}", JointSpring(name, stiffness=stiffness, damping=damping))
    return loop


def _point(z: Array) -> Array:
    return np.array([np.real(z), 0.0, np.imag(z)])


def over_the_crank(angles: Array, coordinates: str = "rotations") -> tuple[Array, Array]:
    """Return frequencies [rad/s] and damping ratios of the model, relaxed at each angle."""
    found = [
        modes(model(replace(FourBar(), angle=float(phi))), coordinates=coordinates)
        for phi in angles
    ]
    pairs = [(m.frequencies[0], m.damping_ratios[0]) for m in found]
    frequencies, ratios = np.array(pairs).T
    return frequencies, ratios


def exact(angles: Array) -> tuple[Array, Array]:
    """Return the same of the closed form."""
    bars = [replace(FourBar(), angle=float(phi)) for phi in angles]
    f = np.array([one.frequency(np.asarray(one.angle)) for one in bars])
    M = np.array([one.inertia(np.asarray(one.angle)) for one in bars])
    return f, FourBar().damping / (2 * M * f)


def check(result: Result) -> list[Check]:
    """Compare modes over the crank angle, at rest under gravity, and the run with V'' / M."""
    (f, zeta), (f0, zeta0) = over_the_crank(ANGLES), exact(ANGLES)
    heavy = FourBar(gravity=9.81)
    rest = equilibrium(model(heavy))
    turned = heavy.angle + rest.coordinates("crank pivot")["angle"]
    found = modes(rest).frequencies[0]
    one_coordinate = "one coordinate, V'' / M"
    phi = np.asarray(heavy.rest())
    return [
        vanishing("largest error of frequency over the crank", f / f0 - 1, 1e-9, one_coordinate),
        vanishing("largest error of damping ratio", zeta / zeta0 - 1, 1e-8, one_coordinate),
        *compare(
            ["crank angle in equilibrium [rad]", "frequency in equilibrium [rad/s]"],
            [turned, found],
            [float(phi), float(heavy.frequency(phi))],
            1e-7,
            f"gravity, {one_coordinate}",
        ),
        Check("frequency of the run [rad/s]", _measured(result), _seen(), 1e-3, one_coordinate),
        vanishing("largest balance error [J]", result.stats.balance_error_max, 1e-14),
    ]


def _seen() -> float:
    """Return the damped frequency [rad/s] at the angle of the run."""
    f, zeta = exact(np.array([FourBar().angle]))
    return float((f * np.sqrt(1 - zeta**2))[0])


def crank_turn(result: Result) -> Array:
    """Return how far the crank has turned [rad]."""
    along = result.rotation("crank")[:, :, 0] @ (1, 0, 1j)
    return np.asarray(np.angle(along / along[0]))


def _measured(result: Result) -> float:
    """Return the frequency [rad/s] from upward passages of the crank."""
    turn = crank_turn(result)
    k = np.flatnonzero((turn[:-1] < 0) & (turn[1:] >= 0))
    times = result.time[k] - turn[k] * result.h / (turn[k + 1] - turn[k])
    return float(2 * np.pi * (times.size - 1) / (times[-1] - times[0]))


def plot(result: Result) -> "Figure":
    """Plot the mechanism, frequency and damping over the crank angle, and a run."""
    fine = np.linspace(0, 2 * np.pi, 200)
    with drawing(10, 8) as figure:
        (place, frequency), (motion, ratio) = figure.subplots(2, 2)
        _draw(place)
        computed, closed = over_the_crank(ANGLES), exact(fine)
        for ax, k, title, unit in (
            (frequency, 0, "Eigenfrequency", "frequency [rad/s]"),
            (ratio, 1, "Damping by the crank pivot", "damping ratio"),
        ):
            ax.plot(np.degrees(fine), closed[k], color=COLOURS[1], label="closed form")
            ax.plot(np.degrees(ANGLES), computed[k], "o", color=COLOURS[0], label="modes")
            describe(ax, title, unit, xlabel="crank angle [°]", xticks=np.arange(0, 361, 60))
        motion.plot(result.time, np.degrees(crank_turn(result)))
        describe(motion, f"After a push at {np.degrees(FourBar().angle):.0f}°", "crank [°]")
    return figure


def _draw(ax: "Axes") -> None:
    """Draw the mechanism at a few crank angles."""
    bars = FourBar()
    for k, phi in enumerate(ANGLES[::3]):
        crank, rod, _ = bars.angles(np.asarray(phi))
        pin = bars.lengths[0] * np.exp(1j * crank.value)
        points = np.array([0, pin, pin + bars.lengths[1] * np.exp(1j * rod.value), bars.ground])
        shade = 1.0 if k == 1 else 0.25
        ax.plot(points.real, points.imag, "o-", color=COLOURS[0], alpha=shade, markersize=4)
    describe(ax, "Crank, coupler, rocker", "z [m]", xlabel="x [m]", aspect="equal")


EXAMPLE = Example(
    title="Natural frequency of a four-bar linkage",
    source="own parameters, closed form",
    scheme="ph-mp",
    h=5e-4,
    t_end=4.0,
    model=lambda: model(FourBar(push=0.05)),
    check=check,
    plot=plot,
)
