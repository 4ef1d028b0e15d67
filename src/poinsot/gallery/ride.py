"""Ride of a car: bounce, pitch and roll on springs and dampers, and what a road does to the driver.

The chassis heaves by z, pitches by th and rolls by ph; four wheels move up and down. With the
deflection of a suspension, d = z - x th + y ph - z_w at the place (x, y) of its wheel, the textbook
model of seven coordinates q = (z, th, ph, z_1, ..., z_4) is

    M q'' + C q' + K q = sum k_t e_i z_road,i,    K = sum k d_i d_i^T + k_t e_i e_i^T,
                                                  C = sum c d_i d_i^T.

A road under a tyre of the stiffness k_t is the force k_t z_road on its wheel, at a port. Springs
are relaxed at ride height: the weight, which they carry, is left out with their preload.

Where the road lifts both wheels of an axle alike, fewer states suffice: the car is reduced to ten
of the 83 that its linear form has, constraints included, for the frequencies that people feel.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from poinsot.analysis import (
    FrequencyResponse,
    LinearPHSystem,
    Modes,
    Reduction,
    frequency_response,
    linearise,
    modes,
    reduce,
)
from poinsot.bodies.shapes import Box, Cylinder
from poinsot.gallery.example import Check, Example, compare, vanishing
from poinsot.model import Model
from poinsot.parts.forces import Spring
from poinsot.parts.joints import PointOnLine, PointOnPlane, Prismatic
from poinsot.parts.loads import ForcePort
from poinsot.ph.formulas import Formula
from poinsot.ph.matrices import dense
from poinsot.ph.ports import Port
from poinsot.result import Array, Result
from poinsot.so3 import Rotation
from poinsot.viz.axes import describe
from poinsot.viz.style import COLOURS, Figure, drawing

WHEELS = ("front left", "front right", "rear left", "rear right")
#: Frequencies of the response [rad/s].
BAND = 2 * np.pi * np.geomspace(0.2, 30.0, 150)
#: States of the reduced car, and up to which frequency it is to be like the full one [rad/s].
ORDER, FELT = 10, 2 * np.pi * 5.0


@dataclass(frozen=True)
class Car:
    """A car on a road with a bump under its left wheels, SI units; x forwards, y to the left."""

    mass: float = 1400.0  # of the chassis
    size: tuple[float, float, float] = (4.2, 1.7, 0.8)
    wheel_mass: float = 40.0
    wheel_radius: float = 0.3
    front: float = 1.2  # axles ahead of and behind the centre of mass
    rear: float = 1.5
    half_track: float = 0.75
    stiffnesses: tuple[float, float] = (24e3, 27e3)  # of a suspension, front and rear
    dampings: tuple[float, float] = (1.5e3, 1.7e3)
    tyre: float = 200e3
    driver: tuple[float, float] = (0.2, 0.35)
    speed: float = 10.0
    bump: tuple[float, float] = (0.04, 1.0)  # height and length

    @property
    def inertia(self) -> tuple[float, float]:
        """Moments of inertia of the chassis about y and x."""
        length, width, height = self.size
        share = self.mass / 12
        return share * (length**2 + height**2), share * (width**2 + height**2)

    @property
    def corners(self) -> tuple[tuple[float, float], ...]:
        """Places of the wheels, as WHEELS."""
        ends, sides = (self.front, -self.rear), (self.half_track, -self.half_track)
        return tuple((x, y) for x in ends for y in sides)

    def matrices(self) -> tuple[Array, Array, Array]:
        """Return M, C and K of the seven coordinates."""
        M = np.diag([self.mass, *self.inertia, *[self.wheel_mass] * 4])
        C, K = np.zeros((7, 7)), np.zeros((7, 7))
        for i, (x, y) in enumerate(self.corners):
            d, e = np.zeros(7), np.zeros(7)
            d[:3], d[3 + i], e[3 + i] = (1.0, -x, y), -1.0, 1.0
            K += self.stiffnesses[i // 2] * np.outer(d, d) + self.tyre * np.outer(e, e)
            C += self.dampings[i // 2] * np.outer(d, d)
        return M, C, K

    @property
    def seat(self) -> Array:
        """The row of the driver's height in q."""
        x, y = self.driver
        return np.array([1.0, -x, y, 0, 0, 0, 0])

    def eigenvalues(self) -> NDArray[np.complex128]:
        """Return those of the seven coordinates with positive imaginary part, slowest first."""
        M, C, K = self.matrices()
        A = np.block(
            [[np.zeros((7, 7)), np.eye(7)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]]
        )
        values = np.linalg.eigvals(A)
        kept = values[values.imag > 0]
        return np.asarray(kept[np.argsort(abs(kept))])

    def mobility(self, omega: Array) -> NDArray[np.complex128]:
        """Return the driver's velocity over forces on the wheels, (frequencies, 4)."""
        M, C, K = self.matrices()
        rows = [1j * w * np.linalg.solve(K - w**2 * M + 1j * w * C, self.seat)[3:] for w in omega]
        return np.array(rows)

    def road(self, wheel: int, time: Array) -> Array:
        """Return the height of the road [m] under a wheel."""
        height, length = self.bump
        start = self._arrival(wheel)
        inside = (time > start) & (time < start + length / self.speed) & (wheel % 2 == 0)
        return np.where(
            inside, height * np.sin(np.pi * self.speed / length * (time - start)) ** 2, 0
        )

    def road_force(self, wheel: int) -> Formula:
        """Return k_t z_road(t) on a wheel."""
        (height, length), start = self.bump, self._arrival(wheel)
        wave = f"{self.tyre * height}*sin({np.pi * self.speed / length}*(t - {start}))**2"
        inside = f"({wave} if t < {start + length / self.speed} else 0) if t > {start} else 0"
        return Formula(("0", "0", inside if wheel % 2 == 0 else "0"))

    def _arrival(self, wheel: int) -> float:
        """Return when a wheel meets the bump [s]."""
        return 0.2 + (self.front - self.corners[wheel][0]) / self.speed


