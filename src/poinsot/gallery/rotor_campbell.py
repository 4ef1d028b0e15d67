"""A disc overhung on a light shaft in two elastic bearings: its whirl over speed.

Position w = x + i y of the centre and slope s = s_x + i s_y of the axis, of a disc with moments of
inertia J_p about its axis and J_t across it, which spins with W, bearings of the stiffness k_i at
z_i above the centre:

    m w'' + sum k_i (w + z_i s) = 0
    J_t s'' - i W J_p s' + sum k_i z_i (w + z_i s) = 0.

With w, s ~ exp(i f t) this is a quartic for f; f > 0 whirls forwards, f < 0 backwards. Where f = W
unbalance is in resonance: a quadratic for W^2, which has one positive root only if J_p > J_t.
"""

from dataclasses import dataclass, replace

import numpy as np

from poinsot.analysis import Campbell, campbell, modes
from poinsot.bodies.shapes import Cylinder
from poinsot.gallery.example import Check, Example, compare, vanishing
from poinsot.model import Model
from poinsot.parts.forces import Spring
from poinsot.parts.joints import PointOnPlane
from poinsot.result import Array, Result
from poinsot.viz import plot_balance
from poinsot.viz.axes import describe
from poinsot.viz.style import COLOURS, Figure, drawing

#: Speeds of the diagram [rad/s].
SPEEDS = np.linspace(0.0, 1500.0, 26)


@dataclass(frozen=True)
class Rotor:
    """A disc, its bearings and its speed, SI units."""

    mass: float = 12.0
    radius: float = 0.2
    thickness: float = 0.03
    bearings: tuple[float, float] = (0.12, 0.42)  # above the centre of the disc
    stiffnesses: tuple[float, float] = (4e6, 2e6)
    speed: float = 800.0
    push: float = 0.01  # velocity of the centre at the start

    @property
    def inertia(self) -> tuple[float, float]:
        """Moments of inertia about the axis and across it, (J_p, J_t)."""
        square = self.mass * self.radius**2
        return square / 2, square / 4 + self.mass * self.thickness**2 / 12

    @property
    def stiffness(self) -> tuple[float, float, float]:
        """Of the centre, of the slope, and between both: sums of k, k z^2 and k z."""
        k, z = np.array(self.stiffnesses), np.array(self.bearings)
        return float(sum(k)), float(k @ z**2), float(k @ z)

    def whirls(self) -> Array:
        """Return the four frequencies [rad/s] of the closed form, ascending; < 0: backwards."""
        (J_p, J_t), (k_w, k_s, k_ws), m, W = self.inertia, self.stiffness, self.mass, self.speed
        translation, rotation = (-m, 0.0, k_w), (-J_t, W * J_p, k_s)
        return np.sort(np.roots(np.polysub(np.polymul(translation, rotation), [k_ws**2])).real)

    def critical_speeds(self) -> Array:
        """Return the speeds [rad/s] at which the rotor whirls forwards once a turn, ascending."""
        (J_p, J_t), (k_w, k_s, k_ws), m = self.inertia, self.stiffness, self.mass
        squares = np.roots([m * (J_t - J_p), -m * k_s - (J_t - J_p) * k_w, k_w * k_s - k_ws**2])
        return np.sort(np.sqrt(squares[squares > 0]))

    def path(self, time: Array) -> Array:
        """Return w(t) = x + i y [m] after the push along x; complex (times,)."""
        (J_p, J_t), (k_w, k_s, k_ws), m = self.inertia, self.stiffness, self.mass
        A = np.zeros((4, 4), dtype=complex)
        A[:2, 2:] = np.eye(2)
        A[2, :2], A[3, :2] = np.array((k_w, k_ws)) / -m, np.array((k_ws, k_s)) / -J_t
        A[3, 3] = 1j * self.speed * J_p / J_t
        values, vectors = np.linalg.eig(A)
        shares = np.linalg.solve(vectors, (0, 0, self.push, 0))
        return np.asarray(np.exp(np.outer(time, values)) @ (shares * vectors[0]))


def model(rotor: Rotor = Rotor()) -> Model:
    """Build the rotor, body `disc` with its axis along z, on springs along x and y."""
    table = Model(name="rotor-campbell")
    disc = table.add_body(
        "disc",
        Cylinder(mass=rotor.mass, radius=rotor.radius, length=rotor.thickness),
        velocity=(rotor.push, 0, 0),
        angular_velocity=(0, 0, rotor.speed),
    )
    thrust = PointOnPlane(table.ground, disc, point=(0, 0, 0), normal=(0, 0, 1))
    table.add_joint("thrust bearing", thrust)
    for name, z, k in zip(("lower", "upper"), rotor.bearings, rotor.stiffnesses, strict=True):
        for axis, end in (("x", (rotor.radius, 0.0, z)), ("y", (0.0, rotor.radius, z))):
            spring = Spring(table.ground, disc, point_a=end, point_b=(0, 0, z), stiffness=k)
            table.add_force(f"{name} bearing {axis}", spring)
    return table