def model(car: Car = Car()) -> Model:
    """Build the car; ports are the wheels, fed by the road, and the driver's seat."""
    road = Model(name="ride")
    (_, _, height), r = car.size, car.wheel_radius
    level = r + 0.2 + height / 2
    body = road.add_body("chassis", Box(mass=car.mass, size=car.size), position=(0, 0, level))
    # Small motions of a straight ride: no way forwards, sideways or about the vertical.
    lane = PointOnLine(road.ground, body, point=(0, 0, level), axis=(0, 0, 1))
    road.add_joint("lane", lane)
    ahead = PointOnPlane(road.ground, body, point=(car.size[0] / 2, 0, level), normal=(0, 1, 0))
    road.add_joint("heading", ahead)
    for i, (name, (x, y)) in enumerate(zip(WHEELS, car.corners, strict=True)):
        wheel = road.add_body(
            name,
            Cylinder(mass=car.wheel_mass, radius=r, length=0.18),
            position=(x, y, r),
            rotation=Rotation.from_axis_angle((1, 0, 0), np.pi / 2),
        )
        guide = Prismatic(road.ground, wheel, point=(x, y, r), axis=(0, 0, 1))
        road.add_joint(f"{name} guide", guide)
        tyre = Spring(road.ground, wheel, (x, y, 0), (x, y, r), stiffness=car.tyre)
        road.add_force(f"{name} tyre", tyre)
        k, c = car.stiffnesses[i // 2], car.dampings[i // 2]
        strut = Spring(wheel, body, (x, y, r), (x, y, level), stiffness=k, damping=c)
        road.add_force(f"{name} suspension", strut)
        road.add_port(f"{name} road", ForcePort(wheel, value=car.road_force(i)))
    road.add_port("driver", ForcePort(body, point=(*car.driver, level)))
    return road


def response(car: Car = Car(), omega: Array = BAND) -> FrequencyResponse:
    """Return the driver's velocity over forces on the wheels."""
    inputs = [f"{name} road[2]" for name in WHEELS]
    return frequency_response(
        model(car), omega, inputs=inputs, outputs="driver[2]", coordinates="rotations"
    )


def reduced(car: Car = Car()) -> Reduction:
    """Return a smaller car that is felt alike: ports are both axles and the driver, upwards."""
    full = linearise(model(car), coordinates="rotations")
    assert isinstance(full, LinearPHSystem)
    B = dense(full.matrix_B)

    def upwards(*ports: str) -> Array:
        places = [full.port_slices[name].start + 2 for name in ports]
        return np.asarray(B[:, places].sum(axis=1))

    axles = [[f"{name} road" for name in WHEELS[at : at + 2]] for at in (0, 2)]
    columns = np.stack([*(upwards(*axle) for axle in axles), upwards("driver")], axis=1)
    ports = tuple(Port(name, 1, "N", "m/s") for name in ("front axle", "rear axle", "driver"))
    return reduce(replace(full, matrix_B=columns, ports=ports), ORDER, band=(0.0, FELT))


def over_axles(found: Reduction, omega: Array) -> NDArray[np.complex128]:
    """Return the reduced driver's velocity over forces on both wheels of an axle; (..., 2)."""
    axles = ("front axle", "rear axle")
    there = frequency_response(found.system, omega, inputs=axles, outputs="driver")
    return np.asarray(there.values[:, 0])


def over_road(car: Car, mobility: NDArray[np.complex128], omega: Array) -> Array:
    """Return |driver / road|, rear wheels following the front ones."""
    late = np.exp(-1j * omega * (car.front + car.rear) / car.speed)
    delays = np.stack([np.ones_like(late), np.ones_like(late), late, late], axis=1)
    return np.asarray(abs(car.tyre * np.sum(mobility * delays, axis=1) / omega))


def seat_motion(car: Car, time: Array) -> Array:
    """Return the driver's height [m] over the bump by the seven coordinates."""
    from scipy.integrate import solve_ivp

    M, C, K = car.matrices()

    def rate(t: float, x: Array) -> Array:
        forces = np.zeros(7)
        forces[3:] = [car.tyre * float(car.road(i, np.asarray(t))) for i in range(4)]
        return np.concatenate([x[7:], np.linalg.solve(M, forces - C @ x[7:] - K @ x[:7])])

    span, rest = (float(time[0]), float(time[-1])), np.zeros(14)
    found = solve_ivp(rate, span, rest, t_eval=time, rtol=1e-8, atol=1e-10, max_step=5e-3)
    return np.asarray(car.seat @ found.y[:7])


def seat(result: Result, car: Car = Car()) -> Array:
    """Return the driver's height [m] of a run, from ride height on."""
    point = np.array([*car.driver, 0.0])
    place = result.position("chassis") + result.rotation("chassis") @ point
    return np.asarray(place[:, 2] - place[0, 2])


def name_of(found: Modes, mode: int) -> str:
    """Return what a mode of the car is called, by what has most of its kinetic energy."""
    energies = found.energies(mode)
    moves, turns = energies["chassis"]
    if moves + turns < 0.5:
        return "wheel hop"
    axis = int(np.argmax(abs(found.bodies(mode)["chassis"][1])))
    return "bounce" if moves > turns else ("roll", "pitch", "yaw")[axis]


def check(result: Result) -> list[Check]:
    """Compare modes, the response to the road and the run with the seven coordinates."""
    car, form = Car(), "seven coordinates"
    found, exact = modes(model(car), coordinates="rotations"), car.eigenvalues()
    ratios = -exact.real / abs(exact)
    names = [name_of(found, k) for k in range(3)]
    heights = [f"{name} [Hz]" for name in names]
    dampings = [f"damping ratio of {name}" for name in names]
    computed, closed = response(car).values[:, 0], car.mobility(BAND)
    error = abs(computed - closed).max() / abs(closed).max()
    height = seat(result)
    gap = abs(height - seat_motion(car, result.time)).max() / abs(height).max()
    small, felt = reduced(car), BAND[BAND < FELT]
    both = closed[BAND < FELT].reshape(-1, 2, 2).sum(axis=2)
    less = abs(over_axles(small, felt) - both).max() / abs(both).max()
    return [
        *compare(heights, found.hertz[:3], abs(exact[:3]) / (2 * np.pi), 1e-8, form),
        *compare(dampings, found.damping_ratios[:3], ratios[:3], 1e-8, form),
        vanishing("largest error of wheel hops", found.eigenvalues[3:] / exact[3:] - 1, 1e-9, form),
        vanishing("largest error of the response", error, 1e-9, form),
        vanishing(f"error with {small.order} states up to 5 Hz", less, 0.02, form),
        vanishing("power supplied by the reduced model", min(small.passivity, 0.0), 1e-9),
        vanishing("relative error of the driver's height", gap, 2e-3, form),
        vanishing("largest balance error [J]", result.stats.balance_error_max, 1e-10),
    ]


def plot(result: Result) -> "Figure":
    """Plot the eigenvalues, the response to the road, the bump and how the chassis moves."""
    car = Car()
    found, exact = modes(model(car), coordinates="rotations"), car.eigenvalues()
    with drawing(10, 8) as figure:
        (plane, road), (bump, attitude) = figure.subplots(2, 2)
        plane.plot(exact.real, exact.imag, "x", color=COLOURS[1], label="seven coordinates")
        look = {"markerfacecolor": "none", "markersize": 10}
        plane.plot(found.eigenvalues.real, found.eigenvalues.imag, "o", label="modes", **look)
        for k in range(3):
            at = found.eigenvalues[k]
            plane.annotate(name_of(found, k), (at.real, at.imag), (0.5, at.imag + 4 * k - 5))
        plane.annotate("wheel hops", (-20, 65), ha="center")
        describe(
            plane,
            "Eigenvalues",
            "imaginary part [1/s]",
            xlabel="real part [1/s]",
            xlim=(-30, 5),
            ylim=(0, 85),
        )
        hertz = BAND / (2 * np.pi)
        mobility = response(car).values[:, 0]
        road.loglog(hertz, over_road(car, mobility, BAND), label=f"{car.speed:g} m/s")
        level = abs(car.tyre * mobility.sum(axis=1) / BAND)
        road.loglog(hertz, level, label="all wheels at once")
        exact_level = abs(car.tyre * car.mobility(BAND[::5]).sum(axis=1) / BAND[::5])
        road.loglog(hertz[::5], exact_level, ".", color="black", label="seven coordinates")
        small = abs(car.tyre * over_axles(reduced(car), BAND).sum(axis=1) / BAND)
        road.loglog(hertz, small, "--", label=f"reduced to {ORDER} states")
        describe(
            road, "Height of the driver over that of the road", "ratio", xlabel="frequency [Hz]"
        )
        for k, label in ((0, "road, front left"), (2, "road, rear left")):
            bump.plot(result.time, 1e3 * car.road(k, result.time), label=label, linewidth=1)
        bump.plot(result.time, 1e3 * seat(result), label="driver")
        describe(bump, "A bump under the left wheels", "height [mm]")
        R = result.rotation("chassis")
        attitude.plot(result.time, np.degrees(-R[:, 2, 0]), label="pitch")
        attitude.plot(result.time, np.degrees(R[:, 2, 1]), label="roll")
        describe(attitude, "How the chassis tilts", "angle [°]")
    return figure


EXAMPLE = Example(
    title="Ride of a car",
    source="own parameters, closed form",
    scheme="ph-mp",
    h=1e-3,
    t_end=2.5,
    model=model,
    check=check,
    plot=plot,
)