def diagram(rotor: Rotor = Rotor(), coordinates: str = "rotations") -> Campbell:
    """Return the frequencies of the model over speed, those of whirling."""
    return campbell(lambda speed: model(_at(rotor, speed)), SPEEDS, coordinates=coordinates)


def _at(rotor: Rotor, speed: float) -> Rotor:
    """Return the same rotor in steady rotation."""
    return replace(rotor, speed=speed, push=0.0)


def check(result: Result) -> list[Check]:
    """Compare modes at several speeds, critical speeds and the run with the closed form."""
    rotor, lines, form = Rotor(), diagram(), "quartic of the whirl"
    exact = np.array([np.sort(abs(_at(rotor, speed).whirls())) for speed in SPEEDS])
    error = np.sort(lines.frequencies, axis=1) / exact - 1
    found = modes(model(_at(rotor, rotor.speed)), coordinates="rotations")
    names = [f"frequency {k} at {rotor.speed:g} rad/s [rad/s]" for k in (1, 2, 3, 4)]
    whirls = np.sort(abs(rotor.whirls()))
    critical = modes(model(_at(rotor, rotor.critical_speeds()[0]))).frequencies
    gap = min(abs(critical - rotor.critical_speeds()[0]))
    w = result.position("disc") @ (1, 1j, 0)
    early = result.time <= 0.1
    off = abs(w - rotor.path(result.time))[early].max() / abs(w).max()
    return [
        *compare(names, found.frequencies[found.rigid :], whirls, 1e-6, form),
        vanishing("largest relative error, all speeds", error, 1e-9, form),
        vanishing("frequency - speed, critical [rad/s]", gap, 1e-6, "quadratic of W^2"),
        vanishing("relative error of the path up to 0.1 s", off, 2e-3, "sum of the four whirls"),
        vanishing("largest energy error [J]", result.stats.balance_error_max, 1e-9),
    ]


def plot(result: Result) -> "Figure":
    """Plot the Campbell diagram, the path of the centre, its spectrum and the balance."""
    rotor, lines = Rotor(), diagram()
    fine = np.linspace(SPEEDS[0], SPEEDS[-1], 300)
    exact = np.array([_at(rotor, speed).whirls() for speed in fine])
    with drawing(10, 8) as figure:
        (whirl, path), (spectrum, energy) = figure.subplots(2, 2)
        for k in range(4):
            forwards = exact[0, k] > 0
            look = {"color": COLOURS[1], "linestyle": "-" if forwards else "--"}
            label = ("forwards" if forwards else "backwards") if k in (0, 3) else None
            whirl.plot(fine, abs(exact[:, k]), label=label, linewidth=1, **look)
        whirl.plot(SPEEDS, lines.frequencies, ".", color=COLOURS[0])
        whirl.plot(fine, fine, ":", color="grey", label="once a turn")
        whirl.plot(rotor.critical_speeds(), rotor.critical_speeds(), "o", color=COLOURS[3])
        title = "Modes (dots) on the closed form (lines)"
        describe(whirl, title, "frequency [rad/s]", xlabel="speed [rad/s]")
        w = result.position("disc") @ (1, 1j, 0)
        path.plot(1e6 * w.real, 1e6 * w.imag, linewidth=0.7)
        title = f"The centre after a push, {rotor.speed:g} rad/s"
        describe(path, title, "y [µm]", xlabel="x [µm]", aspect="equal")
        window = np.hanning(w.size)
        level = abs(np.fft.fftshift(np.fft.fft(window * w)))
        turns = 2 * np.pi * np.fft.fftshift(np.fft.fftfreq(w.size, result.h))
        spectrum.semilogy(turns, level / level.max())
        for f in rotor.whirls():
            spectrum.axvline(f, color=COLOURS[1], linewidth=1, linestyle="-" if f > 0 else "--")
        title = "Its spectrum has the four whirls"
        describe(spectrum, title, "relative", xlabel="frequency [rad/s], < 0: backwards")
        spectrum.set(xlim=(-2500, 3500), ylim=(1e-6, 2))
        plot_balance(result, energy, title="Energy is constant")
    return figure


EXAMPLE = Example(
    title="Campbell diagram of an overhung rotor",
    source="own parameters, closed form",
    scheme="ph-mp",
    h=1e-5,
    t_end=0.2,
    model=model,
    check=check,
    plot=plot,
)
